#!/usr/bin/env bash
# Every network of the sweep by way of ONNX, without --opset, with an old and a new one, and as PaddlePaddle's programs:
# long.txt lists what is not equal, with the reason.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
. tests/convert/runs.sh
for formats in onnx@0 onnx@13 onnx@23 pdmodel json; do
    models $formats tests/sweep/*.onnx >"$folder/some"
    run_models "$folder" <"$folder/some" | sed "s/^/$formats /"
done >"$folder/long.txt"
[ -z "${UPDATE:-}" ] || cp "$folder/long.txt" tests/convert/long.txt
check 0 '' diff tests/convert/long.txt "$folder/long.txt"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
