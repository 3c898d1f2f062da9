#!/usr/bin/env bash
# The networks of docs/models.md through the execution provider, in PYTHON's onnxruntime; of several (PYTHON='a/python b/python')
# one after the other, with one and the same library. Arguments: those networks whose names have one of them.
set -uo pipefail
about="networks through the execution provider"
. tests/provider/stock.sh
build_it provider 2>"$folder/missing" || skip "$(cat "$folder/missing")"
sum=$(sha256sum <"$build/lib/libonnxruntime_ep_xpu.so")
for python in ${PYTHON:-python3}; do
    has_onnxruntime "$python" || {
        echo "skipped: $python has $missing"
        continue
    }
    check 0 ' 0 failed' in_tree "$python" tests/provider/check_models.py "${XPU_SHARED:-../shared}/models" "$@"
    echo "$output"
    check 0 "${sum% -}" sha256sum "$build/lib/libonnxruntime_ep_xpu.so"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
