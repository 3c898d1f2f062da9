#!/usr/bin/env bash
# scripts/models on the networks of the repository: a line each, at fp32 as onnxruntime within 1e-4 of its largest value; what
# is not there keeps its line, and the page is whole.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
[ -e "$XPU_BUILD/lib/libxpurtl-standard.so" ] || { echo 'skipped: the Verilated chip standard is not there'; echo '0 passed, 0 failed'; exit 0; }
check 0 '| network | source |' scripts/models "$XPU_BUILD" "$folder/none"
both=$output
printf '%s\n' "$both" | sed '/^| network | cycles |/,$d' >"$folder/table" # then where the cycles go
check 0 '' diff <(grep -c '^[^#]' scripts/models.rows) <(sed '1,/^| network | cycles |/d' <<<"$both" | grep -c '^| [^n]\|^| nnsplit')
off() { awk -F'|' -v name=" $1" -v most="$2" 'index($2, name) == 1 { found = 1; if ($12 + 0 > most) exit 1 } END { exit !found }' "$folder/table"; }
check 0 '' off mnist-8 0.01
check 0 '' off silero_vad_16k_op15 1e-4
check 0 '' off stories260K_step 1e-3
check 0 '' diff <(grep -c '^[^#]' scripts/models.rows) <(grep -c '^| [^n]\|^| nnsplit' "$folder/table")
echo "$passed passed, $failed failed"
[ $failed = 0 ]
