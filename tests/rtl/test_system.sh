#!/usr/bin/env bash
# The whole Verilated chips nano and standard: programs, faults, the watchdog's cycle, random work of the engines under
# 20 timings, every field of every descriptor; then scalar programs in lock-step.
set -uo pipefail
cd "$(dirname "$0")/../.."
build=${XPU_BUILD:-build}; export XPU_SYSTEM_CHIP=standard
"$build/tests/rtl/system/system"; system=$?
bash tests/rtl/system/kernels.sh nano standard && [ $system = 0 ]
