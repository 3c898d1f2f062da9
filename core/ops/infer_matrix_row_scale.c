/* Shapes of row_scale and row_restore. */
#include <string.h>

#include "core/ops/infer.h"

static xpu_status no_row(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    return xpu_infer_error(graph, node, diags, "shape-rows", "the operand has no rows", "it has at least one dim",
                           "it is %s", xpu_operand_text(graph, node, XPU_IN_X));
}

xpu_status xpu_infer_row_scale(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info *x = xpu_operand(graph, node, XPU_IN_X);
    xpu_dim dims[XPU_MAX_RANK];
    int rank = x->rank;
    if (rank < 1) return no_row(graph, node, diags);
    memcpy(dims, x->dims, sizeof dims);
    xpu_status status = xpu_set_result(graph, node, XPU_OUT_Y, XPU_F32, rank, dims, diags);
    dims[rank - 1] = xpu_dim_const(&graph->dims, 1);
    if (status != XPU_OK || xpu_node_at(graph, node)->output_count <= XPU_OUT_POWERS) return status;
    status = xpu_set_result(graph, node, XPU_OUT_POWERS, XPU_F32, rank, dims, diags);
    if (status != XPU_OK || xpu_node_at(graph, node)->output_count <= XPU_OUT_ROW_ABSMAX) return status;
    return xpu_set_result(graph, node, XPU_OUT_ROW_ABSMAX, XPU_F32, 0, NULL, diags);
}

/* Whether operand `input` has the dims of x, but for the last one, which is `last`; a vector of it where is_vector. */
static int fits(xpu_graph *graph, xpu_node node, uint32_t input, xpu_dim last, int is_vector) {
    const xpu_value_info *x = xpu_operand(graph, node, XPU_IN_X), *operand = xpu_operand(graph, node, input);
    if (!operand) return 1;
    int rank = is_vector ? 1 : x->rank, same = operand->rank == rank && xpu_dim_equal(operand->dims[rank - 1], last);
    for (int i = 0; same && i < rank - 1; i++) same = xpu_equal_dims(graph, node, operand->dims[i], x->dims[i], NULL);
    return same;
}

static xpu_status check_operands(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info *x = xpu_operand(graph, node, XPU_IN_X);
    xpu_dim width = x->dims[x->rank - 1], one = xpu_dim_const(&graph->dims, 1);
    for (uint32_t i = 0; i < xpu_node_at(graph, node)->input_count; i++) {
        if (fits(graph, node, i, i == XPU_IN_POWERS ? one : width, i == XPU_IN_BIAS)) continue;
        return xpu_infer_error(graph, node, diags, "shape-rows", "an operand does not fit the rows",
                               "powers are [..., 1], a bias is a vector over the last dim, a branch has the same dims",
                               "the rows are %s, operand %u is %s", xpu_operand_text(graph, node, XPU_IN_X), i,
                               xpu_operand_text(graph, node, i));
    }
    return XPU_OK;
}

xpu_status xpu_infer_row_restore(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info *x = xpu_operand(graph, node, XPU_IN_X);
    int64_t activation = xpu_node_int(graph, node, XPU_ATTR_ACTIVATION);
    xpu_dim dims[XPU_MAX_RANK];
    int rank = x->rank;
    if (rank < 1) return no_row(graph, node, diags);
    if (activation < XPU_ACTIVATION_NONE || activation > XPU_ACTIVATION_LEAKY) {
        return xpu_infer_error(graph, node, diags, "op-attribute", "the activation is out of range",
                               "the program is damaged: compile the model again", "it is %lld", (long long)activation);
    }
    memcpy(dims, x->dims, sizeof dims);
    xpu_status status = check_operands(graph, node, diags);
    return status == XPU_OK ? xpu_set_result(graph, node, XPU_OUT_Y, XPU_F32, rank, dims, diags) : status;
}
