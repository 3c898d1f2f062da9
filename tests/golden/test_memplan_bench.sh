#!/usr/bin/env bash
# xpu-memplan bench: buffers at random come near the bound; the hard instances, where they are there, fit and are optimal.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
bench() { "$XPU_BIN/xpu-memplan" bench "$@"; }
check 0 'lives up to 300 steps' bench 6000
check 0 '' awk '/steps|large/ { n++; if (!/gap/ && $(NF - 2) > 4) bad = 1 } END { exit bad || n != 4 }' <(bench 6000)
check 2 '0 is not from 1 to 1048576' bench 0
check 2 'the folder holds no .csv file' bench "$folder"
printf 'id,lower,upper,size\na,0,2,100\nb,1,3,50\nc,2,4,100\n' >"$folder/small.150.csv"
check 0 '1 of 1 at capacity' bench "$folder"
instances=${XPU_SHARED:-../shared}/memplan
if [ -d "$instances" ]; then
    bench "$instances" >"$folder/table"
    check 0 '11 of 11 at capacity' cat "$folder/table"
    check 0 ', 9 optimal' cat "$folder/table"
    check 0 '' awk '/^D/ && $12 > 1038336 || /^J/ && $12 > 1041408 || /NOT VALID/ { exit 1 }' "$folder/table"
    check 0 '' awk '/^[A-K][.]/ && $10 > 10 { exit 1 }' "$folder/table" # the usual plan, in per cent above the bound
    check 0 '' awk '/^[A-K][.]/ && $10 > 5 { above++ } END { exit above > 1 }' "$folder/table" # D alone
    check 0 '' awk '/first plan in at most/ { exit !($6 < 5) }' "$folder/table" # milliseconds of this process
else
    printf 'skipped: there is no %s\n' "$instances"
fi
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
