#!/usr/bin/env bash
# "-" is standard input and output in every tool; two users of one are an error, and nothing else is on standard output.
set -uo pipefail
: "${XPU_BIN:?the folder of the tools}"
mnist=$PWD/tests/models/mnist-8.onnx image=$PWD/tests/models/9.npy
bin=$(cd "$XPU_BIN" && pwd) gen=$(cd "$XPU_BUILD/tests/gen" && pwd)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export TMPDIR=$work/tmp
mkdir tmp
passed=0 failed=0
check() { # check NAME CONDITION...
    local name=$1; shift
    if "$@" >/dev/null 2>&1; then passed=$((passed + 1)); return; fi
    failed=$((failed + 1)); echo "failed: $name"; head -5 err
}
# run STATUS COMMAND...: standard output and error are in out and err
run() {
    local wanted=$1 status; shift
    "$@" >out 2>err; status=$?
    [ $status = "$wanted" ] || { echo "exit $status: $*"; return 1; }
}
json() { check "JSON of $1" "$gen/hostile_names_main" --json out; }

"$bin/xpuc" -q "$mnist" --precision=fp32 -o m.xpu && "$bin/xpu-run" -q m.xpu -i "$image" -d func -o o.npz --dump-layers=dump
# xpuc
check "model and program in pipes" run 0 "$bin/xpuc" - --precision=fp32 -o - <"$mnist"
cp out piped.xpu
check "it runs" run 0 "$bin/xpu-run" piped.xpu -i "$image" -d func
check "a pipe, not a file" [ "$("$bin/xpuc" -q "$mnist" --precision=fp32 -o - | cmp - m.xpu && echo same)" = same ]
check "appended" [ "$(echo first >log; "$bin/xpuc" -q "$mnist" --emit=c -o - >>log 2>/dev/null; head -1 log)" = first ]
check "the summary is on standard error" run 0 "$bin/xpuc" "$mnist" -o - --precision=fp32
check "and says where" grep -q -- '-> standard output$' err
check "a report" run 0 "$bin/xpuc" "$mnist" -o m2.xpu --report=- --explain
json report
check "with explanations on standard error" grep -q '^#    operator' err
check "and their reasons to the end" grep -q ' another name for the same bytes; .* an output of the model, or ends a shuffle of images that slices do not copy$' err
check "description" run 0 "$bin/xpuc" - --describe <"$mnist"
check "its text" grep -q '^input    Input3' out
check "rules" run 0 "$bin/xpuc" "$mnist" --precision-rules=- -o m2.xpu <<<'{"rules": [{"match": "*", "precision": "fp32"}]}'
check "two inputs" run 2 "$bin/xpuc" - --precision-rules=- -o m2.xpu <"$mnist"
check "two inputs: message" grep -q "option '--precision-rules': standard input is wanted twice" <(sort err)
check "two outputs" run 2 "$bin/xpuc" "$mnist" -o - --report=-
check "two outputs: message" grep -q "option '--report': two outputs go to standard output" err
check "a text and an output" run 2 "$bin/xpuc" "$mnist" --emit=ir --report=-
check "a program without a name" run 2 "$bin/xpuc" - <"$mnist"
# xpu-run
check "program" run 0 "$bin/xpu-run" - -i "$image" -d func <m.xpu
check "input" run 0 "$bin/xpu-run" m.xpu -i - -d func <"$image"
check "input by name" run 0 "$bin/xpu-run" m.xpu --input Input3=- -d func --stats=- <"$image"
json statistics
check "outputs for people on standard error" grep -q '^Plus214_Output_0  float32' err
check "outputs" run 0 "$bin/xpu-run" m.xpu -i "$image" -d func -o -
check "the same archive" cmp out o.npz
check "trace" run 0 "$bin/xpu-run" m.xpu -i "$image" -d rtl --trace=-
json trace
check "two inputs of a run" run 2 "$bin/xpu-run" - -i - -d func <m.xpu
check "two outputs of a run" run 2 "$bin/xpu-run" m.xpu -i "$image" -d func -o - --stats=-
check "waves do not go there" run 2 "$bin/xpu-run" m.xpu -i "$image" --wave=ReLU32:-
check "waves: message" grep -q "option '--wave': this cannot go to standard output" err
check "nothing to read" run 3 "$bin/xpu-run" m.xpu -i - -d func </dev/null
check "nothing to read: message" grep -q '^standard input: error ' err
check "no program" run 3 "$bin/xpu-run" - -i "$image" -d func </dev/null
check "no program: message" grep -q '^standard input: error \[xpu-format\]' err
check "no model" run 1 "$bin/xpuc" - -o none.xpu <"$image"
check "no model: message" grep -q '^standard input: error ' err
# xpu-dump, xpu-memplan, xpu-regress
check "an archive" run 0 "$bin/xpu-dump" show - <o.npz
check "its name" grep -q '^standard input: 1 tensor' out
check "difference" run 0 "$bin/xpu-dump" diff dump - <o.npz
check "as JSON" run 0 "$bin/xpu-dump" diff dump - --json <o.npz
check "with its name" grep -q '"b": "standard input"' out
check "both" run 2 "$bin/xpu-dump" diff - - <o.npz
echo '{"levels": [{"name": "gm", "bytes": 4096}], "buffers": [{"name": "a", "bytes": 128, "first": 0, "last": 1}]}' >p.json
check "plan" run 0 "$bin/xpu-memplan" plan - -o - <p.json
json plan
cp out plan.json
check "the table is on standard error" grep -q '^gm ' err
check "and what was done, last" [ "$(tail -1 err)" = 'standard input: 1 buffer is placed -> standard output' ]
check "plan from a pipe" run 0 "$bin/xpu-memplan" check p.json - <plan.json
check "picture" run 0 "$bin/xpu-memplan" svg p.json plan.json -o -
check "it is one" grep -q '^<svg' out
check "and said to be" grep -q '^p.json: 1 buffer is drawn -> standard output$' err
printf 'id,lower,upper,size\n1,0,3,512\n2,2,5,512\n' >p.csv
check "a .csv file without room" run 1 "$bin/xpu-memplan" plan p.csv --bytes=1000
check "its name, too" grep -q '^p.csv: error \[plan-capacity\]' err
mkdir suite
echo "{\"model\": \"$mnist\", \"precision\": \"fp32\", \"devices\": [\"func\"], \"inputs\": {\"Input3\": {\"file\": \"$image\"}}, \"chips\": {\"nano\": {}}}" >suite/m.json
check "cases" run 0 "$bin/xpu-regress" --suite=suite --junit=-
check "XML" grep -q '^<testsuite' <(grep -v '^<?xml' out)
check "names of files that end so" run 3 "$bin/xpu-run" m.xpu -i none- -d func
check "nothing is left" [ -z "$(ls tmp)" ]
check "a picture beside JSON" run 2 "$bin/xpu-dump" diff dump dump --json --heatmap=-
check "a picture beside JSON: message" grep -q "option '--heatmap': two outputs go to standard output" err
echo "$passed passed, $failed failed"
[ $failed = 0 ]
