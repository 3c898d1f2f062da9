/* What stands in ONNX for each operator of the core, one row each. */
#include <math.h>

#include "convert/onnx_writer.h"

#define MADE_BY_COMPILER "only passes make it"

/* clang-format off */
static const ow_row rows[XPU_OP_COUNT] = {
#define SAME(op, ...) [XPU_OP_##op] = {.write = ow_write_same, .name = __VA_ARGS__}
#define BY(op, function, ...) [XPU_OP_##op] = {.write = ow_write_##function, .name = __VA_ARGS__}
#define NONE(op, why) [XPU_OP_##op] = {.none = why}
    BY(CONV, conv, "Conv"),
    BY(MATMUL, matmul, "MatMul"),
    BY(RECURRENT, recurrent, "LSTM"),
    BY(MAX_POOL, max_pool, "MaxPool"),
    BY(AVERAGE_POOL, average_pool, "AveragePool"),
    SAME(GLOBAL_AVERAGE_POOL, "GlobalAveragePool"),
    BY(BATCH_NORM, batch_norm, "BatchNormalization", {{XPU_ATTR_EPSILON, "epsilon"}}),
    BY(NORM, norm, "LayerNormalization"),
    BY(SOFTMAX, softmax, "Softmax"),
    BY(REDUCE_SUM, reduce, "ReduceSum"),
    BY(REDUCE_MEAN, reduce, "ReduceMean"),
    BY(REDUCE_MAX, reduce, "ReduceMax"),
    BY(REDUCE_MIN, reduce, "ReduceMin"),
    BY(REDUCE_PROD, reduce, "ReduceProd"),
    BY(RESHAPE, reshape, "Reshape"),
    BY(TRANSPOSE, transpose, "Transpose"),
    BY(CONCAT, concat, "Concat"),
    BY(SLICE, slice, "Slice"),
    BY(EXPAND, expand, "Expand"),
    BY(GATHER, gather, "Gather"),
    BY(GATHER_ELEMENTS, gather, "GatherElements"),
    BY(GATHER_ND, gather_nd, "GatherND"),
    BY(SCATTER_ELEMENTS, scatter, "ScatterElements"),
    BY(SCATTER_ND, scatter, "ScatterND"),
    BY(TOP, top, "TopK"),
    BY(NMS, nms, "NonMaxSuppression"),
    BY(RANDOM, random, "RandomUniform"),
    BY(NONZERO_COUNTS, nonzero_counts, "ReduceSum"),
    BY(NONZERO, nonzero, "NonZero"),
    BY(RANGE, range, "Range"),
    BY(PAD, pad, "Pad"),
    SAME(IDENTITY, "Identity"),
    BY(IF, if, "If"),
    BY(LOOP, loop, "Loop"),
    NONE(REGION, MADE_BY_COMPILER),
    NONE(RAISE, "it ends the run with an error: no shape of a branch fits"),
    BY(DIM_VALUES, dim_values, "Shape"),
    NONE(CHAIN, MADE_BY_COMPILER),
    NONE(RELAYOUT, MADE_BY_COMPILER),
    NONE(ABSMAX, MADE_BY_COMPILER),
    NONE(ROW_SCALE, MADE_BY_COMPILER),
    NONE(ROW_RESTORE, MADE_BY_COMPILER),
    NONE(PACK_MATRIX, MADE_BY_COMPILER),
    NONE(PACKED_MATMUL, MADE_BY_COMPILER),
    NONE(SOFTMAX_PARTS, MADE_BY_COMPILER),
    BY(QUANTIZE, quantize, "QuantizeLinear"),
    BY(DEQUANTIZE, dequantize, "DequantizeLinear"),
    BY(DYNAMIC_QUANTIZE, dynamic_quantize, "DynamicQuantizeLinear"),
    BY(QCONV, integer_product, "ConvInteger"),
    BY(QMATMUL, integer_product, "MatMulInteger"),
    NONE(QADD, MADE_BY_COMPILER),
    NONE(QMUL, MADE_BY_COMPILER),
    NONE(QGLOBAL_AVERAGE_POOL, MADE_BY_COMPILER),
    NONE(LOOKUP, MADE_BY_COMPILER),
    BY(CONV_TRANSPOSE, conv_transpose, "ConvTranspose"),
    NONE(INTERLEAVE, MADE_BY_COMPILER),
    BY(REPEAT, repeat, "Resize"),
    BY(RESAMPLE, resample, "Resize"),
    SAME(ADD, "Add"), SAME(SUB, "Sub"), SAME(MUL, "Mul"), SAME(DIV, "Div"), SAME(MAX, "Max"), SAME(MIN, "Min"),
    SAME(NEG, "Neg"), SAME(ABS, "Abs"), SAME(RELU, "Relu"),
    SAME(LEAKY_RELU, "LeakyRelu", {{XPU_ATTR_ALPHA, "alpha"}}),
    BY(CLIP, clip, "Clip"),
    SAME(SIGMOID, "Sigmoid"), SAME(TANH, "Tanh"),
    SAME(HARD_SIGMOID, "HardSigmoid", {{XPU_ATTR_ALPHA, "alpha"}, {XPU_ATTR_BETA, "beta"}}),
    BY(HARD_SWISH, hard_swish, "HardSwish"),
    SAME(EXP, "Exp"), SAME(LOG, "Log"), SAME(SQRT, "Sqrt"), SAME(ERF, "Erf"), SAME(SOFTPLUS, "Softplus"),
    BY(GELU, gelu, "Gelu"), BY(GELU_TANH, gelu, "Gelu"),
    SAME(RECIPROCAL, "Reciprocal"), SAME(SOFTSIGN, "Softsign"), SAME(FLOOR, "Floor"), SAME(CEIL, "Ceil"),
    SAME(ROUND, "Round"), SAME(SIGN, "Sign"), SAME(PRELU, "PRelu"),
    SAME(THRESHOLDED_RELU, "ThresholdedRelu", {{XPU_ATTR_ALPHA, "alpha"}}),
    SAME(SHRINK, "Shrink", {{XPU_ATTR_ALPHA, "lambd"}, {XPU_ATTR_BETA, "bias"}}),
    SAME(ELU, "Elu", {{XPU_ATTR_ALPHA, "alpha"}}),
    SAME(SELU, "Selu", {{XPU_ATTR_ALPHA, "alpha"}, {XPU_ATTR_BETA, "gamma"}}),
    SAME(CELU, "Celu", {{XPU_ATTR_ALPHA, "alpha"}}),
    BY(MISH, mish, "Mish"), BY(SWISH, swish, "Swish"),
    SAME(POW, "Pow"),
    BY(CONVERT, cast, "Cast"),
    SAME(WHERE, "Where"), SAME(EQUAL, "Equal"),
    BY(LESS, compare, "Less"), BY(LESS_OR_EQUAL, compare, "LessOrEqual"),
    BY(GREATER, compare, "Greater"), BY(GREATER_OR_EQUAL, compare, "GreaterOrEqual"),
    SAME(AND, "And"), SAME(OR, "Or"), SAME(XOR, "Xor"), SAME(NOT, "Not"),
    BY(BIT_AND, bits, "BitwiseAnd"), BY(BIT_OR, bits, "BitwiseOr"), BY(BIT_XOR, bits, "BitwiseXor"),
    BY(BIT_NOT, bits, "BitwiseNot"),
    BY(SHIFT_LEFT, shift, "LEFT"), BY(SHIFT_RIGHT, shift, "RIGHT"),
    BY(MOD, modulo, "Mod"), BY(FMOD, modulo, "Mod"),
    SAME(SIN, "Sin"), SAME(COS, "Cos"), SAME(TAN, "Tan"), SAME(ASIN, "Asin"), SAME(ACOS, "Acos"), SAME(ATAN, "Atan"),
    SAME(SINH, "Sinh"), SAME(COSH, "Cosh"), SAME(ASINH, "Asinh"), SAME(ACOSH, "Acosh"), SAME(ATANH, "Atanh"),
#undef SAME
#undef BY
#undef NONE
};
/* clang-format on */

