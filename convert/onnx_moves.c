/* Operators that move and pick elements in ONNX. */
#include <string.h>

#include "convert/onnx_writer.h"
#include "core/arith_pick.h"

static int64_t int_attr(ow *w, xpu_attr_id id) {
    return xpu_node_int(w->graph, w->node, id);
}

static const xpu_attr *dims_attr(ow *w, xpu_attr_id id) {
    return xpu_node_attr(w->graph, w->node, id);
}

static xpu_dim constant(ow *w, int64_t value) {
    return xpu_dim_const(&w->graph->dims, value);
}

/* ---- moves ---- */

void ow_write_reshape(ow *w, const ow_row *row) {
    const xpu_value_info from = *ow_info_in(w, 0), to = *ow_info_out(w, 0);
    int has_zero;
    int64_t axes[XPU_MAX_RANK];
    uint32_t count;
    ow_node *node;
    const int ones = xpu_convert_ones(w->graph, from.rank, from.dims, to.rank, to.dims, axes, &count);
    if (ones) {
        ow_binary(w, ow_out(w, 0), ones < 0 ? "Squeeze" : "Unsqueeze", ow_in(w, 0), ow_list(w, "axes", axes, count));
        return;
    }
    const char *shape = ow_shape(w, &from, to.dims, to.rank, &has_zero);
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), shape, NULL);
    if (has_zero && ow_requires(w, XPU_SINCE_EMPTY_RESHAPE, NULL)) ow_int(w, node, "allowzero", 1);
}

void ow_write_transpose(ow *w, const ow_row *row) {
    uint32_t count = 0;
    const int64_t *perm = xpu_node_ints(w->graph, w->node, XPU_ATTR_PERM, &count);
    ow_node *node;
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), NULL, NULL);
    if (perm) ow_ints(w, node, "perm", perm, count);
}

void ow_write_concat(ow *w, const ow_row *row) {
    ow_node *node;
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), NULL, NULL);
    for (uint32_t i = 1; i < xpu_node_at(w->graph, w->node)->input_count; i++) ow_input(w, node, ow_in(w, i));
    ow_int(w, node, "axis", int_attr(w, XPU_ATTR_AXIS));
}

/* Where a slice ends: a constant where it is one counted from either end, else computed; of 32 bits, which importers
 * follow in a computed list, too. */
static xpu_dim slice_end(ow *w, xpu_dim size, xpu_dim start, xpu_dim count, int64_t step) {
    xpu_dims *dims = &w->graph->dims;
    const xpu_dim end = xpu_dim_add(dims, start, xpu_dim_mul_const(dims, count, step));
    const xpu_dim left = xpu_dim_add(dims, end, xpu_dim_mul_const(dims, size, -1));
    int64_t value;
    if (step > 0 && xpu_dim_is_const(dims, left, &value)) return constant(w, value >= 0 ? INT32_MAX : value);
    if (step > 0) return end;
    if (xpu_dim_is_const(dims, end, &value)) return constant(w, value < 0 ? INT32_MIN : value);
    return left; /* from the end, so that -1 is before the first one */
}

/* Where a slice starts: counted from the end where that is a constant, and from the front it is not. */
static xpu_dim slice_start(ow *w, xpu_dim size, xpu_dim start) {
    xpu_dims *dims = &w->graph->dims;
    const xpu_dim left = xpu_dim_add(dims, start, xpu_dim_mul_const(dims, size, -1));
    int64_t value;
    return !xpu_dim_is_const(dims, start, &value) && xpu_dim_is_const(dims, left, &value) && value < 0 ? left : start;
}

