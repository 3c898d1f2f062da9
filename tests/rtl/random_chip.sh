#!/usr/bin/env bash
# random_chip.sh SEED...: for each seed a random legal chip: Verilator's lint of its RTL, its library, and programs on
# it: bare ones, random descriptors, families of the corpus, float operations, the same on the functional chip.
set -uo pipefail
cd "$(dirname "$0")/../.."
if ! command -v verilator >/dev/null; then echo 'skipped: no verilator here'; exit 0; fi
build=${XPU_BUILD:-build} passed=0 failed=0
export XPU_BIN=${XPU_BIN:-$build/bin} DEVICES='func rtl'
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
check() { # check NAME COMMAND...
    local name=$1; shift
    if "$@" >"$folder/log" 2>&1; then passed=$((passed + 1)); return; fi
    failed=$((failed + 1)); echo "FAILED: random-$seed, $name: $*"; tail -n 20 "$folder/log"; return 1
}
lint() {
    # shellcheck disable=SC2046,SC2086
    verilator --lint-only -Wall -fno-reorder -Isim/rtl sim/rtl/waivers.vlt --top-module xpu_chip $(generics) \
        sim/rtl/generated/xpu_chip_pkg.sv sim/rtl/xpu_chip.sv
}
generics() { # -GNAME=VALUE...
    sed -n 's/^GENERICS := //p' "$build/rtl/random-$seed/chip.mk"
}
for seed in "$@"; do
    chip=$build/rtl/random-$seed.json
    check generator "$build/tests/gen/random_chip_main" "$seed" "$folder/chip.json" || continue
    mkdir -p "$build/rtl" # a file that has not changed stays, with what was built of it
    cmp -s "$folder/chip.json" "$chip" || cp "$folder/chip.json" "$chip"
    check 'make chip' make --no-print-directory BUILD="$build" chip CHIP="$chip" RTL_OPT='OPT_FAST=-O1' || continue
    check verilator lint
    export CHIP=$chip CHIPS=$chip
    if [ -e "$build/lib/libxpurtl-nano.so" ] && [ -e "$build/lib/libxpurtl-standard.so" ]; then # which it uses, too
        check 'bare programs' bash tests/chip/test_bare.sh
    fi
    check descriptors bash tests/chip/descriptors.sh "$seed" 4 60
    FAMILIES='reduce rvv_permute' check corpus bash tests/corpus/run.sh 2
    check floats bash tests/chip/floats.sh rtl 640
    [ $# = 1 ] || rm -rf "$build/rtl/random-$seed"* "$build/lib/libxpurtl-random-$seed.so"
done
echo "chips random-$(echo "$*" | sed 's/ / random-/g')"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
