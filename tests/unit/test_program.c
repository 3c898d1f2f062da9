/* The .xpu file: what is written is what is read; binutils read it; hostile files end in an error. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/passes/verify.h"
#include "core/ops/graph_text.h"
#include "base/file.h"
#include "core/chip.h"
#include "core/ops/op.h"
#include "tests/unit/bench.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/program/file.h"
#include "xpu_runtime/program/metadata.h"

enum { BASE = 0x80000000u, TEXT_BYTES = 64, PLAN_WORDS = 4, WEIGHTS_AT = 0x80002000u, WEIGHTS_SIZE = 0x2000 };

/* ---- a linked executable as lld makes it, in a few hundred bytes ---- */

typedef struct {
    Elf32_Ehdr header;
    Elf32_Phdr segments[2];
    uint32_t text[TEXT_BYTES / 4]; /* code, plan table, control block */
    Elf32_Sym symbols[4];
    char symbol_names[64], section_names[64];
    Elf32_Shdr sections[6];
} executable;

static uint32_t add_name(char *names, uint32_t *length, const char *name) {
    uint32_t at = *length;
    strcpy(names + at, name);
    *length += (uint32_t)strlen(name) + 1;
    return at;
}

static Elf32_Shdr section(executable *e, uint32_t *names, const char *name, uint32_t type, size_t offset, size_t size) {
    return (Elf32_Shdr){.sh_name = add_name(e->section_names, names, name),
                        .sh_type = type,
                        .sh_offset = (Elf32_Off)offset,
                        .sh_size = (Elf32_Word)size,
                        .sh_addralign = 4};
}

static void make_executable(executable *e) {
    static const struct {
        const char *name;
        uint32_t value;
    } symbols[] = {{"xpu_plan", BASE + 16}, {"xpu_control", BASE + 48}, {"xpu_image_end", WEIGHTS_AT + WEIGHTS_SIZE}};
    uint32_t names = 1, symbol_names = 1;
    *e = (executable){.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
                                 .e_type = ET_EXEC,
                                 .e_machine = EM_RISCV,
                                 .e_version = EV_CURRENT,
                                 .e_entry = BASE,
                                 .e_phoff = offsetof(executable, segments),
                                 .e_shoff = offsetof(executable, sections),
                                 .e_ehsize = sizeof(Elf32_Ehdr),
                                 .e_phentsize = sizeof(Elf32_Phdr),
                                 .e_phnum = 2,
                                 .e_shentsize = sizeof(Elf32_Shdr),
                                 .e_shnum = 6,
                                 .e_shstrndx = 5}};
    e->segments[0] =
        (Elf32_Phdr){PT_LOAD, offsetof(executable, text), BASE, BASE, TEXT_BYTES, TEXT_BYTES, PF_R | PF_X, 4};
    e->segments[1] = (Elf32_Phdr){PT_LOAD, 0, WEIGHTS_AT, WEIGHTS_AT, 0, WEIGHTS_SIZE, PF_R, 4096};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        uint32_t name = add_name(e->symbol_names, &symbol_names, symbols[i].name);
        e->symbols[i + 1] = (Elf32_Sym){.st_name = name, .st_value = symbols[i].value, .st_shndx = SHN_ABS};
        e->symbols[i + 1].st_info = ELF32_ST_INFO(STB_GLOBAL, STT_NOTYPE);
    }
    e->sections[1] = section(e, &names, ".text", SHT_PROGBITS, offsetof(executable, text), TEXT_BYTES);
    e->sections[1].sh_addr = BASE;
    e->sections[1].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    e->sections[2] = section(e, &names, ".weights", SHT_NOBITS, 0, WEIGHTS_SIZE);
    e->sections[2].sh_addr = WEIGHTS_AT;
    e->sections[2].sh_flags = SHF_ALLOC;
    e->sections[3] = section(e, &names, ".symtab", SHT_SYMTAB, offsetof(executable, symbols), sizeof e->symbols);
    e->sections[3].sh_link = 4;
    e->sections[3].sh_info = 1;
    e->sections[3].sh_entsize = sizeof(Elf32_Sym);
    e->sections[4] = section(e, &names, ".strtab", SHT_STRTAB, offsetof(executable, symbol_names), symbol_names);
    e->sections[5] = section(e, &names, ".shstrtab", SHT_STRTAB, offsetof(executable, section_names), 64);
}

/* ---- a program: x[N,8] times a weight [8,4], plus a small constant ---- */

enum { IN = 8, OUT = 4, WEIGHT_OFFSET = 256 };
static const float small_data[1] = {0.5f};

static float weight_at(int i) {
    return (float)i * 0.25f - 1;
}

static xpu_node add_node(bench *b, xpu_graph *g, const char *op, xpu_value left, xpu_value right, const char *result) {
    xpu_origin origin = {"onnx", op, 13, result, 7};
    uint32_t at = xpu_graph_origin(g, &origin);
    xpu_value inputs[] = {left, right};
    xpu_node node = xpu_graph_add(g, (xpu_node){0}, xpu_op_by_name(op), inputs, 2, &result, 1, NULL, 0, &at, 1);
    CU_ASSERT_EQUAL(xpu_op_by_name(op)->infer(g, node, &b->diags), XPU_OK);
    return node;
}

