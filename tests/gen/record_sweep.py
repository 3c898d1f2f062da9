#!/usr/bin/env python3
"""Makes the networks of tests/sweep: one for each operator and opset version that the importer has a row for. In each,
every element type that ONNX allows, ranks from 0, dims of 0 and 1, broadcasting, both memory layouts, NaN, infinities,
-0, subnormals, extreme integers; each case is a node of its own with inputs and an output of its own.

tests/sweep/OPERATOR-VERSION.onnx, with _in.npz (inputs) and _out.npz (the outputs that onnxruntime gives; where it has
no kernel for a type or version, those of the plain formula of ONNX's reference evaluator). Cases of float16 and
bfloat16 are in OPERATOR-VERSION-float16 and OPERATOR-VERSION-bfloat16.
tests/sweep/refused.txt: the cases that xpuc refuses, with the rule; they are not in the networks.

record_sweep.py [--xpuc=FILE] [OPERATOR...]     Packages: onnx, onnxruntime, numpy, ml_dtypes.
"""
import argparse
import json
import os
import re
import subprocess
import tempfile
import warnings

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import sweep_attention
import sweep_made
import sweep_moves as moved
import sweep_norms
import sweep_picks as picked
import sweep_windows as windowed
from npz import write_npz
from sweep_cases import ALL, BF16, BOOL, F32, FLOATS, SIGNED, UNSIGNED, Case, code_of, label, name_of, values

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "tests", "sweep")
OLDEST_OPSET = 7  # that the importer takes
# The oldest IR version that may carry an operator set.
IR = [(8, 3), (9, 4), (10, 5), (11, 6), (14, 7), (18, 8), (20, 9), (22, 10), (23, 11), (24, 12), (99, 13)]


# ---- cases ----

SHAPES = [(), (1,), (40,), (0,), (3, 0, 2), (2, 3, 7), (1, 4, 3, 5), (2, 1, 3, 1, 4), (1, 2, 1, 3, 2, 3)]
PAIRS = [((), ()), ((40,), (40,)), ((2, 3, 5), (5,)), ((1,), (3, 7)), ((4, 1, 3), (1, 2, 1)), ((0, 3), (1, 3)),
         ((2, 1, 3, 1, 4), (3, 5, 1)), ((2, 4, 3, 5), (4, 1, 1)), ((1, 2, 1, 3, 2, 3), (2, 1, 1, 1, 3))]


def unary(types, attributes=({},), draw="any"):
    for dtype in types:
        for k, more in enumerate(attributes):
            shapes = SHAPES if k == 0 else SHAPES[5:7]
            for i, shape in enumerate(shapes):
                yield Case(label(dtype, shape) + (f"_{k}" if k else ""), [values(dtype, shape, i, draw)], more)
    if F32 in types:
        yield Case("image", [values(F32, (2, 5, 8, 6), 9, "small")], attributes[0], image=True)


def binary(types, attributes=({},), second="any", second_type=None, pairs=None):
    for dtype in types:
        for k, more in enumerate(attributes):
            for i, (a, b) in enumerate(pairs or PAIRS):
                other = second_type or dtype
                yield Case(label(dtype, a, b) + (f"_{k}" if k else ""),
                           [values(dtype, a, i, "any" if second == "any" or dtype in FLOATS else "small"),
                            values(other, b, i + 50, second)], more)
        yield Case(label(dtype, (6, 4)) + "_constant", [values(dtype, (6, 4), 3, "small"),
                                                        values(second_type or dtype, (4,), 4, second if second != "any" else "small")],
                   attributes[0], constants=[1])
    if F32 in types:
        yield Case("image", [values(F32, (2, 5, 8, 6), 9, "small"), values(second_type or F32, (5, 1, 1), 8, second)], attributes[0],
                   image=True)


def powers(version, types):
    """0 as integer has no power with a negative exponent, and onnxruntime's powers that overflow are those of double."""
    yield from binary([d for d in types if d in FLOATS])
    for case in binary([d for d in types if d not in FLOATS], second="divisor"):
        case.inputs[0] = np.where(case.inputs[0] == 0, 5, case.inputs[0]).astype(case.inputs[0].dtype)
        yield case
    for base in types:
        for exponent in SIGNED + UNSIGNED + [F32] if version >= 12 else []:
            if exponent == base:
                continue
            bases, exponents = values(base, (40,), 3, "small"), values(np.dtype("int8"), (40,), 4, "divisor")
            bases[bases == 0] = 5
            exponents = (np.abs(exponents) if exponent in UNSIGNED else exponents).astype(exponent)
            yield Case(f"{name_of(base)}_{name_of(exponent)}", [bases, exponents],
                       constants=[1] if exponent == F32 and base not in FLOATS else [])


def clips(version, types):
    """No infinities of half precision: its answers are computed in float32, whose lowest and highest value are others."""
    narrow = [t for t in types if t in FLOATS[1:]]
    if version < 11:
        bounds = [{"min": -1.5, "max": 2.0}, {}]
        return list(unary([t for t in types if t not in narrow], bounds)) + list(unary(narrow, bounds, "small"))
    plain = list(unary([t for t in types if t not in narrow])) + list(unary(narrow, draw="small"))
    forms = (("", (1, 5)), ("_low", (2,)), ("_high", (None, 4)))
    return [Case(c.name + suffix, c.inputs + [None if x is None else np.array(x).astype(c.inputs[0].dtype) for x in bounds],
                 constants=[1, 2], image=c.image) for c in plain for suffix, bounds in forms]


def variadic(types):
    for dtype in types:
        yield Case(label(dtype) + "_one", [values(dtype, (3, 4), 1)])
        yield Case(label(dtype) + "_two", [values(dtype, (4, 1, 3), 1, "small"), values(dtype, (2, 1), 2, "small")])
        yield Case(label(dtype) + "_four", [values(dtype, s, 3 + i, "small") for i, s in enumerate([(2, 3, 4), (4,), (3, 1), ()])])
        yield Case(label(dtype) + "_special", [values(dtype, (40,), 1), values(dtype, (40,), 2)])
        yield Case(label(dtype) + "_empty", [values(dtype, (0, 2), 1), values(dtype, (1, 2), 2)])


