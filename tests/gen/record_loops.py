#!/usr/bin/env python3
"""Makes the networks of tests/loops, in which If, Loop and Scan are decided by data: NAME.onnx, NAME.CASE_in.npz with
inputs, NAME.CASE_out.npz with the outputs that onnxruntime gives.

record_loops.py [NAME...]     Packages: onnx, onnxruntime, numpy.
"""
import os
import sys

import numpy as np
import onnxruntime as ort

import append_networks  # noqa: F401 (it adds its networks, as the next ones do)
import scan_networks  # noqa: F401
import sized_networks  # noqa: F401
from loops_common import B, Body, F, I, NETWORKS, branch, flags, network, with_data
from npz import write_npz
from onnx_graph import Graph, data

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "loops")


# ---- If ----

@network
def if_relu():
    g = Graph()
    c, x = g.input("c", [], B), g.input("x", [3, 5])
    g.output(g.node("If", c, then_branch=branch("t", lambda t: [t.node("Relu", x)]), else_branch=branch("e", lambda e: [e.node("Neg", x)])))
    return g, with_data(flags("c"), x=data(3, 5))


@network
def if_one_element():
    """A condition of shape [1], computed from data."""
    g = Graph()
    x = g.input("x", [4, 4])
    c = g.node("Reshape", g.node("Greater", g.node("ReduceSum", x, keepdims=0), g.const(np.float32(0))), g.const([1]))
    g.output(g.node("If", c, then_branch=branch("t", lambda t: [t.node("Exp", x)]), else_branch=branch("e", lambda e: [e.node("Abs", x)])))
    return g, {"a": {"x": data(4, 4)}, "b": {"x": -data(4, 4)}}


@network
def if_in_if():
    g = Graph()
    c, d, x = g.input("c", [], B), g.input("d", [], B), g.input("x", [2, 6])
    s = g.node("Mul", x, x)
    inner = lambda e: [e.node("If", d, then_branch=branch("it", lambda t: [t.node("Sub", x, s)]), else_branch=branch("ie", lambda t: [t.node("Add", x, s)]))]
    g.output(g.node("If", c, then_branch=branch("t", lambda t: [t.node("Sigmoid", s)]), else_branch=branch("e", inner)))
    return g, with_data(flags("c", "d"), x=data(2, 6))


@network
def if_three_deep():
    g = Graph()
    names = [g.input(n, [], B) for n in "abc"]
    x = g.input("x", [7])

    def level(k):
        def make(t):
            if k == 3:
                return [t.node("Mul", x, t.const(np.float32(k)))]
            u = t.node("Add", x, t.const(np.float32(k)))
            return [t.node("If", names[k], then_branch=branch(f"t{k}", level(k + 1)), else_branch=branch(f"e{k}", lambda e: [e.node("Mul", u, e.const(np.float32(10 + k)))]))]
        return make
    g.output(g.node("Neg", level(0)(g)[0]))
    return g, with_data(flags("a", "b", "c"), x=data(7))


@network
def if_results():
    """Results: a captured input, a constant, a computed value, twice the same; one is unused, one feeds the next If."""
    g = Graph()
    c, x = g.input("c", [], B), g.input("x", [3, 4])
    y = g.node("Tanh", x)
    t = branch("t", lambda t: [t.node("Identity", x), t.node("Identity", t.const(data(3, 4, seed=5))), t.node("Exp", y), y])
    e = branch("e", lambda e: [y, x, e.node("Identity", x), e.node("Neg", y)])
    a = g.node("If", c, outputs=4, then_branch=t, else_branch=e)
    g.output(g.node("Add", a[0], a[1]))
    g.output(a[3])
    g.output(g.node("If", c, then_branch=branch("u", lambda t: [t.node("Mul", a[0], a[3])]), else_branch=branch("v", lambda t: [t.node("Div", a[0], t.const(np.float32(3)))])))
    return g, with_data(flags("c"), x=data(3, 4))


@network
def if_sizes():
    """Branches of different sizes."""
    g = Graph()
    c, x = g.input("c", [], B), g.input("x", [4, 3])
    y = g.node("If", c, then_branch=branch("t", lambda t: [t.node("Concat", x, x, x, axis=0)]), else_branch=branch("e", lambda e: [e.node("Slice", x, e.const([1]), e.const([3]), e.const([0]))]))
    g.output(g.node("Relu", y))
    return g, with_data(flags("c"), x=data(4, 3))


