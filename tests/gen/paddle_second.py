"""A second case, of another rank or with other attributes, for operators that paddle_cases.py has one of; sequences of
images."""
import numpy as np
from paddle_boxes import Beams, Sequences, boxes, distinct
from paddle_cases import FP32, INT32, Constant, b, f, i, p, rng

CASES = []
NOT_IN_PIR = set("expand fill_zeros_like flatten2 top_k transpose fc one_hot_v2 pow retinanet_detection_output var_conv_2d".split())  # of 3.3.1


def case(op, operands, results=None, **attrs):
    CASES.append((op, operands, {"Out": 1} if results is None else results, attrs))


for op in "atan ceil cos cosh erf exp floor sigmoid sin sinh tan sign round silu softsign tanh_shrink logsigmoid mish mean expm1 trunc asinh fill_zeros_like".split():
    case(op, {"X": f(5) * 2})
for op in "log log2 log10 log1p sqrt rsqrt reciprocal".split():
    case(op, {"X": p(5)})
for op in "acos asin atanh".split():
    case(op, {"X": np.clip(f(5), -.75, .75)})
case("acosh", {"X": p(5) + 2})
case("softshrink", {"X": f(9)}, **{"lambda": .25})
case("hard_shrink", {"X": f(9)}, threshold=.75)
case("selu", {"X": f(7)}, scale=1.5, alpha=2.)
case("stanh", {"X": f(7)}, scale_a=.5, scale_b=2.)
case("celu", {"X": f(7)}, alpha=.5)
case("clip", {"X": i(20, 3, 4)}, {"Out": ["int64"]}, min=3., max=11.)
case("pow", {"X": p(4)}, factor=-.5)
for op in "isfinite_v2 isinf_v2 isnan_v2".split():
    case(op, {"X": np.array([[np.nan, 2], [-np.inf, 0]], np.float32)}, {"Out": ["bool"]})
case("elementwise_floordiv", {"X": i(90, 3, 2, dtype=np.int32), "Y": i(9, 2, dtype=np.int32) + 1}, {"Out": ["int32"]}, axis=-1)
case("elementwise_pow", {"X": p(2, 3), "Y": f(2, 3)}, axis=-1)
for op in "and or xor".split():
    case("bitwise_" + op, {"X": i(2**40, 2, 1), "Y": i(2**40, 3)}, {"Out": ["int64"]})
    case("logical_" + op, {"X": b(2, 1), "Y": b(3)}, {"Out": ["bool"]})
case("bitwise_not", {"X": b(5)}, {"Out": ["bool"]})
case("logical_not", {"X": b(4)}, {"Out": ["bool"]})
case("reduce_any", {"X": b(2, 3, 4)}, {"Out": ["bool"]}, dim=[0, 2], keep_dim=True, reduce_all=False)
case("addmm", dict(Input=f(4), X=f(2, 3), Y=f(3, 4)), Alpha=1.5, Beta=-1.)
case("assign_value", {}, {"Out": ["int64"]}, shape=[2, 2], dtype=3, int64_values=[3, -1, 2**40, 5])
case("bmm", {"X": f(1, 2, 3), "Y": f(1, 3, 2)})
case("dot", dict(X=f(5), Y=f(5)))
case("mv", dict(X=f(4, 2), Vec=f(2)))
case("fc", dict(Input=f(2, 3, 2), W=f(6, 4), Bias=f(4)), in_num_col_dims=1, activation_type="relu")
case("einsum", dict(Operands=[f(2, 3, 4), f(2, 5, 4)]), {"Out": 1, "~InnerCache": 2, "~XShape": 2}, equation="bij,bkj->bik")
case("conv2d", dict(Input=f(1, 2, 4, 4), Filter=f(3, 2, 2, 2)), {"Output": 1}, strides=[1, 1], paddings=[0, 0], dilations=[1, 1], groups=1,
     padding_algorithm="VALID", data_format="NCHW")
case("depthwise_conv2d_transpose", dict(Input=f(1, 3, 4, 3), Filter=f(3, 1, 2, 3)), {"Output": 1}, strides=[2, 1], paddings=[0, 1], dilations=[1, 1],
     groups=3, padding_algorithm="EXPLICIT", data_format="NCHW", output_padding=[], output_size=[])
