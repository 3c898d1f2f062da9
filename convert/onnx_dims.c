/* Expressions over symbols as int64 tensors of one element, which the model computes. */
#include <string.h>

#include "convert/onnx_writer.h"

static const char *remember(ow *w, xpu_dim dim, const char *name) {
    ow_known_dim made = {dim.id, w->dims.items[dim.id]};
    XPU_PUSH(w->arena, &w->dims_made, made);
    w->dims.items[dim.id] = name;
    return name;
}

/* Element `element` of an integer tensor. */
static const char *element_of(ow *w, xpu_value value, uint32_t element) {
    const xpu_value_info *info = xpu_value_at(w->graph, value);
    const int64_t all = -1, at = element, one = 1;
    const char *name = ow_name(w, value);
    int64_t size = 0;
    if (info->dtype != XPU_I64) name = ow_cast(w, NULL, name, XPU_I64);
    if (info->rank == 1 && xpu_dim_is_const(&w->graph->dims, info->dims[0], &size) && size == 1) return name;
    if (info->rank == 0) return ow_binary(w, NULL, "Reshape", name, ow_list(w, "shape", &one, 1));
    if (info->rank != 1) name = ow_binary(w, NULL, "Reshape", name, ow_list(w, "shape", &all, 1));
    return ow_binary(w, NULL, "Gather", name, ow_list(w, "index", &at, 1));
}

/* Dim `axis` of a value. */
static const char *size_of(ow *w, xpu_value value, int axis) {
    ow_node *node;
    const int64_t at = axis;
    const char *shape = ow_make(w, &node, NULL, "Shape", ow_name(w, value), NULL, NULL);
    if (ow_has(w, 15)) {
        ow_int(w, node, "start", axis);
        ow_int(w, node, "end", axis + 1);
        return shape;
    }
    return ow_binary(w, NULL, "Gather", shape, ow_list(w, "index", &at, 1));
}

static const char *symbol(ow *w, xpu_dim dim) {
    const xpu_graph *graph = w->graph;
    const int64_t number = xpu_dim_at(&graph->dims, dim)->value;
    const xpu_symbol *of = &graph->dims.symbols.items[number];
    if (of->value.id) return element_of(w, of->value, of->element);
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[i]);
        for (int d = 0; d < info->rank; d++) {
            if (xpu_dim_equal(info->dims[d], dim)) return size_of(w, graph->inputs.items[i], d);
        }
    }
    ow_refuse_size(w, of->name);
    return ow_list(w, "unknown", &(int64_t){1}, 1);
}

/* The size as an argument of a body has it, which importers follow from one iteration to the next; NULL: none has it.
 */
static const char *argument_size(ow *w, xpu_dim dim) {
    for (uint32_t i = w->arguments.count; i-- > 0;) {
        const xpu_value_info *info = xpu_value_at(w->graph, w->arguments.items[i]);
        for (int d = 0; d < info->rank; d++)
            if (xpu_dim_equal(info->dims[d], dim)) return size_of(w, w->arguments.items[i], d);
    }
    return NULL;
}

/* floor(a / b), where ONNX's division of integers goes towards zero. */
static const char *quotient(ow *w, xpu_dim of, const char *a, const char *b) {
    const xpu_dim_node *node = xpu_dim_at(&w->graph->dims, of);
    const int negative = xpu_dim_min(&w->graph->dims, node->a) < 0 || xpu_dim_min(&w->graph->dims, node->b) < 0;
    return ow_binary(w, NULL, "Div", negative ? ow_binary(w, NULL, "Sub", a, ow_binary(w, NULL, "Mod", a, b)) : a, b);
}