static void add_buffers(bench *b, xpu_program *p, xpu_dim bytes, xpu_dim weight_bytes) {
    xpu_program_buffer x = {.name = "x",
                            .kind = XPU_BUFFER_ACTIVATION,
                            .bytes = bytes,
                            .alignment = 64,
                            .last_layer = 1,
                            .levels = {XPU_LEVEL_L3, XPU_LEVEL_GM},
                            .level_count = 2,
                            .alias_of = -1};
    xpu_program_buffer w = {.name = "w",
                            .kind = XPU_BUFFER_WEIGHT,
                            .bytes = weight_bytes,
                            .alignment = 64,
                            .last_layer = 1,
                            .levels = {XPU_LEVEL_GM},
                            .level_count = 1,
                            .alias_of = -1,
                            .placed = 1,
                            .level = XPU_LEVEL_GM,
                            .offset = WEIGHT_OFFSET};
    xpu_program_buffer alias = x;
    alias.name = "y";
    alias.alias_of = 0;
    XPU_PUSH(b->arena, &p->buffers, x);
    XPU_PUSH(b->arena, &p->buffers, w);
    XPU_PUSH(b->arena, &p->buffers, alias);
    xpu_program_buffer copy = {.name = "w@L3",
                               .kind = XPU_BUFFER_COPY,
                               .bytes = xpu_dim_const(&p->graph->dims, 4),
                               .alignment = 64,
                               .levels = {XPU_LEVEL_L3},
                               .level_count = 1,
                               .alias_of = -1,
                               .copy_of = 1};
    XPU_PUSH(b->arena, &p->buffers, copy);
    XPU_PUSH(b->arena, &p->in_place, ((xpu_program_in_place){2, 0}));
}

static void add_lists(bench *b, xpu_program *p, xpu_dim n) {
    XPU_PUSH(b->arena, &p->plan, ((xpu_plan_word){.kind = XPU_WORD_CONST, .bits = 0xdeadbeef}));
    XPU_PUSH(b->arena, &p->plan, ((xpu_plan_word){.kind = XPU_WORD_DIM, .dim = n}));
    XPU_PUSH(b->arena, &p->plan, ((xpu_plan_word){.kind = XPU_WORD_ADDRESS, .buffer = 1}));
    XPU_PUSH(b->arena, &p->plan, ((xpu_plan_word){.kind = XPU_WORD_ADDRESS, .buffer = 0, .dim = n}));
    XPU_PUSH(b->arena, &p->tensors, ((xpu_program_tensor){"x*w", XPU_TENSOR_DUMPED, 0}));
    XPU_PUSH(b->arena, &p->tensors, ((xpu_program_tensor){"between", XPU_TENSOR_FUSED, 1}));
    XPU_PUSH(b->arena, &p->tensors, ((xpu_program_tensor){"half", XPU_TENSOR_FOLDED, -1}));
    XPU_PUSH(b->arena, &p->regions, ((xpu_program_region){"xpu-sim", 2, NULL}));
    XPU_PUSH(b->arena, &p->regions, ((xpu_program_region){"host", 1, "there is a reason"}));
}

static xpu_program *make_program(bench *b) {
    xpu_program *p = XPU_NEW(b->arena, xpu_program);
    xpu_chip chip;
    xpu_graph *g = p->graph = xpu_graph_new(b->arena, "test", "test.onnx");
    CU_ASSERT_EQUAL_FATAL(xpu_chip_load(b->arena, "configs/chip", "nano", &chip, &b->diags), XPU_OK);
    float data[IN * OUT];
    for (int i = 0; i < IN * OUT; i++) data[i] = weight_at(i);
    xpu_tensor weight = {.dtype = XPU_F32, .rank = 2, .dims = {IN, OUT}, .data = data};
    xpu_tensor half = {.dtype = XPU_F32, .rank = 1, .dims = {1}, .data = (void *)(uintptr_t)small_data};
    xpu_dim n = xpu_dim_symbol(&g->dims, "N", 1, 16, 1);
    xpu_value x = xpu_graph_input(g, "x", XPU_F32, 2, (xpu_dim[]){n, xpu_dim_const(&g->dims, IN)});
    xpu_value w = xpu_graph_const_bytes(g, "w", &weight), h = xpu_graph_const_bytes(g, "half", &half);
    xpu_node first = add_node(b, g, "matmul", x, w, "x*w");
    xpu_value product = xpu_node_output(g, first, 0);
    xpu_node second = add_node(b, g, "add", product, h, "y");
    xpu_value y = xpu_node_output(g, second, 0);
    xpu_graph_output(g, y);
    xpu_dim bytes = xpu_dim_mul_const(&g->dims, n, IN * (int64_t)sizeof(float));
    add_buffers(b, p, bytes, xpu_dim_const(&g->dims, IN * OUT * (int64_t)sizeof(float)));
    XPU_PUSH(b->arena, &p->values, ((xpu_program_value){.value = x, .buffer = 0}));
    XPU_PUSH(b->arena, &p->values, ((xpu_program_value){.value = w, .buffer = 1}));
    XPU_PUSH(b->arena, &p->values, ((xpu_program_value){.value = y, .buffer = 2}));
    xpu_node third = xpu_graph_add(g, (xpu_node){0}, xpu_op_of(XPU_OP_DYNAMIC_QUANTIZE), &y, 1,
                                   (const char *const[]){"q", "scale", "zero"}, 3, NULL, 0, NULL, 0);
    CU_ASSERT_EQUAL(xpu_op_infer(g, third, &b->diags), XPU_OK);
    const xpu_node nodes[] = {first, second, third};
    static const char *const names[] = {"product", "sum", "bytes"}, *const kernels[] = {"matmul_f32", "chain", "none"};
    xpu_program_layer layers[3];
    for (int i = 0; i < 3; i++) {
        const xpu_node_info *info = xpu_node_at(g, nodes[i]);
        layers[i] = (xpu_program_layer){
            .name = names[i], .node = nodes[i], .outputs = info->outputs, .output_count = info->output_count};
        layers[i].unit = XPU_UNIT_CORE;
        layers[i].kernel = kernels[i];
        layers[i].macs = i ? xpu_dim_const(&g->dims, 0) : xpu_dim_mul_const(&g->dims, n, IN * OUT);
        layers[i].reason = i ? NULL : "it is a float model";
        XPU_PUSH(b->arena, &p->layers, layers[i]);
    }
    add_lists(b, p, n);
    p->target = "xpu-sim";
    p->chip_json = xpu_chip_json(b->arena, &chip);
    p->abi_hash = xpu_chip_abi_hash(&chip);
    p->precision = "fp32";
    p->compiler = "0.1.0";
    p->clang = "clang 19";
    p->source = "test.onnx";
    p->source_hash = xpu_hash_of("test", 4);
    p->source_nodes = 3;
    p->weights_bytes = WEIGHT_OFFSET + sizeof data;
    return p;
}

