"""The networks of tests/loops whose results are as large as the data say (record_loops.py records them)."""
import numpy as np

from loops_common import NETWORKS, B, Body, F, I, branch, flags, network, with_data
from onnx_graph import Graph, data
from scan_networks import scan_body

FEW = {"some": data(9), "none": -np.abs(data(9)), "all": np.abs(data(9)) + 1}


def cases(**more):
    return {case: {"x": x, **more} for case, x in FEW.items()}


def positive(g, x):
    return g.node("Greater", x, g.const(np.float32(0)))


def rows_where(g, x, w):
    """Rows of w at which x is above 0: [K, ...]."""
    return g.node("Gather", w, g.node("Squeeze", g.node("NonZero", positive(g, x)), g.const([0])), axis=0)


def count_of(g, x):
    return g.node("Gather", g.node("Shape", g.node("NonZero", positive(g, x))), g.const(1), axis=0)


# ---- results of the graph, masks ----

@network
def nonzero_output():
    g = Graph()
    x = g.input("x", [9])
    g.output(g.node("NonZero", g.node("Relu", x)), I)
    return g, cases()


@network
def nonzero_mask():
    """x[mask], as exporters write it."""
    g = Graph()
    x = g.input("x", [4, 5, 3])
    y = g.node("GatherND", x, g.node("Transpose", g.node("NonZero", positive(g, x)), perm=[1, 0]))
    g.output(g.node("Mul", y, y))
    return g, {"some": {"x": data(4, 5, 3)}, "none": {"x": -np.abs(data(4, 5, 3))}, "all": {"x": np.abs(data(4, 5, 3))}}


@network
def nonzero_mask_rows():
    """x[mask] with a mask over the first dims."""
    g = Graph()
    x, m = g.input("x", [3, 4, 6]), g.input("m", [3, 4], B)
    g.output(g.node("Exp", g.node("GatherND", x, g.node("Transpose", g.node("NonZero", m), perm=[1, 0]))))
    masks = {"some": data(3, 4) > 0, "none": np.zeros((3, 4), bool), "all": np.ones((3, 4), bool)}
    return g, {case: {"x": data(3, 4, 6), "m": m} for case, m in masks.items()}


@network
def nonzero_types():
    g = Graph()
    for k, dtype in enumerate((np.float32, np.int32, np.int64, np.uint8, bool)):
        x = g.input(f"x{k}", [3, 7], dtype)
        g.output(g.node("NonZero", x), I)
    values = np.random.default_rng(3).integers(0, 3, (3, 7))
    return g, {"": {f"x{k}": (values + k).astype(t) % 3 if t != bool else values > 0 for k, t in enumerate((np.float32, np.int32, np.int64, np.uint8, bool))}}


@network
def nonzero_edges():
    """Of a scalar, of nothing, of four dims; -0 is 0, NaN is not."""
    g = Graph()
    for name, dims in (("s", []), ("e", [0, 3]), ("f", [2, 1, 3, 2]), ("n", [6])):
        g.output(g.node("NonZero", g.input(name, dims)), I)
    f = np.round(data(2, 1, 3, 2))
    n = np.array([0, -0.0, np.nan, np.inf, 1e-45, -1], F)
    return g, {"1": {"s": np.array(2, F), "e": np.zeros((0, 3), F), "f": f, "n": n}, "0": {"s": np.array(0, F), "e": np.zeros((0, 3), F), "f": 0 * f, "n": n}}


@network
def nonzero_large():
    """More elements than one core takes."""
    g = Graph()
    x = g.input("x", [70, 40, 3])
    g.output(g.node("NonZero", g.node("Relu", g.node("Sub", x, g.const(np.float32(2))))), I)
    g.output(g.node("NonZero", positive(g, x)), I)
    sparse = np.zeros((70, 40, 3), F)
    sparse[::23, 7, 1] = 5
    return g, {"some": {"x": data(70, 40, 3)}, "few": {"x": sparse}, "all": {"x": np.abs(data(70, 40, 3)) + 3}}


@network
def nonzero_open():
    """Of an open length."""
    g = Graph()
    x, w = g.input("x", ["N"]), g.input("w", ["N", 3])
    g.output(g.node("Neg", rows_where(g, x, w)))
    return g, {str(n): {"x": data(n, seed=n), "w": data(n, 3)} for n in (1, 9, 600)}


# ---- what follows ----

