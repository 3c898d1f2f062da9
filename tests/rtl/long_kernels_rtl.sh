#!/usr/bin/env bash
# The tests of the device kernels on the Verilated chips, in lock-step from the first instruction.
set -uo pipefail
cd "$(dirname "$0")/../.."
build=${XPU_BUILD:-build} status=0
export XPU_BUILD=$build XPU_KERNEL_DEVICE=rtl XPU_KERNEL_CHIPS=${XPU_KERNEL_CHIPS:-nano standard}
for program in tests/chip/test_kernels*.c; do
    program=$build/${program%.c}
    "$program" >"$program.rtl" 2>&1 || status=1
    grep -v -e '^$' -e CUnit -e cunit "$program.rtl"
done
exit $status
