"""Programs with branches, loops and tensor arrays, for record_paddle_control.py: each function builds one with the
static API that both PaddlePaddle 2.6.2 and 3.3.1 have, and gives its outputs; CASES has what each is fed with."""
import numpy as np
import paddle
from paddle.static import nn

rng = np.random.default_rng(15)


def f(*dims):
    """Numbers around 0, short in a file."""
    return (np.round(rng.standard_normal(dims) * 32) / 32).astype(np.float32)


def i64(*values):
    return np.array(values, np.int64)


CASES = []


def case(*feeds):
    """The names and shapes of the inputs are those of the first feed; the others have the same."""
    def add(build):
        CASES.append((build.__name__, build, feeds))
        return build
    return add


def weight(name, *dims):
    value = np.random.default_rng(sum(map(ord, name))).standard_normal(dims) / 4
    return paddle.create_parameter(list(dims), "float32", name=name, default_initializer=paddle.nn.initializer.Assign(
        (np.round(value * 64) / 64).astype(np.float32)))


def zeros(*dims, dtype="float32"):
    return paddle.zeros(list(dims), dtype)


def new_array():
    return paddle.tensor.create_array("float32")


def write(x, i, array):
    return paddle.tensor.array_write(x, i, array)


def read(array, i):
    return paddle.tensor.array_read(array, i)


def concat(array, **how):
    return paddle.tensor.manipulation.tensor_array_to_tensor(array, **how)


# ---- branches ----

@case(dict(x=f(2, 3), c=np.array([True])), dict(x=f(2, 3), c=np.array([False])))
def if_else(x, c):
    return nn.cond(c, lambda: (x * 2, x.sum()), lambda: (x - 1, x.max()))


@case(dict(x=f(2, 3), c=np.array([True])), dict(x=-np.abs(f(2, 3)), c=np.array([True])), dict(x=f(2, 3), c=np.array([False])))
def if_nested(x, c):
    def inner():
        return nn.cond(x.sum() > 0, lambda: x * 2, lambda: x + 1)
    return nn.cond(c, lambda: (inner(), x.sum()), lambda: (x - 1, nn.cond(x.max() > 3, lambda: x.min(), lambda: x.mean())))


@case(dict(x=f(1, 4)), dict(x=-f(1, 4)))
def if_weights(x):
    """Both branches use weights, and a value that was computed before."""
    hidden = paddle.matmul(x, weight("if_w", 4, 4))
    then_w, then_b, else_w = weight("then_w", 4, 3), weight("then_b", 3), weight("else_w", 4, 3)
    def then():
        return paddle.nn.functional.relu(paddle.matmul(hidden, then_w) + then_b)
    def otherwise():
        return paddle.matmul(hidden + x, else_w)
    return nn.cond(hidden.sum() > 0, then, otherwise)


@case(dict(x=f(3), k=i64(0)), dict(x=f(3), k=i64(1)), dict(x=f(3), k=i64(7)))
def if_switch(x, k):
    return nn.switch_case(k, {0: lambda: x + 1, 1: lambda: x * 3}, default=lambda: -x)


@case(dict(x=f(3)))
def if_known(x):
    """The condition is known while the program is read."""
    return nn.cond(paddle.full([1], 2.) > 1, lambda: x + 1, lambda: x * 3)


@case(dict(x=f(2, 3), c=np.array([True])), dict(x=f(2, 3), c=np.array([False])))
def desc_if_writes(x, c):
    """A variable that is there before is written in one branch."""
    y = x * 2
    nn.cond(c, lambda: paddle.assign(x + 5, y) and None, None)
    return y + x


# ---- loops ----

@case(dict(x=f(2, 3), n=i64(4)), dict(x=f(2, 3), n=i64(0)))
def while_counts(x, n):
    _, y = nn.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, y * 0.5 + x], [zeros(1, dtype="int64"), zeros(2, 3)])
    return y


