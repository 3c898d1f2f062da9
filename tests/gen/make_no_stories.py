#!/usr/bin/env python3
"""Makes tests/demos/no_story_step.onnx and no_story_loop.onnx: they have the inputs of the two forms of a story, and outputs
that are none: 64 floats, one number.

make_no_stories.py     Packages: onnx.
"""
import os

from onnx import TensorProto as T
from onnx import helper

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "demos")


def make(name, inputs, nodes, output):
    values = [helper.make_tensor_value_info(n, T.INT64, dims) for n, dims in inputs]
    graph = helper.make_graph(nodes, "g", values, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="make_no_stories")
    model.ir_version = 8
    with open(os.path.join(FOLDER, f"no_story_{name}.onnx"), "wb") as file:
        file.write(model.SerializeToString())


both = [helper.make_node("Add", ["token", "pos"], ["sum"]), helper.make_node("Cast", ["sum"], ["float"], to=T.FLOAT),
        helper.make_node("Concat", ["float"] * 64, ["y"], axis=0)]
make("step", [("token", [1]), ("pos", [1])], both, helper.make_tensor_value_info("y", T.FLOAT, [64]))
make("loop", [("prompt", [1]), ("count", [])],
     [helper.make_node("Add", ["prompt", "count"], ["sum"]), helper.make_node("ReduceSum", ["sum"], ["y"], keepdims=0)],
     helper.make_tensor_value_info("y", T.INT64, []))
