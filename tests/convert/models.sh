# Round trips of models, for sourcing behind tests/checks.sh.
convert=${XPU_BUILD:-build}/bin/xpu-convert run=${XPU_BUILD:-build}/tests/gen/convert_run_main xpuc=${XPU_BUILD:-build}/bin/xpuc
operators() { "$xpuc" --describe "$1" 2>/dev/null | sed -n 's/^\([0-9]*\) operators: \(.*\)/\1 \2/p'; }

# trip NAME MODEL INPUTS OPTIONS: there and back in both forms of PaddlePaddle (of a program: to ONNX and back), and the line
# of the table. Equal bits where both ends have the same operators, else within 1e-5 of the largest value.
trip() {
    local ways way line said end before after status inputs=$3
    case $inputs in *.npz) ;; *) inputs=$folder/inputs.npz; python3 tests/gen/inputs_npz.py "$3" "$inputs" ;; esac
    case $2 in *.onnx) ways='pdmodel,onnx json,onnx' ;; *) ways='onnx,pdmodel onnx,json' ;; esac
    echo "$4" >"$folder/options"
    before=$(operators "$2")
    for way in $ways; do
        rm -f "$folder"/[12].*
        line=$(echo "$way $2 $inputs $folder/options" | "$run" "$folder")
        said=${line%% *} end=$folder/2.${way#*,}
        after=$(operators "$end")
        case $said in
        equal) status=0 ;;
        refused) said="$(grep -o 'error \[convert-operator\]' <<<"$line" | wc -l) without a counterpart" status=1 ;;
        wrong) status=1 ;;
        *) status=$(awk -v d="$said" -v same="$([ "$before" = "$after" ] && echo 1)" 'BEGIN { print !(d <= (same ? 0 : 1e-5)) }') ;;
        esac
        printf '%-44s %-13s %5s %5s  %s\n' "$1" "${way/,/, }" "${before%% *}" "${after%% *}" "$said"
        if [ "$status" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); sed 's/   why/\n  why/g; s/^/  /' <<<"$line" | head -12; fi
    done
}

# rows FILE: lines of scripts/*.rows as words of trip, one after the other, ended by 0 bytes
rows() {
    local name model options inputs rest
    while IFS='|' read -r name model options inputs rest; do
        printf '%s\0' "$(xargs <<<"$name")" "$(xargs <<<"$model")" "$(xargs <<<"$inputs")" "$(xargs <<<"$options")"
    done < <(grep -v '^#' "$1")
}
