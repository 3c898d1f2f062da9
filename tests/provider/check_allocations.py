"""Every allocation of the provider's library fails once (LD_PRELOAD of fail_allocation.c): errors, no crash, and no
block of memory is left; then all is well."""
import ctypes
import gc
import os
import sys

import numpy as np
from check_provider import two_products
from common import FOLDER, open_session, run_checks

fail_at = ctypes.CDLL(None).fail_at
fail_at.restype, fail_at.argtypes = ctypes.c_long, [ctypes.c_long]
live = ctypes.CDLL(None).live
live.restype = ctypes.c_long
MODEL = two_products("Inverse", domain="com.microsoft")


def whole(number):
    """Compiles, runs, and runs what was kept."""
    path = os.path.join(FOLDER, "allocations%d.onnx" % number)
    feeds = {"x": np.zeros((2, 4, 4), np.float32)}
    session = open_session(MODEL, profile=os.path.join(FOLDER, "allocations.jsonl"), entries={
        "ep.context_enable": "1", "ep.context_file_path": path, "ep.context_embed_mode": "1"})
    return session.run(None, feeds)[0].tobytes(), open_session(path).run(None, feeds)[0].tobytes()


def check_each():
    wanted = whole(0)
    fail_at(0)
    assert whole(1) == wanted
    gc.collect()
    count, texts, before = fail_at(0), [], live()
    for number in range(1, count + 1):
        fail_at(number)
        try:
            whole(1 + number)
        except Exception as error:  # onnxruntime has a class for each code
            texts.append(str(error))
        fail_at(0)
        gc.collect()
        assert live() <= before, "%d blocks are left where allocation %d fails: %s" % (live() - before, number, texts[-1:])
    named = sum("out of memory" in text or "out-of-memory" in text for text in texts)
    print("%d allocations, %d ended in errors, %d of them said that memory ran out" % (count, len(texts), named))
    assert count > 20 and named > count // 2, texts
    assert whole(count + 2) == wanted
    session = open_session(MODEL)
    assert live() > before + 10, (live(), before)  # that blocks are counted
    del session
    gc.collect()
    assert live() <= before, (live(), before)


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
