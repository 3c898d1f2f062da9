"""Cases of record_sweep.py: cumulative sums, ones, windows of signals."""
import numpy as np

from sweep_cases import BOOL, F32, FLOATS, SIGNED, Case, code_of, label, name_of, values


def cumulations(types):
    for dtype in types:
        forms = [((7,), 0, 0, 0), ((2, 3, 5), 1, 1, 0), ((2, 33), -1, 0, 1), ((5, 2), 0, 1, 1), ((1, 1), 1, 0, 0), ((0, 3), 0, 0, 0)]
        for i, (shape, axis, exclusive, reverse) in enumerate(forms):
            data = values(dtype, shape, i, "small")
            more = {"exclusive": exclusive, "reverse": reverse}
            yield Case(label(dtype, shape) + f"_{i}", [data, np.array(axis, np.int32 if i % 2 else np.int64)], more, constants=[1])


def products(types):
    """Factors that stay small; narrow integers wrap."""
    for case in cumulations(types):
        dtype = case.inputs[0].dtype
        case.inputs[0] = (case.inputs[0] % 3 if dtype not in FLOATS else np.sign(case.inputs[0].astype(np.float32)) * np.float32(1.5)).astype(dtype)
        yield case


def one_hots(types):
    small = [np.dtype("int32"), np.dtype("int64"), F32]
    for index in types:
        if index == BOOL:
            continue
        for i, (shape, axis) in enumerate([((4,), -1), ((2, 3), 0), ((2, 3), 1), ((), 0)][:4 if index in small else 1]):
            for value in ([F32, np.dtype("int64"), np.dtype("uint8")] if index == np.dtype("int64") and i == 0 else [F32]):
                indices = np.abs(values(np.dtype("int8"), shape, i + 3, "small")).astype(index)
                if index in small and indices.size:
                    indices.flat[0] = -2
                pair = np.array([0, 1], value) if value == BOOL else np.array([2, 5], value)
                yield Case(f"{name_of(index)}_{name_of(value)}_{i}", [indices, np.array(6, np.int64), pair], {"axis": axis}, constants=[1])
    indices, pair = np.array([0, 3, 9, -4, -5, -99], np.int64), np.array([-1, 1], np.float32)
    yield Case("outside", [indices, np.array([4], np.int32), pair], {}, constants=[1, 2])
    yield Case("depth_of_floats", [indices, np.array(4.0, np.float32), pair], {}, constants=[1])
    yield Case("constant", [indices, np.array(4, np.int64), pair], {}, constants=[0, 1, 2])


def eyes(types):
    for dtype in types:
        for i, (shape, k) in enumerate([((3, 4), 0), ((4, 3), 1), ((3, 5), -2), ((2, 2), 7)][:4 if dtype == F32 else 1]):
            yield Case(label(dtype, shape) + f"_{k}", [values(dtype, shape, i, "small")], {"k": k})
    for dtype in FLOATS[:2] + SIGNED[2:] + [BOOL]:
        yield Case(f"to_{name_of(dtype)}", [values(F32, (3, 3), 1, "small")], {"dtype": int(code_of(dtype))})


def signal_windows():
    for size in (10, 3, 7):
        for periodic in (0, 1):
            yield Case(f"{size}_{periodic}", [np.array(size, np.int64)], {"periodic": periodic}, constants=[0])
    yield Case("int32_float16", [np.array(5, np.int32)], {"output_datatype": int(code_of(np.dtype("float16")))}, constants=[0])


MADE = {
    "CumSum": lambda v, t: cumulations(t),
    "CumProd": lambda v, t: products(t),
    "OneHot": lambda v, t: one_hots(t),
    "EyeLike": lambda v, t: eyes(t),
    **{f"{name}Window": lambda v, t: signal_windows() for name in ("Hann", "Hamming", "Blackman")},
}
