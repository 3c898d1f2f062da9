#!/usr/bin/env bash
# Every allocation of a compilation and of a run fails once, under AddressSanitizer with its check for leaks.
set -euo pipefail
exec bash "$(dirname "$0")/test_hostile.sh" --allocations
