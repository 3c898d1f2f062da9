#!/usr/bin/env bash
# Several targets in one program: nodes of examples/byoc and of the plug-in tests/targets/mine.c run as C on core 0,
# between layers of xpu-sim, in branches and in loops; and what plug-ins can do wrong.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
xpuc=$XPU_BIN/xpuc run=$XPU_BIN/xpu-run
both=(--plugin="$XPU_BUILD/lib/xpu-target-byoc.so" --target=c,xpu-sim)
cc -std=c11 -shared -fPIC -O2 -I. tests/targets/mine.c -o "$folder/mine.so" || exit 1
mine=("$xpuc" -q tests/models/mnist-8.onnx --plugin="$folder/mine.so" --target=mine,xpu-sim)
same() { check 0 '0 of ' "$XPU_BIN/xpu-dump" diff "$@"; } # same A B --tolerance=...

# A product with its bias, which the plug-in's pattern fuses with the stock action, behind layers of xpu-sim
check 0 '' "${mine[@]}" --check-passes --explain --report="$folder/report.json" -o "$folder/mine.xpu"
explained=$output
check 0 "core: C of target 'mine': a product with its bias" printf %s "$explained"
check 0 "not 'mine': [target-operator] target 'mine' has no lowering for this operator; the operator is conv" printf %s "$explained"
check 0 '"runs_on": "mine"' cat "$folder/report.json"
check 0 "region 2: 1 nodes on mine" "$xpuc" --describe "$folder/mine.xpu"
check 0 "Plus214                          core     portable_c" "$xpuc" --describe "$folder/mine.xpu"
for device in ref func rtl; do
    check 0 '' "$run" -q "$folder/mine.xpu" -d $device -i tests/models/9.npy -o "$folder/$device.npz" --stats="$folder/stats.json" \
        --dump-layers="$folder/dump-$device"
    same "$folder/$device.npz" tests/models/mnist8_expected.npz --tolerance=1e-3,1e-3
    [ $device = ref ] && continue
    check 0 '"host_calls": 0,' cat "$folder/stats.json"
    same "$folder/dump-$device" "$folder/dump-ref" --tolerance=1e-5,1e-5
    # without a tolerance, that of the C and of what is behind it; all else bit for bit
    check 0 '1 tensor is not equal in bits, but within the tolerance of C of another target' "$XPU_BIN/xpu-dump" diff "$folder/dump-$device" "$folder/dump-ref"
    check 4 '1 of 10 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/dump-$device" "$folder/dump-ref" --tolerance=0
    cp -r "$folder/dump-$device" "$folder/damaged"
    printf '\x01' | dd of="$(ls "$folder"/damaged/*_Pooling66.npy)" bs=1 seek=200 conv=notrunc status=none
    check 4 "first difference: layer 'Pooling66'" "$XPU_BIN/xpu-dump" diff "$folder/damaged" "$folder/dump-ref"
    printf '\x01' | dd of="$(ls "$folder"/damaged/*_Plus214.npy)" bs=1 seek=131 conv=notrunc status=none
    check 4 "layer 'Plus214'" "$XPU_BIN/xpu-dump" diff "$folder/damaged" "$folder/dump-ref" --all
    rm -r "$folder/damaged"
    check 0 "layer 'Plus214' on $device: equal to" "$run" "$folder/mine.xpu" -d $device --layer=Plus214 --from-dump="$folder/dump-$device"
    check 0 "layer 'Plus214' on ref: within 1e-05 of" "$run" "$folder/mine.xpu" -d ref --layer=Plus214 --from-dump="$folder/dump-$device"
    # on the operands that ref had, all other layers give the same bits
    check 0 '0 of 7 layers differ' "$run" "$folder/mine.xpu" -d $device --layer='*' --from-dump="$folder/dump-ref"
done
same "$folder/rtl.npz" "$folder/func.npz" --tolerance=0,0
check 0 '' "$run" -q "$folder/mine.xpu" -d func -i tests/models/9.npy --check-races
check 0 "Plus214                            core " "$run" "$folder/mine.xpu" -d rtl -i tests/models/9.npy --profile
check 0 'void mine_2(const float *, const float *, const float *, float *, void *, const int32_t *);' "${mine[@]}" --emit=c

