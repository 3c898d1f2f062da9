#!/usr/bin/env bash
# Yosys reads every module with the parameters of each chip of configs/chip.
set -uo pipefail
cd "$(dirname "$0")/../.."
if ! command -v yosys >/dev/null; then echo 'skipped: no yosys here'; exit 0; fi
build=${XPU_BUILD:-build} passed=0 failed=0
make --no-print-directory -s BUILD="$build" "$build/rtl/params" || exit 1
for chip in configs/chip/*.json; do
    chip=$(basename "$chip" .json)
    # shellcheck disable=SC2046
    if output=$(bash tests/rtl/yosys_chip.sh $("$build/rtl/params" configs/chip "$chip" | sed -n 's/^GENERICS := //p' |
        sed 's/-G//g') 2>&1); then passed=$((passed + 1)); else failed=$((failed + 1)); echo FAILED; fi
    printf '%s: %s\n' "$chip" "${output//$'\n'/, }"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
