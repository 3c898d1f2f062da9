#!/usr/bin/env python3
"""Records what PaddlePaddle 2.6.2 answers, in tests/paddle:
    record_paddle.py ocr MODELS DATA     PP-OCRv4 on two pictures; a line of text as PaddleOCR gives it to the
                                         recogniser: 48 high, in its own proportions, 320 wide with zeros behind it
    record_paddle.py operators [FOLDER]  the cases of paddle_cases.py, some in each program; FOLDER: one in each, there
    record_paddle.py quantised           those of paddle_quantised.py, and its networks
    record_paddle.py more [FOLDER]       those of paddle_more.py
    record_paddle.py adaptive            those of paddle_adaptive.py
    record_paddle.py boxes [FOLDER]      those of paddle_boxes.py; rest: paddle_rest.py; older: paddle_older.py;
                                         second: paddle_second.py; edges: paddle_edges.py; odd: paddle_odd.py;
                                         near: paddle_near.py; polygons: paddle_polygons.py
    record_paddle.py chance              paddle_chance.py's networks
    record_paddle.py fourier             paddle_fourier.py's network
    record_paddle.py beams               paddle_beams.py's network
    record_paddle.py half                paddle_half.py's network; what it answers in float32

It takes PaddlePaddle (2.6.2, CPU), numpy and Pillow, and the models' folder; the tests take none of them. The detector's
picture is scaled to what is small enough to be kept; values are those of unoptimised programs on one thread. Programs of
operators are kept packed: paddle_programs.py unpack tests/paddle before, paddle_programs.py pack behind it."""
import os
import sys

os.environ["GLOG_minloglevel"] = "3"
import numpy as np
import paddle
import paddle_adaptive
import paddle_beams
import paddle_boxes
import paddle_cases
import paddle_chance
import paddle_edges
import paddle_files
import paddle_fourier
import paddle_half
import paddle_more
import paddle_near
import paddle_odd
import paddle_older
import paddle_polygons
import paddle_quantised
import paddle_run
import paddle_rest
import paddle_second
from paddle.base.proto import framework_pb2
from PIL import Image

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "paddle")


