/* The vector integer loops for any host. */
#define KERNEL_TABLE xpu_int_kernels_any
#define KERNEL_BLEND xpu_blend_any
#define KERNEL_COPY  xpu_copy_any
#define KERNEL_REST  xpu_rest_any
#define KERNEL_BYTES 16
#include "sim/func/core_vint_kernels.h"
