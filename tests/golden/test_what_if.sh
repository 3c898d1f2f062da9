#!/usr/bin/env bash
# xpu-memplan what-if: a row for each configuration; the first is what xpuc --explain says; what a run can change is
# measured, and a larger memory or one without room is named.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
what_if() { "$XPU_BIN/xpu-memplan" what-if "$@"; }
value() { # value EXPRESSION: of JSON d in $folder/w.json; r are its rows
    python3 -c 'import json, sys; d = json.load(open(sys.argv[2])); r = d["configurations"]; print(eval(sys.argv[1]))' "$1" "$folder/w.json"
}
"$XPU_BIN/xpuc" -q tests/models/mnist-8.onnx --chip=nano -o "$folder/m.xpu" || exit 1
"$XPU_BIN/xpuc" -q examples/digits/digits.onnx --shape x=1..64,1,16,16 -o "$folder/d.xpu" || exit 1
"$XPU_BIN/xpuc" -q tests/models/mnist-8.onnx --strip -o "$folder/stripped.xpu" || exit 1
said=$("$XPU_BIN/xpuc" tests/models/mnist-8.onnx --chip=nano --explain --sort=cost -o "$folder/x.xpu" | awk '/all, by the/ { print $1 }')
what_if "$folder/m.xpu" --json >"$folder/w.json"
near() { [ $(($1 - $2)) -le 20 ] && [ $(($2 - $1)) -le 20 ]; } # each layer's parts are whole numbers
check 0 '' near "$(value 'r[0]["predicted_cycles"]')" "$said"
check 0 '' [ "$(value 'len(r), r[0]["as_compiled"]')" = '(1, True)' ]
what_if "$folder/m.xpu" --set l3.bytes=64K,128K --set gm.bytes_per_cycle=1,16 --json --measure >"$folder/w.json"
check 0 '' [ "$(value '[(x["set"]["l3.bytes"], x["set"]["gm.bytes_per_cycle"]) for x in r[1:]]')" = '[(65536, 1), (65536, 16), (131072, 1), (131072, 16)]' ]
check 0 '' [ "$(value '[x.get("not_measured") for x in r]')" = "[None, None, None, 'another chip', 'another chip']" ]
check 0 '' [ "$(value 'r[1]["cycles"] > r[0]["cycles"] == r[2]["cycles"] and r[1]["predicted_cycles"] > r[2]["predicted_cycles"]')" = True ]
check 0 '' [ "$(value 'r[0]["gm_bytes"] == r[1]["gm_bytes"] and abs(r[0]["predicted_gm_bytes"] / r[0]["gm_bytes"] - 1) < 0.3')" = True ]
# By other means: on zeros, as xpu-memplan measures (a scale of zeros takes no division, and what follows falls otherwise)
python3 -c 'import struct, sys
header = "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (1, 1, 28, 28)}".replace("\"", chr(39)).ljust(117) + "\n"
open(sys.argv[1], "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode() + bytes(4 * 28 * 28))' "$folder/zeros.npy"
"$XPU_BIN/xpu-run" -q "$folder/m.xpu" -i "$folder/zeros.npy" --set gm.bytes_per_cycle=1 --stats="$folder/s.json"
check 0 '' python3 -c 'import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:]); assert abs(a["cycles"] / b["configurations"][1]["cycles"] - 1) < 0.01' "$folder/s.json" "$folder/w.json"
what_if "$folder/d.xpu" --set l3.bytes=64K,1M --json --measure >"$folder/w.json" # shapes of the runtime, planned with less
check 0 '' [ "$(value 'r[1]["gm_bytes"] > r[2]["gm_bytes"] > r[0]["gm_bytes"] and r[1]["predicted_gm_bytes"] > r[2]["predicted_gm_bytes"]')" = True ]
check 0 'x=64,1,16,16' what_if "$folder/d.xpu" --set gm.bytes_per_cycle=16
check 0 'SM has no room' what_if "$folder/m.xpu" --set sm.bytes=8K
check 0 'as compiled' what_if "$folder/m.xpu" --set gm.latency=50
check 2 'this is no key of a memory' what_if "$folder/m.xpu" --set cores.count=2
check 2 "did you mean 'l3.bytes'?" what_if "$folder/m.xpu" --set l3.byte=2M
check 2 'a value has more than 32 bits' what_if "$folder/m.xpu" --set l3.bytes=4G
check 2 'a value has more than 32 bits' what_if "$folder/m.xpu" --set l3.bytes=99999999999999999999K
check 2 'a key has at most 64 values' what_if "$folder/m.xpu" --set gm.latency="$(seq -s, 1 65)"
check 2 'this is no key and value' what_if "$folder/m.xpu" --set gm.latency=4x
batch() { # batch N: zeros of N images
    python3 -c 'import sys; n = int(sys.argv[1]); h = ("{%sdescr%s: %s<f4%s, %sfortran_order%s: False, %sshape%s: (%d, 1, 16, 16)}" % (*[chr(39)] * 8, n)).ljust(117).encode() + b"\n"
sys.stdout.buffer.write(b"\x93NUMPY\1\0" + len(h).to_bytes(2, "little") + h + bytes(1024 * n))' "$1" >"$folder/x$1.npy"
}
batch 0 && batch 2 && batch 65 || exit 1
check 2 '[shape-range]' what_if "$folder/d.xpu" -i "x=$folder/x0.npy"
check 2 '[shape-range]' what_if "$folder/d.xpu" -i "x=$folder/x65.npy"
check 0 'x=2,1,16,16' what_if "$folder/d.xpu" -i "x=$folder/x2.npy"
what_if "$folder/d.xpu" --json >"$folder/w.json"
most=$(value 'r[0]["predicted_cycles"]')
what_if "$folder/d.xpu" -i "x=$folder/x2.npy" --json >"$folder/w.json"
check 0 '' [ "$(value "10 < $most / r[0]['predicted_cycles'] < 32")" = True ] # 2 of 64 images, and starts
check 2 '[chip-sizes]' what_if "$folder/m.xpu" --set l3.bytes=66000
check 2 'these are too many configurations' what_if "$folder/m.xpu" --set gm.latency="$(seq -s, 1 60)" --set l3.latency="$(seq -s, 1 60)"
check 2 '[memplan-stripped]' what_if "$folder/stripped.xpu"
check 2 'nothing is compared' "$XPU_BIN/xpu-memplan" report "$folder/m.xpu" --measure
check 3 '[xpu-format]' what_if tests/models/9.npy
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
