#!/usr/bin/env bash
# Every operator of the importer's table, in every form: what tests/gen/record_sweep.py recorded, on ref, func and rtl,
# and the unit on which each case ran (units.txt: a rule that begins to refuse an operator fails here). A form in the
# table without a network fails, too. test_sweep.sh --update writes units.txt; with --first it ends at the first thing that
# is wrong.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
sweep=tests/sweep

# Elements a, b are equal when |a - b| <= R |b|; R = 0: bit for bit. Results of functions that are approximations may be
# off by a few steps of their type. Zeros of Relu and its kind have the sign of docs/onnxruntime.md.
tolerance() { # tolerance NETWORK
    case $1 in
        Attention-*float16 | RotaryEmbedding-*float16 | Einsum-*float16 | SwiGLU-*float16) echo 1.6e-2,1e-2 ;;
        Attention-* | RotaryEmbedding-* | SwiGLU-*) echo 1e-5,1e-5 ;;
        Einsum-*) echo 1e-3,1e-4 ;;
        *Loss-*float16) echo 1.6e-2,1e-2 ;;
        *Loss-*) echo 1e-5,1e-5 ;;
        Gelu-*float16 | Swish-*float16) echo 8e-3,1e-12 ;;
        Gelu-*) echo 2e-6,5e-7 ;; # 1 + erf(x) cancels
        Swish-*) echo 2e-6,1e-42 ;; # the sigmoid underflows before
        MatMul-*float16) echo 8e-3,1e-3 ;;
        LSTM-*float16 | GRU-*float16 | RNN-*float16) echo 8e-3,8e-3 ;;
        LSTM-* | GRU-* | RNN-*) echo 1e-4,1e-4 ;;
        MatMul-* | Gemm-* | Conv-* | ConvTranspose-*) echo 1e-3,1e-4 ;;
        RandomNormal*) echo 2e-6,2e-6 ;; # its cosine and logarithm meet
        Relu-* | PRelu-*float16 | Where-* | Clip-* | Max-* | Min-* | ReduceMax-* | ReduceMin-*) echo 1e-30,0 ;;
        Exp-* | Log-* | Tanh-* | Sigmoid-* | Erf-* | Softmax-* | Softplus-* | Softsign-* | Mish-* | Elu-* | Celu-* | Selu-* | \
            Pow-* | Reduce* | Sum-* | Mean-* | AveragePool-* | GlobalAveragePool-* | Sin-* | Cos-* | Tan-* | \
            Asin-* | Acos-* | Atan-* | Asinh-* | Acosh-* | Atanh-* | Sinh-* | Cosh-*)
            case $1 in *-float16) echo 1e-3,1e-12 ;; *-bfloat16) echo 8e-3,0 ;; *) echo 2e-6,0 ;; esac ;;
        BatchNormalization-*) echo 2e-6,0 ;;
        *Normalization-*-float16 | LogSoftmax-*-float16 | *LpPool-*-float16 | LRN-*-float16 | Cum*-float16) echo 2e-3,2e-3 ;;
        *Normalization-*-bfloat16 | LogSoftmax-*-bfloat16 | *LpPool-*-bfloat16 | LRN-*-bfloat16 | Cum*-bfloat16) echo 1.6e-2,1e-2 ;;
        *Normalization-* | LogSoftmax-* | *LpPool-* | LRN-* | *Window-* | CumProd-*) echo 1e-5,1e-5 ;;
        GridSample-*float16) echo 8e-3,8e-3 ;;
        GridSample-*) echo 1e-5,1e-5 ;;
        Resize-*float16 | Upsample-*float16) echo 1e-3,1e-3 ;;
        Resize-* | Upsample-*) echo 1e-5,1e-5 ;;
        *) echo 0,0 ;;
    esac
}

run() { # run NETWORK FOLDER: FOLDER/NETWORK.units, and a line in FOLDER/NETWORK.wrong for each thing that is wrong
    local name=$1 base=$sweep/$1 out=$2/$1 device inputs=()
    [ -e "${base}_in.npz" ] && inputs=(-i "${base}_in.npz")
    if ! "$XPU_BIN/xpuc" -q "$base.onnx" --chip=nano --explain -o "$out.xpu" >"$out.explained" 2>"$out.errors"; then
        echo "$name is not compiled: $(head -1 "$out.errors")" >"$out.wrong"
        return ${first:+255}
    fi
    awk -v name="$name" '$1 ~ /^[0-9]+$/ { unit = $7; sub(/:.*/, "", unit); of[unit] = of[unit] " " $3 }
        END { for (unit in of) print name " " unit ":" of[unit] }' "$out.explained" | sort >"$out.units"
    for device in ref func rtl; do
        if ! "$XPU_BIN/xpu-run" -q "$out.xpu" -d $device "${inputs[@]}" -o "$out.npz" 2>"$out.errors"; then
            echo "$name does not run on $device: $(head -1 "$out.errors")"
        elif ! "$XPU_BIN/xpu-dump" diff "$out.npz" "${base}_out.npz" --all --tolerance="$(tolerance "$name")" >"$out.diff" 2>&1; then
            echo "$name on $device: $(tail -1 "$out.diff")"
            head -3 "$out.diff"
        elif grep -q 'not compared' "$out.diff"; then
            echo "$name on $device: other outputs than recorded: $(grep 'not compared' "$out.diff")"
        fi
    done >"$out.wrong"
    if [ -n "${first:-}" ]; then
        [ -s "$out.wrong" ] && return 255
        while read -r line; do grep -qxF "$line" $sweep/units.txt || return 255; done <"$out.units"
    fi
    rm -f "$out.xpu" "$out.npz" "$out.explained" "$out.diff" "$out.errors"
}
export -f run tolerance
export sweep XPU_BIN

[ "${1:-}" = --first ] && export first=1
for network in $sweep/*.onnx; do basename "$network" .onnx; done | xargs -P "$(nproc)" -I{} bash -c 'run {} '"$folder" || exit
cat "$folder"/*.units >"$folder/units.txt"
if [ "${1:-}" = --update ]; then cp "$folder/units.txt" $sweep/units.txt; fi

for network in $sweep/*.onnx; do
    check 0 '' cmp "$folder/$(basename "$network" .onnx).wrong" /dev/null
    [ "$status" = 0 ] || cat "$folder/$(basename "$network" .onnx).wrong"
done
check 0 '' diff $sweep/units.txt "$folder/units.txt"
while read -r form; do
    check 0 '' test -e "$sweep/$form.onnx"
done < <("$XPU_BUILD/tests/gen/sweep_rows_main" | tr ',' '\n' |
    awk -F'"' '/name/ { name = $4 } { gsub(/[^0-9]/, "", $NF); if ($NF != "") print name "-" $NF }')
echo "$passed passed, $failed failed"
[ $failed = 0 ]
