"""The networks of tests/loops with Scan, and those whose results are sized by data (record_loops.py records them)."""
import numpy as np

from loops_common import NETWORKS, B, Body, F, I, branch, flags, network, with_data
from onnx_graph import Graph, data


# ---- Scan ----

def scan_body(name, states, slices, make):
    b = Graph(name)
    names = [b.input(f"{name}_s{k}", dims) for k, dims in enumerate(states)] + [b.input(f"{name}_x{k}", dims) for k, dims in enumerate(slices)]
    for result in make(b, *names):
        b.output(result)
    return b.proto()


def cumulative(b, s, x):
    y = b.node("Add", s, x)
    return b.node("Identity", y), b.node("Mul", y, x)


def scan(axes=None, directions=None, out_axes=None, out_directions=None, dims=(5, 4), opset=17):
    g = Graph()
    axis = axes[0] if axes else 0
    rest = [d for k, d in enumerate(dims) if k != axis % len(dims)]
    s, x = g.input("s", rest), g.input("x", list(dims))
    attributes = {"scan_input_axes": axes, "scan_input_directions": directions, "scan_output_axes": out_axes, "scan_output_directions": out_directions}
    attributes = {k: v for k, v in attributes.items() if v is not None}
    names = g.node("Scan", s, x, outputs=2, body=scan_body("b", [rest], [rest], cumulative), num_scan_inputs=1, **attributes)
    for name in names:
        g.output(name)
    return g.model(opset), {"": {"s": data(*rest), "x": data(*dims, seed=2)}}


for name, arguments in {
        "scan_sum": {}, "scan_backward": {"directions": [1]}, "scan_axis": {"axes": [1]}, "scan_axis_back": {"axes": [-1], "directions": [1], "dims": (2, 3, 6)},
        "scan_out_axis": {"out_axes": [1]}, "scan_out_backward": {"out_directions": [1]}, "scan_out_last": {"out_axes": [-1], "out_directions": [1], "dims": (4, 2, 3)},
        "scan_middle": {"axes": [1], "out_axes": [1], "dims": (3, 5, 2)}, "scan_opset9": {"directions": [1], "opset": 9}, "scan_opset11": {"axes": [-2], "opset": 11}, "scan_opset21": {"out_axes": [-1], "opset": 21}}.items():
    NETWORKS[name] = (lambda a: lambda: scan(**a))(arguments)


@network
def scan_inputs():
    """Two states, three inputs along different axes and in both directions, three stacks."""
    g = Graph()
    s, t = g.input("s", [4]), g.input("t", [4])
    x, y, z = g.input("x", [6, 4]), g.input("y", [4, 6]), g.input("z", [6])

    def make(b, s, t, x, y, z):
        u = b.node("Add", b.node("Mul", s, x), y)
        v = b.node("Max", b.node("Sub", t, u), z)
        return u, v, b.node("Neg", u), b.node("Mul", v, z), b.node("ReduceSum", x, keepdims=0)
    body = scan_body("b", [[4], [4]], [[4], [4], []], make)
    for name in g.node("Scan", s, t, x, y, z, outputs=5, body=body, num_scan_inputs=3, scan_input_axes=[0, 1, 0], scan_input_directions=[0, 1, 1], scan_output_axes=[1, 0, 0], scan_output_directions=[1, 0, 1]):
        g.output(name)
    return g, {"": {"s": data(4), "t": data(4, seed=2), "x": data(6, 4, seed=3) / 2, "y": data(4, 6, seed=4), "z": data(6, seed=5)}}


@network
def scan_no_state():
    g = Graph()
    x, w = g.input("x", [5, 3]), g.input("w", [3])
    body = scan_body("b", [], [[3]], lambda b, x: [b.node("Relu", b.node("Mul", x, w))])
    g.output(g.node("Scan", x, body=body, num_scan_inputs=1))
    return g, {"": {"x": data(5, 3), "w": data(3)}}


