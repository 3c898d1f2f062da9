/* What the tests share that build networks of drawn numbers. */
#ifndef XPU_TESTS_GOLDEN_DRAWN_NETWORK_H
#define XPU_TESTS_GOLDEN_DRAWN_NETWORK_H

#include <math.h>
#include <stdio.h>

#include "tests/gen/onnx_build.h"
#include "tests/unit/unit.h"

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

#endif
