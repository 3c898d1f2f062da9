/* The readers of PaddlePaddle's files: what they take out of programs and parameter files, and what they say of files
 * that are none. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "frontend/paddle/files.h"
#include "frontend/paddle/paddle.h"
#include "tests/unit/oom.h"
#include "tests/unit/unit.h"

#define FOLDER "tests/paddle/"

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    xpu_paddle_files files;
    xpu_status status;
} fixture;

static const xpu_import_options defaults = {0};

static void begin(fixture *f) {
    *f = (fixture){.status = XPU_OK};
    xpu_mem_init(&f->mem);
    xpu_diags_init(&f->diags);
    f->arena = xpu_arena_new(&f->mem, "test");
}

static void end(fixture *f) {
    xpu_diags_clear(&f->diags);
    xpu_mem_release(&f->mem);
}

static const char *message(fixture *f) {
    char text[4096] = "";
    if (f->diags.count) xpu_diag_text(&f->diags, 0, text, sizeof text);
    return xpu_strdup(f->arena, text);
}

static void open_model(fixture *f, const char *path) {
    begin(f);
    f->status = xpu_paddle_open(f->arena, f->arena, path, &defaults, &f->files, &f->diags);
    CU_ASSERT_EQUAL_FATAL(f->status, XPU_OK);
}

static const xpu_paddle_op *op_of(const fixture *f, const char *type) {
    const xpu_paddle_program *program = f->files.program;
    for (uint32_t b = 0; b < program->blocks.count; b++) {
        for (uint32_t i = 0; i < program->blocks.items[b].op_count; i++) {
            if (strcmp(program->blocks.items[b].ops[i].type, type) == 0) return &program->blocks.items[b].ops[i];
        }
    }
    return NULL;
}

static const xpu_paddle_attr *attr(const xpu_paddle_op *op, const char *name, xpu_paddle_attr_kind kind, size_t count) {
    const xpu_paddle_attr *found = xpu_paddle_attr_of(op, name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    CU_ASSERT_EQUAL(found->kind, kind);
    CU_ASSERT_EQUAL_FATAL(found->count, count);
    return found;
}

/* ---- programs ---- */

static void desc_attributes(void) {
    fixture f;
    open_model(&f, FOLDER "everything.pdmodel");
    const xpu_paddle_program *program = f.files.program;
    const xpu_paddle_op *op = op_of(&f, "while");
    CU_ASSERT_EQUAL(program->version, 2006002);
    CU_ASSERT_EQUAL(attr(op, "i", XPU_PADDLE_INT, 1)->integer, -3);
    CU_ASSERT_EQUAL(attr(op, "f", XPU_PADDLE_FLOAT, 1)->number, 0.5);
    CU_ASSERT_STRING_EQUAL(attr(op, "s", XPU_PADDLE_STRING, 1)->text, "text");
    CU_ASSERT_EQUAL(attr(op, "ints", XPU_PADDLE_INTS, 2)->integers[1], -2);
    CU_ASSERT_EQUAL(attr(op, "floats", XPU_PADDLE_FLOATS, 2)->numbers[1], -8.0);
    CU_ASSERT_STRING_EQUAL(attr(op, "strings", XPU_PADDLE_STRINGS, 2)->texts[1], "b");
    CU_ASSERT_EQUAL(attr(op, "b", XPU_PADDLE_INT, 1)->integer, 1);
    CU_ASSERT_EQUAL(attr(op, "bools", XPU_PADDLE_INTS, 2)->integers[1], 0);
    CU_ASSERT(attr(op, "sub_block", XPU_PADDLE_INTS, 1)->is_block);
    CU_ASSERT_EQUAL(attr(op, "sub_block", XPU_PADDLE_INTS, 1)->integers[0], 1);
    CU_ASSERT_EQUAL(attr(op, "l", XPU_PADDLE_INT, 1)->integer, (int64_t)1 << 40);
    CU_ASSERT_EQUAL(attr(op, "blocks", XPU_PADDLE_INTS, 2)->integers[1], 2);
    CU_ASSERT_EQUAL(attr(op, "longs", XPU_PADDLE_INTS, 2)->integers[1], -1);
    CU_ASSERT_EQUAL(attr(op, "doubles", XPU_PADDLE_FLOATS, 1)->numbers[0], 0.1);
    CU_ASSERT_STRING_EQUAL(program->vars.items[attr(op, "axis", XPU_PADDLE_VARS, 1)->vars[0]].name, "x");
    CU_ASSERT_STRING_EQUAL(program->vars.items[attr(op, "shape", XPU_PADDLE_VARS, 2)->vars[1]].name, "n");
    CU_ASSERT_EQUAL(attr(op, "d", XPU_PADDLE_FLOAT, 1)->number, 0.1);
    CU_ASSERT_EQUAL(attr(op, "value", XPU_PADDLE_FLOAT, 1)->number, 7);
    CU_ASSERT_EQUAL(attr(op, "values", XPU_PADDLE_FLOATS, 2)->numbers[1], 0.5);
    CU_ASSERT_PTR_NULL(xpu_paddle_attr_of(op, "op_callstack"));
    end(&f);
}

