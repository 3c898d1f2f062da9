#!/usr/bin/env bash
# xpu.torch in PYTHON's PyTorch (python3): results, units, fallback, errors; and the example.
set -uo pipefail
: "${XPU_BUILD:?the build folder}"
build=$(cd "$XPU_BUILD" && pwd) python=${PYTHON:-python3}
. tests/checks.sh
unset XPU_RESOURCES XPU_ZIG
"$python" -c 'import torch, onnx, onnxscript, numpy' 2>/dev/null || {
    echo "skipped: all tests of xpu.torch, as $python has no PyTorch with its exporter (torch, onnx, onnxscript)"
    exit 0
}
in_tree() { env XPU_PREFIX="$build" PYTHONPATH="$PWD/python" PYTHONDONTWRITEBYTECODE=1 "$python" "$@"; }
check 0 'all as PyTorch' in_tree tests/python/check_torch.py
check 0 'layers with products, on: core' in_tree examples/stock/torch_compile.py
echo "torch: $passed passed, $failed failed"
[ "$failed" = 0 ]