case("cumprod", {"X": f(3, 2, 2)}, dim=0)
case("expand", {"X": f(1, 2, 1)}, expand_times=[2, 2, 3])
case("expand_as_v2", {"X": f(3, 1), "Y": f(2, 3, 2)}, target_shape=[2, 3, 2])
case("fill_any_like", {"X": f(3)}, {"Out": ["int32"]}, value=7., dtype=INT32)
case("fill_constant_batch_size_like", {"Input": f(2, 3)}, {"Out": ["int64"]}, shape=[4, -1], dtype=3, value=5., str_value="5", input_dim_idx=1,
     output_dim_idx=1)
case("flatten2", {"X": f(2, 3, 2)}, {"Out": 1, "~XShape": 1}, axis=2)
case("gather_nd", dict(X=f(4, 3, 2), Index=i(3, 3, 2)))
case("grid_sampler", dict(X=f(2, 1, 4, 5), Grid=(f(2, 2, 3, 2) * 1.5).astype(np.float32)), {"Output": 1}, mode="nearest", padding_mode="border",
     align_corners=False)
case("group_norm", dict(X=f(2, 6, 2, 2), Scale=f(6), Bias=f(6)), {"Y": 1, "~Mean": 1, "~Variance": 1}, groups=3, epsilon=1e-3, data_layout="NCHW")
case("index_sample", dict(X=f(3, 2), Index=i(2, 3, 4, dtype=np.int32)))
case("index_select", dict(X=f(4, 3, 2), Index=i(4, 5, dtype=np.int32)), dim=0)
case("instance_norm", dict(X=f(1, 2, 3, 2), Scale=f(2), Bias=f(2)), {"Y": 1, "~SavedMean": 1, "~SavedVariance": 1}, epsilon=1e-2)
case("linear_interp_v2", {"X": f(2, 1, 4)}, out_w=7, interp_method="linear", align_corners=True, align_mode=1, data_layout="NCHW", scale=[])
case("log_softmax", {"X": f(2, 3, 2)}, axis=1)
case("logsumexp", {"X": f(2, 3, 2)}, axis=[0, 2], keepdim=True, reduce_all=False)
case("lookup_table", dict(W=f(6, 3), Ids=i(6, 2, 3, 1)), padding_idx=2)
case("lrn", {"X": f(1, 4, 2, 2)}, {"Out": 1, "~MidOut": 1}, n=3, k=2., alpha=.5, beta=.5, data_format="NCHW")
case("meshgrid", {"X": [f(2), f(1), f(3)]}, {"Out": 3})
case("norm", {"X": f(2, 3, 2)}, {"Out": 1, "~Norm": 1}, axis=0, epsilon=1e-3, is_test=True)
case("one_hot_v2", {"X": i(4, 2, 3, dtype=np.int32)}, {"Out": ["int64"]}, depth=4, dtype=3, allow_out_of_range=False)
case("pad", {"X": f(2, 1, 2)}, paddings=[0, 1, 2, 0, 1, 1], pad_value=-2.)
case("pixel_shuffle", {"X": f(1, 2, 3, 9)}, upscale_factor=3, data_format="NHWC")
case("range", dict(Start=np.array([2], np.float32), End=np.array([-1], np.float32), Step=np.array([-.75], np.float32)))
case("reshape", {"X": f(2, 2, 3)}, shape=[0, 6])
case("reverse", {"X": f(2, 3, 2)}, axis=[0, 2])
case("scatter_nd_add", dict(X=f(3, 4), Index=np.array([[0, 1], [2, 3], [0, 1]], np.int32), Updates=f(3)))
case("shape", {"Input": i(3, 1, 2, 3)}, {"Out": ["int32"]})
case("size", {"Input": i(3, 2, 2, 2)}, {"Out": ["int64"]})
case("share_data", {"X": i(9, 4)}, {"Out": ["int64"]})
case("strided_slice", {"Input": f(5, 4)}, axes=[0, 1], starts=[4, 0], ends=[0, 3], strides=[-2, 1], infer_flags=[1, 1], decrease_axis=[])
case("unsqueeze2", {"X": f(3)}, {"Out": 1, "~XShape": 1}, axes=[1, 2])
case("unstack", {"X": f(2, 3, 2)}, {"Y": 3}, axis=1, num=3)
case("unbind", {"X": i(9, 2, 3)}, {"Out": ["int64"] * 2}, axis=0)
case("split", {"X": f(4, 2)}, {"Out": 2}, axis=0, num=2, sections=[])
case("sum", {"X": [i(9, 2, 2), i(9, 2, 2)]}, {"Out": ["int64"]})
case("take_along_axis", dict(Input=f(3, 2), Index=i(3, 4, 2)), {"Result": 1}, Axis=0)
case("top_k", {"X": f(3, 4)}, {"Out": 1, "Indices": ["int64"]}, k=4)
case("transpose", {"X": f(2, 1, 3)}, axis=[2, 0, 1])
case("where", dict(Condition=b(3), X=i(9, 3), Y=i(9, 3)), {"Out": ["int64"]})
case("where_index", {"Condition": np.array([0, 2, 0, -1], np.int64)}, {"Out": ["int64"]})
case("moving_average_abs_max_scale", {"X": f(5)}, {"Out": 1, "~OutScale": 1}, is_test=True)
case("thresholded_relu", {"X": f(9)}, threshold=.5)
case("repeat_interleave", {"X": f(2, 3)}, Repeats=2, dim=1)
case("repeat_interleave", {"X": i(9, 3, 2)}, {"Out": ["int64"]}, Repeats=3, dim=0)
TAGS = {"Scores": 1, "Path": ["int64"]}
case("viterbi_decode", dict(Input=f(2, 4, 3), Transition=f(3, 3), Length=np.array([3, 4], np.int64)), TAGS, include_bos_eos_tag=True)
case("viterbi_decode", dict(Input=f(3, 4, 3), Transition=f(3, 3), Length=np.array([4, 2, 3], np.int64)), TAGS, include_bos_eos_tag=False)
FORM = dict(InputChannel=2, OutputChannel=3, StrideH=1, StrideW=1, KernelH=3, KernelW=3)
for rows, columns, more in ((4, 5, {}), (5, 3, dict(StrideH=2, StrideW=1, KernelH=2, KernelW=3))):
    form = dict(FORM, **more)
    case("var_conv_2d", dict(X=f(2 * rows * columns, 1).view(Sequences), ROW=f(rows, 1).view(Sequences), COLUMN=f(columns, 1).view(Sequences),
                             W=f(3, 2 * form["KernelH"] * form["KernelW"]).view(Constant)), {"Out": 1, "~Col": 1}, **form)
