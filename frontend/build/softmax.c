/* Softmax and its kin, along one axis. */
#include <inttypes.h>

#include "frontend/build/build.h"

/* One of them along an axis that is there. */
typedef xpu_value along_axis(fe_builder *b, xpu_value x, int axis, int last);

/* Over one axis, or (`whole`) over all dims from it on, as one. */
static xpu_value along(fe_builder *b, xpu_value x, int64_t axis, int whole, along_axis *function) {
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    if (whole && axis == info.rank) {
        return fe_refuse(b, FE_FORM, "the softmax is over nothing",
                         fe_format(b, "axis %" PRId64 " of a tensor of rank %d", axis, info.rank), NULL);
    }
    int at = fe_axis(b, axis, info.rank);
    if (at < 0) return (xpu_value){0};
    if (!whole || at == info.rank - 1) return function(b, x, at, 1);
    xpu_dim matrix[] = {fe_dim_product(b, info.dims, 0, at), fe_dim_product(b, info.dims, at, info.rank)};
    xpu_value rows = fe_reshape_to(b, x, matrix, 2, 0);
    xpu_value result = rows.id ? function(b, rows, 1, 0) : rows;
    return result.id ? fe_reshape_to(b, result, info.dims, info.rank, 1) : result;
}

static xpu_value softmax(fe_builder *b, xpu_value x, int axis, int last) {
    return fe_node(b, XPU_OP_SOFTMAX, &x, 1, &XPU_ATTR_INT_OF(AXIS, axis), 1, last);
}

xpu_value fe_softmax(fe_builder *b, xpu_value x, int64_t axis, int whole) {
    return along(b, x, axis, whole, softmax);
}

static xpu_value reduced(fe_builder *b, xpu_op_id op, xpu_value x, int axis) {
    return x.id ? fe_node(b, op, &x, 1, &XPU_ATTR_INT_OF(AXIS, axis), 1, 0) : x;
}

/* d - log(sum of e^d), d = x - the largest x. */
static xpu_value log_softmax(fe_builder *b, xpu_value x, int axis, int last) {
    xpu_value d = fe_binary(b, XPU_OP_SUB, x, reduced(b, XPU_OP_REDUCE_MAX, x, axis));
    xpu_value sum = fe_unary(b, XPU_OP_LOG, reduced(b, XPU_OP_REDUCE_SUM, fe_unary(b, XPU_OP_EXP, d), axis));
    return fe_node(b, XPU_OP_SUB, (xpu_value[]){d, sum}, 2, NULL, 0, last);
}

xpu_value fe_log_softmax(fe_builder *b, xpu_value x, int64_t axis, int whole) {
    return along(b, x, axis, whole, log_softmax);
}

static xpu_value hardmax(fe_builder *b, xpu_value x, int axis, int last) {
    const xpu_value_info info = *fe_info(b, x);
    fe_builder inside = fe_inside(b);
    xpu_value place = fe_arg_extreme(&inside, 1, x, axis, 1, 0);
    b->made = inside.made;
    xpu_value found = fe_binary(b, XPU_OP_EQUAL, place, fe_counted(b, XPU_I64, info.dims[axis], axis, info.rank));
    return found.id ? fe_node(b, XPU_OP_CONVERT, &found, 1, &XPU_ATTR_INT_OF(DTYPE, info.dtype), 1, last) : found;
}

xpu_value fe_hardmax(fe_builder *b, xpu_value x, int64_t axis, int whole) {
    return along(b, x, axis, whole, hardmax);
}
