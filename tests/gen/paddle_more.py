"""Cases of operators that paddle_cases.py has none of, as there."""
import numpy as np
from paddle_cases import BOOL, FP32, INT64, Constant, b, f, i, p, rng  # noqa: F401

CASES = []
NOT_IN_PIR = {"crop", "data_norm", "repeat_interleave"}  # of 3.3.1


def case(op, operands, results=None, **attrs):
    CASES.append((op, operands, {"Out": 1} if results is None else results, attrs))


def constant(*values, dtype=np.float32):
    return np.array(values, dtype).view(Constant)


def distinct(*dims):
    return (rng.permutation(int(np.prod(dims))).reshape(dims) / 8 - 2).astype(np.float32)


for group in (2, 3):
    case("shuffle_channel", {"X": f(2, 6, 3, 2)}, group=group)
    case("channel_shuffle", {"X": f(1, 6, 2, 3)}, groups=group, data_format="NCHW")
case("pixel_unshuffle", {"X": f(1, 2, 4, 6)}, downscale_factor=2, data_format="NCHW")
case("pixel_unshuffle", {"X": f(2, 1, 3, 6)}, downscale_factor=3, data_format="NCHW")
case("maxout", {"X": f(2, 6, 3, 3)}, groups=2, axis=1)
case("maxout", {"X": f(1, 6, 2, 4)}, groups=3, axis=1)
case("temporal_shift", {"X": f(6, 8, 2, 2)}, seg_num=3, shift_ratio=0.25, data_format="NCHW")
case("temporal_shift", {"X": f(4, 5, 2, 3)}, seg_num=2, shift_ratio=0.2, data_format="NCHW")
case("unfold", {"X": f(1, 2, 5, 6)}, {"Y": 1}, kernel_sizes=[2, 3], strides=[1, 2], paddings=[1, 0, 1, 2], dilations=[1, 1])
case("unfold", {"X": f(2, 3, 6, 6)}, {"Y": 1}, kernel_sizes=[2, 2], strides=[2, 2], paddings=[0, 0, 0, 0], dilations=[2, 1])
case("fold", {"X": f(1, 8, 12)}, {"Y": 1}, output_sizes=[4, 5], kernel_sizes=[2, 2], strides=[1, 1], paddings=[0, 0, 0, 0], dilations=[1, 1])
case("fold", {"X": f(2, 18, 6)}, {"Y": 1}, output_sizes=[4, 6], kernel_sizes=[3, 3], strides=[2, 2], paddings=[1, 1, 1, 1], dilations=[1, 1])
for op in ("partial_concat", "partial_sum"):
    case(op, {"X": [f(3, 5), f(3, 5)]}, start_index=1, length=3)
    case(op, {"X": [f(2, 4), f(2, 4), f(2, 4)]}, start_index=2, length=-1)
case("crop_tensor", {"X": f(3, 5)}, shape=[2, -1], offsets=[1, 2])
case("crop_tensor", {"X": f(2, 4, 3)}, shape=[2, 2, 2], offsets=[0, 1, 1])
case("crop", {"X": f(3, 5)}, shape=[2, 3], offsets=[1, 2])
case("crop", {"X": f(4, 4)}, shape=[1, 4], offsets=[3, 0])
case("repeat_interleave", {"X": f(2, 3)}, Repeats=2, dim=1)
case("repeat_interleave", {"X": f(3, 2, 2)}, Repeats=3, dim=0)
BOX = dict(dtype=FP32, none_axes=[], decrease_axes=[])
case("set_value", {"Input": f(4, 5)}, axes=[1], starts=[1], ends=[4], steps=[2], shape=[1], values=[2.5], **BOX)
case("set_value", {"Input": f(4, 5), "ValueTensor": f(2, 3)}, axes=[0, 1], starts=[-3, 0], ends=[-1, 3], steps=[1, 1], shape=[1], **BOX)
case("set_value", {"Input": f(4, 5), "ValueTensor": f(5)}, axes=[0], starts=[2], ends=[3], steps=[1], shape=[1],
     **dict(BOX, decrease_axes=[0]))
for overwrite in (True, False):
    case("scatter", dict(X=f(5, 3), Ids=np.array([3, 1], np.int64), Updates=f(2, 3)), overwrite=overwrite)
case("scatter", dict(X=f(4, 2), Ids=np.array([2, 0, 2], np.int32), Updates=f(3, 2)), overwrite=False)
for way in ("assign", "add", "mul"):
    case("put_along_axis", dict(Input=f(3, 4), Index=np.array([[0, 2], [1, 3], [2, 0]], np.int64), Value=f(3, 2)), {"Result": 1},
         Axis=1, Reduce=way, Include_self=True)
