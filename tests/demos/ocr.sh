# What the tests of make demo-ocr share, for sourcing: networks from $XPU_SHARED, and a picture that is drawn here. Without
# the networks only what they do not take part in is checked.
. "$(dirname "${BASH_SOURCE[0]}")/../checks.sh"
shared=${XPU_SHARED:-../shared}/models ocr=$XPU_BUILD/examples/ocr drawn=examples/ocr/text.png
programs=("$folder/demo-ocr/detector.xpu" "$folder/demo-ocr/classifier.xpu" "$folder/demo-ocr/recogniser.xpu")
characters=$shared/data/ppocr_keys_v1.txt
demo() { # demo DEVICE PICTURE [FORM]: scripts/demo_ocr in a build folder of its own
    mkdir -p "$folder/examples"
    ln -sfn "$(realpath "$XPU_BIN")" "$folder/bin" && ln -sfn "$(realpath "$ocr")" "$folder/examples/ocr"
    env -i PATH="$PATH" scripts/demo_ocr "$folder" "$1" "$2" "$shared" "${3:-onnx}"
}
reads() { # reads PICTURE OPTION...: text and summary
    "$ocr" "${programs[@]}" "$characters" "$@"
}
same() { # same NAME PICTURE OPTION...: the text as with onnxruntime (ocr/NAME.txt), corners within 2 pixels, probabilities within 0.02
    local wanted=tests/demos/ocr/$1.txt name=$1
    reads "${@:2}" --boxes >"$folder/$name.read" || return
    paste -d'\n' "$wanted" <(head -n -1 "$folder/$name.read") | awk '
        function off(a, b) { return a > b ? a - b : b - a }
        NR % 2 { wanted = $0; next }
        {
            split(wanted, w, /[ ,]/)
            split($0, r, /[ ,]/)
            for (i = 1; i <= 9; i++) if (w[i] == "" || r[i] == "" || off(w[i], r[i]) > (i < 9 ? 2 : 0.02)) bad = bad " " i
            text = substr($0, index($0, "  "))
            wanted = substr(wanted, index(wanted, "  "))
            if (text != wanted || bad != "") { print "wanted " w[9] wanted ", read " $0 "; off:" bad; differ = 1 }
            bad = ""
        }
        END { exit differ || !NR }'
}
