/* The operators that the importer supports, one row each. Rows are in alphabetical order. */
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "frontend/onnx/importer.h"

enum { MAX_VERSIONS = 12 };

/* ---- what ONNX has ---- */

typedef struct {
    const char *name;
    int versions[MAX_VERSIONS]; /* ascending, 0 at the end */
} known_operator;

static const known_operator known[] = {
#define ONNX(name, ...) {#name, {__VA_ARGS__}},
#include "frontend/onnx/operators.def"
#undef ONNX
};
enum { KNOWN = sizeof known / sizeof *known };

/* Both tables are in the order of strcmp, and begin each row with its name. */
static int compare_name(const void *name, const void *row) {
    return strcmp(name, *(const char *const *)row);
}

static const known_operator *find_known(const char *name) {
    return bsearch(name, known, KNOWN, sizeof *known, compare_name);
}

int xpu_onnx_known_version(const char *name, int opset) {
    const known_operator *op = find_known(name);
    if (!op) return -1;
    int version = 0;
    for (int i = 0; op->versions[i] && op->versions[i] <= opset; i++) version = op->versions[i];
    return version;
}

const char *xpu_onnx_nearest_operator(const char *name) {
    const char *names[KNOWN + 1];
    for (size_t i = 0; i < KNOWN; i++) names[i] = known[i].name;
    names[KNOWN] = NULL;
    return strlen(name) > 60 ? NULL : xpu_nearest(name, names);
}

/* ---- what the importer has ---- */

#define WINDOW_ATTRS                                                                                                   \
    {"auto_pad", XPU_ONNX_STRING}, {"pads", XPU_ONNX_INTS}, {                                                          \
        "strides", XPU_ONNX_INTS                                                                                       \
    }

