#!/usr/bin/env bash
# core/arith.h and core/arith_rvv.h compiled for the device, run by QEMU, against the host's build: equal hashes of all
# results mean equal bits. MATCH_ROUNDS is the number of 64-element blocks for each function.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
rounds=-DMATCH_ROUNDS=${MATCH_ROUNDS:-1024}
source=tests/chip/arith_match.c
"${CLANG:-clang-19}" @xpu_runtime/devrt/clang.flags -fno-vectorize -fno-slp-vectorize -Wall -Wextra -Werror -I. $rounds -c $source -o "$folder/device.o"
"${CLANG:-clang-19}" @xpu_runtime/devrt/clang.flags -Wall -Wextra -Werror -I. -c xpu_runtime/devrt/wide.c -o "$folder/wide.o"
ld.lld-19 --gc-sections "$folder/device.o" "$folder/wide.o" -o "$folder/device"
"${CC:-gcc}" -std=c11 -O2 -ffp-contract=off -Wall -Wextra -Werror -I. $rounds $source -o "$folder/host" -lm
"$folder/host" >"$folder/host.txt"
if ! command -v qemu-riscv32 >/dev/null; then
    echo "skipped: device and host compile, but there is no qemu-riscv32 (Debian: qemu-user) to compare them"
    exit 0
fi
qemu-riscv32 -cpu rv32,v=true,vlen=512,elen=64,vext_spec=v1.0 "$folder/device" >"$folder/device.txt" || {
    echo "a vector function differs from its scalar function (lines with !):"; cat "$folder/device.txt"; exit 1; }
diff "$folder/host.txt" "$folder/device.txt"
echo "$(wc -l <"$folder/host.txt") functions: host, device scalar and device vector code agree"
