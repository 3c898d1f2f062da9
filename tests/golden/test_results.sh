#!/usr/bin/env bash
# Layers with more than two results: each is dumped, compared and replayed.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
model=tests/sweep/DynamicQuantizeLinear-11
check 0 '' "$XPU_BIN/xpuc" -q $model.onnx --chip=nano -o "$folder/p.xpu"
for device in ref func; do
    check 0 '' "$XPU_BIN/xpu-run" -q "$folder/p.xpu" -i ${model}_in.npz -d $device --dump-layers="$folder/$device" \
        -o "$folder/out.npz"
    check 0 '0 of 9 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/out.npz" ${model}_out.npz
done
check 0 '0 of 9 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/ref" "$folder/func"
for file in 0001_float32_40.npy 0001_float32_40.1.npy 0001_float32_40.2.npy; do
    check 0 '' test -s "$folder/func/$file"
done
check 0 '0 of 3 layers differ' "$XPU_BIN/xpu-run" "$folder/p.xpu" -d func --layer='*' --from-dump="$folder/ref"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
