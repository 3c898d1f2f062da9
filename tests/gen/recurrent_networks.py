#!/usr/bin/env python3
"""Networks of recurrent operators and products of one vector, and what onnxruntime answers.

Writes tests/golden/recurrent (test_recurrent.sh) and tests/regress/networks (the cases lstm-*, gru-*, vector-* of
tests/regress). Weights are computed by the networks, which folds them away: the files stay small. Run from the root:

    python3 tests/gen/recurrent_networks.py
"""
import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


class Network:
    def __init__(self):
        self.nodes, self.constants, self.inputs, self.outputs, self.seed = [], [], [], [], 0

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op, operands, results, **attributes):
        self.nodes.append(helper.make_node(op, operands, results, **attributes))
        return results[0]

    def weights(self, name, shape, most):
        """Numbers from -most to most that look random: ((i + seed) * 48271) mod 65521, scaled."""
        self.seed += 1000003
        count = int(np.prod(shape))
        part = [self.constant(f"{name}/{k}", np.int64(v)) for k, v in
                (("first", self.seed), ("last", self.seed + count), ("step", 1), ("factor", 48271), ("prime", 65521))]
        self.node("Range", part[:3], [f"{name}/i"])
        self.node("Mul", [f"{name}/i", part[3]], [f"{name}/product"])
        self.node("Mod", [f"{name}/product", part[4]], [f"{name}/rest"])
        self.node("Cast", [f"{name}/rest"], [f"{name}/float"], to=TensorProto.FLOAT)
        self.node("Mul", [f"{name}/float", self.constant(f"{name}/scale", np.float32(2 * most / 65521))], [f"{name}/scaled"])
        self.node("Sub", [f"{name}/scaled", self.constant(f"{name}/most", np.float32(most))], [f"{name}/flat"])
        return self.node("Reshape", [f"{name}/flat", self.constant(f"{name}/shape", np.array(shape, np.int64))], [name])

    def input(self, name, value):
        kind = helper.np_dtype_to_tensor_dtype(value.dtype)
        self.inputs.append((helper.make_tensor_value_info(name, kind, list(value.shape)), value))
        return name

    def save(self, path, input_folder, output_folder=None):
        """PATH.onnx, INPUT_FOLDER/NAME_in.npz, ..._out.npz of the outputs by onnxruntime."""
        name = os.path.basename(path)
        graph = helper.make_graph(self.nodes, "recurrent", [info for info, _ in self.inputs], self.outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, f"{path}.onnx")
        session = onnxruntime.InferenceSession(f"{path}.onnx", providers=["CPUExecutionProvider"])
        values = {info.name: value for info, value in self.inputs}
        np.savez_compressed(f"{input_folder}/{name}_in.npz", **values)
        results = session.run(None, values)
        np.savez_compressed(f"{output_folder or input_folder}/{name}_out.npz", **dict(zip([o.name for o in self.outputs], results)))


def recurrent(op, path, inputs, hidden, steps, batch=1, direction="forward", state=False, bias=True):
    net, gates, directions = Network(), GATES[op], 2 if direction == "bidirectional" else 1
    random, most = np.random.default_rng(hidden + steps), 1.7 / np.sqrt(hidden)
    x = net.input("x", random.normal(0, 1, (steps, batch, inputs)).astype(np.float32))
    operands = [x, net.weights("w", (directions, gates * hidden, inputs), 1.7 / np.sqrt(inputs)),
                net.weights("r", (directions, gates * hidden, hidden), most),
                net.weights("b", (directions, 2 * gates * hidden), most) if bias else ""]
    if state:
        shape = (directions, batch, hidden)
        operands += ["", net.input("h", random.uniform(-2, 2, shape).astype(np.float32))]
        if op == "LSTM":
            operands += [net.input("c", random.uniform(-2, 2, shape).astype(np.float32))]
    results = ["y", "y_h", "y_c"] if op == "LSTM" else ["y", "y_h"]
    more = {"linear_before_reset": 1} if op == "GRU" else {}
    net.node(op, operands, results, hidden_size=hidden, direction=direction, **more)
    net.outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in results]
    net.save(path, os.path.dirname(path))


def vector(path, size):
    net = Network()
    x = net.input("x", np.random.default_rng(1).normal(0, 1, (1, size)).astype(np.float32))
    net.node("MatMul", [x, net.weights("w", (size, size), 1.7 / np.sqrt(size))], ["y"])
    net.outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, size])]
    net.save(path, os.path.dirname(path))


def byte_vector(path, size):
    net = Network()
    x = net.input("x", np.random.default_rng(1).integers(-127, 128, (1, size)).astype(np.int8))
    net.node("Cast", [net.weights("w/real", (size, size), 127)], ["w"], to=TensorProto.INT8)
    zero, scales = net.constant("zero", np.int8(0)), [net.constant(f"scale{i}", np.float32(s)) for i, s in enumerate((0.01, 0.01, 0.5))]
    net.node("QLinearMatMul", [x, scales[0], zero, "w", scales[1], zero, scales[2], zero], ["y"])
    net.outputs = [helper.make_tensor_value_info("y", TensorProto.INT8, [1, size])]
    net.save(path, os.path.dirname(path))


if __name__ == "__main__":
    golden, regress = "tests/golden/recurrent", "tests/regress/networks"
    for folder in (golden, regress):
        os.makedirs(folder, exist_ok=True)
    recurrent("LSTM", f"{golden}/lstm_100_steps", 12, 40, 100, batch=2, direction="bidirectional")
    recurrent("GRU", f"{golden}/gru_100_steps", 12, 48, 100, direction="reverse", state=True)
    recurrent("RNN", f"{golden}/rnn_100_steps", 12, 33, 100, batch=3)
    recurrent("LSTM", f"{golden}/lstm_blocks", 20, 104, 5, batch=5, state=True)
    recurrent("GRU", f"{golden}/gru_blocks", 20, 136, 4, batch=2, direction="bidirectional", state=True, bias=False)
    recurrent("RNN", f"{golden}/rnn_blocks", 9, 400, 3, direction="reverse", state=True)
    recurrent("LSTM", f"{golden}/lstm_one_step", 20, 64, 1)
    recurrent("LSTM", f"{regress}/lstm", 256, 256, 8)
    recurrent("GRU", f"{regress}/gru", 128, 128, 8, direction="bidirectional")
    vector(f"{regress}/vector", 2048)
    byte_vector(f"{regress}/byte_vector", 2048)
