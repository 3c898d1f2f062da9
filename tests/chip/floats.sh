#!/usr/bin/env bash
# floats.sh DEVICE OPERANDS [PARTS]: so many operands (at least all pairs of special values) of every float operation on
# a device against the host's arithmetic, flags included. PARTS: 1 scalar, 2 vector, 3 both.
set -uo pipefail
cd "$(dirname "$0")/../.."
device=$1 operands=$2 parts=${3:-3}
bare=${XPU_BARE:-$XPU_BIN/xpu-run --bare} chip=${CHIP:-nano} seed=${XPU_FLOAT_SEED:-0x2545f491}
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
clang=${CLANG:-clang-19} per_run=16384 # blocks of 64 operands
"$clang" @xpu_runtime/devrt/clang.flags -O2 -fno-strict-aliasing -Wall -Wextra -Werror -I. -c \
    tests/chip/device/floats.c -o "$folder/floats.o" &&
    "$clang" @xpu_runtime/devrt/clang.flags -Wno-unused-command-line-argument -c xpu_runtime/devrt/bare/start.S \
        -o "$folder/start.o" &&
    "${CC:-gcc}" -std=c11 -O2 -ffp-contract=off -frounding-math -fno-builtin -Wall -Wextra -Werror -I. \
        tests/chip/floats_host.c -o "$folder/host" -lm || exit 1
words=0
[ $((parts & 1)) = 0 ] || words=$((words + 22))
[ $((parts & 2)) = 0 ] || words=$((words + 42))

run() { # run FIRST COUNT DETAIL DUMP
    ld.lld-19 -T xpu_runtime/devrt/bare/link.ld --defsym=seed_value=$((seed)) --defsym=first_block="$1" \
        --defsym=block_count="$2" --defsym=parts="$parts" --defsym=detail_operation="$3" "$folder/start.o" \
        "$folder/floats.o" -o "$folder/floats.elf" || exit 1
    $bare "$folder/floats.elf" --chip="$chip" --device="$device" --dump-mem="$4" >"$folder/messages" 2>&1 && return
    echo "FAILED: the program on $device:"; cat "$folder/messages"; return 1
}
passed=0 failed=0 blocks=$(((operands + 63) / 64))
for ((first = 0; first < blocks; first += per_run)); do
    count=$((blocks - first < per_run ? blocks - first : per_run))
    run $first $count 0 hashes:$((count * words * 4)):"$folder/hashes" || { failed=$((failed + 1)); continue; }
    if "$folder/host" check $((seed)) $first $count "$parts" "$folder/hashes" >"$folder/report"; then
        passed=$((passed + words)); continue
    fi
    failed=$((failed + 1)); echo "FAILED on $device, seed $seed:"; cat "$folder/report"
    while read -r _ block operation _; do
        run "$block" 1 $((operation + 1)) details:512:"$folder/details" &&
            "$folder/host" explain $((seed)) "$block" "$operation" "$folder/details"
    done < <(grep '^differs' "$folder/report" | head -n 3)
done
echo "$device: $words operations, $((blocks * 64)) operands, seed $seed"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
