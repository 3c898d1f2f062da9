#!/usr/bin/env bash
# 10^6 operands of every float operation on every device against the host's arithmetic.
XPU_FLOAT_OPERANDS=${XPU_FLOAT_OPERANDS:-1000000} exec bash "$(dirname "$0")/test_floats.sh"