const char *ow_dim(ow *w, xpu_dim dim) {
    static const char *const names[] = {[XPU_DIM_ADD] = "Add", [XPU_DIM_MUL] = "Mul", [XPU_DIM_FLOORDIV] = "Div",
                                        [XPU_DIM_MOD] = "Mod", [XPU_DIM_MIN] = "Min", [XPU_DIM_MAX] = "Max"};
    while (w->dims.count <= dim.id) XPU_PUSH(w->arena, &w->dims, NULL);
    if (w->dims.items[dim.id]) return w->dims.items[dim.id];
    const xpu_dim_node node = *xpu_dim_at(&w->graph->dims, dim);
    int64_t value;
    if (!dim.id) {
        ow_refuse(w, XPU_REFUSED_DIM);
        return "";
    }
    if (xpu_dim_is_const(&w->graph->dims, dim, &value)) return ow_list(w, "size", &value, 1);
    if (node.kind == XPU_DIM_SYMBOL) return remember(w, dim, symbol(w, dim));
    const char *argument = argument_size(w, dim);
    if (argument) return remember(w, dim, argument);
    const char *a = ow_dim(w, node.a), *b = ow_dim(w, node.b);
    if (node.kind == XPU_DIM_FLOORDIV) return remember(w, dim, quotient(w, dim, a, b));
    return remember(w, dim, ow_binary(w, NULL, names[node.kind], a, b));
}

/* The vector whose elements these dims are, all of them in order; "": there is none. */
static const char *vector_of(ow *w, const xpu_dim *dims, int count) {
    const xpu_dims *all = &w->graph->dims;
    xpu_value vector = {0};
    int64_t size;
    for (int i = 0; i < count; i++) {
        const xpu_dim_node *node = xpu_dim_at(all, dims[i]);
        if (!dims[i].id || node->kind != XPU_DIM_SYMBOL) return "";
        const xpu_symbol *symbol = &all->symbols.items[node->value];
        if (!symbol->value.id || symbol->element != (uint32_t)i || (i && symbol->value.id != vector.id)) return "";
        vector = symbol->value;
    }
    const xpu_value_info *info = xpu_value_at(w->graph, vector);
    return info->rank == 1 && info->dtype == XPU_I64 && xpu_dim_is_const(all, info->dims[0], &size) && size == count
               ? ow_name(w, vector)
               : "";
}

/* Constants side by side are one tensor. */
const char *ow_dims(ow *w, const char *word, const xpu_dim *dims, int count) {
    int64_t values[2 * XPU_MOST_KNOWN];
    ow_node *node = NULL;
    const char *parts[2 * XPU_MOST_KNOWN] = {NULL};
    int part_count = 0;
    if (!count) return ow_list(w, word, NULL, 0);
    if (vector_of(w, dims, count)[0]) return vector_of(w, dims, count);
    for (int i = 0; i < count;) {
        int run = i;
        while (run < count && xpu_dim_is_const(&w->graph->dims, dims[run], &values[run])) run++;
        if (run == count && i == 0) return ow_list(w, word, values, count);
        parts[part_count++] = run > i ? ow_list(w, word, &values[i], run - i) : ow_dim(w, dims[i]);
        i = run > i ? run : i + 1;
    }
    if (part_count == 1) return parts[0];
    const char *result = ow_make(w, &node, ow_new_name(w, word), "Concat", parts[0], NULL, NULL);
    for (int i = 1; i < part_count; i++) ow_input(w, node, parts[i]);
    ow_int(w, node, "axis", 0);
    return result;
}

const char *ow_shape(ow *w, const xpu_value_info *from, const xpu_dim *dims, int rank, int *all) {
    int64_t values[XPU_MAX_RANK];
    int open = 0, zeros = 0, computed = -1, may_be_empty = 0;
    xpu_dim given[XPU_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        given[i] = dims[i];
        may_be_empty |= xpu_dim_min(&w->graph->dims, dims[i]) < 1;
        if (xpu_dim_is_const(&w->graph->dims, dims[i], &values[i])) {
            zeros += values[i] == 0;
        } else if (from && i < from->rank && xpu_dim_equal(from->dims[i], dims[i])) {
            values[i] = 0;
        } else {
            values[i] = -1;
            open++;
            if (xpu_dim_at(&w->graph->dims, dims[i])->kind != XPU_DIM_SYMBOL) computed = i;
        }
    }
    *all = zeros != 0;
    if (open <= 1 && !zeros) return ow_list(w, "shape", values, rank);
    if (computed >= 0 && !may_be_empty) given[computed] = xpu_dim_const(&w->graph->dims, -1); /* what is left */
    return ow_dims(w, "shape", given, rank);
}
