"""Sessions: a program that stays on its device from run to run."""

import os
import threading
from ctypes import byref
from typing import Any, Callable, Optional, Union

from . import _native as native
from ._results import Result
from ._run import Device, Wanted, run


class _Handle:
    """An open session of the library. The program's handle is closed behind it."""

    def __init__(self, program: Any, device: Device) -> None:
        self.value: Optional[int] = None
        self._program = program
        error = native.Error()
        options = native.RunOptions(device=device.driver())
        self.value = native.xpurt.xpurt_session_open(program.value, byref(options), byref(error))
        native.check(error, native.xpurt.xpurt_error_clear)

    def __del__(self, close: Any = native.xpurt.xpurt_session_close) -> None:
        close(self.value)


class Session:
    """A program on a device that is made once and used by many runs; states stay from run to run.

    Threads may run one session at the same time: each works on a device of its own, which the session keeps. Where the
    program has states, runs wait for each other. `Program.session` opens one; it is a context manager.
    """

    def __init__(self, program: Any, device: Device) -> None:
        self.program = program
        self.device = device.name
        self._device = device
        self._handle: Optional[_Handle] = _Handle(program._handle, device)
        self._lock = threading.Lock()

    def run(self, inputs: Any = None, *, dump: Union[bool, str, "os.PathLike[str]"] = False,
            dump_filter: Optional[str] = None, dump_iterations: Optional[str] = None, stats: bool = True,
            iterations: Optional[str] = None, max_cycles: int = 0, seed: int = 0,
            trace: Optional[Union[str, "os.PathLike[str]"]] = None,
            progress: Optional[Callable[[int, int, str], Any]] = None) -> Result:
        """Runs once. Inputs that are states may be left out. The arguments are those of `Program.run`; there is no
        max_cycles on rtl, where a limit is the chip's for all its runs."""
        if max_cycles and self.device == "rtl":
            raise ValueError("a run of a session on rtl takes no max_cycles: Program.run does, or a progress function "
                             "that raises an exception")
        with self._lock:
            handle = self._handle  # it lives on if another thread closes the session meanwhile
        if handle is None:
            raise ValueError("the session is closed")
        wanted = Wanted(dump, dump_filter, dump_iterations, stats, iterations, max_cycles, seed, trace, progress)
        return run(native.xpurt.xpurt_session_run, handle.value, self._device, self.program.inputs,
                   len(self.program.outputs), inputs, wanted)

    def reset(self) -> None:
        """States are zeros again, as if no run had been made."""
        with self._lock:
            handle = self._handle
        if handle is None:
            raise ValueError("the session is closed")
        native.xpurt.xpurt_session_reset(handle.value)

    def close(self) -> None:
        """Gives back the device, when the last run has ended."""
        with self._lock:
            self._handle = None

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<xpu.Session of %s on %s%s>" % (self.program.name, self.device, "" if self._handle else ", closed")
