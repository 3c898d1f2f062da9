# What the scripts of this folder begin with; `about`: what is skipped where something is missing.
: "${XPU_BUILD:?the build folder}"
build=$(cd "$XPU_BUILD" && pwd)
. tests/checks.sh
unset XPU_RESOURCES XPU_ZIG MAKEFLAGS MAKELEVEL
missing="not onnx and an onnxruntime from 1.23 on"
skip() { echo "skipped: $about, as $1"; exit 0; }
build_it() { make -s --no-print-directory DEPS=no BUILD="$build" "$@"; }
# has_onnxruntime PYTHON
has_onnxruntime() {
    "$1" -c '
import onnx, onnxruntime, sys
sys.exit(tuple(map(int, onnxruntime.__version__.split(".")[:2])) < (1, 23))' 2>/dev/null
}
in_tree() { env XPU_PREFIX="$build" XPU_BUILD="$build" PYTHONPATH="$PWD/python:$PWD/tests/provider:$PWD/tests/python" PYTHONDONTWRITEBYTECODE=1 "$@"; }
