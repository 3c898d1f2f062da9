/* What stands in ONNX for each operator of the core, one row each. */
#include <math.h>

#include "convert/onnx_writer.h"

/* clang-format off */
static const ow_row rows[XPU_OP_COUNT] = {
#define SAME(op, ...) [XPU_OP_##op] = {.write = ow_write_same, .name = __VA_ARGS__}
#define BY(op, function, ...) [XPU_OP_##op] = {.write = ow_write_##function, .name = __VA_ARGS__}
#define LATE(op, late, ...) [XPU_OP_##op] = {.write = ow_write_same, .brain = late, .name = __VA_ARGS__}
#define ARITHMETIC(op, ...) [XPU_OP_##op] = {.write = ow_write_same, .small = OW_SMALL_OPSET, .name = __VA_ARGS__}
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
    BY(NONZERO_COUNTS, nonzero_counts, "NonZero"),
    BY(NONZERO, nonzero, "NonZero"),
    BY(RANGE, range, "Range"),
    BY(PAD, pad, "Pad"),
    SAME(IDENTITY, "Identity"),
    BY(IF, if, "If"),
    BY(LOOP, loop, "Loop"),
    [XPU_OP_RAISE] = {.write = ow_write_raise},
    BY(DIM_VALUES, dim_values, "Shape"),
    BY(QUANTIZE, quantize, "QuantizeLinear"),
    BY(DEQUANTIZE, dequantize, "DequantizeLinear"),
    BY(DYNAMIC_QUANTIZE, dynamic_quantize, "DynamicQuantizeLinear"),
    BY(QCONV, integer_product, "ConvInteger"),
    BY(QMATMUL, integer_product, "MatMulInteger"),
    BY(CONV_TRANSPOSE, conv_transpose, "ConvTranspose"),
    BY(REPEAT, repeat, "Resize"),
    BY(RESAMPLE, resample, "Resize"),
    ARITHMETIC(ADD, "Add"), ARITHMETIC(SUB, "Sub"), ARITHMETIC(MUL, "Mul"), ARITHMETIC(DIV, "Div"), SAME(MAX, "Max"), SAME(MIN, "Min"),
    SAME(NEG, "Neg"), SAME(ABS, "Abs"), BY(RELU, relu, "Relu"),
    LATE(LEAKY_RELU, 16, "LeakyRelu", {{XPU_ATTR_ALPHA, "alpha"}}),
    BY(CLIP, clip, "Clip"),
    SAME(SIGMOID, "Sigmoid"), SAME(TANH, "Tanh"),
    LATE(HARD_SIGMOID, 22, "HardSigmoid", {{XPU_ATTR_ALPHA, "alpha"}, {XPU_ATTR_BETA, "beta"}}),
    BY(HARD_SWISH, hard_swish, "HardSwish", .brain = 22),
    SAME(EXP, "Exp"), SAME(LOG, "Log"), SAME(SQRT, "Sqrt"), SAME(ERF, "Erf"), LATE(SOFTPLUS, 22, "Softplus"),
    BY(GELU, gelu, "Gelu"), BY(GELU_TANH, gelu, "Gelu"),
    SAME(RECIPROCAL, "Reciprocal"), LATE(SOFTSIGN, 22, "Softsign"), SAME(FLOOR, "Floor"), SAME(CEIL, "Ceil"),
    LATE(ROUND, 22, "Round"), SAME(SIGN, "Sign"), LATE(PRELU, 16, "PRelu"),
    LATE(THRESHOLDED_RELU, 22, "ThresholdedRelu", {{XPU_ATTR_ALPHA, "alpha"}}),
    LATE(SHRINK, XPU_CONVERT_MAX_OPSET + 1, "Shrink", {{XPU_ATTR_ALPHA, "lambd"}, {XPU_ATTR_BETA, "bias"}}),
    LATE(ELU, 22, "Elu", {{XPU_ATTR_ALPHA, "alpha"}}),
    LATE(SELU, 22, "Selu", {{XPU_ATTR_ALPHA, "alpha"}, {XPU_ATTR_BETA, "gamma"}}),
    [XPU_OP_CELU] = {.write = ow_write_same, .name = "Celu", .attrs = {{XPU_ATTR_ALPHA, "alpha"}}, .half = 28, .brain = 28},
    BY(MISH, mish, "Mish", .brain = 22), BY(SWISH, swish, "Swish"),
    LATE(POW, 15, "Pow"),
    BY(CONVERT, cast, "Cast"),
    LATE(WHERE, 16, "Where"), SAME(EQUAL, "Equal"),
    BY(LESS, compare, "Less"), BY(LESS_OR_EQUAL, compare, "LessOrEqual", .brain = 16),
    BY(GREATER, compare, "Greater"), BY(GREATER_OR_EQUAL, compare, "GreaterOrEqual", .brain = 16),
    SAME(AND, "And"), SAME(OR, "Or"), SAME(XOR, "Xor"), SAME(NOT, "Not"),
    BY(BIT_AND, bits, "BitwiseAnd"), BY(BIT_OR, bits, "BitwiseOr"), BY(BIT_XOR, bits, "BitwiseXor"),
    BY(BIT_NOT, bits, "BitwiseNot"),
    BY(SHIFT_LEFT, shift, "LEFT"), BY(SHIFT_RIGHT, shift, "RIGHT"),
    BY(MOD, modulo, "Mod"), BY(FMOD, modulo, "Mod"),
    LATE(SIN, 22, "Sin"), LATE(COS, 22, "Cos"), LATE(TAN, 22, "Tan"), LATE(ASIN, 22, "Asin"), LATE(ACOS, 22, "Acos"), LATE(ATAN, 22, "Atan"),
    LATE(SINH, 22, "Sinh"), LATE(COSH, 22, "Cosh"), LATE(ASINH, 22, "Asinh"), LATE(ACOSH, 22, "Acosh"), LATE(ATANH, 22, "Atanh"),
#undef SAME
#undef LATE
#undef ARITHMETIC
#undef BY
};
/* clang-format on */

