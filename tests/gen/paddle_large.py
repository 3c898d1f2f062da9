#!/usr/bin/env python3
"""paddle_large.py FOLDER: large.pdmodel, whose parameter `big` has more than 2^31 elements of int8 (a sparse file, all 0 but
for its last row: 0 to 96 again and again) and stands in front of `w` in large.pdiparams: y = x + w + the end of that row;
large_in.npz and large_out.npz."""
import sys

from paddle_files import FP32, INT, INTS, block, ends, npz, op, program, record, var, write

INT8, ROWS, COLUMNS = 21, 65537, 32769
folder = sys.argv[1]
last = bytes(k % 97 for k in range(COLUMNS))
ops = [op("feed", {"X": ["feed"]}, {"Out": ["x"]}, [("col", INT, 0)]),
       op("slice", {"Input": ["big"]}, {"Out": ["end"]}, [("axes", INTS, [0, 1]), ("starts", INTS, [ROWS - 1, COLUMNS - 3]), ("ends", INTS, [ROWS, COLUMNS]),
                                                         ("decrease_axis", INTS, [])]),
       op("cast", {"X": ["end"]}, {"Out": ["wide"]}, [("in_dtype", INT, INT8), ("out_dtype", INT, FP32)]),
       op("elementwise_add", {"X": ["x"], "Y": ["w"]}, {"Out": ["sum"]}, [("axis", INT, -1)]),
       op("elementwise_add", {"X": ["sum"], "Y": ["wide"]}, {"Out": ["y"]}, [("axis", INT, -1)]),
       op("fetch", {"X": ["y"]}, {"Out": ["fetch"]}, [("col", INT, 0)])]
names = [var(name, dims=(1, 3)) for name in ("x", "wide", "sum", "y")]
names += [var("end", dtype=INT8, dims=(1, 3)), var("w", dims=(3,), persistable=True), var("big", dtype=INT8, dims=(ROWS, COLUMNS), persistable=True)]
write(folder, "large.pdmodel", program([block(0, -1, ends() + names, ops)], 2006002))
with open(folder + "/large.pdiparams", "wb") as file:
    file.write(record(INT8, (ROWS, COLUMNS), b""))
    file.seek((ROWS - 1) * COLUMNS, 1)
    file.write(last + record(FP32, (3,), b"\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40"))  # 1, 2, 3
write(folder, "large_in.npz", npz("x", [[8, 16, 32]]))
write(folder, "large_out.npz", npz("y", [[x + w + k for x, w, k in zip((8, 16, 32), (1, 2, 3), last[-3:])]]))
