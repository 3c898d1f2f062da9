#include "core/ops/control.h"

xpu_loop xpu_loop_of(const xpu_graph *graph, xpu_node node) {
    xpu_block body = xpu_node_at(graph, node)->blocks[0];
    const xpu_block_info *info = xpu_block_at(graph, body);
    uint32_t carried = info->arguments.count - XPU_BODY_FIRST;
    return (xpu_loop){body, carried, info->results.count - XPU_BODY_NEXT - carried};
}

static int is_operand(const xpu_graph *graph, xpu_node node, xpu_value value) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (info->inputs[i].id == value.id) return 1;
    }
    return 0;
}

void xpu_list_captures(xpu_graph *graph, xpu_node node) {
    uint32_t count;
    const xpu_value *captures = xpu_node_captures(graph, node, graph->arena, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_operand(graph, node, captures[i]))
            xpu_node_set_input(graph, node, xpu_node_at(graph, node)->input_count, captures[i]);
    }
}
