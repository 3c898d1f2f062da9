#!/usr/bin/env bash
# The longer runs of test_text.sh: 256 tokens, and max_new = 600, which ends itself at 347, on ref and func; 32 and a prompt of
# 20 on rtl; recogniser, classifier and detector of lines at three sizes each, from one file, on ref, func and rtl.
set -uo pipefail
. "$(dirname "$0")/text.sh"
network "${loop[@]}"
runs 'ref func' 256 600
runs 'func rtl' 32 after_20
network recognise ch_PP-OCRv4_rec_infer --shape=x=1,3,48,32..320:8
runs 'func rtl' 32 104
runs 'ref func rtl' 320
network classify ch_ppocr_mobile_v2.0_cls_infer --shape=x=1,3,48..96:16,64..320:8
runs 'func rtl' 48_192 80_136
network detect ch_PP-OCRv4_det_infer --shape=x=1,3,32..640:32,32..640:32
runs 'func rtl' 96_160 128_64
runs 'ref func rtl' 640_640
echo "$passed passed, $failed failed"
[ $failed = 0 ]
