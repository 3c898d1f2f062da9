#!/usr/bin/env bash
# Names that a terminal would obey, in a model, its files and on the command line: whatever the tools print of them is
# escaped, and their JSON is JSON.
set -uo pipefail
bin=$(cd "$XPU_BIN" && pwd) gen=$(cd "$XPU_BUILD/tests/gen" && pwd) chips=$PWD/configs/chip
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0 failed=0
count() { # count NAME STATUS
    if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "failed: $1"; fi
}
# The bytes of C0 without line feed (and what $1 says), DEL, C1, marks of direction, text that is no UTF-8
raw() { LC_ALL=C grep -qaP "[\x00-\x09\x0b-\x1f\x7f$1]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]"; }
# clean STATUS TEXT COMMAND...: exit status, a part of what is printed, and nothing raw in it
clean() {
    local wanted=$1 text=$2 status; shift 2
    "$@" >out 2>&1 </dev/null; status=$?
    [ $status = "$wanted" ] && grep -qaF -- "$text" out && ! raw '' <out && iconv -f utf-8 -t utf-8 out >/dev/null 2>&1
    local good=$?
    [ $good = 0 ] || { echo "exit $status of $(printf '%q ' "$@")"; cat -v out | head -20; }
    count "$(printf '%q ' "${@:1:3}")" $good
}
json() { "$gen/hostile_names_main" --json "$1"; count "JSON of $1" $?; }

"$gen/hostile_names_main" . || exit 1
esc='\x1b[31m\x1b]0;own\x07\x9b2J\xc2\x9b2J\x7f\x0d\x0a\xe2\x80\xae'
clean 0 "('N$esc" "$bin/xpuc" names.onnx --precision=int16 -v
clean 0 "symbol   N$esc" "$bin/xpuc" --describe names.xpu
clean 0 "graph$esc" "$bin/xpuc" --describe names.onnx
clean 0 "conv1$esc" "$bin/xpuc" names.onnx --emit=ir
clean 0 "conv1$esc" "$bin/xpuc" names.onnx --emit=c
clean 0 "pool$esc" "$bin/xpuc" names.onnx --emit=ir --dump-after=fold --check-passes -o ir.txt
clean 0 "relu1${esc%%\\xe2*}" "$bin/xpuc" names.onnx --explain --report=report.json
json report.json
"$bin/xpuc" names.onnx -q --explain=json --emit=ir -o ir >explain.json
json explain.json
for model in op domain attribute operand; do clean 1 "node$esc" "$bin/xpuc" $model.onnx; done
clean 2 "\\x1b[1m" "$bin/xpuc" names.onnx --shape $'\e[1m=1,2'
clean 2 "\\x1b[1m" "$bin/xpuc" names.onnx --shape $'x=\e[1m'
for option in target= chip= precision= emit= dump-after= ''; do
    clean 2 '\x1b[1m' "$bin/xpuc" names.onnx --$option$'\e[1m'
done
for option in precision-rules memory plugin report output; do
    clean 3 '\x1b[1m' "$bin/xpuc" names.onnx --$option=$'no/\e[1m'
done

for device in func ref rtl; do
    clean 0 "y$esc" "$bin/xpu-run" names.xpu -i names.npz --device=$device --dump-layers=$device --stats=$device.json
    json $device.json
    json $device/index.json
done
clean 0 "relu1$esc" "$bin/xpu-run" names.xpu -i names.npy --profile --trace=trace.json --lockstep
json trace.json
clean 0 "t1$esc" "$bin/xpu-dump" show func
clean 0 "0 of 11 tensors differ" "$bin/xpu-dump" diff func rtl --all
"$bin/xpuc" -q names.onnx --precision=fp32 -o fp32.xpu &&
    "$bin/xpu-run" -q fp32.xpu -i names.npz --device=ref --dump-layers=other
