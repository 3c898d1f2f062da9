/* Operators that move and pick elements in PaddlePaddle. */
#include <limits.h>
#include <string.h>

#include "convert/paddle_writer.h"
#include "core/arith_pick.h"

static int64_t int_attr(pw *w, xpu_attr_id id) {
    return xpu_node_int(w->graph, w->node, id);
}

void pw_write_reshape(pw *w, const pw_row *row) {
    const pw_type from = pw_operand_type(w, 0), to = pw_result_type(w, 0);
    (void)row;
    pw_reshape(w, pw_result(w, 0), pw_operand(w, 0), &from, &to);
}

void pw_write_transpose(pw *w, const pw_row *row) {
    const pw_type to = pw_result_type(w, 0);
    uint32_t count = 0;
    (void)row;
    pw_transpose(w, pw_result(w, 0), pw_operand(w, 0), &to, xpu_node_ints(w->graph, w->node, XPU_ATTR_PERM, &count));
}

/* An axis beside that of the concatenation that may be empty, or -1. */
static int empty_axis(pw *w, const pw_type *y, int axis) {
    for (int i = 0; i < y->rank; i++)
        if (i != axis && pw_may_be_empty(w, y, i)) return i;
    return -1;
}

void pw_write_concat(pw *w, const pw_row *row) {
    const uint32_t count = xpu_node_at(w->graph, w->node)->input_count;
    const int axis = (int)int_attr(w, XPU_ATTR_AXIS);
    pw_type y = pw_result_type(w, 0);
    const pw_type gives = y;
    const int empty = empty_axis(w, &y, axis);
    const char **parts = XPU_NEW_ARRAY(w->arena, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        pw_type type = pw_operand_type(w, i);
        parts[i] = empty < 0 ? pw_operand(w, i) : pw_with_zeros(w, pw_operand(w, i), &type, empty);
    }
    if (empty >= 0) y.dims[empty] = xpu_dim_add_const(&w->graph->dims, y.dims[empty], 1);
    pw_op *op;
    const char *made = pw_make(w, &op, empty < 0 ? pw_result(w, 0) : NULL, row->name, &y, parts[0], NULL);
    for (uint32_t i = 1; i < count; i++) pw_in(w, op, "X", parts[i]);
    pw_int(w, op, "axis", axis);
    if (empty >= 0) pw_part(w, pw_result(w, 0), made, &gives, empty, 0, -1);
}

/* ---- slices ---- */

/* A box with steps from 1 on; sizes that are computed go in as tensors. */
typedef struct {
    int64_t axes[XPU_MAX_RANK], steps[XPU_MAX_RANK];
    xpu_dim starts[XPU_MAX_RANK], ends[XPU_MAX_RANK], sizes[XPU_MAX_RANK];
    int count, strides;
} box;

static void bounds(pw *w, pw_op *op, const char *name, const char *list, const xpu_dim *dims, const xpu_dim *sizes,
                   int count, int is_end) {
    int64_t numbers[XPU_MAX_RANK];
    int known = 1;
    for (int i = 0; i < count; i++) {
        const xpu_dim left = xpu_dim_add(&w->graph->dims, dims[i], xpu_dim_mul_const(&w->graph->dims, sizes[i], -1));
        int64_t rest;
        if (xpu_dim_is_const(&w->graph->dims, dims[i], &numbers[i])) continue;
        numbers[i] = -1;
        if (is_end && xpu_dim_is_const(&w->graph->dims, left, &rest) && rest <= 0)
            numbers[i] = rest == 0 ? INT_MAX : rest;
        else
            known = 0;
    }
    for (int i = 0; i < count && !known; i++) pw_in(w, op, list, pw_size_of(w, dims[i]));
    pw_ints(w, op, name, numbers, (uint32_t)count);
}

