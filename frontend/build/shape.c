/* Operators that move or rename elements. */
#include <inttypes.h>

#include "frontend/build/build.h"

enum { MAX_CONCAT = 64 };

xpu_value fe_flatten(fe_builder *b, xpu_value x, int64_t axis) {
    if (!x.id) return x;
    const xpu_value_info *info = fe_info(b, x);
    if (axis < -info->rank || axis > info->rank) {
        return fe_refuse(b, FE_ATTRIBUTE, "the axis is out of range",
                         fe_format(b, "axis %" PRId64 " of a tensor of rank %d", axis, info->rank), NULL);
    }
    int at = (int)(axis < 0 ? axis + info->rank : axis);
    xpu_dim dims[] = {fe_dim_product(b, info->dims, 0, at), fe_dim_product(b, info->dims, at, info->rank)};
    return fe_reshape_to(b, x, dims, 2, 1);
}

/* ---- reshape ---- */

static int bad_shape(const fe_builder *b, const char *why) {
    fe_refuse(b, FE_SHAPE, "the target shape is invalid", why, NULL);
    return 0;
}

/* The dim that -1 stands for: all elements over the product of the other dims, which has to divide them. */
static int solve_dim(const fe_builder *b, xpu_value x, xpu_dim *dims, uint32_t count, int unknown) {
    xpu_dims *table = &b->graph->dims;
    const xpu_value_info *info = fe_info(b, x);
    xpu_dim total = fe_dim_product(b, info->dims, 0, info->rank);
    dims[unknown] = xpu_dim_const(table, 1);
    xpu_dim others = fe_dim_product(b, dims, 0, (int)count), rest = xpu_dim_op(table, XPU_DIM_MOD, total, others);
    xpu_dim zero = xpu_dim_const(table, 0);
    int64_t value = 0;
    int is_whole = xpu_dim_is_const(table, rest, &value) ? value == 0 : xpu_dim_solutions(table, rest, zero) > 1;
    if (!is_whole || xpu_dim_min(table, others) < 1) {
        return bad_shape(b, fe_format(b, "-1 stands for %s elements over %s, which %s divide them",
                                      xpu_dim_text(table, total, b->scratch), xpu_dim_text(table, others, b->scratch),
                                      value ? "does not" : "is not known to"));
    }
    dims[unknown] = xpu_dim_op(table, XPU_DIM_FLOORDIV, total, others);
    if (!xpu_dim_is_const(table, rest, NULL) && xpu_dim_min(table, total) > 0) { /* where it is whole it is no 0 */
        dims[unknown] = xpu_dim_op(table, XPU_DIM_MAX, dims[unknown], xpu_dim_const(table, 1));
    }
    return 1;
}

/* An expression as a target is no 0 and no -1, but a size. */
static xpu_dim target_size(const fe_builder *b, xpu_dim dim) {
    xpu_dims *table = &b->graph->dims;
    if (xpu_dim_min(table, dim) >= 1) return dim;
    xpu_graph_guard(b->graph, dim, xpu_dim_op(table, XPU_DIM_MAX, dim, xpu_dim_const(table, 1)), b->where);
    return dim;
}

static int target_dims(const fe_builder *b, xpu_value x, fe_dims shape, int allow_zero, xpu_dim *dims) {
    const xpu_value_info *info = fe_info(b, x);
    int unknown = -1, zeros = 0;
    for (uint32_t i = 0; i < shape.count; i++) {
        int64_t dim;
        if (!xpu_dim_is_const(&b->graph->dims, shape.items[i], &dim)) {
            if (xpu_dim_max(&b->graph->dims, shape.items[i]) < 1) {
                return bad_shape(b, fe_format(b, "dim %u is less than 1 for all shapes", i));
            }
            dims[i] = target_size(b, shape.items[i]);
            continue;
        }
        if (dim == 0 && !allow_zero && (int)i >= info->rank) {
            return bad_shape(b, fe_format(b, "dim %u is 0 (keep), but the input has rank %d", i, info->rank));
        }
        if (dim < -1 || (dim == -1 && unknown >= 0)) {
            return bad_shape(b, fe_format(b, "dim %u is %" PRId64 "%s", i, dim, dim == -1 ? ", the second one" : ""));
        }
        zeros += dim == 0 && allow_zero;
        if (dim == -1) unknown = (int)i;
        dims[i] = dim == 0 && !allow_zero ? info->dims[i] : xpu_dim_const(&b->graph->dims, dim);
    }
    if (unknown >= 0 && zeros) return bad_shape(b, "it holds both -1 and 0, and allowzero is 1");
    return unknown < 0 || solve_dim(b, x, dims, (uint32_t)shape.count, unknown);
}