@network
def scan_recurrent():
    """A gated cell with captured weights."""
    g = Graph()
    h, x = g.input("h", [3, 16]), g.input("x", [9, 3, 8])
    w, r = g.const(data(8, 32, seed=2) / 3), g.const(data(16, 32, seed=3) / 4)

    def make(b, h, x):
        both = b.node("Add", b.node("MatMul", x, w), b.node("MatMul", h, r))
        gate, new = b.node("Split", both, b.const([16, 16]), outputs=2, axis=1)
        gate = b.node("Sigmoid", gate)
        h = b.node("Add", b.node("Mul", gate, h), b.node("Mul", b.node("Sub", b.const(np.float32(1)), gate), b.node("Tanh", new)))
        return h, b.node("Identity", h)
    for name in g.node("Scan", h, x, outputs=2, body=scan_body("b", [[3, 16]], [[3, 8]], make), num_scan_inputs=1):
        g.output(name)
    return g, {"": {"h": data(3, 16), "x": data(9, 3, 8)}}


@network
def scan_in_scan():
    g = Graph()
    x = g.input("x", [3, 4, 2])

    def rows(b, s, x):
        s, y = b.node("Scan", s, x, outputs=2, body=scan_body("i", [[2]], [[2]], cumulative), num_scan_inputs=1, scan_input_directions=[1])
        return s, y
    for name in g.node("Scan", g.const(np.zeros(2, F)), x, outputs=2, body=scan_body("o", [[2]], [[4, 2]], rows), num_scan_inputs=1):
        g.output(name)
    return g, {"": {"x": data(3, 4, 2)}}


@network
def scan_with_if():
    g = Graph()
    s, x = g.input("s", [4]), g.input("x", [8, 4])

    def make(b, s, x):
        c = b.node("Greater", b.node("ReduceSum", x, keepdims=0), b.const(np.float32(0)))
        y = b.node("If", c, then_branch=branch("t", lambda t: [t.node("Add", s, x)]), else_branch=branch("e", lambda e: [e.node("Sub", s, x)]))
        return y, b.node("Identity", y)
    for name in g.node("Scan", s, x, outputs=2, body=scan_body("b", [[4]], [[4]], make), num_scan_inputs=1):
        g.output(name)
    return g, {"": {"s": data(4), "x": data(8, 4)}}


@network
def scan_opset8():
    """Each entry of the batch is scanned alone, one input backwards."""
    g = Graph()
    s, x, y = g.input("s", [2, 3]), g.input("x", [2, 5, 3]), g.input("y", [2, 5, 3])

    def make(b, s, x, y):
        t = b.node("Add", b.node("Mul", s, x), y)
        return b.node("Identity", t), b.node("Neg", t)
    for name in g.node("Scan", "", s, x, y, outputs=2, body=scan_body("b", [[3]], [[3], [3]], make), num_scan_inputs=2, directions=[0, 1]):
        g.output(name)
    return g.model(8), {"": {"s": data(2, 3), "x": data(2, 5, 3) / 2, "y": data(2, 5, 3, seed=3)}}


# ---- results sized by data ----

@network
def nonzero_gather():
    """NonZero into Gather: how many rows there are, the data say."""
    g = Graph()
    x, w = g.input("x", [9]), g.input("w", [9, 4])
    where = g.node("Squeeze", g.node("NonZero", g.node("Greater", x, g.const(np.float32(0)))), g.const([0]))
    g.output(g.node("Neg", g.node("Gather", w, where, axis=0)))
    return g, {"a": {"x": data(9), "w": data(9, 4)}, "b": {"x": np.abs(data(9)), "w": data(9, 4)}}


@network
def nonzero_in_loop():
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [8])
    b = Body("b", [([8], F), ([], I)])
    y = b.node("Sub", b.carried[0], b.const(np.float32(0.5)))
    count = b.node("Gather", b.node("Shape", b.node("NonZero", b.node("Relu", y))), b.const(1), axis=0)
    k, c = g.node("Loop", n, "", x, g.const(0), outputs=2, body=b.ends(b.c, [(y, F), (b.node("Add", b.carried[1], count), I)]))
    g.output(k)
    g.output(c, I)
    return g, {"3": {"n": np.array(3, I), "x": data(8)}}


@network
def nonzero_in_if():
    g = Graph()
    c, x = g.input("c", [], B), g.input("x", [6])
    t = branch("t", lambda t: [(t.node("NonZero", x), I)])
    e = branch("e", lambda e: [(e.node("NonZero", e.node("Relu", x)), I)])
    g.output(g.node("Add", g.node("If", c, then_branch=t, else_branch=e), g.const(1)), I)
    return g, with_data(flags("c"), x=data(6))