void ow_write_slice(ow *w, const ow_row *row) {
    const xpu_value_info x = *ow_info_in(w, 0);
    const xpu_attr *starts = dims_attr(w, XPU_ATTR_STARTS), *sizes = dims_attr(w, XPU_ATTR_SHAPE);
    const int64_t *by = xpu_node_ints(w->graph, w->node, XPU_ATTR_BY, &(uint32_t){0});
    xpu_dim from[XPU_MAX_RANK], to[XPU_MAX_RANK];
    int64_t axes[XPU_MAX_RANK], steps[XPU_MAX_RANK], value;
    int count = 0, strides = 0;
    for (int i = 0; i < x.rank; i++) {
        const int whole = xpu_dim_equal(sizes->dims[i], x.dims[i]) && by[i] == 1 &&
                          xpu_dim_is_const(&w->graph->dims, starts->dims[i], &value) && value == 0;
        if (whole) continue;
        from[count] = slice_start(w, x.dims[i], starts->dims[i]);
        to[count] = slice_end(w, x.dims[i], starts->dims[i], sizes->dims[i], by[i]);
        steps[count] = by[i];
        strides |= by[i] != 1;
        axes[count++] = i;
    }
    if (!count) {
        ow_unary(w, ow_out(w, 0), "Identity", ow_in(w, 0));
        return;
    }
    const char *first = ow_dims(w, "starts", from, count), *end = ow_dims(w, "ends", to, count);
    ow_node *node;
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), first, end);
    ow_input(w, node, ow_list(w, "axes", axes, count));
    if (strides) ow_input(w, node, ow_list(w, "steps", steps, count));
}

/* A dim of 1 in the target leaves the operand's as it is. */
void ow_write_expand(ow *w, const ow_row *row) {
    const xpu_value_info x = *ow_info_in(w, 0), y = *ow_info_out(w, 0);
    xpu_dim dims[XPU_MAX_RANK];
    xpu_tensor empty = {.dtype = y.dtype, .rank = y.rank, .data = ""};
    /* onnxruntime 1.32 drops an operator that leaves nothing. */
    if (xpu_value_dims(w->graph, xpu_node_output(w->graph, w->node, 0), NULL, empty.dims) &&
        xpu_tensor_count(&empty) == 0) {
        ow_make(w, NULL, ow_out(w, 0), "Identity", ow_tensor(w, "empty", &empty), NULL, NULL);
        return;
    }
    for (int i = 0; i < y.rank; i++) {
        const int own = i - (y.rank - x.rank);
        dims[i] = own >= 0 && xpu_dim_equal(x.dims[own], y.dims[i]) ? constant(w, 1) : y.dims[i];
    }
    const char *shape = ow_dims(w, "shape", dims, y.rank);
    ow_binary(w, ow_out(w, 0), row->name, ow_in(w, 0), shape);
}

void ow_write_pad(ow *w, const ow_row *row) {
    uint32_t count = 0;
    const int64_t *pads = xpu_node_ints(w->graph, w->node, XPU_ATTR_PADS, &count);
    const char *mode = xpu_node_string(w->graph, w->node, XPU_ATTR_MODE);
    const float value = xpu_node_float(w->graph, w->node, XPU_ATTR_VALUE);
    ow_node *node;
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), ow_list(w, "pads", pads, count), NULL);
    ow_string(w, node, "mode", mode ? mode : "constant");
    if (value != 0) ow_input(w, node, ow_number(w, "value", ow_info_in(w, 0)->dtype, (double)value));
}

/* ---- picks ---- */

void ow_write_gather(ow *w, const ow_row *row) {
    ow_node *node;
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), ow_in(w, 1), NULL);
    ow_int(w, node, "axis", int_attr(w, XPU_ATTR_AXIS));
}

static const char *as_int64(ow *w, uint32_t operand) {
    const char *name = ow_in(w, operand);
    return ow_info_in(w, operand)->dtype == XPU_I64 ? name : ow_cast(w, NULL, name, XPU_I64);
}

void ow_write_gather_nd(ow *w, const ow_row *row) {
    ow_node *node;
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), as_int64(w, 1), NULL);
    ow_int(w, node, "batch_dims", int_attr(w, XPU_ATTR_BATCH_DIMS));
}

