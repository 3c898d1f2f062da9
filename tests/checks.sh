# What scripts of tests share, for sourcing: they run in the repository's folder, with a folder of their own that goes with
# them, and count in passed and failed.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
check() { # check STATUS TEXT COMMAND...: the exit status, and a part of what is printed
    wanted=$1 text=$2; shift 2
    output=$("$@" 2>&1); status=$?
    if [ "$status" = "$wanted" ] && [[ $output == *"$text"* ]]; then passed=$((passed + 1)); return; fi
    failed=$((failed + 1)); printf 'FAILED (exit %s, not %s; wanted "%s"): %s\n%s\n' "$status" "$wanted" "$text" "$*" "$output"
}

# PaddlePaddle's programs of operators and of control flow, with what is recorded of them: $folder/paddle/operators, .../control
unpack_paddle() { mkdir "$folder/paddle" && python3 tests/gen/paddle_programs.py unpack "$folder/paddle"; }
