#!/usr/bin/env bash
# The networks of docs/models.md through the execution provider, in PYTHON's onnxruntime; of several (PYTHON='a/python b/python')
# one after the other, with one and the same library. Arguments: those networks whose names have one of them.
set -uo pipefail
: "${XPU_BUILD:?the build folder}"
build=$(cd "$XPU_BUILD" && pwd)
. tests/checks.sh
unset XPU_RESOURCES XPU_ZIG MAKEFLAGS MAKELEVEL
skip() { echo "skipped: networks through the execution provider, as $1"; exit 0; }
make -s --no-print-directory DEPS=no BUILD="$build" provider 2>"$folder/missing" || skip "$(cat "$folder/missing")"
sum=$(sha256sum <"$build/lib/libonnxruntime_ep_xpu.so")
for python in ${PYTHON:-python3}; do
    "$python" -c '
import onnx, onnxruntime, sys
sys.exit(tuple(map(int, onnxruntime.__version__.split(".")[:2])) < (1, 23))' 2>/dev/null || {
        echo "skipped: $python has not onnx and an onnxruntime from 1.23 on"
        continue
    }
    check 0 ' 0 failed' env XPU_PREFIX="$build" XPU_BUILD="$build" PYTHONPATH="$PWD/python:$PWD/tests/provider" PYTHONDONTWRITEBYTECODE=1 \
        "$python" tests/provider/check_models.py "${XPU_SHARED:-../shared}/models" "$@"
    echo "$output"
    check 0 "${sum% -}" sha256sum "$build/lib/libonnxruntime_ep_xpu.so"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
