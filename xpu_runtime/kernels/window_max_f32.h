/* Maxima over windows without gaps, of which none is in the padding as a whole. */
#ifndef XPU_KERNELS_WINDOW_MAX_F32_H
#define XPU_KERNELS_WINDOW_MAX_F32_H

#include "xpu_runtime/include/xpu_kernel_args.h"

/* By a largest magnitude: of maxima in LM each becomes that of the int16 which stand for the elements.
 * lanes: of findmax, or 0. */
struct rounding {
    float inverse, scale;
};
struct rounding rounding_of(uint32_t x_absmax);
void round_maxima(const struct rounding *rounding, float *maxima, uint32_t count, uint32_t *lanes);
/* The share of `core`; 0: LM has no room for the rows of a window, and nothing was done. */
int max_windows(const struct xpu_pool_f32_args *a, uint32_t core, uint32_t cores);

#endif
