/* What stands in PaddlePaddle for each operator of the core, one row each; elementwise operators. */
#include <float.h>
#include <string.h>

#include "convert/paddle_writer.h"

/* clang-format off */
static const pw_row rows[XPU_OP_COUNT] = {
#define UNARY(op, ...) [XPU_OP_##op] = {.write = pw_write_unary, .name = __VA_ARGS__}
#define BINARY(op, text) [XPU_OP_##op] = {.write = pw_write_binary, .name = text}
#define BY(op, function, text) [XPU_OP_##op] = {.write = pw_write_##function, .name = text}
    BY(CONV, conv, "conv2d"),
    BY(MATMUL, matmul, "matmul_v2"),
    BY(RECURRENT, recurrent, "rnn"),
    BY(MAX_POOL, pool, "max"),
    BY(AVERAGE_POOL, pool, "avg"),
    BY(GLOBAL_AVERAGE_POOL, global_pool, "pool2d"),
    BY(BATCH_NORM, batch_norm, "batch_norm"),
    BY(NORM, norm, "layer_norm"),
    BY(SOFTMAX, softmax, "softmax"),
    BY(REDUCE_SUM, reduce, "reduce_sum"),
    BY(REDUCE_MEAN, reduce, "reduce_mean"),
    BY(REDUCE_MAX, reduce, "reduce_max"),
    BY(REDUCE_MIN, reduce, "reduce_min"),
    BY(REDUCE_PROD, reduce, "reduce_prod"),
    BY(RESHAPE, reshape, "reshape2"),
    BY(TRANSPOSE, transpose, "transpose2"),
    BY(CONCAT, concat, "concat"),
    BY(SLICE, slice, "slice"),
    BY(EXPAND, expand, "expand_v2"),
    BY(GATHER, gather, "gather"),
    BY(GATHER_ELEMENTS, gather_elements, "take_along_axis"),
    BY(GATHER_ND, gather_nd, "gather_nd"),
    BY(SCATTER_ELEMENTS, scatter_elements, "put_along_axis"),
    BY(SCATTER_ND, scatter_nd, "scatter_nd_add"),
    BY(TOP, top, "top_k_v2"),
    BY(NMS, nms, "multiclass_nms3"),
    BY(RANDOM, random, "uniform_random"),
    BY(NONZERO_COUNTS, nonzero_counts, "where_index"),
    BY(NONZERO, nonzero, "where_index"),
    BY(RANGE, range, "range"),
    BY(PAD, pad, "pad"),
    BY(IDENTITY, identity, "assign"),
    BY(IF, if, "if"),
    BY(LOOP, loop, "while"),
    [XPU_OP_RAISE] = {.write = pw_write_raise},
    BY(DIM_VALUES, dim_values, "shape"),
    BY(QUANTIZE, quantize, "quantize_linear"),
    BY(DEQUANTIZE, dequantize, "dequantize_linear"),
    BY(DYNAMIC_QUANTIZE, dynamic_quantize, "quantize_linear"),
    BY(QCONV, integer_product, "conv2d"),
    BY(QMATMUL, integer_product, "matmul_v2"),
    BY(CONV_TRANSPOSE, conv_transpose, "conv2d_transpose"),
    BY(REPEAT, repeat, "nearest_interp_v2"),
    BY(RESAMPLE, resample, "bilinear_interp_v2"),
    BINARY(ADD, "elementwise_add"), BINARY(SUB, "elementwise_sub"), BINARY(MUL, "elementwise_mul"),
    BINARY(DIV, "elementwise_div"), BINARY(MAX, "elementwise_max"), BINARY(MIN, "elementwise_min"),
    BY(NEG, negate, "scale"), UNARY(ABS, "abs"), UNARY(RELU, "relu"),
    UNARY(LEAKY_RELU, "leaky_relu", {{XPU_ATTR_ALPHA, "alpha"}}),
    BY(CLIP, clip, "clip"), UNARY(SIGMOID, "sigmoid"), UNARY(TANH, "tanh"),
    UNARY(HARD_SIGMOID, "hard_sigmoid", {{XPU_ATTR_ALPHA, "slope"}, {XPU_ATTR_BETA, "offset"}}),
    BY(HARD_SWISH, hard_swish, "hard_swish"),
    UNARY(EXP, "exp"), UNARY(LOG, "log"), UNARY(SQRT, "sqrt"), UNARY(ERF, "erf"), BY(SOFTPLUS, softplus, "softplus"),
    BY(GELU, gelu, "gelu"), BY(GELU_TANH, gelu, "gelu"), UNARY(RECIPROCAL, "reciprocal"),
    UNARY(SOFTSIGN, "softsign"), UNARY(FLOOR, "floor"), UNARY(CEIL, "ceil"), BY(ROUND, round, "floor"),
    UNARY(SIGN, "sign"), BY(PRELU, prelu, "prelu"),
    UNARY(THRESHOLDED_RELU, "thresholded_relu", {{XPU_ATTR_ALPHA, "threshold"}}),
    BY(SHRINK, shrink, "where"),
    UNARY(ELU, "elu", {{XPU_ATTR_ALPHA, "alpha"}}),
    UNARY(SELU, "selu", {{XPU_ATTR_ALPHA, "alpha"}, {XPU_ATTR_BETA, "scale"}}),
    UNARY(CELU, "celu", {{XPU_ATTR_ALPHA, "alpha"}}),
    UNARY(MISH, "mish"), BY(SWISH, swish, "swish"),
    BINARY(POW, "elementwise_pow"), BY(CONVERT, cast, "cast"), BY(WHERE, where, "where"),
    BY(EQUAL, equal, "equal"), BINARY(LESS, "less_than"), BINARY(LESS_OR_EQUAL, "less_equal"),
    BINARY(GREATER, "greater_than"), BINARY(GREATER_OR_EQUAL, "greater_equal"),
    BINARY(AND, "logical_and"), BINARY(OR, "logical_or"), BINARY(XOR, "logical_xor"), UNARY(NOT, "logical_not"),
    BINARY(BIT_AND, "bitwise_and"), BINARY(BIT_OR, "bitwise_or"), BINARY(BIT_XOR, "bitwise_xor"),
    UNARY(BIT_NOT, "bitwise_not"),
    BY(SHIFT_LEFT, shift, "elementwise_mul"), BY(SHIFT_RIGHT, shift, "elementwise_div"),
    BINARY(MOD, "elementwise_mod"), BY(FMOD, fmod, "elementwise_mod"),
    UNARY(SIN, "sin"), UNARY(COS, "cos"), UNARY(TAN, "tan"), UNARY(ASIN, "asin"), UNARY(ACOS, "acos"),
    UNARY(ATAN, "atan"), UNARY(SINH, "sinh"), UNARY(COSH, "cosh"), UNARY(ASINH, "asinh"), UNARY(ACOSH, "acosh"),
    UNARY(ATANH, "atanh"),
#undef UNARY
#undef BINARY
#undef BY
};
/* clang-format on */

