#!/usr/bin/env bash
# The command line of xpuc: what it prints, where results go, exit codes.
set -uo pipefail
model=$PWD/tests/models/mnist-8.onnx digits=$PWD/examples/digits/digits_qdq.onnx
bin=$(cd "$XPU_BIN" && pwd) lib=$(cd "$XPU_BUILD/lib" && pwd)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0 failed=0
# check NAME CONDITION...: runs the condition as a command
check() {
    local name=$1; shift
    if "$@" >/dev/null 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "failed: $name"; fi
}
# status N ARGUMENTS...: exit code of xpuc; its output is in the files out and err
status() {
    local expected=$1; shift
    "$bin/xpuc" "$@" >out 2>err </dev/null
    local got=$?
    [ $got = "$expected" ] || { echo "xpuc $*: exit $got, expected $expected"; cat err; return 1; }
}

check "help" status 0 --help
check "help has an example" grep -q '^  xpuc mnist-8.onnx' out
check "version" status 0 --version
check "no model" status 2
check "no model: hint" grep -qx '  hint: write xpuc MODEL.onnx, or see xpuc --help' err
check "two models" status 2 a.onnx b.onnx
check "unknown option" status 2 "$model" --precison=fp32
check "unknown option: hint" grep -q 'precision' err
check "no such model" status 3 none.onnx
for name in none.pt none.xpu; do
    check "no such file: $name" status 3 $name
    check "no such file: $name: message" grep -q "^$name: error \[io-open\]" err
    check "nothing to describe: $name" status 3 --describe $name
done
echo text >text.xpu
check "describe what is no program" status 3 --describe text.xpu
check "describe what is no program: message" grep -q '^text.xpu: error \[xpu-format\]' err
rm text.xpu
check "unknown precision" status 2 "$model" --precision=int3
check "unknown chip" status 2 "$model" --chip=nona
check "failed runs leave nothing" test -z "$(find . -name '*.xpu' -o -name '.xpu*')"

check "default output" status 0 "$model"
check "the last line names it" grep -q '^mnist-8.onnx: 12 operators, .* -> mnist-8.xpu$' out
check "it is there" test -s mnist-8.xpu
check "two compilations give the same bytes" status 0 "$model" -q -o again.xpu
check "same bytes" cmp mnist-8.xpu again.xpu
check "quiet" test ! -s out
check "describe a program" status 0 --describe mnist-8.xpu
check "its input" grep -q '^input    Input3  float32\[1,1,28,28\]$' out
check "describe a model" status 0 --describe "$model"
check "graph on standard output" status 0 "$model" --emit=ir
check "graph" grep -q '^graph "CNTKGraph"$' out
check "summary beside it" grep -q '^mnist-8.onnx: 12 operators' err
check "C in a file" status 0 "$model" --emit=c -o net.c
check "C" grep -q 'xpu_layers' net.c
check "no loops, no headers for them" test -z "$(grep riscv_vector.h net.c)"
check "C of a quantised model, on a chip without a window engine" status 0 "$digits" --chip=pro --emit=c -o digits.c
check "behind engine and cores a layer is called ahead" grep -q '^    1, /\* logits_QuantizeLinear \*/$' digits.c
check "a layer on the cores is not" grep -q '^    0, /\* pool2_QuantizeLinear \*/$' digits.c
check "nor is one behind the engine" grep -q '^    0, /\* conv2/relu_QuantizeLinear \*/$' digits.c
check "nor one behind two layers on the cores" grep -q '^    0, /\* block1/relu_QuantizeLinear \*/$' digits.c
check "checked passes" status 0 "$model" --emit=ir --check-passes -q
check "dump" status 0 "$model" --dump-after=fold --precision=fp32 -o d.xpu
check "dump has unfused nodes" grep -q "relu(" out
check "explain" status 0 "$model" --explain -o e.xpu
check "explain: layer of a fused node" grep -Eq '^2 +Add +Plus30 +ReLU32 ' out
check "explain by cost" status 0 "$model" --explain --sort=cost -o e.xpu
check "the dearest layer first" awk '$3 == "%" { n++; if (before && $1 > before) exit 1; before = $1 } END { exit n != 7 }' out
check "its unit and operator" grep -Eq '^ +[1-9][0-9]+ +[0-9.]+ %  tensor conv +ReLU114: matrix-like operators' out
check "all of them" grep -Eq '^ +[0-9]+ +all, by the target' out
check "between products" grep -qx 'ReLU32 -> ReLU114' out
check "what stands there" grep -Eq '^ +[0-9]+  window max_pool +Pooling66: ' out
check "and why" grep -Eq '^ +[0-9]+  dma    relayout +Pooling160.*/channel_first: the engine has images channel last' out
check "explain by cost, json" status 0 "$model" --explain=json --sort=cost -o e.xpu
check "json: layers" grep -q '"modelled_cycles": [1-9]' out
check "json: gaps" grep -q '"to": "ReLU114"' out
check "sort without explain" status 2 "$model" --sort=cost
check "sort by what" status 2 "$model" --explain --sort=name
echo '{"rules": [{"match": "*", "precision": "int16x8"}, {"match": "Conv*28", "precision": "fp32"}]}' >rules.json
check "precision rules" status 0 "$model" --precision-rules=rules.json --explain -o p.xpu
check "the last rule holds" grep -Eq '^1 +Conv +Convolution28 .* fp32 .*: the precision rule "Conv\*28"$' out
check "and the first for others" grep -Eq '^10 +MatMul +Times212 .* int16x8 .*: the precision rule "\*"' out
floats=$(dirname "$model")/../../examples/digits/digits.onnx
check "on a chip without a window engine" status 0 "$floats" --chip=nano --precision-rules=rules.json --explain -o p.xpu
check "cores are no engine" grep -Eq '^4 +Conv +block1/dw .* core: the precision rule "\*": .* window engine of chips that have one$' out
check "rows have scales" status 0 "$floats" --precision=int16 --explain -o f.xpu
check "explain: who has them" grep -Eq '^19 +Gemm +logits .* int16 .*; each row has a scale$' out
echo '{"rules": [{"match": "log*", "precision": "int16", "row_scales": false}]}' >rules.json
check "rows without scales" status 0 "$floats" --precision-rules=rules.json --emit=ir -o f.ir
check "one absmax for all" test "$(grep -c 'row_scale(\|row_restore(' f.ir) $(grep -c " = matmul(%flatten, .* %pool2/absmax)" f.ir)" = "0 1"
check "report" status 0 "$model" --report=r.json -o r.xpu
check "report" grep -q '"weights_bytes"' r.json
check "no place to write" status 3 "$model" -o no/such/folder.xpu
check "a full disk" status 3 "$model" -o /dev/full

check "plug-in" status 0 "$model" --plugin="$lib/xpu-target-byoc.so" --target=c
check "its last line" grep -q ' for c; .* -> mnist-8.c$' out
check "its C compiles" cc -std=c11 -Wall -Werror -c mnist-8.c -o mnist-8.o
check "a file that is no plug-in" status 3 "$model" --plugin="$model"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
