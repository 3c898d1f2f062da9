# Makes unsupported.onnx: a small network with two operators that the importer does not have. Needs: onnx, numpy.
import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

rng = np.random.default_rng(1)
weights = rng.standard_normal((4, 3, 3, 3)).astype(np.float32) / 5
boxes, images = np.array([[0, 0, 4, 4], [2, 2, 8, 8]], np.float32), np.array([0, 0])
nodes = [
    helper.make_node("Conv", ["x", "w"], ["c"], name="conv1", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    helper.make_node("Relu", ["c"], ["r"], name="relu1"),
    helper.make_node("RoiAlign", ["r", "boxes", "images"], ["s"], name="crop", output_height=2, output_width=2),
    helper.make_node("Det", ["s"], ["y"], name="det"),
]
graph = helper.make_graph(
    nodes, "unsupported",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])],
    [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(boxes, "boxes"), numpy_helper.from_array(images, "images")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=8)
checker.check_model(model)
save(model, "unsupported.onnx")
