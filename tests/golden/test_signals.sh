#!/usr/bin/env bash
# SIGINT, SIGTERM and SIGHUP in every phase of the tools: exit codes, what is left behind, what is written and said.
set -uo pipefail
digits=$PWD/examples/digits/digits.onnx mnist=$PWD/tests/models/mnist-8.onnx
: "${XPU_BIN:?the folder of the tools}"
bin=$(cd "$XPU_BIN" && pwd) devrt=$PWD/xpu_runtime/devrt
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export TMPDIR=$work/tmp
mkdir tmp fake out
passed=0 failed=0
check() { # check NAME CONDITION...
    local name=$1; shift
    if "$@" >/dev/null 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "failed: $name"; cat log; fi
}
code() { case $1 in INT) echo 130 ;; TERM) echo 143 ;; HUP) echo 129 ;; esac; }
# stop SIGNAL CONDITION COMMAND...: starts the command, sends the signal when the condition holds
stop() {
    local signal=$1 condition=$2; shift 2
    env --default-signal=INT,TERM,HUP,PIPE "$@" >log 2>&1 </dev/null &
    local pid=$!
    for ((i = 0; i < 1000; i++)); do
        eval "$condition" && break
        sleep 0.01
    done
    kill -$signal $pid
    wait $pid
    status=$?
}
clean() { # processes of xpu-regress may need a moment
    for ((i = 0; i < 100; i++)); do
        [ -z "$(find tmp out -name 'xpu-*' -o -name '.xpu-*')" ] && return
        sleep 0.02
    done
    return 1
}

# xpuc: while clang runs, with a clang that hangs; its children go with it
printf '#!/bin/sh\nsleep 54.32 &\ntouch %s/started\nwait\n' "$work" >fake/clang-19
chmod +x fake/clang-19
for signal in INT TERM HUP; do
    rm -f started
    stop $signal '[ -e started ]' env "PATH=$work/fake:$PATH" "$bin/xpuc" "$digits" -o out/d.xpu --report=out/r.json
    check "xpuc, clang, $signal: exit code" [ $status = "$(code $signal)" ]
    check "xpuc, clang, $signal: nothing is left" clean
    check "xpuc, clang, $signal: no output" [ -z "$(ls -A out)" ]
    check "xpuc, clang, $signal: says where" grep -q 'why: the program clang-19 had been running for' log
    check "xpuc, clang, $signal: says what" grep -qF "$digits: error [stopped] the work was stopped" log
    check "xpuc, clang, $signal: no child" [ -z "$(pgrep -f 'sleep 54[.]32')" ]
done
# A reader that is gone: as quietly as without a handler, but nothing is left either
rm -f started
stop PIPE '[ -e started ]' env "PATH=$work/fake:$PATH" "$bin/xpuc" "$digits" -o out/d.xpu
check "xpuc, clang, PIPE: exit code" [ $status = 141 ]
check "xpuc, clang, PIPE: nothing is left" clean
check "xpuc, clang, PIPE: no child" [ -z "$(pgrep -f 'sleep 54[.]32')" ]
check "xpuc, clang, PIPE: nothing is said" [ ! -s log ]
PATH=$work/fake:$PATH "$bin/xpuc" "$digits" -o out/d.xpu --clang-seconds=1 >log 2>&1
check "a clang that hangs: exit code" [ $? = 3 ]
check "a clang that hangs: message" grep -q '^clang-19: error \[child-timeout\] the program takes too long' log
check "a clang that hangs: nothing is left" clean
check "a clang that hangs: no child" [ -z "$(pgrep -f 'sleep 54[.]32')" ]
"$bin/xpuc" "$digits" --clang-seconds=0 >log 2>&1
check "no seconds" [ $? = 2 ]
# Signals that were ignored stay ignored
rm -f started
(trap '' HUP; PATH=$work/fake:$PATH exec "$bin/xpuc" "$digits" -o out/d.xpu --clang-seconds=2) >log 2>&1 &
for ((i = 0; i < 1000; i++)); do [ -e started ] && break; sleep 0.01; done
kill -HUP $!
sleep 0.1
check "nohup: goes on" kill -0 $!
kill -TERM $!
wait $!
check "nohup: ends by another" [ $? = 143 ]
# Two signals, and a phase in which nobody asks
printf '#!/bin/sh\ntouch %s/started\nexec sleep 54.32\n' "$work" >fake/clang-19
rm -f started
stop TERM '[ -e started ] && kill -INT $pid' env "PATH=$work/fake:$PATH" "$bin/xpuc" "$digits" -o out/d.xpu
check "two signals: exit code" [ $status = 130 ]
check "two signals: nothing is left" clean
# In the other phases: import, passes, lowering, packing
for ((n = 0; n < 24; n++)); do
    signal=$([ $((n % 2)) = 0 ] && echo TERM || echo INT)
    timeout --preserve-status -s $signal 0.$(printf '%03d' $((n * 7 + 2))) "$bin/xpuc" "$mnist" -o out/m.xpu >log 2>&1
    status=$?
    check "xpuc after $((n * 7 + 2)) ms" [ $status = 0 -o $status = "$(code $signal)" ]
    check "xpuc after $((n * 7 + 2)) ms: nothing is left" clean
    check "xpuc after $((n * 7 + 2)) ms: all or nothing" [ $status != 0 -o -s out/m.xpu ]
    rm -f out/m.xpu
done

