#include "base/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
} dtypes[XPU_DTYPE_COUNT] = {[XPU_DTYPE_NONE] = {"none", 0},
#define X(name, text, bytes, npy) [XPU_##name] = {text, bytes},
                             XPU_DTYPES(X)
#undef X
};

const char *xpu_dtype_name(xpu_dtype dtype) {
    return dtypes[dtype].name;
}

int xpu_is_byte(xpu_dtype dtype) {
    return dtype == XPU_I8 || dtype == XPU_U8;
}

size_t xpu_dtype_bytes(xpu_dtype dtype) {
    return dtypes[dtype].bytes;
}

/* The bits of a float with so many bits of fraction and this bias, rounded once, ties to even. Returns whether the
 * format has the value. */
static int narrow_float(float value, int fraction_bits, int bias, uint64_t *bits) {
    int inf = 2 * bias + 1, exponent;
    uint64_t sign = signbit(value) ? (uint64_t)0x8000 : 0;
    *bits = sign | (uint64_t)inf << fraction_bits;
    if (isnan(value)) *bits = (uint64_t)inf << fraction_bits | (uint64_t)1 << (fraction_bits - 1);
    if (isnan(value) || isinf(value)) return 1;
    frexpf(value, &exponent);
    exponent =
        value == 0 || exponent < 2 - bias ? 1 - bias : exponent - 1; /* of the leading bit, subnormals' the least */
    double steps = ldexp(fabs((double)value), fraction_bits - exponent);
    if (exponent > bias) return 0;
    /* The leading bit of a normal number counts one more in the exponent, as does a carry of the rounding. */
    *bits = sign | (((uint64_t)(exponent + bias - 1) << fraction_bits) + (uint64_t)rint(steps));
    return steps == floor(steps);
}

static void store_bytes(unsigned char *element, uint64_t bits, size_t count) {
    for (size_t i = 0; i < count; i++) element[i] = (unsigned char)(bits >> 8 * i);
}

int xpu_dtype_element(xpu_dtype dtype, float value, unsigned char element[XPU_ELEMENT_BYTES]) {
    memset(element, 0, XPU_ELEMENT_BYTES);
    double wide = (double)value, limit = ldexp(1, (int)(8 * dtypes[dtype].bytes)), least = 0;
    switch (dtype) {
    case XPU_F32: memcpy(element, &value, sizeof value); return 1;
    case XPU_F64: memcpy(element, &wide, sizeof wide); return 1;
    case XPU_BOOL: limit = 2; break;
    case XPU_I8:
    case XPU_I16:
    case XPU_I32:
    case XPU_I64: least = -(limit /= 2); break;
    case XPU_U8:
    case XPU_U16:
    case XPU_U32:
    case XPU_U64: break;
    case XPU_F16:
    case XPU_BF16: {
        uint64_t narrow;
        int has = dtype == XPU_F16 ? narrow_float(value, 10, 15, &narrow) : narrow_float(value, 7, 127, &narrow);
        store_bytes(element, narrow, 2);
        return has;
    }
    default: return 0;
    }
    if (!(wide >= least && wide < limit) || wide != floor(wide)) return 0;
    uint64_t bits = wide < 0 ? (uint64_t)(int64_t)wide : (uint64_t)wide;
    store_bytes(element, bits, dtypes[dtype].bytes);
    return 1;
}

int64_t xpu_tensor_count(const xpu_tensor *tensor) {
    int64_t count = 1;
    for (int i = 0; i < tensor->rank; i++) count *= tensor->dims[i];
    return count;
}

size_t xpu_tensor_bytes(const xpu_tensor *tensor) {
    return (size_t)xpu_tensor_count(tensor) * xpu_dtype_bytes(tensor->dtype);
}

int xpu_same_shape(const xpu_tensor *a, const xpu_tensor *b) {
    if (a->dtype != b->dtype || a->rank != b->rank) return 0;
    for (int i = 0; i < a->rank; i++) {
        if (a->dims[i] != b->dims[i]) return 0;
    }
    return 1;
}

const char *xpu_dims_text(int rank, const int64_t *dims, char *buffer, size_t size) {
    size_t length = 0;
    for (int i = 0; i < rank && length < size; i++) {
        length += (size_t)snprintf(buffer + length, size - length, "%c%" PRId64, i ? ',' : '[', dims[i]);
    }
    if (length < size) snprintf(buffer + length, size - length, rank > 0 ? "]" : "[]");
    return buffer;
}

/* ---- moving elements ---- */

/* Copies a line of `count` elements whose source elements are `step` bytes apart. */
static void gather(const char *in, size_t step, char *out, size_t element, size_t count) {
    if (step == element) {
        memcpy(out, in, count * element);
    } else if (element == 4) {
        for (size_t i = 0; i < count; i++) memcpy(out + i * 4, in + i * step, 4);
    } else {
        for (size_t i = 0; i < count; i++) memcpy(out + i * element, in + i * step, element);
    }
}

void xpu_permute(const void *in, void *out, size_t element, int rank, const int64_t *in_dims, const int64_t *perm) {
    size_t step[XPU_MAX_RANK], size[XPU_MAX_RANK], index[XPU_MAX_RANK] = {0}, lines = 1;
    if (rank <= 0) {
        memcpy(out, in, element);
        return;
    }
    for (int i = 0; i < rank; i++) {
        size[i] = (size_t)in_dims[perm[i]];
        step[i] = element * (size_t)xpu_product(in_dims, (int)perm[i] + 1, rank);
        if (i + 1 < rank) lines *= size[i];
    }
    const char *from = in;
    char *to = out;
    size_t length = size[rank - 1];
    if (length == 0) return;
    for (size_t line = 0; line < lines; line++) {
        gather(from, step[rank - 1], to, element, length);
        to += length * element;
        for (int i = rank - 2; i >= 0; i--) {
            from += step[i];
            if (++index[i] < size[i]) break;
            from -= step[i] * size[i];
            index[i] = 0;
        }
    }
}
