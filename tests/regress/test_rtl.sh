#!/usr/bin/env bash
# What the tools do on the Verilated chip nano: a network in lock-step, layers equal to func's, profile, trace, limits;
# cycles that depend on nothing but the program; a network on a chip with a window engine.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
cycles() { sed -n 's/^  "cycles": *\([0-9]*\).*/\1/p' "$1"; }
same() { # same NAME A B
    if [ -n "$2" ] && [ "$2" = "$3" ]; then passed=$((passed + 1)); return; fi
    failed=$((failed + 1)); echo "FAILED: $1: '$2' and '$3'"
}
for precision in fp32 int16; do
    xpu=$folder/mnist-$precision.xpu
    check 0 '' "$XPU_BIN/xpuc" -q tests/models/mnist-8.onnx --chip=nano --precision=$precision -o "$xpu"
    run=("$XPU_BIN/xpu-run" "$xpu" --input tests/models/9.npy)
    check 0 '0)  9: ' "${run[@]}" --device=func --dump-layers="$folder/func" --output="$folder/func.npz"
    check 0 '0)  9: ' "${run[@]}" --device=rtl --lockstep --stats="$folder/lockstep.json"
    check 0 ' cycles at ' "${run[@]}" --device=rtl --dump-layers="$folder/rtl" --stats="$folder/dumped.json" --output="$folder/rtl.npz"
    check 0 ' tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/rtl" "$folder/func"
    check 0 ' tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/rtl.npz" "$folder/func.npz"
    check 0 'of the cycles were skipped' "${run[@]}" --device=rtl --profile --trace="$folder/trace.json" --stats="$folder/traced.json"
    check 0 '"name":"thread_name"' cat "$folder/trace.json"
    check 0 '0)  9: ' "${run[@]}" --device=rtl --no-skip --stats="$folder/no-skip.json"
    same 'cycles in lock-step and with dumps' "$(cycles "$folder/lockstep.json")" "$(cycles "$folder/dumped.json")"
    same 'cycles with a trace' "$(cycles "$folder/lockstep.json")" "$(cycles "$folder/traced.json")"
    same 'cycles without skipping' "$(cycles "$folder/lockstep.json")" "$(cycles "$folder/no-skip.json")"
    check 0 '0)  9: ' "${run[@]}" --device=rtl --seed=12345 --lockstep --output="$folder/seed.npz"
    check 0 ' tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/seed.npz" "$folder/func.npz"
    check 6 'more cycles than allowed' "${run[@]}" --device=rtl --max-cycles=5000
done
check 0 "layer 'ReLU114' on rtl: equal to" "${run[@]:0:2}" --device=rtl --lockstep --layer=ReLU114 --from-dump="$folder/func"
check 0 'rtl = func = ref   yes' "$XPU_BIN/../examples/classify" examples/digits/digits.onnx \
    examples/digits/digits_heldout.npz --chip=nano --count=2 --summary
# Weights of the last layer, on the tensor engine, come before the operands of the layer on the cores before it
{ printf '\x93NUMPY\x01\x00v\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 16, 16), }"
    head -c 1024 /dev/zero; } >"$folder/digit.npy"
check 0 '' "$XPU_BIN/xpuc" -q examples/digits/digits_qdq.onnx --chip=nano -o "$folder/digits.xpu"
check 0 ' cycles at ' "$XPU_BIN/xpu-run" "$folder/digits.xpu" --input="$folder/digit.npy" --lockstep --trace="$folder/digits.json"
grep '"cat":"copy"' "$folder/digits.json" >"$folder/all"
# but for what fetches the arguments of calls, by one descriptor on core 0's stack, as the first copy is
stack=$(grep -m 1 -o '"descriptor":"[^"]*"' "$folder/all")
grep -v "$stack" "$folder/all" >"$folder/copies"
check 0 '"logits_QuantizeLinear"' grep -m 1 -e '"pool2_' -e '"logits_' "$folder/copies"
# A chip of the same name, another chip
sed 's/"bytes": 32768/"bytes": 65536/' configs/chip/nano.json >"$folder/other.json"
check 0 '' "$XPU_BIN/xpuc" -q tests/models/mnist-8.onnx --chip="$folder/other.json" -o "$folder/other.xpu"
check 2 '[device-chip]' "$XPU_BIN/xpu-run" "$folder/other.xpu" --input tests/models/9.npy
# A window engine of 8 channels: answers of onnxruntime, in lock-step; it is the one that does depthwise layers and means
mkdir "$folder/window"
cat >"$folder/window/digits.json" <<EOF
{"model": "$PWD/examples/digits/digits_qdq.onnx", "precision": "auto", "devices": ["ref", "func"], "batches": [1, 4, 2],
 "chips": {"$PWD/tests/chip/nano-window.json": {"samples": 7, "rtl": {"samples": 7}}},
 "inputs": {"x": {"file": "$PWD/examples/digits/digits_heldout.npz", "entry": "x"}},
 "expected": {"logits": {"file": "$PWD/examples/digits/digits_heldout.npz", "entry": "ort_qdq_logits", "classes": "ort_qdq_class"}}}
EOF
check 0 '9 layers equal on ref and rtl, ' "$XPU_BIN/xpu-regress" --suite="$folder/window" --lockstep
check 0 '' "$XPU_BIN/xpuc" -q examples/digits/digits_qdq.onnx --chip=tests/chip/nano-window.json -o "$folder/window.xpu"
check 0 ' cycles at ' "$XPU_BIN/xpu-run" "$folder/window.xpu" --input="$folder/digit.npy" --lockstep --stats="$folder/window.json"
same 'layers on the window engine' 3 "$(grep -c '"unit": "window"' "$folder/window.json")"
# Cycles of a case: recorded, held, and listed by layer where they changed
mkdir "$folder/suite"
cat >"$folder/suite/mnist.json" <<EOF
{"model": "$PWD/tests/models/mnist-8.onnx", "precision": "int16", "devices": ["ref"], "chips": {"nano": {"rtl": {}}},
 "inputs": {"Input3": {"file": "$PWD/tests/models/9.npy"}}}
EOF
regress=("$XPU_BIN/xpu-regress" --suite="$folder/suite" --device=rtl)
check 0 '11 layers equal on ref and rtl, ' "${regress[@]}" --update
check 0 '"ReLU114": ' cat "$folder/suite/mnist.json"
check 0 '1 passed, 0 failed' "${regress[@]}"
sed -i 's/"ReLU114": /&1/' "$folder/suite/mnist.json"
check 4 'cycles have changed: ' "${regress[@]}"
check 4 '        ReLU114 ' "${regress[@]}"
check 0 '1 passed, 0 failed' "${regress[@]}" --update
check 0 '1 passed, 0 failed' "${regress[@]}"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
