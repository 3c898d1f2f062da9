/* Products of a run of a window (window.h). */
#ifndef XPU_KERNELS_WINDOW_MULTIPLY_H
#define XPU_KERNELS_WINDOW_MULTIPLY_H

#include "xpu_runtime/kernels/window.h"

enum { AT_ONCE = 4, DEEP = 16 };

/* A run, for whom stores into acc might change it. */
struct product {
    const float *w;
    uint32_t block, pitch, depth; /* pitch: of x */
    struct ends ends;
};

/* acc[i][0..vl) += x[i][k] * w[k][0..vl) in order of k, DEEP of them at least, for some pixels. */
void multiply_deep(const struct product *p, float *acc, const float *x, uint32_t pixels, size_t vl);

#endif
