#!/usr/bin/env bash
# The networks of tests/loops, as tests/gen/record_loops.py recorded them, on ref and func: both give what onnxruntime
# gave, and the same bits. Those of tests/loops/rtl.txt run on the RTL, too. Nothing is on the host but for what
# tests/loops/host.txt lists. Random networks (tests/gen/random_control.py): seeds 1 to 40, or XPU_SEEDS="41 200".
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
loops=tests/loops

run() { # run NETWORK FOLDER: a line in FOLDER/NETWORK.wrong for each thing that is wrong
    local name=$1 base=$loops/$1 out=$2/${1/\//_} device options=() devices=(ref func) case answer
    [ -e "$base.options" ] && read -ra options <"$base.options"
    grep -qx "$name" $loops/rtl.txt && devices+=(rtl)
    if ! "$XPU_BIN/xpuc" -q "$base.onnx" --chip=nano --precision=fp32 "${options[@]}" --explain -o "$out.xpu" >"$out.explained" 2>"$out.errors"; then
        echo "$name is not compiled: $(head -2 "$out.errors")" >"$out.wrong"
        return 0
    fi
    for case in "$base".*_in.npz "$base"_in.npz; do
        [ -e "$case" ] || continue
        answer=${case%_in.npz}_out.npz
        for device in "${devices[@]}"; do
            if ! "$XPU_BIN/xpu-run" -q "$out.xpu" -d "$device" -i "$case" -o "$out.$device.npz" 2>"$out.errors"; then
                echo "$case does not run on $device: $(head -2 "$out.errors")"
            elif [ -e "$answer" ] && ! "$XPU_BIN/xpu-dump" diff "$out.$device.npz" "$answer" --all --tolerance=1e-3,1e-4 >"$out.diff" 2>&1; then
                echo "$case on $device: $(tail -1 "$out.diff")"
                head -3 "$out.diff"
            fi
        done
        for device in "${devices[@]:1}"; do
            "$XPU_BIN/xpu-dump" diff "$out.$device.npz" "$out.ref.npz" --all --tolerance=0,0 >"$out.diff" 2>&1 || echo "$case: $device is not ref"
        done
    done >"$out.wrong"
    [[ $name == random/* ]] || grep -qx "$name" $loops/host.txt || ! grep 'host:' "$out.explained" >>"$out.wrong"
}
export -f run
export loops XPU_BIN
read -r first last <<<"${XPU_SEEDS:-1 40}"
networks=$({ [ -n "${XPU_SEEDS:-}" ] || for network in $loops/*.onnx; do basename "$network" .onnx; done; seq -f "random/%g" "$first" "$last"; } | grep -E "${XPU_ONLY:-.}")
printf '%s\n' $networks | xargs -P "$(nproc)" -I{} bash -c 'run {} '"$folder"
for network in $networks; do
    wrong=$folder/${network/\//_}.wrong
    check 0 '' cmp "$wrong" /dev/null
    [ "$status" = 0 ] || cat "$wrong"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