def picture(path, width, height, mean, std):
    """width None: what is in proportion to the height."""
    image = Image.open(path).convert("RGB")
    pixels = np.asarray(image.resize((width or -(-height * image.width // image.height), height)), np.float32)[:, :, ::-1] / 255
    pixels = (pixels - np.float32(mean)) / np.float32(std)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None].astype(np.float32))


def ocr(models, data):
    line = picture(data + "/text_rec.jpg", None, 48, [.5] * 3, [.5] * 3)
    line = np.pad(line, ((0, 0), (0, 0), (0, 0), (0, 320 - line.shape[3])))
    cases = {"det": ("ch_PP-OCRv4_det", picture(data + "/ch_en_num.jpg", 160, 96, [.485, .456, .406], [.229, .224, .225])),
             "rec": ("ch_PP-OCRv4_rec", line)}
    for name, (model, x) in cases.items():
        x = np.round(x * 64) / 64  # short in the archive, and as good a picture
        np.savez_compressed(f"{HERE}/ocr_{name}_in.npz", x=x.astype(np.float32))
        np.savez_compressed(f"{HERE}/ocr_{name}_out.npz", **paddle_run.answer(f"{models}/{model}/inference.pdmodel", f"{models}/{model}/inference.pdiparams", x.astype(np.float32)))


# ---- operators ----

DROPPED = {"op_callstack", "op_role", "op_role_var", "op_namescope", "op_device", "with_quant_attr", "use_mkldnn", "use_cudnn"}
SHARED = {"batch_norm": {"MeanOut": "Mean", "VarianceOut": "Variance"}}


def append(block, scope, name, case, feeds, fetches):
    """The case in the block; its operands are called NAME.X, its results NAME.Out. Operands of the range are constants."""
    op, operands, results, attrs = case
    taken, made = {}, {}
    for slot, arrays in operands.items():
        taken[slot] = []
        for k, array in enumerate(arrays if isinstance(arrays, list) else [arrays]):
            constant = slot in paddle_cases.CONSTANTS or op == "range" or isinstance(array, paddle_cases.Constant)
            var = block.create_var(name=f"{name}.{slot}{k or ''}", shape=array.shape, dtype=str(array.dtype),
                                   persistable=constant, need_check_feed=False, is_data=not constant, stop_gradient=True)
            if constant:
                scope.var(var.name).get_tensor().set(array, paddle.CPUPlace())
                CONSTANTS[var.name] = array
            else:
                feeds[var.name] = (var, array)
                if isinstance(array, paddle_boxes.Sequences):
                    var.desc.set_lod_level(2 if isinstance(array, paddle_boxes.Beams) else 1)
            taken[slot].append(var)
    for slot, types in results.items():
        types = types if isinstance(types, list) else ["float32"] * types
        made[slot.lstrip("~")] = [block.create_var(name=f"{name}.{slot.lstrip('~')}{k or ''}", dtype=t)
                                  for k, t in enumerate(types)]
        if not slot.startswith("~"):
            fetches += made[slot]
    for slot, other in SHARED.get(op, {}).items():
        made[slot] = taken[other]
    block.append_op(type=op, inputs=taken, outputs=made, attrs=attrs)


CONSTANTS = {}


def fed(array):
    """What the executor takes; one sequence of all rows where the case says so."""
    if not isinstance(array, paddle_boxes.Sequences):
        return array
    tensor = paddle.base.core.LoDTensor()
    tensor.set(np.asarray(array), paddle.CPUPlace())
    tensor.set_recursive_sequence_lengths([[len(array)]] + ([[1] * len(array)] if isinstance(array, paddle_boxes.Beams) else []))
    return tensor


def saved(program, feeds, fetches):
    """The program's bytes with feed and fetch, without what a run does not need."""
    desc = framework_pb2.ProgramDesc()
    desc.ParseFromString(program)
    desc.version.version = 2006002
    block = desc.blocks[0]
    kept = list(block.ops)
    for op in kept:
        attrs = [a for a in op.attrs if a.name not in DROPPED]
        del op.attrs[:]
        op.attrs.extend(attrs)
    del block.ops[:]
    for name, kind in (("feed", 9), ("fetch", 10)):
        var = block.vars.add(name=name, persistable=True)
        var.type.type = kind

    def port(kind, taken, made, column):
        op = block.ops.add(type=kind)
        op.inputs.add(parameter="X", arguments=[taken])
        op.outputs.add(parameter="Out", arguments=[made])
        op.attrs.add(name="col", type=0, i=column)

    for k, name in enumerate(feeds):
        port("feed", "feed", name, k)
    block.ops.extend(kept)
    for k, var in enumerate(fetches):
        port("fetch", var.name, "fetch", k)
    return desc.SerializeToString()


def write_parameters(path):
    codes = {"float32": 5, "float16": 4, "int64": 3, "int32": 2, "int8": 21}
    records = [paddle_files.record(codes[str(a.dtype)], a.shape, a.tobytes()) for _, a in sorted(CONSTANTS.items())]
    if records:
        with open(path + ".pdiparams", "wb") as file:
            file.write(b"".join(records))


def record(path, cases):
    """One program of these cases: PATH.pdmodel, .pdiparams, _in.npz, _out.npz."""
    paddle.enable_static()
    main, scope, feeds, fetches = paddle.static.Program(), paddle.static.Scope(), {}, []
    CONSTANTS.clear()
    with paddle.static.program_guard(main, paddle.static.Program()), paddle.static.scope_guard(scope):
        for name, case in cases:
            append(main.global_block(), scope, name, case, feeds, fetches)
        executor = paddle.static.Executor(paddle.CPUPlace())
        given = {name: array for name, (_, array) in feeds.items()}
        values = executor.run(main, feed={name: fed(array) for name, array in given.items()}, fetch_list=fetches, return_numpy=False)
    with open(path + ".pdmodel", "wb") as file:
        file.write(saved(main.desc.serialize_to_string(), feeds, fetches))
    write_parameters(path)
    np.savez_compressed(path + "_in.npz", **given)
    np.savez_compressed(path + "_out.npz", **{v.name: np.asarray(a) for v, a in zip(fetches, values)})


def operators(folder, single):
    os.makedirs(folder, exist_ok=True)
    counts, named = {}, []
    for case in paddle_cases.CASES:
        counts[case[0]] = counts.get(case[0], 0) + 1
        named.append((f"{case[0]}_{counts[case[0]]}", case))
    if single:
        groups = [[entry] for entry in named]
    else:  # those that PIR has no operator for stand in programs of their own
        both = [entry for entry in named if entry[1][0] not in paddle_cases.NOT_IN_PIR]
        groups = [both[k:k + 40] for k in range(0, len(both), 40)]
        groups.append([entry for entry in named if entry[1][0] in paddle_cases.NOT_IN_PIR])
    for number, group in enumerate(groups):
        path = os.path.join(folder, group[0][0] if single else f"operators_{number}")
        try:
            record(path, group)
        except Exception as error:
            if not single:
                raise
            print(group[0][0], "refused:", " ".join(str(error).split())[-400:])


class Network:
    """Operators that feed each other, as paddle_quantised.py adds them."""

    def __init__(self, block, scope):
        self.block, self.scope, self.feeds, self.fetches, self.count = block, scope, {}, [], 0

    def variable(self, array):
        self.count += 1
        constant = isinstance(array, paddle_cases.Constant)
        var = self.block.create_var(name=f"{'w' if constant else 'x'}{self.count}", shape=array.shape, dtype=str(array.dtype),
                                    persistable=constant, need_check_feed=False, is_data=not constant, stop_gradient=True)
        if isinstance(array, paddle_boxes.Beams):
            var.desc.set_lod_level(2)
        if constant:
            self.scope.var(var.name).get_tensor().set(np.asarray(array), paddle.CPUPlace())
            CONSTANTS[var.name] = array
        return var

    def input(self, array):
        var = self.variable(array)
        self.feeds[var.name] = (var, array)
        return var

    def output(self, var):
        self.fetches.append(var)

    def add(self, op, operands, result, others=(), **attrs):
        self.count += 1
        taken = {slot: [self.variable(v) if isinstance(v, np.ndarray) else v for v in (x if isinstance(x, list) else [x])]
                 for slot, x in operands.items()}
        kind = attrs.pop("made", "float32")
        made = {slot: [self.block.create_var(name=f"{op}_{self.count}.{slot}", dtype=kind)] for slot in [result, *others]}
        for slot, other in SHARED.get(op, {}).items():
            made[slot] = taken[other]
        self.block.append_op(type=op, inputs=taken, outputs=made, attrs=attrs)
        return made[result][0]


def record_network(path, build, runs=True):
    paddle.enable_static()
    main, scope = paddle.static.Program(), paddle.static.Scope()
    CONSTANTS.clear()
    with paddle.static.program_guard(main, paddle.static.Program()), paddle.static.scope_guard(scope):
        network = Network(main.global_block(), scope)
        build(network)
        given = {name: array for name, (_, array) in network.feeds.items()}
        values = paddle.static.Executor(paddle.CPUPlace()).run(main, feed={name: fed(array) for name, array in given.items()},
                                                                    fetch_list=network.fetches, return_numpy=False) if runs else []
    with open(path + ".pdmodel", "wb") as file:
        file.write(saved(main.desc.serialize_to_string(), network.feeds, network.fetches))
    write_parameters(path)
    if not runs:
        return
    np.savez_compressed(path + "_in.npz", **given)
    np.savez_compressed(path + "_out.npz", **{v.name: np.asarray(a) for v, a in zip(network.fetches, values)})


def quantised(folder):
    counts, named = {}, []
    for case in paddle_quantised.CASES:
        counts[case[0]] = counts.get(case[0], 0) + 1
        named.append((f"{case[0]}_{counts[case[0]]}", case))
    record(folder + "/operators/quantised", named)
    os.makedirs(folder + "/quantised", exist_ok=True)
    for name, build in paddle_quantised.NETWORKS.items():
        record_network(f"{folder}/quantised/{name}", build)


def others(module, name, folder, single):
    """Where PIR has other operators than a program, or none, the two forms stand in files of their own."""
    os.makedirs(folder, exist_ok=True)
    counts, named = {}, []
    for case in module.CASES:
        counts[case[0]] = counts.get(case[0], 0) + 1
        named.append((f"{case[0]}_{counts[case[0]]}", case))
    both = [entry for entry in named if entry[1][0] not in module.NOT_IN_PIR]
    groups = {name: both, f"{name}_desc": [entry for entry in named if entry[1][0] in module.NOT_IN_PIR]}
    if single:
        groups = {name: [(name, case)] for name, case in named}
    for name, group in groups.items():
        try:
            if group:
                record(f"{folder}/{name}", group)
        except Exception as error:
            if not single:
                raise
            print(name, "refused:", " ".join(str(error).split())[-400:])


OTHERS = {"more": paddle_more, "boxes": paddle_boxes, "rest": paddle_rest, "older": paddle_older, "second": paddle_second,
          "edges": paddle_edges, "odd": paddle_odd, "near": paddle_near, "polygons": paddle_polygons}
if sys.argv[1] in OTHERS:
    others(OTHERS[sys.argv[1]], sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else HERE + "/operators", len(sys.argv) > 2)


def half(folder):
    path = f"{folder}/quantised/half"
    for wide in (True, False):
        paddle_half.rng.bit_generator.state = np.random.PCG64(3).state
        record_network(path, lambda net: paddle_half.network(net, not wide), wide)


if sys.argv[1] == "adaptive":
    record(HERE + "/operators/adaptive", [(f"{case[0]}_{k}", case) for k, case in enumerate(paddle_adaptive.CASES, 1)])
if sys.argv[1] == "chance":
    os.makedirs(HERE + "/chance", exist_ok=True)
    for name, build in paddle_chance.NETWORKS.items():
        record_network(f"{HERE}/chance/{name}", build)
if sys.argv[1] == "fourier":
    record_network(HERE + "/operators/fourier", paddle_fourier.network)
if sys.argv[1] == "beams":
    record_network(HERE + "/operators/beams", paddle_beams.network)
if sys.argv[1] == "half":
    half(HERE)
if sys.argv[1] == "quantised":
    quantised(HERE)
if sys.argv[1] == "operators":
    operators(sys.argv[2] if len(sys.argv) > 2 else HERE + "/operators", len(sys.argv) > 2)
if sys.argv[1] == "ocr":
    ocr(*sys.argv[2:4])
