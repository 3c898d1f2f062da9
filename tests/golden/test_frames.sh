#!/usr/bin/env bash
# xpu-run --frames: a signal through one session with a state gives what onnxruntime gives frame by frame, on all devices
# the same bits; statistics by frame; what it cannot be beside or cut.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
golden=tests/golden/frames
rnn=$folder/rnn.xpu
check 0 '' "$XPU_BIN/xpuc" -q $golden/rnn.onnx --precision=fp32 --state hN=h -o "$rnn"
check 0 'state    hN -> h  float32[1,16]' "$XPU_BIN/xpuc" --describe "$rnn"
run() { "$XPU_BIN/xpu-run" "$rnn" --input x=$golden/signal.npy --frames "$@"; }
for device in ref func rtl; do
    check 0 'y  float32[12,1,1]' run x=24:16 --device=$device -o "$folder/$device.npz" --stats="$folder/$device.json"
    check 0 '0 of 2 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/$device.npz" $golden/expected.npz --tolerance=1e-5
    check 0 '0 of 2 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/$device.npz" "$folder/ref.npz"
    check 0 12 grep -c '"wall_s"' <(sed 1,4d "$folder/$device.json" | sed '/^  \]/,$d')
done
check 0 13 grep -c '"cycles":' "$folder/rtl.json"
check 0 'y  float32[6,1,1]' run x=24:32:1 --device=func
check 0 '5 of 205 elements are in no frame' run x=24:16 --device=func
# A state that is given is that of the first frame.
check 0 '' "$XPU_BIN/xpu-run" -q "$rnn" --input x=$golden/signal.npy --frames x=24:16 --device=func -o "$folder/a.npz" \
    --input h=$golden/zeros.npy
check 0 '0 of 2 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/a.npz" "$folder/ref.npz"
for wrong in x x=24 x=24: x=0:16 x=24:0 x=24:16: x=24:16:9 x=-1:2 x=24:16:1:1 =24:16 x=99999999999999999999:1 ''; do
    check 2 'the frames cannot be read' run "$wrong" --device=func
done
check 2 'no such input is given' run z=24:16 --device=func
check 2 'the input is shorter than one frame' run x=206:1 --device=func
check 2 'the input has no such axis' run x=24:16:2 --device=func
check 2 'error [input-shape]' run x=25:16 --device=func
check 6 'it was frame 0 of 12' run x=24:16 --device=func --max-cycles=3000 -o "$folder/none.npz"
check 1 '' test -e "$folder/none.npz"
check 2 "option '--dump-layers': this is of one run" run x=24:16 --dump-layers="$folder/dump"
check 2 "option '--frames': this is not for bare programs" "$XPU_BIN/xpu-run" --bare x.elf --frames x=1:1
echo "$passed passed, $failed failed"
[ $failed = 0 ]
