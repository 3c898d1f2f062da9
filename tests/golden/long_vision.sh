#!/usr/bin/env bash
# Networks of paddle.vision as they are, with seeded parameters: both forms in fp32 within 1e-4 of PaddlePaddle, and what auto
# chooses; both forms, and what xpu-convert makes of them and back, compute the same bits. VISION=NAME: one of them.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
. tests/golden/vision.sh
kind=full
while read -r name dims; do
    [ "${VISION:-$name}" = "$name" ] || continue
    check 0 '' python3 tests/gen/vision.py unpack "$folder" $kind "$name"
    for form in pdmodel json; do
        vision_compile "$name" $form "$dims" fp32
        vision_run "$folder/$form.xpu" "$name" 1e-4 $form fp32
    done
    vision_compile "$name" json "$dims" auto
    vision_run "$folder/json.xpu" "$name" 3e-2 json auto
    vision_copies "$name"
    vision_round_trip "$name" "$dims"
    rm -f "$folder/$name".* "$folder"/again.*
done < <(python3 tests/gen/vision.py list $kind)
[ -n "${VISION:-}" ] || vision_units
echo "$passed passed, $failed failed"
[ $failed = 0 ]