def select(types):
    for dtype in types:
        for i, (c, a, b) in enumerate([((), (), ()), ((40,), (40,), (40,)), ((3, 1), (4,), (2, 1, 1)), ((0,), (1,), (1,)),
                                       ((2, 1, 3, 1, 4), (5, 1), ()), ((1, 4, 3, 5), (4, 1, 1), (1, 4, 3, 5))]):
            yield Case(label(dtype, c, a, b), [values(BOOL, c, i), values(dtype, a, i + 1), values(dtype, b, i + 2)])


def casts(types):
    for source in types:
        for target in ALL:
            draw = "any" if source not in FLOATS or target in FLOATS + [BOOL] else "small"
            data = values(source, (31,), 5, draw)
            if target in UNSIGNED and source in FLOATS:
                data = np.abs(data.astype(np.float32)).astype(source)
            yield Case(f"{name_of(source)}_to_{name_of(target)}", [data], {"to": int(code_of(target))})
        yield Case(label(source, ()) + "_scalar", [values(source, (), 1, "small")], {"to": 1})
        yield Case(label(source, (2, 0)) + "_empty", [values(source, (2, 0), 1)], {"to": 7})
    yield Case("image", [values(F32, (2, 5, 8, 6), 9, "small")], {"to": 6}, image=True)


def reduce(version, axes_input, types, empty=True, extreme=True, op=""):
    forms = [((7,), [0], 1), ((2, 3, 5), [1], 1), ((2, 3, 5), [-1], 0), ((2, 3, 5), [0, 2], 0), ((2, 3, 5), None, 1),
             ((2, 3, 4, 5), [2, 3], 1), ((3, 1, 2), [1], 0), ((2, 67), [1], 1), ((67, 3), [0], 1), ((2, 2, 3, 2, 3), [1, 3], 0)]
    if empty:
        forms += [((0, 3), [1], 1)] + ([((2, 0), [1], 1)] if op != "Mean" else [])  # the mean of nothing has no right answer
    for dtype in types:
        for i, (shape, axes, keep) in enumerate(forms):
            data = values(dtype, shape, i, "small")
            if op == "Prod" and dtype not in FLOATS:  # onnxruntime's int32 saturates, and does so in sums
                data = data % 3
            name = label(dtype, shape) + f"_{i}"
            if axes_input:
                inputs = [data] if axes is None else [data, np.array(axes, np.int64)]
                yield Case(name, inputs, {"keepdims": keep}, constants=[1])
            else:
                more = {"keepdims": keep}
                if axes is not None:
                    more["axes"] = axes if version >= 11 else [a % len(shape) for a in axes]
                yield Case(name, [data], more)
        if dtype in FLOATS:
            data = values(dtype, (4, 9), 7, "small")
            data[0, 3], data[1, 2], data[2, 5] = 1e4 if extreme else np.nan, np.inf, -np.inf
            yield Case(label(dtype) + "_special", [data] + ([np.array([1], np.int64)] if axes_input else []),
                       {} if axes_input else {"axes": [1]}, constants=[1])
        elif dtype != BOOL:
            data = values(dtype, (3, 5), 7, "any" if extreme else "small")
            yield Case(label(dtype) + "_special", [data] + ([np.array([1], np.int64)] if axes_input else []),
                       {} if axes_input else {"axes": [1]}, constants=[1])
        if axes_input:
            yield Case(label(dtype) + "_noop", [values(dtype, (3, 4), 8, "small")], {"noop_with_empty_axes": 1})
            yield Case(label(dtype) + "_no_axes", [values(dtype, (3, 4), 8, "small"), np.array([], np.int64)], {}, constants=[1])
    yield Case("image", [values(F32, (2, 5, 8, 6), 9, "small")] + ([np.array([1], np.int64)] if axes_input else []),
               {} if axes_input else {"axes": [1]}, constants=[1], image=True)


def moves(types, forms):
    """forms: (name, shape, more inputs, attributes)"""
    for dtype in types:
        for name, shape, more, attributes in forms:
            yield Case(f"{name_of(dtype)}_{name}", [values(dtype, shape, len(name))] + [np.array(m, np.int64) for m in more],
                       attributes, constants=range(1, 1 + len(more)))
    name, _, more, attributes = next((f for f in forms if len(f[1]) == 4), forms[0])
    yield Case("image", [values(F32, (2, 5, 8, 6), 9, "small")] + [np.array(m, np.int64) for m in more], attributes,
               constants=range(1, 1 + len(more)), image=True) if name.startswith("r4") else Case("float32_again", [values(F32, forms[0][1], 1)] + [np.array(m, np.int64) for m in forms[0][2]], forms[0][3], constants=range(1, 1 + len(forms[0][2])))


def concat(types):
    for dtype in types:
        for i, (axis, shapes) in enumerate([(0, [(3,), (4,)]), (1, [(2, 3, 5), (2, 1, 5), (2, 4, 5)]), (0, [(0, 2), (3, 2)]),
                                            (0, [(1,)]), (3, [(2, 1, 3, 1), (2, 1, 3, 6)]), (4, [(1, 2, 1, 3, 2, 3)] * 2)]):
            yield Case(label(dtype, *shapes), [values(dtype, s, i + j) for j, s in enumerate(shapes)], {"axis": axis})


