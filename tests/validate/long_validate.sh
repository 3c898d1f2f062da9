#!/usr/bin/env bash
# The validator finds 200 mutations, 190 of them by the operator that was changed, and gives no alarm for 200 pairs that
# are the same, 100 of them PaddlePaddle against ONNX: exported by Paddle2ONNX (PP-OCRv4, raw and as onnxruntime optimises
# it) and by xpu-convert. Mutations are those of mutations.txt (tests/gen/record_mutations.py); ../shared has most of their
# models.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
. tests/validate/mutations.sh
unpack_paddle
[ -d "$shared/models" ] || { echo "skipped: there are no models in $shared"; echo '0 passed, 0 failed'; exit; }
while IFS=$'\t' read -r model other options seed names; do
    mutation "$model" "$other" "$options" "$seed" "$names"
done <tests/validate/mutations.txt

onnx=$shared/models/onnx paddle=$shared/models/paddle
exported() { # exported PADDLE ONNX SEEDS...
    local a=$1 b=$2 seed; shift 2
    for seed; do pair "$a" "$b" --seed="$seed" --samples=1; done
}
exported "$paddle/ch_PP-OCRv4_det" "$onnx/ch_PP-OCRv4_det_infer.onnx" {1..14}
exported "$onnx/ch_PP-OCRv4_det_infer_opt.onnx" "$paddle/ch_PP-OCRv4_det" {1..12}
exported "$paddle/ch_PP-OCRv4_rec" "$onnx/ch_PP-OCRv4_rec_infer.onnx" {1..12}
exported "$onnx/ch_PP-OCRv4_rec_infer_opt.onnx" "$paddle/ch_PP-OCRv4_rec" {1..6}
for i in 0 1 2 3 4 5 6 7; do converted "$folder/paddle/operators/operators_$i.pdmodel" 1 2 3; done
for i in 0 1 2 3 4 5 6; do converted "$folder/paddle/operators/operators_$i.json" 1 2; done
for i in freeze freeze_away linear_float linear_int8 trained; do converted tests/paddle/quantised/$i.pdmodel 1 2; done
converted tests/paddle/linear.pdmodel 1 2
converted tests/paddle/again.pdmodel 1 2
converted "$paddle/ch_PP-OCRv4_det" 1 2
converted "$paddle/ch_PP-OCRv4_rec" 1 2
printf '%s pairs of PaddlePaddle and ONNX\n' $pairs

for i in {1..52}; do
    case $i in 20 | 30 | 40) continue ;; esac # indices that are computed from bytes
    renamed tests/networks/$i.onnx 1
done
for i in digits digits_qdq; do renamed examples/digits/$i.onnx 1 2 3; done
renamed tests/models/mnist-8.onnx 1 2 3
renamed tests/regress/detector/detector.onnx 1 2 3
for i in 1 2 3 4 5 6 7 8 9; do
    exported "$onnx/ch_PP-OCRv4_det_infer.onnx" "$onnx/ch_PP-OCRv4_det_infer_opt.onnx" $i
    exported "$onnx/stories260K_logits.onnx" "$onnx/stories260K_logits_opt.onnx" $i
    exported "$onnx/nnsplit_bidi_lstm.onnx" "$onnx/nnsplit_bidi_lstm_opt.onnx" $i
done
for i in 0 1 2 3 4 5 6; do pair "$folder/paddle/operators/operators_$i.pdmodel" "$folder/paddle/operators/operators_$i.json"; done
exported "$onnx/mobilenet_v2_qdq.onnx" "$onnx/mobilenet_v2_qdq_opt.onnx" 1
exported "$onnx/mobilenet_v2_fp32.onnx" "$onnx/mobilenet_v2_fp32_opt.onnx" 1
exported "$onnx/ch_PP-OCRv4_rec_infer.onnx" "$onnx/ch_PP-OCRv4_rec_infer_opt.onnx" {1..5}
figures 200 190 200