@network
def if_sizes_two_dims():
    g = Graph()
    c, x = g.input("c", [], B), g.input("x", [4, 6])
    y = g.node("If", c, then_branch=branch("t", lambda t: [t.node("Transpose", x, perm=[1, 0])]), else_branch=branch("e", lambda e: [e.node("Neg", x)]))
    g.output(g.node("Sum", g.node("Mul", y, y), g.node("ReduceMax", y, keepdims=1, axes=[1])))
    return g, with_data(flags("c"), x=data(4, 6))


@network
def if_sizes_nested():
    g = Graph()
    c, d, x = g.input("c", [], B), g.input("d", [], B), g.input("x", [5])
    inner = lambda e: [e.node("If", d, then_branch=branch("it", lambda t: [t.node("Concat", x, x, axis=0)]), else_branch=branch("ie", lambda t: [t.node("Neg", x)]))]
    y = g.node("If", c, then_branch=branch("t", inner), else_branch=branch("e", lambda e: [e.node("Concat", x, x, x, axis=0)]))
    g.output(g.node("Add", y, g.const(np.float32(1))))
    return g, with_data(flags("c", "d"), x=data(5))


@network
def if_convolution():
    """Captured weights; the tensor engine in one branch, the cores in the other."""
    g = Graph()
    c, x = g.input("c", [], B), g.input("x", [1, 8, 12, 12])
    w = g.const(data(8, 8, 3, 3, seed=2) / 8)
    y = g.node("Conv", x, w, pads=[1, 1, 1, 1])
    t = branch("t", lambda t: [t.node("Relu", t.node("Conv", y, w, pads=[1, 1, 1, 1]))])
    e = branch("e", lambda e: [e.node("AveragePool", y, kernel_shape=[3, 3], pads=[1, 1, 1, 1])])
    g.output(g.node("GlobalAveragePool", g.node("If", c, then_branch=t, else_branch=e)))
    return g, with_data(flags("c"), x=data(1, 8, 12, 12))


@network
def if_matmul_weights():
    """Weights in a branch: a gate over experts."""
    g = Graph()
    k, x = g.input("k", [], I), g.input("x", [6, 16])
    expert = lambda n: branch(f"x{n}", lambda t: [t.node("Relu", t.node("MatMul", x, t.const(data(16, 24, seed=n))))])
    second = lambda e: [e.node("If", e.node("Equal", k, e.const(1)), then_branch=expert(2), else_branch=expert(3))]
    g.output(g.node("If", g.node("Equal", k, g.const(0)), then_branch=expert(1), else_branch=branch("e", second)))
    return g, {str(k): {"k": np.array(k, I), "x": data(6, 16)} for k in range(3)}


@network
def if_ill_typed():
    """A branch whose shapes do not fit, which is not taken."""
    g = Graph()
    c, x = g.input("c", [], B), g.input("x", [4, "K"])
    t = branch("t", lambda t: [t.node("MatMul", x, t.const(data(5, 2))), t.node("Relu", x)])
    e = branch("e", lambda e: [e.node("MatMul", x, e.const(data(6, 3))), e.node("Neg", x)])
    for name in g.node("If", g.node("Not", c), outputs=2, then_branch=t, else_branch=e):
        g.output(name)
    return g, {"1": {"c": np.array(True), "x": data(4, 6)}}, "--shape x=4,6"


@network
def if_types():
    """Results of several element types."""
    g = Graph()
    c, x, n = g.input("c", [], B), g.input("x", [5]), g.input("n", [5], I)
    t = branch("t", lambda t: [(t.node("Add", n, n), I), (t.node("Greater", x, t.const(np.float32(0))), B), (t.node("Cast", x, to=6), np.int32)])
    e = branch("e", lambda e: [(e.node("Neg", n), I), (e.node("Less", x, e.const(np.float32(1))), B), (e.node("Cast", n, to=6), np.int32)])
    a = g.node("If", c, outputs=3, then_branch=t, else_branch=e)
    for name, dtype in zip(a, (I, B, np.int32)):
        g.output(name, dtype)
    return g, with_data(flags("c"), x=data(5), n=np.arange(5) - 2)


