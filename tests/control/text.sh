# What the tests of networks of text share, for sourcing: answers of onnxruntime within 1e-4 (tests/gen/record_text.py),
# no layer on the host, and the same bits on every device. Without the models in $XPU_SHARED nothing is checked.
. "$(dirname "${BASH_SOURCE[0]}")/../checks.sh"
models=${XPU_SHARED:-../shared}/models cases=tests/control/text
[ -e "$models/onnx/stories260K_logits.onnx" ] || { echo 'skipped: the models of ../shared are not there'; echo '0 passed, 0 failed'; exit 0; }

network() { # network NAME MODEL OPTION...: NAME is that of the cases
    name=$1
    local model=$models/onnx/$2.onnx
    shift 2
    check 0 '' "$XPU_BIN/xpuc" -q "$model" --precision=fp32 --explain -o "$folder/$name.xpu" "$@"
    printf '%s\n' "$output" >"$folder/explained"
    check 0 '' grep -qw core "$folder/explained"
    check 1 '' grep 'host:' "$folder/explained"
}
runs() { # runs DEVICES CASE...: of the network compiled last
    local devices=$1 case device first
    shift
    for case; do
        first=
        for device in $devices; do
            local out=$folder/$case.$device.npz
            check 0 '' "$XPU_BIN/xpu-run" -q "$folder/$name.xpu" -d "$device" -i "$cases/$name.${case}_in.npz" -o "$out" \
                --stats="$folder/stats.json"
            [ "$device" = ref ] || check 0 '"host_calls": 0,' cat "$folder/stats.json"
            check 0 '0 of 1 tensors differ' "$XPU_BIN/xpu-dump" diff "$out" "$cases/$name.${case}_out.npz" --tolerance=1e-4,1e-4
            [ -z "$first" ] || check 0 '0 of 1 tensors differ' "$XPU_BIN/xpu-dump" diff "$out" "$first" --tolerance=0,0
            first=${first:-$out}
        done
    done
}
loop=(generate stories260K_generate_loop --shape=prompt=1..32 --value=max_new=0..600)
