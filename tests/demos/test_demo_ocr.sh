#!/usr/bin/env bash
# make demo-ocr: the lines of text in a picture that tests/gen/draw_text.py drew are read, the slanted one and the one that
# stands upside down, too, and those of a photograph of ../shared, as with onnxruntime
# (tests/gen/record_ocr.py); nothing runs on the host; files that are none end with one message.
set -uo pipefail
. "$(dirname "$0")/ocr.sh"
check 2 'error [usage] five files are needed' "$ocr" "$drawn"
check 2 'error [usage] --side is not 32 to 960' "$ocr" --side=31 "$drawn"
check 2 "README.md: error [picture-format] this is no picture that can be read
  why: it begins neither as PNG nor as JPEG" "$ocr" a b c d README.md
check 3 'error [io-read] the picture cannot be read' "$ocr" a b c d "$folder/none.png"
head -c 9000 "$drawn" >"$folder/cut.png"
check 2 'error [picture-format] the picture is damaged' "$ocr" a b c d "$folder/cut.png"
printf '\211\120\116\107\015\012\032\012\000\000\000\015\111\110\104\122\000\000\200\000\000\000\000\001\010\002\000\000\000\010\124\015\177\000\000\000\000\111\104\101\124\065\257\006\036' >"$folder/wide.png" # 32768 x 1
check 2 'error [picture-size] the picture is too large, or empty
  why: it has 32768 x 1 pixels' "$ocr" a b c d "$folder/wide.png"
check 3 'error [io-read] the characters cannot be read' "$ocr" a b c "$folder/none.txt" "$drawn"
: >"$folder/none.txt"
check 2 'error [ocr-characters] this is no list of characters' "$ocr" a b c "$folder/none.txt" "$drawn"
check 0 '' "$XPU_BIN/xpuc" -q tests/models/mnist-8.onnx -o "$folder/mnist.xpu"
check 2 'error [ocr-program] the program detects no text' "$ocr" "$folder"/{mnist,mnist,mnist}.xpu scripts/deps "$drawn"
mkdir -p "$folder/half/paddle/ch_PP-OCRv4_det" # a program without its parameters, which nobody can fetch
touch "$folder/half/paddle/ch_PP-OCRv4_det/inference.pdmodel"
: >"$folder/table"
half() { env XPU_MODELS_TABLE="$folder/table" scripts/demo_ocr "$folder" func "$drawn" "$folder/half" paddle; }
check 2 'ch_PP-OCRv4_det/inference.pdiparams: error [model-unknown]' half
check 0 1 grep -c 'error' <<<"$output"
if [ ! -e "$shared/onnx/ch_PP-OCRv4_det_infer.onnx" ]; then
    echo 'skipped: reading text, as the models of ../shared are not there'
    echo "$passed passed, $failed failed"
    exit $((failed > 0))
fi
check 0 '  韩国小馆
text_rec.jpg: 1 line of text on func, detector 64 x 352
make demo-ocr: the picture with the boxes is' demo func "$shared/data/text_rec.jpg"
check 0 "$(printf '\0\0\1\152\0\0\0\116' | od -c)" bash -c "head -c 24 '$folder/demo-ocr/boxes.png' | tail -c 8 | od -c" # 362 x 78
check 0 '' same text "$drawn" --crops="$folder/crops"
check 0 'text.png: 4 lines of text on func, detector 192 x 352' cat "$folder/text.read"
for program in "${programs[@]}"; do check 1 '' grep -q 'host:' <<<"$("$XPU_BIN/xpuc" --describe "$program")"; done
check 0 '  three networks' reads "$folder/crops/003.png" --line
check 0 'no text (0.0' reads "$drawn" --side=32
least=${output%%$'\n'*}
[ ! -e "$XPU_BUILD/lib/libxpurtl-standard.so" ] || check 0 "$least
text.png: 0 lines of text on rtl, detector 32 x 32, detector " reads "$drawn" --side=32 --device=rtl
check 3 'error [io-write] the picture cannot be written' reads "$drawn" --side=32 --png="$folder/none/x.png"
check 2 'error [ocr-program] the program recognises no characters of this list' "$ocr" "${programs[@]}" scripts/deps "$drawn"
check 2 'error [ocr-program] the program classifies no lines of text' "$ocr" "${programs[0]}" "${programs[0]}" "${programs[2]}" "$characters" "$drawn"
# The same with PaddlePaddle's programs
check 2 "FORM is onnx or paddle, not 'torch'" demo func "$drawn" torch
check 0 'inference.pdmodel: 310 operators' demo func "$drawn" paddle
check 0 '' same text "$drawn"
for program in "${programs[@]}"; do check 1 '' grep -q 'host:' <<<"$("$XPU_BIN/xpuc" --describe "$program")"; done
check 1 '' grep -q new <<<"$(ls "$folder" "$folder/demo-ocr")"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