def pads(version, types):
    forms = [((5,), [1, 2]), ((2, 3), [0, 1, 2, 0]), ((1, 2, 4, 5), [0, 0, 1, 2, 0, 0, 3, 1]), ((2, 3, 4), [0, -1, 1, 0, 0, -2])]
    for dtype in types:
        for mode in ("constant", "reflect", "edge"):
            for i, (shape, amounts) in enumerate(forms):
                if mode != "constant" and min(amounts) < 0:
                    continue
                data = values(dtype, shape, i)
                if version < 11:
                    yield Case(label(dtype, shape) + "_" + mode, [data], {"mode": mode, "pads": amounts, "value": 2.0})
                else:
                    more = [np.array(amounts, np.int64)] + ([values(dtype, (), 3, "divisor")] if mode == "constant" else [])
                    yield Case(label(dtype, shape) + "_" + mode, [data] + more, {"mode": mode}, constants=[1, 2])
        if version >= 11 and dtype not in FLOATS and dtype != BOOL:
            data, amounts = values(dtype, (2, 3), 9), np.array([0, 1, 2, 0], np.int64)
            value = np.array(np.iinfo(dtype).max - 5, dtype)
            yield Case(label(dtype, (2, 3)) + "_large", [data, amounts, value], constants=[1, 2])
            yield Case(label(dtype, (2, 3)) + "_computed", [data, amounts, value.reshape(1) if dtype == np.int64 else value], constants=[1])


def matmul(types, integer=False):
    pairs = [((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((3, 4), (4, 5)), ((1, 1), (1, 1)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)),
             ((2, 1, 3, 4), (3, 4, 2)), ((0, 4), (4, 5)), ((3, 0), (0, 5))]
    for dtype in types:
        for constant in (False, True):
            for i, (a, b) in enumerate(pairs):
                if integer and 0 in a + b:  # onnxruntime leaves the results as its memory was
                    continue
                other = dtype if not integer else np.dtype("int8")
                inputs = [values(dtype, a, i, "small"), values(other, b, i + 20, "small")]
                yield Case(label(dtype, a, b) + ("_constant" if constant else ""), inputs, constants=[1] if constant else [])


def extremes(dtype, shape, seed):
    """The ends of the range, so that sums are as large as they can be; two thirds of one sign."""
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).choice([limits.max, limits.max, limits.min], shape).astype(dtype)


def integer_products(types):
    """matmul, then zero points, and sums that float32 does not hold."""
    int8, uint8 = np.dtype("int8"), np.dtype("uint8")
    yield from matmul(types, True)
    for dtype in types:
        zero = np.array(7 if dtype == int8 else 130, dtype)
        for w_type, w_zero in [(int8, -3), (uint8, 121)]:
            w_zero, name = np.array(w_zero, w_type), f"{name_of(dtype)}_{name_of(w_type)}"
            for k in [64, 600, 1500, 5000, 9000]:
                x, w = extremes(dtype, (2, k), k), extremes(w_type, (k, 3), k + 1)
                if k <= 1500:
                    yield Case(f"{name}_{k}", [x, w, zero, w_zero])
                yield Case(f"{name}_{k}_constant", [x, w, zero, w_zero], constants=[1, 2, 3])
                yield Case(f"{name}_{k}_x_zero", [x, w, zero, w_zero], constants=[1, 3])
            x, w = values(dtype, (2, 3, 20), 1), values(w_type, (20, 6), 2)
            zeros = values(w_type, (6,), 3)
            yield Case(f"{name}_zeros", [x, w, zero, zeros], constants=[1, 2, 3])
            yield Case(f"{name}_zeros_computed", [x, w, zero, zeros])
            yield Case(f"{name}_vector", [x[0, 0], w, zero.reshape(1), zeros], constants=[1, 3])


def gemm(version):
    c_shapes = [(3, 5), (5,), (1, 5), (3, 1), ()]
    for k, (ta, tb) in enumerate([(0, 0), (1, 0), (0, 1), (1, 1)]):
        a, b = values(F32, (4, 3) if ta else (3, 4), 1, "small"), values(F32, (5, 4) if tb else (4, 5), 2, "small")
        c = values(F32, c_shapes[k], 3, "small")
        yield Case(f"computed_{k}", [a, b, c], {"transA": ta, "transB": tb, "alpha": 1.5, "beta": 0.5})
        yield Case(f"constant_{k}", [a, b, c], {"transA": ta, "transB": tb}, constants=[1, 2])
    yield Case("scalar_c", [values(F32, (3, 4), 1, "small"), values(F32, (4, 5), 2, "small"), values(F32, (), 3, "small")])
    if version >= 11:
        yield Case("no_c", [values(F32, (3, 4), 1, "small"), values(F32, (4, 5), 2, "small")], constants=[1])


def windows(version, kernel_attribute=True, types=(F32,), average=False):
    forms = [((1, 2, 9), dict(kernel_shape=[3])), ((2, 3, 8, 6), dict(kernel_shape=[2, 2], strides=[2, 2])),
             ((1, 4, 7, 9), dict(kernel_shape=[3, 2], pads=[1, 0, 1, 1])), ((1, 1, 5, 5), dict(kernel_shape=[5, 5])),
             ((2, 4, 6, 6), dict(kernel_shape=[3, 3], auto_pad="SAME_UPPER", strides=[2, 2])),
             ((1, 3, 1, 1), dict(kernel_shape=[1, 1]))]
    if version >= 10:
        forms.append(((1, 4, 7, 7), dict(kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)))
    for dtype in types:
        for i, (shape, attributes) in enumerate(forms):
            yield Case(label(dtype, shape) + f"_{i}", [values(dtype, shape, i, "small")], attributes)
            if average and "pads" in attributes:
                yield Case(label(dtype, shape) + "_with_pads", [values(dtype, shape, i, "small")], dict(attributes, count_include_pad=1))


def convolutions():
    forms = [((1, 2, 9), (3, 2, 3), {}), ((2, 3, 8, 6), (4, 3, 3, 3), dict(pads=[1, 1, 1, 1])),
             ((1, 4, 7, 9), (4, 1, 3, 3), dict(group=4, strides=[2, 1])), ((1, 4, 6, 6), (6, 2, 1, 1), dict(group=2)),
             ((1, 3, 9, 9), (2, 3, 3, 3), dict(dilations=[2, 2], auto_pad="SAME_LOWER")), ((1, 1, 1, 1), (1, 1, 1, 1), {})]
    for i, (x, w, attributes) in enumerate(forms):
        inputs = [values(F32, x, i, "small"), values(F32, w, i + 9, "small"), values(F32, (w[0],), i + 20, "small")]
        yield Case(label(F32, x, w), inputs[:2], attributes, constants=[1])
        yield Case(label(F32, x, w) + "_bias", inputs, attributes, constants=[1, 2])
    yield Case("computed_weights", [values(F32, (1, 2, 5, 5), 1, "small"), values(F32, (3, 2, 3, 3), 2, "small")])


