"""The C libraries. Structures are those of xpuc.h, xpurt.h and xpurt_rtl.h (tests/python compares them)."""

import ctypes
import os
import signal
import threading
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint32, c_uint64, c_void_p
from typing import Any, Callable, List, Optional, Tuple

from ._errors import Problem, error_of, problems_of

MAX_RANK = 8
NO_LIMIT = 2**64 - 1

#: Where bin, lib and share/xpu are: in the package or, for an installation of one's own, what XPU_PREFIX names.
PREFIX = os.environ.get("XPU_PREFIX") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "native")
LIB = os.path.join(PREFIX, "lib")

STOP = ctypes.CFUNCTYPE(c_int, c_void_p)
PROGRESS = ctypes.CFUNCTYPE(None, c_void_p, c_uint32, c_uint32, c_char_p)
strings = POINTER(c_char_p)


class Error(ctypes.Structure):
    """xpuc_error and xpurt_error."""

    _fields_ = [("status", c_int), ("text", c_void_p), ("json", c_void_p)]


class CompileOptions(ctypes.Structure):
    """xpuc_options"""

    _fields_ = [
        *((name, c_char_p) for name in (
            "target", "chip", "precision", "precision_rules", "memory_rules", "emit", "dump_after", "plugin", "report",
            "explain", "sort", "params", "describe", "resources", "zig")),
        *((name, strings) for name in ("values", "bounds", "shapes", "states")),
        *((name, c_int) for name in ("check_passes", "no_fuse", "strip", "opset", "external_data", "group_messages")),
        ("clang_seconds", c_uint), ("stop", STOP), ("stop_context", c_void_p), ("is_part", c_int)]


class CompileResult(ctypes.Structure):
    """xpuc_result"""

    _fields_ = [("bytes", c_void_p), ("size", c_size_t), ("dump", c_char_p), ("explanation", c_char_p),
                ("log", c_char_p), ("summary", c_char_p)]


class RawTensor(ctypes.Structure):
    """xpurt_tensor"""

    _fields_ = [("name", c_char_p), ("dtype", c_char_p), ("rank", c_int), ("dims", c_int64 * MAX_RANK),
                ("data", c_void_p)]


class RunOptions(ctypes.Structure):
    """xpurt_run_options"""

    _fields_ = [("device", c_void_p), ("dump_folder", c_char_p), ("dump_filter", c_char_p),
                ("dump_iterations", c_char_p), ("dump_bytes", c_uint64), ("layer", c_char_p), ("from_dump", c_char_p),
                ("layer_iteration", c_char_p), ("stats_file", c_char_p), ("stats_iterations", c_char_p),
                ("stats", POINTER(c_void_p)), ("layer_ran", POINTER(c_int)), ("layer_differs", POINTER(c_uint64)),
                ("chip_json", c_char_p), ("memory_json", c_char_p), ("max_instructions", c_uint64),
                ("seed", c_uint32), ("trace_file", c_char_p), ("keep", strings),
                ("progress", PROGRESS), ("tick", c_void_p), ("context", c_void_p), ("layer_result", c_void_p),
                ("layer_context", c_void_p), ("layer_tolerance", POINTER(c_double)), ("stop", STOP),
                ("leave_states", c_int)]


class RtlOptions(ctypes.Structure):
    """xpurt_rtl_options"""

    _fields_ = [("lockstep", c_int), ("no_skip", c_int), ("seed", c_uint32), ("max_cycles", c_uint64),
                ("wave_file", c_char_p), ("wave_layer", c_uint32), ("trace", c_void_p), ("context", c_void_p)]


STRUCTURES = {"xpuc_error": Error, "xpurt_error": Error, "xpuc_options": CompileOptions, "xpuc_result": CompileResult,
              "xpurt_tensor": RawTensor, "xpurt_run_options": RunOptions, "xpurt_rtl_options": RtlOptions}


def _open(name: str) -> ctypes.CDLL:
    path = os.path.join(LIB, "lib%s.so.0" % name)
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError("%s cannot be loaded: %s. Install the wheel (docs/python.md), or let XPU_PREFIX name an "
                          "installation or build folder" % (path, error)) from None


