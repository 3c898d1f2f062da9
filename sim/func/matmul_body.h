/*
 * The functions of one xpu_matmul, included once per instruction set by matmul.c with these macros:
 *     NAME(x)                a name for this instruction set
 *     TARGET                 function attribute
 *     VECTOR, LANES          int32 elements
 *     ACROSS                 vectors of columns at a time, so that sums stay in registers
 *     SPREAD(x)              an int32 in each element
 *     MADD(acc, x, w)        acc + the sum of both products of int16 in each element
 */
TARGET static void NAME(widen)(const uint8_t *src, size_t n, int is_unsigned, int zero, int16_t *out) {
    if (is_unsigned)
        for (size_t i = 0; i < n; i++) out[i] = (int16_t)(src[i] - zero);
    else
        for (size_t i = 0; i < n; i++) out[i] = (int16_t)((int8_t)src[i] - zero);
}

TARGET static void NAME(pair)(const int16_t *first, const int16_t *second, size_t n, int16_t *pairs) {
    for (size_t i = 0; i < n; i++) {
        pairs[2 * i] = first[i];
        pairs[2 * i + 1] = second[i];
    }
}

TARGET static void NAME(split)(const int16_t *first, const int16_t *second, size_t n, int16_t *low, int16_t *high) {
    for (size_t i = 0; i < n; i++) {
        int16_t a = (int8_t)first[i], b = (int8_t)second[i];
        low[2 * i] = a;
        low[2 * i + 1] = b;
        high[2 * i] = (int16_t)((first[i] - a) >> 8);
        high[2 * i + 1] = (int16_t)((second[i] - b) >> 8);
    }
}

TARGET static void NAME(product)(const int16_t *x, size_t pixels, const int16_t *w, size_t columns, size_t depth,
                                 int32_t *out) {
    for (size_t p = 0; p < pixels; p += XPU_MATMUL_ROWS) {
        for (size_t n = 0; n < columns; n += ACROSS * LANES) {
            const int16_t *x0 = x + p * XPU_MATMUL_DEPTH, *row = w + 2 * n;
            VECTOR sum[XPU_MATMUL_ROWS][ACROSS] = {{{0}}};
            for (size_t k = 0; k < depth; k += 2, row += 2 * columns) {
                const VECTOR *wk = (const VECTOR *)(const void *)row;
                for (size_t i = 0; i < XPU_MATMUL_ROWS; i++) {
                    int32_t both;
                    __builtin_memcpy(&both, x0 + i * XPU_MATMUL_DEPTH + k, sizeof both);
                    VECTOR xk = SPREAD(both);
                    for (size_t j = 0; j < ACROSS; j++) sum[i][j] = MADD(sum[i][j], xk, wk[j]);
                }
            }
            for (size_t i = 0; i < XPU_MATMUL_ROWS; i++)
                __builtin_memcpy(out + (p + i) * columns + n, sum[i], sizeof sum[i]);
        }
    }
}

TARGET static void NAME(add)(const int32_t *sum, size_t n, int64_t *acc) {
    for (size_t i = 0; i < n; i++) acc[i] = (int32_t)((uint32_t)acc[i] + (uint32_t)sum[i]);
}

TARGET static void NAME(add_wide)(const int32_t *low, const int32_t *high, size_t n, int64_t *acc) {
    if (high)
        for (size_t i = 0; i < n; i++)
            acc[i] = (int64_t)((uint64_t)acc[i] + (uint64_t)low[i] + ((uint64_t)high[i] << 8));
    else
        for (size_t i = 0; i < n; i++) acc[i] = (int64_t)((uint64_t)acc[i] + (uint64_t)low[i]);
}

static const xpu_matmul NAME(functions) = {NAME(text),    NAME(widen), NAME(pair),    NAME(split),
                                           NAME(product), NAME(add),   NAME(add_wide)};

#undef NAME
#undef TARGET
#undef VECTOR
#undef LANES
#undef ACROSS
#undef SPREAD
#undef MADD