static const char *take_box(pw *w, const char *result, const char *x, const pw_type *gives, const box *b) {
    int64_t flags[XPU_MAX_RANK];
    if (!result) result = pw_new(w, "slice", gives);
    for (int i = 0; i < b->count; i++) {
        int64_t value;
        flags[i] = xpu_dim_is_const(&w->graph->dims, b->starts[i], &value) &&
                           xpu_dim_is_const(&w->graph->dims, b->ends[i], &value)
                       ? 1
                       : -1;
    }
    pw_op *op = XPU_NEW(w->arena, pw_op);
    op->type = b->strides ? "strided_slice" : "slice";
    pw_in(w, op, "Input", x);
    bounds(w, op, "starts", "StartsTensorList", b->starts, b->sizes, b->count, 0);
    bounds(w, op, "ends", "EndsTensorList", b->ends, b->sizes, b->count, 1);
    pw_out(w, op, "Out", result);
    pw_ints(w, op, "axes", b->axes, (uint32_t)b->count);
    if (b->strides) pw_ints(w, op, "strides", b->steps, (uint32_t)b->count);
    pw_ints(w, op, "infer_flags", flags, (uint32_t)b->count);
    pw_ints(w, op, "decrease_axis", NULL, 0);
    XPU_PUSH(w->arena, &w->ops, op);
    return result;
}

/* Where a start is computed and the size is known, the places are gathered: start, start + 1, ... The type becomes that
 * of what is left to slice. */
static const char *take_places(pw *w, const char *name, pw_type *x, const pw_type *y, const xpu_dim *starts,
                               const int64_t *by) {
    enum { MOST = 1 << 16 };
    for (int i = 0; i < x->rank; i++) {
        int64_t count, unused;
        if (by[i] != 1 || xpu_dim_is_const(&w->graph->dims, starts[i], &unused) ||
            !xpu_dim_is_const(&w->graph->dims, y->dims[i], &count) || count < 1 || count > MOST)
            continue;
        const pw_type list = pw_scalar_list(w, XPU_I32, count);
        const char *places = pw_size_of(w, starts[i]);
        if (count > 1) {
            int32_t *steps = XPU_NEW_ARRAY(w->arena, int32_t, count);
            for (int32_t k = 0; k < count; k++) steps[k] = k;
            const xpu_tensor tensor = {.dtype = XPU_I32, .rank = 1, .dims = {count}, .data = steps};
            places = pw_binary(w, NULL, "elementwise_add", &list, pw_parameter(w, "places", &tensor), places);
        }
        x->dims[i] = y->dims[i];
        pw_op *op = pw_add(w, "gather");
        const char *picked = pw_new(w, "picked", x);
        pw_in(w, op, "X", name);
        pw_in(w, op, "Index", places);
        pw_out(w, op, "Out", picked);
        pw_int(w, op, "axis", i);
        name = picked;
    }
    return name;
}

/* Backwards: the same elements forwards, then turned round. */
void pw_write_slice(pw *w, const pw_row *row) {
    pw_type x = pw_operand_type(w, 0);
    const pw_type before = x, y = pw_result_type(w, 0);
    const xpu_attr *starts = xpu_node_attr(w->graph, w->node, XPU_ATTR_STARTS);
    uint32_t unused;
    const int64_t *by = xpu_node_ints(w->graph, w->node, XPU_ATTR_BY, &unused);
    xpu_dims *dims = &w->graph->dims;
    int64_t turned[XPU_MAX_RANK], zero;
    uint32_t turns = 0;
    box b = {.count = 0};
    (void)row;
    const char *name = take_places(w, pw_operand(w, 0), &x, &y, starts->dims, by);
    for (int i = 0; i < x.rank; i++) {
        if (!xpu_dim_equal(x.dims[i], before.dims[i])) continue; /* gathered */
        const int64_t step = by[i] < 0 ? -by[i] : by[i];
        xpu_dim first = starts->dims[i];
        if (by[i] < 0) {
            turned[turns++] = i;
            first = xpu_dim_add(dims, first, xpu_dim_mul_const(dims, xpu_dim_add_const(dims, y.dims[i], -1), by[i]));
        }
        if (step == 1 && xpu_dim_equal(x.dims[i], y.dims[i]) && xpu_dim_is_const(dims, first, &zero) && zero == 0)
            continue;
        const xpu_dim last =
            xpu_dim_add(dims, first, xpu_dim_mul_const(dims, xpu_dim_add_const(dims, y.dims[i], -1), step));
        b.axes[b.count] = i;
        b.steps[b.count] = step;
        b.starts[b.count] = first;
        b.sizes[b.count] = x.dims[i];
        b.ends[b.count++] = xpu_dim_add_const(dims, last, 1);
        b.strides |= step != 1;
    }
    if (b.count) name = take_box(w, turns ? NULL : pw_result(w, 0), name, &y, &b);
    if (!b.count && !turns) pw_make(w, NULL, pw_result(w, 0), "assign", &y, name, NULL);
    if (!turns) return;
    pw_op *op;
    pw_make(w, &op, pw_result(w, 0), "flip", &y, name, NULL);
    pw_ints(w, op, "axis", turned, turns);
}

