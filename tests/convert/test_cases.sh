#!/usr/bin/env bash
# Single properties of what xpu-convert writes and of what is read of it again, on models of tests/gen/convert_models.py.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
convert=$XPU_BIN/xpu-convert validate=$XPU_BIN/xpu-validate models=tests/convert/models

# A trip count that is no limit is the largest one of int32; a larger one than float32 holds is written whole
check 0 '' "$convert" -q $models/loop_unbounded.onnx -o "$folder/loop.json"
check 0 '"value","AT":{"#":"0.a_f64","D":2147483647}' cat "$folder/loop.json"
check 0 '' "$convert" -q $models/loop_unbounded.onnx -o "$folder/loop.pdmodel"
check 0 '2147483647' grep -aoF 2147483647 "$folder/loop.pdmodel"
check 1 '' grep -aF 9223372036854775807 "$folder/loop.pdmodel"
check 0 '' "$convert" -q $models/loop_long.onnx -o "$folder/loop.json"
check 0 '"D":16777217}' cat "$folder/loop.json"

# Indices that count from the end: PaddlePaddle's operators do not all take them
for name in scatter_negative scatter_add_negative gather_negative gather_batch; do
    for form in pdmodel json; do
        check 0 '' "$convert" -q $models/$name.onnx -o "$folder/$name.$form"
        check 0 'less_than' grep -aoF -m1 less_than "$folder/$name.$form"
    done
done
for form in pdmodel json; do
    check 0 'no difference' "$validate" $models/scatter_negative.onnx "$folder/scatter_negative.$form"
    check 0 'no difference' "$validate" $models/gather_batch.onnx "$folder/gather_batch.$form" --shape=x=3,4 --range=i=-4..3
done

# Operators in place that write another operand than the first, or none that is read
check 0 '' "$convert" -q $models/where.onnx -o "$folder/where.json"
check 0 'no difference' "$validate" $models/where.onnx "$folder/where.json"
sed -i 's/"1.where"/"1.where_"/' "$folder/where.json"
check 0 'no difference' "$validate" $models/where_again.onnx "$folder/where.json"
check 4 'they differ' "$validate" $models/where.onnx "$folder/where.json"
sed 's/\("1.fake_quantize[a-z_]*\)"/\1_"/' $models/levels.json >"$folder/levels.json"
check 0 '' grep -q 'abs_max_"' "$folder/levels.json"
params=tests/paddle/quantised/trained.pdiparams
check 0 'no difference' "$validate" $models/levels.json "$folder/levels.json" --params-a=$params --params-b=$params

# Names that a ProgramDesc takes for itself; PIR does not. Without parameters there is no file of them
for form in pdmodel json; do
    check 0 '' "$convert" -q $models/feed.onnx -o "$folder/feed.$form"
    check 0 'no difference' "$validate" $models/feed.onnx "$folder/feed.$form"
done
check 0 'feed_1' grep -ao feed_1 "$folder/feed.pdmodel"
check 1 '' grep -ao feed_1 "$folder/feed.json"
check 0 '' test ! -e "$folder/feed.pdiparams"
check 0 '' test -s "$folder/where.pdiparams"

# Without --opset the first one that has everything, with an older one what it has
check 0 '' "$convert" -q $models/resize.onnx -o "$folder/resize.onnx"
check 0 'no difference' "$validate" $models/resize.onnx "$folder/resize.onnx"
check 1 'half_pixel_symmetric needs opset 19' "$convert" -q $models/resize.onnx --opset=18 -o "$folder/resize18.onnx"
for opset in 13 14 15; do
    check 0 '' "$convert" -q $models/types.onnx --opset=$opset -o "$folder/types.$opset.onnx"
    check 0 'no difference' "$validate" $models/types.onnx "$folder/types.$opset.onnx" --range=b=1..127
done
casts() { "$XPU_BIN/xpuc" --describe=graph "$folder/types.$1.onnx" | grep -c ' Cast '; }
check 0 '' test "$(casts 13) $(casts 14) $(casts 15)" = '17 5 2'
check 0 'Max' "$XPU_BIN/xpuc" --describe=graph "$folder/types.13.onnx"
check 1 '' grep -aq zero "$folder/types.14.onnx"
check 0 '' "$convert" -q $models/half_pixel_for_nn.onnx -o "$folder/nearest.onnx"
check 1 '' grep -q tf_half_pixel "$folder/nearest.onnx"
check 0 'no difference' "$validate" $models/half_pixel_for_nn.onnx "$folder/nearest.onnx"

# 5 by 1.4 is 7 in float32 and 6 exactly: what is not the same to everybody is written as sizes
check 0 '' "$convert" -q tests/sweep/Resize-13.onnx -o "$folder/scaled.onnx"
check 0 '' grep -aoFm1 float32_nearest/y/sizes "$folder/scaled.onnx"
check 1 '' grep -aoF float32_nearest/y/scales "$folder/scaled.onnx"
check 0 'no difference' "$validate" tests/sweep/Resize-13.onnx "$folder/scaled.onnx"

# What PaddlePaddle has under another name or in another type
for form in pdmodel json; do
    check 0 '' "$convert" -q tests/networks/6.onnx -o "$folder/boxes.$form"
    check 0 '' grep -aoFm1 multiclass_nms3 "$folder/boxes.$form"
    check 0 '' "$convert" -q tests/sweep/Pad-19.onnx -o "$folder/pad.$form"
    check 0 '' grep -aoFm1 pad3d "$folder/pad.$form"
done
# What both PaddlePaddles compute as ONNX does: not 2.6.2's equal of floats, nor hard_shrink; argsort for what is short or none
check 0 '' "$convert" -q tests/sweep/Equal-13.onnx -o "$folder/equal.pdmodel"
check 0 'greater_equal 11, less_equal 11, logical_and 11' "$XPU_BIN/xpuc" --describe "$folder/equal.pdmodel"
check 0 '' "$convert" -q tests/sweep/Shrink-9-float16.onnx -o "$folder/shrink.pdmodel"
check 1 '' grep -aq hard_shrink "$folder/shrink.pdmodel"
check 0 '' "$convert" -q tests/sweep/TopK-10.onnx -o "$folder/top.pdmodel"
check 0 'argsort 6' "$XPU_BIN/xpuc" --describe "$folder/top.pdmodel"
check 0 'warning [convert-type]' "$convert" tests/sweep/Add-14.onnx -o "$folder/add.pdmodel"
check 0 '' "$convert" -q tests/sweep/Resize-10.onnx -o "$folder/resize.pdmodel"
check 0 'no difference' "$validate" tests/sweep/Resize-10.onnx "$folder/resize.pdmodel" -i tests/sweep/Resize-10_in.npz
check 1 'int64 has another order' "$convert" tests/sweep/Less-13.onnx -o "$folder/less.pdmodel"
check 0 '' test ! -e "$folder/less.pdmodel"

# Options of ONNX files are refused for others
check 2 "error [usage] option '--opset'" "$convert" $models/relu.onnx --opset=17 -o "$folder/relu.json"
check 2 "error [usage] option '--external-data'" "$convert" $models/relu.onnx --external-data -o "$folder/relu.pdmodel"
check 2 "error [usage] option '--opset'" "$convert" $models/relu.onnx '--opset= 17' -o "$folder/relu.onnx"
check 0 '' test -z "$(ls "$folder" | grep relu)"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
