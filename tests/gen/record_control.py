#!/usr/bin/env python3
"""Makes the networks of tests/control, whose shapes and branches are computed in the model: NAME.onnx, NAME_in.npz with
the inputs, NAME_out.npz with the outputs that onnxruntime gives; of networks with several cases NAME.CASE_in.npz and so
on. NAME.options: options of xpuc, where there are some.

record_control.py [NAME...]     Packages: onnx, onnxruntime, numpy.
"""
import os
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

from npz import write_npz
from onnx_graph import Graph, data

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "control")
NETWORKS = {}


def network(function):
    NETWORKS[function.__name__] = function
    return function


# Each gives (graph, inputs or {case: inputs}, options of xpuc).

@network
def if_nested():
    """A captured value, a condition that comes last in the list, weights in a branch, a branch in a branch."""
    g = Graph()
    x = g.input("x", [3, 200])
    inner = Graph("inner")
    inner.output(inner.node("Mul", "outer_t", inner.const(data(200, seed=3))))
    other = Graph("other")
    other.output(other.node("Neg", "outer_t"))
    outer = Graph("outer")
    outer.node("Relu", x, out="outer_t")
    outer.output(outer.node("If", "yes", then_branch=inner.proto(), else_branch=other.proto()))
    never = Graph("never")
    never.output(never.node("Identity", x))
    g.output(g.node("If", "yes", out="y", then_branch=outer.proto(), else_branch=never.proto()))
    g.nodes.append(helper.make_node("Constant", [], ["yes"], value=numpy_helper.from_array(np.array([True]), "yes")))
    g.nodes.reverse()
    return g, {"x": data(3, 200)}, ""


@network
def if_results():
    """Results that are a captured input, a constant of the branch and a computed value; one is used by both branches."""
    g = Graph()
    x = g.input("x", [2, 5])
    no = g.const(np.array(False))
    t = g.node("Abs", x)
    a = Graph("a")
    for name in (a.node("Neg", t), a.node("Neg", t), a.node("Neg", t)):
        a.output(name)
    b = Graph("b")
    for name in (b.node("Identity", x), b.node("Identity", b.const(data(2, 5, seed=8))), b.node("Sigmoid", t)):
        b.output(name)
    names = g.node("If", no, outputs=3, then_branch=a.proto(), else_branch=b.proto())
    for name in names:
        g.output(name)
    g.output(g.node("Add", names[1], names[2]))
    return g, {"x": data(2, 5)}, ""


# ---- shapes that the model computes ----

def sizes(shapes, seed=5):
    return {"_".join(map(str, shape)): {"x": data(*shape, seed=seed + i)} for i, shape in enumerate(shapes)}


@network
def shape_arithmetic():
    """Shape, Slice, ReduceProd, Concat into Reshape; through float and back into Expand; -1 beside an expression."""
    g = Graph()
    x = g.input("x", ["N", 3, "H", "W"])
    shape = g.node("Shape", x)
    batch, image = g.node("Slice", shape, g.const([0]), g.const([2])), g.node("Slice", shape, g.const([2]), g.const([4]))
    flat = g.node("Concat", batch, g.node("ReduceProd", image, keepdims=1), axis=0)
    g.output(g.node("Relu", g.node("Reshape", x, flat)))
    half = g.node("Cast", g.node("Floor", g.node("Mul", g.node("Cast", image, to=1), g.const(np.float32([0.5, 2])))), to=7)
    g.output(g.node("Expand", g.const(np.float32(3)), g.node("Concat", batch, half, axis=0)))
    width = g.node("Slice", shape, g.const([3]), g.const([4]))
    g.output(g.node("Sigmoid", g.node("Reshape", x, g.node("Concat", width, g.const([-1]), axis=0))))
    return g, sizes([(1, 3, 4, 6), (2, 3, 5, 8), (3, 3, 7, 2)]), "--shape x=1..4,3,2..16,2..16:2"


@network
def shape_as_data():
    """Shapes as data, of every type that they go through, beside the same values as shapes."""
    g = Graph()
    x = g.input("x", ["N", "L"])
    shape = g.node("Shape", x)
    g.output(shape, np.int64)
    twice = g.node("Mul", shape, g.const([2, 3]))
    g.output(twice, np.int64)
    g.output(g.node("Cast", twice, to=6), np.int32)
    g.output(g.node("Greater", shape, g.const([3, 5])), bool)
    g.output(g.node("Size", x), np.int64)
    g.output(g.node("Div", x, g.node("Cast", g.node("Size", x), to=1)))
    g.output(g.node("Expand", g.const(np.float32([[1.5]])), twice))
    g.output(g.node("Where", g.node("Less", shape, g.const([4, 4])), shape, g.const([-7, 9])), np.int64)
    g.output(g.node("Neg", g.node("Mod", g.node("Add", shape, g.const([5, 6])), g.const([4, 4]))), np.int64)
    g.output(g.node("Div", g.node("Sub", g.const([3, 3]), shape), g.const([2, 2])), np.int64)
    return g, sizes([(1, 3), (2, 8), (5, 4), (4, 6)]), "--shape x=1..8,1..16"


