/* Loops over rows of values: what post-processor and DMA engines compute, once per host instruction set. */
#ifndef XPU_SIM_FUNC_ROWS_H
#define XPU_SIM_FUNC_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* What a requantisation or an addition of bytes is limited to. */
typedef struct {
    int32_t zero, lo, hi;
} xpu_row_limits;

/* Rows of n elements; a result may be an operand, and overlaps it in no other way. */
typedef struct xpu_rows {
    /* Accumulators: of 32 bits, or of 48 bits, wrapped. */
    void (*from_int32)(const int64_t *acc, size_t n, float *v);
    void (*from_int48)(const int64_t *acc, size_t n, float *v);
    /* Float mode, in place; scale: y = v * scale, then + bias unless that is NULL. */
    void (*scale)(const float *v, const float *scale, const float *bias, size_t n, float *y);
    void (*add)(const float *branch, size_t n, float *y);
    void (*multiply)(const float *branch, size_t n, float *y);
    void (*clip)(float lo, float hi, size_t n, float *y);
    void (*leaky)(float slope, size_t n, float *y);
    void (*hard_swish)(float factor, float addend, size_t n, float *y); /* xa_scaled_swish */
    void (*canonical)(size_t n, float *y);
    float (*absmax)(const float *y, size_t n);
    /* xa_absmax_quantize, and x * scale of integers. */
    void (*to_int16)(const float *y, size_t n, float inverse, int16_t *q);
    void (*to_int8)(const float *y, size_t n, float inverse, int8_t *q);
    void (*quantise)(const float *y, size_t n, float scale, xpu_row_limits limits, uint8_t *q); /* xa_quantize */
    void (*of_int32)(const int32_t *q, size_t n, float scale, float *y);
    void (*of_int16)(const int16_t *q, size_t n, float scale, float *y);
    void (*of_int8)(const int8_t *q, size_t n, float scale, float *y);
    /* Quantised mode: xa_requantize, xa_qadd. */
    void (*requantise)(const int32_t *acc, const float *scale, xpu_row_limits limits, size_t n, int32_t *y);
    void (*quantised_add)(const int32_t *a, const int32_t *b, const float *factors, xpu_row_limits limits, size_t n,
                          int32_t *y); /* factors: ra, rb, f */
    void (*to_bytes)(const int32_t *q, size_t n, uint8_t *bytes);
} xpu_rows;

extern const xpu_rows xpu_rows_any, xpu_rows_avx2;
const xpu_rows *xpu_rows_best(void); /* for this host */

#endif
