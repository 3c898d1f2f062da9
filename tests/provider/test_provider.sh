#!/usr/bin/env bash
# The execution provider in a stock onnxruntime of PYTHON (python3), from 1.23 on, which needs the package onnx, too: results,
# regions, errors, threads; a hundred of onnx's node cases; its wheel in an environment of its own.
set -uo pipefail
about="all tests of the execution provider for onnxruntime" python=${PYTHON:-python3}
. tests/provider/stock.sh
build_it provider-headers 2>"$folder/missing" || skip "$(cat "$folder/missing")"
check 0 '' build_it provider
has_onnxruntime "$python" || skip "$python has $missing"

check 0 '' gcc -std=c11 -Wall -Wextra -Werror -shared -fPIC tests/provider/custom_op.c -isystem "$(build_it provider-include)" \
    -o "$folder/custom_op.so"
check 0 ' 0 failed' in_tree env XPU_CUSTOM_OP="$folder/custom_op.so" "$python" tests/provider/check_provider.py
echo "$output"
check 0 ' 0 failed' in_tree "$python" tests/provider/check_bad_models.py
echo "$output"
check 0 '' gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -fno-builtin -shared -fPIC tests/provider/fail_allocation.c -o "$folder/fail.so"
check 0 ' 0 failed' in_tree env LD_PRELOAD="$folder/fail.so" "$python" tests/provider/check_allocations.py
echo "$output"
check 0 'whole on the chip' in_tree "$python" tests/provider/node_cases.py 100
echo "$output"
check 0 'from the model that was kept: the same' in_tree env XPU_PROVIDER="$build/lib/libonnxruntime_ep_xpu.so" "$python" examples/stock/provider.py
# From C, with the library of the Python package
capi=$("$python" -c 'import os, onnxruntime; print(os.path.dirname(onnxruntime.__file__) + "/capi")')
ln -s "$capi"/libonnxruntime.so.1.* "$folder/libonnxruntime.so.1"
ln -s "$capi/libonnxruntime_providers_shared.so" "$folder"
check 0 '' gcc -std=c11 -Wall -Wextra -Werror examples/stock/provider.c -isystem "$(build_it provider-include)" \
    "$folder/libonnxruntime.so.1" -Wl,-rpath,"$folder" -o "$folder/provider"
check 0 'logits: ' "$folder/provider" "$build/lib/libonnxruntime_ep_xpu.so" examples/digits/digits.onnx
check 1 'LICENSE failed' "$folder/provider" "$build/lib/libonnxruntime_ep_xpu.so" LICENSE
check 1 '/nonexistent' "$folder/provider" /nonexistent examples/digits/digits.onnx

# The wheel, with this machine's chips, in an environment of its own beside the onnxruntime of PYTHON
check 0 '.whl: ' build_it NATIVE="$folder/native" DIST="$folder/dist" WHEEL_LEVELS= provider-wheel
check 0 '' "$python" -m venv --without-pip "$folder/venv"
site=$(cd "$folder" && venv/bin/python -c 'import site; print(site.getsitepackages()[0])')
check 0 '' "$python" -m zipfile -e "$folder"/dist/onnxruntime_ep_xpu-*.whl "$site"
"$python" -c 'import os, onnxruntime; print(os.path.dirname(os.path.dirname(onnxruntime.__file__)))' >"$site/onnxruntime.pth"
check 0 'from the model that was kept: the same' env -u XPU_PROVIDER -C "$folder" venv/bin/python "$PWD/examples/stock/provider.py"
echo "provider: $passed passed, $failed failed"
[ "$failed" = 0 ]
