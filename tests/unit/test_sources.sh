#!/usr/bin/env bash
# Rules that no compiler checks. setjmp, or setjmp compared with 0, is the whole condition of an if: C leaves every
# other use undefined (C11 7.13.1.1), an operand of || among them.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
others() { # every other use in the files that are given; comments are not read
    grep -HnE '\bsetjmp *\(' "$@" | grep -vE ':[0-9]+: *(/?\*|//)' |
        grep -vE '\bif \(setjmp\([^()]+\)( == 0)?\)' && return 1
    return 0
}
printf '    if (setjmp(a) || setjmp(b)) return;\n' >"$folder/or.c"
printf '    int s = setjmp(a) ? 1 : 2;\n' >"$folder/choice.c"
printf '    if (setjmp(a)) return;\n' >"$folder/alone.c"
check 1 'setjmp(a) ||' others "$folder/or.c"
check 1 'setjmp(a) ?' others "$folder/choice.c"
check 0 '' others "$folder/alone.c"
all() { git ls-files '*.c' '*.h' | { mapfile -t files; others "${files[@]}"; }; }
check 0 '' all
echo "$passed passed, $failed failed"
[ $failed = 0 ]