@network
def shape_decides():
    """Comparisons of shapes that hold for all of them: the branch that cannot be is ill-typed."""
    g = Graph()
    x = g.input("x", ["N", 1, "L"])
    shape = g.node("Shape", x)
    middle = g.node("Slice", shape, g.const([1]), g.const([2]))
    rank = g.node("Size", shape)
    squeeze, keep = Graph("squeeze"), Graph("keep")
    squeeze.output(squeeze.node("Squeeze", x, squeeze.const([1])))
    keep.output(keep.node("Identity", x))
    flat = g.node("If", g.node("Equal", middle, g.const([1])), then_branch=squeeze.proto(), else_branch=keep.proto())
    never, always = Graph("never"), Graph("always")
    never.output(never.node("Transpose", flat, perm=[0, 2, 1]))
    always.output(always.node("Abs", flat))
    is_three = g.node("And", g.node("Not", g.node("Equal", rank, g.const(3))), g.node("Less", g.const([0]), middle))
    y = g.node("If", is_three, then_branch=never.proto(), else_branch=always.proto())
    last = g.node("Slice", shape, g.const([-1]), g.const([9]))
    wanted = g.node("Where", g.node("Equal", last, g.const([-1])), g.const([7]), last)
    g.output(g.node("Reshape", y, g.node("Concat", g.const([-1]), wanted, axis=0)))
    return g, sizes([(1, 1, 3), (4, 1, 5)]), "--shape x=1..8,1,1..16"


@network
def shape_by_gather():
    """As PyTorch exports views: Shape, Gather, arithmetic, Unsqueeze, Concat; Tile, Split and ConstantOfShape by shapes."""
    g = Graph()
    x = g.input("x", ["N", "T", 12])
    dim = lambda i: g.node("Gather", g.node("Shape", x), g.const(i), axis=0)
    one = lambda d: g.node("Unsqueeze", d, g.const([0]))
    heads = g.node("Concat", one(dim(0)), one(dim(1)), g.const([3]), one(g.node("Div", dim(2), g.const(3))), axis=0)
    split = g.node("Transpose", g.node("Reshape", x, heads), perm=[0, 2, 1, 3])
    g.output(g.node("Relu", split))
    back = g.node("Concat", one(g.node("Mul", dim(0), dim(1))), g.const([-1]), axis=0)
    g.output(g.node("Neg", g.node("Reshape", g.node("Transpose", split, perm=[0, 2, 1, 3]), back)))
    zeros = g.node("ConstantOfShape", g.node("Concat", one(dim(0)), one(g.node("Add", dim(1), g.const(2))), axis=0),
                   value=numpy_helper.from_array(np.float32([0.5])))
    g.output(zeros)
    g.output(g.node("Tile", g.const(np.float32([[1, 2]])), g.node("Concat", one(dim(1)), g.const([2]), axis=0)))
    last = g.node("Slice", x, one(g.node("Sub", dim(1), g.const(1))), one(dim(1)), g.const([1]))
    g.output(g.node("Sigmoid", g.node("Squeeze", last, g.const([1]))))
    first = g.node("Slice", x, g.const([0]), one(g.node("Min", dim(1), g.const(2))), g.const([1]))
    g.output(g.node("Abs", first))
    return g, sizes([(1, 2, 12), (2, 5, 12), (3, 1, 12)]), "--shape x=1..4,1..8,12"


# ---- shapes that values of inputs decide ----

@network
def value_slice():
    """Ends of a slice, the shape of a Reshape and of an Expand come from an input, which is data, too."""
    g = Graph()
    x, ends = g.input("x", [8, 10]), g.input("ends", [2], np.int64)
    part = g.node("Slice", x, g.const([0, 0]), ends)
    g.output(g.node("Relu", part))
    g.output(g.node("Expand", g.const(np.float32([[2]])), ends))
    flat = g.node("ReduceProd", ends, keepdims=1)
    g.output(g.node("Neg", g.node("Reshape", part, flat)))
    g.output(g.node("Mul", ends, g.const([2, -3])), np.int64)
    return g, {f"{a}_{b}": {"x": data(8, 10, seed=a), "ends": np.array([a, b])} for a, b in [(1, 1), (8, 8), (3, 7)]}, "--value ends=1..8"