def integer_convolutions(version):
    int8, uint8 = np.dtype("int8"), np.dtype("uint8")
    for i, (x_type, w_type) in enumerate([(uint8, int8), (uint8, uint8)]):
        for x, w, attributes in [((1, 4, 6, 6), (8, 4, 3, 3), dict(pads=[1, 1, 1, 1])), ((2, 4, 5, 7), (4, 4, 1, 1), dict(strides=[2, 2]))]:
            yield Case(label(x_type, x, w) + "_" + name_of(w_type), [values(x_type, x, i), values(w_type, w, i + 3)], attributes, constants=[1])
        zero, w_zero, name = np.array(130, x_type), np.array(-3 if w_type == int8 else 121, w_type), "zeros_" + name_of(w_type)
        for shape, w, attributes in [((1, 4, 6, 6), (8, 4, 3, 3), dict(pads=[1, 1, 1, 1])), ((2, 4, 5, 7), (6, 2, 3, 2), dict(group=2, pads=[0, 1, 1, 0])),
                                     ((1, 8, 5, 5), (8, 1, 3, 3), dict(group=8, pads=[1, 1, 1, 1])), ((1, 70, 4, 4), (3, 70, 3, 3), dict(pads=[1, 1, 1, 1]))]:
            x, weights = extremes(x_type, shape, i), extremes(w_type, w, i + 3)
            yield Case(label(x_type, shape, w) + "_" + name, [x, weights, zero, w_zero], attributes, constants=[1, 2, 3])
            yield Case(label(x_type, shape, w) + "_" + name + "_computed", [x, weights, zero, w_zero], attributes, constants=[1, 3])
            if "group" not in attributes:
                yield Case(label(x_type, shape, w) + "_" + name + "_of_channels", [x, weights, zero, values(w_type, (w[0],), 4)], attributes, constants=[1, 3])


def qlinear(x_shape, w_shape, attributes, bias):
    """QLinearConv and QLinearMatMul: x, its scale and zero point, w, its own, those of the result, perhaps a bias."""
    for i, x_type in enumerate([np.dtype("uint8"), np.dtype("int8")]):
        for w_type in [np.dtype("int8"), np.dtype("uint8")][:2 - i]:
            inputs = [values(x_type, x_shape, i), np.float32(0.05), np.array(7, x_type), values(w_type, w_shape, 3), np.float32(0.02),
                      np.array(0, w_type), np.float32(0.25), np.array(3, x_type)]
            if bias:
                inputs.append(values(np.dtype("int32"), (w_shape[0],), 5, "small"))
            yield Case(label(x_type, x_shape, w_shape) + "_" + name_of(w_type), inputs, attributes, constants=range(1, len(inputs)))


def softmax(version):
    for i, (shape, axis) in enumerate([((7,), 0), ((3, 5), 1), ((2, 3, 4), 1), ((2, 3, 4), 2), ((1, 67), 1), ((2, 5, 3, 2), 1), ((1, 1), 1)]):
        yield Case(label(F32, shape) + f"_{axis}", [values(F32, shape, i, "small")], {"axis": axis})
        if version >= 11:
            yield Case(label(F32, shape) + f"_{axis}_negative", [values(F32, shape, i, "small")], {"axis": axis - len(shape)})
    data = values(F32, (4, 6), 3, "small")
    data[0, 1], data[1, 2], data[2, 3], data[3] = np.nan, np.inf, -np.inf, 3e38
    yield Case("special", [data], {"axis": 1})


def batch_norm():
    for i, shape in enumerate([(2, 3), (1, 4, 5), (2, 3, 4, 5), (1, 1, 1, 1)]):
        vectors = [values(F32, (shape[1],), 4 * i + j, "small") for j in range(3)] + [np.abs(values(F32, (shape[1],), i, "small"))]
        yield Case(label(F32, shape), [values(F32, shape, i, "small")] + vectors, {"epsilon": 1e-3}, constants=[1, 2, 3, 4])


def quantise(version, reverse):
    types = [np.dtype("int8"), np.dtype("uint8")] + ([np.dtype("int16"), np.dtype("uint16")] if version >= 21 else [])
    for dtype in types:
        for i, (shape, axis) in enumerate([((), None), ((40,), None), ((2, 5, 3), None), ((2, 5, 3), 1), ((0, 2), None), ((2, 4, 3, 5), None)]):
            if axis is not None and version < 13:
                continue
            scale = np.float32(0.25) if axis is None else np.array([0.25, 0.5, 1, 2, 0.125], np.float32)
            zero = np.array(3, dtype) if axis is None else np.arange(5).astype(dtype)
            data = values(dtype if reverse else F32, shape, i)
            if not reverse:
                data[np.isnan(data)] = 7  # the highest integer here, the lowest one there: docs/onnxruntime.md
            yield Case(label(dtype, shape) + f"_{axis}", [data, np.array(scale, np.float32), zero], {} if axis is None else {"axis": axis},
                       constants=[1, 2])
            if len(shape) == 3:
                yield Case(label(dtype, shape) + f"_{axis}_computed", [data, np.array(scale, np.float32), zero],
                           {} if axis is None else {"axis": axis})
    if reverse:
        yield Case("int32", [values(np.dtype("int32"), (3, 5), 1), np.float32(0.25)], constants=[1])
        yield Case("int32_computed", [values(np.dtype("int32"), (3, 5), 2), np.float32(0.25)])


