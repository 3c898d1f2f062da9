"""One run: what the caller gave into what the library takes, and back."""

import ctypes
import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from ctypes import byref
from typing import Any, Callable, List, NamedTuple, Optional, Tuple, Union

from . import _native as native
from ._results import Dump, Result
from ._tensor import is_array, of_raw, to_raw

DEVICES = ("rtl", "func", "ref")


class TensorInfo(NamedTuple):
    """An input or output of a program."""

    name: str
    dtype: str
    shape: Tuple[Optional[int], ...]  #: None where a size is open


class Device:
    """Which device runs, and how: for the options of one thread's calls."""

    def __init__(self, name: str, chip: str, lockstep: bool, no_skip: bool) -> None:
        if name not in DEVICES:
            raise ValueError("there is no device %r: rtl is the Verilated chip, func the same chip in C, ref the "
                             "reference on the host" % (name,))
        if name != "rtl" and (lockstep or no_skip):
            raise ValueError("lockstep and no_skip are for rtl")
        self.name = name
        self._chip = chip
        self._options = native.RtlOptions(lockstep=lockstep, no_skip=no_skip)

    def driver(self, max_cycles: int = 0, seed: int = 0) -> Optional[int]:
        """The driver; on rtl for devices that this thread makes next."""
        if self.name == "ref":
            return None
        if self.name == "func":
            func: Optional[int] = native.xpufunc.xpurt_func_driver()
            return func
        options, error = native.RtlOptions.from_buffer_copy(self._options), native.Error()
        options.max_cycles, options.seed = max_cycles, seed
        driver: Optional[int] = native.xpurt.xpurt_rtl_load(native.encode(self._chip), native.encode(native.LIB),
                                                            byref(options), byref(error))
        native.check(error, native.xpurt.xpurt_error_clear)
        return driver


class Wanted(NamedTuple):
    """The options of one run."""

    dump: Union[bool, str, "os.PathLike[str]"]
    dump_filter: Optional[str]
    dump_iterations: Optional[str]
    stats: bool
    iterations: Optional[str]
    max_cycles: int
    seed: int
    trace: Optional[Union[str, "os.PathLike[str]"]]
    progress: Optional[Callable[[int, int, str], Any]]


def raw_inputs(inputs: Any, infos: List[TensorInfo]) -> Tuple[Any, int, List[Any]]:
    """Inputs by name, by position, or the only one; and what has to be kept during the run."""
    if not isinstance(inputs, Mapping):
        several = isinstance(inputs, tuple) or (isinstance(inputs, list) and bool(inputs) and is_array(inputs[0]))
        names = [info.name for info in infos]
        values = list(inputs) if several else [] if inputs is None else [inputs]
        if len(values) > len(names):
            raise ValueError("%d inputs are given, the program has %d" % (len(values), len(names)))
        inputs = dict(zip(names, values))
    types = {info.name: info.dtype for info in infos}
    made = [to_raw(name, value, types.get(name)) for name, value in inputs.items()]
    raw = (native.RawTensor * max(len(made), 1))(*[m[0] for m in made])
    return raw, len(made), [m[1] for m in made]


def run(call: Callable[..., int], handle: Any, device: Device, infos: List[TensorInfo], output_count: int,
        inputs: Any, wanted: Wanted) -> Result:
    """Runs xpurt_run or xpurt_session_run."""
    native.number("max_cycles", wanted.max_cycles, 64)
    native.number("seed", wanted.seed, 32)
    raw, count, keep = raw_inputs(inputs, infos)
    outputs = (native.RawTensor * max(output_count, 1))()
    has_time = device.name == "rtl"
    options = native.RunOptions(device=device.driver(wanted.max_cycles if has_time else 0, wanted.seed),
                                seed=wanted.seed, dump_filter=_encoded(wanted.dump_filter),
                                dump_iterations=_encoded(wanted.dump_iterations),
                                stats_iterations=_encoded(wanted.iterations), trace_file=_encoded(wanted.trace))
    options.max_instructions = native.NO_LIMIT if has_time and wanted.max_cycles else wanted.max_cycles
    folder, temporary = _dump_folder(wanted)
    options.dump_folder = _encoded(folder)
    stats, error = ctypes.c_void_p(), native.Error()
    if wanted.stats:
        options.stats = ctypes.pointer(stats)
    try:
        with native.Hooks(wanted.progress) as hooks:
            options.stop, options.progress = hooks.stop, hooks.progress
            call(handle, raw, count, outputs, byref(options), byref(error))
        native.check(error, native.xpurt.xpurt_error_clear)
        text = ctypes.string_at(stats.value) if stats.value else None
        results = {native.decode(o.name): of_raw(o) for o in outputs[:output_count]}
    finally:
        native.xpurt.xpurt_error_clear(byref(error))
        native.free(stats)
        for output in outputs[:output_count]:
            native.xpurt.xpurt_tensor_clear(byref(output))
    del keep
    return Result(results, device.name, text, Dump(folder, temporary) if folder else None)


def _encoded(text: Any) -> Optional[bytes]:
    return None if text is None else native.encode(text)


class _Temporary:
    """A folder that goes with this object, or at the end of the process."""

    def __init__(self, folder: str) -> None:
        weakref.finalize(self, shutil.rmtree, folder, True)


def _dump_folder(wanted: Wanted) -> Tuple[Optional[str], Any]:
    if wanted.dump is False:
        if wanted.dump_filter is not None or wanted.dump_iterations is not None:
            raise ValueError("dump_filter and dump_iterations are for dump=True or a folder")
        return None, None
    if wanted.dump is not True:
        return os.fspath(wanted.dump), None
    folder = tempfile.mkdtemp(prefix="xpu-dump-")
    return folder, _Temporary(folder)
