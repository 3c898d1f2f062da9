#!/usr/bin/env bash
# Silero's voice detectors at one frame, all of whose conditions shapes and the rate decide: on ref, func and rtl what
# onnxruntime gives, within 1e-4 (tests/gen/record_silero.py). The one of two rates is in $XPU_SHARED, and skipped where it is not.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
models=${XPU_SHARED:-../shared}/models/onnx frames=tests/control/silero
detector() { # detector FOLDER NAME OPTION...: no layer on the host
    local models=$1 name=$2 device frame
    shift 2
    check 0 '' "$XPU_BIN/xpuc" -q "$models/$name.onnx" --shape=input=1,576 --shape=state=2,1,128 --precision=fp32 --explain \
        -o "$folder/$name.xpu" "$@"
    "$XPU_BIN/xpuc" -q "$models/$name.onnx" --shape=input=1,576 --shape=state=2,1,128 --precision=fp32 --explain \
        -o "$folder/$name.xpu" "$@" >"$folder/explained"
    check 1 '' grep 'host:' "$folder/explained"
    for device in ref func rtl; do
        for frame in "$frames"/*_in.npz; do
            check 0 '' "$XPU_BIN/xpu-run" -q "$folder/$name.xpu" -d $device -i "$frame" -o "$folder/out.npz" --stats="$folder/stats.json"
            check 0 '"host_calls": 0,' cat "$folder/stats.json"
            check 0 '0 of 2 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/out.npz" "${frame%_in.npz}_out.npz" --tolerance=1e-4,1e-4
        done
    done
}
detector examples/voice silero_vad_16k_op15
if [ -e "$models/silero_vad.onnx" ]; then
    detector "$models" silero_vad --value=sr=16000
else
    echo "skipped: $models/silero_vad.onnx is not there"
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
