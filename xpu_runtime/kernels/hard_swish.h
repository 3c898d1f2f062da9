#ifndef XPU_KERNELS_HARD_SWISH_H
#define XPU_KERNELS_HARD_SWISH_H

#include "xpu_runtime/include/xpu_device.h"

/* `count` pixels of n floats in LM, `pitch` apart, become their hard swish; what findmax collects in `lanes` includes
 * them. */
void hard_swish_pixels(float *x, uint32_t n, uint32_t pitch, uint32_t count, uint32_t *lanes);

#endif
