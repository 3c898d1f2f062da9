"""Cases of record_sweep.py: norms, and softmax's kin."""
import numpy as np

from sweep_cases import F32, FLOATS, Case, label, values


def floats_of(types):
    return [d for d in types if d in FLOATS]


def shifted(dtype, shape, seed):
    """Rows with a mean, of which little is left where it is taken away twice."""
    return (values(F32, shape, seed, "small") + np.float32(5.25)).astype(dtype)


def layer_norms(types, has_bias):
    forms = [((2, 3, 8), -1, (8,)), ((2, 3, 8), 1, (3, 8)), ((5, 67), 1, (67,)), ((2, 3, 4), 0, (2, 3, 4)), ((4, 6), -1, (1,)),
             ((2, 3, 4, 5), 2, (1, 5)), ((1, 2, 3, 2, 2, 3), -2, (2, 3)), ((0, 4), -1, (4,))]
    for dtype in floats_of(types):
        for i, (shape, axis, scale) in enumerate(forms if dtype == F32 else forms[:2]):
            inputs = [shifted(dtype, shape, i), values(dtype, scale, i + 9, "small"), values(dtype, scale, i + 20, "small")]
            name, more = label(dtype, shape) + f"_{i}", {"axis": axis}
            yield Case(name, inputs[:2 + has_bias], more, constants=[1, 2])
            yield Case(name + "_computed", inputs[:2 + has_bias * (i % 2)], dict(more, epsilon=0.25))
            if has_bias and i < 2 and dtype in FLOATS[:2]:  # mean and 1 / deviation are float32
                yield Case(name + "_statistics", inputs, more, constants=[1, 2], outputs=3)
    zeros = [np.zeros((3, 20), np.float32), np.ones(20, np.float32)]
    yield Case("zeros", zeros, {}, constants=[1])


def vectors(dtype, count, seed):
    return [values(dtype, (count,), seed, "small"), values(dtype, (count,), seed + 7, "small")]


def instance_norms(types):
    for dtype in floats_of(types):
        for i, shape in enumerate([(2, 3, 8), (1, 4, 5, 6), (2, 5, 3, 3), (1, 2, 2, 3, 2), (2, 1, 67)][:5 if dtype == F32 else 2]):
            inputs = [shifted(dtype, shape, i)] + vectors(dtype, shape[1], i + 9)
            yield Case(label(dtype, shape), inputs, {"epsilon": 1e-3} if i % 2 else {}, constants=[1, 2] if i != 2 else [])
    yield Case("image", [shifted(F32, (2, 5, 8, 6), 3)] + vectors(F32, 5, 4), {}, constants=[1, 2], image=True)


def group_norms(version, types):
    for dtype in floats_of(types):
        forms = [((2, 4, 8), 2), ((1, 6, 5, 6), 3), ((2, 4, 3, 3), 1), ((2, 4, 3, 3), 4)]
        for i, (shape, groups) in enumerate(forms if dtype == F32 else forms[:2]):
            inputs = [shifted(dtype, shape, i)] + vectors(dtype, groups if version < 21 else shape[1], i + 9)
            yield Case(label(dtype, shape) + f"_{groups}", inputs, dict({"epsilon": 1e-3} if i % 2 else {}, num_groups=groups),
                       constants=[1, 2] if i != 2 else [])
    yield Case("image", [shifted(F32, (2, 6, 8, 6), 3)] + vectors(F32, 2 if version < 21 else 6, 4), {"num_groups": 2}, constants=[1, 2], image=True)


NORMS = {
    "LayerNormalization": lambda v, t: layer_norms(t, 1),
    "RMSNormalization": lambda v, t: layer_norms(t, 0),
    "InstanceNormalization": lambda v, t: instance_norms(t),
    "GroupNormalization": group_norms,
}
