#!/usr/bin/env python3
"""What others say of converted models: `make validate-paddle` runs this with PYTHON (onnx, onnxruntime), then with PADDLE2
(PaddlePaddle 2.6) and PADDLE3 (3.3; "desc": a ProgramDesc in it). validate.py WHICH FOLDER: models in FOLDER with their
lists, as validate.sh makes them: NAME INPUTS.npz OUTPUTS.npz MODEL a line, or, of networks of paddle.vision, NAME.npy and NAME.out (vision.py).
Asked is 1e-5 of what PaddlePaddle recorded. Deep networks' float32 is further from itself than that (decision 44): what
onnxruntime gives of those may be twice as far from the file's values in float64 as the record is, and the record 1e-4; and a
PaddlePaddle has to give what it gives of the program that was converted, within 1e-6. Rows of TIES stand in any order."""
import json
import os
import sys

import numpy as np

os.environ["GLOG_minloglevel"] = "3"


UNSIGNED = (np.uint16, np.uint32, np.uint64)  # int64 in PaddlePaddle


# Rows by score, several of which are equal: PaddlePaddle's top_k_v2 picks any of these first, as any_order asks it.
TIES = {"retinanet_detection_output_1.Out"}


def any_order():
    import paddle
    paddle.disable_static()
    places = paddle.topk(paddle.zeros([17]), 9)[1].numpy()
    paddle.enable_static()
    return (places != np.arange(9)).any()


def sorted_rows(name, rows):
    return rows[np.lexsort(rows.T)] if name in TIES else rows


def difference(found, expected):
    if expected.dtype in UNSIGNED:
        found = found.astype(expected.dtype)
    if found.shape != expected.shape:
        return np.inf
    a, b = (v.astype(np.int64 if v.dtype == bool else np.float64) for v in (found, expected))
    finite = np.isfinite(b)
    if (finite != np.isfinite(a)).any() or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return np.inf
    return np.abs(a[finite] - b[finite]).max() / max(1, np.abs(b[finite]).max()) if finite.any() else 0


def inputs_of(path):
    if not os.path.exists(path):
        return {}
    return {"x": np.load(path)} if path.endswith(".npy") else dict(np.load(path))


def differences(path, found):
    """By the output's name: recorded ones, or those of vision.py, which stand in their order."""
    if not path.endswith(".out"):
        recorded = dict(np.load(path))
        return [(difference(sorted_rows(n, found[n]), sorted_rows(n, recorded[n])), n) for n in recorded if n in found]
    rest, out = np.fromfile(path, np.float32), []
    for name, y in found.items():
        known, rest = rest[:y.size], rest[y.size:]
        out.append((np.abs(y.ravel() - known).max() / np.abs(known).max(), name))
    return out


def run_onnx(prefix, inputs):
    import onnx
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    onnx.checker.check_model(prefix + ".onnx", full_check=True)
    session = onnxruntime.InferenceSession(prefix + ".onnx", providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, {n: inputs[n] for n in names})))


def run_paddle(prefix, inputs):
    """3.3 takes a ProgramDesc where it is told so."""
    import paddle
    paddle.enable_static()
    if not os.path.exists(prefix + ".json") and not paddle.__version__.startswith("2."):
        from paddle.pir_utils import OldIrGuard
        with OldIrGuard():
            return run_program(prefix, inputs)
    return run_program(prefix, inputs)


def run_program(prefix, inputs):
    import paddle
    executor = paddle.static.Executor(paddle.CPUPlace())
    with paddle.static.scope_guard(paddle.static.Scope()):
        program, feeds, fetches = paddle.static.load_inference_model(prefix, executor)
        feed = {n: inputs[n].astype(np.int64) if inputs[n].dtype in UNSIGNED else inputs[n] for n in feeds}
        results = executor.run(program, feed=feed, fetch_list=fetches, return_numpy=False)  # some have rows by image
    if os.path.exists(prefix + ".json"):
        ops = json.load(open(prefix + ".json"))["program"]["regions"][0]["blocks"][0]["ops"]
        names = [a["AT"]["D"] for op in ops if op["#"] == "1.fetch" for a in op["A"] if a["N"] == "name"]
    else:
        names = [f.name for f in fetches]
    return dict(zip(names, map(np.array, results)))


