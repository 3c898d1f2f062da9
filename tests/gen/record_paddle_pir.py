#!/usr/bin/env python3
"""Translates the programs of tests/paddle/operators into PIR with PaddlePaddle 3.3.1, beside them as .json:
record_paddle_pir.py FOLDER. What PaddlePaddle 2.6.2 answered holds for both forms."""
import glob
import json
import os
import sys

os.environ["GLOG_minloglevel"] = "3"
import paddle
from paddle.base import core

paddle.enable_static()
for path in sorted(glob.glob(sys.argv[1] + "/*.pdmodel")):
    prefix = path[: -len(".pdmodel")]
    try:
        with paddle.pir_utils.OldIrGuard():
            program, _, _ = paddle.static.load_inference_model(prefix, paddle.static.Executor(paddle.CPUPlace()))
        core.serialize_pir_program(paddle.pir.translate_to_pir(program.desc), prefix + ".json", True, True, False)
        with open(prefix + ".json") as file:
            program = json.load(file)
        with open(prefix + ".json", "w") as file:
            json.dump(program, file, separators=(",", ":"))
    except Exception as error:
        print(os.path.basename(prefix), "not translated:", str(error).strip().splitlines()[-1][:300])
