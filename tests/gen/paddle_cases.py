"""One case or more for each operator that the PaddlePaddle importer has a row for: (operator, operands, results,
attributes). An operand is an array, or a list of them; those named in CONSTANTS become parameters of the program. A
result is how many float32 tensors there are, or their types; "~" in front: it is made, and not looked at."""
import numpy as np

rng = np.random.default_rng(11)


def f(*dims):
    """Numbers around 0, short in a file."""
    return (np.round(rng.standard_normal(dims) * 32) / 32).astype(np.float32)


def p(*dims):
    return (np.abs(f(*dims)) + np.float32(0.125)).astype(np.float32)


def i(high, *dims, dtype=np.int64):
    return rng.integers(0, high, dims).astype(dtype)


def b(*dims):
    return rng.integers(0, 2, dims).astype(bool)


class Constant(np.ndarray):
    """An operand that becomes a parameter wherever it stands."""


CASES = []
# What 3.3.1 does not translate.
NOT_IN_PIR = set("bilinear_interp nearest_interp expand fill_zeros_like flatten2 round thresholded_relu top_k transpose fc elementwise_pow".split())
CONSTANTS = {"Filter", "Scale", "Bias", "Mean", "Variance", "W", "Weight", "Alpha", "K", "Num"}
FP32, INT32, INT64, BOOL = 5, 2, 3, 0


def case(op, operands, results=None, **attrs):
    CASES.append((op, operands, {"Out": 1} if results is None else results, attrs))


for op in ("abs atan ceil cos cosh erf exp floor sigmoid sin sinh square tanh tan sign round relu silu softplus softsign "
           "tanh_shrink softshrink hard_shrink logsigmoid relu6 elu selu leaky_relu swish hard_swish hard_sigmoid gelu mish "
           "thresholded_relu brelu mean assign expm1 trunc stanh celu asinh fill_zeros_like").split():
    case(op, {"X": f(2, 3, 4)})
for op in "log log2 log10 log1p sqrt rsqrt reciprocal".split():
    case(op, {"X": p(2, 3, 4)})
case("acos", {"X": np.clip(f(2, 3), -.9, .9)})
case("asin", {"X": np.clip(f(2, 3), -.9, .9)})
case("atanh", {"X": np.clip(f(2, 3), -.9, .9)})
case("acosh", {"X": p(2, 3) + 1})
case("leaky_relu", {"X": f(5)}, alpha=0.25)
case("elu", {"X": f(5)}, alpha=0.5)
case("hard_sigmoid", {"X": f(2, 9) * 4}, slope=0.25, offset=0.375)
case("hard_swish", {"X": f(2, 9) * 4}, threshold=4., scale=5., offset=2.)
case("swish", {"X": f(7)}, beta=2.)
case("softplus", {"X": f(7)}, beta=2., threshold=20.)
case("gelu", {"X": f(7)}, approximate=True)
case("thresholded_relu", {"X": f(9)}, threshold=0.25)
case("brelu", {"X": f(9) * 4}, t_min=-1., t_max=2.)
for op in "isfinite_v2 isinf_v2 isnan_v2".split():
    case(op, {"X": np.array([1, np.inf, np.nan, -np.inf], np.float32)}, {"Out": ["bool"]})
for op in "add sub mul div max min pow".split():
    case("elementwise_" + op, {"X": p(2, 3, 4), "Y": p(3, 1)}, axis=1)
    case("elementwise_" + op, {"X": p(2, 3, 4), "Y": p(2)}, axis=0)
    case("elementwise_" + op, {"X": p(2, 3, 4), "Y": p(4)}, axis=-1)
case("elementwise_add", {"X": i(9, 2, 3), "Y": i(9, 3)}, {"Out": ["int64"]}, axis=-1)
case("elementwise_div", {"X": i(90, 2, 3, dtype=np.int32), "Y": i(9, 2, 3, dtype=np.int32) + 1}, {"Out": ["int32"]}, axis=-1)
for op in "mod floordiv".split():
    case("elementwise_" + op, {"X": i(90, 2, 3), "Y": i(9, 2, 3) + 1}, {"Out": ["int64"]}, axis=-1)
