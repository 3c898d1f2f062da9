/* Shapes of norms and softmax. */
#include "core/ops/infer.h"

xpu_status xpu_infer_softmax(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    int axis;
    xpu_status status = xpu_normalise_axis(graph, node, x.rank, &axis, diags);
    return status == XPU_OK ? xpu_set_result(graph, node, 0, x.dtype, x.rank, x.dims, diags) : status;
}

xpu_status xpu_infer_softmax_parts(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    if (x.rank < 1) {
        return xpu_infer_error(graph, node, diags, "shape-rows", "the operand has no rows", "it has at least one dim",
                               "it is %s", xpu_operand_text(graph, node, 0));
    }
    xpu_status status = xpu_set_result(graph, node, XPU_OUT_Y, XPU_F32, x.rank, x.dims, diags);
    if (status != XPU_OK || xpu_node_at(graph, node)->output_count <= XPU_OUT_POWERS) return status;
    x.dims[x.rank - 1] = xpu_dim_const(&graph->dims, 1);
    return xpu_set_result(graph, node, XPU_OUT_POWERS, XPU_F32, x.rank, x.dims, diags);
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

xpu_status xpu_infer_norm(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    int fits = x.rank > 0;
    for (uint32_t i = 1; i < 3; i++) {
        const xpu_value_info *vector = xpu_operand(graph, node, i);
        if (!fits || !vector) continue;
        fits = vector->rank == 1 && xpu_equal_dims(graph, node, vector->dims[0], x.dims[x.rank - 1], NULL);
    }
    if (!fits) {
        return xpu_infer_error(graph, node, diags, "shape-norm", "scale or bias does not fit the operand",
                               "each is a vector over the last dim of the operand", "the operand is %s",
                               xpu_operand_text(graph, node, 0));
    }
    xpu_status status = xpu_set_result(graph, node, XPU_OUT_Y, XPU_F32, x.rank, x.dims, diags);
    if (status != XPU_OK || xpu_node_at(graph, node)->output_count <= XPU_OUT_ABSMAX) return status;
    return xpu_set_result(graph, node, XPU_OUT_ABSMAX, XPU_F32, 0, NULL, diags);
}