@network
def nonzero_product():
    g = Graph()
    x, w = g.input("x", [9]), g.input("w", [9, 16])
    rows = rows_where(g, x, w)
    y = g.node("Relu", g.node("Add", g.node("MatMul", rows, g.const(data(16, 24, seed=3) / 4)), g.const(data(24, seed=4))))
    g.output(g.node("Softmax", y, axis=-1))
    g.output(g.node("ReduceSum", y, g.const([0]), keepdims=0))
    g.output(g.node("MatMul", y, g.node("Transpose", y, perm=[1, 0])))
    return g, cases(w=data(9, 16))


@network
def nonzero_gram():
    """Products whose inner dim the data size, with and without something behind."""
    g = Graph()
    x, w = g.input("x", [9]), g.input("w", [9, 5])
    rows = rows_where(g, x, w)
    turned = g.node("Transpose", rows, perm=[1, 0])
    y = g.node("MatMul", turned, rows)
    g.output(y)
    g.output(g.node("Add", g.node("MatMul", turned, g.node("Exp", rows)), g.node("Relu", y)))
    g.output(g.node("MatMul", g.node("Unsqueeze", turned, g.const([0])), rows))
    return g, cases(w=data(9, 5))


@network
def nonzero_reductions():
    """Over no elements the neutral value."""
    g = Graph()
    x, w = g.input("x", [9]), g.input("w", [9, 5])
    rows = rows_where(g, x, w)
    g.output(g.node("ReduceSum", rows, g.const([0]), keepdims=1))
    g.output(g.node("ReduceProd", rows, axes=[0], keepdims=0))
    g.output(g.node("ReduceSum", rows, g.const([1]), keepdims=0))
    whole = g.node("Cast", rows, to=7)
    g.output(g.node("ReduceSum", whole, g.const([0]), keepdims=0), I)
    g.output(g.node("ReduceSum", g.node("Cast", whole, to=6), keepdims=0), np.int32)
    return g, cases(w=data(9, 5))


@network
def nonzero_moves():
    """Reshape, Slice, Concat, Transpose, Pad, Expand, Split of what the data size."""
    g = Graph()
    x, w = g.input("x", [9]), g.input("w", [9, 4])
    rows = rows_where(g, x, w)
    both = g.node("Concat", rows, w, g.node("Neg", rows), axis=0)
    g.output(both)
    g.output(g.node("Reshape", rows, g.const([-1, 2])))
    g.output(g.node("Slice", rows, g.const([1]), g.const([100]), g.const([0])))
    g.output(g.node("Slice", rows, g.const([-1]), g.const([-100]), g.const([0]), g.const([-1])))
    g.output(g.node("Transpose", rows, perm=[1, 0]))
    g.output(g.node("Pad", rows, g.const([1, 0, 2, 1])))
    g.output(g.node("Unsqueeze", rows, g.const([0])))
    for part in g.node("Split", rows, g.const([1, 3]), outputs=2, axis=1):
        g.output(part)
    return g, cases(w=data(9, 4))


@network
def nonzero_count():
    """The count as data, as a shape and as a limit."""
    g = Graph()
    x = g.input("x", [9])
    count = count_of(g, x)
    g.output(g.node("Mul", count, g.const(3)), I)
    g.output(g.node("Size", g.node("NonZero", positive(g, x))), I)
    g.output(g.node("Div", g.node("Cast", count, to=1), g.const(F(9))))
    one = g.node("Unsqueeze", count, g.const([0]))
    g.output(g.node("ConstantOfShape", g.node("Concat", one, g.const([2]), axis=0)))
    g.output(g.node("Expand", x, g.node("Concat", one, g.const([9]), axis=0)))
    g.output(g.node("Range", g.const(0), count, g.const(2)), I)
    g.output(g.node("Slice", x, g.const([0]), one, g.const([0])))
    return g, cases()


@network
def nonzero_if():
    """A branch by the count."""
    g = Graph()
    x, w = g.input("x", [9]), g.input("w", [9, 4])
    rows = rows_where(g, x, w)
    some = g.node("Greater", count_of(g, x), g.const(0))
    y = g.node("If", some, then_branch=branch("t", lambda t: [t.node("ReduceMax", rows, axes=[0], keepdims=0)]), else_branch=branch("e", lambda e: [e.node("ReduceSum", w, e.const([0]), keepdims=0)]))
    g.output(g.node("Neg", y))
    return g, cases(w=data(9, 4))


