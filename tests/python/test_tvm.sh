#!/usr/bin/env bash
# xpu.tvm in PYTHON's TVM (python3): parts, results, errors; and the example.
set -uo pipefail
: "${XPU_BUILD:?the build folder}"
build=$(cd "$XPU_BUILD" && pwd) python=${PYTHON:-python3}
. tests/checks.sh
unset XPU_RESOURCES XPU_ZIG
"$python" -c 'import tvm.relax, numpy' 2>/dev/null || { echo "skipped: all tests of xpu.tvm, as $python has no TVM (apache-tvm)"; exit 0; }
in_tree() { env XPU_PREFIX="$build" PYTHONPATH="$PWD/python" PYTHONDONTWRITEBYTECODE=1 "$python" "$@"; }
check 0 'all as TVM' in_tree tests/python/check_tvm.py
check 0 'layers on the chip' in_tree examples/stock/tvm_relax.py 32
echo "tvm: $passed passed, $failed failed"
[ "$failed" = 0 ]
