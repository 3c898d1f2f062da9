/* Models before and behind a conversion, run as they are imported. */
#ifndef XPU_TESTS_CONVERT_RUNS_H
#define XPU_TESTS_CONVERT_RUNS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compare.h"
#include "base/file.h"
#include "base/npy.h"
#include "core/ops/ref.h"
#include "frontend/onnx/onnx.h"
#include "frontend/paddle/paddle.h"
#include "xpuc/include/xpuc.h"
#include "xpuc/pipeline.h"

enum { MOST_OPTIONS = 8 };

/* What stands in a network's file of options, by kind; each list ends with NULL. */
typedef struct {
    const char *shapes[MOST_OPTIONS], *values[MOST_OPTIONS], *bounds[MOST_OPTIONS];
    int opset;
} convert_options;

/* The outputs of a run, in the model's order. */
typedef struct {
    xpu_tensor *outputs;
    const char **names;
    uint32_t count;
    const char *problem; /* NULL: it ran */
} convert_run;

static inline const char *first_problem(xpu_arena *arena, const xpu_diags *diags) {
    char line[2048] = "";
    for (size_t i = 0; i < diags->count; i++) {
        if (diags->items[i].severity != XPU_SEVERITY_ERROR) continue;
        xpu_diag_text(diags, i, line, sizeof line);
        break;
    }
    return xpu_strdup(arena, line);
}

static inline xpu_graph *convert_import(xpu_arena *arena, const char *path, const convert_options *given,
                                        xpu_diags *diags) {
    static xpu_shape_spec shapes[MOST_OPTIONS];
    static xpu_value_spec values[MOST_OPTIONS];
    static xpu_bound_spec bounds[MOST_OPTIONS];
    xpu_import_options options = {.shapes = shapes, .values = values, .bounds = bounds};
    for (; given->shapes[options.shape_count]; options.shape_count++)
        xpu_shape_parse(arena, given->shapes[options.shape_count], &shapes[options.shape_count], diags);
    for (; given->values[options.value_count]; options.value_count++)
        xpu_values_parse(arena, given->values[options.value_count], &values[options.value_count], diags);
    for (; given->bounds[options.bound_count]; options.bound_count++)
        xpu_bounds_parse(arena, given->bounds[options.bound_count], &bounds[options.bound_count], diags);
    xpu_graph *graph = NULL;
    if (xpu_paddle_is_model(path))
        xpu_paddle_import(arena, path, &options, &graph, diags);
    else
        xpu_onnx_import(arena, path, &options, &graph, diags);
    return graph;
}

static inline void bind_symbols(const xpu_graph *graph, const xpu_tensor *inputs, int64_t *symbols) {
    for (uint32_t s = 0; s < graph->dims.symbols.count; s++) symbols[s] = graph->dims.symbols.items[s].min;
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[i]);
        for (int d = 0; d < info->rank; d++) {
            const xpu_dim_node *node = xpu_dim_at(&graph->dims, info->dims[d]);
            if (node->kind == XPU_DIM_SYMBOL) symbols[node->value] = inputs[i].dims[d];
        }
        for (uint32_t s = 0; s < graph->dims.symbols.count; s++) {
            const xpu_symbol *symbol = &graph->dims.symbols.items[s];
            if (symbol->value.id == graph->inputs.items[i].id)
                symbols[s] = (int64_t)xpu_element(&inputs[i], symbol->element);
        }
    }
    xpu_symbols_bound(graph, symbols);
}

/* Unsigned integers are int64 in PaddlePaddle: elements as another of these types. */
static inline xpu_tensor convert_retyped(xpu_arena *arena, const xpu_tensor *x, xpu_dtype dtype) {
    const xpu_dtype of = x->dtype == XPU_I64 ? dtype : x->dtype, to = x->dtype == XPU_I64 ? x->dtype : dtype;
    const int is_held = to == XPU_I64 && (of == XPU_U16 || of == XPU_U32 || of == XPU_U64);
    if (x->dtype == dtype || !is_held) return *x;
    xpu_tensor y = *x;
    const size_t from = xpu_dtype_bytes(x->dtype), bytes = xpu_dtype_bytes(dtype), n = (size_t)xpu_tensor_count(x);
    y.dtype = dtype;
    char *data = y.data = xpu_alloc(arena, n * bytes + 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t element = 0;
        memcpy(&element, (const char *)x->data + i * from, from);
        memcpy(data + i * bytes, &element, bytes);
    }
    return y;
}

