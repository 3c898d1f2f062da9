#!/usr/bin/env bash
# Every layer of the networks that people have (scripts/models.rows, and four more of ../shared): the same bits on ref, func and
# rtl, and none on the host, as each is compiled for docs/models.md.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
shared=${XPU_SHARED:-../shared}/models
[ -d "$shared" ] || { echo 'skipped: the models of ../shared are not there'; echo '0 passed, 0 failed'; exit 0; }
layers() { # layers MODEL OPTIONS INPUT...: options of xpuc; of xpu-run
    local model=$1 options=$2 device dumps=$folder/dumps
    shift 2
    rm -rf "$dumps"
    check 0 '' "$XPU_BIN/xpuc" -q "${model/#shared\//$shared/}" $options --explain -o "$folder/network.xpu"
    check 1 '' grep -E ' host(:|$)' <<<"$output"
    for device in ref func rtl; do
        check 0 '' "$XPU_BIN/xpu-run" -q "$folder/network.xpu" -d $device "$@" --dump-layers="$dumps/$device"
        [ $device = ref ] && continue
        check 0 '0 of ' "$XPU_BIN/xpu-dump" diff "$dumps/ref" "$dumps/$device" --all --tolerance=0,0
        echo "$model on $device: ${output##*$'\n'}"
    done
}
while IFS='|' read -r _ model options inputs _; do
    read -r model <<<"$model"
    read -r inputs <<<"${inputs//shared\//$shared/}"
    [[ $inputs = -* ]] || inputs="-i $inputs"
    layers "$model" "$options" $inputs
done < <(grep -v '^#' scripts/models.rows)
layers shared/onnx/silero_vad.onnx '--shape=input=1,576 --shape=state=2,1,128 --value=sr=16000' -i tests/control/silero/15_in.npz
layers shared/onnx/mobilenet_v2_qdq.onnx '' --image="$shared/data/cat.bmp" --mean=0.485,0.456,0.406 --std=0.229,0.224,0.225
layers shared/onnx/super_resolution_10.onnx '' --image="$shared/data/cat.bmp"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
