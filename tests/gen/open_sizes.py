#!/usr/bin/env python3
"""Writes tests/errors/shape-open-sizes/frames.onnx: frames of 256 samples, 128 apart, under two windows of which one is
used, and a state. Nothing bounds the batch and the samples; with fewer than 256 samples there is no frame.

open_sizes.py     Packages: onnx, numpy.
"""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "errors", "shape-open-sizes")

windows = np.stack([np.hanning(256), np.hamming(256)]).astype(np.float32)[:, None]
constants = [numpy_helper.from_array(np.array(value), name) for name, value in
             (("one", [1]), ("zero", [0]), ("zero_one", [0, 1]), ("windows", windows))]
nodes = [
    helper.make_node("Unsqueeze", ["sound", "one"], ["x"], "channels"),
    helper.make_node("Conv", ["x", "windows"], ["frames"], "frames", strides=[128]),
    helper.make_node("Slice", ["frames", "zero", "one", "one"], ["kept"], "first window"),
    helper.make_node("ReduceMean", ["kept"], ["mean"], "mean", axes=[1, 2], keepdims=0),
    helper.make_node("Unsqueeze", ["mean", "zero_one"], ["rows"], "rows"),
    helper.make_node("Transpose", ["rows"], ["column"], "column", perm=[0, 2, 1]),
    helper.make_node("Add", ["state", "column"], ["next"], "add"),
]
graph = helper.make_graph(
    nodes, "frames",
    [helper.make_tensor_value_info("sound", TensorProto.FLOAT, ["batch", "samples"]),
     helper.make_tensor_value_info("state", TensorProto.FLOAT, [2, "batch", 8])],
    [helper.make_tensor_value_info("next", TensorProto.FLOAT, None)], constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
os.makedirs(FOLDER, exist_ok=True)
onnx.save(model, os.path.join(FOLDER, "frames.onnx"))
