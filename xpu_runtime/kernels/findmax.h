/* findmax on the cores: the largest magnitude of what all cores make. Magnitudes are compared as bits: a NaN, whose
 * bits are above those of infinity, counts as infinity, as core/arith.h says. */
#ifndef XPU_KERNELS_FINDMAX_H
#define XPU_KERNELS_FINDMAX_H

#include "core/arith_rvv.h"
#include "xpu_runtime/kernels/common.h"

enum { FINDMAX_LANES = 64 };

/* A core collects in FINDMAX_LANES words of LM, the lanes of one vector: what of each element is compared, and the
 * larger of two. */
static inline vuint32m4_t findmax_bits(vfloat32m4_t v, size_t vl) {
    return xv_magnitude(v, vl);
}
static inline vuint32m4_t findmax_join(vuint32m4_t so_far, vfloat32m4_t v, size_t vl) {
    return __riscv_vmaxu_vv_u32m4(so_far, findmax_bits(v, vl), vl);
}

void findmax_begin(uint32_t *lanes);
/* rows[i * pitch .. + n), `count` of them, in LM. */
void findmax_rows(uint32_t *lanes, const float *rows, uint32_t pitch, uint32_t n, uint32_t count);
/* x[0 .. n) in LM. */
void findmax_dense(uint32_t *lanes, const float *x, uint32_t n);
/* Called by every core, once each: the largest of all lanes becomes the float at device address `y`. */
void findmax_end(const uint32_t *lanes, uint32_t y, uint32_t core, uint32_t cores);

#endif
