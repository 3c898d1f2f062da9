/* The vector integer loops for hosts with AVX-512. */
#include "sim/func/core_parts.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))),                   \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512")
#endif
#define KERNEL_TABLE xpu_int_kernels_avx512
#define KERNEL_BLEND xpu_blend_avx512
#define KERNEL_COPY  xpu_copy_avx512
#define KERNEL_REST  xpu_rest_avx512
#define KERNEL_BYTES 64
#include "sim/func/core_vint_kernels.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
