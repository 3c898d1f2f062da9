"""Cases of record_sweep.py: operators that choose and place elements."""
import numpy as np

from sweep_cases import BOOL, F32, FLOATS, Case, label, values
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
    places = np.stack(np.unravel_index(np.random.default_rng(1).permutation(40)[:17], (2, 5, 4)), -1).astype(np.int64)
    yield Case("image", [values(F32, (2, 5, 8, 6), 9, "small"), places, values(F32, (17, 3), 3)], image=True)  # pooled: 2, 5, 4, 3


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
    image = case("image", values(F32, (2, 5, 8, 6), 9, "small"), 3, 2)
    image.image = True
    yield image
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


def reversals(types):
    for dtype in types:
        for i, shape in enumerate([(5, 3), (4, 2, 3), (3, 4, 2, 2)]):
            for time in (0, 1):
                lengths = np.random.default_rng(i).integers(0, shape[time], shape[1 - time], endpoint=True).astype(np.int64)
                yield Case(label(dtype, shape) + f"_{time}", [values(dtype, shape, i), lengths], {"time_axis": time, "batch_axis": 1 - time})


def uniques(types):
    """No NaN: onnxruntime's map of them has no order. Few cases of each type: a count is a symbol, of which a network has 64."""
    for dtype in types:
        for i, (shape, more) in enumerate([((11,), {}), ((3, 4), {"sorted": 0})]):
            yield Case(label(dtype, shape) + f"_{i}", [values(dtype, shape, i, "small")], more, outputs=4)
    yield Case("one", [values(F32, (1,), 1, "small")], outputs=4)
    yield Case("axis", [values(F32, (9,), 1, "small")], {"axis": 0}, outputs=4)
    yield Case("large", [np.random.default_rng(1).integers(0, 300, (900,))], outputs=4)
    yield Case("large_unsorted", [np.random.default_rng(2).integers(0, 300, (900,))], {"sorted": 0}, outputs=4)


def unpools(version, types):
    for dtype in types:
        for i, (shape, kernel, more) in enumerate([((1, 2, 3, 4), [2, 2], {"strides": [2, 2]}), ((2, 1, 5), [3], {"strides": [2], "pads": [1, 1]})]):
            result = [*shape[:2], *((n - 1) * 2 + k - sum(more.get("pads", [0])) for n, k in zip(shape[2:], kernel))]
            places = np.random.default_rng(i).permutation(int(np.prod(result)))[:int(np.prod(shape))].reshape(shape).astype(np.int64)
            yield Case(label(dtype, shape) + f"_{i}", [values(dtype, shape, i), places], {"kernel_shape": kernel, **more})
            wide = np.array([*result[:2], *(n + 1 for n in result[2:])], np.int64)
            yield Case(label(dtype, shape) + f"_{i}_shape", [values(dtype, shape, i), places, wide], {"kernel_shape": kernel, **more}, constants=[2])


def chances(types):
    """Chances that leave nothing to chance."""
    for dtype in types:
        yield Case(label(dtype), [(np.arange(12).reshape(3, 4) % 3 == 0).astype(dtype)], {"seed": 3.0})
        for to in (1, 6, 7, 9, 10):
            yield Case(label(dtype) + f"_to_{to}", [np.array([1, 0, 0, 1], dtype)], {"dtype": to})


def samples(types):
    for dtype in types:
        for to in (6, 7):
            data = np.full((3, 5), -30000, dtype)
            data[[0, 1, 2], [4, 0, 2]] = 0
            yield Case(label(dtype) + f"_{to}", [data], {"dtype": to, "sample_size": 7, "seed": 1.0})


