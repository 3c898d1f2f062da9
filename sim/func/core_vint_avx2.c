/* The vector integer loops for hosts with AVX2. */
#include "sim/func/core_parts.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define KERNEL_TABLE xpu_int_kernels_avx2
#define KERNEL_BLEND xpu_blend_avx2
#define KERNEL_COPY  xpu_copy_avx2
#define KERNEL_REST  xpu_rest_avx2
#define KERNEL_BYTES 32
#include "sim/func/core_vint_kernels.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
