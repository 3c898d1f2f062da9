#!/usr/bin/env bash
# xpu-validate: what it says of models that are the same, that differ, and that cannot be compared; its options.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
build=${XPU_BUILD:-build}
validate=$build/bin/xpu-validate xpuc=$build/bin/xpuc
mnist=tests/models/mnist-8.onnx nine=tests/models/9.npy digits=examples/digits/digits.onnx
key() { # key FILE KEY: a number, word or text of the JSON, the first of that name
    grep -m1 "\"$2\":" "$1" | sed 's/.*": *//; s/,$//; s/^"//; s/"$//'
}
is() { # is WHAT FOUND WANTED
    if [ "$2" = "$3" ]; then passed=$((passed + 1)); return; fi
    failed=$((failed + 1)); printf 'FAILED: %s is %s, not %s\n' "$1" "$2" "$3"
}
quiet() { # a pipe gets no line of progress
    "$validate" "$mnist" "$mnist" 2>"$folder/err" >"$folder/out"; cat "$folder/err"
}

# the same
check 0 'outputs   1 agree, within 0 of max|a|' "$validate" "$mnist" "$mnist"
check 0 '12 of 12 results found in A (12 by name' "$validate" "$mnist" "$mnist"
check 0 'input     x  float32[1,4]  drawn' "$validate" tests/paddle/linear.pdmodel tests/paddle/linear.json
check 0 '' "$validate" -q "$mnist" "$mnist"
is 'output of -q' "$output" ''
check 0 '' quiet
is 'stderr in a pipe' "$output" ''
"$xpuc" -q "$mnist" --precision=fp32 -o "$folder/m.xpu"
"$xpuc" -q "$mnist" --precision=fp32 --strip -o "$folder/s.xpu"
check 0 'no difference' "$validate" "$mnist" "$folder/m.xpu"
check 2 'error [validate-program]' "$validate" "$mnist" "$folder/s.xpu"

# sizes: drawn, given, shared by both; seeds
check 0 'float32[1,4]  drawn' "$validate" tests/paddle/linear.pdmodel tests/paddle/linear.json --seed=0
check 0 'float32[5,4]  drawn' "$validate" tests/paddle/linear.pdmodel tests/paddle/linear.json --shape x=5,4
check 0 '7 samples' "$validate" "$mnist" "$mnist" --samples=7
check 0 'float32[1,1,28,28]  given' "$validate" "$mnist" "$mnist" -i "$nine"
check 0 '1 sample on ref' "$validate" "$mnist" "$mnist" -i "Input3=$nine"
check 0 'no difference' "$validate" "$mnist" "$mnist" --range Input3=0..255

# expected outputs
check 0 'expected  1 of 1 agree' "$validate" "$mnist" -i "$nine" --expect=tests/models/mnist8_expected.npz
check 0 'expected  1 of 1 agree' "$validate" "$mnist" "$mnist" -i "$nine" --expect=tests/models/mnist8_expected.npz
check 4 'expected  0 of 1 agree' "$validate" "$mnist" -i "$nine" --expect=tests/paddle/linear_in.npz
check 0 'expected  1 of 1 agree' "$validate" tests/paddle/linear.pdmodel -i tests/paddle/linear_in.npz --expect=tests/paddle/linear_out.npz
check 2 'error [validate-expect]' "$validate" "$mnist" --expect=tests/models/mnist8_expected.npz
check 2 'error [validate-expect]' "$validate" "$mnist" -i "$nine" --expect=examples/digits/digits_heldout.npz

models=tests/convert/models relu=tests/convert/models/relu.onnx given=(-i tests/convert/models/relu_in.npz)
check 0 'expected  1 of 1 agree' "$validate" $relu "${given[@]}" --expect=$models/relu_out.npz
check 4 "'y' in shape" "$validate" $relu "${given[@]}" --expect=$models/relu_turned.npz
check 4 'expected  0 of 1 agree' "$validate" $relu "${given[@]}" --expect=$models/relu_turned.npz
check 4 'expected  0 of 1 agree' "$validate" $relu $models/negative.onnx "${given[@]}" --expect=$models/relu_wrong.npz
check 4 'expected  0 of 1 agree' "$validate" $relu $models/negative.onnx "${given[@]}" --expect=$models/relu_out.npz
check 2 "error [input-file] input 'x': the archive has no such entry" "$validate" $relu $relu -i x=$models/relu_two.npz
check 2 "it has 'a', 'b'" "$validate" $relu $relu -i x=$models/relu_two.npz