void ow_write_scatter(ow *w, const ow_row *row) {
    static const struct {
        const char *name;
        xpu_since_id since;
    } kinds[XA_PLACINGS] = {[XA_PLACE_SUM] = {"add", XPU_SINCE_SCATTER_SUMS},
                            [XA_PLACE_PRODUCT] = {"mul", XPU_SINCE_SCATTER_SUMS},
                            [XA_PLACE_MAX] = {"max", XPU_SINCE_SCATTER_EXTREMES},
                            [XA_PLACE_MIN] = {"min", XPU_SINCE_SCATTER_EXTREMES}};
    const int64_t kind = int_attr(w, XPU_ATTR_KIND);
    const int by_element = xpu_node_is(w->graph, w->node, XPU_OP_SCATTER_ELEMENTS);
    ow_node *node;
    if (kinds[kind].name && !ow_requires(w, kinds[kind].since, NULL)) return;
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), by_element ? ow_in(w, 1) : as_int64(w, 1), ow_in(w, 2));
    if (by_element) ow_int(w, node, "axis", int_attr(w, XPU_ATTR_AXIS));
    if (kinds[kind].name) ow_string(w, node, "reduction", kinds[kind].name);
}

void ow_write_top(ow *w, const ow_row *row) {
    ow_node *node;
    const char *count = ow_dim(w, dims_attr(w, XPU_ATTR_SHAPE)->dims[0]);
    ow_make(w, &node, ow_new_name(w, "values"), row->name, ow_in(w, 0), count, NULL);
    const char *indices = ow_new_name(w, "indices");
    ow_result(w, node, indices);
    ow_int(w, node, "axis", -1);
    ow_int(w, node, "largest", int_attr(w, XPU_ATTR_KIND));
    ow_int(w, node, "sorted", 1);
    ow_cast(w, ow_out(w, 0), indices, XPU_I32);
}

static const char *scalar_of(ow *w, const char *one) {
    return ow_binary(w, NULL, "Reshape", one, ow_list(w, "scalar", NULL, 0));
}

/* 0, 1, ... count - 1 (int64 of one element) as int64 */
static const char *counted(ow *w, const char *count) {
    return ow_make(w, NULL, NULL, "Range", ow_number(w, "first", XPU_I64, 0), scalar_of(w, count),
                   ow_number(w, "step", XPU_I64, 1));
}

/* Boxes of pixels as boxes in general. */
static const char *with_last_pixels(ow *w) {
    static const float one[] = {0, 0, 1, 1};
    const xpu_tensor sides = {.dtype = XPU_F32, .rank = 1, .dims = {4}, .data = (void *)(uintptr_t)one};
    return ow_binary(w, NULL, "Add", ow_in(w, 0), ow_tensor(w, "pixels", &sides));
}

