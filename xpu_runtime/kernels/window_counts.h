/* How many taps of windows count where an average is taken: those inside the image, and inside padding that counts. */
#ifndef XPU_KERNELS_WINDOW_COUNTS_H
#define XPU_KERNELS_WINDOW_COUNTS_H

#include "xpu_runtime/kernels/common.h"

#define WINDOW_INLINE __attribute__((always_inline)) static inline

/* Windows along rows or columns; taps in low .. high - 1 count. */
struct window_axis {
    int32_t kernel, stride, dilation, pad, low, high;
};

/* Of a kernel's geometry `a` and the padding that counts, `c`. */
#define WINDOW_ROWS(a, c)                                                                                              \
    {(a)->kernel_h, (a)->stride_h, (a)->dilation_h, (a)->pad_top, -(c)->counted_top, (a)->in_h + (c)->counted_bottom}
#define WINDOW_COLUMNS(a, c)                                                                                           \
    {(a)->kernel_w, (a)->stride_w, (a)->dilation_w, (a)->pad_left, -(c)->counted_left, (a)->in_w + (c)->counted_right}

/* Of taps at, at + dilation, ..: those before `end`. */
WINDOW_INLINE int32_t taps_before(const struct window_axis *a, int32_t at, int32_t end) {
    if (end <= at) return 0;
    return min_i32((int32_t)quotient_up((uint32_t)(end - at), (uint32_t)a->dilation), a->kernel);
}

WINDOW_INLINE int32_t count_taps(const struct window_axis *a, int32_t output) {
    const int32_t at = output * a->stride - a->pad;
    return taps_before(a, at, a->high) - taps_before(a, at, a->low);
}

/* How many outputs from `first` on, before `end`, have windows with as many taps that count. */
WINDOW_INLINE int32_t equal_windows(const struct window_axis *a, int32_t first, int32_t end, int32_t *count) {
    int32_t next = first + 1;
    *count = count_taps(a, first);
    if (*count == a->kernel) /* all up to the last whose taps end inside */
        next =
            (int32_t)quotient((uint32_t)(a->high - 1 - (a->kernel - 1) * a->dilation + a->pad), (uint32_t)a->stride) +
            1;
    while (next < end && count_taps(a, next) == *count) next++;
    return min_i32(next, end) - first;
}

/* Bit n: there are windows with n taps that count. */
static inline uint32_t numbers_of_taps(const struct window_axis *axis, int32_t outputs) {
    uint32_t found = 0;
    for (int32_t i = 0, count; i < outputs; found |= 1u << count) i += equal_windows(axis, i, outputs, &count);
    return found;
}

#endif
