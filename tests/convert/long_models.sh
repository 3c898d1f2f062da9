#!/usr/bin/env bash
# Every model of docs/models.md from ONNX to PaddlePaddle (ProgramDesc and PIR) and back, or the other way round, on ref: equal
# bits where operators map one to one, else within 1e-5 of the largest value. And PP-OCRv4 in at most 0.2 s. Prints a table.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
. tests/convert/models.sh
shared=${XPU_SHARED:-../shared}/models
printf '%-44s %-13s %5s %5s  %s\n' '' way from to difference
seen=' '
while IFS= read -r -d '' name && IFS= read -r -d '' model && IFS= read -r -d '' inputs && IFS= read -r -d '' options; do
    case $model in
    vision/*)
        mkdir "$folder/vision"
        python3 tests/gen/vision.py unpack "$folder/vision" full "$(basename "$model" .pdmodel)"
        trip "$name" "$folder/$model" "$folder/vision/$(basename "$inputs")" "$options"
        trip "$name, PIR" "$folder/${model%.pdmodel}.json" "$folder/vision/$(basename "$inputs")" "$options"
        rm -rf "$folder/vision"
        continue ;;
    esac
    model=${model/#shared\//$shared/}
    [[ $seen != *" $model $options "* && $options != *precision* ]] || continue
    seen+="$model $options "
    [ -e "$model" ] || { echo "$name: skipped, it is not there"; continue; }
    case $inputs in
    shared/*) inputs=$shared/${inputs#shared/} ;;
    --image=*) inputs="random $("$xpuc" --describe "$model" | sed -n 's/^input .*\[\(.*\)\].*/\1/p')" ;;
    esac
    trip "$name" "$model" "$inputs" "$options"
done < <(rows scripts/models.rows; rows scripts/bench-func.rows; rows scripts/vision.rows)
# Processor time of a conversion, the least of five
for net in det rec; do
    model=$shared/paddle/ch_PP-OCRv4_$net/inference.pdmodel
    [ -e "$model" ] || continue
    TIMEFORMAT='%U %S'
    for i in 1 2 3 4 5; do { time "$convert" -q "$model" -o "$folder/$net.onnx"; } 2>&1; done |
        awk '{ t = $1 + $2; if (!least || t < least) least = t } END { print least + 0 }' >"$folder/seconds"
    check 0 '' awk '{ exit !($1 <= 0.2) }' "$folder/seconds"
    echo "PP-OCRv4 $net to ONNX: $(cat "$folder/seconds") s"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
