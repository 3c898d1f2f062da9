/* The functions of one xpu_rows, included once per instruction set by a file that defines ROWS, the name of the table.
 */
#include "core/arith.h"

static void from_int32(const int64_t *acc, size_t n, float *v) {
    for (size_t i = 0; i < n; i++) v[i] = (float)(int32_t)acc[i];
}

static void from_int48(const int64_t *acc, size_t n, float *v) {
    for (size_t i = 0; i < n; i++) v[i] = xa_acc48_to_float(xa_acc48_wrap(acc[i]));
}

static void scale_row(const float *v, const float *scale, const float *bias, size_t n, float *y) {
    if (bias)
        for (size_t i = 0; i < n; i++) y[i] = xa_mul(v[i], scale[i]) + bias[i];
    else
        for (size_t i = 0; i < n; i++) y[i] = xa_mul(v[i], scale[i]);
}

static void add_row(const float *branch, size_t n, float *y) {
    for (size_t i = 0; i < n; i++) y[i] += branch[i];
}

static void multiply_row(const float *branch, size_t n, float *y) {
    for (size_t i = 0; i < n; i++) y[i] = xa_mul(y[i], branch[i]);
}

static void clip_row(float lo, float hi, size_t n, float *y) {
    for (size_t i = 0; i < n; i++) y[i] = xa_clip(y[i], lo, hi);
}

static void leaky_row(float slope, size_t n, float *y) {
    for (size_t i = 0; i < n; i++) y[i] = xa_leaky_relu(y[i], slope);
}

static void hard_swish_row(float factor, float addend, size_t n, float *y) {
    for (size_t i = 0; i < n; i++) y[i] = xa_scaled_swish(y[i], factor, addend);
}

static void canonical_row(size_t n, float *y) {
    for (size_t i = 0; i < n; i++) y[i] = xa_canonical(y[i]);
}

static float absmax_row(const float *y, size_t n) {
    return xa_absmax_of(y, n);
}

static void to_int16(const float *y, size_t n, float inverse, int16_t *q) {
    for (size_t i = 0; i < n; i++) q[i] = (int16_t)xa_absmax_quantize(y[i], inverse, XA_I16_MAX);
}

static void to_int8(const float *y, size_t n, float inverse, int8_t *q) {
    for (size_t i = 0; i < n; i++) q[i] = (int8_t)xa_absmax_quantize(y[i], inverse, XA_I8_MAX);
}

static void quantise(const float *y, size_t n, float scale, xpu_row_limits limits, uint8_t *q) {
    for (size_t i = 0; i < n; i++) q[i] = (uint8_t)xa_quantize(y[i], scale, limits.zero, limits.lo, limits.hi);
}

static void of_int32(const int32_t *q, size_t n, float scale, float *y) {
    for (size_t i = 0; i < n; i++) y[i] = xa_mul((float)q[i], scale);
}

static void of_int16(const int16_t *q, size_t n, float scale, float *y) {
    for (size_t i = 0; i < n; i++) y[i] = xa_mul((float)q[i], scale);
}

static void of_int8(const int8_t *q, size_t n, float scale, float *y) {
    for (size_t i = 0; i < n; i++) y[i] = xa_mul((float)q[i], scale);
}

static void requantise(const int32_t *acc, const float *scale, xpu_row_limits limits, size_t n, int32_t *y) {
    for (size_t i = 0; i < n; i++) y[i] = xa_requantize(acc[i], scale[i], limits.zero, limits.lo, limits.hi);
}

static void quantised_add(const int32_t *a, const int32_t *b, const float *factors, xpu_row_limits limits, size_t n,
                          int32_t *y) {
    float ra = factors[0], rb = factors[1], f = factors[2];
    for (size_t i = 0; i < n; i++) y[i] = xa_qadd(a[i], b[i], ra, rb, f, limits.lo, limits.hi);
}

static void to_bytes(const int32_t *q, size_t n, uint8_t *bytes) {
    for (size_t i = 0; i < n; i++) bytes[i] = (uint8_t)q[i];
}

const xpu_rows ROWS = {from_int32,     from_int48,    scale_row,  add_row,       multiply_row, clip_row, leaky_row,
                       hard_swish_row, canonical_row, absmax_row, to_int16,      to_int8,      quantise, of_int32,
                       of_int16,       of_int8,       requantise, quantised_add, to_bytes};
