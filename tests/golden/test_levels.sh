#!/usr/bin/env bash
# Quantised groups and operators on ref, func and rtl: equal to onnxruntime at its levels EXTENDED and ALL, which make
# integer operators of groups. At DISABLE_ALL and BASIC it computes them in float32: as many outputs differ as
# docs/arithmetic.md says. Recorded by tests/gen/record_levels.py.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
golden=tests/golden/levels
check_network() { # check_network NAME OUTPUTS DIFFERING-AT-BASIC
    check 0 '' "$XPU_BIN/xpuc" -q "$golden/$1.onnx" --chip=nano --explain -o "$folder/$1.xpu"
    check 1 '' grep 'host:' <(printf '%s\n' "$output")
    for device in ref func rtl; do
        check 0 '' "$XPU_BIN/xpu-run" -q "$folder/$1.xpu" -i "$golden/$1_in.npz" --device=$device -o "$folder/out.npz"
        check 0 "0 of $2 tensors differ" "$XPU_BIN/xpu-dump" diff "$folder/out.npz" "$golden/$1_extended.npz"
        [ "$3" ] && check 4 "$3 of $2 tensors differ" "$XPU_BIN/xpu-dump" diff "$folder/out.npz" "$golden/$1_basic.npz"
    done
}
check_network groups_uint8 31 6
check_network groups_int8 27 6
check_network moves_uint8 6 5
check_network moves_int8 6 5
check_network qlinear_uint8 120 ''
check_network qlinear_int8 120 ''
echo "$passed passed, $failed failed"
[ $failed = 0 ]
