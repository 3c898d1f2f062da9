"""Cases of record_sweep.py: operators that move elements, count, or run through time."""
import ml_dtypes
import numpy as np
from onnx import helper

from sweep_cases import ALL, BOOL, F32, FLOATS, Case, code_of, label, name_of, values

RECURRENT = {"LSTM": (4, 3), "GRU": (3, 2), "RNN": (1, 1)}  # gates, activations


def slices(version, types):
    """(shape, starts, ends, axes, steps): attributes before opset 10."""
    most = 2 ** 63 - 1
    forms = [((9,), [2], [7], None, None), ((5, 6), [1, -3], [most, -1], None, None), ((2, 3, 4), [1], [3], [1], None),
             ((4, 5), [3], [1], [0], None), ((2, 5, 4, 3), [1], [4], [-3 if version >= 11 else 1], None),
             ((2, 3, 4), [0, 0], [2, 4], [0, 2], None)]
    if version >= 10:
        forms += [((9,), [-1], [-(2 ** 63)], [0], [-1]), ((4, 7), [6, 0], [0, 4], [1, 0], [-2, 3]), ((2, 9), [1], [8], [1], [100]),
                  ((3, 4, 5), [1, 2], [-1, most], [-1, 0], [2, 1]), ((2, 1, 3, 2, 5), [4], [0], [4], [-1]),
                  ((2, 2, 2, 2, 2, 3), [1, 1], [2, 3], [5, 3], [1, 1])]
    for dtype in types:
        for i, (shape, starts, ends, axes, steps) in enumerate(forms):
            data = values(dtype, shape, i)
            if version < 10:
                yield Case(label(dtype, shape) + f"_{i}", [data], {"starts": starts, "ends": ends, **({"axes": axes} if axes else {})})
            else:
                more = [None if m is None else np.array(m, np.int64) for m in (starts, ends, axes, steps)]
                yield Case(label(dtype, shape) + f"_{i}", [data] + more, constants=range(1, 5))
    more = {"starts": [1, 2], "ends": [4, 4], "axes": [1, 2]}
    image = values(F32, (2, 5, 8, 6), 9, "small")
    if version < 10:
        yield Case("image", [image], more, image=True)
    else:
        yield Case("image", [image] + [np.array(m, np.int64) for m in more.values()], constants=range(1, 5), image=True)
        yield Case("int32_indices", [values(F32, (4, 6), 1)] + [np.array(m, np.int32) for m in ([1], [3], [0])], constants=range(1, 5))


def splits(version, types):
    forms = [((6,), 0, None, 3), ((2, 6), 1, [1, 2, 3], 3), ((4, 3, 2), 0, [3, 1], 2), ((2, 4, 5), 1, [0, 4], 2), ((2, 3, 4, 6), 3, None, 2),
             ((1, 2, 1, 3, 2, 4), 5, None, 4), ((5, 3), 0, [5], 1)]
    for dtype in types:
        for i, (shape, axis, sizes, count) in enumerate(forms):
            inputs, attributes, constants = [values(dtype, shape, i)], {"axis": axis}, []
            if sizes and version >= 13:
                inputs.append(np.array(sizes, np.int64))
                constants = [1]
            elif sizes:
                attributes["split"] = sizes
            elif version >= 18:
                attributes["num_outputs"] = count
            yield Case(label(dtype, shape) + f"_{i}", inputs, attributes, constants, outputs=count)
        if version >= 18:
            yield Case(label(dtype, (7, 2)) + "_ragged", [values(dtype, (7, 2), 3)], {"axis": 0, "num_outputs": 3}, outputs=3)


def indices(shape, size, seed, dtype=np.int64):
    return np.random.default_rng(seed).integers(-size, size, shape).astype(dtype)