@case(dict(x=f(2, 3)))
def while_known(x):
    """How often the loop runs is known."""
    _, y = nn.while_loop(lambda i, y: i < 7, lambda i, y: [i + 2, y + x], [paddle.full([1], 1, "int64"), x * 2])
    return y


@case(dict(x=f(1, 4), n=i64(3)))
def while_weights(x, n):
    w = weight("while_w", 4, 4)
    side = paddle.tanh(x)
    _, y = nn.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, paddle.tanh(paddle.matmul(y, w) + side)],
                         [zeros(1, dtype="int64"), x * 1.])
    return y


@case(dict(x=np.array([100.], np.float32)), dict(x=np.array([.5], np.float32)), dict(x=np.array([7.], np.float32)))
def while_data(x):
    """Data say how often it runs: halved until it is below 1; and how often that was."""
    y, n = nn.while_loop(lambda y, n: (y >= 1).all(), lambda y, n: [y / 2, n + 1], [x * 1., zeros(1)])
    return y, n


@case(dict(x=f(2, 3), n=i64(5)))
def if_in_while(x, n):
    w = weight("iiw", 3, 3)
    def body(i, y):
        y = nn.cond(i > 1, lambda: y + x, lambda: paddle.matmul(y, w) + x)
        return [i + 1, y]
    _, y = nn.while_loop(lambda i, y: i < n, body, [zeros(1, dtype="int64"), zeros(2, 3)])
    return y


@case(dict(x=f(2, 3), n=i64(3), c=np.array([True])), dict(x=f(2, 3), n=i64(3), c=np.array([False])))
def while_in_if(x, n, c):
    def loop():
        return nn.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, y + x], [zeros(1, dtype="int64"), zeros(2, 3)])[1]
    return nn.cond(c, loop, lambda: x * 9)


@case(dict(x=f(2, 2), n=i64(3)), dict(x=f(2, 2), n=i64(1)))
def while_in_while(x, n):
    def outer(i, y):
        _, y = nn.while_loop(lambda j, z: j < i, lambda j, z: [j + 1, z * 0.5 + x], [zeros(1, dtype="int64"), y])
        return [i + 1, y]
    _, y = nn.while_loop(lambda i, y: i < n, outer, [zeros(1, dtype="int64"), x + 1])
    return y


@case(dict(x=np.array([6, -1, .5], np.float32), n=i64(4)), dict(x=f(3), n=i64(0)))
def while_in_place(x, n):
    """The loop's variable is that of x, which the body reads: of 6, 234.375 in a ProgramDesc and 79.125 in PIR."""
    start = x * 1.
    _, y = nn.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, 1.5 * y + start], [zeros(1, dtype="int64"), start])
    return y


@case(dict(x=f(2, 3), n=i64(4)))
def while_swaps(x, n):
    """Each of the two becomes the other one's last value."""
    _, a, b = nn.while_loop(lambda i, a, b: i < n, lambda i, a, b: [i + 1, b + 0., a * 0.5],
                            [zeros(1, dtype="int64"), x + 1, x * 3])
    return a, b


@case(dict(x=f(2, 3), n=i64(3)))
def while_grows(x, n):
    """A carried tensor that becomes longer, n times at most 8."""
    m = paddle.minimum(n, paddle.full([1], 8, "int64"))
    def body(i, y):
        return [i + 1, paddle.concat([y, x * paddle.cast(i, "float32")])]
    _, y = nn.while_loop(lambda i, y: paddle.logical_and(i < 8, i < m), body, [zeros(1, dtype="int64"), x * 1.])
    return y


# ---- tensor arrays ----

@case(dict(x=f(2, 3)))
def desc_array_list(x):
    """Places that are known: a list."""
    array = new_array()
    i, j = zeros(1, dtype="int64"), paddle.full([1], 1, "int64")
    array = write(x, i, array)
    array = write(x[:, :2] * 2, j, array)
    return concat(array, axis=1)[0], paddle.tensor.array_length(array), read(array, j)


