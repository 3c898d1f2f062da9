/* Norms, softmax, reductions and sums along an axis. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "frontend/paddle/converters.h"

static const xpu_value failed = {0};

/* Scale or bias of as many elements as the dims of x from `axis` on have together. */
static xpu_value as_tail(xpu_paddle_node *node, xpu_value x, xpu_value value, int axis) {
    if (!x.id || !value.id) return value;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    if (info.rank - axis <= 1 || xpu_paddle_rank(node, value) != 1) return value;
    return fe_reshape_to(&node->build, value, info.dims + axis, info.rank - axis, 0);
}

xpu_value xpu_paddle_convert_layer_norm(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!x.id) return failed;
    int axis = fe_axis(&node->build, xpu_paddle_int(node, "begin_norm_axis", 1), xpu_paddle_rank(node, x));
    if (axis < 0) return failed;
    if (xpu_paddle_is_used(node, 1) || xpu_paddle_is_used(node, 2))
        return xpu_paddle_refuse(node, "mean and variance are not supported as results", "an operator uses them");
    const fe_norm form = {.axis = axis, .epsilon = xpu_paddle_float(node, "epsilon", 1e-5f), .centred = 1};
    xpu_value scale = as_tail(node, x, xpu_paddle_operand(node, "Scale"), axis);
    xpu_value bias = as_tail(node, x, xpu_paddle_operand(node, "Bias"), axis);
    return fe_layer_norm(&node->build, x, scale, bias, &form);
}

/* `value` for each channel where the operand is not there. */
static xpu_value by_channel(xpu_paddle_node *node, xpu_value x, xpu_value given, double value) {
    if (given.id || !x.id || xpu_paddle_rank(node, x) < 2) return given;
    return fe_expand(&node->build, xpu_paddle_single(node, XPU_F32, value),
                     (fe_dims){&xpu_paddle_info(node, x)->dims[1], 1});
}

xpu_value xpu_paddle_convert_group_norm(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X"), scale = xpu_paddle_operand(node, "Scale");
    int64_t groups = node->row->op == XPU_OP_IDENTITY ? 0 : xpu_paddle_int(node, "groups", 1);
    const char *layout = xpu_paddle_text(node, "data_layout", "NCHW");
    if (layout[strlen(layout) - 1] == 'C')
        return xpu_paddle_refuse(node, "channels behind the spatial dims are not supported", "data_layout ends with C");
    fe_builder outer = node->build;
    node->build.inner = 1;
    scale = by_channel(node, x, scale, 1);
    xpu_value bias = by_channel(node, x, xpu_paddle_operand(node, "Bias"), 0);
    outer.made = node->build.made;
    node->build = outer;
    return fe_group_norm(&node->build, x, scale, bias, groups, 0, xpu_paddle_float(node, "epsilon", 1e-5f));
}

xpu_value xpu_paddle_convert_softmax(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    int64_t axis = xpu_paddle_int(node, "axis", -1);
    return node->row->op == XPU_OP_SOFTMAX ? fe_softmax(&node->build, x, axis, 0)
                                           : fe_log_softmax(&node->build, x, axis, 0);
}

/* ---- reductions ---- */

/* The axes of a reduction; none: all. 0 after reporting. */
static int read_axes(const xpu_paddle_node *node, fe_ints *axes) {
    if (!xpu_paddle_numbers(node, "dim", "dim", NULL, axes)) return 0;
    if (xpu_paddle_int(node, "reduce_all", 0) || !axes->count) *axes = (fe_ints){NULL, 0};
    return 1;
}

static int keeps(const xpu_paddle_node *node) {
    return xpu_paddle_int(node, "keep_dim", 0) != 0;
}

/* The type that the attribute asks for, computed from the start. */
static xpu_value converted(xpu_paddle_node *node, xpu_value x, const char *attr) {
    int64_t code = xpu_paddle_int(node, attr, -1);
    if (!x.id || code < 0) return x;
    xpu_dtype dtype = xpu_paddle_type(node, attr, XPU_F32);
    return dtype == XPU_DTYPE_NONE ? failed : fe_as(&node->build, x, dtype);
}

xpu_value xpu_paddle_convert_reduce(xpu_paddle_node *node) {
    fe_ints axes;
    xpu_value x = converted(node, xpu_paddle_operand(node, "X"), "out_dtype");
    if (!x.id || !read_axes(node, &axes)) return failed;
    return fe_reduce(&node->build, node->row->op, x, axes, keeps(node));
}

/* all and any: the least and the largest of 0 and 1. */
xpu_value xpu_paddle_convert_reduce_bool(xpu_paddle_node *node) {
    fe_ints axes;
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!x.id || !read_axes(node, &axes)) return failed;
    fe_builder inside = fe_inside(&node->build);
    x = fe_as(&inside, x, XPU_I32);
    if (x.id) x = fe_reduce(&inside, node->row->op, x, axes, keeps(node));
    node->build.made = inside.made;
    return x.id ? fe_convert(&node->build, x, XPU_BOOL) : failed;
}

xpu_value xpu_paddle_convert_mean_of_all(xpu_paddle_node *node) {
    return fe_reduce(&node->build, XPU_OP_REDUCE_MEAN, xpu_paddle_operand(node, "X"), (fe_ints){NULL, 0}, 0);
}

xpu_value xpu_paddle_convert_logsumexp(xpu_paddle_node *node) {
    fe_ints axes = xpu_paddle_ints(node, "axis");
    int keep = xpu_paddle_int(node, "keepdim", 0) != 0;
    if (!axes.count || xpu_paddle_int(node, "reduce_all", 0)) axes = (fe_ints){NULL, 0};
    return fe_reduce_function(&node->build, FE_LOG_SUM_EXP, xpu_paddle_operand(node, "X"), axes, keep, 0);
}