/* The largest number of a type that int64 holds instead, where the operator may give one beyond it; 0: it does not. */
static int64_t wraps_at(const xpu_graph *graph, xpu_node node) {
    static const xpu_op_id ops[] = {XPU_OP_ADD,        XPU_OP_SUB,         XPU_OP_MUL,   XPU_OP_NEG,
                                    XPU_OP_BIT_NOT,    XPU_OP_SHIFT_LEFT,  XPU_OP_POW,   XPU_OP_CONVERT,
                                    XPU_OP_REDUCE_SUM, XPU_OP_REDUCE_PROD, XPU_OP_MATMUL};
    const xpu_dtype dtype = xpu_value_at(graph, xpu_node_output(graph, node, 0))->dtype;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (!xpu_node_is(graph, node, ops[i])) continue;
        return dtype == XPU_U16 ? UINT16_MAX : dtype == XPU_U32 ? UINT32_MAX : 0;
    }
    return 0;
}

/* PaddlePaddle's CPU does these in int32, not in smaller integers; of bool it does the last ones in int32 as well. */
static int takes_no_small(const xpu_graph *graph, xpu_node node) {
    static const xpu_op_id ops[] = {XPU_OP_ADD,
                                    XPU_OP_SUB,
                                    XPU_OP_MUL,
                                    XPU_OP_DIV,
                                    XPU_OP_MAX,
                                    XPU_OP_MIN,
                                    XPU_OP_MOD,
                                    XPU_OP_FMOD,
                                    XPU_OP_POW,
                                    XPU_OP_ABS,
                                    XPU_OP_NEG,
                                    XPU_OP_SIGN,
                                    XPU_OP_RELU,
                                    XPU_OP_CLIP,
                                    XPU_OP_PAD,
                                    XPU_OP_RESAMPLE,
                                    XPU_OP_GATHER,
                                    XPU_OP_SCATTER_ND,
                                    XPU_OP_SCATTER_ELEMENTS};
    const xpu_dtype dtype = xpu_value_at(graph, xpu_node_input(graph, node, 0))->dtype;
    enum { BOOLS = 5, COUNT = sizeof ops / sizeof *ops };
    if (!pw_is_small(dtype)) return 0;
    for (size_t i = dtype == XPU_BOOL ? COUNT - BOOLS : 0; i < COUNT; i++)
        if (xpu_node_is(graph, node, ops[i])) return 1;
    return 0;
}

