#!/usr/bin/env bash
# Bare programs: xpu-run --bare with the linker script and start-up file of xpu_runtime/devrt/bare. DEVICES (func rtl) are tried
# on CHIPS (nano standard).
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
build() { # build NAME MODE
    "${CLANG:-clang-19}" --target=riscv32-unknown-elf -march=rv32imf_zicsr -mabi=ilp32f -ffreestanding -nostdlib -O2 \
        -fno-math-errno -mno-relax -Wall -Wextra -Werror -I. -DMODE="$2" -fuse-ld=lld \
        -Wl,-T,xpu_runtime/devrt/bare/link.ld xpu_runtime/devrt/bare/start.S tests/chip/device/bare.c -o "$folder/$1" ||
        exit 1
}
foreign() { # foreign NAME CASE: a test in the form of riscv-tests; case CASE fails
    "${CLANG:-clang-19}" --target=riscv32-unknown-elf -march=rv32imf_zicsr_zifencei -mabi=ilp32f -nostdlib -mno-relax \
        -DFAIL="$2" -Ixpu_runtime/devrt/bare -fuse-ld=lld -Wl,-T,xpu_runtime/devrt/bare/link.ld \
        tests/chip/device/foreign.S -o "$folder/$1" || exit 1
}
bare() { "$XPU_BIN/xpu-run" --bare "$@"; }
for mode in 0 1 2 3 4 5 6 7 8 9 10 11 12; do build "$mode.elf" $mode; done
foreign good.elf 0
foreign bad.elf 4
for device in ${DEVICES:-func rtl}; do for chip in ${CHIPS:-nano standard}; do
    on=(--chip="$chip" --device="$device")
    check 80 'status 80' bare "$folder/0.elf" "${on[@]}" --dump-mem=roots:64:"$folder/roots.$device.${chip##*/}" \
        --dump-mem=results:256:"$folder/results.$device.${chip##*/}"
    check 80 'status 80' bare "$folder/0.elf" "${on[@]}" --max-cycles=1000000
    check 125 'software abort' bare "$folder/1.elf" "${on[@]}"
    check 125 'code 77' bare "$folder/1.elf" "${on[@]}"
    check 125 'bad address' bare "$folder/2.elf" "${on[@]}"
    check 125 'address 0x00000000' bare "$folder/2.elf" "${on[@]}"
    check 124 'time-out' bare "$folder/3.elf" "${on[@]}"
    check 124 'time-out' bare "$folder/3.elf" "${on[@]}" --max-cycles=1000000 # not raised again by a core that is late
    check 125 'bad host call: ' bare "$folder/8.elf" "${on[@]}"
    check 125 'core 0, address 0x7ffffffd: there is no request' bare "$folder/8.elf" "${on[@]}"
    check 125 'the request is layer 1664527, status ' bare "$folder/9.elf" "${on[@]}"
    check 124 '--max-cycles=5000 has passed' bare "$folder/4.elf" "${on[@]}" --max-cycles=5000
    check 124 '--max-cycles=9000 has passed' timeout 60 "$XPU_BIN/xpu-run" --bare "$folder/7.elf" "${on[@]}" --max-cycles=9000
    check 124 'waits for counter 2 >= 9 (it is 0)' bare "$folder/5.elf" "${on[@]}"
    check 124 'DMA0, queue of core 0: 1 lists, descriptor 1 of 1 at 0x80' bare "$folder/6.elf" "${on[@]}"
    check 124 '(nop, layer 3), waits for counter 7 >= 2 (it is 0)' bare "$folder/6.elf" "${on[@]}"
    check 124 'time-out' timeout 60 "$XPU_BIN/xpu-run" --bare "$folder/10.elf" "${on[@]}"
    check 125 'too many tickets' timeout 60 "$XPU_BIN/xpu-run" --bare "$folder/11.elf" "${on[@]}"
    [ "$device" = rtl ] || check 124 '--max-cycles=1000000 has passed' timeout 10 \
        "$XPU_BIN/xpu-run" --bare "$folder/12.elf" "${on[@]}" --max-cycles=1000000
    check 0 'status 0' bare "$folder/good.elf" "${on[@]}"
    check 4 'status 4' bare "$folder/bad.elf" "${on[@]}"
    check 2 'has no such symbol' bare "$folder/0.elf" "${on[@]}" --dump-mem=nothing:4:"$folder/x"
    check 2 'memory of the chip ends' bare "$folder/0.elf" "${on[@]}" --dump-mem=0x1100fffc:8:"$folder/x"
done; done
for chip in ${CHIPS:-nano standard}; do for mode in 3 8 9; do # in lock-step neither is a difference
    case $mode in 3) check 124 'time-out' bare "$folder/3.elf" --chip="$chip" --device=rtl --lockstep --max-cycles=1000000 ;;
    *) check 125 'bad host call: ' bare "$folder/$mode.elf" --chip="$chip" --device=rtl --lockstep ;; esac
done; done
first= # results are the same everywhere
for file in "$folder"/results.*; do
    first=${first:-$file}
    check 0 '' cmp "$first" "$file"
    check 0 '' cmp "${first/results/roots}" "${file/results/roots}"
done
check 0 '1.4142135       1.7320508' od -A n -t f4 "${first/results/roots}"
check 3 '[bare-program]' bare tests/chip/test_bare.sh --chip=nano
check 3 '[io-open]' bare "$folder/none.elf"
check 2 '[usage]' bare
check 2 'there is no such device' bare "$folder/0.elf" --device=gpu
check 2 'a bare program cannot run on ref' bare "$folder/0.elf" --device=ref
check 2 'this is no number' bare "$folder/0.elf" --max-cycles=many
check 2 'at most 4294967295' bare "$folder/0.elf" --seed=4294967296
check 2 'at most 18446744073709551615' bare "$folder/0.elf" --max-cycles=99999999999999999999
check 2 'this is no number' bare "$folder/0.elf" --max-cycles=' -1'
check 3 '[device-missing]' env XPU_RESOURCES="$XPU_BIN/../share/xpu" bash -c \
    "mkdir -p $folder/bin && cp $XPU_BIN/xpu-run $folder/bin && LD_LIBRARY_PATH=$XPU_BIN/../lib $folder/bin/xpu-run --bare $folder/0.elf --device=rtl"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
