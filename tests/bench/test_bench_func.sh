#!/usr/bin/env bash
# scripts/bench-func: says where onnxruntime is not there; its rows name files that exist; run_bench's figures are those of
# the program, and it fails where the inputs do not fit. With onnxruntime: a line whose ratio is that of its two times.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
build=${XPU_BUILD:-build} shared=${XPU_SHARED:-../shared}/models
check 2 'usage: run_bench' "$build/tests/bench/run_bench"
"$build/bin/xpuc" -q tests/models/mnist-8.onnx -o "$folder/mnist.xpu" || exit 1
check 1 'input-unknown' "$build/tests/bench/run_bench" "$folder/mnist.xpu" tests/control/silero/15_in.npz 0
check 0 ' 786560' "$build/tests/bench/run_bench" "$folder/mnist.xpu" tests/models/9.npy 0
positive() { awk '{ exit !($1 > 0 && $2 > 0 && $2 <= 1) }' <<<"$output"; }
check_output() { if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $*: $output"; fi; }
check_output positive
mkdir "$folder/empty"
echo 'raise ImportError' | tee "$folder/empty/onnxruntime.py" >"$folder/empty/numpy.py"
check 0 'has no onnxruntime' env PYTHONPATH="$folder/empty" python3 scripts/bench-func "$build" "$folder"
check 1 'usage: bench-func' python3 scripts/bench-func
while IFS='|' read -r name model _ inputs; do
    model=$(xargs <<<"$model") inputs=$(xargs <<<"$inputs")
    case $model in shared/*) [ -d "$shared" ] || continue; model=$shared/${model#shared/} ;; esac
    check 0 '' test -f "$model"
    case $inputs in random*) continue ;; esac
    check 0 '' test -f "$inputs"
done < <(grep -v '^#' scripts/bench-func.rows)
check 0 'at most' grep -F '| func and onnxruntime |' docs/models.md
if python3 -c 'import onnxruntime' 2>"$folder/none"; then
    check 0 '| mnist-8 |' python3 scripts/bench-func "$build" "$folder" mnist-8
    check_output awk -F'|' '$2 ~ /mnist-8/ { found = $7 / ($5 / $4) } END { exit found < 0.5 || found > 2 }' <<<"$output"
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