/* The node on int32, cast in front of it and behind it. */
static void write_lifted(pw *w, const pw_row *row) {
    const xpu_node_info info = *xpu_node_at(w->graph, w->node);
    const xpu_value y = xpu_node_output(w->graph, w->node, 0);
    const char *names[XPU_MAX_RANK] = {NULL};
    const pw_type type = pw_type_of(w, y);
    pw_type wide = type;
    for (uint32_t i = 0; i < info.input_count && i < XPU_MAX_RANK; i++) {
        int again = 0;
        for (uint32_t k = 0; k < i; k++) again |= info.inputs[k].id == info.inputs[i].id;
        if (again || !info.inputs[i].id || !pw_is_small(xpu_value_at(w->graph, info.inputs[i])->dtype)) continue;
        const pw_type from = pw_type_of(w, info.inputs[i]);
        names[i] = pw_name(w, info.inputs[i]);
        const char *lifted = pw_cast(w, NULL, names[i], &from, XPU_I32);
        w->values.items[info.inputs[i].id] = lifted;
    }
    const char *result = pw_name(w, y);
    if (pw_is_small(type.dtype)) {
        wide.dtype = XPU_I32;
        w->values.items[y.id] = pw_new(w, "int32", &wide);
    }
    w->lifts = 1;
    row->write(w, row);
    w->lifts = 0;
    for (uint32_t i = info.input_count; i-- > 0;)
        if (i < XPU_MAX_RANK && names[i]) w->values.items[info.inputs[i].id] = names[i];
    if (wide.dtype == type.dtype) return;
    pw_cast(w, result, w->values.items[y.id], &wide, type.dtype);
    w->values.items[y.id] = result;
}

