#!/usr/bin/env python3
"""Writes a small network with what text detectors have: MobileOne blocks (a factor and a sum of one number behind each
convolution, hard swish written out, an affine of one number), depthwise windows of 3 x 3 and 5 x 5, squeeze and excite,
levels that are resized and joined, transposed convolutions and a sigmoid. With an input, and onnxruntime's answer.

    make_detector.py FOLDER     detector.onnx, detector_in.npy, detector_out.npz
"""
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SIZE = 64
random = np.random.default_rng(20)
nodes, constants = [], []


def constant(array):
    name = f"c{len(constants)}"
    constants.append(numpy_helper.from_array(np.asarray(array), name))
    return name


def number(value):
    return constant(np.float32([value]))


def node(op, *inputs, **attributes):
    name = f"{op.lower()}{len(nodes)}"
    nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
    return name


def conv(x, channels_in, channels, kernel=1, stride=1, group=1):
    weights = random.standard_normal((channels, channels_in // group, kernel, kernel)) * np.sqrt(2 / (kernel * kernel * channels_in / group))
    bias = random.standard_normal(channels) * 0.1
    return node("Conv", x, constant(weights.astype("f4")), constant(bias.astype("f4")), strides=[stride] * 2,
                pads=[kernel // 2] * 4, group=group)


def affine(x):
    return node("Add", node("Mul", number(0.5 + random.random()), x), number(random.random() - 0.5))


def hard_swish(x):
    gate = node("Clip", node("Add", x, number(3)), constant(np.float32(0)), constant(np.float32(6)))
    return node("Div", node("Mul", x, gate), number(6))


def block(x, channels_in, channels, kernel, stride):
    x = affine(conv(x, channels_in, channels_in, kernel, stride, channels_in))
    if stride == 1:
        x = affine(hard_swish(x))
    return affine(hard_swish(affine(conv(x, channels_in, channels))))


def squeeze(x, channels):
    small = node("Relu", conv(node("GlobalAveragePool", x), channels, channels // 4))
    return node("Mul", x, node("HardSigmoid", conv(small, channels // 4, channels), alpha=0.2, beta=0.5))


def enlarged(x, factor):
    return node("Resize", x, "", constant(np.float32([1, 1, factor, factor])), mode="nearest",
                coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def upward(x, channels_in, channels):
    weights = random.standard_normal((channels_in, channels, 2, 2)) / np.sqrt(channels_in)
    return node("ConvTranspose", x, constant(weights.astype("f4")), strides=[2, 2])


def network():
    x = hard_swish(conv("x", 3, 16, 3, 2))
    fine = block(block(x, 16, 24, 3, 1), 24, 24, 3, 2)
    middle = block(block(fine, 24, 48, 5, 2), 48, 48, 5, 1)
    coarse = squeeze(block(middle, 48, 64, 5, 2), 64)
    levels = [node("Add", y, squeeze(y, 24)) for y in (conv(fine, 24, 24), conv(middle, 48, 24), conv(coarse, 64, 24))]
    middle = node("Add", levels[1], enlarged(levels[2], 2))
    fine = node("Add", levels[0], enlarged(middle, 2))
    joined = node("Concat", fine, enlarged(middle, 2), enlarged(levels[2], 4), axis=1)
    y = node("Relu", upward(node("Relu", conv(joined, 72, 16, 3)), 16, 8))
    nodes.append(helper.make_node("Sigmoid", [upward(y, 8, 1)], ["y"], name="y"))
    graph = helper.make_graph(nodes, "detector", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, SIZE, SIZE])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, SIZE, SIZE])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


folder = sys.argv[1]
model = network()
onnx.checker.check_model(model)
onnx.save(model, f"{folder}/detector.onnx")
picture = random.integers(-8, 9, (1, 3, SIZE, SIZE)).astype("f4") / 8
np.save(f"{folder}/detector_in.npy", picture)
answer = onnxruntime.InferenceSession(f"{folder}/detector.onnx", providers=["CPUExecutionProvider"]).run(None, {"x": picture})
np.savez_compressed(f"{folder}/detector_out.npz", y=answer[0])
