#!/usr/bin/env python3
"""Attention of 12 heads of 64 at length 128, q, k and v given, with what onnxruntime answers: the files of
tests/regress/attention.json. Needs onnx and onnxruntime. attention.py FOLDER (tests/regress/attention)"""
import os
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from npz import write_npz

HEADS, LENGTH, WIDTH = 12, 128, 64


def network():
    dims = [1, HEADS, LENGTH, WIDTH]
    scale = helper.make_tensor("scale", TensorProto.FLOAT, [], [WIDTH**-0.5])
    nodes = [
        helper.make_node("Transpose", ["k"], ["columns"], "transpose", perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["q", "columns"], ["products"], "scores"),
        helper.make_node("Mul", ["products", "scale"], ["scaled"], "scale"),
        helper.make_node("Softmax", ["scaled"], ["weights"], "softmax", axis=-1),
        helper.make_node("MatMul", ["weights", "v"], ["y"], "values"),
    ]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name in "qkv"]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, dims)]
    graph = helper.make_graph(nodes, "attention", inputs, outputs, [scale])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def rounded(values, bits):
    """Fewer bits of the significand: smaller files."""
    significand, exponent = np.frexp(values)
    return np.ldexp(np.round(significand * 2**bits) / 2**bits, exponent).astype(np.float32)


folder = sys.argv[1]
model = network()
onnx.save(model, os.path.join(folder, "attention.onnx"))
random = np.random.default_rng(64)
feeds = {name: np.round(random.standard_normal((1, HEADS, LENGTH, WIDTH)) * 4).astype(np.float32) / 4 for name in "qkv"}
feeds["q"] *= 2  # rows of the softmax are neither flat nor one element
session = onnxruntime.InferenceSession(model.SerializeToString())
y = session.run(None, feeds)[0]
write_npz(os.path.join(folder, "attention.npz"), {**feeds, "y": rounded(y, 12)})
