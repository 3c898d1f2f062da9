/*
 * The functions of one xpu_matmul, included once per instruction set by matmul.c with these macros:
 *     NAME(x)                                  a name for this instruction set
 *     TARGET                                   function attribute
 *     VECTOR8, LANES8, ADD8(acc, x, w), SPREAD8(x)      a float32 vector, its elements, acc + x * w, x in each element
 *     VECTOR16, LANES16, ADD16, SPREAD16       the same in float64
 */
TARGET static void NAME(widen8)(const uint8_t *src, size_t n, int is_unsigned, int zero, float *out) {
    if (is_unsigned)
        for (size_t i = 0; i < n; i++) out[i] = (float)((int)src[i] - zero);
    else
        for (size_t i = 0; i < n; i++) out[i] = (float)((int)(int8_t)src[i] - zero);
}

TARGET static void NAME(widen16)(const uint8_t *src, size_t n, unsigned bytes, double *out) {
    if (bytes == 1) {
        for (size_t i = 0; i < n; i++) out[i] = (double)(int8_t)src[i];
        return;
    }
    for (size_t i = 0; i < n; i++) {
        int16_t value;
        __builtin_memcpy(&value, src + 2 * i, 2);
        out[i] = (double)value;
    }
}

TARGET static void NAME(product8)(const float *x, size_t pixels, const float *w, size_t columns, size_t depth,
                                  float *out) {
    for (size_t p = 0; p < pixels; p += XPU_MATMUL_ROWS) {
        for (size_t n = 0; n < columns; n += 4 * LANES8) {
            const float *x0 = x + p * XPU_MATMUL_DEPTH, *row = w + n;
            VECTOR8 sum[XPU_MATMUL_ROWS][4] = {{{0}}};
            for (size_t k = 0; k < depth; k++, row += columns) {
                const VECTOR8 *wk = (const VECTOR8 *)(const void *)row;
                for (size_t i = 0; i < XPU_MATMUL_ROWS; i++) {
                    VECTOR8 xk = SPREAD8(x0[i * XPU_MATMUL_DEPTH + k]);
                    for (size_t j = 0; j < 4; j++) sum[i][j] = ADD8(sum[i][j], xk, wk[j]);
                }
            }
            for (size_t i = 0; i < XPU_MATMUL_ROWS; i++)
                __builtin_memcpy(out + (p + i) * columns + n, sum[i], sizeof sum[i]);
        }
    }
}

TARGET static void NAME(product16)(const double *x, size_t pixels, const double *w, size_t columns, size_t depth,
                                   double *out) {
    for (size_t p = 0; p < pixels; p += XPU_MATMUL_ROWS) {
        for (size_t n = 0; n < columns; n += 4 * LANES16) {
            const double *x0 = x + p * XPU_MATMUL_DEPTH, *row = w + n;
            VECTOR16 sum[XPU_MATMUL_ROWS][4] = {{{0}}};
            for (size_t k = 0; k < depth; k++, row += columns) {
                const VECTOR16 *wk = (const VECTOR16 *)(const void *)row;
                for (size_t i = 0; i < XPU_MATMUL_ROWS; i++) {
                    VECTOR16 xk = SPREAD16(x0[i * XPU_MATMUL_DEPTH + k]);
                    for (size_t j = 0; j < 4; j++) sum[i][j] = ADD16(sum[i][j], xk, wk[j]);
                }
            }
            for (size_t i = 0; i < XPU_MATMUL_ROWS; i++)
                __builtin_memcpy(out + (p + i) * columns + n, sum[i], sizeof sum[i]);
        }
    }
}

static const xpu_matmul NAME(functions) = {NAME(text), NAME(widen8), NAME(widen16), NAME(product8), NAME(product16)};
