#!/usr/bin/env bash
# Of xpu-validate: 20 mutations are found, 19 by the operator that was changed, and 20 pairs that are the same, half of them
# PaddlePaddle against ONNX, are no alarm. long_validate.sh has 200 of each.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
. tests/validate/mutations.sh
unpack_paddle
while IFS=$'\t' read -r model other options seed names; do
    mutation "$model" "$other" "$options" "$seed" "$names"
done < <(head -20 tests/validate/mutations.txt)
for i in 0 1 2 3 4 5 6 7; do converted "$folder/paddle/operators/operators_$i.pdmodel" 0; done
converted tests/paddle/linear.pdmodel 0
converted tests/paddle/quantised/trained.pdmodel 0
for i in 1 3 4 8 13 17 24 28 31 52; do renamed tests/networks/$i.onnx 0; done
figures 20 19 20
