/* Rows and elements picked by indices. Constant indices that follow each other at equal steps are slices. */
#include <inttypes.h>

#include "frontend/build/build.h"

enum { LONGEST_LIST = 4096 };

/* The entries of a short constant list of indices; 0 where it is none. *ok becomes 0 after reporting. */
static int known_indices(const fe_builder *b, xpu_value indices, int64_t **list, int64_t *count, int *ok) {
    const xpu_value_info *info = fe_info(b, indices);
    xpu_tensor tensor;
    *count = 1;
    if (!info->constant) return 0;
    for (int i = 0; i < info->rank; i++) {
        int64_t size;
        if (!xpu_dim_is_const(&b->graph->dims, info->dims[i], &size) || size < 1 || size > LONGEST_LIST) return 0;
        if ((*count *= size) > LONGEST_LIST) return 0;
    }
    *ok = xpu_const_tensor(b->graph, indices, b->scratch, &tensor, b->diags) == XPU_OK;
    if (!*ok) return 0;
    *list = XPU_NEW_ARRAY(b->scratch, int64_t, (size_t)*count);
    for (int64_t i = 0; i < *count; i++) {
        (*list)[i] = tensor.dtype == XPU_I64 ? ((const int64_t *)tensor.data)[i] : ((const int32_t *)tensor.data)[i];
    }
    return 1;
}

/* Whether the operands are there, and the indices of a type that there is; 0 after reporting. */
static int check_indices(const fe_builder *b, xpu_value x, xpu_value indices) {
    if (!x.id || !indices.id) return 0;
    xpu_dtype dtype = fe_info(b, indices)->dtype;
    if (dtype == XPU_I64 || dtype == XPU_I32) return 1;
    fe_refuse(b, FE_OPERAND, "the indices are of a type that is not supported",
              fe_format(b, "they are %s; int32 and int64 are defined", xpu_dtype_name(dtype)), NULL);
    return 0;
}

/* Constant indices become positions in a dim of this size; 0 after reporting one that is outside of every size. */
static int place_indices(const fe_builder *b, xpu_dim size, int64_t *list, int64_t count) {
    int64_t most = xpu_dim_max(&b->graph->dims, size);
    for (int64_t i = 0; i < count; i++) {
        if (list[i] >= -most && list[i] < most) continue;
        fe_refuse(b, FE_OPERAND, "an index is outside its dim",
                  fe_format(b, "index %" PRId64 " is %" PRId64 ", the dim is %s", i, list[i],
                            xpu_dim_text(&b->graph->dims, size, b->scratch)),
                  NULL);
        return 0;
    }
    return 1;
}

/* Whether a slice gives what these indices do, for every size that the dim may have. */
static int is_progression(const fe_builder *b, xpu_dim size, const int64_t *list, int64_t count, int64_t *step) {
    int64_t least = xpu_dim_min(&b->graph->dims, size);
    *step = count > 1 ? list[1] - list[0] : 1;
    if (*step == 0 || *step > FE_MAX_STEP || *step < -FE_MAX_STEP) return 0;
    for (int64_t i = 0; i < count; i++) {
        int follows = i == 0 || list[i] - list[i - 1] == *step;
        if (!follows || (list[i] < 0) != (list[0] < 0) || list[i] >= least || list[i] < -least) return 0;
    }
    return 1;
}

xpu_value fe_gather(fe_builder *b, xpu_value x, xpu_value indices, int64_t axis) {
    if (!check_indices(b, x, indices)) return (xpu_value){0};
    const xpu_value_info info = *fe_info(b, x), list_info = *fe_info(b, indices);
    xpu_dims *table = &b->graph->dims;
    xpu_dim dims[2 * XPU_MAX_RANK];
    int64_t *list = NULL, count = 0, step = 1;
    int at = fe_axis(b, axis, info.rank), rank = 0, ok = 1;
    if (at < 0) return (xpu_value){0};
    for (int i = 0; i < at; i++) dims[rank++] = info.dims[i];
    for (int i = 0; i < list_info.rank; i++) dims[rank++] = list_info.dims[i];
    for (int i = at + 1; i < info.rank; i++) dims[rank++] = info.dims[i];
    if (rank > XPU_MAX_RANK) {
        return fe_refuse(b, FE_SHAPE, "the result has too many dims",
                         fe_format(b, "at most %d are supported", XPU_MAX_RANK), NULL);
    }
    const int known = known_indices(b, indices, &list, &count, &ok);
    if (!ok || (known && !place_indices(b, info.dims[at], list, count))) return (xpu_value){0};
    if (known && is_progression(b, info.dims[at], list, count, &step)) {
        xpu_dim first = xpu_dim_const(table, list[0]);
        if (list[0] < 0) first = xpu_dim_add(table, info.dims[at], first);
        x = fe_part(b, x, at, first, xpu_dim_const(table, count), step, list_info.rank == 1);
        return list_info.rank == 1 || !x.id ? x : fe_reshape_to(b, x, dims, rank, 1);
    }
    xpu_value operands[] = {x, indices};
    if (list_info.rank > 0) return fe_node(b, XPU_OP_GATHER, operands, 2, &XPU_ATTR_INT_OF(AXIS, at), 1, 1);
    xpu_dim one = xpu_dim_const(table, 1);
    operands[1] = fe_reshape_to(b, indices, &one, 1, 0);
    x = fe_node(b, XPU_OP_GATHER, operands, 2, &XPU_ATTR_INT_OF(AXIS, at), 1, 0);
    return x.id ? fe_reshape_to(b, x, dims, rank, 1) : x;
}

xpu_value fe_gather_elements(fe_builder *b, xpu_value x, xpu_value indices, int64_t axis) {
    if (!check_indices(b, x, indices)) return (xpu_value){0};
    const xpu_value_info info = *fe_info(b, x), list = *fe_info(b, indices);
    int at = fe_axis(b, axis, info.rank);
    if (at < 0) return (xpu_value){0};
    if (list.rank != info.rank) {
        return fe_refuse(b, FE_SHAPE, "the indices do not fit the input",
                         fe_format(b, "they have rank %d, the input %d", list.rank, info.rank), NULL);
    }
    for (int i = 0; i < info.rank; i++) { /* of the other dims, the first elements as far as there are indices */
        if (i == at || xpu_dim_equal(info.dims[i], list.dims[i])) continue;
        if (xpu_dim_min(&b->graph->dims, info.dims[i]) >= xpu_dim_max(&b->graph->dims, list.dims[i])) {
            x = fe_part(b, x, i, xpu_dim_const(&b->graph->dims, 0), list.dims[i], 1, 0);
        }
    }
    xpu_value operands[] = {x, indices};
    return fe_node(b, XPU_OP_GATHER_ELEMENTS, operands, 2, &XPU_ATTR_INT_OF(AXIS, at), 1, 1);
}

xpu_value fe_gather_nd(fe_builder *b, xpu_value x, xpu_value indices, int64_t batch_dims) {
    if (!check_indices(b, x, indices)) return (xpu_value){0};
    xpu_value operands[] = {x, indices};
    if (fe_info(b, x)->rank == 0 || fe_info(b, indices)->rank == 0) {
        return fe_refuse(b, FE_SHAPE, "an operand is a scalar", "the input and the indices have at least one dim",
                         NULL);
    }
    return fe_node(b, XPU_OP_GATHER_ND, operands, 2, &XPU_ATTR_INT_OF(BATCH_DIMS, batch_dims), 1, 1);
}
