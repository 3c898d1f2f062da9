#!/usr/bin/env bash
# Sessions in threads, and compilations of models in memory, under the thread sanitizer: the libraries are built with it in a
# folder of their own.
set -uo pipefail
build=${XPU_BUILD:-build}; log=$build/thread.log
fail() { tail -n 40 "$log"; echo "0 passed, 1 failed"; exit 1; }
for program in golden/test_session_threads unit/test_api; do
    program=$build/thread/tests/$program
    make -s -j2 SAN=thread BUILD="$build/thread" DEPS=no "$program" >"$log" 2>&1 || fail
    XPU_RESOURCES=$build/share/xpu TSAN_OPTIONS=halt_on_error=1 "$program" >"$log" 2>&1 || fail
    grep -q 'WARNING: ThreadSanitizer' "$log" && fail
done
echo "2 passed, 0 failed"
