/* Numbers that count: ranges, and what they are compared with. Places of extremes, triangles. */
#include "frontend/build/build.h"

static xpu_value scalar(fe_builder *b, xpu_dtype dtype, const void *data) {
    xpu_tensor tensor = {.dtype = dtype, .rank = 0, .data = (void *)(uintptr_t)data};
    return xpu_graph_const_bytes(b->graph, NULL, &tensor);
}

static xpu_value binary(fe_builder *b, xpu_op_id op, xpu_value x, xpu_value y) {
    return fe_node(b, op, (xpu_value[]){x, y}, 2, NULL, 0, 0);
}

static xpu_value converted(fe_builder *b, xpu_value x, xpu_dtype dtype, int last) {
    if (!x.id || (!last && fe_info(b, x)->dtype == dtype)) return x;
    return fe_node(b, XPU_OP_CONVERT, &x, 1, &XPU_ATTR_INT_OF(DTYPE, dtype), 1, last);
}

static xpu_value range(fe_builder *b, xpu_value start, xpu_value step, xpu_dim count, int last) {
    xpu_value operands[] = {start, step};
    return fe_node(b, XPU_OP_RANGE, operands, 2, &XPU_ATTR_DIMS_OF(SHAPE, &count, 1), 1, last);
}

xpu_value fe_range(fe_builder *b, xpu_value start, xpu_value step, xpu_dim count) {
    if (!start.id || !step.id) return (xpu_value){0};
    if (fe_info(b, start)->rank) start = fe_reshape_to(b, start, NULL, 0, 0);
    if (fe_info(b, step)->rank) step = fe_reshape_to(b, step, NULL, 0, 0);
    return range(b, start, step, count, 1);
}

/* 0, 1, ... as int32 along dim `axis` of `rank`. */
static xpu_value counted(fe_builder *b, xpu_dim count, int axis, int rank) {
    static const int32_t zero = 0, one = 1;
    xpu_dim dims[XPU_MAX_RANK];
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? count : xpu_dim_const(&b->graph->dims, 1);
    xpu_value list = range(b, scalar(b, XPU_I32, &zero), scalar(b, XPU_I32, &one), count, 0);
    return rank == 1 || !list.id ? list : fe_reshape_to(b, list, dims, rank, 0);
}

/* ---- places of extremes ---- */

/* A type that maxima and minima are there for, with the same order. */
static xpu_dtype ordered_type(xpu_dtype dtype) {
    switch (dtype) {
    case XPU_F16:
    case XPU_BF16: return XPU_F32;
    case XPU_I16:
    case XPU_U16: return XPU_I32;
    default: return dtype;
    }
}

/* Of the places that hold the extreme (or NaN, which is one), the first or the last. */
xpu_value fe_arg_extreme(fe_builder *b, int is_max, xpu_value x, int64_t axis, int keep_dims, int last_index) {
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    int at = fe_axis(b, axis, info.rank);
    if (at < 0) return (xpu_value){0};
    const int64_t axes[] = {at};
    const int32_t nowhere = last_index ? -1 : INT32_MAX;
    fe_builder inner = *b;
    inner.inner = 1;
    x = converted(&inner, x, ordered_type(info.dtype), 0);
    xpu_value extreme = fe_reduce(&inner, is_max ? XPU_OP_REDUCE_MAX : XPU_OP_REDUCE_MIN, x, (fe_ints){axes, 1}, 1);
    xpu_value found = binary(&inner, XPU_OP_EQUAL, x, extreme);
    if (found.id && fe_info(&inner, x)->dtype == XPU_F32) {
        xpu_value number = binary(&inner, XPU_OP_EQUAL, x, x);
        number = fe_node(&inner, XPU_OP_NOT, &number, 1, NULL, 0, 0);
        found = binary(&inner, XPU_OP_OR, found, number);
    }
    xpu_value places[] = {found, counted(&inner, info.dims[at], at, info.rank), scalar(&inner, XPU_I32, &nowhere)};
    xpu_value place = fe_node(&inner, XPU_OP_WHERE, places, 3, NULL, 0, 0);
    place = fe_reduce(&inner, last_index ? XPU_OP_REDUCE_MAX : XPU_OP_REDUCE_MIN, place, (fe_ints){axes, 1}, keep_dims);
    b->made = inner.made;
    return converted(b, place, XPU_I64, 1);
}

/* ---- triangles ---- */

xpu_value fe_triangle(fe_builder *b, xpu_value x, xpu_value diagonal, int upper) {
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    static const float zero = 0;
    static const int32_t main_diagonal = 0;
    if (info.rank < 2) {
        return fe_refuse(b, FE_SHAPE, "the input is no matrix", fe_format(b, "it has rank %d", info.rank), NULL);
    }
    xpu_value above =
        binary(b, XPU_OP_SUB, counted(b, info.dims[info.rank - 1], 1, 2), counted(b, info.dims[info.rank - 2], 0, 2));
    if (diagonal.id && fe_info(b, diagonal)->rank) diagonal = fe_reshape_to(b, diagonal, NULL, 0, 0);
    diagonal = diagonal.id ? converted(b, diagonal, XPU_I32, 0) : scalar(b, XPU_I32, &main_diagonal);
    xpu_value operands[] = {binary(b, upper ? XPU_OP_GREATER_OR_EQUAL : XPU_OP_LESS_OR_EQUAL, above, diagonal), x,
                            converted(b, scalar(b, XPU_F32, &zero), info.dtype, 0)};
    return fe_node(b, XPU_OP_WHERE, operands, 3, NULL, 0, 1);
}
