#!/usr/bin/env bash
# Every network of the sweep by way of ONNX, without and with an old opset: long.txt lists what is not equal.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
. tests/convert/runs.sh
for opset in 0 13 23; do
    models "onnx@$opset" tests/sweep/*.onnx >"$folder/some"
    run_models "$folder" <"$folder/some" | sed "s/^/$opset /"
done >"$folder/long.txt"
[ -z "${UPDATE:-}" ] || cp "$folder/long.txt" tests/convert/long.txt
check 0 '' diff tests/convert/long.txt "$folder/long.txt"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
