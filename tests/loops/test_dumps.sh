#!/usr/bin/env bash
# Dumps of a loop in a loop: a file for each iteration, the same on ref, func and rtl; executions in the statistics.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
xpu=$folder/loop.xpu
check 0 '' "$XPU_BIN/xpuc" -q tests/loops/loop_in_loop.onnx --chip=nano --precision=fp32 -o "$xpu"
input=$(ls tests/loops/loop_in_loop.*_in.npz | tail -1)
for device in ref func rtl; do
    check 0 '' "$XPU_BIN/xpu-run" "$xpu" --input="$input" --device=$device --dump-layers="$folder/$device" --stats="$folder/$device.json"
done
check 0 ' tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/ref" "$folder/func"
check 0 ' tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/func" "$folder/rtl"
check 0 'p_add3.i0003.i0000' ls "$folder/func"
check 0 '"executions": 4' grep -m 1 '"executions": 4' "$folder/func.json"
check 0 'for (int32_t i' "$XPU_BIN/xpuc" -q tests/loops/loop_in_loop.onnx --chip=nano --precision=fp32 --emit=c -o -

# Layers without elements: what they would have made is empty, and an absmax of nothing is 0.
xpu=$folder/empty.xpu
check 0 '' "$XPU_BIN/xpuc" -q tests/loops/nonzero_product.onnx --chip=nano --precision=int16 -o "$xpu"
for device in ref func rtl; do
    check 0 '' "$XPU_BIN/xpu-run" -q "$xpu" --input=tests/loops/nonzero_product.none_in.npz --device=$device --dump-layers="$folder/empty_$device"
done
check 0 '0 of 13 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/empty_ref" "$folder/empty_func"
check 0 '0 of 13 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/empty_func" "$folder/empty_rtl"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