/* clang-format off */
/* Elementwise operators on the types that the core's row takes. A float attribute goes into the core's one; absent, that one's default holds. */
#define SETS(onnx, core) {.name = (onnx), .type = XPU_ONNX_FLOAT, .sets = XPU_ATTR_##core + 1}
#define ELEMENTWISE(onnx, min, max, function, row, text)                                                               \
    {.name = (onnx), .min_inputs = (min), .max_inputs = (max), .max_outputs = 1,                                       \
     .convert = xpu_onnx_convert_##function, .op = XPU_OP_##row, .core = (text), .remarks = ""}
#define UNARY(onnx, row, text)    ELEMENTWISE(onnx, 1, 1, elementwise, row, text)
#define BINARY(onnx, row, text)   ELEMENTWISE(onnx, 2, 2, elementwise, row, text)
#define UNARY_WITH(onnx, row, text, ...)                                                                               \
    {.name = (onnx), .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .convert = xpu_onnx_convert_elementwise,      \
     .op = XPU_OP_##row, .core = (text), .remarks = "", .attrs = {__VA_ARGS__}}
#define VARIADIC(onnx, row, text) ELEMENTWISE(onnx, 1, XPU_ONNX_VARIADIC, variadic, row, text)

/* `from`: the version since which the axes are an operand. */
#define REDUCTION(onnx, row, text, from)                                                                               \
    {.name = (onnx), .min_inputs = 1, .max_inputs = 2, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,                 \
     .convert = xpu_onnx_convert_reduce, .op = XPU_OP_##row, .core = (text ", transpose, reshape"),                    \
     .remarks = "constant axes", .attrs = {{"axes", XPU_ONNX_INTS, 0, from}, {"keepdims", XPU_ONNX_INT},               \
                                           {"noop_with_empty_axes", XPU_ONNX_INT, from}}}

#define REDUCTION_OF(onnx, text)                                                                                       \
    {.name = (onnx), .min_inputs = 1, .max_inputs = 2, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,                 \
     .convert = xpu_onnx_convert_reduce_function, .op = XPU_OP_REDUCE_SUM, .core = (text),                             \
     .remarks = "constant axes", .attrs = {{"axes", XPU_ONNX_INTS, 0, 18}, {"keepdims", XPU_ONNX_INT},                 \
                                           {"noop_with_empty_axes", XPU_ONNX_INT, 18}}}
#define ARG_EXTREME(onnx, row)                                                                                         \
    {.name = (onnx), .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,                 \
     .convert = xpu_onnx_convert_arg_extreme, .op = XPU_OP_##row,                                                      \
     .core = "reduce_max, reduce_min, equal, where, convert", .remarks = "",                                           \
     .attrs = {{"axis", XPU_ONNX_INT}, {"keepdims", XPU_ONNX_INT}, {"select_last_index", XPU_ONNX_INT, 12}}}

static const xpu_onnx_row rows[] = {
    UNARY("Abs", ABS, "abs"),
    UNARY("Acos", ACOS, "acos"),
    UNARY("Acosh", ACOSH, "acosh"),
    BINARY("Add", ADD, "add"),
    BINARY("And", AND, "and"),
    ARG_EXTREME("ArgMax", REDUCE_MAX),
    ARG_EXTREME("ArgMin", REDUCE_MIN),
    UNARY("Asin", ASIN, "asin"),
    UNARY("Asinh", ASINH, "asinh"),
    UNARY("Atan", ATAN, "atan"),
    UNARY("Atanh", ATANH, "atanh"),
    {.name = "Attention", .min_inputs = 3, .max_inputs = 7, .max_outputs = 4, .has_gaps = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_attention, .op = XPU_OP_SOFTMAX,
     .core = "transpose, mul, matmul, tanh, where, add, softmax", .remarks = "a known number of heads; softmax in float32",
     .attrs = {{"is_causal", XPU_ONNX_INT}, {"kv_num_heads", XPU_ONNX_INT}, {"q_num_heads", XPU_ONNX_INT},
               {"qk_matmul_output_mode", XPU_ONNX_INT}, {"scale", XPU_ONNX_FLOAT}, {"softcap", XPU_ONNX_FLOAT},
               {"softmax_precision", XPU_ONNX_INT}, {"left_window_size", XPU_ONNX_INT, 25},
               {"right_window_size", XPU_ONNX_INT, 25}}},
    {.name = "AveragePool", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .convert = xpu_onnx_convert_pool, .op = XPU_OP_AVERAGE_POOL, .core = "average_pool",
     .remarks = "1-D and 2-D",
     .attrs = {WINDOW_ATTRS, {"kernel_shape", XPU_ONNX_INTS}, {"count_include_pad", XPU_ONNX_INT},
               {"ceil_mode", XPU_ONNX_INT, 10}, {"dilations", XPU_ONNX_INTS, 19}}},
    {.name = "BatchNormalization", .min_inputs = 5, .max_inputs = 5, .max_outputs = 5,
     .convert = xpu_onnx_convert_batch_norm, .op = XPU_OP_BATCH_NORM, .core = "batch_norm",
     .remarks = "inference form only; spatial = 1",
     .attrs = {{"epsilon", XPU_ONNX_FLOAT}, {"momentum", XPU_ONNX_FLOAT}, {"spatial", XPU_ONNX_INT, 0, 9},
               {"training_mode", XPU_ONNX_INT, 14}}},
    {.name = "BitShift", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1,
     .convert = xpu_onnx_convert_bit_shift, .op = XPU_OP_SHIFT_LEFT, .core = "shift_left, shift_right", .remarks = "",
     .attrs = {{"direction", XPU_ONNX_STRING}}},
    BINARY("BitwiseAnd", BIT_AND, "bit_and"),
    UNARY("BitwiseNot", BIT_NOT, "bit_not"),
    BINARY("BitwiseOr", BIT_OR, "bit_or"),
    BINARY("BitwiseXor", BIT_XOR, "bit_xor"),
    {.name = "BlackmanWindow", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_window, .op = XPU_OP_IDENTITY, .core = "", .remarks = "a constant size",
     .attrs = {{"output_datatype", XPU_ONNX_INT}, {"periodic", XPU_ONNX_INT}}},
    {.name = "Cast", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_cast, .op = XPU_OP_CONVERT, .core = "convert", .remarks = "no float64, no strings",
     .attrs = {{"to", XPU_ONNX_INT}, {"saturate", XPU_ONNX_INT, 19}, {"round_mode", XPU_ONNX_STRING, 24}}},
    {.name = "CastLike", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_cast, .op = XPU_OP_CONVERT, .core = "convert", .remarks = "no float64, no strings",
     .attrs = {{"saturate", XPU_ONNX_INT, 19}, {"round_mode", XPU_ONNX_STRING, 24}}},
    UNARY("Ceil", CEIL, "ceil"),
    UNARY_WITH("Celu", CELU, "celu", SETS("alpha", ALPHA)),
    {.name = "CenterCropPad", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_center_crop_pad, .op = XPU_OP_PAD, .core = "pad", .remarks = "known dims and a constant shape",
     .attrs = {{"axes", XPU_ONNX_INTS}}},
    {.name = "Clip", .min_inputs = 1, .max_inputs = 3, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_clip, .op = XPU_OP_CLIP, .core = "clip, max, min",
     .remarks = "constant bounds, of integers computed ones too",
     .attrs = {{"min", XPU_ONNX_FLOAT, 0, 11}, {"max", XPU_ONNX_FLOAT, 0, 11}}},
    {.name = "Compress", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_compress, .op = XPU_OP_GATHER, .core = "nonzero, gather", .remarks = "",
     .attrs = {{"axis", XPU_ONNX_INT}}},
    {.name = "Concat", .min_inputs = 1, .max_inputs = XPU_ONNX_VARIADIC, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_concat, .op = XPU_OP_CONCAT, .core = "concat",
     .remarks = "", .attrs = {{"axis", XPU_ONNX_INT}}},
    {.name = "Constant", .min_inputs = 0, .max_inputs = 0, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_constant, .core = "",
     .remarks = "no sparse tensors, no strings",
     .attrs = {{"value", XPU_ONNX_TENSOR}, {"value_float", XPU_ONNX_FLOAT, 12}, {"value_floats", XPU_ONNX_FLOATS, 12},
               {"value_int", XPU_ONNX_INT, 12}, {"value_ints", XPU_ONNX_INTS, 12}}},
    {.name = "ConstantOfShape", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_constant_of_shape, .op = XPU_OP_EXPAND, .core = "expand",
     .remarks = "a computed shape has --bound", .attrs = {{"value", XPU_ONNX_TENSOR}}},
    {.name = "Conv", .min_inputs = 2, .max_inputs = 3, .max_outputs = 1,
     .convert = xpu_onnx_convert_conv, .op = XPU_OP_CONV, .core = "conv",
     .remarks = "1-D and 2-D",
     .attrs = {WINDOW_ATTRS, {"kernel_shape", XPU_ONNX_INTS}, {"dilations", XPU_ONNX_INTS}, {"group", XPU_ONNX_INT}}},
    {.name = "ConvInteger", .min_inputs = 2, .max_inputs = 4, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_integer_product, .op = XPU_OP_QCONV, .core = "qconv",
     .remarks = "1-D and 2-D; one zero point of x",
     .attrs = {WINDOW_ATTRS, {"kernel_shape", XPU_ONNX_INTS}, {"dilations", XPU_ONNX_INTS}, {"group", XPU_ONNX_INT}}},
    {.name = "ConvTranspose", .min_inputs = 2, .max_inputs = 3, .max_outputs = 1,
     .convert = xpu_onnx_convert_conv_transpose, .op = XPU_OP_CONV_TRANSPOSE, .core = "conv, interleave",
     .remarks = "1-D and 2-D; output_shape over inputs of known sizes",
     .attrs = {WINDOW_ATTRS, {"kernel_shape", XPU_ONNX_INTS}, {"dilations", XPU_ONNX_INTS}, {"group", XPU_ONNX_INT},
               {"output_padding", XPU_ONNX_INTS}, {"output_shape", XPU_ONNX_INTS}}},
    UNARY("Cos", COS, "cos"),
    UNARY("Cosh", COSH, "cosh"),
    {.name = "CumProd", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_cumulate, .op = XPU_OP_MUL, .core = "pad, mul", .remarks = "a constant axis of at most 2^20 elements",
     .attrs = {{"exclusive", XPU_ONNX_INT}, {"reverse", XPU_ONNX_INT}}},
    {.name = "CumSum", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_cumulate, .op = XPU_OP_ADD, .core = "pad, add", .remarks = "a constant axis of at most 2^20 elements",
     .attrs = {{"exclusive", XPU_ONNX_INT}, {"reverse", XPU_ONNX_INT}}},
    {.name = "DepthToSpace", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_depth_to_space, .op = XPU_OP_TRANSPOSE,
     .core = "reshape, transpose", .remarks = "", .attrs = {{"blocksize", XPU_ONNX_INT}, {"mode", XPU_ONNX_STRING, 11}}},
    {.name = "DequantizeLinear", .min_inputs = 2, .max_inputs = 3, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_dequantize, .core = "dequantize", .remarks = "int8, uint8, int16, uint16, int32; no blocks",
     .attrs = {{"axis", XPU_ONNX_INT, 13}, {"block_size", XPU_ONNX_INT, 21}, {"output_dtype", XPU_ONNX_INT, 23}}},
    BINARY("Div", DIV, "div"),
    {.name = "Dropout", .min_inputs = 1, .max_inputs = 3, .max_outputs = 2,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_dropout, .op = XPU_OP_IDENTITY, .core = "identity",
     .remarks = "inference form only; the mask must be unused",
     .attrs = {{"ratio", XPU_ONNX_FLOAT, 0, 12}, {"seed", XPU_ONNX_INT, 12}}},
    {.name = "DynamicQuantizeLinear", .min_inputs = 1, .max_inputs = 1, .max_outputs = 3,
     .convert = xpu_onnx_convert_dynamic_quantize, .core = "dynamic_quantize", .remarks = ""},
    {.name = "Einsum", .min_inputs = 1, .max_inputs = XPU_ONNX_VARIADIC, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_einsum, .op = XPU_OP_MATMUL, .core = "transpose, reshape, matmul, mul, reduce_sum",
     .remarks = "repeated letters of known dims", .attrs = {{"equation", XPU_ONNX_STRING}}},
    UNARY_WITH("Elu", ELU, "elu", SETS("alpha", ALPHA)),
    BINARY("Equal", EQUAL, "equal"),
    {.name = "Erf", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .dtypes = XPU_ONNX_CUT_FLOAT32,
     .convert = xpu_onnx_convert_elementwise, .op = XPU_OP_ERF, .core = "erf", .remarks = ""},
    UNARY("Exp", EXP, "exp"),
    {.name = "Expand", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_expand, .op = XPU_OP_EXPAND, .core = "expand",
     .remarks = "a computed shape has --bound"},
    {.name = "EyeLike", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_eye_like, .op = XPU_OP_CONVERT, .core = "range, equal, convert", .remarks = "",
     .attrs = {{"dtype", XPU_ONNX_INT}, {"k", XPU_ONNX_INT}}},
    {.name = "Flatten", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_flatten, .op = XPU_OP_RESHAPE, .core = "reshape",
     .remarks = "", .attrs = {{"axis", XPU_ONNX_INT}}},
    UNARY("Floor", FLOOR, "floor"),
    {.name = "GRU", .min_inputs = 3, .max_inputs = 6, .max_outputs = 2, .has_gaps = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_recurrent, .op = XPU_OP_MATMUL, .core = "matmul, recurrent, slice, concat",
     .remarks = "in other forms than the usual one a known number of time steps, at most 4,096",
     .attrs = {{"activation_alpha", XPU_ONNX_FLOATS}, {"activation_beta", XPU_ONNX_FLOATS}, {"activations", XPU_ONNX_STRINGS},
               {"clip", XPU_ONNX_FLOAT}, {"direction", XPU_ONNX_STRING}, {"hidden_size", XPU_ONNX_INT},
               {"layout", XPU_ONNX_INT, 14}, {"linear_before_reset", XPU_ONNX_INT}}},
    {.name = "Gather", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_gather, .op = XPU_OP_GATHER, .core = "gather, slice, reshape",
     .remarks = "", .attrs = {{"axis", XPU_ONNX_INT}}},
    {.name = "GatherElements", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_gather_elements, .op = XPU_OP_GATHER_ELEMENTS,
     .core = "gather_elements, slice", .remarks = "", .attrs = {{"axis", XPU_ONNX_INT}}},
    {.name = "GatherND", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_gather_nd, .op = XPU_OP_GATHER_ND, .core = "gather_nd",
     .remarks = "", .attrs = {{"batch_dims", XPU_ONNX_INT, 12}}},
    {.name = "Gelu", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .convert = xpu_onnx_convert_gelu, .core = "gelu, gelu_tanh", .remarks = "",
     .attrs = {{"approximate", XPU_ONNX_STRING}}},
    {.name = "Gemm", .min_inputs = 2, .max_inputs = 3, .max_outputs = 1,
     .convert = xpu_onnx_convert_gemm, .op = XPU_OP_MATMUL, .core = "matmul, transpose, mul, add",
     .remarks = "a constant C of one row becomes the bias",
     .attrs = {{"alpha", XPU_ONNX_FLOAT}, {"beta", XPU_ONNX_FLOAT}, {"transA", XPU_ONNX_INT},
               {"transB", XPU_ONNX_INT}}},
    {.name = "GlobalAveragePool", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .convert = xpu_onnx_convert_elementwise, .op = XPU_OP_GLOBAL_AVERAGE_POOL, .core = "global_average_pool",
     .remarks = ""},
    {.name = "GlobalLpPool", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .convert = xpu_onnx_convert_global_lp_pool, .op = XPU_OP_REDUCE_SUM, .core = "mul, reduce_sum, sqrt", .remarks = "",
     .attrs = {{"p", XPU_ONNX_INT}}},
    {.name = "GlobalMaxPool", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .convert = xpu_onnx_convert_global_max_pool, .op = XPU_OP_REDUCE_MAX, .core = "reduce_max, reshape", .remarks = ""},
    BINARY("Greater", GREATER, "greater"),
    BINARY("GreaterOrEqual", GREATER_OR_EQUAL, "greater_or_equal"),
    {.name = "GroupNormalization", .min_inputs = 3, .max_inputs = 3, .max_outputs = 1,
     .convert = xpu_onnx_convert_group_norm, .op = XPU_OP_NORM, .core = "reshape, norm, mul, add", .remarks = "stash_type 1",
     .attrs = {{"epsilon", XPU_ONNX_FLOAT}, {"num_groups", XPU_ONNX_INT}, {"stash_type", XPU_ONNX_INT, 21}}},
    {.name = "HammingWindow", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_window, .op = XPU_OP_IDENTITY, .core = "", .remarks = "a constant size",
     .attrs = {{"output_datatype", XPU_ONNX_INT}, {"periodic", XPU_ONNX_INT}}},
    {.name = "HannWindow", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_window, .op = XPU_OP_IDENTITY, .core = "", .remarks = "a constant size",
     .attrs = {{"output_datatype", XPU_ONNX_INT}, {"periodic", XPU_ONNX_INT}}},
    UNARY_WITH("HardSigmoid", HARD_SIGMOID, "hard_sigmoid", SETS("alpha", ALPHA), SETS("beta", BETA)),
    UNARY("HardSwish", HARD_SWISH, "hard_swish"),
    {.name = "Hardmax", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .convert = xpu_onnx_convert_hardmax, .op = XPU_OP_SOFTMAX, .core = "reduce_max, equal, where, range, convert", .remarks = "",
     .attrs = {{"axis", XPU_ONNX_INT}}},
    {.name = "Identity", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_identity, .op = XPU_OP_IDENTITY, .core = "identity",
     .remarks = "tensors only"},
    {.name = "If", .min_inputs = 1, .max_inputs = 1, .max_outputs = XPU_ONNX_VARIADIC, .has_gaps = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_if, .core = "if, raise", .remarks = "a known condition leaves the branch that is taken",
     .attrs = {{"then_branch", XPU_ONNX_GRAPH}, {"else_branch", XPU_ONNX_GRAPH}}},
    {.name = "InstanceNormalization", .min_inputs = 3, .max_inputs = 3, .max_outputs = 1,
     .convert = xpu_onnx_convert_instance_norm, .op = XPU_OP_NORM, .core = "reshape, norm, mul, add", .remarks = "",
     .attrs = {{"epsilon", XPU_ONNX_FLOAT}}},
    {.name = "IsInf", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_is_inf, .core = "abs, equal", .remarks = "no float64",
     .attrs = {{"detect_negative", XPU_ONNX_INT}, {"detect_positive", XPU_ONNX_INT}}},
    {.name = "IsNaN", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_is_nan, .core = "equal, not", .remarks = ""},
    {.name = "LRN", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .convert = xpu_onnx_convert_lrn, .op = XPU_OP_NORM, .core = "average_pool, pow, div", .remarks = "",
     .attrs = {{"alpha", XPU_ONNX_FLOAT}, {"beta", XPU_ONNX_FLOAT}, {"bias", XPU_ONNX_FLOAT}, {"size", XPU_ONNX_INT}}},
    {.name = "LSTM", .min_inputs = 3, .max_inputs = 8, .max_outputs = 3, .has_gaps = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_recurrent, .op = XPU_OP_MATMUL, .core = "matmul, recurrent, slice, concat",
     .remarks = "in other forms than the usual one a known number of time steps, at most 4,096",
     .attrs = {{"activation_alpha", XPU_ONNX_FLOATS}, {"activation_beta", XPU_ONNX_FLOATS}, {"activations", XPU_ONNX_STRINGS},
               {"clip", XPU_ONNX_FLOAT}, {"direction", XPU_ONNX_STRING}, {"hidden_size", XPU_ONNX_INT},
               {"layout", XPU_ONNX_INT, 14}, {"input_forget", XPU_ONNX_INT}}},
    {.name = "LayerNormalization", .min_inputs = 2, .max_inputs = 3, .max_outputs = 3,
     .convert = xpu_onnx_convert_layer_norm, .op = XPU_OP_NORM, .core = "norm, reshape", .remarks = "stash_type 1",
     .attrs = {{"axis", XPU_ONNX_INT}, {"epsilon", XPU_ONNX_FLOAT}, {"stash_type", XPU_ONNX_INT}}},
    UNARY_WITH("LeakyRelu", LEAKY_RELU, "leaky_relu", SETS("alpha", ALPHA)),
    BINARY("Less", LESS, "less"),
    BINARY("LessOrEqual", LESS_OR_EQUAL, "less_or_equal"),
    UNARY("Log", LOG, "log"),
    {.name = "LogSoftmax", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .convert = xpu_onnx_convert_log_softmax, .op = XPU_OP_SOFTMAX, .core = "reduce_max, sub, exp, reduce_sum, log", .remarks = "",
     .attrs = {{"axis", XPU_ONNX_INT}}},
    {.name = "Loop", .max_inputs = XPU_ONNX_VARIADIC, .max_outputs = XPU_ONNX_VARIADIC, .has_gaps = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_loop, .core = "loop", .remarks = "tensors only", .attrs = {{"body", XPU_ONNX_GRAPH}}},
    {.name = "LpNormalization", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .convert = xpu_onnx_convert_lp_norm, .op = XPU_OP_NORM, .core = "reduce_sum, equal, where, div", .remarks = "",
     .attrs = {{"axis", XPU_ONNX_INT}, {"p", XPU_ONNX_INT}}},
    {.name = "LpPool", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .convert = xpu_onnx_convert_lp_pool, .op = XPU_OP_AVERAGE_POOL, .core = "mul, average_pool, sqrt", .remarks = "1-D and 2-D",
     .attrs = {WINDOW_ATTRS, {"kernel_shape", XPU_ONNX_INTS}, {"p", XPU_ONNX_INT}, {"ceil_mode", XPU_ONNX_INT, 18}, {"dilations", XPU_ONNX_INTS, 18}}},
    {.name = "MatMul", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1,
     .convert = xpu_onnx_convert_matmul, .op = XPU_OP_MATMUL, .core = "matmul, reshape",
     .remarks = ""},
    {.name = "MatMulInteger", .min_inputs = 2, .max_inputs = 4, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_integer_product, .op = XPU_OP_QMATMUL, .core = "qmatmul",
     .remarks = "one zero point of x"},
    VARIADIC("Max", MAX, "max"),
    {.name = "MaxPool", .min_inputs = 1, .max_inputs = 1, .max_outputs = 2,
     .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_pool, .op = XPU_OP_MAX_POOL, .core = "max_pool",
     .remarks = "1-D and 2-D; the indices must be unused; storage_order = 0",
     .attrs = {WINDOW_ATTRS, {"kernel_shape", XPU_ONNX_INTS}, {"storage_order", XPU_ONNX_INT, 8},
               {"ceil_mode", XPU_ONNX_INT, 10}, {"dilations", XPU_ONNX_INTS, 10}}},
    ELEMENTWISE("Mean", 1, XPU_ONNX_VARIADIC, mean, ADD, "add, div"),
    {.name = "MeanVarianceNormalization", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .convert = xpu_onnx_convert_mean_variance_norm, .op = XPU_OP_NORM, .core = "reduce_mean, sub, mul, sqrt, add, div", .remarks = "",
     .attrs = {{"axes", XPU_ONNX_INTS}}},
    VARIADIC("Min", MIN, "min"),
    UNARY("Mish", MISH, "mish"),
    {.name = "Mod", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1,
     .convert = xpu_onnx_convert_mod, .op = XPU_OP_FMOD, .core = "mod, fmod", .remarks = "fmod = 0 of integers",
     .attrs = {{"fmod", XPU_ONNX_INT}}},
    BINARY("Mul", MUL, "mul"),
    UNARY("Neg", NEG, "neg"),
    {.name = "NegativeLogLikelihoodLoss", .min_inputs = 2, .max_inputs = 3, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_loss, .op = XPU_OP_GATHER_ELEMENTS, .core = "gather_elements, neg, mul, reduce_sum",
     .remarks = "", .attrs = {{"ignore_index", XPU_ONNX_INT}, {"reduction", XPU_ONNX_STRING}}},
    {.name = "NonMaxSuppression", .min_inputs = 2, .max_inputs = 5, .max_outputs = 1, .has_gaps = 1,
     .convert = xpu_onnx_convert_suppress, .dtypes = XPU_ONNX_ANY_DTYPE, .core = "nms, nonzero, gather_nd",
     .remarks = "a computed number of boxes has --bound", .attrs = {{"center_point_box", XPU_ONNX_INT}}},
    {.name = "NonZero", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_nonzero, .op = XPU_OP_NONZERO, .core = "nonzero_counts, reduce_sum, nonzero",
     .remarks = ""},
    UNARY("Not", NOT, "not"),
    {.name = "OneHot", .min_inputs = 3, .max_inputs = 3, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_one_hot, .op = XPU_OP_WHERE, .core = "range, equal, where", .remarks = "a depth of constants or expressions of dims",
     .attrs = {{"axis", XPU_ONNX_INT}}},
    BINARY("Or", OR, "or"),
    {.name = "PRelu", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1,
     .convert = xpu_onnx_convert_elementwise, .op = XPU_OP_PRELU, .keeps_shape = 1, .core = "prelu", .remarks = ""},
    {.name = "Pad", .min_inputs = 1, .max_inputs = 4, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_pad, .op = XPU_OP_PAD, .core = "pad",
     .remarks = "constant pads; modes constant, reflect and edge",
     .attrs = {{"mode", XPU_ONNX_STRING}, {"pads", XPU_ONNX_INTS, 0, 11}, {"value", XPU_ONNX_FLOAT, 0, 11}}},
    ELEMENTWISE("Pow", 2, 2, pow, POW, "pow"),
    {.name = "QLinearConv", .min_inputs = 8, .max_inputs = 9, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_qlinear, .inner = "Conv", .layout = "xxyb", .core = "qconv", .remarks = "1-D and 2-D",
     .attrs = {WINDOW_ATTRS, {"kernel_shape", XPU_ONNX_INTS}, {"dilations", XPU_ONNX_INTS}, {"group", XPU_ONNX_INT}}},
    {.name = "QLinearMatMul", .min_inputs = 8, .max_inputs = 8, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_qlinear, .inner = "MatMul", .layout = "xxy", .core = "qmatmul", .remarks = ""},
    {.name = "QuantizeLinear", .min_inputs = 2, .max_inputs = 3, .max_outputs = 1,
     .convert = xpu_onnx_convert_quantize, .dtypes = XPU_ONNX_DATA_FLOAT32, .core = "quantize",
     .remarks = "to int8, uint8, int16, uint16; no blocks",
     .attrs = {{"axis", XPU_ONNX_INT, 13}, {"saturate", XPU_ONNX_INT, 19}, {"block_size", XPU_ONNX_INT, 21},
               {"output_dtype", XPU_ONNX_INT, 21}, {"precision", XPU_ONNX_INT, 23}}},
    {.name = "RMSNormalization", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1,
     .convert = xpu_onnx_convert_layer_norm, .op = XPU_OP_NORM, .core = "norm, reshape", .remarks = "stash_type 1",
     .attrs = {{"axis", XPU_ONNX_INT}, {"epsilon", XPU_ONNX_FLOAT}, {"stash_type", XPU_ONNX_INT}}},
    {.name = "RNN", .min_inputs = 3, .max_inputs = 6, .max_outputs = 2, .has_gaps = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_recurrent, .op = XPU_OP_MATMUL, .core = "matmul, recurrent, slice, concat",
     .remarks = "in other forms than the usual one a known number of time steps, at most 4,096",
     .attrs = {{"activation_alpha", XPU_ONNX_FLOATS}, {"activation_beta", XPU_ONNX_FLOATS}, {"activations", XPU_ONNX_STRINGS},
               {"clip", XPU_ONNX_FLOAT}, {"direction", XPU_ONNX_STRING}, {"hidden_size", XPU_ONNX_INT},
               {"layout", XPU_ONNX_INT, 14}}},
    {.name = "Range", .min_inputs = 3, .max_inputs = 3, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_range, .op = XPU_OP_RANGE, .core = "range",
     .remarks = "a constant step; computed limits of int32 and int64 have --bound, those of float32 and int16 are constants"},
    UNARY("Reciprocal", RECIPROCAL, "reciprocal"),
    REDUCTION_OF("ReduceL1", "abs, reduce_sum"),
    REDUCTION_OF("ReduceL2", "mul, reduce_sum, sqrt"),
    REDUCTION_OF("ReduceLogSum", "reduce_sum, log"),
    REDUCTION_OF("ReduceLogSumExp", "reduce_max, clip, sub, exp, reduce_sum, log, add"),
    REDUCTION("ReduceMax", REDUCE_MAX, "reduce_max", 18),
    REDUCTION("ReduceMean", REDUCE_MEAN, "reduce_mean, global_average_pool", 18),
    REDUCTION("ReduceMin", REDUCE_MIN, "reduce_min", 18),
    REDUCTION("ReduceProd", REDUCE_PROD, "reduce_prod", 18),
    REDUCTION("ReduceSum", REDUCE_SUM, "reduce_sum", 13),
    REDUCTION_OF("ReduceSumSquare", "mul, reduce_sum"),
    UNARY("Relu", RELU, "relu"),
    {.name = "Reshape", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_reshape, .op = XPU_OP_RESHAPE, .core = "reshape",
     .remarks = "a computed shape has --bound", .attrs = {{"allowzero", XPU_ONNX_INT, 14}}},
    {.name = "Resize", .min_inputs = 1, .max_inputs = 4, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_resize, .op = XPU_OP_RESAMPLE, .core = "repeat, resample",
     .remarks = "constant scales and roi, sizes of constants or expressions of dims",
     .attrs = {{"mode", XPU_ONNX_STRING}, {"coordinate_transformation_mode", XPU_ONNX_STRING, 11},
               {"cubic_coeff_a", XPU_ONNX_FLOAT, 11}, {"exclude_outside", XPU_ONNX_INT, 11},
               {"extrapolation_value", XPU_ONNX_FLOAT, 11}, {"nearest_mode", XPU_ONNX_STRING, 11},
               {"antialias", XPU_ONNX_INT, 18}, {"axes", XPU_ONNX_INTS, 18},
               {"keep_aspect_ratio_policy", XPU_ONNX_STRING, 18}}},
    {.name = "RotaryEmbedding", .min_inputs = 3, .max_inputs = 4, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_rotary_embedding, .op = XPU_OP_MUL, .core = "gather, slice, mul, sub, add, concat",
     .remarks = "heads of a known size",
     .attrs = {{"interleaved", XPU_ONNX_INT}, {"num_heads", XPU_ONNX_INT}, {"rotary_embedding_dim", XPU_ONNX_INT}}},
    UNARY("Round", ROUND, "round"),
    {.name = "Scan", .max_inputs = XPU_ONNX_VARIADIC, .max_outputs = XPU_ONNX_VARIADIC, .has_gaps = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_scan, .core = "loop, slice, transpose",
     .remarks = "no sequence_lens",
     .attrs = {{"body", XPU_ONNX_GRAPH}, {"num_scan_inputs", XPU_ONNX_INT}, {"directions", XPU_ONNX_INTS, 0, 9},
               {"scan_input_axes", XPU_ONNX_INTS, 9}, {"scan_input_directions", XPU_ONNX_INTS, 9},
               {"scan_output_axes", XPU_ONNX_INTS, 9}, {"scan_output_directions", XPU_ONNX_INTS, 9}}},
    {.name = "Scatter", .min_inputs = 3, .max_inputs = 3, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_scatter_elements, .core = "scatter_elements", .remarks = "",
     .attrs = {{"axis", XPU_ONNX_INT}}},
    {.name = "ScatterElements", .min_inputs = 3, .max_inputs = 3, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_scatter_elements, .core = "scatter_elements, slice, concat", .remarks = "",
     .attrs = {{"axis", XPU_ONNX_INT}, {"reduction", XPU_ONNX_STRING, 16}}},
    {.name = "ScatterND", .min_inputs = 3, .max_inputs = 3, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_scatter_nd, .core = "scatter_nd", .remarks = "",
     .attrs = {{"reduction", XPU_ONNX_STRING, 16}}},
    UNARY_WITH("Selu", SELU, "selu", SETS("alpha", ALPHA), SETS("gamma", BETA)),
    {.name = "Shape", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_shape, .core = "dim_values", .remarks = "",
     .attrs = {{"start", XPU_ONNX_INT, 15}, {"end", XPU_ONNX_INT, 15}}},
    {.name = "Shrink", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .dtypes = XPU_ONNX_CUT_FLOAT32,
     .convert = xpu_onnx_convert_elementwise, .op = XPU_OP_SHRINK, .core = "shrink", .remarks = "",
     .attrs = {SETS("bias", BETA), SETS("lambd", ALPHA)}},
    UNARY("Sigmoid", SIGMOID, "sigmoid"),
    UNARY("Sign", SIGN, "sign"),
    UNARY("Sin", SIN, "sin"),
    UNARY("Sinh", SINH, "sinh"),
    {.name = "Size", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_size, .core = "dim_values", .remarks = ""},
    {.name = "Slice", .min_inputs = 1, .max_inputs = 5, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_slice, .op = XPU_OP_SLICE, .core = "slice",
     .remarks = "constant axes and steps",
     .attrs = {{"starts", XPU_ONNX_INTS, 0, 10}, {"ends", XPU_ONNX_INTS, 0, 10}, {"axes", XPU_ONNX_INTS, 0, 10}}},
    {.name = "Softmax", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .convert = xpu_onnx_convert_softmax, .op = XPU_OP_SOFTMAX, .core = "softmax, reshape",
     .remarks = "", .attrs = {{"axis", XPU_ONNX_INT}}},
    {.name = "SoftmaxCrossEntropyLoss", .min_inputs = 2, .max_inputs = 3, .max_outputs = 2, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_loss, .op = XPU_OP_GATHER_ELEMENTS,
     .core = "reduce_max, exp, reduce_sum, log, gather_elements, neg, mul", .remarks = "",
     .attrs = {{"ignore_index", XPU_ONNX_INT}, {"reduction", XPU_ONNX_STRING}}},
    UNARY("Softplus", SOFTPLUS, "softplus"),
    UNARY("Softsign", SOFTSIGN, "softsign"),
    {.name = "SpaceToDepth", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_space_to_depth, .op = XPU_OP_TRANSPOSE,
     .core = "reshape, transpose", .remarks = "", .attrs = {{"blocksize", XPU_ONNX_INT}}},
    {.name = "Split", .min_inputs = 1, .max_inputs = 2, .max_outputs = XPU_ONNX_VARIADIC,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_split, .op = XPU_OP_SLICE, .core = "slice",
     .remarks = "computed sizes have --bound",
     .attrs = {{"axis", XPU_ONNX_INT}, {"split", XPU_ONNX_INTS, 0, 13}, {"num_outputs", XPU_ONNX_INT, 18}}},
    UNARY("Sqrt", SQRT, "sqrt"),
    {.name = "Squeeze", .min_inputs = 1, .max_inputs = 2, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_squeeze, .op = XPU_OP_RESHAPE, .core = "reshape",
     .remarks = "constant axes", .attrs = {{"axes", XPU_ONNX_INTS, 0, 13}}},
    BINARY("Sub", SUB, "sub"),
    VARIADIC("Sum", ADD, "add"),
    {.name = "SwiGLU", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1, .convert = xpu_onnx_convert_swiglu,
     .op = XPU_OP_SWISH, .core = "swish, mul", .remarks = "", .attrs = {{"alpha", XPU_ONNX_FLOAT}}},
    UNARY_WITH("Swish", SWISH, "swish", SETS("alpha", ALPHA)),
    UNARY("Tan", TAN, "tan"),
    UNARY("Tanh", TANH, "tanh"),
    UNARY_WITH("ThresholdedRelu", THRESHOLDED_RELU, "thresholded_relu", SETS("alpha", ALPHA)),
    {.name = "Tile", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_tile, .op = XPU_OP_EXPAND, .core = "reshape, expand",
     .remarks = "computed repeats have --bound"},
    {.name = "TopK", .min_inputs = 1, .max_inputs = 2, .max_outputs = 2, .has_gaps = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_top, .core = "top, gather_elements", .remarks = "sorted = 0 is sorted, too; a computed K has --bound",
     .attrs = {{"axis", XPU_ONNX_INT}, {"k", XPU_ONNX_INT, 0, 10}, {"largest", XPU_ONNX_INT, 11}, {"sorted", XPU_ONNX_INT, 11}}},
    {.name = "Transpose", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_transpose, .op = XPU_OP_TRANSPOSE, .core = "transpose",
     .remarks = "", .attrs = {{"perm", XPU_ONNX_INTS}}},
    {.name = "Trilu", .min_inputs = 1, .max_inputs = 2, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_trilu, .op = XPU_OP_WHERE,
     .core = "range, sub, greater_or_equal, less_or_equal, where", .remarks = "", .attrs = {{"upper", XPU_ONNX_INT}}},
    {.name = "Unsqueeze", .min_inputs = 1, .max_inputs = 2, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_unsqueeze, .op = XPU_OP_RESHAPE, .core = "reshape",
     .remarks = "constant axes", .attrs = {{"axes", XPU_ONNX_INTS, 0, 13}}},
    {.name = "Upsample", .min_inputs = 1, .max_inputs = 2, .max_outputs = 1, .dtypes = XPU_ONNX_ANY_DTYPE,
     .convert = xpu_onnx_convert_resize, .op = XPU_OP_RESAMPLE, .core = "repeat, resample",
     .remarks = "constant scales", .attrs = {{"mode", XPU_ONNX_STRING}, {"scales", XPU_ONNX_FLOATS, 0, 9}}},
    ELEMENTWISE("Where", 3, 3, elementwise, WHERE, "where"),
    BINARY("Xor", XOR, "xor"),
};

/* The same of a domain that quantisers write. */
#define MICROSOFT "com.microsoft"
static const xpu_onnx_row microsoft_rows[] = {
    {.name = "DequantizeLinear", .domain = MICROSOFT, .min_inputs = 2, .max_inputs = 3, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_dequantize, .core = "dequantize", .remarks = "",
     .attrs = {{"axis", XPU_ONNX_INT}}},
    {.name = "QGemm", .domain = MICROSOFT, .min_inputs = 6, .max_inputs = 9, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_qlinear, .inner = "Gemm", .layout = "xxby",
     .core = "qmatmul", .remarks = "with a quantised result; C of one row or one element",
     .attrs = {{"alpha", XPU_ONNX_FLOAT}, {"transA", XPU_ONNX_INT}, {"transB", XPU_ONNX_INT}}},
    {.name = "QLinearAdd", .domain = MICROSOFT, .min_inputs = 7, .max_inputs = 8, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_qlinear, .inner = "Add", .layout = "xxy",
     .core = "qadd", .remarks = ""},
    {.name = "QLinearAveragePool", .domain = MICROSOFT, .min_inputs = 4, .max_inputs = 5, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_qlinear, .inner = "AveragePool", .layout = "xy",
     .core = "dequantize, average_pool, quantize", .remarks = "1-D and 2-D; channels_last = 0",
     .attrs = {WINDOW_ATTRS, {"kernel_shape", XPU_ONNX_INTS}, {"count_include_pad", XPU_ONNX_INT},
               {"ceil_mode", XPU_ONNX_INT}, {"channels_last", XPU_ONNX_INT}}},
    {.name = "QLinearConcat", .domain = MICROSOFT, .min_inputs = 5, .max_inputs = XPU_ONNX_VARIADIC, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_qlinear, .inner = "Concat", .layout = "y*",
     .core = "lookup, concat", .remarks = "",
     .attrs = {{"axis", XPU_ONNX_INT}}},
    {.name = "QLinearGlobalAveragePool", .domain = MICROSOFT, .min_inputs = 4, .max_inputs = 5, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_qlinear, .inner = "GlobalAveragePool", .layout = "xy",
     .core = "qglobal_average_pool", .remarks = "channels_last = 0",
     .attrs = {{"channels_last", XPU_ONNX_INT}}},
    {.name = "QLinearLeakyRelu", .domain = MICROSOFT, .min_inputs = 4, .max_inputs = 5, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_qlinear, .inner = "LeakyRelu", .layout = "xy",
     .core = "lookup", .remarks = "",
     .attrs = {{"alpha", XPU_ONNX_FLOAT}}},
    {.name = "QLinearMul", .domain = MICROSOFT, .min_inputs = 7, .max_inputs = 8, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_qlinear, .inner = "Mul", .layout = "xxy",
     .core = "qmul", .remarks = ""},
    {.name = "QLinearSigmoid", .domain = MICROSOFT, .min_inputs = 4, .max_inputs = 5, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_qlinear, .inner = "Sigmoid", .layout = "xy",
     .core = "lookup", .remarks = ""},
    {.name = "QLinearSoftmax", .domain = MICROSOFT, .min_inputs = 5, .max_inputs = 5, .max_outputs = 1,
     .dtypes = XPU_ONNX_ANY_DTYPE, .convert = xpu_onnx_convert_qlinear, .inner = "Softmax", .layout = "xy",
     .core = "dequantize, softmax, mul, quantize", .remarks = "times floor(1 / y_scale), as onnxruntime does",
     .attrs = {{"axis", XPU_ONNX_INT}, {"opset", XPU_ONNX_INT}}},
    {.name = "QuantizeLinear", .domain = MICROSOFT, .min_inputs = 2, .max_inputs = 3, .max_outputs = 1,
     .dtypes = XPU_ONNX_DATA_FLOAT32, .convert = xpu_onnx_convert_quantize, .core = "quantize", .remarks = "",
     .attrs = {{"axis", XPU_ONNX_INT}}},
};
/* clang-format on */
enum { ROWS = sizeof rows / sizeof *rows, MICROSOFT_ROWS = sizeof microsoft_rows / sizeof *microsoft_rows };

const xpu_onnx_row *xpu_onnx_find_row(const char *name, const char *domain) {
    if (strcmp(domain, MICROSOFT) == 0) {
        return bsearch(name, microsoft_rows, MICROSOFT_ROWS, sizeof *microsoft_rows, compare_name);
    }
    return domain[0] ? NULL : bsearch(name, rows, ROWS, sizeof *rows, compare_name);
}

uint32_t xpu_onnx_operator_count(void) {
    return ROWS + MICROSOFT_ROWS;
}

xpu_onnx_operator xpu_onnx_operator_at(uint32_t index) {
    static const int first[] = {1, 0};
    const xpu_onnx_row *row = index < ROWS ? &rows[index] : &microsoft_rows[index - ROWS];
    const int *versions = row->domain ? first : find_known(row->name)->versions;
    return (xpu_onnx_operator){row->name, row->domain ? row->domain : "", versions, row->core, row->remarks};
}
