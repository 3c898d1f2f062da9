"""The networks of tests/loops in which a loop appends to what it carries (record_loops.py records them)."""
import numpy as np

from loops_common import B, Body, F, I, NETWORKS, branch, network
from onnx_graph import Graph, data


# ---- nothing but appends: tests/loops/test_append.sh counts the bytes ----

def only_appends(axis, dims):
    def make():
        g = Graph()
        n, x = g.input("n", [], I), g.input("x", dims)
        b = Body("b", [([None] * len(dims), F)])
        part = b.node("Mul", x, b.node("Cast", b.i, to=1))
        g.output(g.node("Loop", n, "", x, body=b.ends(b.c, [(b.node("Concat", b.carried[0], part, axis=axis), F)])))
        return g, {str(k): {"n": np.array(k, I), "x": data(*dims)} for k in (0, 3, 128, 256)}
    return make


NETWORKS["append/first"] = only_appends(0, [1, 10])
NETWORKS["append/before_last"] = only_appends(-2, [3, 2, 1, 4])


# ---- in place, with readers of all kinds ----

def looping(trips, first, make, dtypes=None, dims=None):
    """A loop of which make(body, *carried) gives the results; its results are the graph's outputs."""
    g = Graph()
    dtypes = dtypes or [F] * len(first)
    names = [g.input(f"x{k}", list(x.shape), d) for k, (x, d) in enumerate(zip(first, dtypes))]
    b = Body("b", [(s, d) for s, d in zip(dims, dtypes)])
    n = g.input("n", [], I)
    results = make(b, *b.carried)
    for name, d in zip(np.atleast_1d(g.node("Loop", n, "", *names, outputs=len(first), body=b.ends(b.c, list(zip(results, dtypes))))), dtypes):
        g.output(str(name), d)
    feeds = {f"x{k}": x for k, x in enumerate(first)}
    return g, {str(k): {**feeds, "n": np.array(k, I)} for k in trips}


def piece(b, dims, dtype=1):
    return b.node("Expand", b.node("Cast", b.i, to=dtype), b.const(np.array(dims)))


@network
def append_cache():
    """Keys and values of an attention."""
    def make(b, keys, values, x):
        keys = b.node("Concat", keys, b.node("Tanh", x), axis=-2)
        values = b.node("Concat", values, b.node("Softsign", x), axis=-2)
        scores = b.node("Softmax", b.node("MatMul", x, b.node("Transpose", keys, perm=[0, 1, 3, 2])), axis=-1)
        return keys, values, b.node("Add", b.node("Mul", x, b.const(F(0.5))), b.node("MatMul", scores, values))
    return looping((0, 9), [data(1, 2, 3, 4), data(1, 2, 3, 4, seed=2), data(1, 2, 1, 4, seed=3)], make, dims=[[1, 2, None, 4], [1, 2, None, 4], [1, 2, 1, 4]])


@network
def append_readers():
    """What has gaps is read by everything that there is."""
    def make(b, k, s):
        now = b.node("Concat", k, b.node("Reshape", s, b.const([2, 1, 4])), axis=1)
        total = b.node("ReduceSum", b.node("Softmax", now, axis=1), b.const([1]), keepdims=0)
        total = b.node("Add", total, b.node("ReduceMean", b.node("Mul", now, now), axes=[1], keepdims=0))
        total = b.node("Add", total, b.node("Gather", now, b.const(-1), axis=1))
        total = b.node("Add", total, b.node("Squeeze", b.node("Slice", now, b.const([0]), b.const([1]), b.const([1])), b.const([1])))
        flat = b.node("Reshape", k, b.const([-1, 4]))
        total = b.node("Add", total, b.node("ReduceMean", flat, axes=[0], keepdims=1))
        total = b.node("Add", total, b.node("Gather", b.node("Tanh", k), b.const(0), axis=1))
        square = b.node("MatMul", b.node("Transpose", now, perm=[0, 2, 1]), now)
        total = b.node("Add", total, b.node("ReduceMean", square, axes=[1], keepdims=0))
        later = b.node("If", b.node("Greater", b.i, b.const(1)), then_branch=branch("t", lambda t: [t.node("ReduceMean", now, axes=[1], keepdims=0)]), else_branch=branch("e", lambda e: [e.node("ReduceMean", k, axes=[1], keepdims=0)]))
        return now, b.node("Tanh", b.node("Add", total, later))
    return looping((0, 6), [data(2, 1, 4), data(2, 4, seed=2)], make, dims=[[2, None, 4], [2, 4]])


@network
def append_types():
    """Elements of 8 bytes and of one, along the last axis."""
    def make(b, k, m):
        k2 = b.node("Concat", k, piece(b, [3, 2], 7), axis=1)
        m2 = b.node("Concat", m, b.node("Greater", piece(b, [3, 1], 7), b.node("Slice", k, b.const([0]), b.const([1]), b.const([1]))), axis=1)
        return k2, m2
    return looping((0, 1, 7), [np.arange(6, dtype=I).reshape(3, 2), np.array([[True], [False], [True]])], make, [I, B], [[3, None], [3, None]])


