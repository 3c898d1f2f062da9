#!/usr/bin/env bash
# mobilenet_v2_fp32.onnx at 224 x 224 and int16 on the Verilated chip standard: the dump of every layer equals func's.
set -uo pipefail
cd "$(dirname "$0")/../.."
models=${XPU_SHARED:-../shared}/models
model=$models/onnx/mobilenet_v2_fp32.onnx
[ -e "$model" ] || { echo "skipped: $model is not there"; exit 0; }
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
"$XPU_BIN/xpuc" -q "$model" --chip=standard --precision=int16 -o "$folder/net.xpu" || exit 1
for device in func rtl; do
    "$XPU_BIN/xpu-run" "$folder/net.xpu" --device=$device --image="$models/data/cat.bmp" --mean=0.485,0.456,0.406 \
        --std=0.229,0.224,0.225 --dump-layers="$folder/$device" --labels="$models/data/imagenet_labels.txt" || exit 1
done
"$XPU_BIN/xpu-dump" diff "$folder/rtl" "$folder/func"
