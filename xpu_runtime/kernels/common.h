/* What the kernels share. */
#ifndef XPU_KERNELS_COMMON_H
#define XPU_KERNELS_COMMON_H

#ifdef __riscv
#include <riscv_vector.h>
#endif

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
static inline uint32_t round_up(uint32_t value, uint32_t multiple) {
    return round_down(value + multiple - 1, multiple);
}
static inline uint32_t ceil_div(uint32_t a, uint32_t b) {
    return (a + b - 1) / b;
}

/* a / b, and at once where that is 0 or a. */
static inline uint32_t quotient(uint32_t a, uint32_t b) {
    if (a < b) return 0;
    return b == 1 ? a : a / b;
}

static inline uint32_t quotient_up(uint32_t a, uint32_t b) {
    return a <= b ? a > 0 : quotient(a + b - 1, b);
}

#ifdef __riscv
/* Zeros, of integers or float32. */
static inline void clear_words(void *to, uint32_t count) {
    uint32_t *words = to;
    for (uint32_t i = 0; i < count;) {
        size_t vl = __riscv_vsetvl_e32m8(count - i);
        __riscv_vse32_v_u32m8(words + i, __riscv_vmv_v_x_u32m8(0, vl), vl);
        i += (uint32_t)vl;
    }
}

/* A kernel's arguments, or other words, at once: at most 64 of them. */
static inline void copy_words(void *to, const void *from, uint32_t count) {
    size_t vl = __riscv_vsetvl_e32m4(count);
    __riscv_vse32_v_u32m4(to, __riscv_vle32_v_u32m4(from, vl), vl);
}
#endif

/* A core's part of `total` tasks. Core 0 comes last: with fewer tasks than cores, or one less than others have, it
 * prepares the next layer meanwhile. */
static inline void share_tasks(uint32_t core, uint32_t cores, uint32_t total, uint32_t *begin, uint32_t *end) {
    partition(core > 0 ? core - 1 : cores - 1, cores, total, 1, begin, end);
}

/* Codes of software aborts. */
enum {
    ABORT_LOCAL_MEMORY = 1, /* this chip's LM is too small for a kernel */
    ABORT_SHARED_MEMORY,    /* a layer's scratch in SM is smaller than its tiles need */
    ABORT_WIDE_ELEMENTS     /* copy_nd: 8-byte elements whose innermost stride is not 1 */
};

/* LM as floats for a kernel's own use, and how many: at least LEAST_LM_FLOATS, so that a chain of six inputs has room
 * for a vector of each twice. */
enum { LEAST_LM_FLOATS = 1024 };
#ifdef __riscv
static inline float *lm_floats(uint32_t *count) {
    *count = xpu_lm_bytes() / 4;
    if (*count < LEAST_LM_FLOATS || *count > UINT32_MAX / 8) xpu_abort(ABORT_LOCAL_MEMORY);
    return (float *)xpu_lm_begin();
}
#endif

/* Kernel engine_lists: whether layers with lists have run, of products, of windows. */
extern uint8_t xpu_lists_begun[2];

#endif
