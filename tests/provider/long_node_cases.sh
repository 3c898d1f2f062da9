#!/usr/bin/env bash
# All node cases of the package onnx through the execution provider, in PYTHON's onnxruntime; arguments: of node_cases.py.
set -uo pipefail
about="the node cases through the execution provider" python=${PYTHON:-python3}
. tests/provider/stock.sh
build_it provider 2>"$folder/missing" || skip "$(cat "$folder/missing")"
has_onnxruntime "$python" || skip "$python has $missing"
in_tree "$python" tests/provider/node_cases.py "$@"