static void desc_blocks(void) {
    fixture f;
    open_model(&f, FOLDER "everything.pdmodel");
    const xpu_paddle_program *program = f.files.program;
    CU_ASSERT_EQUAL_FATAL(program->blocks.count, 3);
    CU_ASSERT_EQUAL(program->blocks.items[1].parent, 0);
    CU_ASSERT_EQUAL(program->blocks.items[2].parent, 1);
    CU_ASSERT_EQUAL(program->op_versions.count, 2);
    CU_ASSERT_STRING_EQUAL(program->op_versions.items[1].op, "scale");
    CU_ASSERT_EQUAL(program->op_versions.items[1].version, 1);
    const xpu_paddle_op *scale = op_of(&f, "scale");
    const xpu_paddle_var *x = &program->vars.items[scale->inputs[0].vars[0]];
    CU_ASSERT_STRING_EQUAL(x->name, "x"); /* of the outermost block */
    CU_ASSERT_EQUAL(x->block, 0);
    CU_ASSERT_EQUAL(x->rank, 2);
    CU_ASSERT_EQUAL(x->dims[0], -1);
    const xpu_paddle_op *unknown = op_of(&f, "unknown");
    CU_ASSERT_EQUAL(program->vars.items[unknown->inputs[0].vars[0]].block, 1);
    CU_ASSERT_STRING_EQUAL(program->vars.items[unknown->outputs[0].vars[0]].type_name, "undeclared");
    CU_ASSERT_EQUAL(unknown->outputs[0].vars == NULL, 0);
    end(&f);
}

static void pir_attributes(void) {
    fixture f;
    open_model(&f, FOLDER "everything.json");
    const xpu_paddle_op *op = op_of(&f, "scale");
    CU_ASSERT_EQUAL(f.files.program->version, 4);
    CU_ASSERT_STRING_EQUAL(op->dialect, "pd_op");
    CU_ASSERT_EQUAL(attr(op, "b", XPU_PADDLE_INT, 1)->integer, 1);
    CU_ASSERT_EQUAL(attr(op, "i", XPU_PADDLE_INT, 1)->integer, -3);
    CU_ASSERT_EQUAL(attr(op, "l", XPU_PADDLE_INT, 1)->integer, (int64_t)1 << 40);
    CU_ASSERT_EQUAL(attr(op, "f", XPU_PADDLE_FLOAT, 1)->number, 0.5);
    CU_ASSERT_EQUAL(attr(op, "d", XPU_PADDLE_FLOAT, 1)->number, 0.1);
    CU_ASSERT_STRING_EQUAL(attr(op, "s", XPU_PADDLE_STRING, 1)->text, "text");
    CU_ASSERT_EQUAL(attr(op, "ints", XPU_PADDLE_INTS, 2)->integers[1], -2);
    CU_ASSERT_EQUAL(attr(op, "floats", XPU_PADDLE_FLOATS, 1)->numbers[0], 0.5);
    CU_ASSERT_STRING_EQUAL(attr(op, "texts", XPU_PADDLE_STRINGS, 1)->texts[0], "a");
    attr(op, "none", XPU_PADDLE_INTS, 0);
    CU_ASSERT_EQUAL(attr(op, "shape", XPU_PADDLE_INTS, 2)->integers[1], -1);
    CU_ASSERT(attr(op, "dtype", XPU_PADDLE_INT, 1)->is_type);
    CU_ASSERT_EQUAL(attr(op, "dtype", XPU_PADDLE_INT, 1)->integer, 3);
    CU_ASSERT_EQUAL(attr(op, "value", XPU_PADDLE_INT, 1)->integer, 7);
    CU_ASSERT_EQUAL(xpu_paddle_attr_of(op, "pointer")->kind, XPU_PADDLE_NOTHING);
    CU_ASSERT_EQUAL(op->inputs[1].vars[0], XPU_PADDLE_NO_VAR);
    end(&f);
}

