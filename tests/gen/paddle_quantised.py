"""Quantised operators (CASES, as in paddle_cases.py), and small networks of them as PaddleSlim and paddle.quantization
write these (NETWORKS: functions that add operators to a program). Values keep away from halves of a step, where
PaddlePaddle rounds either way."""
import numpy as np
from paddle_cases import Constant, f, rng

CASES = []
FP32 = 5


def case(op, operands, results=None, **attrs):
    CASES.append((op, operands, {"Out": 1} if results is None else results, attrs))


def constant(array):
    return np.asarray(array).view(Constant)


def scale(*values):
    return constant(np.array(values, np.float32))


def levels(*dims):
    return rng.integers(-127, 128, dims)


ZERO = scale(0)
for way in (0, 1):
    case("quantize_linear", dict(X=f(3, 5) * 2, Scale=scale(1.7), ZeroPoint=ZERO), {"Y": 1}, quant_axis=-1, bit_length=8,
         round_type=way, is_test=True)
case("quantize_linear", dict(X=f(3, 5), Scale=scale(1, 2.25, 0.3), ZeroPoint=scale(0, 0, 0)), {"Y": 1}, quant_axis=0, bit_length=8,
     round_type=0, is_test=True)
case("quantize_linear", dict(X=f(3, 5), Scale=scale(1.7), ZeroPoint=ZERO), {"Y": 1}, quant_axis=-1, bit_length=4, round_type=1,
     is_test=True)
case("quantize_linear", dict(X=f(3, 5), Scale=np.array([2.1], np.float32), ZeroPoint=ZERO), {"Y": 1}, quant_axis=-1, bit_length=8,
     round_type=0, is_test=True)
case("quantize_linear", dict(X=f(3, 5), Scale=scale(1.7), ZeroPoint=ZERO), {"Y": 1}, quant_axis=-1, bit_length=8, is_test=True,
     only_observer=True)
for kind in (np.float32, np.int8):
    case("dequantize_linear", dict(X=constant(levels(3, 4).astype(kind)), Scale=scale(1.7), ZeroPoint=scale(5)), {"Y": 1},
         quant_axis=-1, bit_length=8)
    case("dequantize_linear", dict(X=constant(levels(3, 4, 2).astype(kind)), Scale=scale(1, 2, 3, .5), ZeroPoint=scale(0, 0, 0, 0)),
         {"Y": 1}, quant_axis=1, bit_length=8)
    case("dequantize_linear", dict(X=levels(3, 4).astype(kind), Scale=scale(1.7), ZeroPoint=ZERO), {"Y": 1}, quant_axis=-1, bit_length=8)
case("dequantize_linear", dict(X=constant((levels(3, 4) * 200).astype(np.float32)), Scale=scale(1, 2, 3), ZeroPoint=scale(0, 0, 0)),
     {"Y": 1}, quant_axis=0, bit_length=16)
for op in "range_abs_max moving_average_abs_max".split():
    case("fake_quantize_" + op, dict(X=f(3, 5) * 2, InScale=scale(1.7)), {"Out": 1, "~OutScale": 1}, bit_length=8, is_test=True)
    case("fake_quantize_" + op, dict(X=f(3, 5) * 2, InScale=scale(2.3)), {"Out": 1, "~OutScale": 1}, bit_length=8, is_test=True,
         round_type=0)
for way in (0, 1):
    case("fake_quantize_dequantize_moving_average_abs_max", dict(X=f(3, 5) * 2, InScale=scale(1.7)), {"Out": 1, "~OutScale": 1},
         bit_length=8, is_test=True, round_type=way)
for op in "fake_quantize_abs_max fake_quantize_dequantize_abs_max".split():
    case(op, {"X": f(3, 5)}, {"Out": 1, "OutScale": 1}, bit_length=8)
    case(op, {"X": constant(f(3, 5))}, {"Out": 1, "~OutScale": 1}, bit_length=8, round_type=0)
