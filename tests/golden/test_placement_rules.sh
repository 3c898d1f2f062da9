#!/usr/bin/env bash
# Rules about offsets and banks in xpuc --memory: buffers lie where they say, outputs are the same bits on func and rtl.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
printf '{"rules": [
 {"match": "ReLU32_Output_0", "level": "L3", "offset": 1048576, "strength": "must"},
 {"match": "ReLU32/tiles", "level": "SM", "bank": 5, "strength": "must"},
 {"match": "ReLU114/tiles", "level": "SM", "offset": 1024, "strength": "never"},
 {"match": "Pooling66_Output_0", "level": "L3", "offset": 1048576, "strength": "prefer"}]}' >"$folder/rules.json"
"$XPU_BIN/xpuc" -q tests/models/mnist-8.onnx -o "$folder/own.xpu" &&
    check 0 '' "$XPU_BIN/xpuc" -q tests/models/mnist-8.onnx --memory="$folder/rules.json" -o "$folder/m.xpu"
offset() { "$XPU_BIN/xpu-memplan" explain "$folder/m.xpu" "$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["offset"])'; }
check 0 '' [ "$(offset ReLU32_Output_0)" = 1048576 ]
check 0 '' [ "$(offset Pooling66_Output_0)" != 1048576 ] # both live at layer 2
line=$(($(offset ReLU32/tiles) / 64))
check 0 '' [ $(((line ^ line / 8 ^ line / 64) % 8)) = 5 ]
check 0 '' [ "$(offset ReLU114/tiles)" != 1024 ]
"$XPU_BIN/xpu-run" -q "$folder/own.xpu" -i tests/models/9.npy -d ref -o "$folder/ref.npz"
for device in func rtl; do
    "$XPU_BIN/xpu-run" -q "$folder/m.xpu" -i tests/models/9.npy -d $device -o "$folder/$device.npz"
    check 0 '' cmp "$folder/ref.npz" "$folder/$device.npz"
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
