#!/usr/bin/env python3
"""Makes tests/golden/dynamic: what onnxruntime's quantize_dynamic makes of two matrix products with a bias and a Relu
between them, with int8 and with uint8 weights, and of the trained network of examples/digits, and what onnxruntime
answers.

record_dynamic.py     Packages: onnx, onnxruntime, numpy.
"""
import os
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "dynamic")


def network(random):
    weights = {"w1": (24, 40), "b1": (40,), "w2": (40, 10)}
    nodes = [helper.make_node("MatMul", ["x", "w1"], ["product"]), helper.make_node("Add", ["product", "b1"], ["sum"]),
             helper.make_node("Relu", ["sum"], ["hidden"]), helper.make_node("MatMul", ["hidden", "w2"], ["y"])]
    graph = helper.make_graph(nodes, "dynamic", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [6, 24])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [6, 10])],
                              [numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name)
                               for name, shape in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def digits():
    """Convolutions and a product; two images of its held-out ones."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.path.join(FOLDER, "digits.onnx")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "digits.onnx")
        model = onnx.load(os.path.join(root, "examples", "digits", "digits.onnx"))
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 2
        onnx.save(model, source)
        quantize_dynamic(source, path, weight_type=QuantType.QUInt8)
    images = np.load(os.path.join(root, "examples", "digits", "digits_heldout.npz"))
    x = next(images[k] for k in images.files if images[k].ndim == 4)[:2].astype(np.float32)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    y = ort.InferenceSession(path, options).run(None, {"x": x})[0]
    np.savez(os.path.join(FOLDER, "digits_in.npz"), x=x)
    np.savez(os.path.join(FOLDER, "digits_out.npz"), logits=y)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    random = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "float.onnx")
        onnx.save(network(random), source)
        for name, weight_type in [("int8", QuantType.QInt8), ("uint8", QuantType.QUInt8)]:
            path = os.path.join(FOLDER, name + ".onnx")
            quantize_dynamic(source, path, weight_type=weight_type)
            x = random.standard_normal((6, 24)).astype(np.float32)
            y = ort.InferenceSession(path).run(None, {"x": x})[0]
            np.savez(os.path.join(FOLDER, name + "_in.npz"), x=x)
            np.savez(os.path.join(FOLDER, name + "_out.npz"), y=y)
    digits()


if __name__ == "__main__":
    main()