# A whole network with an open batch: sizes and scratch are expressions
check 0 '' "$xpuc" -q examples/digits/digits.onnx "${both[@]}" --shape=x=1..8,1,16,16 --check-passes -o "$folder/digits.xpu"
for device in ref func; do
    check 0 '' "$run" -q "$folder/digits.xpu" -d $device -i tests/targets/digits_in.npz -o "$folder/$device.npz"
    same "$folder/$device.npz" tests/targets/digits_out.npz --tolerance=1e-4,1e-4
done

# Between two layers of the tensor engine, whose images do not lie as the C has its tensors
image=(tests/targets/image.onnx --plugin="$folder/mine.so" --target=mine,xpu-sim --precision=int16)
MINE=absolute check 0 "core: C of target 'mine': what MINE says" "$xpuc" -q "${image[@]}" --explain -o "$folder/image.xpu"
check 0 2 grep -c ' tensor: ' <(printf '%s\n' "$output")
MINE=absolute check 0 '' "$xpuc" -q "${image[@]}" --emit=ir -o "$folder/image.ir"
check 0 '= region(%first/channel_first)' cat "$folder/image.ir"
for device in ref func rtl; do
    check 0 '' "$run" -q "$folder/image.xpu" -d $device -i tests/targets/image_in.npz -o "$folder/$device.npz"
    same "$folder/$device.npz" tests/targets/image_out.npz --tolerance=1e-3,1e-3
done

# Bodies of branches and loops: as onnxruntime on every device, in the same bits on func and rtl, which runs in lock-step
control() { # control NETWORK DEVICE...
    local name=$1 case device
    shift
    check 0 '"runs_on": "c"' "$xpuc" -q "tests/loops/$name.onnx" "${both[@]}" --chip=nano --precision=fp32 --check-passes \
        -o "$folder/$name.xpu" --report=/dev/stdout
    for case in tests/loops/"$name".*_in.npz; do
        for device; do
            local lockstep=()
            [ "$device" != rtl ] || lockstep=(--lockstep)
            check 0 '' "$run" -q "$folder/$name.xpu" -d "$device" "${lockstep[@]}" -i "$case" -o "$folder/$device.npz" \
                --stats="$folder/stats.json"
            same "$folder/$device.npz" "${case%_in.npz}_out.npz" --all --tolerance=1e-4,1e-4
            [ "$device" = ref ] || check 0 '"host_calls": 0,' cat "$folder/stats.json"
        done
        [ "$device" != rtl ] || same "$folder/rtl.npz" "$folder/func.npz" --tolerance=0,0
    done
}
for name in loop_convolution if_results if_in_loop scan_inputs; do control $name ref func rtl; done
for name in if_three_deep scan_with_if loop_in_loop grow_middle loop_pool_norm nonzero_in_loop; do control $name ref func; done
check 0 '' "$run" -q "$folder/loop_convolution.xpu" -d func -i tests/loops/loop_convolution.3_in.npz --dump-layers="$folder/loop-func"
check 0 '' "$run" -q "$folder/loop_convolution.xpu" -d ref -i tests/loops/loop_convolution.3_in.npz --dump-layers="$folder/loop-ref"
same "$folder/loop-func" "$folder/loop-ref" --tolerance=1e-5,1e-5
check 0 '3 tensors are not equal in bits, but within' "$XPU_BIN/xpu-dump" diff "$folder/loop-func" "$folder/loop-ref"

# A regression case that names its targets; the plug-in is given when it runs
mkdir "$folder/cases"
cat >"$folder/cases/mine.json" <<END
{"model": "$PWD/tests/models/mnist-8.onnx", "precision": "auto", "target": "mine,xpu-sim",
 "inputs": {"Input3": {"file": "$PWD/tests/models/9.npy"}},
 "expected": {"Plus214_Output_0": {"file": "$PWD/tests/models/mnist8_expected.npz", "relative": 0.001, "of_max": 0.001}},
 "devices": ["ref", "func"], "chips": {"standard": {}}}
