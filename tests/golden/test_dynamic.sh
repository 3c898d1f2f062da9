#!/usr/bin/env bash
# Models of onnxruntime's quantize_dynamic, as tests/gen/record_dynamic.py recorded them: bit for bit what onnxruntime
# gives, on ref, func and rtl. Nothing runs on the host: products are on the tensor engine, the rest is on the cores.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
golden=tests/golden/dynamic
for weights in int8 uint8; do
    "$XPU_BIN/xpuc" -q "$golden/$weights.onnx" --chip=nano --explain -o "$folder/$weights.xpu" >"$folder/explained"
    check 1 '' grep -E ' host' "$folder/explained"
    check 0 '' grep -qE "^[0-9]+ +MatMulInteger .* tensor" "$folder/explained"
    for operator in DynamicQuantizeLinear Mul Add Relu; do
        check 0 '' grep -qE "^[0-9]+ +$operator .* core" "$folder/explained"
    done
    for device in ref func rtl; do
        check 0 '' "$XPU_BIN/xpu-run" -q "$folder/$weights.xpu" -i "$golden/${weights}_in.npz" --device=$device -o "$folder/out.npz"
        check 0 '0 of 1 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/out.npz" "$golden/${weights}_out.npz" --all --tolerance=0,0
    done
done
# The trained network of examples/digits: convolutions, depthwise ones too, and batch normalisation behind them, which goes
# into a chain whose roundings differ from onnxruntime's.
"$XPU_BIN/xpuc" -q "$golden/digits.onnx" --chip=nano --explain -o "$folder/digits.xpu" >"$folder/explained"
check 1 '' grep -E ' host' "$folder/explained"
for operator in ConvInteger MatMulInteger; do
    check 0 '' grep -qE "^[0-9]+ +$operator .* tensor" "$folder/explained"
done
for device in ref func rtl; do
    check 0 '' "$XPU_BIN/xpu-run" -q "$folder/digits.xpu" -i "$golden/digits_in.npz" --device=$device -o "$folder/$device.npz"
    check 0 '0 of 1 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/$device.npz" "$golden/digits_out.npz" --all --tolerance=1e-4,1e-5
    check 0 '0 of 1 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/$device.npz" "$folder/ref.npz" --all --tolerance=0,0
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
