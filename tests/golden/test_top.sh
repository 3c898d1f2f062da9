#!/usr/bin/env bash
# What xpu-run prints of outputs: the largest of each row where --top or --labels ask for them, and the range of what has
# more than two axes where they do not.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
name=tests/control/shape_by_gather
read -ra options <$name.options
check 0 '' "$XPU_BIN/xpuc" -q $name.onnx --chip=nano --precision=fp32 "${options[@]}" -o "$folder/p.xpu"
printf '%s\n' a b c d e f g h i j k l >"$folder/labels"
prints() { # prints TEXT OPTION...: behind the dims of the output g_abs87
    local text=$1
    shift
    check 0 "g_abs87  float32[2,2,12]
$text" "$XPU_BIN/xpu-run" "$folder/p.xpu" -i $name.2_5_12_in.npz -d ref "$@"
}
prints '  from 0.0521477 to 5.10658'
prints '  0,0)  2: 5.10658
  0,1)  5: 3.59757
  1,0)  6: 3.76937
  1,1)  8: 2.99139' --top=1
prints '  0,0)  c: 5.10658  b: 3.55298
  0,1)  f: 3.59757  h: 2.76742
  1,0)  g: 3.76937  d: 2.89575
  1,1)  i: 2.99139  h: 2.53577' --top=2 --labels="$folder/labels"
prints '  0,0)  c: 5.10658  b: 3.55298  h: 2.99424  f: 2.70428  l: 2.14772' --labels="$folder/labels"
check 0 '  and 14 more rows (-v shows them)' "$XPU_BIN/xpu-run" "$folder/p.xpu" -i $name.2_5_12_in.npz -d ref --top=1
check 0 '  1,2,4)  ' "$XPU_BIN/xpu-run" -v "$folder/p.xpu" -i $name.2_5_12_in.npz -d ref --top=1
echo "$passed passed, $failed failed"
[ $failed = 0 ]
