# For sourcing, behind tests/checks.sh: counts of mutations that are found and named, and of alarms.
validate=${XPU_BUILD:-build}/bin/xpu-validate mutate=${XPU_BUILD:-build}/tests/gen/mutate_onnx_main
shared=${XPU_SHARED:-../shared}
found=0 named=0 mutations=0 alarms=0 pairs=0
key() { # key FILE PART KEY: a text of the object PART of the JSON
    sed -n "/^ \"$2\":/,/^ }/p" "$1" | grep -m1 "\"$3\":" | sed 's/.*": *//; s/,$//; s/^"//; s/"$//'
}
mutation() { # mutation MODEL OTHER OPTIONS SEED named|renamed: a line of mutations.txt
    local model=${1/#SHARED/$shared} other=${2/#SHARED/$shared} options=$3 rename='' what status
    [ "$options" != - ] || options=''
    [ "$5" != renamed ] || rename=--rename
    what=$("$mutate" "$model" "$4" "$folder/m.onnx" $rename) || { echo "FAILED: no mutation: $*"; failed=$((failed + 1)); return; }
    "$validate" --json "$other" "$folder/m.onnx" $options >"$folder/m.json" 2>"$folder/err"
    status=$?
    mutations=$((mutations + 1))
    if [ $status != 4 ]; then printf 'not found (exit %s): %s: %s\n' $status "$*" "$what"; head -3 "$folder/err"; return; fi
    found=$((found + 1))
    local name; name=$(key "$folder/m.json" first node_b)
    if [ "$name" = "$(cut -f3 <<<"$what")" ]; then named=$((named + 1)); return; fi
    printf 'named %s (%s) instead: %s: %s\n' "$name" "$(key "$folder/m.json" first operator_b)" "$*" "$what"
}
pair() { # pair A B [OPTIONS...]: two models that are the same
    "$validate" "$@" >"$folder/out" 2>&1
    local status=$?
    pairs=$((pairs + 1))
    [ $status != 0 ] || return
    alarms=$((alarms + 1)); printf 'alarm (exit %s): %s\n' $status "$*"; head -8 "$folder/out"
}
converted() { # converted PADDLE SEEDS...: a program against what xpu-convert writes of it
    local model=$1 seed; shift
    "${XPU_BUILD:-build}/bin/xpu-convert" -q "$model" -o "$folder/c.onnx" 2>"$folder/err" || { printf 'FAILED: xpu-convert %s\n' "$model"; head -3 "$folder/err"; failed=$((failed + 1)); return; }
    for seed; do pair "$model" "$folder/c.onnx" --seed="$seed"; done
}
renamed() { # renamed ONNX SEEDS...: a model against itself under other names
    local model=$1 seed; shift
    "$mutate" "$model" 0 "$folder/r.onnx" --rename
    for seed; do pair "$model" "$folder/r.onnx" --seed="$seed"; done
}
figures() { # figures MUTATIONS NAMED PAIRS: what there has to be at least
    printf '%s of %s mutations are found, %s of them by the mutated operator; %s alarms in %s pairs that are the same\n' \
        $found $mutations $named $alarms $pairs
    passed=$((passed + found + pairs - alarms)) failed=$((failed + mutations - found + alarms))
    [ $mutations -ge "$1" ] && [ $named -ge "$2" ] && [ $pairs -ge "$3" ] || failed=$((failed + 1))
    printf '%s passed, %s failed\n' "$passed" "$failed"
    [ "$failed" = 0 ]
}
