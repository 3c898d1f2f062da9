"""Compiled programs."""

import json
import os
from ctypes import byref
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from . import _native as native
from ._errors import Problem
from ._results import Result
from ._run import Device, TensorInfo, Wanted, run
from ._session import Session


class _Handle:
    """An open program of the library."""

    def __init__(self, path: Optional[str], content: Optional[bytes], name: str) -> None:
        self.value: Optional[int] = None
        error = native.Error()
        if content is None:
            self.value = native.xpurt.xpurt_open(native.encode(path), byref(error))
        else:
            self.value = native.xpurt.xpurt_open_memory(content, len(content), native.encode(name), byref(error))
        native.check(error, native.xpurt.xpurt_error_clear)

    def __del__(self, close: Any = native.xpurt.xpurt_close) -> None:
        close(self.value)


class Program:
    """A compiled network. `xpu.compile` and `xpu.load` make it; threads may share it."""

    def __init__(self, content: Optional[bytes], name: str, path: Optional[str] = None,
                 made: Optional[Dict[str, Any]] = None) -> None:
        made = made or {}
        self._content, self._path = content, path
        self._handle = _Handle(path, content, name)
        self.name = name
        self.notes: Tuple[Problem, ...] = made.get("notes", ())  #: warnings and notes of the compiler
        self.summary: Optional[str] = made.get("summary")  #: one line: what the compiler did
        self.log: Optional[str] = made.get("log")  #: a line for each of its passes
        self.explanation: Optional[Dict[str, Any]] = made.get("explanation")
        #: where each node runs and why, if it was compiled with explain=True
        self.inputs: List[TensorInfo] = self._infos("input")
        self.outputs: List[TensorInfo] = self._infos("output")

    def _infos(self, side: str) -> List[TensorInfo]:
        count = getattr(native.xpurt, "xpurt_%s_count" % side)(self._handle.value)
        raw, infos = native.RawTensor(), []
        for i in range(count):
            getattr(native.xpurt, "xpurt_" + side)(self._handle.value, i, byref(raw))
            shape = tuple(None if d < 0 else d for d in raw.dims[:raw.rank])
            infos.append(TensorInfo(native.decode(raw.name), native.decode(raw.dtype), shape))
        return infos

    @property
    def states(self) -> Dict[str, str]:
        """Outputs that are inputs of a session's next run: input by output."""
        tied = [native.xpurt.xpurt_state_of_input(self._handle.value, i) for i in range(len(self.inputs))]
        return {self.outputs[o].name: self.inputs[i].name for i, o in enumerate(tied) if o >= 0}

    @property
    def chip(self) -> Dict[str, Any]:
        """The chip that it was compiled for."""
        chip: Dict[str, Any] = json.loads(native.xpurt.xpurt_chip_json(self._handle.value))
        return chip

    @property
    def layers(self) -> List[str]:
        """Names of its layers, in order of execution."""
        count = native.xpurt.xpurt_layer_count(self._handle.value)
        return [native.decode(native.xpurt.xpurt_layer_name(self._handle.value, i)) for i in range(count)]

    def describe(self) -> Dict[str, Any]:
        """Facts of the program: layers, regions, tensors, sizes."""
        error = native.Error()
        text = native.xpurt.xpurt_describe(self._handle.value, byref(error))
        native.check(error, native.xpurt.xpurt_error_clear)
        facts: Dict[str, Any] = json.loads(text)
        return facts

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the .xpu file, which xpu-run, `xpu.load` and C programs take."""
        content = self.content
        with open(path, "wb") as file:
            file.write(content)

    @property
    def content(self) -> bytes:
        """The bytes of its .xpu file."""
        if self._content is None:
            with open(self._path or "", "rb") as file:
                return file.read()
        return self._content

    def run(self, inputs: Any = None, *, device: str = "rtl", dump: Union[bool, str, "os.PathLike[str]"] = False,
            dump_filter: Optional[str] = None, dump_iterations: Optional[str] = None, stats: bool = True,
            iterations: Optional[str] = None, max_cycles: int = 0, seed: int = 0,
            trace: Optional[Union[str, "os.PathLike[str]"]] = None,
            progress: Optional[Callable[[int, int, str], Any]] = None, lockstep: bool = False,
            no_skip: bool = False) -> Result:
        """Runs once.

        inputs: a dictionary by name, a tuple (or a list of arrays) in the program's order, or the only input. Each is a
        NumPy array, an object with the buffer protocol, an xpu.Tensor, or (nested) lists, whose numbers get the input's
        type.
        device: "rtl" (the Verilated chip), "func" (the same chip in C, without time) or "ref" (the host).
        dump: True, or a folder: the result has every layer's tensors; dump_filter: of these layers (a glob);
        dump_iterations: in loops, of these iterations.
        stats: make statistics, which cycles, layers and profile are read from; iterations: with these iterations.
        max_cycles: give up then. seed: another legal timing. trace: a file for Perfetto. progress: is called with the
        number of layers that are done, that of all, and a name; an exception ends the run.
        lockstep, no_skip: rtl, as for xpu-run.
        """
        wanted = Wanted(dump, dump_filter, dump_iterations, stats, iterations, max_cycles, seed, trace, progress)
        return run(native.xpurt.xpurt_run, self._handle.value, self._device(device, lockstep, no_skip), self.inputs,
                   len(self.outputs), inputs, wanted)

    def session(self, device: str = "rtl", *, lockstep: bool = False, no_skip: bool = False) -> Session:
        """Opens a session, in which the program stays on its device and states stay from run to run."""
        return Session(self, self._device(device, lockstep, no_skip))

    def _device(self, name: str, lockstep: bool, no_skip: bool) -> Device:
        return Device(name, self.chip["name"] if name == "rtl" else "", lockstep, no_skip)

    def __repr__(self) -> str:
        shown = ["%s %s[%s]" % (i.name, i.dtype, ",".join("?" if d is None else str(d) for d in i.shape))
                 for i in self.inputs + self.outputs]
        return "<xpu.Program %s: %s -> %s>" % (self.name, ", ".join(shown[:len(self.inputs)]),
                                              ", ".join(shown[len(self.inputs):]))
