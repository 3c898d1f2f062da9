/* Kernels of more taps than the window engine has, in parts. */
#ifndef XPU_KERNELS_WINDOW_PARTS_H
#define XPU_KERNELS_WINDOW_PARTS_H

#include "xpu_runtime/include/xpu_tiling.h"
#include "xpu_runtime/kernels/common.h"

/* Some taps of the kernel, as many as the engine has. */
struct part {
    int32_t ky, kx, rows, columns;
};

/* The part of the kernel behind this one; 0: it was the last. */
static int next_part(const struct xpu_window_i8_args *a, struct part *p) {
    p->kx += p->columns;
    if (p->kx >= a->kernel_w) p->kx = 0, p->ky += p->rows;
    if (p->ky >= a->kernel_h) return 0;
    p->rows = min_i32(xpu_tiling_window_part(a->kernel_h), a->kernel_h - p->ky);
    p->columns = min_i32(xpu_tiling_window_part(a->kernel_w), a->kernel_w - p->kx);
    return 1;
}

#endif
