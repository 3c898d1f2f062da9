"""Cases of older forms that PaddlePaddle 2.6.2 still runs, of what optimisers make, of places of maxima, of
suppression that goes from box to box, and of slices."""
import numpy as np
from paddle_boxes import boxes, distinct
from paddle_cases import f, i

CASES = []
NOT_IN_PIR = {"bicubic_interp", "linear_interp", "trilinear_interp", "fused_conv2d", "split_lod_tensor", "merge_lod_tensor",
              "merge_lod_tensor_infer", "multiclass_nms", "locality_aware_nms", "retinanet_detection_output"}  # of 3.3.1


def case(op, operands, results=None, **attrs):
    CASES.append((op, operands, {"Out": 1} if results is None else results, attrs))


FORM = dict(align_corners=True, align_mode=1)
case("linear_interp", {"X": f(1, 2, 5)}, out_w=8, scale=0., interp_method="linear", data_layout="NCHW", **FORM)
case("linear_interp", {"X": f(2, 1, 4)}, out_w=-1, scale=2., interp_method="linear", data_layout="NCHW", align_corners=False, align_mode=0)
case("bicubic_interp", {"X": f(1, 2, 3, 4)}, out_h=5, out_w=6, scale=0., interp_method="bicubic", data_layout="NCHW", **FORM)
case("bicubic_interp", {"X": f(1, 1, 3, 4)}, out_h=-1, out_w=-1, scale=2., interp_method="bicubic", data_layout="NCHW",
     align_corners=False, align_mode=1)
DEEP = dict(interp_method="trilinear", data_layout="NCHW")
case("trilinear_interp", {"X": f(1, 2, 2, 3, 2)}, out_d=3, out_h=4, out_w=3, scale=0., **FORM, **DEEP)
case("trilinear_interp", {"X": f(1, 1, 2, 2, 3)}, out_d=-1, out_h=-1, out_w=-1, scale=2., align_corners=False, align_mode=0, **DEEP)
case("trilinear_interp_v2", {"X": f(1, 2, 2, 3, 2)}, out_d=3, out_h=4, out_w=3, scale=[], **FORM, **DEEP)
case("trilinear_interp_v2", {"X": f(1, 1, 2, 2, 3)}, out_d=-1, out_h=-1, out_w=-1, scale=[2., 1.5, 2.], align_corners=False, align_mode=1,
     **DEEP)
CONV = dict(strides=[1, 1], paddings=[1, 1], dilations=[1, 1], groups=1, padding_algorithm="EXPLICIT", data_format="NCHW",
            use_mkldnn=True, mkldnn_data_type="float32", force_fp32_output=False, fuse_residual_connection=False)
for act, alpha, beta in (("relu", 0., 0.), ("leaky_relu", .25, 0.), ("relu6", 0., 6.), ("swish", 1., 0.), ("hard_swish", 1 / 6, .5),
                         ("hard_swish", .25, .375), ("hard_sigmoid", .2, .5), ("gelu_tanh", 0., 0.), ("gelu_erf", 0., 0.), ("mish", 0., 0.),
                         ("tanh", 0., 0.), ("sigmoid", 0., 0.), ("abs", 0., 0.), ("", 0., 0.)):
    case("fused_conv2d", dict(Input=f(1, 2, 3, 4), Filter=f(2, 2, 1, 1) * 2, Bias=f(2)), {"Output": 1},
         **dict(CONV, paddings=[0, 0], fuse_activation=act, fuse_alpha=alpha, fuse_beta=beta))
case("fused_conv2d", dict(Input=f(1, 4, 5, 6), Filter=f(4, 2, 3, 3), Bias=f(4), ResidualData=f(1, 4, 5, 6)), {"Output": 1},
     **dict(CONV, groups=2, fuse_activation="relu", fuse_residual_connection=True))
case("fused_conv2d", dict(Input=f(1, 3, 5, 5), Filter=f(4, 3, 3, 3), ResidualData=f(1, 4, 3, 3)), {"Output": 1},
     **dict(CONV, strides=[2, 2], fuse_activation="", fuse_residual_connection=True))
