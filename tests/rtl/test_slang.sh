#!/usr/bin/env bash
# make lint-slang finds the chip clean in each configuration; and it does find what it is there for.
set -uo pipefail
cd "$(dirname "$0")/../.."
if ! "${PYTHON:-python3}" scripts/lint-slang; then exit 0; fi
build=${XPU_BUILD:-build} passed=0 failed=0
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

note() { if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $2"; fi; }

make --no-print-directory -s BUILD="$build" PYTHON="${PYTHON:-python3}" lint-slang
note $? 'make lint-slang'

# lint TEXT NAME: a module named t with this body is refused for a rule with this name
refused() {
    printf 'module t (input logic clk, input logic [1:0] x, output logic [1:0] y);\n%s\nendmodule\n' "$1" >"$work/t.sv"
    output=$("${PYTHON:-python3}" scripts/lint-slang t "$work/t.sv" 2>&1); status=$?
    [ $status = 1 ] && grep -q -e "$2" <<<"$output"; note $? "$2: status $status, $output"
}
refused 'logic a [1]; assign y = {2{a[0]}};
    for (genvar n = 0; n < 2; n = n + 1) always_ff @(posedge clk) if (x[n]) a[0] <= x[1];' multiple-always-assigns
refused 'assign y = a; logic [1:0] a; assign a = {x[0], clk};' 'used before its declaration'
refused 'always_comb begin logic x; x = clk; y = {x, x}; end' 'shadow'
refused 'logic [1:0] a; assign y = x; u u1 (.clk, .a(a)); endmodule module u (input logic clk, input logic a);' width-trunc
echo "$passed passed, $failed failed"
[ $failed = 0 ]
