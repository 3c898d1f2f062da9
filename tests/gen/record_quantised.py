#!/usr/bin/env python3
"""Runs random quantised networks through onnxruntime; records what it answers in tests/golden/random_qcnn/SEED.npz.

Each file holds every output of the network by name, and model_crc32 of the model file that it belongs to. The session
takes int8 as it is (session.qdqisint8allowed) and, where its kernels allow that, avoids saturating x86 instructions
(session.x64quantprecision).

record_quantised.py [--tool=build/tests/gen/random_cnn_main]
Packages: examples/digits/requirements.txt.
"""
import argparse
import os
import subprocess
import tempfile
import zlib

import numpy as np
import onnx
import onnxruntime as ort

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOLDEN = os.path.join(ROOT, "tests", "golden", "random_qcnn")
SEEDS = 40


def session(data):
    for precise in ("1", "0"):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.qdqisint8allowed", "1")
        options.add_session_config_entry("session.x64quantprecision", precise)
        try:
            return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the precise form has no kernels for int8 activations of dense layers
            if precise == "0":
                raise error


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default=os.path.join(ROOT, "build", "tests", "gen", "random_cnn_main"))
    args = parser.parse_args()
    os.makedirs(GOLDEN, exist_ok=True)
    operators = set()
    with tempfile.TemporaryDirectory() as folder:
        model_path, input_path = os.path.join(folder, "net.onnx"), os.path.join(folder, "input.npz")
        for seed in range(1, SEEDS + 1):
            subprocess.run([args.tool, "--quantised", str(seed), model_path, input_path], check=True,
                           stdout=subprocess.DEVNULL)
            data = open(model_path, "rb").read()
            model = onnx.load_from_string(data)
            onnx.checker.check_model(model)
            outputs = session(data).run(None, {"x": np.load(input_path)["x"]})
            operators.update(node.op_type for node in model.graph.node)
            names = [output.name for output in model.graph.output]
            np.savez_compressed(os.path.join(GOLDEN, f"{seed}.npz"),
                                model_crc32=np.array([zlib.crc32(data)], np.uint32), **dict(zip(names, outputs)))
    print(f"{SEEDS} networks, operators: {', '.join(sorted(operators))}")


if __name__ == "__main__":
    main()