MAXIMA = {"Out": 1, "Mask": ["int32"]}
POOL = dict(ksize=[2, 2], strides=[2, 2], paddings=[0, 0], global_pooling=False, adaptive=False)
case("max_pool2d_with_index", {"X": f(1, 2, 4, 6)}, MAXIMA, **POOL)
case("max_pool2d_with_index", {"X": np.round(f(2, 1, 5, 4))}, MAXIMA, **dict(POOL, ksize=[3, 3], paddings=[1, 1], strides=[2, 1]))
case("max_pool2d_with_index", {"X": f(1, 2, 5, 7)}, MAXIMA, **dict(POOL, ksize=[2, 3], adaptive=True))
case("max_pool2d_with_index", {"X": f(1, 2, 3, 3)}, MAXIMA, **dict(POOL, global_pooling=True))
DEPTH = dict(ksize=[2, 2, 2], strides=[2, 1, 2], paddings=[0, 0, 0], global_pooling=False, adaptive=False)
case("max_pool3d_with_index", {"X": f(1, 2, 2, 3, 4)}, MAXIMA, **DEPTH)
case("max_pool3d_with_index", {"X": f(1, 1, 3, 4, 5)}, MAXIMA, **dict(DEPTH, ksize=[2, 3, 3], adaptive=True))
for held in ([1, 0, 1, 1, 0], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1]):
    mask = np.array(held, bool)[:, None]
    case("split_lod_tensor", dict(X=f(5, 3), Mask=mask), {"OutTrue": 1, "OutFalse": 1}, level=0)
    case("merge_lod_tensor", dict(X=f(5, 1), Mask=mask, InTrue=f(sum(held), 2), InFalse=f(5 - sum(held), 2)), level=0)
    case("merge_lod_tensor_infer", dict(X=f(5, 1), Mask=mask, InTrue=f(sum(held), 2, 2), InFalse=f(5 - sum(held), 2, 2)), level=0)
NMS = dict(background_label=-1, score_threshold=.1, nms_top_k=12, nms_threshold=.75, nms_eta=.9, keep_top_k=8, normalized=True)
near = boxes(2, 16, room=6)
case("multiclass_nms", dict(BBoxes=near, Scores=distinct(2, 2, 16)), **NMS)
case("multiclass_nms3", dict(BBoxes=near[:1], Scores=distinct(1, 3, 16)), {"Out": 1, "Index": ["int32"], "NmsRoisNum": ["int32"]},
     **dict(NMS, nms_eta=.5, nms_threshold=.9, normalized=False, background_label=0))
along = np.sort(boxes(1, 14, room=12), 1)
case("locality_aware_nms", dict(BBoxes=along, Scores=distinct(1, 1, 14)), **dict(NMS, nms_eta=1., nms_threshold=.3))
case("locality_aware_nms", dict(BBoxes=along[:, ::2], Scores=distinct(1, 1, 7)), **dict(NMS, nms_threshold=.6, score_threshold=.3, normalized=False))
LEVELS = dict(score_threshold=.2, nms_top_k=9, nms_threshold=.4, nms_eta=1., keep_top_k=10)
case("retinanet_detection_output", dict(BBoxes=[f(1, 8, 4) / 4, f(1, 4, 4) / 4], Scores=[distinct(1, 8, 3), distinct(1, 4, 3)],
                                        Anchors=[boxes(8, room=30), boxes(4, room=40)], ImInfo=np.float32([[24, 30, 1.5]])), **LEVELS)
case("retinanet_detection_output", dict(BBoxes=[f(1, 6, 4) / 4], Scores=[distinct(1, 6, 2)], Anchors=[boxes(6)],
                                        ImInfo=np.float32([[20, 24, 1]])), **dict(LEVELS, keep_top_k=4, nms_top_k=20))
ONCE = {"Out": 1, "Indices": ["int64"], "Index": ["int64"], "Counts": ["int64"]}
EACH = dict(dtype=3, return_index=True, return_inverse=True, return_counts=True, is_sorted=True)
case("unique", {"X": i(2, 9, 3).astype(np.float32)}, ONCE, axis=[0], **EACH)
case("unique", {"X": i(2, 2, 7, 2)}, dict(ONCE, Out=["int64"]), axis=[1], **EACH)
