#ifndef XPU_KERNELS_REDUCE_LANES_F32_H
#define XPU_KERNELS_REDUCE_LANES_F32_H

#include "xpu_runtime/include/xpu_device.h"

/* A core's share; 0: another way suits these sizes, and nothing was done. */
int reduce_by_lanes(const struct xpu_reduce_f32_args *a, uint32_t core, uint32_t cores);

#endif
