/* Products of one or two rows by a matrix in float32, whose vectors lie along its columns. */
#ifndef XPU_KERNELS_PRODUCTS_H
#define XPU_KERNELS_PRODUCTS_H

#include "xpu_runtime/kernels/sums.h"

enum { DEPTH = 16 };

/* acc[0..vl) += x[k] * w[k][0..vl) in order of k. */
static inline void multiply_one(float *acc, const float *x, const float *w, uint32_t pitch, uint32_t depth,
                                struct ends ends, size_t vl) {
    vfloat32m4_t a = begin_sum(acc, ends.fresh, vl);
    for (; depth >= DEPTH; depth -= DEPTH, x += DEPTH, w += DEPTH * pitch) {
        float x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3], x4 = x[4], x5 = x[5], x6 = x[6], x7 = x[7];
        float x8 = x[8], x9 = x[9], xa = x[10], xb = x[11], xc = x[12], xd = x[13], xe = x[14], xf = x[15];
        vfloat32m4_t r0 = ROW(0), r1 = ROW(1);
        ADD(a, x0, r0), NEXT(r0, 2);
        ADD(a, x1, r1), NEXT(r1, 3);
        ADD(a, x2, r0), NEXT(r0, 4);
        ADD(a, x3, r1), NEXT(r1, 5);
        ADD(a, x4, r0), NEXT(r0, 6);
        ADD(a, x5, r1), NEXT(r1, 7);
        ADD(a, x6, r0), NEXT(r0, 8);
        ADD(a, x7, r1), NEXT(r1, 9);
        ADD(a, x8, r0), NEXT(r0, 10);
        ADD(a, x9, r1), NEXT(r1, 11);
        ADD(a, xa, r0), NEXT(r0, 12);
        ADD(a, xb, r1), NEXT(r1, 13);
        ADD(a, xc, r0), NEXT(r0, 14);
        ADD(a, xd, r1), NEXT(r1, 15);
        ADD(a, xe, r0);
        ADD(a, xf, r1);
    }
    for (; depth > 0; depth--, w += pitch) ADD(a, *x++, ROW(0));
    __riscv_vse32_v_f32m4(acc, end_sum(a, ends.bias, vl), vl);
}

/* The same for two rows of x, `pitch` apart in acc. */
static inline void multiply_two(float *acc, const float *x, uint32_t x_pitch, const float *w, uint32_t pitch,
                                uint32_t depth, struct ends ends, size_t vl) {
    const float *y = x + x_pitch;
    vfloat32m4_t a = begin_sum(acc, ends.fresh, vl), b = begin_sum(acc + pitch, ends.fresh, vl);
    for (; depth >= DEPTH / 2; depth -= DEPTH / 2, x += DEPTH / 2, y += DEPTH / 2, w += DEPTH / 2 * pitch) {
        float x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3], x4 = x[4], x5 = x[5], x6 = x[6], x7 = x[7];
        float y0 = y[0], y1 = y[1], y2 = y[2], y3 = y[3], y4 = y[4], y5 = y[5], y6 = y[6], y7 = y[7];
        vfloat32m4_t r0 = ROW(0), r1 = ROW(1);
        ADD(a, x0, r0), ADD(b, y0, r0), NEXT(r0, 2);
        ADD(a, x1, r1), ADD(b, y1, r1), NEXT(r1, 3);
        ADD(a, x2, r0), ADD(b, y2, r0), NEXT(r0, 4);
        ADD(a, x3, r1), ADD(b, y3, r1), NEXT(r1, 5);
        ADD(a, x4, r0), ADD(b, y4, r0), NEXT(r0, 6);
        ADD(a, x5, r1), ADD(b, y5, r1), NEXT(r1, 7);
        ADD(a, x6, r0), ADD(b, y6, r0);
        ADD(a, x7, r1), ADD(b, y7, r1);
    }
    for (; depth > 0; depth--, w += pitch) {
        float of_x = *x++, of_y = *y++;
        vfloat32m4_t row = ROW(0);
        ADD(a, of_x, row), ADD(b, of_y, row);
    }
    __riscv_vse32_v_f32m4(acc, end_sum(a, ends.bias, vl), vl);
    __riscv_vse32_v_f32m4(acc + pitch, end_sum(b, ends.bias, vl), vl);
}

#endif