static void pir_regions(void) {
    fixture f;
    open_model(&f, FOLDER "everything.json");
    const xpu_paddle_program *program = f.files.program;
    const xpu_paddle_op *loop = op_of(&f, "while"), *branch = op_of(&f, "if");
    CU_ASSERT_EQUAL_FATAL(loop->body_count, 1);
    CU_ASSERT_EQUAL_FATAL(branch->body_count, 2);
    CU_ASSERT_EQUAL(program->blocks.items[loop->bodies[0]].argument_count, 1);
    CU_ASSERT_EQUAL(program->blocks.items[branch->bodies[1]].op_count, 2);
    CU_ASSERT_EQUAL(program->blocks.items[branch->bodies[1]].parent, 0);
    const xpu_paddle_op *combine = op_of(&f, "combine");
    CU_ASSERT_EQUAL(program->vars.items[combine->outputs[0].vars[0]].kind, XPU_PADDLE_VECTOR);
    end(&f);
}

/* ---- parameters ---- */

static void check_parameters(fixture *f) {
    xpu_paddle_parameters list = {0};
    CU_ASSERT_FATAL(
        xpu_paddle_read_parameters(f->arena, f->files.program, f->files.params, f->files.folder, &list, &f->diags));
    CU_ASSERT_EQUAL_FATAL(list.items.count, 2);
    CU_ASSERT_STRING_EQUAL(list.items.items[0].name, "b");
    CU_ASSERT_STRING_EQUAL(list.items.items[1].name, "w");
    CU_ASSERT_EQUAL(list.items.items[1].rank, 2);
    CU_ASSERT_EQUAL(list.items.items[1].bytes, 48);
    float first = 0, last = 0;
    const xpu_paddle_parameter *w = &list.items.items[1];
    xpu_file_read(w->file, w->offset, &first, sizeof first, &f->diags);
    xpu_file_read(w->file, w->offset + 44, &last, sizeof last, &f->diags);
    CU_ASSERT_EQUAL(first, -1.25f);
    CU_ASSERT_EQUAL(last, -1.25f);
}

static void combined_and_separate(void) {
    static const char *const paths[] = {FOLDER "linear.pdmodel", FOLDER "old", FOLDER "old/__model__"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        fixture f;
        open_model(&f, paths[i]);
        CU_ASSERT_EQUAL(f.files.params != NULL, i == 0);
        check_parameters(&f);
        end(&f);
    }
}

/* A file of `size` bytes that begins with these; what lies behind is a hole. */
static const xpu_file *sparse_file(fixture *f, const uint8_t *bytes, size_t length, uint64_t size) {
    const char *path = xpu_path_join(f->arena, xpu_temporary_folder(f->arena, &f->diags), "p");
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fwrite(bytes, 1, length, file);
    if (size > length) fseek(file, (long)size - 1, SEEK_SET);
    if (size > length) fputc(0, file);
    fclose(file);
    return xpu_file_open(f->arena, path, &f->diags);
}

