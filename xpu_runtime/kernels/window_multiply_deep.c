#include "xpu_runtime/kernels/products.h"
#include "xpu_runtime/kernels/window_multiply.h"

/* A step of k for AT_ONCE pixels, of which x##k, y##k, z##k and u##k are the elements, and those of two steps ahead:
 * four scalar loads and one of a row run beside four products. */
#define STEP(k, r)     ADD(a0, x##k, r), ADD(a1, y##k, r), ADD(a2, z##k, r), ADD(a3, u##k, r)
#define ELEMENTS(k, i) x##k = x[i], y##k = y[i], z##k = z[i], u##k = u[i]
/* What stands in front of it stays there. */
#define IN_ORDER __asm__ volatile("" : "+vr"(a0), "+vr"(a1), "+vr"(a2), "+vr"(a3) : : "memory")
#define STEP_ON(k, r, ahead)                                                                                           \
    STEP(k, r);                                                                                                        \
    IN_ORDER;                                                                                                          \
    ELEMENTS(k, ahead);                                                                                                \
    IN_ORDER;                                                                                                          \
    NEXT(r, ahead)

/* acc[i][0..vl) += x[i][k] * w[k][0..vl) in order of k, for AT_ONCE pixels. */
static inline void multiply_four(const struct product p, float *acc, const float *x, size_t vl) {
    const uint32_t pitch = p.block, fresh = p.ends.fresh;
    const float *w = p.w, *y = x + p.pitch, *z = y + p.pitch, *u = z + p.pitch;
    float x0, y0, z0, u0, x1, y1, z1, u1;
    uint32_t depth = p.depth;
    vfloat32m4_t a0 = begin_sum(acc, fresh, vl), a1 = begin_sum(acc + pitch, fresh, vl);
    vfloat32m4_t a2 = begin_sum(acc + 2 * pitch, fresh, vl), a3 = begin_sum(acc + 3 * pitch, fresh, vl);
    if (depth >= 2) {
        ELEMENTS(0, 0), ELEMENTS(1, 1);
        vfloat32m4_t r0 = ROW(0), r1 = ROW(1);
        for (; depth >= 6; depth -= 4) {
            STEP_ON(0, r0, 2);
            STEP_ON(1, r1, 3);
            STEP_ON(0, r0, 4);
            STEP_ON(1, r1, 5);
            x += 4, y += 4, z += 4, u += 4, w += 4 * pitch;
        }
        if (depth >= 4) {
            STEP_ON(0, r0, 2);
            STEP_ON(1, r1, 3);
            x += 2, y += 2, z += 2, u += 2, w += 2 * pitch, depth -= 2;
        }
        x += 2, y += 2, z += 2, u += 2, w += 2 * pitch, depth -= 2;
        STEP(0, r0), STEP(1, r1);
    }
    if (depth > 0) {
        ELEMENTS(0, 0);
        vfloat32m4_t row = ROW(0);
        STEP(0, row);
    }
    if (p.ends.bias) {
        a0 = end_sum(a0, p.ends.bias, vl), a1 = end_sum(a1, p.ends.bias, vl);
        a2 = end_sum(a2, p.ends.bias, vl), a3 = end_sum(a3, p.ends.bias, vl);
    }
    __riscv_vse32_v_f32m4(acc, a0, vl);
    __riscv_vse32_v_f32m4(acc + pitch, a1, vl);
    __riscv_vse32_v_f32m4(acc + 2 * pitch, a2, vl);
    __riscv_vse32_v_f32m4(acc + 3 * pitch, a3, vl);
}

/* Small, as all code of a window's walk: they share the instruction cache. */
__attribute__((minsize)) void multiply_deep(const struct product *of, float *acc, const float *x, uint32_t pixels,
                                            size_t vl) {
    const struct product p = *of;
    for (; pixels >= AT_ONCE; pixels -= AT_ONCE, acc += AT_ONCE * p.block, x += AT_ONCE * p.pitch)
        multiply_four(p, acc, x, vl);
    for (; pixels >= 2; pixels -= 2, acc += 2 * p.block, x += 2 * p.pitch)
        multiply_two(acc, x, p.pitch, p.w, p.block, p.depth, p.ends, vl);
    if (pixels > 0) multiply_one(acc, x, p.w, p.block, p.depth, p.ends, vl);
}
