/* Results that are as large as the data say: a count is a value of the graph, and defines a symbol. */
#include "frontend/build/build.h"

/* The sum of counts as a dim: known where they are, else a symbol of at most `bound`. */
static xpu_dim sum_of(fe_builder *b, xpu_value counts, xpu_dim bound) {
    xpu_dims *dims = &b->graph->dims;
    const int64_t most = xpu_dim_max(dims, bound);
    int64_t blocks;
    if (most == 0) return xpu_dim_const(dims, 0);
    if (!xpu_dim_is_const(dims, fe_info(b, counts)->dims[0], &blocks) || blocks != 1)
        counts = fe_node(b, XPU_OP_REDUCE_SUM, &counts, 1, &XPU_ATTR_INT_OF(AXIS, 0), 1, 0);
    if (!counts.id) return (xpu_dim){0};
    xpu_tensor tensor;
    if (fe_info(b, counts)->constant) {
        if (xpu_const_tensor(b->graph, counts, b->scratch, &tensor, b->diags) != XPU_OK) return (xpu_dim){0};
        return xpu_dim_const(dims, *(const int32_t *)tensor.data);
    }
    return xpu_dim_new_symbol(dims, fe_format(b, "%s/count", b->names[0]), 0, most < INT32_MAX ? most : INT32_MAX,
                              counts, 0, bound);
}

static xpu_value nonzero(fe_builder *b, xpu_value x, int last) {
    if (x.id && !fe_info(b, x)->rank) {
        xpu_dim one = xpu_dim_const(&b->graph->dims, 1);
        x = fe_reshape_to(b, x, &one, 1, 0);
    }
    xpu_value counts = x.id ? fe_node(b, XPU_OP_NONZERO_COUNTS, &x, 1, NULL, 0, 0) : x;
    if (!counts.id) return counts;
    const xpu_value_info info = *fe_info(b, x);
    xpu_dim shape[] = {xpu_dim_const(&b->graph->dims, info.rank),
                       sum_of(b, counts, fe_dim_product(b, info.dims, 0, info.rank))};
    if (!shape[1].id) return (xpu_value){0};
    return fe_node(b, XPU_OP_NONZERO, (xpu_value[]){x, counts}, 2, &XPU_ATTR_DIMS_OF(SHAPE, shape, 2), 1, last);
}

xpu_value fe_nonzero(fe_builder *b, xpu_value x) {
    return nonzero(b, x, 1);
}

xpu_value fe_compress(fe_builder *b, xpu_value x, xpu_value condition, const int64_t *axis) {
    if (!x.id || !condition.id) return (xpu_value){0};
    xpu_dims *dims = &b->graph->dims;
    const xpu_value_info info = *fe_info(b, x), held = *fe_info(b, condition);
    if (held.rank != 1 || held.dtype != XPU_BOOL) {
        return fe_refuse(b, FE_OPERAND, "the condition is invalid",
                         fe_format(b, "it is %s%s; bool of rank 1 is defined", xpu_dtype_name(held.dtype),
                                   fe_shape_text(b, condition)),
                         NULL);
    }
    int at = axis ? fe_axis(b, *axis, info.rank) : 0;
    if (at < 0) return (xpu_value){0};
    xpu_dim size = axis ? info.dims[at] : fe_dim_product(b, info.dims, 0, info.rank);
    if (!axis && info.rank != 1) x = fe_reshape_to(b, x, &size, 1, 0);
    if (!xpu_dim_same(dims, held.dims[0], size) && xpu_dim_max(dims, held.dims[0]) > xpu_dim_min(dims, size)) {
        xpu_dim shorter = xpu_dim_op(dims, XPU_DIM_MIN, held.dims[0], size);
        condition = fe_part(b, condition, 0, xpu_dim_const(dims, 0), shorter, 1, 0);
    }
    xpu_value places = condition.id ? nonzero(b, condition, 0) : condition;
    if (!x.id || !places.id) return (xpu_value){0};
    const xpu_dim count = fe_info(b, places)->dims[1];
    places = fe_reshape_to(b, places, &count, 1, 0);
    return places.id ? fe_gather(b, x, places, at) : places;
}
