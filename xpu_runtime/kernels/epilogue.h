/* What comes behind the accumulation of a matrix-like layer: residual branch and activation, on vectors of one row. */
#ifndef XPU_KERNELS_EPILOGUE_H
#define XPU_KERNELS_EPILOGUE_H

#include "core/arith_rvv.h"
#include "xpu_runtime/kernels/common.h"

/* Numbers of xpu_activation (core/ops/op.h), which are those of the tensor engine's post-processor. */
struct epilogue {
    int32_t activation;
    float low, high, alpha;
    int32_t branch_after; /* 1: the branch is added behind the activation */
};

#define EPILOGUE_OF(a) {(a)->activation, (a)->low, (a)->high, (a)->alpha, (a)->branch_after}

static inline vfloat32m4_t activate(vfloat32m4_t v, const struct epilogue *e, size_t vl) {
    if (e->activation == (int32_t)XPU_ACT_CLIP) return xv_clip(v, e->low, e->high, vl);
    if (e->activation == (int32_t)XPU_ACT_LEAKY) return xv_leaky_relu(v, e->alpha, vl);
    return v;
}

/* row[0..n) in LM becomes the layer's result; branch is NULL without one. */
static inline void apply_epilogue(float *row, const float *branch, uint32_t n, const struct epilogue *e) {
    if (!branch && e->activation == (int32_t)XPU_ACT_NONE) return;
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        vfloat32m4_t v = __riscv_vle32_v_f32m4(row + done, vl);
        if (branch && !e->branch_after) v = __riscv_vfadd_vv_f32m4(v, __riscv_vle32_v_f32m4(branch + done, vl), vl);
        v = activate(v, e, vl);
        if (branch && e->branch_after) v = __riscv_vfadd_vv_f32m4(v, __riscv_vle32_v_f32m4(branch + done, vl), vl);
        __riscv_vse32_v_f32m4(row + done, v, vl);
        done += (uint32_t)vl;
    }
}

#endif
