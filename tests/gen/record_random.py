#!/usr/bin/env python3
"""Runs random networks through onnxruntime and records what it answers in tests/golden/random_cnn/SEED.npz.

Each file holds every output of the network by name (float32), and model_crc32, uint32 [1]: the CRC-32 of the model
file that it belongs to (a test whose generated model differs says so). Every network must pass the ONNX checker, run,
have the declared shapes, give finite values that depend on the input, and not depend on onnxruntime's optimisations.

record_random.py [--tool=build/tests/gen/random_cnn_main] [--check=N]
--check=N only checks the networks of seeds 1 to N and writes nothing. Packages: examples/digits/requirements.txt.
"""
import argparse
import collections
import os
import subprocess
import tempfile
import zlib

import numpy as np
import onnx
import onnxruntime as ort

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOLDEN = os.path.join(ROOT, "tests", "golden", "random_cnn")
SEEDS = 40
OPERATORS = """Conv Gemm MatMul Relu Clip LeakyRelu Sigmoid Tanh HardSigmoid HardSwish Add Sub Mul Div MaxPool
AveragePool GlobalAveragePool BatchNormalization Flatten Reshape Squeeze Unsqueeze Transpose Concat Softmax Pad Identity
Dropout Constant""".split()


def run(data, x, level):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = level
    options.log_severity_level = 3
    # Pad_Fusion moves a Pad into a pool without looking whether the pool allows such pads.
    session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"], disabled_optimizers=["Pad_Fusion"])
    return session.run(None, {"x": x})


def margin(a, b):
    """How much of the tolerance of `make test`, |a-b| <= 1e-3 |b| + 1e-5 max|b|, is used up: at most 1."""
    return float((np.abs(a - b) / (1e-3 * np.abs(b) + 1e-5 * np.abs(b).max() + 1e-30)).max())


def check(seed, data, x):
    """Returns the model, its outputs by name, and remarks about them."""
    model = onnx.load_from_string(data)
    onnx.checker.check_model(model, full_check=True)
    outputs = run(data, x, ort.GraphOptimizationLevel.ORT_DISABLE_ALL)
    optimised = run(data, x, ort.GraphOptimizationLevel.ORT_ENABLE_ALL)
    other = run(data, np.flip(x, axis=(2, 3)) * np.float32(0.5), ort.GraphOptimizationLevel.ORT_DISABLE_ALL)
    remarks = []
    for info, y, z, changed in zip(model.graph.output, outputs, optimised, other):
        dims = [d.dim_value or len(x) for d in info.type.tensor_type.shape.dim]
        assert list(y.shape) == dims, f"seed {seed}: {info.name} is {y.shape}, declared {dims}"
        assert np.isfinite(y).all() and y.any(), f"seed {seed}: {info.name} is not finite, or all zeros"
        if margin(y, z) > 0.2:
            remarks.append(f"{info.name} depends on optimisation: {margin(y, z):.2f} of the tolerance")
        if margin(y, changed) < 1:
            remarks.append(f"{info.name} hardly depends on the input")
    return model, dict(zip((o.name for o in model.graph.output), outputs)), remarks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default=os.path.join(ROOT, "build", "tests", "gen", "random_cnn_main"))
    parser.add_argument("--check", type=int, default=0)
    args = parser.parse_args()
    nodes, opsets, total, noted = collections.Counter(), collections.Counter(), 0, 0
    os.makedirs(GOLDEN, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        model_path, input_path = os.path.join(folder, "net.onnx"), os.path.join(folder, "input.npz")
        for seed in range(1, (args.check or SEEDS) + 1):
            subprocess.run([args.tool, str(seed), model_path, input_path], check=True, stdout=subprocess.DEVNULL)
            data = open(model_path, "rb").read()
            model, outputs, remarks = check(seed, data, np.load(input_path)["x"])
            nodes.update({n.op_type for n in model.graph.node})
            opsets[model.opset_import[0].version] += 1
            for remark in remarks:
                noted += 1
                print(f"seed {seed}: {remark}")
            if not args.check:
                path = os.path.join(GOLDEN, f"{seed}.npz")
                np.savez_compressed(path, model_crc32=np.array([zlib.crc32(data)], np.uint32), **outputs)
                total += os.path.getsize(path)
    print("networks with each operator:", ", ".join(f"{op} {nodes[op]}" for op in OPERATORS))
    print("networks with each operator set:", ", ".join(f"{v}: {opsets[v]}" for v in sorted(opsets)))
    missing = [op for op in OPERATORS if not nodes[op]]
    assert not missing, f"no network has {missing}"
    print(f"{args.check or SEEDS} networks run, {noted} remarks" + ("" if args.check else f", {total} bytes written"))


if __name__ == "__main__":
    main()