/* uint64 is int64 there, whose numbers from 2^63 on are negative: what depends on their order has no counterpart. */
static int orders_uint64(const xpu_graph *graph, xpu_node node) {
    static const xpu_op_id ops[] = {
        XPU_OP_LESS,       XPU_OP_LESS_OR_EQUAL, XPU_OP_GREATER,     XPU_OP_GREATER_OR_EQUAL,
        XPU_OP_MAX,        XPU_OP_MIN,           XPU_OP_CLIP,        XPU_OP_DIV,
        XPU_OP_MOD,        XPU_OP_FMOD,          XPU_OP_SHIFT_RIGHT, XPU_OP_ABS,
        XPU_OP_SIGN,       XPU_OP_RELU,          XPU_OP_POW,         XPU_OP_TOP,
        XPU_OP_REDUCE_MAX, XPU_OP_REDUCE_MIN,    XPU_OP_REDUCE_MEAN, XPU_OP_PRELU};
    const xpu_node_info *info = xpu_node_at(graph, node);
    if (!info->input_count || xpu_value_at(graph, info->inputs[0])->dtype != XPU_U64) return 0;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (xpu_node_is(graph, node, ops[i])) return 1;
    const xpu_dtype to = xpu_value_at(graph, xpu_node_output(graph, node, 0))->dtype;
    return xpu_node_is(graph, node, XPU_OP_CONVERT) && (to == XPU_F32 || to == XPU_F16 || to == XPU_BF16);
}

static void write_wrapped(pw *w, const pw_row *row, int64_t most) {
    const xpu_value value = xpu_node_output(w->graph, w->node, 0);
    const pw_type type = pw_type_of(w, value);
    const char *result = pw_name(w, value), *wide = pw_new(w, "wide", &type);
    w->values.items[value.id] = wide;
    row->write(w, row);
    w->values.items[value.id] = result;
    pw_binary(w, result, "bitwise_and", &type, wide, pw_scalar(w, XPU_I64, (double)most));
}

void pw_write_raise(pw *w, const pw_row *row) {
    (void)row;
    pw_refuse(w, XPU_REFUSED_RAISE);
}

void pw_write_node(pw *w, xpu_node node) {
    const pw_row *row = &rows[xpu_op_id_of(xpu_node_at(w->graph, node)->op)];
    const xpu_node outer = w->node;
    const int64_t most = xpu_node_at(w->graph, node)->output_count ? wraps_at(w->graph, node) : 0;
    w->node = node;
    if (orders_uint64(w->graph, node))
        pw_refuse(w, XPU_REFUSED_UINT64);
    else if (row->write && most)
        write_wrapped(w, row, most);
    else if (row->write && takes_no_small(w->graph, node))
        write_lifted(w, row);
    else if (row->write)
        row->write(w, row);
    else
        pw_refuse(w, xpu_convert_no_row(w->graph, node));
    w->node = outer;
}

void pw_where(pw *w, const char *result, const char *condition, const char *x, const char *y) {
    pw_op *op = pw_add(w, "where");
    pw_in(w, op, "Condition", condition);
    pw_in(w, op, "X", x);
    pw_in(w, op, "Y", y);
    pw_out(w, op, "Out", result);
}

/* ---- one operand ---- */

static int is_float(xpu_dtype dtype) {
    return dtype == XPU_F32 || dtype == XPU_F16 || dtype == XPU_BF16 || dtype == XPU_F64;
}

void pw_write_unary(pw *w, const pw_row *row) {
    const pw_type gives = pw_result_type(w, 0);
    if (xpu_node_is(w->graph, w->node, XPU_OP_RELU) && !is_float(gives.dtype)) {
        pw_binary(w, pw_result(w, 0), "elementwise_max", &gives, pw_operand(w, 0), pw_scalar(w, gives.dtype, 0));
        return;
    }
    pw_op *op = pw_unary(w, row->name);
    for (size_t i = 0; i < sizeof row->attrs / sizeof *row->attrs && row->attrs[i].name; i++)
        pw_float(w, op, row->attrs[i].name, xpu_node_float(w->graph, w->node, row->attrs[i].id));
    if (xpu_node_is(w->graph, w->node, XPU_OP_MISH)) pw_float(w, op, "threshold", 20.0f);
}

void pw_write_identity(pw *w, const pw_row *row) {
    pw_unary(w, row->name);
}

void pw_write_negate(pw *w, const pw_row *row) {
    const pw_type gives = pw_result_type(w, 0);
    (void)row;
    pw_scale(w, pw_result(w, 0), pw_operand(w, 0), &gives, -1, 0);
}

