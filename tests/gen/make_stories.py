#!/usr/bin/env python3
"""Makes the forms of stories260K that examples/story runs, from the weights of stories260K_logits.onnx, and checks both
with onnxruntime: 256 tokens of the documented text. Weights stand once, in stories260K.weights. Records the step at
position 100 of the story in tests/demos/step_100_in.npz and step_100_out.npz (the logits).

stories260K_step.onnx   a step: token int64 [1], pos int64 [1], keys, values float32 [5,4,512,8] -> logits float32 [1,512],
                        keys_out, values_out: the caches with row pos written.
stories260K_loop.onnx   prompt int64 [1], count int64 -> tokens int64 [n]: an ONNX Loop over that step, which carries
                        the caches and ends after count tokens or behind the token that ends a story.

make_stories.py SHARED     the folder with models/onnx and models/data. Packages: onnx, onnxruntime, numpy.
"""
import os
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from npz import write_npz

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "examples", "story")
LAYERS, HEADS, GROUPS, SIZE, LENGTH, WORDS, BEGIN = 5, 8, 4, 8, 512, 512, 1
CACHE = [LAYERS, GROUPS, LENGTH, SIZE]


class Graph:
    """Nodes and the constants that they need."""

    def __init__(self):
        self.nodes, self.constants, self.count = [], {}, 0

    def constant(self, name, array):
        self.constants[name] = np.asarray(array)
        return name

    def add(self, op, *inputs, outputs=1, name=None, **attributes):
        self.count += 1
        name = name or f"{op.lower()}_{self.count}"
        names = [name] if outputs == 1 else [f"{name}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=name, **attributes))
        return names[0] if outputs == 1 else names


def constants_of(g, w):
    """Numbers, shapes, and the tables of the rotations: cos twice for each pair, sin with the sign of what comes back."""
    for name, value in {"one": [1], "zero": [0], "places": [2], "all": [LENGTH]}.items():
        g.constant(name, np.array(value, np.int64))
    g.constant("eps", np.full(HEADS * SIZE, 1e-5, np.float32))
    g.constant("two", np.float32(2))
    g.constant("cosines", np.repeat(w["cos"].reshape(LENGTH, SIZE // 2), 2, axis=1).reshape(LENGTH, 1, SIZE))
    sines = w["sin"].reshape(LENGTH, SIZE // 2)
    g.constant("sines", np.stack([-sines, sines], axis=2).reshape(LENGTH, 1, SIZE))
    g.constant("partner", np.arange(SIZE, dtype=np.int64) ^ 1)
    for name, shape in {"heads": [HEADS + GROUPS, SIZE], "groups": [GROUPS, 1, SIZE], "queries": [GROUPS, HEADS // GROUPS, SIZE],
                        "row": [1, HEADS * SIZE], "cached": [1, GROUPS, 1, SIZE]}.items():
        g.constant("shape." + name, np.array(shape, np.int64))
    g.constant("split.turned", np.array([(HEADS + GROUPS) * SIZE, GROUPS * SIZE], np.int64))
    g.constant("split.heads", np.array([HEADS, GROUPS], np.int64))


def norm(g, x, weight):
    mean = g.add("ReduceMean", g.add("Pow", x, "two"), axes=[-1], keepdims=1)
    root = g.add("Sqrt", g.add("Add", mean, "eps"))
    return g.add("Mul", g.add("Div", x, root), weight)


def rotate(g, x, cos, sin):
    return g.add("Add", g.add("Mul", x, cos), g.add("Mul", g.add("Gather", x, "partner", axis=-1), sin))


def step(g, token, pos, keys, values):
    """The step's nodes: the logits, and the caches with row pos."""
    cos, sin = g.add("Gather", "cosines", pos, axis=0), g.add("Gather", "sines", pos, axis=0)
    cos, sin = g.add("Squeeze", cos, "zero"), g.add("Squeeze", sin, "zero")
    behind_pos = g.add("Add", pos, "one")
    x = g.add("Gather", "emb", token, axis=0)
    new = {"k": [], "v": []}
    for i in range(LAYERS):
        y = norm(g, x, f"l{i}.ra")
        turned, v = g.add("Split", g.add("MatMul", y, f"l{i}.wqkv"), "split.turned", outputs=2, axis=1)
        q, k = g.add("Split", rotate(g, g.add("Reshape", turned, "shape.heads"), cos, sin), "split.heads", outputs=2, axis=0)
        k, v = g.add("Reshape", k, "shape.groups"), g.add("Reshape", v, "shape.groups")
        seen = {}
        for name, fresh, cache in (("k", k, keys), ("v", v, values)):
            behind = g.constant(f"layer.{i + 1}", np.array([i + 1], np.int64))
            from_ = g.constant(f"from.{i}", np.array([i, 0], np.int64))
            axes = g.constant("axes", np.array([0, 2], np.int64))
            end = g.add("Concat", behind, pos, axis=0)
            old = g.add("Squeeze", g.add("Slice", cache, from_, end, axes), "zero")
            seen[name] = g.add("Concat", old, fresh, axis=1)
            new[name].append(g.add("Reshape", fresh, "shape.cached"))
        q = g.add("Reshape", q, "shape.queries")
        scores = g.add("MatMul", q, g.add("Transpose", seen["k"], perm=[0, 2, 1]))
        mixed = g.add("MatMul", g.add("Softmax", scores, axis=-1), seen["v"])
        x = g.add("Add", x, g.add("MatMul", g.add("Reshape", mixed, "shape.row"), f"l{i}.wo"))
        y = norm(g, x, f"l{i}.rf")
        gate = g.add("MatMul", y, f"l{i}.w1")
        gate = g.add("Mul", gate, g.add("Sigmoid", gate))
        x = g.add("Add", x, g.add("MatMul", g.add("Mul", gate, g.add("MatMul", y, f"l{i}.w3")), f"l{i}.w2"))
    caches = []
    for name, cache in (("k", keys), ("v", values)):
        before, after = g.add("Slice", cache, "zero", pos, "places"), g.add("Slice", cache, behind_pos, "all", "places")
        caches.append(g.add("Concat", before, g.add("Concat", *new[name], axis=0), after, axis=2))
    return g.add("MatMul", norm(g, x, "rfin"), "wcls"), *caches


def info(name, dims, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, dims)


def save(graph, constants, name, data):
    """Large constants go to the end of `data`, where they are not there yet."""
    for key, array in constants.items():
        tensor = numpy_helper.from_array(np.asarray(array, order="C"), key)
        if array.nbytes >= 1024:
            raw = tensor.raw_data
            at = data.setdefault(raw, sum(map(len, data)))
            tensor.ClearField("raw_data")
            tensor.data_location = TensorProto.EXTERNAL
            for k, v in (("location", "stories260K.weights"), ("offset", at), ("length", len(raw))):
                tensor.external_data.add(key=k, value=str(v))
        graph.initializer.append(tensor)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8, producer_name="make_stories")
    onnx.save(model, os.path.join(FOLDER, name))


def step_graph(w):
    g = Graph()
    constants_of(g, w)
    logits, keys, values = step(g, "token", "pos", "keys", "values")
    g.add("Identity", logits, name="logits")
    g.add("Identity", keys, name="keys_out")
    g.add("Identity", values, name="values_out")
    cache = [info(n, CACHE) for n in ("keys", "values")]
    return helper.make_graph(
        g.nodes, "stories260K_step", [info("token", [1], TensorProto.INT64), info("pos", [1], TensorProto.INT64), *cache],
        [info("logits", [1, WORDS]), info("keys_out", CACHE), info("values_out", CACHE)]), g.constants


def loop_graph(w):
    g = Graph()
    constants_of(g, w)
    g.constant("begin", np.array(BEGIN, np.int64))
    pos = g.add("Reshape", "iteration", "one")
    logits, keys, values = step(g, "token", pos, "keys", "values")
    token = g.add("ArgMax", logits, axis=1, keepdims=0, name="token_out")
    g.add("Not", g.add("Equal", g.add("Squeeze", token, "zero"), "begin"), name="more")
    g.add("Identity", keys, name="keys_out")
    g.add("Identity", values, name="values_out")
    g.add("Squeeze", token, "zero", name="said")
    caches = [info(n, CACHE) for n in ("keys", "values")]
    body = helper.make_graph(
        g.nodes, "token", [info("iteration", [], TensorProto.INT64), info("going", [], TensorProto.BOOL), info("token", [1], TensorProto.INT64), *caches],
        [info("more", [], TensorProto.BOOL), info("token_out", [1], TensorProto.INT64), info("keys_out", CACHE),
         info("values_out", CACHE), info("said", [], TensorProto.INT64)])
    g.constant("true", np.array(True))
    g.constant("cache_shape", np.array(CACHE, np.int64))
    empty = helper.make_node("ConstantOfShape", ["cache_shape"], ["empty"], name="empty")
    loop = helper.make_node("Loop", ["count", "true", "prompt", "empty", "empty"], ["last", "k", "v", "tokens"], name="tell", body=body)
    return helper.make_graph(
        [empty, loop], "stories260K_loop", [info("prompt", [1], TensorProto.INT64), info("count", [], TensorProto.INT64)],
        [info("tokens", ["n"], TensorProto.INT64)]), g.constants


def check(shared):
    wanted = np.load(os.path.join(FOLDER, "..", "..", "tests", "control", "text", "generate.600_out.npz"))["tokens_out"][1:]
    session = ort.InferenceSession(os.path.join(FOLDER, "stories260K_step.onnx"), providers=["CPUExecutionProvider"])
    token, keys, values, said = BEGIN, np.zeros(CACHE, np.float32), np.zeros(CACHE, np.float32), []
    for pos in range(256):
        logits, keys, values = session.run(None, {"token": np.array([token]), "pos": np.array([pos]), "keys": keys, "values": values})
        token = int(logits.argmax())
        said.append(token)
    assert said == wanted[:256].tolist(), (said, wanted)
    given = {"token": np.array([403]), "pos": np.array([100]), "keys": keys, "values": values}
    given = {k: v if v.ndim == 1 else np.round(v * (np.arange(LENGTH) < 100)[:, None], 2) for k, v in given.items()}
    results = dict(zip((o.name for o in session.get_outputs()), session.run(None, given)))
    for name, arrays in (("in", given), ("out", {"logits": results["logits"]})):
        write_npz(os.path.join(FOLDER, "..", "..", "tests", "demos", f"step_100_{name}.npz"), arrays)
    session = ort.InferenceSession(os.path.join(FOLDER, "stories260K_loop.onnx"), providers=["CPUExecutionProvider"])
    for count in (1, 256, 500):
        got, = session.run(None, {"prompt": np.array([BEGIN]), "count": np.array(count)})
        assert got.tolist() == wanted[:min(count, 346)].tolist(), (count, got)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    model = onnx.load(os.path.join(sys.argv[1], "models", "onnx", "stories260K_logits.onnx"))
    w = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    weights = {k: v for k, v in w.items() if k[0] == "l" or k in ("emb", "rfin", "wcls")}
    for i in range(LAYERS):  # one product for queries, keys and values; 1 / sqrt(8), by which scores are divided, is in it
        weights[f"l{i}.wqkv"] = np.concatenate([w[f"l{i}.wq"] * w["scale"], w[f"l{i}.wk"], w[f"l{i}.wv"]], axis=1)
    assert np.allclose(w["scale"], SIZE ** -0.5) and np.isclose(w["eps"], 1e-5)
    data = {}
    for make, name in ((step_graph, "stories260K_step.onnx"), (loop_graph, "stories260K_loop.onnx")):
        graph, constants = make(w)
        used = {i for n in graph.node for i in n.input} | {i for n in graph.node for a in n.attribute for m in a.g.node for i in m.input}
        save(graph, {k: v for k, v in {**constants, **weights}.items() if k in used}, name, data)
    with open(os.path.join(FOLDER, "stories260K.weights"), "wb") as file:
        file.write(b"".join(data))
    check(sys.argv[1])


if __name__ == "__main__":
    main()