const ow_row *ow_row_of(xpu_op_id op) {
    return &rows[op];
}

void ow_write_node(ow *w, xpu_node node) {
    const xpu_node outer = w->node;
    const ow_row *row = ow_row_of(xpu_op_id_of(xpu_node_at(w->graph, node)->op));
    w->node = node;
    if (row->write)
        row->write(w, row);
    else
        ow_refuse(w, row->none ? row->none : "there is no row for it", "leave the operator out of the model");
    w->node = outer;
}

void ow_attrs(ow *w, ow_node *node, const ow_row *row) {
    for (size_t i = 0; i < sizeof row->attrs / sizeof *row->attrs && row->attrs[i].name; i++) {
        if (xpu_attr_type_of(row->attrs[i].id) == XPU_ATTR_TYPE_FLOAT)
            ow_float(w, node, row->attrs[i].name, xpu_node_float(w->graph, w->node, row->attrs[i].id));
        else
            ow_int(w, node, row->attrs[i].name, xpu_node_int(w->graph, w->node, row->attrs[i].id));
    }
}

/* ---- elementwise ---- */

/* All operands, all results, the attributes of the row. */
void ow_write_same(ow *w, const ow_row *row) {
    const xpu_node_info *info = xpu_node_at(w->graph, w->node);
    ow_node *node;
    ow_make(w, &node, ow_out(w, 0), row->name, info->input_count ? ow_in(w, 0) : NULL, NULL, NULL);
    for (uint32_t i = 1; i < xpu_node_at(w->graph, w->node)->input_count; i++) ow_input(w, node, ow_in(w, i));
    ow_attrs(w, node, row);
}

