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
# inference.yml: its ranges are defaults of --shape; what cannot be taken is a warning
run_model $golden/ranges $golden/linear_in.npz $golden/linear_out.npz 1e-6,1e-6 --precision=fp32
check 0 'x_0  1 to 8' "$XPU_BIN/xpuc" --describe "$folder/model.xpu"
check 0 "note [paddle-ranges] input 'x': its shape is 1..8,4" "$XPU_BIN/xpuc" $golden/ranges -o "$folder/model.xpu"
check 0 '' "$XPU_BIN/xpuc" $golden/ranges/inference.json --shape=x=3,4 -q -o "$folder/model.xpu"
check 0 'float32[3,4]' "$XPU_BIN/xpuc" --describe "$folder/model.xpu"
cp -r $golden/ranges "$folder/ranges"
for change in 's/- 8/- 0/:dim 0 is no range of numbers' 's/- - 8/- [8/:it is no valid YAML' \
    's/- - 8/- - 8\n          - 4/:of 2 dims' 's/- - 2/- - }/:line 10'; do
    sed "${change%:*}" $golden/ranges/inference.yml >"$folder/ranges/inference.yml"
    check 0 "${change##*:}" "$XPU_BIN/xpuc" "$folder/ranges" -o "$folder/model.xpu"
    check 0 'warning [paddle-ranges]' "$XPU_BIN/xpuc" "$folder/ranges" -o "$folder/model.xpu"
done
cp $golden/linear.json "$folder/inference.json"
run_model "$folder/inference.json" $golden/linear_in.npz $golden/linear_out.npz 1e-6,1e-6 --params=$golden/linear.pdiparams --precision=fp32
run_model $golden/linear.pdmodel $golden/linear_in.npz $golden/linear_out.npz 1e-3,1e-3
run_model $golden/again.pdmodel $golden/linear_in.npz $golden/again_out.npz 0,0

models=${XPU_SHARED:-../shared}/models/paddle
for name in det rec; do
    if [ ! -d "$models/ch_PP-OCRv4_$name" ]; then
        echo "skipped: $models/ch_PP-OCRv4_$name is not there"
        continue
    fi
    run_model "$models/ch_PP-OCRv4_$name" $golden/ocr_${name}_in.npz $golden/ocr_${name}_out.npz 0,1e-5 --precision=fp32
done
# PP-OCRv5's programs have come without parameters: seeded ones, and what PaddlePaddle 3.3.1 answers with them.
for limit in det:1,3,64,96 rec:1,3,48,32; do
    name=${limit%:*} program=$models/PP-OCRv5_mobile_json_only/${limit%:*}.inference.json
    if [ ! -e "$program" ]; then
        echo "skipped: $program is not there"
        continue
    fi
    check 0 '' python3 tests/gen/paddle_weights.py "$program" "$folder/v5.pdiparams"
    run_model "$program" $golden/v5_${name}_in.npz $golden/v5_${name}_out.npz 0,1e-5 --params="$folder/v5.pdiparams" --shape=x=${limit#*:} --precision=fp32
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
