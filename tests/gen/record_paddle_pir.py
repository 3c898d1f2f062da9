#!/usr/bin/env python3
"""Takes PaddlePaddle 3.3.1 (CPU, without oneDNN).
    record_paddle_pir.py FOLDER          translates the folder's programs (tests/paddle/operators) into PIR, beside them as
                                         .json; what PaddlePaddle 2.6.2 answered holds for both forms
                                         (paddle_programs.py unpack tests/paddle before, pack behind it)
    record_paddle_pir.py v5 PROGRAMS     records in tests/paddle what it answers for PP-OCRv5's programs with the
                                         parameters of paddle_weights.py"""
import glob
import json
import os
import subprocess
import sys
import tempfile

os.environ["GLOG_minloglevel"] = "3"
import numpy as np
import paddle
import paddle_run
from paddle.base import core

HERE = os.path.dirname(os.path.abspath(__file__))


def v5(programs):
    rng = np.random.default_rng(5)
    for name, dims in (("det", (1, 3, 64, 96)), ("rec", (1, 3, 48, 32))):
        x = (np.round(rng.standard_normal(dims) * 8) / 8).astype(np.float32)
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{programs}/{name}.inference.json") as file, open(folder + "/inference.json", "w") as copy:
                copy.write(file.read())
            subprocess.run([sys.executable, HERE + "/paddle_weights.py", folder + "/inference.json", folder + "/inference.pdiparams"], check=True)
            made = paddle_run.answer(folder + "/inference.json", folder + "/inference.pdiparams", x)
        for y in made.values():
            print(name, y.shape, y.min(), y.max(), y.std())
        np.savez_compressed(f"{HERE}/../paddle/v5_{name}_in.npz", x=x)
        np.savez_compressed(f"{HERE}/../paddle/v5_{name}_out.npz", **made)


if sys.argv[1] == "v5":
    v5(sys.argv[2])
    sys.exit()
# Attributes that came after 2.6.2, and that the translation asks for.
LATER = {"round": ("decimals", 0), "thresholded_relu": ("value", 0.0), "repeat_interleave": ("output_size", -1)}


def with_later(desc):
    for index in range(desc.num_blocks()):
        block = desc.block(index)
        for op in (block.op(k) for k in range(block.op_size())):
            if op.type() in LATER and not op.has_attr(LATER[op.type()][0]):
                op._set_attr(*LATER[op.type()])
    return desc


paddle.enable_static()
for path in sorted(glob.glob(sys.argv[1] + "/*.pdmodel")):
    prefix = path[: -len(".pdmodel")]
    try:
        with paddle.pir_utils.OldIrGuard():
            program, _, _ = paddle.static.load_inference_model(prefix, paddle.static.Executor(paddle.CPUPlace()))
        core.serialize_pir_program(paddle.pir.translate_to_pir(with_later(program.desc)), prefix + ".json", True, True, False)
        with open(prefix + ".json") as file:
            program = json.load(file)
        with open(prefix + ".json", "w") as file:
            json.dump(program, file, separators=(",", ":"))
    except Exception as error:
        print(os.path.basename(prefix), "not translated:", str(error).strip().splitlines()[-1][:300])
