#!/usr/bin/env bash
# --precision=auto knows norms and softmaxes, as operators and as exporters write them out (tests/gen/record_precision.py):
# products in front of them and behind run in int16, and give what onnxruntime does. Products in front of what looks like
# them (named exact_...) stay in float32, and --explain says which operator asks for it.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
check 0 '' "$XPU_BIN/xpuc" -q tests/precision/norms.onnx --explain -o "$folder/norms.xpu"
explained=$(grep ' MatMul ' <<<"$output")
check 1 '' grep -v -e ' exact_' -e ' int16 .*tensor: ' <<<"$explained"
check 0 '16' grep -c -v -e ' exact_' -e '_out ' <<<"$explained"
for form in 'root_alone root' 'length_of_another root' 'difference root' 'exponent_alone exponent' 'exponent_kept exponent' 'inverse divisor' 'logarithm logarithm'; do
    read -r name what <<<"$form"
    check 0 "fp32      1      core: its result reaches the $what of 'norms_" grep " exact_$name " <<<"${explained//square root/root}"
done
check 0 '' "$XPU_BIN/xpuc" -q tests/precision/norms.onnx --explain -o "$folder/norms.xpu"
kept=$(sed -n '/^--precision=auto keeps 7 of [0-9]* convolutions and products in fp32:$/,$p' <<<"$output")
check 0 "  - 1: its result reaches the square root of 'norms_" grep "(exact_root_alone)" <<<"$kept"
check 0 7 grep -c '^  - 1: its result reaches the ' <<<"$kept"
check 0 '"kept_in_fp32": [' "$XPU_BIN/xpuc" -q tests/precision/norms.onnx --explain=json -o "$folder/norms.xpu"
for device in ref func rtl; do
    check 0 '' "$XPU_BIN/xpu-run" -q "$folder/norms.xpu" -d "$device" -i tests/precision/norms_in.npz -o "$folder/$device.npz"
    check 0 '0 of 21 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/$device.npz" tests/precision/norms_out.npz --all --tolerance=0,2e-4
    check 0 '0 of 21 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/$device.npz" "$folder/ref.npz" --all --tolerance=0,0
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
