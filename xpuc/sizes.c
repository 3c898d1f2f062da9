/* What to type where a model cannot be read with its open dims: sizes for --shape with which it can. */
#include <string.h>

#include "core/ops/op.h"

#include "xpuc/pipeline.h"

/* Sizes are tried in this order: of a dim that is a size. The others, as the batch, are 1. */
static const int64_t sizes[] = {16, 64, 128, 224, 256, 512, 640, 1024, 1};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Which dims are sizes: those of symbols that no input has in front, that some input has at its end, or all. */
typedef enum { SIZE_NOT_FIRST, SIZE_LAST, SIZE_ANY, WAYS } way;

static const xpu_dim_node *dim_of(const xpu_graph *graph, uint32_t input, int index) {
    return xpu_dim_at(&graph->dims, xpu_value_at(graph, graph->inputs.items[input])->dims[index]);
}

static int is_symbol(const xpu_dim_node *dim, uint32_t symbol) {
    return dim->kind == XPU_DIM_SYMBOL && dim->value == symbol;
}

static int is_size(const xpu_graph *graph, uint32_t symbol, way which) {
    int first = 0, last = 0;
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        int rank = xpu_value_at(graph, graph->inputs.items[i])->rank;
        if (rank < 1) continue;
        first |= is_symbol(dim_of(graph, i, 0), symbol);
        last |= is_symbol(dim_of(graph, i, rank - 1), symbol);
    }
    return which == SIZE_ANY || (which == SIZE_LAST ? last : !first);
}

static xpu_shape_dim shape_dim(const xpu_graph *graph, const xpu_dim_node *dim, way which, int64_t size) {
    if (dim->kind != XPU_DIM_SYMBOL) return (xpu_shape_dim){dim->value, dim->value, 1, NULL};
    const xpu_symbol *symbol = &graph->dims.symbols.items[dim->value];
    if (!symbol->open) return (xpu_shape_dim){symbol->min, symbol->max, symbol->step, symbol->name};
    int64_t value = is_size(graph, (uint32_t)dim->value, which) && size <= symbol->max ? size : 1;
    return (xpu_shape_dim){value, value, 1, NULL};
}

static int has_open_dim(const xpu_graph *graph, uint32_t input) {
    const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[input]);
    for (int i = 0; i < info->rank; i++) {
        const xpu_dim_node *dim = dim_of(graph, input, i);
        if (dim->kind == XPU_DIM_SYMBOL && graph->dims.symbols.items[dim->value].open) return 1;
    }
    return 0;
}

/* Shapes of the inputs that have open dims; of the others what the user gave. */
static xpu_import_options shapes_of(const xpu_pipeline *p, const xpu_graph *graph, way which, int64_t size) {
    xpu_import_options options = p->import;
    xpu_shape_spec *specs = XPU_NEW_ARRAY(p->arena, xpu_shape_spec, graph->inputs.count + options.shape_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[i]);
        if (!has_open_dim(graph, i)) continue;
        specs[count] = (xpu_shape_spec){.input = info->name, .rank = info->rank};
        for (int k = 0; k < info->rank; k++) specs[count].dims[k] = shape_dim(graph, dim_of(graph, i, k), which, size);
        count++;
    }
    uint32_t ours = count;
    for (uint32_t i = 0; i < p->import.shape_count; i++) {
        int is_ours = 0;
        for (uint32_t k = 0; k < ours; k++) is_ours |= strcmp(specs[k].input, p->import.shapes[i].input) == 0;
        if (!is_ours) specs[count++] = p->import.shapes[i];
    }
    options.shapes = specs;
    options.shape_count = count;
    return options;
}

/* `whole`: no branch of an If is left out as it cannot run at these sizes. */
static int can_be_read(const xpu_pipeline *p, const xpu_import_options *options, int whole) {
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(p->arena), "sizes");
    xpu_diags *diags = xpu_diags_new(arena);
    xpu_graph *graph;
    int can = xpu_read_model(p, arena, options, &graph, diags) == XPU_OK && xpu_settle(graph, diags) == XPU_OK;
    for (size_t i = 0; whole && i < diags->count; i++) can &= strcmp(diags->items[i].rule, "control-raise") != 0;
    xpu_arena_free(arena);
    return can;
}

/* "--shape input=1,256 --shape state=2,1,128" */
static const char *text_of(const xpu_pipeline *p, const xpu_import_options *options, const xpu_graph *graph) {
    xpu_text text;
    xpu_text_init(&text, p->arena);
    for (uint32_t i = 0; i < options->shape_count; i++) {
        const xpu_shape_spec *spec = &options->shapes[i];
        int is_ours = 0;
        for (uint32_t k = 0; k < graph->inputs.count; k++)
            is_ours |= spec->input == xpu_value_at(graph, graph->inputs.items[k])->name;
        if (!is_ours) continue;
        xpu_text_add(&text, "%s--shape %s=", text.length ? " " : "", xpu_escape(p->arena, spec->input, 80));
        for (int d = 0; d < spec->rank; d++) {
            const xpu_shape_dim *dim = &spec->dims[d];
            xpu_text_add(&text, "%s%s%s", d ? "," : "", dim->symbol ? xpu_escape(p->arena, dim->symbol, 80) : "",
                         dim->symbol ? "=" : "");
            xpu_text_add(&text, "%lld", (long long)dim->min);
            if (dim->max > dim->min) xpu_text_add(&text, "..%lld", (long long)dim->max);
            if (dim->max > dim->min && dim->step > 1) xpu_text_add(&text, ":%lld", (long long)dim->step);
        }
    }
    return text.text;
}

static const char *find_sizes(const xpu_pipeline *p, const xpu_graph *graph, int whole) {
    for (int i = 0; i < SIZES; i++) {
        for (way which = 0; which < WAYS; which++) {
            if (sizes[i] == 1 && which != SIZE_ANY) continue;
            xpu_import_options options = shapes_of(p, graph, which, sizes[i]);
            if (can_be_read(p, &options, whole)) return text_of(p, &options, graph);
        }
    }
    return NULL;
}

static int is_of_shapes(const xpu_diag *diag) {
    return strncmp(diag->rule, "shape-", strlen("shape-")) == 0 || strcmp(diag->rule, "onnx-shape") == 0 ||
           strcmp(diag->rule, "paddle-shape") == 0 || (diag->hint && strstr(diag->hint, "--shape"));
}

void xpu_suggest_sizes(xpu_pipeline *p, const xpu_graph *read) {
    int open = 0, of_shapes = 0;
    for (uint32_t i = 0; read && i < read->inputs.count; i++) open |= has_open_dim(read, i);
    for (size_t i = 0; open && i < p->diags->count; i++) {
        const xpu_diag *diag = &p->diags->items[i];
        of_shapes |= diag->severity == XPU_SEVERITY_ERROR && is_of_shapes(diag);
    }
    const char *fitting = of_shapes ? find_sizes(p, read, 1) : NULL;
    if (of_shapes && !fitting) fitting = find_sizes(p, read, 0);
    for (size_t i = 0; fitting && i < p->diags->count; i++) {
        const xpu_diag *diag = &p->diags->items[i];
        int is_note = strcmp(diag->rule, "shape-open") == 0;
        if (!is_of_shapes(diag) || (diag->severity == XPU_SEVERITY_NOTE && !is_note)) continue;
        const char *before = is_note || !diag->hint ? "" : xpu_printf(p->arena, "%s; ", diag->hint);
        xpu_diags_set_hint(p->diags, i, xpu_printf(p->arena, "%ssizes that fit, for example: %s", before, fitting));
    }
}
