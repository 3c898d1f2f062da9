#!/usr/bin/env bash
# Ten thousand runs, a hundred sessions and threads through the execution provider, in PYTHON's onnxruntime.
set -uo pipefail
: "${XPU_BUILD:?the build folder}"
build=$(cd "$XPU_BUILD" && pwd) python=${PYTHON:-python3}
. tests/checks.sh
unset XPU_RESOURCES XPU_ZIG MAKEFLAGS MAKELEVEL
skip() { echo "skipped: many runs through the execution provider, as $1"; exit 0; }
make -s --no-print-directory DEPS=no BUILD="$build" provider 2>"$folder/missing" || skip "$(cat "$folder/missing")"
"$python" -c '
import onnx, onnxruntime, sys
sys.exit(tuple(map(int, onnxruntime.__version__.split(".")[:2])) < (1, 23))' 2>/dev/null ||
    skip "$python has not onnx and an onnxruntime from 1.23 on"
exec env XPU_PREFIX="$build" PYTHONPATH="$PWD/python:$PWD/tests/provider" "$python" tests/provider/check_sessions.py
