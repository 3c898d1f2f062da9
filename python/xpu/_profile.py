"""The profile of a run: a dictionary, a table, a picture."""

from html import escape
from typing import Any, Dict, List, Optional, Tuple

_COLOURS = {"tensor": "#3b6fb6", "core": "#d98b2b", "dma": "#5a9e5a", "window": "#8a5fb0", "host": "#8a8a8a"}
_ROW, _LEFT, _WIDE, _RIGHT = 18, 240, 420, 250


def _largest(of: Dict[str, int]) -> Tuple[str, int]:
    return max(of.items(), key=lambda item: item[1], default=("", 0))


def _layer(layer: Dict[str, Any], total: int) -> Dict[str, Any]:
    cycles = layer.get("cycles", 0)
    busy = {unit: states.get("busy", 0) for unit, states in layer.get("units", {}).items()}
    unit, most = _largest(busy)
    bound, least = _largest(layer.get("bounds", {}))
    return {"index": layer["index"], "name": layer["name"], "op": layer["op"], "unit": layer["unit"],
            "precision": layer["precision"], "cycles": cycles, "share": cycles / total if total else 0.0,
            "macs": layer["macs"], "bound": bound or None, "bound_cycles": least, "busiest": unit or None,
            "busy_cycles": most, "units": layer.get("units", {})}


class Profile(Dict[str, Any]):
    """cycles, bound_cycles, utilisation, units (cycles of each unit by state) and layers (a list of dictionaries:
    index, name, op, unit, precision, cycles, share, macs, bound and bound_cycles: what needs the most cycles at least,
    busiest and busy_cycles: the unit that works in most of them, units). Only a device that has time fills it."""

    def __init__(self, stats: Dict[str, Any]) -> None:
        total: Optional[int] = stats.get("cycles")
        layers = [_layer(i, total) for i in stats.get("layers", [])] if total else []
        super().__init__(cycles=total, bound_cycles=stats.get("bound_cycles"), utilisation=stats.get("utilisation"),
                         units=stats.get("units", {}), layers=layers, chip=stats.get("chip"),
                         device=stats.get("device"))

    def _rows(self) -> List[Tuple[str, ...]]:
        rows: List[Tuple[str, ...]] = [("#", "layer", "unit", "precision", "cycles", "share", "bound", "busiest")]
        for i in self["layers"]:
            part = 100.0 / i["cycles"] if i["cycles"] else 0.0
            rows.append((str(i["index"]), i["name"], i["unit"], i["precision"], str(i["cycles"]),
                         "%.1f %%" % (100 * i["share"]),
                         "%s %.0f %%" % (i["bound"], part * i["bound_cycles"]) if i["bound"] else "-",
                         "%s %.0f %%" % (i["busiest"], part * i["busy_cycles"]) if i["busiest"] else "-"))
        return rows

    def __str__(self) -> str:
        if self["device"] is None:
            return "there are no statistics: run without stats=False"
        if not self["layers"]:
            return "%s has no time: run on rtl" % self["device"]
        rows, right = self._rows(), (0, 4, 5)
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(text.rjust(width) if i in right else text.ljust(width)
                           for i, (text, width) in enumerate(zip(row, widths))).rstrip() for row in rows]
        return "\n".join(lines + ["%d cycles, utilisation %.1f %%" % (self["cycles"], 100 * self["utilisation"])])

    def _repr_svg_(self) -> Optional[str]:
        layers = self["layers"]
        if not layers:
            return None
        longest = max(i["cycles"] for i in layers) or 1
        height = (len(layers) + 3) * _ROW
        parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
                 'font-family="sans-serif" font-size="11">' % (_LEFT + _WIDE + _RIGHT, height, _LEFT + _WIDE + _RIGHT,
                                                              height),
                 '<text x="8" y="14" font-size="13">%s cycles on chip %s, utilisation %.1f %%</text>' %
                 (format(self["cycles"], ","), escape(str(self["chip"])), 100 * self["utilisation"])]
        for row, i in enumerate(layers):
            parts.append(self._bar(i, (row + 1) * _ROW + 6, longest))
        x = _LEFT
        for unit, colour in _COLOURS.items():
            parts.append('<rect x="%d" y="%d" width="10" height="10" fill="%s"/><text x="%d" y="%d">%s</text>' %
                         (x, height - _ROW, colour, x + 14, height - _ROW + 9, unit))
            x += 70
        return "\n".join(parts + ["</svg>"])

    @staticmethod
    def _bar(i: Dict[str, Any], y: int, longest: int) -> str:
        width = _WIDE * i["cycles"] / longest
        least = _WIDE * min(i["bound_cycles"], i["cycles"]) / longest
        name = i["name"] if len(i["name"]) <= 38 else "..." + i["name"][-35:]
        colour = _COLOURS.get(i["unit"], "#8a8a8a")
        note = "%s (%.1f %%)%s" % (format(i["cycles"], ","), 100 * i["share"],
                                   ", %s works in %.0f %%" % (i["busiest"], 100 * i["busy_cycles"] / i["cycles"])
                                   if i["busiest"] and i["cycles"] else "")
        return ('<text x="%d" y="%d" text-anchor="end">%s</text>'
                '<rect x="%d" y="%d" width="%.1f" height="12" fill="%s" fill-opacity="0.45">'
                '<title>%s: at least %d of %d cycles are needed</title></rect>'
                '<rect x="%d" y="%d" width="%.1f" height="12" fill="%s"/><text x="%.1f" y="%d">%s</text>' %
                (_LEFT - 6, y + 10, escape(name), _LEFT, y, width, colour, escape(i["name"], True), i["bound_cycles"],
                 i["cycles"], _LEFT, y, least, colour, _LEFT + width + 5, y + 10, escape(note)))
