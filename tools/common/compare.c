/* Tensors element by element. */
#include <math.h>
#include <string.h>

#include "core/arith.h"
#include "tools/common/dump.h"

static double half(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

static double brain(uint16_t bits) {
    uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

double xpu_element(const xpu_tensor *tensor, int64_t position) {
    const void *data = tensor->data;
    switch (tensor->dtype) {
    case XPU_F32: return (double)((const float *)data)[position];
    case XPU_F64: return ((const double *)data)[position];
    case XPU_F16: return half(((const uint16_t *)data)[position]);
    case XPU_BF16: return brain(((const uint16_t *)data)[position]);
    case XPU_I8: return ((const int8_t *)data)[position];
    case XPU_U8:
    case XPU_BOOL: return ((const uint8_t *)data)[position];
    case XPU_I16: return ((const int16_t *)data)[position];
    case XPU_U16: return ((const uint16_t *)data)[position];
    case XPU_I32: return ((const int32_t *)data)[position];
    case XPU_U32: return ((const uint32_t *)data)[position];
    case XPU_I64: return (double)((const int64_t *)data)[position];
    case XPU_U64: return (double)((const uint64_t *)data)[position];
    case XPU_DTYPE_NONE:
    case XPU_DTYPE_COUNT: break;
    }
    return (double)NAN;
}

static int same_bits(const xpu_tensor *a, const xpu_tensor *b, int64_t i) {
    if (a->dtype == XPU_F32) return xa_same(((const float *)a->data)[i], ((const float *)b->data)[i]);
    size_t bytes = xpu_dtype_bytes(a->dtype), at = (size_t)i * bytes;
    return memcmp((const char *)a->data + at, (const char *)b->data + at, bytes) == 0;
}

static double largest(const xpu_tensor *tensor) {
    double largest_so_far = 0;
    for (int64_t i = 0; i < xpu_tensor_count(tensor); i++) {
        double x = fabs(xpu_element(tensor, i));
        if (isfinite(x) && x > largest_so_far) largest_so_far = x;
    }
    return largest_so_far;
}

static int same_shape(const xpu_tensor *a, const xpu_tensor *b) {
    if (a->dtype != b->dtype || a->rank != b->rank) return 0;
    for (int i = 0; i < a->rank; i++) {
        if (a->dims[i] != b->dims[i]) return 0;
    }
    return 1;
}

xpu_comparison xpu_compare(const xpu_tensor *a, const xpu_tensor *b, const xpu_tolerance *tolerance) {
    xpu_comparison c = {.first = -1};
    int exact = tolerance->relative == 0 && tolerance->of_max == 0;
    c.comparable = same_shape(a, b);
    if (!c.comparable) return c;
    c.count = xpu_tensor_count(a);
    double slack = exact ? 0 : tolerance->of_max * largest(b);
    for (int64_t i = 0; i < c.count; i++) {
        double x = xpu_element(a, i), y = xpu_element(b, i), difference = fabs(x - y);
        if (isfinite(x) && isfinite(y)) {
            c.signal += y * y;
            c.noise += difference * difference;
        }
        if (same_bits(a, b, i)) continue;
        if (difference > c.max_difference) c.max_difference = difference;
        int both_nan = isnan(x) && isnan(y);
        int near = isfinite(difference) && difference <= tolerance->relative * fabs(y) + slack;
        if (!exact && (both_nan || near)) continue;
        c.differing++;
        if (c.first >= 0) continue;
        c.first = i;
        c.first_a = x;
        c.first_b = y;
    }
    return c;
}

const char *xpu_index_text(xpu_arena *arena, const xpu_tensor *tensor, int64_t position) {
    int64_t index[XPU_MAX_RANK];
    for (int i = tensor->rank - 1; i >= 0; i--) {
        index[i] = position % tensor->dims[i];
        position /= tensor->dims[i];
    }
    char text[192];
    return xpu_strdup(arena, xpu_dims_text(tensor->rank, index, text, sizeof text));
}
