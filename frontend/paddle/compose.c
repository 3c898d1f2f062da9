#include "frontend/paddle/compose.h"

#include <math.h>

static const xpu_value failed = {0};

xpu_value xpu_paddle_columns(fe_builder *b, xpu_value x, int64_t first, int64_t count) {
    if (!x.id) return failed;
    xpu_dims *dims = &b->graph->dims;
    return fe_part(b, x, fe_info(b, x)->rank - 1, xpu_dim_const(dims, first), xpu_dim_const(dims, count), 1, 0);
}

xpu_value xpu_paddle_plus(fe_builder *b, xpu_value x, double number) {
    return number == 0 ? x : fe_binary(b, XPU_OP_ADD, x, fe_number(b, (float)number));
}

xpu_value xpu_paddle_times(fe_builder *b, xpu_value x, double factor) {
    return factor == 1 ? x : fe_binary(b, XPU_OP_MUL, x, fe_number(b, (float)factor));
}

xpu_value xpu_paddle_choose(fe_builder *b, xpu_value condition, xpu_value x, xpu_value y) {
    xpu_value operands[] = {condition, x, y};
    return condition.id && x.id && y.id ? fe_node(b, XPU_OP_WHERE, operands, 3, NULL, 0, 0) : failed;
}

xpu_value xpu_paddle_reshaped(fe_builder *b, xpu_value x, const xpu_dim *dims, int rank) {
    return x.id ? fe_reshape_to(b, x, dims, rank, 0) : failed;
}

xpu_value xpu_paddle_widened(fe_builder *b, xpu_value x, int64_t axis) {
    return x.id ? fe_unsqueeze(b, x, (fe_ints){&axis, 1}) : failed;
}

xpu_value xpu_paddle_reduced(fe_builder *b, xpu_op_id op, xpu_value x, int64_t axis, int keep) {
    return x.id ? fe_reduce(b, op, x, (fe_ints){&axis, 1}, keep) : failed;
}

xpu_value xpu_paddle_vector(fe_builder *b, const float *items, int64_t count) {
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 1, .dims = {count}, .data = (void *)(uintptr_t)items};
    return xpu_graph_const_bytes(b->graph, NULL, &tensor);
}

xpu_value xpu_paddle_rounded(fe_builder *b, xpu_value x) {
    xpu_value size = fe_unary(b, XPU_OP_FLOOR, xpu_paddle_plus(b, fe_unary(b, XPU_OP_ABS, x), 0.5));
    return fe_binary(b, XPU_OP_MUL, fe_unary(b, XPU_OP_SIGN, x), size);
}

xpu_value xpu_paddle_rows(fe_builder *b, xpu_value x, xpu_value indices) {
    indices = xpu_paddle_widened(b, indices, 2);
    return x.id && indices.id ? fe_gather_nd(b, x, indices, 1) : failed;
}

xpu_value xpu_paddle_places(fe_builder *b, xpu_value flags) {
    xpu_value places = flags.id ? fe_nonzero(b, flags) : failed;
    return places.id ? xpu_paddle_reshaped(b, places, &fe_info(b, places)->dims[1], 1) : failed;
}

xpu_value xpu_paddle_counts(fe_builder *b, xpu_value flags) {
    return xpu_paddle_reduced(b, XPU_OP_REDUCE_SUM, fe_as(b, flags, XPU_I32), 1, 0);
}

xpu_value xpu_paddle_image_of(fe_builder *b, xpu_value counts, xpu_dim rows) {
    const fe_cumulation sums = {.op = XPU_OP_ADD, .axis = 0};
    xpu_value ends = counts.id ? fe_cumulate(b, fe_as(b, counts, XPU_I32), &sums) : failed;
    xpu_value places = fe_counted(b, XPU_I32, rows, 0, 2);
    xpu_value past = fe_binary(b, XPU_OP_GREATER_OR_EQUAL, places, xpu_paddle_widened(b, ends, 0));
    return xpu_paddle_counts(b, past);
}

xpu_value xpu_paddle_give(xpu_paddle_node *node, fe_builder *inside, uint32_t index, xpu_value x) {
    int named = 0;
    fe_builder own = fe_builder_of(&node->build, index, &named);
    own.made = inside->made;
    if (x.id) x = fe_node(&own, XPU_OP_IDENTITY, &x, 1, NULL, 0, named && !node->build.inner);
    inside->made = node->build.made = own.made;
    if (index && index < node->result_count) node->results[index] = x;
    return x;
}

int xpu_paddle_suppress(fe_builder *b, const xpu_paddle_suppression *form, xpu_value *places, xpu_value *flags) {
    const xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(SHAPE, &form->most, 1), XPU_ATTR_INT_OF(KIND, form->kind)};
    xpu_value operands[] = {form->boxes, xpu_paddle_widened(b, form->scores, 1), fe_number(b, form->overlap),
                            fe_number(b, form->least)};
    if (!form->boxes.id || !operands[1].id) return 0;
    xpu_dim dims[] = {fe_info(b, form->scores)->dims[0], form->most};
    xpu_value picks = xpu_paddle_reshaped(b, fe_node(b, XPU_OP_NMS, operands, 4, attrs, 2, 0), dims, 2);
    *flags = fe_binary(b, XPU_OP_GREATER_OR_EQUAL, picks, fe_integer(b, XPU_I32, 0));
    *places = fe_as(b, fe_binary(b, XPU_OP_MAX, picks, fe_integer(b, XPU_I32, 0)), XPU_I64);
    return places->id != 0 && flags->id != 0;
}
