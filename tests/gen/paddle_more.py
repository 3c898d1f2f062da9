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
PRIOR = dict(variances=[.1, .1, .2, .2], offset=.5)
for order in (True, False):
    case("prior_box", dict(Input=f(1, 2, 3, 4), Image=f(1, 3, 24, 40)), {"Boxes": 1, "Variances": 1}, min_sizes=[4., 9.],
         max_sizes=[8., 12.], aspect_ratios=[1., 2., 3.], flip=True, clip=order, step_w=0., step_h=0., min_max_aspect_ratios_order=order,
         **PRIOR)
case("density_prior_box", dict(Input=f(1, 2, 2, 3), Image=f(1, 3, 32, 40)), {"Boxes": 1, "Variances": 1}, fixed_sizes=[8., 14.],
     fixed_ratios=[1., 2.], densities=[2, 1], flatten_to_2d=True, clip=True, step_w=0., step_h=0., **PRIOR)
case("density_prior_box", dict(Input=f(1, 2, 2, 2), Image=f(1, 3, 30, 30)), {"Boxes": 1, "Variances": 1}, fixed_sizes=[8.],
     fixed_ratios=[1.], densities=[3], flatten_to_2d=False, clip=False, step_w=8., step_h=9., **PRIOR)
case("anchor_generator", {"Input": f(1, 2, 2, 3)}, {"Anchors": 1, "Variances": 1}, anchor_sizes=[32., 64.], aspect_ratios=[.5, 1., 2.],
     stride=[16., 16.], **PRIOR)
case("anchor_generator", {"Input": f(1, 2, 3, 2)}, {"Anchors": 1, "Variances": 1}, anchor_sizes=[20.], aspect_ratios=[.7],
     stride=[8., 12.], **PRIOR)


def corners(*dims):
    first = rng.integers(0, 20, dims + (2,))
    return np.concatenate([first, first + rng.integers(2, 20, dims + (2,))], -1).astype(np.float32)


case("box_coder", dict(PriorBox=corners(4), PriorBoxVar=p(4, 4), TargetBox=f(3, 4, 4)), {"OutputBox": 1}, code_type="decode_center_size",
     box_normalized=True, axis=0, variance=[])
case("box_coder", dict(PriorBox=corners(3), TargetBox=f(3, 2, 4)), {"OutputBox": 1}, code_type="decode_center_size",
     box_normalized=False, axis=1, variance=[.1, .1, .2, .2])
case("box_coder", dict(PriorBox=corners(4), PriorBoxVar=p(4, 4), TargetBox=corners(3)), {"OutputBox": 1}, code_type="encode_center_size",
     box_normalized=True, axis=0, variance=[])
case("box_coder", dict(PriorBox=corners(2), TargetBox=corners(3)), {"OutputBox": 1}, code_type="encode_center_size", box_normalized=False,
     axis=0, variance=[.1, .1, .2, .2])
YOLO = dict(anchors=[10, 13, 16, 30], class_num=3, downsample_ratio=8, iou_aware_factor=.4)
case("yolo_box", dict(X=f(2, 16, 3, 4), ImgSize=np.array([[30, 40], [25, 31]], np.int32)), {"Boxes": 1, "Scores": 1}, conf_thresh=.3,
     clip_bbox=True, scale_x_y=1., iou_aware=False, **YOLO)
case("yolo_box", dict(X=f(1, 18, 2, 2), ImgSize=np.array([[16, 16]], np.int32)), {"Boxes": 1, "Scores": 1}, conf_thresh=.01,
     clip_bbox=False, scale_x_y=1.2, iou_aware=True, **YOLO)


def recurrent(mode, gates, layers, directions, lengths=None, time=4, batch=2, size=3, hidden=4):
    weights, biases = [], []
    for layer in range(layers):
        for _ in range(directions):
            width = size if layer == 0 else hidden * directions
            weights += [(f(gates * hidden, n) / 2).view(Constant) for n in (width, hidden)]
            biases += [(f(gates * hidden) / 2).view(Constant) for _ in range(2)]
    states = [f(layers * directions, batch, hidden) for _ in range(2 if mode == "LSTM" else 1)]
    operands = dict(Input=f(time, batch, size), PreState=states, WeightList=weights + biases)
    if lengths is not None:
        operands["SequenceLength"] = np.array(lengths, np.int32)
    case("rnn", operands, {"Out": 1, "State": len(states), "~DropoutState": ["uint8"], "~Reserve": 1}, mode=mode, hidden_size=hidden,
         input_size=size, num_layers=layers, is_bidirec=directions == 2, is_test=True, dropout_prob=0., seed=0)


recurrent("LSTM", 4, 1, 1)
recurrent("LSTM", 4, 2, 2)
recurrent("LSTM", 4, 1, 2, lengths=[4, 2])
recurrent("GRU", 3, 1, 1)
recurrent("GRU", 3, 2, 2)
recurrent("RNN_TANH", 1, 1, 2)
recurrent("RNN_RELU", 1, 2, 1)
NOT_IN_PIR |= {"density_prior_box"}
VOLUME = dict(strides=[1, 1, 1], paddings=[1, 1, 1], dilations=[1, 1, 1], groups=1, padding_algorithm="EXPLICIT", data_format="NCDHW")
case("conv3d", dict(Input=f(1, 2, 4, 5, 4), Filter=f(3, 2, 3, 3, 3)), {"Output": 1}, **VOLUME)
case("conv3d", dict(Input=f(2, 4, 5, 4, 4), Filter=f(4, 2, 2, 2, 3)), {"Output": 1},
     **dict(VOLUME, groups=2, strides=[2, 1, 2], paddings=[1, 0, 0, 1, 1, 1], dilations=[2, 1, 1]))
POOL3 = dict(ksize=[2, 2, 2], strides=[2, 2, 2], paddings=[0, 0, 0], global_pooling=False, adaptive=False, exclusive=True,
             ceil_mode=False, data_format="NCDHW", padding_algorithm="EXPLICIT")
for way in ("max", "avg"):
    case("pool3d", {"X": f(1, 2, 4, 4, 6)}, pooling_type=way, **POOL3)
    case("pool3d", {"X": f(2, 1, 5, 4, 5)}, pooling_type=way, **dict(POOL3, ksize=[3, 3, 3], strides=[2, 1, 2], paddings=[1, 1, 1]))
    case("pool3d", {"X": f(1, 2, 3, 4, 2)}, pooling_type=way, **dict(POOL3, global_pooling=True))
case("pool3d", {"X": f(1, 2, 4, 4, 4)}, pooling_type="avg", **dict(POOL3, ksize=[3, 3, 3], paddings=[1, 1, 1], exclusive=False))
for aligned in (True, False):
    case("roi_align", dict(X=f(1, 3, 8, 10), ROIs=(corners(4) / 2).astype(np.float32), RoisNum=np.array([4], np.int32)), pooled_height=2,
         pooled_width=3, spatial_scale=0.5, sampling_ratio=2, aligned=aligned)
