#!/usr/bin/env bash
# 10^5 random descriptors.
CHIPS=${CHIPS:-nano tests/rtl/system/quad.json tests/chip/nano-window.json} exec bash "$(dirname "$0")/descriptors.sh" "${XPU_DESCRIPTOR_SEED:-1000}" 200 250
