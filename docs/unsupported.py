# Makes unsupported.onnx: a small network with two operators that the importer does not have. Needs: onnx, numpy.
import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

rng = np.random.default_rng(1)
weights = rng.standard_normal((4, 3, 3, 3)).astype(np.float32) / 5
grid = rng.uniform(-1, 1, (1, 8, 8, 2)).astype(np.float32)
nodes = [
    helper.make_node("Conv", ["x", "w"], ["c"], name="conv1", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    helper.make_node("Sinh", ["c"], ["m"], name="act1"),
    helper.make_node("GridSample", ["m", "grid"], ["s"], name="warp"),
    helper.make_node("GlobalAveragePool", ["s"], ["y"], name="pool"),
]
graph = helper.make_graph(
    nodes, "unsupported",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 1, 1])],
    [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(grid, "grid")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=8)
checker.check_model(model)
save(model, "unsupported.onnx")
