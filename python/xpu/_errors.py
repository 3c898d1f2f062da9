"""What goes wrong, as exceptions. The texts are the libraries' own (docs/errors.md)."""

import json
import re
from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple, Type


@dataclass(frozen=True)
class Problem:
    """One message: an error, a warning or a note."""

    severity: str  #: "error", "warning" or "note"
    rule: str  #: what was broken, as docs/errors.md lists it: "onnx-unsupported-op"
    what: str  #: one sentence
    reason: Optional[str] = None  #: why: the rule and the offending value
    hint: Optional[str] = None  #: what to do
    file: Optional[str] = None
    where: Optional[str] = None  #: "node 'crop' (RoiAlign-16, #2)", "layer 'conv1' (#3)", "option '--chip'"

    @property
    def node(self) -> Optional[str]:
        """The name of the model's node, where the message is about one."""
        found = re.search(r"\bnode '([^']*)'", self.where or "")
        return found.group(1) if found else None

    def __str__(self) -> str:
        text = "%s%s [%s] %s%s" % (self.file + ": " if self.file else "", self.severity, self.rule,
                                   self.where + ": " if self.where else "", self.what)
        return text + ("\n  why: " + self.reason if self.reason else "") + (
            "\n  hint: " + self.hint if self.hint else "")


class Error(Exception):
    """What a library refused or could not do. `problems` has every message, the first error's are at hand."""

    status = 0  #: the exit code that the command line tools have for it

    def __init__(self, text: str, problems: Tuple[Problem, ...] = (), status: Optional[int] = None) -> None:
        super().__init__(text)
        self.problems = problems
        if status is not None:
            self.status = status

    def __reduce__(self) -> Any:
        return type(self), (str(self), self.problems, self.status)

    @property
    def problem(self) -> Optional[Problem]:
        """The first error."""
        return next((p for p in self.problems if p.severity == "error"), None)

    def _of_first(self, name: str) -> Optional[str]:
        return getattr(self.problem, name) if self.problem else None

    @property
    def rule(self) -> Optional[str]:
        """What was broken: "onnx-unsupported-op"."""
        return self._of_first("rule")

    @property
    def node(self) -> Optional[str]:
        """The name of the model's node at fault, where there is one."""
        return self._of_first("node")

    @property
    def where(self) -> Optional[str]:
        """The node, layer, input, option or key at fault."""
        return self._of_first("where")

    @property
    def reason(self) -> Optional[str]:
        """Why it was refused."""
        return self._of_first("reason")

    @property
    def hint(self) -> Optional[str]:
        """What to do."""
        return self._of_first("hint")

    @property
    def file(self) -> Optional[str]:
        """The file at fault."""
        return self._of_first("file")


class ModelError(Error):
    """The model is invalid or not supported."""

    status = 1


class UsageError(Error):
    """A wrong option, input or configuration file."""

    status = 2


class MachineError(Error):
    """A file cannot be read or written, clang is missing, memory ran out."""

    status = 3


class DeviceFault(Error):
    """The device reported a fault."""

    status = 5


class DeviceTimeout(Error):
    """The device made no progress, or a limit passed."""

    status = 6


class LockstepError(Error):
    """Lock-step found a difference between rtl and func: please report it with the program."""

    status = 7


class InternalError(Error):
    """A mistake of this software: please report it with the model."""

    status = 70


class Stopped(Error):
    """A progress function has ended the work by an exception of its own."""

    status = 130


_CLASSES: Dict[int, Type[Error]] = {c.status: c for c in Error.__subclasses__()}


def own_words(text: Any) -> Any:
    """The libraries name options of the tools: here they are arguments (base/words.def)."""
    from . import _native  # which needs the exceptions above

    return _native.own_words(text) if isinstance(text, str) else text


def problems_of(text: Optional[bytes]) -> Tuple[Problem, ...]:
    """What the member json of a library's error object says."""
    items = [{key: own_words(value) for key, value in i.items()} for i in (json.loads(text) if text else [])]
    return tuple(Problem(i["severity"], i["rule"], i["what"], i.get("why"), i.get("hint"), i.get("file"),
                         i.get("where")) for i in items)


def error_of(status: int, text: Optional[bytes], details: Optional[bytes]) -> Error:
    """The exception for a library's error object."""
    message = own_words((text or b"").decode("utf-8", "replace").rstrip("\n"))
    return _CLASSES.get(status, Error)(message, problems_of(details), status)


_MESSAGE = re.compile(r"^(?:(?P<file>[^\n]*?): )?(?P<severity>error|warning|note) \[(?P<rule>[\w-]+)\] (?P<what>[^\n]*)"
                      r"(?:\n  why: (?P<reason>[^\n]*))?(?:\n  hint: (?P<hint>[^\n]*))?", re.M)


def error_of_text(status: int, text: bytes) -> Error:
    """The exception for what a tool has printed."""
    message = text.decode("utf-8", "replace").rstrip("\n")
    found = tuple(Problem(**m.groupdict()) for m in _MESSAGE.finditer(message))
    return _CLASSES.get(status, Error)(message, found, status)