case("elementwise_mod", {"X": f(3, 4) * 5, "Y": p(3, 4)}, axis=-1)
for op in "and or xor".split():
    case("bitwise_" + op, {"X": i(99, 2, 3, dtype=np.int32), "Y": i(99, 2, 3, dtype=np.int32)}, {"Out": ["int32"]})
    case("logical_" + op, {"X": b(2, 3), "Y": b(2, 3)}, {"Out": ["bool"]})
case("bitwise_not", {"X": i(99, 2, 3, dtype=np.int32)}, {"Out": ["int32"]})
case("logical_not", {"X": b(2, 3)}, {"Out": ["bool"]})
for op in "equal not_equal less_than less_equal greater_than greater_equal".split():
    case(op, {"X": i(3, 2, 5), "Y": i(3, 2, 5)}, {"Out": ["bool"]}, axis=-1)
    case(op, {"X": f(2, 5), "Y": f(5)}, {"Out": ["bool"]}, axis=-1)
for op in "sum mean max min prod".split():
    case("reduce_" + op, {"X": f(2, 3, 4)}, dim=[1], keep_dim=False, reduce_all=False)
    case("reduce_" + op, {"X": f(2, 3, 4)}, dim=[0, -1], keep_dim=True, reduce_all=False)
    case("reduce_" + op, {"X": f(2, 3)}, dim=[0, 1], keep_dim=False, reduce_all=True)
for op in "all any".split():
    case("reduce_" + op, {"X": b(2, 3, 4)}, {"Out": ["bool"]}, dim=[1], keep_dim=False, reduce_all=False)
case("addmm", dict(Input=f(2, 4), X=f(2, 3), Y=f(3, 4)), Alpha=0.5, Beta=2.)
for op in ("arg_max", "arg_min"):
    case(op, {"X": f(2, 5)}, {"Out": ["int64"]}, axis=1, keepdims=False, dtype=INT64, flatten=False)
    case(op, {"X": f(2, 5)}, {"Out": ["int32"]}, axis=0, keepdims=True, dtype=INT32, flatten=False)
case("arg_max", {"X": f(2, 5)}, {"Out": ["int64"]}, axis=0, keepdims=False, dtype=INT64, flatten=True)
case("argsort", {"X": f(2, 5)}, {"Out": 1, "Indices": ["int64"]}, axis=-1, descending=False)
case("argsort", {"X": f(4, 3)}, {"Out": 1, "Indices": ["int64"]}, axis=0, descending=True)
case("assign_value", {}, shape=[2], dtype=FP32, fp32_values=[1., 2.])
NORM = dict(X=f(2, 3, 4, 4), Scale=f(3), Bias=f(3), Mean=f(3), Variance=p(3))
NORM_ATTRS = dict(is_test=True, epsilon=1e-5, momentum=.9, data_layout="NCHW", use_global_stats=True)
case("batch_norm", NORM, {"Y": 1, "~SavedMean": 1, "~SavedVariance": 1}, **NORM_ATTRS)
case("batch_norm", dict(NORM, X=f(2, 4, 4, 3)), {"Y": 1, "~SavedMean": 1, "~SavedVariance": 1},
     **dict(NORM_ATTRS, data_layout="NHWC"))
SIZE = dict(out_h=7, out_w=9, align_corners=False, align_mode=0, data_layout="NCHW")
for way in "bilinear nearest bicubic".split():
    for more in (dict(scale=[]), dict(scale=[], align_corners=True), dict(scale=[2., 1.5], align_mode=1)):
        case(way + "_interp_v2", {"X": f(1, 2, 4, 5)}, **dict(SIZE, interp_method=way, **more))
