#!/usr/bin/env python3
"""Records what onnxruntime gives for networks that read and write text: tests/control/text/NAME.CASE_in.npz with the
inputs, NAME.CASE_out.npz with the outputs. A language model's logits and its loop of generation, whose 256 tokens are
the text of its documentation; a splitter of sentences; a detector, a recogniser and a classifier of lines of text, whose
probabilities are recorded to five decimals.

record_text.py SHARED     the folder with models/onnx and models/data. Packages: onnxruntime, numpy.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper

from npz import write_npz

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "control", "text")


def shared(*path):
    return os.path.join(sys.argv[1], "models", *path)


def record(name, model, cases, decimals=None):
    session = ort.InferenceSession(shared("onnx", model + ".onnx"), providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    results = {}
    for case, inputs in cases.items():
        results[case] = session.run(names, inputs)
        rounded = [r if decimals is None else np.round(r, decimals) for r in results[case]]
        write_npz(os.path.join(FOLDER, f"{name}.{case}_in.npz"), inputs)
        write_npz(os.path.join(FOLDER, f"{name}.{case}_out.npz"), dict(zip(names, rounded)))
    return {case: r[0] for case, r in results.items()}


def vocabulary():
    """The pieces of tok512.bin: behind a number, for each a float and a length."""
    with open(shared("data", "tok512.bin"), "rb") as file:
        file.read(4)
        for _ in range(512):
            yield file.read(struct.unpack("fi", file.read(8))[1])


def text_of(tokens):
    words = list(vocabulary())
    return b"".join(re.sub(rb"^<0x(..)>$", lambda m: bytes([int(m[1], 16)]), words[t]) for t in tokens).decode()


def levels(seed, *shape):
    """A picture of noise, from -1 to 1."""
    return (np.random.default_rng(seed).integers(0, 256, shape) / 127.5 - 1).astype(np.float32)


def picture(height, width, times=1):
    """A photograph of text in this size as the detector takes it, each pixel `times` times in both directions."""
    shape, (xpuc, xpu_run) = [1, 3, height, width], [os.path.join(FOLDER, "..", "..", "..", "build", "bin", n) for n in ("xpuc", "xpu-run")]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [helper.make_tensor_value_info("x", 1, shape)],
                              [helper.make_tensor_value_info("y", 1, shape)])
    with tempfile.TemporaryDirectory() as folder:
        model, program, out = (os.path.join(folder, n) for n in ("m.onnx", "m.xpu", "m.npz"))
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), model)
        subprocess.check_call([xpuc, "-q", model, "-o", program])
        subprocess.check_call([xpu_run, "-q", program, "-d", "ref", "--image=" + shared("data", "text_det.jpg"), "--bgr",
                               "--mean=0.485,0.456,0.406", "--std=0.229,0.224,0.225", "-o", out])
        with np.load(out) as file:
            return file["y"].repeat(times, 2).repeat(times, 3)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    start = np.array([1])
    tokens = record("generate", "stories260K_generate_loop",
                    {count: {"prompt": start, "max_new": np.array(count)} for count in (0, 8, 32, 256, 600)})
    assert len(tokens[256]) == 257 and len(tokens[600]) == 347
    with open(shared("data", "stories260K.md")) as file:
        assert text_of(tokens[256][1:]).strip() in file.read()
    record("generate", "stories260K_generate_loop", {"after_20": {"prompt": tokens[32][:20], "max_new": np.array(10)}})
    record("logits", "stories260K_logits", {count: {"tokens": tokens[32][:count]} for count in (3, 12)})
    record("logits", "stories260K_logits", {100: {"tokens": tokens[256][:100]}}, 5)
    with np.load(shared("data", "nnsplit_bidi_lstm_io.npz")) as file:
        given, wanted = file["input"], file["Add_26"]
    split = record("split", "nnsplit_bidi_lstm", {"1_20": {"input": given[:1, :20]}, "2_58": {"input": given}})
    assert np.abs(split["2_58"] - wanted).max() < 3e-6
    read = record("recognise", "ch_PP-OCRv4_rec_infer", {w: {"x": levels(w, 1, 3, 48, w)} for w in (32, 104, 320)}, 5)
    side = record("classify", "ch_ppocr_mobile_v2.0_cls_infer", {"96": {"x": levels(96, 1, 3, 48, 96)}, "48_192": {"x": levels(192, 1, 3, 48, 192)}, "80_136": {"x": levels(136, 1, 3, 80, 136)}}, 5)
    found = record("detect", "ch_PP-OCRv4_det_infer", {f"{h * k}_{w * k}": {"x": picture(h, w, k)} for h, w, k in ((96, 160, 1), (128, 64, 1), (160, 160, 4))}, 5)
    assert all((r > 0.3).any() for r in found.values())
    print({w: r.max(-1) for w, r in read.items()}, side)


if __name__ == "__main__":
    main()
