#!/usr/bin/env python3
"""Runs the held-out images through onnxruntime and records what it answers in digits_heldout.npz.

Entries: x float32 [360,1,16,16], label int64 [360]; onnxruntime's answer for digits.onnx: ort_class int64 [360],
ort_logits float32 [360,10]; for digits_qdq.onnx: ort_qdq_class, ort_qdq_logits, the same shapes.
"""
import os

import numpy as np
import onnxruntime

FOLDER = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(FOLDER, "digits.onnx")
QUANTIZED_MODEL = os.path.join(FOLDER, "digits_qdq.onnx")
HELDOUT = os.path.join(FOLDER, "digits_heldout.npz")


def run(path, x):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.qdqisint8allowed", "1")  # exact integer arithmetic for the QDQ form
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(["logits"], {"x": x})[0]


def write(x, label):
    logits, quantized_logits = run(MODEL, x), run(QUANTIZED_MODEL, x)
    entries = {"x": x, "label": label, "ort_class": logits.argmax(1), "ort_logits": logits,
               "ort_qdq_class": quantized_logits.argmax(1), "ort_qdq_logits": quantized_logits}
    np.savez_compressed(HELDOUT, **entries)  # NumPy writes fixed time stamps: same contents, same bytes
    two = np.sort(logits, 1)
    print(f"held out: {len(x)} images; accuracy float32 {(entries['ort_class'] == label).mean():.4f}, "
          f"QDQ {(entries['ort_qdq_class'] == label).mean():.4f}; "
          f"smallest gap between the best two logits {(two[:, -1] - two[:, -2]).min():.4f}")


if __name__ == "__main__":
    recorded = np.load(HELDOUT)
    write(recorded["x"], recorded["label"])