const ow_row *ow_row_of(xpu_op_id op) {
    return &rows[op];
}

void ow_write_raise(ow *w, const ow_row *row) {
    (void)row;
    ow_refuse(w, XPU_REFUSED_RAISE);
}

void ow_write_node(ow *w, xpu_node node) {
    const xpu_node outer = w->node;
    const ow_row *row = ow_row_of(xpu_op_id_of(xpu_node_at(w->graph, node)->op));
    w->node = node;
    if (row->write)
        row->write(w, row);
    else
        ow_refuse(w, xpu_convert_no_row(w->graph, node));
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

/* Whether the opset's operator takes this type. */
static int takes(ow *w, const ow_row *row, xpu_dtype dtype) {
    return !(dtype == XPU_F16 && !ow_has(w, row->half)) && !(dtype == XPU_BF16 && !ow_has(w, row->brain)) &&
           !(ow_is_small(dtype) && !ow_has(w, row->small));
}

/* An operand as the operator takes it. Real numbers of 16 bits are computed in float32 and rounded once, as in the
 * core; the low bits of integers are the same in int32. */
static const char *taken(ow *w, const ow_row *row, uint32_t i) {
    const char *name = ow_in(w, i);
    if (!name[0]) return name;
    const xpu_dtype dtype = ow_info_in(w, i)->dtype;
    return takes(w, row, dtype) ? name : ow_cast(w, NULL, name, ow_is_small(dtype) ? XPU_I32 : XPU_F32);
}

/* All operands, the result, the attributes of the row. */
void ow_write_same(ow *w, const ow_row *row) {
    const uint32_t count = xpu_node_at(w->graph, w->node)->input_count;
    const xpu_dtype dtype = ow_info_out(w, 0)->dtype;
    const int narrows = !takes(w, row, dtype);
    const char *operands[XPU_MAX_RANK] = {NULL};
    ow_node *node;
    for (uint32_t i = 0; i < count && i < XPU_MAX_RANK; i++) operands[i] = taken(w, row, i);
    const char *y = ow_make(w, &node, narrows ? NULL : ow_out(w, 0), row->name, operands[0], NULL, NULL);
    for (uint32_t i = 1; i < count; i++) ow_input(w, node, operands[i]);
    ow_attrs(w, node, row);
    if (narrows) ow_cast(w, ow_out(w, 0), y, dtype);
}

/* Integers have no Relu before opset 14. */
void ow_write_relu(ow *w, const ow_row *row) {
    const xpu_dtype dtype = ow_info_in(w, 0)->dtype;
    const int is_real = dtype == XPU_F32 || dtype == XPU_F64 || dtype == XPU_F16 || dtype == XPU_BF16;
    if (!is_real && !ow_has(w, OW_SMALL_OPSET))
        ow_binary(w, ow_out(w, 0), "Max", ow_in(w, 0), ow_number(w, "zero", dtype, 0));
    else
        ow_write_same(w, row);
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

/* The operand of what is written out. */
static const char *widened(ow *w) {
    const char *x = ow_in(w, 0);
    return xpu_dtype_bytes(ow_info_in(w, 0)->dtype) == 2 ? ow_cast(w, NULL, x, XPU_F32) : x;
}

/* The last product of what is written out. */
static void product(ow *w, const char *a, const char *b) {
    const xpu_dtype dtype = ow_info_out(w, 0)->dtype;
    const int narrows = xpu_dtype_bytes(dtype) == 2;
    const char *y = ow_binary(w, narrows ? NULL : ow_out(w, 0), "Mul", a, b);
    if (narrows) ow_cast(w, ow_out(w, 0), y, dtype);
}

void ow_write_hard_swish(ow *w, const ow_row *row) {
    ow_node *node;
    if (ow_has(w, 14) && takes(w, row, ow_info_in(w, 0)->dtype)) {
        ow_unary(w, ow_out(w, 0), row->name, ow_in(w, 0));
        return;
    }
    const char *x = widened(w), *gate = ow_make(w, &node, NULL, "HardSigmoid", x, NULL, NULL);
    ow_float(w, node, "alpha", 1.0f / 6.0f);
    ow_float(w, node, "beta", 0.5f);
    product(w, x, gate);
}

static const char *number(ow *w, const char *word, double value) {
    const xpu_dtype dtype = ow_info_in(w, 0)->dtype;
    return ow_number(w, word, xpu_dtype_bytes(dtype) == 2 ? XPU_F32 : dtype, value);
}

void ow_write_gelu(ow *w, const ow_row *row) {
    const char *inner;
    const int is_tanh = xpu_node_is(w->graph, w->node, XPU_OP_GELU_TANH);
    ow_node *node;
    if (ow_has(w, 20)) {
        ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), NULL, NULL);
        if (is_tanh) ow_string(w, node, "approximate", "tanh");
        return;
    }
    const char *x = widened(w);
    if (is_tanh) {
        inner = ow_binary(w, NULL, "Pow", x, number(w, "three", 3.0));
        inner = ow_binary(w, NULL, "Add", x, ow_binary(w, NULL, "Mul", inner, number(w, "cubic", 0.044715)));
        inner = ow_unary(w, NULL, "Tanh", ow_binary(w, NULL, "Mul", inner, number(w, "scale", 0.7978845608028654)));
    } else {
        inner = ow_unary(w, NULL, "Erf", ow_binary(w, NULL, "Mul", x, number(w, "scale", 0.7071067811865476)));
    }
    inner = ow_binary(w, NULL, "Add", inner, number(w, "one", 1.0));
    product(w, ow_binary(w, NULL, "Mul", x, number(w, "half", 0.5)), inner);
}

