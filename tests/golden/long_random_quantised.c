/* 500 random quantised networks on the functional chip (random_quantised.h). */
#include "tests/golden/random_quantised.h"

static void seeds(void) {
    run_seeds(RECORDED_SEEDS + 1, RECORDED_SEEDS + 500);
}

XPU_TEST_MAIN("random quantised networks on func", {"seeds 41 to 540", seeds})
