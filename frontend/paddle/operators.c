/*
 * What is imported: a row for each operator of a ProgramDesc (DESC), and for each of PIR (PIR), which means other
 * things by some names. Columns: name, converter, operator of the core, operands, then results (DESC) or attributes
 * that have another name (PIR).
 */
#include <string.h>

#include "frontend/paddle/converters.h"

/* clang-format off */
#define C(name) xpu_paddle_convert_##name
/* Of any element type; and what computes in float32, from narrower floats too. */
#define DESC(n, c, o, in, out)     {.dialect = XPU_PADDLE_DESC, .name = n, .convert = C(c), .op = XPU_OP_##o, .inputs = in, .outputs = out}
#define PIR(n, c, o, in, renamed)  {.dialect = XPU_PADDLE_PIR, .name = n, .convert = C(c), .op = XPU_OP_##o, .inputs = in, .renames = renamed}
#define DESC32(n, c, o, in, out)   {.dialect = XPU_PADDLE_DESC, .name = n, .convert = C(c), .op = XPU_OP_##o, .inputs = in, .outputs = out, .computes_float32 = 1}
#define PIR32(n, c, o, in, renamed) {.dialect = XPU_PADDLE_PIR, .name = n, .convert = C(c), .op = XPU_OP_##o, .inputs = in, .renames = renamed, .computes_float32 = 1}
/* The same in both, under one name, or two. */
#define UNARY(n, o)           DESC(n, unary, o, "X", "Out"), PIR(n, unary, o, "X", NULL)
#define UNARY2(n, pir, o, renamed) DESC(n, unary, o, "X", "Out"), PIR(pir, unary, o, "X", renamed)
#define COMPOSED(n)           DESC(n, composed, IDENTITY, "X", "Out"), PIR(n, composed, IDENTITY, "X", NULL)
#define BINARY(n, pir, o)     DESC(n, binary, o, "X,Y", "Out"), PIR(pir, binary, o, "X,Y", NULL)
#define BOTH(n, c, in, out)   DESC(n, c, IDENTITY, in, out), PIR(n, c, IDENTITY, in, NULL)
/* Takes or gives complex numbers. */
#define COMPLEX(n, c, o, in, renamed) {.dialect = XPU_PADDLE_DESC, .name = n, .convert = C(c), .op = XPU_OP_##o, .inputs = in, .outputs = "Out", .takes_complex = 1}, {.dialect = XPU_PADDLE_PIR, .name = n, .convert = C(c), .op = XPU_OP_##o, .inputs = in, .renames = renamed, .takes_complex = 1}
#define FAKE(n, c, in)        DESC32(n, c, QUANTIZE, in, "Out,OutScale"), PIR32(n, c, QUANTIZE, in, NULL)
/* Looks at variables itself. */
#define CONTROL(n, c, in, out)  {.dialect = XPU_PADDLE_DESC, .name = n, .convert = C(c), .inputs = in, .outputs = out, .is_control = 1}
#define PIR_CONTROL(n, c, in)   {.dialect = XPU_PADDLE_PIR, .name = n, .convert = C(c), .inputs = in, .is_control = 1}
#define IS(n, pir)            DESC(n, is, IDENTITY, "X", "Out"), PIR(pir, is, IDENTITY, "X", NULL)

#define INTERP_IN "X,OutSize,SizeTensor,Scale"
#define INTERP(n) DESC32(n "_interp_v2", interp, RESAMPLE, INTERP_IN, "Out"), PIR32(n "_interp", interp, RESAMPLE, INTERP_IN, "data_layout=data_format")
#define OLD_INTERP(n) DESC32(n "_interp", interp, IDENTITY, INTERP_IN, "Out")
#define NORM_RENAMES "data_layout=data_format"

