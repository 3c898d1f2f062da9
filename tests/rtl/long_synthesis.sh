#!/usr/bin/env bash
# long_synthesis.sh [UNIT...]: Yosys synthesises units of nano: scalar core, vector unit, tensor engine, a DMA engine; and
# the window engine of nano-window. What comes out must be what docs/generated/synthesis.md says; XPU_SYNTHESIS=write
# writes that file, of the named units (xpu_dma) only their lines. The front end's output is cut up by split.awk, and it
# is proved for a module with both kinds of assignments that this changes nothing.
set -uo pipefail
cd "$(dirname "$0")/../.."
if ! command -v yosys >/dev/null; then echo 'skipped: no yosys here'; exit 0; fi
build=${XPU_BUILD:-build} table=docs/generated/synthesis.md passed=0 failed=0
make --no-print-directory -s BUILD="$build" "$build/rtl/params" || exit 1
generics=$("$build/rtl/params" configs/chip nano | sed -n 's/^GENERICS := //p')
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
processes='proc_clean; proc_rmdead; proc_prune; proc_init; proc_arst; proc_rom; proc_mux; proc_dlatch; proc_dff
    proc_memwr; proc_clean'
parameter() { # parameter NAME: of the chip
    local rest=${generics#*-G"$1"=}
    echo "${rest%% *}"
}
frontend() { # frontend UNIT FILES PARAMETERS: UNIT.il, with processes; NAME or NAME=VALUE
    local name options=
    for name in $3; do
        case $name in *=*) options="$options -chparam ${name%=*} ${name#*=}" ;;
            *) options="$options -chparam $name $(parameter "$name")" ;; esac
    done
    yosys -q -w 'Replacing memory' -p "read_verilog -sv -defer -Isim/rtl sim/rtl/generated/xpu_chip_pkg.sv $2
        hierarchy -check -top $1 $options; write_ilang $folder/$1.il" &&
        awk -f tests/rtl/synth/split.awk "$folder/$1.il" >"$folder/$1.split.il"
}
equal() { # equal UNIT: with and without split.awk
    frontend "$1" "sim/rtl/$1.sv" '' && yosys -q -p "
        read_ilang $folder/$1.il; proc; rename $1 whole; design -stash whole
        read_ilang $folder/$1.split.il; $processes; check -assert; rename $1 split; design -stash split
        design -copy-from whole whole; design -copy-from split split; equiv_make whole split both; hierarchy -top both
        opt_expr; opt_merge; equiv_struct; equiv_simple; equiv_induct; equiv_status -assert"
}
# synthesis UNIT FILES PARAMETERS: a line of the table. Memories stay what they are: their ports begin and end paths of
# writes; a read is a cell.
synthesis() {
    local start=$SECONDS
    frontend "$@" && yosys -q -e 'Driver-driver conflict' -p "read_ilang $folder/$1.split.il; $processes; flatten
        opt_expr -mux_undef -fine; opt_merge; opt_clean; memory_share -nosat -nowiden; wreduce; opt_expr -fine
        opt_merge; opt_clean; tee -q -o $folder/$1.stat stat -width; tee -q -o $folder/$1.path ltp -noff
        write_ilang $folder/$1.final.il" &&
        awk -v unit="$1" -f tests/rtl/synth/ports.awk "$folder/$1.final.il" >>"$folder/ports" &&
        awk -v unit="$1" '
            /Number of memory bits/ { memory = $NF }
            /Number of cells/ { cells = $NF }
            $1 ~ /^\$dff_/ { flops += substr($1, 6) * $2 }
            /Longest topological path/ { path = $0; gsub(/.*=|\).*/, "", path) }
            END { printf "| `%s` | %d | %d | %d | %d |\n", unit, cells, flops, memory, path
                  exit !(cells && flops && path) }' "$folder/$1.stat" "$folder/$1.path" >>"$folder/table" &&
        echo "$1: $((SECONDS - start)) s"
}
check() { # check NAME COMMAND...
    if "${@:2}"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $1"; fi
}
cat >"$folder/table" <<'END'
<!-- Made by tests/rtl/long_synthesis.sh; do not edit. -->

# What Yosys makes of nano, and of the window engine of nano-window

| unit | cells | flip-flops | memory bits | longest path |
|---|---|---|---|---|
END
cat >"$folder/ports" <<'END'

Their memories of 1024 bits and more. A port is a place in the RTL that reads or writes a word, after equal ones are one:
16 ports are one for a line of 64 bytes where a word has 32 bits; places of which only one is reached in a cycle count
each.

| unit | memory | words | bits | reads | writes |
|---|---|---|---|---|---|
END
check 'equal with and without split.awk' equal xpu_core_muldiv
units=("$@")
unit() { # unit NAME FILES PARAMETERS: one of those that were asked for; of others the line that the table has
    local name
    for name in "${units[@]-}"; do
        case $name in "$1" | '') check "$1" synthesis "$@"; return ;; esac
    done
    grep "^| .$1. | [0-9]" "$table" >>"$folder/table"
    grep "^| .$1. | .[a-z]" "$table" >>"$folder/ports"
}
memories='CORES LM_BYTES SM_BYTES L3_BYTES GM_BYTES'
unit xpu_core "$(echo sim/rtl/xpu_core*.sv)" 'LM_BYTES ICACHE_BYTES VECTOR=1'
unit xpu_vector "$(echo sim/rtl/xpu_vector*.sv)" LM_BYTES
unit xpu_tensor sim/rtl/xpu_tensor.sv 'ARRAY_ROWS ARRAY_COLUMNS ACC_BANKS ACC_ROWS WEIGHT_ROWS POST_LANES SM_BYTES'
unit xpu_dma sim/rtl/xpu_dma.sv "$memories READS=$(parameter GM_ENTRIES)"
generics=$("$build/rtl/params" tests/chip nano-window | sed -n 's/^GENERICS := //p')
unit xpu_window sim/rtl/xpu_window.sv "$memories CHANNELS=$(parameter WINDOW_CHANNELS)
    LINE_ROWS=$(parameter WINDOW_LINES) LINE_BYTES=$(parameter WINDOW_LINE_BYTES)"
cat "$folder/ports" >>"$folder/table"
cat "$folder/table"
if [ "${XPU_SYNTHESIS:-}" = write ]; then cp "$folder/table" "$table"; fi
check "$table is up to date: XPU_SYNTHESIS=write" diff -u "$table" "$folder/table"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