/* int8 [65536,32769]: more than 2^31 elements, none of which is read. */
static void large_parameter(void) {
    static const uint8_t head[] = {0, 0,  0, 0, 0, 0, 0,  0,    0,    0,    0, 0,    0,    0,    0,
                                   0, 10, 0, 0, 0, 8, 21, 0x10, 0x80, 0x80, 4, 0x10, 0x81, 0x80, 2};
    const uint64_t bytes = (uint64_t)65536 * 32769;
    for (int cut = 0; cut < 2; cut++) {
        fixture f;
        begin(&f);
        xpu_paddle_parameter parameter;
        uint64_t offset = 0;
        const xpu_file *file = sparse_file(&f, head, sizeof head, sizeof head + bytes - (uint64_t)cut);
        int done = xpu_paddle_read_record(f.arena, file, &offset, "large", &parameter, &f.diags);
        CU_ASSERT_EQUAL(done, !cut);
        if (!cut) CU_ASSERT_EQUAL(parameter.bytes, bytes);
        if (!cut) CU_ASSERT_EQUAL(offset, sizeof head + bytes);
        if (cut)
            CU_ASSERT_PTR_NOT_NULL(strstr(message(&f), "int8[65536,32769] needs 2147549184 bytes at byte 30 of the "
                                                       "file, which has 2147549183 there"));
        end(&f);
    }
}

/* Every shorter file names the parameter that is cut off; only the whole one is taken. */
static void truncated(void) {
    fixture f;
    open_model(&f, FOLDER "linear.pdmodel");
    size_t length = 0;
    const uint8_t *bytes = xpu_file_read_all(f.arena, FOLDER "linear.pdiparams", 1000, &length, &f.diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    for (size_t size = 1; size < length; size++) {
        xpu_paddle_parameters list = {0};
        xpu_diags_clear(&f.diags);
        const xpu_file *file = sparse_file(&f, bytes, size, size);
        CU_ASSERT_FALSE(xpu_paddle_read_parameters(f.arena, f.files.program, file, ".", &list, &f.diags));
        const char *text = message(&f);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, "error [paddle-params] parameter '"));
        CU_ASSERT(strstr(text, "needs") != NULL || strstr(text, "this is no tensor") != NULL);
    }
    end(&f);
}

/* ---- what is wrong with a file ---- */

