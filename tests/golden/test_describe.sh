#!/usr/bin/env bash
# xpuc --describe of models: the texts in tests/golden/describe, exactly. UPDATE=1 writes them again.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
build=${XPU_BUILD:-build}
bin=${XPU_BIN:-$build/bin}
passed=0 failed=0
check() { # check FILE MODEL OPTION
    local expected=tests/golden/describe/$1
    if [ "${UPDATE:-}" ]; then "$bin/xpuc" "$2" "$3" >"$expected" 2>&1; fi
    if diff -u "$expected" <("$bin/xpuc" "$2" "$3" 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $1"
    fi
}
check mnist.txt tests/models/mnist-8.onnx --describe
check mnist.json tests/models/mnist-8.onnx --describe=json
check digits_graph.txt examples/digits/digits.onnx --describe=graph
check unsupported.txt docs/unsupported.onnx --describe
for name in linear everything; do
    check ${name}_desc.txt tests/paddle/$name.pdmodel --describe
    check ${name}_desc_graph.txt tests/paddle/$name.pdmodel --describe=graph
    check ${name}_pir.txt tests/paddle/$name.json --describe
    check ${name}_pir_graph.txt tests/paddle/$name.json --describe=graph
done
check linear_pir.json tests/paddle/linear.json --describe=json
check old.txt tests/paddle/old --describe
echo "$passed passed, $failed failed"
[ $failed = 0 ]
