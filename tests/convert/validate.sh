#!/usr/bin/env bash
# make validate-paddle: converted models in onnxruntime and in PaddlePaddle 2.6 and 3.3, against PaddlePaddle's recorded
# numbers. PYTHON has onnx and onnxruntime, PADDLE2 and PADDLE3 the two PaddlePaddles (pip install paddlepaddle==2.6.2,
# 3.3.1); those that are not given are left out.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
shared=${XPU_SHARED:-../shared}
unpack_paddle
mkdir "$folder/onnx" "$folder/pdmodel" "$folder/json"
add() { # add NAME MODEL INPUTS OUTPUTS
    local format
    for format in onnx pdmodel json; do
        [[ $format$1 != onnxodd* ]] || continue # boxes that ONNX compares otherwise (docs/paddle-operators.md)
        [ -e "$folder/$format/$1.$format" ] || "$XPU_BIN/xpu-convert" -q "$2" -o "$folder/$format/$1.$format" 2>"$folder/errors" ||
            echo "$format $1: $(grep -m1 why: "$folder/errors")"
    done
    echo "$1 $3 $4 $2" >>"$folder/list"
}
for model in "$folder"/paddle/operators/*.pdmodel tests/paddle/linear.pdmodel; do
    add "$(basename "$model" .pdmodel)" "$model" "${model%.*}_in.npz" "${model%.*}_out.npz"
done
# Branches and loops, and boxes that may be none: several inputs each
for model in "$folder"/paddle/control/*.pdmodel tests/loops/{append,grow,if,loop,scan}_*.onnx tests/convert/models/nms_nothing.onnx; do
    [ "$model" != tests/loops/if_ill_typed.onnx ] || continue
    for inputs in "${model%.*}".*_in.npz; do
        [ ! -e "$inputs" ] || add "$(basename "${model%.*}")" "$model" "$inputs" "${inputs%_in.npz}_out.npz"
    done
done
# Random networks as people have them; operators in forms that PaddlePaddle has none for, or gives otherwise
for model in tests/networks/*.onnx tests/sweep/{AveragePool-22,LpPool-2,MaxPool-12,Tile-13,LSTM-7,GRU-7,RNN-7}.onnx \
    tests/convert/models/{limits,gru_bias_1,gru_bias_2}.onnx; do
    add "$(basename "$model" .onnx)" "$model" "${model%.*}_in.npz" "${model%.*}_out.npz"
done
for net in det rec; do
    model=$shared/models/paddle/ch_PP-OCRv4_$net/inference.pdmodel
    [ -e "$model" ] && add $net "$model" tests/paddle/ocr_${net}_in.npz tests/paddle/ocr_${net}_out.npz
done
mkdir "$folder/vision"
python3 tests/gen/vision.py unpack "$folder/vision" small
for model in "$folder"/vision/*.pdmodel; do
    add "$(basename "$model" .pdmodel)" "$model" "${model%.*}.npy" "${model%.*}.out"
done
status=0
touch "$folder"/{onnx,pdmodel,json,desc}.said
for run in "onnx:${PYTHON:-}" "pdmodel:${PADDLE2:-}" "json:${PADDLE3:-}" "desc:${PADDLE3:-}"; do
    [ -n "${run#*:}" ] || continue
    FLAGS_use_mkldnn=0 "${run#*:}" tests/convert/validate.py "${run%%:*}" "$folder" 2>/dev/null >"$folder/${run%%:*}.said" || status=1
done
# A line for each model: the worst difference of each format, or what is wrong
awk '{ name = $2; format = $1; $1 = $2 = ""; sub(/^ */, ""); sub(/ *$/, "")
        if (!(name in seen)) { seen[name] = ++count; names[count] = name }
        if ($0 + 0 >= said[name, format] + 0 || NF > 1) said[name, format] = $0 }
    END { printf "%-24s %-10s %-10s %-10s %s\n", "", "onnx", "pdmodel", "json", "pdmodel in 3.3"
        for (i = 1; i <= count; i++) printf "%-24s %-10s %-10s %-10s %s\n", names[i], said[names[i], "onnx"],
            said[names[i], "pdmodel"], said[names[i], "json"], said[names[i], "desc"] }' "$folder"/{onnx,pdmodel,json,desc}.said
exit $status