def gathers(types):
    """(shape, axis, shape of the indices)"""
    forms = [((7,), 0, (4,)), ((5, 6), 0, (3,)), ((5, 6), 1, (2, 3)), ((3, 4, 5), 1, ()), ((2, 3, 40), -2, (7,)), ((4, 3), 0, (0,)), ((2, 5, 1, 3), 1, (2, 2)),
             ((3, 33), 1, (70,))]
    for dtype in types:
        for i, (shape, axis, wanted) in enumerate(forms):
            data, list_ = values(dtype, shape, i), indices(wanted, shape[axis], i, np.int32 if i == 1 else np.int64)
            yield Case(label(dtype, shape) + f"_{i}", [data, list_], {"axis": axis})
        for k, list_ in enumerate([np.array(-1, np.int64), np.array([0, 2, 4], np.int64), np.array([[3, 2], [1, 0]], np.int64), np.array([1, 1, 4], np.int32)]):
            yield Case(label(dtype, (2, 5, 3)) + f"_constant{k}", [values(dtype, (2, 5, 3), k), list_], {"axis": 1}, constants=[1])
    yield Case("large", [values(F32, (300, 64), 1), indices((1200,), 300, 2)])
    yield Case("image", [values(F32, (2, 5, 8, 6), 9, "small"), indices((3,), 5, 2)], {"axis": 1}, image=True)


def sparse(dtype, shape, seed):
    """Half of it is 0; of floats some -0, NaN and a subnormal."""
    data = values(dtype, shape, seed, "small").reshape(-1)
    data[np.random.default_rng(seed).random(data.size) < 0.5] = 0
    if dtype in FLOATS and data.size > 5:
        data[:4] = -0.0, np.nan, ml_dtypes.finfo(dtype).smallest_subnormal, -0.0
    return data.reshape(shape)


def nonzeros(types):
    """A count is a symbol, of which a network has 64."""
    for dtype in types:
        for i, shape in enumerate([(40,), (2, 3, 7), (0, 3), (1, 2, 1, 3)]):
            yield Case(label(dtype, shape), [sparse(dtype, shape, i)])
        yield Case(label(dtype, (3, 4)) + "_constant", [sparse(dtype, (3, 4), 9)], constants=[0])
    if F32 in types:
        yield Case("large", [sparse(F32, (30, 40, 3), 1)])
        yield Case("zeros", [np.zeros((5, 3), F32)])
        yield Case("ones", [np.ones((5, 3), F32)])
        yield Case("image", [values(F32, (2, 5, 8, 6), 9, "small")], image=True)


def compresses(types):
    """(shape, axis, length of the mask)"""
    forms = [((7,), 0, 7), ((3, 5), 1, 5), ((4, 3), None, 12), ((2, 3, 4), -2, 2)]
    for dtype in types:
        for i, (shape, axis, length) in enumerate(forms):
            mask = np.random.default_rng(i).random(length) < 0.5
            yield Case(label(dtype, shape) + f"_{i}", [values(dtype, shape, i), mask], {} if axis is None else {"axis": axis})
        mask = np.array([False, True, True, False, True])
        yield Case(label(dtype, (5, 3)) + "_constant", [values(dtype, (5, 3), 5), mask], {"axis": 0}, constants=[1])
    if F32 in types:
        for name, length in (("short", 2), ("long", 9)):
            yield Case(name, [values(F32, (4, 3), 1), np.arange(length) % 2 == 0], {"axis": 0})
        yield Case("none", [values(F32, (4, 3), 1), np.zeros(4, bool)], {"axis": 0})
        yield Case("image", [values(F32, (2, 5, 8, 6), 9, "small"), np.arange(5) % 2 == 0], {"axis": 1}, image=True)


def gathers_of_elements(types):
    forms = [((7,), 0, (4,)), ((5, 6), 0, (3, 6)), ((5, 6), 1, (4, 9)), ((3, 4, 5), 1, (3, 2, 2)), ((2, 1, 3, 2), -1, (2, 1, 3, 5)), ((4, 3), 0, (0, 3))]
    return [Case(label(d, s) + f"_{i}", [values(d, s, i), indices(w, s[a], i, np.int32 if i == 1 else np.int64)], {"axis": a})
            for d in types for i, (s, a, w) in enumerate(forms)] + [Case("large", [values(F32, (60, 70), 1), indices((60, 90), 70, 2)], {"axis": 1})]


