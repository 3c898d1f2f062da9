"""Cases of record_sweep.py: norms, softmax's kin, pools, losses, crops."""
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


def mean_variance_norms(types):
    for dtype in floats_of(types):
        for i, (shape, axes) in enumerate([((2, 3, 4, 5), None), ((2, 3, 4, 5), [0, 2, 3]), ((3, 7), [1]), ((2, 3, 4), [0, 2])][:4 if dtype == F32 else 2]):
            yield Case(label(dtype, shape) + f"_{i}", [shifted(dtype, shape, i)], {} if axes is None else {"axes": axes})


def lp_norms(types):
    for dtype in floats_of(types):
        for i, (shape, axis) in enumerate([((2, 3, 7), -1), ((2, 3, 7), 1), ((67,), 0), ((4, 5), 0)]):
            for p in (1, 2):
                data = values(dtype, shape, i, "small")
                if i == 3:
                    data[:, 2] = 0
                yield Case(label(dtype, shape) + f"_{i}_{p}", [data], {"axis": axis, "p": p})


def response_norms(types):
    for dtype in floats_of(types):
        forms = [((2, 5, 4, 3), dict(size=3)), ((1, 7, 3, 3), dict(size=5, alpha=0.25, beta=0.5, bias=2.0)), ((1, 2, 3, 3), dict(size=5, alpha=0.5)),
                 ((1, 4, 2, 2), dict(size=1, alpha=1.0))]
        for i, (shape, more) in enumerate(forms if dtype == F32 else forms[:1]):
            yield Case(label(dtype, shape) + f"_{i}", [values(dtype, shape, i, "small")], more)
    yield Case("image", [values(F32, (2, 5, 8, 6), 3, "small")], {"size": 3}, image=True)


def softmaxes(version, types, hard):
    for dtype in floats_of(types):
        forms = [((7,), 0), ((3, 5), 1), ((2, 3, 4), 1), ((2, 3, 4), 2), ((1, 67), 1), ((2, 5, 3, 2), 1), ((1, 1), 1)]
        for i, (shape, axis) in enumerate(forms if dtype == F32 else forms[1:3]):
            yield Case(label(dtype, shape) + f"_{axis}", [values(dtype, shape, i, "small")], {"axis": axis})
            if version >= 11 and dtype == F32:
                yield Case(label(dtype, shape) + f"_{axis}_negative", [values(dtype, shape, i, "small")], {"axis": axis - len(shape)})
    data = values(F32, (4, 6), 3, "small")
    data[0, 1], data[2, 3], data[3] = 50, -np.inf, 3e38 if hard else 88.5
    yield Case("special", [data], {"axis": 1})


def global_pools(types, attributes=({},)):
    for dtype in floats_of(types):
        for i, shape in enumerate([(1, 2, 5), (2, 3, 4, 5), (1, 1, 1, 1), (1, 17, 7, 7), (1, 2, 3, 2, 2)][:5 if dtype == F32 else 2]):
            for k, more in enumerate(attributes if i < 2 else attributes[:1]):
                yield Case(label(dtype, shape) + f"_{k}", [values(dtype, shape, i, "small")], more)
    yield Case("image", [values(F32, (2, 5, 8, 6), 3, "small")], attributes[0], image=True)


def lp_pools(version, types):
    forms = [((1, 2, 9), dict(kernel_shape=[3])), ((2, 3, 8, 6), dict(kernel_shape=[2, 2], strides=[2, 2], p=1)),
             ((1, 4, 7, 9), dict(kernel_shape=[3, 2], pads=[1, 0, 1, 1], p=3)), ((2, 4, 6, 6), dict(kernel_shape=[3, 3], auto_pad="SAME_UPPER", strides=[2, 2])),
             ((1, 1, 5, 5), dict(kernel_shape=[5, 5]))]
    if version >= 18:
        forms += [((1, 4, 7, 7), dict(kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)), ((1, 2, 8, 8), dict(kernel_shape=[2, 3], dilations=[2, 2]))]
    for dtype in floats_of(types):
        for i, (shape, more) in enumerate(forms if dtype == F32 else forms[:2]):
            yield Case(label(dtype, shape) + f"_{i}", [values(dtype, shape, i, "small")], more)


def losses(types, of_scores):
    for dtype in floats_of(types):
        forms = [((3, 5), "mean", None, False), ((3, 5), "none", None, True), ((2, 4, 3), "sum", None, True), ((2, 4, 3), "mean", 2, True), ((2, 4, 3, 2), "mean", -1, False)]
        for i, (shape, reduction, ignored, weighted) in enumerate(forms if dtype == F32 else forms[:1]):
            target = np.random.default_rng(i).integers(0, shape[1], (shape[0],) + shape[2:]).astype(np.int64 if i % 2 else np.int32)
            more = {"reduction": reduction}
            if ignored is not None:
                target.flat[0], more["ignore_index"] = ignored, ignored
            weight = [np.abs(values(dtype, (shape[1],), i + 3, "small")) + dtype.type(0.5)] if weighted else []
            yield Case(label(dtype, shape) + f"_{i}", [values(dtype, shape, i, "small"), target] + weight, more, constants=[2], outputs=2 if of_scores and i % 2 == 0 else 1)
    target = np.array([1, 2, 1], np.int32)
    yield Case("wide_ignored", [values(F32, (3, 5), 9, "small"), target], {"ignore_index": 2**32 + 1, "reduction": "sum"})


def center_crops(types):
    forms = [((5,), [8], None), ((4, 7), [6, 4], None), ((2, 5, 6), [3, 9], [1, 2]), ((1, 2, 4, 5), [4], [-1])]
    for dtype in types:
        for i, (shape, sizes, axes) in enumerate(forms if dtype == F32 else forms[1:2]):
            yield Case(label(dtype, shape) + f"_{i}", [values(dtype, shape, i, "small"), np.array(sizes, np.int64)], {} if axes is None else {"axes": axes}, constants=[1])


NORMS = {
    "NegativeLogLikelihoodLoss": lambda v, t: losses(t, False),
    "SoftmaxCrossEntropyLoss": lambda v, t: losses(t, True),
    "CenterCropPad": lambda v, t: center_crops(t),
    "MeanVarianceNormalization": lambda v, t: mean_variance_norms(t),
    "LpNormalization": lambda v, t: lp_norms(t),
    "LRN": lambda v, t: response_norms(t),
    "LogSoftmax": lambda v, t: softmaxes(v, t, False),
    "Hardmax": lambda v, t: softmaxes(v, t, True),
    "GlobalMaxPool": lambda v, t: global_pools(t),
    "GlobalLpPool": lambda v, t: global_pools(t, [{"p": 2}, {"p": 1}, {"p": 3}]),
    "LpPool": lp_pools,
    "LayerNormalization": lambda v, t: layer_norms(t, 1),
    "RMSNormalization": lambda v, t: layer_norms(t, 0),
    "InstanceNormalization": lambda v, t: instance_norms(t),
    "GroupNormalization": group_norms,
}