@network
def if_loop_exact():
    """Products whose results reach an exponent, or none (the last): out of a branch, out of a body, into one as a carried
    value, around from iteration to iteration. test_precision.sh asks where each runs."""
    g = Graph()
    c, x = g.input("c", [], B), g.input("x", [16, 64])
    weights = [g.const(data(64, 64, seed=k) / 16) for k in range(5)]
    exp = lambda at, y: at.node("Exp", at.node("Mul", y, at.const(F(0.125))))

    def loop(name, first, make):
        b = Body(name, [([16, 64], F)])
        return g.node("Loop", g.const(2), "", first, outputs=2, body=b.ends(b.c, [(y, F) for y in make(b, b.carried[0])]))
    y = g.node("If", c, then_branch=branch("t", lambda t: [t.node("MatMul", x, weights[0], out="in_branch")]), else_branch=branch("e", lambda e: [x]))
    g.output(exp(g, y))
    out = loop("o", x, lambda b, v: (b.node("MatMul", v, weights[1], out="in_body"), b.node("Neg", v)))
    g.output(exp(g, out[0]))
    into = loop("i", g.node("MatMul", x, weights[2], out="before"), lambda b, v: (b.node("Tanh", v), exp(b, v)))
    g.output(into[1])
    around = loop("a", x, lambda b, v: (b.node("MatMul", v, weights[3], out="around"), exp(b, v)))
    g.output(around[1])
    none = loop("n", x, lambda b, v: (b.node("MatMul", b.node("Tanh", v), weights[4], out="without"), b.node("Neg", v)))
    g.output(none[0])
    return g, with_data(flags("c"), x=data(16, 64))


# ---- Loop: counts and conditions ----

def counting(rank=0, again=None, trips="n", condition="go", stacked=True):
    """s += x; the sums are stacked."""
    g = Graph()
    inputs = [g.input("n", [], I) if trips else "", g.input("go", [], B) if condition else ""]
    x = g.input("x", [3])
    b = Body("b", [([3], F)], rank)
    s = b.node("Add", b.carried[0], x)
    stack = b.node("Mul", s, b.node("Cast", b.node("Squeeze", b.i) if rank else b.i, to=1))
    body = b.ends(again(b, s) if again else b.c, [(s, F), (stack, F)][:1 + stacked])
    names = g.node("Loop", *inputs, g.const(np.zeros(3, F)), outputs=1 + stacked, body=body)
    for name in names if stacked else [names]:
        g.output(name)
    return g


def small_sum(b, s):
    return b.node("Less", b.node("ReduceSum", s, keepdims=0), b.const(np.float32(20)))


@network
def loop_count():
    return counting(), {f"{n}_{go}": {"n": np.array(n, I), "go": np.array(bool(go)), "x": data(3)} for n, go in ((4, 1), (0, 1), (5, 0), (-2, 1), (17, 1))}


@network
def loop_ranks():
    """The iteration has shape [1]."""
    return counting(rank=1), {"3": {"n": np.array(3, I), "go": np.array(True), "x": data(3)}}


@network
def loop_exit():
    """It ends when the data say so, or the count."""
    return counting(again=small_sum), {str(n): {"n": np.array(n, I), "go": np.array(True), "x": np.abs(data(3))} for n in (2, 50)}


@network
def loop_while():
    """No count."""
    return counting(again=small_sum, trips=None, stacked=False), {str(go): {"go": np.array(bool(go)), "x": np.abs(data(3))} for go in (0, 1)}


@network
def loop_for():
    """No condition."""
    return counting(condition=None), {str(n): {"n": np.array(n, I), "x": data(3)} for n in (0, 1, 6)}


@network
def loop_known():
    """A constant count."""
    g = Graph()
    x = g.input("x", [2, 8])
    b = Body("b", [([2, 8], F)])
    body = b.ends(b.c, [(b.node("Tanh", b.node("Mul", b.carried[0], b.const(np.float32(1.5)))), F)])
    g.output(g.node("Loop", g.const(5), "", x, body=body))
    return g, {"": {"x": data(2, 8)}}


@network
def loop_goes_on():
    """The body's condition is a constant; what the loop leaves is used."""
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [6])
    b = Body("b", [([6], F)])
    body = b.ends(b.const(np.array(True)), [(b.node("Softsign", b.node("Add", b.carried[0], x)), F)])
    g.output(g.node("Tanh", g.node("Loop", n, "", x, body=body)))
    return g, {str(k): {"n": np.array(k, I), "x": data(6)} for k in (0, 5)}


@network
def loop_never():
    """A constant count of none, and a constant condition that does not hold."""
    g = Graph()
    x = g.input("x", [4])
    for k, (n, go) in enumerate(((0, True), (3, False))):
        b = Body(f"b{k}", [([4], F)])
        s = b.node("Exp", b.carried[0])
        y, stack = g.node("Loop", g.const(n), g.const(np.array(go)), x, outputs=2, body=b.ends(b.c, [(s, F), (s, F)]))
        g.output(g.node("Neg", y))
        g.output(g.node("Concat", stack, g.node("Reshape", x, g.const([1, 4])), axis=0))
    return g, {"": {"x": data(4)}}


