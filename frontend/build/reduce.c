/* Reductions over any axes: those of the core are over one. */
#include <float.h>

#include "frontend/build/build.h"

/* The axes that go, 1 each; 0 after reporting. None given: all. */
static int reduced_axes(const fe_builder *b, int rank, fe_ints axes, int *gone) {
    for (int i = 0; i < rank; i++) gone[i] = axes.count == 0;
    for (size_t i = 0; i < axes.count; i++) {
        int axis = fe_axis(b, axes.items[i], rank);
        if (axis < 0) return 0;
        gone[axis] = 1;
    }
    return 1;
}

/* Moves the axes that go behind the others where they do not lie side by side. */
static xpu_value side_by_side(fe_builder *b, xpu_value x, xpu_value_info *info, int *gone) {
    int64_t perm[XPU_MAX_RANK];
    int runs = 0, count = 0, rank = info->rank;
    for (int i = 0; i < rank; i++) {
        runs += gone[i] && (i == 0 || !gone[i - 1]);
        if (!gone[i]) perm[count++] = i;
    }
    if (runs == 1) return x;
    const int kept = count;
    for (int i = 0; i < rank; i++) {
        if (gone[i]) perm[count++] = i;
    }
    const xpu_value_info before = *info;
    for (int i = 0; i < rank; i++) {
        gone[i] = i >= kept;
        info->dims[i] = before.dims[perm[i]];
    }
    return fe_node(b, XPU_OP_TRANSPOSE, &x, 1, &XPU_ATTR_INTS_OF(PERM, perm, (uint32_t)rank), 1, 0);
}

/* One reduction in the type of x. `dims`: the result's. */
static xpu_value reduce(fe_builder *b, xpu_op_id op, xpu_value x, int *gone, const xpu_dim *dims, int rank, int last) {
    xpu_value_info info = *fe_info(b, x);
    x = side_by_side(b, x, &info, gone);
    if (!x.id) return x;
    int first = 0, end;
    while (!gone[first]) first++;
    for (end = first; end < info.rank && gone[end];) end++;
    if (op == XPU_OP_REDUCE_MEAN && info.rank == 4 && first == 2 && end == 4 && info.dtype == XPU_F32) {
        xpu_value pooled = fe_node(b, XPU_OP_GLOBAL_AVERAGE_POOL, &x, 1, NULL, 0, last && rank == 4);
        return rank == 4 || !pooled.id ? pooled : fe_reshape_to(b, pooled, dims, rank, last);
    }
    if (end - first > 1) { /* as one axis */
        xpu_dim merged[XPU_MAX_RANK];
        int count = 0;
        for (int i = 0; i < first; i++) merged[count++] = info.dims[i];
        merged[count++] = fe_dim_product(b, info.dims, first, end);
        for (int i = end; i < info.rank; i++) merged[count++] = info.dims[i];
        x = fe_reshape_to(b, x, merged, count, 0);
        if (!x.id) return x;
    }
    int same = rank == info.rank && end - first == 1;
    for (int i = 0; same && i < rank; i++) same = gone[i] || xpu_dim_equal(dims[i], info.dims[i]);
    x = fe_node(b, op, &x, 1, &XPU_ATTR_INT_OF(AXIS, first), 1, last && same);
    return same || !x.id ? x : fe_reshape_to(b, x, dims, rank, last);
}

xpu_value fe_reduce(fe_builder *b, xpu_op_id op, xpu_value x, fe_ints axes, int keep_dims) {
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    int gone[XPU_MAX_RANK], rank = 0;
    xpu_dim dims[XPU_MAX_RANK];
    if (!reduced_axes(b, info.rank, axes, gone)) return (xpu_value){0};
    if (info.rank == 0) return fe_node(b, XPU_OP_IDENTITY, &x, 1, NULL, 0, 1);
    for (int i = 0; i < info.rank; i++) {
        if (!gone[i] || keep_dims) dims[rank++] = gone[i] ? xpu_dim_const(&b->graph->dims, 1) : info.dims[i];
    }
    if (info.dtype != XPU_F16 && info.dtype != XPU_BF16) return reduce(b, op, x, gone, dims, rank, 1);
    x = fe_node(b, XPU_OP_CONVERT, &x, 1, &XPU_ATTR_INT_OF(DTYPE, XPU_F32), 1, 0);
    if (x.id) x = reduce(b, op, x, gone, dims, rank, 0);
    return x.id ? fe_node(b, XPU_OP_CONVERT, &x, 1, &XPU_ATTR_INT_OF(DTYPE, info.dtype), 1, 1) : x;
}

