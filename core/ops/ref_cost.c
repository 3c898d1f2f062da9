/* What the reference kernels take of a graph: element operations, and bytes at one time. Found before anything runs. */
#include "core/ops/ref.h"
#include "core/ops/window.h"

static double elements(const xpu_graph *graph, xpu_value value, const int64_t *symbols) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    double count = 1;
    for (int i = 0; i < info->rank; i++) count *= (double)xpu_dim_eval(&graph->dims, info->dims[i], symbols);
    return count > 0 ? count : 0;
}

static double value_bytes(const xpu_graph *graph, xpu_value value, const int64_t *symbols) {
    return elements(graph, value, symbols) * (double)xpu_dtype_bytes(xpu_value_at(graph, value)->dtype);
}

static double size_of(const xpu_graph *graph, xpu_value value, const int64_t *symbols, int dim) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    if (dim < 0) dim += info->rank;
    return dim >= 0 && dim < info->rank ? (double)xpu_dim_eval(&graph->dims, info->dims[dim], symbols) : 1;
}

/* Operations for one element of the first result. */
static double operations(const xpu_graph *graph, xpu_node node, const int64_t *symbols) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    switch (xpu_op_id_of(info->op)) {
    case XPU_OP_CONV:
    case XPU_OP_QCONV: {
        double outputs = size_of(graph, info->inputs[XPU_IN_W], symbols, 0);
        return outputs > 0 ? elements(graph, info->inputs[XPU_IN_W], symbols) / outputs : 1;
    }
    case XPU_OP_MATMUL:
    case XPU_OP_QMATMUL: return size_of(graph, info->inputs[XPU_IN_X], symbols, -1);
    case XPU_OP_ATTENTION: /* scores and values, by one column of the result */
        return size_of(graph, info->inputs[XPU_IN_KEYS], symbols, -2) *
               (1 + size_of(graph, info->inputs[XPU_IN_KEYS], symbols, -1));
    case XPU_OP_MAX_POOL:
    case XPU_OP_AVERAGE_POOL: {
        xpu_window window = xpu_window_of(graph, node);
        return (double)window.kernel[0] * (double)window.kernel[1];
    }
    case XPU_OP_CHAIN: {
        const xpu_attr *steps = xpu_node_attr(graph, node, XPU_ATTR_STEPS);
        return steps ? steps->chain->step_count : 1;
    }
    default: return 1;
    }
}

xpu_ref_cost xpu_ref_cost_of_node(const xpu_graph *graph, xpu_node node, const int64_t *symbols) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    double work = 1 + elements(graph, info->outputs[0], symbols) * operations(graph, node, symbols), bytes = 0;
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (info->inputs[i].id) work += elements(graph, info->inputs[i], symbols);
    }
    for (uint32_t i = 0; i < info->output_count; i++) bytes += value_bytes(graph, info->outputs[i], symbols);
    return (xpu_ref_cost){work, bytes, node};
}

xpu_ref_cost xpu_ref_cost_of(const xpu_graph *graph, const int64_t *symbols, xpu_arena *arena) {
    xpu_ref_cost cost = {0, 0, {0}};
    uint32_t *remaining = XPU_NEW_ARRAY(arena, uint32_t, graph->nodes.count); /* uses of a node's results to come */
    double live = 0;
    XPU_FOR_ALL_NODES(graph, node) {
        const xpu_node_info *info = xpu_node_at(graph, node);
        for (uint32_t i = 0; i < info->output_count; i++) {
            const xpu_value_info *value = xpu_value_at(graph, info->outputs[i]);
            remaining[node.id] += value->uses.count + value->results + (value->is_output ? 1 : 0);
        }
    }
    for (uint32_t i = 0; i < graph->outputs.count; i++) live += value_bytes(graph, graph->outputs.items[i], symbols);
    XPU_FOR_ALL_NODES(graph, node) {
        const xpu_node_info *info = xpu_node_at(graph, node);
        xpu_ref_cost own = xpu_ref_cost_of_node(graph, node, symbols);
        cost.work += own.work;
        live += own.bytes;
        if (live > cost.bytes) {
            cost.bytes = live;
            cost.largest = node;
        }
        for (uint32_t i = 0; i < info->input_count; i++) {
            const xpu_value_info *value = xpu_value_at(graph, info->inputs[i]);
            if (!info->inputs[i].id || value->kind != XPU_VALUE_NODE) continue;
            if (--remaining[value->node.id] == 0) live -= xpu_ref_cost_of_node(graph, value->node, symbols).bytes;
        }
        if (remaining[node.id] == 0) live -= own.bytes;
    }
    return cost;
}
