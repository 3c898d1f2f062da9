#!/usr/bin/env bash
# Failing allocations, damaged models and kept ones in PYTHON's stock onnxruntime, with the provider and the libraries below it
# built with AddressSanitizer and UndefinedBehaviorSanitizer. What is never freed the first of them counts (live).
set -uo pipefail
about="the provider under sanitizers" python=${PYTHON:-python3}
. tests/provider/stock.sh
build_it provider 2>"$folder/missing" || skip "$(cat "$folder/missing")"
has_onnxruntime "$python" || skip "$python has $missing"
check 0 '' make -s --no-print-directory DEPS=no SAN=address,undefined BUILD="$build/san" "$build/san/lib/libonnxruntime_ep_xpu.so"
check 0 '' gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -fno-builtin -shared -fPIC tests/provider/fail_allocation.c -o "$folder/fail.so"
# A small quarantine: what the tests compare is memory of the process. Python and onnxruntime leave memory when they end: what is left of the provider's is counted by the test
sanitized() { in_tree env XPU_BUILD="$build/san" XPU_RESOURCES="$build/share/xpu" LD_PRELOAD="$1 $(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so.6)" \
    ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=1:verify_asan_link_order=0:allocator_may_return_null=1 "$python" "${@:2}"; }
check 1 'heap-buffer-overflow' sanitized "$folder/fail.so" -c '
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.memset(ctypes.c_void_p(libc.malloc(ctypes.c_size_t(10))), 1, ctypes.c_size_t(11))'
check 0 ' 0 failed' sanitized "$folder/fail.so" tests/provider/check_allocations.py
echo "$output"
check 0 ' 0 failed' sanitized '' tests/provider/check_bad_models.py contexts notes runs
echo "$output"
check 0 ' 0 failed' sanitized '' tests/provider/check_provider.py context context_options sizes_refused bounds split default rules
echo "$output"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