@network
def loop_once():
    g = Graph()
    x = g.input("x", [4])
    b = Body("b", [([4], F)])
    s = b.node("Sin", b.carried[0]) if False else b.node("Exp", b.carried[0])
    y, stack = g.node("Loop", g.const(1), "", x, outputs=2, body=b.ends(b.c, [(s, F), (b.node("Neg", s), F)]))
    g.output(y)
    g.output(stack)
    return g, {"": {"x": data(4)}}


@network
def loop_swap():
    """Carried values change places; one is handed on as it is, one is a constant."""
    g = Graph()
    n = g.input("n", [], I)
    x, y, z = g.input("x", [3, 2]), g.input("y", [3, 2]), g.input("z", [3, 2])
    b = Body("b", [([3, 2], F)] * 4)
    p, q, r, s = b.carried
    body = b.ends(b.c, [(q, F), (b.node("Add", p, r), F), (r, F), (b.node("Identity", b.const(data(3, 2, seed=9))), F)])
    for name in g.node("Loop", n, "", x, y, z, x, outputs=4, body=body):
        g.output(name)
    return g, {str(k): {"n": np.array(k, I), "x": data(3, 2), "y": data(3, 2, seed=2), "z": data(3, 2, seed=3)} for k in (0, 1, 4, 7)}


@network
def loop_rotate():
    """Three carried values rotate, none is computed."""
    g = Graph()
    n = g.input("n", [], I)
    inputs = [g.input(name, [5]) for name in "xyz"]
    b = Body("b", [([5], F)] * 3)
    body = b.ends(b.c, [(b.carried[(k + 1) % 3], F) for k in range(3)])
    for name in g.node("Loop", n, "", *inputs, outputs=3, body=body):
        g.output(name)
    return g, {str(k): {"n": np.array(k, I), **{n: data(5, seed=s) for s, n in enumerate("xyz")}} for k in (1, 2, 3)}


@network
def loop_factorial():
    """Integers, of the iteration number."""
    g = Graph()
    n = g.input("n", [], I)
    b = Body("b", [([], I)])
    p = b.node("Mul", b.carried[0], b.node("Add", b.i, b.const(1)))
    y, stack = g.node("Loop", n, "", g.const(1), outputs=2, body=b.ends(b.c, [(p, I), (p, I)]))
    g.output(y, I)
    g.output(stack, I)
    return g, {str(k): {"n": np.array(k, I)} for k in (0, 1, 12, 20)}


@network
def loop_condition_only():
    """No carried values: what is stacked is made of the iteration and of what is captured."""
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [2, 3])
    b = Body("b")
    stack = b.node("Mul", x, b.node("Cast", b.i, to=1))
    g.output(g.node("Loop", n, "", body=b.ends(b.c, [(stack, F)])))
    return g, {str(k): {"n": np.array(k, I), "x": data(2, 3)} for k in (0, 5)}


@network
def loop_stacks():
    """Stacks of several ranks and types, one of them of a captured value."""
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [2, 3])
    b = Body("b", [([2, 3], F)])
    s = b.node("Relu", b.node("Sub", b.carried[0], b.const(np.float32(0.25))))
    t = b.node("ReduceSum", s, keepdims=0)
    body = b.ends(b.c, [(s, F), (b.node("Unsqueeze", s, b.const([0])), F), (t, F), (b.node("Greater", t, b.const(np.float32(1))), B), (b.i, I), (x, F)])
    names = g.node("Loop", n, "", x, outputs=6, body=body)
    for name, dtype in zip(names, (F, F, F, B, I, F)):
        g.output(name, dtype)
    return g, {str(k): {"n": np.array(k, I), "x": data(2, 3)} for k in (1, 6)}


@network
def loop_unused():
    """A stack and a carried value that nothing uses."""
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [6])
    b = Body("b", [([6], F), ([6], F)])
    s = b.node("Neg", b.carried[0])
    names = g.node("Loop", n, "", x, x, outputs=3, body=b.ends(b.c, [(s, F), (b.node("Add", b.carried[1], x), F), (s, F)]))
    g.output(names[1])
    return g, {"3": {"n": np.array(3, I), "x": data(6)}}


