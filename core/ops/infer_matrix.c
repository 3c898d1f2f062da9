/* Matrix products, and what follows the accumulation in conv and matmul. */
#include <string.h>

#include "core/ops/infer.h"

static xpu_status check_vector(xpu_graph *graph, xpu_node node, uint32_t input, xpu_dim channels, const char *rule,
                               const char *what, xpu_diags *diags) {
    const xpu_value_info *info = xpu_operand(graph, node, input);
    if (!info) return XPU_OK;
    if (info->rank == 1 && xpu_dim_equal(info->dims[0], channels)) return XPU_OK;
    return xpu_infer_error(graph, node, diags, rule, what, "it has one value per output channel",
                           "it must be [%s]; it is %s", xpu_dim_text(&graph->dims, channels, graph->arena),
                           xpu_operand_text(graph, node, input));
}

static xpu_status check_int16(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info *absmax = xpu_operand(graph, node, XPU_IN_ABSMAX);
    int narrow = xpu_node_int(graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_INT16X8;
    xpu_status status = xpu_check_types(graph, node, XPU_IN_W, XPU_TYPE_SET(narrow ? XPU_I8 : XPU_I16), diags);
    if (status != XPU_OK) return status;
    if (xpu_operand(graph, node, XPU_IN_WSCALE) && absmax && absmax->rank == 0) {
        return XPU_OK;
    }
    return xpu_infer_error(graph, node, diags, "int16-operands", "an int16 layer needs weight scales and absmax",
                           "the precision pass adds both", "scales are %s, absmax is %s",
                           xpu_operand_text(graph, node, XPU_IN_WSCALE), xpu_operand_text(graph, node, XPU_IN_ABSMAX));
}

/* A convolution of float32 may have a chain that its operand goes through. */
static xpu_status check_prologue(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_attr *steps = xpu_node_attr(graph, node, XPU_ATTR_STEPS);
    xpu_dtype dtype = XPU_F32;
    xpu_chain_types types;
    if (!steps) return XPU_OK;
    if (xpu_node_int(graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_FP32 && xpu_chain_is_valid(steps->chain, 1) &&
        xpu_chain_types_of(steps->chain, &dtype, &types) && types.is_float32)
        return XPU_OK;
    return xpu_infer_error(graph, node, diags, "chain-program", "the chain's program is not valid",
                           "the program is damaged: compile the model again",
                           "what the operand goes through is no chain of one float32 value");
}

static xpu_status check_epilogue(xpu_graph *graph, xpu_node node, xpu_dim channels, xpu_diags *diags) {
    int64_t precision = xpu_node_int(graph, node, XPU_ATTR_PRECISION);
    int64_t activation = xpu_node_int(graph, node, XPU_ATTR_ACTIVATION);
    const int may_swish = xpu_node_is(graph, node, XPU_OP_CONV) && !xpu_node_input(graph, node, XPU_IN_BRANCH).id;
    if (xpu_node_attr(graph, node, XPU_ATTR_LAST_LOW) &&
        (precision == XPU_PRECISION_FP32 || activation == XPU_ACTIVATION_HARD_SWISH)) {
        return xpu_infer_error(graph, node, diags, "op-attribute", "a layer of this kind clips nothing at its end",
                               "the program is damaged: compile the model again", "its attribute last_low is %g",
                               (double)xpu_node_float(graph, node, XPU_ATTR_LAST_LOW));
    }
    if (precision < XPU_PRECISION_FP32 || precision > XPU_PRECISION_INT16X8 || activation < XPU_ACTIVATION_NONE ||
        activation > (may_swish ? XPU_ACTIVATION_HARD_SWISH : XPU_ACTIVATION_LEAKY)) {
        return xpu_infer_error(graph, node, diags, "op-attribute", "precision or activation is out of range",
                               "the program is damaged: compile the model again",
                               "precision is %lld, activation is %lld", (long long)precision, (long long)activation);
    }
    xpu_status status = precision == XPU_PRECISION_FP32
                            ? xpu_check_types(graph, node, XPU_IN_W, XPU_TYPE_SET(XPU_F32), diags)
                            : check_int16(graph, node, diags);
    if (status == XPU_OK) {
        status = check_vector(graph, node, XPU_IN_BIAS, channels, "shape-bias", "the bias does not fit", diags);
    }
    if (status == XPU_OK) {
        status = check_vector(graph, node, XPU_IN_WSCALE, channels, "shape-weight-scales",
                              "the scales of the weights do not fit", diags);
    }
    if (status != XPU_OK) return status;
    xpu_value y = xpu_node_output(graph, node, XPU_OUT_Y), branch = xpu_node_input(graph, node, XPU_IN_BRANCH);
    if (branch.id && !xpu_value_same_shape(graph, y, branch)) {
        const xpu_value_info *result = xpu_value_at(graph, y);
        return xpu_infer_error(graph, node, diags, "shape-branch", "the residual branch does not fit the result",
                               "branch and result have the same dims", "the result is %s, the branch is %s",
                               xpu_dim_list_text(&graph->dims, result->rank, result->dims, graph->arena),
                               xpu_operand_text(graph, node, XPU_IN_BRANCH));
    }
    status = check_prologue(graph, node, diags);
    if (status != XPU_OK || xpu_node_at(graph, node)->output_count <= XPU_OUT_ABSMAX) return status;
    return xpu_set_result(graph, node, XPU_OUT_ABSMAX, XPU_F32, 0, NULL, diags);
}

xpu_status xpu_set_product(xpu_graph *graph, xpu_node node, int rank, const xpu_dim *dims, xpu_dim channels,
                           xpu_diags *diags) {
    int quantised = xpu_node_has(graph, node, XPU_TRAIT_QUANTISED);
    xpu_dtype dtype = XPU_F32;
    xpu_status status = quantised ? xpu_check_quantised(graph, node, channels, &dtype, diags) : XPU_OK;
    if (status == XPU_OK) status = xpu_set_result(graph, node, XPU_OUT_Y, dtype, rank, dims, diags);
    if (status != XPU_OK) return status;
    return quantised ? xpu_check_quantised_branch(graph, node, diags) : check_epilogue(graph, node, channels, diags);
}

/* The reshape that gave a value its last dim, looking through what keeps shapes; {0} where there is none near. */
static xpu_node reshape_behind(const xpu_graph *graph, xpu_value value) {
    enum { NEAR = 8 };
    const xpu_value_info *info = xpu_value_at(graph, value);
    for (int i = 0; i < NEAR && info->kind == XPU_VALUE_NODE; i++) {
        xpu_node node = info->node;
        const xpu_value_info *before = xpu_operand(graph, node, 0);
        if (xpu_node_is(graph, node, XPU_OP_RESHAPE)) return node;
        if (!before || before->rank != info->rank ||
            !xpu_dim_equal(before->dims[info->rank - 1], info->dims[info->rank - 1])) {
            break;
        }
        info = before;
    }
    return (xpu_node){0};
}

/* What another node has made of a dim. */
static const char *guarded_text(xpu_graph *graph, xpu_dim dim, xpu_dim root) {
    if (xpu_dim_equal(dim, root)) return "";
    return xpu_printf(graph->arena, ", where another node needs %s = %s", xpu_dim_text(&graph->dims, dim, graph->arena),
                      xpu_dim_text(&graph->dims, root, graph->arena));
}

/* The inner dims differ. Where a reshape has merged a free dim into that of x, the reshape is what forbids it. */
static xpu_status inner_dims_differ(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info *x = xpu_operand(graph, node, XPU_IN_X);
    xpu_node reshape = reshape_behind(graph, xpu_node_input(graph, node, XPU_IN_X));
    xpu_dim inner = x->dims[x->rank - 1], root = xpu_dim_root(&graph->dims, inner);
    if (reshape.id && !xpu_dim_is_const(&graph->dims, root, NULL)) {
        return xpu_infer_error(graph, reshape, diags, "shape-reshape-merges",
                               "the reshape merges a free dim into one that must keep its size",
                               "give that dim the one size that fits, with --shape, or export the model with a free "
                               "dim in the target shape",
                               "%s becomes %s, which %s multiplies by %s", xpu_operand_text(graph, reshape, 0),
                               xpu_operand_text(graph, node, XPU_IN_X), xpu_node_where(graph, node, graph->arena),
                               xpu_operand_text(graph, node, XPU_IN_W));
    }
    return xpu_infer_error(
        graph, node, diags, "shape-matmul-k", "the inner dims of the matrix product differ",
        "the last dim of the first operand is the one before the last of the second; a symbol that can "
        "have one value only is to be fixed with --shape",
        "the operands are %s and %s%s", xpu_operand_text(graph, node, XPU_IN_X),
        xpu_operand_text(graph, node, XPU_IN_W), guarded_text(graph, inner, root));
}

xpu_status xpu_infer_matmul(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info *x = xpu_operand(graph, node, XPU_IN_X), *w = xpu_operand(graph, node, XPU_IN_W);
    int rank = x->rank - 2;
    xpu_dim dims[XPU_MAX_RANK];
    if (x->rank < 2 || w->rank < 2) {
        return xpu_infer_error(graph, node, diags, "shape-matmul-rank", "an operand of the matrix product is no matrix",
                               "reshape it to two dims or more", "the operands are %s and %s",
                               xpu_operand_text(graph, node, XPU_IN_X), xpu_operand_text(graph, node, XPU_IN_W));
    }
    if (!xpu_equal_dims(graph, node, x->dims[x->rank - 1], w->dims[w->rank - 2], NULL)) {
        return inner_dims_differ(graph, node, diags);
    }
    memcpy(dims, x->dims, sizeof dims);
    if (!xpu_broadcast(graph, node, &rank, dims, w->rank - 2, w->dims)) {
        return xpu_infer_error(graph, node, diags, "shape-broadcast", "the leading dims do not broadcast",
                               "dims are equal or 1, counted from the last", "the operands are %s and %s",
                               xpu_operand_text(graph, node, XPU_IN_X), xpu_operand_text(graph, node, XPU_IN_W));
    }
    xpu_dim channels = w->dims[w->rank - 1];
    dims[rank] = x->dims[x->rank - 2];
    dims[rank + 1] = channels;
    return xpu_set_product(graph, node, rank + 2, dims, channels, diags);
}
