#!/usr/bin/env bash
# --precision=auto follows values out of branches and bodies, into bodies, and from iteration to iteration: products whose
# results reach an exponent there stay in float32.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
check 0 '' "$XPU_BIN/xpuc" -q tests/loops/if_loop_exact.onnx --explain -o "$folder/exact.xpu"
explained=$output
for product in in_branch in_body before around; do
    check 0 'core: its result reaches the exponent of ' grep " MatMul *$product " <<<"$explained"
done
check 0 'int16     1      tensor: ' grep ' MatMul *without ' <<<"$explained"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