/* Of the list of picks (image, class, box) each one's place within its class; then they go where the core has them. */
void ow_write_nms(ow *w, const ow_row *row) {
    const xpu_dim most = dims_attr(w, XPU_ATTR_SHAPE)->dims[0];
    const xpu_value_info y = *ow_info_out(w, 0);
    const int64_t two[] = {0, 1}, last[] = {2}, one_class[] = {1}, zero[] = {0}, rows[] = {-1, 1};
    ow_node *node;
    if (!ow_requires(w, XPU_SINCE_BOXES, NULL)) return;
    const xa_box_kind kind = (xa_box_kind)int_attr(w, XPU_ATTR_KIND);
    const char *boxes = kind == XA_BOX_PIXELS ? with_last_pixels(w) : ow_in(w, 0);
    const char *picks = ow_make(w, &node, NULL, row->name, boxes, ow_in(w, 1), ow_dim(w, most));
    if (ow_in(w, 2)[0] || ow_in(w, 3)[0]) ow_input(w, node, ow_in(w, 2));
    if (ow_in(w, 3)[0]) ow_input(w, node, ow_in(w, 3));
    if (kind == XA_BOX_CENTRE) ow_int(w, node, "center_point_box", 1);
    const char *parts[3]; /* image, class, box: vectors */
    const int64_t *const columns[] = {zero, one_class, last};
    for (int i = 0; i < 3; i++) {
        parts[i] =
            ow_make(w, &node, NULL, "Gather", picks, ow_number(w, "column", XPU_I64, (double)columns[i][0]), NULL);
        ow_int(w, node, "axis", 1);
    }
    const char *key = ow_binary(w, NULL, "Add", ow_binary(w, NULL, "Mul", parts[0], ow_dim(w, y.dims[1])), parts[1]);
    const char *count = ow_make(w, &node, NULL, "Shape", parts[0], NULL, NULL);
    const char *order = counted(w, count);
    const char *classes = ow_dim(w, xpu_dim_mul(&w->graph->dims, y.dims[0], y.dims[1]));
    const char *far = ow_binary(w, NULL, "Expand", ow_number(w, "far", XPU_I64, 1e15), classes);
    const char *first = ow_make(w, &node, NULL, "ScatterElements", far, key, order);
    ow_string(w, node, "reduction", "min");
    const char *place = ow_binary(w, NULL, "Sub", order, ow_binary(w, NULL, "Gather", first, key));
    const char *head = ow_make(w, &node, NULL, "Gather", picks, ow_list(w, "columns", two, 2), NULL);
    ow_int(w, node, "axis", 1);
    place = ow_binary(w, NULL, "Reshape", place, ow_list(w, "rows", rows, 2));
    const char *at = ow_make(w, &node, NULL, "Concat", head, place, NULL);
    ow_int(w, node, "axis", 1);
    const char *none = ow_binary(w, NULL, "Expand", ow_number(w, "none", XPU_I32, -1), ow_dims(w, "shape", y.dims, 3));
    ow_make(w, NULL, ow_out(w, 0), "ScatterND", none, at, ow_cast(w, NULL, parts[2], XPU_I32));
}

/* ---- sizes that data decide ---- */

/* NonZero of the same operand in the same body: its result is as long as the counts say. */
static xpu_node nonzero_of(const xpu_graph *graph, xpu_node counts) {
    const xpu_value_info *x = xpu_value_at(graph, xpu_node_input(graph, counts, 0));
    for (uint32_t i = 0; i < x->uses.count; i++) {
        const xpu_node node = x->uses.items[i].node;
        if (xpu_node_is(graph, node, XPU_OP_NONZERO) &&
            xpu_node_input(graph, node, 1).id == xpu_node_output(graph, counts, 0).id &&
            xpu_node_at(graph, node)->parent.id == xpu_node_at(graph, counts)->parent.id)
            return node;
    }
    return (xpu_node){0};
}

/* All of them as one block: what is asked of the counts is their sum. */
void ow_write_nonzero_counts(ow *w, const ow_row *row) {
    const xpu_node node = nonzero_of(w->graph, w->node);
    const char *list = node.id ? ow_name(w, xpu_node_output(w->graph, node, 0)) : NULL;
    const int64_t one = 1;
    list = ow_unary(w, list, row->name, ow_in(w, 0));
    const char *count = ow_binary(w, NULL, "Gather", ow_unary(w, NULL, "Shape", list), ow_list(w, "axis", &one, 1));
    ow_cast(w, ow_out(w, 0), count, XPU_I32);
}

/* Its counts have written it. */
void ow_write_nonzero(ow *w, const ow_row *row) {
    const xpu_value_info *counts = ow_info_in(w, 1);
    if (counts->kind == XPU_VALUE_NODE && nonzero_of(w->graph, counts->node).id == w->node.id) return;
    ow_unary(w, ow_out(w, 0), row->name, ow_in(w, 0));
}

/* ---- made from nothing ---- */

/* A constant operand of one element that is this number. */
static int is_number(ow *w, uint32_t operand, double number) {
    const xpu_value value = xpu_node_input(w->graph, w->node, operand);
    if (!xpu_value_at(w->graph, value)->constant) return 0;
    xpu_tensor tensor;
    if (xpu_const_tensor(w->graph, value, w->arena, &tensor, w->diags) != XPU_OK) return 0;
    switch (tensor.dtype) {
    case XPU_F32: return (double)*(const float *)tensor.data == number;
    case XPU_I16: return (double)*(const int16_t *)tensor.data == number;
    case XPU_I32: return (double)*(const int32_t *)tensor.data == number;
    case XPU_I64: return (double)*(const int64_t *)tensor.data == number;
    default: return 0;
    }
}