static const xpu_paddle_row rows[] = {
    /* one operand */
    COMPLEX("abs", abs, ABS, "X", NULL), UNARY("acos", ACOS), UNARY("acosh", ACOSH), UNARY("asin", ASIN), UNARY("asinh", ASINH), UNARY("atan", ATAN),
    UNARY("atanh", ATANH), UNARY("ceil", CEIL), UNARY("cos", COS), UNARY("cosh", COSH), UNARY("erf", ERF), UNARY("exp", EXP),
    UNARY("floor", FLOOR), UNARY("log", LOG), UNARY("mish", MISH), UNARY("reciprocal", RECIPROCAL), UNARY("relu", RELU),
    UNARY("sigmoid", SIGMOID), UNARY("sign", SIGN), UNARY("silu", SWISH), UNARY("sin", SIN), UNARY("sinh", SINH),
    UNARY("softsign", SOFTSIGN), UNARY("sqrt", SQRT), UNARY("swish", SWISH), UNARY("tan", TAN), UNARY("tanh", TANH),
    UNARY("celu", CELU), UNARY("elu", ELU), UNARY("selu", SELU), UNARY("thresholded_relu", THRESHOLDED_RELU),
    UNARY("bitwise_not", BIT_NOT), UNARY("logical_not", NOT),
    UNARY2("leaky_relu", "leaky_relu", LEAKY_RELU, "alpha=negative_slope"),
    UNARY2("hard_sigmoid", "hardsigmoid", HARD_SIGMOID, NULL),
    COMPOSED("square"), COMPOSED("rsqrt"), COMPOSED("log2"), COMPOSED("log10"), COMPOSED("log1p"), COMPOSED("expm1"),
    COMPOSED("tanh_shrink"), COMPOSED("logsigmoid"), COMPOSED("stanh"), COMPOSED("round"), COMPOSED("trunc"),
    IS("isnan_v2", "isnan"), IS("isinf_v2", "isinf"), IS("isfinite_v2", "isfinite"),
    DESC("hard_swish", hard_swish, HARD_SWISH, "X", "Out"), PIR("hardswish", hard_swish, HARD_SWISH, "X", NULL),
    DESC("gelu", gelu, GELU, "X", "Out"), PIR("gelu", gelu, GELU, "X", NULL),
    DESC("softplus", softplus, SOFTPLUS, "X", "Out"), PIR("softplus", softplus, SOFTPLUS, "X", NULL),
    DESC("softshrink", shrink, SHRINK, "X", "Out"), PIR("softshrink", shrink, SHRINK, "X", "lambda=threshold"),
    DESC("hard_shrink", shrink, SHRINK, "X", "Out"), PIR("hardshrink", shrink, SHRINK, "X", NULL),
    DESC("relu6", clip, CLIP, "X", "Out"), PIR("relu6", clip, CLIP, "X", NULL),
    DESC("brelu", clip, CLIP, "X", "Out"), PIR("hardtanh", clip, CLIP, "X", NULL),
    DESC("clip", clip, CLIP, "X,Min,Max", "Out"), PIR("clip", clip, CLIP, "X,Min,Max", NULL),
    DESC("scale", scale, MUL, "X,ScaleTensor", "Out"), PIR("scale", scale, MUL, "X,ScaleTensor", NULL),
    DESC("pow", pow, POW, "X,FactorTensor", "Out"), PIR("pow", pow, POW, "X", "factor=y"),
    DESC("cast", cast, CONVERT, "X", "Out"), PIR("cast", cast, CONVERT, "X", "out_dtype=dtype"),
    DESC("increment", increment, ADD, "X", "Out"), PIR("increment", increment, ADD, "X", "step=value"),
    CONTROL("assign", assign, "X", "Out"), PIR_CONTROL("assign", assign, "X"), PIR("assign_out_", identity, IDENTITY, "X,Out", NULL),
    DESC("share_data", identity, IDENTITY, "X", "Out"), PIR("share_data_", identity, IDENTITY, "X", NULL),
    DESC("dropout", dropout, IDENTITY, "X,Seed", "Out,Mask"),
    PIR("dropout", dropout, IDENTITY, "X,Seed,dropout_prob", "dropout_implementation=mode,dropout_prob=p"),
    /* branches, loops, tensor arrays */
    CONTROL("conditional_block", conditional_block, "Cond,Input", NULL), CONTROL("while", while, "Condition,X", NULL),
    CONTROL("select_input", select_input, "X,Mask", "Out"), CONTROL("select_output", select_output, "X,Mask", "Out*"),
    PIR_CONTROL("select_input", select_input, "Mask,X,Y"), PIR_CONTROL("select_output", select_output, "Mask,X"),
    PIR_CONTROL("if", if, "Cond"), PIR_CONTROL("while", while, "Condition,X"),
    CONTROL("write_to_array", write_array, "X,I", "Out"), PIR_CONTROL("array_write_", write_array, "Array,X,I"), PIR_CONTROL("create_array", create_array, ""),
    CONTROL("read_from_array", read_array, "X,I,X_W", "Out"), PIR_CONTROL("array_read", read_array, "X,I"),
    CONTROL("lod_array_length", array_length, "X", "Out"), PIR_CONTROL("array_length", array_length, "X"),
    CONTROL("tensor_array_to_tensor", array_to_tensor, "X", "Out,OutIndex"), PIR_CONTROL("array_to_tensor", array_to_tensor, "X"),
    /* two operands */
    BINARY("elementwise_add", "add", ADD), BINARY("elementwise_sub", "subtract", SUB), BINARY("elementwise_mul", "multiply", MUL),
    BINARY("elementwise_div", "divide", DIV), BINARY("elementwise_max", "maximum", MAX), BINARY("elementwise_min", "minimum", MIN),
    BINARY("elementwise_pow", "elementwise_pow", POW), BINARY("equal", "equal", EQUAL), BINARY("less_than", "less_than", LESS),
    BINARY("less_equal", "less_equal", LESS_OR_EQUAL), BINARY("greater_than", "greater_than", GREATER),
    BINARY("greater_equal", "greater_equal", GREATER_OR_EQUAL), BINARY("logical_and", "logical_and", AND),
    BINARY("logical_or", "logical_or", OR), BINARY("logical_xor", "logical_xor", XOR), BINARY("bitwise_and", "bitwise_and", BIT_AND),
    BINARY("bitwise_or", "bitwise_or", BIT_OR), BINARY("bitwise_xor", "bitwise_xor", BIT_XOR),
    DESC("not_equal", not_equal, EQUAL, "X,Y", "Out"), PIR("not_equal", not_equal, EQUAL, "X,Y", NULL),
    DESC("elementwise_mod", divmod, MOD, "X,Y", "Out"), PIR("remainder", divmod, MOD, "X,Y", NULL),
    DESC("elementwise_floordiv", divmod, DIV, "X,Y", "Out"), PIR("floor_divide", divmod, DIV, "X,Y", NULL),
    DESC("where", where, WHERE, "Condition,X,Y", "Out"), PIR("where", where, WHERE, "Condition,X,Y", NULL),
    DESC("sum", sum, ADD, "X", "Out"), PIR("add_n", sum, ADD, "X", NULL),
    DESC("prelu", prelu, PRELU, "X,Alpha", "Out"), PIR("prelu", prelu, PRELU, "X,Alpha", NULL),
    /* constants */
    DESC("fill_constant", fill, IDENTITY, "ShapeTensor,ShapeTensorList,ValueTensor", "Out"),
    PIR("full", fill, IDENTITY, "", NULL), PIR("full_with_tensor", fill, IDENTITY, "ValueTensor,ShapeTensor", NULL),
    DESC("fill_any_like", fill_like, IDENTITY, "X", "Out"), PIR("full_like", fill_like, IDENTITY, "X,ValueTensor", NULL),
    DESC("fill_zeros_like", fill_like, IDENTITY, "X", "Out"),
    DESC("fill_constant_batch_size_like", fill_batch, IDENTITY, "Input", "Out"),
    PIR("full_batch_size_like", fill_batch, IDENTITY, "Input", NULL),
    DESC("assign_value", assign_value, IDENTITY, "", "Out"), PIR("assign_value_", assign_value, IDENTITY, "X", NULL),
    PIR("assign_value", assign_value, IDENTITY, "", NULL), PIR("full_int_array", full_int_array, IDENTITY, "", NULL),
    /* products */
    DESC32("matmul_v2", matmul, MATMUL, "X,Y", "Out"), PIR32("matmul", matmul, MATMUL, "X,Y", "trans_x=transpose_x,trans_y=transpose_y"),
    DESC32("matmul", matmul_v1, MATMUL, "X,Y", "Out"), DESC32("bmm", matmul, MATMUL, "X,Y", "Out"), PIR32("bmm", matmul, MATMUL, "X,Y", NULL),
    DESC32("mv", mv, MATMUL, "X,Vec", "Out"), PIR32("mv", mv, MATMUL, "X,Vec", NULL),
    DESC32("mul", mul, MATMUL, "X,Y", "Out"), DESC32("fc", fc, MATMUL, "Input,W,Bias,ResidualData", "Out"),
    PIR32("fc", fc, MATMUL, "Input,W,Bias", NULL),
    DESC32("addmm", addmm, MATMUL, "Input,X,Y", "Out"), PIR32("addmm", addmm, MATMUL, "Input,X,Y", "Alpha=alpha,Beta=beta"),
    DESC32("dot", dot, MATMUL, "X,Y", "Out"), PIR32("dot", dot, MATMUL, "X,Y", NULL),
    DESC32("einsum", einsum, MATMUL, "Operands", "Out"), PIR32("einsum", einsum, MATMUL, "Operands", NULL),
    /* windows */
    DESC32("conv2d", conv, CONV, "Input,Filter,Bias,ResidualData", "Output"), PIR32("conv2d", conv, CONV, "Input,Filter", NULL),
    DESC32("depthwise_conv2d", conv, CONV, "Input,Filter,Bias,ResidualData", "Output"), PIR32("depthwise_conv2d", conv, CONV, "Input,Filter", NULL),
    DESC32("fused_conv2d", conv, CONV, "Input,Filter,Bias,ResidualData", "Output"),
    DESC32("conv2d_transpose", conv_transpose, CONV_TRANSPOSE, "Input,Filter", "Output"),
    PIR32("conv2d_transpose", conv_transpose, CONV_TRANSPOSE, "Input,Filter,output_size", NULL),
    DESC32("depthwise_conv2d_transpose", conv_transpose, CONV_TRANSPOSE, "Input,Filter", "Output"),
    PIR32("depthwise_conv2d_transpose", conv_transpose, CONV_TRANSPOSE, "Input,Filter,output_size", NULL),
    DESC32("pool2d", pool, MAX_POOL, "X", "Out"), PIR32("pool2d", pool, MAX_POOL, "X,ksize", "ksize=kernel_size"),
    DESC32("batch_norm", batch_norm, BATCH_NORM, "X,Scale,Bias,Mean,Variance", "Y"),
    DESC32("sync_batch_norm", batch_norm, BATCH_NORM, "X,Scale,Bias,Mean,Variance", "Y"),
    PIR32("batch_norm_", batch_norm, BATCH_NORM, "X,Mean,Variance,Scale,Bias", NORM_RENAMES),
    PIR32("batch_norm", batch_norm, BATCH_NORM, "X,Mean,Variance,Scale,Bias", NORM_RENAMES),
    PIR32("sync_batch_norm_", batch_norm, BATCH_NORM, "X,Mean,Variance,Scale,Bias", NORM_RENAMES),
    INTERP("nearest"), INTERP("bilinear"), INTERP("bicubic"), INTERP("linear"), INTERP("trilinear"),
    OLD_INTERP("nearest"), OLD_INTERP("bilinear"), OLD_INTERP("bicubic"), OLD_INTERP("linear"), OLD_INTERP("trilinear"),
    DESC("pad", pad, PAD, "X", "Out"), PIR("pad", pad, PAD, "X,pad_value", NULL),
    DESC("pad2d", pad, PAD, "X,Paddings", "Out"),
    DESC("pad3d", pad3d, PAD, "X,Paddings", "Out"), PIR("pad3d", pad3d, PAD, "X,Paddings", "value=pad_value"),
    DESC("pixel_shuffle", pixel_shuffle, TRANSPOSE, "X", "Out"), PIR("pixel_shuffle", pixel_shuffle, TRANSPOSE, "X", NULL),
    DESC32("grid_sampler", grid_sample, GATHER_ND, "X,Grid", "Output"), PIR32("grid_sample", grid_sample, GATHER_ND, "X,Grid", NULL),
    /* norms and reductions */
    DESC32("layer_norm", layer_norm, NORM, "X,Scale,Bias", "Y,Mean,Variance"), PIR32("layer_norm", layer_norm, NORM, "X,Scale,Bias", NULL),
    DESC32("instance_norm", group_norm, IDENTITY, "X,Scale,Bias", "Y"), PIR32("instance_norm", group_norm, IDENTITY, "X,Scale,Bias", NULL),
    DESC32("group_norm", group_norm, NORM, "X,Scale,Bias", "Y"), PIR32("group_norm", group_norm, NORM, "X,Scale,Bias", NORM_RENAMES),
    DESC32("softmax", softmax, SOFTMAX, "X", "Out"), PIR32("softmax", softmax, SOFTMAX, "X", NULL),
    DESC32("log_softmax", softmax, IDENTITY, "X", "Out"), PIR32("log_softmax", softmax, IDENTITY, "X", NULL),
    DESC("reduce_sum", reduce, REDUCE_SUM, "X", "Out"), PIR("sum", reduce, REDUCE_SUM, "X,dim", "dim=axis,keep_dim=keepdim,out_dtype=dtype"),
    DESC32("reduce_mean", reduce, REDUCE_MEAN, "X", "Out"), PIR32("mean", reduce, REDUCE_MEAN, "X,dim", "dim=axis,keep_dim=keepdim"),
    DESC("reduce_max", reduce, REDUCE_MAX, "X", "Out"), PIR("max", reduce, REDUCE_MAX, "X,dim", "dim=axis,keep_dim=keepdim"),
    DESC("reduce_min", reduce, REDUCE_MIN, "X", "Out"), PIR("min", reduce, REDUCE_MIN, "X,dim", "dim=axis,keep_dim=keepdim"),
    DESC("reduce_prod", reduce, REDUCE_PROD, "X", "Out"), PIR("prod", reduce, REDUCE_PROD, "X,dim", "dim=dims,keep_dim=keepdim"),
    DESC("reduce_all", reduce_bool, REDUCE_MIN, "X", "Out"), PIR("all", reduce_bool, REDUCE_MIN, "X,dim", "dim=axis,keep_dim=keepdim"),
    DESC("reduce_any", reduce_bool, REDUCE_MAX, "X", "Out"), PIR("any", reduce_bool, REDUCE_MAX, "X,dim", "dim=axis,keep_dim=keepdim"),
    DESC32("mean", mean_of_all, REDUCE_MEAN, "X", "Out"), PIR32("mean_all", mean_of_all, REDUCE_MEAN, "X", NULL),
    DESC32("logsumexp", logsumexp, REDUCE_SUM, "X", "Out"), PIR32("logsumexp", logsumexp, REDUCE_SUM, "X", NULL),
    DESC("arg_max", arg, REDUCE_MAX, "X", "Out"), PIR("argmax", arg, REDUCE_MAX, "X,axis", NULL),
    DESC("arg_min", arg, REDUCE_MIN, "X", "Out"), PIR("argmin", arg, REDUCE_MIN, "X,axis", NULL),
    DESC("cumsum", cumulate, ADD, "X,AxisTensor", "Out"), PIR("cumsum", cumulate, ADD, "X,AxisTensor", NULL),
    DESC("cumprod", cumulate, MUL, "X", "Out"), PIR("cumprod", cumulate, MUL, "X", NULL),
    DESC32("p_norm", p_norm, REDUCE_SUM, "X", "Out"), PIR32("p_norm", p_norm, REDUCE_SUM, "X", NULL),
    DESC32("norm", norm, REDUCE_SUM, "X", "Out"), PIR32("norm", norm, REDUCE_SUM, "X", NULL),
    DESC32("lrn", lrn, NORM, "X", "Out"), PIR32("lrn", lrn, NORM, "X", NULL),
    /* moves */
    DESC("reshape2", reshape, RESHAPE, "X,Shape,ShapeTensor", "Out"), DESC("reshape", reshape, RESHAPE, "X,Shape,ShapeTensor", "Out"),
    PIR("reshape", reshape, RESHAPE, "X,Shape", NULL), PIR("legacy_reshape", reshape, RESHAPE, "X,Shape", NULL),
    COMPLEX("transpose2", transpose, TRANSPOSE, "X", NULL), COMPLEX("transpose", transpose, TRANSPOSE, "X", "axis=perm"),
    DESC("flatten_contiguous_range", flatten, RESHAPE, "X", "Out"), PIR("flatten", flatten, RESHAPE, "X", NULL),
    DESC("flatten2", flatten, IDENTITY, "X", "Out"), DESC("flatten", flatten, IDENTITY, "X", "Out"),
    DESC("squeeze2", squeeze, RESHAPE, "X,AxesTensor,AxesTensorList", "Out"), DESC("squeeze", squeeze, RESHAPE, "X", "Out"),
    PIR("squeeze", squeeze, RESHAPE, "X,AxesTensor", NULL),
    DESC("unsqueeze2", unsqueeze, RESHAPE, "X,AxesTensor,AxesTensorList", "Out"), DESC("unsqueeze", unsqueeze, RESHAPE, "X", "Out"),
    PIR("unsqueeze", unsqueeze, RESHAPE, "X,AxesTensor", NULL),
    DESC("concat", concat, CONCAT, "X,AxisTensor", "Out"), PIR("concat", concat, CONCAT, "X,AxisTensor", NULL),
    DESC("stack", stack, CONCAT, "X", "Y"), PIR("stack", stack, CONCAT, "X", NULL),
    DESC("split", split, SLICE, "X,AxisTensor,SectionsTensorList", "Out*"), PIR("split", split, SLICE, "X,sections,AxisTensor", NULL),
    PIR("split_with_num", split, SLICE, "X,AxisTensor", NULL),
    DESC("unstack", unstack, SLICE, "X", "Y*"), PIR("unstack", unstack, SLICE, "X", NULL),
    DESC("unbind", unstack, SLICE, "X", "Out*"), PIR("unbind", unstack, SLICE, "X", NULL),
    DESC("slice", slice, SLICE, "Input,StartsTensor,EndsTensor,StartsTensorList,EndsTensorList", "Out"),
    PIR("slice", slice, SLICE, "Input,StartsTensor,EndsTensor", NULL),
    DESC("strided_slice", slice, SLICE, "Input,StartsTensor,EndsTensor,StridesTensor,StartsTensorList,EndsTensorList,StridesTensorList", "Out"),
    PIR("strided_slice", slice, SLICE, "Input,StartsTensor,EndsTensor,StridesTensor", NULL),
    DESC("shape", shape, DIM_VALUES, "Input", "Out"), PIR("shape", shape, DIM_VALUES, "Input", NULL), PIR("shape64", shape, DIM_VALUES, "Input", NULL),
    DESC("size", size, DIM_VALUES, "Input", "Out"), PIR("numel", size, DIM_VALUES, "Input", NULL),
    DESC("expand_v2", expand, EXPAND, "X,Shape,expand_shapes_tensor", "Out"), PIR("expand", expand, EXPAND, "X,Shape", NULL),
    DESC("expand_as_v2", expand, EXPAND, "X,Y", "Out"), PIR("expand_as", expand, EXPAND, "X,Y", NULL),
    DESC("tile", tile, CONCAT, "X,RepeatTimes,repeat_times_tensor", "Out"), PIR("tile", tile, CONCAT, "X,RepeatTimes", NULL),
    DESC("expand", tile, CONCAT, "X,ExpandTimes,expand_times_tensor", "Out"), DESC("expand_as", tile, CONCAT, "X,target_tensor", "Out"),
    DESC("gather", gather, GATHER, "X,Index,Axis", "Out"), PIR("gather", gather, GATHER, "X,Index,Axis", NULL),
    DESC("index_select", index_select, GATHER, "X,Index", "Out"), PIR("index_select", index_select, GATHER, "X,Index", "dim=axis"),
    DESC("gather_nd", gather_nd, GATHER_ND, "X,Index", "Out"), PIR("gather_nd", gather_nd, GATHER_ND, "X,Index", NULL),
    DESC("take_along_axis", take, GATHER_ELEMENTS, "Input,Index", "Result"), PIR("take_along_axis", take, GATHER_ELEMENTS, "Input,Index", "Axis=axis"),
    DESC("index_sample", index_sample, GATHER_ELEMENTS, "X,Index", "Out"), PIR("index_sample", index_sample, GATHER_ELEMENTS, "X,Index", NULL),
    DESC("lookup_table_v2", embedding, GATHER, "W,Ids", "Out"), DESC("lookup_table", embedding, IDENTITY, "W,Ids", "Out"),
    PIR("embedding", embedding, GATHER, "Ids,W", NULL),
    DESC("scatter_nd_add", scatter_nd_add, SCATTER_ND, "X,Index,Updates", "Out"), PIR("scatter_nd_add", scatter_nd_add, SCATTER_ND, "X,Index,Updates", NULL),
    DESC("one_hot_v2", one_hot, EQUAL, "X,depth_tensor", "Out"), DESC("one_hot", one_hot, IDENTITY, "X,depth_tensor", "Out"),
    PIR("one_hot", one_hot, EQUAL, "X,depth_tensor", NULL),
    DESC("where_index", nonzero, NONZERO, "Condition", "Out"), PIR("nonzero", nonzero, NONZERO, "Condition", NULL),
    DESC("top_k_v2", top, TOP, "X,K", "Out,Indices"), DESC("top_k", top, TOP, "X,K", "Out,Indices"), PIR("topk", top, TOP, "X,K", NULL),
    DESC("argsort", top, SUB, "X", "Out,Indices"), PIR("argsort", top, SUB, "X", NULL),
    DESC("flip", flip, SLICE, "X", "Out"), PIR("flip", flip, SLICE, "X", NULL), DESC("reverse", flip, SLICE, "X", "Out"), PIR("reverse", flip, SLICE, "X,axis", NULL),
    DESC("roll", roll, CONCAT, "X,ShiftsTensor", "Out"), PIR("roll", roll, CONCAT, "X,ShiftsTensor", NULL),
    DESC("tril_triu", triangle, WHERE, "X", "Out"), PIR("tril", triangle, WHERE, "X", NULL), PIR("triu", triangle, WHERE, "X", NULL),
    DESC("meshgrid", meshgrid, EXPAND, "X", "Out*"), PIR("meshgrid", meshgrid, EXPAND, "X", NULL),
    DESC("range", range, RANGE, "Start,End,Step", "Out"), PIR("arange", range, RANGE, "Start,End,Step", NULL),
    /* channels, windows, parts */
    DESC("shuffle_channel", channel_shuffle, TRANSPOSE, "X", "Out"), PIR("shuffle_channel", channel_shuffle, TRANSPOSE, "X", NULL),
    DESC("channel_shuffle", channel_shuffle, TRANSPOSE, "X", "Out"), PIR("channel_shuffle", channel_shuffle, TRANSPOSE, "X", NULL),
    DESC("pixel_unshuffle", pixel_unshuffle, TRANSPOSE, "X", "Out"), PIR("pixel_unshuffle", pixel_unshuffle, TRANSPOSE, "X", NULL),
    DESC("maxout", maxout, REDUCE_MAX, "X", "Out"), PIR("maxout", maxout, REDUCE_MAX, "X", NULL),
    DESC("temporal_shift", temporal_shift, CONCAT, "X", "Out"), PIR("temporal_shift", temporal_shift, CONCAT, "X", NULL),
    DESC("unfold", unfold, CONCAT, "X", "Y"), PIR("unfold", unfold, CONCAT, "X", NULL),
    DESC32("fold", fold, CONV_TRANSPOSE, "X", "Y"), PIR32("fold", fold, CONV_TRANSPOSE, "X", NULL),
    DESC("partial_concat", partial, CONCAT, "X", "Out"), PIR("partial_concat", partial, CONCAT, "X", NULL),
    DESC("partial_sum", partial, ADD, "X", "Out"), PIR("partial_sum", partial, ADD, "X", NULL),
    DESC("crop_tensor", crop, SLICE, "X,Shape,ShapeTensor,Offsets,OffsetsTensor", "Out"), PIR("crop", crop, SLICE, "X,Shape,Offsets", NULL),
    DESC("crop", crop, SLICE, "X,Offsets", "Out"),
    DESC("repeat_interleave", repeat_interleave, EXPAND, "X", "Out"), PIR("repeat_interleave", repeat_interleave, EXPAND, "X", "Repeats=repeats,dim=axis"),
    DESC("set_value", set_value, WHERE, "Input,ValueTensor,StartsTensorList,EndsTensorList,StepsTensorList", "Out"),
    PIR("set_value_", set_value, WHERE, "Input,StartsTensorList,EndsTensorList,StepsTensorList", NULL),
    PIR("set_value", set_value, WHERE, "Input,StartsTensorList,EndsTensorList,StepsTensorList", NULL),
    PIR("set_value_with_tensor", set_value, WHERE, "Input,ValueTensor,StartsTensorList,EndsTensorList,StepsTensorList", NULL),
    PIR("set_value_with_tensor_", set_value, WHERE, "Input,ValueTensor,StartsTensorList,EndsTensorList,StepsTensorList", NULL),
    /* places, constants, and a few of the core's */
    DESC("scatter", scatter, SCATTER_ND, "X,Ids,Updates", "Out"), PIR("scatter", scatter, SCATTER_ND, "X,Ids,Updates", NULL),
    DESC("put_along_axis", put_along_axis, SCATTER_ELEMENTS, "Input,Index,Value", "Result"),
    PIR("put_along_axis", put_along_axis, SCATTER_ELEMENTS, "Input,Index,Value", "Axis=axis,Reduce=reduce,Include_self=include_self"),
    DESC("index_put", index_put, SCATTER_ND, "x,indices,value", "out"), PIR("index_put", index_put, SCATTER_ND, "x,indices,value", NULL),
    DESC("masked_select", masked_select, GATHER, "X,Mask", "Y"), PIR("masked_select", masked_select, GATHER, "X,Mask", NULL),
    DESC("kthvalue", kthvalue, TOP, "X", "Out,Indices"), PIR("kthvalue", kthvalue, TOP, "X", NULL),
    DESC("diag_v2", diag, GATHER, "X", "Out"), PIR("diag", diag, GATHER, "X", NULL),
    DESC("cross", cross, GATHER, "X,Y", "Out"), PIR("cross", cross, GATHER, "X,Y", "dim=axis"),
    DESC("sequence_mask", sequence_mask, LESS, "X,MaxLenTensor", "Y"), PIR("sequence_mask", sequence_mask, LESS, "X,MaxLenTensor", "maxlen=max_len"),
    DESC("eye", eye, IDENTITY, "", "Out"), PIR("eye", eye, IDENTITY, "num_rows,num_columns", NULL),
    DESC("linspace", linspace, IDENTITY, "Start,Stop,Num", "Out"), PIR("linspace", linspace, IDENTITY, "Start,Stop,Num", NULL),
    DESC32("affine_grid", affine_grid, MATMUL, "Theta,OutputShape", "Output"), PIR32("affine_grid", affine_grid, MATMUL, "Theta,OutputShape", NULL),
    DESC32("affine_channel", affine_channel, MUL, "X,Scale,Bias", "Out"), PIR32("affine_channel", affine_channel, MUL, "X,Scale,Bias", NULL),
    DESC32("data_norm", data_norm, MUL, "X,BatchSize,BatchSum,BatchSquareSum", "Y"),
    PIR32("data_norm", data_norm, MUL, "scale_w,bias,X,BatchSize,BatchSum,BatchSquareSum", NULL),
    DESC32("atan2", atan2, ATAN, "X1,X2", "Out"), PIR32("atan2", atan2, ATAN, "X1,X2", NULL),
    DESC32("dist", dist, REDUCE_SUM, "X,Y", "Out"), PIR32("dist", dist, REDUCE_SUM, "X,Y", NULL),
    DESC("dequantize_log", dequantize_log, GATHER, "X,Dict", "Out"), PIR("dequantize_log", dequantize_log, GATHER, "X,Dict", NULL),
    DESC32("softmax_with_cross_entropy", softmax_loss, SOFTMAX, "Logits,Label", "Softmax,Loss"),
    PIR32("cross_entropy_with_softmax", softmax_loss, SOFTMAX, "Logits,Label", NULL),
    DESC32("max_pool2d_with_index", pool, MAX_POOL, "X", "Out,Mask"), PIR32("max_pool2d_with_index", pool, MAX_POOL, "X", "ksize=kernel_size"),
    /* boxes, recurrent layers */
    DESC("prior_box", prior_box, IDENTITY, "Input,Image", "Boxes,Variances"), PIR("prior_box", prior_box, IDENTITY, "Input,Image", NULL),
    DESC("density_prior_box", density_prior_box, IDENTITY, "Input,Image", "Boxes,Variances"),
    DESC("anchor_generator", anchor_generator, IDENTITY, "Input", "Anchors,Variances"),
    PIR("anchor_generator", anchor_generator, IDENTITY, "Input", NULL),
    DESC32("box_coder", box_coder, MUL, "PriorBox,PriorBoxVar,TargetBox", "OutputBox"),
    PIR32("box_coder", box_coder, MUL, "PriorBox,PriorBoxVar,TargetBox", NULL),
    DESC32("yolo_box", yolo_box, SIGMOID, "X,ImgSize", "Boxes,Scores"), PIR32("yolo_box", yolo_box, SIGMOID, "X,ImgSize", NULL),
    DESC32("rnn", rnn, RECURRENT, "Input,PreState,WeightList,SequenceLength", "Out,State*"),
    PIR32("rnn", rnn, RECURRENT, "Input,PreState,WeightList,SequenceLength", NULL),
    /* volumes, regions */
    DESC32("conv3d", conv3d, CONV, "Input,Filter", "Output"), PIR32("conv3d", conv3d, CONV, "Input,Filter", NULL),
    DESC32("pool3d", pool3d, MAX_POOL, "X", "Out"), PIR32("pool3d", pool3d, MAX_POOL, "X", "ksize=kernel_size"),
    DESC32("roi_align", roi_align, MATMUL, "X,ROIs,RoisNum", "Out"), PIR32("roi_align", roi_align, MATMUL, "X,ROIs,RoisNum", NULL),
    /* regions, boxes of objects */
    DESC32("roi_pool", roi_pool, REDUCE_MAX, "X,ROIs,RoisNum", "Out,Argmax"), PIR32("roi_pool", roi_pool, REDUCE_MAX, "X,ROIs,RoisNum", NULL),
    DESC32("psroi_pool", psroi_pool, MATMUL, "X,ROIs,RoisNum", "Out"), PIR32("psroi_pool", psroi_pool, MATMUL, "X,ROIs,RoisNum", NULL),
    DESC("box_clip", box_clip, MIN, "Input,ImInfo", "Output"), PIR("box_clip", box_clip, MIN, "Input,ImInfo", NULL),
    DESC("multiclass_nms", multiclass_nms, NMS, "BBoxes,Scores", "Out"), DESC("multiclass_nms2", multiclass_nms, NMS, "BBoxes,Scores", "Out,Index"),
    DESC("multiclass_nms3", multiclass_nms, NMS, "BBoxes,Scores,RoisNum", "Out,Index,NmsRoisNum"),
    PIR("multiclass_nms3", multiclass_nms, NMS, "BBoxes,Scores,RoisNum", NULL),
    DESC("locality_aware_nms", locality_aware_nms, NMS, "BBoxes,Scores", "Out"), DESC("retinanet_detection_output", retinanet, NMS, "BBoxes,Scores,Anchors,ImInfo", "Out"),
    DESC("matrix_nms", matrix_nms, REDUCE_MAX, "BBoxes,Scores", "Out,Index,RoisNum"), PIR("matrix_nms", matrix_nms, REDUCE_MAX, "BBoxes,Scores", NULL),
    DESC("nms", nms, NMS, "Boxes", "KeepBoxesIdxs"), PIR("nms", nms, NMS, "Boxes", "iou_threshold=threshold"),
    DESC("generate_proposals", generate_proposals, NMS, "Scores,BboxDeltas,ImInfo,Anchors,Variances", "RpnRois,RpnRoiProbs,RpnRoisNum"),
    DESC("generate_proposals_v2", generate_proposals, NMS, "Scores,BboxDeltas,ImShape,Anchors,Variances", "RpnRois,RpnRoiProbs,RpnRoisNum"),
    PIR("generate_proposals", generate_proposals, NMS, "Scores,BboxDeltas,ImShape,Anchors,Variances", "pre_nms_topN=pre_nms_top_n,post_nms_topN=post_nms_top_n"),
    DESC("distribute_fpn_proposals", distribute_fpn_proposals, TOP, "FpnRois,RoisNum", "MultiFpnRois*,RestoreIndex,MultiLevelRoIsNum*"),
    PIR("distribute_fpn_proposals", distribute_fpn_proposals, TOP, "FpnRois,RoisNum", NULL),
    DESC("collect_fpn_proposals", collect_fpn_proposals, TOP, "MultiLevelRois,MultiLevelScores,MultiLevelRoIsNum", "FpnRois,RoisNum"),
    PIR("collect_fpn_proposals", collect_fpn_proposals, TOP, "MultiLevelRois,MultiLevelScores,MultiLevelRoIsNum", "post_nms_topN=post_nms_topn"),
    DESC32("deformable_conv", deformable_conv, MATMUL, "Input,Offset,Filter,Mask", "Output"),
    DESC32("deformable_conv_v1", deformable_conv, MATMUL, "Input,Offset,Filter", "Output"),
    PIR32("deformable_conv", deformable_conv, MATMUL, "Input,Offset,Filter,Mask", NULL),
    DESC32("correlation", correlation, MUL, "Input1,Input2", "Output"), PIR32("correlation", correlation, MUL, "Input1,Input2", NULL),
    DESC32("fused_attention", fused_attention, MATMUL, "X,LnScale,LnBias,QKVW,QKVBias,SrcMask,OutLinearW,OutLinearBias,Ln2Scale,Ln2Bias", "Y"),
    DESC("polygon_box_transform", polygon_box_transform, SUB, "Input", "Output"),
    /* sequences */
    DESC32("gru_unit", gru_unit, MATMUL, "Input,HiddenPrev,Weight,Bias", "Hidden"), PIR32("gru_unit", gru_unit, MATMUL, "Input,HiddenPrev,Weight,Bias", NULL),
    DESC32("gru", gru, MATMUL, "Input,H0,Weight,Bias", "Hidden"), PIR32("gru", gru, MATMUL, "Input,H0,Weight,Bias", NULL),
    DESC32("lstm", lstm, RECURRENT, "Input,H0,C0,Weight,Bias", "Hidden,Cell"), PIR32("lstm", lstm, RECURRENT, "Input,H0,C0,Weight,Bias", NULL),
    BOTH("im2sequence", im2sequence, "X", "Out"), BOTH("lod_reset", lod_reset, "X,Y", "Out"),
    BOTH("sequence_pool", sequence_pool, "X", "Out"), BOTH("sequence_softmax", sequence_softmax, "X", "Out"),
    DESC("sequence_reverse", sequence_reverse, SLICE, "X", "Y"), DESC("sequence_concat", sequence_concat, CONCAT, "X", "Out"),
    DESC("sequence_reshape", sequence_reshape, RESHAPE, "X", "Out"), BOTH("sequence_expand", sequence_expand, "X,Y", "Out"),
    DESC("sequence_expand_as", sequence_expand, EXPAND, "X,Y", "Out"),
    DESC("sequence_conv", sequence_conv, MATMUL, "X,Filter", "Out"), PIR("sequence_conv", sequence_conv, MATMUL, "X,PaddingData,Filter", "contextLength=context_length,contextStart=context_start,contextStride=context_stride,paddingTrainable=padding_trainable"),
    DESC("sequence_pad", sequence_pad, PAD, "X,PadValue", "Out,Length"), DESC("sequence_unpad", sequence_unpad, GATHER, "X,Length", "Out"),
    DESC32("var_conv_2d", var_conv, CONV, "X,ROW,COLUMN,W", "Out"),
    BOTH("beam_search", beam_search, "pre_ids,pre_scores,ids,scores", "selected_ids,selected_scores,parent_idx"),
    CONTROL("beam_search_decode", beam_search_decode, "Ids,Scores", "SentenceIds,SentenceScores"),
    BOTH("ctc_align", ctc_align, "Input,InputLength", "Output,OutputLength"), BOTH("gather_tree", gather_tree, "Ids,Parents", "Out"),
    BOTH("crf_decoding", crf_decoding, "Emission,Transition,Label,Length", "ViterbiPath"),
    DESC("viterbi_decode", viterbi_decode, REDUCE_MAX, "Input,Transition,Length", "Scores,Path"),
    PIR("viterbi_decode", viterbi_decode, REDUCE_MAX, "Input,Transition,Length", NULL),
    DESC32("inverse", inverse, DIV, "Input", "Output"), PIR32("inverse", inverse, DIV, "Input", NULL),
    DESC32("match_matrix_tensor", match_matrix, MATMUL, "X,Y,W", "Out,Tmp"), PIR32("match_matrix_tensor", match_matrix, MATMUL, "X,Y,W", NULL),
    COMPLEX("fft_c2c", fft_c2c, MATMUL, "X", NULL), COMPLEX("fft_r2c", fft_r2c, MATMUL, "X", NULL), COMPLEX("fft_c2r", fft_c2r, MATMUL, "X", NULL), COMPLEX("stft", stft, MATMUL, "X,Window", NULL), BOTH("frame", frame, "X", "Out"),
    COMPLEX("as_real", as_real, IDENTITY, "X", NULL), COMPLEX("as_complex", as_complex, IDENTITY, "X", NULL), COMPLEX("complex", complex, CONCAT, "X,Y", NULL),
    COMPLEX("real", part, SLICE, "X", NULL), COMPLEX("imag", part, SLICE, "X", NULL), COMPLEX("conj", conj, MUL, "X", NULL),
    /* of data's own size, by chance, and others */
    BOTH("unique", unique, "X", "Out,Indices,Index,Counts"), DESC("unique_with_counts", unique, TOP, "X", "Out,Index,Count"),
    DESC("split_lod_tensor", split_rows, GATHER, "X,Mask", "OutTrue,OutFalse"),
    DESC("merge_lod_tensor", merge_rows, GATHER, "X,Mask,InTrue,InFalse", "Out"), DESC("merge_lod_tensor_infer", merge_rows, GATHER, "X,Mask,InTrue,InFalse", "Out"),
    BOTH("is_empty", is_empty, "X", "Out"), DESC("print", identity, IDENTITY, "In", "Out"), PIR("print", identity, IDENTITY, "In", NULL),
    BOTH("lookup_table_dequant", lookup_table_dequant, "W,Ids", "Out"), BOTH("unpool", unpool, "X,Indices,output_size", "Out"),
    DESC32("conv3d_transpose", conv3d_transpose, CONV_TRANSPOSE, "Input,Filter", "Output"),
    PIR32("conv3d_transpose", conv3d_transpose, CONV_TRANSPOSE, "Input,Filter", NULL),
    DESC32("max_pool3d_with_index", pool3d, MAX_POOL, "X", "Out,Mask"), PIR32("max_pool3d_with_index", pool3d, MAX_POOL, "X", "ksize=kernel_size"),
    DESC("uniform_random", random, RANDOM, "ShapeTensor,ShapeTensorList", "Out"), PIR("uniform", random, RANDOM, "ShapeTensor,Min,Max", NULL),
    DESC("gaussian_random", random, RANDOM, "ShapeTensor,ShapeTensorList", "Out"), PIR("gaussian", random, RANDOM, "ShapeTensor", NULL),
    DESC("sampling_id", sampling_id, RANDOM, "X", "Out"),
    DESC("empty", empty, IDENTITY, "ShapeTensor,ShapeTensorList", "Out"), PIR("empty", empty, IDENTITY, "ShapeTensor", NULL),
    /* quantised */
    DESC32("quantize_linear", quantize_linear, QUANTIZE, "X,Scale,ZeroPoint,InAccum,InState", "Y"),
    PIR32("quantize_linear", quantize_linear, QUANTIZE, "X,Scale,ZeroPoint,InAccum,InState", NULL),
    DESC32("dequantize_linear", dequantize_linear, DEQUANTIZE, "X,Scale,ZeroPoint,InAccum,InState", "Y"),
    PIR32("dequantize_linear", dequantize_linear, DEQUANTIZE, "X,Scale,ZeroPoint,InAccum,InState", NULL),
    FAKE("fake_quantize_range_abs_max", fake_quantize, "X,InScale,Iter"),
    FAKE("fake_quantize_moving_average_abs_max", fake_quantize, "X,InScale,InAccum,InState"),
    FAKE("fake_quantize_dequantize_moving_average_abs_max", fake_quantize, "X,InScale,InAccum,InState"),
    FAKE("fake_quantize_abs_max", fake_quantize_own, "X"), FAKE("fake_quantize_dequantize_abs_max", fake_quantize_own, "X"),
    FAKE("fake_channel_wise_quantize_abs_max", fake_quantize_own, "X"),
    FAKE("fake_channel_wise_quantize_dequantize_abs_max", fake_quantize_own, "X"),
    FAKE("fake_dequantize_max_abs", fake_dequantize, "X,Scale"),
    FAKE("fake_channel_wise_dequantize_max_abs", fake_channel_dequantize, "X,Scales"),
    DESC("moving_average_abs_max_scale", identity, IDENTITY, "X,InAccum,InState", "Out"),
    PIR("moving_average_abs_max_scale", identity, IDENTITY, "X,InAccum,InState", NULL),
};
/* clang-format on */
enum { ROWS = sizeof rows / sizeof *rows };

