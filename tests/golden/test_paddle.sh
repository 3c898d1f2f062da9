#!/usr/bin/env bash
# PaddlePaddle's programs compiled and run: x W + b and relu in both forms and as old files; PP-OCRv4's detector and
# recogniser (of ../shared, where they are) against PaddlePaddle 2.6.2's outputs (tests/gen/record_paddle.py), wholly on
# the device.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
golden=tests/paddle

run_model() { # run_model MODEL INPUT EXPECTED TOLERANCE XPUC-OPTION...
    local program=$folder/model.xpu
    check 0 '' "$XPU_BIN/xpuc" -q "$1" "${@:5}" -o "$program"
    check 1 '' grep -q 'host:' <<<"$("$XPU_BIN/xpuc" --describe "$program")"
    for device in ref func; do
        check 0 '' "$XPU_BIN/xpu-run" -q "$program" -i "$2" --device=$device -o "$folder/$device.npz"
    done
    check 0 '' cmp "$folder/ref.npz" "$folder/func.npz"
    check 0 '0 of 1' "$XPU_BIN/xpu-dump" diff "$folder/ref.npz" "$3" --all --tolerance="$4"
}

for model in linear.pdmodel linear.json old old/__model__; do
    run_model $golden/$model $golden/linear_in.npz $golden/linear_out.npz 1e-6,1e-6 --shape x=1..8,4 --precision=fp32
done
cp $golden/linear.json "$folder/inference.json"
run_model "$folder/inference.json" $golden/linear_in.npz $golden/linear_out.npz 1e-6,1e-6 --params=$golden/linear.pdiparams --precision=fp32
run_model $golden/linear.pdmodel $golden/linear_in.npz $golden/linear_out.npz 1e-3,1e-3
run_model $golden/again.pdmodel $golden/linear_in.npz $golden/again_out.npz 0,0

models=${XPU_SHARED:-../shared}/models/paddle
# The detector's last sigmoid is steep: 1e-7 before it are 2e-5 behind it.
for limit in det:0,5e-5 rec:0,2e-5; do
    name=${limit%:*}
    if [ ! -d "$models/ch_PP-OCRv4_$name" ]; then
        echo "skipped: $models/ch_PP-OCRv4_$name is not there"
        continue
    fi
    run_model "$models/ch_PP-OCRv4_$name" $golden/ocr_${name}_in.npz $golden/ocr_${name}_out.npz "${limit#*:}" --precision=fp32
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
