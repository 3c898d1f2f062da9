#!/usr/bin/env python3
"""A network from Python: compiled, run on the chip in SystemVerilog, looked at, and used as a stream of runs.

    python3 examples/stock/python.py [MODEL.onnx]

The model has one input, of float32; digits.onnx is read where none is given. docs/python.md is the manual.
"""
import os
import sys

import xpu

HERE = os.path.dirname(os.path.abspath(__file__))


def numbers(count):
    """Numbers between 0 and 1 that are the same each time."""
    return [i * 37 % 101 / 101 for i in range(count)]


def nested(values, shape):
    """Numbers as nested lists of this shape."""
    for dim in reversed(shape[1:]):
        values = [values[i:i + dim] for i in range(0, len(values), dim)]
    return values


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "digits", "digits.onnx")
    try:
        program = xpu.compile(path, precision="auto")
    except xpu.Error as error:
        for problem in error.problems:
            print(problem, file=sys.stderr)
        return error.status
    print(program)

    # One run: the sizes that the model leaves open are 1 here
    wanted = program.inputs[0]
    shape = [1 if dim is None else dim for dim in wanted.shape]
    count = 1
    for dim in shape:
        count *= dim
    values = nested(numbers(count), shape)
    result = program.run({wanted.name: values}, device="rtl", dump=True)
    print(result)
    dearest = max(result.layers, key=lambda layer: layer.cycles)
    print("dearest layer: %s, %.0f %% of %d cycles" % (dearest.name, 100 * dearest.cycles / result.cycles,
                                                      result.cycles))
    with open("profile.svg", "w", encoding="utf-8") as file:  # what a notebook shows of result.profile
        file.write(result.profile._repr_svg_())

    # The chip in C computes the same bits, layer by layer
    difference = xpu.diff(result, program.run(values, device="func", dump=True))
    print("rtl and func: %s" % difference)

    # Many runs of a program that stays on its device
    with program.session("func") as session:
        outputs = [session.run(values, stats=False).output.tolist() for _ in range(100)]
    print("a hundred runs: %s" % ("all the same" if all(o == outputs[0] for o in outputs) else "not the same"))
    return 0 if not difference else 4


if __name__ == "__main__":
    sys.exit(main())