case("index_put", dict(x=f(4, 3), indices=[i(4, 2), i(3, 2)], value=f(2)), {"out": 1}, accumulate=True)
case("index_put", dict(x=f(4, 3), indices=[np.array([3, 1], np.int64)], value=f(2, 3)), {"out": 1}, accumulate=False)
case("masked_select", dict(X=f(3, 4), Mask=b(3, 4)), {"Y": 1})
case("masked_select", dict(X=f(3, 4), Mask=b(3, 1)), {"Y": 1})
case("kthvalue", {"X": distinct(3, 5)}, {"Out": 1, "Indices": ["int64"]}, k=2, axis=-1, keepdim=False)
case("kthvalue", {"X": distinct(4, 3)}, {"Out": 1, "Indices": ["int64"]}, k=4, axis=0, keepdim=True)
case("diag_v2", {"X": f(3)}, offset=1, padding_value=0.5)
case("diag_v2", {"X": f(4, 5)}, offset=-1, padding_value=0.)
case("diag_v2", {"X": f(3, 3)}, offset=1, padding_value=0.)
case("cross", dict(X=f(2, 3), Y=f(2, 3)), dim=9)
case("cross", dict(X=f(3, 4), Y=f(3, 4)), dim=0)
case("sequence_mask", {"X": np.array([1, 3, 0], np.int64)}, {"Y": ["int64"]}, maxlen=4, out_dtype=INT64)
case("sequence_mask", {"X": np.array([[2, 5], [1, 0]], np.int64)}, {"Y": ["float32"]}, maxlen=5, out_dtype=FP32)
case("eye", {}, num_rows=3, num_columns=4, dtype=FP32)
case("eye", {}, {"Out": ["int64"]}, num_rows=2, num_columns=-1, dtype=INT64)
case("linspace", dict(Start=constant(-1), Stop=constant(2), Num=constant(5, dtype=np.int32)), dtype=FP32)
case("linspace", dict(Start=constant(3), Stop=constant(3.5), Num=constant(1, dtype=np.int32)), dtype=FP32)
for corners in (True, False):
    case("affine_grid", {"Theta": f(2, 2, 3)}, {"Output": 1}, output_shape=[2, 3, 3, 4], align_corners=corners)
case("affine_channel", dict(X=f(2, 3, 2, 2), Scale=f(3), Bias=f(3)), data_layout="NCHW")
case("affine_channel", dict(X=f(1, 4, 3, 3), Scale=f(4), Bias=f(4)), data_layout="NCHW")
case("data_norm", dict(X=f(4, 3), BatchSize=p(3) + 9, BatchSum=f(3), BatchSquareSum=p(3) + 9), {"Y": 1, "~Means": 1, "~Scales": 1},
     epsilon=1e-4, slot_dim=-1, data_layout="NCHW")
case("data_norm", dict(X=f(2, 5), BatchSize=p(5) + 4, BatchSum=f(5), BatchSquareSum=p(5) + 4), {"Y": 1, "~Means": 1, "~Scales": 1},
     epsilon=1e-4, slot_dim=-1, data_layout="NCHW")
case("atan2", dict(X1=f(3, 5), X2=f(3, 5)))
case("atan2", dict(X1=np.array([0, 0, 1, -1, 0.5], np.float32), X2=np.array([1, -1, 0, 0, -0.5], np.float32)))
for order in (0., 1., 2., 3., float("inf"), float("-inf")):
    case("dist", dict(X=f(3, 4), Y=f(3, 4)), p=order)
case("dequantize_log", dict(X=rng.integers(-128, 128, (3, 5)).astype(np.int8), Dict=p(128).view(Constant)))
case("dequantize_log", dict(X=np.array([-128, -1, 0, 127], np.int8), Dict=p(128).view(Constant)))
case("softmax_with_cross_entropy", dict(Logits=f(3, 5), Label=i(5, 3, 1)), {"Softmax": 1, "Loss": 1}, axis=-1, soft_label=False,
     use_softmax=True, numeric_stable_mode=True, ignore_index=-100)
case("softmax_with_cross_entropy", dict(Logits=f(2, 4, 3), Label=i(4, 2, 1, 3)), {"Softmax": 1, "Loss": 1}, axis=1, soft_label=False,
     use_softmax=True, numeric_stable_mode=True, ignore_index=-100)
POOL = dict(ksize=[2, 2], strides=[2, 2], paddings=[0, 0], global_pooling=False, adaptive=False)
case("max_pool2d_with_index", {"X": f(1, 2, 4, 6)}, {"Out": 1, "~Mask": ["int32"]}, **POOL)
case("max_pool2d_with_index", {"X": f(2, 3, 5, 5)}, {"Out": 1, "~Mask": ["int32"]}, **dict(POOL, ksize=[3, 3], paddings=[1, 1]))
