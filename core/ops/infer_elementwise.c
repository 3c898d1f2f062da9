/* Shapes of operators that work element by element, of batch norm and of absmax. */
#include "core/ops/infer.h"

static xpu_status broadcast_all(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    uint32_t count = xpu_node_at(graph, node)->input_count;
    int rank = 0;
    xpu_dim dims[XPU_MAX_RANK];
    for (uint32_t i = 0; i < count; i++) {
        const xpu_value_info *operand = xpu_operand(graph, node, i);
        if (!operand) {
            return xpu_infer_error(graph, node, diags, "op-operands", "an operand is absent",
                                   "check that the operator's inputs are connected", "operand %u is absent", i);
        }
        if (xpu_broadcast(graph, node, &rank, dims, operand->rank, operand->dims)) continue;
        return xpu_infer_error(
            graph, node, diags, "shape-broadcast",
            xpu_printf(graph->arena, "the operands of %s do not broadcast", xpu_node_at(graph, node)->op->name),
            "dims, counted from the last, are equal or 1; a symbol that can have one value only is to be fixed with "
            "--shape",
            "operand %u is %s, the ones before it are together %s", i, xpu_operand_text(graph, node, i),
            xpu_dim_list_text(&graph->dims, rank, dims, graph->arena));
    }
    return xpu_set_result(graph, node, 0, XPU_F32, rank, dims, diags);
}

xpu_status xpu_infer_elementwise(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    return broadcast_all(graph, node, diags);
}

xpu_status xpu_infer_chain(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_attr *attr = xpu_node_attr(graph, node, XPU_ATTR_STEPS);
    if (!attr || !xpu_chain_is_valid(attr->chain, xpu_node_at(graph, node)->input_count)) {
        return xpu_infer_error(graph, node, diags, "chain-program", "the chain's program is not valid",
                               "the program is damaged: compile the model again",
                               "operands of a step are inputs or earlier steps");
    }
    return broadcast_all(graph, node, diags);
}

xpu_status xpu_infer_absmax(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    return xpu_set_result(graph, node, 0, XPU_F32, 0, NULL, diags);
}

xpu_status xpu_infer_batch_norm(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    if (x.rank < 2) {
        return xpu_infer_error(graph, node, diags, "shape-batch-norm", "the operand has no channel dim",
                               "the operand is [N,C,...]", "it is %s", xpu_operand_text(graph, node, 0));
    }
    for (uint32_t i = 0; i < 5; i++) {
        const xpu_value_info *operand = xpu_operand(graph, node, i);
        if (i == 0 || (operand->rank == 1 && xpu_dim_equal(operand->dims[0], x.dims[1]))) continue;
        return xpu_infer_error(
            graph, node, diags, "shape-batch-norm", "scale, bias, mean or variance does not fit the operand",
            "each is a vector over the channels, dim 1 of the operand", "the operand is %s, operand %u is %s",
            xpu_operand_text(graph, node, 0), i, xpu_operand_text(graph, node, i));
    }
    return xpu_set_result(graph, node, 0, XPU_F32, x.rank, x.dims, diags);
}
