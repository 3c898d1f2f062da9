#!/usr/bin/env bash
# The gates of recurrent cells in float32 share no line of the instruction cache (direct mapped, 16 KiB) with what the same
# step calls, in networks whose other kernels are of several sizes (link.ld).
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
lines=256 line=64

lines_of() { # lines_of FUNCTION: the numbers of its lines, sorted
    local address size
    while read -r address size; do
        for ((i = 16#$address / line; i <= (16#$address + size - 1) / line; i++)); do echo $((i % lines)); done
    done < <(awk -v name="$1" '$4 == "FUNC" && $8 == name { print $2, $3 }' "$folder/symbols") | sort -u
}

for network in 5 17 21 45 57; do
    check 0 '' "$XPU_BIN/xpuc" -q tests/networks/$network.onnx -o "$folder/program.xpu"
    llvm-readelf-19 -sW "$folder/program.xpu" >"$folder/symbols"
    lines_of run_gates >"$folder/gates"
    check 0 '' test -s "$folder/gates"
    for called in xpu_load_2d xpu_store_2d xpu_load_box multiply_two; do
        lines_of $called >"$folder/called"
        check 0 '' test -s "$folder/called"
        check 0 '' test -z "$(comm -12 "$folder/gates" "$folder/called")"
    done
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
