#!/usr/bin/env bash
# Random programs of descriptors on one and on four cores, on the Verilated chips where they are built; long_descriptors.sh
# has 10^5 descriptors.
CHIPS=${CHIPS:-nano standard tests/rtl/system/quad.json tests/chip/nano-window.json} exec bash "$(dirname "$0")/descriptors.sh" "${XPU_DESCRIPTOR_SEED:-1}" 10 150
