/* Shapes and element types of operators on quantised tensors. */
#include "core/ops/infer.h"

static xpu_status bad_attributes(xpu_graph *graph, xpu_node node, const char *why, xpu_diags *diags) {
    return xpu_infer_error(
        graph, node, diags, "quantised-attribute",
        xpu_printf(graph->arena, "an attribute of %s is out of range", xpu_node_at(graph, node)->op->name),
        "the program is damaged: compile the model again", "%s", why);
}

static int is_zero_point(const xpu_graph *graph, xpu_node node, xpu_attr_id id) {
    int64_t zero = xpu_node_int(graph, node, id);
    return zero >= INT8_MIN && zero <= UINT8_MAX;
}

/* low .. high is inside the type's range. */
static int is_clamp(const xpu_graph *graph, xpu_node node, xpu_attr_id low, xpu_attr_id high, int64_t least,
                    int64_t most) {
    int64_t from = xpu_node_int(graph, node, low), to = xpu_node_int(graph, node, high);
    return least <= from && from <= to && to <= most;
}

/* DTYPE is int8 or uint8, and the zero point and clamp of the result fit it. */
static xpu_status check_byte_result(xpu_graph *graph, xpu_node node, xpu_dtype *dtype, xpu_diags *diags) {
    *dtype = (xpu_dtype)xpu_node_int(graph, node, XPU_ATTR_DTYPE);
    if (!xpu_is_byte(*dtype)) return bad_attributes(graph, node, "dtype is neither int8 nor uint8", diags);
    int64_t least = *dtype == XPU_I8 ? INT8_MIN : 0, most = *dtype == XPU_I8 ? INT8_MAX : UINT8_MAX;
    static const xpu_attr_id zeros[] = {XPU_ATTR_X_ZERO, XPU_ATTR_W_ZERO, XPU_ATTR_B_ZERO, XPU_ATTR_Y_ZERO};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        if (!is_zero_point(graph, node, zeros[i])) return bad_attributes(graph, node, "a zero point", diags);
    }
    if (xpu_op_attr(xpu_node_at(graph, node)->op, XPU_ATTR_Y_LOW) &&
        !is_clamp(graph, node, XPU_ATTR_Y_LOW, XPU_ATTR_Y_HIGH, least, most)) {
        return bad_attributes(graph, node, "y_low and y_high", diags);
    }
    return XPU_OK;
}

/* ---- between float32 and integers ---- */

/* Scale and zero are rank 0 or [1], or vectors along AXIS; zero has `dtype`. */
static xpu_status check_parameters(xpu_graph *graph, xpu_node node, xpu_dtype dtype, xpu_diags *diags) {
    const xpu_value_info *x = xpu_operand(graph, node, 0), *scale = xpu_operand(graph, node, 1);
    const xpu_value_info *zero = xpu_operand(graph, node, 2);
    xpu_status status = xpu_check_types(graph, node, 2, XPU_TYPE_SET(dtype), diags);
    if (status != XPU_OK) return status;
    xpu_dim one = xpu_dim_const(&graph->dims, 1);
    int single = scale->rank == 0 || (scale->rank == 1 && xpu_dim_equal(scale->dims[0], one));
    int fits = scale->rank <= 1, axis = 0;
    if (single) xpu_node_set_attr(graph, node, &XPU_ATTR_INT_OF(AXIS, 0));
    if (!single && fits && x->rank > 0) {
        status = xpu_normalise_axis(graph, node, x->rank, &axis, diags);
        if (status != XPU_OK) return status;
        x = xpu_operand(graph, node, 0);
        fits = xpu_dim_equal(scale->dims[0], x->dims[axis]);
    }
    if (zero && single) fits &= zero->rank == 0 || (zero->rank == 1 && xpu_dim_equal(zero->dims[0], one));
    if (zero && !single) fits &= zero->rank == 1 && xpu_dim_equal(zero->dims[0], scale->dims[0]);
    if (fits) return XPU_OK;
    return xpu_infer_error(graph, node, diags, "shape-quantise", "the scale or the zero point does not fit the operand",
                           "both have one element, or one for each index along the axis",
                           "the operand is %s, the scale %s, the zero point %s", xpu_operand_text(graph, node, 0),
                           xpu_operand_text(graph, node, 1), xpu_operand_text(graph, node, 2));
}

xpu_status xpu_infer_quantize(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_dtype dtype = (xpu_dtype)xpu_node_int(graph, node, XPU_ATTR_DTYPE);
    if (dtype <= XPU_DTYPE_NONE || dtype >= XPU_DTYPE_COUNT ||
        !(xpu_op_gives(xpu_node_at(graph, node)->op, 0) & XPU_TYPE_SET(dtype))) {
        return xpu_infer_error(graph, node, diags, "quantised-attribute",
                               "quantising to this element type is not supported", "quantise to int8 or uint8",
                               "it makes int8, uint8, int16 or uint16");
    }
    xpu_status status = check_parameters(graph, node, dtype, diags);
    if (status != XPU_OK) return status;
    xpu_value_info x = *xpu_operand(graph, node, 0);
    return xpu_set_result(graph, node, 0, dtype, x.rank, x.dims, diags);
}

xpu_status xpu_infer_dequantize(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    xpu_status status = check_parameters(graph, node, x.dtype, diags);
    return status == XPU_OK ? xpu_set_result(graph, node, 0, XPU_F32, x.rank, x.dims, diags) : status;
}

