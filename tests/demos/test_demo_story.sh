#!/usr/bin/env bash
# make demo-story: the step's session and the loop tell the documented story (story.txt), 256 tokens on func, the first ones on
# rtl; nothing runs on the host, and the chip is asked once for the loop, once a token for the steps.
set -uo pipefail
. "$(dirname "$0")/story.sh"
check 0 "make demo-story" env -i PATH="$PATH" bash -c '
    mkdir "$1/examples" && ln -s "$(realpath "$2/bin")" "$1/bin" && ln -s "$(realpath "$2/examples/story")" "$1/examples/story"
    scripts/demo_story "$1" func 256 && echo make demo-story' - "$folder" "$XPU_BUILD"
told=$output
for form in step loop; do
    check 1 '' grep -q 'host:' <<<"$("$XPU_BIN/xpuc" --describe "$folder/demo-story/$form.xpu")"
done
check 0 "$story
$folder/demo-story/step.xpu: 256 tokens, step by step, on func
$story
$folder/demo-story/loop.xpu: 256 tokens, one loop, on func" printf '%s\n' "$told"
# --precision=auto keeps the same products in float32 in the loop's body as in the step
in_int16() { "$XPU_BIN/xpuc" -q "examples/story/stories260K_$1.onnx" "${@:2}" --explain -o "$folder/explained.xpu" | grep -c ' tensor: '; }
check 1 "$(in_int16 step --value=pos=0..511)" in_int16 loop --value=count=1..512
check 0 ' 0 ' echo " $output "
if [ -e "$XPU_BUILD/lib/libxpurtl-standard.so" ]; then
    at_most() { local cycles=${output##*on rtl, }; check 0 '' test "${cycles%% *}" -le "$1"; } # cycles of a token, on average
    check 0 'Once upon a time, there was
' "$tell" "$folder/demo-story/step.xpu" "$words" --tokens=7 --device=rtl
    at_most 250000
    check 0 'Once upon a time, there was
' "$tell" "$folder/demo-story/loop.xpu" "$words" --tokens=7 --device=rtl
    at_most 370000
    # A step at position 100
    "$XPU_BIN/xpu-run" -q "$folder/demo-story/step.xpu" -i tests/demos/step_100_in.npz --stats="$folder/stats.json"
    output="on rtl, $(sed -n 's/^  "cycles": *\([0-9]*\).*/\1/p' "$folder/stats.json") cycles"
    at_most 220000
fi
# What is no vocabulary, no program of a story, no number
head -c 3000 "$words" >"$folder/words.bin"
check 2 "$folder/words.bin: error [story-words] this is no vocabulary of 512 words" "$tell" "$folder/demo-story/step.xpu" "$folder/words.bin"
printf '\0\0\0\0\0\0\0\0\377\377\377\377' >"$folder/words.bin"
check 2 'why: it ends before its last word' "$tell" "$folder/demo-story/step.xpu" "$folder/words.bin"
check 3 'error [io-read]' "$tell" "$folder/demo-story/step.xpu" "$folder/none.bin"
check 0 '' "$XPU_BIN/xpuc" -q tests/models/mnist-8.onnx -o "$folder/mnist.xpu"
check 2 'error [story-program] the program tells no stories' "$tell" "$folder/mnist.xpu" "$words"
for form in step loop; do
    check 0 '' "$XPU_BIN/xpuc" -q "tests/demos/no_story_$form.onnx" -o "$folder/no_story.xpu"
    check 2 'no_story.xpu: error [story-program] the program tells no stories
  why: its first output is ' "$tell" "$folder/no_story.xpu" "$words"
done
check 2 'error [usage] --tokens is not 1 to 512' "$tell" "$folder/demo-story/step.xpu" "$words" --tokens=513
echo "$passed passed, $failed failed"
[ $failed = 0 ]
