#!/usr/bin/env bash
# Every bench of the units in SystemVerilog, with 10^6 random vector instructions.
exec bash "$(dirname "$0")/units.sh" long
