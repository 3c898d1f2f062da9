/* Maxima over windows without gaps, of which none is in the padding as a whole. */
#ifndef XPU_KERNELS_WINDOW_MAX_F32_H
#define XPU_KERNELS_WINDOW_MAX_F32_H

#include "xpu_runtime/include/xpu_kernel_args.h"

/* The share of `core`; 0: LM has no room for the rows of a window, and nothing was done. */
int max_windows(const struct xpu_pool_f32_args *a, uint32_t core, uint32_t cores);

#endif
