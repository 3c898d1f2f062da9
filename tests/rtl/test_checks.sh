#!/usr/bin/env bash
# Assertions of sim/rtl/xpu_checks.svh end a run at the handshake that breaks its rule, say which, and are nothing where
# XPU_CHECKS is not defined.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
unset MAKEFLAGS MAKELEVEL
if ! command -v verilator >/dev/null; then echo 'skipped: no verilator here'; exit 0; fi
cat >"$folder/t.sv" <<'END'
`include "xpu_checks.svh"
module t;
  logic clk = 0, rst = 1, valid = 0, ready = 0, done = 0;
  int rule = 0;
  logic handed = 0, took = 0;
  logic [7:0] payload = 0, what = 0;
  always #5 clk = !clk;
  `CHECK_HELD(one, valid, ready, payload)
  `CHECK_ANSWERS(two, valid && ready, done, 2)
  `CHECK_STAYS(three, handed, took, what)
  `CHECK(payload != 99, "a payload of 99")
  initial begin
    void'($value$plusargs("rule=%d", rule));
    repeat (2) @(negedge clk);
    rst = 0; valid = 1; payload = 5;
    @(negedge clk);
    if (rule == 1) valid = 0;
    if (rule == 2) payload = 6;
    @(negedge clk);
    ready = 1;
    if (rule == 3) repeat (4) @(negedge clk); else @(negedge clk);
    valid = 0; ready = 0; done = 1;
    repeat (rule == 4 ? 2 : 1) @(negedge clk);
    done = 0; payload = rule == 5 ? 99 : 0;
    handed = 1; what = 7;
    repeat (2) @(negedge clk);
    if (rule == 6) handed = 0;
    if (rule == 7) what = 8;
    @(negedge clk);
    took = 1; handed = 0;
    repeat (2) @(negedge clk);
    $display("the end");
    $finish;
  end
endmodule
END
build() { # build FOLDER FLAGS...
    local to=$folder/$1; shift
    verilator --binary -Isim/rtl --Mdir "$to" --top-module t -CFLAGS -O0 "$@" "$folder/t.sv" >"$folder/log" 2>&1 ||
        { cat "$folder/log"; exit 1; }
}
build on --assert -DXPU_CHECKS
check 0 'the end' "$folder/on/Vt"
check 134 'one: a request changes before it is taken' "$folder/on/Vt" +rule=1
check 134 'one: a request changes before it is taken' "$folder/on/Vt" +rule=2
check 134 'two: more requests than there is room for answers' "$folder/on/Vt" +rule=3
check 134 'two: an answer that nobody asked for' "$folder/on/Vt" +rule=4
check 134 'a payload of 99' "$folder/on/Vt" +rule=5
check 134 'three: what is handed on changes before it is taken' "$folder/on/Vt" +rule=6
check 134 'three: what is handed on changes before it is taken' "$folder/on/Vt" +rule=7
verilator --cc -Isim/rtl --Mdir "$folder/off" --top-module t --timing "$folder/t.sv" >"$folder/log" 2>&1
check 1 '' grep -rql 'one_was\|two_open\|payload of 99' "$folder/off"
check 0 '' grep -rql 'one_was' "$folder/on"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
