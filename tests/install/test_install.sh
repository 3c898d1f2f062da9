#!/usr/bin/env bash
# make install into a folder: the tools, libraries with versions, headers, pkg-config, man pages and completion work there.
set -uo pipefail
: "${XPU_BUILD:?the build folder}"
build=$(cd "$XPU_BUILD" && pwd) repo=$PWD
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
passed=0 failed=0
check() { # check NAME CONDITION...
    local name=$1; shift
    if "$@" >"$work/log" 2>&1; then passed=$((passed + 1)); return; fi
    failed=$((failed + 1)); echo "failed: $name"; head -5 "$work/log"
}
to=$work/root/opt/xpu tools="xpuc xpu-run xpu-convert xpu-dump xpu-memplan xpu-regress xpu-validate"
unset MAKEFLAGS MAKELEVEL XPU_RESOURCES
make -s --no-print-directory BUILD="$build" PREFIX=/opt/xpu DESTDIR="$work/root" install >"$work/log" 2>&1 ||
    { cat "$work/log"; echo "0 passed, 1 failed"; exit 1; }
cd "$work" || exit 1

# Libraries
version=$("$to/bin/xpuc" --version | cut -d' ' -f2)
for library in xpuc xpurt xpufunc; do
    file=$to/lib/lib$library.so
    check "lib$library: the file has the version" test -f "$file.$version" -a ! -L "$file.$version"
    check "lib$library: links" [ "$(readlink "$file") $(readlink "$file.${version%%.*}")" = \
        "lib$library.so.${version%%.*} lib$library.so.$version" ]
    check "lib$library: soname" grep -q "SONAME.*\[lib$library.so.${version%%.*}\]" <(readelf -d "$file")
done
provider=$to/lib/libonnxruntime_ep_xpu.so
if [ -n "$(make -s --no-print-directory -C "$repo" BUILD="$build" provider-include)" ]; then
    check "the execution provider finds the libraries" [ "$(ldd "$provider" | grep -c "$to/lib/libxpu")" = 3 ]
else
    echo "skipped: the execution provider, as onnxruntime's headers are missing"
    check "the execution provider is left out" test ! -e "$provider"
fi
check "tools need the soname" grep -q "NEEDED.*\[libxpurt.so.${version%%.*}\]" <(readelf -d "$to/bin/xpu-run")

# The tools, from another folder
check "xpuc" "$to/bin/xpuc" -q "$repo/tests/models/mnist-8.onnx" -o m.xpu
check "xpu-run" "$to/bin/xpu-run" m.xpu -i "$repo/tests/models/9.npy" --device=func
check "xpu-run on rtl" "$to/bin/xpu-run" m.xpu -i "$repo/tests/models/9.npy" --device=rtl

# A program of a user
export PKG_CONFIG_PATH=$to/lib/pkgconfig
export PKG_CONFIG_SYSROOT_DIR=
if command -v pkg-config >/dev/null; then
    flags() { pkg-config "$@" --define-variable=prefix="$to"; }
    check "pkg-config knows the version" [ "$(pkg-config --modversion xpurt)" = "$version" ]
else # the same, read by hand
    flags() {
        local name
        for name in "${@:3}"; do sed -n 's/^Cflags: //p; s/^Libs: //p' "$PKG_CONFIG_PATH/$name.pc"; done |
            sed "s|\${includedir}|$to/include|g; s|\${libdir}|$to/lib|g" | tr '\n' ' '
    }
fi
sed -n '/^## From C/,/^## /{/^```c/,/^```$/p}' "$repo/docs/commands.md" | grep -v '^```' >example.c
cp "$repo/tests/models/mnist-8.onnx" .
check "the example compiles" cc -std=c11 -Wall -Werror example.c -o example $(flags --cflags --libs xpuc xpurt xpufunc) \
    -Wl,-rpath,"$to/lib"
check "the example runs" grep -q '^Plus214_Output_0: -\?[0-9.]* \.\.\.$' <(./example)
example() { sed -n '/^```c/,/^```$/p' "$repo/docs/build-in-c.md" | grep -v '^```'; }
example >mlp.c
check "a network in C compiles" cc -std=c11 -Wall -Werror mlp.c -o mlp $(flags --cflags --libs xpuc xpurt xpufunc) \
    -Wl,-rpath,"$to/lib"
