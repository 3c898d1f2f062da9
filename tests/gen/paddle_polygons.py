"""locality_aware_nms of polygons of 4 to 16 corners."""
import numpy as np
from paddle_boxes import distinct
from paddle_cases import rng
from paddle_near import ADAPTING, FORM, along

CASES = []
NOT_IN_PIR = {"locality_aware_nms"}  # of 3.3.1


def case(op, operands, results=None, **attrs):
    CASES.append((op, operands, {"Out": 1} if results is None else results, attrs))


def polygons(images, count, corners, room=12):
    """Around ellipses beside each other, corner by corner."""
    centre, size = along(images, count, room=room)[..., :2], rng.uniform(2, 6, (images, count, 1, 2))
    angle = np.arange(corners) * 2 * np.pi / corners + rng.uniform(0, np.pi, (images, count, 1))
    points = centre[:, :, None] + size * np.stack([np.cos(angle), np.sin(angle)], -1)
    return np.round(points.reshape(images, count, -1) * 16).astype(np.float32) / 16


for images, classes, count, corners, form in ((1, 1, 12, 4, FORM), (2, 1, 12, 4, ADAPTING), (1, 2, 10, 8, FORM), (2, 2, 8, 12, dict(FORM, keep_top_k=5)),
                                              (1, 3, 8, 16, dict(FORM, nms_threshold=.2, normalized=False))):
    case("locality_aware_nms", dict(BBoxes=polygons(images, count, corners), Scores=distinct(images, classes, count) + np.float32(.2)), **form)