void pw_write_expand(pw *w, const pw_row *row) {
    const pw_type from = pw_operand_type(w, 0), to = pw_result_type(w, 0);
    (void)row;
    pw_expand(w, pw_result(w, 0), pw_operand(w, 0), &from, &to);
}

/* Begins and ends; PaddlePaddle's reflections and edges are of height and width alone. */
void pw_write_pad(pw *w, const pw_row *row) {
    const pw_type x = pw_operand_type(w, 0), y = pw_result_type(w, 0);
    uint32_t count = 0;
    const int64_t *pads = xpu_node_ints(w->graph, w->node, XPU_ATTR_PADS, &count);
    const char *mode = xpu_node_string(w->graph, w->node, XPU_ATTR_MODE);
    const int is_constant = !mode || strcmp(mode, "constant") == 0;
    int64_t both[2 * XPU_MAX_RANK];
    int outer = 0, crops = 0;
    box b = {.count = 0};
    pw_type inner = x;
    for (int i = 0; i < x.rank; i++) {
        const int64_t begin = pads[i], end = pads[x.rank + i];
        outer |= i < x.rank - 2 && (begin || end);
        both[2 * (size_t)i] = begin > 0 ? begin : 0;
        both[2 * (size_t)i + 1] = end > 0 ? end : 0;
        if (begin >= 0 && end >= 0) continue;
        crops = 1;
        b.axes[b.count] = i;
        b.steps[b.count] = 1;
        b.starts[b.count] = xpu_dim_const(&w->graph->dims, begin < 0 ? -begin : 0);
        b.sizes[b.count] = x.dims[i];
        b.ends[b.count++] = xpu_dim_add_const(&w->graph->dims, x.dims[i], end < 0 ? end : 0);
        inner.dims[i] = xpu_dim_add_const(&w->graph->dims, x.dims[i], (begin < 0 ? begin : 0) + (end < 0 ? end : 0));
    }
    const char *name = crops ? take_box(w, NULL, pw_operand(w, 0), &inner, &b) : pw_operand(w, 0);
    pw_op *op;
    if (is_constant) {
        pw_make(w, &op, pw_result(w, 0), row->name, &y, name, NULL);
        pw_ints(w, op, "paddings", both, count);
        pw_float(w, op, "pad_value", xpu_node_float(w->graph, w->node, XPU_ATTR_VALUE));
        return;
    }
    if (x.rank != 4 || outer || x.dtype != XPU_F32) {
        pw_pad_places(w, name, &inner, pads, pads + x.rank, mode);
        return;
    }
    /* as a volume of one slice: PaddlePaddle 2.6 has no kernels for pad2d */
    pw_type volume = inner, padded = y;
    for (int k = 0; k < 5; k++) {
        const int from = k < 2 ? k : k - 1;
        volume.dims[k] = k == 2 ? xpu_dim_const(&w->graph->dims, 1) : inner.dims[from];
        padded.dims[k] = k == 2 ? volume.dims[k] : y.dims[from];
    }
    volume.rank = padded.rank = 5;
    const int64_t sides[] = {both[6], both[7], both[4], both[5], 0, 0};
    const char *made = pw_make(w, &op, NULL, "pad3d", &padded, pw_reshape(w, NULL, name, &inner, &volume), NULL);
    pw_ints(w, op, "paddings", sides, 6);
    pw_string(w, op, "mode", strcmp(mode, "edge") == 0 ? "replicate" : mode);
    pw_float(w, op, "value", 0);
    pw_string(w, op, "data_format", "NCDHW");
    pw_reshape(w, pw_result(w, 0), made, &padded, &y);
}

/* 0, 1, ... as int32 */
static const char *counted_list(pw *w, xpu_dim count) {
    pw_type type = pw_scalar_list(w, XPU_I32, 1);
    type.dims[0] = count;
    return pw_counted(w, pw_size_of(w, count), &type);
}

/* ---- picks ---- */

/* How many indices a tuple has, 0: not known. */
static int tuple_size(pw *w, const pw_type *index) {
    int64_t size = 0;
    return xpu_dim_is_const(&w->graph->dims, index->dims[index->rank - 1], &size) ? (int)size : 0;
}

