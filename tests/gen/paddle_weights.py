#!/usr/bin/env python3
"""Writes seeded parameters for a PIR program that has come without: paddle_weights.py INFERENCE.json OUT.pdiparams

Standard library only. Every element is one of 256 values about as wide as a trained network's, drawn by the parameter's
name, so that activations neither vanish nor grow; the classes of a large last layer are spread out."""
import array
import json
import math
import random
import sys

import paddle_files

SPREAD = 74  # of (byte - 127.5), about: the standard deviation


def elements(name, dims):
    count = math.prod(dims)
    draws = random.Random(name).randbytes(count)
    kind, width = name.rsplit(".", 1)[-1], 0.1
    centre = 0.0
    if "transpose" in name and len(dims) == 4 and dims[1] == 1:  # in front of the detector's sigmoid
        width = 0.02
    elif len(dims) == 4:
        width = math.sqrt(1.5 / (dims[0] if "transpose" in name else math.prod(dims[1:])))
    elif len(dims) == 2:
        width = math.sqrt(1.5 / dims[0]) * (4 if dims[1] > 10000 else 1)
    elif kind == "w_2" or kind.startswith("w_0") or dims == [1]:
        width, centre = 0.25, 1.0
    table = [centre + width * (k - 127.5) / SPREAD for k in range(256)]
    return array.array("f", map(table.__getitem__, draws)).tobytes()


def main():
    with open(sys.argv[1]) as file:
        program = json.load(file)
    dims = {op["A"][3]: op["O"]["TT"]["D"][1] for op in program["program"]["regions"][0]["blocks"][0]["ops"] if op["#"] == "p"}
    with open(sys.argv[2], "wb") as file:
        for name in sorted(dims):
            file.write(paddle_files.record(paddle_files.FP32, dims[name], elements(name, dims[name])))


if __name__ == "__main__":
    main()
