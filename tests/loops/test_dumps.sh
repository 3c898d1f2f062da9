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

# Single iterations in the table and in the statistics; which options say of which
profile() { "$XPU_BIN/xpu-run" -q "$xpu" --input="$input" "$@"; }
check 0 '     .i0003.i0001  ' profile --profile --iteration=3,0..1
check 0 '3' grep -c '^ *\.i000[0-9]\.i000[0-9] ' <(profile --profile --iteration=3,0)
check 0 'no layer ran in iteration 4 of a loop' profile --profile --iteration=4
check 2 "error [usage] option '--iteration': this is no range of iterations" profile --profile --iteration=3,
check 0 '' profile -d func --stats="$folder/rows.json" --iteration=2,1
check 0 '"iterations": [' cat "$folder/rows.json"
check 1 '' grep '"iterations"' "$folder/func.json"
check 2 'no layer is named' profile -d func --iteration=2,1
check 2 "this is of one run" profile --stats=s --iteration=2,1 --frames=x=1:1
check 0 '"name":"p_add3.i0003.i0000"' bash -c "$XPU_BIN/xpu-run -q $xpu --input=$input --trace=- 2>&1"
check 0 '"name":"g_loop1_0/next.i0003"' bash -c "$XPU_BIN/xpu-run -q $xpu --input=$input --trace=- 2>&1"

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
