"""Adaptive pooling with windows of several sizes: cases as in paddle_cases.py."""
from paddle_cases import f

POOL = dict(strides=[1, 1], paddings=[0, 0], global_pooling=False, adaptive=True)
FORMS = dict(exclusive=True, ceil_mode=False, data_format="NCHW", padding_algorithm="EXPLICIT")
FLAT = dict(POOL, pooling_type="avg", **FORMS)
VOLUME = dict(FLAT, strides=[1, 1, 1], paddings=[0, 0, 0], data_format="NCDHW")
CASES = []


def case(op, x, results=None, **attrs):
    CASES.append((op, {"X": x}, results or {"Out": 1}, attrs))


case("pool2d", f(2, 3, 7, 10), **dict(FLAT, ksize=[3, 4]))
case("pool2d", f(1, 3, 2, 3), **dict(FLAT, ksize=[7, 7]))
case("pool2d", f(1, 2, 6, 5), **dict(FLAT, ksize=[1, 5]))
case("pool2d", f(1, 7, 6, 3), **dict(FLAT, ksize=[3, 4], data_format="NHWC"))
case("max_pool2d_with_index", f(1, 2, 4, 6), {"Out": 1, "~Mask": ["int32"]}, **dict(POOL, ksize=[2, 3]))
case("max_pool2d_with_index", f(2, 3, 5, 7), {"Out": 1, "~Mask": ["int32"]}, **dict(POOL, ksize=[3, 2]))
case("max_pool2d_with_index", f(1, 2, 3, 2), {"Out": 1, "~Mask": ["int32"]}, **dict(POOL, ksize=[5, 1]))
case("pool3d", f(1, 2, 3, 4, 5), **dict(VOLUME, ksize=[2, 3, 3]))
case("pool3d", f(1, 2, 4, 4, 3), **dict(VOLUME, ksize=[2, 2, 3]))