def branches(version):
    """The branch that is taken uses the condition, which it sees from outside; the other one is not understood."""
    for taken in (True, False):
        name = f"taken_{taken}"
        result = numpy_helper.from_array(values(F32, (3, 3), 1, "small"))
        good = helper.make_graph([helper.make_node("Constant", [], [name + "/k"], value=result),
                                  helper.make_node("Not", [name + "/0"], [name + "/n"])], "good", [],
                                 [helper.make_tensor_value_info(name + "/k", TensorProto.FLOAT, (3, 3)),
                                  helper.make_tensor_value_info(name + "/n", TensorProto.BOOL, ())])
        other = helper.make_graph([helper.make_node("Constant", [], [name + "/o"], value=result),
                                   helper.make_node("Det", [name + "/o"], [name + "/d"]),
                                   helper.make_node("Identity", [name + "/0"], [name + "/i"])], "other", [],
                                  [helper.make_tensor_value_info(name + "/o", TensorProto.FLOAT, (3, 3)),
                                   helper.make_tensor_value_info(name + "/i", TensorProto.BOOL, ())])
        pair = (good, other) if taken else (other, good)
        yield Case(name, [np.array(taken)], {"then_branch": pair[0], "else_branch": pair[1]}, constants=[0], outputs=2)


def typed(name, dtype, shape):
    return helper.make_tensor_value_info(name, code_of(dtype), shape)


def loops(version):
    """A carried value and a stack, of several types; three iterations, none, and a condition that ends it."""
    for dtype in (F32, np.dtype("int32"), np.dtype("int64")):
        for trips, limit in ((3, None), (0, None), (5, 2)):
            name = f"{name_of(dtype)}_{trips}_{limit}"
            nodes = [helper.make_node("Add", [name + "/s", name + "/2"], [name + "/t"]),
                     helper.make_node("Identity", [name + "/t"], [name + "/u"])]
            if limit is None:
                nodes.append(helper.make_node("Identity", [name + "/c"], [name + "/g"]))
            else:
                most = numpy_helper.from_array(np.array(limit - 1, np.float32))
                nodes += [helper.make_node("Constant", [], [name + "/most"], value=most),
                          helper.make_node("Cast", [name + "/i"], [name + "/f"], to=TensorProto.FLOAT),
                          helper.make_node("Less", [name + "/f", name + "/most"], [name + "/g"])]
            body = helper.make_graph(nodes, "body", [typed(name + "/i", np.dtype("int64"), ()), typed(name + "/c", BOOL, ()), typed(name + "/s", dtype, (2, 3))],
                                     [typed(name + "/g", BOOL, ()), typed(name + "/t", dtype, (2, 3)), typed(name + "/u", dtype, (2, 3))])
            yield Case(name, [np.array(trips, np.int64), np.array(True), values(dtype, (2, 3), 1, "small")], {"body": body}, constants=[0, 1], outputs=2)


def scans(version):
    """A state and a slice, of several types, in both directions."""
    for dtype in (F32, np.dtype("int32"), np.dtype("int64")):
        for backward in (0, 1):
            name = f"{name_of(dtype)}_{backward}"
            nodes = [helper.make_node("Add", [name + "/s", name + "/x"], [name + "/t"]), helper.make_node("Identity", [name + "/t"], [name + "/u"])]
            body = helper.make_graph(nodes, "body", [typed(name + "/s", dtype, (20,)), typed(name + "/x", dtype, (20,))],
                                     [typed(name + "/t", dtype, (20,)), typed(name + "/u", dtype, (20,))])
            batch = [2] if version == 8 else []
            inputs = [values(dtype, (*batch, 20), 1, "small"), values(dtype, (*batch, 4, 20), 2, "small")]
            ways = "directions" if version == 8 else "scan_input_directions"
            yield Case(name, ([None] if version == 8 else []) + inputs, {"body": body, "num_scan_inputs": 1, ways: [backward]}, outputs=2)


