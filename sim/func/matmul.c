#include "sim/func/matmul.h"

#include <immintrin.h>

/* SSE2: any host that the functional core runs on. */
static const char plain_text[] = "plain";

#define NAME(x) plain_##x
#define TARGET
#define VECTOR          __m128i
#define LANES           4
#define ACROSS          2
#define SPREAD(x)       _mm_set1_epi32(x)
#define MADD(acc, x, w) _mm_add_epi32(acc, _mm_madd_epi16(x, w))
#include "sim/func/matmul_body.h"

static const char avx2_text[] = "avx2";

#define NAME(x)         avx2_##x
#define TARGET          __attribute__((target("avx2")))
#define VECTOR          __m256i
#define LANES           8
#define ACROSS          2
#define SPREAD(x)       _mm256_set1_epi32(x)
#define MADD(acc, x, w) _mm256_add_epi32(acc, _mm256_madd_epi16(x, w))
#include "sim/func/matmul_body.h"

static const char avx512_text[] = "avx512";

#define NAME(x)         avx512_##x
#define TARGET          __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))
#define VECTOR          __m512i
#define LANES           16
#define ACROSS          2
#define SPREAD(x)       _mm512_set1_epi32(x)
#define MADD(acc, x, w) _mm512_dpwssd_epi32(acc, x, w)
#include "sim/func/matmul_body.h"

const xpu_matmul *const *xpu_matmul_all(void) {
    static const xpu_matmul *const all[] = {&plain_functions, &avx2_functions, &avx512_functions, NULL};
    static const xpu_matmul *const first_two[] = {&plain_functions, &avx2_functions, NULL};
    static const xpu_matmul *const first[] = {&plain_functions, NULL};
    if (!__builtin_cpu_supports("avx2")) return first;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vnni")
               ? all
               : first_two;
}

const xpu_matmul *xpu_matmul_best(void) {
    const xpu_matmul *const *list = xpu_matmul_all();
    while (list[1]) list++;
    return *list;
}