PICKED = {"selected_ids": ["int64"], "selected_scores": 1, "parent_idx": ["int32"]}
BEAMS = dict(level=0, end_id=1)
for before, wide, most, more in (([4, 1, 3], 4, 3, {}), ([7], 5, 3, {}), ([1, 1], 3, 2, {}), ([5, 2, 1, 8], 2, 4, dict(is_accumulated=False))):
    scores = (p(len(before), wide) / 4 if more else np.round(f(len(before), wide) * 2) / 2 + np.arange(wide) / 64).astype(np.float32)
    case("beam_search", dict(pre_ids=np.array(before, np.int64)[:, None], pre_scores=np.round(f(len(before), 1) * 2) / 2,
                             ids=i(9, len(before), wide).view(Beams), scores=scores.view(Beams)), PICKED,
         **dict(BEAMS, beam_size=most, **(more or dict(is_accumulated=True))))
case("scale", {"X": f(2, 3), "ScaleTensor": np.float32([1.5])}, scale=1., bias=-.5, bias_after_scale=True)
case("clip", {"X": f(2, 3), "Min": np.float32([-.5])}, min=0., max=.5)
case("clip", {"X": f(2, 3), "Min": np.float32([-.25]), "Max": np.float32([.75])}, min=0., max=0.)
case("pow", {"X": p(2, 3), "FactorTensor": np.float32([1.5])}, factor=1.)
case("fill_constant", {"ValueTensor": np.float32([2.5])}, shape=[2, 3], dtype=FP32, value=0., str_value="0")
FAR = np.float32(np.inf)
case("elementwise_mod", {"X": np.float32([1, -1, 2, -3, 0, -7]), "Y": np.float32([FAR, FAR, -FAR, -FAR, FAR, 3])}, axis=-1)
for eta in (.8, 1.):
    rng.bit_generator.state = np.random.PCG64(17).state
    case("retinanet_detection_output", dict(BBoxes=[f(1, 12, 4) / 8], Scores=[distinct(1, 12, 2)], Anchors=[boxes(12, room=6)],
                                            ImInfo=np.float32([[24, 30, 1.5]])),
         score_threshold=.1, nms_top_k=24, nms_threshold=.8, nms_eta=eta, keep_top_k=20)
