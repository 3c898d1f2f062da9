#!/usr/bin/env bash
# xpu-memplan report, svg and explain of a problem with its plan, of a compiled program (fixed and free shapes) and of
# xpuc's report: they say the same, and what is no such file has an error.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
plan() { "$XPU_BIN/xpu-memplan" "$@"; }
value() { # value EXPRESSION FILE: of JSON d
    python3 -c 'import json, sys; d = json.load(open(sys.argv[2])); print(eval(sys.argv[1]))' "$@"
}
"$XPU_BIN/xpuc" -q tests/models/mnist-8.onnx --chip=nano -o "$folder/m.xpu" --report="$folder/m.json" &&
    "$XPU_BIN/xpuc" -q examples/digits/digits.onnx --shape x=1..16,1,16,16 -o "$folder/d.xpu" --report="$folder/d.json" || exit 1
printf '{"levels": [{"name": "SM", "bytes": 1024}, {"name": "GM", "bytes": 65536}],
 "buffers": [{"name": "a<1>", "bytes": 800, "first": 0, "last": 2}, {"name": "b", "bytes": 512, "first": 1, "last": 3}]}' >"$folder/p.json"
plan plan -q "$folder/p.json" -o "$folder/q.json"
for net in m d; do # the program and the report of it have the same plan
    plan report "$folder/$net.xpu" --json >"$folder/$net.x.json" && plan report "$folder/$net.json" --json >"$folder/$net.r.json"
    for key in 'd["levels"]' '[(b["name"], b["level"], b["offset"]) for b in d["buffers"]]' \
        '[(s["buffer"], s["level"], s["preferred"]) for s in d["spills"]]'; do
        check 0 '' [ "$(value "$key" "$folder/$net.x.json")" = "$(value "$key" "$folder/$net.r.json")" ]
    done
    check 0 '' [ "$(value 'd["levels"]' "$folder/$net.x.json")" = "$(value 'd["program"]["memory"]["levels"]' "$folder/$net.json")" ]
    for view in xpu json; do
        check 0 'buffers are drawn' plan svg "$folder/$net.$view" -o "$folder/$net.$view.svg"
        check 0 '' python3 -c 'import sys, xml.dom.minidom as m
d = m.parse(sys.argv[1]); t = [e.firstChild.data for e in d.getElementsByTagName("title")]
assert len(t) > 20 and any("layer" in x for x in t) and "lower bound" in d.toxml()' "$folder/$net.$view.svg"
    done
done
check 0 'x=16,1,16,16' cat "$folder/d.xpu.svg"
check 0 "may be   in L3 or GM" plan explain "$folder/m.xpu" Input3
check 0 "'ReLU32/w': weight, 400 bytes in GM" plan explain "$folder/m.xpu" '*32/w'
check 0 '"name": "ReLU32/w"' plan explain "$folder/m.xpu" '*32/w' --json
check 0 "224 of 512 bytes are free" plan explain "$folder/p.json" "$folder/q.json" b
check 2 "did you mean 'ReLU32/w'?" plan explain "$folder/m.xpu" ReLU32/ww
check 2 'there is no plan of the problem' plan explain "$folder/p.json" b
check 2 'there is a word too many' plan svg "$folder/m.xpu" "$folder/q.json" -o "$folder/x.svg"
check 2 'this goes to standard output' plan report "$folder/m.xpu" -o "$folder/x.txt"
check 2 'there is no JSON of this' plan plan "$folder/p.json" --json
printf '{"program": {"memory": {"levels": [{"name": "SM", "bytes": 64, "reserved": 65}], "buffers": []}}}' >"$folder/w.json"
check 2 '[memplan-report]' plan report "$folder/w.json"
printf '{"program": {"memory": {"levels": [{"name": "SM", "bytes": 64, "reserved": 0}], "buffers": [
 {"name": "a", "kind": "weight", "level": "SM", "offset": 0, "bytes": 8, "first": 0, "last": 1, "alias_of": "b"},
 {"name": "b", "kind": "weight", "level": "SM", "offset": 0, "bytes": 8, "first": 0, "last": 1, "alias_of": "a"}]}}}' >"$folder/w.json"
check 2 'an alias is of no buffer, or of itself' plan report "$folder/w.json"
printf '{"levels": [{"name": "SM", "bytes": 4096, "bytes_per_cycle": 64}, {"name": "GM", "bytes": 65536, "bytes_per_cycle": 4}],
 "steps": [{"cycles": 1000}, {"cycles": 300}], "buffers": [
 {"name": "w", "bytes": 2048, "first": 0, "last": 1, "kind": "weight", "home": "GM", "uses": [[1, 2048]]}]}' >"$folder/t.json"
check 0 '1300 cycles, 2048 bytes cross GM; without moves 1512 and 2048' plan plan "$folder/t.json" -o "$folder/u.json"
check 0 'w: GM to SM, step 0, there until step 1' plan check "$folder/t.json" "$folder/u.json"
check 0 'w@SM:0' plan report "$folder/t.json" "$folder/u.json"
check 0 '"still_cycles": 1512' plan report "$folder/t.json" "$folder/u.json" --json
check 0 'moves    it comes from GM in step 0' plan explain "$folder/t.json" "$folder/u.json" w
check 0 '"arrival": "comes from GM in step 0"' plan explain "$folder/t.json" "$folder/u.json" 'w@SM*' --json
check 0 'buffers are drawn' plan svg "$folder/t.json" "$folder/u.json" -o "$folder/u.svg"
check 0 'comes from GM in step 0' cat "$folder/u.svg"
sed 's/"buffers": \[/&\n {"name": "w@SM:0", "bytes": 64, "first": 0, "last": 1, "uses": [[0, 64]]},/' "$folder/t.json" >"$folder/v.json"
check 0 '2 buffers are placed' plan plan "$folder/v.json" -o "$folder/u.json"
check 0 'the plan is valid' plan check "$folder/v.json" "$folder/u.json" # its stays have names of their own
check 0 'w@SM:0+' plan report "$folder/v.json" "$folder/u.json"
head -c 5000 "$folder/m.xpu" >"$folder/cut.xpu"
check 3 '[xpu-' plan explain "$folder/cut.xpu" x
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
