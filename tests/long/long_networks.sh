#!/usr/bin/env bash
# A thousand random networks of the kinds that people have (tests/gen/random_networks.py), seeds 61 to 1060.
XPU_SEEDS="61 1060" exec bash "$(dirname "$0")/../networks/test_networks.sh"