/* Along one axis by a vector of indices; others are a vector meanwhile. */
void pw_write_gather(pw *w, const pw_row *row) {
    const pw_type x = pw_operand_type(w, 0), index = pw_operand_type(w, 1), y = pw_result_type(w, 0);
    const int axis = (int)int_attr(w, XPU_ATTR_AXIS);
    const char *list = pw_indices(w, &x.dims[axis], 1);
    pw_type flat = {.dtype = index.dtype, .rank = 1, .dims = {xpu_dim_const(&w->graph->dims, 1)}}, picked = x;
    for (int i = 0; i < index.rank; i++) flat.dims[0] = xpu_dim_mul(&w->graph->dims, flat.dims[0], index.dims[i]);
    if (index.rank != 1) list = pw_reshape(w, NULL, list, &index, &flat);
    picked.dims[axis] = flat.dims[0];
    pw_op *op = pw_add(w, row->name);
    const char *result = index.rank == 1 ? pw_result(w, 0) : pw_new(w, "picked", &picked);
    pw_in(w, op, "X", pw_operand(w, 0));
    pw_in(w, op, "Index", list);
    pw_out(w, op, "Out", result);
    pw_int(w, op, "axis", axis);
    if (index.rank != 1) pw_reshape(w, pw_result(w, 0), result, &picked, &y);
}

void pw_write_gather_elements(pw *w, const pw_row *row) {
    const pw_type x = pw_operand_type(w, 0);
    const int64_t axis = int_attr(w, XPU_ATTR_AXIS);
    const char *list = pw_indices(w, &x.dims[axis], 1);
    pw_op *op = pw_add(w, row->name);
    pw_in(w, op, "Input", pw_operand(w, 0));
    pw_in(w, op, "Index", list);
    pw_out(w, op, "Result", pw_result(w, 0));
    pw_int(w, op, "Axis", axis);
}

/* 0, 1, ... along dim `axis` of the indices, one for each tuple. */
static const char *batch_index(pw *w, const pw_type *index, int axis) {
    pw_type flat = pw_scalar_list(w, XPU_I32, 1), apart = {.dtype = index->dtype, .rank = index->rank}, whole = *index;
    flat.dims[0] = index->dims[axis];
    for (int i = 0; i < index->rank; i++)
        apart.dims[i] = i == axis ? index->dims[i] : xpu_dim_const(&w->graph->dims, 1);
    whole.dims[index->rank - 1] = xpu_dim_const(&w->graph->dims, 1);
    const char *list = counted_list(w, index->dims[axis]);
    if (index->dtype != XPU_I32) list = pw_cast(w, NULL, list, &flat, index->dtype);
    flat.dtype = index->dtype;
    return pw_expand(w, NULL, pw_reshape(w, NULL, list, &flat, &apart), &apart, &whole);
}

/* Batch dims become indices in front of the others. */
void pw_write_gather_nd(pw *w, const pw_row *row) {
    const int batch = (int)int_attr(w, XPU_ATTR_BATCH_DIMS);
    const pw_type x = pw_operand_type(w, 0), type = pw_operand_type(w, 1);
    const char *index = pw_indices(w, &x.dims[batch], tuple_size(w, &type));
    if (batch) {
        pw_type wide = type;
        const char *parts[XPU_MAX_RANK] = {NULL};
        for (int i = 0; i < batch; i++) parts[i] = batch_index(w, &type, i);
        wide.dims[type.rank - 1] = xpu_dim_add_const(&w->graph->dims, type.dims[type.rank - 1], batch);
        pw_op *op;
        const char *joined = pw_make(w, &op, NULL, "concat", &wide, parts[0], NULL);
        for (int i = 1; i < batch; i++) pw_in(w, op, "X", parts[i]);
        pw_in(w, op, "X", index);
        pw_int(w, op, "axis", type.rank - 1);
        index = joined;
    }
    pw_op *op = pw_add(w, row->name);
    pw_in(w, op, "X", pw_operand(w, 0));
    pw_in(w, op, "Index", index);
    pw_out(w, op, "Out", pw_result(w, 0));
}

/* PaddlePaddle's names of what becomes of two elements in one place. */
static const char *const placings[XA_PLACINGS] = {"assign", "add", "mul", "amax", "amin"};