INTEGERS, NUMBERS = SIGNED + UNSIGNED, FLOATS + SIGNED + UNSIGNED
R = {  # operator: how its cases come about, by version and the types that the version takes
    **{op: (lambda v, t: unary(t)) for op in
       "Abs Neg Relu Sigmoid Tanh Exp Log Sqrt Erf HardSwish Softplus Softsign Mish Reciprocal Floor Ceil Round Sign Not IsNaN "
       "BitwiseNot Identity Sin Cos Tan Sinh Cosh Asin Acos Atan Asinh Acosh Atanh".split()},
    "LeakyRelu": lambda v, t: unary(t, [{}, {"alpha": 0.25}]),
    "Elu": lambda v, t: unary(t, [{}, {"alpha": 0.5}]),
    "Shrink": lambda v, t: [*unary([x for x in t if x in FLOATS], [{}, {"bias": 0.25, "lambd": 1.0}]),
                            *unary([x for x in t if x not in FLOATS], [{}, {"bias": 1.5, "lambd": 3.0}], "small")],
    "Celu": lambda v, t: unary(t, [{}, {"alpha": 0.5}]),
    "Selu": lambda v, t: unary(t, [{}, {"alpha": 1.5, "gamma": 2.0}]),
    "ThresholdedRelu": lambda v, t: unary(t, [{}, {"alpha": 0.5}]),
    "HardSigmoid": lambda v, t: unary(t, [{}, {"alpha": 0.25, "beta": 0.25}]),
    "Swish": lambda v, t: unary(t, [{}, {"alpha": 0.5}]),
    "Gelu": lambda v, t: unary(t, [{}, {"approximate": "tanh"}]),
    "IsInf": lambda v, t: unary(t, [{}, {"detect_negative": 0}, {"detect_positive": 0}]),
    "Dropout": lambda v, t: unary(t),
    **{op: (lambda v, t: binary(t)) for op in
       "Add Sub Mul Equal Less LessOrEqual Greater GreaterOrEqual And Or Xor BitwiseAnd BitwiseOr BitwiseXor".split()},
    "Div": lambda v, t: list(binary([d for d in t if d in FLOATS])) + list(binary([d for d in t if d not in FLOATS], second="divisor")),
    "Mod": lambda v, t: list(binary([d for d in t if d not in FLOATS], [{}, {"fmod": 1}], second="divisor")) +
                        list(binary([d for d in t if d in FLOATS], [{"fmod": 1}], second="divisor")),
    "Pow": lambda v, t: powers(v, t),
    "PRelu": lambda v, t: binary(t, pairs=[((40,), (40,)), ((2, 3, 5), (5,)), ((3, 7), (1,)), ((2, 4, 3, 5), (4, 1, 1)), ((3, 4), ()), ((0, 3), (3,))]),
    "BitShift": lambda v, t: [Case(c.name + "_" + d, [c.inputs[0], np.abs(c.inputs[1]).astype(c.inputs[1].dtype) % 8], {"direction": d},
                                   constants=c.constants) for d in ("LEFT", "RIGHT") for c in binary(t, second="small") if not c.image],
    **{op: (lambda v, t: variadic(t)) for op in "Max Min Sum Mean".split()},
    "Where": lambda v, t: select(t),
    "Cast": lambda v, t: casts(t),
    "CastLike": lambda v, t: [Case(f"{name_of(a)}_like_{name_of(b)}",
                                   [np.abs(x) if a in FLOATS and b in UNSIGNED else x, values(b, (1,), 2, "small")])
                              for a in t for b in ALL for x in [values(a, (9,), 1, "small")]],
    "Clip": lambda v, t: clips(v, t),
    **{"Reduce" + op: (lambda v, t, op=op: reduce(v, v >= (13 if op == "Sum" else 18), t, op in ("Sum", "Prod", "Mean") and v >= 18,
        op in ("Max", "Min"), op)) for op in
       "Sum Mean Max Min Prod L1 L2 SumSquare LogSum LogSumExp".split()},
    **sweep_norms.NORMS,
    **sweep_made.MADE,
    **sweep_attention.ATTENTION,
    "Concat": lambda v, t: concat(t),
    **{kind: (lambda v, t, kind=kind: moved.recurrent(kind, v, t)) for kind in moved.RECURRENT},
    "Gather": lambda v, t: moved.gathers(t),
    "GatherElements": lambda v, t: moved.gathers_of_elements(t),
    "NonZero": lambda v, t: moved.nonzeros(t),
    "Compress": lambda v, t: moved.compresses(t),
    "GatherND": lambda v, t: moved.gathers_nd(v, t),
    "Range": lambda v, t: moved.ranges(),
    "ArgMax": lambda v, t: moved.extremes(v, t),
    "ArgMin": lambda v, t: moved.extremes(v, t),
    "Trilu": lambda v, t: moved.triangles(t),
    "DepthToSpace": lambda v, t: moved.blocks(t, [{}, {"mode": "CRD"}] if v >= 11 else [{}], True),
    "SpaceToDepth": lambda v, t: moved.blocks(t, [{}], False),
    "Slice": lambda v, t: moved.slices(v, t),
    "Split": lambda v, t: moved.splits(v, t),
    "Expand": lambda v, t: moved.expands(t),
    "Tile": lambda v, t: moved.tiles(t),
    "ConstantOfShape": lambda v, t: moved.constants_of_shape(),
    "Transpose": lambda v, t: moves(t, [("r2", (3, 5), [], {"perm": [1, 0]}), ("r3", (2, 3, 4), [], {}), ("r1", (4,), [], {}), ("r4", (2, 3, 4, 5), [], {"perm": [0, 2, 3, 1]}),
                                        ("empty", (0, 3), [], {}), ("r5", (2, 1, 3, 2, 2), [], {"perm": [4, 0, 2, 1, 3]})]),
    "Reshape": lambda v, t: moves(t, [("r2", (3, 4), [[2, -1]], {}), ("r1", (6,), [[0, 1]], {}), ("scalar", (1,), [[]], {}), ("r4", (2, 5, 4, 3), [[2, 5, -1]], {}),
                                      ("r5", (2, 1, 3, 2, 2), [[4, 6]], {})]),
    "Flatten": lambda v, t: moves(t, [("r3", (2, 3, 4), [], {"axis": 1}), ("r3b", (2, 3, 4), [], {"axis": 0}), ("r4", (2, 5, 4, 3), [], {"axis": 2})]),
    "Squeeze": lambda v, t: moves(t, [("r3", (2, 1, 4), [] if v < 13 else [[1]], {"axes": [1]} if v < 13 else {}), ("all", (1, 4, 1), [], {})]),
    "Unsqueeze": lambda v, t: moves(t, [("r2", (2, 4), [] if v < 13 else [[0, 2]], {"axes": [0, 2]} if v < 13 else {})]),
    "Pad": lambda v, t: pads(v, t),
    "MatMul": lambda v, t: matmul([d for d in t if d in FLOATS]),
    "MatMulInteger": lambda v, t: integer_products(t),
    "Gemm": lambda v, t: gemm(v),
    "Conv": lambda v, t: convolutions(),
    "ConvTranspose": lambda v, t: windowed.transposed_convolutions(),
    "Resize": lambda v, t: windowed.resizes(v, t),
    "Upsample": lambda v, t: windowed.upsamples(v, t),
    "MaxPool": lambda v, t: windows(v, types=t),
    "AveragePool": lambda v, t: windows(v, average=True),
    "GlobalAveragePool": lambda v, t: [Case(label(F32, s), [values(F32, s, 1, "small")]) for s in [(1, 2, 5), (2, 3, 4, 5), (1, 1, 1, 1), (1, 17, 7, 7)]],
    "Softmax": lambda v, t: softmax(v),
    "BatchNormalization": lambda v, t: batch_norm(),
    "QuantizeLinear": lambda v, t: quantise(v, False),
    "DequantizeLinear": lambda v, t: quantise(v, True),
    "DynamicQuantizeLinear": lambda v, t: [Case(label(F32, s), [values(F32, s, i, "small")], outputs=3) for i, s in enumerate([(1,), (40,), (2, 3, 5)])],
    "ConvInteger": lambda v, t: integer_convolutions(v),
    "QLinearConv": lambda v, t: qlinear((1, 4, 6, 6), (8, 4, 3, 3), dict(pads=[1, 1, 1, 1]), True),
    "QLinearMatMul": lambda v, t: qlinear((5, 12), (12, 7), {}, False),
    **picked.PICKS,
    "If": lambda v, t: branches(v),
    "Loop": lambda v, t: loops(v),
    "Scan": lambda v, t: scans(v),
    "Shape": lambda v, t: [Case(label(d, s) + f"_{k}", [values(d, s, 1, "small")], a) for d in t if d in (F32, SIGNED[3], BOOL) for s in [(), (4,), (0, 3), (2, 3, 4, 5)]
                           for k, a in enumerate([{}] + ([{"start": 1}, {"start": -2, "end": -1}, {"end": 9}] if v >= 15 else []))],
    "Size": lambda v, t: [Case(label(d, s), [values(d, s, 1, "small")]) for d in t if d in (F32, SIGNED[3], BOOL) for s in [(), (4,), (0, 3), (2, 3, 4, 5)]],
    "Constant": lambda v, t: [Case("value", [], {"value": numpy_helper.from_array(values(F32, (2, 3), 1, "small"))})],
}


