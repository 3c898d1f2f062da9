#!/usr/bin/env python3
"""Records what onnxruntime gives for some frames of a sound: tests/control/silero/FRAME_in.npz (input, state, sr) and
FRAME_out.npz (output, stateN). Both networks give the same at 16 kHz.

record_silero.py SHARED     the folder with models/onnx and models/data. Packages: onnxruntime, numpy.
"""
import os
import sys
import wave

import numpy as np
import onnxruntime as ort

from npz import write_npz

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "control", "silero")
FRAMES, SIZE, BEFORE = (0, 7, 15, 24, 30), 512, 64


def main():
    os.makedirs(FOLDER, exist_ok=True)
    with wave.open(os.path.join(sys.argv[1], "models", "data", "yes_1000ms.wav")) as file:
        sound = np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32) / 32768
    sessions = {n: ort.InferenceSession(os.path.join(sys.argv[1], "models", "onnx", n + ".onnx"), providers=["CPUExecutionProvider"])
                for n in ("silero_vad_16k_op15", "silero_vad")}
    sound = np.concatenate([np.zeros(BEFORE, np.float32), sound])
    state = np.zeros((2, 1, 128), np.float32)
    for frame in range((len(sound) - BEFORE) // SIZE):
        inputs = {"input": sound[None, frame * SIZE:frame * SIZE + SIZE + BEFORE], "state": state, "sr": np.array(16000)}
        results = {n: s.run(["output", "stateN"], inputs) for n, s in sessions.items()}
        off = max(np.abs(a - b).max() for a, b in zip(*results.values()))
        assert off < 1e-5, off
        output, state = results["silero_vad_16k_op15"]
        if frame in FRAMES:
            print(frame, output.ravel(), off)
            write_npz(os.path.join(FOLDER, f"{frame:02}_in.npz"), inputs)
            write_npz(os.path.join(FOLDER, f"{frame:02}_out.npz"), {"output": output, "stateN": state})


if __name__ == "__main__":
    main()
