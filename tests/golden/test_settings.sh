#!/usr/bin/env bash
# xpu-run --set: the chip's memories at other speeds take other times, the results are the same bits, and lock-step agrees.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
"$XPU_BIN/xpuc" -q tests/models/mnist-8.onnx -o "$folder/m.xpu" || exit 1
cycles() { # cycles OPTION...: of a run on rtl; its outputs stay in $folder/o.npz
    "$XPU_BIN/xpu-run" -q "$folder/m.xpu" --input tests/models/9.npy -o "$folder/o.npz" --stats="$folder/s.json" "$@" &&
        python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["cycles"])' "$folder/s.json"
}
own=$(cycles) && cp "$folder/o.npz" "$folder/own.npz"
check 0 '' [ "$(cycles --set gm.bytes_per_cycle=64)" = "$own" ] # the chip's own value changes nothing
slower() { [ "$(cycles "$@")" -gt "$own" ] && cmp "$folder/o.npz" "$folder/own.npz"; }
check 0 '' slower --set gm.bytes_per_cycle=16
check 0 '' slower --set gm.latency=100 --set gm.bytes_per_cycle=4
check 0 '' slower --set gm.latency=1K --set gm.bytes_per_cycle=8
check 0 '' slower --set gm.outstanding=2 --set gm.bytes_per_cycle=1
check 0 '' slower --set gm.bytes_per_cycle=16 --lockstep
faster() { [ "$(cycles "$@")" -lt "$own" ] && cmp "$folder/o.npz" "$folder/own.npz"; }
check 0 '' faster --set gm.latency=20
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