@network
def append_ends_early():
    """How often it appends, the data know."""
    g = Graph()
    x = g.input("x", [2, 1, 3])
    b = Body("b", [([2, None, 3], F)])
    y = b.node("Concat", b.carried[0], x, axis=1)
    again = b.node("Less", b.node("ReduceSum", b.node("Abs", y), keepdims=0), b.const(F(30)))
    g.output(g.node("Loop", g.const(20), g.const(np.array(True)), x, body=b.ends(again, [(y, F)])))
    return g, {"a": {"x": data(2, 1, 3)}, "b": {"x": data(2, 1, 3) * 9}}


@network
def append_in_loops():
    """The inner loop appends; the outer one carries what it gave, and reads it."""
    def make(b, k):
        inner = Body("c", [([2, None, 2], F)])
        y = inner.node("Concat", inner.carried[0], inner.node("Add", b.node("Expand", b.node("Cast", b.i, to=1), b.const([2, 1, 2])), inner.node("Cast", inner.i, to=1)), axis=1)
        y = b.node("Loop", b.const(3), "", k, body=inner.ends(inner.c, [(y, F)]))
        return [b.node("Sub", y, b.node("ReduceMean", y, axes=[1], keepdims=1))]
    return (*looping((0, 4), [data(2, 1, 2)], make, dims=[[2, None, 2]]), "--bound=g_loop1=16")


@network
def append_outer():
    """A loop in the body reads what the body has appended, and begins with it."""
    def make(b, k):
        y = b.node("Concat", k, piece(b, [2, 1, 2]), axis=1)
        inner = Body("c", [([2, None, 2], F)])
        z = inner.node("Add", inner.node("Mul", inner.carried[0], b.const(F(0.5))), y)
        z = b.node("Loop", b.const(3), "", y, body=inner.ends(inner.c, [(z, F)]))
        return [b.node("Concat", k, b.node("ReduceMean", z, axes=[1], keepdims=1), axis=1)]
    return looping((0, 4), [data(2, 1, 2)], make, dims=[[2, None, 2]])


@network
def append_from_nothing():
    """Caches that begin empty, and are read before the append, too; and one that stays so."""
    def make(b, x):
        k = b.const(np.zeros((2, 0, 3), F))
        inner = Body("c", [([2, None, 3], F), ([2, 1, 3], F)])
        more = inner.node("Concat", inner.carried[0], inner.carried[1], axis=1)
        seen = inner.node("ReduceSum", inner.node("Tanh", inner.carried[0]), b.const([1]), keepdims=1)
        y = inner.node("Sub", inner.carried[1], inner.node("Mul", seen, b.const(F(0.25))))
        return b.node("Loop", b.i, "", k, x, outputs=2, body=inner.ends(inner.c, [(more, F), (y, F)]))[1:]
    return looping((0, 1, 5), [data(2, 1, 3)], make, dims=[[2, 1, 3]])


# ---- not in place ----

@network
def append_used_after():
    """What the body appends to is read behind the append, and is another carried value."""
    def make(b, k, before, s):
        y = b.node("Concat", k, b.node("Reshape", s, b.const([2, 1, 3])), axis=1)
        return y, k, b.node("Tanh", b.node("ReduceMean", b.node("Concat", y, k, axis=1), axes=[1], keepdims=0))
    return (*looping((0, 1, 6), [data(2, 1, 3), data(2, 1, 3), data(2, 3, seed=2)], make, dims=[[2, None, 3], [2, None, 3], [2, 3]]), "--bound=g_loop1_0=8")


@network
def append_twice():
    """Two appends, one behind the other; and two to one value, of which one is only read."""
    def make(b, k, p, q):
        k = b.node("Concat", b.node("Concat", k, piece(b, [2, 1]), axis=1), piece(b, [2, 2]), axis=1)
        q = b.node("Sub", q, b.node("ReduceMean", b.node("Concat", p, b.node("Neg", q), axis=1), axes=[1], keepdims=1))
        return k, b.node("Concat", p, piece(b, [2, 1]), axis=1), q
    return looping((0, 1, 5), [data(2, 1), data(2, 1, seed=2), data(2, 1, seed=3)], make, dims=[[2, None], [2, None], [2, 1]])


@network
def append_in_branch():
    """Which part is appended, and whether, a branch decides."""
    def make(b, k, m):
        odd = b.node("Equal", b.node("Mod", b.i, b.const(2)), b.const(1))
        k2 = b.node("If", odd, then_branch=branch("t", lambda t: [t.node("Concat", k, piece(b, [2, 1, 3]), axis=1)]), else_branch=branch("e", lambda e: [e.node("Concat", k, e.node("Neg", piece(b, [2, 1, 3])), axis=1)]))
        m2 = b.node("If", odd, then_branch=branch("u", lambda t: [t.node("Concat", m, piece(b, [1, 2]), axis=0)]), else_branch=branch("f", lambda e: [m]))
        return k2, m2
    return (*looping((0, 1, 6), [data(2, 1, 3), data(1, 2)], make, dims=[[2, None, 3], [None, 2]]), "--bound=g_loop1_0=8")


@network
def append_in_front():
    """The part stands before what grows; and the part is what grows."""
    def make(b, k, p):
        return b.node("Concat", piece(b, [2, 1]), k, axis=1), b.node("Concat", p, p, axis=1)
    return (*looping((0, 1, 4), [data(2, 1), data(2, 1)], make, dims=[[2, None], [2, None]]), "--bound=g_loop1_0=16")
