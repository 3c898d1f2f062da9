#!/usr/bin/env bash
# Ten random chips, new ones each day.
first=${XPU_CHIP_SEED:-$(date +%Y%m%d)0}
exec bash "$(dirname "$0")/random_chip.sh" $(seq "$first" $((first + 9)))
