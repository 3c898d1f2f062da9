"""python -m xpu.demo: compiles a network that reads digits, and runs it on the chip in SystemVerilog."""

import os
import sys
import time
import zipfile
from typing import Any, Dict

import xpu
from xpu._native import PREFIX
from xpu._tensor import npy_of

COUNT, SIDE = 10, 16
SHADES = " .:-=+*#%@"


def read_images(path: str) -> Dict[str, Any]:
    """The arrays of the .npz file, as lists."""
    with zipfile.ZipFile(path) as file:
        return {name[:-4]: npy_of(file.read(name)).tolist() for name in file.namelist()}


def make_program(folder: str) -> xpu.Program:
    """Compiles it; without clang the one that came along is used."""
    model = os.path.join(folder, "digits.onnx")
    begin = time.time()
    try:
        program = xpu.compile(model, shapes={"x": ("1..16", 1, SIDE, SIDE)})
    except xpu.MachineError as error:
        if error.rule != "no-clang":
            raise
        print("%s\n\nHere the program that came along is run.\n" % error.problem)
        return xpu.load(os.path.join(folder, "digits.xpu"))
    print("%s (%.2f s)" % (program.summary, time.time() - begin))
    return program


def show(images: Any, read: Any) -> None:
    """Five images beside each other, what was read below them."""
    for first in range(0, COUNT, 5):
        for row in range(0, SIDE, 2):
            print("  ".join("".join(SHADES[min(int(pixel * 10), 9)] for pixel in images[i][0][row])
                            for i in range(first, first + 5)))
        print("  ".join(("-> %d" % read[i]).center(SIDE) for i in range(first, first + 5)) + "\n")


def main() -> int:
    """Ten digits, and where the cycles went."""
    folder = os.path.join(PREFIX, "demo")
    if not os.path.isdir(folder):  # in the source tree
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "digits")
    arrays = read_images(os.path.join(folder, "digits_heldout.npz"))
    images, labels = arrays["x"][:COUNT], arrays["label"][:COUNT]
    program = make_program(folder)
    begin = time.time()
    result = program.run({"x": images}, device="rtl")
    seconds = time.time() - begin
    rows = result["logits"].tolist()
    read = [max(range(10), key=row.__getitem__) for row in rows]
    show(images, read)
    print(result.profile)
    same = xpu.diff(result, program.run({"x": images}, device="func"))
    right = sum(a == b for a, b in zip(read, labels))
    print("read: %s, %d of %d right; %d cycles of chip %s in %.2f s; functional chip: %s" %
          (" ".join(map(str, read)), right, COUNT, result.cycles or 0, program.chip["name"], seconds,
           "other bits" if same else "the same bits"))
    return 0 if right == COUNT and not same else 1


if __name__ == "__main__":
    sys.exit(main())
