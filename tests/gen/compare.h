/* The tolerance of float32 results against onnxruntime: |a-b| <= 1e-3 |b| + 1e-5 max|b|. */
#ifndef XPU_TESTS_GEN_COMPARE_H
#define XPU_TESTS_GEN_COMPARE_H

#include <math.h>

#include "base/tensor.h"

/* How much of it is used: at most 1 where the tensors agree; infinite where they have other types or sizes, and where
 * one alone is NaN or infinite. */
static inline double xpu_tolerance_used(const xpu_tensor *a, const xpu_tensor *b) {
    double largest = 0, worst = 0;
    const float *x = a->data, *y = b->data;
    int64_t count = xpu_tensor_count(a);
    if (a->dtype != XPU_F32 || b->dtype != XPU_F32 || count != xpu_tensor_count(b)) return INFINITY;
    for (int64_t i = 0; i < count; i++) {
        if (isfinite(y[i])) largest = fmax(largest, fabs((double)y[i]));
    }
    for (int64_t i = 0; i < count; i++) {
        if (x[i] == y[i] || (isnan(x[i]) && isnan(y[i]))) continue;
        double used = fabs((double)x[i] - (double)y[i]) / (1e-3 * fabs((double)y[i]) + 1e-5 * largest + 1e-30);
        if (!isfinite(x[i]) || !isfinite(y[i])) return INFINITY;
        if (used > worst) worst = used;
    }
    return worst;
}

#endif
