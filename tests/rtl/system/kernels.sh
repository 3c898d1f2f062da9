#!/usr/bin/env bash
# The programs of tests/rtl/core as bare programs on whole chips, in lock-step and under seeds; each ends with status 0.
# Chips: arguments.
set -uo pipefail
cd "$(dirname "$0")/../../.."
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 seed=0
for kernel in integer floats memory; do for level in 1 2 3; do
    elf=$folder/$kernel-O$level.elf
    "${CLANG:-clang-19}" --target=riscv32-unknown-elf -march=rv32imf_zicsr -mabi=ilp32f -std=c11 -ffreestanding \
        -nostdlib -fno-math-errno -ffp-contract=off -mno-relax -O$level -I. -fuse-ld=lld \
        -Wl,-T,xpu_runtime/devrt/bare/link.ld xpu_runtime/devrt/bare/start.S tests/rtl/core/device/$kernel.c -o "$elf" ||
        exit 1
    for chip in "$@"; do
        seed=$((seed + 1))
        if output=$("$XPU_BIN/xpu-run" --bare "$elf" --device=rtl --chip="$chip" --lockstep --seed=$((seed % 5)) 2>&1); then
            passed=$((passed + 1))
        else
            failed=$((failed + 1)); printf 'FAILED: %s on %s, seed %s\n%s\n' "$elf" "$chip" $((seed % 5)) "$output"
        fi
    done
done; done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