/* ---- reductions of what is computed of each element ---- */

static xpu_value unary(fe_builder *b, xpu_op_id op, xpu_value x) {
    return fe_node(b, op, &x, 1, NULL, 0, 0);
}

/* log(sum of e^x), of what is left of x when the largest is taken away; infinities stay in. */
static xpu_value log_sum_exp(fe_builder *b, xpu_value x, fe_ints axes, int keep_dims) {
    const xpu_attr finite[] = {XPU_ATTR_FLOAT_OF(LOW, -FLT_MAX), XPU_ATTR_FLOAT_OF(HIGH, FLT_MAX)};
    xpu_value most = fe_reduce(b, XPU_OP_REDUCE_MAX, x, axes, 1);
    most = fe_node(b, XPU_OP_CLIP, &most, 1, finite, 2, 0);
    x = unary(b, XPU_OP_EXP, fe_node(b, XPU_OP_SUB, (xpu_value[]){x, most}, 2, NULL, 0, 0));
    x = unary(b, XPU_OP_LOG, x.id ? fe_reduce(b, XPU_OP_REDUCE_SUM, x, axes, keep_dims) : x);
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    if (!keep_dims) most = fe_reshape_to(b, most, info.dims, info.rank, 0);
    return fe_node(b, XPU_OP_ADD, (xpu_value[]){x, most}, 2, NULL, 0, 0);
}

/* The sum, unless nothing is reduced. */
static xpu_value sum_of(fe_builder *b, xpu_value x, fe_ints axes, int keep_dims, int noop) {
    return noop || !x.id ? x : fe_reduce(b, XPU_OP_REDUCE_SUM, x, axes, keep_dims);
}

xpu_value fe_reduce_function(fe_builder *b, fe_reduction kind, xpu_value x, fe_ints axes, int keep_dims, int noop) {
    if (!x.id) return x;
    const xpu_dtype dtype = fe_info(b, x)->dtype;
    const int is_narrow = dtype == XPU_F16 || dtype == XPU_BF16;
    if (kind != FE_L1 && kind != FE_SUM_SQUARE && !is_narrow && dtype != XPU_F32) {
        return fe_refuse(b, FE_OPERAND, "the reduction is of floats",
                         fe_format(b, "the input is %s", xpu_dtype_name(dtype)), NULL);
    }
    fe_builder inner = *b;
    inner.inner = 1;
    if (is_narrow) x = fe_convert(&inner, x, XPU_F32);
    if (kind == FE_LOG_SUM_EXP) {
        if (!noop) x = log_sum_exp(&inner, x, axes, keep_dims);
    } else {
        if (kind == FE_L1) x = unary(&inner, XPU_OP_ABS, x);
        if (kind == FE_L2 || kind == FE_SUM_SQUARE) {
            x = fe_node(&inner, XPU_OP_MUL, (xpu_value[]){x, x}, 2, NULL, 0, 0);
        }
        x = sum_of(&inner, x, axes, keep_dims, noop);
        if (x.id && kind == FE_L2) x = unary(&inner, XPU_OP_SQRT, x);
        if (x.id && kind == FE_LOG_SUM) x = unary(&inner, XPU_OP_LOG, x);
    }
    b->made = inner.made;
    if (!x.id) return x;
    return is_narrow ? fe_convert(b, x, dtype) : fe_node(b, XPU_OP_IDENTITY, &x, 1, NULL, 0, 1);
}