static xpu_status give_weight(void *context, uint32_t buffer, xpu_arena *scratch, const void **bytes, uint64_t *length,
                              xpu_diags *diags) {
    (void)diags;
    CU_ASSERT_EQUAL(buffer, 1);
    ++*(int *)context;
    float *data = XPU_NEW_ARRAY(scratch, float, IN *OUT);
    for (int i = 0; i < IN * OUT; i++) data[i] = weight_at(i);
    *bytes = data;
    *length = IN * OUT * sizeof *data;
    return XPU_OK;
}

/* Writes the program; the path of the file. */
static xpu_status try_to_write(bench *b, const xpu_program *p, const char *path, int *asked) {
    executable e;
    const char *elf = xpu_path_join(b->arena, b->folder, "linked.elf");
    make_executable(&e);
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b->arena, elf, &e, sizeof e, &b->diags), XPU_OK);
    return xpu_program_write(p, elf, path, give_weight, asked, b->arena, &b->diags);
}

static const char *write_program(bench *b, const xpu_program *p) {
    int asked = 0;
    const char *path = xpu_path_join(b->arena, b->folder, "test.xpu");
    xpu_status status = try_to_write(b, p, path, &asked);
    xpu_diags_print(&b->diags, stderr);
    CU_ASSERT_EQUAL_FATAL(status, XPU_OK);
    CU_ASSERT_EQUAL(asked, 1);
    return path;
}

/* ---- round trip ---- */

static void check_header(const xpu_program *a, const xpu_program *b) {
    CU_ASSERT_STRING_EQUAL(a->target, b->target);
    CU_ASSERT_STRING_EQUAL(a->chip_json, b->chip_json);
    CU_ASSERT_EQUAL(a->abi_hash, b->abi_hash);
    CU_ASSERT(xpu_hash_equal(&a->source_hash, &b->source_hash));
    CU_ASSERT_STRING_EQUAL(a->precision, b->precision);
    CU_ASSERT_STRING_EQUAL(a->compiler, b->compiler);
    CU_ASSERT_STRING_EQUAL(a->clang, b->clang);
    CU_ASSERT_STRING_EQUAL(a->source, b->source);
    CU_ASSERT_EQUAL(a->source_nodes, b->source_nodes);
    CU_ASSERT_EQUAL(a->weights_bytes, b->weights_bytes);
    CU_ASSERT_EQUAL(b->entry, BASE);
    CU_ASSERT_EQUAL(b->plan_address, BASE + 16);
    CU_ASSERT_EQUAL(b->control_address, BASE + 48);
    CU_ASSERT_EQUAL(b->weights_address, WEIGHTS_AT);
    CU_ASSERT_EQUAL(b->image_end, WEIGHTS_AT + WEIGHTS_SIZE);
}

static int same_dim(const xpu_program *a, xpu_dim da, const xpu_program *b, xpu_dim db) {
    int64_t n = 5;
    if (!da.id || !db.id) return da.id == db.id;
    return xpu_dim_eval(&a->graph->dims, da, &n) == xpu_dim_eval(&b->graph->dims, db, &n);
}

