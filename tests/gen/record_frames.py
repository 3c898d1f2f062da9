#!/usr/bin/env python3
"""Makes a small recurrent network and a signal, and records what onnxruntime gives frame by frame with the state handed
on, in tests/golden/frames: rnn.onnx, signal.npy, zeros.npy, expected.npz (outputs stacked: 12 frames of 24 samples, 16 apart).

record_frames.py     Packages: examples/digits/requirements.txt.
"""
import os

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "frames")
SIZE, HOP, HIDDEN = 24, 16, 16

random = np.random.default_rng(13)
weights = {
    "w": (random.standard_normal((SIZE, HIDDEN)) * 0.3).astype(np.float32),
    "u": (random.standard_normal((HIDDEN, HIDDEN)) * 0.3).astype(np.float32),
}
nodes = [
    helper.make_node("MatMul", ["x", "w"], ["xw"], "xw"),
    helper.make_node("MatMul", ["h", "u"], ["hu"], "hu"),
    helper.make_node("Add", ["xw", "hu"], ["sum"], "sum"),
    helper.make_node("Tanh", ["sum"], ["hN"], "hidden"),
    helper.make_node("ReduceMean", ["hN"], ["y"], "mean", axes=[1], keepdims=1),
]


def value(name, columns):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, columns])


graph = helper.make_graph(
    nodes, "rnn", [value("x", SIZE), value("h", HIDDEN)], [value("y", 1), value("hN", HIDDEN)],
    [numpy_helper.from_array(array, name) for name, array in weights.items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
os.makedirs(FOLDER, exist_ok=True)
onnx.save(model, os.path.join(FOLDER, "rnn.onnx"))
np.save(os.path.join(FOLDER, "zeros.npy"), np.zeros((1, HIDDEN), np.float32))
signal = random.standard_normal((1, 205)).astype(np.float32)
np.save(os.path.join(FOLDER, "signal.npy"), signal)
session = ort.InferenceSession(model.SerializeToString())
state, outputs, states = np.zeros((1, HIDDEN), np.float32), [], []
for begin in range(0, signal.shape[1] - SIZE + 1, HOP):
    output, state = session.run(["y", "hN"], {"x": signal[:, begin:begin + SIZE], "h": state})
    outputs.append(output)
    states.append(state)
np.savez(os.path.join(FOLDER, "expected.npz"), y=np.stack(outputs), hN=np.stack(states))
print(len(outputs), "frames")
