#!/bin/bash
# 100,000 random instances: the exact search of offsets against all orders, with and without gaps; levels against all
# assignments and all orders; plans of problems with everything, validated.
export XPU_TEST_INSTANCES=100000
for test in exact levels random; do "${XPU_BUILD:-build}/tests/unit/test_memplan_$test" || exit 1; done