void pw_write_cast(pw *w, const pw_row *row) {
    const pw_type from = pw_operand_type(w, 0), to = pw_result_type(w, 0);
    (void)row;
    pw_cast(w, pw_result(w, 0), pw_operand(w, 0), &from, to.dtype);
}

void pw_write_clip(pw *w, const pw_row *row) {
    const float low = xpu_node_float(w->graph, w->node, XPU_ATTR_LOW);
    const float high = xpu_node_float(w->graph, w->node, XPU_ATTR_HIGH);
    pw_op *op = pw_unary(w, row->name);
    pw_float(w, op, "min", low > -FLT_MAX ? low : -FLT_MAX);
    pw_float(w, op, "max", high < FLT_MAX ? high : FLT_MAX);
}

void pw_write_hard_swish(pw *w, const pw_row *row) {
    pw_op *op = pw_unary(w, row->name);
    pw_float(w, op, "threshold", 6);
    pw_float(w, op, "scale", 6);
    pw_float(w, op, "offset", 3);
}

void pw_write_softplus(pw *w, const pw_row *row) {
    pw_op *op = pw_unary(w, row->name);
    pw_float(w, op, "beta", 1);
    pw_float(w, op, "threshold", 20);
}

void pw_write_gelu(pw *w, const pw_row *row) {
    pw_op *op = pw_unary(w, row->name);
    pw_bool(w, op, "approximate", xpu_node_is(w->graph, w->node, XPU_OP_GELU_TANH));
}

void pw_write_swish(pw *w, const pw_row *row) {
    const pw_type gives = pw_result_type(w, 0);
    const float alpha = xpu_node_float(w->graph, w->node, XPU_ATTR_ALPHA);
    const char *x = pw_operand(w, 0);
    if (alpha == 1.0f) {
        pw_float(w, pw_unary(w, row->name), "beta", 1.0f);
        return;
    }
    const char *gate = pw_make(w, NULL, NULL, "sigmoid", &gives, pw_scale(w, NULL, x, &gives, alpha, 0), NULL);
    pw_binary(w, pw_result(w, 0), "elementwise_mul", &gives, x, gate);
}

/* floor(x), plus 1 where x is more than half a step above it, or half a step above an odd number. */
const char *pw_round(pw *w, const char *result, const char *x, const pw_type *type) {
    const pw_type flag = pw_as(*type, XPU_BOOL);
    const char *half = pw_scalar(w, type->dtype, 0.5);
    const char *below = pw_make(w, NULL, NULL, "floor", type, x, NULL);
    const char *rest = pw_binary(w, NULL, "elementwise_sub", type, x, below);
    const char *pairs = pw_make(w, NULL, NULL, "floor", type, pw_scale(w, NULL, below, type, 0.5f, 0), NULL);
    const char *parity = pw_binary(w, NULL, "elementwise_sub", type, below, pw_scale(w, NULL, pairs, type, 2, 0));
    const char *is_odd = pw_binary(w, NULL, "equal", &flag, parity, pw_scalar(w, type->dtype, 1));
    const char *is_half = pw_binary(w, NULL, "equal", &flag, rest, half);
    const char *is_more = pw_binary(w, NULL, "greater_than", &flag, rest, half);
    const char *up = pw_binary(w, NULL, "logical_and", &flag, is_half, is_odd);
    up = pw_binary(w, NULL, "logical_or", &flag, up, is_more);
    return pw_binary(w, result, "elementwise_add", type, below, pw_cast(w, NULL, up, &flag, type->dtype));
}

void pw_write_round(pw *w, const pw_row *row) {
    const pw_type type = pw_result_type(w, 0);
    (void)row;
    pw_round(w, pw_result(w, 0), pw_operand(w, 0), &type);
}

