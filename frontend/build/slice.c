/* Boxes of a tensor, its parts along an axis, and tensors repeated along dims. */
#include <inttypes.h>

#include "frontend/build/build.h"

/* ---- slice ---- */

/* 1 where the index counts from the end of the dim, as an expression where that is not known. */
static xpu_dim is_negative(xpu_dims *table, xpu_dim index) {
    xpu_dim zero = xpu_dim_const(table, 0), one = xpu_dim_const(table, 1);
    if (xpu_dim_max(table, index) < 0) return one;
    if (xpu_dim_min(table, index) >= 0) return zero;
    xpu_dim below = xpu_dim_op(table, XPU_DIM_MAX, xpu_dim_mul_const(table, index, -1), zero);
    return xpu_dim_op(table, XPU_DIM_MIN, below, one);
}

/* An index as models write it, from `least` to `most`. Beyond 31 bits it stands for the first or last place. */
static xpu_dim clamped(xpu_dims *table, xpu_dim index, xpu_dim size, xpu_dim least, xpu_dim most) {
    int64_t value;
    if (xpu_dim_is_const(table, index, &value)) {
        if (value >= INT32_MAX) return most;
        if (value <= INT32_MIN) return least;
    }
    index = xpu_dim_add(table, index, xpu_dim_mul(table, size, is_negative(table, index)));
    return xpu_dim_op(table, XPU_DIM_MIN, xpu_dim_op(table, XPU_DIM_MAX, index, least), most);
}

/* First index and number of elements of a dim from start to end (which is not among them). */
static void slice_dim(xpu_dims *table, xpu_dim size, xpu_dim start, xpu_dim end, int64_t step, xpu_dim *first,
                      xpu_dim *count) {
    xpu_dim zero = xpu_dim_const(table, 0), last = xpu_dim_add_const(table, size, -1);
    const int64_t width = step < 0 ? -step : step;
    start = clamped(table, start, size, zero, step < 0 ? last : size);
    end = clamped(table, end, size, step < 0 ? xpu_dim_const(table, -1) : zero, step < 0 ? last : size);
    xpu_dim low = step < 0 ? end : start, high = step < 0 ? start : end;
    xpu_dim span = xpu_dim_add(table, high, xpu_dim_mul_const(table, low, -1));
    span = xpu_dim_op(table, XPU_DIM_MAX, span, zero);
    *count = xpu_dim_floordiv_const(table, xpu_dim_add_const(table, span, width - 1), width);
    *first = xpu_dim_op(table, XPU_DIM_MAX, start, zero);
}

/* The axes, which may be given or are the first ones; 0 after reporting. */
static int slice_axes(const fe_builder *b, int rank, const fe_slicing *s, int *axes) {
    size_t count = s->starts.count;
    unsigned seen = 0;
    if (s->ends.count != count || (s->axes.items && s->axes.count != count) ||
        (s->steps.items && s->steps.count != count)) {
        fe_refuse(b, FE_OPERAND, "the lists of the slice differ in length",
                  fe_format(b, "%zu starts, %zu ends, %zu axes, %zu steps", count, s->ends.count,
                            s->axes.items ? s->axes.count : count, s->steps.items ? s->steps.count : count),
                  NULL);
        return 0;
    }
    if (count > (size_t)rank) {
        fe_refuse(b, FE_OPERAND, "the slice has too many axes", fe_format(b, "%zu of a tensor of rank %d", count, rank),
                  NULL);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        axes[i] = fe_axis(b, s->axes.items ? s->axes.items[i] : (int64_t)i, rank);
        if (axes[i] < 0) return 0;
        if (seen >> axes[i] & 1) {
            fe_refuse(b, FE_OPERAND, "the axes are invalid", "one of them is given twice", NULL);
            return 0;
        }
        seen |= 1u << axes[i];
    }
    return 1;
}

/* A node of the core, or the operand itself where the box is all of it. */
static xpu_value take_box(fe_builder *b, xpu_value x, const xpu_dim *starts, const xpu_dim *sizes, const int64_t *steps,
                          int last) {
    const xpu_value_info *info = fe_info(b, x);
    uint32_t rank = (uint32_t)info->rank;
    int whole = 1;
    for (uint32_t i = 0; i < rank; i++) whole = whole && steps[i] == 1 && xpu_dim_equal(sizes[i], info->dims[i]);
    if (whole && !last) return x;
    if (whole) return fe_identity(b, x);
    xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(STARTS, starts, rank), XPU_ATTR_DIMS_OF(SHAPE, sizes, rank),
                        XPU_ATTR_INTS_OF(BY, steps, rank)};
    return fe_node(b, XPU_OP_SLICE, &x, 1, attrs, 3, last);
}

