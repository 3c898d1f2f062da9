#!/usr/bin/env python3
"""inputs_npz.py FILE.npy|"random 1,3,H,W" OUT.npz: one input as an archive, seeded float32 from 0 to 1 where it is random.
The standard library alone."""
import random
import struct
import sys
import zipfile

given, out = sys.argv[1:]
if given.startswith("random"):
    dims = [int(d) for d in given.split()[1].split(",")]
    count = 1
    for d in dims:
        count *= d
    draw = random.Random(1)
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({','.join(map(str, dims))},), }}"
    head = (head + " " * (-(len(head) + 11) % 64) + "\n").encode()
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack(f"<{count}f", *(draw.random() for _ in range(count)))
else:
    data = open(given, "rb").read()
with zipfile.ZipFile(out, "w") as archive:
    archive.writestr("x.npy", data)
