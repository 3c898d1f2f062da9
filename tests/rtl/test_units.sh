#!/usr/bin/env bash
# The units in SystemVerilog, in short; long_units.sh runs all their benches.
exec bash "$(dirname "$0")/units.sh" short