for way in "bilinear nearest".split():
    case(way + "_interp", {"X": f(1, 2, 4, 5)}, **dict(SIZE, interp_method=way, scale=0.))
    case(way + "_interp", {"X": f(1, 2, 4, 5)}, **dict(SIZE, interp_method=way, scale=2., align_corners=True))
case("nearest_interp_v2", {"X": f(1, 4, 5, 2)}, **dict(SIZE, interp_method="nearest", scale=[2., 2.], data_layout="NHWC"))
case("linear_interp_v2", {"X": f(1, 2, 5)}, out_w=9, interp_method="linear", align_corners=False, align_mode=0,
     data_layout="NCHW", scale=[])
case("bmm", {"X": f(2, 3, 4), "Y": f(2, 4, 5)})
case("cast", {"X": f(2, 3) * 4}, {"Out": ["int32"]}, in_dtype=FP32, out_dtype=INT32)
case("cast", {"X": i(5, 2, 3)}, in_dtype=INT64, out_dtype=FP32)
case("clip", {"X": f(2, 3)}, min=-.5, max=.5)
case("concat", {"X": [f(2, 3), f(2, 2)]}, axis=1)
case("concat", {"X": [f(2, 3), f(1, 3), f(1, 3)]}, axis=-2)
CONV = dict(strides=[1, 1], paddings=[1, 1], dilations=[1, 1], groups=1, padding_algorithm="EXPLICIT", data_format="NCHW")
case("conv2d", dict(Input=f(1, 4, 6, 6), Filter=f(6, 4, 3, 3)), {"Output": 1}, **CONV)
case("conv2d", dict(Input=f(2, 4, 7, 6), Filter=f(6, 2, 3, 3)), {"Output": 1},
     **dict(CONV, groups=2, strides=[2, 1], paddings=[0, 1, 2, 0]))
case("conv2d", dict(Input=f(1, 4, 7, 6), Filter=f(6, 4, 3, 3)), {"Output": 1},
     **dict(CONV, strides=[2, 2], padding_algorithm="SAME"))
case("conv2d", dict(Input=f(1, 7, 6, 4), Filter=f(6, 4, 3, 3)), {"Output": 1}, **dict(CONV, data_format="NHWC"))
case("conv2d", dict(Input=f(1, 4, 9, 9), Filter=f(6, 4, 3, 3)), {"Output": 1}, **dict(CONV, dilations=[2, 2]))
case("depthwise_conv2d", dict(Input=f(1, 4, 6, 6), Filter=f(4, 1, 3, 3)), {"Output": 1}, **dict(CONV, groups=4))
TRANSPOSED = dict(CONV, output_padding=[], output_size=[])
case("conv2d_transpose", dict(Input=f(1, 4, 6, 6), Filter=f(4, 5, 3, 3)), {"Output": 1}, **TRANSPOSED)
case("conv2d_transpose", dict(Input=f(1, 4, 5, 6), Filter=f(4, 5, 3, 3)), {"Output": 1},
     **dict(TRANSPOSED, strides=[2, 2], output_padding=[1, 0]))
case("depthwise_conv2d_transpose", dict(Input=f(1, 4, 6, 6), Filter=f(4, 1, 3, 3)), {"Output": 1}, **dict(TRANSPOSED, groups=4))
for more in (dict(exclusive=False, reverse=False), dict(exclusive=True, reverse=True)):
    case("cumsum", {"X": f(2, 3)}, axis=1, flatten=False, **more)
case("cumprod", {"X": f(2, 3)}, dim=1)
case("dot", dict(X=f(2, 3), Y=f(2, 3)))
for way in ("downgrade_in_infer", "upscale_in_train"):
    case("dropout", dict(X=f(2, 3)), {"Out": 1, "~Mask": ["uint8"]}, is_test=True, dropout_prob=.3,
         dropout_implementation=way, fix_seed=True, seed=1)
