/* Sizes that only the run knows: lists of numbers that data decide. */
#include "frontend/onnx/importer.h"

/* ---- lists ---- */

/* How many numbers a list has that the run finds; 0: it is none. */
static int64_t count_of(const xpu_onnx_importer *importer, const xpu_value_info *info) {
    int64_t count = 1;
    if ((info->dtype != XPU_I64 && info->dtype != XPU_I32) || info->rank > 1) return 0;
    if (info->rank && !xpu_dim_is_const(&importer->graph->dims, info->dims[0], &count)) return 0;
    return count <= XPU_MOST_KNOWN ? count : 0;
}

/* Whether the entry, which is no constant, is known and never larger. */
static int is_bounded(const xpu_dims *dims, const xpu_known *entry, int64_t max) {
    if (!entry->dim.id || entry->over != 1) return 0;
    return xpu_dim_is_const(dims, entry->dim, NULL) || xpu_dim_max(dims, entry->dim) <= max;
}

/* The list, with a symbol for each entry of `value` that is not known, or may be larger than `max`. */
static fe_dims with_symbols(const xpu_onnx_importer *importer, xpu_value value, int64_t count, int64_t min,
                            int64_t max) {
    xpu_graph *graph = importer->graph;
    const xpu_value_info info = *xpu_value_at(graph, value);
    xpu_known known[XPU_MOST_KNOWN] = {{{0}, 0}};
    xpu_dim *dims = XPU_NEW_ARRAY(importer->scratch, xpu_dim, count + 1);
    xpu_value_known(graph, value, known);
    for (int64_t i = 0; i < count; i++) {
        if (!is_bounded(&graph->dims, &known[i], max)) {
            const char *name = count == 1 ? info.name : xpu_printf(importer->scratch, "%s.%d", info.name, (int)i);
            known[i] =
                (xpu_known){xpu_dim_new_symbol(&graph->dims, name, min, max, value, (uint32_t)i, (xpu_dim){0}), 1};
        }
        dims[i] = known[i].dim;
    }
    xpu_value_set_known(graph, value, known, (int)count);
    return (fe_dims){dims, (size_t)count};
}

void xpu_onnx_bound_result(xpu_onnx_importer *importer, xpu_value value, const char *name) {
    const xpu_value_info *info = xpu_value_at(importer->graph, value);
    const int64_t count = importer->graph->dims.bound_count && !info->constant ? count_of(importer, info) : 0;
    const int64_t most = count ? xpu_dims_bound(&importer->graph->dims, name) : -1;
    if (most >= 0) with_symbols(importer, value, count, 0, most);
}

/* An input of integers that the value is computed from, and no other data: --value says what it holds. Or NULL. */
static const char *only_input(const xpu_onnx_importer *importer, xpu_value value) {
    const xpu_graph *graph = importer->graph;
    XPU_ARRAY(xpu_value) reached = {0};
    uint8_t *seen = XPU_NEW_ARRAY(importer->scratch, uint8_t, graph->values.count);
    const char *input = NULL;
    XPU_PUSH(importer->scratch, &reached, value);
    for (uint32_t i = 0; i < reached.count; i++) {
        const xpu_value_info *info = xpu_value_at(graph, reached.items[i]);
        if (seen[reached.items[i].id]++ || info->kind == XPU_VALUE_CONST) continue;
        if (info->kind == XPU_VALUE_INPUT && info->known && !xpu_has_value(importer->options, info->name)) {
            input = input ? input : info->name;
            continue;
        }
        if (info->kind != XPU_VALUE_NODE || xpu_node_at(graph, info->node)->block_count) return NULL;
        const xpu_node_info *node = xpu_node_at(graph, info->node);
        for (uint32_t k = 0; k < node->input_count; k++) {
            if (node->inputs[k].id) XPU_PUSH(importer->scratch, &reached, node->inputs[k]);
        }
    }
    return input;
}

int xpu_onnx_found_list(const xpu_onnx_node *node, uint32_t input, fe_dims *list) {
    const xpu_value_info *info = xpu_onnx_info(node, node->inputs[input]);
    const int64_t count = count_of(node->importer, info);
    if (info->constant || !count) return -1;
    const int64_t most = xpu_dims_bound(&node->importer->graph->dims, info->name);
    if (most < 0) {
        const char *name = xpu_escape(node->importer->scratch, info->name, 100);
        const char *source = only_input(node->importer, node->inputs[input]);
        if (source) source = xpu_escape(node->importer->scratch, source, 100);
        xpu_onnx_refuse(
            node, "onnx-bound",
            xpu_onnx_format(node, "input %u ('%s') sizes the result, and only the run knows it", input, name),
            "memory is planned before the run, for the largest size",
            source ? xpu_onnx_format(node, "say what input '%s' holds, for example --value=%s=1..100", source, source)
                   : xpu_onnx_format(node, "say how large it may be: --bound=%s=N", name));
        return 0;
    }
    *list = with_symbols(node->importer, node->inputs[input], count, 0, most);
    return 1;
}

/* A number that is further away stands for the same place. */
static xpu_value limited(xpu_onnx_node *node, xpu_value value, xpu_op_id op, int64_t limit) {
    const xpu_dtype dtype = xpu_onnx_info(node, value)->dtype;
    const int32_t narrow = (int32_t)limit;
    const void *data = dtype == XPU_I64 ? (const void *)&limit : &narrow;
    xpu_tensor tensor = {.dtype = dtype, .data = (void *)(uintptr_t)data};
    xpu_value operands[] = {value, xpu_graph_const_bytes(node->importer->graph, NULL, &tensor)};
    return value.id ? fe_node(&node->build, op, operands, 2, NULL, 0, 0) : value;
}

int xpu_onnx_place_list(xpu_onnx_node *node, uint32_t input, fe_dims *list) {
    enum { FAR = 1 << 30 };
    xpu_graph *graph = node->importer->graph;
    xpu_value value = node->inputs[input];
    xpu_dim dims[XPU_MOST_KNOWN];
    const int64_t count = count_of(node->importer, xpu_onnx_info(node, value));
    if (!count || xpu_onnx_info(node, value)->constant || xpu_value_as_dims(graph, value, dims) >= 0)
        return xpu_onnx_dim_list(node, input, list);
    value = limited(node, value, XPU_OP_MIN, FAR);
    if (value.id) value = limited(node, value, XPU_OP_MAX, -FAR);
    if (!value.id) return 0;
    *list = with_symbols(node->importer, value, count, -FAR, FAR);
    return 1;
}