xpu_status xpu_infer_dynamic_quantize(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    if (xpu_node_at(graph, node)->output_count != 3) {
        return bad_attributes(graph, node, "it has three results", diags);
    }
    xpu_value_info x = *xpu_operand(graph, node, 0);
    xpu_status status = xpu_set_result(graph, node, 0, XPU_U8, x.rank, x.dims, diags);
    if (status == XPU_OK) status = xpu_set_result(graph, node, 1, XPU_F32, 0, NULL, diags);
    return status == XPU_OK ? xpu_set_result(graph, node, 2, XPU_U8, 0, NULL, diags) : status;
}

/* ---- elementwise ---- */

xpu_status xpu_infer_quantised_pair(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_dtype dtype;
    xpu_status status = check_byte_result(graph, node, &dtype, diags);
    if (status != XPU_OK) return status;
    xpu_value_info a = *xpu_operand(graph, node, 0);
    const xpu_value_info *b = xpu_operand(graph, node, 1);
    if (!xpu_broadcast(graph, node, &a.rank, a.dims, b->rank, b->dims)) {
        return xpu_infer_error(graph, node, diags, "shape-broadcast", "the operands do not broadcast",
                               "dims, counted from the last, are equal or 1", "the operands are %s and %s",
                               xpu_operand_text(graph, node, 0), xpu_operand_text(graph, node, 1));
    }
    return xpu_set_result(graph, node, 0, dtype, a.rank, a.dims, diags);
}

xpu_status xpu_infer_lookup(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    const xpu_value_info *table = xpu_operand(graph, node, 1);
    int64_t size = 0;
    if (table->rank != 1 || !xpu_dim_is_const(&graph->dims, table->dims[0], &size) || size != 256) {
        return xpu_infer_error(graph, node, diags, "shape-lookup", "the table does not fit", "it has 256 entries",
                               "it is %s", xpu_operand_text(graph, node, 1));
    }
    return xpu_set_result(graph, node, 0, table->dtype, x.rank, x.dims, diags);
}

xpu_status xpu_check_quantised_pool(xpu_graph *graph, xpu_node node, xpu_dtype *dtype, xpu_diags *diags) {
    return check_byte_result(graph, node, dtype, diags);
}

/* ---- qconv and qmatmul ---- */

static xpu_status check_vector(xpu_graph *graph, xpu_node node, uint32_t input, xpu_dim channels, xpu_diags *diags) {
    const xpu_value_info *info = xpu_operand(graph, node, input);
    if (!info || (info->rank == 1 && xpu_dim_equal(info->dims[0], channels))) return XPU_OK;
    return xpu_infer_error(graph, node, diags, "shape-bias", "the bias or the scales do not fit",
                           "there is one value per output channel", "operand %u must be [%s]; it is %s", input,
                           xpu_dim_text(&graph->dims, channels, graph->arena), xpu_operand_text(graph, node, input));
}

xpu_status xpu_check_quantised_branch(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value y = xpu_node_output(graph, node, XPU_OUT_Y), branch = xpu_node_input(graph, node, XPU_IN_BRANCH);
    if (!branch.id) return XPU_OK;
    int64_t least = INT8_MIN, most = UINT8_MAX;
    if (!is_zero_point(graph, node, XPU_ATTR_MID_ZERO) ||
        !is_clamp(graph, node, XPU_ATTR_MID_LOW, XPU_ATTR_MID_HIGH, least, most)) {
        return bad_attributes(graph, node, "mid_zero, mid_low and mid_high", diags);
    }
    if (xpu_value_same_shape(graph, y, branch)) return XPU_OK;
    return xpu_infer_error(graph, node, diags, "shape-branch", "the residual branch does not fit the result",
                           "branch and result have the same dims", "the branch is %s",
                           xpu_operand_text(graph, node, XPU_IN_BRANCH));
}

xpu_status xpu_check_quantised(xpu_graph *graph, xpu_node node, xpu_dim channels, xpu_dtype *dtype, xpu_diags *diags) {
    int rescaled = xpu_operand(graph, node, XPU_IN_WSCALE) != NULL;
    const xpu_value_info *zero = xpu_operand(graph, node, XPU_IN_XZERO);
    xpu_status status = check_vector(graph, node, XPU_IN_BIAS, channels, diags);
    if (status == XPU_OK) status = check_vector(graph, node, XPU_IN_WSCALE, channels, diags);
    if (status != XPU_OK) return status;
    if (zero && zero->rank != 0) return bad_attributes(graph, node, "the zero point of x is one element", diags);
    int floating = rescaled && xpu_node_int(graph, node, XPU_ATTR_DTYPE) == XPU_F32;
    if (rescaled && !floating) return check_byte_result(graph, node, dtype, diags);
    *dtype = floating ? XPU_F32 : XPU_I32;
    if (floating && xpu_operand(graph, node, XPU_IN_BIAS))
        return bad_attributes(graph, node, "a product with a float32 result has no bias", diags);
    if (xpu_node_int(graph, node, XPU_ATTR_DTYPE) != *dtype || xpu_operand(graph, node, XPU_IN_BRANCH) ||
        !is_zero_point(graph, node, XPU_ATTR_X_ZERO) || !is_zero_point(graph, node, XPU_ATTR_W_ZERO)) {
        return bad_attributes(graph, node, "a result of int32 or float32 has no branch, and the former no scales",
                              diags);
    }
    return XPU_OK;
}
