#!/usr/bin/env python3
"""Writes tests/precision/norms.onnx: norms and softmaxes as operators and as exporters write them out, each behind and in
front of products, and what looks like them; and what onnxruntime gives for norms_in.npz in norms_out.npz. Products have
the name of the form behind them; those in 'exact_' must stay in float32. Packages: onnx, onnxruntime, numpy.
Use: record_precision.py tests/precision"""
import os
import sys

import numpy as np
import onnx
import onnxruntime
from onnx_graph import Graph

ROWS, WIDTH = 48, 64
g = Graph("norms")


def number(value):
    return g.const(np.float32(value))


def vector(seed, low=0.5, high=1.5):
    return g.const(np.random.default_rng(seed).uniform(low, high, WIDTH).astype(np.float32))


def product(x, name, seed):
    weights = np.random.default_rng(seed).normal(0, WIDTH**-0.5, (WIDTH, WIDTH)).astype(np.float32)
    return g.node("MatMul", x, g.const(weights), out=name)


def mean(x, **attributes):
    return g.node("ReduceMean", x, axes=[-1], keepdims=1, **attributes)


def total(x):
    return g.node("ReduceSum", x, g.const(np.array([-1])), keepdims=1)


def square(x):
    return g.node("Pow", x, number(2))


def torch_layer_norm(x):
    d = g.node("Sub", x, mean(x))
    root = g.node("Sqrt", g.node("Add", mean(square(d)), number(1e-5)))
    return g.node("Add", g.node("Mul", g.node("Div", d, root), vector(1)), vector(2))


def keras_layer_norm(x):
    """x * i - mean * i, i = gamma / deviation."""
    m = mean(x)
    d = g.node("Sub", x, m)
    i = g.node("Reciprocal", g.node("Sqrt", g.node("Add", mean(g.node("Mul", d, d)), number(1e-3))))
    i = g.node("Mul", i, vector(3))
    return g.node("Add", g.node("Mul", x, i), g.node("Sub", vector(4), g.node("Mul", m, i)))


def llama_rms_norm(x):
    return g.node("Mul", vector(5), g.node("Mul", x, g.node("Div", number(1), g.node("Sqrt", g.node("Add", mean(square(x)), number(1e-6))))))


def rms_norm_of_vector(x):
    """An epsilon for every column: it cannot be a number of the loop."""
    eps = g.const(np.full(WIDTH, 1e-5, np.float32))
    return g.node("Mul", g.node("Div", x, g.node("Sqrt", g.node("Add", mean(square(x)), eps))), vector(6))


def unit_length(x):
    """As torch.nn.functional.normalize."""
    length = g.node("ReduceL2", x, axes=[-1], keepdims=1)
    return g.node("Div", x, g.node("Expand", g.node("Clip", length, number(1e-12)), g.node("Shape", x)))


def group_norm(x):
    groups = g.node("Reshape", x, g.const(np.array([ROWS, 4, WIDTH // 4])))
    d = g.node("Sub", groups, mean(groups))
    y = g.node("Div", d, g.node("Sqrt", g.node("Add", mean(g.node("Mul", d, d)), number(1e-5))))
    return g.node("Reshape", y, g.const(np.array([ROWS, WIDTH])))


def written_softmax(x):
    e = g.node("Exp", g.node("Sub", x, g.node("ReduceMax", x, axes=[-1], keepdims=1)))
    return g.node("Div", e, total(e))


def softmax_by_inverse(x):
    e = g.node("Exp", x)
    return g.node("Mul", e, g.node("Reciprocal", g.node("Add", total(e), number(1e-9))))


def softmax_by_quotient(x):
    e = g.node("Exp", x)
    return g.node("Mul", e, g.node("Div", number(1), g.node("Add", total(e), number(1e-9))))


def written_log_softmax(x):
    d = g.node("Sub", x, g.node("ReduceMax", x, axes=[-1], keepdims=1))
    return g.node("Sub", d, g.node("Log", total(g.node("Exp", d))))


# ---- what is no norm ----


def root_alone(x):
    """The length itself goes on: as a front end of spectra has it."""
    return g.node("Add", x, g.node("Sqrt", total(square(x))))


def length_of_another(x):
    y = product(x, "other_dividend", 90)
    return g.node("Div", y, g.node("Sqrt", g.node("Add", mean(square(x)), number(1e-5))))


def difference_of_squares(x):
    """Variance as mean(x^2) - mean(x)^2: what is left of it has lost digits."""
    m = mean(x)
    variance = g.node("Sub", mean(square(x)), square(m))
    return g.node("Div", g.node("Sub", x, m), g.node("Sqrt", g.node("Add", variance, number(1e-2))))


def exponent_alone(x):
    e = g.node("Exp", g.node("Sub", x, g.node("ReduceMax", x, axes=[-1], keepdims=1)))
    return g.node("Add", g.node("Div", e, total(e)), e)


def exponent_kept(x):
    """The exponents are an operand of another product, too."""
    e = g.node("Exp", x)
    return g.node("Add", g.node("Div", e, total(e)), product(e, "other_operand", 91))


def inverse(x):
    return g.node("Reciprocal", g.node("Add", x, number(20)))


def logarithm(x):
    return g.node("Log", g.node("Add", x, number(20)))


def operator(name, *more, **attributes):
    return lambda x: g.node(name, x, *more, **attributes)


forms = {
    "torch_layer_norm": torch_layer_norm, "keras_layer_norm": keras_layer_norm, "llama_rms_norm": llama_rms_norm,
    "rms_norm_of_vector": rms_norm_of_vector, "unit_length": unit_length, "group_norm": group_norm,
    "written_softmax": written_softmax, "softmax_by_inverse": softmax_by_inverse, "written_log_softmax": written_log_softmax,
    "layer_norm": operator("LayerNormalization", vector(7), vector(8), axis=-1, epsilon=1e-5),
    "lp_norm": operator("LpNormalization", axis=-1, p=2),
    "softmax": operator("Softmax", axis=-1), "log_softmax": operator("LogSoftmax", axis=-1),
    "exact_root_alone": root_alone, "exact_length_of_another": length_of_another, "exact_difference": difference_of_squares,
    "exact_exponent_alone": exponent_alone, "exact_exponent_kept": exponent_kept, "exact_inverse": inverse, "exact_logarithm": logarithm,
    "softmax_by_quotient": softmax_by_quotient,
}
x = g.input("x", [ROWS, WIDTH])
for seed, (name, form) in enumerate(forms.items()):
    g.output(product(form(product(x, name, 100 + seed)), name.removeprefix("exact_") + "_out", 200 + seed), rank=2)

folder = sys.argv[1]
model = g.model(17)
onnx.checker.check_model(model)
onnx.save(model, os.path.join(folder, "norms.onnx"))
data = np.random.default_rng(5).normal(0, 2, (ROWS, WIDTH)).astype(np.float32)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
np.savez_compressed(os.path.join(folder, "norms_in.npz"), x=data)
np.savez_compressed(os.path.join(folder, "norms_out.npz"), **dict(zip([o.name for o in session.get_outputs()], session.run(None, {"x": data}))))
