"""locality_aware_nms of several images and classes: each class merges the boxes that those before it left."""
import numpy as np
from paddle_boxes import NMS, boxes, distinct

CASES = []
NOT_IN_PIR = {"locality_aware_nms", "multiclass_nms"}  # of 3.3.1


def case(op, operands, results=None, **attrs):
    CASES.append((op, operands, {"Out": 1} if results is None else results, attrs))


def along(*dims, room=12):
    """Boxes beside each other, as detectors of text give them."""
    return np.sort(boxes(*dims, room=room), 1)


FORM = dict(NMS, nms_eta=1., nms_threshold=.3)
PIXELS = dict(FORM, normalized=False, nms_threshold=.5, nms_top_k=-1, keep_top_k=-1)
ADAPTING = dict(FORM, nms_threshold=.6, nms_eta=.8, score_threshold=.05, keep_top_k=5)
for images, classes, count, room, form in ((3, 1, 14, 12, FORM), (2, 1, 12, 6, ADAPTING), (1, 3, 14, 6, FORM), (2, 4, 20, 6, PIXELS),
                                           (2, 3, 12, 6, dict(FORM, background_label=1)), (1, 2, 12, 6, ADAPTING), (2, 3, 1, 6, FORM)):
    case("locality_aware_nms", dict(BBoxes=along(images, count, room=room), Scores=distinct(images, classes, count) + np.float32(.2)), **form)
# Nothing is found
for op in ("locality_aware_nms", "multiclass_nms"):
    case(op, dict(BBoxes=along(1, 6), Scores=distinct(1, 1, 6)), **dict(FORM, score_threshold=1e3))
    case(op, dict(BBoxes=along(2, 5), Scores=distinct(2, 3, 5)), **dict(FORM, score_threshold=1e3, normalized=False))
