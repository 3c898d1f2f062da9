/* What stands in PaddlePaddle for each operator of the core, one row each; elementwise operators. */
#include <float.h>
#include <string.h>

#include "convert/paddle_writer.h"

#define NO_SHIFTS "PaddlePaddle 2.6 has no shifts"

/* clang-format off */
static const pw_row rows[XPU_OP_COUNT] = {
#define UNARY(op, ...) [XPU_OP_##op] = {.write = pw_write_unary, .name = __VA_ARGS__}
#define BINARY(op, text) [XPU_OP_##op] = {.write = pw_write_binary, .name = text}
#define BY(op, function, text) [XPU_OP_##op] = {.write = pw_write_##function, .name = text}
#define NONE(op, why) [XPU_OP_##op] = {.none = why}
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
    NONE(NMS, "PaddlePaddle's suppression gives other results"),
    BY(RANDOM, random, "uniform_random"),
    BY(NONZERO_COUNTS, nonzero_counts, "where_index"),
    BY(NONZERO, nonzero, "where_index"),
    BY(RANGE, range, "range"),
    BY(PAD, pad, "pad"),
    BY(IDENTITY, identity, "assign"),
    BY(IF, if, "if"),
    BY(LOOP, loop, "while"),
    NONE(RAISE, "it ends the run with an error"),
    BY(DIM_VALUES, dim_values, "shape"),
    BY(QUANTIZE, quantize, "quantize_linear"),
    BY(DEQUANTIZE, dequantize, "dequantize_linear"),
    NONE(DYNAMIC_QUANTIZE, "PaddlePaddle has no scales that a run finds"),
    NONE(QCONV, "PaddlePaddle's convolutions take floats"),
    NONE(QMATMUL, "PaddlePaddle's products take floats"),
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
    BY(SHRINK, shrink, "softshrink"),
    UNARY(ELU, "elu", {{XPU_ATTR_ALPHA, "alpha"}}),
    UNARY(SELU, "selu", {{XPU_ATTR_ALPHA, "alpha"}, {XPU_ATTR_BETA, "scale"}}),
    UNARY(CELU, "celu", {{XPU_ATTR_ALPHA, "alpha"}}),
    UNARY(MISH, "mish"), BY(SWISH, swish, "swish"),
    BINARY(POW, "elementwise_pow"), BY(CONVERT, cast, "cast"), BY(WHERE, where, "where"),
    BINARY(EQUAL, "equal"), BINARY(LESS, "less_than"), BINARY(LESS_OR_EQUAL, "less_equal"),
    BINARY(GREATER, "greater_than"), BINARY(GREATER_OR_EQUAL, "greater_equal"),
    BINARY(AND, "logical_and"), BINARY(OR, "logical_or"), BINARY(XOR, "logical_xor"), UNARY(NOT, "logical_not"),
    BINARY(BIT_AND, "bitwise_and"), BINARY(BIT_OR, "bitwise_or"), BINARY(BIT_XOR, "bitwise_xor"),
    UNARY(BIT_NOT, "bitwise_not"),
    NONE(SHIFT_LEFT, NO_SHIFTS), NONE(SHIFT_RIGHT, NO_SHIFTS),
    BINARY(MOD, "elementwise_mod"), NONE(FMOD, "PaddlePaddle's remainder has the divisor's sign"),
    UNARY(SIN, "sin"), UNARY(COS, "cos"), UNARY(TAN, "tan"), UNARY(ASIN, "asin"), UNARY(ACOS, "acos"),
    UNARY(ATAN, "atan"), UNARY(SINH, "sinh"), UNARY(COSH, "cosh"), UNARY(ASINH, "asinh"), UNARY(ACOSH, "acosh"),
    UNARY(ATANH, "atanh"),
#undef UNARY
#undef BINARY
#undef BY
#undef NONE
};
/* clang-format on */

void pw_write_node(pw *w, xpu_node node) {
    const pw_row *row = &rows[xpu_op_id_of(xpu_node_at(w->graph, node)->op)];
    const xpu_node outer = w->node;
    w->node = node;
    if (row->write)
        row->write(w, row);
    else
        pw_refuse(w, row->none ? row->none : xpu_convert_no_row(w->graph, node), "leave the operator out of the model");
    w->node = outer;
}

static void select_by(pw *w, const char *result, const char *condition, const char *x, const char *y) {
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

static const char *bound(pw *w, const char *type, const char *result, const char *x, double limit) {
    const pw_type gives = pw_operand_type(w, 0);
    return pw_binary(w, result, type, &gives, x, pw_scalar(w, gives.dtype, limit));
}

void pw_write_unary(pw *w, const pw_row *row) {
    const pw_type gives = pw_result_type(w, 0);
    if (xpu_node_is(w->graph, w->node, XPU_OP_RELU) && !is_float(gives.dtype)) {
        bound(w, "elementwise_max", pw_result(w, 0), pw_operand(w, 0), 0);
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
    select_by(w, pw_result(w, 0), below, scaled, x);
}

void pw_write_shrink(pw *w, const pw_row *row) {
    const float bias = xpu_node_float(w->graph, w->node, XPU_ATTR_BETA);
    const float limit = xpu_node_float(w->graph, w->node, XPU_ATTR_ALPHA);
    (void)row;
    if (bias != 0 && bias != limit) {
        pw_refuse(w, "PaddlePaddle shrinks by the threshold or not at all", "use one number for both");
        return;
    }
    pw_op *op = pw_unary(w, bias == 0 ? "hard_shrink" : "softshrink");
    pw_float(w, op, bias == 0 ? "threshold" : "lambda", limit);
}

/* ---- two and three ---- */

void pw_write_binary(pw *w, const pw_row *row) {
    const pw_type gives = pw_result_type(w, 0), a = pw_operand_type(w, 0), b = pw_operand_type(w, 1);
    const char *x = pw_operand(w, 0), *y = pw_operand(w, 1);
    /* An operand of a lower rank stands second, or gets dims of 1. */
    if (a.rank < b.rank) {
        pw_type wide = {.dtype = a.dtype, .rank = b.rank};
        for (int i = 0; i < b.rank; i++)
            wide.dims[i] = i < b.rank - a.rank ? xpu_dim_const(&w->graph->dims, 1) : a.dims[i - (b.rank - a.rank)];
        x = pw_reshape(w, NULL, x, &a, &wide);
    }
    pw_binary(w, pw_result(w, 0), row->name, &gives, x, y);
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
    select_by(w, pw_result(w, 0), operands[0], operands[1], operands[2]);
}
