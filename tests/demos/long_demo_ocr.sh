#!/usr/bin/env bash
# The longer runs of test_demo_ocr.sh: all pictures, as with onnxruntime; each layer of the three networks as the demonstration
# has them gives the same bits on ref, func and rtl at several sizes; the drawn picture and a photograph are read on rtl as on
# func.
set -uo pipefail
. "$(dirname "$0")/ocr.sh"
[ -e "$shared/onnx/ch_PP-OCRv4_det_infer.onnx" ] || { echo 'skipped: the models of ../shared are not there'; echo '0 passed, 0 failed'; exit 0; }
check 0 '4 lines of text on func' demo func "$drawn"
for name in text_rec en_rec en text_cls text_det; do check 0 '' same $name "$shared/data/$name.jpg"; done
check 0 '怪我咯' reads "$shared/data/text_cls.jpg"
check 0 'To facilitate the shot type analysis in videos, ' reads "$shared/data/en_rec.jpg" --line
check 0 '日' reads "$shared/data/text_det.jpg" --side=640
devices='ref func'
[ ! -e "$XPU_BUILD/lib/libxpurtl-standard.so" ] || devices='ref func rtl'
layers() { # layers PROGRAM CASE...: every layer on every device as on ref, nothing on the host
    local program=$folder/demo-ocr/$1.xpu case device
    for case in "${@:2}"; do
        for device in $devices; do
            check 0 '' "$XPU_BIN/xpu-run" -q "$program" -d "$device" -i "tests/control/text/${case}_in.npz" --dump-layers="$folder/$device" --stats="$folder/stats.json"
            [ $device = ref ] && continue
            check 0 '"host_calls": 0,' cat "$folder/stats.json"
            check 0 ' tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/ref" "$folder/$device" --tolerance=0,0
            rm -r "${folder:?}/$device"
        done
        rm -r "$folder/ref"
    done
}
layers detector detect.96_160 detect.128_64 detect.640_640
layers classifier classify.48_192
layers recogniser recognise.32 recognise.104 recognise.320
if [ "$devices" != 'ref func' ]; then
    for picture in "$drawn" "$shared/data/text_rec.jpg"; do
        check 0 '' reads "$picture" --boxes
        told=${output% on func*}
        check 0 "$told on rtl, detector " reads "$picture" --boxes --device=rtl
        check 0 ' cycles' tail -n 1 <<<"$output"
    done
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
