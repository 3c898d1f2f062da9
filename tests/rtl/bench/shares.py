#!/usr/bin/env python3
"""Where a program of bench-sim spends its time: shares of the chip's units, from samples of perf.

    shares.py BUILD PROGRAM

BUILD has been made by `make bench-sim BUILD=...`. A function of the Verilated model counts for the unit whose variables
it names most often: each unit has a clock of its own, and Verilator makes functions per clock.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

UNITS = {"registers": "registers", "system_bus": "bus", "tensor": "tensor engine", "dma0": "DMA0", "dma1": "DMA1",
         "core": "cores", "vector": "vector units"}


def unit_of(names):
    name = names.most_common(1)[0][0]
    if "cores__BRA" in name or "Vcellout" in name:
        return "between the units"
    return UNITS.get(name, name)


def functions(folder):
    """The unit of each function of the model."""
    text = open(os.path.join(folder, "Vxpu_chip_classes.mk")).read()
    found = {}
    for stem in set(re.findall(r"Vxpu_chip\w*", text)):
        path = os.path.join(folder, stem + ".cpp")
        name, names = None, None
        for line in open(path) if os.path.exists(path) else []:
            start = re.match(r"(?:VL_\w+ )*void (\w+)\([^;]*$", line)
            if start:
                name, names = start.group(1), collections.Counter()
            elif line.startswith("}") and name:
                if names:
                    found[name] = unit_of(names)
                name = None
            elif name:
                names.update(re.findall(r"xpu_chip__DOT__(\w+?)__DOT__", line))
                names.update(re.findall(r"\b(?:__PVT__|__Vdly__)?(core|vector)__DOT__", line)) # in the class of the cores
    return found


def main():
    build, program = sys.argv[1:3]
    units = functions(os.path.join(build, "rtl/standard"))
    with tempfile.TemporaryDirectory() as folder:
        samples = os.path.join(folder, "samples")
        bench = os.path.join(build, "tests/rtl/bench")
        library = os.path.join(build, "lib/libxpurtl-standard.so")
        subprocess.run(["perf", "record", "-q", "-F", "5000", "-o", samples, os.path.join(bench, "bench-sim"), bench,
                        library, os.path.join(folder, "json"), program], stderr=subprocess.DEVNULL)
        report = subprocess.run(["perf", "report", "-i", samples, "--stdio"], capture_output=True, text=True).stdout
    shares = collections.Counter()
    for line in report.splitlines():
        part = re.match(r"\s+([\d.]+)%\s+\S+\s+libxpurtl\S*\s+\[\.\] (\w+)", line)
        if not part or "ctor_var_reset" in part.group(2) or part.group(2) == "VL_ZERO_W":
            continue
        share, name = float(part.group(1)), part.group(2)
        shares[units.get(name, "harness and evaluation")] += share
    for name, share in shares.most_common():
        print(f"{100 * share / sum(shares.values()):5.1f} %  {name}")


main()
