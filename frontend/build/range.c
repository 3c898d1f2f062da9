/* Numbers that count: ranges, and what they are compared with. Places of extremes, triangles, ones. */
#include <inttypes.h>

#include "frontend/build/build.h"

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

xpu_value fe_counted(fe_builder *b, xpu_dtype dtype, xpu_dim count, int axis, int rank) {
    xpu_dim dims[XPU_MAX_RANK];
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? count : xpu_dim_const(&b->graph->dims, 1);
    xpu_value list = range(b, fe_integer(b, dtype, 0), fe_integer(b, dtype, 1), count, 0);
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
    xpu_value found = fe_binary(&inner, XPU_OP_EQUAL, x, extreme);
    if (found.id && fe_info(&inner, x)->dtype == XPU_F32) {
        xpu_value number = fe_binary(&inner, XPU_OP_EQUAL, x, x);
        number = fe_node(&inner, XPU_OP_NOT, &number, 1, NULL, 0, 0);
        found = fe_binary(&inner, XPU_OP_OR, found, number);
    }
    xpu_value places[] = {found, fe_counted(&inner, XPU_I32, info.dims[at], at, info.rank),
                          fe_integer(&inner, XPU_I32, nowhere)};
    xpu_value place = fe_node(&inner, XPU_OP_WHERE, places, 3, NULL, 0, 0);
    place = fe_reduce(&inner, last_index ? XPU_OP_REDUCE_MAX : XPU_OP_REDUCE_MIN, place, (fe_ints){axes, 1}, keep_dims);
    b->made = inner.made;
    return converted(b, place, XPU_I64, 1);
}

/* ---- triangles ---- */

xpu_value fe_triangle(fe_builder *b, xpu_value x, xpu_value diagonal, int upper) {
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    if (info.rank < 2) {
        return fe_refuse(b, FE_SHAPE, "the input is no matrix", fe_format(b, "it has rank %d", info.rank), NULL);
    }
    xpu_value above = fe_binary(b, XPU_OP_SUB, fe_counted(b, XPU_I32, info.dims[info.rank - 1], 1, 2),
                                fe_counted(b, XPU_I32, info.dims[info.rank - 2], 0, 2));
    if (diagonal.id && fe_info(b, diagonal)->rank) diagonal = fe_reshape_to(b, diagonal, NULL, 0, 0);
    diagonal = diagonal.id ? converted(b, diagonal, XPU_I32, 0) : fe_integer(b, XPU_I32, 0);
    xpu_value operands[] = {fe_binary(b, upper ? XPU_OP_GREATER_OR_EQUAL : XPU_OP_LESS_OR_EQUAL, above, diagonal), x,
                            converted(b, fe_number(b, 0), info.dtype, 0)};
    return fe_node(b, XPU_OP_WHERE, operands, 3, NULL, 0, 1);
}

/* ---- ones ---- */

/* Whether the number on each place is `found`: `values` there, else the other one. */
xpu_value fe_one_hot(fe_builder *b, xpu_value indices, xpu_dim depth, xpu_value values, int64_t axis) {
    static const xpu_value none = {0};
    if (!indices.id || !values.id) return none;
    const xpu_value_info info = *fe_info(b, indices), pair = *fe_info(b, values);
    int64_t size, dims_count = 0;
    if (info.rank == XPU_MAX_RANK || pair.rank != 1 || !xpu_dim_is_const(&b->graph->dims, pair.dims[0], &size) ||
        size != 2) {
        return fe_refuse(
            b, FE_SHAPE, "an operand does not fit",
            fe_format(b, "the indices are %s, the values %s", fe_shape_text(b, indices), fe_shape_text(b, values)),
            "the values are off and on, and the result has one dim more than the indices");
    }
    int at = fe_axis(b, axis, info.rank + 1);
    if (at < 0) return none;
    const int is_short = xpu_dtype_bytes(info.dtype) < 4 && info.dtype != XPU_F16 && info.dtype != XPU_BF16;
    const xpu_dtype dtype = is_short || info.dtype == XPU_I32 ? XPU_I32 : XPU_I64;
    xpu_dim dims[XPU_MAX_RANK];
    for (int i = 0; i <= info.rank; i++)
        dims[i] = i == at ? xpu_dim_const(&b->graph->dims, 1) : info.dims[dims_count++];
    fe_builder inside = fe_inside(b);
    xpu_value index = fe_reshape_to(&inside, converted(&inside, indices, dtype, 0), dims, info.rank + 1, 0);
    xpu_value from_end = converted(&inside, fe_dim_values(&inside, &depth, 1, 0), dtype, 0);
    from_end = fe_binary(&inside, XPU_OP_ADD, index, from_end);
    xpu_value is_negative = fe_binary(&inside, XPU_OP_LESS, index, fe_integer(b, dtype, 0));
    if (!from_end.id || !is_negative.id) return none;
    index = fe_node(&inside, XPU_OP_WHERE, (xpu_value[]){is_negative, from_end, index}, 3, NULL, 0, 0);
    xpu_value found = fe_binary(&inside, XPU_OP_EQUAL, index, fe_counted(&inside, dtype, depth, at, info.rank + 1));
    xpu_value choice[3] = {found};
    for (int i = 0; i < 2; i++) {
        xpu_value one =
            fe_part(&inside, values, 0, xpu_dim_const(&b->graph->dims, i), xpu_dim_const(&b->graph->dims, 1), 1, 0);
        choice[2 - i] = one.id ? fe_reshape_to(&inside, one, NULL, 0, 0) : one;
    }
    if (!found.id || !choice[1].id || !choice[2].id) return none;
    return fe_finish(b, &inside, fe_node(&inside, XPU_OP_WHERE, choice, 3, NULL, 0, 0));
}

xpu_value fe_eye(fe_builder *b, xpu_value x, int64_t diagonal, xpu_dtype dtype) {
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    if (info.rank != 2) {
        return fe_refuse(b, FE_SHAPE, "the input is no matrix", fe_format(b, "it has rank %d", info.rank), NULL);
    }
    if (diagonal > FE_MAX_STEP || diagonal < -FE_MAX_STEP) {
        fe_bad_attr(b, "k", fe_format(b, "it is %" PRId64, diagonal));
        return (xpu_value){0};
    }
    xpu_value row =
        fe_binary(b, XPU_OP_ADD, fe_counted(b, XPU_I32, info.dims[0], 0, 2), fe_integer(b, XPU_I32, diagonal));
    xpu_value found = fe_binary(b, XPU_OP_EQUAL, row, fe_counted(b, XPU_I32, info.dims[1], 1, 2));
    return found.id ? converted(b, found, dtype, 1) : found;
}
