/*
 * Hard swish of results that lie in LM, with their largest magnitude. Instructions begin in the order of the text
 * (Makefile): two vectors take turns, and a load or store stands between sums that it runs beside.
 */
#include "xpu_runtime/kernels/hard_swish.h"

#include "core/arith_rvv.h"
#include "xpu_runtime/kernels/findmax.h"

enum { VECTOR = 64, AT_ONCE = 2 * VECTOR };

/* xv_hard_swish of a and b at x, while what comes next is loaded into c and d. */
#define STEP(a, b, c, d)                                                                                               \
    do {                                                                                                               \
        n -= AT_ONCE;                                                                                                  \
        float *const next = n > 0 ? x + AT_ONCE : x;                                                                   \
        vfloat32m4_t p = __riscv_vfmul_vf_f32m4(a, 1.0f / 6.0f, vl);                                                   \
        c = __riscv_vle32_v_f32m4(next, vl);                                                                           \
        vfloat32m4_t q = __riscv_vfmul_vf_f32m4(b, 1.0f / 6.0f, vl);                                                   \
        p = __riscv_vfadd_vf_f32m4(p, 0.5f, vl);                                                                       \
        q = __riscv_vfadd_vf_f32m4(q, 0.5f, vl);                                                                       \
        p = __riscv_vfmax_vf_f32m4(p, 0.0f, vl);                                                                       \
        d = __riscv_vle32_v_f32m4(next + VECTOR, vl);                                                                  \
        q = __riscv_vfmax_vf_f32m4(q, 0.0f, vl);                                                                       \
        p = __riscv_vfmin_vf_f32m4(p, 1.0f, vl);                                                                       \
        q = __riscv_vfmin_vf_f32m4(q, 1.0f, vl);                                                                       \
        p = __riscv_vfmul_vv_f32m4(a, p, vl);                                                                          \
        q = __riscv_vfmul_vv_f32m4(b, q, vl);                                                                          \
        __riscv_vse32_v_f32m4(x, p, vl);                                                                               \
        most = findmax_join(most, p, vl);                                                                              \
        __riscv_vse32_v_f32m4(x + VECTOR, q, vl);                                                                      \
        most = findmax_join(most, q, vl);                                                                              \
        x = next;                                                                                                      \
    } while (0)

/* A multiple of AT_ONCE elements, one at least. */
static vuint32m4_t whole_vectors(float *x, uint32_t n, vuint32m4_t most) {
    const size_t vl = __riscv_vsetvlmax_e32m4();
    vfloat32m4_t a = __riscv_vle32_v_f32m4(x, vl), b = __riscv_vle32_v_f32m4(x + VECTOR, vl), c, d;
    for (;;) {
        STEP(a, b, c, d);
        if (n == 0) return most;
        STEP(c, d, a, b);
        if (n == 0) return most;
    }
}

__attribute__((section(".text_apart"))) void hard_swish_pixels(float *x, uint32_t n, uint32_t pitch, uint32_t count,
                                                               uint32_t *lanes) {
    if (n == pitch) { /* one after the other */
        n *= count;
        count = 1;
    }
    vuint32m4_t most = __riscv_vle32_v_u32m4(lanes, __riscv_vsetvlmax_e32m4());
    for (; count > 0; count--, x += pitch) {
        uint32_t done = round_down(n, AT_ONCE);
        if (done > 0) most = whole_vectors(x, done, most);
        while (done < n) {
            const size_t vl = __riscv_vsetvl_e32m4(n - done);
            vfloat32m4_t v = xv_hard_swish(__riscv_vle32_v_f32m4(x + done, vl), vl);
            __riscv_vse32_v_f32m4(x + done, v, vl);
            most = __riscv_vmaxu_vv_u32m4_tu(most, most, findmax_bits(v, vl), vl);
            done += (uint32_t)vl;
        }
    }
    __riscv_vse32_v_u32m4(lanes, most, __riscv_vsetvlmax_e32m4());
}