# xpu-run: enough images to last
count=8192
header=$(printf '%-117s' "{'descr': '<f4', 'fortran_order': False, 'shape': ($count, 1, 16, 16), }")
{ printf '\x93NUMPY\x01\x00\x76\x00%s\n' "$header"; head -c $((4 * count * 256)) /dev/zero; } >x.npy
"$bin/xpuc" -q "$digits" --precision=int16 --shape x=1..$count,1,16,16 -o d.xpu
for device in func ref rtl; do
    signal=$(case $device in func) echo INT ;; ref) echo TERM ;; rtl) echo HUP ;; esac)
    rm -rf out/*
    time=$([ $device = rtl ] && echo "--trace=out/t.json --profile")
    stop $signal "[ -e out/dump/0000_x_absmax.npy ]" "$bin/xpu-run" d.xpu -i x.npy --device=$device \
        --dump-layers=out/dump --stats=out/s.json -o out/o.npz $time
    check "$device: exit code" [ $status = "$(code $signal)" ]
    check "$device: nothing is left" clean
    check "$device: says the layer" grep -q "^d.xpu: error \[stopped\] layer '.*' (#[0-9]*): the work was stopped" log
    check "$device: and how many are done" grep -q '  why: [0-9]* of 11 layers are complete' log
    check "$device: index" grep -q '"incomplete": "stopped"' out/dump/index.json
    check "$device: statistics" grep -q '"incomplete": "stopped"' out/s.json
    check "$device: dump" "$bin/xpu-dump" show out/dump
    check "$device: layers that were not reached" grep -q '^logits not reached (layer logits)$' \
        <("$bin/xpu-dump" show out/dump)
    check "$device: no replay of those" grep -q '^  hint: make the dump again, of a run that comes to its end$' \
        <("$bin/xpu-run" d.xpu --device=ref --layer=logits --from-dump=out/dump 2>&1)
    check "$device: dump is incomplete" grep -q 'incomplete: stopped' <("$bin/xpu-dump" show out/dump)
    check "$device: no outputs" [ ! -e out/o.npz ]
    [ $device = ref ] || check "$device: says the pc" grep -q 'core 0 at pc 0x8000' log
    [ $device != rtl ] || check "rtl: says the cycle" grep -q '; cycle [1-9]' log
    [ $device != rtl ] || check "rtl: trace" grep -q '"incomplete":"stopped"' out/t.json
    [ $device != rtl ] || check "rtl: profile" grep -q '^utilisation' log
done
rm -rf out/*
port=$((20000 + $$ % 10000))
stop INT 'grep -q ":$(printf %04X $port) .* 0A " /proc/net/tcp' "$bin/xpu-run" d.xpu -i x.npy --device=func --gdb=$port --stats=out/s.json
check "gdb: exit code" [ $status = 130 ]
check "gdb: says where" grep -q '0 of 11 layers are complete; 0 instructions; core 0 at pc 0x80000000' log
check "gdb: statistics" grep -q '"incomplete": "stopped"' out/s.json
# A bare program without end
printf '.section .text.start,"ax"\n.globl _start, word\n_start: lui t0, 0x2000\nli t1, -1\nsw t1, 0x418(t0)\nloop: j loop\n.data\nword: .word 7\n' >loop.S
clang-19 --target=riscv32-unknown-elf -march=rv32i -mabi=ilp32 -nostdlib -c loop.S -o loop.o &&
    ld.lld-19 -T "$devrt/bare/link.ld" loop.o -o loop.elf
for device in func rtl; do
    stop TERM '[ "$(cut -d" " -f14 /proc/$pid/stat)" -ge 20 ]' "$bin/xpu-run" --bare loop.elf --chip=nano --device=$device --dump-mem=word:4:out/m-$device
    check "bare, $device: exit code" [ $status = 143 ]
    check "bare, $device: says where" grep -q 'loop.elf: error \[stopped\] layer 0: ' log
    check "bare, $device: pc" grep -q 'core 0 at pc 0x8000000c' log
    check "bare, $device: memory is written" [ "$(od -An -tu4 out/m-$device | tr -d ' ')" = 7 ]
done

# xpu-regress, xpu-memplan
mkdir suite
cat >suite/digits.json <<END
{"model": "$digits", "precision": "int16", "devices": ["ref", "func"], "batches": [8192],
 "inputs": {"x": {"file": "$work/x.npy"}}, "chips": {"standard": {}}}
END
stop INT '[ -n "$(find tmp -name "0000_*")" ]' "$bin/xpu-regress" --suite=suite --junit=out/j.xml
check "xpu-regress: exit code" [ $status = 130 ]
check "xpu-regress: says how far it was" grep -q '  why: 0 of 1 runs of cases are complete' log
check "xpu-regress: counts" grep -q '^0 passed, 0 failed' log
check "xpu-regress: XML" grep -q '</testsuites*>' out/j.xml
check "xpu-regress: no CI takes it for a pass" grep -q '<error message="stopped by a signal">' out/j.xml
check "xpu-regress: nothing is left" clean
{ echo id,lower,upper,size; for ((i = 0; i < 3000; i++)); do echo "$i,$((i * 7 % 1000)),$((i * 7 % 1000 + 90 + i % 13)),$((1000 + i * 37 % 5000))"; done; } >p.csv
stop TERM 'sleep 0.2' "$bin/xpu-memplan" plan p.csv --budget=4000000000 -o out/plan.json
check "xpu-memplan: exit code" [ $status = 143 ]
check "xpu-memplan: nothing is left" [ -z "$(find out -name 'plan*' -o -name '.xpu*')" ]
echo "$passed passed, $failed failed"
[ $failed = 0 ]
