#!/usr/bin/env bash
# Loops that only append (tests/loops/append, made by tests/gen/record_loops.py), with what they make in GM: what 256
# iterations write is at most 2.1 times what 128 do, along the first axis and along the one before the last; results are
# onnxruntime's, bit for bit. Dumps and replays of what grows in place.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
written() { sed -n 's/.*"gm_write_bytes": \([0-9]*\).*/\1/p' "$1"; }
is_linear() { # is_linear FEW MANY: both are there, and MANY <= 2.1 FEW
    [ -n "$1" ] && [ -n "$2" ] && [ "$1" -gt 2048 ] && [ $((10 * $2)) -le $((21 * $1)) ]
}
for name in first before_last; do
    base=tests/loops/append/$name out=$folder/$name
    check 0 '' "$XPU_BIN/xpuc" -q $base.onnx --chip=nano --precision=fp32 --memory=tests/loops/gm.json -o "$out.xpu"
    for case in 0 3 128 256; do
        devices='ref func'
        [ $case != 3 ] || devices='ref func rtl'
        for device in $devices; do
            check 0 '' "$XPU_BIN/xpu-run" -q "$out.xpu" -d $device -i $base.${case}_in.npz -o "$out.npz" --stats="$out.$case.$device"
            check 0 '0 of 1 tensors differ' "$XPU_BIN/xpu-dump" diff "$out.npz" $base.${case}_out.npz --all --tolerance=0,0
        done
    done
    check 0 '' is_linear "$(written "$out.128.func")" "$(written "$out.256.func")"
    for device in ref func; do
        check 0 '' "$XPU_BIN/xpu-run" -q "$out.xpu" -d $device -i $base.3_in.npz --dump-layers="$out.dump.$device"
    done
    check 0 '0 of ' "$XPU_BIN/xpu-dump" diff "$out.dump.ref" "$out.dump.func" --tolerance=0,0
done
for name in append_cache append_readers append_outer; do
    check 0 '' "$XPU_BIN/xpuc" -q tests/loops/$name.onnx --chip=nano --precision=fp32 -o "$folder/$name.xpu"
    input=$(ls tests/loops/$name.*_in.npz | tail -1)
    check 0 '' "$XPU_BIN/xpu-run" -q "$folder/$name.xpu" -d func --check-races -i "$input" -o "$folder/out.npz"
done
cache=$folder/append_cache
check 0 '' "$XPU_BIN/xpu-run" -q "$cache.xpu" -d func -i tests/loops/append_cache.9_in.npz --dump-layers="$cache.dump" -o "$folder/out.npz"
for layer in b_concat2 b_matmul6 b_add11; do
    check 0 'equal to' "$XPU_BIN/xpu-run" "$cache.xpu" -d func --layer=$layer --iteration=3 --from-dump="$cache.dump"
done
check 0 "reads a compact copy of 'b_concat" "$XPU_BIN/xpuc" -q tests/loops/append_readers.onnx --precision=fp32 --explain -o "$folder/readers.xpu"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
