#!/usr/bin/env python3
"""Records what onnxruntime gives for every tensor of mobilenet_v2_quant.onnx on three pictures.

Each operator runs in a session of its own, so that nothing is fused. The tensors are in tests/models/mobilenet_v2.txt,
one line for each: picture, tensor, number of elements, SHA-256 of its bytes in row-major order. The input is what
xpu-run makes of the picture, and stands there too.

record_quantised.py MODELS [BIN]
MODELS: the folder with onnx/ and data/. BIN: the tools (build/bin). Packages: examples/digits/requirements.txt.
"""
import hashlib
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PICTURES = ("cat.bmp", "hot_dog.jpg", "orange.png")


def options():
    made = ort.SessionOptions()
    made.intra_op_num_threads = 1
    made.log_severity_level = 3
    made.add_session_config_entry("session.qdqisint8allowed", "1")
    made.add_session_config_entry("session.x64quantprecision", "1")
    return made


def run_node(model, node, constants, values):
    inputs, initialisers, feeds = [], [], {}
    for name in dict.fromkeys(node.input):
        if name in values:
            array = values[name]
            inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
            feeds[name] = array
        elif name:
            initialisers.append(numpy_helper.from_array(constants[name], name))
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
    graph = helper.make_graph([node], "one", inputs, outputs, initialisers)
    single = helper.make_model(graph, opset_imports=model.opset_import, ir_version=8)
    session = ort.InferenceSession(single.SerializeToString(), options(), providers=["CPUExecutionProvider"])
    values.update(zip([name for name in node.output if name], session.run(None, feeds)))


def picture_tensor(tools, program, picture, folder):
    dump = os.path.join(folder, "dump")
    subprocess.run([os.path.join(tools, "xpu-run"), program, "--device=ref", "--image=" + picture,
                    "--mean=0.485,0.456,0.406", "--std=0.229,0.224,0.225", "--dump-layers=" + dump, "-q"], check=True)
    return np.load(os.path.join(dump, "input_input.npy"))


def record_float(models, picture, tensor):
    session = ort.InferenceSession(os.path.join(models, "onnx", "mobilenet_v2_fp32.onnx"), options(),
                                   providers=["CPUExecutionProvider"])
    output = session.run(None, {session.get_inputs()[0].name: tensor})[0]
    record_output("fp32", picture, session.get_outputs()[0].name, output)


def record_output(form, picture, name, output):
    """A network's output for a picture: mobilenet_v2_FORM_PICTURE.npz."""
    path = os.path.join(ROOT, "tests", "models", "mobilenet_v2_" + form + "_" + os.path.splitext(picture)[0] + ".npz")
    np.savez(path, **{name: output})


def main():
    models, tools = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "build", "bin")
    path = os.path.join(models, "onnx", "mobilenet_v2_quant.onnx")
    model = onnx.load(path)
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "net.xpu")
        subprocess.run([os.path.join(tools, "xpuc"), "-q", path, "-o", program], check=True)
        for picture in PICTURES:
            values = {"input": picture_tensor(tools, program, os.path.join(models, "data", picture), folder)}
            record_float(models, picture, values["input"])
            for node in model.graph.node:
                run_node(model, node, constants, values)
            if picture == PICTURES[0]:
                record_output("quant", picture, model.graph.output[0].name, values[model.graph.output[0].name])
            for name, array in values.items():
                digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
                lines.append(f"{picture} {name} {array.size} {digest}")
    with open(os.path.join(ROOT, "tests", "models", "mobilenet_v2.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    print(f"{len(lines)} tensors recorded")


if __name__ == "__main__":
    main()
