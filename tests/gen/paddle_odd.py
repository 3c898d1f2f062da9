"""Boxes without area and with corners in the wrong order, which PaddlePaddle compares in its own way."""
import numpy as np
from paddle_boxes import NMS, distinct
from paddle_cases import rng

CASES = []
NOT_IN_PIR = {"multiclass_nms", "multiclass_nms2"}  # of 3.3.1


def case(op, operands, results=None, **attrs):
    CASES.append((op, operands, {"Out": 1} if results is None else results, attrs))


LISTED = np.array([[2, 2, 2, 6], [2, 2, 6, 2], [2, 2, 2, 2], [6, 6, 2, 2], [2, 6, 6, 2], [6, 2, 2, 6], [1, 1, 7, 7], [0, 0, 3, 3], [2, 2, 6, 6],
                   [3, 3, 3, 3], [4, 4, 4, 4], [2, 3, 2, 5], [2, 2, 6, 6]], np.float32)


def odd(*dims):
    """Whole and half places of a small square: many are equal, many without area, most in no order."""
    return (rng.integers(0, 7, dims + (4,)) / 2).astype(np.float32)


MORE = {"Out": 1, "Index": ["int32"], "NmsRoisNum": ["int32"]}
FORM = dict(NMS, nms_top_k=-1, keep_top_k=-1)
scores = np.arange(len(LISTED), 0, -1, np.float32)[None, None] / 16
for pixels in (False, True):
    for overlap in (.01, .3):
        case("multiclass_nms3", dict(BBoxes=LISTED[None], Scores=scores), MORE, **dict(FORM, nms_threshold=overlap, normalized=not pixels))
    case("multiclass_nms3", dict(BBoxes=odd(2, 40), Scores=distinct(2, 3, 40)), MORE, **dict(FORM, normalized=not pixels))
    case("multiclass_nms3", dict(BBoxes=odd(1, 30), Scores=distinct(1, 2, 30)), MORE, **dict(FORM, nms_threshold=.9, nms_eta=.8, normalized=not pixels))
    case("multiclass_nms2", dict(BBoxes=odd(1, 30), Scores=distinct(1, 2, 30)), {"Out": 1, "Index": ["int32"]}, **dict(FORM, normalized=not pixels))
    case("multiclass_nms", dict(BBoxes=odd(2, 20), Scores=distinct(2, 2, 20)), **dict(FORM, nms_threshold=.05, normalized=not pixels))
    for gaussian in (False, True):
        case("matrix_nms", dict(BBoxes=odd(1, 24), Scores=np.sqrt(distinct(1, 2, 24))), {"Out": 1, "Index": ["int32"], "RoisNum": ["int32"]}, background_label=-1,
             score_threshold=.1, post_threshold=.05, nms_top_k=-1, keep_top_k=-1, use_gaussian=gaussian, gaussian_sigma=2., normalized=not pixels)
case("nms", dict(Boxes=odd(40)), {"KeepBoxesIdxs": ["int64"]}, iou_threshold=.2)
case("nms", dict(Boxes=LISTED), {"KeepBoxesIdxs": ["int64"]}, iou_threshold=.01)
