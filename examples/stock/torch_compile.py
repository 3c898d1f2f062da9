#!/usr/bin/env python3
"""A network of PyTorch with seeded weights by torch.compile on the chip, in two sizes.

    python3 examples/stock/torch_compile.py

It needs PyPI's torch, onnx and onnxscript; docs/python.md is the manual.
"""
import sys

import torch
import xpu.torch
from torch import nn


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
        self.branch = nn.Conv2d(inputs, outputs, 1, stride)

    def forward(self, x):
        return torch.relu(self.second(self.first(x)) + self.branch(x))


def network():
    torch.manual_seed(15)
    return nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), Block(16, 32, 2), Block(32, 64, 2),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10), nn.Softmax(1)).eval()


def main():
    model = network()
    compiled = torch.compile(model, backend="xpu", options={"device": "func", "precision": "fp32"})
    largest = 0.0
    with torch.no_grad():
        for size in (32, 48):
            image = torch.rand(1, 3, size, size)
            largest = max(largest, (compiled(image) - model(image)).abs().max().item())
    for program in xpu.torch.programs():
        image = torch.rand(tuple(32 if d is None else d for d in program.inputs[0].shape)).numpy()
        units = [layer.unit for layer in program.run((image,)).layers if layer.macs]
        print("%s: %d layers with products, on: %s" % (program.inputs[0].shape, len(units), ", ".join(sorted(set(units)))))
    print("largest difference to PyTorch's own result: %.1e" % largest)
    return 0 if largest < 1e-4 and xpu.torch.programs() else 4


if __name__ == "__main__":
    sys.exit(main())
