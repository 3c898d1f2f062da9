"""Writes tests/targets/digits_in.npz and digits_out.npz: five pictures of examples/digits, and onnxruntime's logits."""
import pathlib

import numpy as np
import onnxruntime

root = pathlib.Path(__file__).resolve().parents[2]
x = np.load(root / "examples/digits/digits_heldout.npz")["x"][:5].astype(np.float32)
session = onnxruntime.InferenceSession(root / "examples/digits/digits.onnx")
np.savez_compressed(root / "tests/targets/digits_in.npz", x=x)
np.savez_compressed(root / "tests/targets/digits_out.npz", logits=session.run(["logits"], {"x": x})[0])
