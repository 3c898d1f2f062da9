#!/usr/bin/env python3
"""Records what onnxruntime gives for networks whose images change their size, at several sizes each:
tests/golden/resample/NAME.onnx, NAME.CASE_in.npz and NAME.CASE_out.npz.

record_resample.py     Packages: onnx, onnxruntime, numpy.
"""
import os

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from npz import write_npz

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "resample")
random = np.random.default_rng(7)


def constant(name, data):
    return numpy_helper.from_array(np.asarray(data), name)


def normal(name, *shape, scale=0.3):
    return constant(name, random.normal(0, scale, shape).astype(np.float32))


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs, [output], name=output, **attributes)


def decoder():
    """Transposed convolutions with all that goes into them: kernels that the stride divides, and longer ones."""
    constants = [normal("w1", 6, 5, 4, 4), normal("b1", 1, 5, 1, 1), normal("w2", 5, 3, 3, 3), normal("b2", 3), normal("w3", 3, 1, 2, 2)]
    constants += [constant(n, random.uniform(0.5, 2, 5).astype(np.float32)) for n in ("scale", "variance")]
    constants += [normal("shift", 5), normal("mean", 5)]
    return [node("ConvTranspose", ["x", "w1"], "up1", strides=[2, 2], pads=[1, 1, 1, 1]), node("Add", ["up1", "b1"], "biased"),
            node("BatchNormalization", ["biased", "scale", "shift", "mean", "variance"], "normal"), node("Relu", ["normal"], "relu"),
            node("ConvTranspose", ["relu", "w2", "b2"], "up2", strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1]),
            node("LeakyRelu", ["up2"], "leaky", alpha=0.25),
            node("ConvTranspose", ["leaky", "w3"], "up3", strides=[3, 2], dilations=[2, 1], group=3), node("Sigmoid", ["up3"], "y")], constants


def pyramid():
    """Sizes from the shape of another tensor, twice the own ones, a scale that is no whole number."""
    constants = [normal("w", 4, 3, 3, 3), constant("two", np.array([0], np.int64)), constant("ends", np.array([2], np.int64)),
                 constant("last", np.array([2 ** 31], np.int64)), constant("twice", np.array([2, 2], np.int64)),
                 constant("half", np.array([1, 1, 1.5, 0.5], np.float32)), constant("none", np.array([], np.float32))]
    return [node("Conv", ["x", "w"], "small", strides=[2, 2], pads=[1, 1, 1, 1]), node("Shape", ["x"], "shape"), node("Shape", ["small"], "small_shape"),
            node("Slice", ["small_shape", "two", "ends"], "images"), node("Slice", ["shape", "ends", "last"], "size"),
            node("Concat", ["images", "size"], "sizes", axis=0), node("Resize", ["small", "none", "none", "sizes"], "linear", mode="linear"),
            node("Resize", ["small", "none", "none", "sizes"], "cubic", mode="cubic", coordinate_transformation_mode="align_corners"),
            node("Resize", ["small", "none", "none", "sizes"], "nearest", mode="nearest", coordinate_transformation_mode="half_pixel", nearest_mode="ceil"),
            node("Sum", ["linear", "cubic", "nearest"], "sum"), node("Mul", ["size", "twice"], "more"), node("Concat", ["images", "more"], "mores", axis=0),
            node("Resize", ["sum", "none", "none", "mores"], "large", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
            node("Resize", ["large", "none", "half"], "y", mode="linear")], constants


def shrunk():
    """Elements that are sums over more others than a core holds weights of."""
    constants = [constant("sizes", np.array([1, 2, 4, 3], np.int64)), constant("none", np.array([], np.float32))]
    return [node("Resize", ["x", "none", "none", "sizes"], "linear", mode="linear", antialias=1),
            node("Resize", ["x", "none", "none", "sizes"], "cubic", mode="cubic", antialias=1, exclude_outside=1),
            node("Add", ["linear", "cubic"], "y")], constants


def tripled():
    """Three axes that grow are more than one copy has dims for."""
    constants = [constant("by", np.array([1, 2, 3, 2], np.float32)), constant("none", np.array([], np.float32))]
    return [node("Sqrt", ["x"], "root"), node("Resize", ["root", "none", "by"], "tripled", mode="nearest", coordinate_transformation_mode="asymmetric",
                                              nearest_mode="floor"), node("Exp", ["tripled"], "y")], constants


def record(name, made, cases, opset=13):
    nodes, constants = made
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", cases[0].shape[1], "H", "W"])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, os.path.join(FOLDER, name + ".onnx"))
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for i, x in enumerate(cases):
        base = os.path.join(FOLDER, f"{name}.{i}_")
        write_npz(base + "in.npz", {"x": x})
        write_npz(base + "out.npz", {"y": session.run(None, {"x": x})[0]})


def image(*shape):
    return random.normal(0, 1, shape).astype(np.float32)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    special = image(1, 6, 9, 7)
    special[0, 1, 3, 2], special[0, 4, 8, 6], special[0, 0, 0, 5] = np.nan, np.inf, -np.inf
    record("decoder", decoder(), [image(1, 6, 8, 8), image(2, 6, 5, 9), special])
    special = image(1, 3, 14, 11)
    special[0, 1, 3, 2], special[0, 2, 13, 10] = np.nan, np.inf
    record("pyramid", pyramid(), [image(1, 3, 16, 20), image(2, 3, 13, 9), special])
    record("shrunk", shrunk(), [image(1, 2, 5, 1200)], opset=18)
    record("tripled", tripled(), [np.abs(image(2, 3, 5, 4))])


if __name__ == "__main__":
    main()
