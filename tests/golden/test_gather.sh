#!/usr/bin/env bash
# Indices of a gather that lie outside their dim end the run with the layer's name: no element from elsewhere.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
golden=tests/golden/gather
check 0 '' "$XPU_BIN/xpuc" -q $golden/gather.onnx --chip=nano -o "$folder/gather.xpu"
for device in ref func rtl; do
    check 0 '' "$XPU_BIN/xpu-run" -q "$folder/gather.xpu" -i $golden/inside.npz -d $device -o "$folder/out.npz"
    check 0 '0 of 1 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/out.npz" $golden/inside_out.npz
    for name in above below far; do
        if [ $device = ref ]; then
            check 2 "[ref-index] node 'pick' (Gather-13, #0): an index is outside its dim" \
                "$XPU_BIN/xpu-run" -q "$folder/gather.xpu" -i $golden/$name.npz -d $device -o "$folder/out.npz"
        else
            check 5 "[device-fault] layer 'pick' (#0): software abort" \
                "$XPU_BIN/xpu-run" -q "$folder/gather.xpu" -i $golden/$name.npz -d $device -o "$folder/out.npz"
        fi
    done
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
