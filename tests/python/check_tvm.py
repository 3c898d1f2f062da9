"""xpu.tvm: what is on the chip and what is TVM's, results, errors. The ResNet-18 is examples/stock/tvm_relax.py."""
import sys

import numpy as np
import tvm
import xpu.tvm
from tvm import relax

DRAW = np.random.default_rng(13)


def built(make, *shapes, dtype="float32"):
    """A module whose main is make(emit, *inputs)."""
    block = relax.BlockBuilder()
    inputs = [relax.Var("x%d" % i, relax.TensorType(shape, dtype)) for i, shape in enumerate(shapes)]
    with block.function("main", inputs):
        with block.dataflow():
            result = block.emit_output(make(block.emit, *inputs))
        block.emit_func_output(result)
    return block.get()


def run(executable, *arrays):
    result = relax.VirtualMachine(executable, tvm.cpu())["main"](*map(tvm.runtime.tensor, arrays))
    return [r.numpy() for r in result] if not hasattr(result, "numpy") else [result.numpy()]


def compare(module, *shapes, parts, **options):
    """As TVM's own, with so many parts on the chip."""
    before = len(xpu.tvm.programs())
    arrays = [DRAW.random(shape, dtype=np.float32) for shape in shapes]
    got = run(xpu.tvm.compile(module, **options), *arrays)
    for a, b in zip(got, run(tvm.compile(module, "llvm"), *arrays)):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)
    assert len(xpu.tvm.programs()) - before == parts, xpu.tvm.programs()


def weights(*shape):
    return relax.const(DRAW.random(shape, dtype=np.float32))


def two_products(emit, x):
    """cumsum is none of the chip's."""
    x = emit(relax.op.nn.relu(emit(relax.op.matmul(x, weights(8, 8)))))
    x = emit(relax.op.cumsum(x, axis=1))
    return emit(relax.op.nn.softmax(emit(relax.op.matmul(x, weights(8, 8)))))


def windows(emit, x):
    y = emit(relax.op.nn.conv2d(x, weights(8, 4, 3, 3), strides=2, padding=1, groups=2))
    y = emit(relax.op.nn.leakyrelu(y, 0.1))
    pools = [emit(pool(y, (3, 3), (2, 2), (1, 1))) for pool in (relax.op.nn.max_pool2d, relax.op.nn.avg_pool2d)]
    y = emit(relax.op.maximum(emit(relax.op.clip(emit(relax.op.subtract(*pools)), -1, 1)), pools[1]))
    y = emit(relax.op.permute_dims(emit(relax.op.mean(y, [2], True)), (0, 2, 3, 1)))
    return emit(relax.op.reshape(y, (1, -1)))


def two_results(emit, x):
    y = emit(relax.op.matmul(x, weights(8, 8)))
    z = emit(relax.op.sigmoid(y))
    return emit(relax.op.add(emit(relax.op.cumsum(y, axis=0)), emit(relax.op.cumsum(z, axis=1))))


def other_layout(emit, x):
    return emit(relax.op.nn.relu(emit(relax.op.nn.conv2d(x, weights(8, 3, 3, 4), data_layout="NHWC",
                                                        kernel_layout="OHWI"))))


def main():
    compare(built(two_products, (4, 8)), (4, 8), parts=2)
    compare(built(two_products, (4, 8)), (4, 8), parts=2, device="rtl", precision="fp32", chip="nano")
    compare(built(windows, (1, 8, 16, 16)), (1, 8, 16, 16), parts=1)
    compare(built(two_results, (4, 8)), (4, 8), parts=2)  # the sum behind TVM, too
    parts = [f for f in xpu.tvm.partition(built(other_layout, (1, 8, 8, 4))).functions.values()
             if f.attrs and f.attrs.get("Codegen") == "xpu"]
    assert len(parts) == 1 and "conv2d" not in str(parts[0]), parts  # its relu
    for options, text in (({"chip": "nona"}, "chip-unknown"), ({"precision": "int1"}, "int1"), ({"device": "gpu"}, "gpu"),
                          ({"chips": "nano"}, "chips")):
        try:
            xpu.tvm.compile(built(two_products, (4, 8)), **options)
        except Exception as error:  # TVM passes Python's own on
            assert text in str(error), error
        else:
            raise AssertionError(options)
    print("TVM %s: all as TVM" % tvm.__version__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
