#!/usr/bin/env bash
# One random chip; XPU_CHIP_SEED chooses another, long_random_chip.sh tries ten of the day.
exec bash "$(dirname "$0")/random_chip.sh" "${XPU_CHIP_SEED:-1}"
