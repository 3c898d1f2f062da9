#!/usr/bin/env python3
"""Records the programs of paddle_control.py in tests/paddle/control, with what PaddlePaddle answers:
    record_paddle_control.py [FOLDER]    with 2.6.2 NAME.pdmodel, NAME.pdiparams, NAME.K_in.npz, NAME.K_out.npz,
                                         with 3.3.1 NAME.json, NAME.pdiparams, NAME.K_pir_out.npz where these differ (programs
                                         called pir_ are of 3.3.1 alone, those called desc_ of 2.6.2)
Weights and feeds are the same in both. NAME.options, where it is there, is written by hand."""
import glob
import json
import os
import sys

os.environ["GLOG_minloglevel"] = "3"
os.environ["FLAGS_use_mkldnn"] = os.environ["FLAGS_use_onednn"] = "0"
import numpy as np
import paddle
import paddle_control

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "paddle", "control")
IS_PIR = not paddle.__version__.startswith("2.")
DROPPED = {"op_callstack", "op_role", "op_role_var", "op_namescope", "op_device", "with_quant_attr", "use_mkldnn", "use_cudnn"}


def tidy(path):
    """Without what a run does not need; outputs are called out0, out1."""
    if IS_PIR:
        with open(path + ".json") as file:
            program = json.load(file)
        for op in program["program"]["regions"][0]["blocks"][0]["ops"]:
            attrs = {a["N"]: a["AT"] for a in op["A"] if isinstance(a, dict)}
            if op["#"] == "1.fetch":
                attrs["name"]["D"] = f"out{attrs['col']['D']}"
        with open(path + ".json", "w") as file:
            json.dump(program, file, separators=(",", ":"))
        return
    from paddle.base.proto import framework_pb2
    desc = framework_pb2.ProgramDesc()
    with open(path + ".pdmodel", "rb") as file:
        desc.ParseFromString(file.read())
    new = {}
    for op in desc.blocks[0].ops:
        if op.type == "fetch":
            column = [a.i for a in op.attrs if a.name == "col"][0]
            new[op.inputs[0].arguments[0]] = f"out{column}"
    for var in desc.blocks[0].vars:
        var.name = new.get(var.name, var.name)
    for block in desc.blocks:
        for op in block.ops:
            for slot in list(op.inputs) + list(op.outputs):
                slot.arguments[:] = [new.get(name, name) for name in slot.arguments]
            attrs = [a for a in op.attrs if a.name not in DROPPED]
            del op.attrs[:]
            op.attrs.extend(attrs)
    desc.version.version = 2006002
    desc.ClearField("op_version_map")
    with open(path + ".pdmodel", "wb") as file:
        file.write(desc.SerializeToString())


def record(folder, name, build, feeds):
    main, start, scope = paddle.static.Program(), paddle.static.Program(), paddle.static.Scope()
    executor = paddle.static.Executor(paddle.CPUPlace())
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, start), paddle.static.scope_guard(scope):
        inputs = [paddle.static.data(key, array.shape, str(array.dtype)) for key, array in feeds[0].items()]
        outputs = build(*inputs)
        outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
        outputs = [paddle.scale(y, 1.) if y.dtype in (paddle.float32,) else paddle.assign(y) for y in outputs]
        executor.run(start)
        path = os.path.join(folder, name)
        for number, feed in enumerate(feeds):
            with paddle.static.scope_guard(paddle.static.Scope()):  # arrays stay in their scope
                executor.run(start)
                values = executor.run(main, feed=feed, fetch_list=outputs)
            values = {f"out{k}": np.asarray(v) for k, v in enumerate(values)}
            if not IS_PIR:
                np.savez_compressed(f"{path}.{number}_in.npz", **feed)
                np.savez_compressed(f"{path}.{number}_out.npz", **values)
                continue
            if name.startswith("pir_"):
                np.savez_compressed(f"{path}.{number}_in.npz", **feed)
                np.savez_compressed(f"{path}.{number}_out.npz", **values)
                continue
            with np.load(f"{path}.{number}_out.npz") as other:
                same = all(np.allclose(values[k], other[k], 1e-6, 1e-6) for k in values)
            if not same:
                np.savez_compressed(f"{path}.{number}_pir_out.npz", **values)
        paddle.static.save_inference_model(path, inputs, outputs, executor, program=main)
    tidy(path)
    if os.path.exists(path + ".pdiparams") and not os.path.getsize(path + ".pdiparams"):
        os.remove(path + ".pdiparams")


paddle.enable_static()
folder = sys.argv[1] if len(sys.argv) > 1 else HERE
os.makedirs(folder, exist_ok=True)
for name, build, feeds in paddle_control.CASES:
    if name.startswith("desc_" if IS_PIR else "pir_"):
        continue
    try:
        record(folder, name, build, feeds)
    except Exception as error:
        print(name, "not recorded:", str(error).strip().splitlines()[-1][:300])