@network
def loop_newton():
    """Square roots until they are exact enough."""
    g = Graph()
    x = g.input("x", [8])
    b = Body("b", [([8], F)])
    y = b.node("Mul", b.const(np.float32(0.5)), b.node("Add", b.carried[0], b.node("Div", x, b.carried[0])))
    error = b.node("ReduceMax", b.node("Abs", b.node("Sub", b.node("Mul", y, y), x)), keepdims=0)
    body = b.ends(b.node("Greater", error, b.const(np.float32(1e-3))), [(y, F)])
    g.output(g.node("Loop", g.const(40), g.const(np.array(True)), x, body=body))
    return g, {"": {"x": np.abs(data(8)) + 1}}


# ---- Loop: bodies ----

@network
def loop_convolution():
    """A Loop around convolutions on the tensor engine, with captured and own weights."""
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [1, 8, 10, 10])
    w = g.const(data(8, 8, 3, 3, seed=2) / 12)
    b = Body("b", [([1, 8, 10, 10], F)])
    y = b.node("Relu", b.node("Conv", b.carried[0], w, b.const(data(8, seed=4)), pads=[1, 1, 1, 1]))
    y = b.node("Add", b.node("Conv", y, b.const(data(8, 8, 1, 1, seed=3) / 4)), b.carried[0])
    g.output(g.node("Loop", n, "", x, body=b.ends(b.c, [(y, F)])))
    return g, {str(k): {"n": np.array(k, I), "x": data(1, 8, 10, 10)} for k in (0, 3)}


@network
def loop_matmul():
    """Powers of a matrix: the second operand is captured."""
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [16, 16])
    m = g.node("Softmax", x)
    b = Body("b", [([16, 16], F)])
    g.output(g.node("Loop", n, "", m, body=b.ends(b.c, [(b.node("MatMul", b.carried[0], m), F)])))
    return g, {str(k): {"n": np.array(k, I), "x": data(16, 16)} for k in (1, 5)}


@network
def loop_recurrent():
    """An Elman cell: inputs by iteration, weights outside."""
    g = Graph()
    x, h = g.input("x", [7, 2, 12]), g.input("h", [2, 20])
    w, r = g.const(data(12, 20, seed=2) / 4), g.const(data(20, 20, seed=3) / 5)
    b = Body("b", [([2, 20], F)])
    now = b.node("Squeeze", b.node("Slice", x, b.node("Unsqueeze", b.i, b.const([0])), b.node("Unsqueeze", b.node("Add", b.i, b.const(1)), b.const([0])), b.const([0])), b.const([0]))
    s = b.node("Tanh", b.node("Add", b.node("MatMul", now, w), b.node("MatMul", b.carried[0], r)))
    y, stack = g.node("Loop", g.const(7), "", h, outputs=2, body=b.ends(b.c, [(s, F), (s, F)]))
    g.output(y)
    g.output(stack)
    return g, {"": {"x": data(7, 2, 12), "h": data(2, 20, seed=8)}}


@network
def loop_gather():
    """A row by iteration, backwards."""
    g = Graph()
    x = g.input("x", [6, 5])
    b = Body("b", [([5], F)])
    row = b.node("Gather", x, b.node("Sub", b.const(5), b.i), axis=0)
    s = b.node("Add", row, b.node("Mul", b.carried[0], b.const(np.float32(0.5))))
    y, stack = g.node("Loop", g.const(6), "", g.const(np.zeros(5, F)), outputs=2, body=b.ends(b.c, [(s, F), (s, F)]))
    g.output(y)
    g.output(stack)
    return g, {"": {"x": data(6, 5)}}


@network
def loop_in_loop():
    """Nested counts, the inner one that of the outer iteration."""
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [4])
    outer = Body("o", [([4], F)])
    inner = Body("p", [([4], F)])
    t = inner.node("Add", inner.carried[0], inner.node("Mul", x, inner.node("Cast", outer.i, to=1)))
    y, stack = outer.node("Loop", outer.node("Add", outer.i, outer.const(1)), "", outer.carried[0], outputs=2, body=inner.ends(inner.c, [(t, F), (t, F)]))
    total = outer.node("ReduceSum", stack, outer.const([0]), keepdims=0)
    a, s = g.node("Loop", n, "", x, outputs=2, body=outer.ends(outer.c, [(outer.node("Tanh", y), F), (total, F)]))
    g.output(a)
    g.output(s)
    return g, {str(k): {"n": np.array(k, I), "x": data(4)} for k in (0, 1, 4)}