@case(dict(x=f(2, 3)))
def pir_array_sizes(x):
    """2.6.2 does not say how long the parts are."""
    array = new_array()
    for k in range(3):
        array = write(x + k, paddle.full([1], k, "int64"), array)
    return concat(array, axis=1) + concat(array, axis=0, use_stack=True)


@case(dict(x=f(2, 3)))
def array_loop(x):
    """Written in a loop whose length is known, made one tensor after it in three ways."""
    def body(i, y):
        write(y, i, array)
        return [i + 1, y * 0.5]
    array = new_array()
    nn.while_loop(lambda i, y: i < 5, body, [zeros(1, dtype="int64"), x * 1.])
    return (concat(array, axis=0)[0], concat(array, axis=1)[0], concat(array, axis=0, use_stack=True)[0],
            concat(array, axis=2, use_stack=True)[0], paddle.tensor.array_length(array))


@case(dict(x=f(2, 3), n=i64(4)), dict(x=f(2, 3), n=i64(1)))
def array_first(x, n):
    """The first tensor is written before the loop; the loop reads the last one."""
    m = paddle.minimum(n, paddle.full([1], 6, "int64"))
    array = write(x, zeros(1, dtype="int64"), new_array())
    def body(i):
        last = read(array, i)
        j = i + 1
        write(last * 2, j, array)
        return [j]
    nn.while_loop(lambda i: paddle.logical_and(i < 6, i < m), body, [zeros(1, dtype="int64")])
    return concat(array, axis=0)[0], paddle.tensor.array_length(array)


@case(dict(x=f(4, 3)))
def array_read_in_loop(x):
    """A list that is there before the loop, read in it by the counter."""
    array = new_array()
    for k in range(4):
        array = write(x[k], paddle.full([1], k, "int64"), array)
    _, y = nn.while_loop(lambda i, y: i < paddle.tensor.array_length(array), lambda i, y: [i + 1, y * 0.5 + read(array, i)],
                         [zeros(1, dtype="int64"), zeros(3)])
    return y


@case(dict(x=f(2, 3)))
def array_again(x):
    """Places are written again."""
    array = new_array()
    for k in range(3):
        array = write(x + k, paddle.full([1], k, "int64"), array)
    def body(i):
        write(read(array, i) * 10, i, array)
        return [i + 1]
    nn.while_loop(lambda i: i < 2, body, [zeros(1, dtype="int64")])
    return concat(array, axis=0)[0]


# ---- a small decoder ----

@case(dict(x=f(1, 8)), dict(x=f(1, 8)))
def greedy(x):
    """Greedy decoding: the state of a recurrent cell and the last token give the next one, until that is 0 or 12 are
    there; the scores of all steps go into an array."""
    table, w, u, out = weight("table", 10, 8), weight("cell_w", 8, 8), weight("cell_u", 8, 8), weight("head", 8, 10)
    scores = new_array()
    def body(i, token, state, going):
        state = paddle.tanh(paddle.matmul(paddle.gather(table, token), w) + paddle.matmul(state, u) + x)
        logits = paddle.matmul(state, out)
        write(logits, i, scores)
        token = paddle.argmax(logits, axis=-1)
        return [i + 1, token, state, token != 0]
    i, token, state, _ = nn.while_loop(lambda i, token, state, going: paddle.logical_and(i < 12, going), body,
                                       [zeros(1, dtype="int64"), paddle.full([1], 3, "int64"), x * 1., paddle.full([1], True, "bool")])
    return concat(scores, axis=0)[0], token, state, i


# ---- less usual ----

