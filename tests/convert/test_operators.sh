#!/usr/bin/env bash
# PaddlePaddle's operators as ONNX: each program of tests/paddle/operators gives, converted, what PaddlePaddle computed.
# paddle2onnx.txt: the 187 operators that Paddle2ONNX 1.3.1 exports (175 of them rightly). Without recorded values are
# those whose results are random or not defined, and trilinear_interp_v2.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
: >"$folder/operators"
unpack_paddle
for model in "$folder"/paddle/operators/*.pdmodel tests/paddle/quantised/linear_int8.pdmodel "$folder"/paddle/control/{array_first,desc_select}.pdmodel; do
    base=${model%.*} name=$(basename "${model%.*}") before=$failed
    case $name in odd | odd_desc) continue ;; esac # boxes that ONNX compares otherwise: onnx.txt lists them
    check 0 '' "$XPU_BIN/xpu-convert" -q "$model" -o "$folder/$name.onnx"
    check 0 '' "$XPU_BIN/xpuc" -q "$folder/$name.onnx" --precision=fp32 -o "$folder/$name.xpu"
    for inputs in "${base}"_in.npz "$base".*_in.npz; do
        [ -e "$inputs" ] || continue
        check 0 '' "$XPU_BIN/xpu-run" -q "$folder/$name.xpu" -i "$inputs" -d ref -o "$folder/out.npz"
        check 0 '0 of' "$XPU_BIN/xpu-dump" diff "$folder/out.npz" "${inputs%_in.npz}_out.npz" --all --tolerance=1e-5,1e-5
    done
    [ "$failed" != "$before" ] || "$XPU_BIN/xpuc" --describe=graph "$model" | awk '$1 + 0 > 0 { print $2 }' >>"$folder/operators"
done
sort -u "$folder/operators" -o "$folder/operators"
check 0 '' test "$(comm -12 "$folder/operators" tests/convert/paddle2onnx.txt | wc -l)" -ge 184
echo "$passed passed, $failed failed"
[ $failed = 0 ]
