#!/usr/bin/env bash
# The corpus of C kernels at -O2; long_corpus.sh has all levels.
exec bash "$(dirname "$0")/run.sh" 2
