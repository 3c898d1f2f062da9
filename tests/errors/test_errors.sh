#!/usr/bin/env bash
# Error cases: each folder here has `command` (a bash script), `expected` (what it writes, stdout and stderr together,
# exactly) and `status` (its exit code). A command runs in an empty scratch folder that holds copies of the other files
# of its folder, with the tools on PATH. In `expected`, REPO stands for the repository and HERE for the scratch folder.
#   $REPO           the repository
#   $MNIST $DIGITS  compiled programs: mnist-8 at fp32, digits at int16, both for the standard chip
# UPDATE=1 writes expected and status again; names as arguments: only these cases.
set -uo pipefail
cd "$(dirname "$0")" || exit 1
cases=$PWD
REPO=$(cd ../.. && pwd)
build=${XPU_BUILD:-build}
case $build in /*) ;; *) build=$REPO/$build ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export REPO LC_ALL=C.UTF-8 PATH=$build/bin:$PATH MNIST=$work/mnist-8.xpu DIGITS=$work/digits.xpu BUILD=$build
unset XPU_RESOURCES
xpuc -q "$REPO/tests/models/mnist-8.onnx" --precision=fp32 -o "$MNIST" &&
    xpuc -q "$REPO/examples/digits/digits.onnx" --shape x=1..16,1,16,16 --precision=int16 -o "$DIGITS" || exit 1
passed=0 failed=0
[ $# -gt 0 ] || set -- */
for name in "$@"; do
    name=${name%/}
    here=$work/$name
    cp -r "$cases/$name" "$here"
    rm -f "$here/command" "$here/expected" "$here/status"
    unset GCOV_PREFIX GCOV_ERROR_FILE # make coverage: counts that a limit would cut off go elsewhere
    grep -q 'ulimit -f' "$cases/$name/command" && export GCOV_PREFIX=$work/counts GCOV_ERROR_FILE=/dev/null
    (cd "$here" && timeout 60 bash "$cases/$name/command") >"$work/got" 2>&1 </dev/null
    status=$?
    sed -i -e "s|$here|HERE|g" -e "s|$work|WORK|g" -e "s|$build|BUILD|g" -e "s|$REPO|REPO|g" "$work/got"
    if [ "${UPDATE:-}" ]; then
        cp "$work/got" "$cases/$name/expected"
        echo $status >"$cases/$name/status"
    elif diff -u "$cases/$name/expected" "$work/got" && [ "$(cat "$cases/$name/status")" = $status ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $name: exit code $status, expected $(cat "$cases/$name/status")"
    fi
    rm -rf "$here"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
