/* Arithmetic of operators that choose and place elements: the same bits on host and device. */
#ifndef XPU_CORE_ARITH_PICK_H
#define XPU_CORE_ARITH_PICK_H

#include "core/arith.h"

/* How the bits of an element are a number. */
typedef enum { XA_UNSIGNED, XA_SIGNED, XA_FLOATING } xa_number;

/* What becomes of an element that an update meets. */
typedef enum { XA_PLACE, XA_PLACE_SUM, XA_PLACE_PRODUCT, XA_PLACE_MAX, XA_PLACE_MIN, XA_PLACINGS } xa_placing;

/* Of 8-byte integers; sums and products wrap. */
XA_INLINE uint64_t xa_place_wide(xa_placing kind, xa_number number, uint64_t old, uint64_t update) {
    int less = number == XA_SIGNED ? (int64_t)old < (int64_t)update : old < update;
    if (kind == XA_PLACE_SUM) return old + update;
    if (kind == XA_PLACE_PRODUCT) return old * update;
    if (kind == XA_PLACE) return update;
    return less == (kind == XA_PLACE_MAX) ? update : old;
}

/* Of float32 and 4-byte integers. */
XA_INLINE uint32_t xa_place_word(xa_placing kind, xa_number number, uint32_t old, uint32_t update) {
    float a = xa_float(old), b = xa_float(update);
    int less = number == XA_SIGNED ? (int32_t)old < (int32_t)update : old < update;
    if (number == XA_FLOATING) {
        if (kind == XA_PLACE_SUM) return xa_bits(xa_add(a, b));
        if (kind == XA_PLACE_PRODUCT) return xa_bits(xa_mul(a, b));
        if (kind == XA_PLACE_MAX) return xa_bits(xa_max(a, b));
        if (kind == XA_PLACE_MIN) return xa_bits(xa_min(a, b));
    }
    if (kind == XA_PLACE_SUM) return old + update;
    if (kind == XA_PLACE_PRODUCT) return old * update;
    if (kind == XA_PLACE) return update;
    return less == (kind == XA_PLACE_MAX) ? update : old;
}

#endif
