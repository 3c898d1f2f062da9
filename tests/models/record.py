#!/usr/bin/env python3
"""Makes 9.npy from 9.raw and records onnxruntime's answer of mnist-8.onnx for it in mnist8_expected.npz.

Packages: examples/digits/requirements.txt.
"""
import os

import numpy as np
import onnxruntime

os.chdir(os.path.dirname(os.path.abspath(__file__)))
image = np.fromfile("9.raw", np.uint8).astype(np.float32).reshape(1, 1, 28, 28)
np.save("9.npy", image)
session = onnxruntime.InferenceSession("mnist-8.onnx", providers=["CPUExecutionProvider"])
output = session.run(["Plus214_Output_0"], {"Input3": image})[0]
np.savez("mnist8_expected.npz", Plus214_Output_0=output)
print(output, "class", output.argmax())