for op in "fake_channel_wise_quantize_abs_max fake_channel_wise_quantize_dequantize_abs_max".split():
    for axis in (0, 1):
        case(op, {"X": constant(f(3, 4, 2))}, {"Out": 1, "~OutScale": 1}, bit_length=8, quant_axis=axis)
    case(op, {"X": f(3, 4, 2)}, {"Out": 1, "OutScale": 1}, bit_length=8, quant_axis=0)
case("fake_dequantize_max_abs", dict(X=constant(levels(3, 4).astype(np.float32)), Scale=scale(1.7)), max_range=127.)
case("fake_dequantize_max_abs", dict(X=f(3, 4), Scale=np.array([2.1], np.float32)), max_range=16129.)
for axis in (0, 1):
    case("fake_channel_wise_dequantize_max_abs", dict(X=constant(levels(3, 3, 2).astype(np.float32)), Scales=[scale(1, 2, .3)]),
         quant_bits=[8], quant_axis=axis)
case("fake_channel_wise_dequantize_max_abs", dict(X=f(2, 3, 2) * 999, Scales=[scale(1, 2, .3), scale(1.1)]), quant_bits=[8, 8],
     quant_axis=0, x_num_col_dims=1)
case("moving_average_abs_max_scale", {"X": f(3, 4)}, {"Out": 1, "~OutScale": 1}, is_test=True)


# ---- networks ----

CONV = dict(strides=[1, 1], paddings=[1, 1], dilations=[1, 1], padding_algorithm="EXPLICIT", data_format="NCHW")
POOL = dict(ksize=[2, 2], strides=[2, 2], paddings=[0, 0], global_pooling=False, adaptive=False, exclusive=True, ceil_mode=False,
            data_format="NCHW", padding_algorithm="EXPLICIT", pooling_type="max")
ROUND = dict(bit_length=8, round_type=0, is_test=True)


def weights(*dims):
    """Weights, and what of them is the largest for each of the first dim."""
    w = rng.standard_normal(dims).astype(np.float32) / np.float32(np.sqrt(np.prod(dims[1:])))
    return w, np.abs(w).reshape(dims[0], -1).max(1)


def on_levels(w, s, kind):
    s = s.reshape((-1,) + (1,) * (w.ndim - 1))
    return np.round(w / s * 127).astype(kind)


