#!/bin/bash
# The exact search of offsets against all orders, on 100,000 random instances.
XPU_TEST_INSTANCES=100000 exec "${XPU_BUILD:-build}/tests/unit/test_memplan_exact"
