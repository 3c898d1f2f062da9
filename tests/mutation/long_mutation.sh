#!/usr/bin/env bash
# Single mutations of rows, rules and passes, each noticed by some test within 60 seconds (mutation.py says how).
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/mutation/mutation.py --build="${XPU_BUILD:-build}" "$@"
