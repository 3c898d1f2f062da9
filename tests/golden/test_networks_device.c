/*
 * The 40 recorded random networks, compiled and run: func equals ref bit for bit in every layer, at fp32 and at int16,
 * on a chip drawn by the seed; at fp32 the outputs are onnxruntime's within |a-b| <= 1e-3 |b| + 1e-5 max|b|.
 */
#include <stdio.h>
#include <string.h>

#include "tests/gen/device_net.h"
#include "tests/gen/compare.h"
#include "tests/unit/unit.h"

enum { RECORDED = 40 };

static void compare_recorded(xpu_arena *arena, uint64_t seed, const xpu_named_tensors *outputs, xpu_diags *diags) {
    xpu_named_tensors recorded = {NULL, 0, 0};
    xpu_npz_read(arena, xpu_printf(arena, "tests/golden/random_cnn/%d.npz", (int)seed), &recorded, diags);
    CU_ASSERT_EQUAL(outputs->count + 1, recorded.count);
    for (uint32_t i = 0; i < outputs->count; i++) {
        double used = INFINITY;
        for (uint32_t k = 0; k < recorded.count; k++) {
            if (strcmp(recorded.items[k].name, outputs->items[i].name) != 0) continue;
            used = xpu_tolerance_used(&outputs->items[i].tensor, &recorded.items[k].tensor);
        }
        if (!(used <= 1)) printf("seed %d, '%s': %g of the tolerance\n", (int)seed, outputs->items[i].name, used);
        CU_ASSERT(used <= 1);
    }
}

static void run_all(const char *precision) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_mem_init(&mem);
    xpu_diags_init(&diags);
    if (setjmp(mem.out_of_memory)) exit(EXIT_FAILURE);
    for (uint64_t seed = 1; seed <= RECORDED; seed++) {
        xpu_arena *arena = xpu_arena_new(&mem, "network");
        xpu_device_net_result result;
        xpu_device_net(arena, seed, &(xpu_device_net_options){.precision = precision, .keep_outputs = 1}, &result,
                       &diags);
        if (result.problem) printf("seed %d at %s: %s\n", (int)seed, precision, result.problem);
        CU_ASSERT_PTR_NULL(result.problem);
        if (!result.problem && strcmp(precision, "fp32") == 0) compare_recorded(arena, seed, &result.outputs, &diags);
        xpu_arena_free(arena);
    }
    CU_ASSERT_EQUAL(diags.errors, 0);
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void fp32(void) {
    run_all("fp32");
}
static void int16(void) {
    run_all("int16");
}

XPU_TEST_MAIN("networks on the device", {"fp32", fp32}, {"int16", int16})
