#!/usr/bin/env python3
"""Writes the programs of tests/errors/paddle-control and paddle-control-pir, whose branches, loops and arrays cannot be
imported, of paddle-complex, of paddle-fused, and of paddle-sizes: paddle_wrong.py FOLDER FOLDER FOLDER FOLDER FOLDER"""
import sys

from paddle_files import (ARRAY, BLOCK, BOOL, BOOLEAN, FLOAT, FP32, INT, INT64, INTS, LONGS, STRING, block, ends, op, pir, pir_op, ports, program, region,
                          tensor, var, write)

VARS = [var("x", dims=(2, 3)), var("y", dims=(2, 3)), var("z", dims=(2, 3)), var("i", dtype=INT64, dims=(1,)),
        var("half", dims=(1,)), var("c", dtype=BOOL, dims=(1,)), var("list", ARRAY, dims=(2, 3))]


def filled(name, dtype, value):
    return op("fill_constant", {}, {"Out": [name]}, [("shape", INTS, [1]), ("dtype", INT, dtype), ("value", FLOAT, value),
                                                     ("str_value", STRING, str(value))])


def copied(x, y):
    return op("scale", {"X": [x]}, {"Out": [y]}, [("scale", FLOAT, 2.0)])


def written(value=0, x="x"):
    return [filled("i", INT64, value), op("write_to_array", {"X": [x], "I": ["i"]}, {"Out": ["list"]})]


def read(name="list"):
    return op("read_from_array", {"X": [name], "I": ["i"]}, {"Out": ["y"]})


IS_MORE = [op("reduce_sum", {"X": ["x"]}, {"Out": ["half"]}, [("dim", INTS, [0]), ("reduce_all", BOOLEAN, 1), ("keep_dim", BOOLEAN, 0)]),
           op("cast", {"X": ["half"]}, {"Out": ["c"]}, [("in_dtype", INT, FP32), ("out_dtype", INT, BOOL)])]


def runs(name, scalar=1, index=1):
    return op("conditional_block", {"Cond": [name], "Input": ["x"]}, {"Out": ["y"]},
              [("sub_block", BLOCK, index), ("is_scalar_condition", BOOLEAN, scalar)])


def loops(condition, carried=("x",), index=1):
    return op("while", {"Condition": [condition], "X": list(carried)}, {"Out": ["y"]}, [("sub_block", BLOCK, index)])


DESC = {  # operators, and those of block 1
    "array_dims": written() + [op("relu", {"X": ["list"]}, {"Out": ["y"]})],
    "array_gap": written(2) + [read()],
    "array_index": written() + [filled("half", FP32, 0.5), op("read_from_array", {"X": ["list"], "I": ["half"]}, {"Out": ["y"]})],
    "array_negative": written(-1) + [read()],
    "array_none": [op("tensor_array_to_tensor", {"X": ["list"]}, {"Out": ["y"]}, [("axis", INT, 0)])],
    "array_range": written() + [filled("i", INT64, 4), read()],
    "array_tensor": [filled("i", INT64, 0), read("x")],
    "block_missing": IS_MORE + [runs("c", index=7)],
    "block_rows": (IS_MORE + [runs("c", scalar=0)], [copied("x", "y")]),
    "block_type": (IS_MORE + [runs("half")], [copied("x", "y")]),
    "select_three": IS_MORE + [op("select_input", {"X": ["x", "x", "x"], "Mask": ["c"]}, {"Out": ["y"]})],
    "select_twice": IS_MORE + [copied("x", "y"), op("select_output", {"X": ["x"], "Mask": ["c"]}, {"Out": ["z", "y"]})],
    "while_array": (IS_MORE + [loops("c", ("x", "list"))], [op("lod_array_length", {"X": ["list"]}, {"Out": ["i"]}), copied("x", "y")] + IS_MORE),
    "while_itself": (IS_MORE + [loops("c")], [loops("c")]),
    "while_missing": IS_MORE + [loops("c", index=0)],
    "while_type": (IS_MORE + [loops("x")], [copied("x", "y")]),
}


def spectrum(x, y):
    return op("fft_r2c", {"X": [x]}, {"Out": [y]}, [("axes", LONGS, [1]), ("normalization", STRING, "ortho"), ("forward", BOOLEAN, 1),
                                                     ("onesided", BOOLEAN, 1)])


