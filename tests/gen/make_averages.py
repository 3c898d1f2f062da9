#!/usr/bin/env python3
"""Writes a small network with averages: over overlapping windows whose padding counts, over windows side by side, in
squeeze and excite, and over the image at its end. With an input, and onnxruntime's answer.

    make_averages.py FOLDER     averages.onnx, averages_in.npz, averages_out.npz
"""
import sys

import numpy as np
import onnx
import onnxruntime

from npz import write_npz
from onnx_graph import Graph

CHANNELS, WIDE, SIDE = 16, 64, 28
random = np.random.default_rng(86)
graph = Graph("averages")


def conv(x, inputs, outputs, kernel=1):
    weights = random.standard_normal((outputs, inputs, kernel, kernel)) * np.sqrt(2 / (inputs * kernel * kernel))
    return graph.node("Conv", x, graph.const(weights.astype("f4")), graph.const((random.standard_normal(outputs) / 10).astype("f4")),
                      pads=[kernel // 2] * 4)


def main(folder):
    x = graph.input("x", [1, CHANNELS, SIDE, SIDE])
    wide = graph.node("Relu", conv(x, CHANNELS, WIDE, 3))
    beside = graph.node("AveragePool", wide, out="overlapping", kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    both = graph.node("Concat", conv(beside, WIDE, 40), conv(wide, WIDE, 56), axis=1)
    half = graph.node("AveragePool", graph.node("Relu", both), out="halved", kernel_shape=[2, 2], strides=[2, 2])
    gate = graph.node("Relu", conv(graph.node("GlobalAveragePool", half, out="squeezed"), 96, 24))
    gate = graph.node("Sigmoid", conv(gate, 24, 96))
    y = graph.node("HardSwish", conv(graph.node("Mul", half, gate), 96, WIDE))
    graph.output(graph.node("GlobalAveragePool", y, out="y"), rank=4)
    path = f"{folder}/averages.onnx"
    onnx.save(graph.model(), path)
    feed = {"x": random.standard_normal((1, CHANNELS, SIDE, SIDE)).astype("f4")}
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    write_npz(f"{folder}/averages_in.npz", feed)
    write_npz(f"{folder}/averages_out.npz", {"y": session.run(None, feed)[0]})


main(sys.argv[1])
