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


def topks(version, types):
    """(shape, axis, k); integers meet equals, which come by index."""
    forms = [((7,), 0, 3), ((5, 6), 1, 6), ((3, 40), -1, 1), ((2, 5, 3), 1, 4), ((4, 3), 0, 0), ((2, 70), -1, 50)]

    def case(name, data, axis, k, more=None):
        more = dict(more or {}, axis=axis)
        if version < 10:
            return Case(name, [data], dict(more, k=k), outputs=2)
        return Case(name, [data, np.array([k], np.int64)], more, constants=[1], outputs=2)

    for dtype in types:
        for i, (shape, axis, k) in enumerate(forms):
            for largest in (1, 0) if version >= 11 else (1,):
                if k == 0 and version < 10:
                    continue
                data = values(dtype, shape, i, "any" if i == 2 else "small")
                yield case(label(dtype, shape) + f"_{i}_{largest}", data, axis, k, {} if largest else {"largest": 0})
    for largest in (1, 0) if version >= 11 else (1,):
        more = {} if largest else {"largest": 0}
        for k in (3, 300, 3000):  # several blocks of a small memory
            data = np.random.default_rng(k).normal(0, 1, (2, 3000)).astype(F32)
            data[0, ::7] = 0.25
            yield case(f"large_{k}_{largest}", data, 1, k, more)
        yield case(f"int64_large_{largest}", np.random.default_rng(1).integers(-2**40, 2**40, (900,)), 0, 800, more)
        yield case(f"int64_few_{largest}", np.random.default_rng(1).integers(-9, 9, (900,)), 0, 40, more)
    yield case("image", values(F32, (2, 5, 8, 6), 9, "small"), 1, 2)
    yield from ([] if version < 11 else [case("unsorted", values(F32, (3, 9), 9), 1, 1, {"sorted": 0})])


def boxes(images, count, seed, center):
    random = np.random.default_rng(seed)
    middle, size = random.uniform(0, 10, (images, count, 2)), random.uniform(0.5, 4, (images, count, 2))
    if center:
        return np.concatenate([middle, size], 2).astype(F32)
    corners = np.concatenate([middle - size / 2, middle + size / 2], 2).astype(F32)
    corners[:, ::3] = corners[:, ::3][..., [2, 1, 0, 3]]  # corners in any order
    return corners


def suppressions(version):
    """images, boxes, classes, most, overlap, threshold, center; a count is a symbol, of which a network has 64"""
    forms = [(1, 6, 1, 3, 0.5, 0.4, 0), (2, 20, 3, 20, 0.3, 0.2, 0), (1, 40, 2, 7, 0.5, None, 1), (1, 5, 1, 0, 0.5, 0.1, 0), (1, 9, 1, None, None, None, 0),
             (1, 600, 2, 100, 0.2, 0.6, 0), (1, 700, 1, 60, 0.4, None, 1), (2, 30, 2, 2**40, 0.0, 0.5, 0), (1, 12, 2, 5, 1.0, 0.99999, 0)]
    for i, (images, count, classes, most, overlap, threshold, center) in enumerate(forms):
        scores = np.random.default_rng(i + 50).uniform(0, 1, (images, classes, count)).astype(F32)
        scores[..., 3:5] = scores[..., 1:2]  # equal ones
        more = [most if most is None else np.array([most], np.int64)]
        more += [None if x is None else np.array([x] if i else x, F32) for x in (overlap, threshold)]
        yield Case(f"form{i}", [boxes(images, count, i, center), scores] + more, {"center_point_box": center}, constants=[2, 3, 4] if i != 1 else [2])
    same = np.tile(np.array([[0, 0, 2, 2]], F32), (1, 8, 1))
    yield Case("same", [same, np.full((1, 1, 8), 0.5, F32), np.array([8]), np.array([0.5], F32)], constants=[2, 3])


PICKS = {
    "NonMaxSuppression": lambda version, types: suppressions(version),
    "TopK": topks,
    "Scatter": scatters,
    "ScatterElements": scatters,
    "ScatterND": scatters_nd,
}
