#!/usr/bin/env bash
# The longer runs of test_text.sh: 256 tokens, and max_new = 600, which ends itself at 347, on ref and func; 32 and a prompt of
# 20 on rtl, where the recogniser runs, too.
set -uo pipefail
. "$(dirname "$0")/text.sh"
network "${loop[@]}"
runs 'ref func' 256 600
runs 'func rtl' 32 after_20
network recognise ch_PP-OCRv4_rec_infer --shape=x=1,3,48,32..320:8
runs 'func rtl' 32 104
echo "$passed passed, $failed failed"
[ $failed = 0 ]
