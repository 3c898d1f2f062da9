/* Norms: rows of the core's operator, which lie along the last dim. */
#include <inttypes.h>

#include "frontend/build/build.h"

/* The operand's dims before `axis`, and one for those from it on. */
static int row_dims(const fe_builder *b, const xpu_value_info *x, int axis, xpu_dim *dims) {
    for (int i = 0; i < axis; i++) dims[i] = x->dims[i];
    dims[axis] = fe_dim_product(b, x->dims, axis, x->rank);
    return axis + 1;
}

/* Scale or bias as a vector over the row, where it has an element for each place in it; {0} where it has not. */
static xpu_value as_vector(fe_builder *b, xpu_value vector, const xpu_value_info *x, int axis) {
    if (!vector.id) return vector;
    const xpu_value_info info = *fe_info(b, vector);
    int skipped = info.rank - (x->rank - axis);
    for (int i = 0; i < skipped; i++) {
        int64_t size;
        if (!xpu_dim_is_const(&b->graph->dims, info.dims[i], &size) || size != 1) return (xpu_value){0};
    }
    for (int i = axis; i < x->rank; i++) {
        if (skipped < 0 || !xpu_dim_equal(info.dims[i - axis + skipped], x->dims[i])) return (xpu_value){0};
    }
    xpu_dim count = fe_dim_product(b, x->dims, axis, x->rank);
    return info.rank == 1 ? vector : fe_reshape_to(b, vector, &count, 1, 0);
}

static xpu_value norm_rows(fe_builder *b, xpu_value x, xpu_value scale, xpu_value bias, float epsilon, int centred) {
    xpu_attr attrs[] = {XPU_ATTR_FLOAT_OF(EPSILON, epsilon), XPU_ATTR_INT_OF(CENTRED, centred)};
    return x.id ? fe_node(b, XPU_OP_NORM, (xpu_value[]){x, scale, bias},
                          bias.id    ? 3
                          : scale.id ? 2
                                     : 1,
                          attrs, 2, 0)
                : x;
}

/* Times scale, plus bias. */
static xpu_value scaled(fe_builder *b, xpu_value x, xpu_value scale, xpu_value bias) {
    if (scale.id) x = fe_binary(b, XPU_OP_MUL, x, scale);
    return bias.id ? fe_binary(b, XPU_OP_ADD, x, bias) : x;
}

xpu_value fe_layer_norm(fe_builder *b, xpu_value x, xpu_value scale, xpu_value bias, const fe_norm *form) {
    static const xpu_value none = {0};
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    int axis = fe_axis(b, form->axis, info.rank);
    if (axis < 0) return none;
    fe_builder inside = fe_inside(b);
    xpu_dim dims[XPU_MAX_RANK];
    int rank = row_dims(b, &info, axis, dims);
    xpu_value scales = as_vector(&inside, scale, &info, axis), biases = as_vector(&inside, bias, &info, axis);
    if (scale.id && !scales.id) biases = none; /* it comes behind the scale */
    xpu_value y = rank == info.rank ? x : fe_reshape_to(&inside, x, dims, rank, 0);
    y = norm_rows(&inside, y, scales, biases, form->epsilon, form->centred);
    if (y.id && rank != info.rank) y = fe_reshape_to(&inside, y, info.dims, info.rank, 0);
    y = scaled(&inside, y, scales.id ? none : scale, biases.id ? none : bias);
    return fe_broadcasts_to(b, x, y) ? fe_finish(b, &inside, y) : none;
}

