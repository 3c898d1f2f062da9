#!/usr/bin/env bash
# xpu-convert: a model that is written as ONNX gives what it gave before, run as it is imported, with equal bits or within
# 1e-5 of the largest value; models that do not are listed with their reason in onnx.txt (UPDATE=1 writes it). And what
# the command says and writes.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
. tests/convert/runs.sh
convert=$XPU_BIN/xpu-convert
unpack_paddle

# Every fourth network of the sweep here, all of them in long_convert.sh.
models onnx "$folder"/paddle/operators/*.{pdmodel,json} tests/paddle/quantised/*.{pdmodel,json} \
    tests/control/*.onnx tests/loops/*.onnx \
    tests/networks/*.onnx >"$folder/some"
models onnx tests/sweep/*.onnx | awk 'NR % 4 == 1' >>"$folder/some"
run_models "$folder" <"$folder/some" >"$folder/onnx.txt"
[ -z "${UPDATE:-}" ] || cp "$folder/onnx.txt" tests/convert/onnx.txt
check 0 '' diff tests/convert/onnx.txt "$folder/onnx.txt"
check 0 '' test "$(cat "$folder/equal")" -ge 330

# The same as a program of PaddlePaddle, and both ways round
paddle=("$folder"/paddle/operators/*.{pdmodel,json} tests/paddle/quantised/*.{pdmodel,json})
control=(tests/loops/*.onnx tests/control/*.onnx "$folder"/paddle/control/*.{pdmodel,json})
models pdmodel "${paddle[@]}" tests/networks/*.onnx "${control[@]}" >"$folder/some"
models json "${control[@]}" "$folder"/paddle/operators/more.pdmodel tests/sweep/GRU-22.onnx >>"$folder/some"
models onnx "$folder"/paddle/control/*.{pdmodel,json} >>"$folder/some"
models pdmodel tests/sweep/*.onnx | awk 'NR % 4 == 1' >>"$folder/some"
models onnx,pdmodel "${paddle[@]}" >>"$folder/some"
models json,pdmodel "${paddle[@]}" >>"$folder/some"
models pdmodel tests/convert/models/{gru_bias_1,gru_bias_2,limits}.onnx >>"$folder/some"
models pdmodel,onnx tests/convert/models/nms_nothing.onnx >>"$folder/some"
models json tests/networks/*.onnx tests/sweep/Attention-2{4,5}.onnx >>"$folder/some"
models pdmodel,onnx tests/networks/*.onnx >>"$folder/some"
run_models "$folder" <"$folder/some" >"$folder/pdmodel.txt"
[ -z "${UPDATE:-}" ] || cp "$folder/pdmodel.txt" tests/convert/pdmodel.txt
check 0 '' diff tests/convert/pdmodel.txt "$folder/pdmodel.txt"
check 0 '' test "$(cat "$folder/equal")" -ge 570

# The recogniser's and the detector's forms of PaddlePaddle
shared=${XPU_SHARED:-../shared}
for net in det rec; do
    model=$shared/models/paddle/ch_PP-OCRv4_$net/inference.pdmodel
    [ -e "$model" ] || continue
    check 0 'operators' "$convert" "$model" -o "$folder/$net.onnx"
    check 0 '' "$XPU_BIN/xpuc" -q "$folder/$net.onnx" --precision=fp32 -o "$folder/$net.xpu"
    check 0 '' "$XPU_BIN/xpu-run" -q "$folder/$net.xpu" -i tests/paddle/ocr_${net}_in.npz -d ref -o "$folder/$net.npz"
    check 0 '0 of 1' "$XPU_BIN/xpu-dump" diff "$folder/$net.npz" tests/paddle/ocr_${net}_out.npz --tolerance=1e-5,3e-5
    check 0 '' "$convert" -q "$model" --external-data -o "$folder/apart.onnx"
    check 0 '' test -s "$folder/apart.onnx.data"
    check 0 '' "$XPU_BIN/xpuc" -q "$folder/apart.onnx" --precision=fp32 -o "$folder/apart.xpu"
    check 0 '' "$XPU_BIN/xpu-run" -q "$folder/apart.xpu" -i tests/paddle/ocr_${net}_in.npz -d ref -o "$folder/apart.npz"
    check 0 '' cmp "$folder/$net.npz" "$folder/apart.npz"
    check 0 'operators' "$convert" "$folder/$net.onnx" -o "$folder/$net.json"
    check 0 'operators' "$convert" "$folder/$net.json" -o "$folder/$net.back.pdmodel"
    check 0 '' "$XPU_BIN/xpuc" -q "$folder/$net.back.pdmodel" --precision=fp32 -o "$folder/back.xpu"
    check 0 '' "$XPU_BIN/xpu-run" -q "$folder/back.xpu" -i tests/paddle/ocr_${net}_in.npz -d ref -o "$folder/back.npz"
    check 0 '0 of 1' "$XPU_BIN/xpu-dump" diff "$folder/back.npz" "$folder/$net.npz" --tolerance=1e-5,1e-5
done

# Types that an old opset's operator does not take go through float32; norms are written out where there is none
check 0 '' "$convert" -q tests/sweep/Sin-22-bfloat16.onnx -o "$folder/sin.onnx"
check 0 'Cast' "$XPU_BIN/xpuc" --describe "$folder/sin.onnx"
check 0 '' "$convert" -q tests/sweep/Sin-22-bfloat16.onnx --opset=22 -o "$folder/sin.onnx"
check 1 '' grep -q Cast "$folder/sin.onnx"
models onnx@13 tests/sweep/LayerNormalization-17{,-float16,-bfloat16}.onnx tests/sweep/GroupNormalization-21.onnx \
    tests/sweep/{HardSwish-22,Celu-28,Shrink-9}*.onnx >"$folder/some"
run_models "$folder" <"$folder/some" >"$folder/old.txt"
check 0 '' test ! -s "$folder/old.txt" -a "$(cat "$folder/equal")" -ge 8

# What is refused
linear=tests/paddle/linear.pdmodel
check 0 '' "$convert" -q $linear -o "$folder/linear.onnx"
check 2 'error [convert-format]' "$convert" $linear -o "$folder/linear.tflite"
check 2 'error [usage]' "$convert" $linear
check 2 'error [usage]' "$convert" -o "$folder/linear.onnx"
check 2 'error [option]' "$convert" $linear --opset=9 -o "$folder/old.onnx"
check 2 'error [usage]' "$convert" $linear --opset=x -o "$folder/old.onnx"
check 2 'error [output-read]' "$convert" tests/sweep/Abs-13.onnx -o tests/sweep/Abs-13.onnx
check 3 'error [io-open]' "$convert" no_such.onnx -o "$folder/none.onnx"
check 1 'BitwiseAnd needs opset 18' "$convert" tests/sweep/BitwiseAnd-18.onnx --opset=17 -o "$folder/bits.onnx"
check 0 '' test ! -e "$folder/bits.onnx"
check 0 '' test -z "$(find "$folder" -name '.xpu*')"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