# what one model has as an input and the other built in; integers as they are; a step of bytes that nothing quantises
check 0 'no difference' "$validate" $models/expand_input.onnx $models/expand_built_in.onnx --value k=3,4
check 0 'no difference' "$validate" $models/expand_built_in.onnx $models/expand_input.onnx --value k=3,4
check 4 'they differ' "$validate" $models/expand_built_in.onnx $models/expand_input.onnx --value k=5,4
check 2 'error [value-option]' "$validate" $models/expand_input.onnx $models/expand_built_in.onnx --value k=3,4 --value z=1
check 0 'no difference' "$validate" $models/absolute.onnx $models/absolute_int32.onnx -i $models/absolute_in.npz -t 1e-9
check 4 '1 of 1 differ' "$validate" $models/bytes.onnx $models/bytes_a_step_apart.onnx -i $models/bytes_in.npz

# they differ
check 4 'first difference, sample 0' "$validate" "$digits" examples/digits/digits_qdq.onnx
"$validate" --json "$digits" examples/digits/digits_qdq.onnx >"$folder/d.json"
is 'differ' "$(key "$folder/d.json" differ)" true
is 'version' "$(key "$folder/d.json" version)" 1
is 'differing_outputs' "$(key "$folder/d.json" differing_outputs)" 1
check 0 'no difference' "$validate" "$digits" examples/digits/digits_qdq.onnx --tolerance=3

# mutations; where every operator has its counterpart the outputs need not tell
mutant() { "$build/tests/gen/mutate_onnx_main" "$1" "$2" "$folder/b.onnx" ${3:-} >"$folder/what"; }
mutant "$mnist" 5000
check 4 "in B: node 'Convolution28' (Conv-1, #1)" "$validate" "$mnist" "$folder/b.onnx"
check 4 "first there, sample 0: 'Convolution28_Output_0'" "$validate" "$mnist" "$folder/b.onnx" -d func -i "$nine"
check 4 "'Convolution28_Output_0' of A, 'renamed/Convolution28_Output_0' of B" \
    "$validate" "$mnist" "$folder/c.onnx" $(mutant "$mnist" 5000 --rename; cp "$folder/b.onnx" "$folder/c.onnx")
mutant "$digits" 6
check 4 "first difference, an operand: 'conv3/w'" "$validate" "$digits" "$folder/b.onnx"

# on a device
check 0 'on func   outputs agree' "$validate" "$mnist" "$mnist" -d func --chip=nano -i "$nine"
check 2 'the option has no effect on ref' "$validate" "$mnist" "$mnist" --chip=nano
check 2 'there is no such device' "$validate" "$mnist" "$mnist" -d gpu
check 2 'there is one model' "$validate" "$mnist" -d func -i "$nine" --expect=tests/models/mnist8_expected.npz
check 2 'error [validate-compile]' "$validate" "$mnist" "$mnist" -d func --chip=none

# it cannot be compared
check 2 'error [validate-size]' "$validate" "$digits" "$mnist"
check 2 'there are not two models' "$validate" "$mnist"
check 2 'there are more than two models' "$validate" "$mnist" "$mnist" "$mnist"
check 3 'error [io-open]' "$validate" "$mnist" "$folder/none.onnx"
touch "$folder/a.pt"
check 2 'error [model-format]' "$validate" "$mnist" "$folder/a.pt"
check 2 'error [validate-input]' "$validate" "$mnist" "$mnist" -i "x=$nine"
check 2 'is given twice' "$validate" "$mnist" "$mnist" -i "$nine" -i "Input3=$nine"
check 2 'error [shape-option]' "$validate" "$digits" "$digits" -i x=tests/paddle/linear_in.npz
check 2 'error [validate-range]' "$validate" "$mnist" "$mnist" --range Input3
check 2 'A has no such input' "$validate" "$mnist" "$mnist" --range x=0..1
check 2 'given, and not drawn' "$validate" "$mnist" "$mnist" --range Input3=0..1 -i "$nine"
check 2 'error [shape-option]' "$validate" "$mnist" "$mnist" --shape y=1
check 2 'error [usage]' "$validate" "$mnist" "$mnist" --params-a=x
check 2 "option '--samples'" "$validate" "$mnist" "$mnist" --samples=0
check 2 "option '--tolerance'" "$validate" "$mnist" "$mnist" -t 0
check 2 "option '--seed'" "$validate" "$mnist" "$mnist" --seed=-1

printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
