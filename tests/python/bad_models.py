"""Models that are wrong, for every interface that reads ONNX: each wrong in one way, and digits damaged with a seed."""
import random

from onnx import TensorProto, helper, load

DIGITS = "examples/digits/digits.onnx"
FLOAT = TensorProto.FLOAT


def _model(nodes, constants=(), inputs=(("x", FLOAT, [1, 4]),), outputs=(("y", FLOAT, [1, 4]),), opset=17):
    sides = [[helper.make_tensor_value_info(*v) for v in side] for side in (inputs, outputs)]
    return helper.make_model(helper.make_graph(nodes, "g", *sides, list(constants)), ir_version=8,
                             opset_imports=[helper.make_opsetid("", opset)])


def _wrong_ones():
    def node(op, inputs=("x",), outputs=("y",), **attributes):
        return helper.make_node(op, inputs, outputs, name="wrong", **attributes)

    weights = helper.make_tensor("w", FLOAT, [4, 4], [0.5] * 16)
    short, huge, negative, far = (TensorProto() for _ in range(4))
    for tensor in (short, huge, negative, far):
        tensor.CopyFrom(weights)
        tensor.ClearField("float_data")
    short.raw_data = b"\0" * 63
    huge.raw_data, huge.dims[0] = b"\0" * 64, 1 << 40
    negative.raw_data, negative.dims[0] = b"\0" * 64, -4
    far.data_location = TensorProto.EXTERNAL
    far.external_data.add(key="location", value="../../../../etc/passwd")
    product = node("MatMul", ("x", "w"))
    yield "unknown operator", _model([node("Sqeeze")])
    yield "missing input", _model([node("Add", ("x", "nowhere"))])
    yield "too few inputs", _model([node("MatMul")])
    yield "no output", _model([node("Relu", outputs=("z",))])
    yield "circle", _model([node("Add", ("x", "z")), helper.make_node("Relu", ["y"], ["z"])])
    yield "two of a name", _model([node("Relu"), node("Exp")])
    yield "shapes", _model([product], [helper.make_tensor("w", FLOAT, [3, 4], [0.5] * 12)])
    yield "types", _model([product], [helper.make_tensor("w", TensorProto.INT64, [4, 4], [1] * 16)])
    yield "attribute's type", _model([node("Softmax", axis="last")])
    yield "axis", _model([node("Softmax", axis=7)])
    yield "permutation", _model([node("Transpose", perm=[0, 0])])
    yield "window", _model([node("MaxPool", kernel_shape=[9, 9])])
    yield "opset", _model([node("Relu")], opset=999)
    yield "element type", _model([node("Relu")], inputs=[("x", 77, [1, 4])])
    for name, tensor in (("short", short), ("huge", huge), ("negative", negative), ("far", far)):
        yield name + " weights", _model([product], [tensor])
    yield "no graph", type(_model([]))(ir_version=8)
    branch = helper.make_graph([node("Add", ("x", "nowhere"), ("z",))], "b", [], [helper.make_tensor_value_info("z", FLOAT, None)])
    yield "branch", _model([node("If", ("x",), then_branch=branch, else_branch=branch)])


def bad_models():
    """(name, bytes) of each, in the same order at each call. Those named damaged may be right by chance."""
    yield "nothing", b""
    yield "text", b"no model at all\n" * 20
    for name, model in _wrong_ones():
        yield name, model.SerializeToString()
    content, draw = load(DIGITS).SerializeToString(), random.Random(14)
    for number in range(10):
        yield "damaged: cut %d" % number, content[:draw.randrange(1, len(content))]
    for number in range(30):
        damaged = bytearray(content)
        for _ in range(draw.choice((1, 3, 30))):
            at = draw.randrange(min(len(content), draw.choice((400, len(content)))))
            damaged[at] = draw.randrange(256)
        yield "damaged: bytes %d" % number, bytes(damaged)