@network
def value_bounded():
    """Sizes that are expressions of an input's elements, which --bound bounds where they are made."""
    g = Graph()
    x, sizes = g.input("x", [1]), g.input("sizes", [2], np.int64)
    dims = g.node("Mul", sizes, g.const([2, 3]), out="dims")
    y = g.node("Relu", g.node("Expand", x, dims))
    count = g.node("Squeeze", g.node("ReduceSum", dims, keepdims=1), g.const([0]), out="sum")
    g.output(y)
    g.output(g.node("Cast", g.node("Range", g.const(0), count, g.const(1)), to=1))
    return g, {f"{a}_{b}": {"x": data(1, seed=a), "sizes": np.array([a, b])} for a, b in [(1, 1), (9, 6), (0, 2)]}, "--bound=dims=18 --bound=sum=36"


@network
def value_shape():
    """The shape of an Expand is computed from an input, which may hold anything where --value says nothing."""
    g = Graph()
    x, sizes = g.input("x", [1]), g.input("sizes", [2], np.int64)
    g.output(g.node("Relu", g.node("Expand", x, g.node("Mul", sizes, g.const([2, 3])))))
    return g, {f"{a}_{b}": {"x": data(1, seed=a), "sizes": np.array([a, b])} for a, b in [(1, 1), (9, 4)]}, "--value sizes=1..9"


@network
def value_folded():
    """A rate that decides a branch, given when the model is compiled."""
    g = Graph()
    x, rate = g.input("x", [2, 6]), g.input("rate", [], np.int64)
    high, low = Graph("high"), Graph("low")
    high.output(high.node("Relu", x))
    low.output(low.node("Reshape", x, low.const([5, 5])))
    g.output(g.node("If", g.node("Equal", rate, g.const(16000)), then_branch=high.proto(), else_branch=low.proto()))
    return g, {"x": data(2, 6), "rate": np.array(16000)}, "--value rate=16000"


@network
def value_as_data():
    """Numbers that decide nothing are data, however large."""
    g = Graph()
    ids = g.input("ids", [1, 4], np.int64)
    g.output(g.node("Add", ids, g.const([5])), np.int64)
    g.output(g.node("Greater", ids, g.const([7])), bool)
    g.output(g.node("Cast", g.node("Concat", ids, g.const([[3]]), axis=1), to=1))
    return g, {"small": {"ids": np.array([[1, 2, 8, 9]])}, "large": {"ids": np.array([[1 << 40, -(1 << 50), 7, 8]])}}, ""


@network
def if_sizes_guarded():
    """A size that a branch chooses is that of another input."""
    g = Graph()
    c, x, z = g.input("c", [], bool), g.input("x", [4, 3]), g.input("z", ["M", 3])
    branches = []
    for name in ("then", "else"):
        body = Graph(name)
        y = body.node("Concat", x, x, x, axis=0) if name == "then" else body.node("Slice", x, body.const([1]), body.const([3]), body.const([0]))
        body.output(y)
        branches.append(body.proto())
    y = g.node("If", c, then_branch=branches[0], else_branch=branches[1])
    g.output(g.node("Add", y, z))
    cases = {f"{int(c)}": {"c": np.array(c), "x": data(4, 3), "z": data(12 if c else 2, 3, seed=2)} for c in (True, False)}
    return g, cases, "--shape z=2..12,3"


# ---- recording ----

def main():
    os.makedirs(FOLDER, exist_ok=True)
    for name in sys.argv[1:] or NETWORKS:
        graph, cases, options = NETWORKS[name]()
        model = graph if isinstance(graph, onnx.ModelProto) else graph.model()
        path = os.path.join(FOLDER, name)
        if not all(isinstance(v, dict) for v in cases.values()):
            cases = {"": cases}
        with open(path + ".onnx", "wb") as file:
            file.write(model.SerializeToString())
        if options:
            with open(path + ".options", "w") as file:
                file.write(options + "\n")
        settings = ort.SessionOptions()
        settings.intra_op_num_threads, settings.log_severity_level = 1, 3
        session = ort.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
        outputs = [o.name for o in session.get_outputs()]
        for case, inputs in cases.items():
            base = f"{path}.{case}" if case else path
            folded = {o.split("=")[0] for o in options.split() if "=" in o and ".." not in o} if "--value" in options else {}
            write_npz(base + "_in.npz", {k: v for k, v in inputs.items() if k not in folded})
            write_npz(base + "_out.npz", dict(zip(outputs, session.run(outputs, inputs))))


if __name__ == "__main__":
    main()
