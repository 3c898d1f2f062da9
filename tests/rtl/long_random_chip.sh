#!/usr/bin/env bash
# Ten random chips, new ones each day; Yosys, too.
first=${XPU_CHIP_SEED:-$(date +%Y%m%d)0}
XPU_YOSYS=1 exec bash "$(dirname "$0")/random_chip.sh" $(seq "$first" $((first + 9)))
