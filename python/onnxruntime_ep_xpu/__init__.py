"""The simulated chip as an execution provider of onnxruntime (docs/onnxruntime.md of the project).

    import onnxruntime as ort, onnxruntime_ep_xpu
    ort.register_execution_provider_library("xpu", onnxruntime_ep_xpu.get_library_path())
    devices = [d for d in ort.get_ep_devices() if d.ep_name == onnxruntime_ep_xpu.get_ep_name()]
    options = ort.SessionOptions()
    options.add_provider_for_devices(devices[:1], {"device": "rtl"})
    session = ort.InferenceSession("model.onnx", sess_options=options)
"""

import importlib.util
import os
from typing import List

__all__ = ["get_ep_name", "get_ep_names", "get_library_path"]


def get_library_path() -> str:
    """The file for register_execution_provider_library.

    Where the environment names no XPU_ZIG, it gets that of PyPI's ziglang, if that is installed: the library takes clang and
    lld from there where PATH has none.
    """
    spec = importlib.util.find_spec("ziglang") if not os.environ.get("XPU_ZIG") else None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if os.path.exists(os.path.join(folder, "zig")):
            os.environ["XPU_ZIG"] = os.path.join(folder, "zig")
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "native", "lib", "libonnxruntime_ep_xpu.so")


def get_ep_name() -> str:
    """The provider's name, as onnxruntime's devices have it."""
    return "XpuExecutionProvider"


def get_ep_names() -> List[str]:
    """The names of all providers in the library."""
    return [get_ep_name()]
