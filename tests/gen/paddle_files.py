#!/usr/bin/env python3
"""Writes the PaddlePaddle programs of tests/paddle that no PaddlePaddle has made: paddle_files.py FOLDER

A writer of ProgramDesc, of parameter streams and of PIR's JSON, with the standard library alone. The programs compute
something (x W + b, then relu), and hold every type of attribute, blocks in blocks, and what old files look like."""
import io
import json
import os
import struct
import sys
import zipfile

FP32, INT64, BOOL = 5, 3, 0
DENSE_TENSOR, FEED, FETCH, ARRAY, STEP_SCOPES = 7, 9, 10, 13, 11
INT, FLOAT, STRING, INTS, FLOATS, STRINGS, BOOLEAN, BOOLEANS, BLOCK, LONG, BLOCKS, LONGS, FLOAT64S, VAR, VARS, FLOAT64, \
    SCALAR, SCALARS = range(18)


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while True:
        byte, value = value & 127, value >> 7
        out += bytes([byte | (128 if value else 0)])
        if not value:
            return out


def number(field, value):
    return varint(field << 3) + varint(value)


def data(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def fixed(field, value, double=False):
    return varint(field << 3 | (1 if double else 5)) + struct.pack("<d" if double else "<f", value)


def tensor_desc(dtype, dims):
    return number(1, dtype) + b"".join(number(2, d) for d in dims)


def var(name, kind=DENSE_TENSOR, dtype=FP32, dims=(), persistable=False):
    inner = number(1, kind)
    if kind == DENSE_TENSOR:
        inner += data(3, data(1, tensor_desc(dtype, dims)) + number(2, 0))
    if kind == ARRAY:
        inner += data(4, data(1, tensor_desc(dtype, dims)) + number(2, 0))
    return data(1, name) + data(2, inner) + number(3, persistable)


def scalar(value):
    return number(1, 2) + number(3, value) if isinstance(value, int) else number(1, 3) + fixed(4, value, True)


def attr(name, kind, value):
    out = data(1, name) + number(2, kind)
    lists = {INTS: 6, BOOLEANS: 11, BLOCKS: 14, LONGS: 15}
    single = {INT: 3, BOOLEAN: 10, BLOCK: 12, LONG: 13}
    if kind in single:
        return out + number(single[kind], value)
    if kind in lists:
        return out + b"".join(number(lists[kind], v) for v in value)
    if kind in (FLOAT, FLOAT64):
        return out + (fixed(4, value) if kind == FLOAT else fixed(19, value, True))
    if kind in (FLOATS, FLOAT64S):
        return out + b"".join(fixed(7, v) if kind == FLOATS else fixed(16, v, True) for v in value)
    if kind in (STRING, VAR):
        return out + data(5 if kind == STRING else 17, value)
    if kind in (STRINGS, VARS):
        return out + b"".join(data(8 if kind == STRINGS else 18, v) for v in value)
    if kind == SCALAR:
        return out + data(20, scalar(value))
    return out + b"".join(data(21, scalar(v)) for v in value)


def op(kind, inputs, outputs, attrs=()):
    def slots(field, which):
        return b"".join(data(field, data(1, k) + b"".join(data(2, v) for v in names)) for k, names in which.items())
    return slots(1, inputs) + slots(2, outputs) + data(3, kind) + b"".join(data(4, attr(*a)) for a in attrs)


def block(index, parent, variables, ops):
    return number(1, index) + number(2, parent) + b"".join(data(3, v) for v in variables) + \
        b"".join(data(4, o) for o in ops)


def program(blocks, version, op_versions=()):
    out = b"".join(data(1, b) for b in blocks)
    if version is not None:
        out += data(4, number(1, version))
    pairs = b"".join(data(1, data(1, name) + data(2, number(1, v))) for name, v in op_versions)
    return out + (data(5, pairs) if pairs else b"")


def record(dtype, dims, raw, levels=()):
    desc = tensor_desc(dtype, dims)
    lod = b"".join(struct.pack("<Q", 8 * len(level)) + struct.pack("<%dQ" % len(level), *level) for level in levels)
    return struct.pack("<IQ", 0, len(levels)) + lod + struct.pack("<Ii", 0, len(desc)) + desc + raw


WEIGHT = [((i * 7) % 11 - 5) / 4 for i in range(12)]
BIAS = [0.5, -0.25, 1.0]


def ports(x, y):
    return (op("feed", {"X": ["feed"]}, {"Out": [x]}, [("col", INT, 0)]),
            op("fetch", {"X": [y]}, {"Out": ["fetch"]}, [("col", INT, 0)]))


def ends():
    return [var("feed", FEED, persistable=True), var("fetch", FETCH, persistable=True)]


def linear(version, old):
    """relu(x W + b) of x [-1,4]; as PaddlePaddle 1.x wrote it (mul) or 2.x (matmul_v2)."""
    feed, fetch = ports("x", "y")
    product = op("mul", {"X": ["x"], "Y": ["w"]}, {"Out": ["xw"]},
                 [("x_num_col_dims", INT, 1), ("y_num_col_dims", INT, 1)]) if old else \
        op("matmul_v2", {"X": ["x"], "Y": ["w"]}, {"Out": ["xw"]}, [("trans_x", BOOLEAN, 0), ("trans_y", BOOLEAN, 0)])
    ops = [feed, product, op("elementwise_add", {"X": ["xw"], "Y": ["b"]}, {"Out": ["z"]}, [("axis", INT, -1)]),
           op("relu", {"X": ["z"]}, {"Out": ["y"]}), fetch]
    variables = ends() + [var("x", dims=(-1, 4)), var("w", dims=(4, 3), persistable=True),
                          var("b", dims=(3,), persistable=True), var("xw", dims=(-1, 3)), var("z", dims=(-1, 3)),
                          var("y", dims=(-1, 3))]
    return program([block(0, -1, variables, ops)], version, [("matmul_v2", 1)] if not old else [])


def again():
    """y = x + x; y = y + y; y = y + x: a variable that is assigned again, from itself."""
    feed, fetch = ports("x", "y")
    ops = [feed] + [op("elementwise_add", {"X": [a], "Y": [b]}, {"Out": ["y"]}, [("axis", INT, -1)])
                    for a, b in (("x", "x"), ("y", "y"), ("y", "x"))] + [fetch]
    return program([block(0, -1, ends() + [var("x", dims=(-1, 4)), var("y", dims=(-1, 4))], ops)], 2006002)


def weights():
    return {"w": record(FP32, (4, 3), struct.pack("<12f", *WEIGHT)),
            "b": record(FP32, (3,), struct.pack("<3f", *BIAS), levels=((0, 3),))}


def everything():
    """Every type of attribute, and blocks in blocks: to be read and described, not to be run."""
    feed, fetch = ports("x", "y")
    attrs = [("i", INT, -3), ("f", FLOAT, 0.5), ("s", STRING, "text"), ("ints", INTS, [1, -2]),
             ("floats", FLOATS, [0.25, -8.0]), ("strings", STRINGS, ["a", "b"]), ("b", BOOLEAN, 1),
             ("bools", BOOLEANS, [1, 0]), ("sub_block", BLOCK, 1), ("l", LONG, 1 << 40), ("blocks", BLOCKS, [1, 2]),
             ("longs", LONGS, [1 << 40, -1]), ("doubles", FLOAT64S, [0.1]), ("axis", VAR, "x"),
             ("shape", VARS, ["x", "n"]), ("d", FLOAT64, 0.1), ("value", SCALAR, 7), ("values", SCALARS, [7, 0.5]),
             ("op_callstack", STRINGS, ["file.py"])]
    top = block(0, -1, ends() + [var("x", dims=(-1, 4)), var("n", dtype=INT64, dims=(1,)), var("y", dims=(-1, 4)),
                                 var("list", ARRAY, dims=(-1, 4)), var("scopes", STEP_SCOPES)],
                [feed, op("while", {"X": ["x"], "Condition": ["n"]}, {"Out": ["y"], "StepScopes": ["scopes"]}, attrs),
                 fetch])
    body = block(1, 0, [var("inner", dims=(4,))],
                 [op("conditional_block", {"Cond": ["n"], "Input": ["x"]}, {"Out": ["y"], "Scope": ["scopes"]},
                     [("sub_block", BLOCK, 2)])])
    inner = block(2, 1, [], [op("scale", {"X": ["x"]}, {"Out": ["y"]}, [("scale", FLOAT, 2.0)]),
                             op("unknown", {"X": ["inner"]}, {"Out": ["nowhere"]})])
    return program([top, body, inner], 2006002, [("while", 0), ("scale", 1)])


# ---- PIR ----

def tensor(dims, dtype="t_f32"):
    return {"#": "0.t_dtensor", "D": [{"#": "0." + dtype}, list(dims), "NCHW", [], 0]}


def pir_attr(name, kind, value):
    return {"N": name, "AT": {"#": kind, "D": value}}


def pir_op(kind, inputs, outputs, attrs=(), regions=None):
    entry = {"#": kind, "I": [{"%": i} for i in inputs], "O": [{"%": i, "TT": t} for i, t in outputs],
             "A": [pir_attr(*a) for a in attrs], "OA": []}
    if regions is not None:
        entry["regions"] = regions
    return entry


def region(name, arguments, ops):
    return {"#": name, "blocks": [{"#": "block", "args": [{"#": "0", "%": i, "TT": t} for i, t in arguments],
                                   "ops": ops}]}


def pir(ops, version=1):
    return {"base_code": {"magic": "pir", "trainable": True, "version": version},
            "program": {"regions": [{"#": "region_0", "blocks": [{"#": "block_0", "args": [], "ops": ops}]}]}}


def parameter(i, name, dims):
    return {"#": "p", "A": [0, 1, 1, name], "DA": [], "O": {"%": i, "TT": tensor(dims)}, "OA": [1, 0, 1], "QA": []}


def pir_linear(version=1):
    return pir([parameter(1, "w", (4, 3)), parameter(2, "b", (3,)),
                pir_op("1.data", [], [(3, tensor((-1, 4)))],
                       [("name", "0.a_str", "x"), ("shape", "1.a_intarray", [-1, 4]), ("dtype", "1.a_dtype", "float32"),
                        ("place", "1.a_place", [0, 0, ""])]),
                pir_op("1.matmul", [3, 1], [(4, tensor((-1, 3)))],
                       [("transpose_x", "0.a_bool", False), ("transpose_y", "0.a_bool", False)]),
                pir_op("1.add", [4, 2], [(5, tensor((-1, 3)))]), pir_op("1.relu", [5], [(6, tensor((-1, 3)))]),
                pir_op("1.fetch", [6], [(7, tensor((-1, 3)))], [("name", "0.a_str", "y"), ("col", "0.a_i32", 0)])],
               version)


def pir_everything():
    ints = [{"#": "0.a_i64", "D": 1}, {"#": "0.a_i64", "D": -2}]
    floats = [{"#": "0.a_f32", "D": 0.5}]
    texts = [{"#": "0.a_str", "D": "a"}]
    attrs = [("b", "0.a_bool", True), ("i", "0.a_i32", -3), ("l", "0.a_i64", 1 << 40), ("f", "0.a_f32", 0.5),
             ("d", "0.a_f64", 0.1), ("s", "0.a_str", "text"), ("ints", "0.a_array", ints),
             ("floats", "0.a_array", floats), ("texts", "0.a_array", texts), ("none", "0.a_array", []),
             ("shape", "1.a_intarray", [2, -1]), ("dtype", "1.a_dtype", "int64"), ("place", "1.a_place", [0, 0, ""]),
             ("layout", "1.a_layout", "NCHW"), ("value", "1.a_scalar", 7), ("pointer", "0.a_pointer", "0")]
    boolean = tensor((1,), "t_bool")
    body = region("body", [(-1, tensor((-1, 4)))],
                  [pir_op("1.scale", [-1, 0], [(20, tensor((-1, 4)))], attrs), pir_op("2.yield", [10, 20], [])])
    then = region("then", [], [pir_op("2.yield", [3], [])])
    other = region("else", [], [pir_op("1.relu", [3], [(30, tensor((-1, 4)))]), pir_op("2.yield", [30], [])])
    vector = {"#": "0.t_vec", "D": [tensor((-1, 4)), tensor((-1, 4))]}
    return pir([pir_op("1.data", [], [(3, tensor((-1, 4)))], [("name", "0.a_str", "x")]),
                pir_op("1.full", [], [(10, boolean)], [("shape", "1.a_intarray", [1]), ("value", "0.a_f64", 1.0),
                                                       ("dtype", "1.a_dtype", "bool")]),
                pir_op("1.while", [10, 3], [(11, tensor((-1, 4)))], [], [body]),
                pir_op("1.if", [10], [(12, tensor((-1, 4)))], [], [then, other]),
                pir_op("0.combine", [11, 12], [(13, vector)]),
                pir_op("1.concat", [13, 10], [(14, tensor((-1, 4)))]),
                pir_op("1.fetch", [14], [(15, tensor((-1, 4)))], [("name", "0.a_str", "y"), ("col", "0.a_i32", 0)])], 4)


def npz(name, rows):
    """One float32 matrix as an .npz file, stored."""
    values = [v for row in rows for v in row]
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    body = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%df" % len(values), *values)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name + ".npy"), body)
    return out.getvalue()


RANGES = """Global:
  model_name: linear
Hpi:
  backend_configs:
    paddle_infer:
      trt_dynamic_shapes: &id001
        x:
        - - 1
          - 4
        - - 2
          - 4
        - - 8
          - 4
    tensorrt:
      dynamic_shapes: *id001
"""


def write(folder, name, content):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(content if isinstance(content, bytes) else json.dumps(content, separators=(",", ":")).encode())


def main():
    folder = sys.argv[1]
    tensors = weights()
    combined = b"".join(tensors[name] for name in sorted(tensors))
    write(folder, "linear.pdmodel", linear(2006002, False))
    write(folder, "linear.pdiparams", combined)
    write(folder, "linear.json", pir_linear())
    write(folder, "ranges/inference.json", pir_linear())
    write(folder, "ranges/inference.pdiparams", combined)
    write(folder, "ranges/inference.yml", RANGES.encode())
    write(folder, "old/__model__", linear(None, True))
    for name in tensors:
        write(folder, "old/" + name, tensors[name])
    x = [[((i * 5 + k * 3) % 7 - 3) / 2 for k in range(4)] for i in range(3)]
    y = [[max(0.0, sum(row[k] * WEIGHT[3 * k + j] for k in range(4)) + BIAS[j]) for j in range(3)] for row in x]
    write(folder, "linear_in.npz", npz("x", x))
    write(folder, "linear_out.npz", npz("y", y))
    write(folder, "again.pdmodel", again())
    write(folder, "again_out.npz", npz("y", [[5 * v for v in row] for row in x]))
    write(folder, "everything.pdmodel", everything())
    write(folder, "everything.json", pir_everything())


if __name__ == "__main__":
    main()