def gathers_nd(version, types):
    forms = [((4, 5), (3, 2), 0), ((4, 5, 6), (2, 3, 1), 0), ((3, 4, 2), (3, 2, 1), 1), ((2, 3, 4, 5), (2, 3, 2, 2), 2), ((6,), (1,), 0), ((5, 3), (0, 1), 0)]
    for dtype in types:
        for i, (shape, wanted, batch) in enumerate(forms):
            if batch and version < 12:
                continue
            columns = [indices(wanted[:-1], shape[batch + k], 7 * i + k) for k in range(wanted[-1])]
            yield Case(label(dtype, shape) + f"_{i}", [values(dtype, shape, i), np.stack(columns, -1)], {"batch_dims": batch} if batch else {})


def recurrent(kind, version, types):
    """Every direction, with and without each operand that may be absent, other activations."""
    gates, functions = RECURRENT[kind]
    forms = [dict(), dict(direction="reverse", bias=1), dict(direction="bidirectional", bias=1, state=1), dict(state=1, lengths=1, bias=1),
             dict(direction="bidirectional", lengths=1, steps=4), dict(direction="reverse", lengths=1, state=1, steps=4), dict(clip=0.4, bias=1),
             dict(activations=["Relu", "Softsign", "HardSigmoid"]), dict(activations=["Sigmoid", "ScaledTanh", "Elu"], alpha=[1.25, 0.5], beta=[0.75]),
             dict(activations=["HardSigmoid", "LeakyRelu", "Affine"], alpha=[0.3, 0.1, 0.5], beta=[0.4, 0.25]), dict(computed=1, bias=1, state=1),
             dict(steps=1, batch=1, hidden=64, inputs=40, state=1, bias=1), dict(steps=6, batch=1, hidden=48, inputs=20, bias=1, direction="bidirectional"),
             dict(constant_lengths=1, bias=1)]
    if kind == "LSTM":
        forms += [dict(peepholes=1, state=1, bias=1), dict(peepholes=1), dict(input_forget=1, state=1)]
    if kind == "GRU":
        forms += [dict(linear=1, bias=1, state=1), dict(linear=1), dict(linear=1, direction="bidirectional", bias=1)]
    if version >= 14:
        forms += [dict(layout=1, bias=1)]
    for dtype in [d for d in types if d in FLOATS]:
        for i, form in enumerate(forms):
            steps, batch, hidden, inputs = (form.get(k, default) for k, default in (("steps", 3), ("batch", 2), ("hidden", 5), ("inputs", 4)))
            directions = 2 if form.get("direction") == "bidirectional" else 1
            random = np.random.default_rng(100 * i + gates)

            def draw(*shape):
                return random.normal(0, 0.4, shape).astype(dtype)

            data = [draw(steps, batch, inputs) * 2, draw(directions, gates * hidden, inputs), draw(directions, gates * hidden, hidden),
                    draw(directions, 2 * gates * hidden) if "bias" in form else None,
                    np.array([[steps, 2, 1, 3][b % 4] for b in range(batch)], np.int32) if "lengths" in form else
                    np.full(batch, steps, np.int32) if "constant_lengths" in form else None,
                    draw(directions, batch, hidden) if "state" in form else None]
            if kind == "LSTM":
                data += [draw(directions, batch, hidden) if "state" in form else None,
                         draw(directions, 3 * hidden) if "peepholes" in form else None]
            attributes = {"hidden_size": hidden, **{k: form[k] for k in ("direction", "clip", "layout", "input_forget") if k in form}}
            if "linear" in form:
                attributes["linear_before_reset"] = 1
            if "activations" in form:
                attributes["activations"] = form["activations"][:functions] * directions
                attributes.update({f"activation_{k}": form[k] for k in ("alpha", "beta") if k in form})
            if "layout" in form:
                data[0] = np.ascontiguousarray(data[0].transpose(1, 0, 2))
            yield Case(label(dtype) + f"_{i}", data, attributes, outputs=3 if kind == "LSTM" else 2,
                       constants=[] if "computed" in form else [1, 2, 3, 7] + ([4] if "constant_lengths" in form else []))


def expands(types):
    forms = [((3, 1), [3, 4]), ((1,), [5]), ((3, 4), [1]), ((3, 4), [2, 1, 1]), ((), [2, 3]), ((2, 1, 3, 1), [2, 5, 3, 4]), ((4,), [2, 3, 4]),
             ((1, 3), [0, 3]), ((1, 1, 2), [2, 1, 2, 1, 2])]
    return [Case(label(d, s) + f"_{i}", [values(d, s, i), np.array(to, np.int64)], constants=[1]) for d in types for i, (s, to) in enumerate(forms)]


