#include "core/ops/ref_tile.h"

/* Portable: four-lane vectors of the compiler, fused multiply-add by element. */
typedef float float_4 __attribute__((vector_size(16)));
typedef double double_2 __attribute__((vector_size(16)));

#define T         float
#define V         float_4
#define VW        4
#define NV        4
#define V_SET1(s) ((float_4){s, s, s, s})
#define V_FMA(acc, a, b)                                                                                               \
    do {                                                                                                               \
        for (int lane = 0; lane < 4; lane++) (acc)[lane] = __builtin_fmaf((a)[lane], (b)[lane], (acc)[lane]);          \
    } while (0)
#define TILE(name)  plain_float_##name
#define TILE_TARGET __attribute__((unused))
#include "core/ops/ref_tile.inc"

/* Products and sums of integers below 2^53 are exact: no fma is needed. */
#define T                double
#define V                double_2
#define VW               2
#define NV               4
#define V_SET1(s)        ((double_2){s, s})
#define V_FMA(acc, a, b) (acc) += (a) * (b)
#define TILE(name)       plain_double_##name
#define TILE_TARGET      __attribute__((unused))
#include "core/ops/ref_tile.inc"

static const xpu_tiles plain_tiles = {plain_float_scalar_x, plain_float_lane_x, plain_double_scalar_x,
                                      plain_double_lane_x};

#if defined(__x86_64__)
#include <immintrin.h>

#define T                float
#define V                __m256
#define VW               8
#define NV               2
#define V_SET1(s)        _mm256_set1_ps(s)
#define V_FMA(acc, a, b) (acc) = _mm256_fmadd_ps(a, b, acc)
#define TILE(name)       avx2_float_##name
#define TILE_TARGET      __attribute__((target("avx2,fma")))
#include "core/ops/ref_tile.inc"

#define T                double
#define V                __m256d
#define VW               4
#define NV               2
#define V_SET1(s)        _mm256_set1_pd(s)
#define V_FMA(acc, a, b) (acc) = _mm256_fmadd_pd(a, b, acc)
#define TILE(name)       avx2_double_##name
#define TILE_TARGET      __attribute__((target("avx2,fma")))
#include "core/ops/ref_tile.inc"

static const xpu_tiles avx2_tiles = {avx2_float_scalar_x, avx2_float_lane_x, avx2_double_scalar_x, avx2_double_lane_x};

static const xpu_tiles *best_tiles(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &avx2_tiles : &plain_tiles;
}
#else
static const xpu_tiles *best_tiles(void) {
    return &plain_tiles;
}
#endif

const xpu_tiles *xpu_tiles_for_host(int plain) {
    return plain ? &plain_tiles : best_tiles();
}
