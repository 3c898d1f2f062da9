#!/usr/bin/env bash
# The wheel as it is given to people: from nothing twice the same bytes; the chips for x86-64-v2 and -v3 give the same cycles,
# and the best one is loaded; with the compiler of PyPI's ziglang where PYTHON has it; what two threads do in a session.
set -uo pipefail
. tests/python/python.sh "the wheel"
wheel() { make -s --no-print-directory DEPS=no BUILD="$build" WHEEL="$folder/$1" DIST="$folder/$1/dist" wheel; }
check 0 '.whl: ' wheel one
check 0 '.whl: ' wheel two
check 0 '' diff -r "$folder/one/dist" "$folder/two/dist"
native=$folder/one/native
run() { env XPU_PREFIX="$native" PYTHONPATH="$PWD/python" PYTHONDONTWRITEBYTECODE=1 "$@"; }
check 0 '10 of 10 right' run "$python" -m xpu.demo
loaded() { run "$python" -c '
import xpu
xpu.load("'"$native"'/demo/digits.xpu").session("rtl")
print([line.split("/")[-2] for line in open("/proc/self/maps") if "libxpurtl" in line][0])'; }
cycles() { run "$python" -m xpu.demo | sed -n 's/.* right; \([0-9]* cycles\) .*/\1/p'; }
best=x86-64-v2
grep -qw avx2 /proc/cpuinfo && grep -qw bmi2 /proc/cpuinfo && grep -qw movbe /proc/cpuinfo && best=x86-64-v3
check 0 "$best" loaded
if [ $best = x86-64-v3 ]; then
    count=$(cycles)
    mv "$native/lib/glibc-hwcaps/x86-64-v3" "$native/v3"
    check 0 x86-64-v2 loaded
    check 0 "${count:-cycles}" cycles
    mv "$native/v3" "$native/lib/glibc-hwcaps/x86-64-v3"
fi
if "$python" -c 'import ziglang' 2>/dev/null; then
    check 0 '10 of 10 right' run env PATH=/nonexistent "$(command -v "$python")" -m xpu.demo
else
    echo "skipped: the compiler of ziglang, as $python has none"
fi
quiet() { awk '{ exit $1 > 0.5 }' /proc/loadavg; }
first=
chrt -r 1 true 2>/dev/null && first='chrt -r 1'
if [ "$(nproc)" -gt 1 ] && { [ "$first" ] || quiet; }; then
    check 0 'times as many' run $first "$python" tests/python/measure_threads.py
    echo "$output"
else
    echo "skipped: the speed of two threads, as others use the processors"
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
