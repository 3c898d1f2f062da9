/* Reductions over any axes: those of the core are over one. */
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
