#!/usr/bin/env bash
# random_chip.sh SEED...: for each seed a random legal chip: Verilator's lint of its RTL, its library, and programs on
# it: bare ones, random descriptors, families of the corpus, float operations, the same on the functional chip.
# XPU_YOSYS=1: Yosys finds all modules with the chip's parameters, too.
set -uo pipefail
cd "$(dirname "$0")/../.."
if ! command -v verilator >/dev/null; then echo 'skipped: no verilator here'; exit 0; fi
build=${XPU_BUILD:-build} passed=0 failed=0
export XPU_BIN=${XPU_BIN:-$build/bin} DEVICES='func rtl'
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
rtl=$(printf '%s ' sim/rtl/*.sv)
check() { # check NAME COMMAND...
    local name=$1; shift
    if "$@" >"$folder/log" 2>&1; then passed=$((passed + 1)); return; fi
    failed=$((failed + 1)); echo "FAILED: random-$seed, $name: $*"; tail -n 20 "$folder/log"; return 1
}
lint() {
    # shellcheck disable=SC2046,SC2086
    verilator --lint-only -Wall -Isim/rtl sim/rtl/waivers.vlt --top-module xpu_chip $(parameters -G) \
        sim/rtl/generated/xpu_chip_pkg.sv sim/rtl/xpu_chip.sv
}
# Each module with those of the chip's parameters that it has, but for those that only connect others, which Verilator
# reads: Yosys 0.23 ends with an assertion when it takes the whole chip at once. Takes minutes.
synthesis() {
    local file module name options files
    for file in $rtl; do
        module=$(basename "$file" .sv) options='' files=$file
        case $module in xpu_chip | xpu_processor) continue ;; xpu_core) files=$(echo sim/rtl/xpu_core*.sv) ;; esac
        for name in $(parameters ''); do
            if grep -q "parameter int unsigned ${name%%=*}\b" "$file"; then
                options="$options -chparam ${name%%=*} ${name#*=}"
            fi
        done
        yosys -q -p "read_verilog -sv -defer -Isim/rtl sim/rtl/generated/xpu_chip_pkg.sv $files
            hierarchy -check -top $module $options" || return 1
    done
}
parameters() { # parameters PREFIX [SEPARATOR]
    local word
    for word in $(sed -n 's/^GENERICS := //p' "$build/rtl/random-$seed/chip.mk"); do
        word=${word#-G}; printf '%s%s%s%s ' "$1" "${word%%=*}" "${2-=}" "${word#*=}"
    done
}
for seed in "$@"; do
    chip=$build/rtl/random-$seed.json
    check generator "$build/tests/gen/random_chip_main" "$seed" "$folder/chip.json" || continue
    mkdir -p "$build/rtl" # a file that has not changed stays, with what was built of it
    cmp -s "$folder/chip.json" "$chip" || cp "$folder/chip.json" "$chip"
    check 'make chip' make --no-print-directory BUILD="$build" chip CHIP="$chip" RTL_OPT='OPT_FAST=-O1' || continue
    check verilator lint
    [ -z "${XPU_YOSYS:-}" ] || check yosys synthesis
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
