"""Cases of record_sweep.py: operators that choose and place elements."""
import numpy as np

from sweep_cases import BOOL, F32, Case, label, values
from sweep_moves import indices


def kinds(version):
    return ["add", "mul"] * (version >= 16) + ["max", "min"] * (version >= 18)


def distinct(shape, size, axis, seed, dtype=np.int64):
    """Indices of which none meets another along the axis, some from the end."""
    random = np.random.default_rng(seed)
    lines = [random.permutation(size)[:shape[axis]] for _ in range(int(np.prod(shape)) // max(shape[axis], 1))]
    others = [n for d, n in enumerate(shape) if d != axis]
    list_ = np.moveaxis(np.array(lines, np.int64).reshape(*others, shape[axis]), -1, axis)
    return np.ascontiguousarray(np.where(random.random(list_.shape) < 0.3, list_ - size, list_)).astype(dtype)


def scatters(version, types):
    """(shape, axis, shape of the indices)"""
    forms = [((7,), 0, (4,)), ((5, 6), 1, (3, 4)), ((4, 3), 0, (0, 3)), ((3, 4, 5), -2, (2, 3, 5)), ((2, 1, 3, 8), 3, (2, 1, 3, 5))]
    for dtype in types:
        for i, (shape, axis, wanted) in enumerate(forms):
            list_ = distinct(wanted, shape[axis], axis % len(shape), i, np.int32 if i == 1 else np.int64)
            yield Case(label(dtype, shape) + f"_{i}", [values(dtype, shape, i), list_, values(dtype, wanted, i + 9)], {"axis": axis})
        for kind in kinds(version):
            if dtype == BOOL:
                continue
            for shape, axis, wanted in forms[1:4:2]:  # several meet
                yield Case(label(dtype, shape) + "_" + kind, [values(dtype, shape, 1, "small"), indices(wanted, shape[axis], 2),
                                                              values(dtype, wanted, 3, "small")], {"axis": axis, "reduction": kind})
    repeated = np.array([3, 1, 3, -7, 0, 3], np.int64)
    yield Case("repeated", [values(F32, (10,), 1), repeated, values(F32, (6,), 2)], {"axis": 0})
    yield Case("large", [values(F32, (60, 700), 1), distinct((60, 500), 700, 1, 2), values(F32, (60, 500), 3)], {"axis": 1})
    yield Case("constant", [values(F32, (4, 6), 1), distinct((4, 2), 6, 1, 2), values(F32, (4, 2), 3)], {"axis": 1}, constants=[0, 1])
    yield Case("image", [values(F32, (2, 5, 8, 6), 9, "small"), distinct((2, 5, 4, 2), 4, 2, 2), values(F32, (2, 5, 4, 2), 3)], {"axis": 2}, image=True)


def scatters_nd(version, types):
    """(shape, shape of the indices)"""
    forms = [((4, 5), (3, 2)), ((6,), (2, 2, 1)), ((5, 3), (0, 1)), ((4, 3, 40), (3, 1)), ((3, 4, 7), (5, 2))]
    for dtype in types:
        for i, (shape, wanted) in enumerate(forms):
            depth, size = wanted[-1], int(np.prod(shape[:wanted[-1]]))
            flat = np.random.default_rng(i).permutation(size)[:int(np.prod(wanted[:-1]))].reshape(wanted[:-1])
            list_ = np.stack(np.unravel_index(flat, shape[:depth]), -1).astype(np.int64)
            if list_.size:
                list_.reshape(-1)[0] -= shape[0]
            wanted = wanted[:-1] + shape[depth:]
            yield Case(label(dtype, shape) + f"_{i}", [values(dtype, shape, i), list_, values(dtype, wanted, i + 9)])
        for kind in kinds(version):
            if dtype == BOOL:
                continue
            for shape in ((4, 3), (4, 36)):
                yield Case(label(dtype, shape) + "_" + kind, [values(dtype, shape, 1, "small"), indices((7, 1), 4, 2),
                                                              values(dtype, (7, shape[1]), 3, "small")], {"reduction": kind})
    repeated = np.array([[3], [1], [3], [-4], [3]], np.int64)
    yield Case("repeated", [values(F32, (4, 3), 1), repeated, values(F32, (5, 3), 2)])
    yield Case("repeated_wide", [values(F32, (4, 50), 1), repeated, values(F32, (5, 50), 2)])
    many = np.stack([np.random.default_rng(1).permutation(3000)[:2500]], -1).astype(np.int64)
    yield Case("large", [values(F32, (3000, 5), 1), many, values(F32, (2500, 5), 3)])


PICKS = {
    "Scatter": scatters,
    "ScatterElements": scatters,
    "ScatterND": scatters_nd,
}
