"""Networks node by node, as the recorders and generators of tests write them. Packages: onnx, numpy."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper, numpy_helper

TYPES = {np.dtype(np.float32): T.FLOAT, np.dtype(np.int64): T.INT64, np.dtype(np.int32): T.INT32, np.dtype(bool): T.BOOL}


def data(*shape, seed=1):
    return np.random.default_rng(seed).normal(0, 2, shape).astype(np.float32)


class Graph:
    """Nodes in order; constants are initializers of the graph that names them."""

    def __init__(self, name="g"):
        self.name, self.nodes, self.inputs, self.outputs, self.constants, self.count = name, [], [], [], [], 0

    def input(self, name, dims, dtype=np.float32):
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[np.dtype(dtype)], dims))
        return name

    def const(self, value, dtype=None):
        value = np.asarray(value, dtype or (np.int64 if np.asarray(value).dtype.kind == "i" else None))
        self.count += 1
        self.constants.append(numpy_helper.from_array(value, f"{self.name}_c{self.count}"))
        return self.constants[-1].name

    def node(self, op, *inputs, out=None, outputs=1, **attributes):
        self.count += 1
        names = [out or f"{self.name}_{op.lower()}{self.count}"] if outputs == 1 else [f"{self.name}_{op.lower()}{self.count}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def output(self, name, dtype=np.float32, rank=None):
        self.outputs.append(helper.make_tensor_value_info(name, TYPES[np.dtype(dtype)], None if rank is None else [None] * rank))
        return name

    def proto(self):
        return helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.constants)

    def model(self, opset=17):
        model = helper.make_model(self.proto(), opset_imports=[helper.make_opsetid("", opset)], producer_name="record_control")
        model.ir_version = 8
        return model
