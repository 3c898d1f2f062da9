#!/usr/bin/env python3
"""What others say of converted models: `make validate-paddle` runs this with PYTHON (onnx, onnxruntime), then with PADDLE2
(PaddlePaddle 2.6) and PADDLE3 (3.3). validate.py WHICH FOLDER: models in FOLDER with their lists, as validate.sh makes
them: NAME INPUTS.npz OUTPUTS.npz a line, or, of networks of paddle.vision, NAME.npy and NAME.out (vision.py): those are
deep, and 1e-4 of the largest output is what is asked of them."""
import json
import os
import sys

import numpy as np

os.environ["GLOG_minloglevel"] = "3"


def difference(found, expected):
    if found.shape != expected.shape:
        return np.inf
    a, b = (v.astype(np.int64 if v.dtype == bool else np.float64) for v in (found, expected))
    finite = np.isfinite(b)
    if (finite != np.isfinite(a)).any():
        return np.inf
    return np.abs(a[finite] - b[finite]).max() / max(1, np.abs(b[finite]).max()) if finite.any() else 0


def inputs_of(path):
    return {"x": np.load(path)} if path.endswith(".npy") else dict(np.load(path))


def differences(path, found):
    """By the output's name: recorded ones, or those of vision.py, which stand in their order."""
    if not path.endswith(".out"):
        recorded = dict(np.load(path))
        return [(difference(found[n], recorded[n]), n) for n in recorded if n in found]
    rest, out = np.fromfile(path, np.float32), []
    for name, y in found.items():
        known, rest = rest[:y.size], rest[y.size:]
        out.append((np.abs(y.ravel() - known).max() / np.abs(known).max(), name))
    return out


def run_onnx(prefix, inputs):
    import onnx
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    onnx.checker.check_model(prefix + ".onnx", full_check=True)
    session = onnxruntime.InferenceSession(prefix + ".onnx", providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, {n: inputs[n] for n in names})))


def run_paddle(prefix, inputs):
    import paddle
    paddle.enable_static()
    executor = paddle.static.Executor(paddle.CPUPlace())
    with paddle.static.scope_guard(paddle.static.Scope()):
        program, feeds, fetches = paddle.static.load_inference_model(prefix, executor)
        results = executor.run(program, feed={n: inputs[n] for n in feeds}, fetch_list=fetches)
    if os.path.exists(prefix + ".json"):
        ops = json.load(open(prefix + ".json"))["program"]["regions"][0]["blocks"][0]["ops"]
        names = [a["AT"]["D"] for op in ops if op["#"] == "1.fetch" for a in op["A"] if a["N"] == "name"]
    else:
        names = [f.name for f in fetches]
    return dict(zip(names, results))


def main(which, folder):
    bad = 0
    for line in open(os.path.join(folder, "list")):
        name, inputs, outputs = line.split()
        prefix = os.path.join(folder, which, name)
        if not any(os.path.exists(prefix + ending) for ending in (".onnx", ".pdmodel", ".json")):
            continue
        try:
            found = (run_onnx if which == "onnx" else run_paddle)(prefix, inputs_of(inputs))
            worst, limit = max(differences(outputs, found)), 1e-4 if outputs.endswith(".out") else 1e-5
            bad += not worst[0] <= limit
            print(f"{which:8} {name:24} {worst[0]:.1e} {worst[1] if worst[0] > limit else ''}")
        except Exception as error:
            bad += 1
            print(f"{which:8} {name:24} {str(error).strip().splitlines()[-1][:200]}")
    return bad != 0


sys.exit(main(*sys.argv[1:]))