xpu_value fe_slice(fe_builder *b, xpu_value x, const fe_slicing *slicing) {
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    xpu_dim starts[XPU_MAX_RANK], sizes[XPU_MAX_RANK];
    int64_t steps[XPU_MAX_RANK];
    int axes[XPU_MAX_RANK];
    if (!slice_axes(b, info.rank, slicing, axes)) return (xpu_value){0};
    for (int i = 0; i < info.rank; i++) {
        starts[i] = xpu_dim_const(&b->graph->dims, 0);
        sizes[i] = info.dims[i];
        steps[i] = 1;
    }
    for (size_t i = 0; i < slicing->starts.count; i++) {
        int64_t step = slicing->steps.items ? slicing->steps.items[i] : 1;
        if (step == 0) return fe_refuse(b, FE_OPERAND, "a step of the slice is 0", fe_format(b, "step %zu", i), NULL);
        if (step > FE_MAX_STEP || step < -FE_MAX_STEP) step = step < 0 ? -FE_MAX_STEP : FE_MAX_STEP;
        steps[axes[i]] = step;
        slice_dim(&b->graph->dims, info.dims[axes[i]], slicing->starts.items[i], slicing->ends.items[i], step,
                  &starts[axes[i]], &sizes[axes[i]]);
    }
    return take_box(b, x, starts, sizes, steps, 1);
}

xpu_value fe_part(fe_builder *b, xpu_value x, int axis, xpu_dim start, xpu_dim count, int64_t step, int last) {
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    xpu_dim starts[XPU_MAX_RANK], sizes[XPU_MAX_RANK];
    int64_t steps[XPU_MAX_RANK];
    for (int i = 0; i < info.rank; i++) {
        starts[i] = i == axis ? start : xpu_dim_const(&b->graph->dims, 0);
        sizes[i] = i == axis ? count : info.dims[i];
        steps[i] = i == axis ? step : 1;
    }
    return take_box(b, x, starts, sizes, steps, last);
}

/* ---- split ---- */

static int guard_equal(const fe_builder *b, xpu_dim left, xpu_dim right) {
    xpu_dims *table = &b->graph->dims;
    if (xpu_dim_agree(table, left, right)) return 1;
    if (xpu_dim_solutions(table, left, right) < 2) return 0;
    xpu_graph_guard(b->graph, left, right, b->where);
    return 1;
}

/* The sizes of `parts` parts that are equal, or all but the last one. 0 after reporting. */
static int even_sizes(const fe_builder *b, xpu_dim size, int ragged, uint32_t parts, xpu_dim *sizes) {
    xpu_dims *table = &b->graph->dims;
    xpu_dim one = xpu_dim_floordiv_const(table, ragged ? xpu_dim_add_const(table, size, parts - 1) : size, parts);
    xpu_dim last = xpu_dim_add(table, size, xpu_dim_mul_const(table, one, -(int64_t)(parts - 1)));
    for (uint32_t i = 0; i < parts; i++) sizes[i] = i + 1 < parts ? one : last;
    int fits = ragged ? xpu_dim_max(table, last) >= 0 : guard_equal(b, last, one);
    if (fits && !ragged) sizes[parts - 1] = one;
    if (!fits) {
        fe_refuse(b, FE_SHAPE, "the dim cannot be split evenly",
                  fe_format(b, "%s elements, %u parts", xpu_dim_text(table, size, b->scratch), parts), NULL);
    }
    return fits;
}

static int given_sizes(const fe_builder *b, xpu_dim size, fe_dims given, uint32_t parts, xpu_dim *sizes) {
    xpu_dims *table = &b->graph->dims;
    xpu_dim sum = xpu_dim_const(table, 0);
    int fits = given.count == parts;
    for (uint32_t i = 0; i < parts && fits; i++) {
        sizes[i] = given.items[i];
        fits = xpu_dim_max(table, sizes[i]) >= 0;
        sum = xpu_dim_add(table, sum, sizes[i]);
    }
    if (!fits || !guard_equal(b, sum, size)) {
        fe_refuse(b, FE_OPERAND, "the sizes of the parts do not fit",
                  fe_format(b, "%zu sizes, %u results; %s of %s elements", given.count, parts,
                            fits ? xpu_dim_text(table, sum, b->scratch) : "?", xpu_dim_text(table, size, b->scratch)),
                  NULL);
        return 0;
    }
    return 1;
}

