#!/usr/bin/env bash
# The tests of the device kernels (tests/chip/test_kernels*.c) on the Verilated chips nano and standard, in lock-step
# from the first instruction: one case in eight of each kernel; long_kernels_rtl.sh runs all.
XPU_KERNEL_PART=${XPU_KERNEL_PART:-8} exec bash "$(dirname "$0")/long_kernels_rtl.sh"
