/* 40 random quantised networks on the functional chip (random_quantised.h). */
#include "tests/golden/random_quantised.h"

static void seeds(void) {
    run_seeds(1, RECORDED_SEEDS);
}

XPU_TEST_MAIN("random quantised networks on func", {"seeds 1 to 40", seeds})
