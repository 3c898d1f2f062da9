#!/usr/bin/env bash
# Reading PP-OCRv4's recogniser takes at most 5 ms of a processor and 16 MB; neither is looked at with sanitizers.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
program=${XPU_BUILD:-build}/tests/bench/read_bench
model=${XPU_SHARED:-../shared}/models/paddle/ch_PP-OCRv4_rec/inference.pdmodel
check 2 'usage: read_bench' "$program"
check 1 'cannot be read' "$program" tests/paddle/none.pdmodel
check 0 ' ms, ' "$program" tests/paddle/linear.pdmodel
check 1 ' ms, ' "$program" tests/paddle/linear.pdmodel 0 0
if [ ! -e "$model" ]; then
    echo "skipped: there is no $model"
elif nm "$program" | grep -q __asan_init; then
    echo 'skipped: sanitizers take time and memory'
else
    check 0 ' ms, ' "$program" "$model" 5 16
    echo "PP-OCRv4's recogniser: $output"
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