static void put_along(pw *w, const char *result, const char *to, const char *index, const char *from, int64_t axis,
                      const char *reduce) {
    pw_op *op = pw_add(w, "put_along_axis");
    pw_in(w, op, "Input", to);
    pw_in(w, op, "Index", index);
    pw_in(w, op, "Value", from);
    pw_out(w, op, "Result", result);
    pw_int(w, op, "Axis", axis);
    pw_string(w, op, "Reduce", reduce);
    pw_bool(w, op, "include_self", 1);
}

void pw_write_scatter_elements(pw *w, const pw_row *row) {
    const pw_type x = pw_operand_type(w, 0);
    const int64_t axis = int_attr(w, XPU_ATTR_AXIS);
    const char *list = pw_indices(w, &x.dims[axis], 1);
    (void)row;
    put_along(w, pw_result(w, 0), pw_operand(w, 0), list, pw_operand(w, 2), axis, placings[int_attr(w, XPU_ATTR_KIND)]);
}

/* Slices as rows of a matrix, and tuples of indices as the rows' numbers. */
static void scatter_rows(pw *w, const char *reduce) {
    xpu_dims *dims = &w->graph->dims;
    const pw_type x = pw_operand_type(w, 0), index = pw_operand_type(w, 1);
    pw_type rows = {.dtype = x.dtype, .rank = 2}, updates = rows, tuples = {.dtype = index.dtype, .rank = 2};
    const pw_type given = pw_operand_type(w, 2);
    const int depth = tuple_size(w, &index);
    int64_t strides[XPU_MAX_RANK], size;
    rows.dims[0] = rows.dims[1] = tuples.dims[0] = xpu_dim_const(dims, 1);
    for (int i = 0; i < x.rank; i++) rows.dims[i >= depth] = xpu_dim_mul(dims, rows.dims[i >= depth], x.dims[i]);
    for (int i = 0; i < index.rank - 1; i++) tuples.dims[0] = xpu_dim_mul(dims, tuples.dims[0], index.dims[i]);
    tuples.dims[1] = index.dims[index.rank - 1];
    updates.dims[0] = tuples.dims[0];
    updates.dims[1] = rows.dims[1];
    int known = depth > 0;
    strides[depth > 0 ? depth - 1 : 0] = 1;
    for (int i = depth - 1; i > 0; i--) {
        known &= xpu_dim_is_const(dims, x.dims[i], &size);
        strides[i - 1] = known ? strides[i] * size : 0;
    }
    if (!known) {
        pw_refuse(w, XPU_REFUSED_INDEX_DIMS);
        return;
    }
    pw_type flat = {.dtype = index.dtype, .rank = 1, .dims = {tuples.dims[0]}};
    const char *list = pw_reshape(w, NULL, pw_indices(w, x.dims, depth), &index, depth == 1 ? &flat : &tuples);
    if (depth > 1) {
        int32_t narrow[XPU_MAX_RANK];
        for (int i = 0; i < depth; i++) narrow[i] = (int32_t)strides[i];
        xpu_tensor factors = {.dtype = index.dtype,
                              .rank = 1,
                              .dims = {depth},
                              .data = index.dtype == XPU_I64 ? (void *)strides : (void *)narrow};
        pw_op *op;
        list = pw_binary(w, NULL, "elementwise_mul", &tuples, list, pw_parameter(w, "strides", &factors));
        list = pw_make(w, &op, NULL, "reduce_sum", &flat, list, NULL);
        pw_reduction(w, op, &flat, 1, 0);
    }
    const char *to = pw_reshape(w, NULL, pw_operand(w, 0), &x, &rows);
    const char *from = pw_reshape(w, NULL, pw_operand(w, 2), &given, &updates);
    const char *placed = pw_new(w, "placed", &rows);
    if (reduce) {
        pw_type column = {.dtype = index.dtype, .rank = 2, .dims = {flat.dims[0], xpu_dim_const(dims, 1)}};
        const pw_type whole = pw_as(updates, index.dtype);
        list = pw_expand(w, NULL, pw_reshape(w, NULL, list, &flat, &column), &column, &whole);
        put_along(w, placed, to, list, from, 0, reduce);
    } else {
        pw_op *op = pw_add(w, "scatter");
        pw_in(w, op, "X", to);
        pw_in(w, op, "Ids", list);
        pw_in(w, op, "Updates", from);
        pw_out(w, op, "Out", placed);
        pw_bool(w, op, "overwrite", 1);
    }
    pw_reshape(w, pw_result(w, 0), placed, &rows, &x);
}

