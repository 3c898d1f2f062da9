#!/usr/bin/env bash
# What README.md and docs say that commands print is what they print (make docs puts it in); and the comparison can fail.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
page=$folder/page.md
write() { printf '%s\n' "$@" >"$page"; }
holds() { # holds NAME LINE...: the page is these lines
    name=$1; shift
    if diff -u "$page" <(printf '%s\n' "$@"); then passed=$((passed + 1)); return; fi
    failed=$((failed + 1)); echo "FAILED: $name"
}
docs=(scripts/docs "$XPU_BUILD")
write '```' '$ echo 12 cycles, 0.3 s' '12 cycles, 0.7 s' '```'
check 0 '1 passed, 0 failed' "${docs[@]}" "$page"
write 'before' '```' '$ echo 13 cycles, 0.3 s' '12 cycles, 0.7 s' '```' 'behind'
check 1 'FAILED: ' "${docs[@]}" "$page"
check 1 '-12 cycles, T s' "${docs[@]}" "$page"
check 0 '1 changed' "${docs[@]}" --write "$page"
holds 'a new number' 'before' '```' '$ echo 13 cycles, 0.3 s' '13 cycles, 0.7 s' '```' 'behind'
check 0 '0 changed' "${docs[@]}" --write "$page"
# Parts of an output: lines left out, ends of lines
seq='$ for i in 1 2 3 4 5 6; do echo "row $i of $((i + 10)), and the rest"; done; echo all 17'
write '```' "$seq" '...' 'row 3 of 13 ...' '...' 'all 17' '```'
check 0 '1 passed, 0 failed' "${docs[@]}" "$page"
write '```' "$seq" 'row 1 of 11 ...' '...' 'all 18' '```'
check 1 '1 failed' "${docs[@]}" "$page"
check 0 '1 changed' "${docs[@]}" --write "$page"
holds 'parts' '```' "$seq" 'row 1 of 11, ...' '...' 'all 17' '```'
write '```' "$seq" '...' 'column 3 of 14 ...' '...' '```'
check 1 'change them by hand' "${docs[@]}" --write "$page"
holds 'what is not found' '```' "$seq" '...' 'column 3 of 14 ...' '...' '```'
# Files, commands before, blocks that are not run, commands whose output is not shown
write '<!-- file: a.txt -->' '```' 'seven' '```' '<!-- before: cp a.txt b.txt -->' '```' '$ cat b.txt' 'seven' '$ true' '```' \
    '<!-- shown: never -->' '```' '$ false' '```'
check 0 '2 passed, 0 failed' "${docs[@]}" "$page"
write '<!-- before: false -->' '```' '$ false' '```'
check 1 '0 passed, 2 failed' "${docs[@]}" "$page"
# Recorded cycles in prose
cycles=$(sed -n '/"standard"/,$s/.*"cycles": \([0-9]*\)\([0-9]\{3\}\),.*/\1,\2/p' tests/regress/mnist8-int16.json | head -n 1)
write 'It takes <!--= mnist8-int16 standard -->9<!--/--> cycles, not <!--= mnist8-int16 standard -->9<!--/-->.'
check 1 "9, recorded are $cycles" "${docs[@]}" "$page"
check 0 '2 changed' "${docs[@]}" --write "$page"
holds 'cycles' "It takes <!--= mnist8-int16 standard -->$cycles<!--/--> cycles, not <!--= mnist8-int16 standard -->$cycles<!--/-->."
write '<!--= mnist8-int16 none -->9<!--/-->'
check 1 'records no cycles of this' "${docs[@]}" --write "$page"
# The documents of the project
output=$("${docs[@]}"); tail -n 1 <<<"$output" | grep -q ' 0 failed$'
if [ $? = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "$output"; fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
