/* The convolution's inner function, which the product of two computed matrices uses too. */
#ifndef XPU_KERNELS_CONV2D_F32_H
#define XPU_KERNELS_CONV2D_F32_H

#include "xpu_runtime/kernels/common.h"

/* The share of `core` of one convolution; w_pitch: floats from one k of the weights to the next. */
void conv2d_f32_part(const struct xpu_conv2d_f32_args *args, uint32_t w_pitch, uint32_t core, uint32_t cores);

#endif