void ow_write_cast(ow *w, const ow_row *row) {
    (void)row;
    ow_cast(w, ow_out(w, 0), ow_in(w, 0), ow_info_out(w, 0)->dtype);
}

void ow_write_clip(ow *w, const ow_row *row) {
    ow_node *node;
    const float low = xpu_node_float(w->graph, w->node, XPU_ATTR_LOW);
    const float high = xpu_node_float(w->graph, w->node, XPU_ATTR_HIGH);
    const xpu_dtype dtype = ow_info_in(w, 0)->dtype;
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), NULL, NULL);
    const int below = low > -INFINITY, above = high < INFINITY;
    if (below || above) ow_input(w, node, below ? ow_number(w, "min", dtype, (double)low) : "");
    if (above) ow_input(w, node, ow_number(w, "max", dtype, (double)high));
}

void ow_write_hard_swish(ow *w, const ow_row *row) {
    ow_node *node;
    const char *x = ow_in(w, 0);
    if (ow_has(w, 14)) {
        ow_unary(w, ow_out(w, 0), row->name, x);
        return;
    }
    const char *gate = ow_make(w, &node, NULL, "HardSigmoid", x, NULL, NULL);
    ow_float(w, node, "alpha", 1.0f / 6.0f);
    ow_float(w, node, "beta", 0.5f);
    ow_binary(w, ow_out(w, 0), "Mul", x, gate);
}

static const char *number(ow *w, const char *word, double value) {
    return ow_number(w, word, ow_info_in(w, 0)->dtype, value);
}

