#!/usr/bin/env python3
"""Records what onnxruntime gives for silero_vad_16k_op15.onnx and silero_vad.onnx, frame by frame with the state handed
on, in tests/golden/voice.npz: for both sounds of ../shared/models/data the 31 probabilities and the last state. Frames
are 512 samples of 16 kHz behind the 64 before them, zeros at first.

record_voice.py SHARED     Packages: examples/digits/requirements.txt.
"""
import os
import sys
import wave

import numpy as np
import onnxruntime as ort

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden")
SHARED = os.path.join(sys.argv[1], "models")

recorded = {}
for model in ("silero_vad_16k_op15", "silero_vad"):
    session = ort.InferenceSession(os.path.join(SHARED, "onnx", model + ".onnx"))
    for sound in ("yes", "silence"):
        with wave.open(os.path.join(SHARED, "data", sound + "_1000ms.wav")) as file:
            assert (file.getframerate(), file.getsampwidth(), file.getnchannels()) == (16000, 2, 1)
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
        signal = np.concatenate([np.zeros(64, np.float32), samples])
        state, probabilities = np.zeros((2, 1, 128), np.float32), []
        for begin in range(0, len(signal) - 576 + 1, 512):
            output, state = session.run(None, {
                "input": signal[None, begin:begin + 576], "state": state, "sr": np.array(16000, np.int64)})
            probabilities.append(output[0, 0])
        recorded[f"{model}/{sound}"] = np.array(probabilities, np.float32)
        recorded[f"{model}/{sound}/state"] = state
        print(model, sound, len(probabilities), max(probabilities))
np.savez(os.path.join(GOLDEN, "voice.npz"), **recorded)
