#include "xpu_runtime/kernels/window_multiply.h"

/* acc[i][0..vl) += x[i][k] * w[k][0..vl) in order of k, for AT_ONCE pixels. */
static inline void multiply_four(struct product p, float *acc, const float *x, size_t vl) {
    const float *w = p.w, *x0 = x, *x1 = x0 + p.pitch, *x2 = x1 + p.pitch, *x3 = x2 + p.pitch;
    vfloat32m4_t a0 = begin_sum(acc, p.ends.fresh, vl);
    vfloat32m4_t a1 = begin_sum(acc + p.block, p.ends.fresh, vl);
    vfloat32m4_t a2 = begin_sum(acc + 2 * p.block, p.ends.fresh, vl);
    vfloat32m4_t a3 = begin_sum(acc + 3 * p.block, p.ends.fresh, vl);
    for (uint32_t k = 0; k < p.depth; k++, w += p.block) {
        vfloat32m4_t row = __riscv_vle32_v_f32m4(w, vl);
        a0 = __riscv_vfmacc_vf_f32m4(a0, x0[k], row, vl);
        a1 = __riscv_vfmacc_vf_f32m4(a1, x1[k], row, vl);
        a2 = __riscv_vfmacc_vf_f32m4(a2, x2[k], row, vl);
        a3 = __riscv_vfmacc_vf_f32m4(a3, x3[k], row, vl);
    }
    if (p.ends.bias) {
        a0 = end_sum(a0, p.ends.bias, vl);
        a1 = end_sum(a1, p.ends.bias, vl);
        a2 = end_sum(a2, p.ends.bias, vl);
        a3 = end_sum(a3, p.ends.bias, vl);
    }
    __riscv_vse32_v_f32m4(acc, a0, vl);
    __riscv_vse32_v_f32m4(acc + p.block, a1, vl);
    __riscv_vse32_v_f32m4(acc + 2 * p.block, a2, vl);
    __riscv_vse32_v_f32m4(acc + 3 * p.block, a3, vl);
}

static inline void multiply_one(struct product p, float *acc, const float *x, size_t vl) {
    const float *w = p.w;
    vfloat32m4_t a = begin_sum(acc, p.ends.fresh, vl);
    for (uint32_t k = 0; k < p.depth; k++, w += p.block) {
        a = __riscv_vfmacc_vf_f32m4(a, x[k], __riscv_vle32_v_f32m4(w, vl), vl);
    }
    __riscv_vse32_v_f32m4(acc, end_sum(a, p.ends.bias, vl), vl);
}

/* Small: see multiply_deep. */
__attribute__((minsize)) void window_multiply(const struct window *w, const struct window_run *run, size_t vl) {
    const struct product p = {run->w, w->block, run->pitch, run->taps * run->slice, run->ends};
    uint32_t left = run->pixels;
    float *acc = run->acc;
    const float *x = run->x;
    if (p.depth >= DEEP) {
        multiply_deep(&p, acc, x, left, vl);
        return;
    }
    for (; left >= AT_ONCE; left -= AT_ONCE, acc += AT_ONCE * p.block, x += AT_ONCE * p.pitch)
        multiply_four(p, acc, x, vl);
    for (; left > 0; left--, acc += p.block, x += p.pitch) multiply_one(p, acc, x, vl);
}