void ow_write_gelu(ow *w, const ow_row *row) {
    const char *x = ow_in(w, 0), *inner;
    const int is_tanh = xpu_node_is(w->graph, w->node, XPU_OP_GELU_TANH);
    ow_node *node;
    if (ow_has(w, 20)) {
        ow_make(w, &node, ow_out(w, 0), row->name, x, NULL, NULL);
        if (is_tanh) ow_string(w, node, "approximate", "tanh");
        return;
    }
    if (is_tanh) {
        inner = ow_binary(w, NULL, "Pow", x, number(w, "three", 3.0));
        inner = ow_binary(w, NULL, "Add", x, ow_binary(w, NULL, "Mul", inner, number(w, "cubic", 0.044715)));
        inner = ow_unary(w, NULL, "Tanh", ow_binary(w, NULL, "Mul", inner, number(w, "scale", 0.7978845608028654)));
    } else {
        inner = ow_unary(w, NULL, "Erf", ow_binary(w, NULL, "Mul", x, number(w, "scale", 0.7071067811865476)));
    }
    inner = ow_binary(w, NULL, "Add", inner, number(w, "one", 1.0));
    ow_binary(w, ow_out(w, 0), "Mul", ow_binary(w, NULL, "Mul", x, number(w, "half", 0.5)), inner);
}

void ow_write_mish(ow *w, const ow_row *row) {
    const char *x = ow_in(w, 0);
    if (ow_has(w, 18)) {
        ow_unary(w, ow_out(w, 0), row->name, x);
        return;
    }
    ow_binary(w, ow_out(w, 0), "Mul", x, ow_unary(w, NULL, "Tanh", ow_unary(w, NULL, "Softplus", x)));
}

void ow_write_swish(ow *w, const ow_row *row) {
    const char *x = ow_in(w, 0), *inner = x;
    const float alpha = xpu_node_float(w->graph, w->node, XPU_ATTR_ALPHA);
    ow_node *node;
    if (ow_has(w, 24)) {
        ow_make(w, &node, ow_out(w, 0), row->name, x, NULL, NULL);
        ow_float(w, node, "alpha", alpha);
        return;
    }
    if (alpha != 1.0f) inner = ow_binary(w, NULL, "Mul", x, number(w, "alpha", (double)alpha));
    ow_binary(w, ow_out(w, 0), "Mul", x, ow_unary(w, NULL, "Sigmoid", inner));
}

/* Of bools 0 < 1. */
void ow_write_compare(ow *w, const ow_row *row) {
    const char *a = ow_in(w, 0), *b = ow_in(w, 1);
    if (ow_info_in(w, 0)->dtype == XPU_BOOL) {
        a = ow_cast(w, NULL, a, XPU_I32);
        b = ow_cast(w, NULL, b, XPU_I32);
    }
    ow_binary(w, ow_out(w, 0), row->name, a, b);
}

void ow_write_modulo(ow *w, const ow_row *row) {
    ow_node *node;
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), ow_in(w, 1), NULL);
    if (xpu_node_is(w->graph, w->node, XPU_OP_FMOD)) ow_int(w, node, "fmod", 1);
}

void ow_write_bits(ow *w, const ow_row *row) {
    if (ow_requires(w, 18, row->name)) ow_write_same(w, row);
}

/* ONNX shifts what is unsigned: bits that go left are the same. */
void ow_write_shift(ow *w, const ow_row *row) {
    static const xpu_dtype unsigned_of[XPU_DTYPE_COUNT] = {
        [XPU_I8] = XPU_U8, [XPU_I16] = XPU_U16, [XPU_I32] = XPU_U32, [XPU_I64] = XPU_U64};
    const xpu_dtype dtype = ow_info_in(w, 0)->dtype, other = unsigned_of[dtype];
    const char *a = ow_in(w, 0), *b = ow_in(w, 1);
    ow_node *node;
    if (other && !ow_has(w, 28) && xpu_node_is(w->graph, w->node, XPU_OP_SHIFT_RIGHT)) {
        ow_requires(w, 28, "a shift of signed integers to the right");
        return;
    }
    const int as_other = other && !ow_has(w, 28);
    if (as_other) {
        a = ow_cast(w, NULL, a, other);
        b = ow_cast(w, NULL, b, other);
    }
    const char *y = ow_make(w, &node, as_other ? NULL : ow_out(w, 0), "BitShift", a, b, NULL);
    ow_string(w, node, "direction", row->name);
    if (as_other) ow_cast(w, ow_out(w, 0), y, dtype);
}