clean 4 "first difference: " "$bin/xpu-dump" diff func other --all
clean 2 "no layer" "$bin/xpu-run" names.xpu --layer=$'\e[1m' --from-dump=func --device=func
clean 2 "no layer" "$bin/xpu-run" names.xpu --wave=$'\e[1m:w.fst' -i names.npz
clean 2 "\\x1b[1m" "$bin/xpu-run" names.xpu -i $'\e[1m=names.npy' --device=func
clean 3 "\\x1b[1m" "$bin/xpu-run" names.xpu -i $'\e[1m' --device=func
clean 2 "\\x1b[1m" "$bin/xpu-run" names.xpu --device=$'\e[1m'
clean 2 "\\x1b[1m" "$bin/xpu-run" names.xpu $'\e[1m'
clean 3 "\\x1b[1m" "$bin/xpu-run" $'\e[1m'
clean 3 "\\x1b[1m" "$bin/xpu-dump" show $'\e[1m'
clean 2 "\\x1b[1m" "$bin/xpu-dump" $'\e[1m'
# The line on a terminal has carriage returns of its own.
script -qec "'$bin/xpu-run' names.xpu -i names.npz --device=func" /dev/null >tty 2>&1 </dev/null
tr -d '\r' <tty >line
raw '' <line
count "progress line" $((!$?))
grep -qaF '7/7 fc\x1b[31m' tty
count "progress line says the layer" $?

# A program that says them where xpuc never would
"$gen/hostile_names_main" --program names.xpu said.xpu
clean 0 'from \x9b2J\xc2\x9b2J\x0d\x0a\x7f' "$bin/xpuc" --describe said.xpu
clean 0 '' "$bin/xpu-run" said.xpu -i names.npz --profile --stats=said.json --dump-layers=said.dump
json said.json
json said.dump/index.json
clean 0 'of \x9b2J' "$bin/xpu-dump" show said.dump

# Files with such names
cp names.xpu $'a\e[31mb.xpu'
clean 0 'a\x1b[31mb.xpu: program' "$bin/xpuc" --describe $'a\e[31mb.xpu'
clean 0 'o\x1b[31m.npz' "$bin/xpu-run" $'a\e[31mb.xpu' -i names.npz -d func -o $'o\e[31m.npz'
cp names.onnx $'a\e[31mb.onnx'
clean 0 '-> a\x1b[31mb.xpu' "$bin/xpuc" $'a\e[31mb.onnx'
clean 0 'a\x1b[31mb.onnx: ONNX' "$bin/xpuc" --describe $'a\e[31mb.onnx'

# An index, a chip, a problem of memory planning and a case that say them
sed 's/"layer": "\(relu1\)[^"]*"/"layer": "\1\\u001b[31m\\u202e"/; s/"chip": "standard"/"chip": "\\u009b2J"/' \
    func/index.json >index && mkdir said && cp func/*.npy said && mv index said/index.json
clean 0 'relu1\x1b[31m\xe2\x80\xae' "$bin/xpu-dump" show said
clean 0 'chip \xc2\x9b2J' "$bin/xpu-dump" show said
clean 4 'relu1\x1b[31m\xe2\x80\xae' "$bin/xpu-dump" diff said other --all
sed 's/"name": *"nano"/"name": "na\\u001b[31mno"/' "$chips/nano.json" >chip.json
clean 2 "chip-name" "$bin/xpuc" names.onnx --chip=chip.json -o chip.xpu
sed 's/"cores"/"\\u001b[31m"/' "$chips/nano.json" >chip.json
clean 2 '\x1b[31m' "$bin/xpuc" names.onnx --chip=chip.json -o chip.xpu
cat >problem.json <<'END'
{"levels": [{"name": "sm\u001b[31m", "bytes": 128}, {"name": "gm", "bytes": 4096}],
 "buffers": [{"name": "a\u001b[31m", "bytes": 128, "first": 0, "last": 1},
                         {"name": "b\u202e", "bytes": 128, "first": 0, "last": 1}]}
END
clean 0 'sm\x1b[31m' "$bin/xpu-memplan" plan problem.json -o plan.json
json plan.json
clean 0 'sm\x1b[31m' "$bin/xpu-memplan" check problem.json plan.json
clean 0 'sm' "$bin/xpu-memplan" plan problem.json
"$bin/xpu-memplan" -q svg problem.json plan.json -o plan.svg
raw '' <plan.svg
count "picture" $((!$?))
mkdir suite
cat >suite/$'c\e[31m.json' <<END
{"model": "$work/names.onnx", "precision": "fp32", "devices": ["func"],
 "inputs": {"x\\u001b[31m": {"file": "$work/names.npz", "entry": "\\u001b[31m"}}, "chips": {"nano": {}}}
END
"$bin/xpu-regress" --suite=suite >out 2>&1
raw '' <out
count "regress" $((!$?))
echo "$passed passed, $failed failed"
[ $failed = 0 ]