@network
def loop_in_if():
    g = Graph()
    c, n, x = g.input("c", [], B), g.input("n", [], I), g.input("x", [6])

    def make(t):
        b = Body("b", [([6], F)])
        return [t.node("Loop", n, "", x, body=b.ends(b.c, [(b.node("Add", b.node("Neg", b.carried[0]), x), F)]))]
    g.output(g.node("If", c, then_branch=branch("t", make), else_branch=branch("e", lambda e: [e.node("Exp", x)])))
    return g, {f"{c}{n}": {"c": np.array(bool(c)), "n": np.array(n, I), "x": data(6)} for c in (0, 1) for n in (0, 3)}


@network
def if_in_loop():
    """A branch by iteration and one by data."""
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [6])
    b = Body("b", [([6], F)])
    even = b.node("Equal", b.node("Mod", b.i, b.const(2)), b.const(0))
    large = b.node("Greater", b.node("ReduceMax", b.carried[0], keepdims=0), b.const(np.float32(3)))
    s = b.node("If", even, then_branch=branch("t", lambda t: [t.node("Add", b.carried[0], x)]), else_branch=branch("e", lambda e: [e.node("Mul", b.carried[0], e.const(np.float32(1.25)))]))
    s = b.node("If", large, then_branch=branch("u", lambda t: [t.node("Sub", s, t.const(np.float32(2)))]), else_branch=branch("v", lambda e: [s]))
    y, stack = g.node("Loop", n, "", x, outputs=2, body=b.ends(b.c, [(s, F), (s, F)]))
    g.output(y)
    g.output(stack)
    return g, {str(k): {"n": np.array(k, I), "x": data(6)} for k in (1, 9)}


@network
def if_ends_loop():
    """The condition is a result of an If."""
    g = Graph()
    x = g.input("x", [4])
    b = Body("b", [([4], F), ([], I)])
    s = b.node("Add", b.carried[0], x)
    t = branch("t", lambda t: [(t.node("Less", t.node("ReduceSum", s, keepdims=0), t.const(np.float32(30))), B), (t.node("Add", b.carried[1], t.const(1)), I)])
    e = branch("e", lambda e: [(e.node("Identity", e.const(np.array(True))), B), (b.carried[1], I)])
    again, k = b.node("If", b.node("Greater", b.i, b.const(3)), outputs=2, then_branch=t, else_branch=e)
    y, count = g.node("Loop", g.const(100), g.const(np.array(True)), x, g.const(0), outputs=2, body=b.ends(again, [(s, F), (k, I)]))
    g.output(y)
    g.output(count, I)
    return g, {"": {"x": np.abs(data(4))}}


@network
def loop_two():
    """One loop's results feed the next; both capture the same value."""
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [5])
    w = g.node("Sigmoid", x)
    for k in range(2):
        b = Body(f"b{k}", [([5], F)])
        x = g.node("Loop", n, "", x, body=b.ends(b.c, [(b.node("Mul", b.node("Add", b.carried[0], w), w), F)]))
    g.output(x)
    return g, {"4": {"n": np.array(4, I), "x": data(5)}}


@network
def loop_pool_norm():
    """Pools, a norm and a softmax inside of a loop."""
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [1, 4, 8, 8])
    b = Body("b", [([1, 4, 8, 8], F)])
    y = b.node("MaxPool", b.carried[0], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    y = b.node("BatchNormalization", y, *[b.const(np.abs(data(4, seed=s)) + 0.5) for s in range(4)])
    y = b.node("Softmax", y, axis=3)
    g.output(g.node("Loop", n, "", x, body=b.ends(b.c, [(y, F)])))
    return g, {"2": {"n": np.array(2, I), "x": data(1, 4, 8, 8)}}


@network
def loop_host():
    """A layer that no target takes, in a loop: 7 dims in another order."""
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [2] * 7)
    b = Body("b", [([2] * 7, F)])
    y = b.node("Tanh", b.node("Add", b.node("Transpose", b.carried[0], perm=[6, 2, 4, 0, 5, 1, 3]), x))
    g.output(g.node("Loop", n, "", x, body=b.ends(b.c, [(y, F)])))
    return g, {"4": {"n": np.array(4, I), "x": data(*[2] * 7)}}


@network
def loop_host_last():
    """The same at the end of the body: what is carried moves behind it, on the chip."""
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [2] * 7)
    b = Body("b", [([2] * 7, F)])
    y = b.node("Transpose", b.node("Tanh", b.node("Add", b.carried[0], x)), perm=[6, 2, 4, 0, 5, 1, 3])
    g.output(g.node("Loop", n, "", x, body=b.ends(b.c, [(y, F)])))
    return g, {"4": {"n": np.array(4, I), "x": data(*[2] * 7)}}


