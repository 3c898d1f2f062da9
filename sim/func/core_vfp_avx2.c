/* The vector float32 loops for hosts with AVX2. */
#include "sim/func/core_parts.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#include <immintrin.h>

enum { LANES = 8 };
typedef uint32_t lanes __attribute__((vector_size(32)));
#define SPREAD(x)     (lanes) _mm256_set1_epi32((int)(x))
#define FUSE(p, q, r) (lanes) _mm256_fmadd_ps((__m256)(p), (__m256)(q), (__m256)(r))
#define HAS_NAN(v)    _mm256_movemask_ps(_mm256_cmp_ps((__m256)(v), (__m256)(v), _CMP_UNORD_Q))
#define KERNEL_TABLE  xpu_fp_kernels_avx2
#include "sim/func/core_vfp_kernels.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
