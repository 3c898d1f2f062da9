#!/usr/bin/env bash
# Large models on the standard chip, Verilated: layers equal on ref, func and rtl, outputs and cycles as recorded in
# tests/regress/large. `xpu-regress --suite=tests/regress/large --update` records.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -d ../shared/models ] || { echo "skipped: ../shared/models is not there"; exit 0; }
"$XPU_BIN/xpu-regress" --suite=tests/regress/large -j "${XPU_TEST_JOBS:-2}"
