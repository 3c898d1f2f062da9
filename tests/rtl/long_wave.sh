#!/usr/bin/env bash
# Waveforms of the Verilated chip nano: FST files that begin with the header of this format, whose times (two steps a
# cycle) are those of the layer.
set -uo pipefail
cd "$(dirname "$0")/../.."
build=${XPU_BUILD:-build}
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
make --no-print-directory BUILD="$build" chip CHIP=nano WAVE=1 || exit 1
check() { # check NAME CONDITION...: of [ ]
    local name=$1; shift
    if [ "$@" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $name: $*"; fi
}
# header FILE: sets type and length of the first block, and first and last cycle
header() {
    type=$(od -A n -t u1 -N 1 "$1" | tr -d ' ')
    read -r length first last < <(od -A n --endian=big -t u8 -j 1 -N 24 -w24 "$1")
    first=$((first / 2)) last=$((last / 2))
    check 'the first block is a header' "$type:$length" = 0:329
    check 'there are values behind it' "$(wc -c <"$1")" -gt 20000
    if command -v fst2vcd >/dev/null; then
        check 'fst2vcd reads it' "$(fst2vcd "$1" | grep -c '^#')" -gt $((last - first))
    fi
}
field() { sed -n "s/^ *\"$1\": *\([0-9]*\).*/\1/p" "$2"; }

# A bare program that does nothing for a while, then begins with layer 3
cat >"$folder/layer.c" <<'END'
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#define REG(offset) (*(volatile unsigned *)(XPU_REGS_BASE + (offset)))
unsigned results[4];
void other_main(void);
void other_main(void) {}
static unsigned wait(void) {
    unsigned now;
    for (int i = 0; i < 500; i++) __asm__ volatile("csrr %0, cycle" : "=r"(now));
    return now;
}
int main(void);
int main(void) {
    results[0] = wait();
    REG(XPU_REG_LAYER) = 3u << 16;
    results[1] = wait();
    return 0;
}
END
"${CLANG:-clang-19}" --target=riscv32-unknown-elf -march=rv32imf_zicsr -mabi=ilp32f -ffreestanding -nostdlib -O2 \
    -mno-relax -Wall -Wextra -Werror -I. -fuse-ld=lld -Wl,-T,xpu_runtime/devrt/bare/link.ld \
    xpu_runtime/devrt/bare/start.S "$folder/layer.c" -o "$folder/layer.elf" || exit 1
run() { # run FILE LAYER: sets cycles, and before, when the program says that it began with its layer
    cycles=$("$XPU_BIN/xpu-run" --bare "$folder/layer.elf" --chip=nano --wave="$2:$1" \
        --dump-mem=results:8:"$folder/results" 2>&1 | sed -n 's/.* \([0-9]*\) cycles$/\1/p')
    before=$(od -A n -t u4 -N 4 "$folder/results" | tr -d ' ')
    header "$1"
    check 'a waveform ends with the program' "$last" -ge $((cycles - 1)) -a "$last" -le "$cycles"
}
run "$folder/all.fst" 0
check 'the waveform of all begins with the program' "$first" = 0
run "$folder/layer.fst" 3
check 'the waveform of a layer begins with it' "$first" -ge "$before" -a "$first" -le $((before + 40))

# A layer of a network: from where core 0 begins with it to its completion
"$XPU_BIN/xpuc" -q tests/models/mnist-8.onnx --chip=nano --precision=int16 -o "$folder/mnist.xpu" &&
    "$XPU_BIN/xpu-run" -q "$folder/mnist.xpu" --input tests/models/9.npy --stats="$folder/stats.json" \
        --wave=Pooling66:"$folder/pooling.fst" || exit 1
header "$folder/pooling.fst"
end=0 begin=0
while read -r name cycles; do
    begin=$end end=$((end + cycles))
    [ "$name" = Pooling66 ] && break
done < <(awk -F'"' '$2 == "layers" { on = 1 } on && $2 == "name" { name = $4 }
    on && $2 == "cycles" { sub(/^: */, "", $3); sub(/,.*/, "", $3); print name, $3 }' "$folder/stats.json")
check 'Pooling66 is there' "$name" = Pooling66
echo "Pooling66: cycles $begin to $end, waveform $first to $last"
check 'the waveform ends with the layer' "$last" -ge $((end - 1)) -a "$last" -le $((end + 1))
check 'it begins where the layer does' "$first" -le $((begin + (end - begin) / 10))
echo "$passed passed, $failed failed"
[ $failed = 0 ]
