#!/usr/bin/env bash
# run.sh LEVEL...: the families of device/ at these optimisation levels (1 2 3), as bare programs on the devices (the
# functional chip; the Verilated one where its library is there and DEVICES says so) and under QEMU's user mode. One
# check for each kernel, level and pair of results. CHIP: the chip (nano); FAMILIES: not all of them.
set -uo pipefail
cd "$(dirname "$0")/../.."
levels=${*:-2}
bare=${XPU_BARE:-$XPU_BIN/xpu-run --bare} chip=${CHIP:-nano}
devices=${DEVICES:-func$([ -e "$XPU_BIN/../lib/libxpurtl-$(basename "$chip" .json).so" ] && echo ' rtl')}
clang=${CLANG:-clang-19} link=${LLD:-ld.lld-19} bytes=16384 slot=1024 # SLOTS * SLOT_WORDS * 4
emulator=(qemu-riscv32 -cpu rv32,d=false,Zve32f=true,vlen=512,elen=32,vext_spec=v1.0)
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 kernels=0
complain() { failed=$((failed + 1)); printf 'FAILED: %s\n' "$*"; }

# The device's flags; -O3 without the one that forbids segment accesses, with which clang 19 stops at some strided
# loops.
grep -v interleaved xpu_runtime/devrt/clang.flags >"$folder/flags-3"
compile() { # compile LEVEL FILE.c OBJECT
    local flags=xpu_runtime/devrt/clang.flags
    [ "$1" = 3 ] && flags=$folder/flags-3
    "$clang" "@$flags" -Wno-unused-command-line-argument -O"$1" -Wall -Wextra -Werror -I. -c "$2" -o "$3" || exit 1
}
names() { sed -n '/^RUN(/,/)/p' "$1" | tr -c 'a-z0-9_\n' ' ' | tr ' ' '\n' | grep .; }
compare() { # compare FAMILY LEVEL WHAT FILE FILE: one check for each kernel
    local list bad
    mapfile -t list < <(names "tests/corpus/device/$1.c")
    bad=$(cmp -l "$4" "$5" | awk -v slot=$slot '
        { k = int(($1 - 1) / slot); if (!(k in first)) first[k] = ($1 - 1) % slot }
        END { for (k in first) printf "%d:%d ", k, int(first[k] / 4) }')
    for pair in $bad; do
        complain "$1.c, ${list[${pair%:*}]:-behind the last kernel}, -O$2, $3: word ${pair#*:} differs"
    done
    passed=$((passed + ${#list[@]} - $(wc -w <<<"$bad")))
}
complete() { # complete FAMILY FILE: every kernel has left its mark and more than one word
    local n=0 words
    for name in $(names "tests/corpus/device/$1.c"); do
        words=$(od -A n -v -t x4 -w4 -j $((n * slot)) -N $slot "$2" | grep -vc 00000000)
        { [ "$words" -gt 4 ] && [ "$(od -A n -t x1 -j $(((n + 1) * slot - 1)) -N 1 "$2")" = " 5a" ]; } ||
            complain "$1.c, $name: $words words of results"
        n=$((n + 1))
    done
}

qemu=
if ! command -v qemu-riscv32 >/dev/null; then echo 'skipped: no qemu-riscv32 here'; else qemu=1; fi
compile 2 xpu_runtime/devrt/bare/start.S "$folder/start-bare.o"
compile 2 tests/corpus/device/support/qemu.S "$folder/start-qemu.o"
for level in $levels; do
    compile "$level" tests/corpus/device/support/support.c "$folder/support.o"
    for source in tests/corpus/device/*.c; do
        family=$(basename "$source" .c) base=$folder/$(basename "$source" .c)
        [[ " ${FAMILIES:-$family} " == *" $family "* ]] || continue
        compile "$level" "$source" "$base.o"
        "$link" -T xpu_runtime/devrt/bare/link.ld "$folder/start-bare.o" "$base.o" "$folder/support.o" \
            -o "$base.elf" || exit 1
        reference=
        for device in $devices; do
            if ! message=$($bare "$base.elf" --chip="$chip" --device="$device" \
                --dump-mem=result:$bytes:"$base.$device" 2>&1); then
                complain "$family.c, -O$level on $device"; printf '%s\n' "$message"; continue
            fi
            if [ -z "$reference" ]; then reference=$base.$device; complete "$family" "$reference"; continue; fi
            compare "$family" "$level" "$device and ${reference##*.}" "$base.$device" "$reference"
        done
        [ -n "$qemu" ] && [ -n "$reference" ] || continue
        "$link" -T tests/corpus/device/support/qemu.ld "$folder/start-qemu.o" "$base.o" "$folder/support.o" \
            -o "$base.user" || exit 1
        if ! "${emulator[@]}" "$base.user" >"$base.qemu"; then complain "$family.c, -O$level under QEMU"; continue; fi
        compare "$family" "$level" "${reference##*.} and QEMU" "$base.qemu" "$reference"
    done
done
for source in tests/corpus/device/*.c; do kernels=$((kernels + $(names "$source" | wc -l))); done
echo "$kernels kernels, levels $levels, devices $devices${qemu:+, QEMU}"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