END
check 0 '10 layers equal on ref and func, outputs as expected' "$XPU_BIN/xpu-regress" --suite="$folder/cases" --plugin="$folder/mine.so"
check 4 "there is no target 'mine'" "$XPU_BIN/xpu-regress" --suite="$folder/cases"
check 0 '.i0001' ls "$folder/loop-func"

# What the list of targets can be
refused() { check 2 "$1" "$xpuc" -q tests/models/mnist-8.onnx -o "$folder/never" "${@:2}"; }
plugin=(--plugin="$folder/mine.so")
refused "error [target] there is no target 'moon'" "${plugin[@]}" --target=moon,xpu-sim
refused "error [target] there is no target ''" "${plugin[@]}" --target=mine,,xpu-sim
refused "error [target] target 'mine' is given twice" "${plugin[@]}" --target=mine,mine,xpu-sim
refused "error [target] target 'xpu-sim' cannot stand before another one" "${plugin[@]}" --target=xpu-sim,mine
refused "error [target] target 'mine' cannot be the last one" "${plugin[@]}" --target=mine
refused "error [target] target 'c' cannot be the last one of several" "${both[0]}" --target=xpu-sim,c
refused "option '--plugin': the option has no effect beside --target=xpu-sim" "${plugin[@]}" --target=xpu-sim

# What a plug-in can get wrong: MODE TEXT
wrong() { MINE=$1 check 2 "$2" "${mine[@]}" --no-fuse -o "$folder/never"; }
wrong version 'error [plugin] the plug-in was built for another version of xpuc'
wrong incomplete "error [plugin] the plug-in's table is not complete"
wrong silent "target 'mine' makes no valid C of region 2
  why: it says that it failed, and not why"
wrong null-text 'why: there is no text (source is NULL or empty)'
wrong null-entry 'why: the function has no name (entry is NULL)'
wrong bad-entry "why: its function's name, 'no name', is no C identifier"
wrong reserved-entry "why: its function's name, 'xpu_wait', begins as those of the device library do"
wrong same-entry "why: its function 'same' has the name of that of region 2"
wrong library-entry 'defines what the device library has'
wrong memcpy-entry "why: its function is called 'memcpy'"
wrong null-operands 'why: it has 99 operands, and no list of them'
wrong no-operand 'why: operand 0 is value 1073741824, which does not exist'
wrong outer-operand "why: operand 0, 'Input3', is nothing that the region reads from outside"
wrong no-results 'why: it has 0 results; others read 1 of the region'
wrong more-results 'why: it has 7 results; others read 1 of the region'
wrong other-results "why: 'ReLU32_Output_0/result', which others read, is not among its results"
wrong null-dims 'why: it has 3 dims, and no list of them'
wrong scratch 'why: its scratch has 1125899906842624 bytes; the device has 1073741824'
wrong unknown-scratch 'why: the size of its scratch is not known'
wrong no-entry "why: there is no external 'mine_2'"
wrong syntax "[portable-compile] node 'Plus30' (Add-7, #2): the C of target 'mine' for region 2 does not compile
  why: region-2.c:4:18: error: expected expression"
wrong include "fatal error: 'math.h' file not found"
wrong types "conflicting types for 'mine_2'"
wrong frame "exceeds limit (1024) in 'mine_2'"
wrong libm "[portable-symbol] node 'Plus30' (Add-7, #2): the C of target 'mine' for region 2 uses what is not there
  why: 'expf' is not defined"
wrong malloc "why: 'malloc' is not defined"
wrong internal "why: 'xpu_lm_bytes' is not defined"
wrong external "why: 'other' is external, too"
wrong variable 'has variables of static storage
  why: they have 4 bytes'
wrong constants 'why: they have 4000 bytes; each core'\''s LM holds them, at most 2048'
check 1 '' test -e "$folder/never"

echo "$passed passed, $failed failed"
[ $failed = 0 ]
