"""The command line tools of the package."""

import os
import sys

from ._compile import zig
from ._native import PREFIX

TOOLS = ("xpuc", "xpu-run", "xpu-convert", "xpu-dump", "xpu-memplan", "xpu-regress", "xpu-validate")


def main() -> None:
    """Becomes the tool that it is called as."""
    name = os.path.basename(sys.argv[0])
    path = zig()
    if path:
        os.environ.setdefault("XPU_ZIG", path)
    program = os.path.join(PREFIX, "bin", name)
    os.execv(program, [program] + sys.argv[1:])
