#!/usr/bin/env bash
# 500 hostile files of each kind, under AddressSanitizer and UndefinedBehaviorSanitizer; COUNT and FIRST change that.
# The compiler finds its resources in the build folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${XPU_BUILD:-build}
export XPU_RESOURCES=$PWD/$build/share/xpu
case $build in /*) XPU_RESOURCES=$build/share/xpu ;; esac
program=$build/san/tests/fuzz/hostile
[ -x "$program" ] || program=$build/tests/fuzz/hostile # the build folder is itself one with sanitizers
[ "${1:-}" = --allocations ] && exec "$program" --allocations
exec "$program" --count="${COUNT:-500}" --first="${FIRST:-1}" --jobs="${JOBS:-2}" "$@"