@network
def loop_quantised():
    """Q and DQ around a convolution in the body."""
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [1, 4, 6, 6])
    b = Body("b", [([1, 4, 6, 6], F)])
    scale, zero = b.const(np.float32(0.05)), b.const(128, np.uint8)
    w = b.node("DequantizeLinear", b.const(np.random.default_rng(3).integers(-40, 40, (4, 4, 3, 3)), np.int8), b.const(np.float32(0.0123)), b.const(0, np.int8))
    q = b.node("DequantizeLinear", b.node("QuantizeLinear", b.carried[0], scale, zero), scale, zero)
    y = b.node("Conv", q, w, pads=[1, 1, 1, 1])
    y = b.node("DequantizeLinear", b.node("QuantizeLinear", y, scale, zero), scale, zero)
    g.output(g.node("Loop", n, "", x, body=b.ends(b.c, [(y, F)])))
    return g, {"3": {"n": np.array(3, I), "x": data(1, 4, 6, 6, seed=6)}}


# ---- Loop: tensors that grow ----

def growing(axis, dims, trips, part=1, early=None):
    g = Graph()
    n = g.const(trips) if trips else g.input("n", [], I)
    shape = list(dims)
    shape[axis] = part
    x = g.input("x", shape)
    b = Body("b", [([None] * len(dims), F)])
    piece = b.node("Mul", x, b.node("Cast", b.i, to=1))
    y = b.node("Concat", b.carried[0], piece, axis=axis)
    again = early(b, y) if early else b.c
    g.output(g.node("Loop", n, g.const(np.array(True)) if early else "", x, body=b.ends(again, [(y, F)])))
    return g, shape


@network
def grow_first():
    g, shape = growing(0, (0, 6), 256)
    return g, {"": {"x": data(*shape)}}


@network
def grow_middle():
    g, shape = growing(1, (2, 0, 3), 100)
    return g, {"": {"x": data(*shape)}}


@network
def grow_before_last():
    g, shape = growing(-2, (1, 2, 0, 4), 64)
    return g, {"": {"x": data(*shape)}}


@network
def grow_last_by_three():
    g, shape = growing(1, (4, 0), 9, part=3)
    return g, {"": {"x": data(*shape)}}


@network
def grow_early():
    """It ends early: how large the result is, only the data know."""
    g, shape = growing(0, (0, 5), 40, early=lambda b, y: b.node("Less", b.node("ReduceSum", b.node("Abs", y), keepdims=0), b.const(np.float32(60))))
    return g, {"a": {"x": data(*shape)}, "b": {"x": data(*shape) * 8}}


@network
def grow_then_use():
    """What has grown is used in the body, and behind the loop."""
    g = Graph()
    x = g.input("x", [1, 4])
    b = Body("b", [([None, 4], F), ([1, 4], F)])
    keys = b.node("Concat", b.carried[0], b.carried[1], axis=0)
    scores = b.node("Softmax", b.node("MatMul", b.carried[1], b.node("Transpose", keys, perm=[1, 0])))
    y = b.node("Tanh", b.node("MatMul", scores, keys))
    k, last = g.node("Loop", g.const(12), "", x, x, outputs=2, body=b.ends(b.c, [(keys, F), (y, F)]))
    g.output(g.node("ReduceSum", g.node("Mul", k, last), g.const([1]), keepdims=0))
    g.output(last)
    return g, {"": {"x": data(1, 4)}}


@network
def grow_two():
    """Two values grow along different axes; a third one is handed on."""
    g = Graph()
    x = g.input("x", [1, 3])
    b = Body("b", [([None, 3], F), ([1, None], F), ([1, 3], F)])
    body = b.ends(b.c, [(b.node("Concat", b.node("Neg", x), b.carried[0], axis=0), F), (b.node("Concat", b.carried[1], b.carried[2], axis=1), F), (b.node("Exp", b.node("Neg", b.carried[2])), F)])
    for name in g.node("Loop", g.const(10), "", x, x, x, outputs=3, body=body):
        g.output(name)
    return g, {"": {"x": data(1, 3)}}