xpu_value fe_reshape(fe_builder *b, xpu_value x, fe_dims shape, int allow_zero) {
    xpu_dim dims[XPU_MAX_RANK];
    if (!x.id) return x;
    if (shape.count > XPU_MAX_RANK) {
        bad_shape(b, fe_format(b, "it has %zu dims; at most %d are supported", shape.count, XPU_MAX_RANK));
        return (xpu_value){0};
    }
    if (!target_dims(b, x, shape, allow_zero, dims)) return (xpu_value){0};
    return fe_reshape_to(b, x, dims, (int)shape.count, 1);
}

/* ---- squeeze, unsqueeze ---- */

/* Axes as a set of bits; -1 after reporting. */
static int64_t axis_set(const fe_builder *b, fe_ints axes, int rank) {
    int64_t set = 0;
    int too_many = axes.count > XPU_MAX_RANK;
    for (size_t i = 0; i < axes.count && !too_many; i++) {
        int axis = fe_axis(b, axes.items[i], rank);
        if (axis < 0) return -1;
        too_many = (set >> axis & 1) != 0;
        set |= (int64_t)1 << axis;
    }
    if (!too_many) return set;
    fe_refuse(b, FE_OPERAND, "the axes are invalid", "one of them is given twice", NULL);
    return -1;
}

xpu_value fe_squeeze(fe_builder *b, xpu_value x, fe_ints axes) {
    if (!x.id) return x;
    const xpu_value_info *info = fe_info(b, x);
    const xpu_dims *table = &b->graph->dims;
    int rank = 0;
    int64_t set = axis_set(b, axes, info->rank);
    if (set < 0) return (xpu_value){0};
    xpu_dim dims[XPU_MAX_RANK];
    for (int i = 0; i < info->rank; i++) {
        int64_t size = 0;
        int is_const = xpu_dim_is_const(table, info->dims[i], &size);
        int squeezed = axes.items ? (int)(set >> i & 1) : is_const && size == 1;
        if (!axes.items && !is_const && xpu_dim_min(table, info->dims[i]) <= 1) {
            return fe_refuse(b, FE_FORM, "the rank of the result depends on the input",
                             fe_format(b, "there are no axes, and dim %d may be 1: %s", i, fe_shape_text(b, x)),
                             "export the model with axes, or fix the dim with --shape");
        }
        if (squeezed && (!is_const || size != 1)) {
            return fe_refuse(b, FE_SHAPE, fe_format(b, "dim %d cannot be removed", i),
                             fe_format(b, "the input has shape %s", fe_shape_text(b, x)),
                             is_const ? NULL : "fix the dim to 1 with --shape");
        }
        if (!squeezed) dims[rank++] = info->dims[i];
    }
    return fe_reshape_to(b, x, dims, rank, 1);
}

xpu_value fe_unsqueeze(fe_builder *b, xpu_value x, fe_ints axes) {
    if (!x.id) return x;
    const xpu_value_info *info = fe_info(b, x);
    if (!axes.items) return fe_refuse(b, FE_OPERAND, "the axes are missing", "Unsqueeze requires them", NULL);
    if (axes.count + (size_t)info->rank > XPU_MAX_RANK) {
        return fe_refuse(b, FE_SHAPE, "the result has too many dims",
                         fe_format(b, "at most %d are supported", XPU_MAX_RANK), NULL);
    }
    int rank = info->rank + (int)axes.count, next = 0;
    int64_t set = axis_set(b, axes, rank);
    if (set < 0) return (xpu_value){0};
    xpu_dim dims[XPU_MAX_RANK];
    for (int i = 0; i < rank; i++) dims[i] = set >> i & 1 ? xpu_dim_const(&b->graph->dims, 1) : info->dims[next++];
    return fe_reshape_to(b, x, dims, rank, 1);
}

/* ---- transpose, concat ---- */

