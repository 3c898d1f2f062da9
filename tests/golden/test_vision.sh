#!/usr/bin/env bash
# Networks of paddle.vision, an eighth as wide and on small images: as ProgramDesc in fp32 within 1e-4 of PaddlePaddle, as PIR
# in what auto chooses; both forms, and what xpu-convert makes of them and back, compute the same bits.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
. tests/golden/vision.sh
kind=small
check 0 '' python3 tests/gen/vision.py unpack "$folder" $kind
while read -r name dims; do
    vision_compile "$name" pdmodel "$dims" fp32
    vision_run "$folder/pdmodel.xpu" "$name" 1e-4 pdmodel fp32
    vision_compile "$name" json "$dims" auto
    vision_run "$folder/json.xpu" "$name" 3e-2 json auto
    vision_round_trip "$name" "$dims"
done < <(python3 tests/gen/vision.py list $kind)
vision_units
# Windows of several sizes are cut where the image's size is known
check 1 'adaptive pooling needs an image of known dims' "$XPU_BIN/xpuc" "$folder/vgg11.pdmodel" --shape=x=1,3,32..96:32,64 -o "$folder/vgg.xpu"
check 0 '' test ! -e "$folder/vgg.xpu"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
