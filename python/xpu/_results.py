"""What a run gives."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional

from ._profile import Profile
from ._tensor import Array, read_npy


@dataclass(frozen=True)
class Layer:
    """What a run took for one layer."""

    index: int
    name: str
    op: str
    unit: str  #: "tensor", "core", "dma", "window" or "host"
    precision: str  #: "fp32", "int16", "int16x8", ...
    cycles: Optional[int]  #: None on a device that has no time
    instructions: Optional[int]  #: of all cores; None on ref
    macs: int  #: multiply-accumulates
    nodes: List[str]  #: of the model, that it was made from
    facts: Dict[str, Any] = field(repr=False)  #: all that the statistics say of it (docs/commands.md#statistics)


class Dump(Mapping):  # type: ignore[type-arg]
    """The tensors of a run by name, in order of execution; each is read when it is asked for."""

    def __init__(self, folder: str, temporary: Any = None) -> None:
        self.folder = folder  #: the dump directory (docs/commands.md#a-dump-directory)
        self._temporary = temporary  # goes with the last user of this object
        with open(os.path.join(folder, "index.json"), encoding="utf-8") as file:
            self.index: Dict[str, Any] = json.load(file)  #: what its index.json says
        self._files = {item["tensor"]: item["file"] for item in self.index["layers"]}

    def __getitem__(self, name: str) -> Array:
        return read_npy(os.path.join(self.folder, self._files[name]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __repr__(self) -> str:
        return "<xpu.Dump of %d tensors in %s>" % (len(self), self.folder)


class Result:
    """Outputs and statistics of a run."""

    def __init__(self, outputs: Dict[str, Array], device: str, stats: Optional[bytes], dump: Optional[Dump]) -> None:
        self.outputs = outputs  #: by name, in the model's order
        self.device = device
        self.dump = dump  #: the layers' tensors, where the run was asked for them
        self._stats_text = stats
        self._stats: Optional[Dict[str, Any]] = None

    def __getitem__(self, name: str) -> Array:
        return self.outputs[name]

    @property
    def output(self) -> Array:
        """The first output, most often the only one."""
        return next(iter(self.outputs.values()))

    @property
    def stats(self) -> Dict[str, Any]:
        """All statistics, as docs/commands.md#statistics lists them; empty where the run was told not to make them."""
        if self._stats is None:
            self._stats = json.loads(self._stats_text) if self._stats_text else {}
        return self._stats

    @property
    def cycles(self) -> Optional[int]:
        """Cycles of the chip; None on a device that has no time."""
        return self.stats.get("cycles")

    @property
    def instructions(self) -> Optional[int]:
        """Instructions of all cores; None on ref."""
        return self.stats.get("instructions")

    @property
    def layers(self) -> List[Layer]:
        """Layer by layer, in order of execution."""
        return [Layer(i["index"], i["name"], i["op"], i["unit"], i["precision"], i.get("cycles"),
                      i.get("instructions"), i["macs"], i["nodes"], i) for i in self.stats.get("layers", [])]

    @property
    def profile(self) -> Profile:
        """Where the cycles went: a dictionary that prints as a table and is a picture in a notebook."""
        return Profile(self.stats)

    def __repr__(self) -> str:
        cycles = ", %d cycles" % self.cycles if self.cycles is not None else ""
        return "<xpu.Result on %s%s: %s>" % (self.device, cycles, ", ".join(
            "%s %s%s" % (name, array.dtype, list(array.shape)) for name, array in self.outputs.items()))
