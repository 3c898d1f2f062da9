#!/usr/bin/env bash
# The package xpu in the source tree, with and without NumPy; its example; zig in the place of clang and lld; the wheel in an
# environment of its own. PYTHON: the interpreter (python3).
set -uo pipefail
. tests/python/python.sh "all tests of the Python package"
in_tree() { env XPU_PREFIX="$build" PYTHONPATH="$PWD/python" PYTHONDONTWRITEBYTECODE=1 "$@"; }

check 0 OK in_tree env XPU_NO_NUMPY=1 "$python" tests/python/check_api.py
if "$python" -c 'import numpy' 2>/dev/null; then
    check 0 OK in_tree "$python" tests/python/check_api.py
else
    echo "skipped: the Python package with NumPy, as $python has none"
fi
repo=$PWD
# tvm and torch, which need not be there, have none; other releases ask for other comments
if "$python" -c 'import numpy, mypy.version; raise SystemExit(int(mypy.version.__version__.split(".")[0]) < 2)' 2>/dev/null; then
    check 0 'no issues' "$python" -m mypy --strict --ignore-missing-imports --allow-untyped-decorators \
        --allow-subclassing-any --cache-dir="$folder/mypy" python/xpu python/onnxruntime_ep_xpu
else
    echo "skipped: type hints under mypy --strict, as $python has not NumPy and mypy from 2.0 on"
fi
check 0 'rtl and func: 0 of 19 tensors differ' in_tree env -C "$folder" "$python" "$repo/examples/stock/python.py"
check 0 'a hundred runs: all the same' in_tree env -C "$folder" "$python" "$repo/examples/stock/python.py" "$repo/tests/models/mnist-8.onnx"
check 0 '</svg>' cat "$folder/profile.svg"
check 1 "node 'crop'" in_tree env -C "$folder" "$python" "$repo/examples/stock/python.py" "$repo/docs/unsupported.onnx"
check 0 '10 of 10 right' in_tree "$python" -m xpu.demo
check 2 'the same as' in_tree env XPU_PREFIX=/nonexistent "$python" -c '
import sys
try:
    import xpu
except ImportError as error:
    sys.exit(print("the same as", error) or 2 if "XPU_PREFIX" in str(error) else 1)'

# A program that has clang and lld in it, as zig has, where they are not in PATH
mkdir "$folder/zig" "$folder/zig/lib" "$folder/zig/lib/include" "$folder/empty"
cat >"$folder/zig/zig" <<'END'
#!/bin/bash
tool=$1; shift
case $tool in
clang) [ "$1 $2" = "-isystem ${0%/*}/lib/include" ] && exec CLANG "$@" ;;
ld.lld) exec LLD "$@" ;;
esac
exit 1
END
sed -i "s|CLANG|clang-19|; s|LLD|ld.lld-19|; s|^tool=|PATH='$PATH' tool=|" "$folder/zig/zig"
chmod +x "$folder/zig/zig"
model=tests/models/mnist-8.onnx
check 0 '' "$build/bin/xpuc" -q $model -o "$folder/clang.xpu"
check 3 'xpu-stack[compiler]' env PATH="$folder/empty" "$build/bin/xpuc" -q $model -o "$folder/none.xpu"
check 3 'no-clang' env PATH="$folder/empty" XPU_ZIG="$folder/no/zig" "$build/bin/xpuc" -q $model -o "$folder/none.xpu"
check 0 '' env PATH="$folder/empty" XPU_ZIG="$folder/zig/zig" "$build/bin/xpuc" -q $model -o "$folder/zig.xpu"
check 0 '' cmp "$folder/clang.xpu" "$folder/zig.xpu"

# The wheel, with this machine's chips
wheel() { make -s --no-print-directory DEPS=no BUILD="$build" NATIVE="$folder/native" DIST="$1" WHEEL_LEVELS= wheel; }
check 0 '.whl: ' wheel "$folder/dist"
touch "$folder/native/bin/stray" "$folder/native/lib/libxpurtl-stray.so"
check 0 '.whl: ' wheel "$folder/again"
rm "$folder/native/bin/stray" "$folder/native/lib/libxpurtl-stray.so"
check 0 '' diff -r "$folder/dist" "$folder/again"
mkdir "$folder/licences"
check 2 "libjansson-dev/copyright: No such file" env LICENCES="$folder/licences" make -s --no-print-directory DEPS=no \
    BUILD="$build" NATIVE="$folder/native" DIST="$folder/unlicensed" WHEEL_LEVELS= wheel
check 1 '' test -e "$folder/unlicensed"
# what the wheel needs of the machine
libraries() { for f in "$folder"/native/lib/*.so* "$folder"/native/bin/*; do readelf -d "$f"; done | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    sort -u | tr '\n' ' '; }
check 0 'ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libxpuc.so.0 libxpurt.so.0' libraries
if "$python" -m venv "$folder/venv" 2>"$folder/log"; then
    check 0 '' "$folder/venv/bin/python" -m pip install -q --no-index --disable-pip-version-check "$folder"/dist/*.whl
    inside() { env -C "$folder/empty" -u PYTHONPATH -u XPU_PREFIX PATH="$folder/venv/bin:$1" "${@:2}"; }
    check 0 '10 of 10 right' inside "$PATH" python -m xpu.demo
    check 0 'the program that came along' inside /nonexistent python -m xpu.demo
    check 0 '9: 3495.21' inside "$PATH" xpu-run "$folder/clang.xpu" -i "$repo/tests/models/9.npy"
    check 0 'xpuc 0' inside "$PATH" xpuc --version
    check 0 '7 layers' inside "$PATH" xpuc "$repo/$model" -o "$folder/venv.xpu"
    check 0 '' cmp "$folder/clang.xpu" "$folder/venv.xpu"
    check 0 'xpu/native' inside "$PATH" python -c 'import xpu._native; print(xpu._native.PREFIX)'
else
    echo "skipped: the wheel in an environment of its own, as $python cannot make one ($(head -1 "$folder/log"))"
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