# ---- networks ----

class Network:
    def __init__(self, opset):
        self.opset, self.nodes, self.inputs, self.constants, self.outputs = opset, [], {}, [], []

    def add(self, operator, case):
        names = []
        for i, data in enumerate(case.inputs):
            name = "" if data is None else f"{case.name}/{i}"
            names.append(name)
            if data is None:
                continue
            if i in case.constants:
                self.constants.append(numpy_helper.from_array(np.asarray(data), name))
            else:
                self.inputs[name] = np.asarray(data)
            if i == 0 and case.image:  # behind a window, values lie channel-last
                names[0] = f"{case.name}/pooled"
                self.nodes.append(helper.make_node("MaxPool", [name], [names[0]], name=names[0], kernel_shape=[2, 2], strides=[2, 2]))
        while names and not names[-1]:
            names.pop()
        results = [f"{case.name}/y{k or ''}" for k in range(case.outputs)]
        self.nodes.append(helper.make_node(operator, names, results, name=case.name, **case.attributes))
        self.outputs += results

    def pack(self, name):
        graph = helper.make_graph(
            self.nodes, name, [helper.make_tensor_value_info(n, code_of(v.dtype), v.shape) for n, v in self.inputs.items()],
            [onnx.ValueInfoProto(name=n) for n in self.outputs], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], producer_name="record_sweep")
        model.ir_version = next(ir for opset, ir in IR if self.opset <= opset)
        return onnx.shape_inference.infer_shapes(model)


def by_runtime(model, inputs, outputs):
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds = {}
    for key, value in inputs.items():
        if value.dtype == BF16:
            raise ValueError("onnxruntime's Python interface has no bfloat16")
        feeds[key] = value
    return session.run(outputs, feeds)


def by_older_runtime(model, inputs, outputs):
    """Newer versions than onnxruntime has changed nothing but the types that an operator takes."""
    older = onnx.ModelProto()
    older.CopyFrom(model)
    older.opset_import[0].version = min(21, model.opset_import[0].version)
    older.ir_version = min(10, model.ir_version)
    return by_runtime(older, inputs, outputs)


def by_float32(model, inputs, outputs):
    """float16 and bfloat16 compute as float32, and are rounded once."""
    narrow = {v.dtype for v in inputs.values()} & {np.dtype("float16"), BF16}
    if len(narrow) != 1 or model.graph.node[-1].op_type in ("Cast", "CastLike"):
        raise ValueError("no operator of one narrow type")
    dtype = narrow.pop()
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    for value in [*wide.graph.input, *wide.graph.output, *wide.graph.value_info]:
        if value.type.tensor_type.elem_type == code_of(dtype):
            value.type.tensor_type.elem_type = TensorProto.FLOAT
    for tensor in wide.graph.initializer:
        if tensor.data_type == code_of(dtype):
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float32), tensor.name))
    wide = onnx.shape_inference.infer_shapes(wide)
    results = by_older_runtime(wide, {k: v.astype(np.float32) if v.dtype == dtype else v for k, v in inputs.items()}, outputs)
    with np.errstate(all="ignore"):
        return [r.astype(dtype) if r.dtype == np.float32 else r for r in results]


def by_places(model, inputs, outputs):
    """Resize that takes nearest elements takes them from the same places, whatever their type is."""
    node, floats = model.graph.node[-1], onnx.ModelProto()
    if node.op_type not in ("Resize", "Upsample") or any(a.name == "mode" and a.s != b"nearest" for a in node.attribute):
        raise ValueError("no nearest elements")
    floats.CopyFrom(model)
    for value in [*floats.graph.input, *floats.graph.output, *floats.graph.value_info]:
        value.type.tensor_type.elem_type = TensorProto.FLOAT
    (name, data), = inputs.items()
    places, = by_older_runtime(floats, {name: np.arange(data.size, dtype=np.float32).reshape(data.shape)}, outputs)
    return [data.reshape(-1)[places.astype(np.int64)]]


def by_formula(model, inputs, outputs):
    node = model.graph.node[-1]
    if node.op_type in ("Resize", "Upsample"):
        raise ValueError("the evaluator rounds sizes in another way")
    if node.op_type == "PRelu":  # the evaluator multiplies 0, too
        known = {**inputs, **{c.name: numpy_helper.to_array(c) for c in model.graph.initializer}}
        x, slope = (known[name] for name in node.input)
        return [np.where(x < 0, x * slope, x).astype(x.dtype)]
    results = ReferenceEvaluator(model).run(outputs, inputs)
    if node.op_type.startswith("Reduce"):  # numpy adds small integers up in larger ones
        results = [r.astype(next(iter(inputs.values())).dtype) for r in results]
    return results


