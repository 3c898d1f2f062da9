"""The XPU stack from Python: compile a neural network, run it on the chip, look at what it did.

    import xpu
    program = xpu.compile("model.onnx", precision="auto")
    result = program.run({"x": array}, device="rtl")
    result.outputs, result.cycles, result.layers

Nothing but Python is needed. Where NumPy is installed, results are its arrays; elsewhere they are `xpu.Tensor`.
What goes wrong is an `xpu.Error` with rule, node, reason and hint. docs/python.md is the manual.
"""

from ._compile import compile, describe, explain, load
from ._diff import Diff, diff
from ._errors import (DeviceFault, DeviceTimeout, Error, InternalError, LockstepError, MachineError, ModelError,
                      Problem, Stopped, UsageError)
from ._profile import Profile
from ._program import Program
from ._results import Dump, Layer, Result
from ._run import TensorInfo
from ._session import Session
from ._tensor import Tensor
from ._native import version as __version__

__all__ = ["compile", "load", "describe", "explain", "diff", "Program", "Session", "Result", "Layer", "Dump", "Profile",
           "Diff", "Tensor", "TensorInfo", "Error", "Problem", "ModelError", "UsageError", "MachineError",
           "DeviceFault", "DeviceTimeout", "LockstepError", "InternalError", "Stopped", "__version__"]
