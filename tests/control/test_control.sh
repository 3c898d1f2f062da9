#!/usr/bin/env bash
# Networks whose shapes and branches are computed in the model, as tests/gen/record_control.py recorded them: each case
# on ref, func and rtl; ref and func give the same bits. No layer is on the host.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
control=tests/control

run() { # run NETWORK FOLDER: a line in FOLDER/NETWORK.wrong for each thing that is wrong
    local name=$1 base=$control/$1 out=$2/$1 device options=() case answer
    [ -e "$base.options" ] && read -ra options <"$base.options"
    if ! "$XPU_BIN/xpuc" -q "$base.onnx" --chip=nano --precision=fp32 "${options[@]}" --explain -o "$out.xpu" >"$out.explained" 2>"$out.errors"; then
        echo "$name is not compiled: $(head -1 "$out.errors")" >"$out.wrong"
        return 0
    fi
    for case in "$base"_in.npz "$base".*_in.npz; do
        [ -e "$case" ] || continue
        answer=${case%_in.npz}_out.npz
        for device in ref func rtl; do
            if ! "$XPU_BIN/xpu-run" -q "$out.xpu" -d $device -i "$case" -o "$out.$device.npz" --stats="$out.json" 2>"$out.errors"; then
                echo "$case does not run on $device: $(head -1 "$out.errors")"
            elif ! "$XPU_BIN/xpu-dump" diff "$out.$device.npz" "$answer" --all --tolerance=1e-4,1e-5 >"$out.diff" 2>&1; then
                echo "$case on $device: $(tail -1 "$out.diff")"
                head -3 "$out.diff"
            elif ! grep -q '"host_calls": 0,' "$out.json"; then
                echo "$case calls the host on $device"
            fi
        done
        "$XPU_BIN/xpu-dump" diff "$out.func.npz" "$out.ref.npz" --all --tolerance=0,0 >"$out.diff" 2>&1 || echo "$case: func is not ref"
    done >"$out.wrong"
    ! grep 'host:' "$out.explained" >>"$out.wrong"
}
export -f run
export control XPU_BIN
for network in $control/*.onnx; do basename "$network" .onnx; done | xargs -P "$(nproc)" -I{} bash -c 'run {} '"$folder"
for network in $control/*.onnx; do
    check 0 '' cmp "$folder/$(basename "$network" .onnx).wrong" /dev/null
    [ "$status" = 0 ] || cat "$folder/$(basename "$network" .onnx).wrong"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
