#!/usr/bin/env python3
"""gather.onnx: rows of x by the indices i, and inputs of which one, five, lies outside (onnxruntime refuses it, too)."""
import os

import numpy as np
import onnx
from onnx import helper

HERE = os.path.dirname(os.path.abspath(__file__))
x, i, y = (helper.make_tensor_value_info(*v) for v in (("x", 1, [5, 4]), ("i", 7, [3]), ("y", 1, [3, 4])))
graph = helper.make_graph([helper.make_node("Gather", ["x", "i"], ["y"], name="pick")], "gather", [x, i], [y])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
onnx.save(model, os.path.join(HERE, "gather.onnx"))
rows = np.arange(20, dtype=np.float32).reshape(5, 4)
for name, list_ in (("inside", [-5, 4, 0]), ("above", [0, 5, 1]), ("below", [0, 1, -6]), ("far", [0, 2**32, 1])):
    np.savez(os.path.join(HERE, name + ".npz"), x=rows, i=np.array(list_, np.int64))
np.savez(os.path.join(HERE, "inside_out.npz"), y=rows[[-5, 4, 0]])