/* Runs a graph on the inputs of these names; an input that is not there is the one of its place. */
static inline convert_run convert_run_model(xpu_arena *arena, const char *path, const convert_options *given,
                                            const xpu_named_tensors *in) {
    convert_run run = {.problem = NULL};
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_graph *graph = convert_import(arena, path, given, &diags);
    xpu_tensor *inputs = XPU_NEW_ARRAY(arena, xpu_tensor, graph ? graph->inputs.count + 1 : 1);
    if (graph) {
        for (uint32_t i = 0; i < graph->inputs.count; i++) {
            const char *name = xpu_value_at(graph, graph->inputs.items[i])->name;
            if (i < in->count) inputs[i] = in->items[i].tensor;
            for (uint32_t k = 0; k < in->count; k++) {
                if (strcmp(in->items[k].name, name) == 0) inputs[i] = in->items[k].tensor;
            }
            inputs[i] = convert_retyped(arena, &inputs[i], xpu_value_at(graph, graph->inputs.items[i])->dtype);
        }
        int64_t *symbols = XPU_NEW_ARRAY(arena, int64_t, graph->dims.symbols.count + 1);
        bind_symbols(graph, inputs, symbols);
        const xpu_ref_options options = {.symbols = symbols, .inputs = inputs};
        run.count = graph->outputs.count;
        run.outputs = XPU_NEW_ARRAY(arena, xpu_tensor, run.count + 1);
        run.names = XPU_NEW_ARRAY(arena, const char *, run.count + 1);
        for (uint32_t i = 0; i < run.count; i++)
            run.names[i] = xpu_strdup(arena, xpu_value_at(graph, graph->outputs.items[i])->name);
        xpu_ref_run(graph, &options, run.outputs, arena, &diags);
    }
    if (diags.errors || !graph) run.problem = first_problem(arena, &diags);
    xpu_diags_clear(&diags);
    return run;
}

/* 0: equal bits; else the largest |a - b| by max |b|; infinite where they cannot be compared. */
static inline double run_difference(const convert_run *a, const convert_run *b) {
    double worst = 0;
    if (a->count != b->count) return INFINITY;
    for (uint32_t i = 0; i < a->count; i++) {
        const xpu_tensor *x = &a->outputs[i], *y = &b->outputs[i];
        if (!xpu_same_shape(x, y) || strcmp(a->names[i], b->names[i]) != 0) return INFINITY;
        if (xpu_tensor_bytes(x) == 0 || memcmp(x->data, y->data, xpu_tensor_bytes(x)) == 0) continue;
        const xpu_tolerance exact = {0, 0};
        const xpu_comparison found = xpu_compare(x, y, &exact);
        double most = 0;
        for (int64_t k = 0; k < xpu_tensor_count(y); k++) {
            const double e = xpu_element(y, k);
            if (isfinite(e) && fabs(e) > most) most = fabs(e);
        }
        if (found.not_finite) return INFINITY;
        const double relative = found.max_difference / (most > 0 ? most : 1);
        if (relative > worst || worst == 0) worst = relative > 0 ? relative : 1e-30;
    }
    return worst;
}

/* "--shape=x=1,2 --bound=n=3" of a file, or of none. */
static inline void read_convert_options(xpu_arena *arena, const char *path, convert_options *options) {
    char word[512];
    *options = (convert_options){.opset = 0};
    FILE *file = fopen(path, "r");
    uint32_t counts[3] = {0};
    while (file && fscanf(file, "%511s", word) == 1) {
        const char *const names[] = {"--shape=", "--value=", "--bound="};
        const char **const lists[] = {options->shapes, options->values, options->bounds};
        for (int k = 0; k < 3; k++) {
            if (strncmp(word, names[k], strlen(names[k])) != 0 || counts[k] >= MOST_OPTIONS - 1) continue;
            lists[k][counts[k]++] = xpu_strdup(arena, word + strlen(names[k]));
        }
    }
    if (file) fclose(file);
}

#endif
