#!/usr/bin/env bash
# make on a machine without the packages: run, test and the other goals that install do so before anything is built; every
# other goal that builds names the line that does. Here dpkg-query knows no package, and apt-get installs none.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
mkdir "$folder/bin"
program() { printf '#!/bin/sh\n%s\n' "$2" >"$folder/bin/$1"; chmod +x "$folder/bin/$1"; }
program dpkg-query 'exit 1'
program id 'echo 0'
program apt-get "echo \"apt-get \$*\" >>$folder/log; [ \"\$1\" = update ]"
for name in protoc-c gcc g++ clang-19 verilator; do
    program $name "[ \"\$1\" = --getenv ] || echo $name \"\$@\" >>$folder/log; exit 1"
done
fresh() { # fresh GOAL...: what make does there
    rm -rf "$folder/log" "$folder/out"; : >"$folder/log"
    env -u MAKELEVEL -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u DEPS PATH="$folder/bin:$PATH" make -j2 BUILD="$folder/out" "$@"
}
none() { # none NAME FILE: it is empty
    if [ ! -s "$2" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $1: $(cat "$2")"; fi
}
for goal in run test run-resnet50 test-long test-models bench; do
    check 2 'missing packages; installing them with: apt-get install -y --no-install-recommends gcc ' fresh $goal
    grep -v '^apt-get ' "$folder/log" >"$folder/built"; none "make $goal builds before it installs" "$folder/built"
    check 0 "apt-get install -y" cat "$folder/log"
done
for goal in '' all examples chip install lint tests "$folder/out/bin/xpuc"; do
    check 2 'packages are missing, `make deps` installs them (root or sudo): gcc ' fresh $goal
    none "make $goal begins" "$folder/log"
done
check 0 'all        build' fresh help
check 2 'PROTOC' fresh all DEPS=no
# With them nothing is looked for twice, and nothing said
program dpkg-query "printf '%s installed\n' \"\$@\""
rm "$folder/bin/"{protoc-c,gcc,g++,clang-19,verilator}
check 0 "protoc-c" fresh -n all
none 'packages that are there are installed' "$folder/log"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
