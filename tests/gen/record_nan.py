#!/usr/bin/env python3
"""Makes networks whose inputs hold NaN, and records what they give, in tests/golden/nan: NAME.onnx, NAME_in.npz with
the inputs, NAME_out.npz with the outputs by name.

elementwise, layers: onnxruntime's answers, the same with and without its optimisations. layers_int16_out.npz: what a
layer on the tensor engine gives in int16, NaN everywhere in a convolution and in its row in a product. pools: a NaN in
a window is the result, as in ONNX (onnxruntime: only in some places of a window, as this script prints), other windows
as onnxruntime.

record_nan.py     Packages: examples/digits/requirements.txt.
"""
import os

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "nan")
NAN, INF = np.float32("nan"), np.float32("inf")
LOWEST = np.finfo(np.float32).min


class Network:
    def __init__(self):
        self.nodes, self.inputs, self.constants, self.outputs = [], {}, [], []

    def input(self, name, value):
        self.inputs[name] = value.astype(np.float32)
        return name

    def constant(self, value, dtype=np.float32):
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def node(self, op, *inputs, name=None, **attributes):
        result = name or f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [result], name=result, **attributes))
        return result

    def output(self, op, *inputs, **attributes):
        self.outputs.append(self.node(op, *inputs, **attributes))
        return self.outputs[-1]

    def pack(self, name):
        info = lambda n, dims: helper.make_tensor_value_info(n, TensorProto.FLOAT, dims)
        graph = helper.make_graph(self.nodes, name, [info(n, v.shape) for n, v in self.inputs.items()],
                                  [info(n, None) for n in self.outputs], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], producer_name="record_nan")
        model.ir_version = 8
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        onnx.checker.check_model(model, full_check=True)
        return model.SerializeToString()

    def run(self, data, level=ort.GraphOptimizationLevel.ORT_ENABLE_ALL, inputs=None):
        options = ort.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level, options.graph_optimization_level = 1, 3, level
        session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        return dict(zip(self.outputs, session.run(self.outputs, inputs or self.inputs)))

    def write(self, name, data, outputs):
        with open(os.path.join(FOLDER, name + ".onnx"), "wb") as file:
            file.write(data)
        np.savez_compressed(os.path.join(FOLDER, name + "_in.npz"), **self.inputs)
        np.savez_compressed(os.path.join(FOLDER, name + "_out.npz"), **outputs)


def same(a, b):
    """As far as `make test` asks for, with NaN in the same places."""
    numbers = np.isfinite(b)
    largest = np.abs(b[numbers]).max(initial=0)
    return (np.array_equal(a[~numbers], b[~numbers], equal_nan=True) and
            (np.abs(a[numbers] - b[numbers]) <= 1e-3 * np.abs(b[numbers]) + 1e-5 * largest).all())


def record(name, network):
    """Every result has NaN and numbers; optimisations change nothing."""
    data = network.pack(name)
    outputs = network.run(data)
    plain = network.run(data, ort.GraphOptimizationLevel.ORT_DISABLE_ALL)
    for key, value in outputs.items():
        assert same(plain[key], value), key
        assert np.isnan(value).any() and not np.isnan(value).all(), key
    network.write(name, data, outputs)
    return outputs


def negative_nan():
    return np.frombuffer(np.uint32(0xffc00001).tobytes(), np.float32)[0]


def elementwise():
    random = np.random.default_rng(1)
    n = Network()
    x = random.normal(size=(3, 70)).astype(np.float32)
    y = random.normal(size=(3, 70)).astype(np.float32)
    x[0, [0, 17, 63, 64, 69]], x[1, [1, 15, 16]] = NAN, negative_nan()
    x[2, :8] = [INF, -INF, 0, -0.0, NAN, 1e-40, -1e-40, 3e38]
    y[0, [3, 17, 65]], y[1, [69]], y[2, [0, 1, 2, 4]] = NAN, negative_nan(), NAN
    x, y = n.input("x", x), n.input("y", y)
    n.output("Relu", x)
    n.output("LeakyRelu", x, alpha=0.25)
    n.output("Clip", x, n.constant(-0.5), n.constant(1.25))
    n.output("Clip", x, n.constant(0), n.constant(6))
    n.output("Clip", x, n.constant(0.25))
    n.output("Clip", x, "", n.constant(0.5))
    n.output("Max", x, y)
    n.output("Min", x, y)
    n.output("Max", x, n.constant([0.125]))
    n.output("Min", n.constant([0.5]), x)
    n.output("Max", x, y, n.constant(np.full((3, 1), 0.25)))
    n.output("HardSigmoid", x, alpha=0.25, beta=0.5)
    n.output("HardSwish", x)
    for op in "Sigmoid Tanh Exp Erf Abs Neg Sqrt Log".split():
        n.output(op, x)
    for op in "Add Sub Mul Div".split():
        n.output(op, x, y)
    n.output("Relu", n.node("Neg", x))
    n.output("Clip", n.node("Mul", n.node("Sub", x, y), x), n.constant(-1), n.constant(1))
    record("elementwise", n)


