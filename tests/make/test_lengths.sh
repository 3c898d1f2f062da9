#!/usr/bin/env bash
# scripts/lengths finds functions over 80 lines and files over 800, in each language, and exceptions that are none.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
tree=$folder/tree
lines() { yes "${2:-    x();}" | head -n "$1"; } # COUNT [TEXT]
lengths() { (cd "$tree" && git add -A && scripts/lengths); }
plain() { # a tree whose functions have 80 lines, whose file has 800
    rm -rf "$tree"; mkdir -p "$tree/scripts"; git -C "$tree" init -q
    cp scripts/lengths "$tree/scripts"
    echo '# none' >"$tree/scripts/lengths.exceptions"
    { echo 'static int f(int a,'; echo '             int b) {'; lines 77; echo '}'; } >"$tree/a.c"
    { echo 'static const int table[] = {'; lines 200 '    1,'; echo '};'; } >>"$tree/a.c"
    lines 800 'int x;' >"$tree/b.h"
    { echo 'f() {'; lines 78 '    true'; echo '}'; } >"$tree/c.sh"
    { echo 'def f():'; lines 79 '    pass'; echo 'x = 1'; } >"$tree/d.py"
    { echo '  task automatic f;'; lines 78 '    x = 1;'; echo '  endtask'; } >"$tree/e.sv"
}
plain
check 0 ' 0 too long' lengths
sed -i '2a\    one_more();' "$tree/a.c"
check 1 'a.c:1: error [lengths] f has 81 lines, 80 are allowed' lengths
echo 'a.c#f:' >"$tree/scripts/lengths.exceptions"
check 1 'an exception without a reason: a.c#f:' lengths
echo 'a.c#f: because it is a test' >"$tree/scripts/lengths.exceptions"
check 0 ' 0 too long' lengths
sed -i 3d "$tree/a.c"
check 1 'a.c#f is no exception any more' lengths
plain
echo 'int y;' >>"$tree/b.h"
check 1 'b.h: error [lengths] the file has 801 lines, 800 are allowed' lengths
for case in 'c.sh    true' 'd.py    pass' 'e.sv    x = 1;'; do
    plain
    sed -i "1a\\${case#????}" "$tree/${case%% *}"
    check 1 "${case%% *}:1: error [lengths] f has 81 lines, 80 are allowed" lengths
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
