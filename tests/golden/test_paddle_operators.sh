#!/usr/bin/env bash
# Operators of PaddlePaddle against what PaddlePaddle 2.6.2 answered (tests/gen/paddle_cases.py, record_paddle.py), as
# ProgramDesc and, translated by 3.3.1, as PIR: within 1e-5 on ref, func with equal bits; which of them need the host is
# written down in tests/paddle/operators/host.txt (UPDATE=1 writes it).
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
golden=tests/paddle/operators
unpack_paddle

for model in "$folder"/paddle/operators/*.{pdmodel,json}; do
    name=${model##*/} prefix=${model%.*}
    program=$folder/$name.xpu
    check 0 '' "$XPU_BIN/xpuc" -q "$model" --precision=fp32 -o "$program"
    for device in ref func; do
        check 0 '' "$XPU_BIN/xpu-run" -q "$program" -i "${prefix}_in.npz" --device=$device -o "$folder/$device.npz"
    done
    check 0 '' cmp "$folder/ref.npz" "$folder/func.npz"
    expected=${prefix}_out.npz
    [ "${model%.json}" = "$model" ] || [ ! -e "${prefix}_pir_out.npz" ] || expected=${prefix}_pir_out.npz
    check 0 '0 of ' "$XPU_BIN/xpu-dump" diff "$folder/ref.npz" "$expected" --all --tolerance=1e-5,1e-5
    "$XPU_BIN/xpuc" --describe "$program" | sed -n "s/^region [0-9]*: \(.*host.*\)/$name: \1/p" >>"$folder/host.txt"
done
for model in tests/paddle/chance/*.pdmodel tests/paddle/chance/*.json; do # numbers by chance: how large they are, and how many
    check 0 '' "$XPU_BIN/xpuc" -q "$model" --precision=fp32 -o "$folder/chance.xpu"
    for device in ref func; do
        check 0 '' "$XPU_BIN/xpu-run" -q "$folder/chance.xpu" --device=$device -o "$folder/$device.npz"
    done
    check 0 '' cmp "$folder/ref.npz" "$folder/func.npz"
    check 0 '0 of ' "$XPU_BIN/xpu-dump" diff "$folder/ref.npz" "${model%.*}_out.npz" --all --tolerance=0,0.03
    "$XPU_BIN/xpuc" --describe "$folder/chance.xpu" | sed -n "s/^region [0-9]*: \(.*host.*\)/${model##*/}: \1/p" >>"$folder/host.txt"
done
# How many cases there are of each operator that the page lists, and which are listed as having none.
check 0 'recorded' python3 tests/golden/count_paddle.py "$XPU_BIN/xpuc" "$folder/paddle"
[ -z "${UPDATE:-}" ] || cp "$folder/host.txt" "$golden/host.txt"
check 0 '' diff "$golden/host.txt" "$folder/host.txt"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
