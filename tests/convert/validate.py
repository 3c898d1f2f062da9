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


UNSIGNED = (np.uint16, np.uint32, np.uint64)  # int64 in PaddlePaddle


def difference(found, expected):
    if expected.dtype in UNSIGNED:
        found = found.astype(expected.dtype)
    if found.shape != expected.shape:
        return np.inf
    a, b = (v.astype(np.int64 if v.dtype == bool else np.float64) for v in (found, expected))
    finite = np.isfinite(b)
    if (finite != np.isfinite(a)).any():
        return np.inf
    return np.abs(a[finite] - b[finite]).max() / max(1, np.abs(b[finite]).max()) if finite.any() else 0


def inputs_of(path):
    if not os.path.exists(path):
        return {}
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
        feed = {n: inputs[n].astype(np.int64) if inputs[n].dtype in UNSIGNED else inputs[n] for n in feeds}
        results = executor.run(program, feed=feed, fetch_list=fetches)
    if os.path.exists(prefix + ".json"):
        ops = json.load(open(prefix + ".json"))["program"]["regions"][0]["blocks"][0]["ops"]
        names = [a["AT"]["D"] for op in ops if op["#"] == "1.fetch" for a in op["A"] if a["N"] == "name"]
    else:
        names = [f.name for f in fetches]
    return dict(zip(names, results))


def judged(which, prefix, inputs, outputs):
    """What one model gives: the worst difference, or what is wrong."""
    found = (run_onnx if which == "onnx" else run_paddle)(prefix, inputs_of(inputs))
    known = differences(outputs, found)
    worst, limit = max(known, default=(0, "")), 1e-4 if outputs.endswith(".out") else 1e-5
    return f"{worst[0]:.1e} {worst[1] if not worst[0] <= limit else ''}"


def reason(text):
    """PaddlePaddle's own summary behind its stack, and its operator; the last line of what others say."""
    lines = text.splitlines()
    summary = [line for line in lines if "Error: " in line]
    return summary[-1] + lines[-1] if summary and "operator" in lines[-1] else lines[-1]


def in_a_child(judge, *arguments):
    """A framework that ends the process with a model ends no other one."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            text = judge(*arguments)
        except Exception as error:
            text = "fails: " + reason(str(error).strip() or type(error).__name__)[:200]
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode()
    status = os.waitpid(child, 0)[1]
    return text or f"crashes: signal {status & 127}"


def main(which, folder):
    bad = 0
    if which == "onnx":
        import onnx, onnxruntime
    else:
        import paddle
    for line in open(os.path.join(folder, "list")):
        name, inputs, outputs = line.split()
        prefix = os.path.join(folder, which, name)
        if not any(os.path.exists(prefix + ending) for ending in (".onnx", ".pdmodel", ".json")):
            continue
        said = in_a_child(judged, which, prefix, inputs, outputs)
        bad += len(said.split()) > 1
        print(f"{which:8} {name:24} {said}", flush=True)
    return bad != 0


sys.exit(main(*sys.argv[1:]))