/* Of the dialect builtin; split and slice have namesakes in pd_op. */
static const xpu_paddle_row builtin_rows[] = {
    PIR("combine", combine, IDENTITY, "X", NULL),
    PIR("split", take_apart, IDENTITY, "X", NULL),
    PIR("slice", take_apart, IDENTITY, "X", NULL),
};

static const xpu_paddle_row *row_of(const xpu_paddle_row *list, size_t count, int is_desc, const char *name,
                                    size_t length) {
    for (size_t i = 0; i < count; i++) {
        if (list[i].dialect == (is_desc ? XPU_PADDLE_DESC : XPU_PADDLE_PIR) &&
            strncmp(list[i].name, name, length) == 0 && !list[i].name[length])
            return &list[i];
    }
    return NULL;
}

const xpu_paddle_row *xpu_paddle_find_row(const xpu_paddle_op *op) {
    int is_builtin = strcmp(op->dialect, "builtin") == 0, is_desc = !op->dialect[0];
    const xpu_paddle_row *list = is_builtin ? builtin_rows : rows;
    size_t count = is_builtin ? sizeof builtin_rows / sizeof *builtin_rows : ROWS;
    if (!is_desc && !is_builtin && strcmp(op->dialect, "pd_op") != 0) return NULL;
    const xpu_paddle_row *found = row_of(list, count, is_desc, op->type, strlen(op->type));
    size_t length = strlen(op->type);
    if (found || is_desc || !length || op->type[length - 1] != '_') return found;
    return row_of(list, count, 0, op->type, length - 1); /* written where an operand is */
}

uint32_t xpu_paddle_operator_count(void) {
    return ROWS;
}

xpu_paddle_operator xpu_paddle_operator_at(uint32_t index, int *is_pir) {
    *is_pir = rows[index].dialect == XPU_PADDLE_PIR;
    return (xpu_paddle_operator){rows[index].name, rows[index].inputs};
}