@network
def grow_in_loop():
    """A tensor that grows in a loop in a loop, from its start in each outer iteration."""
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [4])
    outer = Body("o", [([4], F)])
    inner = Body("p", [([None], F)])
    grown = inner.node("Tanh", inner.carried[0])
    mean = inner.node("ReduceMean", grown, keepdims=1, axes=[0])
    end = inner.node("Concat", grown, mean, axis=0)
    y, stack = outer.node("Loop", outer.node("Add", outer.i, outer.const(1)), "", outer.carried[0], outputs=2, body=inner.ends(inner.c, [(end, F), (mean, F)]))
    total = outer.node("Add", outer.node("ReduceSum", y, outer.const([0]), keepdims=1), outer.node("ReduceSum", stack, outer.const([0]), keepdims=0))
    g.output(g.node("Loop", n, "", x, body=outer.ends(outer.c, [(outer.node("Mul", total, x), F)])))
    return g, {str(k): {"n": np.array(k, I), "x": data(4)} for k in (0, 4)}


@network
def grow_doubling():
    """Twice as large with each iteration: anything but a sum."""
    g = Graph()
    x = g.input("x", [3])
    b = Body("b", [([None], F)])
    g.output(g.node("Loop", g.const(4), "", x, body=b.ends(b.c, [(b.node("Concat", b.carried[0], b.node("Neg", b.carried[0]), axis=0), F)])))
    return g, {"": {"x": data(3)}}


@network
def shrink():
    """A row less with each iteration."""
    g = Graph()
    x = g.input("x", [9, 2])
    b = Body("b", [([None, 2], F)])
    y = b.node("Slice", b.carried[0], b.const([1]), b.const([2**31]), b.const([0]))
    g.output(g.node("Loop", g.const(6), "", x, body=b.ends(b.c, [(b.node("Mul", y, b.const(np.float32(2))), F)])))
    return g, {"": {"x": data(9, 2)}}


@network
def grow_to_size():
    """Grows in the first iterations alone: in an If of the body."""
    g = Graph()
    x = g.input("x", [1, 4])
    b = Body("b", [([None, 4], F)])
    y = b.node("If", b.node("Less", b.i, b.const(3)), then_branch=branch("t", lambda t: [t.node("Concat", b.carried[0], x, axis=0)]), else_branch=branch("e", lambda e: [e.node("Neg", b.carried[0])]))
    g.output(g.node("Loop", g.const(6), "", x, body=b.ends(b.c, [(y, F)])))
    return g, {"": {"x": data(1, 4)}}


@network
def grow_by_shape():
    """Shape values of what grows are also data."""
    g = Graph()
    x = g.input("x", [1, 3])
    b = Body("b", [([None, 3], F)])
    y = b.node("Concat", b.carried[0], x, axis=0)
    size = b.node("Gather", b.node("Shape", y), b.const(0), axis=0)
    y = b.node("Identity", y)
    k, sizes = g.node("Loop", g.const(7), "", x, outputs=2, body=b.ends(b.c, [(y, F), (size, I)]))
    g.output(k)
    g.output(sizes, I)
    return g, {"": {"x": data(1, 3)}}


# ---- opset versions ----

def old_loop(opset):
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [4])
    b = Body("b", [([4], F)])
    s = b.node("Add", b.carried[0], x)
    y, stack = g.node("Loop", n, "", x, outputs=2, body=b.ends(b.c, [(s, F), (s, F)]))
    c = g.node("Greater", g.node("ReduceMax", y, keepdims=0), g.const(np.float32(2)))
    g.output(g.node("If", c, then_branch=branch("t", lambda t: [t.node("Neg", y)]), else_branch=branch("e", lambda e: [y])))
    g.output(stack)
    return g.model(opset), {str(k): {"n": np.array(k, I), "x": data(4)} for k in (0, 3)}


for version in (9, 11, 13, 16, 19, 21, 23):
    NETWORKS[f"opset{version}"] = (lambda v: lambda: old_loop(v))(version)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for name in sys.argv[1:] or NETWORKS:
        graph, cases, *options = NETWORKS[name]()
        model = graph.model() if isinstance(graph, Graph) else graph
        path = os.path.join(FOLDER, name)
        settings = ort.SessionOptions()
        settings.intra_op_num_threads, settings.log_severity_level = 1, 3
        settings.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            session = ort.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
            outputs = [o.name for o in session.get_outputs()]
            for case, inputs in cases.items():
                base = f"{path}.{case or 'a'}"
                answers = dict(zip(outputs, session.run(outputs, inputs)))
                write_npz(base + "_in.npz", inputs)
                write_npz(base + "_out.npz", answers)
        except Exception as problem:
            print(f"{name}: {problem}")
            continue
        with open(path + ".onnx", "wb") as file:
            file.write(model.SerializeToString())
        for option in options:
            with open(path + ".options", "w") as file:
                file.write(option + "\n")


if __name__ == "__main__":
    main()