def norm(net, x, channels, made="float32"):
    return net.add("batch_norm", dict(X=x, Scale=constant(rng.uniform(.5, 1.5, channels).astype(np.float32) * np.float32([1, -1] * (channels // 2))),
                                      Bias=constant(f(channels)), Mean=constant(f(channels)),
                                      Variance=constant(rng.uniform(.5, 1.5, channels).astype(np.float32))),
                   "Y", ["MeanOut", "VarianceOut", "SavedMean", "SavedVariance"], is_test=True, epsilon=1e-5, momentum=.9,
                   data_layout="NCHW", use_global_stats=True, made=made)


def linear(net, kind):
    """quantize_linear and dequantize_linear with weights of this kind: convolutions with a bias, and with a batch norm."""
    def quantised(x, s):
        y = net.add("quantize_linear", dict(X=x, Scale=scale(s), ZeroPoint=ZERO), "Y", quant_axis=-1, **ROUND)
        return net.add("dequantize_linear", dict(X=y, Scale=scale(s), ZeroPoint=ZERO), "Y", quant_axis=-1, **ROUND)

    def filters(dims, axis=0):
        w, s = weights(*dims)
        q = on_levels(w, s, kind)
        q = np.ascontiguousarray(q.T) if axis else q
        return net.add("dequantize_linear", dict(X=constant(q), Scale=scale(*s), ZeroPoint=scale(*[0] * len(s))), "Y",
                       quant_axis=axis, **ROUND)

    x = net.add("conv2d", dict(Input=quantised(net.input(f(1, 4, 8, 8)), 3), Filter=filters((8, 4, 3, 3))), "Output", groups=1, **CONV)
    x = net.add("elementwise_add", dict(X=x, Y=constant(f(8))), "Out", axis=1)
    x = quantised(net.add("relu", dict(X=x), "Out"), 3)
    x = net.add("depthwise_conv2d", dict(Input=x, Filter=filters((8, 1, 3, 3))), "Output", groups=8, **CONV)
    x = quantised(net.add("relu6", dict(X=norm(net, x, 8)), "Out", threshold=6.), 4)
    x = net.add("pool2d", dict(X=x), "Out", **POOL)
    x = quantised(norm(net, net.add("conv2d", dict(Input=x, Filter=filters((8, 8, 3, 3))), "Output", groups=1, **CONV), 8), 5)
    x = net.add("flatten_contiguous_range", dict(X=x), "Out", ["XShape"], start_axis=1, stop_axis=3)
    x = net.add("matmul_v2", dict(X=x, Y=filters((10, 128), 1)), "Out", trans_x=False, trans_y=False)
    net.output(quantised(net.add("elementwise_add", dict(X=x, Y=constant(f(10))), "Out", axis=1), 4))


def freeze(net, ways):
    """fake_quantize, products of levels, fake_dequantize."""
    def quantised(x, s):
        return net.add("fake_quantize_moving_average_abs_max", dict(X=x, InScale=scale(s)), "Out", ["OutScale"], bit_length=8,
                       is_test=True, **ways)

    def product(x, op, w, s, own):
        q = on_levels(w, s, np.float32)
        groups = 8 if op[0] == "d" else 1
        y = net.add(op, dict(Input=x, Filter=constant(q)), "Output", groups=groups, **CONV)
        return net.add("fake_channel_wise_dequantize_max_abs", dict(X=y, Scales=[scale(*s), scale(own)]), "Out", quant_bits=[8, 8],
                       quant_axis=0)

    x = product(quantised(net.input(f(1, 4, 8, 8)), 3), "conv2d", *weights(8, 4, 3, 3), 3)
    x = net.add("elementwise_add", dict(X=x, Y=constant(f(8))), "Out", axis=1)
    x = product(quantised(net.add("relu", dict(X=x), "Out"), 3), "depthwise_conv2d", *weights(8, 1, 3, 3), 3)
    x = quantised(norm(net, x, 8), 4)
    w, _ = weights(10, 512)
    s = np.abs(w).max()
    y = net.add("mul", dict(X=x, Y=constant(np.round(w.T / s * 127).astype(np.float32).copy())), "Out", x_num_col_dims=1, y_num_col_dims=1)
    y = net.add("fake_dequantize_max_abs", dict(X=y, Scale=scale(s)), "Out", max_range=float(127 * 127 / 4))
    y = quantised(net.add("elementwise_add", dict(X=y, Y=constant(f(10))), "Out", axis=1), 4)
    net.output(net.add("fake_dequantize_max_abs", dict(X=y, Scale=scale(4)), "Out", max_range=127.))


def trained(net):
    """fake_quantize_dequantize in front of products whose weights are float32."""
    def quantised(x, s):
        return net.add("fake_quantize_dequantize_moving_average_abs_max", dict(X=x, InScale=scale(s)), "Out", ["OutScale"],
                       bit_length=8, is_test=True, round_type=0)

    def filters(*dims):
        return net.add("fake_channel_wise_quantize_dequantize_abs_max", dict(X=constant(weights(*dims)[0])), "Out", ["OutScale"],
                       bit_length=8, quant_axis=0, is_test=True)

    x = net.add("conv2d", dict(Input=quantised(net.input(f(1, 4, 8, 8)), 3), Filter=filters(8, 4, 3, 3)), "Output", groups=1, **CONV)
    x = quantised(net.add("relu", dict(X=norm(net, x, 8)), "Out"), 4)
    x = net.add("conv2d", dict(Input=x, Filter=filters(8, 8, 3, 3)), "Output", groups=1, **CONV)
    net.output(quantised(norm(net, x, 8), 5))


NETWORKS = {"linear_int8": lambda net: linear(net, np.int8), "linear_float": lambda net: linear(net, np.float32),
            "freeze": lambda net: freeze(net, dict(round_type=0)), "freeze_away": lambda net: freeze(net, {}), "trained": trained}