xpu_value xpu_paddle_convert_arg(xpu_paddle_node *node) {
    double axis = -1;
    xpu_value x = xpu_paddle_operand(node, "X");
    xpu_dtype dtype = xpu_paddle_type(node, "dtype", XPU_I64);
    if (!x.id || dtype == XPU_DTYPE_NONE || !xpu_paddle_number(node, "axis", "axis", &axis)) return failed;
    int keep = xpu_paddle_int(node, "keepdims", 0) != 0, flatten = xpu_paddle_int(node, "flatten", 0) != 0;
    fe_builder inside = fe_inside(&node->build);
    if (flatten) {
        xpu_dim all = fe_dim_product(&inside, xpu_paddle_info(node, x)->dims, 0, xpu_paddle_rank(node, x));
        x = all.id ? fe_reshape_to(&inside, x, &all, 1, 0) : failed;
        axis = 0;
    }
    if (dtype == XPU_I64) {
        node->build.made = inside.made;
        return fe_arg_extreme(&node->build, node->row->op == XPU_OP_REDUCE_MAX, x, xpu_paddle_whole(axis), keep, 0);
    }
    xpu_value y = fe_arg_extreme(&inside, node->row->op == XPU_OP_REDUCE_MAX, x, xpu_paddle_whole(axis), keep, 0);
    node->build.made = inside.made;
    return y.id ? fe_convert(&node->build, y, dtype) : failed;
}

xpu_value xpu_paddle_convert_cumulate(xpu_paddle_node *node) {
    double axis = -1;
    xpu_value x = xpu_paddle_operand(node, "X");
    const char *name = node->row->op == XPU_OP_MUL ? "dim" : "axis";
    if (!x.id || !xpu_paddle_number(node, name, "AxisTensor", &axis)) return failed;
    fe_cumulation form = {.op = node->row->op, .axis = xpu_paddle_whole(axis)};
    form.exclusive = xpu_paddle_int(node, "exclusive", 0) != 0;
    form.backwards = xpu_paddle_int(node, "reverse", 0) != 0;
    if (xpu_paddle_int(node, "flatten", 0)) {
        xpu_dim all = fe_dim_product(&node->build, xpu_paddle_info(node, x)->dims, 0, xpu_paddle_rank(node, x));
        x = all.id ? fe_reshape_to(&node->build, x, &all, 1, 0) : failed;
        form.axis = 0;
    }
    return x.id ? fe_cumulate(&node->build, x, &form) : failed;
}

/* (sum |x|^p)^(1/p); the largest or least |x| of p = inf, -inf; how many are not 0 of p = 0. */
xpu_value xpu_paddle_convert_p_norm(xpu_paddle_node *node) {
    double axis = -1, power = (double)xpu_paddle_float(node, "porder", 2);
    fe_builder *b = &node->build;
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!x.id || !xpu_paddle_number(node, "axis", NULL, &axis)) return failed;
    int64_t number = xpu_paddle_whole(axis);
    int keep = xpu_paddle_int(node, "keepdim", 0) != 0;
    fe_ints axes = xpu_paddle_int(node, "asvector", 0) ? (fe_ints){NULL, 0} : (fe_ints){&number, 1};
    if (power == 1 || power == 2) return fe_reduce_function(b, power == 1 ? FE_L1 : FE_L2, x, axes, keep, 0);
    xpu_value size = fe_unary(b, XPU_OP_ABS, x);
    if (!size.id) return failed;
    if (isinf(power)) return fe_reduce(b, power > 0 ? XPU_OP_REDUCE_MAX : XPU_OP_REDUCE_MIN, size, axes, keep);
    if (power == 0) return fe_reduce(b, XPU_OP_REDUCE_SUM, fe_unary(b, XPU_OP_SIGN, size), axes, keep);
    fe_builder inside = fe_inside(b);
    xpu_value sum = fe_pow(&inside, size, fe_number(b, (float)power));
    if (sum.id) sum = fe_reduce(&inside, XPU_OP_REDUCE_SUM, sum, axes, keep);
    b->made = inside.made;
    return sum.id ? fe_pow(b, sum, fe_number(b, (float)(1 / power))) : failed;
}

/* x / sqrt(sum x^2 + epsilon) along the axis. */
xpu_value xpu_paddle_convert_norm(xpu_paddle_node *node) {
    int64_t axis = xpu_paddle_int(node, "axis", -1);
    xpu_value x = xpu_paddle_operand(node, "X");
    fe_builder inside = fe_inside(&node->build);
    xpu_value sum = fe_reduce_function(&inside, FE_SUM_SQUARE, x, (fe_ints){&axis, 1}, 1, 0);
    node->build.made = inside.made;
    sum = fe_binary(&node->build, XPU_OP_ADD, sum, fe_number(&node->build, xpu_paddle_float(node, "epsilon", 1e-10f)));
    sum = fe_unary(&node->build, XPU_OP_SQRT, sum);
    if (!sum.id) return failed;
    return fe_elementwise(&node->build, XPU_OP_DIV, (xpu_value[]){x, sum}, 2, NULL, 0);
}

xpu_value xpu_paddle_convert_lrn(xpu_paddle_node *node) {
    int64_t size = xpu_paddle_int(node, "n", 5);
    const fe_response form = {.alpha = xpu_paddle_float(node, "alpha", 1e-4f) * (float)size,
                              .beta = xpu_paddle_float(node, "beta", 0.75f),
                              .bias = xpu_paddle_float(node, "k", 2.0f),
                              .size = size};
    return fe_local_response_norm(&node->build, xpu_paddle_operand(node, "X"), &form);
}
