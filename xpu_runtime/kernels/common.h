/* What the kernels share. */
#ifndef XPU_KERNELS_COMMON_H
#define XPU_KERNELS_COMMON_H

#include <riscv_vector.h>

#include "xpu_runtime/include/xpu_device.h"

static inline int32_t min_i32(int32_t a, int32_t b) {
    return a < b ? a : b;
}
static inline int32_t max_i32(int32_t a, int32_t b) {
    return a > b ? a : b;
}
static inline uint32_t min_u32(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}
static inline uint32_t round_down(uint32_t value, uint32_t multiple) {
    return value / multiple * multiple;
}

/* LM as floats for a kernel's own use, and how many. */
static inline float *lm_floats(uint32_t *count) {
    *count = xpu_lm_bytes() / 4;
    return (float *)xpu_lm_begin();
}

/* Waits until this core's transfer is done. */
#define WAIT xpu_wait

#endif
