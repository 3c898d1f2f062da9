#!/usr/bin/env python3
"""Attention of 12 heads of 64 at length 128, and causal attention of 8 heads of 8 at length 100, q, k and v given, with
what onnxruntime answers: the files of tests/regress/attention.json and attention-narrow.json. Needs onnx and onnxruntime.
attention.py FOLDER (tests/regress/attention)"""
import os
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from npz import write_npz

def network(heads, length, width, causal):
    dims = [1, heads, length, width]
    constants = [helper.make_tensor("scale", TensorProto.FLOAT, [], [width**-0.5])]
    nodes = [
        helper.make_node("Transpose", ["k"], ["columns"], "transpose", perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["q", "columns"], ["products"], "scores"),
        helper.make_node("Mul", ["products", "scale"], ["scaled"], "scale"),
    ]
    if causal:
        lower = np.tri(length, dtype=bool)
        constants += [
            helper.make_tensor("mask", TensorProto.BOOL, lower.shape, lower.tobytes(), raw=True),
            helper.make_tensor("low", TensorProto.FLOAT, [], [-1e9]),
        ]
        nodes += [helper.make_node("Where", ["mask", "scaled", "low"], ["masked"], "mask")]
    nodes += [
        helper.make_node("Softmax", ["masked" if causal else "scaled"], ["weights"], "softmax", axis=-1),
        helper.make_node("MatMul", ["weights", "v"], ["y"], "values"),
    ]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name in "qkv"]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, dims)]
    graph = helper.make_graph(nodes, "attention", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def rounded(values, bits):
    """Fewer bits of the significand: smaller files."""
    significand, exponent = np.frexp(values)
    return np.ldexp(np.round(significand * 2**bits) / 2**bits, exponent).astype(np.float32)


def make(name, heads, length, width, causal):
    model = network(heads, length, width, causal)
    onnx.save(model, os.path.join(sys.argv[1], name + ".onnx"))
    random = np.random.default_rng(64)
    shape = (1, heads, length, width)
    feeds = {operand: np.round(random.standard_normal(shape) * 4).astype(np.float32) / 4 for operand in "qkv"}
    feeds["q"] *= 2  # rows of the softmax are neither flat nor one element
    session = onnxruntime.InferenceSession(model.SerializeToString())
    y = session.run(None, feeds)[0]
    write_npz(os.path.join(sys.argv[1], name + ".npz"), {**feeds, "y": y if causal else rounded(y, 12)})


make("attention", 12, 128, 64, False)
make("narrow", 8, 100, 8, True)