@case(dict(x=f(2, 3), n=i64(4)), dict(x=f(2, 3), n=i64(0)))
def desc_array_appends(x, n):
    """Written at its length, in one branch of the loop only; the array may stay as it is."""
    array = write(x, zeros(1, dtype="int64"), new_array())
    def body(i):
        def append():
            write(x * paddle.cast(i, "float32"), paddle.tensor.array_length(array), array)
            return i + 0
        nn.cond(i % 2 == 1, append, lambda: i + 0)
        return [i + 1]
    nn.while_loop(lambda i: paddle.logical_and(i < n, i < 6), body, [zeros(1, dtype="int64")])
    return concat(array, axis=0)[0], paddle.tensor.array_length(array)


@case(dict(x=f(3)))
def desc_array_in_loops(x):
    """An inner loop writes what the outer one has begun, at places that the outer counter says."""
    array = new_array()
    def outer(i):
        def inner(j):
            write(x + paddle.cast(j, "float32"), i * 2 + j, array)
            return [j + 1]
        nn.while_loop(lambda j: j < 2, inner, [zeros(1, dtype="int64")])
        return [i + 1]
    nn.while_loop(lambda i: i < 3, outer, [zeros(1, dtype="int64")])
    return concat(array, axis=0, use_stack=True)[0], paddle.tensor.array_length(array)


@case(dict(x=f(2, 3), n=i64(2)), dict(x=f(2, 3), n=i64(9)))
def desc_while_block(x, n):
    """The loop as a block whose condition is written in it, by operators that write in place."""
    m = paddle.minimum(n, paddle.full([1], 5, "int64"))
    i, y = zeros(1, dtype="int64"), x * 1.
    going = i < m
    loop = nn.control_flow.While(going)
    with loop.block():
        paddle.assign(y * 0.5 + x, y)
        paddle.increment(i)
        paddle.assign(i < m, going)
    return y, i


@case(dict(x=f(3), k=np.array([0], np.int32)), dict(x=f(3), k=np.array([1], np.int32)))
def desc_select(x, k):
    """select_output and select_input on one mask, which no branch belongs to."""
    block = paddle.static.default_main_program().current_block()
    a, b, y, z = (block.create_var(name="picked_" + n, shape=[3], dtype="float32") for n in "abyz")
    block.append_op(type="select_output", inputs={"X": x * 2, "Mask": k}, outputs={"Out": [a, b]})
    block.append_op(type="select_input", inputs={"X": [x - 1, x + 1], "Mask": k}, outputs={"Out": y})
    block.append_op(type="select_input", inputs={"X": [a, b], "Mask": k}, outputs={"Out": z})
    c, d, w = (block.create_var(name="picked_" + n, shape=[3], dtype="float32") for n in "cdw")
    block.append_op(type="select_output", inputs={"X": z + x, "Mask": k}, outputs={"Out": [c, d]})
    block.append_op(type="select_input", inputs={"X": [c, d], "Mask": k}, outputs={"Out": w})
    return y + x, w


@case(dict(x=f(2, 3), n=i64(3)))
def while_counts_down(x, n):
    m = paddle.minimum(n, paddle.full([1], 5, "int64"))
    _, y = nn.while_loop(lambda i, y: i > 0, lambda i, y: [i - 1, y * 0.5 + paddle.cast(i, "float32")], [m, x * 1.])
    return y


@case(dict(x=f(3, 4), n=np.array([2.5], np.float32)))
def pir_in_place(x, n):
    """Operators that PIR has and a ProgramDesc has not, most of which write what they take."""
    y, z, w = x * 1., x * 2., paddle.zeros([2])
    y = paddle.static.setitem(y, (slice(0, 2), 1), 2.5)
    y = paddle.static.setitem(y, 2, x[0])
    z = paddle._C_ops.assign_out_(x + 1, z)
    w = paddle._C_ops.assign_value_(w, [2], paddle.float32, [1.5, -2.], paddle.CPUPlace())
    v = paddle.full([2, 3], n)
    return y, z, w, v, paddle.shape(x)


@case(dict(x=f(70, 2)))
def pir_many_parts(x):
    """More numbers than a shape could have."""
    return paddle.concat(paddle.split(x, [1] * 66 + [3, 1])[::-1])
