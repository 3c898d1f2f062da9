#!/usr/bin/env bash
# Quantised programs of PaddlePaddle against what PaddlePaddle 2.6.2 answered (tests/gen/paddle_quantised.py,
# record_paddle.py quantised), as ProgramDesc and as PIR: quantize_linear with weights as int8 and as float32,
# fake_quantize with products of levels, and fake_quantize_dequantize; every product runs on 8-bit integers. Float16 programs.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
golden=tests/paddle/quantised

# Sums are rounded to PaddlePaddle's levels, but where a bias in int32 moves one across a half: to the next one.
for case in linear_int8:1e-5 linear_float:1e-5 freeze:1e-5 freeze_away:1e-5 trained:0.0394; do
    name=${case%:*}
    for form in pdmodel json; do
        check 0 '' "$XPU_BIN/xpuc" -q "$golden/$name.$form" -o "$folder/$name.xpu"
        for device in ref func; do
            check 0 '' "$XPU_BIN/xpu-run" -q "$folder/$name.xpu" -i "$golden/${name}_in.npz" --device=$device -o "$folder/$device.npz"
        done
        check 0 '' cmp "$folder/ref.npz" "$folder/func.npz"
        check 0 '0 of 1' "$XPU_BIN/xpu-dump" diff "$folder/ref.npz" "$golden/${name}_out.npz" --all --tolerance="0,${case#*:}"
        "$XPU_BIN/xpuc" --describe "$folder/$name.xpu" >"$folder/layers.txt"
        check 1 '' grep -E 'host|(core|tensor) +(conv2d|depthwise|matmul)_f' "$folder/layers.txt"
        products=$(grep -c -E '(core|tensor) +(conv2d|matmul)_' "$folder/layers.txt")
        check 0 '' [ "$products" -gt 1 ]
        check 0 "$products" grep -c 'tensor *conv2d_i8' "$folder/layers.txt"
        [ $name != trained ] ||
            check 4 '8 of 512 elements differ' "$XPU_BIN/xpu-dump" diff "$folder/ref.npz" "$golden/${name}_out.npz" --all --tolerance=0,1e-5
    done
done

# float16: weights and computation, against the same in float32 (tests/gen/paddle_half.py); wholly on the device
for form in pdmodel json; do
    for precision in fp32 auto; do
        check 0 '' "$XPU_BIN/xpuc" -q "$golden/half.$form" --precision=$precision -o "$folder/half.xpu"
        for device in ref func; do
            check 0 '' "$XPU_BIN/xpu-run" -q "$folder/half.xpu" -i "$golden/half_in.npz" --device=$device -o "$folder/$device.npz"
        done
        check 0 '' cmp "$folder/ref.npz" "$folder/func.npz"
        check 0 '0 of 1' "$XPU_BIN/xpu-dump" diff "$folder/ref.npz" "$golden/half_out.npz" --all --tolerance=2e-3,2e-3
        check 4 '1 of 1' "$XPU_BIN/xpu-dump" diff "$folder/ref.npz" "$golden/half_out.npz" --all --tolerance=0,1e-6
        "$XPU_BIN/xpuc" --describe "$folder/half.xpu" >"$folder/layers.txt"
        check 1 '' grep host "$folder/layers.txt"
    done
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
