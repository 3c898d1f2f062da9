#include "sim/func/matmul.h"

/* Vectors of 16 bytes: any host. */
typedef float vector8_plain __attribute__((vector_size(16)));
typedef double vector16_plain __attribute__((vector_size(16)));
static const char plain_text[] = "plain";

#define NAME(x) plain_##x
#define TARGET
#define VECTOR8          vector8_plain
#define LANES8           4
#define SPREAD8(x)       ((vector8_plain){(x), (x), (x), (x)})
#define ADD8(acc, x, w)  ((acc) + (x) * (w))
#define VECTOR16         vector16_plain
#define LANES16          2
#define SPREAD16(x)      ((vector16_plain){(x), (x)})
#define ADD16(acc, x, w) ((acc) + (x) * (w))
#include "sim/func/matmul_body.h"
#undef NAME
#undef TARGET
#undef VECTOR8
#undef LANES8
#undef SPREAD8
#undef ADD8
#undef VECTOR16
#undef LANES16
#undef SPREAD16
#undef ADD16

const xpu_matmul *xpu_matmul_plain(void) {
    return &plain_functions;
}

#ifdef __x86_64__
#include <immintrin.h>

static const char avx2_text[] = "avx2";

#define NAME(x)          avx2_##x
#define TARGET           __attribute__((target("avx2,fma")))
#define VECTOR8          __m256
#define LANES8           8
#define SPREAD8(x)       _mm256_set1_ps(x)
#define ADD8(acc, x, w)  _mm256_fmadd_ps(x, w, acc)
#define VECTOR16         __m256d
#define LANES16          4
#define SPREAD16(x)      _mm256_set1_pd(x)
#define ADD16(acc, x, w) _mm256_fmadd_pd(x, w, acc)
#include "sim/func/matmul_body.h"

const xpu_matmul *xpu_matmul_best(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &avx2_functions : &plain_functions;
}
#else
const xpu_matmul *xpu_matmul_best(void) {
    return &plain_functions;
}
#endif