case("expand", {"X": f(2, 1)}, expand_times=[1, 3])
case("expand_v2", {"X": f(2, 1)}, shape=[2, 3])
case("expand_v2", {"X": f(2, 1)}, shape=[4, -1, 3])
case("expand_as_v2", {"X": f(2, 1), "Y": f(2, 3)}, target_shape=[2, 3])
case("fill_any_like", {"X": f(2, 3)}, value=2., dtype=FP32)
case("fill_constant", {}, shape=[2, 3], dtype=FP32, value=1.5, str_value="1.5")
case("fill_constant", {}, {"Out": ["int64"]}, shape=[2], dtype=INT64, value=2.**53, str_value="9007199254740992")
case("fill_constant_batch_size_like", {"Input": f(2, 3)}, shape=[-1, 4], dtype=FP32, value=1.5, str_value="1.5",
     input_dim_idx=0, output_dim_idx=0)
case("flatten2", {"X": f(2, 3, 4)}, {"Out": 1, "~XShape": 1}, axis=1)
case("flatten_contiguous_range", {"X": f(2, 3, 4)}, {"Out": 1, "~XShape": 1}, start_axis=1, stop_axis=2)
case("flatten_contiguous_range", {"X": f(2, 3, 4)}, {"Out": 1, "~XShape": 1}, start_axis=0, stop_axis=-1)
case("flip", {"X": f(2, 3)}, axis=[1])
case("flip", {"X": f(2, 3, 2)}, axis=[0, -1])
case("gather", dict(X=f(4, 3), Index=i(4, 2)), axis=0)
case("gather", dict(X=f(4, 3), Index=i(3, 5)), axis=1)
case("gather_nd", dict(X=f(4, 3), Index=i(3, 2, 1)))
case("grid_sampler", dict(X=f(1, 2, 4, 4), Grid=np.clip(f(1, 3, 3, 2), -1, 1)), {"Output": 1}, mode="bilinear",
     padding_mode="zeros", align_corners=True)
case("group_norm", dict(X=f(1, 4, 3, 3), Scale=f(4), Bias=f(4)), {"Y": 1, "~Mean": 1, "~Variance": 1}, groups=2,
     epsilon=1e-5, data_layout="NCHW")
case("increment", {"X": np.array([2], np.int64)}, {"Out": ["int64"]}, step=1.)
case("increment", {"X": np.array([2.5], np.float32)}, step=-0.5)
case("index_sample", dict(X=f(2, 4), Index=i(4, 2, 3)))
case("index_select", dict(X=f(4, 3), Index=i(3, 2)), dim=1)
case("instance_norm", dict(X=f(2, 3, 4, 4), Scale=f(3), Bias=f(3)), {"Y": 1, "~SavedMean": 1, "~SavedVariance": 1}, epsilon=1e-5)
case("layer_norm", dict(X=f(2, 3, 4), Scale=f(12), Bias=f(12)), {"Y": 1, "~Mean": 1, "~Variance": 1}, epsilon=1e-5, begin_norm_axis=1)
case("layer_norm", dict(X=f(2, 3, 4), Scale=f(4), Bias=f(4)), {"Y": 1, "~Mean": 1, "~Variance": 1}, epsilon=1e-5, begin_norm_axis=2)
case("log_softmax", {"X": f(2, 5)}, axis=-1)
case("logsumexp", {"X": f(2, 5)}, axis=[1], keepdim=False, reduce_all=False)
case("lookup_table", dict(W=f(9, 4), Ids=i(9, 3, 1)), padding_idx=-1)
case("lookup_table_v2", dict(W=f(9, 4), Ids=i(9, 3, 2)), padding_idx=-1)
case("lookup_table_v2", dict(W=f(9, 4), Ids=i(3, 6)), padding_idx=1)
case("lrn", {"X": f(1, 6, 3, 3)}, {"Out": 1, "~MidOut": 1}, n=5, k=1., alpha=1e-2, beta=.75, data_format="NCHW")
case("matmul", dict(X=f(2, 3), Y=f(3, 4)), transpose_X=False, transpose_Y=False, alpha=2.)
case("matmul", dict(X=f(2, 3), Y=f(4, 3)), transpose_X=False, transpose_Y=True, alpha=1.)
case("matmul_v2", dict(X=f(2, 3), Y=f(3, 4)), trans_x=False, trans_y=False)
case("matmul_v2", dict(X=f(2, 5, 3), Y=f(2, 5, 4)), trans_x=True, trans_y=False)
case("matmul_v2", dict(X=f(2, 5, 3), Y=f(3)), trans_x=False, trans_y=False)
case("mul", dict(X=f(2, 3), Y=f(3, 4)), x_num_col_dims=1, y_num_col_dims=1)
case("mul", dict(X=f(2, 5, 2, 3), Y=f(6, 2, 2)), x_num_col_dims=2, y_num_col_dims=1)
case("mv", dict(X=f(2, 3), Vec=f(3)))
case("meshgrid", {"X": [f(2), f(3)]}, {"Out": 2})
case("norm", {"X": f(2, 3)}, {"Out": 1, "~Norm": 1}, axis=1, epsilon=1e-10, is_test=True)
for order in (1., 2., 3., float("inf")):
    case("p_norm", {"X": f(2, 3)}, porder=order, axis=1, epsilon=1e-12, keepdim=False, asvector=False)