int fe_split(fe_builder *b, xpu_value x, const fe_splitting *splitting, xpu_value *results) {
    if (!x.id) return 0;
    const xpu_value_info info = *fe_info(b, x);
    const uint32_t parts = splitting->parts;
    int axis = fe_axis(b, splitting->axis, info.rank);
    if (axis < 0) return 0;
    xpu_dim *sizes = XPU_NEW_ARRAY(b->scratch, xpu_dim, parts), start = xpu_dim_const(&b->graph->dims, 0);
    int fits = splitting->sizes.items ? given_sizes(b, info.dims[axis], splitting->sizes, parts, sizes)
                                      : even_sizes(b, info.dims[axis], splitting->ragged, parts, sizes);
    for (uint32_t i = 0; i < parts && fits; i++) {
        fe_builder part = *b;
        part.names = b->names + (i < b->name_count ? i : 0);
        int named = i < b->name_count && part.names[0] && part.names[0][0];
        if (!named) part.names = b->names;
        results[i] = fe_part(&part, x, axis, start, sizes[i], 1, named);
        fits = results[i].id != 0;
        b->made = part.made;
        start = xpu_dim_add(&b->graph->dims, start, sizes[i]);
    }
    return fits;
}

/* ---- expand, tile ---- */

xpu_value fe_expand(fe_builder *b, xpu_value x, fe_dims shape) {
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    int rank = shape.count > (size_t)info.rank ? (int)shape.count : info.rank;
    if (shape.count > XPU_MAX_RANK) {
        return fe_refuse(b, FE_SHAPE, "the result has too many dims",
                         fe_format(b, "at most %d are supported", XPU_MAX_RANK), NULL);
    }
    xpu_dim dims[XPU_MAX_RANK];
    int same = rank == info.rank;
    for (int i = 0; i < rank; i++) {
        int own = i - (rank - info.rank), wanted = i - (rank - (int)shape.count);
        int64_t size;
        xpu_dim one = xpu_dim_const(&b->graph->dims, 1);
        xpu_dim from = own < 0 ? one : info.dims[own], to = wanted < 0 ? one : shape.items[wanted];
        dims[i] = xpu_dim_is_const(&b->graph->dims, from, &size) && size == 1 ? to : from;
        if (!xpu_dim_is_const(&b->graph->dims, to, &size) || size != 1) dims[i] = to;
        same = same && own >= 0 && xpu_dim_equal(dims[i], info.dims[own]);
    }
    if (same) return fe_identity(b, x);
    return fe_node(b, XPU_OP_EXPAND, &x, 1, &XPU_ATTR_DIMS_OF(SHAPE, dims, (uint32_t)rank), 1, 1);
}

/* [outer, size, inner] becomes [outer, times, size, inner], and that the tensor with dim `axis` times as long. */
static xpu_value repeat(fe_builder *b, xpu_value x, int axis, xpu_dim times, int last) {
    const xpu_value_info info = *fe_info(b, x);
    xpu_dim outer = fe_dim_product(b, info.dims, 0, axis), inner = fe_dim_product(b, info.dims, axis, info.rank);
    xpu_dim apart[] = {outer, xpu_dim_const(&b->graph->dims, 1), inner}, spread[] = {outer, times, inner};
    xpu_dim dims[XPU_MAX_RANK];
    for (int i = 0; i < info.rank; i++) {
        dims[i] = i == axis ? xpu_dim_mul(&b->graph->dims, info.dims[i], times) : info.dims[i];
    }
    x = fe_reshape_to(b, x, apart, 3, 0);
    if (x.id) x = fe_node(b, XPU_OP_EXPAND, &x, 1, &XPU_ATTR_DIMS_OF(SHAPE, spread, 3), 1, 0);
    return x.id ? fe_reshape_to(b, x, dims, info.rank, last) : x;
}

xpu_value fe_tile(fe_builder *b, xpu_value x, fe_dims repeats) {
    if (!x.id) return x;
    const int rank = fe_info(b, x)->rank;
    if (repeats.count != (size_t)rank) {
        return fe_refuse(b, FE_OPERAND, "the repeats do not fit the input",
                         fe_format(b, "%zu of a tensor of rank %d", repeats.count, rank), NULL);
    }
    int64_t times;
    int left = 0;
    for (int i = 0; i < rank; i++) {
        if (xpu_dim_max(&b->graph->dims, repeats.items[i]) < 0) {
            return fe_refuse(b, FE_OPERAND, "a repeat is negative", fe_format(b, "that of dim %d", i), NULL);
        }
        left += !xpu_dim_is_const(&b->graph->dims, repeats.items[i], &times) || times != 1;
    }
    if (!left) return fe_identity(b, x);
    for (int i = rank; i-- > 0 && x.id;) { /* innermost first: what is copied again is a longer run */
        if (xpu_dim_is_const(&b->graph->dims, repeats.items[i], &times) && times == 1) continue;
        x = repeat(b, x, i, repeats.items[i], --left == 0);
    }
    return x;
}
