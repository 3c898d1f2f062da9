/* Sums of products in float32: where they begin and end (core/arith.h, xa_end_sum), and steps of loops over k. */
#ifndef XPU_KERNELS_SUMS_H
#define XPU_KERNELS_SUMS_H

#include "core/arith_rvv.h"
#include "xpu_runtime/kernels/common.h"

/* Of a stretch of k: */
struct ends {
    uint32_t fresh;    /* 1: it is the first one, and nothing is in front of it */
    const float *bias; /* of the last one, zeros where the layer has none; 0: others follow */
};

static inline vfloat32m4_t begin_sum(const float *sums, uint32_t fresh, size_t vl) {
    return fresh ? __riscv_vfmv_v_f_f32m4(XA_NO_PRODUCTS, vl) : __riscv_vle32_v_f32m4(sums, vl);
}

static inline vfloat32m4_t end_sum(vfloat32m4_t sum, const float *bias, size_t vl) {
    return bias ? __riscv_vfadd_vv_f32m4(sum, __riscv_vle32_v_f32m4(bias, vl), vl) : sum;
}

/* Loads stand between the products, which wait for each other: rows of weights, `pitch` apart from w on, are on their
 * way. As a scalar load waits for all vector loads, elements of x come several at once. Tails are undisturbed in both,
 * which leaves sums and rows in their registers. */
#define ROW(i)              __riscv_vle32_v_f32m4(w + (i) * pitch, vl)
#define ADD(sum, value, of) sum = __riscv_vfmacc_vf_f32m4_tu(sum, value, of, vl)
#define NEXT(r, i)          r = __riscv_vle32_v_f32m4_tu(r, w + (i) * pitch, vl)

#endif
