/* The vector integer loops for any host. */
#define KERNEL_TABLE xpu_int_kernels_any
#define KERNEL_BLEND xpu_blend_any
#include "sim/func/core_vint_kernels.h"
