#!/usr/bin/env bash
# Layers of loops alone: with the operands of one iteration they give what the dump has of it, bit for bit, on ref, func
# and rtl. Symbols and shapes differ from iteration to iteration; what a loop hands to its body and leaves behind is
# found from what layers made.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
xpu=$folder/loop.xpu
compile() { # compile NETWORK CASE: and dump it on func
    check 0 '' "$XPU_BIN/xpuc" -q "tests/loops/$1.onnx" --chip=nano --precision=fp32 -o "$xpu"
    check 0 '' "$XPU_BIN/xpu-run" -q "$xpu" -d func --input="tests/loops/$1.$2_in.npz" --dump-layers="$folder/func"
}
replay() { "$XPU_BIN/xpu-run" "$xpu" --from-dump="$folder/func" --layer="$@"; }

compile grow_in_loop 4
for device in ref rtl; do
    check 0 '' "$XPU_BIN/xpu-run" -q "$xpu" -d $device --input=tests/loops/grow_in_loop.4_in.npz --dump-layers="$folder/$device"
    check 0 ' tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/func" "$folder/$device"
    # the same symbols in each iteration
    check 0 '' cmp <(sed -n '/"layers"/,/"tensors"/p' "$folder/func/index.json") <(sed -n '/"layers"/,/"tensors"/p' "$folder/$device/index.json")
done
for device in ref func rtl; do
    check 0 "layer 'p_tanh1', iteration 2,1, on $device: equal to" replay p_tanh1 --iteration=2,1 -d $device
    for iteration in 0,0 1,1 2,0 2,1 3,3; do
        check 0 '0 of 8 layers differ' replay '*' --iteration=$iteration -d $device
    done
    check 0 "layer 'p_concat3', iteration 0,0, on $device: equal to" replay p_concat3 -d $device
done
check 0 'equal to' replay p_concat3 --iteration=2,1 --lockstep
check 0 'iteration 2,1, on func: equal to' replay p_concat3 --iteration=.i0002.i0001 -d func -o "$folder/one.npz" --dump-layers="$folder/one"
check 0 'p_concat3.i0002.i0001' ls "$folder/one"
check 0 'p_concat3.i0002.i0001  float32[6]' "$XPU_BIN/xpu-dump" show "$folder/one"
# another operand of this shape, and one of another shape
cp "$folder/func/0003_p_tanh1.i0003.i0001.npy" "$folder/func/0003_p_tanh1.i0002.i0001.npy"
check 4 "layer 'p_reducemean2', iteration 2,1, on func: 1 element differs from" replay p_reducemean2 --iteration=2,1 -d func
check 0 'equal to' replay p_reducemean2 --iteration=2,2 -d func
cp "$folder/func/0003_p_tanh1.i0003.i0002.npy" "$folder/func/0003_p_tanh1.i0002.i0001.npy"
check 2 'error [dump-shape]' replay p_reducemean2 --iteration=2,1 -d func
rm "$folder/func/0003_p_tanh1.i0002.i0001.npy"
check 3 'error [io-open]' replay p_reducemean2 --iteration=2,1 -d func
# iterations that are none
check 2 "[layer-iteration] the dump has no iteration 2,3 of layer 'p_tanh1'" replay p_tanh1 --iteration=2,3 -d func
check 2 "[layer-iteration] layer 'p_tanh1' is in more loops than that" replay p_tanh1 --iteration=2 -d func
for wrong in x '' 2, 2,,1 -1 2.1 .i2,1 99999999999999999999; do
    check 2 '[layer-iteration]' replay p_tanh1 --iteration="$wrong" -d func
done
check 2 'no layer is named' "$XPU_BIN/xpu-run" "$xpu" --iteration=1 -d func --input=tests/loops/grow_in_loop.4_in.npz
# dumps of some iterations
dump() { "$XPU_BIN/xpu-run" -q "$xpu" -d func --input=tests/loops/grow_in_loop.4_in.npz --dump-layers="$folder/func" --dump-iterations="$1"; }
check 0 '' dump 1..2
check 0 '0003_p_tanh1.i0001.i0001.npy 0003_p_tanh1.i0002.i0001.npy 0003_p_tanh1.i0002.i0002.npy' bash -c "cd $folder/func && echo *p_tanh1*"
check 0 'equal to' replay p_reducemean2 --iteration=2,1 -d func
check 2 "'p_concat3' is not in it" replay p_tanh1 --iteration=2,1 -d func
for wrong in 2..1 x 1.. ' 1' 1..2x -1 0..-1 0..+1 '0.. 1'; do
    check 2 "error [usage] option '--dump-iterations': this is no range of iterations" dump "$wrong"
done
dumped() { dump "$1" && (cd "$folder/func" && echo *p_tanh1*); }
check 0 '0003_p_tanh1.i0002.i0000.npy 0003_p_tanh1.i0002.i0001.npy 0003_p_tanh1.i0002.i0002.npy' dumped '2,*'
check 0 '0003_p_tanh1.i0002.i0001.npy 0003_p_tanh1.i0003.i0001.npy' dumped 2..3,1
check 0 '0001_o_add2.i0003.npy' ls "$folder/func" # in one loop: the first range
for wrong in '**' '*,' ,1 1..*; do
    check 2 "error [usage] option '--dump-iterations': this is no range of iterations" dump "$wrong"
done
# branches, values that change places, ends by data, stacks in both directions
for network in if_in_loop.9 loop_two.4 loop_stacks.6 loop_ranks.3 if_ends_loop.a scan_with_if.a scan_out_backward.a grow_early.a; do
    compile "${network%.*}" "${network##*.}"
    for device in ref func; do check 0 ' 0 of ' bash -c "echo \" \$(\"$XPU_BIN/xpu-run\" $xpu --layer='*' --from-dump=$folder/func -d $device | tail -1)\""; done
done
# what did not run: in any iteration, in this one, and in a dump that has chosen others
compile append_cache 0
check 0 "layer 'b_tanh1' did not run in $folder/func" replay '*' -d func
check 0 '0 of 2 layers differ, 8 did not run' replay '*' -d ref
check 2 "error [layer-not-run] layer 'b_tanh1' did not run in this dump" replay b_tanh1 -d func
compile if_in_loop 9
check 0 '0 of 4 layers differ, 2 did not run' replay '*' --iteration=0 -d func
check 0 "layer 'u_sub2' did not run in this iteration of $folder/func" replay '*' --iteration=0 -d func
check 2 '[layer-iteration] the dump has no iteration 0 of layer' replay u_sub2 --iteration=0 -d func
"$XPU_BIN/xpu-run" -q "$xpu" -d func --input=tests/loops/if_in_loop.9_in.npz --dump-layers="$folder/func" --dump-filter='[beu]_*' --dump-iterations=1..2
check 2 "[layer-iteration] the dump has no iteration 0 of layer 'b_equal4'" replay 'b_*' --iteration=0 -d func
check 2 "[dump-missing] the dump lacks what the layer made" replay 't_*' -d func
check 0 "0 of 3 layers differ, 1 did not run" replay '[be]_*' --iteration=2 -d func
# a dump that says that a loop without end ran
compile loop_goes_on 5
check 0 '0 of 2 layers differ' replay '*' -d ref
printf '\xff\xff\xff\x7f' | dd of="$folder/func/input_n.npy" bs=1 seek=128 conv=notrunc status=none
check 2 'error [dump-missing] the dump lacks an operand of the layer' timeout 20 "$XPU_BIN/xpu-run" "$xpu" --from-dump="$folder/func" --layer=g_tanh2 -d func
echo "$passed passed, $failed failed"
[ $failed = 0 ]
