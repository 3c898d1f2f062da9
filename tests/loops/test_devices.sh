#!/usr/bin/env bash
# The networks of tests/loops, as tests/gen/record_loops.py recorded them, on ref, func and rtl: all give what onnxruntime
# gave, and the same bits. The RTL runs in lock-step: each instruction and descriptor does what func says it does. Those
# of tests/loops/standard.txt run on the RTL of chip standard, too, which has four cores. Nothing is on the host, which
# --stats counts, but for what tests/loops/host.txt lists: NETWORK CASE CALLS. Random networks
# (tests/gen/random_control.py): seeds 1 to 40, or XPU_SEEDS="41 200". func looks for races, each time under another
# schedule. XPU_DEVICES="ref func": only on these. XPU_ONLY=REGEX: networks with such names.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
loops=tests/loops

compile() { # compile NETWORK CHIP FILE: to FILE.xpu
    local options=()
    [ -e "$loops/$1.options" ] && read -ra options <"$loops/$1.options"
    "$XPU_BIN/xpuc" -q "$loops/$1.onnx" --chip="$2" --precision=fp32 "${options[@]}" --explain -o "$3.xpu" >"$3.explained" 2>"$3.errors" && return
    echo "$1 is not compiled: $(head -2 "$3.errors")"
    return 1
}
runs() { # runs NETWORK FILE DEVICE...: a line for each thing that is wrong
    local name=$1 base=$loops/$1 out=$2 device case answer calls how first=
    shift 2
    for case in "$base".*_in.npz "$base"_in.npz; do
        [ -e "$case" ] || continue
        answer=${case%_in.npz}_out.npz calls=${case%_in.npz} first=
        calls=$(awk -v of="$name ${calls#"$base".}" '$1 " " $2 == of { print $3 }' $loops/host.txt)
        for device; do
            how=()
            [ "$device" != rtl ] || how=(--lockstep)
            [ "$device" != func ] || how=(--check-races "--seed=$(cksum <<<"$case" | cut -c1-4)")
            if ! "$XPU_BIN/xpu-run" -q "$out.xpu" -d "$device" "${how[@]}" -i "$case" -o "$out.$device.npz" --stats="$out.json" 2>"$out.errors"; then
                echo "$case does not run on $device: $(head -2 "$out.errors")"
            elif [ -e "$answer" ] && ! "$XPU_BIN/xpu-dump" diff "$out.$device.npz" "$answer" --all --tolerance=1e-3,1e-4 >"$out.diff" 2>&1; then
                echo "$case on $device: $(tail -1 "$out.diff")"
                head -3 "$out.diff"
            elif ! grep -q "\"host_calls\": ${calls:-0}," "$out.json"; then
                echo "$case on $device: not ${calls:-0} calls of the host, but $(grep host_calls "$out.json")"
            fi
            [ -z "$first" ] || "$XPU_BIN/xpu-dump" diff "$out.$device.npz" "$first" --all --tolerance=0,0 >"$out.diff" 2>&1 || echo "$case: $device is not ref"
            first=${first:-$out.$device.npz}
        done
    done
}
run() { # run NETWORK FOLDER: what is wrong is in FOLDER/NETWORK.wrong
    local name=$1 out=$2/${1/\//_}
    {
        compile "$name" nano "$out" && runs "$name" "$out" ${XPU_DEVICES:-ref func rtl}
        [[ $name == random/* ]] || grep -q "^$name " $loops/host.txt || grep 'host:' "$out.explained"
        [ -n "${XPU_DEVICES:-}" ] || ! grep -qx "$name" $loops/standard.txt || { compile "$name" standard "$out" && runs "$name" "$out" ref rtl; }
    } >"$out.wrong"
}
export -f compile runs run
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
