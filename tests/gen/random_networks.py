#!/usr/bin/env python3
"""Makes random networks of the kinds that people have, by seed: transformers, recurrent ones, detectors, and encoders with
decoders behind them. Each has about the operators of its kind as exporters write them, with random sizes and weights.

random_networks.py FOLDER [FIRST LAST]     Seeds 1 to 60, or those: SEED.onnx, SEED_in.npz, and where onnxruntime is
                                           installed SEED_out.npz with what it gives. Packages: onnx, numpy.
Without arguments: tests/networks.
"""
import collections
import os
import sys

import numpy as np

from npz import write_npz
from onnx_graph import Graph

F, I = np.float32, np.int64
FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "networks")
RECORDED = 60


class Network:
    """What all kinds share: a graph, random numbers, and operators that are written otherwise in another opset."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.opset = int(self.pick([13, 15, 16, 17]))
        self.graph, self.inputs = Graph(), {}
        self.make()

    def pick(self, values):
        return values[int(self.random.integers(len(values)))]

    def chance(self, one_in):
        return self.random.integers(one_in) == 0

    def between(self, low, high):
        return int(self.random.integers(low, high + 1))

    def node(self, op, *inputs, **attributes):
        return self.graph.node(op, *inputs, **attributes)

    def const(self, value, dtype=None):
        return self.graph.const(value, dtype)

    def input(self, name, value):
        self.inputs[name] = value
        return self.graph.input(name, list(value.shape), value.dtype)

    def weight(self, *shape, inputs=None):
        """Normal, so that sums over `inputs` (the first dim, if it is not said) keep their size."""
        return self.const((self.random.normal(0, 1, shape) / np.sqrt(inputs or shape[0])).astype(F))

    def around(self, middle, *shape):
        return self.const((middle + self.random.normal(0, 0.2, shape)).astype(F))

    def mean(self, x, axes):
        return self.node("ReduceMean", x, axes=axes, keepdims=1)

    def linear(self, x, inputs, outputs):
        """A product by weights with its bias behind it, or in front."""
        product = self.node("MatMul", x, self.weight(inputs, outputs))
        bias = self.around(0, outputs)
        return self.node("Add", product, bias) if self.chance(2) else self.node("Add", bias, product)

    def reshape(self, x, *dims):
        return self.node("Reshape", x, self.const(list(dims), I))

    def activation(self, x):
        kind = self.pick(["Relu", "LeakyRelu", "HardSwish", "Elu", "Sigmoid", "Tanh", "Softplus", "silu", "gelu", "mish", "clip"])
        if kind == "silu":
            return self.node("Mul", x, self.node("Sigmoid", x))
        if kind == "gelu":
            scaled = self.node("Erf", self.node("Div", x, self.const(F(np.sqrt(2)))))
            return self.node("Mul", self.node("Mul", x, self.node("Add", scaled, self.const(F(1)))), self.const(F(0.5)))
        if kind == "mish":
            return self.node("Mul", x, self.node("Tanh", self.node("Softplus", x)))
        if kind == "clip":
            part = self.node("Clip", self.node("Add", x, self.const(F(3))), self.const(F(0)), self.const(F(6)))
            return self.node("Div", self.node("Mul", x, part), self.const(F(6)))
        return self.node("Tanh", x) if kind == "HardSwish" and self.opset < 14 else self.node(kind, x)

    def layer_norm(self, x, size):
        """One node, or as exporters wrote it before opset 17; with the mean, or of squares alone."""
        scale = self.around(1, size)
        if self.opset >= 17 and self.chance(2):
            return self.node("LayerNormalization", x, scale, self.around(0, size), axis=-1, epsilon=1e-5)
        if self.chance(3):
            squares = self.mean(self.node("Mul", x, x), [-1])
            root = self.node("Sqrt", self.node("Add", squares, self.const(F(1e-5))))
            return self.node("Mul", self.node("Mul", x, self.node("Reciprocal", root)), scale)
        centred = self.node("Sub", x, self.mean(x, [-1]))
        squares = self.mean(self.node("Pow", centred, self.const(F(2))), [-1])
        normal = self.node("Div", centred, self.node("Sqrt", self.node("Add", squares, self.const(F(1e-5)))))
        return self.node("Add", self.node("Mul", normal, scale), self.around(0, size))


class Transformer(Network):
    """Tokens or vectors, blocks of attention and products, logits."""

    def make(self):
        self.batch, self.length = self.between(1, 2), self.between(3, 24)
        self.heads, size = self.pick([1, 2, 4]), self.pick([4, 8, 12])
        self.shared, self.size, self.width = self.pick([h for h in (1, 2, 4) if self.heads % h == 0]), size, self.heads * size
        x = self.tokens() if self.chance(2) else self.vectors()
        before = self.chance(2)
        for _ in range(self.between(1, 2)):
            for part in (self.attention, self.products):
                if before:
                    x = self.node("Add", x, part(self.layer_norm(x, self.width)))
                else:
                    x = self.layer_norm(self.node("Add", x, part(x)), self.width)
        self.ends(x)

    def tokens(self):
        words = self.between(10, 40)
        ids = self.input("tokens", self.random.integers(0, words, (self.batch, self.length)).astype(I))
        x = self.node("Gather", self.weight(words, self.width, inputs=1), ids, axis=0)
        places = self.weight(32, self.width, inputs=1)
        if self.chance(2):
            length = self.node("Gather", self.node("Shape", ids), self.const(1), axis=0)
            return self.node("Add", x, self.node("Gather", places, self.node("Range", self.const(0), length, self.const(1)), axis=0))
        return self.node("Add", x, self.node("Slice", places, self.const([0]), self.const([self.length]), self.const([0])))

    def vectors(self):
        x = self.input("x", self.random.normal(0, 1, (self.batch, self.length, 10)).astype(F))
        return self.linear(x, 10, self.width)

    def split(self, x, heads):
        x = self.reshape(x, 0, 0, heads, self.size)
        return self.node("Transpose", x, perm=[0, 2, 1, 3])

    def rotated(self, x):
        """Halves of each head turned by an angle that grows with the position."""
        half = self.size // 2
        angle = np.arange(self.length)[:, None] / 10 ** (np.arange(half) / half)
        turn = [self.const(np.concatenate([f(angle)] * 2, 1).astype(F)) for f in (np.cos, np.sin)]
        first, second = self.graph.node("Split", x, self.const([half, half]), outputs=2, axis=-1)
        other = self.node("Concat", self.node("Neg", second), first, axis=-1)
        return self.node("Add", self.node("Mul", x, turn[0]), self.node("Mul", other, turn[1]))

    def masked(self, scores):
        if self.chance(2):
            return scores
        if self.opset >= 14 and self.chance(2):
            ones = self.node("ConstantOfShape", self.const([self.length, self.length]), value=tensor(np.ones(1, F)))
            allowed = self.node("Cast", self.node("Trilu", ones, upper=0), to=9)
            return self.node("Where", allowed, scores, self.const(F(-1e9)))
        if self.chance(2):
            return self.node("Add", scores, self.const(np.triu(np.full((self.length, self.length), -1e9, F), 1)))
        lengths = self.input(f"lengths{self.graph.count}", self.random.integers(1, self.length + 1, (self.batch, 1, 1, 1)).astype(I))
        return self.node("Where", self.node("Less", self.const(np.arange(self.length)), lengths), scores, self.const(F(-1e9)))

    def attention(self, x):
        width, few = self.width, self.shared * self.size
        if self.shared == self.heads and self.chance(2):
            parts = self.graph.node("Split", self.linear(x, width, 3 * width), self.const([width] * 3), outputs=3, axis=-1)
        else:
            parts = [self.linear(x, width, n) for n in (width, few, few)]
        q, k, v = (self.split(part, heads) for part, heads in zip(parts, (self.heads, self.shared, self.shared)))
        if self.size % 2 == 0 and self.chance(3):
            q, k = self.rotated(q), self.rotated(k)
        if self.shared != self.heads:
            k, v = (self.repeated(t) for t in (k, v))
        scores = self.node("MatMul", q, self.node("Transpose", k, perm=[0, 1, 3, 2]))
        scale = self.const(F(np.sqrt(self.size)))
        scores = self.node("Div", scores, scale) if self.chance(2) else self.node("Mul", scores, self.node("Reciprocal", scale))
        mixed = self.node("MatMul", self.node("Softmax", self.masked(scores), axis=-1), v)
        return self.linear(self.reshape(self.node("Transpose", mixed, perm=[0, 2, 1, 3]), 0, 0, width), width, width)

    def repeated(self, t):
        """Each of the few heads is used by several."""
        times = self.heads // self.shared
        wide = self.node("Expand", self.node("Unsqueeze", t, self.const([2])), self.const([1, 1, times, 1, 1]))
        return self.reshape(wide, self.batch, self.heads, self.length, self.size)

    def products(self, x):
        inner = self.width * self.pick([1, 2, 4])
        first = self.linear(x, self.width, inner)
        if self.chance(3):
            first = self.node("Mul", self.node("Mul", first, self.node("Sigmoid", first)), self.linear(x, self.width, inner))
        else:
            first = self.activation(first)
        return self.linear(first, inner, self.width)

    def ends(self, x):
        kind = self.between(0, 3)
        if kind == 0:
            x = self.node("LogSoftmax", self.linear(x, self.width, 12), axis=-1)
        elif kind == 1:
            x = self.linear(self.node("Gather", x, self.const(0), axis=1), self.width, 7)
        elif kind == 2:
            logits = self.linear(x, self.width, 15)
            self.graph.output(self.node("ArgMax", logits, axis=-1, keepdims=0), I)
            x = self.node("ReduceMax", logits, axes=[-1], keepdims=0)
        else:
            x = self.node("Softmax", self.linear(self.node("ReduceMean", x, axes=[1], keepdims=0), self.width, 9), axis=-1)
        self.graph.output(x)


class Recurrent(Network):
    """Steps of a sequence through cells in one direction or both, a product and activations behind them."""

    def make(self):
        self.batch, self.length, width = self.between(1, 3), self.between(2, 12), self.between(3, 20)
        if self.chance(2):
            words = self.between(8, 30)
            ids = self.input("ids", self.random.integers(0, words, (self.length, self.batch)).astype(I))
            x = self.node("Gather", self.weight(words, width, inputs=1), ids, axis=0)
        else:
            x = self.node("Transpose", self.input("x", self.random.normal(0, 1, (self.batch, self.length, width)).astype(F)), perm=[1, 0, 2])
        if self.chance(3):
            x, width = self.windows(x, width)
        for _ in range(self.between(1, 2)):
            x, width = self.cells(x, width)
            if self.chance(3):
                x = self.layer_norm(x, width)
        self.ends(x, width)

    def windows(self, x, width):
        """A convolution along the time, as in front of speech networks."""
        outputs = self.between(4, 16)
        over_time = self.node("Transpose", x, perm=[1, 2, 0])
        kernel = self.pick([1, 3])
        y = self.node("Conv", over_time, self.weight(outputs, width, kernel, inputs=width * kernel), self.around(0, outputs), pads=[kernel // 2] * 2)
        return self.node("Transpose", self.activation(y), perm=[2, 0, 1]), outputs

    def cells(self, x, width):
        op, gates = self.pick([("LSTM", 4), ("LSTM", 4), ("GRU", 3), ("GRU", 3), ("RNN", 1)])
        hidden, direction = self.between(2, 24), self.pick(["forward", "reverse", "bidirectional"])
        ways = 1 + (direction == "bidirectional")
        inputs = [x, self.weight(ways, gates * hidden, width, inputs=width), self.weight(ways, gates * hidden, hidden, inputs=hidden)]
        inputs.append(self.around(0, ways, 2 * gates * hidden) if self.chance(2) else "")
        lengths = self.chance(4)
        inputs.append(self.const(self.random.integers(1, self.length + 1, self.batch), np.int32) if lengths else "")
        if self.chance(2):
            inputs += [self.around(0, ways, self.batch, hidden)] * (1 + (op == "LSTM"))
        if op == "LSTM" and len(inputs) == 7 and self.chance(3):
            inputs.append(self.around(0, ways, 3 * hidden))
        attributes = {"hidden_size": hidden, "direction": direction}
        if op == "GRU":
            attributes["linear_before_reset"] = self.between(0, 1)
        if self.chance(5):
            attributes["clip"] = 0.7
        results = self.graph.node(op, *inputs, outputs=3 if op == "LSTM" else 2, **attributes)
        if self.chance(3):
            self.graph.output(results[-1])
        merged = self.node("Transpose", results[0], perm=[0, 2, 1, 3])
        return self.reshape(merged, 0, 0, -1), ways * hidden

    def ends(self, x, width):
        kind = self.between(0, 3)
        if kind == 0:
            x = self.node("Softmax", self.linear(x, width, 6), axis=-1)
        elif kind == 1:
            x = self.activation(self.linear(self.node("Gather", x, self.const(-1), axis=0), width, 5))
        elif kind == 2:
            x = self.node("ReduceMax", self.linear(x, width, 8), axes=[0], keepdims=0)
        else:
            x = self.node("CumSum", self.node("Sigmoid", self.linear(x, width, 4)), self.const(0), reverse=self.between(0, 1))
        self.graph.output(x)


class Pictures(Network):
    """What detectors, encoders and decoders share."""

    def picture(self, sides):
        self.batch, channels = 1 if self.detects else self.between(1, 2), self.between(1, 4)
        dims = (self.batch, channels, *(self.pick(sides) for _ in range(2)))
        return self.input("picture", self.random.normal(0, 1, dims).astype(F)), channels

    def norm(self, x, channels):
        kind = self.pick(["batch", "batch", "instance", "group", "none"])
        scale, bias = self.around(1, channels), self.around(0, channels)
        if kind == "batch":
            variance = self.const(self.random.uniform(0.5, 2, channels).astype(F))
            return self.node("BatchNormalization", x, scale, bias, self.around(0, channels), variance, epsilon=1e-3)
        if kind == "instance":
            return self.node("InstanceNormalization", x, scale, bias, epsilon=1e-4)
        if kind == "group" and channels % 2 == 0:
            ones, zeros = self.const(np.ones(2, F)), self.const(np.zeros(2, F))
            groups = self.node("InstanceNormalization", self.reshape(x, 0, 2, -1), ones, zeros, epsilon=1e-4)
            whole = self.node("Reshape", groups, self.node("Shape", x))
            wide = [self.reshape(t, 1, channels, 1, 1) for t in (scale, bias)]
            return self.node("Add", self.node("Mul", whole, wide[0]), wide[1])
        return x

    def conv(self, x, inputs, outputs, kernel=3, stride=1, group=1, dilation=1):
        around = dilation * (kernel // 2)
        weight = self.weight(outputs, inputs // group, kernel, kernel, inputs=kernel * kernel * inputs // group)
        bias = [self.around(0, outputs)] if self.chance(2) else []
        return self.node("Conv", x, weight, *bias, pads=[around] * 4, strides=[stride] * 2, group=group, dilations=[dilation] * 2)

    def block(self, x, inputs, outputs, stride=1):
        kind = self.between(0, 3)
        if kind == 0:  # depthwise, then by points
            x = self.activation(self.norm(self.conv(x, inputs, inputs, self.pick([3, 5]), stride, inputs), inputs))
            x = self.norm(self.conv(x, inputs, outputs, 1), outputs)
            return self.excited(x, outputs) if self.chance(2) else x
        y = self.activation(self.norm(self.conv(x, inputs, outputs, 3, stride, dilation=self.pick([1, 1, 2])), outputs))
        if kind == 1 and stride == 1 and inputs == outputs:
            return self.node("Add", x, y)
        if kind == 2:
            return self.node("PRelu", self.conv(y, outputs, outputs), self.around(0.2, outputs, 1, 1))
        return y

    def excited(self, x, channels):
        """Channels weighted by what they hold in the mean."""
        inner = max(1, channels // 4)
        small = self.node("Relu", self.conv(self.node("GlobalAveragePool", x), channels, inner, 1))
        gate = self.node("HardSigmoid", self.conv(small, inner, channels, 1), alpha=0.2, beta=0.5)
        return self.node("Mul", x, gate)

    def larger(self, x, channels):
        """Twice as high and wide."""
        kind = self.between(0, 3)
        if kind == 0:
            kernel, pads = self.pick([(2, [0] * 4), (4, [1] * 4)])
            weight = self.weight(channels, channels, kernel, kernel, inputs=channels * kernel * kernel // 4)
            return self.node("ConvTranspose", x, weight, strides=[2, 2], pads=pads)
        if kind == 1:
            wide = self.conv(x, channels, 4 * channels, 1)
            return self.node("DepthToSpace", wide, blocksize=2, mode=self.pick(["DCR", "CRD"]))
        scales = self.const(np.array([1, 1, 2, 2], F))
        if kind == 2:
            return self.node("Resize", x, "", scales, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        return self.node("Resize", x, "", scales, mode="linear", coordinate_transformation_mode=self.pick(["half_pixel", "align_corners"]))


class Detector(Pictures):
    """Features at two sizes, boxes and scores of all places, the best of them."""

    detects = True

    def make(self):
        x, channels = self.picture([16, 24, 32])
        width = self.pick([4, 8, 12])
        x = self.block(x, channels, width, 2)
        fine = self.block(x, width, width, 2)
        coarse = self.block(fine, width, 2 * width, 2)
        if self.chance(2):
            up = self.larger(self.conv(coarse, 2 * width, width, 1), width)
            fine = self.node("Concat", fine, up, axis=1) if self.chance(2) else self.node("Add", fine, up)
        self.classes = self.between(1, 4)
        wide = {fine: 2 * width if "concat" in fine else width, coarse: 2 * width}
        places = [self.places(self.conv(f, w, 4 + self.classes, self.pick([1, 3]))) for f, w in wide.items()]
        boxes, scores = self.graph.node("Split", self.node("Concat", *places, axis=1), self.const([4, self.classes]), outputs=2, axis=2)
        self.chosen(self.corners(boxes), self.node("Sigmoid", scores))

    def places(self, x):
        """[batch, height * width, channels]"""
        if self.chance(2):
            return self.reshape(self.node("Transpose", x, perm=[0, 2, 3, 1]), self.batch, -1, 4 + self.classes)
        return self.node("Transpose", self.reshape(x, self.batch, 4 + self.classes, -1), perm=[0, 2, 1])

    def corners(self, boxes):
        """From the middle and the size."""
        middle, size = self.graph.node("Split", boxes, self.const([2, 2]), outputs=2, axis=2)
        half = self.node("Mul", self.node("Exp", self.node("Tanh", size)), self.const(F(0.5)))
        return self.node("Concat", self.node("Sub", middle, half), self.node("Add", middle, half), axis=2)

    def chosen(self, boxes, scores):
        if self.chance(2):
            return self.suppressed(boxes, scores)
        best = self.node("ReduceMax", scores, axes=[2], keepdims=0)
        values, places = self.graph.node("TopK", best, self.const([self.between(1, 8)]), outputs=2, axis=1)
        index = self.node("Unsqueeze", places, self.const([2]))
        self.graph.output(values)
        if self.chance(2):
            self.graph.output(self.node("GatherND", boxes, index, batch_dims=1))
        else:
            wide = self.node("Expand", index, self.const([1, 1, 4]))
            self.graph.output(self.node("GatherElements", boxes, wide, axis=1))
        self.graph.output(self.node("ArgMax", scores, axis=2, keepdims=0), I)

    def suppressed(self, boxes, scores):
        limits = [self.const([self.between(2, 6)]), self.const(np.array([self.pick([0.3, 0.6])], F)), self.const(np.array([0.3], F))]
        kept = self.node("NonMaxSuppression", boxes, self.node("Transpose", scores, perm=[0, 2, 1]), *limits)
        place = self.node("Squeeze", self.node("Slice", kept, self.const([2]), self.const([3]), self.const([1])), self.const([1]))
        self.graph.output(kept, I, 2)
        self.graph.output(self.node("Gather", boxes, place, axis=1), rank=3)


class Decoder(Pictures):
    """Down to small features and up again, with what was there before put beside it."""

    detects = False

    def make(self):
        x, channels = self.picture([16, 24, 32])
        width, depth, beside = self.pick([4, 6, 8]), self.between(1, 2), []
        for level in range(depth):
            x = self.block(x, channels, width << level)
            channels = width << level
            beside.append((x, channels))
            x = self.smaller(x, channels)
        x = self.block(x, channels, channels)
        for skip, wide in reversed(beside):
            x = self.larger(self.conv(x, channels, wide, 1), wide)
            x = self.node("Concat", skip, x, axis=1) if self.chance(2) else self.node("Add", skip, x)
            channels = 2 * wide if "concat" in x else wide
            x, channels = self.block(x, channels, wide), wide
        x = self.conv(x, channels, self.between(1, 3), 1)
        self.graph.output(self.pick([lambda: self.node("Sigmoid", x), lambda: self.node("Softmax", x, axis=1), lambda: x])())

    def smaller(self, x, channels):
        kind = self.between(0, 3)
        if kind == 0:
            return self.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        if kind == 1:
            return self.node("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=self.between(0, 1))
        if kind == 2:
            return self.conv(self.node("SpaceToDepth", x, blocksize=2), 4 * channels, channels, 1)
        return self.conv(x, channels, channels, 3, 2)


KINDS = [Transformer, Recurrent, Detector, Decoder]


def tensor(value):
    from onnx import numpy_helper
    return numpy_helper.from_array(value)


def make(seed):
    return KINDS[seed % len(KINDS)](seed)


def write(folder, seed):
    network = make(seed)
    model = network.graph.model(network.opset)
    base = os.path.join(folder, str(seed))
    with open(base + ".onnx", "wb") as file:
        file.write(model.SerializeToString())
    write_npz(base + "_in.npz", network.inputs)
    return model, network.inputs, base


def answer(model, inputs):
    import onnxruntime as ort

    settings = ort.SessionOptions()
    settings.intra_op_num_threads, settings.log_severity_level = 1, 3
    settings.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else FOLDER
    first, last = (int(a) for a in sys.argv[2:]) if len(sys.argv) == 4 else (1, RECORDED)
    os.makedirs(folder, exist_ok=True)
    operators = collections.Counter()
    for seed in range(first, last + 1):
        model, inputs, base = write(folder, seed)
        operators.update({node.op_type for node in model.graph.node})
        try:
            answers = answer(model, inputs)
        except ImportError:
            continue
        assert all(np.isfinite(a).all() for a in answers.values()), seed
        assert folder != FOLDER or all(a.size for a in answers.values()), seed
        write_npz(base + "_out.npz", answers)
    print("networks with each operator:", ", ".join(f"{op} {count}" for op, count in sorted(operators.items())))


if __name__ == "__main__":
    main()
