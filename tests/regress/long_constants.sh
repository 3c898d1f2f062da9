#!/usr/bin/env bash
# What the model of cycles is made of (xpu_codegen/choose/costs.def) is what the Verilated chip takes, within half.
set -euo pipefail
cd "$(dirname "$0")/../.."
"$XPU_BUILD/tests/gen/constants_main"
