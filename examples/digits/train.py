#!/usr/bin/env python3
"""Trains the digits network and writes digits.onnx, digits_qdq.onnx and digits_heldout.npz into this folder.

Nothing that uses the network needs this script. Packages: requirements.txt. Time: half a minute on one CPU core.
"""
import os

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn import functional as F

import record

SIDE, SEED, EPOCHS, OPSET = 16, 1, 40, 13

# The network, once: node name, operator, inputs, and for Conv (in, out, kernel, stride, groups). A node's output has
# the node's name. make_module() turns a row into a torch module, make_node() into an ONNX node.
NETWORK = [
    ("conv1", "Conv", ["x"], (1, 16, 3, 1, 1)),
    ("conv1/bn", "BatchNormalization", ["conv1"], 16),
    ("conv1/relu", "Relu", ["conv1/bn"], None),
    ("pool1", "MaxPool", ["conv1/relu"], None),
    ("block1/dw", "Conv", ["pool1"], (16, 16, 3, 1, 16)),
    ("block1/dw/bn", "BatchNormalization", ["block1/dw"], 16),
    ("block1/dw/relu", "Relu", ["block1/dw/bn"], None),
    ("block1/pw", "Conv", ["block1/dw/relu"], (16, 16, 1, 1, 1)),
    ("block1/pw/bn", "BatchNormalization", ["block1/pw"], 16),
    ("block1/add", "Add", ["block1/pw/bn", "pool1"], None),
    ("block1/relu", "Relu", ["block1/add"], None),
    ("conv2", "Conv", ["block1/relu"], (16, 32, 3, 2, 1)),
    ("conv2/bn", "BatchNormalization", ["conv2"], 32),
    ("conv2/relu", "Relu", ["conv2/bn"], None),
    ("conv3", "Conv", ["conv2/relu"], (32, 48, 3, 1, 1)),
    ("conv3/bn", "BatchNormalization", ["conv3"], 48),
    ("conv3/relu", "Relu", ["conv3/bn"], None),
    ("pool2", "GlobalAveragePool", ["conv3/relu"], None),
    ("flatten", "Flatten", ["pool2"], None),
    ("logits", "Gemm", ["flatten"], (48, 10)),
]


def make_module(op, args):
    if op == "Conv":
        channels_in, channels_out, kernel, stride, groups = args
        return nn.Conv2d(channels_in, channels_out, kernel, stride, kernel // 2, groups=groups, bias=False)
    return {"BatchNormalization": lambda: nn.BatchNorm2d(args), "Relu": nn.ReLU, "MaxPool": lambda: nn.MaxPool2d(2),
            "GlobalAveragePool": lambda: nn.AdaptiveAvgPool2d(1), "Flatten": nn.Flatten,
            "Gemm": lambda: nn.Linear(*args), "Add": nn.Identity}[op]()


def make_node(name, op, inputs, args, module):
    """The ONNX node of one row, and its weights as initializers."""
    weights, attributes = {}, {}
    if op == "Conv":
        kernel, stride, groups = args[2:]
        weights = {"w": module.weight}
        attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [kernel // 2] * 4, "group": groups}
    elif op == "BatchNormalization":
        weights = {"scale": module.weight, "bias": module.bias, "mean": module.running_mean, "var": module.running_var}
        attributes = {"epsilon": module.eps}
    elif op == "MaxPool":
        attributes = {"kernel_shape": [2, 2], "strides": [2, 2]}
    elif op == "Gemm":
        weights = {"w": module.weight, "b": module.bias}
        attributes = {"transB": 1}
    tensors = [numpy_helper.from_array(value.detach().numpy(), f"{name}/{key}") for key, value in weights.items()]
    return helper.make_node(op, inputs + [t.name for t in tensors], [name], name=name, **attributes), tensors


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.ModuleList(make_module(op, args) for _, op, _, args in NETWORK)

    def forward(self, x):
        values = {"x": x}
        for (name, op, inputs, _), module in zip(NETWORK, self.rows):
            values[name] = values[inputs[0]] + values[inputs[1]] if op == "Add" else module(values[inputs[0]])
        return values["logits"]


def load():
    """Images as float32 [n, 1, SIDE, SIDE] in 0..1, labels int64 [n]; 1437 to train on, 360 held out."""
    digits = load_digits()
    images = torch.tensor(digits.images / 16, dtype=torch.float32)[:, None]
    images = F.interpolate(images, size=(SIDE, SIDE), mode="bilinear", align_corners=False)
    train, test = train_test_split(np.arange(len(images)), test_size=360, random_state=SEED, stratify=digits.target)
    labels = torch.tensor(digits.target, dtype=torch.int64)
    return images[train], labels[train], images[test], labels[test]


def train(images, labels):
    network = Digits()
    batch = 32
    steps = (len(images) + batch - 1) // batch
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, epochs=EPOCHS, steps_per_epoch=steps)
    for epoch in range(EPOCHS):
        network.train()
        total = 0.0
        for chosen in torch.randperm(len(images)).split(batch):
            shift = torch.randint(-1, 2, (2,)).tolist()
            loss = F.cross_entropy(network(torch.roll(images[chosen], shift, (2, 3))), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += float(loss.detach()) * len(chosen)
        print(f"epoch {epoch + 1:2}: loss {total / len(images):.4f}")
    return network.eval()


def export(network, path):
    nodes, initializers = [], []
    for (name, op, inputs, args), module in zip(NETWORK, network.rows):
        node, tensors = make_node(name, op, inputs, args, module)
        nodes.append(node)
        initializers += tensors
    graph = helper.make_graph(
        nodes, "digits", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1, SIDE, SIDE])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", 10])], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8,
                              producer_name="examples/digits/train.py")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


class Calibration(CalibrationDataReader):
    def __init__(self, images):
        self.batches = iter([{"x": part.numpy()} for part in images.split(32)])

    def get_next(self):
        return next(self.batches, None)


def quantize(path, quantized_path, images):
    """The int8 QDQ form: weights int8 per output channel, activations uint8, ranges from training images."""
    folded = quantized_path + ".folded"
    quant_pre_process(path, folded)
    quantize_static(folded, quantized_path, Calibration(images), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    os.remove(folded)
    model = onnx.load(quantized_path)
    del model.opset_import[:], model.metadata_props[:]  # the tool lists every domain that it knows
    model.opset_import.append(helper.make_opsetid("", OPSET))
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, quantized_path)


def main():
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    images, labels, heldout, heldout_labels = load()
    network = train(images, labels)
    export(network, record.MODEL)
    quantize(record.MODEL, record.QUANTIZED_MODEL, images[:512])
    record.write(heldout.numpy(), heldout_labels.numpy())


if __name__ == "__main__":
    main()