# Where onnxruntime's approximation is coarse (it bounds the operand, or subtracts 1 from e^x): the formula in float64.
EXACT = {"Sigmoid": lambda x: np.exp(-np.logaddexp(0, -x)), "Tanh": np.tanh, "Sign": np.sign,
         "Elu": lambda x, alpha=1.0: np.where(x < 0, np.float32(alpha) * np.expm1(x), x),
         "Celu": lambda x, alpha=1.0: np.where(x < 0, np.float32(alpha) * np.expm1(x / np.float32(alpha)), x),
         "Selu": lambda x, alpha=1.67326319217681884765625, gamma=1.05070102214813232421875:
             np.float32(gamma) * np.where(x < 0, np.float32(alpha) * np.expm1(x), x),
         "Swish": lambda x, alpha=1.0: x * np.exp(-np.logaddexp(0, -alpha * x)),
         "Mish": lambda x: x * np.tanh(np.logaddexp(0, x))}


def answer(operator, model, inputs, outputs):
    """What the network gives, and who says so."""
    if operator in EXACT and len(model.graph.node) == 1:
        x = next(iter(inputs.values()))
        with np.errstate(all="ignore"):
            more = {a.name: a.f for a in model.graph.node[0].attribute}
            wide = x if x.dtype.kind in "iu" else x.astype(np.float64)
            return [EXACT[operator](wide, **more).astype(x.dtype)], "formula"
    if operator == "Bernoulli":  # onnxruntime gives 1 with the chance of 0; here all chances are 0 or 1
        x, to = next(iter(inputs.values())), [a.i for a in model.graph.node[0].attribute if a.name == "dtype"]
        return [(x != 0).astype(helper.tensor_dtype_to_np_dtype(to[0]) if to else x.dtype)], "formula"
    if operator.startswith("Random"):
        more = {a.name: helper.get_attribute_value(a) for a in model.graph.node[0].attribute}
        shape = more.pop("shape", None) or next(iter(inputs.values())).shape
        return [picked.random_numbers(operator, tuple(shape), **more)], "formula"
    ways = [("onnxruntime", by_runtime), ("onnxruntime", by_older_runtime), ("onnxruntime in float32", by_float32), ("onnxruntime of places", by_places), ("formula", by_formula)]
    for who, function in ways:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return [np.asarray(r) for r in function(model, inputs, outputs)], who
        except Exception as error:  # a type or version that this one does not know
            reason = f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"
    return None, reason


def refused(xpuc, model):
    """The rule by which xpuc refuses the model, or None."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.onnx")
        with open(path, "wb") as file:
            file.write(model.SerializeToString())
        result = subprocess.run([xpuc, "-q", path, "--emit=ir", "-o", os.path.join(folder, "m.ir")], capture_output=True, text=True)
    if result.returncode == 0:
        return None
    found = re.search(r"\[([a-z0-9-]+)\]", result.stderr)
    return found.group(1) if found else f"exit {result.returncode}"


def types_of(operator, version):
    """The element types that operand 0 of this form may have (of the first operand that is no bool, for Where)."""
    schema = onnx.defs.get_schema(operator, max_inclusive_version=version)
    if not schema.inputs:
        return [F32]
    wanted = schema.inputs[1 if operator == "Where" else 0].types
    return [d for d in ALL if f"tensor({'float' if d == F32 else name_of(d)})" in wanted]


def group_of(case):
    """Results of half precision are compared in networks of their own: they are only as exact as their type."""
    first = case.inputs[0].dtype if case.inputs and case.inputs[0] is not None else F32
    for dtype in (np.dtype("float16"), BF16):
        if first == dtype or case.name.endswith(("_to_" + name_of(dtype), "_like_" + name_of(dtype))):
            return "-" + name_of(dtype)
    return ""


def write(name, network, expected):
    with open(os.path.join(FOLDER, name + ".onnx"), "wb") as file:
        file.write(network.pack(name).SerializeToString())
    network.inputs and write_npz(os.path.join(FOLDER, name + "_in.npz"), network.inputs)
    write_npz(os.path.join(FOLDER, name + "_out.npz"), expected)


def record(xpuc, operator, version):
    opset = max(version, OLDEST_OPSET)
    networks, lost, sources = {}, [], {}
    for case in R[operator](version, types_of(operator, version)):
        single = Network(opset)
        single.add(operator, case)
        model = single.pack(case.name)
        results, who = answer(operator, model, single.inputs, single.outputs)
        rule = "no answer: " + who if results is None else refused(xpuc, model)
        if rule:
            lost.append((case.name, rule))
            continue
        network, expected = networks.setdefault(group_of(case), (Network(opset), {}))
        network.add(operator, case)
        sources[who] = sources.get(who, 0) + 1
        expected.update(zip(single.outputs, results))
    for group, (network, expected) in networks.items():
        write(f"{operator}-{version}{group}", network, expected)
    print(f"{operator}-{version}: recorded {sources}, {len(lost)} refused", flush=True)
    return lost


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--xpuc", default=os.path.join(ROOT, "build", "bin", "xpuc"))
    parser.add_argument("--rows", default=os.path.join(ROOT, "build", "tests", "gen", "sweep_rows_main"))
    parser.add_argument("operators", nargs="*")
    options = parser.parse_args()
    path = os.path.join(FOLDER, "refused.txt")
    lines = open(path).read().splitlines() if os.path.exists(path) else []
    for row in json.loads(subprocess.check_output([options.rows])):
        operator = row["name"]
        if options.operators and operator not in options.operators or operator not in R:
            if operator not in R:
                print(f"{operator}: no cases")
            continue
        newer = row["versions"][1:] + [1000]
        for version in [v for v, n in zip(row["versions"], newer) if n > OLDEST_OPSET]:
            lines = [l for l in lines if not l.startswith(f"{operator}-{version} ")]
            lines += [f"{operator}-{version} {case} {rule}" for case, rule in record(options.xpuc, operator, version)]
    with open(path, "w") as file:
        file.write("\n".join(sorted(lines)) + "\n")


if __name__ == "__main__":
    main()
