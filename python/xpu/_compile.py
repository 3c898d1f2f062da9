"""Compiling, and looking into models."""

import ctypes
import importlib.util
import json
import os
import tempfile
from ctypes import byref
from dataclasses import replace
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _native as native
from ._errors import Error, Problem
from ._program import Program

Path = Union[str, "os.PathLike[str]"]
Listed = Union[None, Mapping[str, Any], Sequence[str]]


def zig() -> Optional[str]:
    """The program of PyPI's ziglang, which xpu-stack[compiler] installs; or None."""
    spec = importlib.util.find_spec("ziglang")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = os.path.join(folder, "zig")
        if os.path.exists(path):
            return path
    return None


def _listed(given: Listed) -> List[str]:
    """{"x": (1, "N")} as ["x=1,N"]; a list of such texts as it is."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        return [given] if isinstance(given, str) else list(given)
    return ["%s=%s" % (name, ",".join(map(str, value)) if isinstance(value, (list, tuple)) else value)
            for name, value in given.items()]


class _Rules:
    """Rules as a file, which the library reads: those that are given as Python's objects in a temporary one."""

    def __init__(self) -> None:
        self._folder: Optional["tempfile.TemporaryDirectory[str]"] = None

    def file(self, name: str, given: Any) -> Optional[bytes]:
        if given is None or isinstance(given, (str, os.PathLike)):
            return None if given is None else native.encode(given)
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="xpu-rules-")
        path = os.path.join(self._folder.name, name + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(given if isinstance(given, dict) else {"rules": list(given)}, file)
        return native.encode(path)

    def _own(self, text: Optional[str]) -> Optional[str]:
        """The argument's name, where a text has the temporary file's, which nobody finds later."""
        for argument in ("precision_rules", "memory_rules") if self._folder and text else ():
            text = (text or "").replace(os.path.join(self._folder.name if self._folder else "", argument + ".json"), argument)
        return text

    def problems(self, given: Tuple[Problem, ...]) -> Tuple[Problem, ...]:
        return tuple(replace(problem, file=self._own(problem.file)) for problem in given)

    def error(self, given: Error) -> Error:
        return type(given)(self._own(str(given)) or "", self.problems(given.problems), given.status)

    def close(self) -> None:
        if self._folder:
            self._folder.cleanup()


def _text(value: Any) -> Optional[bytes]:
    return None if value is None else native.encode(value)


def _options(given: Dict[str, Any], rules: _Rules) -> native.CompileOptions:
    o = native.CompileOptions(zig=_text(zig()), resources=native.encode(os.path.join(native.PREFIX, "share", "xpu")))
    for name in ("target", "chip", "precision", "plugin", "params", "emit", "explain", "sort", "describe"):
        setattr(o, name, _text(given.get(name)))
    for name in ("shapes", "values", "bounds", "states"):
        setattr(o, name, native.string_list(_listed(given.get(name))))
    o.precision_rules = rules.file("precision_rules", given.get("precision_rules"))
    o.memory_rules = rules.file("memory_rules", given.get("memory_rules"))
    o.check_passes, o.no_fuse, o.strip = (int(given.get(n, False)) for n in ("check_passes", "no_fuse", "strip"))
    o.clang_seconds = native.number("clang_seconds", given.get("clang_seconds", 0), 32)
    return o


def _call(function: Callable[..., int], arguments: Tuple[Any, ...],
          given: Dict[str, Any]) -> Tuple[Dict[str, Any], Tuple[Problem, ...]]:
    """Calls libxpuc; its result as Python's objects, and warnings and notes."""
    rules, result, error = _Rules(), native.CompileResult(), native.Error()
    try:
        options = _options(given, rules)
        with native.Hooks() as hooks:
            options.stop = hooks.stop
            function(*arguments, byref(options), byref(result), byref(error))
        try:
            notes = rules.problems(native.check(error, native.xpuc.xpuc_error_clear))
        except Error as raised:
            raise rules.error(raised) from None
        taken = {name: getattr(result, name).decode("utf-8", "replace") if getattr(result, name) else None
                 for name in ("dump", "explanation", "log", "summary")}
        taken["bytes"] = ctypes.string_at(result.bytes, result.size) if result.bytes else None
        return taken, notes
    finally:
        native.xpuc.xpuc_error_clear(byref(error))
        native.xpuc.xpuc_result_clear(byref(result))
        rules.close()


def _compile(model: Any, name: Optional[str], given: Dict[str, Any]) -> Tuple[Dict[str, Any], Tuple[Problem, ...], str]:
    if hasattr(model, "SerializeToString"):  # an onnx.ModelProto
        model = model.SerializeToString()
    if isinstance(model, (bytes, bytearray, memoryview)):
        content, name = bytes(model), name or "model.onnx"
        taken, notes = _call(native.xpuc.xpuc_compile_memory, (content, len(content), native.encode(name)), given)
        return taken, notes, name
    taken, notes = _call(native.xpuc.xpuc_compile_file, (native.encode(os.fspath(model)),), given)
    return taken, notes, os.path.basename(os.path.abspath(os.fsdecode(model)))


def compile(model: Any, *, precision: str = "auto", chip: Path = "standard", shapes: Listed = None,
            values: Listed = None, bounds: Listed = None, states: Listed = None, precision_rules: Any = None,
            memory_rules: Any = None, params: Optional[Path] = None, target: Optional[str] = None,
            plugin: Optional[Path] = None, no_fuse: bool = False, strip: bool = False, check_passes: bool = False,
            explain: bool = False, clang_seconds: int = 0, name: Optional[str] = None) -> Program:
    """Compiles a network for a chip.

    model: a file or folder (ONNX, PaddlePaddle), the bytes of an ONNX file, or an onnx.ModelProto. Of what is in
    memory `name` stands for the file in messages, and files of weights are looked for in its folder.
    precision: "auto", "fp32", "int16" or "int16x8". chip: a name, or a .json file.
    shapes: {"x": (1, 3, "H=32..224:32", "W")}; values: {"sr": 16000}; bounds: {"boxes": 100};
    states: {"output": "input"}: docs/commands.md says what may stand there. Lists of "x=1,3,H,W" are taken, too.
    precision_rules, memory_rules: a file, or its content as dictionary or list of rules.
    explain: the program's `explanation` says where each node runs and why.

    clang 19 and lld are needed: those of PATH, or what `pip install 'xpu-stack[compiler]'` installs.
    """
    given = dict(precision=precision, chip=chip, shapes=shapes, values=values, bounds=bounds, states=states,
                 precision_rules=precision_rules, memory_rules=memory_rules, params=params, target=target,
                 plugin=plugin, no_fuse=no_fuse, strip=strip, check_passes=check_passes, clang_seconds=clang_seconds,
                 explain="json" if explain else None)
    taken, notes, shown = _compile(model, name, given)
    explanation = json.loads(taken["explanation"]) if taken["explanation"] else None
    return Program(taken["bytes"], os.path.splitext(shown)[0] + ".xpu",
                   made={"notes": notes, "summary": taken["summary"], "log": taken["log"], "explanation": explanation})


def _check_options(function: str, given: Dict[str, Any], *more: str) -> None:
    known = set(compile.__kwdefaults__ or ()) - {"explain", "name"} | set(more)
    for name in given:
        if name not in known:
            raise TypeError("%s() got an unexpected keyword argument '%s': its options are %s" %
                            (function, name, ", ".join(sorted(known))))


def explain(model: Any, *, name: Optional[str] = None, **options: Any) -> Any:
    """Where each node of a model runs and why; no C is compiled, no clang needed. Options as for `compile`."""
    _check_options("explain", options, "sort")
    taken, _, _ = _compile(model, name, dict(options, explain="json", emit="ir"))
    return json.loads(taken["explanation"])


def describe(path: Path, **options: Any) -> Dict[str, Any]:
    """What is in a model's or a program's file: format, inputs, outputs, operators, sizes. Options as for `compile`."""
    _check_options("describe", options)
    if os.path.isfile(path):
        with open(path, "rb") as file:
            if file.read(4) == b"\x7fELF":
                return load(path).describe()
    taken, _ = _call(native.xpuc.xpuc_describe, (native.encode(path),), dict(options, describe="json"))
    facts: Dict[str, Any] = json.loads(taken["dump"])
    return facts


def load(program: Union[Path, bytes], name: Optional[str] = None) -> Program:
    """Opens a compiled program: an .xpu file, or its bytes."""
    if isinstance(program, (bytes, bytearray, memoryview)):
        return Program(bytes(program), name or "program.xpu")
    path = os.fspath(program)
    return Program(None, name or os.path.basename(path), path)
