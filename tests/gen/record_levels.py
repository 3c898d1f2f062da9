#!/usr/bin/env python3
"""Records what onnxruntime gives for quantised groups at each of its optimisation levels, in tests/golden/levels.

groups_uint8, groups_int8: each output is one operator between DequantizeLinear and QuantizeLinear. NAME.onnx,
NAME_in.npz, NAME_extended.npz (levels EXTENDED and ALL, which agree) and NAME_basic.npz (DISABLE_ALL and BASIC, which
agree). moves_uint8, moves_int8: the same with a Transpose, Reshape and so on behind the operator. qlinear_uint8, qlinear_int8: QLinearSigmoid, QLinearLeakyRelu and QLinearSoftmax of all bytes with many scales;
one answer at all levels, NAME_extended.npz. With --models=FOLDER also tests/models/mobilenet_v2_levels.txt: for each
picture and level the output of mobilenet_v2_qdq.onnx, its SHA-256, how many of its elements differ from level ALL's and
by how much at most.

record_levels.py [--models=FOLDER [--tools=build/bin]]     Packages: examples/digits/requirements.txt.
"""
import argparse
import hashlib
import os
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(TESTS, "golden", "levels")
LEVELS = ("DISABLE_ALL", "BASIC", "EXTENDED", "ALL")
PICTURES = ("cat.bmp", "hot_dog.jpg", "orange.png")
SHAPE = (1, 8, 12, 12)


def session(data, level):
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    name = "ORT_" + level if level == "DISABLE_ALL" else "ORT_ENABLE_" + level
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, name)
    options.add_session_config_entry("session.qdqisint8allowed", "1")
    options.add_session_config_entry("session.x64quantprecision", "1")
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])


class Network:
    def __init__(self, dtype, seed):
        self.dtype, self.low = dtype, np.iinfo(dtype).min
        self.element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants, self.outputs, self.inputs = [], [], [], {}

    def constant(self, value, dtype=None):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def node(self, op, inputs, name=None, **attributes):
        name = name or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def scheme(self, scale, zero):
        """Scale and zero point; `zero` counts from the type's lowest value."""
        return self.constant(scale, np.float32), self.constant(self.low + zero, self.dtype)

    def real(self, name, scheme, shape=SHAPE):
        """A new float input as it is between QuantizeLinear and the operator."""
        self.inputs[name] = self.random.normal(size=shape).astype(np.float32)
        return self.node("DequantizeLinear", [self.node("QuantizeLinear", [name, *scheme]), *scheme])

    def weights(self, *dims):
        scale, zero = self.constant(0.0047, np.float32), self.constant(0, np.int8)
        return self.node("DequantizeLinear", [self.constant(self.random.integers(-127, 128, dims), np.int8), scale, zero])

    def bias(self, count, scale):
        scale = self.constant(np.float32(scale) * np.float32(0.0047))
        return self.node("DequantizeLinear", [self.constant(self.random.integers(-5000, 5000, count), np.int32), scale,
                                              self.constant(0, np.int32)])

    def output(self, name, value, scheme):
        self.outputs.append(self.node("QuantizeLinear", [value, *scheme], name=name))

    def pack(self, name, opset=18):
        info = helper.make_tensor_value_info
        element = lambda v: helper.np_dtype_to_tensor_dtype(v.dtype)
        graph = helper.make_graph(self.nodes, name, [info(n, element(v), v.shape) for n, v in self.inputs.items()],
                                  [info(n, self.element, None) for n in self.outputs], self.constants)
        model = helper.make_model(graph, producer_name="record_levels", ir_version=8, opset_imports=[
            helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)])
        return onnx.shape_inference.infer_shapes(model).SerializeToString()

    def record(self, name):
        data = self.pack(name)
        answers = {level: dict(zip(self.outputs, session(data, level).run(self.outputs, self.inputs)))
                   for level in LEVELS}
        for a, b in (("DISABLE_ALL", "BASIC"), ("EXTENDED", "ALL")):
            assert all(np.array_equal(answers[a][key], answers[b][key]) for key in self.outputs), (a, b)
        path = os.path.join(FOLDER, name)
        with open(path + ".onnx", "wb") as file:
            file.write(data)
        np.savez_compressed(path + "_in.npz", **self.inputs)
        np.savez_compressed(path + "_extended.npz", **answers["ALL"])
        differing = {key: int((answers["ALL"][key] != answers["BASIC"][key]).sum()) for key in self.outputs}
        if any(differing.values()):
            np.savez_compressed(path + "_basic.npz", **answers["BASIC"])
        print(name, {k: f"{v} of {answers['ALL'][k].size}" for k, v in differing.items() if v}, "differ at BASIC")


