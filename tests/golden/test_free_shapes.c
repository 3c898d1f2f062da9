/* Free shapes, a sample (free_shapes.h). */
#include "tests/golden/free_shapes.h"

static void sample(void) {
    run_networks(4, 3);
}

XPU_TEST_MAIN("free shapes", {"4 networks, 3 sizes", sample})
