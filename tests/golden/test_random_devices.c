/* 40 random networks on the functional chip (random_devices.h). */
#include "tests/golden/random_devices.h"

static void seeds(void) {
    run_seeds(1, RECORDED_SEEDS);
}

XPU_TEST_MAIN("random networks on func", {"seeds 1 to 40", seeds})