case("one_hot_v2", {"X": i(5, 3)}, depth=5, dtype=FP32, allow_out_of_range=False)
case("pad", {"X": f(2, 3)}, paddings=[1, 0, 0, 2], pad_value=1.)
case("pad3d", {"X": f(1, 2, 3, 3, 3)}, paddings=[1, 2, 0, 1, 2, 1], mode="replicate", value=0., data_format="NCDHW")
case("pad3d", {"X": f(1, 2, 3, 3, 3)}, paddings=[1, 2, 0, 1, 2, 1], mode="constant", value=3., data_format="NCDHW")
case("pixel_shuffle", {"X": f(1, 8, 3, 3)}, upscale_factor=2, data_format="NCHW")
POOL = dict(ksize=[2, 2], strides=[2, 2], paddings=[0, 0], global_pooling=False, adaptive=False, exclusive=True, ceil_mode=False,
            data_format="NCHW", padding_algorithm="EXPLICIT")
for way in ("avg", "max"):
    case("pool2d", {"X": f(1, 2, 4, 4)}, pooling_type=way, **POOL)
    case("pool2d", {"X": f(1, 2, 5, 6)}, pooling_type=way, **dict(POOL, ksize=[3, 3], paddings=[1, 1], ceil_mode=True))
    case("pool2d", {"X": f(1, 2, 5, 6)}, pooling_type=way, **dict(POOL, ksize=[3, 3], paddings=[1, 1], exclusive=False))
    case("pool2d", {"X": f(1, 2, 4, 6)}, pooling_type=way, **dict(POOL, global_pooling=True))
for size in ([2, 3], [1, 1]):
    case("pool2d", {"X": f(1, 2, 4, 6)}, pooling_type="avg", **dict(POOL, adaptive=True, ksize=size))
case("pow", {"X": p(2, 3)}, factor=2.)
case("prelu", dict(X=f(1, 3, 2, 2), Alpha=p(3)), mode="channel", data_format="NCHW")
case("prelu", dict(X=f(1, 3, 2, 2), Alpha=p(1)), mode="all", data_format="NCHW")
case("prelu", dict(X=f(1, 3, 2, 2), Alpha=p(1, 3, 2, 2)), mode="element", data_format="NCHW")
case("range", dict(Start=np.array([0], np.int64), End=np.array([5], np.int64), Step=np.array([2], np.int64)), {"Out": ["int64"]})
case("reshape", {"X": f(2, 6)}, shape=[3, -1])
case("reshape2", {"X": f(2, 6)}, {"Out": 1, "~XShape": 1}, shape=[0, 2, -1])
case("reverse", {"X": f(2, 3)}, axis=[1])
case("roll", {"X": f(2, 3)}, shifts=[1], axis=[1])
case("roll", {"X": f(2, 3)}, shifts=[2], axis=[])
for after in (True, False):
    case("scale", {"X": f(2, 3)}, scale=2., bias=1., bias_after_scale=after)
