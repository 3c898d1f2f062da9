/* 500 random networks: func equals ref bit for bit in every layer, on a chip and at a precision drawn by the seed.
 * XPU_SEED=N runs one. */
#include <stdio.h>
#include <string.h>

#include "tests/gen/device_net.h"
#include "tests/unit/unit.h"

enum { FIRST = 41, NETWORKS = 500 };

static void networks(void) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_mem_init(&mem);
    xpu_diags_init(&diags);
    if (setjmp(mem.out_of_memory)) exit(EXIT_FAILURE);
    const char *one = getenv("XPU_SEED");
    uint64_t first = one ? strtoull(one, NULL, 0) : FIRST, last = one ? first : FIRST + NETWORKS - 1;
    for (uint64_t seed = first; seed <= last; seed++) {
        xpu_arena *arena = xpu_arena_new(&mem, "network");
        xpu_device_net_result result;
        xpu_device_net(arena, seed, &(xpu_device_net_options){.chip = NULL}, &result, &diags);
        if (result.problem) printf("seed %llu: %s\n", (unsigned long long)seed, result.problem);
        CU_ASSERT_PTR_NULL(result.problem);
        xpu_arena_free(arena);
    }
    CU_ASSERT_EQUAL(diags.errors, 0);
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

XPU_TEST_MAIN("500 networks on the device", {"func = ref", networks})