check "it runs without a file" [ "$(./mlp)" = "y[3,10]: 0.1 ..." ]
check "the longer one compiles" cc -std=c11 -Wall -Werror "$repo/examples/build_in_c.c" -o build_in_c \
    $(flags --cflags --libs xpuc xpurt xpufunc) -Wl,-rpath,"$to/lib"
check "it runs on func and rtl" grep -qx 'rtl = func: yes' <(./build_in_c)
check "the one with a state compiles" cc -std=c11 -Wall -Werror "$repo/examples/stream.c" -o stream \
    $(flags --cflags --libs xpuc xpurt xpufunc) -lm -Wl,-rpath,"$to/lib"
check "its state stays from run to run" grep -qx 'as computed in double: yes' <(./stream)
files=$(ls -a "$work")
./build_in_c nano >build_in_c.txt
check "it runs for another chip" grep -qx 'func: 64 of 64 right' build_in_c.txt
check "and leaves no file" [ "$(ls -a "$work" | grep -vx build_in_c.txt)" = "$files" ]
printf '#include <xpuc.h>\n#include <xpuc_build.h>\n#include <xpuc_validate.h>\n#include <xpurt.h>\n#include <xpurt_rtl.h>\nint main() { return !xpurt_version(); }\n' >least.cpp
check "headers and library from C++" c++ least.cpp -o least $(flags --cflags --libs xpurt xpuc) -Wl,-rpath,"$to/lib"
check "it runs" ./least

# Man pages
for tool in $tools; do
    page=$to/share/man/man1/$tool.1
    check "$tool.1: title" grep -q "^\.TH $(echo $tool | tr a-z A-Z) 1 " "$page"
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS '"EXIT STATUS"' EXAMPLES; do
        check "$tool.1: $section" grep -qx "\.SH $section" "$page"
    done
    [ $tool != xpu-run ] || check "$tool.1: two ways to call it" [ "$(grep -c '^\.br$' "$page")" = 1 ]
    for option in $("$to/bin/$tool" --help | grep -o -- '^ *\(-., \)\?--[a-z-]*' | grep -o -- '--.*'); do
        check "$tool.1: $option" grep -q -F "\\fB$(echo "$option" | sed 's/-/\\-/g')\\fR" "$page"
    done
    ! command -v groff >/dev/null || check "$tool.1: troff" [ -z "$(groff -man -Tutf8 -ww -z "$page" 2>&1)" ]
    check "$tool: completion parses" bash -n "$to/share/bash-completion/completions/$tool"
done
check "no such text" [ "$("$to/bin/xpuc" --help=html 2>/dev/null; echo $?)" = 2 ]

# Completion: complete TOOL WORDS... gives what may stand for the last word
complete_words() {
    bash -c '. "$0/share/bash-completion/completions/$1"; COMP_WORDS=("${@:1}"); COMP_CWORD=$(($# - 1))
        "_${1//-/_}"; printf "%s " "${COMPREPLY[@]}"' "$to" "$@"
}
completes() { # completes "EXPECTED" WORDS...
    local expected=$1; shift
    check "completion of $*" [ "$(complete_words "$@")" = "$expected " ]
}
touch one.onnx two.onnx
mkdir folder
completes "--precision= --precision-rules=" xpuc --prec
completes "xpu c ir" xpuc --emit = ""
completes "c" xpuc --emit = c
completes "json" xpuc --explain = j
completes "rtl func ref" xpu-run -d ""
completes "ref func rtl" xpu-regress --device = ""
completes "int16 int16x8" xpuc --precision = i
completes "one.onnx" xpuc on
completes "two.onnx" xpuc -o tw
completes "two.onnx" xpuc --output = tw
completes "folder" xpu-run --dump-layers = fo
completes "show diff" xpu-dump ""
completes "plan" xpu-memplan p
completes "--lockstep" xpu-run --locks
completes "man bash" xpu-regress --help = ""
echo "$passed passed, $failed failed"
[ $failed = 0 ]
