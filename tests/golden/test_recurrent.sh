#!/usr/bin/env bash
# LSTM, GRU and RNN in their usual form, as tests/gen/recurrent_networks.py recorded them from onnxruntime: one layer for
# all steps, on its unit, equal bit by bit on ref, func and rtl at each precision, on a chip where everything is cut into
# blocks, and on one where it is whole. After 100 steps, too.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
golden=tests/golden/recurrent

check_network() { # check_network NAME CHIP PRECISION KERNEL TOLERANCE
    local program=$folder/$1.xpu
    check 0 '' "$XPU_BIN/xpuc" -q "$golden/$1.onnx" --chip="$2" --precision="$3" -o "$program"
    "$XPU_BIN/xpuc" -q "$golden/$1.onnx" --chip="$2" --precision="$3" --emit=c -o "$folder/text.c"
    check 0 1 grep -c "return xpu_$4(" "$folder/text.c"
    for device in ref func rtl; do
        check 0 '' "$XPU_BIN/xpu-run" -q "$program" -i "$golden/$1_in.npz" --device=$device -o "$folder/$device.npz"
        check 0 '' cmp "$folder/ref.npz" "$folder/$device.npz"
    done
    check 0 '0 of ' "$XPU_BIN/xpu-dump" diff "$folder/ref.npz" "$golden/$1_out.npz" --all --tolerance="$5"
}

for network in lstm_100_steps gru_100_steps rnn_100_steps lstm_blocks gru_blocks rnn_blocks lstm_one_step; do
    check_network $network standard auto recurrent_f32 1e-5,1e-5
    check_network $network standard int16 recurrent_i16 1e-3,1e-3
    check_network $network standard int16x8 recurrent_i16 3e-2,3e-2
    check_network $network nano auto recurrent_f32 1e-5,1e-5
done
check_network lstm_100_steps nano int16 recurrent_i16 1e-3,1e-3
check_network lstm_blocks nano int16x8 recurrent_f32 3e-2,3e-2

# Any number of steps from one program.
check 0 '' "$XPU_BIN/xpuc" -q $golden/lstm_100_steps.onnx --shape=x=1..128,2,12 -o "$folder/open.xpu"
for device in ref func rtl; do
    check 0 '' "$XPU_BIN/xpu-run" -q "$folder/open.xpu" -i $golden/lstm_100_steps_in.npz --device=$device -o "$folder/open.npz"
    check 0 '0 of 3' "$XPU_BIN/xpu-dump" diff "$folder/open.npz" $golden/lstm_100_steps_out.npz --all --tolerance=1e-5,1e-5
done
for seed in 3 4; do
    check 0 '' "$XPU_BIN/xpuc" -q $golden/lstm_blocks.onnx --precision=int16 -o "$folder/blocks.xpu"
    check 0 '' "$XPU_BIN/xpu-run" -q "$folder/blocks.xpu" -i $golden/lstm_blocks_in.npz --device=func --seed=$seed --check-races \
        -o "$folder/func.npz"
    check 0 '' "$XPU_BIN/xpu-run" -q "$folder/blocks.xpu" -i $golden/lstm_blocks_in.npz --device=rtl --seed=$seed -o "$folder/rtl.npz"
    check 0 '' cmp "$folder/func.npz" "$folder/rtl.npz"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