def philox(seed, count):
    """Numbers from 0 to 1 by Philox4x32-10, counter i / 4 (core/arith_pick.h)."""
    c = [np.arange((count + 3) // 4, dtype=np.uint64)] + [np.zeros((count + 3) // 4, np.uint64)] * 3
    mask, low, high = np.uint64(0xffffffff), int(seed) & 0xffffffff, int(seed) >> 32
    for _ in range(10):
        a, b = np.uint64(0xd2511f53) * c[0], np.uint64(0xcd9e8d57) * c[2]
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(low), b & mask, (a >> np.uint64(32)) ^ c[3] ^ np.uint64(high), a & mask]
        low, high = (low + 0x9e3779b9) & 0xffffffff, (high + 0xbb67ae85) & 0xffffffff
    return ((np.stack(c, 1).reshape(-1)[:count] >> np.uint64(8)).astype(np.float64) * 2.0**-24).astype(F32)


def random_numbers(operator, shape, low=0.0, high=1.0, mean=0.0, scale=1.0, seed=0.0):
    """What docs/arithmetic.md says of RandomUniform and RandomNormal."""
    seed, count = int(np.array(seed, F32).view(np.uint32)), int(np.prod(shape))
    u = philox(seed, count)
    if "Uniform" in operator:
        return ((u * (F32.type(high) - F32.type(low))).astype(F32) + F32.type(low)).reshape(shape)
    v = philox(seed | 1 << 63, count).astype(np.float64)
    z = np.sqrt(-2 * np.log(1 - u.astype(np.float64))) * np.cos(2 * np.pi * (v - 0.5))
    return (mean + scale * z).astype(F32).reshape(shape)


def draws(operator, types):
    more = [{"seed": 1.0}, {"seed": 2.5, "low": -3.0, "high": 5.0} if "Uniform" in operator else {"seed": 2.5, "mean": 4.0, "scale": 0.5}]
    for i, attributes in enumerate(more):
        for shape in ((7,), (3, 5, 2), (40, 500)):
            name = label(F32, shape) + f"_{i}"
            yield Case(name, [values(F32, shape, 1)], attributes) if "Like" in operator else Case(name, [], dict(attributes, shape=shape))


def grid_samples(version, types):
    modes = ("nearest", "bilinear", "bicubic") if version < 20 else ("nearest", "linear", "cubic")
    for dtype in [d for d in types if d in FLOATS]:
        for mode in modes if dtype == F32 else modes[1:2]:
            for padding in ("zeros", "border", "reflection"):
                for align in (0, 1):
                    grid = np.random.default_rng(align).uniform(-1.6, 1.6, (2, 3, 4, 2)).astype(F32)
                    yield Case(label(dtype) + f"_{mode}_{padding}_{align}", [values(dtype, (2, 3, 5, 6), 1, "small"), grid.astype(dtype)],
                               {"mode": mode, "padding_mode": padding, "align_corners": align})
    if version >= 20:
        for mode in modes[:2]:
            grid = np.random.default_rng(3).uniform(-1.2, 1.2, (1, 2, 3, 4, 3)).astype(F32)
            yield Case(f"volume_{mode}", [values(F32, (1, 2, 3, 4, 5), 1, "small"), grid], {"mode": mode})
    for padding in ("zeros", "border", "reflection"):
        grid = np.zeros((1, 1, 6, 2), F32)
        grid[0, 0, :, 0] = [np.nan, np.inf, -np.inf, 1.75, -1.75, 0.25]
        yield Case(f"odd_{padding}", [values(F32, (1, 2, 4, 4), 1, "small"), grid], {"padding_mode": padding})
    grid = np.random.default_rng(4).uniform(-1, 1, (1, 20, 30, 2)).astype(F32)
    yield Case("large", [values(F32, (1, 8, 32, 40), 1, "small"), grid])


PICKS = {
    "GridSample": grid_samples,
    **{op: (lambda version, types, op=op: draws(op, types)) for op in ("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")},
    "Bernoulli": lambda version, types: chances(types),
    "Multinomial": lambda version, types: samples(types),
    "ReverseSequence": lambda version, types: reversals(types),
    "Unique": lambda version, types: uniques(types),
    "MaxUnpool": unpools,
    "NonMaxSuppression": lambda version, types: suppressions(version),
    "TopK": topks,
    "Scatter": scatters,
    "ScatterElements": scatters,
    "ScatterND": scatters_nd,
}
