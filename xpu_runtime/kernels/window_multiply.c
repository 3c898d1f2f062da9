#include "xpu_runtime/kernels/window.h"

enum { AT_ONCE = 4 };

/* acc[i][0..vl) += x[i][k] * w[k][0..vl) in order of k, for AT_ONCE pixels. */
static void multiply_four(float *acc, uint32_t block, const float *x, uint32_t pitch, const float *w, uint32_t depth,
                          size_t vl) {
    const float *x0 = x, *x1 = x0 + pitch, *x2 = x1 + pitch, *x3 = x2 + pitch;
    vfloat32m4_t a0 = __riscv_vle32_v_f32m4(acc, vl);
    vfloat32m4_t a1 = __riscv_vle32_v_f32m4(acc + block, vl);
    vfloat32m4_t a2 = __riscv_vle32_v_f32m4(acc + 2 * block, vl);
    vfloat32m4_t a3 = __riscv_vle32_v_f32m4(acc + 3 * block, vl);
#pragma clang loop unroll_count(4)
    for (uint32_t k = 0; k < depth; k++, w += block) {
        vfloat32m4_t row = __riscv_vle32_v_f32m4(w, vl);
        a0 = __riscv_vfmacc_vf_f32m4(a0, x0[k], row, vl);
        a1 = __riscv_vfmacc_vf_f32m4(a1, x1[k], row, vl);
        a2 = __riscv_vfmacc_vf_f32m4(a2, x2[k], row, vl);
        a3 = __riscv_vfmacc_vf_f32m4(a3, x3[k], row, vl);
    }
    __riscv_vse32_v_f32m4(acc, a0, vl);
    __riscv_vse32_v_f32m4(acc + block, a1, vl);
    __riscv_vse32_v_f32m4(acc + 2 * block, a2, vl);
    __riscv_vse32_v_f32m4(acc + 3 * block, a3, vl);
}

static void multiply_one(float *acc, uint32_t block, const float *x, const float *w, uint32_t depth, size_t vl) {
    vfloat32m4_t a0 = __riscv_vle32_v_f32m4(acc, vl);
    for (uint32_t k = 0; k < depth; k++, w += block) {
        a0 = __riscv_vfmacc_vf_f32m4(a0, x[k], __riscv_vle32_v_f32m4(w, vl), vl);
    }
    __riscv_vse32_v_f32m4(acc, a0, vl);
}

void window_multiply(const struct window *w, const struct window_run *run, size_t vl) {
    uint32_t depth = run->taps * run->slice, left = run->pixels;
    float *acc = run->acc;
    const float *x = run->x;
    for (; left >= AT_ONCE; left -= AT_ONCE, acc += AT_ONCE * w->block, x += AT_ONCE * run->pitch) {
        multiply_four(acc, w->block, x, run->pitch, run->w, depth, vl);
    }
    for (; left > 0; left--, acc += w->block, x += run->pitch) multiply_one(acc, w->block, x, run->w, depth, vl);
}