def groups(dtype, name):
    n = Network(dtype, 11)
    x_scheme, y_scheme, b_scheme = n.scheme(0.0213, 119), n.scheme(0.0178, 131), n.scheme(0.0131, 140)
    x, b = n.real("x", x_scheme), n.real("b", b_scheme)
    rows = n.real("rows", x_scheme, (32, 12))
    same = [1, 1, 1, 1]
    between = {
        "add": ("Add", [x, b], {}), "mul": ("Mul", [x, b], {}), "sub": ("Sub", [x, b], {}), "div": ("Div", [x, b], {}),
        "average": ("AveragePool", [x], {"kernel_shape": [3, 3], "pads": same}),
        "average_with_pads": ("AveragePool", [x], {"kernel_shape": [3, 3], "pads": same, "count_include_pad": 1}),
        "average_strided": ("AveragePool", [x], {"kernel_shape": [2, 3], "strides": [2, 2]}),
        "global_average": ("GlobalAveragePool", [x], {}), "max": ("MaxPool", [x], {"kernel_shape": [3, 3]}),
        "leaky": ("LeakyRelu", [x], {"alpha": 0.1}), "sigmoid": ("Sigmoid", [x], {}), "tanh": ("Tanh", [x], {}),
        "relu": ("Relu", [x], {}), "hard_sigmoid": ("HardSigmoid", [x], {}), "hard_swish": ("HardSwish", [x], {}),
        "exp": ("Exp", [x], {}), "erf": ("Erf", [x], {}), "concat": ("Concat", [x, b], {"axis": 1}),
        "transpose": ("Transpose", [x], {"perm": [0, 2, 3, 1]}),
        "clip": ("Clip", [x, n.constant(-0.5, np.float32), n.constant(1, np.float32)], {}),
    }
    if dtype == np.uint8:  # onnxruntime has no kernels for these with int8 operands
        between |= {
            "conv": ("Conv", [x, n.weights(6, 8, 3, 3), n.bias(6, 0.0213)], {"pads": same}),
            "depthwise": ("Conv", [x, n.weights(8, 1, 3, 3), n.bias(8, 0.0213)], {"group": 8}),
            "matmul": ("MatMul", [rows, n.weights(12, 16)], {}),
            "gemm": ("Gemm", [rows, n.weights(12, 16), n.bias(16, 0.0213)], {}),
        }
    for key, (op, inputs, attributes) in between.items():
        n.output(key, n.node(op, inputs, **attributes), y_scheme)
    ties = n.node("AveragePool", [x], kernel_shape=[2, 2])
    n.output("average_ties", ties, n.scheme(0.0213, 131))
    for i, scale in enumerate((1 / 256, 1 / 255, 0.00371, 0.0043, 0.3, 1.5)):
        n.output(f"softmax{i}", n.node("Softmax", [x], axis=(1, -1)[i % 2]), n.scheme(scale, 7 * i))
    n.record(name)


def moves(dtype, name):
    """What moves elements stands between the operator and QuantizeLinear."""
    n = Network(dtype, 13)
    x = n.real("x", n.scheme(0.0213, 119))
    chains = {
        "transpose": [("Transpose", [], {"perm": [0, 2, 3, 1]})],
        "reshape": [("Reshape", [n.constant([1, 96, 12], np.int64)], {})],
        "squeeze": [("Squeeze", [n.constant([0], np.int64)], {})],
        "identity": [("Identity", [], {})],
        "flatten": [("Flatten", [], {})],
        "two": [("Reshape", [n.constant([1, 96, 12], np.int64)], {}), ("Transpose", [], {"perm": [2, 0, 1]})],
    }
    for key, chain in chains.items():
        value = n.node("Softmax", [x], axis=1)
        for op, inputs, attributes in chain:
            value = n.node(op, [value, *inputs], **attributes)
        n.output(f"softmax_{key}", value, n.scheme(0.0071, 3))
    n.record(name)


def qlinear(dtype, name):
    n = Network(dtype, 12)
    n.inputs["x"] = np.arange(n.low, n.low + 256).astype(dtype).reshape(8, 32)
    scale = lambda low, high: np.float32(10 ** n.random.uniform(low, high))
    for i in range(40):
        for op, high, attributes in (
                ("QLinearSigmoid", -1.5, {}), ("QLinearLeakyRelu", 0.3, {"alpha": float(n.random.uniform(0, 0.9))}),
                ("QLinearSoftmax", 0.3, {"axis": int(i % 2), "opset": 13 if i % 3 else 12})):
            schemes = (*n.scheme(scale(-3, 0.5), n.random.integers(0, 256)), *n.scheme(scale(-3, high), n.random.integers(0, 256)))
            n.outputs.append(n.node(op, ["x", *schemes], name=f"{op}{i}", domain="com.microsoft", **attributes))
    n.record(name)


def mobilenet(models, tools):
    sys.path.insert(0, os.path.join(TESTS, "models"))
    import record_quantised
    path, lines = os.path.join(models, "onnx", "mobilenet_v2_qdq.onnx"), []
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "net.xpu")
        record_quantised.subprocess.run([os.path.join(tools, "xpuc"), "-q", path, "-o", program], check=True)
        for picture in PICTURES:
            x = record_quantised.picture_tensor(tools, program, os.path.join(models, "data", picture), folder)
            y = {level: session(path, level) for level in LEVELS}
            y = {level: s.run(None, {s.get_inputs()[0].name: x})[0] for level, s in y.items()}
            for level in LEVELS:
                digest = hashlib.sha256(np.ascontiguousarray(y[level]).tobytes()).hexdigest()
                apart = np.abs(y[level] - y["ALL"])
                lines.append(f"{picture} {level} {digest} {(apart != 0).sum()} {apart.max():.4g} {np.abs(y['ALL']).max():.4g}")
    with open(os.path.join(TESTS, "models", "mobilenet_v2_levels.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    print("\n".join(lines))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models")
    parser.add_argument("--tools", default=os.path.join(os.path.dirname(TESTS), "build", "bin"))
    arguments = parser.parse_args()
    os.makedirs(FOLDER, exist_ok=True)
    groups(np.uint8, "groups_uint8")
    groups(np.int8, "groups_int8")
    moves(np.uint8, "moves_uint8")
    moves(np.int8, "moves_int8")
    qlinear(np.uint8, "qlinear_uint8")
    qlinear(np.int8, "qlinear_int8")
    if arguments.models:
        mobilenet(arguments.models, arguments.tools)


if __name__ == "__main__":
    main()