def _declare(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(library, name)
    function.restype = result
    function.argtypes = arguments
    return function


xpuc = _open("xpuc")
xpurt = _open("xpurt")
xpufunc = _open("xpufunc")
_declare(xpuc, "xpuc_compile_file", c_int, c_char_p, POINTER(CompileOptions), POINTER(CompileResult), POINTER(Error))
_declare(xpuc, "xpuc_compile_memory", c_int, c_char_p, c_size_t, c_char_p, POINTER(CompileOptions),
         POINTER(CompileResult), POINTER(Error))
_declare(xpuc, "xpuc_describe", c_int, c_char_p, POINTER(CompileOptions), POINTER(CompileResult), POINTER(Error))
_declare(xpuc, "xpuc_result_clear", None, POINTER(CompileResult))
_declare(xpuc, "xpuc_error_clear", None, POINTER(Error))
_declare(xpuc, "xpuc_version", c_char_p)
_declare(xpuc, "xpuc_words", c_void_p, c_char_p, c_char_p)
_declare(xpurt, "xpurt_open", c_void_p, c_char_p, POINTER(Error))
_declare(xpurt, "xpurt_open_memory", c_void_p, c_char_p, c_size_t, c_char_p, POINTER(Error))
_declare(xpurt, "xpurt_close", None, c_void_p)
for _side in ("input", "output"):
    _declare(xpurt, "xpurt_%s_count" % _side, c_uint32, c_void_p)
    _declare(xpurt, "xpurt_%s" % _side, c_int, c_void_p, c_uint32, POINTER(RawTensor))
_declare(xpurt, "xpurt_state_of_input", c_int64, c_void_p, c_uint32)
_declare(xpurt, "xpurt_chip_json", c_char_p, c_void_p)
_declare(xpurt, "xpurt_describe", c_char_p, c_void_p, POINTER(Error))
_declare(xpurt, "xpurt_layer_count", c_uint32, c_void_p)
_declare(xpurt, "xpurt_layer_name", c_char_p, c_void_p, c_uint32)
_declare(xpurt, "xpurt_run", c_int, c_void_p, POINTER(RawTensor), c_uint32, POINTER(RawTensor), POINTER(RunOptions),
         POINTER(Error))
_declare(xpurt, "xpurt_session_open", c_void_p, c_void_p, POINTER(RunOptions), POINTER(Error))
_declare(xpurt, "xpurt_session_run", c_int, c_void_p, POINTER(RawTensor), c_uint32, POINTER(RawTensor),
         POINTER(RunOptions), POINTER(Error))
_declare(xpurt, "xpurt_session_reset", None, c_void_p)
_declare(xpurt, "xpurt_session_close", None, c_void_p)
_declare(xpurt, "xpurt_tensor_clear", None, POINTER(RawTensor))
_declare(xpurt, "xpurt_error_clear", None, POINTER(Error))
_declare(xpurt, "xpurt_rtl_load", c_void_p, c_char_p, c_char_p, POINTER(RtlOptions), POINTER(Error))
_declare(xpufunc, "xpurt_func_driver", c_void_p)
free = _declare(ctypes.CDLL(None), "free", None, c_void_p)

version: str = xpuc.xpuc_version().decode()


def encode(text: Any) -> bytes:
    """A path or a text as the libraries take it."""
    encoded = os.fsencode(text) if isinstance(text, (str, bytes, os.PathLike)) else os.fsencode(str(text))
    if b"\0" in encoded:
        raise ValueError("there is a null character in %r" % (text,))
    return encoded


def number(name: str, value: int, bits: int) -> int:
    """A number that fits an unsigned one of the libraries."""
    if not 0 <= value < 2**bits:
        raise ValueError("%s is %d: it has to be from 0 to %d" % (name, value, 2**bits - 1))
    return value


def decode(text: Optional[bytes]) -> str:
    """A text of the libraries."""
    return os.fsdecode(text or b"")


def own_words(text: str, interface: str = "python") -> str:
    """A message in which options of the tools are named as `interface` calls them."""
    taken = xpuc.xpuc_words(text.encode("utf-8", "surrogateescape"), interface.encode())
    if not taken:
        return text
    own = ctypes.string_at(taken).decode("utf-8", "surrogateescape")
    free(taken)
    return own


def string_list(texts: List[str]) -> Any:
    """A NULL terminated array; None of an empty list."""
    return (c_char_p * (len(texts) + 1))(*[encode(t) for t in texts], None) if texts else None


def _take(error: Error, clear: Any) -> Tuple[int, Optional[bytes], Optional[bytes]]:
    taken = (error.status, ctypes.string_at(error.text) if error.text else None,
             ctypes.string_at(error.json) if error.json else None)
    clear(byref(error))
    return taken


def check(error: Error, clear: Any) -> Tuple[Problem, ...]:
    """Raises what an error object says and clears it; else the warnings and notes in it."""
    if not error.status and not error.text:
        return ()
    status, text, details = _take(error, clear)
    if status:
        raise error_of(status, text, details)
    return problems_of(details)


class Hooks:
    """Ctrl-C and a progress function, for the time of one call of a library.

    In the main thread SIGINT ends the call, and is then handled as usual: an exception of its handler would be lost in
    a C function. An exception of the progress function ends the call, too.
    """

    def __init__(self, progress: Optional[Callable[[int, int, str], Any]] = None) -> None:
        self._progress = progress
        self._interrupted = False
        self._raised: Optional[BaseException] = None
        self._handler: Any = None
        is_main = threading.current_thread() is threading.main_thread()
        handler = signal.getsignal(signal.SIGINT) if is_main else None
        self._catches = callable(handler)
        self.stop = STOP(self._is_over) if self._catches or progress else STOP()
        self.progress = PROGRESS(self._report) if progress else PROGRESS()

    def _is_over(self, _context: Any) -> int:
        return int(self._interrupted or self._raised is not None)

    def _report(self, _context: Any, done: int, layers: int, layer: bytes) -> None:
        try:
            if self._raised is None and self._progress:
                self._progress(done, layers, decode(layer))
        except BaseException as error:  # it goes on behind the call
            self._raised = error

    def _interrupt(self, _number: int, _frame: Any) -> None:
        self._interrupted = True

    def __enter__(self) -> "Hooks":
        if self._catches:
            self._handler = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if self._catches:
            signal.signal(signal.SIGINT, self._handler)
        if self._raised is not None:
            raise self._raised
        if self._interrupted:
            self._handler(signal.SIGINT, None)
