#!/usr/bin/env python3
"""Records what onnxruntime gives for silero_vad_16k_op15.onnx and silero_vad.onnx, frame by frame with the state handed
on, in tests/golden/voice.npz: for both sounds of ../shared/models/data the 31 probabilities and the last state, alone
and as rows of a batch of 2 and of 3, whose third row is the first sound turned round by 5,000 samples. Frames are 512
samples of 16 kHz behind the 64 before them, zeros at first.

record_voice.py SHARED     Packages: examples/digits/requirements.txt.
"""
import os
import sys
import wave

import numpy as np
import onnxruntime as ort

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden")
SHARED = os.path.join(sys.argv[1], "models")


def read(sound):
    with wave.open(os.path.join(SHARED, "data", sound + "_1000ms.wav")) as file:
        assert (file.getframerate(), file.getsampwidth(), file.getnchannels()) == (16000, 2, 1)
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
    return samples


def run(session, rows):
    signal = np.concatenate([np.zeros((len(rows), 64), np.float32), np.stack(rows)], axis=1)
    state, probabilities = np.zeros((2, len(rows), 128), np.float32), []
    for begin in range(0, signal.shape[1] - 576 + 1, 512):
        output, state = session.run(None, {
            "input": signal[:, begin:begin + 576], "state": state, "sr": np.array(16000, np.int64)})
        probabilities.append(output[:, 0])
    return np.array(probabilities, np.float32), state


recorded = {}
yes, silence = read("yes"), read("silence")
signals = {"yes": [yes], "silence": [silence], "batch2": [yes, silence], "batch3": [yes, silence, np.roll(yes, -5000)]}
for model in ("silero_vad_16k_op15", "silero_vad"):
    session = ort.InferenceSession(os.path.join(SHARED, "onnx", model + ".onnx"))
    for name, rows in signals.items():
        probabilities, state = run(session, rows)
        recorded[f"{model}/{name}"] = probabilities.squeeze(1) if len(rows) == 1 else probabilities
        recorded[f"{model}/{name}/state"] = state
        print(model, name, len(probabilities), probabilities.max(axis=0))
np.savez(os.path.join(GOLDEN, "voice.npz"), **recorded)
