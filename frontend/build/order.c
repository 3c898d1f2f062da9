/* Elements by their order. */
#include "frontend/build/build.h"

/* The axis last, or where it was; an intermediate result, but for the last. */
static xpu_value exchanged(fe_builder *b, xpu_value x, int axis, int last) {
    int64_t perm[XPU_MAX_RANK];
    const int rank = x.id ? fe_info(b, x)->rank : 0;
    for (int i = 0; i < rank; i++) perm[i] = i == axis ? rank - 1 : i == rank - 1 ? axis : i;
    const xpu_attr attr = XPU_ATTR_INTS_OF(PERM, perm, (uint32_t)rank);
    return x.id ? fe_node(b, XPU_OP_TRANSPOSE, &x, 1, &attr, 1, last) : x;
}

int fe_top(fe_builder *b, xpu_value x, const fe_ordering *order, xpu_value results[2]) {
    if (!x.id || !order->k.id) return 0;
    const xpu_value_info info = *fe_info(b, x);
    const int axis = fe_axis(b, order->axis, info.rank);
    if (axis < 0) return 0;
    const xpu_dtype type = info.dtype == XPU_BOOL ? XPU_U32 : fe_combined_type(info.dtype);
    const xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(SHAPE, &order->k, 1), XPU_ATTR_INT_OF(KIND, order->largest)};
    int has_values, has_indices;
    fe_builder values = fe_builder_of(b, 0, &has_values);
    xpu_value keys = fe_as(&values, x, type);
    if (axis != info.rank - 1) keys = exchanged(&values, keys, axis, 0);
    xpu_value places = fe_node(&values, XPU_OP_TOP, &keys, 1, attrs, 2, 0);
    if (axis != info.rank - 1) places = exchanged(&values, places, axis, 0);
    if (!places.id) return 0;
    results[0] = fe_node(&values, XPU_OP_GATHER_ELEMENTS, (xpu_value[]){x, places}, 2, &XPU_ATTR_INT_OF(AXIS, axis), 1,
                         has_values);
    fe_builder indices = fe_builder_of(b, 1, &has_indices);
    indices.made = values.made;
    results[1] = fe_node(&indices, XPU_OP_CONVERT, &places, 1, &XPU_ATTR_INT_OF(DTYPE, XPU_I64), 1, has_indices);
    b->made = indices.made;
    return results[0].id && results[1].id;
}

/* ---- boxes ---- */

static xpu_value threshold_of(fe_builder *b, xpu_value value) {
    return value.id && fe_info(b, value)->rank ? fe_reshape_to(b, value, NULL, 0, 0) : value;
}

xpu_value fe_suppress(fe_builder *b, const fe_suppression *form) {
    static const int64_t swap[] = {1, 0};
    if (!form->boxes.id || !form->scores.id) return (xpu_value){0};
    const xpu_value_info boxes = *fe_info(b, form->boxes), scores = *fe_info(b, form->scores);
    if (boxes.rank != 3 || scores.rank != 3 || boxes.dtype != XPU_F32 || scores.dtype != XPU_F32) {
        return fe_refuse(b, FE_OPERAND, "boxes or scores are invalid",
                         fe_format(b, "they are %s%s and %s%s; float32 of rank 3 is defined",
                                   xpu_dtype_name(boxes.dtype), fe_shape_text(b, form->boxes),
                                   xpu_dtype_name(scores.dtype), fe_shape_text(b, form->scores)),
                         NULL);
    }
    xpu_dims *dims = &b->graph->dims;
    fe_builder inner = *b;
    inner.inner = 1;
    xpu_dim most = xpu_dim_op(dims, XPU_DIM_MIN, form->most, boxes.dims[1]);
    most = xpu_dim_op(dims, XPU_DIM_MAX, most, xpu_dim_const(dims, 0));
    const xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(SHAPE, &most, 1), XPU_ATTR_INT_OF(KIND, form->is_center)};
    xpu_value operands[] = {form->boxes, form->scores, threshold_of(&inner, form->overlap),
                            threshold_of(&inner, form->threshold)};
    const uint32_t count = operands[3].id ? 4 : operands[2].id ? 3 : 2;
    xpu_value picks = fe_node(&inner, XPU_OP_NMS, operands, count, attrs, 2, 0);
    xpu_value held[] = {picks, fe_integer(b, XPU_I32, -1)};
    xpu_value found = picks.id ? fe_node(&inner, XPU_OP_GREATER, held, 2, NULL, 0, 0) : picks;
    xpu_value places = fe_nonzero(&inner, found); /* image, class, rank: a column each */
    if (!places.id) return places;
    const xpu_dim total = fe_info(b, places)->dims[1], column[] = {total, xpu_dim_const(dims, 1)};
    places = fe_transpose(&inner, places, (fe_ints){swap, 2});
    xpu_value index = fe_as(&inner, fe_gather_nd(&inner, picks, places, 0), XPU_I64);
    if (!index.id) return index;
    xpu_value parts[] = {fe_part(&inner, places, 1, xpu_dim_const(dims, 0), xpu_dim_const(dims, 2), 1, 0),
                         fe_reshape_to(&inner, index, column, 2, 0)};
    b->made = inner.made;
    return fe_concat(b, parts, 2, 1);
}
