"""What the networks of tests/loops are made of: bodies, branches, inputs by case (record_loops.py records them)."""
import numpy as np

from onnx_graph import TYPES, Graph

TYPES.update({np.dtype(np.int8): 3, np.dtype(np.uint8): 2, np.dtype(np.float16): 10, np.dtype(np.float64): 11})
I, B, F = np.int64, bool, np.float32
NETWORKS = {}


def network(function):
    NETWORKS[function.__name__] = function
    return function


def own(graph, name):
    """A result of a body is made in it."""
    return name if any(name in node.output for node in graph.nodes) else graph.node("Identity", name)


class Body(Graph):
    """A body of a loop: iteration and condition are its first inputs."""

    def __init__(self, name, carried=(), rank=0):
        super().__init__(name)
        dims = [1] * rank
        self.i, self.c = self.input(name + "_i", dims, I), self.input(name + "_c", [], B)
        self.carried = [self.input(f"{name}_{k}", dims, dtype) for k, (dims, dtype) in enumerate(carried)]

    def ends(self, condition, results):
        """results: (name, dtype)"""
        self.output(self.node("Identity", condition), B)
        for name, dtype in results:
            self.output(own(self, name), dtype)
        return self.proto()


def branch(name, make):
    """make(graph) gives the names of its results, or (name, dtype)."""
    g = Graph(name)
    for result in make(g):
        name, dtype = result if isinstance(result, tuple) else (result, F)
        g.output(own(g, name), dtype)
    return g.proto()


def one(*values, dtype=None):
    return np.array(values[0] if len(values) == 1 else values, dtype)


def flags(*names):
    """Every combination of the conditions."""
    cases = {}
    for bits in range(1 << len(names)):
        cases["".join(str(bits >> k & 1) for k in range(len(names)))] = {n: np.array(bool(bits >> k & 1)) for k, n in enumerate(names)}
    return cases


def with_data(cases, **inputs):
    return {case: {**values, **inputs} for case, values in cases.items()}
