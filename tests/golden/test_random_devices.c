/* 40 random networks on the functional chip (random_devices.h). */
#include "tests/golden/random_devices.h"

static void seeds(void) {
    run_seeds(1, RECORDED_SEEDS);
}

/* A sum on the post-processor over operands of the product before it. */
static void found(void) {
    BENCH_OPEN(b);
    CU_ASSERT(run_seed(&b.mem, 8111280002, "nano", &b.diags));
    bench_close(&b);
}

XPU_TEST_MAIN("random networks on func", {"seeds 1 to 40", seeds}, {"found", found})
