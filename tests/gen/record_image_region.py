#!/usr/bin/env python3
"""Records what onnxruntime gives for a node between two convolutions: tests/targets/image.onnx, image_in.npz and
image_out.npz. Another target takes the node, and the convolutions lie as images.

record_image_region.py     Packages: onnx, onnxruntime, numpy.
"""
import os

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from npz import write_npz

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "targets")
random = np.random.default_rng(5)


def weights(name, *shape):
    return numpy_helper.from_array(random.normal(0, 0.1, shape).astype(np.float32), name)


def main():
    nodes = [helper.make_node("Conv", ["x", "w1"], ["first"], name="first", pads=[1] * 4),
             helper.make_node("Abs", ["first"], ["between"], name="between"),
             helper.make_node("Conv", ["between", "w2"], ["y"], name="y", pads=[1] * 4)]
    graph = helper.make_graph(nodes, "image", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 10, 12])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 10, 12])],
                              [weights("w1", 8, 16, 3, 3), weights("w2", 4, 8, 3, 3)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, os.path.join(FOLDER, "image.onnx"))
    x = random.normal(0, 1, (1, 16, 10, 12)).astype(np.float32)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    write_npz(os.path.join(FOLDER, "image_in.npz"), {"x": x})
    write_npz(os.path.join(FOLDER, "image_out.npz"), {"y": session.run(None, {"x": x})[0]})


main()
