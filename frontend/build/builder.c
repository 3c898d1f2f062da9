#include "frontend/build/build.h"

#include <inttypes.h>

const char *fe_format(const fe_builder *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = xpu_vprintf(b->scratch, format, args);
    va_end(args);
    return text;
}

/* ---- reporting ---- */

xpu_value fe_refuse(const fe_builder *b, fe_rule rule, const char *what, const char *why, const char *hint) {
    xpu_error(b->diags, XPU_EMODEL, b->file, b->frontend->rules[rule], b->where, what, why,
              hint ? hint : b->frontend->hints[rule]);
    return (xpu_value){0};
}

int fe_bad_attr(const fe_builder *b, const char *name, const char *why) {
    fe_refuse(b, FE_ATTRIBUTE, fe_format(b, "attribute '%s' is invalid", name), why, NULL);
    return 0;
}

int fe_flag(const fe_builder *b, const char *name, int64_t value, int *ok) {
    if (value == 0 || value == 1) return (int)value;
    *ok = fe_bad_attr(b, name, fe_format(b, "it is %" PRId64 "; 0 and 1 are defined", value));
    return 0;
}

int fe_axis(const fe_builder *b, int64_t axis, int rank) {
    int64_t normal = axis < 0 ? axis + rank : axis;
    if (normal >= 0 && normal < rank) return (int)normal;
    fe_refuse(b, FE_ATTRIBUTE, "the axis is out of range",
              fe_format(b, "axis %" PRId64 " of a tensor of rank %d", axis, rank), NULL);
    return -1;
}

/* ---- values ---- */

const xpu_value_info *fe_info(const fe_builder *b, xpu_value value) {
    return xpu_value_at(b->graph, value);
}

const char *fe_shape_text(const fe_builder *b, xpu_value value) {
    const xpu_value_info *info = fe_info(b, value);
    return xpu_dim_list_text(&b->graph->dims, info->rank, info->dims, b->scratch);
}

xpu_dim fe_dim_product(const fe_builder *b, const xpu_dim *dims, int first, int end) {
    xpu_dims *table = &b->graph->dims;
    xpu_dim product = xpu_dim_const(table, 1);
    for (int i = first; i < end; i++) product = xpu_dim_mul(table, product, dims[i]);
    return product;
}

fe_dims fe_dims_of(const fe_builder *b, fe_ints list) {
    if (!list.items) return (fe_dims){NULL, 0};
    xpu_dim *dims = XPU_NEW_ARRAY(b->scratch, xpu_dim, list.count + 1);
    for (size_t i = 0; i < list.count; i++) dims[i] = xpu_dim_const(&b->graph->dims, list.items[i]);
    return (fe_dims){dims, list.count};
}

/* ---- nodes ---- */

static int is_inner(const fe_builder *b, int last) {
    return !last || b->inner;
}

static const char *result_name(fe_builder *b, int last) {
    const char *name = b->names[0];
    return is_inner(b, last) ? fe_format(b, "%s/%u", name, ++b->made) : name;
}

xpu_value fe_node(fe_builder *b, xpu_op_id op, const xpu_value *inputs, uint32_t input_count, const xpu_attr *attrs,
                  uint32_t attr_count, int last) {
    size_t errors = b->diags->errors;
    for (uint32_t i = 0; i < input_count; i++) {
        if (!inputs[i].id && i < (uint32_t)xpu_op_of(op)->min_inputs) return (xpu_value){0};
    }
    xpu_node made = xpu_build(b->graph, (xpu_node){0}, op, inputs, input_count, result_name(b, last), attrs, attr_count,
                              &b->origin, 1, b->diags);
    if (b->diags->errors > errors) return (xpu_value){0};
    xpu_value result = xpu_node_output(b->graph, made, 0);
    xpu_value_at(b->graph, result)->has_made_name = is_inner(b, last);
    return result;
}

fe_builder fe_builder_of(const fe_builder *b, uint32_t index, int *named) {
    fe_builder own = *b;
    *named = index < b->name_count && b->names[index] && b->names[index][0];
    for (uint32_t i = 0; !*named && i < b->name_count && !(own.names[0] && own.names[0][0]); i++)
        own.names = b->names + i;
    if (*named) own.names = b->names + index;
    return own;
}

xpu_value fe_as(fe_builder *b, xpu_value x, xpu_dtype dtype) {
    if (!x.id || fe_info(b, x)->dtype == dtype) return x;
    return fe_node(b, XPU_OP_CONVERT, &x, 1, &XPU_ATTR_INT_OF(DTYPE, dtype), 1, 0);
}

xpu_value fe_reshape_to(fe_builder *b, xpu_value value, const xpu_dim *dims, int rank, int last) {
    return fe_node(b, XPU_OP_RESHAPE, &value, 1, &XPU_ATTR_DIMS_OF(SHAPE, dims, (uint32_t)rank), 1, last);
}

xpu_value fe_unary(fe_builder *b, xpu_op_id op, xpu_value x) {
    return x.id ? fe_node(b, op, &x, 1, NULL, 0, 0) : x;
}

xpu_value fe_binary(fe_builder *b, xpu_op_id op, xpu_value x, xpu_value y) {
    return x.id && y.id ? fe_node(b, op, (xpu_value[]){x, y}, 2, NULL, 0, 0) : (xpu_value){0};
}

xpu_value fe_number(fe_builder *b, float value) {
    return xpu_graph_const_f32(b->graph, NULL, value);
}

xpu_value fe_integer(fe_builder *b, xpu_dtype dtype, int64_t value) {
    return xpu_graph_const_bytes(b->graph, NULL, &(xpu_tensor){.dtype = dtype, .data = &value}); /* little-endian */
}

fe_builder fe_inside(const fe_builder *b) {
    fe_builder inside = *b;
    inside.inner = 1;
    return inside;
}

xpu_value fe_finish(fe_builder *b, const fe_builder *inside, xpu_value x) {
    b->made = inside->made;
    return x.id ? fe_node(b, XPU_OP_IDENTITY, &x, 1, NULL, 0, 1) : x;
}

int fe_broadcasts_to(const fe_builder *b, xpu_value x, xpu_value y) {
    if (!x.id || !y.id) return 0;
    const xpu_value_info *info = fe_info(b, x), *result = fe_info(b, y);
    int same = info->rank == result->rank;
    for (int i = 0; same && i < info->rank; i++) same = xpu_dim_equal(info->dims[i], result->dims[i]);
    if (same) return 1;
    fe_refuse(b, FE_SHAPE, "an operand does not broadcast to the first one",
              fe_format(b, "the first one is %s, together they are %s", fe_shape_text(b, x), fe_shape_text(b, y)),
              NULL);
    return 0;
}

xpu_value fe_dim_values(fe_builder *b, const xpu_dim *dims, uint32_t count, int rank) {
    xpu_dim shape = xpu_dim_const(&b->graph->dims, count);
    xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(VALUES, dims, count), XPU_ATTR_DIMS_OF(SHAPE, &shape, (uint32_t)rank),
                        XPU_ATTR_INT_OF(DTYPE, XPU_I64)};
    return fe_node(b, XPU_OP_DIM_VALUES, NULL, 0, attrs, 3, 1);
}

xpu_value fe_derive(fe_builder *b, xpu_value constant, const xpu_const_step *step) {
    xpu_value derived = xpu_const_derive(b->graph, constant, step, result_name(b, 0), b->diags);
    if (derived.id) xpu_value_at(b->graph, derived)->has_made_name = 1;
    return derived;
}
