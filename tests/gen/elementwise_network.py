#!/usr/bin/env python3
"""Packages: onnx, onnxruntime, numpy. Writes tests/regress/networks/elementwise*: a batch norm in front of a convolution, factors
of channels behind a depthwise one, and a sum of two images, as DenseNet and MobileNet V3 have them, with onnxruntime's answer."""
import numpy as np
import onnx
import onnxruntime
from onnx_graph import Graph, data

WIDE, SIDE = 72, 28


def network():
    g = Graph()
    x, gate = g.input("x", [1, WIDE, SIDE, SIDE]), g.input("gate", [1, WIDE, 1, 1])
    v = g.node("MaxPool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    channels = [g.const(data(WIDE, seed=s) ** 2 if s == 5 else data(WIDE, seed=s)) for s in (2, 3, 4, 5)]
    v = g.node("Relu", g.node("BatchNormalization", v, *channels), out="normed")
    v = g.node("Conv", v, g.const(data(WIDE, WIDE, 1, 1, seed=6) / 16))
    v = g.node("Relu", g.node("Conv", v, g.const(data(WIDE, 1, 3, 3, seed=7) / 4), group=WIDE, pads=[1, 1, 1, 1]))
    scaled = g.node("Mul", v, gate, out="scaled")
    v = g.node("Conv", scaled, g.const(data(WIDE, WIDE, 1, 1, seed=8) / 16))
    g.output(g.node("GlobalAveragePool", g.node("Add", v, scaled, out="sum"), out="y"))
    return g.model()


def main():
    model, folder = network(), "tests/regress/networks/elementwise"
    onnx.save(model, folder + ".onnx")
    inputs = {"x": np.round(4 * data(1, WIDE, SIDE, SIDE, seed=9)) / 4, "gate": np.abs(data(1, WIDE, 1, 1, seed=10)) / 4}
    np.savez_compressed(folder + "_in.npz", **inputs)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    np.savez_compressed(folder + "_out.npz", y=session.run(["y"], inputs)[0])


main()