def tiles(types):
    forms = [((3,), [4]), ((2, 3), [1, 2]), ((2, 3), [3, 1]), ((2, 3, 2), [2, 1, 3]), ((2, 1, 3, 4), [1, 5, 1, 2]), ((2, 3), [1, 1]), ((2, 3), [0, 2]),
             ((1, 2, 1, 2, 3), [2, 1, 2, 3, 1])]
    return [Case(label(d, s) + f"_{i}", [values(d, s, i), np.array(to, np.int64)], constants=[1]) for d in types for i, (s, to) in enumerate(forms)]


def constants_of_shape():
    for dtype in ALL:
        value = helper.make_tensor("value", code_of(dtype), [1], [1 if dtype == BOOL else 3])
        yield Case(name_of(dtype), [np.array([2, 3], np.int64)], {"value": value}, constants=[0])
    yield Case("zero", [np.array([4], np.int64)], constants=[0])
    yield Case("empty", [np.array([2, 0], np.int64)], constants=[0])
    yield Case("scalar", [np.array([], np.int64)], constants=[0])
    yield Case("large", [np.array([3, 7001], np.int64)], {"value": helper.make_tensor("value", 1, [1], [1.5])}, constants=[0])


def ranges():
    """start, limit, step: the number of elements is known"""
    for dtype in [np.dtype(t) for t in ("int16", "int32", "int64", "float32")]:
        for i, numbers in enumerate([(0, 7, 1), (3, 50, 4), (10, -11, -3), (5, 5, 1), (0, 3000 if i_small(dtype) else 20011, 1)]):
            numbers = [np.array(n, dtype) for n in numbers]
            yield Case(name_of(dtype) + f"_{i}", numbers, constants=[0, 1, 2])
    yield Case("halves", [np.array(n, F32) for n in (0.5, 9.75, 0.25)], constants=[0, 1, 2])


def i_small(dtype):
    return dtype.itemsize == 2


def extremes(version, types):
    forms = [((7,), {"axis": 0}), ((3, 5), {"axis": 1}), ((3, 5), {"keepdims": 0}), ((2, 3, 40), {"axis": -2 if version >= 11 else 1, "keepdims": 0}), ((2, 1, 3, 4), {"axis": 3}),
             ((1, 512), {"axis": 1, "keepdims": 0})]
    for dtype in types:
        for i, (shape, attributes) in enumerate(forms):
            yield Case(label(dtype, shape) + f"_{i}", [values(dtype, shape, i, "small")], attributes)
            if version >= 12:
                yield Case(label(dtype, shape) + f"_{i}_last", [values(dtype, shape, i, "small")], dict(attributes, select_last_index=1))
    infinite = np.array([[1, -np.inf, np.inf, np.inf], [-np.inf] * 4], F32)
    yield Case("infinite", [infinite], {"axis": 1})
    yield Case("image", [values(F32, (2, 5, 8, 6), 9, "small")], {"axis": 1}, image=True)


def triangles(types):
    for dtype in types:
        for i, (shape, k, more) in enumerate([((3, 5), None, {}), ((4, 4), 1, {"upper": 0}), ((2, 5, 3), -2, {}), ((5, 6), 9, {}), ((3, 3), None, {"upper": 0})]):
            yield Case(label(dtype, shape) + f"_{i}", [values(dtype, shape, i), None if k is None else np.array(k, np.int64)], more,
                       constants=[1] if i != 2 else [])


def blocks(types, modes, to_space):
    for dtype in types:
        for i, (n, c, h, w, s) in enumerate([(1, 2, 3, 4, 2), (2, 1, 2, 3, 3), (1, 3, 2, 2, 1)]):
            shape = (n, c * s * s, h, w) if to_space else (n, c, h * s, w * s)
            for mode in modes:
                yield Case(label(dtype, shape) + f"_{s}" + "".join(mode.values()), [values(dtype, shape, i)], {"blocksize": s, **mode})