void pw_write_scatter_nd(pw *w, const pw_row *row) {
    const int64_t kind = int_attr(w, XPU_ATTR_KIND);
    if (kind != XA_PLACE_SUM) {
        scatter_rows(w, kind == XA_PLACE ? NULL : placings[kind]);
        return;
    }
    const pw_type x = pw_operand_type(w, 0), type = pw_operand_type(w, 1);
    const char *index = pw_indices(w, x.dims, tuple_size(w, &type));
    pw_op *op = pw_add(w, row->name);
    pw_in(w, op, "X", pw_operand(w, 0));
    pw_in(w, op, "Index", index);
    pw_in(w, op, "Updates", pw_operand(w, 2));
    pw_out(w, op, "Out", pw_result(w, 0));
}

/* argsort keeps the order of equal ones among up to 16 elements, top_k_v2 that of none. */
enum { KEEPS_ORDER = 16 };

/* The first `count` of all of them in order; ALL: all. */
enum { ALL = -1 };
static void sort_all(pw *w, int64_t count) {
    const pw_type x = pw_operand_type(w, 0), y = pw_result_type(w, 0), wide = pw_as(x, XPU_I64),
                  some = pw_as(y, XPU_I64);
    pw_op *op = pw_add(w, "argsort");
    const char *list = pw_new(w, "indices", &wide);
    pw_in(w, op, "X", pw_operand(w, 0));
    pw_out(w, op, "Out", pw_new(w, "values", &x));
    pw_out(w, op, "Indices", list);
    pw_int(w, op, "axis", -1);
    pw_bool(w, op, "descending", int_attr(w, XPU_ATTR_KIND) != 0);
    if (count != ALL) list = pw_part(w, NULL, list, &some, x.rank - 1, 0, count);
    pw_cast(w, pw_result(w, 0), list, &some, XPU_I32);
}

void pw_write_top(pw *w, const pw_row *row) {
    const pw_type x = pw_operand_type(w, 0), y = pw_result_type(w, 0), wide = pw_as(y, XPU_I64),
                  values = pw_as(y, x.dtype);
    const xpu_dim count = xpu_node_attr(w->graph, w->node, XPU_ATTR_SHAPE)->dims[0];
    int64_t known = 1, size;
    if (xpu_dim_equal(count, x.dims[x.rank - 1])) {
        sort_all(w, ALL);
        return;
    }
    const int is_known = xpu_dim_is_const(&w->graph->dims, count, &known);
    const int is_short = xpu_dim_is_const(&w->graph->dims, x.dims[x.rank - 1], &size) && size <= KEEPS_ORDER;
    if (is_known && (is_short || known == 0)) { /* top_k_v2 fails where it is to give none */
        sort_all(w, known);
        return;
    }
    const char *tensor = is_known ? NULL : pw_size_of(w, count);
    pw_op *op = pw_add(w, row->name);
    const char *list = pw_new(w, "indices", &wide);
    pw_in(w, op, "X", pw_operand(w, 0));
    if (tensor) pw_in(w, op, "K", tensor);
    pw_out(w, op, "Out", pw_new(w, "values", &values));
    pw_out(w, op, "Indices", list);
    pw_int(w, op, "k", known);
    pw_int(w, op, "axis", -1);
    pw_bool(w, op, "largest", int_attr(w, XPU_ATTR_KIND) != 0);
    pw_bool(w, op, "sorted", 1);
    pw_cast(w, pw_result(w, 0), list, &wide, XPU_I32);
}

/* ---- sizes that data decide ---- */

/* where_index of the same operand in the same body: its result is as long as the counts say. */
static xpu_node nonzero_of(const xpu_graph *graph, xpu_node counts) {
    const xpu_value_info *sums = xpu_value_at(graph, xpu_node_output(graph, counts, 0));
    for (uint32_t i = 0; i < sums->uses.count; i++) {
        const xpu_node node = sums->uses.items[i].node;
        if (xpu_node_is(graph, node, XPU_OP_NONZERO) &&
            xpu_node_at(graph, node)->parent.id == xpu_node_at(graph, counts)->parent.id)
            return node;
    }
    return (xpu_node){0};
}

