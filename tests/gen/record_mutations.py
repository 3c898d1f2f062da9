#!/usr/bin/env python3
"""Finds seeds of mutations that change what a model computes, for tests/validate: tests/validate/mutations.txt.

mutate_onnx_main changes one thing of a model by a seed; onnxruntime runs both on two inputs of this script (normal, and
from 0 to 1). A seed is taken where an output keeps its shape, is finite, and differs by more than 1e-4 * max|y| in one of
the runs; models that the importer refuses, as windows do not fit, are left out. Each line: model, model that the changed one is compared with, options of xpu-validate, seed, "renamed" or
"named". SHARED stands for ../shared.

record_mutations.py [--tool=build/tests/gen/mutate_onnx_main]   Packages: examples/digits/requirements.txt.
"""
import argparse
import os
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime as ort

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.path.join(os.path.dirname(ROOT), "shared")
ONNX = "SHARED/models/onnx/"
PADDLE = "SHARED/models/paddle/"
DET, REC = ONNX + "ch_PP-OCRv4_det_infer.onnx", ONNX + "ch_PP-OCRv4_rec_infer.onnx"
SILERO = "examples/voice/silero_vad_16k_op15.onnx"
# model, what it is compared with, options, dims of inputs where the model leaves them open, how many, renamed
ROWS = [
    ("examples/digits/digits.onnx", None, "", {"x": (2, 1, 16, 16)}, 9, 0),
    ("tests/models/mnist-8.onnx", None, "", {}, 6, 0),
    ("examples/digits/digits_qdq.onnx", None, "", {"x": (2, 1, 16, 16)}, 5, 0),
    ("tests/regress/detector/detector.onnx", None, "", {}, 12, 0),
    ("examples/digits/digits.onnx", None, "", {"x": (2, 1, 16, 16)}, 8, 1),
    ("tests/regress/detector/detector.onnx", None, "", {}, 8, 1),
    (SILERO, None, "--shape input=1,576 --shape state=2,1,128", {"input": (1, 576), "state": (2, 1, 128)}, 8, 0),
    (DET, None, "", {"x": (1, 3, 64, 96)}, 34, 0),
    (DET, None, "", {"x": (1, 3, 64, 96)}, 10, 1),
    (DET, PADDLE + "ch_PP-OCRv4_det", "", {"x": (1, 3, 64, 96)}, 20, 0),
    (REC, None, "", {"x": (1, 3, 48, 96)}, 14, 0),
    (REC, None, "", {"x": (1, 3, 48, 96)}, 6, 1),
    (REC, PADDLE + "ch_PP-OCRv4_rec", "", {"x": (1, 3, 48, 96)}, 20, 0),
    (ONNX + "ch_ppocr_mobile_v2.0_cls_infer.onnx", None, "", {"x": (1, 3, 48, 192)}, 10, 0),
    (ONNX + "nnsplit_bidi_lstm.onnx", None, "", {"input": (1, 64)}, 4, 0),
    (ONNX + "stories260K_logits.onnx", None, "", {"tokens": (32,)}, 8, 0),
]
NETWORKS = [1, 3, 4, 8, 13, 17, 24, 28, 30, 31, 40, 48, 50, 52]


def path_of(name):
    return os.path.join(SHARED, name[7:]) if name.startswith("SHARED/") else os.path.join(ROOT, name)


def session(path):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def draw(net, dims, sample, rng):
    feed = {}
    for value in net.get_inputs():
        shape = dims.get(value.name) or tuple(d if isinstance(d, int) else 2 for d in value.shape)
        if "float" in value.type:
            feed[value.name] = (rng.random(shape) if sample else rng.standard_normal(shape)).astype(np.float32)
        elif "uint8" in value.type:
            feed[value.name] = rng.integers(0, 256, shape).astype(np.uint8)
        elif "bool" in value.type:
            feed[value.name] = rng.random(shape) < 0.5
        else:
            kind = np.int32 if "int32" in value.type else np.int64
            feed[value.name] = np.asarray(rng.integers(0, 500 if value.name == "tokens" else 2, shape)).astype(kind)
    return feed


def changes(before, after):
    worst = 0
    for a, b in zip(before, after):
        if a.shape != b.shape or not np.issubdtype(a.dtype, np.floating):
            return 0
        if not (np.isfinite(a).all() and np.isfinite(b).all()):
            return 0
        worst = max(worst, float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-30)) if a.size else 0)
    return worst


def find(tool, row, folder, first):
    model, other, options, dims, wanted, renamed = row
    net = session(path_of(model))
    rng = np.random.default_rng(1)
    feeds = [draw(net, dims, sample, rng) for sample in range(2)]
    try:
        before = [net.run(None, feed) for feed in feeds]
    except Exception:  # indices that are none
        return []
    found, seed, out = [], first, os.path.join(folder, "m.onnx")
    while len(found) < wanted and seed < first + 40 * wanted:
        seed += 1
        if subprocess.run([tool, path_of(model), str(seed), out], capture_output=True).returncode:
            continue
        read = subprocess.run([os.path.join(os.path.dirname(tool), "../../bin/xpuc"), "--describe", out] + options.split(),
                              capture_output=True)
        if read.returncode or b"not imported" in read.stdout:  # windows do not fit, say
            continue
        try:
            changed = session(out)
            worst = max(changes(b, changed.run(None, f)) for b, f in zip(before, feeds))
        except Exception:  # it cannot be loaded or run
            continue
        if worst > 1e-4:
            found.append("\t".join([model, other or model, options or "-", str(seed), "renamed" if renamed else "named"]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=os.path.join(ROOT, "build/tests/gen/mutate_onnx_main"))
    args = parser.parse_args()
    rows = list(ROWS)
    for i, number in enumerate(NETWORKS):
        rows.insert(6 + i, (f"tests/networks/{number}.onnx", None, "", {}, 2, i % 2))
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for i, row in enumerate(rows):
            found = find(args.tool, row, folder, 1000 * i)
            print(row[0], row[1] or "", len(found), "of", row[4], flush=True)
            lines += found
    lines = lines[:200]
    with open(os.path.join(ROOT, "tests/validate/mutations.txt"), "w") as file:
        file.write("\n".join(lines) + "\n")
    print(len(lines), "mutations")


main()
