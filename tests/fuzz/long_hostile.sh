#!/usr/bin/env bash
# 20,000 hostile files of each kind; other seeds than those of test_hostile.
set -euo pipefail
COUNT=20000 FIRST=1000001 exec bash "$(dirname "$0")/test_hostile.sh"
