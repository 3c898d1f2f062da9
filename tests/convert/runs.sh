# What the tests of the converter share: the list of models with recorded inputs, and their runs before and behind a
# conversion (tests/gen/convert_run_main.c).

models() { # models FORMATS GLOB...: lines for convert_run
    local formats=$1 model base in with
    shift
    for model in "$@"; do
        base=${model%.*} in=- with=-
        for in in "${base}_in.npz" "$base".*_in.npz; do [ -e "$in" ] && break; in=-; done
        [ -e "$base.options" ] && with=$base.options
        echo "$formats $model $in $with"
    done
}

# Runs the lines of standard input on all processors: a line for each model that is not equal, sorted.
run_models() { # run_models FOLDER
    local parts i
    parts=$(nproc)
    cat >"$1/lines"
    for ((i = 0; i < parts; i++)); do
        mkdir -p "$1/$i"
        awk -v n="$parts" -v i="$i" 'NR % n == i' "$1/lines" | "$XPU_BUILD/tests/gen/convert_run_main" "$1/$i" >"$1/$i.out" &
    done
    wait
    cat "$1"/*.out >"$1/all"
    sed -n 's/^equal .*/equal/p' "$1/all" | wc -l >"$1/equal"
    # what is refused or fails, by rule and reason of the first error; differences above the limit
    awk '/^equal / { next }
        /^(wrong|refused) / { kind = $1; model = $2; rule = match($0, /error \[[a-z-]*\]/) ? substr($0, RSTART + 6, RLENGTH - 6) : "?"
            rest = substr($0, RSTART)
            why = match(rest, /   why: .*/) ? substr(rest, RSTART + 8) : ""; sub(/   hint: .*/, "", why); sub(/ [^ ]*: error \[.*/, "", why)
            print kind, model, rule, why; next }
        $1 + 0 > 1e-5 || $1 == "inf" || $1 == "nan" { print "differs", $2 }' "$1/all" | sed "s:$1/paddle/:tests/paddle/:" | sort
}