static void wrong_programs(void) {
    static const struct {
        const char *bytes;
        size_t length;
        const char *says;
    } cases[] = {
        {"", 0, "the program has no block"},
        {"\x0a\x05\x08\x00", 4, "field 1 has 5 bytes where 2 are left"},
        {"\x0a\x02\x08\x01", 4, "it is 1 in block 0"},
        {"\x0b\x00", 2, "wire type 3 (a group)"},
        {"\x0a\x02\x0a\x00", 4, "wire type 2 where 0 is expected"},
        {"\x0a\x06\x08\x00\x22\x02\x0a\x00", 8, "(OpDesc.Var.parameter): "},
        {"\x0a\x02\x08\x00\x22\x04\x08\x80\xad\xe2\x04", 11,
         "(Version): the bytes are no valid protobuf message\n  why: a number is cut off"},
        {"\x0a\x02\x08\x00\x22\x05\x08\x80\x89\x92\x70", 11, "it is 235177088"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        begin(&f);
        xpu_paddle_program *program =
            xpu_paddle_read_desc(f.arena, cases[i].bytes, cases[i].length, "p.pdmodel", &defaults, &f.diags);
        CU_ASSERT_PTR_NULL(program);
        CU_ASSERT_EQUAL(xpu_diags_status(&f.diags), XPU_EMODEL);
        if (!strstr(message(&f), cases[i].says)) printf("%zu: %s\n", i, message(&f));
        CU_ASSERT_PTR_NOT_NULL(strstr(message(&f), cases[i].says));
        end(&f);
    }
}

static void wrong_pir(void) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{", "paddle-json"},
        {"{}", "base_code.magic is not \"pir\""},
        {"{\"base_code\":{\"magic\":\"pir\",\"version\":5}}", "it is 5; 0 to 4 can be read"},
        {"{\"base_code\":{\"magic\":\"pir\",\"version\":1}}", "no region with one block"},
#define PROGRAM(ops)                                                                                                   \
    "{\"base_code\":{\"magic\":\"pir\",\"version\":1},\"program\":{\"regions\":[{\"blocks\":[{\"ops\":[" ops "]}]}]}}"
        {PROGRAM("{}"), "an operator has no name"},
        {PROGRAM("{\"#\":\"1.relu\",\"I\":[{\"%\":1}]}"),
         "operator 1.relu (block 0, #0): this is no valid PIR program"},
        {PROGRAM("{\"#\":\"1.relu\",\"I\":[{\"%\":1}]}"), "value 1 is used, and not defined before"},
        {PROGRAM("{\"#\":\"1.x\",\"O\":[{\"%\":1},{\"%\":1}]}"), "value 1 is defined twice"},
        {PROGRAM("{\"#\":\"p\",\"A\":[]}"), "a parameter has no name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        begin(&f);
        CU_ASSERT_PTR_NULL(
            xpu_paddle_read_pir(f.arena, cases[i].text, strlen(cases[i].text), "p.json", &defaults, &f.diags));
        CU_ASSERT_EQUAL(xpu_diags_status(&f.diags), XPU_EMODEL);
        if (!strstr(message(&f), cases[i].says)) printf("%zu: %s\n", i, message(&f));
        CU_ASSERT_PTR_NOT_NULL(strstr(message(&f), cases[i].says));
        end(&f);
    }
}

/* ---- memory ---- */

static xpu_status describe_all(xpu_arena *arena, xpu_diags *diags) {
    static const char *const paths[] = {FOLDER "everything.pdmodel", FOLDER "everything.json", FOLDER "linear.pdmodel"};
    xpu_model_facts facts;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (!xpu_paddle_facts(arena, paths[i], &defaults, &facts, diags)) return xpu_diags_status(diags);
    }
    return XPU_OK;
}

static xpu_status import_all(xpu_arena *arena, xpu_diags *diags) {
    static const char *const paths[] = {FOLDER "linear.pdmodel", FOLDER "old", FOLDER "linear.json"};
    xpu_graph *graph;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        xpu_status status = xpu_paddle_import(arena, paths[i], NULL, &graph, diags);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}

static void out_of_memory(void) {
    xpu_fail_each_allocation(describe_all, 7);
    xpu_fail_each_allocation(import_all, 7);
}

/* What a ProgramDesc assigns to its own operand is the new value from there on: y = x + x; y = y + y; y = y + x. */
static void assigned_again(void) {
    fixture f;
    xpu_graph *graph = NULL;
    begin(&f);
    CU_ASSERT_EQUAL_FATAL(xpu_paddle_import(f.arena, FOLDER "again.pdmodel", NULL, &graph, &f.diags), XPU_OK);
    uint32_t adds = 0;
    XPU_FOR_ALL_NODES(graph, node) adds += strcmp(xpu_node_at(graph, node)->op->name, "add") == 0;
    CU_ASSERT_EQUAL(adds, 3);
    const xpu_value_info *y = xpu_value_at(graph, graph->outputs.items[0]);
    CU_ASSERT_STRING_EQUAL(y->name, "y");
    CU_ASSERT_EQUAL(y->kind, XPU_VALUE_NODE);
    end(&f);
}

XPU_TEST_MAIN("paddle readers", {"attributes of a ProgramDesc", desc_attributes}, {"its blocks", desc_blocks},
              {"attributes of PIR", pir_attributes}, {"its regions", pir_regions},
              {"parameters in one file, or one for each", combined_and_separate},
              {"more than 2^31 elements", large_parameter}, {"parameter files that are cut off", truncated},
              {"what is no ProgramDesc", wrong_programs}, {"what is no PIR program", wrong_pir},
              {"no memory", out_of_memory}, {"variables that are assigned again", assigned_again})
