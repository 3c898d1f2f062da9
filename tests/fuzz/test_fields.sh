#!/usr/bin/env bash
# Every field of a program's metadata is in a program that hostile files are made of.
set -euo pipefail
exec bash "$(dirname "$0")/test_hostile.sh" --fields