def layers():
    random = np.random.default_rng(2)
    constant = lambda *dims: n.constant(random.normal(size=dims) * 0.3)
    n = Network()
    x = random.normal(size=(2, 16, 9, 9)).astype(np.float32)
    x[1, 5, 2, 7] = NAN
    x = n.input("x", x)
    rows = random.normal(size=(64, 64)).astype(np.float32)
    rows[17, 3] = negative_nan()
    rows = n.input("rows", rows)
    six = (n.constant(0), n.constant(6))
    n.output("Relu", n.node("Conv", x, constant(24, 16, 3, 3), constant(24), pads=[1, 1, 1, 1]), name="conv_relu")
    n.output("Clip", n.node("Conv", x, constant(24, 16, 1, 1)), *six, name="conv_clip")
    n.output("LeakyRelu", n.node("Conv", x, constant(8, 16, 3, 3), strides=[2, 2]), alpha=0.125, name="conv_leaky")
    depthwise = n.node("Conv", x, constant(16, 1, 3, 3), constant(16), group=16, pads=[1, 1, 1, 1])
    n.output("Clip", depthwise, *six, name="depthwise_clip")
    strided = n.node("Conv", x, constant(16, 1, 3, 3), group=16, strides=[2, 2], pads=[1, 1, 1, 1])
    n.output("Relu", strided, name="depthwise_relu")
    wide = n.node("Conv", x, constant(16, 1, 5, 5), group=16, pads=[2, 2, 2, 2])
    n.output("Relu", wide, name="depthwise_wide_relu")
    branch = n.node("Add", n.node("Conv", x, constant(16, 16, 1, 1), constant(16)), x)
    n.output("Relu", branch, name="conv_add_relu")
    n.output("Relu", n.node("MatMul", rows, constant(64, 64)), name="matmul_relu")
    n.output("Clip", n.node("Gemm", rows, constant(64, 32), constant(32)), *six, name="gemm_clip")
    n.output("Softmax", rows, axis=1, name="softmax_rows")
    n.output("Softmax", rows, axis=0, name="softmax_columns")
    outputs = record("layers", n)
    kinds = {k: k.split("_")[0] for k in outputs}
    full = {k: np.full_like(v, NAN) for k, v in outputs.items() if kinds[k] == "conv"}
    full |= {k: v for k, v in outputs.items() if kinds[k] in ("matmul", "gemm")}  # the other rows are as they were
    np.savez_compressed(os.path.join(FOLDER, "layers_int16_out.npz"), **full)


def pool(x, kernel, strides=(1, 1), pads=(0, 0, 0, 0), dilations=(1, 1), **_):
    """Maximum over windows of the last two axes, in ONNX's words."""
    padded = np.full(x.shape[:2] + (x.shape[2] + pads[0] + pads[2], x.shape[3] + pads[1] + pads[3]), -np.inf)
    inside = np.zeros_like(padded)
    area = (..., slice(pads[0], pads[0] + x.shape[2]), slice(pads[1], pads[1] + x.shape[3]))
    padded[area], inside[area] = x, 1
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    view = lambda a: np.lib.stride_tricks.sliding_window_view(a, reach, (2, 3))[
        :, :, ::strides[0], ::strides[1], ::dilations[0], ::dilations[1]]
    result = view(padded).max((-1, -2))
    return np.where(view(inside).any((-1, -2)), result, LOWEST).astype(np.float32)


def pools():
    random = np.random.default_rng(3)
    n = Network()
    x = random.normal(size=(1, 20, 11, 13)).astype(np.float32)
    clean = x.copy()
    for i in range(20):
        x[0, i, i // 2, (5 * i) % 13] = NAN if i % 2 else negative_nan()
    x[0, 3, 8, 8], x[0, 4] = INF, -INF
    clean[0, 4] = -INF
    name = n.input("x", x)
    forms = [dict(kernel=(3, 3)), dict(kernel=(2, 2), strides=(2, 2)),
             dict(kernel=(3, 3), strides=(2, 2), pads=(1, 1, 1, 1)), dict(kernel=(2, 4), pads=(1, 2, 0, 3)),
             dict(kernel=(2, 2), dilations=(3, 2), pads=(1, 1, 1, 1)), dict(kernel=(11, 13)),
             dict(kernel=(2, 2), dilations=(12, 14), pads=(1, 1, 1, 1)),
             dict(kernel=(2, 3), dilations=(12, 1), strides=(1, 2), pads=(1, 0, 1, 1))]
    wanted = {}
    for form in forms:
        attributes = dict(kernel_shape=form["kernel"], **{k: v for k, v in form.items() if k != "kernel"})
        wanted[n.output("MaxPool", name, **attributes)] = pool(x, **form)
    data = n.pack("pools")
    without_nan = n.run(data, inputs={"x": clean})
    theirs = n.run(data)
    for key, form in zip(wanted, forms):
        number = np.isfinite(pool(clean, **form))
        assert np.array_equal(without_nan[key][number], pool(clean, **form)[number]), key
        nan = np.isnan(wanted[key])
        number = np.isfinite(wanted[key])
        assert np.array_equal(theirs[key][number], wanted[key][number]), key
        infinite = np.isinf(wanted[key])
        print(f"  -inf: {np.isinf(theirs[key][infinite]).sum()} of {infinite.sum()}, else {np.unique(theirs[key][infinite])}")
        print(f"{key} {form}: onnxruntime has NaN in {np.isnan(theirs[key]).sum()} of {nan.sum()} windows with one")
    assert any((v == LOWEST).any() for v in wanted.values())
    n.write("pools", data, wanted)


if __name__ == "__main__":
    os.makedirs(FOLDER, exist_ok=True)
    elementwise()
    layers()
    pools()
