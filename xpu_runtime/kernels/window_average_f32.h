/* Averages over windows that lie in LM as a whole. */
#ifndef XPU_KERNELS_WINDOW_AVERAGE_F32_H
#define XPU_KERNELS_WINDOW_AVERAGE_F32_H

#include "xpu_runtime/include/xpu_kernel_args.h"

/* The share of `core`; 0: windows have gaps, or LM has no room for one, and nothing was done. */
int average_windows(const struct xpu_pool_f32_args *a, uint32_t core, uint32_t cores);

#endif
