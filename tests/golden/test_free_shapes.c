/* Free shapes, a sample (free_shapes.h). */
#include "tests/golden/free_shapes.h"

static void sample(void) {
    run_networks(4, 0, 3);
}
static void quantised_sample(void) {
    run_networks(2, 1, 3);
}

XPU_TEST_MAIN("free shapes", {"4 networks, 3 sizes", sample}, {"2 quantised networks, 3 sizes", quantised_sample})
