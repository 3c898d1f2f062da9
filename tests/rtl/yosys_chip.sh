#!/usr/bin/env bash
# yosys_chip.sh NAME=VALUE...: Yosys reads each module of the RTL with those of a chip's parameters that it has, but for
# those that only connect others, which Verilator reads: Yosys 0.23 ends with an assertion when it takes the whole chip
# at once. Takes minutes.
set -uo pipefail
cd "$(dirname "$0")/../.."
for file in sim/rtl/*.sv; do
    module=$(basename "$file" .sv) files=$file options=''
    case $module in
    xpu_chip | xpu_processor) continue ;;
    xpu_core) files=$(echo sim/rtl/xpu_core*.sv) ;;
    esac
    for parameter in "$@"; do
        if grep -q "parameter int unsigned ${parameter%%=*}\b" "$file"; then
            options+=" -chparam ${parameter%%=*} ${parameter#*=}"
        fi
    done
    start=$SECONDS
    yosys -q -w 'Replacing memory' -e . -p "read_verilog -sv -defer -Isim/rtl sim/rtl/generated/xpu_chip_pkg.sv $files
        hierarchy -check -top $module $options" || { echo "Yosys: $module $options"; exit 1; }
    echo "$module: $((SECONDS - start)) s"
done