xpu_value fe_transpose(fe_builder *b, xpu_value x, fe_ints perm) {
    if (!x.id) return x;
    int rank = fe_info(b, x)->rank;
    int64_t order[XPU_MAX_RANK];
    unsigned seen = 0;
    int fits = !perm.items || perm.count == (size_t)rank;
    for (int i = 0; i < rank && fits; i++) {
        order[i] = perm.items ? perm.items[i] : rank - 1 - i;
        fits = order[i] >= 0 && order[i] < rank && !(seen >> order[i] & 1);
        if (fits) seen |= 1u << order[i];
    }
    if (!fits) {
        fe_bad_attr(b, "perm", fe_format(b, "it is no permutation of the %d dims of the input", rank));
        return (xpu_value){0};
    }
    return fe_node(b, XPU_OP_TRANSPOSE, &x, 1, &XPU_ATTR_INTS_OF(PERM, order, (uint32_t)rank), 1, 1);
}

/* Up to 64 operands at a time; more are joined in groups. */
xpu_value fe_concat(fe_builder *b, const xpu_value *operands, uint32_t operand_count, int64_t axis) {
    for (uint32_t i = 0; i < operand_count; i++) {
        if (!operands[i].id) return operands[i];
    }
    int normal = fe_axis(b, axis, fe_info(b, operands[0])->rank);
    if (normal < 0) return (xpu_value){0};
    xpu_attr attr = XPU_ATTR_INT_OF(AXIS, normal);
    xpu_value parts[MAX_CONCAT] = {operands[0]};
    uint32_t next = 1, count = 1;
    do {
        while (count < MAX_CONCAT && next < operand_count) parts[count++] = operands[next++];
        parts[0] = fe_node(b, XPU_OP_CONCAT, parts, count, &attr, 1, next == operand_count);
        count = 1;
    } while (parts[0].id && next < operand_count);
    return parts[0];
}

/* ---- blocks of pixels ---- */

/* [N,C,H,W] split into dims, permuted, joined again. */
static xpu_value rearranged(fe_builder *b, xpu_value x, const xpu_dim *split, const int64_t *perm,
                            const xpu_dim *dims) {
    x = fe_reshape_to(b, x, split, 6, 0);
    x = fe_node(b, XPU_OP_TRANSPOSE, &x, 1, &XPU_ATTR_INTS_OF(PERM, perm, 6), 1, 0);
    return x.id ? fe_reshape_to(b, x, dims, 4, 1) : x;
}

/* Whether the input is an image, and `block` a size of blocks; 0 after reporting. */
static int check_blocks(const fe_builder *b, xpu_value x, int64_t block) {
    if (!x.id) return 0;
    if (block < 1 || block > FE_MAX_EXTENT) return fe_bad_attr(b, "blocksize", fe_format(b, "it is %" PRId64, block));
    if (fe_info(b, x)->rank == 4) return 1;
    fe_refuse(b, FE_SHAPE, "the input is no image", fe_format(b, "it has shape %s", fe_shape_text(b, x)), NULL);
    return 0;
}

xpu_value fe_depth_to_space(fe_builder *b, xpu_value x, int64_t block, int columns_first) {
    static const int64_t depth_first[] = {0, 3, 4, 1, 5, 2}, column_first[] = {0, 1, 4, 2, 5, 3};
    if (!check_blocks(b, x, block)) return (xpu_value){0};
    const xpu_value_info info = *fe_info(b, x);
    xpu_dims *table = &b->graph->dims;
    xpu_dim n = info.dims[0], h = info.dims[2], w = info.dims[3], s = xpu_dim_const(table, block);
    xpu_dim c = xpu_dim_floordiv_const(table, info.dims[1], block * block);
    xpu_dim dims[] = {n, c, xpu_dim_mul(table, h, s), xpu_dim_mul(table, w, s)};
    if (columns_first) return rearranged(b, x, (xpu_dim[]){n, c, s, s, h, w}, column_first, dims);
    return rearranged(b, x, (xpu_dim[]){n, s, s, c, h, w}, depth_first, dims);
}

xpu_value fe_space_to_depth(fe_builder *b, xpu_value x, int64_t block) {
    static const int64_t perm[] = {0, 3, 5, 1, 2, 4};
    if (!check_blocks(b, x, block)) return (xpu_value){0};
    const xpu_value_info info = *fe_info(b, x);
    xpu_dims *table = &b->graph->dims;
    xpu_dim n = info.dims[0], c = info.dims[1], s = xpu_dim_const(table, block);
    xpu_dim h = xpu_dim_floordiv_const(table, info.dims[2], block);
    xpu_dim w = xpu_dim_floordiv_const(table, info.dims[3], block);
    xpu_dim dims[] = {n, xpu_dim_mul_const(table, c, block * block), h, w};
    return rearranged(b, x, (xpu_dim[]){n, c, h, s, w, s}, perm, dims);
}
