"""Cases of detection: regions, proposals and boxes of objects, as paddle_cases.py has its own."""
import numpy as np
from paddle_cases import f, rng  # noqa: F401

CASES = []
NOT_IN_PIR = {"multiclass_nms", "multiclass_nms2", "generate_proposals"}  # of 3.3.1


def case(op, operands, results=None, **attrs):
    CASES.append((op, operands, {"Out": 1} if results is None else results, attrs))


class Sequences(np.ndarray):
    """Its rows are of one image: a level of detail."""


class Beams(Sequences):
    """Its rows are of one source, a sentence each: two levels of detail."""


def boxes(*dims, room=20):
    first = rng.integers(0, room, dims + (2,)) / 2
    return np.concatenate([first, first + 2 + rng.integers(1, room, dims + (2,)) / 2], -1).astype(np.float32)


def distinct(*dims):
    return (rng.permutation(int(np.prod(dims))).reshape(dims) / np.prod(dims)).astype(np.float32)


def counts(*values):
    return np.array(values, np.int32)


POOL = dict(pooled_height=2, pooled_width=3, spatial_scale=0.5)
for aligned in (True, False):
    case("roi_align", dict(X=f(2, 3, 8, 10), ROIs=boxes(5), RoisNum=counts(2, 3)), sampling_ratio=2, aligned=aligned, **POOL)
    case("roi_align", dict(X=f(3, 2, 8, 7), ROIs=boxes(4), RoisNum=counts(1, 0, 3)), sampling_ratio=-1, aligned=aligned, **POOL)
case("roi_align", dict(X=f(1, 2, 6, 7), ROIs=boxes(3), RoisNum=counts(3)), sampling_ratio=0, aligned=True, **POOL)
case("roi_pool", dict(X=f(2, 2, 8, 10), ROIs=boxes(4), RoisNum=counts(3, 1)), {"Out": 1, "~Argmax": ["int64"]}, **POOL)
case("roi_pool", dict(X=f(1, 3, 7, 6), ROIs=boxes(3) - 4, RoisNum=counts(3)), {"Out": 1, "~Argmax": ["int64"]}, **POOL)
case("psroi_pool", dict(X=f(2, 12, 8, 10), ROIs=boxes(4), RoisNum=counts(1, 3)), output_channels=2, **POOL)
case("psroi_pool", dict(X=f(1, 18, 7, 7), ROIs=boxes(3) - 3, RoisNum=counts(3)), output_channels=3, **POOL)
case("box_clip", dict(Input=(boxes(6) * 2 - 6).view(Sequences), ImInfo=np.array([[20, 30, 1]], np.float32)), {"Output": 1})
case("box_clip", dict(Input=(boxes(5) * 3 - 6).view(Sequences), ImInfo=np.array([[51, 41, 2]], np.float32)), {"Output": 1})
NMS = dict(background_label=-1, score_threshold=.1, nms_top_k=10, keep_top_k=8, nms_threshold=.3, nms_eta=1., normalized=True)
for op, results in (("multiclass_nms", {"Out": 1}), ("multiclass_nms2", {"Out": 1, "Index": ["int32"]}),
                    ("multiclass_nms3", {"Out": 1, "Index": ["int32"], "NmsRoisNum": ["int32"]})):
    case(op, dict(BBoxes=boxes(2, 16), Scores=distinct(2, 3, 16)), results, **NMS)
    case(op, dict(BBoxes=boxes(1, 12), Scores=distinct(1, 4, 12)), results,
         **dict(NMS, background_label=0, nms_top_k=-1, keep_top_k=-1, normalized=False))
case("multiclass_nms3", dict(BBoxes=boxes(9, 3), Scores=distinct(9, 3), RoisNum=counts(9)), results, **dict(NMS, keep_top_k=6))
case("multiclass_nms3", dict(BBoxes=boxes(2, 10), Scores=distinct(2, 2, 10) / 20), results, **NMS)
MATRIX = dict(background_label=-1, score_threshold=.2, post_threshold=.1, nms_top_k=10, keep_top_k=8, use_gaussian=False, gaussian_sigma=2.,
              normalized=True)
MADE = {"Out": 1, "Index": ["int32"], "RoisNum": ["int32"]}
case("matrix_nms", dict(BBoxes=boxes(2, 16), Scores=distinct(2, 3, 16)), MADE, **MATRIX)
case("matrix_nms", dict(BBoxes=boxes(1, 12), Scores=distinct(1, 4, 12)), MADE,
     **dict(MATRIX, background_label=0, nms_top_k=-1, keep_top_k=-1, use_gaussian=True, normalized=False))
case("nms", dict(Boxes=boxes(12)), {"KeepBoxesIdxs": ["int64"]}, iou_threshold=.2)
case("nms", dict(Boxes=boxes(7)), {"KeepBoxesIdxs": ["int64"]}, iou_threshold=.5)


def proposals(images, anchors, height, width):
    deltas = (f(images, 4 * anchors, height, width) * .3).astype(np.float32)
    return dict(Scores=distinct(images, anchors, height, width), BboxDeltas=deltas, Anchors=boxes(height, width, anchors, room=40),
                Variances=np.full((height, width, anchors, 4), .5, np.float32))


TOP = dict(pre_nms_topN=30, post_nms_topN=8, nms_thresh=.4, min_size=3., eta=1.)
PROPOSED = {"RpnRois": 1, "RpnRoiProbs": 1, "RpnRoisNum": ["int32"]}
for pixels in (True, False):
    case("generate_proposals_v2", dict(proposals(2, 3, 4, 5), ImShape=np.array([[24, 30], [20, 22]], np.float32)), PROPOSED,
         pixel_offset=pixels, **TOP)
case("generate_proposals_v2", dict(proposals(2, 1, 3, 3), ImShape=np.array([[20, 20], [1, 1]], np.float32)), PROPOSED, pixel_offset=False,
     **dict(TOP, min_size=2., pre_nms_topN=0))
case("generate_proposals", dict(proposals(1, 3, 4, 5), ImInfo=np.array([[24, 30, 1]], np.float32)), PROPOSED, **TOP)
case("generate_proposals", dict(proposals(2, 2, 4, 4), ImInfo=np.array([[24, 30, 1.5], [30, 20, .5]], np.float32)), PROPOSED, **TOP)
LEVELS = {"MultiFpnRois": 3, "RestoreIndex": ["int32"], "MultiLevelRoIsNum": ["int32"] * 3}
FPN = dict(min_level=2, max_level=4, refer_level=3, refer_scale=6)
case("distribute_fpn_proposals", dict(FpnRois=boxes(9), RoisNum=counts(9)), LEVELS, pixel_offset=True, **FPN)
case("distribute_fpn_proposals", dict(FpnRois=boxes(10), RoisNum=counts(4, 6)), LEVELS, pixel_offset=False, **FPN)
case("collect_fpn_proposals", dict(MultiLevelRois=[boxes(4), boxes(5)], MultiLevelScores=[distinct(4, 1), distinct(5, 1) + np.float32(.03)],
                                   MultiLevelRoIsNum=[counts(4), counts(5)]), {"FpnRois": 1, "RoisNum": ["int32"]}, post_nms_topN=6)
case("collect_fpn_proposals", dict(MultiLevelRois=[boxes(4), boxes(5)], MultiLevelScores=[distinct(4, 1), distinct(5, 1) + np.float32(.03)],
                                   MultiLevelRoIsNum=[counts(1, 3), counts(2, 3)]), {"FpnRois": 1, "RoisNum": ["int32"]}, post_nms_topN=20)
