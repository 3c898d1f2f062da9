#!/usr/bin/env bash
# units.sh short: the units in SystemVerilog alone, against the functional chip: scalar core and processor (with vector
# unit), which execute random streams from core/isa.def, tensor engine 8 x 8, window engine of 8
# channels, DMA engine.
# units.sh long: all benches, among them four sizes of the array; 10^6 random vector instructions; the whole chip's tests
# on the chip quad.
set -uo pipefail
cd "$(dirname "$0")/../.."
build=${XPU_BUILD:-build}; benches=$build/tests/rtl status=0
export XPU_BUILD=$build XPU_BIN=${XPU_BIN:-$build/bin}
run() { echo "$*"; "$@" || status=1; }
case $1 in
short)
    run "$benches/core/core_bench" test "$benches"/core/{integer,floats,memory}-O?.elf
    run "$benches/vector/vector_bench" test "$benches"/vector/*-O[23].elf
    run "$benches/tensor/tensor-8x8" 200
    run "$benches/window/window-8" 200
    run "$benches/dma/dma" 800
    ;;
long)
    seed=${XPU_RTL_SEED:-$(date +%Y%m%d)0000}
    run make --no-print-directory BUILD="$build" test-rtl || exit 1
    run "$benches/vector/vector_bench" random "$seed" 1000000
    run "$benches/core/core_bench" random "$seed" 3000
    run "$benches/core/core_bench" float "$seed" 300
    for bench in "$benches"/tensor/tensor-*x*; do run "$bench" 3000 "$((seed % 4000000000))"; done
    for bench in "$benches"/window/window-*; do run "$bench" 20000 "$((seed % 4000000000))"; done
    run "$benches/dma/dma" 20000 "$((seed % 4000000000))"
    ;;
esac
exit $status
