/*
 * Exact integer matrix products on the host's float units, in blocks: 8-bit operands in float32 (a sum of 256 products
 * of 9-bit numbers stays below 2^24), 16-bit operands in float64 (far below 2^53). So every form of a loop, with fused
 * multiply-add or without, gives the same numbers.
 */
#ifndef XPU_SIM_FUNC_MATMUL_H
#define XPU_SIM_FUNC_MATMUL_H

#include <stddef.h>
#include <stdint.h>

enum {
    XPU_MATMUL_DEPTH = 256,  /* K of one block; also the distance of two rows of x */
    XPU_MATMUL_PIXELS = 24,  /* rows of x in one block */
    XPU_MATMUL_ROWS = 3,     /* rows of x go in groups of so many */
    XPU_MATMUL_COLUMNS = 32, /* columns of w are padded to a multiple of this */
};

typedef struct xpu_matmul {
    const char *name;
    /* out[i] = src[i] - zero, from int8 or uint8. */
    void (*widen8)(const uint8_t *src, size_t n, int is_unsigned, int zero, float *out);
    /* The same without a zero point, from int8 (bytes 1) or int16 (bytes 2, aligned). */
    void (*widen16)(const uint8_t *src, size_t n, unsigned bytes, double *out);
    /* out[pixels][columns] = x[pixels][DEPTH] * w[depth][columns]; pixels a multiple of ROWS, columns of COLUMNS; all
     * pointers aligned to 64 bytes. */
    void (*product8)(const float *x, size_t pixels, const float *w, size_t columns, size_t depth, float *out);
    void (*product16)(const double *x, size_t pixels, const double *w, size_t columns, size_t depth, double *out);
} xpu_matmul;

const xpu_matmul *xpu_matmul_plain(void); /* for any host */
const xpu_matmul *xpu_matmul_best(void);  /* for this host */

#endif
