#!/usr/bin/env bash
# A parameter of PaddlePaddle of more than 2^31 elements, and one behind it: read as they are on the host, refused by a chip
# of less memory; the same file cut off by a byte is named. It takes 3 GB of memory and a file system with sparse files.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
memory=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
if [ "$memory" -lt 3500000 ]; then
    echo "skipped: $memory KB of memory are free, it takes 3,500,000"
    exit 0
fi
check 0 '' python3 tests/gen/paddle_large.py "$folder"
check 0 'expected  1 of 1 agree' "$XPU_BIN/xpu-validate" "$folder/large.pdmodel" "$folder/large.pdmodel" \
    --input "$folder/large_in.npz" --expect="$folder/large_out.npz"
check 1 'they have 21475820' "$XPU_BIN/xpuc" -q "$folder/large.pdmodel" -o "$folder/large.xpu"
truncate -s -1 "$folder/large.pdiparams"
check 1 "'w'" "$XPU_BIN/xpuc" -q "$folder/large.pdmodel" -o "$folder/large.xpu"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