/* [count, rank] */
static const char *places_of(pw *w) {
    const int rank = pw_operand_type(w, 0).rank;
    const pw_type rows = {.dtype = XPU_I64, .rank = 2, .dims = {{0}, xpu_dim_const(&w->graph->dims, rank)}};
    pw_op *op = pw_add(w, "where_index");
    const char *list = pw_new(w, "rows", &rows);
    pw_in(w, op, "Condition", pw_operand(w, 0));
    pw_out(w, op, "Out", list);
    return list;
}

static void turn_places(pw *w, xpu_node nonzero, const char *list) {
    static const int64_t swap[] = {1, 0};
    const xpu_value value = xpu_node_output(w->graph, nonzero, 0);
    const pw_type y = pw_type_of(w, value);
    pw_transpose(w, pw_name(w, value), list, &y, swap);
}

/* All of them as one block: what is asked of the counts is their sum, and that is how many places there are. */
void pw_write_nonzero_counts(pw *w, const pw_row *row) {
    const xpu_node nonzero = nonzero_of(w->graph, w->node);
    (void)row;
    const char *list = places_of(w);
    if (nonzero.id) turn_places(w, nonzero, list);
    const pw_type one = pw_scalar_list(w, XPU_I32, 1);
    pw_part(w, pw_result(w, 0), pw_shape_list(w, list, 2), &one, 0, 0, 1);
}

/* Its counts have written it. */
void pw_write_nonzero(pw *w, const pw_row *row) {
    const xpu_value_info *counts = xpu_value_at(w->graph, xpu_node_input(w->graph, w->node, 1));
    (void)row;
    if (counts->kind == XPU_VALUE_NODE && nonzero_of(w->graph, counts->node).id == w->node.id) return;
    turn_places(w, w->node, places_of(w));
}

/* ---- made from nothing ---- */

void pw_write_range(pw *w, const pw_row *row) {
    const pw_type y = pw_result_type(w, 0), counted = pw_as(y, XPU_I32);
    const char *list = counted_list(w, xpu_node_attr(w->graph, w->node, XPU_ATTR_SHAPE)->dims[0]);
    (void)row;
    if (y.dtype != XPU_I32) list = pw_cast(w, NULL, list, &counted, y.dtype);
    list = pw_binary(w, NULL, "elementwise_mul", &y, list, pw_operand(w, 1));
    pw_binary(w, pw_result(w, 0), "elementwise_add", &y, list, pw_operand(w, 0));
}

void pw_write_random(pw *w, const pw_row *row) {
    const pw_type y = pw_result_type(w, 0);
    int64_t dims[XPU_MAX_RANK] = {0};
    const char *shape = pw_const_dims(w, &y, dims) ? NULL : pw_sizes(w, y.dims, y.rank);
    pw_op *op = pw_add(w, row->name);
    if (shape) pw_in(w, op, "ShapeTensor", shape);
    pw_out(w, op, "Out", pw_result(w, 0));
    pw_longs(w, op, "shape", dims, (uint32_t)y.rank);
    pw_float(w, op, "min", 0);
    pw_float(w, op, "max", 1);
    pw_int(w, op, "seed", int_attr(w, XPU_ATTR_SEED) & 0xffff);
    pw_int(w, op, "dtype", pw_code(XPU_F32));
}

void pw_write_dim_values(pw *w, const pw_row *row) {
    const xpu_attr *values = xpu_node_attr(w->graph, w->node, XPU_ATTR_VALUES);
    const pw_type y = pw_result_type(w, 0);
    (void)row;
    if (!values || values->count > XPU_MOST_KNOWN) {
        pw_refuse(w, XPU_REFUSED_MANY_SIZES);
        return;
    }
    pw_type list = pw_scalar_list(w, XPU_I32, values->count);
    const char *name = pw_sizes(w, values->dims, (int)values->count);
    if (y.dtype != XPU_I32) name = pw_cast(w, y.rank == 1 ? pw_result(w, 0) : NULL, name, &list, y.dtype);
    list.dtype = y.dtype;
    if (y.rank != 1)
        pw_reshape(w, pw_result(w, 0), name, &list, &y);
    else if (y.dtype == XPU_I32)
        pw_make(w, NULL, pw_result(w, 0), "assign", &y, name, NULL);
}
