#!/usr/bin/env bash
# The way through the tools that docs/a-layer-is-wrong.md describes: compile, run on both devices, dump, compare, replay, find
# a layer that was damaged on purpose.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
for precision in fp32 int16; do
    [ $precision = fp32 ] && of_layer=1 || of_layer=2 # tensors: in int16 its absmax, too
    xpu=$folder/mnist-8-$precision.xpu
    check 0 " -> $xpu" "$XPU_BIN/xpuc" tests/models/mnist-8.onnx --precision=$precision -o "$xpu"
    for device in func ref; do
        check 0 '0)  9: ' "$XPU_BIN/xpu-run" "$xpu" --input Input3=tests/models/9.npy --device=$device \
            --dump-layers="$folder/$device" --output="$folder/$device.npz" --stats="$folder/$device.json"
    done
    check 0 '0 of 1 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/func.npz" "$folder/ref.npz"
    check 0 ' tensors differ: ' "$XPU_BIN/xpu-dump" diff "$folder/func" "$folder/ref"
    check 0 '0 of 1 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/func" tests/models/mnist8_expected.npz -t 1e-2,1e-3
    check 0 'on func (chip standard, precision '$precision')' "$XPU_BIN/xpu-dump" show "$folder/func"
    check 0 "layer 'Pooling66' on func: equal to" "$XPU_BIN/xpu-run" "$xpu" --device=func --layer=Pooling66 --from-dump="$folder/func"
    pooling=$(basename "$(ls "$folder"/func/*_Pooling66.npy)")
    printf '\x00\x00\x80\x7f' | dd of="$folder/func/$pooling" bs=1 seek=$((128 + 4 * 15)) conv=notrunc status=none
    check 4 "first difference: layer 'Pooling66'" "$XPU_BIN/xpu-dump" diff "$folder/func" "$folder/ref"
    check 4 'first at [0,0,1,1]: inf against' "$XPU_BIN/xpu-dump" diff "$folder/func" "$folder/ref"
    check 4 'signal to noise none: 1 difference is not finite' "$XPU_BIN/xpu-dump" diff --snr "$folder/func" "$folder/ref"
    check 4 'channel 0 of 8; row 1 of 14; column 1 of 14' "$XPU_BIN/xpu-dump" diff -t 1e-3 "$folder/func" "$folder/ref" --all
    check 4 'blue: NaN or infinity' "$XPU_BIN/xpu-dump" diff "$folder/func" "$folder/ref" --heatmap="$folder/h.png"
    check 0 'PNG' head -c 4 "$folder/h.png"
    check 0 'no.png is not written: nothing differs' "$XPU_BIN/xpu-dump" diff "$folder/ref" "$folder/ref" --heatmap="$folder/no.png"
    check 4 '"not_finite": 1,' "$XPU_BIN/xpu-dump" diff "$folder/func" "$folder/ref" --json
    check 0 "0 of $of_layer tensors differ" "$XPU_BIN/xpu-dump" diff "$folder/func" "$folder/ref" --tensor='ReLU32*'
    check 4 "layer 'Pooling66' on ref: 1 element differs from" "$XPU_BIN/xpu-run" "$xpu" --device=ref \
        --layer=Pooling66 --from-dump="$folder/func"
    check 4 'at      channel 0 of 8; row 1 of 14; column 1 of 14' "$XPU_BIN/xpu-run" "$xpu" --device=func \
        --layer=Pooling66 --from-dump="$folder/func" --heatmap="$folder/replay.png"
    check 0 'PNG' head -c 4 "$folder/replay.png"
    check 0 '0 of 2 layers differ -> ' "$XPU_BIN/xpu-run" "$xpu" --device=func --layer='ReLU*' --from-dump="$folder/ref" \
        --output="$folder/layers.npz"
    check 0 "0 of $((2 * of_layer)) tensors differ" "$XPU_BIN/xpu-dump" diff "$folder/layers.npz" "$folder/ref" --tensor='ReLU*'
    check 0 '0 of 1 layer differs -> ' "$XPU_BIN/xpu-run" "$xpu" --device=func --layer=ReLU32 --from-dump="$folder/ref" \
        --output="$folder/layer.npz" --stats="$folder/layer.json"
    check 0 "0 of $of_layer tensors differ" "$XPU_BIN/xpu-dump" diff "$folder/layer.npz" "$folder/ref"
    check 0 '"instructions"' cat "$folder/layer.json"
    check 4 ' elements differ from' "$XPU_BIN/xpu-run" "$xpu" --device=func --layer=ReLU114 --from-dump="$folder/func"
done
check 0 '' "$XPU_BIN/xpu-run" -q "$xpu" --device=func --input tests/models/9.npy
# Each row of the tables of rules is about options that there are.
help=$("$XPU_BIN/xpu-run" --help)
for option in $(grep -oE '^ +([A-Z_]+\(|\{)"[a-z-]+"' tools/common/run_rules.c | grep -oE '[a-z-]{3,}'); do
    check 0 "--$option" echo "$help"
done
check 0 'Example:' "$XPU_BIN/xpu-run" --help
check 0 'xpu-dump ' "$XPU_BIN/xpu-dump" --version
check 0 'mnist8-fp32' "$XPU_BIN/xpu-regress" --list
check 3 '[io-write]' "$XPU_BIN/xpu-run" "$xpu" --device=func --input tests/models/9.npy --output=/nonexistent/out.npz
echo "$passed passed, $failed failed"
[ $failed = 0 ]
