#!/usr/bin/env bash
# Networks whose images change their size, one program for all sizes: onnxruntime's answers (tests/gen/record_resample.py),
# NaN and infinities among them in float32, the same bits on every device, and the units that do the work.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
cases=tests/golden/resample

compiled() { # compiled NAME PRECISION CHIP CHANNELS: $folder/explained
    check 0 '' "$XPU_BIN/xpuc" -q "$cases/$1.onnx" --shape=x=1..2,"$4",4..32,4..32 --precision="$2" --chip="$3" --explain -o "$folder/$1.xpu"
    printf '%s\n' "$output" >"$folder/explained"
    check 1 '' grep 'host:' "$folder/explained"
}
runs() { # runs NAME DEVICES TOLERANCE CASE...
    local name=$1 devices=$2 tolerance=$3 case device first
    shift 3
    for case; do
        first=
        for device in $devices; do
            local out=$folder/$case.$device.npz
            check 0 '' "$XPU_BIN/xpu-run" -q "$folder/$name.xpu" -d "$device" -i "$cases/$name.${case}_in.npz" -o "$out"
            check 0 '0 of 1 tensors differ' "$XPU_BIN/xpu-dump" diff "$out" "$cases/$name.${case}_out.npz" --tolerance="$tolerance"
            [ -z "$first" ] || check 0 '0 of 1 tensors differ' "$XPU_BIN/xpu-dump" diff "$out" "$first" --tolerance=0,0
            first=${first:-$out}
        done
    done
}
unit() { # unit NODE UNIT: where the node named so ran
    check 0 "$2" awk -v node="$1" '$3 == node { print $7 }' "$folder/explained"
}

for chip in nano standard; do
    compiled decoder fp32 $chip 6
    runs decoder 'ref func' 1e-4,1e-5 0 1 2
    compiled decoder auto $chip 6
    runs decoder 'ref func rtl' 2e-3,1e-3 0 1
    for node in up1 up2; do unit $node tensor; done
    compiled pyramid fp32 $chip 3
    runs pyramid 'ref func rtl' 1e-4,1e-4 0 1
    runs pyramid 'ref func' 1e-4,1e-4 2
    for node in linear cubic nearest y; do unit $node core; done
    unit large dma
done
# More taps than a core holds run on the host, all of them.
check 0 '' "$XPU_BIN/xpuc" -q "$cases/shrunk.onnx" --shape=x=1,2,5,1200 --explain -o "$folder/shrunk.xpu"
printf '%s\n' "$output" >"$folder/explained"
for node in linear cubic; do unit $node host:; done
runs shrunk 'ref func' 1e-5,1e-5 0
# One copy for each of three axes; what they make has the node's name.
compiled tripled fp32 nano 3
unit tripled dma
runs tripled 'ref func rtl' 1e-5,1e-5 0
check 0 '' "$XPU_BIN/xpuc" -q "$cases/tripled.onnx" --emit=ir -o "$folder/tripled.ir"
check 0 = grep '^%tripled : float32.N,6,' "$folder/tripled.ir"
# Bias, batch norm and activation are no layers of their own.
check 0 '' "$XPU_BIN/xpuc" -q "$cases/decoder.onnx" --emit=ir -o "$folder/decoder.ir"
check 0 "// ConvTranspose 'up1' #0 + Add 'biased' #1 + BatchNormalization 'normal' #2 + Relu 'relu' #3" grep 'conv(.*activation=1' "$folder/decoder.ir"
check 0 1 grep -c 'chain(' "$folder/decoder.ir"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
