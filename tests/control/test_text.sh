#!/usr/bin/env bash
# Networks of text whose sizes data decide: a language model's logits and its loop, which appends a token in each
# iteration; a splitter of sentences (LSTM in both directions); a recogniser and a classifier of lines;
# the detector of such lines at several sizes.
set -uo pipefail
. "$(dirname "$0")/text.sh"
network logits stories260K_logits --shape=tokens=1..64
runs 'ref func rtl' 3 12
network logits stories260K_logits --shape=tokens=100
runs 'ref func' 100
prefix() { # its cycles at --precision=auto
    check 0 '' "$XPU_BIN/xpuc" -q "$models/onnx/stories260K_logits.onnx" --shape=tokens=100 -o "$folder/prefix.xpu"
    for device in func rtl; do
        check 0 '' "$XPU_BIN/xpu-run" -q "$folder/prefix.xpu" -d $device -i "$cases/logits.100_in.npz" -o "$folder/prefix.$device.npz" \
            --stats="$folder/stats.json"
    done
    check 0 '0 of 1 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/prefix.rtl.npz" "$folder/prefix.func.npz" --tolerance=0,0
    check 0 '0 of 1 tensors differ' "$XPU_BIN/xpu-dump" diff "$folder/prefix.rtl.npz" "$cases/logits.100_out.npz" --tolerance=0,1e-3
    check 0 '' test "$(sed -n 's/^  "cycles": *\([0-9]*\).*/\1/p' "$folder/stats.json")" -le 1000000
}
prefix
network "${loop[@]}"
runs 'ref func rtl' 0 8
runs 'ref func' 32 after_20
network split nnsplit_bidi_lstm --shape=input=1,20
runs 'ref func rtl' 1_20
network split nnsplit_bidi_lstm --shape=input=1..2,58
runs 'ref func' 2_58
network recognise ch_PP-OCRv4_rec_infer --shape=x=1,3,48,32..320:8
runs 'ref func' 32 104
network picture ch_PP-OCRv4_rec_infer --shape=x=1,3,48,224
{ echo '<blank>'; cat "$models/data/ppocr_keys_v1.txt"; printf '\n<space>\n'; } >"$folder/labels"
read_picture() { # what is no blank in the likeliest of each row
    "$XPU_BIN/xpu-run" -v "$folder/picture.xpu" -d func --image="$models/data/text_rec.jpg" --bgr --mean=0.5 --std=0.5 --top=1 \
        --labels="$folder/labels" | sed -n 's/^  0,[0-9]*)  \([^<]*\): .*/\1/p' | tr -d '\n'
}
check 0 '韩国小馆' read_picture
network classify ch_ppocr_mobile_v2.0_cls_infer --shape=x=1,3,48..96:16,64..320:8
runs 'ref func rtl' 96
runs 'ref func' 48_192 80_136
network detect ch_PP-OCRv4_det_infer --shape=x=1,3,32..640:32,32..640:32
runs 'ref func' 96_160 128_64
echo "$passed passed, $failed failed"
[ $failed = 0 ]
