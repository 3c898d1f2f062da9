/* What the tests of the ONNX front end share: models that are made from text, their import, and what is said of it. */
#ifndef XPU_TESTS_ONNX_FIXTURE_H
#define XPU_TESTS_ONNX_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include "core/passes/verify.h"
#include "core/ops/op.h"
#include "frontend/onnx/onnx.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/unit.h"

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    xpu_graph *graph;
    xpu_status status;
    xpu_onnx_builder builder;
    xpu_import_options options;
} fixture;

static inline void begin(fixture *f, int opset) {
    memset(f, 0, sizeof *f);
    xpu_mem_init(&f->mem);
    if (setjmp(f->mem.out_of_memory)) {
        CU_FAIL_FATAL("out of memory");
    }
    f->arena = xpu_arena_new(&f->mem, "test");
    xpu_diags_init(&f->diags);
    xpu_onnx_begin(&f->builder, f->arena, opset);
}

static inline void end(fixture *f) {
    xpu_diags_clear(&f->diags);
    xpu_mem_release(&f->mem);
}

static inline void import(fixture *f) {
    size_t length = 0;
    void *bytes = xpu_onnx_pack(&f->builder, "test", &length);
    f->status = xpu_onnx_import_bytes(f->arena, bytes, length, "m.onnx", &f->options, &f->graph, &f->diags);
    CU_ASSERT_EQUAL(f->status == XPU_OK, f->graph != NULL);
    if (f->graph) CU_ASSERT_EQUAL(xpu_verify(f->graph, "import", &f->diags), XPU_OK);
}

/* Every message in its text form, one after another. */
static inline const char *messages(fixture *f) {
    xpu_text text;
    xpu_text_init(&text, f->arena);
    for (size_t i = 0; i < f->diags.count; i++) {
        char line[4096];
        xpu_diag_text(&f->diags, i, line, sizeof line);
        xpu_text_add(&text, "%s\n", line);
    }
    return text.text;
}

/* Errors alone, without notes about open dims. */
static inline const char *errors(fixture *f) {
    xpu_text text;
    xpu_text_init(&text, f->arena);
    for (size_t i = 0; i < f->diags.count; i++) {
        char line[4096];
        if (f->diags.items[i].severity != XPU_SEVERITY_ERROR) continue;
        xpu_diag_text(&f->diags, i, line, sizeof line);
        xpu_text_add(&text, "%s\n", line);
    }
    return text.text;
}

static inline void expect(const char *of, const char *found, const char *expected) {
    if (strcmp(found, expected) != 0) fprintf(stderr, "\n%s:\n  expected %s\n  found    %s\n", of, expected, found);
    CU_ASSERT_STRING_EQUAL(found, expected);
}

static inline int parse_list(const char *text, int64_t *values) {
    int count = 0;
    while (*text && *text != ']' && *text != '}') {
        char *next = NULL;
        values[count++] = *text == 'N' ? -1 : strtoll(text, &next, 10);
        text = *text == 'N' ? text + 1 : next;
        if (*text == ',') text++;
    }
    return count;
}

/* "i:1", "f:0.5", "s:SAME_UPPER", "I:1,2", separated by blanks and named "name=". */
static inline void add_attrs(fixture *f, XpuOnnx__NodeProto *node, const char *text) {
    char copy[256], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        char *value = strchr(word, '=');
        if (!value) continue;
        *value = '\0';
        char kind = value[1];
        value += 3;
        int64_t list[16];
        if (kind == 'i') xpu_onnx_int(&f->builder, node, word, strtoll(value, NULL, 10));
        if (kind == 'f') xpu_onnx_float(&f->builder, node, word, strtof(value, NULL));
        if (kind == 's') xpu_onnx_string(&f->builder, node, word, value);
        if (kind == 'I') xpu_onnx_ints(&f->builder, node, word, list, (size_t)parse_list(value, list));
    }
}

/* One operand: "[N,3,8]" a graph input, "{4,3}" float32 weights, "=1,-1" an int64 list, "%0.5" a float32 scalar, "-"
 * none. */
static inline const char *add_operand(fixture *f, const char *text, int index) {
    const char *name = text[0] == '-' ? "" : xpu_printf(f->arena, "%c", "xwbcde"[index]);
    xpu_tensor tensor = {.dtype = XPU_F32};
    if (text[0] == '[') {
        int64_t dims[8];
        int rank = parse_list(text + 1, dims);
        xpu_onnx_input(&f->builder, name, rank, dims);
    } else if (text[0] == '{') {
        tensor.rank = parse_list(text + 1, tensor.dims);
        float *data = XPU_NEW_ARRAY(f->arena, float, xpu_tensor_count(&tensor));
        for (int64_t i = 0; i < xpu_tensor_count(&tensor); i++) data[i] = (float)(i % 7) - 3.0f;
        tensor.data = data;
        xpu_onnx_initializer(&f->builder, name, &tensor, 0);
    } else if (text[0] == '=') {
        int64_t values[16];
        tensor = (xpu_tensor){.dtype = XPU_I64, .rank = 1, .dims = {parse_list(text + 1, values)}, .data = values};
        xpu_onnx_initializer(&f->builder, name, &tensor, 0);
    } else if (text[0] == '%') {
        float value = strtof(text + 1, NULL);
        tensor.data = &value;
        xpu_onnx_initializer(&f->builder, name, &tensor, 1);
    }
    return name;
}

/* A model of one node 'n' with result 'y'. */
static inline XpuOnnx__NodeProto *add_node(fixture *f, const char *op, const char *attrs, const char *operands) {
    const char *names[XPU_ONNX_MAX_INPUTS + 1] = {NULL};
    char copy[256], *rest = copy;
    snprintf(copy, sizeof copy, "%s", operands);
    int count = 0;
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        if (*word) {
            names[count] = add_operand(f, word, count);
            count++;
        }
    }
    XpuOnnx__NodeProto *node = xpu_onnx_node(&f->builder, op, "n", "y", names);
    add_attrs(f, node, attrs);
    return node;
}

static inline void add_output(fixture *f, const char *name) {
    xpu_onnx_output(&f->builder, name, 0, NULL);
}

static inline const char *shape_of(fixture *f, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(f->graph, value);
    xpu_text text;
    xpu_text_init(&text, f->arena);
    for (int i = 0; i < info->rank; i++) {
        xpu_text_add(&text, "%s%s", i ? "," : "", xpu_dim_text(&f->graph->dims, info->dims[i], f->arena));
    }
    return xpu_printf(f->arena, "[%s]", text.text);
}

static inline const char *nodes_of(fixture *f) {
    xpu_text text;
    xpu_text_init(&text, f->arena);
    XPU_FOR_ALL_NODES(f->graph, node) {
        xpu_text_add(&text, "%s%s", text.length ? " " : "", xpu_node_at(f->graph, node)->op->name);
    }
    return text.text;
}

#endif
