#!/usr/bin/env python3
"""Makes a network that goes wrong as small as it can, so that what is left says where.

shrink.py MODEL.onnx INPUTS.npz OUT COMMAND...

COMMAND is run by the shell with {model} and {inputs} put in; a status other than 0 says that the fault is still there (a
grep in it says which fault). In turns, until nothing helps: one output alone, an inner value as the output, an inner value
as an input (with what onnxruntime, where it is installed, computes there, or else numbers), a node left out whose result has
the form of an operand, an optional operand left out. Writes OUT.onnx and OUT_in.npz.
Packages: onnx, numpy.

  shrink.py tests/networks/4.onnx tests/networks/4_in.npz small \\
      'build/bin/xpuc -q {model} -o s.xpu && build/bin/xpu-run -q s.xpu -d func -i {inputs}'
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper, shape_inference

from npz import write_npz


class Shrinker:
    def __init__(self, model, inputs, command):
        self.model, self.inputs, self.command = model, inputs, command
        self.folder = tempfile.TemporaryDirectory()
        self.tries = 0
        self.values = self.computed()

    def computed(self):
        """Every value of the network: name to array; without onnxruntime random numbers of the inferred form."""
        known = dict(self.inputs)
        whole = onnx.ModelProto.FromString(self.model.SerializeToString())
        names = [o for node in whole.graph.node for o in node.output if o]
        try:
            import onnxruntime as ort

            del whole.graph.output[:]
            whole.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
            settings = ort.SessionOptions()
            settings.log_severity_level = 3
            session = ort.InferenceSession(whole.SerializeToString(), settings, providers=["CPUExecutionProvider"])
            known.update(zip(names, session.run(names, self.inputs)))
        except ImportError:
            random = np.random.default_rng(1)
            for info in shape_inference.infer_shapes(whole).graph.value_info:
                kind = info.type.tensor_type
                dims = [d.dim_value for d in kind.shape.dim]
                if all(dims):
                    dtype = helper.mapping.TENSOR_TYPE_TO_NP_TYPE[kind.elem_type]
                    known[info.name] = (random.normal(0, 1, dims) if dtype.kind == "f" else random.integers(0, 2, dims)).astype(dtype)
        return known

    def pruned(self, model):
        """Without nodes, weights and inputs that no output needs."""
        graph = model.graph
        needed = {o.name for o in graph.output}

        def uses(nodes, found):
            for node in nodes:
                found.update(node.input)
                for attribute in node.attribute:
                    for body in [attribute.g, *attribute.graphs]:
                        uses(body.node, found)
                        found.update(o.name for o in body.output)
            return found

        kept = []
        for node in reversed(graph.node):
            if needed & set(node.output):
                kept.insert(0, node)
                needed |= uses([node], set())
        for field, items in (("node", kept), ("initializer", [w for w in graph.initializer if w.name in needed]),
                             ("input", [i for i in graph.input if i.name in needed])):
            items = [type(item).FromString(item.SerializeToString()) for item in items]
            del getattr(graph, field)[:]
            getattr(graph, field).extend(items)
        del graph.value_info[:]
        return model

    def try_(self, change):
        """Whether the fault is still there after a change of the model, which is kept then."""
        model = onnx.ModelProto.FromString(self.model.SerializeToString())
        if change(model.graph) is False:
            return False
        model = self.pruned(model)
        if not model.graph.node or not model.graph.output or size(model) >= size(self.model):
            return False
        inputs = {i.name: self.values[i.name] for i in model.graph.input}
        if not self.fails(model, inputs):
            return False
        self.model, self.inputs = model, inputs
        return True

    def fails(self, model, inputs):
        paths = [os.path.join(self.folder.name, name) for name in ("model.onnx", "inputs.npz")]
        onnx.save(model, paths[0])
        write_npz(paths[1], inputs)
        self.tries += 1
        command = self.command.replace("{model}", paths[0]).replace("{inputs}", paths[1])
        return subprocess.run(command, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0

    # ---- changes: each gives those that may be tried, of the model as it is ----

    def info(self, name):
        value = self.values[name]
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype) if hasattr(helper, "np_dtype_to_tensor_dtype")
                                             else helper.mapping.NP_TYPE_TO_TENSOR_TYPE[value.dtype], value.shape)

    def one_output(self):
        for output in list(self.model.graph.output):
            def change(graph, name=output.name):
                left = [o for o in graph.output if o.name != name]
                del graph.output[:]
                graph.output.extend(left)
            yield change

    def inner_outputs(self):
        for node in list(self.model.graph.node):
            for name in node.output:
                def change(graph, name=name):
                    if name not in self.values:
                        return False
                    del graph.output[:]
                    graph.output.append(self.info(name))
                yield change

    def inner_inputs(self):
        for node in reversed(list(self.model.graph.node)):
            def change(graph, names=tuple(node.output)):
                if any(name and name not in self.values for name in names):
                    return False
                if {o.name for o in graph.output} & set(names):
                    return False
                for made in [n for n in graph.node if tuple(n.output) == names]:
                    graph.node.remove(made)
                graph.input.extend(self.info(name) for name in names if name)
            yield change

    def without_nodes(self):
        forms = {name: (value.shape, value.dtype) for name, value in self.values.items()}
        forms.update({w.name: (tuple(w.dims), numpy_helper.to_array(w).dtype) for w in self.model.graph.initializer})
        for index, node in enumerate(self.model.graph.node):
            for operand in node.input:
                if len(node.output) != 1 or operand not in forms or forms.get(node.output[0]) != forms[operand]:
                    continue

                def change(graph, index=index, operand=operand):
                    result = graph.node[index].output[0]
                    if any(o.name == result for o in graph.output):
                        return False
                    for other in graph.node:
                        for k, name in enumerate(other.input):
                            if name == result:
                                other.input[k] = operand
                    del graph.node[index]
                yield change

    def fewer_operands(self):
        for index, node in enumerate(self.model.graph.node):
            for k in range(len(node.input) - 1, 0, -1):
                def change(graph, index=index, k=k):
                    inputs = list(graph.node[index].input)
                    if not inputs[k]:
                        return False
                    inputs[k] = ""
                    while not inputs[-1]:
                        inputs.pop()
                    del graph.node[index].input[:]
                    graph.node[index].input.extend(inputs)
                yield change

    def run(self):
        ways = (self.one_output, self.inner_outputs, self.inner_inputs, self.without_nodes, self.fewer_operands)
        helped = True
        while helped:
            helped = False
            for way in ways:
                while any(self.try_(change) for change in way()):
                    helped = True
        return self.model


def size(model):
    """Nodes first; bytes among models with as many."""
    return len(model.graph.node), len(model.SerializeToString())


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    model = onnx.load(sys.argv[1])
    inputs = dict(np.load(sys.argv[2]))
    shrinker = Shrinker(model, inputs, " ".join(sys.argv[4:]))
    if not shrinker.fails(model, inputs):
        sys.exit("the command succeeds on the whole network")
    before = len(model.graph.node)
    small = shrinker.run()
    onnx.save(small, sys.argv[3] + ".onnx")
    write_npz(sys.argv[3] + "_in.npz", shrinker.inputs)
    print(f"{before} nodes, {len(small.graph.node)} left: {' '.join(n.op_type for n in small.graph.node)}; {shrinker.tries} tries")


if __name__ == "__main__":
    main()
