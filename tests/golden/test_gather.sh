#!/usr/bin/env bash
# Indices of a gather and of a scatter that lie outside their dim end the run with the node's name and their place: no
# element from elsewhere, none is written elsewhere.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
golden=tests/golden/gather
run() { "$XPU_BIN/xpu-run" -q "$folder/m.xpu" -i $golden/$1.npz -d "$2" -o "$folder/out.npz"; }
for model in gather:'Gather-13, #0' scatter:'ScatterND-13, #1'; do
    node="node 'pick' (${model#*:})" name=${model%:*}
    check 0 '' "$XPU_BIN/xpuc" -q $golden/$name.onnx --chip=nano -o "$folder/m.xpu"
    for device in ref func rtl; do
        check 0 '' run inside $device
        check 0 '0 of 1 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/out.npz" $golden/inside_$name.npz
        for case in above:1 below:2 far:1; do
            status=5 wanted="[index-outside] layer 'pick'"
            if [ $device = ref ]; then status=2 wanted="[ref-index] $node"; fi
            check $status "$wanted" run "${case%:*}" $device
            check $status "$node: an index is outside its dim" run "${case%:*}" $device
            check $status "entry ${case#*:} of its indices is the first" run "${case%:*}" $device
        done
    done
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
