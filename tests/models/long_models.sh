#!/usr/bin/env bash
# make test-models: both forms of the quantised MobileNetV2 on three pictures. Every tensor that a run dumps and
# onnxruntime recorded (mobilenet_v2.txt, made by record_quantised.py) has the same bytes: on ref without fusion, where
# that is every tensor of the model, and fused on each device of DEVICES (func, and rtl where its library is there), on
# each chip on func. Then ResNet-50 with random weights, whose output was recorded with it, and the float MobileNetV2 at
# each precision.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
bin=${XPU_BIN:-${XPU_BUILD:-build}/bin}
models=${XPU_SHARED:-../shared}/models
devices=${DEVICES:-func$([ -e "$bin/../lib/libxpurtl-standard.so" ] && echo ' rtl')}
[ -d "$models" ] || { echo 'skipped: the models of ../shared are not there'; echo '0 passed, 0 failed'; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 compared=0 different=0

# The SHA-256 of the elements of a .npy file.
digest() {
    local header
    header=$(od -An -tu2 -j8 -N2 "$1")
    tail -c +$((header + 11)) "$1" | sha256sum | cut -d' ' -f1
}

# Tensors of a dump against the record: prints elements compared, elements of tensors that differ, tensors compared.
compare() { # FOLDER PICTURE
    local tensor file count expected elements=0 bad=0 tensors=0
    while read -r tensor file; do
        read -r count expected < <(awk -v p="$2" -v t="$tensor" '$1 == p && $2 == t { print $3, $4 }' tests/models/mobilenet_v2.txt)
        [ "${expected:-}" ] || continue
        tensors=$((tensors + 1)) elements=$((elements + count))
        if [ "$(digest "$1/$file")" != "$expected" ]; then bad=$((bad + count)); echo "differs: $tensor" >&2; fi
    done < <(awk -F'"' '$2 == "tensor" { tensor = $4 } $2 == "file" { print tensor, $4 }' "$1/index.json")
    echo "$elements $bad $tensors"
}

run() { # PROGRAM DEVICE PICTURE LEAST_TENSORS CLASS
    local dump=$work/dump elements bad tensors top
    rm -rf "$dump"
    top=$("$bin/xpu-run" "$1" --device="$2" --image="$models/data/$3" --mean=0.485,0.456,0.406 --std=0.229,0.224,0.225 \
        --top=2 --labels="$models/data/imagenet_labels.txt" --dump-layers="$dump" | sed -n 2p)
    read -r elements bad tensors < <(compare "$dump" "$3")
    compared=$((compared + elements)) different=$((different + bad))
    if [ "$bad" = 0 ] && [ "$tensors" -ge "$4" ] && [[ $top == *"$5"* ]]; then passed=$((passed + 1)); else
        failed=$((failed + 1)); echo "FAILED $1 on $2, $3: $tensors tensors, $bad elements differ; $top"; fi
}

for form in quant qdq; do
    "$bin/xpuc" -q "$models/onnx/mobilenet_v2_$form.onnx" --no-fuse -o "$work/$form-plain.xpu" || exit 1
    "$bin/xpuc" -q "$models/onnx/mobilenet_v2_$form.onnx" -o "$work/$form.xpu" || exit 1
    while read -r picture class; do
        run "$work/$form-plain.xpu" ref "$picture" 67 "$class"
        for chip in nano pro; do
            "$bin/xpuc" -q "$models/onnx/mobilenet_v2_$form.onnx" --chip=$chip -o "$work/$form-$chip.xpu" || exit 1
            run "$work/$form-$chip.xpu" func "$picture" 50 "$class"
        done
        for device in $devices; do run "$work/$form.xpu" "$device" "$picture" 50 "$class"; done
    done <<'END'
cat.bmp Egyptian cat
hot_dog.jpg hotdog
orange.png orange
END
done
# The output of the QDQ form is onnxruntime's at its levels EXTENDED and ALL; at DISABLE_ALL and BASIC, where it computes
# in float32, it is another one (mobilenet_v2_levels.txt, made by tests/gen/record_levels.py).
while read -r picture level expected apart _; do
    rm -rf "$work/dump"
    "$bin/xpu-run" -q "$work/qdq.xpu" --device=func --image="$models/data/$picture" --mean=0.485,0.456,0.406 \
        --std=0.229,0.224,0.225 --dump-layers="$work/dump"
    file=$(awk -F'"' '$2 == "tensor" { tensor = $4 } $2 == "file" && tensor == "output" { print $4 }' "$work/dump/index.json")
    equal=$([ "$(digest "$work/dump/$file")" = "$expected" ] && echo 0 || echo 1)
    if [ "$equal" = $((apart > 0)) ]; then passed=$((passed + 1)); else
        failed=$((failed + 1)); echo "FAILED: the output for $picture and that of onnxruntime at $level"; fi
done <tests/models/mobilenet_v2_levels.txt
# The float network: its class, and how far its output is from onnxruntime's float32 (signal to noise).
for precision in fp32 int16 int16x8; do
    "$bin/xpuc" -q "$models/onnx/mobilenet_v2_fp32.onnx" --precision=$precision -o "$work/float.xpu" || exit 1
    while read -r picture class; do
        for device in $devices; do
            top=$("$bin/xpu-run" "$work/float.xpu" --device="$device" --image="$models/data/$picture" \
                --mean=0.485,0.456,0.406 --std=0.229,0.224,0.225 --top=2 --output="$work/float.npz" \
                --labels="$models/data/imagenet_labels.txt" | sed -n 2p)
            snr=$("$bin/xpu-dump" diff -q --snr "$work/float.npz" "tests/models/mobilenet_v2_fp32_${picture%.*}.npz" |
                sed -n 's/.*signal to noise \([0-9.]*\) dB.*/\1/p')
            echo "mobilenet_v2_fp32, $precision on $device, $picture: $top; signal to noise ${snr:-?} dB"
            if [[ $top == *"0)  $class:"* ]] && [ "${snr%.*}" -ge 20 ]; then passed=$((passed + 1)); else
                failed=$((failed + 1)); echo "FAILED mobilenet_v2_fp32, $precision on $device, $picture"; fi
        done
    done <<'END'
cat.bmp Egyptian cat
hot_dog.jpg burrito
orange.png orange
END
done
resnet=$models/made/resnet50_random_qdq
"$bin/xpuc" -q "$resnet.onnx" -o "$work/resnet.xpu" || exit 1
for device in ref $devices; do
    "$bin/xpu-run" -q "$work/resnet.xpu" --device="$device" --input="${resnet}_io.npz" --output="$work/resnet.npz" &&
        "$bin/xpu-dump" diff -q "$work/resnet.npz" "${resnet}_io.npz"
    if [ $? = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED resnet50_random_qdq on $device"; fi
    compared=$((compared + 1000))
done
echo "$compared elements compared with onnxruntime, $different of tensors that differ"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