void pw_write_prelu(pw *w, const pw_row *row) {
    const pw_type type = pw_result_type(w, 0), from = pw_operand_type(w, 0), flag = pw_as(type, XPU_BOOL);
    const char *x = pw_expand(w, NULL, pw_operand(w, 0), &from, &type);
    (void)row;
    const char *scaled = pw_binary(w, NULL, "elementwise_mul", &type, x, pw_operand(w, 1));
    const char *below = pw_binary(w, NULL, "less_than", &flag, x, pw_scalar(w, type.dtype, 0));
    pw_where(w, pw_result(w, 0), below, scaled, x);
}

/* x + bias below -limit, x - bias above it, else 0. PaddlePaddle's softshrink gives NaN for what is infinite. */
static void shrink_by(pw *w, float limit, float bias) {
    const pw_type type = pw_result_type(w, 0), flag = pw_as(type, XPU_BOOL), one = {.dtype = type.dtype};
    const char *x = pw_operand(w, 0);
    const char *below = pw_binary(w, NULL, "less_than", &flag, x, pw_scalar(w, type.dtype, -(double)limit));
    const char *above = pw_binary(w, NULL, "greater_than", &flag, x, pw_scalar(w, type.dtype, (double)limit));
    const char *zero = pw_expand(w, NULL, pw_scalar(w, type.dtype, 0), &one, &type);
    const char *upper = pw_new(w, "upper", &type);
    pw_where(w, upper, above, pw_scale(w, NULL, x, &type, 1, -bias), zero);
    pw_where(w, pw_result(w, 0), below, pw_scale(w, NULL, x, &type, 1, bias), upper);
}

/* x where it is beyond the limit. Of what is just there hard_shrink gives 0 in 2.6.2 and x in 3.3.1. */
static void shrink_to_nothing(pw *w, float limit) {
    const pw_type type = pw_result_type(w, 0), flag = pw_as(type, XPU_BOOL), one = {.dtype = type.dtype};
    const char *x = pw_operand(w, 0), *size = pw_make(w, NULL, NULL, "abs", &type, x, NULL);
    const char *beyond = pw_binary(w, NULL, "greater_than", &flag, size, pw_scalar(w, type.dtype, (double)limit));
    pw_where(w, pw_result(w, 0), beyond, x, pw_expand(w, NULL, pw_scalar(w, type.dtype, 0), &one, &type));
}

void pw_write_shrink(pw *w, const pw_row *row) {
    (void)row;
    const float bias = xpu_node_float(w->graph, w->node, XPU_ATTR_BETA);
    const float limit = xpu_node_float(w->graph, w->node, XPU_ATTR_ALPHA);
    if (bias == 0)
        shrink_to_nothing(w, limit);
    else
        shrink_by(w, limit, bias);
}

/* ---- two and three ---- */

/* An operand of this type; of a lower rank it stands second, or gets dims of 1. */
static const char *operand_as(pw *w, uint32_t i, xpu_dtype dtype, int rank, pw_type *type) {
    const char *x = pw_operand(w, i);
    *type = pw_operand_type(w, i);
    if (type->dtype != dtype) x = pw_cast(w, NULL, x, type, dtype);
    type->dtype = dtype;
    if (i || type->rank >= rank) return x;
    pw_type wide = {.dtype = dtype, .rank = rank};
    for (int d = 0; d < rank; d++)
        wide.dims[d] = d < rank - type->rank ? xpu_dim_const(&w->graph->dims, 1) : type->dims[d - (rank - type->rank)];
    x = pw_reshape(w, NULL, x, type, &wide);
    *type = wide;
    return x;
}

void pw_write_binary(pw *w, const pw_row *row) {
    const pw_type y = pw_result_type(w, 0), given = pw_operand_type(w, 1);
    pw_type a;
    const char *x = operand_as(w, 0, pw_operand_type(w, 0).dtype, given.rank, &a);
    pw_binary(w, pw_result(w, 0), row->name, &y, x, pw_operand(w, 1));
}

