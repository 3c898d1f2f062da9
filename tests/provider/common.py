"""What the tests of the execution provider share."""
import atexit
import json
import os
import shutil
import sys
import tempfile

import numpy as np

# From 1.31 on it has a thread that reports to its makers: of 684 KB, nine seconds after the start
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime as ort  # noqa: E402

BUILD = os.environ["XPU_BUILD"]
NAME = "XpuExecutionProvider"
FOLDER = tempfile.mkdtemp(prefix="xpu-provider-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)

ort.register_execution_provider_library("xpu", os.environ.get("XPU_PROVIDER") or
                                        os.path.abspath(os.path.join(BUILD, "lib/libonnxruntime_ep_xpu.so")))
DEVICES = [d for d in ort.get_ep_devices() if d.ep_name == NAME][:1]


def options(entries=None, optimise=False, provider=True, library=None, **given):
    """Options of a session whose every setting is given: without the provider where provider is False; library: of
    custom operators."""
    made = ort.SessionOptions()
    if library:
        made.register_custom_ops_library(library)
    made.log_severity_level = 4
    made.intra_op_num_threads = 1
    if not optimise:
        made.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    for key, value in (entries or {}).items():
        made.add_session_config_entry(key, value)
    if provider:
        made.add_provider_for_devices(DEVICES, {k: str(v) for k, v in given.items()})
    return made


def open_session(model, **given):
    """A stock session; an error of the provider is an error, where Python's onnxruntime would go on without it."""
    with_provider = given.get("provider", True)
    made = ort.InferenceSession(model, sess_options=options(**given), enable_fallback=0,
                                **({} if with_provider else {"providers": ["CPUExecutionProvider"]}))
    made.disable_fallback()
    return made


def open_with_report(model, **given):
    """A session, and where each node went."""
    path = os.path.join(FOLDER, "report.json")
    if os.path.exists(path):
        os.remove(path)
    made = open_session(model, report=path, **given)
    if not os.path.exists(path):  # onnxruntime's optimiser has left no node
        return made, {"regions": 0, "nodes": []}
    with open(path, encoding="utf-8") as file:
        return made, json.load(file)


def is_whole(report):
    return report["regions"] <= 1 and all(node["region"] for node in report["nodes"])


def same(a, b):
    """Bit for bit."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def refused(call, *texts):
    """The message of the error that call() ends in; each of texts has to be in it."""
    try:
        call()
    except Exception as error:  # onnxruntime has a class for each code
        missing = [text for text in texts if text not in str(error)]
        assert not missing, "%r: %s is not in it" % (str(error), missing)
        return str(error)
    raise AssertionError("no error: wanted %s" % (texts,))


def run_checks(found):
    """The functions check_NAME of `found`, or those that the command line names; the process's exit code."""
    checks = {name[6:]: call for name, call in found.items() if name.startswith("check_")}
    failed = 0
    for name in sys.argv[1:] or checks:
        try:
            checks[name]()
        except Exception as error:
            failed += 1
            print("FAILED: %s: %s: %s" % (name, type(error).__name__, str(error)[:3000]))
    print("onnxruntime %s: %d checks, %d failed" % (ort.__version__, len(sys.argv[1:] or checks), failed))
    return 1 if failed else 0
