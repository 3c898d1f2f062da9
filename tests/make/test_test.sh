#!/usr/bin/env bash
# scripts/test: what it counts, and that two programs of one name in two folders have a log and a count each.
set -uo pipefail
. tests/checks.sh
mkdir "$folder/a" "$folder/b" "$folder/c"
echo 'echo "2 passed, 0 failed"' >"$folder/a/long_same.sh"
echo 'echo "1 passed, 3 failed"; exit 1' >"$folder/b/long_same.sh"
echo 'echo "skipped: this, as nothing is there"' >"$folder/c/long_same.sh"
run() { env -u XPU_SHARED scripts/test "$folder/build" "$@"; }
check 0 '2 passed, 0 failed' run "$folder/a/long_same.sh"
check 0 '1 passed, 0 failed' run "$folder/c/long_same.sh"
check 0 "long_same.sh: skipped: this, as nothing is there" run "$folder/c/long_same.sh"
check 1 '4 passed, 3 failed' run "$folder"/{a,b,c}/long_same.sh
check 1 '4 passed, 3 failed' run "$folder"/{b,c,a}/long_same.sh
check 1 "FAILED  ${folder#/}/b/long_same.sh" run "$folder"/{c,a,b}/long_same.sh
cd "$folder" || exit 1
check 1 '3 passed, 3 failed' "$OLDPWD/scripts/test" build ./a/long_same.sh ../"${folder##*/}/b/long_same.sh"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
