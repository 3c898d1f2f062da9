#!/usr/bin/env bash
# Ten thousand runs, a hundred sessions and threads through the execution provider, in PYTHON's onnxruntime.
set -uo pipefail
about="many runs through the execution provider" python=${PYTHON:-python3}
. tests/provider/stock.sh
build_it provider 2>"$folder/missing" || skip "$(cat "$folder/missing")"
has_onnxruntime "$python" || skip "$python has $missing"
in_tree "$python" tests/provider/check_sessions.py runs opened eight
status=$?
first= # what two threads do, before what others do on this machine, where that is allowed
chrt -r 1 true 2>/dev/null && first='chrt -r 1'
in_tree $first "$python" tests/provider/check_sessions.py two && exit $status
