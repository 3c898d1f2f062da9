/* Rows and elements placed by indices. */
#include "frontend/build/build.h"

xpu_dtype fe_combined_type(xpu_dtype dtype) {
    switch (dtype) {
    case XPU_F16:
    case XPU_BF16: return XPU_F32;
    case XPU_I8:
    case XPU_I16: return XPU_I32;
    case XPU_U8:
    case XPU_U16: return XPU_U32;
    default: return dtype;
    }
}

static int check_operands(const fe_builder *b, const fe_scattering *s) {
    if (!s->x.id || !s->indices.id || !s->updates.id) return 0;
    const xpu_dtype index = fe_info(b, s->indices)->dtype, x = fe_info(b, s->x)->dtype;
    const xpu_dtype updates = fe_info(b, s->updates)->dtype;
    if (index != XPU_I64 && index != XPU_I32) {
        fe_refuse(b, FE_OPERAND, "the indices are of a type that is not supported",
                  fe_format(b, "they are %s; int32 and int64 are defined", xpu_dtype_name(index)), NULL);
        return 0;
    }
    if (x != updates || (x == XPU_BOOL && s->kind != XA_PLACE)) {
        fe_refuse(b, FE_OPERAND, "the updates do not fit the input",
                  fe_format(b, "they are %s, the input is %s", xpu_dtype_name(updates), xpu_dtype_name(x)), NULL);
        return 0;
    }
    return 1;
}

typedef xpu_value (*scatter_fn)(fe_builder *b, const fe_scattering *s, int last);

/* In a type that elements are combined in. */
static xpu_value scatter_typed(fe_builder *b, const fe_scattering *given, scatter_fn scatter) {
    fe_scattering s = *given;
    if (!check_operands(b, given)) return (xpu_value){0};
    const xpu_dtype dtype = fe_info(b, s.x)->dtype;
    const xpu_dtype type = s.kind == XA_PLACE ? dtype : fe_combined_type(dtype);
    if (type == dtype) return scatter(b, &s, 1);
    s.x = fe_as(b, s.x, type);
    s.updates = fe_as(b, s.updates, type);
    xpu_value y = scatter(b, &s, 0);
    return y.id ? fe_node(b, XPU_OP_CONVERT, &y, 1, &XPU_ATTR_INT_OF(DTYPE, dtype), 1, 1) : y;
}

/* ---- elements ---- */

/* Of a dim that is no shorter than that of the indices, what lies behind stays as it is. */
static xpu_value scatter_elements(fe_builder *b, const fe_scattering *s, int last) {
    xpu_dims *dims = &b->graph->dims;
    const xpu_value_info x = *fe_info(b, s->x), list = *fe_info(b, s->indices);
    for (int d = 0; d < x.rank; d++) {
        if (d == s->axis || xpu_dim_same(dims, x.dims[d], list.dims[d])) continue;
        if (xpu_dim_min(dims, x.dims[d]) < xpu_dim_max(dims, list.dims[d])) continue; /* they are to be equal */
        xpu_dim rest = xpu_dim_add(dims, x.dims[d], xpu_dim_mul_const(dims, list.dims[d], -1));
        fe_scattering part = *s;
        part.x = fe_part(b, s->x, d, xpu_dim_const(dims, 0), list.dims[d], 1, 0);
        xpu_value parts[] = {part.x.id ? scatter_elements(b, &part, 0) : part.x,
                             fe_part(b, s->x, d, list.dims[d], rest, 1, 0)};
        return fe_node(b, XPU_OP_CONCAT, parts, 2, &XPU_ATTR_INT_OF(AXIS, d), 1, last);
    }
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(AXIS, s->axis), XPU_ATTR_INT_OF(KIND, s->kind)};
    return fe_node(b, XPU_OP_SCATTER_ELEMENTS, (xpu_value[]){s->x, s->indices, s->updates}, 3, attrs, 2, last);
}

xpu_value fe_scatter_elements(fe_builder *b, const fe_scattering *given) {
    fe_scattering s = *given;
    if (!s.x.id || !s.indices.id || !s.updates.id) return (xpu_value){0};
    const int rank = fe_info(b, s.x)->rank;
    s.axis = fe_axis(b, s.axis, rank);
    if (s.axis < 0) return (xpu_value){0};
    if (fe_info(b, s.indices)->rank != rank) {
        return fe_refuse(b, FE_SHAPE, "the indices do not fit the input",
                         fe_format(b, "they have rank %d, the input %d", fe_info(b, s.indices)->rank, rank), NULL);
    }
    return scatter_typed(b, &s, scatter_elements);
}

/* ---- slices ---- */

static xpu_value scatter_nd(fe_builder *b, const fe_scattering *s, int last) {
    return fe_node(b, XPU_OP_SCATTER_ND, (xpu_value[]){s->x, s->indices, s->updates}, 3,
                   &XPU_ATTR_INT_OF(KIND, s->kind), 1, last);
}

xpu_value fe_scatter_nd(fe_builder *b, const fe_scattering *s) {
    return scatter_typed(b, s, scatter_nd);
}
