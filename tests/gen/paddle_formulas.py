#!/usr/bin/env python3
"""paddle_formulas.py FOLDER: operators that no PaddlePaddle runs on a CPU any more, or ever did, as FOLDER/formulas.pdmodel
with what formulas give for them. Takes numpy.

flatten, squeeze, unsqueeze, one_hot, expand_as and pad2d are gone from 2.6.2 (or have no kernel there), sync_batch_norm was
computed on GPUs alone, as correlation and fused_attention are, and fc takes other activations than relu, and a scale, where oneDNN alone runs it.
Interpolation to one element and suppression of one box, which PaddlePaddle 2.6.2 runs, came later than its records."""
import math
import sys

import numpy as np
import paddle_files as files
from paddle_cases import f, i, p

CODES = {"float32": 5, "int64": 3, "bool": 0}
CASES = []


def case(op, operands, results, **attrs):
    """Operands and results by name, in order; a name with "*" in front is a parameter. Of attributes the types say what they are."""
    CASES.append((op, operands, results, attrs))


def attribute(name, value):
    if isinstance(value, bool):
        return name, files.BOOLEAN, value
    if isinstance(value, str):
        return name, files.STRING, value
    if isinstance(value, list):
        return name, files.FLOATS if value and isinstance(value[0], float) else files.INTS, value
    return (name, files.FLOAT, value) if isinstance(value, float) else (name, files.INT, value)


def write(path):
    variables, ops, feeds, fetches, parameters, counts = files.ends(), [], {}, {}, {}, {}
    for op, operands, results, attrs in CASES:
        counts[op] = counts.get(op, 0) + 1
        slots = ({}, {})
        for taken, arrays in enumerate((operands, results)):
            for slot, array in arrays.items():
                plain = slot.lstrip("*")
                name = f"{op}_{counts[op]}.{plain}"
                slots[taken][plain] = [name]
                variables.append(files.var(name, dtype=CODES[str(array.dtype)], dims=array.shape, persistable=plain != slot))
                (fetches if taken else parameters if plain != slot else feeds)[name] = array
        ops.append(files.op(op, *slots, [attribute(*a) for a in attrs.items()]))
    before = [files.op("feed", {"X": ["feed"]}, {"Out": [n]}, [("col", files.INT, k)]) for k, n in enumerate(feeds)]
    behind = [files.op("fetch", {"X": [n]}, {"Out": ["fetch"]}, [("col", files.INT, k)]) for k, n in enumerate(fetches)]
    with open(path + ".pdmodel", "wb") as file:
        file.write(files.program([files.block(0, -1, variables, before + ops + behind)], 2000000))
    with open(path + ".pdiparams", "wb") as file:
        for _, a in sorted(parameters.items()):
            file.write(files.record(CODES[str(a.dtype)], a.shape, a.tobytes()))
    np.savez_compressed(path + "_in.npz", **feeds)
    np.savez_compressed(path + "_out.npz", **fetches)


def one(op, x, y, **attrs):
    case(op, {"X": x}, {"Out": y}, **attrs)


x = f(2, 3, 4)
one("flatten", x, x.reshape(2, 12), axis=1)
one("flatten", x, x.reshape(6, 4), axis=2)
one("flatten", x, x.reshape(1, 24), axis=0)
for dims, axes in (((2, 1, 3, 1), []), ((1, 3, 1), [0]), ((3, 1, 2), [-2])):
    x = f(*dims)
    one("squeeze", x, np.squeeze(x, tuple(axes) if axes else None), axes=axes)
for dims, axes in (((2, 3), [0]), ((2, 3), [1, -1])):
    x = f(*dims)
    one("unsqueeze", x, np.expand_dims(x, tuple(axes)), axes=axes)
for n, depth in ((4, 5), (3, 7)):
    x = i(depth, n, 1)
    one("one_hot", x, np.eye(depth, dtype=np.float32)[x[:, 0]], depth=depth, dtype=5)
