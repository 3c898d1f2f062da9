#!/usr/bin/env bash
# Inputs with NaN through every operator that could swallow one, on ref, func and rtl: what tests/gen/record_nan.py
# recorded, on the unit where each layer belongs. In int16 one NaN in x makes all of a convolution
# NaN, not zeros, and of a product its row.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
golden=tests/golden/nan
compile() { # compile NAME PRECISION: no layer on the host
    check 0 '' "$XPU_BIN/xpuc" -q "$golden/$1.onnx" --chip=nano --precision="$2" --explain -o "$folder/$1.xpu"
    "$XPU_BIN/xpuc" -q "$golden/$1.onnx" --chip=nano --precision="$2" --explain -o "$folder/$1.xpu" >"$folder/explained"
    check 1 '' grep 'host:' "$folder/explained"
}
equal() { # equal NAME EXPECTED DIFFERENCE [TOLERANCE]: on each device
    local device
    for device in ref func rtl; do
        check 0 '' "$XPU_BIN/xpu-run" -q "$folder/$1.xpu" -i "$golden/$1_in.npz" --device=$device -o "$folder/out.npz"
        check 0 "$3" "$XPU_BIN/xpu-dump" diff "$folder/out.npz" "$golden/$2_out.npz" --tolerance="${4:-1e-3}"
    done
}
for precision in fp32 int16; do
    compile elementwise $precision
    equal elementwise elementwise '0 of 27 tensors differ'
    compile pools $precision
    check 0 '8' grep -c ' MaxPool .* fp32  *1  *core' "$folder/explained"
    equal pools pools '0 of 8 tensors differ'
done
compile layers fp32
equal layers layers '0 of 11 tensors differ'
compile layers int16
for layer in conv_relu conv_clip conv_leaky conv_add_relu matmul_relu gemm_clip; do
    check 0 '' grep -q " $layer  *$layer  *int16  *1  *tensor: " "$folder/explained"
done
equal layers layers_int16 '0 of 6 tensors differ' 1e-3,1e-3
echo "$passed passed, $failed failed"
[ $failed = 0 ]
