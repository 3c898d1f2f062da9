#!/usr/bin/env bash
# 1,000 hostile files of each kind, 5,000 of those that PaddlePaddle's readers take, under AddressSanitizer and
# UndefinedBehaviorSanitizer; COUNT, FIRST and kinds change that.
# The compiler finds its resources in the build folder. Kinds that run the tools run those of the build folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${XPU_BUILD:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
export XPU_RESOURCES=$build/share/xpu XPU_BIN=$build/bin
program=$build/san/tests/fuzz/hostile
[ -x "$program" ] || program=$build/tests/fuzz/hostile # the build folder is itself one with sanitizers
case ${1:-} in --allocations | --fields) exec "$program" "$1" ;; esac
if [ $# = 0 ] && [ -z "${COUNT:-}${FIRST:-}" ]; then
    status=0
    "$program" --count=1000 --jobs="${JOBS:-2}" || status=1
    "$program" --count=4000 --first=1001 --jobs="${JOBS:-2}" pdmodel pir params || status=1
    exit $status
fi
exec "$program" --count="${COUNT:-1000}" --first="${FIRST:-1}" --jobs="${JOBS:-2}" "$@"