for dims, other in (((2, 1), (2, 3)), ((2, 3, 1), (4, 3, 2))):
    x = f(*dims)
    case("expand_as", {"X": x, "target_tensor": f(*other)}, {"Out": np.tile(x, [b // a for a, b in zip(dims, other)])})
PADS = [1, 0, 2, 1]  # top, bottom, left, right
for mode, way in (("constant", "constant"), ("reflect", "reflect"), ("edge", "edge")):
    for form, dims, first in (("NCHW", (1, 2, 3, 4), 2), ("NHWC", (1, 3, 4, 2), 1)):
        x, pads = f(*dims), [(0, 0)] * 4
        pads[first], pads[first + 1] = PADS[:2], PADS[2:]
        y = np.pad(x, pads, way, **(dict(constant_values=0.5) if way == "constant" else {}))
        one("pad2d", x, y, paddings=PADS, mode=mode, pad_value=0.5, data_format=form)
for form, dims in (("NCHW", (2, 3, 2, 4)), ("NHWC", (2, 2, 4, 3))):
    x, scale, bias, mean, variance = f(*dims), p(3), f(3), f(3), p(3)
    each = [1, 3, 1, 1] if form == "NCHW" else [1, 1, 1, 3]
    factor = scale.astype(np.float64) / np.sqrt(variance.astype(np.float64) + 1e-5)
    y = (x - mean.reshape(each)) * factor.reshape(each) + bias.reshape(each)
    case("sync_batch_norm", {"X": x, "*Scale": scale, "*Bias": bias, "*Mean": mean, "*Variance": variance},
         {"Y": y.astype(np.float32)}, is_test=True, epsilon=1e-5, data_layout=form)
for act, function in (("gelu", lambda v: v / 2 * (1 + np.vectorize(math.erf)(v / math.sqrt(2)))), ("tanh", np.tanh)):
    x, w, b, more = f(3, 4), f(4, 2), f(2), f(3, 2)
    y = function(x.astype(np.float64) @ w + b + more)
    case("fc", {"Input": x, "*W": w, "*Bias": b, "ResidualData": more}, {"Out": y.astype(np.float32)}, in_num_col_dims=1,
         activation_type=act, fuse_residual_connection=True)

for pad, far, step, apart in ((2, 2, 1, 1), (3, 2, 2, 2)):
    x, other = f(2, 3, 5, 6), f(2, 3, 5, 6)
    a, b = (np.pad(v, ((0, 0), (0, 0), (pad, pad), (pad, pad))).astype(np.float64) for v in (x, other))
    reach, (h, w) = far // apart, a.shape[2:]
    rows, columns = (np.arange(far, size - far, step) for size in (h, w))
    y = [(a[:, :, rows][..., columns] * b[:, :, rows + j * apart][..., columns + k * apart]).mean(1)
         for j in range(-reach, reach + 1) for k in range(-reach, reach + 1)]
    case("correlation", {"Input1": x, "Input2": other}, {"Output": np.stack(y, 1).astype(np.float32)}, pad_size=pad, kernel_size=1,
         max_displacement=far, stride1=step, stride2=apart, corr_type_multiply=1)


def normalised(x, scale, bias):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + bias


HEADS, SIZE, WIDTH = 2, 4, 8
for first in (True, False):
    x, mask, w, b = f(2, 3, WIDTH), f(2, 1, 3, 3), f(3, HEADS, SIZE, WIDTH) / 4, f(3, HEADS, SIZE)
    out, last, scale, bias = f(WIDTH, WIDTH) / 4, f(WIDTH), p(WIDTH), f(WIDTH)
    z = normalised(x.astype(np.float64), scale, bias) if first else x.astype(np.float64)
    q, k, v = np.einsum("bse,qhde->qbhsd", z, w) + b[:, None, :, None]
    scores = np.exp(np.einsum("bhsd,bhtd->bhst", q, k) / math.sqrt(SIZE) + mask)
    y = np.einsum("bhst,bhtd->bshd", scores / scores.sum(-1, keepdims=True), v).reshape(2, 3, WIDTH) @ out + last + x
    norm, wide = ("Ln" if first else "Ln2"), {}
    if not first:  # the other layout of the weights
        w, b, wide = w.reshape(-1, WIDTH).T.copy(), b.reshape(-1), dict(transpose_qkv_wb=True, num_heads=HEADS)
    case("fused_attention", {"X": x, "SrcMask": mask, "*QKVW": w, "*QKVBias": b, "*OutLinearW": out, "*OutLinearBias": last,
                             f"*{norm}Scale": scale, f"*{norm}Bias": bias},
         {"Y": (y if first else normalised(y, scale, bias)).astype(np.float32)}, pre_layer_norm=first, is_test=True, epsilon=1e-5,
         ln_epsilon=1e-5, add_residual=True, dropout_implementation="upscale_in_train", **wide)

x, w, b = f(3, 4), f(4, 2), f(2)
y = np.maximum(x.astype(np.float64) @ w + b, 0) * -0.5
case("fc", {"Input": x, "*W": w, "*Bias": b}, {"Out": y.astype(np.float32)}, in_num_col_dims=1, activation_type="relu", fused_output_scale=-0.5)
y = x.astype(np.float64) @ w * 3
case("matmul_v2", {"X": x, "*Y": w}, {"Out": y.astype(np.float32)}, fused_output_scale=3.0)


def edge(x):
    """Cubic at -0.5 along the last dim: where PaddlePaddle reads an axis that becomes one element."""
    return (x[..., :1].astype(np.float64) * 35 - x[..., 1:2] * 3) / 32


x = f(1, 2, 4, 5)
y = edge(edge(x).swapaxes(2, 3)).swapaxes(2, 3).astype(np.float32)
HALF = dict(align_corners=False, align_mode=0, data_layout="NCHW")
case("bicubic_interp_v2", {"X": x}, {"Out": y}, interp_method="bicubic", out_h=1, out_w=1, scale=[], **HALF)
case("bicubic_interp_v2", {"X": x}, {"Out": y}, interp_method="bicubic", out_h=-1, out_w=-1, scale=[0.25, 0.2], **HALF)
case("bicubic_interp_v2", {"X": x}, {"Out": edge(x).astype(np.float32)}, interp_method="bicubic", out_h=4, out_w=1, scale=[], **HALF)
case("bilinear_interp_v2", {"X": x}, {"Out": x[:, :, :1, :1]}, interp_method="bilinear", out_h=-1, out_w=-1, scale=[0.25, 0.2], **HALF)
box = np.array([[[1, 2, 3, 5]]], np.float32)
case("locality_aware_nms", {"BBoxes": box, "Scores": np.array([[[0.75]]], np.float32)},
     {"Out": np.concatenate([[[0, 0.75]], box[0]], 1).astype(np.float32)}, background_label=-1, score_threshold=0.25, nms_top_k=-1,
     nms_threshold=0.5, nms_eta=1.0, keep_top_k=-1, normalized=True)

if __name__ == "__main__":
    write(sys.argv[1] + "/formulas")
