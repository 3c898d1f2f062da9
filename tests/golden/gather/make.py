#!/usr/bin/env python3
"""gather.onnx: rows of x by the indices i; scatter.onnx: zeros into these rows. Inputs of which one, five, lies outside
(onnxruntime refuses it, too)."""
import os

import numpy as np
import onnx
from onnx import helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
x, i = (helper.make_tensor_value_info(*v) for v in (("x", 1, [5, 4]), ("i", 7, [3])))


def save(name, nodes, rows, constants=()):
    y = helper.make_tensor_value_info("y", 1, [rows, 4])
    graph = helper.make_graph(nodes, name, [x, i], [y], [numpy_helper.from_array(v, k) for k, v in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, os.path.join(HERE, name + ".onnx"))


save("gather", [helper.make_node("Gather", ["x", "i"], ["y"], name="pick")], 3)
save("scatter", [helper.make_node("Reshape", ["i", "shape"], ["column"], name="column"),
                 helper.make_node("ScatterND", ["x", "column", "zeros"], ["y"], name="pick")], 5,
     [("shape", np.array([3, 1])), ("zeros", np.zeros((3, 4), np.float32))])
rows = np.arange(20, dtype=np.float32).reshape(5, 4)
for name, list_ in (("inside", [-5, 4, 0]), ("above", [0, 5, 1]), ("below", [0, 1, -6]), ("far", [0, 2**32, 1])):
    np.savez(os.path.join(HERE, name + ".npz"), x=rows, i=np.array(list_, np.int64))
np.savez(os.path.join(HERE, "inside_gather.npz"), y=rows[[-5, 4, 0]])
rows[[-5, 4, 0]] = 0
np.savez(os.path.join(HERE, "inside_scatter.npz"), y=rows)
