/* The vector float32 loops for hosts with AVX-512. */
#include "sim/func/core_parts.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))),                   \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512")
#endif
#include <immintrin.h>

enum { LANES = 16 };
typedef uint32_t lanes __attribute__((vector_size(64)));
#define SPREAD(x)     (lanes) _mm512_set1_epi32((int)(x))
#define FUSE(p, q, r) (lanes) _mm512_fmadd_ps((__m512)(p), (__m512)(q), (__m512)(r))
#define HAS_NAN(v)    _mm512_cmp_ps_mask((__m512)(v), (__m512)(v), _CMP_UNORD_Q)
#define KERNEL_TABLE  xpu_fp_kernels_avx512
#include "sim/func/core_vfp_kernels.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