int fe_layer_statistics(fe_builder *b, xpu_value x, const fe_norm *form, xpu_value statistics[2]) {
    const int rank = fe_info(b, x)->rank;
    int axis = fe_axis(b, form->axis, rank);
    if (axis < 0) return 0;
    int64_t axes[XPU_MAX_RANK];
    for (int i = axis; i < rank; i++) axes[i - axis] = i;
    const fe_ints list = {axes, (size_t)(rank - axis)};
    fe_builder inside = fe_inside(b);
    statistics[0] = fe_reduce(&inside, XPU_OP_REDUCE_MEAN, x, list, 1);
    xpu_value rest = form->centred ? fe_binary(&inside, XPU_OP_SUB, x, statistics[0]) : x;
    rest = fe_reduce(&inside, XPU_OP_REDUCE_MEAN, fe_binary(&inside, XPU_OP_MUL, rest, rest), list, 1);
    rest = fe_unary(&inside, XPU_OP_SQRT, fe_binary(&inside, XPU_OP_ADD, rest, fe_number(b, form->epsilon)));
    statistics[1] = fe_unary(&inside, XPU_OP_RECIPROCAL, rest);
    b->made = inside.made;
    return statistics[0].id && statistics[1].id;
}

/* Vectors over dim 1 of a tensor of `rank`, as they broadcast to it. 0 after reporting. */
static int over_dim_1(fe_builder *b, xpu_value vectors[2], xpu_dim count, int rank) {
    for (int k = 0; k < 2; k++) {
        if (!vectors[k].id) continue;
        const xpu_value_info info = *fe_info(b, vectors[k]);
        if (info.rank != 1 || !xpu_dim_same(&b->graph->dims, info.dims[0], count)) {
            fe_refuse(b, FE_SHAPE, "scale or bias does not fit the operand",
                      fe_format(b, "it is %s, the vector has %s elements", fe_shape_text(b, vectors[k]),
                                xpu_dim_text(&b->graph->dims, count, b->scratch)),
                      NULL);
            return 0;
        }
        xpu_dim dims[XPU_MAX_RANK] = {count};
        for (int i = 1; i < rank - 1; i++) dims[i] = xpu_dim_const(&b->graph->dims, 1);
        if (rank > 2) vectors[k] = fe_reshape_to(b, vectors[k], dims, rank - 1, 0);
    }
    return 1;
}

/* The dims of x as [N][groups][elements of a group]; 0 after reporting. */
static int group_dims(const fe_builder *b, const xpu_value_info *x, int64_t groups, xpu_dim dims[3]) {
    xpu_dims *table = &b->graph->dims;
    int64_t channels;
    if (x->rank < 2) {
        fe_refuse(b, FE_SHAPE, "the input has no channels", fe_format(b, "it has rank %d", x->rank), NULL);
        return 0;
    }
    dims[0] = x->dims[0];
    dims[1] = groups ? xpu_dim_const(table, groups) : x->dims[1];
    dims[2] = fe_dim_product(b, x->dims, 2, x->rank);
    if (!groups) return 1;
    if (!xpu_dim_is_const(table, x->dims[1], &channels) || groups < 0 || channels % groups != 0) {
        return fe_bad_attr(
            b, "num_groups",
            fe_format(b, "%" PRId64 " groups of %s channels", groups, xpu_dim_text(table, x->dims[1], b->scratch)));
    }
    dims[2] = xpu_dim_mul_const(table, dims[2], channels / groups);
    return 1;
}

xpu_value fe_group_norm(fe_builder *b, xpu_value x, xpu_value scale, xpu_value bias, int64_t groups, int by_group,
                        float epsilon) {
    static const xpu_value none = {0};
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    xpu_dim dims[3];
    xpu_value vectors[] = {scale, bias};
    fe_builder inside = fe_inside(b);
    if (!group_dims(b, &info, groups, dims)) return none;
    if (!over_dim_1(&inside, vectors, by_group ? dims[1] : info.dims[1], by_group ? 3 : info.rank)) return none;
    xpu_value y = norm_rows(&inside, fe_reshape_to(&inside, x, dims, 3, 0), none, none, epsilon, 1);
    if (by_group) y = scaled(&inside, y, vectors[0], vectors[1]);
    if (y.id) y = fe_reshape_to(&inside, y, info.dims, info.rank, 0);
    return fe_finish(b, &inside, by_group ? y : scaled(&inside, y, vectors[0], vectors[1]));
}

/* ---- others ---- */