COMPLEX = {
    "body": (IS_MORE + [runs("c")], [spectrum("x", "y")]),
    "operand": [spectrum("x", "z"), op("relu", {"X": ["z"]}, {"Out": ["y"]})],
    "output": [spectrum("x", "y")],
    "real": [op("as_real", {"X": ["x"]}, {"Out": ["y"]})],
}


def desc(ops):
    top, body = ops if isinstance(ops, tuple) else (ops, None)
    feed, fetch = ports("x", "y")
    blocks = [block(0, -1, ends() + VARS, [feed] + top + [fetch])]
    if body:
        blocks.append(block(1, 0, [], body))
    return program(blocks, 2006002)


T, FLAG = tensor((2, 3)), tensor((), "t_bool")
INPUT = [pir_op("1.data", [], [(1, T)], [("name", "0.a_str", "x"), ("shape", "1.a_intarray", [2, 3]), ("dtype", "1.a_dtype", "float32"),
                                         ("place", "1.a_place", [0, 0, ""])]),
         pir_op("1.data", [], [(2, FLAG)], [("name", "0.a_str", "c"), ("shape", "1.a_intarray", []), ("dtype", "1.a_dtype", "bool"),
                                            ("place", "1.a_place", [0, 0, ""])])]


def ending(x):
    return [pir_op("1.fetch", [x], [(90, T)], [("name", "0.a_str", "y"), ("col", "0.a_i32", 0)])]


def yields(*values):
    return pir_op("2.yield", values, [])


def body(ops, arguments=()):
    return region("body", [(i, T) for i in arguments], ops)


PIR = {
    "if_counts": [pir_op("1.if", [2], [(10, T)], [], [body([yields(1)]), body([yields(1, 1)])])],
    "if_one": [pir_op("1.if", [2], [(10, T)], [], [body([yields(1)])])],
    "if_null": [pir_op("1.if", [2], [(10, T)], [], [body([yields(0)]), body([yields(1)])])],
    "if_type": [pir_op("1.if", [1], [(10, T)], [], [body([yields(1)]), body([yields(1)])])],
    "while_counts": [pir_op("1.while", [2, 1], [(10, T)], [], [body([yields(2)], [-1])])],
    "while_null": [pir_op("1.while", [2, 0], [(10, T)], [], [body([yields(2, -1)], [-1])])],
    "while_type": [pir_op("1.while", [1, 1], [(10, T)], [], [body([yields(1, -1)], [-1])])],
}

FUSED = {name: [op(kind, {"X": ["x"], "Y": ["x"]} if kind != "fc" else {"Input": ["x"], "W": ["x"]}, {"Out": ["y"]}, [(name, *value)])]
         for name, kind, *value in (("padding_weights", "fc", BOOLEAN, 1), ("fused_output_scale", "elementwise_add", FLOAT, 0.5),
                                    ("fused_reshape2_shape", "matmul_v2", INTS, [3, 2]), ("fuse_brelu", "elementwise_add", BOOLEAN, 1),
                                    ("fuse_activation", "elementwise_add", STRING, "relu"))}

# As many entries as a value may have whose entries are known, and one more.
SIZES = {f"sizes_{count}": [op("assign_value", {}, {"Out": ["i"]}, [("shape", INTS, [count]), ("dtype", INT, INT64), ("int64_values", LONGS, [1] * count)]),
                            op("fill_constant", {"ShapeTensor": ["i"]}, {"Out": ["y"]}, [("dtype", INT, FP32), ("value", FLOAT, 1.0)])]
         for count in (64, 65)}

for name, ops in DESC.items():
    write(sys.argv[1], name + ".pdmodel", desc(ops))
for name, ops in COMPLEX.items():
    write(sys.argv[3], name + ".pdmodel", desc(ops))
for name, ops in PIR.items():
    write(sys.argv[2], name + ".json", pir(INPUT + ops + ending(10)))
for name, ops in FUSED.items():
    write(sys.argv[4], name + ".pdmodel", desc(ops))
for name, ops in SIZES.items():
    write(sys.argv[5], name + ".pdmodel", desc(ops))