/* Of floats 2.6.2's equal says so of any two that are less than 1e-8 apart. */
void pw_write_equal(pw *w, const pw_row *row) {
    const pw_type y = pw_result_type(w, 0), x = pw_operand_type(w, 0), given = pw_operand_type(w, 1);
    pw_type a;
    if (!is_float(x.dtype)) {
        pw_write_binary(w, row);
        return;
    }
    const char *left = operand_as(w, 0, x.dtype, given.rank, &a), *right = pw_operand(w, 1);
    const char *above = pw_binary(w, NULL, "greater_equal", &y, left, right);
    pw_binary(w, pw_result(w, 0), "logical_and", &y, above, pw_binary(w, NULL, "less_equal", &y, left, right));
}

/* By 2^n, in steps of at most 32 bits, as int64: up to 64 bits are shifted out, or copies of the sign in. */
void pw_write_shift(pw *w, const pw_row *row) {
    enum { STEP = 32, STEPS = 2 };
    const int is_left = xpu_node_is(w->graph, w->node, XPU_OP_SHIFT_LEFT);
    const pw_type y = pw_result_type(w, 0), wide = pw_as(y, XPU_I64);
    pw_type a, b;
    const char *x = operand_as(w, 0, XPU_I64, y.rank, &a), *by = operand_as(w, 1, XPU_I64, 0, &b);
    for (int i = 0; i < STEPS; i++) {
        const pw_type real = pw_as(b, XPU_F32);
        const int64_t most = i ? STEP - !is_left : STEP;
        const char *now = pw_binary(w, NULL, "elementwise_min", &b, by, pw_scalar(w, XPU_I64, (double)most));
        by = pw_binary(w, NULL, "elementwise_sub", &b, by, now);
        const char *power = pw_cast(w, NULL, now, &b, XPU_F32);
        const char *two = pw_scale(w, NULL, power, &real, 0, 2);
        power = pw_cast(w, NULL, pw_binary(w, NULL, "elementwise_pow", &real, two, power), &real, XPU_I64);
        if (!is_left) {
            const char *rest = pw_binary(w, NULL, "elementwise_mod", &wide, x, power);
            x = pw_binary(w, NULL, "elementwise_sub", &wide, x, rest);
        }
        x = pw_binary(w, i + 1 == STEPS && y.dtype == XPU_I64 ? pw_result(w, 0) : NULL, row->name, &wide, x, power);
    }
    if (y.dtype != XPU_I64) pw_cast(w, pw_result(w, 0), x, &wide, y.dtype);
}

/* PaddlePaddle's remainder has the divisor's sign: that of the sizes, with the sign of the first one. */
void pw_write_fmod(pw *w, const pw_row *row) {
    const pw_type y = pw_result_type(w, 0), flag = pw_as(y, XPU_BOOL), b = pw_operand_type(w, 1);
    pw_type a;
    const char *x = operand_as(w, 0, y.dtype, y.rank, &a);
    x = pw_expand(w, NULL, x, &a, &y);
    const char *size = pw_make(w, NULL, NULL, "abs", &y, x, NULL);
    const char *by = pw_make(w, NULL, NULL, "abs", &b, pw_operand(w, 1), NULL);
    const char *rest = pw_binary(w, NULL, row->name, &y, size, by);
    const char *below = pw_binary(w, NULL, "less_than", &flag, x, pw_scalar(w, y.dtype, 0));
    pw_where(w, pw_result(w, 0), below, pw_scale(w, NULL, rest, &y, -1, 0), rest);
}

/* Operands have one shape. */
void pw_write_where(pw *w, const pw_row *row) {
    const pw_type gives = pw_result_type(w, 0);
    const char *operands[3];
    (void)row;
    for (uint32_t i = 0; i < 3; i++) {
        const pw_type type = pw_operand_type(w, i);
        operands[i] = pw_expand(w, NULL, pw_operand(w, i), &type, &gives);
    }
    pw_where(w, pw_result(w, 0), operands[0], operands[1], operands[2]);
}
