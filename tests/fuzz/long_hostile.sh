#!/usr/bin/env bash
# 20,000 hostile files of each kind, and of those that take a few milliseconds so many that all are over 2,000,000; other
# seeds than those of test_hostile.
set -euo pipefail
run=(bash "$(dirname "$0")/test_hostile.sh")
status=0
COUNT=20000 FIRST=1000001 "${run[@]}" program operators convert calls control steps state sizes frames dumps arguments cost inputs outputs names signals changed || status=1
COUNT=210000 FIRST=1000001 "${run[@]}" pdmodel pir params ranges model npy npz chip rules regress picture precision shape csv problem plan view || status=1
exit $status
