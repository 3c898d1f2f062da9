# Networks of paddle.vision with seeded parameters (tests/gen/vision.py), for sourcing behind checks.sh: against what
# PaddlePaddle answered, on ref and func, layers on the units that tests/paddle/vision_units.txt says, so many of them on the
# tensor engine (UPDATE=1 writes it, and prints how far they are).
units=tests/paddle/vision_units.txt

# vision_run PROGRAM NAME LIMIT FORM PRECISION: within LIMIT x max |y| of PaddlePaddle, func with ref's bits
vision_run() {
    local device line
    for device in ref func; do
        check 0 '' "$XPU_BIN/xpu-run" -q "$1" -i "$folder/$2.npy" --device=$device -o "$folder/$device.npz"
    done
    check 0 '' cmp "$folder/ref.npz" "$folder/func.npz"
    check 0 '' python3 tests/gen/vision.py compare "$folder/ref.npz" "$folder/$2.out" "$3"
    line="$kind $2 $4 $5$("$XPU_BIN/xpuc" --describe "$1" | awk '/layers:$/ { on = 1; next } !/^ / { on = 0 } on { count[$3]++ }
        END { for (u in count) print " " u (u == "tensor" ? " " count[u] : "") }' | sort | tr -d '\n')"
    [ -z "${UPDATE:-}" ] || echo "$line: $output"
    echo "$line" >>"$folder/units"
}

# vision_compile NAME FORM DIMS PRECISION: to $folder/FORM.xpu
vision_compile() {
    check 0 '' "$XPU_BIN/xpuc" "$folder/$1.$2" --shape="x=1,$3" --precision="$4" -q -o "$folder/$2.xpu" --report="$folder/$2.report"
}

# vision_copies NAME: concats and slices copy nothing, but what dense chains make (swish)
vision_copies() {
    check 0 '' python3 -c 'import json, sys
name, joins = sys.argv[1], json.load(open(sys.argv[2]))["program"]["joins"]
assert joins["copied_bytes"] <= (joins["bytes"] // 2 if "swish" in name else 0), (name, joins)' "$1" "$folder/json.report"
}

# vision_round_trip NAME DIMS: both forms compute the same; from each to ONNX and on to either form, too
vision_round_trip() {
    local from to
    check 0 'within 0 of max' vision_same "$1.pdmodel" "$1.json" "$2" "$folder/$1.npy"
    for from in pdmodel json; do
        check 0 '' "$XPU_BIN/xpu-convert" -q "$folder/$1.$from" -o "$folder/$1.$from.onnx"
        for to in pdmodel json; do
            check 0 '' "$XPU_BIN/xpu-convert" -q "$folder/$1.$from.onnx" -o "$folder/again.$to"
            check 0 'within 0 of max' vision_same "$1.$from" "again.$to" "$2" "$folder/$1.npy"
        done
    done
}
vision_same() { "$XPU_BIN/xpu-validate" "$folder/$1" "$folder/$2" --shape="x=1,$3" --input="x=$4" --tolerance=1e-38; }

vision_units() { # the lines of this kind
    [ -z "${UPDATE:-}" ] || { { grep -v "^$kind " $units || true; cat "$folder/units"; } | LC_ALL=C sort >"$folder/all"; cp "$folder/all" $units; }
    check 0 '' diff <(grep "^$kind " $units) <(LC_ALL=C sort "$folder/units")
}
