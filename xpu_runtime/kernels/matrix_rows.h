/* Products of a few rows in float32 on the cores: what a step of a decoder is made of. Cores share the columns, as a
 * row has too few windows for all of them; the sums are those of window_multiply, in order of k. */
#ifndef XPU_KERNELS_MATRIX_ROWS_H
#define XPU_KERNELS_MATRIX_ROWS_H

#include "xpu_runtime/include/xpu_tiling.h"
#include "xpu_runtime/kernels/epilogue.h"

struct rows {
    uint32_t x, w, bias, branch, y, y_absmax; /* device addresses, 0 where there is none */
    uint32_t images, m, k, n;           /* y[image][m][n] = x[image][m][k] w[image][k][n]; m: at most XPU_FEW_ROWS */
    uint32_t x_image, w_image, w_pitch; /* floats from image to image, from one k of the weights to the next */
    int w_transposed;                   /* w[image][n][k] */
    struct epilogue epilogue;
};

/* Runs the share of `core`. */
void rows_run(const struct rows *r, uint32_t core, uint32_t cores);

#endif
