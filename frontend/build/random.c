/* Numbers by chance: Philox4x32-10 by seed and element (core/arith_pick.h), and what is computed of them. */
#include "frontend/build/build.h"

/* Another stream of the same seed. */
static const uint64_t second_stream = (uint64_t)1 << 63;

static xpu_value uniform(fe_builder *b, fe_dims shape, uint64_t seed) {
    const xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(SHAPE, shape.items, (uint32_t)shape.count),
                              XPU_ATTR_INT_OF(SEED, (int64_t)seed)};
    return fe_node(b, XPU_OP_RANDOM, NULL, 0, attrs, 2, 0);
}

/* x as the operator's result, of this type. */
static xpu_value finished(fe_builder *b, fe_builder *inside, xpu_value x, xpu_dtype dtype) {
    return fe_finish(b, inside, fe_as(inside, x, dtype));
}

/* cos(2 pi t) for |t| <= 0.5: its series. */
static xpu_value cosine(fe_builder *b, xpu_value t) {
    static const float terms[] = {-0.03638284f, 0.28200597f, -1.7143907f, 7.9035364f,  -26.426257f,
                                  60.244641f,   -85.456817f, 64.939394f,  -19.739209f, 1.0f};
    xpu_value square = fe_binary(b, XPU_OP_MUL, t, t), sum = fe_number(b, terms[0]);
    for (size_t i = 1; i < sizeof terms / sizeof *terms; i++)
        sum = fe_binary(b, XPU_OP_ADD, fe_binary(b, XPU_OP_MUL, sum, square), fe_number(b, terms[i]));
    return sum;
}

/* By Box and Muller: the length from one number, the angle from another. */
static xpu_value normal(fe_builder *b, fe_dims shape, uint64_t seed) {
    xpu_value rest = fe_binary(b, XPU_OP_SUB, fe_number(b, 1.0f), uniform(b, shape, seed));
    xpu_value square = fe_binary(b, XPU_OP_MUL, fe_unary(b, XPU_OP_LOG, rest), fe_number(b, -2.0f));
    xpu_value turn = fe_binary(b, XPU_OP_SUB, uniform(b, shape, seed ^ second_stream), fe_number(b, 0.5f));
    return fe_binary(b, XPU_OP_MUL, fe_unary(b, XPU_OP_SQRT, square), cosine(b, turn));
}

xpu_value fe_random(fe_builder *b, const fe_randomness *form) {
    fe_builder inside = fe_inside(b);
    xpu_value x =
        form->is_normal ? normal(&inside, form->shape, form->seed) : uniform(&inside, form->shape, form->seed);
    x = fe_binary(&inside, XPU_OP_MUL, x, fe_number(&inside, form->width));
    x = fe_binary(&inside, XPU_OP_ADD, x, fe_number(&inside, form->start));
    return finished(b, &inside, x, form->dtype);
}

xpu_value fe_bernoulli(fe_builder *b, xpu_value x, xpu_dtype dtype, uint64_t seed) {
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    fe_builder inside = fe_inside(b);
    xpu_value number = uniform(&inside, (fe_dims){info.dims, (size_t)info.rank}, seed);
    xpu_value y = fe_binary(&inside, XPU_OP_LESS, number, fe_as(&inside, x, XPU_F32));
    return finished(b, &inside, y, dtype);
}

/* The class of the largest logarithm when each gets a number of Gumbel's distribution, -log(-log(u)). */
xpu_value fe_multinomial(fe_builder *b, xpu_value x, int64_t samples, xpu_dtype dtype, uint64_t seed) {
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    if (info.rank != 2 || samples < 1) {
        return fe_refuse(
            b, FE_OPERAND, "there is nothing to choose from",
            fe_format(b, "the input has rank %d, %lld samples are asked for", info.rank, (long long)samples), NULL);
    }
    const xpu_dim one = xpu_dim_const(&b->graph->dims, 1), row[] = {info.dims[0], one, info.dims[1]};
    const xpu_dim cube[] = {info.dims[0], xpu_dim_const(&b->graph->dims, samples), info.dims[1]};
    fe_builder inside = fe_inside(b);
    xpu_value number = uniform(&inside, (fe_dims){cube, 3}, seed);
    for (int i = 0; i < 2; i++) number = fe_unary(&inside, XPU_OP_NEG, fe_unary(&inside, XPU_OP_LOG, number));
    xpu_value chances = fe_reshape_to(&inside, fe_as(&inside, x, XPU_F32), row, 3, 0);
    xpu_value y = fe_binary(&inside, XPU_OP_ADD, chances, number);
    y = y.id ? fe_arg_extreme(&inside, 1, y, 2, 0, 0) : y;
    return finished(b, &inside, y, dtype);
}