static void check_lists(const xpu_program *a, const xpu_program *b) {
    CU_ASSERT_EQUAL_FATAL(a->buffers.count, b->buffers.count);
    for (uint32_t i = 0; i < a->buffers.count; i++) {
        const xpu_program_buffer *x = &a->buffers.items[i], *y = &b->buffers.items[i];
        CU_ASSERT_STRING_EQUAL(x->name, y->name);
        CU_ASSERT(x->kind == y->kind && x->alignment == y->alignment && x->first_layer == y->first_layer);
        CU_ASSERT(x->last_layer == y->last_layer && x->level_count == y->level_count && x->alias_of == y->alias_of);
        CU_ASSERT(x->placed == y->placed && x->level == y->level && x->offset == y->offset);
        CU_ASSERT_EQUAL(memcmp(x->levels, y->levels, sizeof x->levels), 0);
        CU_ASSERT(same_dim(a, x->bytes, b, y->bytes) && x->copy_of == y->copy_of);
    }
    CU_ASSERT_EQUAL_FATAL(a->in_place.count, b->in_place.count);
    CU_ASSERT_EQUAL(a->in_place.items[0].buffer, b->in_place.items[0].buffer);
    CU_ASSERT_EQUAL(a->in_place.items[0].other, b->in_place.items[0].other);
    CU_ASSERT_EQUAL_FATAL(a->plan.count, b->plan.count);
    for (uint32_t i = 0; i < a->plan.count; i++) {
        const xpu_plan_word *x = &a->plan.items[i], *y = &b->plan.items[i];
        CU_ASSERT(x->kind == y->kind && x->bits == y->bits && x->buffer == y->buffer && same_dim(a, x->dim, b, y->dim));
    }
    CU_ASSERT_EQUAL_FATAL(a->layers.count, b->layers.count);
    for (uint32_t i = 0; i < a->layers.count; i++) {
        const xpu_program_layer *x = &a->layers.items[i], *y = &b->layers.items[i];
        CU_ASSERT_STRING_EQUAL(x->name, y->name);
        CU_ASSERT_EQUAL(x->unit, y->unit);
        CU_ASSERT_STRING_EQUAL(x->kernel, y->kernel);
        CU_ASSERT(!x->reason == !y->reason && x->output_count == y->output_count && same_dim(a, x->macs, b, y->macs));
        for (uint32_t k = 0; k < x->output_count; k++) {
            CU_ASSERT_STRING_EQUAL(xpu_value_at(a->graph, x->outputs[k])->name,
                                   xpu_value_at(b->graph, y->outputs[k])->name);
        }
    }
    CU_ASSERT_EQUAL(b->layers.items[2].output_count, 3);
    CU_ASSERT_EQUAL_FATAL(a->tensors.count, b->tensors.count);
    for (uint32_t i = 0; i < a->tensors.count; i++) {
        CU_ASSERT_STRING_EQUAL(a->tensors.items[i].name, b->tensors.items[i].name);
        CU_ASSERT(a->tensors.items[i].fate == b->tensors.items[i].fate);
        CU_ASSERT(a->tensors.items[i].layer == b->tensors.items[i].layer);
    }
    CU_ASSERT_EQUAL_FATAL(a->regions.count, b->regions.count);
    CU_ASSERT_STRING_EQUAL(b->regions.items[1].reason, "there is a reason");
    CU_ASSERT_PTR_NULL(b->regions.items[0].reason);
}

static const char *graph_text(bench *b, const xpu_graph *graph) {
    xpu_text text;
    xpu_text_init(&text, b->arena);
    xpu_graph_text(graph, &text);
    return text.text;
}

