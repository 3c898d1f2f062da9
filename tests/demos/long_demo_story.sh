#!/usr/bin/env bash
# The longer runs of test_demo_story.sh: the story to its end on func, in both forms and at fp32, and 32 tokens on rtl.
set -uo pipefail
. "$(dirname "$0")/story.sh"
for precision in auto fp32; do
    check 0 '' "$XPU_BIN/xpuc" -q examples/story/stories260K_step.onnx --value=pos=0..511 --state=keys_out=keys --state=values_out=values \
        --precision=$precision -o "$folder/step.$precision.xpu"
    check 0 '' "$XPU_BIN/xpuc" -q examples/story/stories260K_loop.onnx --value=count=1..512 --precision=$precision -o "$folder/loop.$precision.xpu"
    for form in step loop; do
        check 0 "$story" "$tell" "$folder/$form.$precision.xpu" "$words" --tokens=512
        check 0 ': 345 tokens, ' printf '%s' "$output"
        check 0 "${story:0:80}" "$tell" "$folder/$form.$precision.xpu" "$words" --tokens=32 --device=rtl
    done
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
