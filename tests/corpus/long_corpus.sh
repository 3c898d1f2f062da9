#!/usr/bin/env bash
# The corpus of C kernels at -O1, -O2 and -O3.
exec bash "$(dirname "$0")/run.sh" 1 2 3
