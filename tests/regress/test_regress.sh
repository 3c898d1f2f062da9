#!/usr/bin/env bash
# Whole models on all devices and chips: tests/regress/*.json.
set -euo pipefail
cd "$(dirname "$0")/../.."
"$XPU_BIN/xpu-regress" --lockstep
