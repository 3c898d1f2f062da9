"""What differs between two runs: xpu-dump says it."""

import json
import os
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _native as native
from ._errors import error_of_text
from ._results import Dump, Result
from ._tensor import npy_bytes

_DIFFER = 4


class Diff(Dict[str, Any]):
    """What `xpu-dump diff --json` says (docs/commands.md#xpu-dump); true where something differs."""

    @property
    def tensors(self) -> List[Dict[str, Any]]:
        """The tensors that differ, in order of execution."""
        tensors: List[Dict[str, Any]] = self["tensors"]
        return tensors

    def __bool__(self) -> bool:
        return bool(self["differing"] or self["only_a"] or self["only_b"])

    def __str__(self) -> str:
        text = "%d of %d tensors differ" % (self["differing"], self["compared"])
        for t in self.tensors[:1]:
            text += "; first '%s'" % t["tensor"]
            if "differing" in t:
                text += ": %d of %d elements, by up to %s" % (t["differing"], t["elements"], t["max_difference"])
        only = ["%d only in %s" % (self[key], side) for key, side in (("only_a", "a"), ("only_b", "b")) if self[key]]
        return "; ".join([text] + only)

    def __repr__(self) -> str:
        return "<xpu.Diff: %s>" % self


def _place(side: Any, path: str) -> str:
    """A folder or .npz file for xpu-dump; tensors in memory are written to `path`."""
    if isinstance(side, Result):
        side = side.dump if side.dump is not None else side.outputs
    if isinstance(side, Dump):
        return side.folder
    if not isinstance(side, Mapping):
        return os.fsdecode(side)
    with zipfile.ZipFile(path, "w") as file:
        for name, value in side.items():
            file.writestr(name + ".npy", npy_bytes(value, name))
    return path


def diff(a: Any, b: Any, *, tolerance: Union[None, float, Tuple[float, float]] = None,
         tensor: Optional[str] = None) -> Diff:
    """Compares two runs, tensor by tensor of the same name.

    a, b: a Result (its dump where it has one, else its outputs), a Dump, a dictionary of arrays, a dump folder or an
    .npz file. Without a tolerance equal means equal bits; with `tolerance=R` or `(R, M)` |a-b| <= R |b| + M max|b|.
    tensor: only names that match this glob.
    """
    command = [os.path.join(native.PREFIX, "bin", "xpu-dump"), "diff", "--json"]
    if tolerance is not None:
        pair = tolerance if isinstance(tolerance, tuple) else (tolerance,)
        command.append("--tolerance=" + ",".join(repr(float(t)) for t in pair))
    if tensor is not None:
        command.append("--tensor=" + tensor)
    with tempfile.TemporaryDirectory(prefix="xpu-diff-") as folder:
        places = [_place(side, os.path.join(folder, name)) for side, name in ((a, "a.npz"), (b, "b.npz"))]
        done = subprocess.run(command + places, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    if done.returncode not in (0, _DIFFER):
        raise error_of_text(done.returncode, done.stderr)
    return Diff(json.loads(done.stdout))