static void round_trip(void) {
    BENCH_OPEN(b);
    xpu_program *p = make_program(&b);
    const char *path = write_program(&b, p);
    xpu_program_image *image = xpu_program_read(b.arena, path, &b.diags);
    xpu_diags_print(&b.diags, stderr);
    CU_ASSERT_PTR_NOT_NULL_FATAL(image);
    check_header(p, &image->program);
    check_lists(p, &image->program);
    CU_ASSERT_EQUAL(xpu_program_load_constants(image, b.arena, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_verify(image->program.graph, "read", &b.diags), XPU_OK);
    CU_ASSERT_STRING_EQUAL(graph_text(&b, p->graph), graph_text(&b, image->program.graph));
    xpu_tensor weight;
    xpu_value w = xpu_graph_by_name(image->program.graph, "w");
    CU_ASSERT_EQUAL_FATAL(xpu_const_tensor(image->program.graph, w, b.arena, &weight, &b.diags), XPU_OK);
    for (int i = 0; i < IN * OUT; i++) CU_ASSERT_EQUAL(((float *)weight.data)[i], weight_at(i));
    CU_ASSERT_EQUAL_FATAL(image->segments.count, 2);
    CU_ASSERT(image->segments.items[1].is_weights && image->segments.items[1].offset % 4096 == 0);
    CU_ASSERT_EQUAL(image->segments.items[1].address, WEIGHTS_AT);
    /* The same from memory, and written again the same bytes. */
    size_t length, again;
    void *bytes = xpu_file_read_all(b.arena, path, 1 << 24, &length, &b.diags);
    CU_ASSERT_PTR_NOT_NULL(xpu_program_parse(b.arena, bytes, length, "memory", &b.diags));
    void *second = xpu_file_read_all(b.arena, write_program(&b, p), 1 << 24, &again, &b.diags);
    CU_ASSERT(length == again && memcmp(bytes, second, length) == 0);
    bench_close(&b);
}

static void stripped(void) {
    BENCH_OPEN(b);
    xpu_program *p = make_program(&b);
    p->stripped = 1;
    xpu_program_image *image = xpu_program_read(b.arena, write_program(&b, p), &b.diags);
    xpu_diags_print(&b.diags, stderr);
    CU_ASSERT_PTR_NOT_NULL_FATAL(image);
    CU_ASSERT(image->program.stripped);
    CU_ASSERT_EQUAL(image->program.layers.items[0].node.id, 0);
    CU_ASSERT_EQUAL(xpu_graph_first(image->program.graph).id, 0);
    check_lists(p, &image->program);
    bench_close(&b);
}

/* binutils of LLVM read the file, and find the sections. */
static void binutils(void) {
    BENCH_OPEN(b);
    const char *path = write_program(&b, make_program(&b));
    static const char *const tools[][3] = {{"llvm-readelf-19", "-SWlh", ".xpu.program"},
                                           {"llvm-objdump-19", "-hd", ".xpu.graph"}};
    for (int i = 0; i < 2; i++) {
        xpu_child child;
        const char *argv[] = {tools[i][0], tools[i][1], path, NULL};
        xpu_status status = xpu_child_run(b.arena, argv, 0, &child, &b.diags);
        if (!child.found) {
            printf("skipped: %s is not installed\n", tools[i][0]);
            continue;
        }
        CU_ASSERT_EQUAL_FATAL(status, XPU_OK);
        CU_ASSERT_EQUAL(child.exit_code, 0);
        CU_ASSERT_STRING_EQUAL(child.error, "");
        CU_ASSERT_PTR_NOT_NULL(strstr(child.output, tools[i][2]));
        CU_ASSERT_PTR_NOT_NULL(strstr(child.output, ".weights"));
    }
    bench_close(&b);
}

/* ---- writing fails ---- */

static xpu_status fail_weight(void *context, uint32_t buffer, xpu_arena *scratch, const void **bytes, uint64_t *length,
                              xpu_diags *diags) {
    (void)context, (void)buffer, (void)scratch;
    *bytes = NULL;
    *length = 0;
    return xpu_error(diags, XPU_EIO, "weights.bin", "io-short", NULL, "the file is shorter than it was", NULL, NULL);
}

/* A write that fails leaves what the path held before, and nothing beside it. */
static void failed_write(void) {
    BENCH_OPEN(b);
    executable e;
    xpu_program *p = make_program(&b);
    const char *path = write_program(&b, p), *elf = xpu_path_join(b.arena, b.folder, "linked.elf");
    size_t length, after;
    void *before = xpu_file_read_all(b.arena, path, 1 << 24, &length, &b.diags);
    CU_ASSERT_EQUAL(xpu_program_write(p, elf, path, fail_weight, NULL, b.arena, &b.diags), XPU_EIO);
    xpu_diags_clear(&b.diags);
    int asked = 0;
    make_executable(&e);
    e.sections[2].sh_size = 16; /* too small for the weights */
    xpu_file_write(b.arena, elf, &e, sizeof e, &b.diags);
    CU_ASSERT_EQUAL(xpu_program_write(p, elf, path, give_weight, &asked, b.arena, &b.diags), XPU_EBUG);
    make_executable(&e);
    e.symbols[1].st_name = 0; /* no plan */
    xpu_file_write(b.arena, elf, &e, sizeof e, &b.diags);
    CU_ASSERT_EQUAL(xpu_program_write(p, elf, path, give_weight, &asked, b.arena, &b.diags), XPU_EBUG);
    void *now = xpu_file_read_all(b.arena, path, 1 << 24, &after, &b.diags);
    CU_ASSERT(length == after && memcmp(before, now, length) == 0);
    bench_close(&b);
}

/* ---- hostile files ---- */

/* Reads a file in memory that may be anything: it is a program, or there is one error [xpu-format] or [xpu-hash].
 * Returns 1 when it was read. What is read must also give its constants and pass the verifier. */
static int read_hostile(const void *bytes, size_t length) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_mem_init(&mem);
    xpu_diags_init(&diags);
    if (setjmp(mem.out_of_memory)) {
        xpu_mem_release(&mem);
        xpu_diags_clear(&diags);
        return 0;
    }
    xpu_arena *arena = xpu_arena_new(&mem, "hostile");
    xpu_program_image *image = xpu_program_parse(arena, bytes, length, "hostile.xpu", &diags);
    if (image) {
        CU_ASSERT_EQUAL(diags.errors, 0);
        if (xpu_program_load_constants(image, arena, &diags) == XPU_OK && !image->program.stripped) {
            if (xpu_verify(image->program.graph, "hostile", &diags) != XPU_OK) xpu_diags_print(&diags, stderr);
            CU_ASSERT_EQUAL(diags.errors, 0);
        }
        for (uint32_t i = 0; i < image->program.layers.count; i++) {
            const xpu_program_layer *layer = &image->program.layers.items[i];
            CU_ASSERT(image->program.stripped || layer->node.id || !layer->output_count);
        }
    } else {
        CU_ASSERT_EQUAL(diags.errors, 1);
        CU_ASSERT(diags.count == 1 &&
                  (strcmp(diags.items[0].rule, "xpu-format") == 0 || strcmp(diags.items[0].rule, "xpu-hash") == 0));
        CU_ASSERT_EQUAL(xpu_diags_status(&diags), XPU_EIO);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
    return image != NULL;
}

static void truncated(void) {
    BENCH_OPEN(b);
    size_t length;
    uint8_t *bytes = xpu_file_read_all(b.arena, write_program(&b, make_program(&b)), 1 << 24, &length, &b.diags);
    CU_ASSERT(read_hostile(bytes, length));
    for (size_t cut = 0; cut < length; cut += cut < 1500 || cut + 3000 > length ? 1 : 97) { /* the hash as it comes */
        CU_ASSERT(!read_hostile(bytes, cut));
    }
    bench_close(&b);
}

static uint64_t state;
static uint64_t random_next(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

/* Whatever bit is another one: the program is refused. */
static void flipped_bits(void) {
    BENCH_OPEN(b);
    size_t length;
    uint8_t *bytes = xpu_file_read_all(b.arena, write_program(&b, make_program(&b)), 1 << 24, &length, &b.diags);
    for (size_t at = 0; at < length; at++) {
        uint8_t bit = (uint8_t)(1u << (at * 5 + at / 8) % 8);
        bytes[at] ^= bit;
        int read = read_hostile(bytes, length);
        if (read) fprintf(stderr, "byte %zu of %zu\n", at, length);
        CU_ASSERT_FALSE_FATAL(read);
        bytes[at] ^= bit;
    }
    CU_ASSERT(read_hostile(bytes, length));
    bench_close(&b);
}

/* Bytes of the headers and of the metadata are changed, and the hash fits. */
static void flipped(void) {
    BENCH_OPEN(b);
    size_t length;
    uint8_t *bytes = xpu_file_read_all(b.arena, write_program(&b, make_program(&b)), 1 << 24, &length, &b.diags);
    const Elf32_Ehdr *header = (const Elf32_Ehdr *)bytes;
    size_t tail = WEIGHTS_SIZE < length ? length - header->e_shoff + 2500 : length;
    state = 20240601;
    printf("seed %llu\n", (unsigned long long)state);
    int read = 0, runs = 3000;
    for (int i = 0; i < runs; i++) {
        uint8_t *copy = malloc(length);
        memcpy(copy, bytes, length);
        int changes = 1 + (int)(random_next() % 4);
        for (int k = 0; k < changes; k++) {
            size_t at = random_next() % 4 == 0 ? random_next() % sizeof(executable) : length - 1 - random_next() % tail;
            copy[at] = random_next() % 2 ? (uint8_t)random_next() : copy[at] ^ (uint8_t)(1u << random_next() % 8);
        }
        xpu_program_seal(copy, length);
        read += read_hostile(copy, length);
        free(copy);
    }
    CU_ASSERT(read < runs);
    bench_close(&b);
}

/* ---- metadata that says what cannot be ---- */

typedef struct {
    const char *name;
    void (*change)(bench *b, xpu_program *p);
    const char *why;
} lie;

static void buffer_alignment(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[0].alignment = 3;
}
static void buffer_alias(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[0].alias_of = 0;
}
static void copy_of_activation(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[3].copy_of = 0;
}
static void copy_too_large(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[3].bytes = xpu_dim_const(&p->graph->dims, 1 << 20);
}
static void copy_of_nothing(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[3].copy_of = 9;
}
static void input_unlisted(bench *b, xpu_program *p) {
    (void)b;
    p->graph->inputs.count = 0;
}
static void in_place_of_nothing(bench *b, xpu_program *p) {
    (void)b;
    p->in_place.items[0].other = 4;
}
static void in_place_of_itself(bench *b, xpu_program *p) {
    (void)b;
    p->in_place.items[0].other = 2;
}
static void buffer_lifetime(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[0].first_layer = 5;
}
static void buffer_level(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[0].levels[0] = 9;
}
static void buffer_levels(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[0].level_count = 0;
}
static void buffer_negative(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[0].bytes = xpu_dim_const(&p->graph->dims, -4);
}
static void buffer_huge(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[0].bytes = xpu_dim_const(&p->graph->dims, INT64_MAX);
}
static void weight_outside(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[1].offset = p->weights_bytes - 4;
}
static void weight_not_placed(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[1].placed = 0;
}
static void weight_too_short(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[1].bytes = xpu_dim_const(&p->graph->dims, 8);
}
static void packed_activation(bench *b, xpu_program *p) {
    (void)b;
    p->values.items[0].packing.kind = XPU_PACK_CONV_F32;
}
static void packing_unknown(bench *b, xpu_program *p) {
    (void)b;
    p->values.items[1].packing.kind = (xpu_packing_kind)77;
}
static void packing_wrong(bench *b, xpu_program *p) {
    (void)b;
    p->values.items[1].packing =
        (xpu_packing){.kind = XPU_PACK_CONV_F32, .out_c = 1 << 30, .in_c = 1 << 30, .groups = 1};
}
static void value_buffer(bench *b, xpu_program *p) {
    (void)b;
    p->values.items[0].buffer = 99;
}
static void plan_buffer(bench *b, xpu_program *p) {
    (void)b;
    p->plan.items[2].buffer = 99;
}
static void plan_kind(bench *b, xpu_program *p) {
    (void)b;
    p->plan.items[2].kind = (xpu_word_kind)5;
}
static void plan_nothing(bench *b, xpu_program *p) {
    (void)b;
    p->plan.items[1].dim = (xpu_dim){0};
}
static void tensor_layer(bench *b, xpu_program *p) {
    (void)b;
    p->tensors.items[0].layer = 9;
}
static void tensor_no_layer(bench *b, xpu_program *p) {
    (void)b;
    p->tensors.items[0].layer = -1;
}
static void layer_nowhere(bench *b, xpu_program *p) {
    (void)b;
    p->layers.items[1].unit = XPU_UNIT_COUNT;
}
static void layer_lacks_result(bench *b, xpu_program *p) {
    (void)b;
    p->layers.items[2].output_count = 2;
}
static void layer_without_node(bench *b, xpu_program *p) {
    (void)b;
    p->layers.items[0].node = (xpu_node){0};
}
static void weights_missing(bench *b, xpu_program *p) {
    (void)b;
    p->weights_bytes = 0;
}
static void wrong_dtype(bench *b, xpu_program *p) {
    (void)b;
    xpu_value_at(p->graph, xpu_graph_by_name(p->graph, "x*w"))->dtype = XPU_I16;
}
static void wrong_shape(bench *b, xpu_program *p) {
    (void)b;
    xpu_value_at(p->graph, xpu_graph_by_name(p->graph, "x*w"))->dims[1] = xpu_dim_const(&p->graph->dims, 5);
}
static void wrong_layout(bench *b, xpu_program *p) {
    (void)b;
    xpu_value_at(p->graph, xpu_graph_by_name(p->graph, "x*w"))->layout = XPU_LAYOUT_CHANNEL_LAST;
}

static const lie lies[] = {
    {"alignment is no power of two", buffer_alignment, "a buffer is malformed"},
    {"a buffer is an alias of itself", buffer_alias, "a buffer is malformed"},
    {"a buffer lives backwards", buffer_lifetime, "a buffer is malformed"},
    {"a copy of no weight", copy_of_activation, "a copy of a weight is malformed"},
    {"a copy larger than its weight", copy_too_large, "a copy of a weight is malformed"},
    {"a copy of nothing", copy_of_nothing, "a copy of a weight is malformed"},
    {"an input nobody lists", input_unlisted, "an input is not in the list of inputs"},
    {"in place of nothing", in_place_of_nothing, "a buffer does not exist"},
    {"in place of itself", in_place_of_itself, "a buffer does not exist"},
    {"unknown memory level", buffer_level, "a memory level does not exist"},
    {"no memory level", buffer_levels, "a buffer has no memory level"},
    {"negative size", buffer_negative, "a size is missing, negative or too large"},
    {"huge size", buffer_huge, "a size is missing, negative or too large"},
    {"weight outside", weight_outside, "a weight lies outside of the weights"},
    {"weight without a place", weight_not_placed, "a weight lies outside of the weights"},
    {"weight larger than its buffer", weight_too_short, "a constant's packing does not fit its buffer"},
    {"packed activation", packed_activation, "a computed value cannot be packed"},
    {"unknown packing", packing_unknown, "a packing does not exist"},
    {"packing of another shape", packing_wrong, "a constant's packing does not fit its buffer"},
    {"value in no buffer", value_buffer, "a buffer does not exist"},
    {"address of no buffer", plan_buffer, "a buffer does not exist"},
    {"unknown word", plan_kind, "a word of its plan table has an unknown kind"},
    {"word without expression", plan_nothing, "a word of its plan table has no expression"},
    {"tensor of no layer", tensor_layer, "the fate of a source tensor is malformed"},
    {"dumped tensor without a layer", tensor_no_layer, "the fate of a source tensor is malformed"},
    {"layer without a node", layer_without_node, "a layer is malformed"},
    {"layer that runs nowhere", layer_nowhere, "a layer is malformed"},
    {"layer without one of its results", layer_lacks_result, "a layer has not the results of its node"},
    {"no weights", weights_missing, "a weight lies outside of the weights"},
    {"wrong element type", wrong_dtype, "a node's result has not the shape that its operator gives"},
    {"wrong shape", wrong_shape, "a node's result has not the shape that its operator gives"},
    {"layout of a matrix", wrong_layout, "a value's layout needs rank 3 or 4"},
};

/* The writer is not asked: the metadata is put into a file that was good. */
static void check_lie(const lie *l) {
    BENCH_OPEN(b);
    xpu_program *p = make_program(&b);
    xpu_program_image *image = xpu_program_read(b.arena, write_program(&b, p), &b.diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(image);
    const xpu_program addresses = image->program;
    l->change(&b, p);
    p->entry = addresses.entry;
    p->plan_address = addresses.plan_address;
    p->control_address = addresses.control_address;
    p->weights_address = addresses.weights_address;
    p->image_end = addresses.image_end;
    xpu_blob metadata, graph;
    CU_ASSERT_EQUAL_FATAL(xpu_metadata_encode(p, b.arena, &metadata, &graph, &b.diags), XPU_OK);
    const char *why = NULL;
    const xpu_program *read = xpu_metadata_decode(&metadata, &graph, b.arena, "lie.xpu", &why);
    if (read || !why || strcmp(why, l->why) != 0) {
        fprintf(stderr, "%s: %s\n", l->name, why ? why : read ? "read" : "no reason");
    }
    CU_ASSERT_PTR_NULL(read);
    CU_ASSERT(why && strcmp(why, l->why) == 0);
    bench_close(&b);
}

static void metadata_lies(void) {
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) check_lie(&lies[i]);
}

/* The writer believes its caller; the reader does not believe the file. */
static void plan_too_long(void) {
    BENCH_OPEN(b);
    xpu_program *p = make_program(&b);
    for (int i = 0; i < TEXT_BYTES; i++) XPU_PUSH(b.arena, &p->plan, ((xpu_plan_word){.kind = XPU_WORD_CONST}));
    CU_ASSERT_PTR_NULL(xpu_program_read(b.arena, write_program(&b, p), &b.diags));
    CU_ASSERT(b.diags.count == 1 && strcmp(b.diags.items[0].why, "its plan table is in no segment") == 0);
    bench_close(&b);
}

/* What a file cannot hold is refused when it is written: nothing is left behind. */
static void limits(void) {
    BENCH_OPEN(b);
    xpu_program *p = make_program(&b);
    for (int i = 0; i < 64; i++) {
        xpu_dim_symbol(&p->graph->dims, xpu_printf(b.arena, "s%d", i), 1, 4, 1);
    }
    int asked = 0;
    const char *path = xpu_path_join(b.arena, b.folder, "test.xpu");
    CU_ASSERT_EQUAL(try_to_write(&b, p, path, &asked), XPU_EMODEL);
    CU_ASSERT(b.diags.count == 1 && strcmp(b.diags.items[0].rule, "program-limits") == 0);
    CU_ASSERT(b.diags.count == 1 && strstr(b.diags.items[0].why, "it has 65 symbols, at most 64 can be read; the"));
    CU_ASSERT(!asked && !xpu_file_exists(path));
    bench_close(&b);
}

/* A plan table as 55,000 convolutions have it is read; of a list with more entries than are read both numbers are said.
 */
static void long_lists(void) {
    BENCH_OPEN(b);
    xpu_program *p = make_program(&b);
    for (int i = 0; i < 2 << 20; i++) XPU_PUSH(b.arena, &p->plan, ((xpu_plan_word){.kind = XPU_WORD_CONST, .bits = 1}));
    CU_ASSERT_EQUAL(xpu_program_check(p, b.arena, &b.diags), XPU_OK);
    while (p->in_place.count <= 1 << 22) XPU_PUSH(b.arena, &p->in_place, ((xpu_program_in_place){0, 1}));
    CU_ASSERT_EQUAL(xpu_program_check(p, b.arena, &b.diags), XPU_EMODEL);
    CU_ASSERT(b.diags.count == 1 &&
              strstr(b.diags.items[0].why, "it has 4194305 buffers in place, at most 4194304 can be read"));
    bench_close(&b);
}

/* ---- the ELF around it ---- */

typedef struct {
    const char *name;
    size_t offset; /* in the file */
    uint32_t value;
    int bytes;
    const char *why;
} header_case;

#define EHDR(field, value, bytes, why) {#field, offsetof(Elf32_Ehdr, field), value, bytes, why}
#define PHDR(index, field, value, why)                                                                                 \
    {#field, offsetof(executable, segments) + (index) * sizeof(Elf32_Phdr) + offsetof(Elf32_Phdr, field), value, 4, why}

static const header_case header_cases[] = {
    EHDR(e_ident, 0x46, 1, "it does not begin with the ELF signature"),
    {"class", EI_CLASS, ELFCLASS64, 1, "it is not a 32-bit little-endian ELF file"},
    {"data", EI_DATA, ELFDATA2MSB, 1, "it is not a 32-bit little-endian ELF file"},
    EHDR(e_type, ET_DYN, 2, "it is not a RISC-V executable"),
    EHDR(e_machine, EM_X86_64, 2, "it is not a RISC-V executable"),
    EHDR(e_phnum, 0, 2, "it has no program or section headers, or too many"),
    EHDR(e_phnum, 0xffff, 2, "it has no program or section headers, or too many"),
    EHDR(e_shnum, 0, 2, "it has no program or section headers, or too many"),
    EHDR(e_shoff, 0xfffffff0u, 4, "its program or section headers lie outside of the file"),
    EHDR(e_phoff, 0xfffffff0u, 4, "its program or section headers lie outside of the file"),
    EHDR(e_shstrndx, 0, 2, "it has no section names"),
    EHDR(e_shstrndx, 99, 2, "it has no section names"),
    EHDR(e_shstrndx, 1, 2, "its section names are missing or too long"),
    EHDR(e_phentsize, 8, 2, "its table entries have the wrong size"),
    EHDR(e_entry, 0x10, 4, "its entry is in no segment"),
    PHDR(0, p_offset, 0xfffffff0u, "a segment lies outside of the file"),
    PHDR(0, p_filesz, 0xffffffffu, "a segment lies outside of the file"),
    PHDR(0, p_memsz, 4, "a segment is larger in the file than in memory"),
    PHDR(0, p_paddr, 0x1000, "a segment leaves the program's memory"),
    PHDR(0, p_paddr, 0xfffffff0u, "a segment leaves the address space"),
    PHDR(0, p_paddr, WEIGHTS_AT + 16, "two segments overlap"),
    PHDR(1, p_paddr, 0x80001000u, "its weights are missing"),
    PHDR(1, p_type, PT_NOTE, "its weights are missing"),
    PHDR(0, p_type, PT_NOTE, "its plan table is in no segment"),
};

static void elf_lies(void) {
    BENCH_OPEN(b);
    size_t length;
    const uint8_t *bytes = xpu_file_read_all(b.arena, write_program(&b, make_program(&b)), 1 << 24, &length, &b.diags);
    for (size_t i = 0; i < sizeof header_cases / sizeof *header_cases; i++) {
        const header_case *c = &header_cases[i];
        uint8_t *copy = xpu_copy(b.arena, bytes, length);
        memcpy(copy + c->offset, &c->value, (size_t)c->bytes);
        xpu_program_seal(copy, length);
        xpu_program_image *image = xpu_program_parse(b.arena, copy, length, "lie.xpu", &b.diags);
        const char *why = b.diags.count ? b.diags.items[0].why : "read";
        if (strcmp(why, c->why) != 0) fprintf(stderr, "%s: %s\n", c->name, why);
        CU_ASSERT_PTR_NULL(image);
        CU_ASSERT_STRING_EQUAL(why, c->why);
        xpu_diags_clear(&b.diags);
    }
    bench_close(&b);
}

XPU_TEST_MAIN("program", {"round trip", round_trip}, {"stripped", stripped}, {"binutils read it", binutils},
              {"a write that fails", failed_write}, {"truncated", truncated}, {"bits flipped", flipped_bits},
              {"bits flipped, hash right", flipped}, {"metadata that lies", metadata_lies},
              {"plan table too long", plan_too_long}, {"limits", limits}, {"plan words", long_lists},
              {"headers that lie", elf_lies})
