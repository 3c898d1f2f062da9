# What the tests of make demo-ocr share, for sourcing: networks from $XPU_SHARED, and a picture that is drawn here. Without
# the networks only what they do not take part in is checked.
. "$(dirname "${BASH_SOURCE[0]}")/../checks.sh"
shared=${XPU_SHARED:-../shared}/models ocr=$XPU_BUILD/examples/ocr drawn=examples/ocr/text.png
programs=("$folder/demo-ocr/detector.xpu" "$folder/demo-ocr/classifier.xpu" "$folder/demo-ocr/recogniser.xpu")
characters=$shared/data/ppocr_keys_v1.txt
demo() { # demo DEVICE PICTURE: scripts/demo_ocr in a build folder of its own
    mkdir -p "$folder/examples"
    ln -sfn "$(realpath "$XPU_BIN")" "$folder/bin" && ln -sfn "$(realpath "$ocr")" "$folder/examples/ocr"
    env -i PATH="$PATH" scripts/demo_ocr "$folder" "$1" "$2" "$shared"
}
reads() { # reads PICTURE OPTION...: text and summary
    "$ocr" "${programs[@]}" "$characters" "$@"
}
