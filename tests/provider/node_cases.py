"""The node cases of the package onnx, through a stock session with the provider before the CPU, on func.

    node_cases.py [COUNT | FIRST:END | WORD...]     COUNT of them, drawn with a seed; from FIRST to before END, counted from 0
                                                    (parts for several processes); those with a WORD in the name; or all

A case that passes without the provider has to pass with it. Of the cases that this onnxruntime can read at all, at least as
many have to run whole on the chip as pass wholly on the chip by xpuc and xpu-run. A release that knows no file of onnx's
newest IR version gets all cases with its own newest one: of what they use nothing has changed.
"""
import os
import random
import re
import sys
import time
import warnings

import numpy as np

os.environ["ALLOW_RELEASED_ONNX_OPSET_ONLY"] = "0"  # onnxruntime: operators of an opset that is not finished, too
import onnxruntime as ort  # noqa: E402

warnings.simplefilter("ignore")
from common import is_whole, open_session, open_with_report  # noqa: E402
from onnx.backend.test.loader import load_model_tests  # noqa: E402

import xpu  # noqa: E402


def agrees(wanted, got, case):
    if isinstance(wanted, (list, tuple)):
        return isinstance(got, (list, tuple)) and len(wanted) == len(got) and all(map(agrees, wanted, got,
                                                                                     [case] * len(got)))
    if wanted is None or got is None:
        return wanted is got
    wanted, got = np.asarray(wanted), np.asarray(got)
    if wanted.shape != got.shape:
        return False
    if wanted.dtype.kind not in "fcV" or got.dtype.kind not in "fcV":
        return bool((wanted == got).all())
    if wanted.dtype == np.float16:  # two steps: where operators follow each other it matters which of them round
        with np.errstate(all="ignore"):
            step = 2 * np.spacing(np.abs(wanted)).astype(np.float64)
        close = np.abs(got.astype(np.float64) - wanted.astype(np.float64)) <= np.nan_to_num(step, nan=0, posinf=0)
        return bool((close | np.isclose(got.astype(np.float64), wanted.astype(np.float64), case.rtol, case.atol,
                                        equal_nan=True)).all())
    return np.allclose(got.astype(np.float64), wanted.astype(np.float64), case.rtol, case.atol, equal_nan=True)


def feeds_of(case, inputs):
    return {value.name: data if isinstance(data, (list, np.ndarray)) else np.asarray(data)
            for value, data in zip(case.model.graph.input, inputs)}


def can_feed(case):
    """Whether Python's onnxruntime takes and gives the types: it has no arrays of bfloat16 and the like."""
    arrays = [data for sets in case.data_sets for side in sets for data in side if isinstance(data, np.ndarray)]
    return not any(data.dtype.kind == "V" or data.dtype.type.__module__ == "ml_dtypes" for data in arrays)


def passes(session, case):
    for inputs, wanted in case.data_sets:
        if not agrees(list(wanted), session.run(None, feeds_of(case, inputs)), case):
            return False
    return True


def newest_ir(case):
    """What onnxruntime says of a file from the future."""
    model = type(case.model)()
    model.CopyFrom(case.model)
    model.ir_version = 10000
    return int(re.search(r"max supported IR version: (\d+)",
                         outcome(lambda: open_session(model.SerializeToString(), provider=False))[1]).group(1))


def outcome(call):
    """What it gives, and why it gives nothing."""
    try:
        return call(), ""
    except Exception as error:
        return None, str(error)


def is_readable(content):
    """Whether onnxruntime knows the operators, with their attributes and types: only kernels may be missing."""
    why = outcome(lambda: open_session(content, provider=False))[1]
    return not re.search("INVALID_GRAPH|FAIL : |INVALID_PROTOBUF", why) or "NOT_IMPLEMENTED" in why


def on_chip(content, case):
    """Whether xpuc puts every node on the chip, and xpu-run gives what is wanted."""
    if any(node.get("unit") == "host" for node in xpu.explain(content)["nodes"]):
        return False
    program = xpu.compile(content)
    for inputs, wanted in case.data_sets:
        got = program.run(feeds_of(case, inputs), device="func").outputs
        if not agrees(list(wanted), [got[value.name] for value in case.model.graph.output], case):
            return False
    return True


def main():
    known = load_model_tests(kind="node")
    cases = [case for case in known if can_feed(case)]
    print("%d node cases, %d of which Python's onnxruntime can be given" % (len(known), len(cases)))
    if sys.argv[1:] and sys.argv[1].isdigit():
        cases = random.Random(18).sample(cases, int(sys.argv[1]))
    elif sys.argv[1:] and re.fullmatch(r"\d+:\d+", sys.argv[1]):
        cases = cases[slice(*map(int, sys.argv[1].split(":")))]
    elif sys.argv[1:]:
        unknown = [word for word in sys.argv[1:] if not any(word in case.name for case in cases)]
        if unknown:
            sys.exit("no node case has %s in its name" % " or ".join(map(repr, unknown)))
        cases = [case for case in cases if any(word in case.name for word in sys.argv[1:])]
    limit = newest_ir(cases[0])
    without = whole = chip = with_it = gone = unread = 0
    bad, less = [], []
    started = time.time()
    for number, case in enumerate(cases):
        case.model.ir_version = min(case.model.ir_version, limit)
        content = case.model.SerializeToString()
        plain, refused = outcome(lambda: passes(open_session(content, provider=False, optimise=True), case))
        made, why = outcome(lambda: open_with_report(content, optimise=True))
        ran, why = outcome(lambda: passes(made[0], case)) if made else (None, why)
        if refused and not made and not is_readable(content):
            unread += 1
            continue
        is_on_chip, _ = outcome(lambda: on_chip(content, case))
        made_whole = bool(made and ran and is_whole(made[1]))
        without += bool(plain)
        with_it += bool(ran)
        whole += made_whole
        gone += made_whole and not made[1]["nodes"]
        chip += bool(is_on_chip)
        if plain and not ran:
            bad.append("%s: %s" % (case.name, why or "another result"))
        if is_on_chip and not made_whole:
            less.append("%s: %s" % (case.name, why or [n.get("why") for n in made[1]["nodes"]] if made else why))
        if sys.stderr.isatty() or os.environ.get("XPU_PROGRESS"):
            print("%d of %d" % (number + 1, len(cases)), end="\r", file=sys.stderr, flush=True)
    for line in bad:
        print("fails with the provider only: %s" % line)
    for line in less:
        print("not whole on the chip, by xpuc it is: %s" % line)
    print("%d node cases, %d of which onnxruntime %s cannot read; it passes %d, with the provider %d; whole on the chip %d "
          "(of %d of them onnxruntime's optimiser leaves nothing), by xpuc and xpu-run %d; "
          "%.0f s" % (len(cases), unread, ort.__version__, without, with_it, whole, gone, chip, time.time() - started))
    return 1 if bad or whole < chip else 0


if __name__ == "__main__":
    sys.exit(main())
