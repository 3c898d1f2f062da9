#!/usr/bin/env bash
# xpu-run --instructions on the Verilated chip: of a layer, of a core, and only as long as somebody reads.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
xpu=$folder/mnist-8.xpu
"$XPU_BIN/xpuc" -q tests/models/mnist-8.onnx --chip=standard --precision=fp32 -o "$xpu" || exit 1
run=("$XPU_BIN/xpu-run" "$xpu" --input tests/models/9.npy --device=rtl)
lines() { "${run[@]}" "$@" | grep -c ' core '; }
is() { # is NAME GOT WANTED
    if [ "$2" = "$3" ]; then passed=$((passed + 1)); return; fi
    failed=$((failed + 1)); echo "FAILED $1: $2, wanted $3"
}
all=$(lines --instructions)
instructions=$("${run[@]}" | sed -n 's/.* on rtl: \([0-9]*\) instructions.*/\1/p')
is 'all of them, but for the store to EXIT that ends the program' "$all" $((instructions - 1))
per_core=0
for core in 0 1 2 3; do per_core=$((per_core + $(lines --instructions --core=$core))); done
is 'the four cores' "$per_core" "$all"
layer=$(lines --instructions=Pooling66)
both=$(lines --instructions='Pool*6')
is 'a glob that one layer matches' "$both" "$layer"
[ "$layer" -gt 100 ] && [ "$layer" -lt "$all" ]; is "a layer's ($layer of $all)" $? 0
"${run[@]}" --instructions=Pooling66 --core=1 | grep ' core ' >"$folder/chosen"
[ "$(wc -l <"$folder/chosen")" -gt 100 ]; is 'instructions of core 1 in the layer' $? 0
grep -vc ' core 1 layer 1 ' "$folder/chosen" >"$folder/others"
is 'other cores and layers' "$(cat "$folder/others")" 0
check 2 "did you mean 'Pooling66'?" "${run[@]}" --instructions=Pooling6
check 2 "'4' is not one of 0 to 3" "${run[@]}" --instructions --core=4
check 2 'add --instructions' "${run[@]}" --core=0
"${run[@]}" --instructions 2>"$folder/errors" | head -n 3 >"$folder/first"
is 'ends with its reader' "${PIPESTATUS[0]}" 141
is 'what the reader got' "$(wc -l <"$folder/first")" 3
(trap '' PIPE; "${run[@]}" --instructions 2>>"$folder/errors" | head -n 3 >"$folder/first"; exit "${PIPESTATUS[0]}")
is 'ends with its reader where SIGPIPE is ignored' $? 141
is 'messages' "$(cat "$folder/errors")" ''
echo "$passed passed, $failed failed"
[ $failed = 0 ]
