#!/usr/bin/env python3
"""A network in a stock session of onnxruntime: what the chip takes runs there, the rest on the CPU.

    python3 examples/stock/provider.py [MODEL.onnx]

The model's inputs are of float32; digits.onnx is read where none is given. The provider is that of the package onnxruntime_ep_xpu,
or the library that XPU_PROVIDER names. docs/onnxruntime.md is the manual.
"""
import json
import os
import sys
import tempfile

import numpy as np
import onnxruntime as ort

HERE = os.path.dirname(os.path.abspath(__file__))


def library():
    """The provider's file."""
    if os.environ.get("XPU_PROVIDER"):
        return os.environ["XPU_PROVIDER"]
    import onnxruntime_ep_xpu
    return onnxruntime_ep_xpu.get_library_path()


def session_options(**options):
    """Options of a session with the chip before the CPU."""
    device = [d for d in ort.get_ep_devices() if d.ep_name == "XpuExecutionProvider"][:1]
    made = ort.SessionOptions()
    made.add_provider_for_devices(device, options)
    return made


def main():
    model = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "digits", "digits.onnx")
    ort.register_execution_provider_library("xpu", library())
    with tempfile.TemporaryDirectory() as folder:
        report, profile, kept = (os.path.join(folder, name) for name in ("report.json", "profile", "kept.onnx"))

        # A session on the chip in SystemVerilog; its programs are kept in a model of EPContext nodes
        options = session_options(device="rtl", report=report, profile=profile)
        options.add_session_config_entry("ep.context_enable", "1")
        options.add_session_config_entry("ep.context_embed_mode", "1")
        options.add_session_config_entry("ep.context_file_path", kept)
        session = ort.InferenceSession(model, sess_options=options, enable_fallback=0)
        with open(report, encoding="utf-8") as file:
            nodes = json.load(file)["nodes"]
        print("%d of %d nodes run on the chip" % (sum(node["region"] is not None for node in nodes), len(nodes)))

        shapes = {i.name: [d if isinstance(d, int) else 1 for d in i.shape] for i in session.get_inputs()}
        draw = np.random.default_rng(1)
        feeds = {name: draw.random(shape, dtype=np.float32) for name, shape in shapes.items()}
        results = session.run(None, feeds)
        with open(profile, encoding="utf-8") as file:
            print("cycles: %d" % sum(json.loads(line)["stats"]["cycles"] for line in file))

        # onnxruntime alone
        plain = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, feeds)
        print("largest difference to onnxruntime's CPU: %.1e" % max(np.abs(a - b).max() for a, b in zip(results, plain)))

        # The model that was kept: nothing is compiled; the chip in C gives the same bits
        again = ort.InferenceSession(kept, sess_options=session_options(device="func"), enable_fallback=0)
        same = all(np.array_equal(a, b) for a, b in zip(results, again.run(None, feeds)))
        print("from the model that was kept: %s" % ("the same" if same else "not the same"))
    return 0 if same else 4


if __name__ == "__main__":
    sys.exit(main())