def convolution(x, w, bias, dilations, group, pads, strides):
    pads, strides, dilations = pads or [0] * 4, strides or [1, 1], dilations or [1, 1]
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    (n, _, height, width), (m, channels, *kernel) = x.shape, w.shape
    high, wide = ((size - d * (k - 1) - 1) // s + 1 for size, d, k, s in zip((height, width), dilations, kernel, strides))
    x, w = x.reshape(n, group, channels, height, width), w.reshape(group, m // group, channels, *kernel)
    y = np.zeros((n, group, m // group, high * wide), x.dtype)
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            top, left = i * dilations[0], j * dilations[1]
            part = x[..., top:top + (high - 1) * strides[0] + 1:strides[0], left:left + (wide - 1) * strides[1] + 1:strides[1]]
            y += w[None, ..., i, j] @ part.reshape(n, group, channels, high * wide)
    y = y.reshape(n, m, high, wide)
    return y if bias is None else y + bias.reshape(1, -1, 1, 1)


def exact(path, inputs):
    """What the model says in float64: onnx's reference, whose convolution takes minutes, with a plain one."""
    import onnx
    import onnx.reference.ops.op_conv
    from onnx import TensorProto, numpy_helper

    class Conv(onnx.reference.ops.op_conv.Conv):
        def _run(self, x, w, bias=None, auto_pad=None, dilations=None, group=None, kernel_shape=None, pads=None, strides=None):
            return (convolution(x, w, bias, dilations, group, pads, strides),)

    model = onnx.load(path)
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))
    for value in [*model.graph.input, *model.graph.output, *model.graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    inputs = {n: v.astype(np.float64) for n, v in inputs.items()}
    return onnx.reference.ReferenceEvaluator(model, new_ops=[Conv]).run(None, inputs)


def farther(prefix, inputs, outputs, found):
    """By how much what onnxruntime gives is farther from the values in float64 than the record, in max |y|."""
    rest, out = np.fromfile(outputs, np.float32) if outputs.endswith(".out") else dict(np.load(outputs)), []
    for (name, y), truth in zip(found.items(), exact(prefix + ".onnx", inputs)):
        known = rest[:y.size] if outputs.endswith(".out") else rest[name].ravel()
        rest = rest[y.size:] if outputs.endswith(".out") else rest
        ours, theirs = (np.abs(v.ravel() - truth.ravel()).max() / np.abs(truth).max() for v in (y, known))
        out.append((ours, theirs))
    return max(out, key=lambda pair: pair[0] - 2 * pair[1])


def from_before(found, prefix, inputs):
    """By how much what was found, and kept in a file, is away from what the program before the conversion gives."""
    own, found = run_paddle(prefix, inputs_of(inputs)), np.load(found)
    return f"{max(difference(found[f'arr_{i}'], y) for i, y in enumerate(own.values())):.1e}"


def judged(which, prefix, inputs, outputs, model):
    """What one model gives: the worst difference, or what is wrong."""
    given = inputs_of(inputs)
    found = (run_onnx if which == "onnx" else run_paddle)(prefix, given)
    worst, name = max(differences(outputs, found), default=(0, ""))
    if which != "onnx" and TIES & found.keys() and not any_order():
        return "fails: equal elements have an order here: compare TIES as they are"
    if worst <= 1e-5:
        return f"{worst:.1e}"
    if which == "onnx" and outputs.endswith(".out"):
        ours, theirs = farther(prefix, given, outputs, found)
        return f"{worst:.1e}" if ours <= 2 * theirs and theirs <= 1e-4 else f"{worst:.1e} {ours:.1e} from float64, the record {theirs:.1e}"
    if which != "onnx" and model.endswith(".pdmodel"):
        np.savez(prefix + ".found.npz", *found.values())
    return f"{worst:.1e} {name}"


def reason(text):
    """PaddlePaddle's own summary behind its stack, and its operator; the last line of what others say."""
    lines = text.splitlines()
    summary = [line for line in lines if "Error: " in line]
    return summary[-1] + lines[-1] if summary and "operator" in lines[-1] else lines[-1]


def in_a_child(judge, *arguments):
    """A framework that ends the process with a model ends no other one."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            text = judge(*arguments)
        except Exception as error:
            text = "fails: " + reason(str(error).strip() or type(error).__name__)[:200]
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode()
    status = os.waitpid(child, 0)[1]
    return text or f"crashes: signal {status & 127}"


FOLDERS = {"onnx": "onnx", "pdmodel": "pdmodel", "json": "json", "desc": "pdmodel"}


def main(which, folder):
    bad = 0
    if which == "onnx":
        import onnx, onnxruntime
    else:
        import paddle
    for line in open(os.path.join(folder, "list")):
        name, inputs, outputs, model = line.split()
        prefix = os.path.join(folder, FOLDERS[which], name)
        if not any(os.path.exists(prefix + ending) for ending in (".onnx", ".pdmodel", ".json")):
            continue
        said = in_a_child(judged, which, prefix, inputs, outputs, model)
        found = prefix + ".found.npz"
        if os.path.exists(found):  # in a process of its own: what has run once has threads, and cannot be forked
            most = in_a_child(from_before, found, model[:-8], inputs)
            os.remove(found)
            near = " " not in most and float(most) <= 1e-6
            said = said.split()[0] if near else f"{said}; from the program before: {most}"
        bad += len(said.split()) > 1
        print(f"{which:8} {name:24} {said}", flush=True)
    return bad != 0


sys.exit(main(*sys.argv[1:]))
