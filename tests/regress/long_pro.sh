#!/usr/bin/env bash
# The chip pro, Verilated: the digits network at fp32, int16 and int8 in lock-step, every layer equal to func's. Then one
# device kernel case in eight on it.
set -uo pipefail
cd "$(dirname "$0")/../.."
build=${XPU_BUILD:-build}
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
make --no-print-directory BUILD="$build" chip CHIP=pro || exit 1
for precision in fp32 int16 int8; do
    mkdir -p "$folder/$precision"
    sed -e "s|\.\./\.\./|$PWD/|" -e '/"devices"/,$d' "tests/regress/digits-$precision.json" >"$folder/$precision/digits.json"
    echo '  "devices": ["func"], "chips": {"pro": {"samples": 4, "rtl": {"samples": 4}}}}' >>"$folder/$precision/digits.json"
    output=$("$XPU_BIN/xpu-regress" --suite="$folder/$precision" --lockstep --update 2>&1)
    if [[ $output == *' layers equal on func and rtl, '* ]]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    printf '%s: %s\n' "$precision" "$output"
done
XPU_KERNEL_CHIPS=pro XPU_KERNEL_PART=8 bash tests/rtl/long_kernels_rtl.sh || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ $failed = 0 ]
