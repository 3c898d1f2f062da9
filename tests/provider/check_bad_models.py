"""Bad models (tests/python/bad_models.py), kept models that are damaged, and bad runs through onnxruntime and through
Python: each interface's own error with a text, nothing printed, nothing left."""
import os
import random
import sys

import numpy as np
import onnx
from bad_models import DIGITS, bad_models
from common import FOLDER, open_session, run_checks
from leaks import leaves_nothing
from quiet import quiet

import xpu


def error_of(call):
    try:
        call()
    except Exception as error:
        return error
    return None


def is_onnxruntimes(error):
    """It has no error of its own for a text that is not UTF-8, as damaged names give."""
    return "onnxruntime" in type(error).__module__ or "ONNXRuntimeError" in str(getattr(error, "object", b""))


def check_onnxruntime():
    """Those that onnxruntime refuses without the provider it refuses with it; none gets through otherwise."""
    seen = {}

    def all_of_them():
        for name, content in bad_models():
            plain = error_of(lambda: open_session(content, provider=False))
            error = error_of(lambda: open_session(content))
            assert (plain is None) == (error is None), (name, plain, error)
            assert error is None or is_onnxruntimes(error), (name, error)
            seen[name] = error
    quiet(all_of_them)
    refused_ones = [name for name, error in seen.items() if error]
    print("onnxruntime refuses %d of %d" % (len(refused_ones), len(seen)))
    assert len(refused_ones) >= 30, refused_ones
    leaves_nothing(all_of_them, times=5, before=2)


def check_python():
    seen = {}

    def all_of_them():
        for name, content in bad_models():
            error = error_of(lambda: xpu.explain(content))
            assert error is None or (isinstance(error, xpu.Error) and error.rule and error.reason), (name, error)
            seen[name] = error
    quiet(all_of_them)
    passed = [name for name, error in seen.items() if not error]
    print("xpu.explain refuses %d of %d" % (len(seen) - len(passed), len(seen)))
    assert all(name.startswith("damaged") for name in passed), passed
    leaves_nothing(all_of_them, times=5, before=2)


KEPT_WITH = {"precision": "int16", "shapes": "x=4,1,16,16", "min_products": 1}


def damaged_contexts(which, count):
    """A kept digits whose program (ep_cache_context), or whose notes, are damaged."""
    path, draw = os.path.join(FOLDER, "bad.onnx"), random.Random(18)
    if not os.path.exists(path):
        open_session(DIGITS, entries={"ep.context_enable": "1", "ep.context_embed_mode": "1", "ep.context_file_path": path},
                     **KEPT_WITH)
    for number in range(count):
        model = onnx.load(path)
        attribute = next(a for a in model.graph.node[0].attribute if a.name == which)
        content = bytearray(attribute.s)
        if number % 4 == 0:
            content = content[:draw.randrange(len(content))]
        else:
            for _ in range(1 + number % 3):
                content[draw.randrange(len(content) if number % 2 else min(len(content), 4096))] ^= 1 << draw.randrange(8)
        if bytes(content) != attribute.s:
            attribute.s = bytes(content)
            yield number, model.SerializeToString()


def damaged_ones_fail(which, count, rule):
    contents = list(damaged_contexts(which, count))

    def all_of_them():
        for number, content in contents:
            error = error_of(lambda: open_session(content, **KEPT_WITH))
            assert ("error [" + rule in str(error) and "why: " in str(error)) or "codec" in str(error), (which, number, error)
            assert is_onnxruntimes(error), (which, number, error)
    quiet(all_of_them)
    assert len(contents) >= count * 3 // 4
    leaves_nothing(all_of_them, times=5, before=2)


def check_contexts():
    damaged_ones_fail("ep_cache_context", 40, "xpu-")


def check_notes():
    damaged_ones_fail("notes", 60, "provider-context]")


def check_runs():
    session, program = open_session(DIGITS), xpu.compile(DIGITS)
    good = np.zeros((1, 1, 16, 16), np.float32)

    def all_of_them():
        for x in (good[0], good.astype(np.float64), np.zeros((1, 1, 16, 17), np.float32), np.zeros((70000, 1, 16, 16), np.float32)):
            error = error_of(lambda: session.run(None, {"x": x}))
            assert error and is_onnxruntimes(error), (x.shape, error)
            error = error_of(lambda: program.run({"x": x}, device="func"))
            assert isinstance(error, xpu.Error) and error.rule, (x.shape, error)
        assert session.run(None, {"x": good})[0].shape == (1, 10)
    quiet(all_of_them)
    leaves_nothing(all_of_them)


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