xpu_value fe_mean_variance_norm(fe_builder *b, xpu_value x, fe_ints axes) {
    if (!x.id) return x;
    int64_t others[XPU_MAX_RANK];
    const int rank = fe_info(b, x)->rank;
    size_t count = 0;
    for (int i = 0; i < rank && i < 4; i++) { /* of pictures, where no axes are given */
        if (i != 1) others[count++] = i;
    }
    if (!axes.items) axes = (fe_ints){others, count};
    fe_builder inside = fe_inside(b);
    xpu_value d = fe_binary(&inside, XPU_OP_SUB, x, fe_reduce(&inside, XPU_OP_REDUCE_MEAN, x, axes, 1));
    xpu_value variance = fe_reduce(&inside, XPU_OP_REDUCE_MEAN, fe_binary(&inside, XPU_OP_MUL, d, d), axes, 1);
    xpu_value deviation = fe_unary(&inside, XPU_OP_SQRT, variance);
    deviation = fe_binary(&inside, XPU_OP_ADD, deviation, fe_number(b, 1e-9f));
    return fe_finish(b, &inside, fe_binary(&inside, XPU_OP_DIV, d, deviation));
}

xpu_value fe_lp_norm(fe_builder *b, xpu_value x, int64_t axis, int64_t power) {
    if (!x.id) return x;
    const int64_t axes[] = {fe_axis(b, axis, fe_info(b, x)->rank)};
    if (axes[0] < 0) return (xpu_value){0};
    if (power != 1 && power != 2) {
        fe_bad_attr(b, "p", fe_format(b, "it is %" PRId64 "; 1 and 2 are defined", power));
        return (xpu_value){0};
    }
    fe_builder inside = fe_inside(b);
    xpu_value length = fe_reduce_function(&inside, power == 1 ? FE_L1 : FE_L2, x, (fe_ints){axes, 1}, 1, 0);
    xpu_value is_zero = fe_binary(&inside, XPU_OP_EQUAL, length, fe_number(b, 0.0f));
    if (!is_zero.id) return is_zero;
    length = fe_node(&inside, XPU_OP_WHERE, (xpu_value[]){is_zero, fe_number(b, 1.0f), length}, 3, NULL, 0, 0);
    return fe_finish(b, &inside, fe_binary(&inside, XPU_OP_DIV, x, length));
}

/* The sum over channels is that of a window over the first dim of an image [channels][all spatial dims]. */
xpu_value fe_local_response_norm(fe_builder *b, xpu_value x, const fe_response *form) {
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    if (info.rank < 2) {
        return fe_refuse(b, FE_SHAPE, "the input has no channels", fe_format(b, "it has rank %d", info.rank), NULL);
    }
    if (form->size < 1 || form->size > FE_MAX_EXTENT) {
        fe_bad_attr(b, "size", fe_format(b, "it is %" PRId64, form->size));
        return (xpu_value){0};
    }
    const xpu_dim image[] = {info.dims[0], xpu_dim_const(&b->graph->dims, 1), info.dims[1],
                             fe_dim_product(b, info.dims, 2, info.rank)};
    const int64_t kernel[] = {form->size, 1}, pads[] = {(form->size - 1) / 2, 0, form->size / 2, 0};
    const fe_pooling pool = {.window = {.kernel_shape = {kernel, 2}, .pads = {pads, 4}}, .count_include_pad = 1};
    fe_builder inside = fe_inside(b);
    xpu_value mean = fe_reshape_to(&inside, fe_binary(&inside, XPU_OP_MUL, x, x), image, 4, 0);
    mean = fe_pool(&inside, XPU_OP_AVERAGE_POOL, mean, &pool);
    if (mean.id) mean = fe_reshape_to(&inside, mean, info.dims, info.rank, 0);
    xpu_value base = fe_binary(&inside, XPU_OP_MUL, mean, fe_number(b, form->alpha));
    base = fe_binary(&inside, XPU_OP_ADD, base, fe_number(b, form->bias));
    base = fe_binary(&inside, XPU_OP_POW, base, fe_number(b, form->beta));
    return fe_finish(b, &inside, fe_binary(&inside, XPU_OP_DIV, x, base));
}
