#!/usr/bin/env bash
# Random networks of If, Loop and Scan, seeds 41 to 200: func and rtl, in lock-step, give the bits of ref.
XPU_SEEDS="41 200" exec bash "$(dirname "$0")/../loops/test_devices.sh"
