#!/usr/bin/env python3
"""Makes tests/loops/random: networks of If, Loop and Scan, nested at random, by seed: SEED.onnx, SEED_in.npz with inputs,
and of the first 40 SEED_out.npz with the outputs that onnxruntime gives.

random_control.py [FIRST LAST]     Packages: onnx, onnxruntime, numpy. Without seeds: 1 to 200.
"""
import os
import sys

import numpy as np
import onnxruntime as ort

from loops_common import B, Body, F, I, own
from npz import write_npz
from onnx_graph import Graph, data

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "loops", "random")
RECORDED, LAST, DEEPEST = 40, 200, 3


class Network:
    """Every float value is [rows, columns]; values near 0, so that nothing overflows."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.rows, self.columns = int(self.random.integers(1, 5)), int(self.random.integers(1, 14))
        self.budget, self.blocks, self.count = int(self.random.integers(12, 40)), 0, 0
        g = self.graph = Graph()
        self.x, self.n = g.input("x", [self.rows, self.columns]), g.input("n", [], I)
        self.flags = [g.input(f"c{k}", [], B) for k in range(2)]
        values = self.statements(g, [self.x], 0, int(self.random.integers(3, 7)))
        for k in range(min(2, len(values))):
            g.output(own(g, g.node("Identity", values[-1 - k])))
        self.inputs = {"x": data(self.rows, self.columns, seed=seed), "n": np.array(self.random.integers(0, 6), I)}
        self.inputs.update({f: np.array(bool(self.random.integers(2))) for f in self.flags})

    def pick(self, values):
        return values[int(self.random.integers(len(values)))]

    def chance(self, one_in):
        return self.random.integers(one_in) == 0

    def name(self, stem):
        self.blocks += 1
        return f"{stem}{self.blocks}"

    def weight(self, g, *shape):
        self.count += 1
        return g.const((self.random.normal(0, 1, shape) / np.sqrt(shape[0])).astype(F))

    # ---- one value from others ----

    def plain(self, g, values):
        kind = int(self.random.integers(7))
        a, b = self.pick(values), self.pick(values)
        if kind == 0:
            return g.node(self.pick(["Relu", "Tanh", "Neg", "Abs", "Sigmoid", "Softplus"]), a)
        if kind == 1:
            return g.node("Tanh", g.node("MatMul", a, self.weight(g, self.columns, self.columns)))
        if kind == 2:
            return g.node("Mul", g.node("Tanh", a), b)
        if kind == 3:
            return g.node("Sub", a, g.node("ReduceMean", b, axes=[1], keepdims=1))
        if kind == 4:
            return g.node("Softmax", a, axis=1)
        if kind == 5:
            return g.node("Transpose", g.node("Tanh", g.node("Transpose", a, perm=[1, 0])), perm=[1, 0])
        return g.node(self.pick(["Add", "Max", "Min"]), a, b)

    def condition(self, g, values):
        if self.chance(3):
            return self.pick(self.flags)
        total = g.node("ReduceSum", self.pick(values), keepdims=0)
        return g.node("Greater", total, g.const(F(self.random.normal(0, 1))))

    # ---- control flow ----

    def body(self, name, values, depth, results):
        g = Graph(self.name(name))
        inner = self.statements(g, list(values), depth, int(self.random.integers(1, 4)))
        for k in range(results):
            g.output(own(g, inner[-1 - k % len(inner)] if self.chance(4) else self.plain(g, inner)))
        return g.proto()

    def if_(self, g, values, depth):
        results = int(self.random.integers(1, 3))
        bodies = [self.body(k, values, depth + 1, results) for k in ("t", "e")]
        made = g.node("If", self.condition(g, values), outputs=results, then_branch=bodies[0], else_branch=bodies[1])
        return [made] if results == 1 else made

    def loop(self, g, values, depth):
        carried = int(self.random.integers(1, 4))
        b = Body(self.name("b"), [([self.rows, self.columns], F)] * carried)
        inner = self.statements(b, values + b.carried, depth + 1, int(self.random.integers(1, 4)))
        if self.chance(3):
            scaled = b.node("Mul", self.pick(b.carried), b.node("Cast", b.i, to=1))
            inner.append(b.node("Tanh", scaled))
        results = [(own(b, self.pick(b.carried) if self.chance(4) else self.plain(b, inner)), F) for _ in range(carried)]
        again = self.condition(b, inner) if self.chance(3) else b.c
        trips = self.n if self.chance(3) else g.const(int(self.random.integers(0, 6)))
        first = [self.pick(values) for _ in range(carried)]
        go = self.pick(self.flags) if self.chance(4) else g.const(np.array(True))
        made = g.node("Loop", trips, go, *first, outputs=carried, body=b.ends(again, results))
        return [made] if carried == 1 else made

    def grow(self, g, values, depth):
        """Rows are appended; behind the loop their mean is used."""
        b = Body(self.name("g"), [([None, self.columns], F), ([self.rows, self.columns], F)])
        inner = self.statements(b, values + b.carried[1:], depth + 1, 1)
        row = b.node("ReduceMax", self.plain(b, inner), axes=[0], keepdims=1)
        rows = b.node("Concat", b.carried[0], row, axis=0) if self.chance(2) else b.node("Concat", row, b.carried[0], axis=0)
        mean = b.node("ReduceMean", rows, axes=[0], keepdims=1)
        again = self.condition(b, inner) if self.chance(3) else b.c
        body = b.ends(again, [(rows, F), (b.node("Tanh", b.node("Add", b.carried[1], mean)), F)])
        trips = g.const(int(self.random.integers(1, 9)))
        first = g.node("ReduceMin", self.pick(values), axes=[0], keepdims=1)
        rows, last = g.node("Loop", trips, g.const(np.array(True)), first, self.pick(values), outputs=2, body=body)
        return [g.node("Add", last, g.node("ReduceMean", rows, axes=[0], keepdims=1))]

    def scan(self, g, values, depth):
        """Along the rows, or the columns."""
        axis = int(self.random.integers(2))
        size = (self.columns, self.rows)[axis]
        b = Graph(self.name("s"))
        s, x = b.input(b.name + "_s", [size]), b.input(b.name + "_x", [size])
        t = b.node("Tanh", b.node(self.pick(["Add", "Sub", "Max"]), s, b.node("Mul", x, b.const(F(0.75)))))
        b.output(b.node("Identity", t))
        b.output(b.node(self.pick(["Neg", "Relu", "Identity"]), t))
        ways = {"scan_input_axes": [axis], "scan_input_directions": [int(self.random.integers(2))], "scan_output_axes": [axis], "scan_output_directions": [int(self.random.integers(2))]}
        state = g.node("ReduceMean", self.pick(values), axes=[axis], keepdims=0)
        return [g.node("Scan", state, self.pick(values), outputs=2, body=b.proto(), num_scan_inputs=1, **ways)[1]]

    def statements(self, g, values, depth, count):
        for _ in range(count):
            self.budget -= 1
            if depth < DEEPEST and self.budget > 0 and self.chance(2):
                values += self.pick([self.if_, self.if_, self.loop, self.loop, self.loop, self.grow, self.scan])(g, values, depth)
            else:
                values.append(self.plain(g, values))
        return values


def main():
    os.makedirs(FOLDER, exist_ok=True)
    seeds = range(int(sys.argv[1]), int(sys.argv[2]) + 1) if len(sys.argv) > 2 else range(1, LAST + 1)
    kinds = {}
    for seed in seeds:
        network = Network(seed)
        model = network.graph.model()
        base = os.path.join(FOLDER, str(seed))
        with open(base + ".onnx", "wb") as file:
            file.write(model.SerializeToString())
        write_npz(base + "_in.npz", network.inputs)
        settings = ort.SessionOptions()
        settings.intra_op_num_threads, settings.log_severity_level = 1, 3
        settings.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = ort.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
        names = [o.name for o in session.get_outputs()]
        feeds = {i.name: network.inputs[i.name] for i in session.get_inputs()}
        answers = session.run(names, feeds)
        assert all(np.isfinite(a).all() for a in answers), seed
        if seed <= RECORDED:
            write_npz(base + "_out.npz", dict(zip(names, answers)))
        for node in model.graph.node:
            kinds[node.op_type] = kinds.get(node.op_type, 0) + 1
    print(kinds)


if __name__ == "__main__":
    main()
