#!/usr/bin/env bash
# descriptors.sh FIRST_SEED PROGRAMS DESCRIPTORS: random programs of so many descriptors each, on the functional chip
# under several values of register SEED (once with --check-races) and on the Verilated one where its library is there and
# DEVICES says so: the memory at the end must be the same. CHIPS: those to try (of configs/chip, or FILE.json).
set -uo pipefail
cd "$(dirname "$0")/../.."
first=$1 programs=$2 descriptors=$3
bare=${XPU_BARE:-$XPU_BIN/xpu-run --bare} clang=${CLANG:-clang-19}
generator=$XPU_BIN/../tests/gen/random_descriptors_main
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
"$clang" @xpu_runtime/devrt/clang.flags -O2 -fno-strict-aliasing -Wall -Wextra -Werror -I. -c \
    tests/chip/device/descriptors.c -o "$folder/descriptors.o" &&
    "$clang" @xpu_runtime/devrt/clang.flags -Wno-unused-command-line-argument -c xpu_runtime/devrt/bare/start.S \
        -o "$folder/start.o" &&
    ld.lld-19 -T xpu_runtime/devrt/bare/link.ld "$folder/start.o" "$folder/descriptors.o" \
        -o "$folder/base.elf" || exit 1
passed=0 failed=0 total=0 runs=0

run() { # run SEED CHIP DEVICE SEED_REGISTER: the memory's contents to $folder/DEVICE-SEED_REGISTER
    local made cores sm dumps=() core out=$folder/$3-$4
    [ "$3:$4" = func:0 ] && dumps+=(--check-races)
    made=$("$generator" "$1" "$descriptors" "$2" "$folder/base.elf" "$folder/program.elf" "$4") || exit 1
    read -r count cores sm <<<"$made"
    for ((core = 0; core < cores; core++)); do
        dumps+=(--dump-mem=$((0x11000000 + core * 0x100000)):8192:"$out.lm$core")
    done
    rm -f "$out".*
    runs=$((runs + 1))
    if message=$($bare "$folder/program.elf" --chip="$2" --device="$3" --dump-mem=0x20000000:"$sm":"$out.sm" \
        --dump-mem=0x40000000:43008:"$out.l3" --dump-mem=0x80300000:37376:"$out.gm" "${dumps[@]}" 2>&1); then
        cat "$out".* >"$out"
        [[ $message == *race:* ]] || return 0
    fi
    echo "FAILED: seed $1 on $3, chip $2, SEED=$4: the program did not end well"
    printf '%s\n' "$message" | head -n 20
    return 1
}
for chip in ${CHIPS:-nano}; do
    name=$(basename "$chip" .json) others=(func:1 func:2 func:77)
    devices=${DEVICES:-func$([ -e "$XPU_BIN/../lib/libxpurtl-$name.so" ] && echo ' rtl')}
    [[ " $devices " == *' rtl '* ]] && [ -e "$XPU_BIN/../lib/libxpurtl-$name.so" ] && others+=(rtl:0 rtl:5)
    for ((seed = first; seed < first + programs; seed++)); do
        run "$seed" "$chip" func 0 || { failed=$((failed + 1)); continue; }
        total=$((total + count))
        for other in "${others[@]}"; do
            if run "$seed" "$chip" "${other%:*}" "${other#*:}" &&
                cmp -s "$folder/func-0" "$folder/${other/:/-}"; then passed=$((passed + 1)); continue; fi
            failed=$((failed + 1)); echo "FAILED: seed $seed, $descriptors descriptors, chip $chip: func:0 and $other"
            for file in "$folder/func-0".*; do
                cmp "$file" "$folder/${other/:/-}.${file##*.}" | sed 's/.*\///' || true
            done
        done
    done
done
echo "$total descriptors in $runs runs on ${CHIPS:-nano}, seeds $first to $((first + programs - 1))"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
