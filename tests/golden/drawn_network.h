/* What the tests share that build networks of drawn numbers. */
#ifndef XPU_TESTS_GOLDEN_DRAWN_NETWORK_H
#define XPU_TESTS_GOLDEN_DRAWN_NETWORK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/func/driver.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/unit.h"
#include "tools/common/inputs.h"

/* 0 to count - 1. */
static inline uint32_t draw(uint32_t *state, uint32_t count) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % count;
}

/* A constant of the network, whose `data` has to live until it is packed. */
static inline void constant(xpu_onnx_builder *b, const char *name, xpu_dtype dtype, int rank, const int64_t *dims,
                            const void *data) {
    xpu_tensor tensor = {.dtype = dtype, .rank = rank, .data = (void *)(uintptr_t)data};
    for (int i = 0; i < rank; i++) tensor.dims[i] = dims[i];
    xpu_onnx_initializer(b, name, &tensor, 0);
}

/* Whether `y` is what a formula has, to within `limit` of its largest magnitude. */
static inline void check_near(const float *y, const double *expected, int count, double limit) {
    double most = 0, off = 0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, fabs(expected[i]));
        off = fmax(off, fabs(expected[i] - (double)y[i]));
    }
    CU_ASSERT(off <= limit * most);
    if (off > limit * most) printf("off by %g of %g\n", off, most);
}

enum { MOST_OUTPUTS = 2 };

/* The first output on func, whose engines take turns as `seed` says, is expected, and there are no races. */
static inline void run_without_races(xpu_device_check *check, const xpurt_tensor *input, uint32_t seed,
                                     const xpurt_tensor *expected, size_t bytes) {
    const xpurt_run_options options = {.device = &xpu_func_driver, .seed = seed};
    xpurt_tensor y[MOST_OUTPUTS] = {0};
    xpurt_error error = {0};
    xpu_func_configure(&(xpu_func_options){.check_races = 1});
    const int good = xpurt_run(check->program, input, 1, y, &options, &error) == 0;
    xpu_func_configure(&(xpu_func_options){.check_races = 0});
    if (!good) printf("%s\n", error.text);
    CU_ASSERT_FATAL(good);
    CU_ASSERT(memcmp(y[0].data, expected->data, bytes) == 0);
    for (int i = 0; i < MOST_OUTPUTS; i++) xpurt_tensor_clear(&y[i]);
}

/* On standard every layer on func is that on ref, rtl gives the same bytes, and `layer` takes at most so many cycles of
 * `unit`. The network has one input and one output. */
static inline void check_verilated(const char *model, const char *precision, const xpurt_tensor *input,
                                   const char *layer, const char *unit, long most) {
    xpu_device_check check;
    xpurt_tensor y = {0};
    CU_ASSERT_FATAL(xpu_device_check_compile(&check, model, "standard", precision));
    CU_ASSERT(xpu_device_check_layers(&check, input, 1, &y));
    const xpu_tensor result = xpu_from_runtime(&y);
    char *stats = xpu_device_check_rtl(&check, input, 1, y.data, xpu_tensor_bytes(&result));
    CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
    const long cycles = xpu_device_check_cycles(stats, layer, unit);
    printf("%ld cycles; ", cycles);
    CU_ASSERT(cycles > 0 && cycles <= most);
    free(stats);
    xpurt_tensor_clear(&y);
    xpu_device_check_close(&check);
}

#endif
