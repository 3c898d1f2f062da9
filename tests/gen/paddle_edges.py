"""Where PaddlePaddle goes its own way: windows without a number, adaptive maxima of pool2d and pool3d, equal scores and rows."""
import numpy as np
from paddle_boxes import Beams
from paddle_cases import f, rng

CASES = []
NOT_IN_PIR = set()
INF, NAN = np.inf, np.nan
WINDOWS = dict(strides=[2, 2], paddings=[0, 0], global_pooling=False, adaptive=False)
ADAPTIVE = dict(WINDOWS, strides=[1, 1], adaptive=True, pooling_type="max", exclusive=True, ceil_mode=False, data_format="NCHW", padding_algorithm="EXPLICIT")
VOLUME = dict(ADAPTIVE, strides=[1, 2, 1], paddings=[0, 0, 0], data_format="NCDHW")


def case(op, operands, results=None, **attrs):
    CASES.append((op, operands, results or {"Out": 1}, attrs))


def beams(*arrays):
    return [np.array(a).view(Beams) for a in arrays]


without = np.array([[[[-INF, -INF, 1, NAN], [-INF, -INF, NAN, 2], [NAN, NAN, -INF, NAN], [NAN, NAN, 3, -INF]]]], np.float32)
INDEXED = {"Out": 1, "Mask": ["int32"]}
case("max_pool2d_with_index", {"X": without}, INDEXED, **dict(WINDOWS, ksize=[2, 2]))
case("max_pool2d_with_index", {"X": without}, INDEXED, **dict(WINDOWS, adaptive=True, ksize=[2, 3]))
case("max_pool3d_with_index", {"X": without[:, :, None]}, INDEXED, **dict(WINDOWS, strides=[1, 2, 2], paddings=[0, 0, 0], ksize=[1, 2, 2]))
case("pool2d", {"X": f(2, 3, 7, 10)}, **dict(ADAPTIVE, ksize=[3, 4]))
case("pool2d", {"X": f(1, 2, 6, 5)}, **dict(ADAPTIVE, ksize=[1, 5], strides=[1, 2]))
case("pool2d", {"X": f(1, 3, 2, 3)}, **dict(ADAPTIVE, ksize=[4, 4]))
case("pool2d", {"X": f(1, 2, 6, 6)}, **dict(ADAPTIVE, ksize=[1, 1]))
case("pool2d", {"X": f(1, 5, 4, 2)}, **dict(ADAPTIVE, ksize=[2, 3], paddings=[1, 1], data_format="NHWC"))
case("pool3d", {"X": f(1, 2, 3, 4, 5)}, **dict(VOLUME, ksize=[2, 3, 3]))
case("pool3d", {"X": f(1, 2, 3, 4, 5)}, **dict(VOLUME, ksize=[1, 1, 1]))
# rows that are equal: up to 16 of them PaddlePaddle sorts without changing their order
case("unique", {"X": rng.integers(0, 3, (16, 2)).astype(np.float32)}, {"Out": 1, "Indices": ["int64"], "Index": ["int64"], "Counts": ["int64"]}, axis=[0],
     return_index=True, return_inverse=True, return_counts=True, is_sorted=True, dtype=3)
# sentences by turns: the best four of each, in the order of their scores, with equal ones
for levels, most in ((2, 3), (3, 4), (2, 5), (1, 2), (3, 2)):
    scores = -np.sort(rng.integers(0, levels, (3, 4)), 1).astype(np.float32)
    ids, before, by_now, now = beams(rng.permutation(12).reshape(3, 4).astype(np.int64) + 2, np.array([[20], [21], [22]], np.int64), np.zeros((3, 1), np.float32), scores)
    case("beam_search", dict(pre_ids=before, pre_scores=by_now, ids=ids, scores=now),
         dict(selected_ids=["int64"], selected_scores=["float32"], parent_idx=["int32"]), level=0, beam_size=most, end_id=1, is_accumulated=True)
# remainders whose quotients float32 cannot hold, of both signs, and by infinite divisors
case("elementwise_mod", {"X": np.array([10, 1, 1e10, 7, -10, 0.3, 1e30, 5, -5, 1e-39], np.float32),
                         "Y": np.array([0.1, 0.1, 3, 0.7, 0.1, -0.1, 3, -INF, INF, -2e-39], np.float32)}, axis=-1)
