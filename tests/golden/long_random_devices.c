/* 500 random networks on the functional chip (random_devices.h). */
#include "tests/golden/random_devices.h"

static void seeds(void) {
    run_seeds(RECORDED_SEEDS + 1, RECORDED_SEEDS + 500);
}

XPU_TEST_MAIN("random networks on func", {"seeds 41 to 540", seeds})