case("scatter_nd_add", dict(X=f(4, 3), Index=i(4, 2, 1), Updates=f(2, 3)))
case("shape", {"Input": f(2, 3)}, {"Out": ["int32"]})
case("size", {"Input": f(2, 3)}, {"Out": ["int64"]})
case("share_data", {"X": f(2, 3)})
case("slice", {"Input": f(3, 4)}, axes=[1], starts=[1], ends=[3], decrease_axis=[], infer_flags=[1])
case("slice", {"Input": f(3, 4)}, axes=[0, 1], starts=[-1, 0], ends=[1000, 3], decrease_axis=[0], infer_flags=[1, 1])
case("strided_slice", {"Input": f(3, 6)}, axes=[1], starts=[1], ends=[6], strides=[2], infer_flags=[1], decrease_axis=[])
case("softmax", {"X": f(2, 5)}, axis=-1)
case("softmax", {"X": f(2, 5, 3)}, axis=1)
case("split", {"X": f(2, 6)}, {"Out": 2}, axis=1, num=2, sections=[])
case("split", {"X": f(2, 6)}, {"Out": 3}, axis=1, num=0, sections=[1, -1, 2])
case("squeeze2", {"X": f(2, 1, 3, 1)}, {"Out": 1, "~XShape": 1}, axes=[])
case("squeeze2", {"X": f(2, 1, 3)}, {"Out": 1, "~XShape": 1}, axes=[0, 1])
case("unsqueeze2", {"X": f(2, 3)}, {"Out": 1, "~XShape": 1}, axes=[0, -1])
case("stack", {"X": [f(2), f(2)]}, {"Y": 1}, axis=0)
case("stack", {"X": [f(2, 3), f(2, 3), f(2, 3)]}, {"Y": 1}, axis=-1)
case("unstack", {"X": f(2, 3)}, {"Y": 2}, axis=0, num=2)
case("unbind", {"X": f(2, 3)}, {"Out": 3}, axis=1)
case("sum", {"X": [f(2), f(2), f(2)]})
case("take_along_axis", dict(Input=f(2, 4), Index=i(4, 2, 2)), {"Result": 1}, Axis=1)
case("tile", {"X": f(2, 3)}, repeat_times=[2, 1])
case("tile", {"X": f(2, 3)}, repeat_times=[2, 1, 2])
case("top_k", {"X": f(2, 5)}, {"Out": 1, "Indices": ["int64"]}, k=2)
case("top_k_v2", {"X": f(2, 5)}, {"Out": 1, "Indices": ["int64"]}, k=2, axis=-1, largest=True, sorted=True)
case("top_k_v2", {"X": f(5, 2)}, {"Out": 1, "Indices": ["int64"]}, k=3, axis=0, largest=False, sorted=True)
case("transpose", {"X": f(2, 3)}, axis=[1, 0])
case("transpose2", {"X": f(2, 3, 4)}, {"Out": 1, "~XShape": 1}, axis=[2, 0, 1])
for lower in (True, False):
    case("tril_triu", {"X": f(3, 4)}, diagonal=1 if lower else 0, lower=lower)
case("where", dict(Condition=b(2, 3), X=f(2, 3), Y=f(2, 3)))
case("where_index", {"Condition": b(2, 3)}, {"Out": ["int64"]})
case("einsum", dict(Operands=[f(2, 3), f(3, 4)]), {"Out": 1, "~InnerCache": 2, "~XShape": 2}, equation="ij,jk->ik")
case("fc", dict(Input=f(2, 3), W=f(3, 4), Bias=f(4)), in_num_col_dims=1, activation_type="")
