/*
 * Exact integer matrix products on the host, in blocks whose sums fit into 32 bits: operands are int16, w in pairs of
 * rows, whose products the host adds in one step. An int16 w goes in two parts, 256 * high + low with |low| <= 128 and
 * |high| <= 128.
 */
#ifndef XPU_SIM_FUNC_MATMUL_H
#define XPU_SIM_FUNC_MATMUL_H

#include <stddef.h>
#include <stdint.h>

enum {
    XPU_MATMUL_DEPTH = 256,  /* K of one block; also the distance of two rows of x: 256 * 2^15 * 2^7 = 2^30 */
    XPU_MATMUL_PIXELS = 24,  /* rows of x in one block */
    XPU_MATMUL_ROWS = 4,     /* rows of x go in groups of so many */
    XPU_MATMUL_COLUMNS = 32, /* columns of w are padded to a multiple of this */
};

typedef struct xpu_matmul {
    const char *name;
    /* out[i] = src[i] - zero, from int8 or uint8. */
    void (*widen)(const uint8_t *src, size_t n, int is_unsigned, int zero, int16_t *out);
    /* pairs[2 * i], pairs[2 * i + 1] = first[i], second[i]. */
    void (*pair)(const int16_t *first, const int16_t *second, size_t n, int16_t *pairs);
    /* The same of the two parts of each element. */
    void (*split)(const int16_t *first, const int16_t *second, size_t n, int16_t *low, int16_t *high);
    /* out[pixels][columns] = x[pixels][DEPTH] * w[depth / 2][columns][2]; pixels a multiple of ROWS, columns of
     * COLUMNS, depth of 2; |x * w| <= 2^22. */
    void (*product)(const int16_t *x, size_t pixels, const int16_t *w, size_t columns, size_t depth, int32_t *out);
    /* acc[i] += sum[i], kept in 32 bits; acc[i] += 256 * high[i] + low[i] (high NULL: 0), in 64 bits. */
    void (*add)(const int32_t *sum, size_t n, int64_t *acc);
    void (*add_wide)(const int32_t *low, const int32_t *high, size_t n, int64_t *acc);
} xpu_matmul;

const xpu_matmul *xpu_matmul_best(void); /* for this host */
/* All that this host has, the best one last; NULL behind them. */
const xpu_matmul *const *xpu_matmul_all(void);

#endif
