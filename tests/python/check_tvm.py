"""xpu.tvm: what is on the chip and what is TVM's, results, errors. The ResNet-18 is examples/stock/tvm_relax.py."""
import sys

import numpy as np
import tvm
import xpu.tvm
from leaks import leaves_nothing
from quiet import quiet
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


def large(emit, x, wide):
    """A product that the chip has room for, and one that it has not."""
    y = emit(relax.op.cumsum(emit(relax.op.matmul(x, weights(8, 8))), axis=1))
    return emit(relax.op.matmul(y, wide))


def check_refused():
    """xpu.tvm.compile ends in an xpu.Error, TVM's own pass in TVM's error with the same text; nothing stays or is printed."""
    before = len(xpu.tvm.programs())
    module = built(large, (4, 8), (8, 1 << 29))
    for options, rule in (({}, "gm-capacity"), ({"chip": "nona"}, "chip-unknown"), ({"precision": "int1"}, "precision"),
                          ({"precision_rules": "/nonexistent"}, "io-open")):
        try:
            xpu.tvm.compile(module if not options else built(two_products, (4, 8)), **options)
        except xpu.Error as error:
            assert error.rule == rule and error.reason and error.hint and rule in str(error), (error, error.problems)
        else:
            raise AssertionError(rule)
    try:
        relax.transform.RunCodegen({"xpu": {"chip": "nona"}})(xpu.tvm.partition(built(two_products, (4, 8))))
    except Exception as error:
        assert "[chip-unknown] there is no chip named 'nona'" in str(error), error
    else:
        raise AssertionError("nona")
    for options, kind, text in (({"device": "gpu"}, ValueError, "gpu"), ({"chips": "nano"}, TypeError, "its options are chip")):
        try:
            xpu.tvm.compile(built(two_products, (4, 8)), **options)
        except kind as error:
            assert text in str(error), error
        else:
            raise AssertionError(options)
    assert len(xpu.tvm.programs()) == before, xpu.tvm.programs()


def main():
    compare(built(two_products, (4, 8)), (4, 8), parts=2)
    compare(built(two_products, (4, 8)), (4, 8), parts=2, device="rtl", precision="fp32", chip="nano")
    compare(built(windows, (1, 8, 16, 16)), (1, 8, 16, 16), parts=1)
    compare(built(two_results, (4, 8)), (4, 8), parts=2)  # the sum behind TVM, too
    parts = [f for f in xpu.tvm.partition(built(other_layout, (1, 8, 8, 4))).functions.values()
             if f.attrs and f.attrs.get("Codegen") == "xpu"]
    assert len(parts) == 1 and "conv2d" not in str(parts[0]), parts  # its relu
    quiet(check_refused)
    leaves_nothing(check_refused)
    print("TVM %s: all as TVM" % tvm.__version__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
