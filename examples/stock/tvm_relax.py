#!/usr/bin/env python3
"""A ResNet-18 with seeded weights, built in TVM's Relax: its convolutions run on the chip, what the chip does not take by TVM.

    python3 examples/stock/tvm_relax.py [SIZE]

SIZE: of the image (64). TVM 0.27 is PyPI's apache-tvm; docs/python.md is the manual.
"""
import sys

import numpy as np
import tvm
import xpu.tvm
from tvm import relax

DRAW = np.random.default_rng(18)


def constant(array):
    return relax.const(array.astype("float32"))


class Builder:
    """Layers of the network, added to a block."""

    def __init__(self, block):
        self.emit = block.emit

    def convolution(self, x, inputs, outputs, kernel, stride, padding):
        """With a batch norm behind it."""
        scale = np.sqrt(2 / (inputs * kernel * kernel))
        weights = constant(DRAW.standard_normal((outputs, inputs, kernel, kernel)) * scale)
        y = self.emit(relax.op.nn.conv2d(x, weights, strides=stride, padding=padding))
        norm = [constant(a) for a in (DRAW.uniform(0.5, 1, outputs), DRAW.normal(0, 0.1, outputs),
                                      DRAW.normal(0, 0.1, outputs), DRAW.uniform(0.5, 1.5, outputs))]
        return self.emit(relax.TupleGetItem(
            self.emit(relax.op.nn.batch_norm(y, *norm, axis=1, training=False)), 0))

    def relu(self, x):
        return self.emit(relax.op.nn.relu(x))

    def block(self, x, inputs, outputs, stride):
        y = self.relu(self.convolution(x, inputs, outputs, 3, stride, 1))
        y = self.convolution(y, outputs, outputs, 3, 1, 1)
        branch = x if inputs == outputs else self.convolution(x, inputs, outputs, 1, stride, 0)
        return self.relu(self.emit(relax.op.add(y, branch)))

    def network(self, x):
        x = self.relu(self.convolution(x, 3, 64, 7, 2, 3))
        x = self.emit(relax.op.nn.max_pool2d(x, (3, 3), (2, 2), (1, 1)))
        channels = 64
        for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            x = self.block(x, channels, outputs, stride)
            x = self.block(x, outputs, outputs, 1)
            channels = outputs
        x = self.emit(relax.op.reshape(self.emit(relax.op.nn.adaptive_avg_pool2d(x, (1, 1))), (1, 512)))
        x = self.emit(relax.op.matmul(x, constant(DRAW.standard_normal((512, 1000)) * 0.05)))
        return self.emit(relax.op.add(x, constant(DRAW.normal(0, 0.1, 1000))))


def resnet18(size):
    block = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((1, 3, size, size), "float32"))
    with block.function("main", [x]):
        with block.dataflow():
            result = block.emit_output(Builder(block).network(x))
        block.emit_func_output(result)
    return block.get()


def run(executable, image):
    return relax.VirtualMachine(executable, tvm.cpu())["main"](tvm.runtime.tensor(image)).numpy()


def main():
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    module = resnet18(size)
    image = DRAW.random((1, 3, size, size), dtype=np.float32)
    got = run(xpu.tvm.compile(module, device="func", precision="fp32"), image)
    wanted = run(tvm.compile(module, "llvm"), image)
    for name, program in xpu.tvm.programs().items():
        print("%s: %d layers on the chip" % (name, len(program.layers)))
    difference = np.abs(got - wanted).max() / np.abs(wanted).max()
    print("largest difference to TVM's own result: %.1e of the largest" % difference)
    return 0 if difference < 1e-4 else 4


if __name__ == "__main__":
    sys.exit(main())
