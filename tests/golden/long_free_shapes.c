/* Free shapes: 20 networks at ten sizes each (free_shapes.h). */
#include "tests/golden/free_shapes.h"

static void all(void) {
    run_networks(20, 10);
}

XPU_TEST_MAIN("free shapes", {"20 networks, 10 sizes", all})