@network
def nonzero_convolution():
    """A batch of images as large as the data say."""
    g = Graph()
    x, w = g.input("x", [9]), g.input("w", [9, 3, 6, 6])
    y = g.node("Relu", g.node("Conv", rows_where(g, x, w), g.const(data(8, 3, 3, 3, seed=3) / 3), pads=[1, 1, 1, 1]))
    y = g.node("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    g.output(y)
    g.output(g.node("GlobalAveragePool", y))
    return g, cases(w=data(9, 3, 6, 6))


@network
def nonzero_twice():
    """The places of places."""
    g = Graph()
    x, w = g.input("x", [9]), g.input("w", [9, 4])
    rows = rows_where(g, x, w)
    g.output(g.node("NonZero", g.node("Relu", rows)), I)
    first = g.node("Squeeze", g.node("Slice", rows, g.const([0]), g.const([1]), g.const([1])), g.const([1]))
    g.output(rows_where(g, first, rows))
    return g, cases(w=data(9, 4))


@network
def nonzero_equal():
    """Two counts that have to be equal."""
    g = Graph()
    x, y, w = g.input("x", [9]), g.input("y", [9]), g.input("w", [9, 4])
    g.output(g.node("Add", rows_where(g, x, w), rows_where(g, y, w)))
    g.output(g.node("Concat", rows_where(g, x, w), g.node("Mul", rows_where(g, y, w), g.const(F(2))), axis=1))
    return g, {"some": {"x": data(9), "y": data(9)[::-1], "w": data(9, 4)}, "none": {"x": FEW["none"], "y": FEW["none"], "w": data(9, 4)}}


# ---- Compress ----

@network
def compress_flat():
    g = Graph()
    x = g.input("x", [9])
    y = g.node("Compress", x, positive(g, x))
    g.output(g.node("Sqrt", y))
    g.output(g.node("ReduceSum", y, keepdims=0))
    return g, cases()


@network
def compress_axis():
    """Along each axis; a mask shorter and one longer than the axis."""
    g = Graph()
    x, m, n = g.input("x", [4, 6, 3]), g.input("m", [6], B), g.input("n", [3], B)
    for axis, mask in ((1, m), (-1, n), (0, n), (0, m), (-2, n)):
        g.output(g.node("Neg", g.node("Compress", x, mask, axis=axis)))
    g.output(g.node("Compress", x, m))
    return g, {str(k): {"x": data(4, 6, 3), "m": data(6, seed=k) > (-9 if k == 2 else 0), "n": data(3, seed=k) > (9 if k == 2 else 0)} for k in (1, 2, 3)}


@network
def compress_types():
    g = Graph()
    m = g.input("m", [7], B)
    for k, dtype in enumerate((np.float32, np.int32, np.int64, np.uint8, bool, np.float16)):
        g.output(g.node("Compress", g.input(f"x{k}", [7, 3], dtype), m, axis=0), dtype)
    values = np.random.default_rng(3).integers(0, 100, (7, 3))
    return g, {"": {"m": data(7) > 0, **{f"x{k}": (values + k).astype(t) for k, t in enumerate((np.float32, np.int32, np.int64, np.uint8, bool, np.float16))}}}


@network
def compress_known():
    """A constant mask is a slice or a gather."""
    g = Graph()
    x = g.input("x", [6, 4])
    for mask in ([1, 0, 1, 0, 1, 0], [0, 1, 1, 0, 0, 1], [0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]):
        g.output(g.node("Abs", g.node("Compress", x, g.const(np.array(mask, bool)), axis=0)))
    g.output(g.node("NonZero", g.const(np.array([[0, 2], [3, 0]], F))), I)
    return g, {"": {"x": data(6, 4)}}


# ---- bodies ----

@network
def compress_in_scan():
    """Of each row what is above 0, and its sum."""
    g = Graph()
    s, x = g.input("s", []), g.input("x", [5, 8])

    def make(b, s, x):
        y = b.node("ReduceSum", b.node("Exp", b.node("Compress", x, positive(b, x))), keepdims=0)
        return b.node("Add", s, y), b.node("Identity", y)
    for name in g.node("Scan", s, x, outputs=2, body=scan_body("b", [[]], [[8]], make), num_scan_inputs=1):
        g.output(name)
    values = data(5, 8)
    values[2] = -1
    return g, {"": {"s": np.array(1, F), "x": values}}


@network
def compress_shrinks():
    """A carried list of which each iteration keeps what is above its mean."""
    g = Graph()
    n, x = g.input("n", [], I), g.input("x", [12])
    b = Body("b", [(["K"], F)])
    now = b.carried[0]
    kept = b.node("Compress", now, b.node("GreaterOrEqual", now, b.node("ReduceMean", now, keepdims=1)))
    g.output(g.node("Loop", n, "", x, body=b.ends(b.c, [(kept, F)])))
    return g, {str(k): {"n": np.array(k, I), "x": data(12)} for k in (0, 1, 2, 6)}


# ---- places and lengths that data decide ----

def number(g, x):
    """The sum of x as an int64 of one element."""
    return g.node("Cast", g.node("ReduceSum", x, g.const([0]), keepdims=1), to=7)


@network
def slice_found():
    """Starts and ends that are computed, from both ends, outside and the wrong way round."""
    g = Graph()
    x, a, b = g.input("x", [7, 5]), g.input("a", [2]), g.input("b", [2])
    first, last = number(g, a), number(g, b)
    y = g.node("Slice", x, first, last, g.const([0]))
    g.output(g.node("Mul", y, y))
    g.output(g.node("ReduceSum", y, g.const([0]), keepdims=0))
    g.output(g.node("Slice", x, g.node("Concat", first, g.const([1]), axis=0), g.node("Concat", last, g.const([4]), axis=0), g.const([0, 1]), g.const([2, 1])))
    g.output(g.node("Slice", x, last, first, g.const([-1]), g.const([-1])))
    g.output(g.node("Slice", x, g.const([-2]), last))
    places = {"inside": (2, 5), "negative": (-4, -1), "far": (-90, 90), "empty": (5, 2), "one": (6, 7), "far_end": (1, 2 ** 62)}
    return g, {case: {"x": data(7, 5), "a": np.array([s, 0], F), "b": np.array([e, 0], F)} for case, (s, e) in places.items()}


@network
def slice_found_scan():
    """The tail of each row from where its largest element stands."""
    g = Graph()
    s, x = g.input("s", []), g.input("x", [4, 6])

    def make(b, s, x):
        at = b.node("ArgMax", x, axis=0, keepdims=1)
        y = b.node("ReduceSum", b.node("Slice", x, at, b.const([6]), b.const([0])), keepdims=0)
        return b.node("Add", s, y), b.node("Identity", y)
    for name in g.node("Scan", s, x, outputs=2, body=scan_body("b", [[]], [[6]], make), num_scan_inputs=1):
        g.output(name)
    return g, {"": {"s": np.array(0, F), "x": data(4, 6)}}


@network
def bound_range():
    g = Graph()
    n = g.node("Squeeze", g.node("Identity", number(g, g.input("a", [2])), out="n"), g.const([0]), out="limit")
    y = g.node("Range", g.const(0), n, g.const(3))
    g.output(y, I)
    g.output(g.node("Cast", y, to=1))
    return g, {str(k): {"a": np.array([k, 0], F)} for k in (0, 1, 9, 40)}, "--bound=limit=40"


@network
def bound_shapes():
    """ConstantOfShape, Expand, Tile and Reshape by a number that is computed."""
    g = Graph()
    n = g.node("Identity", number(g, g.input("a", [2])), out="n")
    x, row = g.input("x", [4, 6]), g.input("row", [5])
    two = g.node("Concat", n, g.const([5]), axis=0, out="two")
    g.output(g.node("Add", g.node("ConstantOfShape", two), row))
    g.output(g.node("Neg", g.node("Expand", row, two)))
    g.output(g.node("Tile", row, n))
    g.output(g.node("Reshape", x, g.node("Concat", n, g.const([-1]), axis=0)))
    return g, {str(k): {"a": np.array([k, 0], F), "x": data(4, 6), "row": data(5)} for k in (1, 3, 12)}, "--bound=n=12"


@network
def bound_loop():
    """A loop without a count."""
    g = Graph()
    x = g.input("x", [3])
    b = Body("b", [([3], F)])
    s = b.node("Mul", b.carried[0], b.const(F(2)))
    y, stack = g.node("Loop", "", "", x, outputs=2, body=b.ends(b.node("Less", b.node("ReduceSum", s, keepdims=0), b.const(F(50))), [(s, F), (s, F)]))
    g.output(y)
    g.output(stack)
    return g, {"": {"x": np.array([1, 2, 0.5], F)}}, "--bound=g_loop1_0=9"
