#!/usr/bin/env bash
# Sessions in two threads, under the thread sanitizer: the library is built with it in a folder of its own.
set -uo pipefail
build=${XPU_BUILD:-build}; log=$build/thread.log
fail() { tail -n 40 "$log"; echo "0 passed, 1 failed"; exit 1; }
make -s -j2 SAN=thread BUILD="$build/thread" DEPS=no "$build/thread/tests/golden/test_session_threads" >"$log" 2>&1 || fail
XPU_RESOURCES=$build/share/xpu TSAN_OPTIONS=halt_on_error=1 \
    "$build/thread/tests/golden/test_session_threads" >"$log" 2>&1 || fail
grep -q 'WARNING: ThreadSanitizer' "$log" && fail
echo "1 passed, 0 failed"