void ow_write_mish(ow *w, const ow_row *row) {
    if (ow_has(w, 18) && takes(w, row, ow_info_in(w, 0)->dtype)) {
        ow_unary(w, ow_out(w, 0), row->name, ow_in(w, 0));
        return;
    }
    const char *x = widened(w);
    product(w, x, ow_unary(w, NULL, "Tanh", ow_unary(w, NULL, "Softplus", x)));
}

void ow_write_swish(ow *w, const ow_row *row) {
    const float alpha = xpu_node_float(w->graph, w->node, XPU_ATTR_ALPHA);
    ow_node *node;
    if (ow_has(w, 24)) {
        ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), NULL, NULL);
        ow_float(w, node, "alpha", alpha);
        return;
    }
    const char *x = widened(w), *inner = x;
    if (alpha != 1.0f) inner = ow_binary(w, NULL, "Mul", x, number(w, "alpha", (double)alpha));
    product(w, x, ow_unary(w, NULL, "Sigmoid", inner));
}

/* Of bools 0 < 1. */
void ow_write_compare(ow *w, const ow_row *row) {
    const char *a = taken(w, row, 0), *b = taken(w, row, 1);
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
    if (ow_requires(w, XPU_SINCE_BITWISE, row->name)) ow_write_same(w, row);
}

/* ONNX shifts what is unsigned: bits that go left are the same. */
void ow_write_shift(ow *w, const ow_row *row) {
    static const xpu_dtype unsigned_of[XPU_DTYPE_COUNT] = {
        [XPU_I8] = XPU_U8, [XPU_I16] = XPU_U16, [XPU_I32] = XPU_U32, [XPU_I64] = XPU_U64};
    const xpu_dtype dtype = ow_info_in(w, 0)->dtype, other = unsigned_of[dtype];
    const char *a = ow_in(w, 0), *b = ow_in(w, 1);
    ow_node *node;
    if (other && !ow_has(w, 28) && xpu_node_is(w->graph, w->node, XPU_OP_SHIFT_RIGHT)) {
        ow_requires(w, XPU_SINCE_SIGNED_SHIFT, NULL);
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
