#!/usr/bin/env python3
"""Programs of tests/paddle/operators and tests/paddle/control: they are text that repeats itself, and stand in
tests/paddle/programs.tar.xz.
    paddle_programs.py unpack FOLDER   FOLDER/operators and FOLDER/control: the programs, with what is recorded of them beside
                                       (FOLDER may be tests/paddle: to record them again)
    paddle_programs.py pack            programs that stand in the two folders go into the archive, in place of those of their
                                       names; those named in `without NAME...` leave it"""
import glob
import io
import lzma
import os
import shutil
import sys
import tarfile

HERE = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "paddle"))
ARCHIVE = os.path.join(HERE, "programs.tar.xz")
FOLDERS = ("operators", "control")


def members():
    if not os.path.exists(ARCHIVE):
        return {}
    with tarfile.open(ARCHIVE) as archive:
        return {m.name: archive.extractfile(m).read() for m in archive}


def unpack(folder):
    for name in FOLDERS:
        if not os.path.exists(f"{folder}/{name}"):
            shutil.copytree(f"{HERE}/{name}", f"{folder}/{name}")
    for name, data in members().items():
        with open(f"{folder}/{name}", "wb") as file:
            file.write(data)


def pack(without):
    """Sorted by what they are, so that files of one kind stand together: the archive is smaller."""
    files = {name: data for name, data in members().items() if os.path.basename(name) not in without}
    found = [path for name in FOLDERS for ending in ("json", "pdmodel") for path in glob.glob(f"{HERE}/{name}/*.{ending}")]
    for path in found:
        with open(path, "rb") as file:
            files[os.path.relpath(path, HERE)] = file.read()
    with tarfile.open(ARCHIVE, "w:xz", preset=9 | lzma.PRESET_EXTREME) as archive:
        for name in sorted(files, key=lambda name: (name.rpartition(".")[2], name)):
            member = tarfile.TarInfo(name)
            member.size = len(files[name])
            archive.addfile(member, io.BytesIO(files[name]))
    for path in found:
        os.remove(path)


if sys.argv[1:2] == ["unpack"] and len(sys.argv) == 3:
    unpack(sys.argv[2])
elif sys.argv[1:2] == ["pack"] and sys.argv[2:3] in ([], ["without"]):
    pack(sys.argv[3:])
else:
    sys.exit(__doc__)
