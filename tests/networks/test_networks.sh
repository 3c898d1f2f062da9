#!/usr/bin/env bash
# Random transformers, recurrent networks, detectors, and encoders with decoders (tests/gen/random_networks.py, which
# recorded what onnxruntime gives). In float32 on ref, func and rtl within 1e-4 of the largest magnitude of each output,
# those with recurrent cells within 1e-3; at --precision=auto without those whose choices depend on the last bits within
# a fiftieth. All devices give the same bits, no node is on the host, and at auto each ran on the unit that units.txt says.
# --update writes units.txt. XPU_SEEDS="61 1060": these instead, made by PYTHON (Debian's with python3-onnx; with
# onnxruntime they are compared with it, too), each tenth on rtl. What is wrong is kept in XPU_KEEP, if that is set.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
networks=tests/networks

runs() { # runs NAME PROGRAM TOLERANCE DEVICE...: a line for each thing that is wrong
    local base=$networks/$1 out=$2 tolerance=$3 device how first=
    shift 3
    for device; do
        how=()
        [ "$device" != func ] || how=(--check-races)
        if ! "$XPU_BIN/xpu-run" -q "$out.xpu" -d "$device" "${how[@]}" -i "${base}_in.npz" -o "$out.$device.npz" --stats="$out.json" 2>"$out.errors"; then
            echo "does not run on $device: $(head -2 "$out.errors")"
        elif [ "$tolerance" != any ] && [ -e "${base}_out.npz" ] && ! "$XPU_BIN/xpu-dump" diff "$out.$device.npz" "${base}_out.npz" --all --tolerance="$tolerance" >"$out.diff" 2>&1; then
            echo "$device: $(tail -1 "$out.diff")"
            head -3 "$out.diff"
        elif ! grep -q '"host_calls": 0,' "$out.json"; then
            echo "$device: $(grep host_calls "$out.json")"
        fi
        [ -z "$first" ] || "$XPU_BIN/xpu-dump" diff "$out.$device.npz" "$first" --all --tolerance=0,0 >"$out.diff" 2>&1 || echo "$device is not ref"
        first=${first:-$out.$device.npz}
    done
}
run() { # run NAME FOLDER: what is wrong is in FOLDER/NAME.wrong
    local name=$1 out=$2/$1 chip precision tolerance rtl=rtl
    [ -z "${XPU_SEEDS:-}" ] || [ $((name % 10)) = 0 ] || rtl=
    for precision in fp32 auto; do
        tolerance=0,1e-4 chip=nano
        [ $((name % 4)) != 1 ] || tolerance=0,1e-3
        [ $precision != auto ] || { tolerance=0,2e-2 chip=standard; [ $((name % 4)) != 2 ] || tolerance=any; }
        if "$XPU_BIN/xpuc" -q "$networks/$name.onnx" --chip=$chip --precision=$precision --explain -o "$out.xpu" >"$out.explained" 2>"$out.errors"; then
            runs "$name" "$out" $tolerance ref func $rtl | sed "s/^/$name, $precision: /"
            grep 'host:' "$out.explained"
        else
            echo "$name, $precision is not compiled: $(head -2 "$out.errors")"
        fi
    done >"$out.wrong"
    awk -v name="$name" '$1 ~ /^[0-9]+$/ { unit = $7; sub(/:.*/, "", unit); if (unit != "-") of[unit]++ }
        END { for (unit in of) print name " " unit ": " of[unit] }' "$out.explained" | sort >"$out.units"
    [ ! -s "$out.wrong" ] || [ -z "${XPU_KEEP:-}" ] || { mkdir -p "$XPU_KEEP"; cp "$networks/$name".onnx "$networks/${name}"_*.npz "$out.wrong" "$XPU_KEEP"; }
    rm -f "$out".*npz "$out.xpu" "$out.explained" "$out.diff" "$out.errors"
}
read -r first last <<<"${XPU_SEEDS:-1 60}"
if [ -n "${XPU_SEEDS:-}" ]; then
    python=${PYTHON:-/usr/bin/python3} networks=$folder/made
    "$python" -c 'import onnx, numpy' 2>"$folder/errors" || { echo "skipped: $python has no onnx (python3-onnx)"; echo '0 passed, 0 failed'; exit 0; }
    mkdir "$networks"
    check 0 '' "$python" tests/gen/random_networks.py "$networks" "$first" "$last"
fi
export -f run runs
export networks XPU_BIN
seq "$first" "$last" | xargs -P "$(nproc)" -I{} bash -c 'run {} '"$folder"
for name in $(seq "$first" "$last"); do
    check 0 '' cmp "$folder/$name.wrong" /dev/null
    [ "$status" = 0 ] || cat "$folder/$name.wrong"
done
if [ -z "${XPU_SEEDS:-}" ]; then
    for name in $(seq "$first" "$last"); do cat "$folder/$name.units"; done >"$folder/units.txt"
    [ "${1:-}" != --update ] || cp "$folder/units.txt" $networks/units.txt
    check 0 '' diff $networks/units.txt "$folder/units.txt"
    # Products of several rows that merged: bounds of each are those of its columns
    for name in 24 48; do check 0 '' "$XPU_BIN/xpuc" -q "$networks/$name.onnx" --check-passes -o "$folder/checked.xpu"; done
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
