#!/usr/bin/env bash
# Branches, loops and tensor arrays of PaddlePaddle (tests/gen/paddle_control.py, record_paddle_control.py): programs of
# 2.6.2 as ProgramDesc and of 3.3.1 as PIR, each within 1e-5 of what that version answered on ref, func with equal bits
# and without the host; a few on rtl.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
unpack_paddle
golden=$folder/paddle/control on_rtl=' if_nested while_in_place greedy desc_array_appends '

run() { # run PROGRAM: a line in FILE.wrong for each thing that is wrong
    local model=$golden/$1 prefix=$golden/${1%.*} out=$folder/$1 case answer device devices='ref func'
    local name=${1%.*} options=()
    [ -e "$prefix.options" ] && read -ra options <"$prefix.options"
    if ! "$XPU_BIN/xpuc" -q "$model" --chip=nano --precision=fp32 "${options[@]}" -o "$out.xpu" 2>"$out.errors"; then
        echo "$1 is not compiled: $(head -1 "$out.errors")" >"$out.wrong"
        return 0
    fi
    [[ $on_rtl == *" $name "* ]] && devices='ref func rtl'
    for case in "$prefix".*_in.npz; do
        answer=${case%_in.npz}_out.npz
        [ "${1%.json}" != "$1" ] && [ -e "${case%_in.npz}_pir_out.npz" ] && answer=${case%_in.npz}_pir_out.npz
        for device in $devices; do
            if ! "$XPU_BIN/xpu-run" -q "$out.xpu" -d "$device" -i "$case" -o "$out.$device.npz" \
                --stats="$out.stats" 2>"$out.errors"; then
                echo "$case does not run on $device: $(head -1 "$out.errors")"
            elif ! "$XPU_BIN/xpu-dump" diff "$out.$device.npz" "$answer" --all --tolerance=1e-5,1e-5 \
                >"$out.diff" 2>&1; then
                echo "$case on $device: $(tail -1 "$out.diff")"
            elif ! grep -q '"host_calls": 0,' "$out.stats"; then
                echo "$case calls the host on $device"
            elif ! cmp -s "$out.ref.npz" "$out.$device.npz"; then
                echo "$case: $device is not ref"
            fi
        done
    done >"$out.wrong"
    "$XPU_BIN/xpuc" --describe "$out.xpu" | grep 'host:' >>"$out.wrong"
    return 0
}
export -f run
export golden on_rtl folder XPU_BIN
programs=$(cd $golden && ls ./*.pdmodel ./*.json)
xargs -P "$(nproc)" -I{} bash -c 'run {}' <<<"${programs//.\//}"
for program in ${programs//.\//}; do
    check 0 '' cmp "$folder/$program.wrong" /dev/null
    [ "$status" = 0 ] || head -5 "$folder/$program.wrong"
done
# What the two forms mean by the same program differs: PaddlePaddle 2.6.2 writes the input's own variable.
check 4 '1 of 1' "$XPU_BIN/xpu-dump" diff $golden/while_in_place.0_out.npz \
    $golden/while_in_place.0_pir_out.npz --all --tolerance=1e-5,1e-5
echo "$passed passed, $failed failed"
[ $failed = 0 ]
