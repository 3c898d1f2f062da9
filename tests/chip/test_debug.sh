#!/usr/bin/env bash
# xpu-run --check-races and --gdb on bare programs, and with gdb-multiarch where it is installed.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
for mode in 0 1 2; do
    "${CLANG:-clang-19}" @xpu_runtime/devrt/clang.flags -Wno-unused-command-line-argument -Wall -Wextra -Werror -I. \
        -DMODE=$mode -fuse-ld=lld -Wl,-T,xpu_runtime/devrt/bare/link.ld xpu_runtime/devrt/bare/start.S \
        tests/chip/device/races.c -o "$folder/$mode.elf" || exit 1
done
run() { timeout 60 "$XPU_BIN/xpu-run" "$@"; }
bare() { run --bare --device=func "$@"; }

# Races
check 0 'status 0' bare "$folder/0.elf" --check-races
for mode in 0 1 2; do check 0 'status 0' bare "$folder/$mode.elf"; done
check 125 'race: nothing orders two accesses to 0x20000400' bare "$folder/1.elf" --check-races
[[ $output == *'hint: the first core has signalled without a fence'* ]] && passed=$((passed + 1)) || failed=$((failed + 1))
check 125 'race: nothing orders two accesses to 0x20000440' bare "$folder/2.elf" --check-races
[[ $output == *'DMA0, queue of core 0, copy descriptor at 0x'*': writes (dst)'* ]] && passed=$((passed + 1)) ||
    failed=$((failed + 1))
check 2 'only func' run --bare "$folder/0.elf" --device=rtl --check-races
check 2 'a bare program cannot run on ref' run --bare "$folder/0.elf" --device=ref --check-races
check 2 'only func' run --bare "$folder/0.elf" --device=rtl --gdb=3333
for port in 0 65536 x 33x; do check 2 'this is no port' bare "$folder/0.elf" --gdb=$port; done

# gdb: a free port, then a client of a few lines
free_port() {
    for ((port = 20000 + RANDOM % 20000; ; port++)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || return 0
    done
}
connect() { # to $port, as file 3, once somebody listens there
    for ((tries = 0; tries < 200; tries++)); do
        { exec 3<>"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null && return
        sleep 0.05
    done
    echo "nobody listens on port $port"; exit 1
}
send() { # send PACKET: what comes back, without acknowledgement and sum
    local sum=0 i reply
    for ((i = 0; i < ${#1}; i++)); do sum=$((sum + $(printf '%d' "'${1:i:1}"))); done
    printf '$%s#%02x' "$1" $((sum & 255)) >&3
    IFS= read -r -d '#' reply <&3
    echo "${reply#*$}"
}
free_port
bare "$folder/0.elf" --gdb="$port" >"$folder/log" 2>&1 & waiting=$!
connect
check 0 'T05thread:1;' send '?'
check 0 'm1,2,3,4' send 'qfThreadInfo'
check 0 'W00' send 'vCont;c'
exec 3>&-
wait $waiting; check 0 'status 0' cat "$folder/log"
check 0 'target remote localhost' cat "$folder/log"

if command -v gdb-multiarch >/dev/null; then
    free_port
    bare "$folder/2.elf" --check-races --gdb="$port" >"$folder/log" 2>&1 & waiting=$!
    for ((tries = 0; tries < 200; tries++)); do grep -q 'target remote' "$folder/log" && break; sleep 0.05; done
    check 0 'hit Breakpoint 1' gdb-multiarch -nx -batch -ex "target remote localhost:$port" -ex 'break main' \
        -ex continue -ex 'info threads' -ex 'watch *(int *)0x20000400' -ex continue -ex 'print $v0.w' -ex 'delete' \
        -ex stepi -ex 'x/4i $pc' -ex continue "$folder/2.elf"
    for text in 'Thread 2 (core 1: pc 0x' 'New value = 41' '= {0 <repeats 16 times>}' 'exited normally'; do
        [[ $output == *"$text"* ]] && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "no '$text' in: $output"; }
    done
    wait $waiting; check 0 'race: nothing orders two accesses to 0x20000440' cat "$folder/log"
else
    echo 'skipped: gdb-multiarch is not installed, its part of the test'
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