static const char *number_as(ow *w, uint32_t operand, xpu_dtype dtype) {
    const char *name = ow_in(w, operand);
    return ow_info_in(w, operand)->dtype == dtype ? name : ow_cast(w, NULL, name, dtype);
}

/* start + i * step, as the core computes it. */
void ow_write_range(ow *w, const ow_row *row) {
    const xpu_dtype dtype = ow_info_out(w, 0)->dtype;
    const int adds = !is_number(w, 0, 0), multiplies = !is_number(w, 1, 1), casts = dtype != XPU_I64;
    const char *count = ow_dim(w, dims_attr(w, XPU_ATTR_SHAPE)->dims[0]);
    const char *y = ow_make(w, NULL, casts || multiplies || adds ? NULL : ow_out(w, 0), row->name,
                            ow_number(w, "first", XPU_I64, 0), scalar_of(w, count), ow_number(w, "step", XPU_I64, 1));
    const int widens = ow_is_small(dtype) && !ow_has(w, OW_SMALL_OPSET) && (multiplies || adds);
    const xpu_dtype in = widens ? XPU_I32 : dtype;
    const char *result = widens ? NULL : ow_out(w, 0);
    if (casts) y = ow_cast(w, multiplies || adds ? NULL : ow_out(w, 0), y, in);
    if (multiplies) y = ow_binary(w, adds ? NULL : result, "Mul", y, number_as(w, 1, in));
    if (adds) y = ow_binary(w, result, "Add", y, number_as(w, 0, in));
    if (widens) ow_cast(w, ow_out(w, 0), y, dtype);
}

/* Other numbers than the core's, of the same distribution. */
void ow_write_random(ow *w, const ow_row *row) {
    const xpu_value_info y = *ow_info_out(w, 0);
    int64_t dims[XPU_MAX_RANK];
    ow_node *node;
    if (xpu_value_dims(w->graph, xpu_node_output(w->graph, w->node, 0), NULL, dims)) {
        ow_make(w, &node, ow_out(w, 0), row->name, NULL, NULL, NULL);
        ow_ints(w, node, "shape", dims, (size_t)y.rank);
    } else {
        const char *like = ow_unary(w, NULL, "ConstantOfShape", ow_dims(w, "shape", y.dims, y.rank));
        ow_make(w, &node, ow_out(w, 0), "RandomUniformLike", like, NULL, NULL);
    }
    ow_int(w, node, "dtype", ow_type(XPU_F32));
    ow_float(w, node, "seed", (float)(int_attr(w, XPU_ATTR_SEED) & 0xffffff));
}

void ow_write_dim_values(ow *w, const ow_row *row) {
    const xpu_attr *values = dims_attr(w, XPU_ATTR_VALUES);
    const xpu_value_info y = *ow_info_out(w, 0);
    int64_t dims[XPU_MAX_RANK];
    (void)row;
    if (!values || values->count > XPU_MOST_KNOWN ||
        !xpu_value_dims(w->graph, xpu_node_output(w->graph, w->node, 0), NULL, dims)) {
        ow_refuse(w, XPU_REFUSED_MANY_SIZES);
        return;
    }
    const char *list = ow_dims(w, "values", values->dims, (int)values->count);
    if (y.rank == 1) {
        if (y.dtype == XPU_I64)
            ow_unary(w, ow_out(w, 0), "Identity", list);
        else
            ow_cast(w, ow_out(w, 0), list, y.dtype);
        return;
    }
    if (y.dtype != XPU_I64) list = ow_cast(w, NULL, list, y.dtype);
    ow_binary(w, ow_out(w, 0), "Reshape", list, ow_list(w, "shape", dims, y.rank));
}
