/*
 * Loops of the vector float32 instructions. Included once per host instruction set by a file that defines KERNEL_TABLE,
 * lanes (a vector of LANES uint32_t), SPREAD(bits), FUSE(p, q, r) (fused p * q + r of the floats in them), HAS_NAN(v).
 * In expressions: x, y, z are the elements of vs2, of vs1 (or the scalar) and of vd as floats, i, j, k their bits.
 * Operands of inactive elements have been made harmless: every loop computes them too. `mode` is the rounding mode; the
 * host computes in it (XPU_RMM does not come here, except for conversions to integer).
 */
#include <emmintrin.h>
#include <math.h>

#include "sim/func/core_parts.h"

/* Declares elements and bits for the body of a loop. */
#define OPERANDS                                                                                                       \
    float x = xpu_float(i), y = xpu_float(j), z = xpu_float(k);                                                        \
    (void)i, (void)j, (void)k, (void)x, (void)y, (void)z

/* d[e] = ... for all elements; LOOP: with this j. */
#define LOOP(second, ...)                                                                                              \
    XPU_INDEPENDENT                                                                                                    \
    for (size_t e = 0; e < xpu_blocks(n); e++) {                                                                       \
        uint32_t i = a[e], j = second, k = d[e];                                                                       \
        OPERANDS;                                                                                                      \
        __VA_ARGS__;                                                                                                   \
    }
#define KERNEL(name, TD, ...)                                                                                          \
    static uint32_t name(void *vd, const void *va, const void *vb, uint32_t n, uint32_t options) {                     \
        TD *d = vd;                                                                                                    \
        const xpu_u32 *a = va, *b = vb;                                                                                \
        uint32_t flags = 0, mode = options & XPU_MODE;                                                                 \
        (void)mode;                                                                                                    \
        if (options & XPU_SCALAR) {                                                                                    \
            const uint32_t scalar = *b;                                                                                \
            LOOP(scalar, __VA_ARGS__)                                                                                  \
        } else {                                                                                                       \
            LOOP(b[e], __VA_ARGS__)                                                                                    \
        }                                                                                                              \
        return flags;                                                                                                  \
    }

#define ARITHMETIC(name, ...) KERNEL(name, xpu_u32, d[e] = xpu_canonical(__VA_ARGS__))

/* p * q + r, all bits: i, j, k are vectors of LANES elements, PARTS of them at a time. */
enum { PARTS = 16 / LANES };
#define PART(part)                                                                                                     \
    lanes i, j = scalar, k;                                                                                            \
    memcpy(&i, a + e + (part) * LANES, sizeof i);                                                                      \
    memcpy(&k, d + e + (part) * LANES, sizeof k);                                                                      \
    if (!(options & XPU_SCALAR)) memcpy(&j, b + e + (part) * LANES, sizeof j)
#define FMA(name, p, q, r)                                                                                             \
    static uint32_t name(void *vd, const void *va, const void *vb, uint32_t n, uint32_t options) {                     \
        xpu_u32 *d = vd;                                                                                               \
        const xpu_u32 *a = va, *b = vb;                                                                                \
        const lanes scalar = SPREAD(*b);                                                                               \
        uint32_t flags = 0;                                                                                            \
        for (size_t e = 0; e < xpu_blocks(n); e += 16) {                                                               \
            lanes result[PARTS];                                                                                       \
            int nan = 0;                                                                                               \
            for (unsigned part = 0; part < PARTS; part++) {                                                            \
                PART(part);                                                                                            \
                result[part] = FUSE(p, q, r);                                                                          \
                nan |= HAS_NAN(result[part]);                                                                          \
            }                                                                                                          \
            for (unsigned part = 0; part < PARTS && __builtin_expect(nan, 0); part++) {                                \
                PART(part);                                                                                            \
                lanes left = p, right = q;                                                                             \
                (void)i, (void)j, (void)k;                                                                             \
                for (unsigned l = 0; l < LANES; l++) {                                                                 \
                    flags |= xpu_fp_product_invalid(left[l], right[l]);                                                \
                    if (xpu_is_nan(result[part][l])) result[part][l] = XPU_NAN_BITS;                                   \
                }                                                                                                      \
            }                                                                                                          \
            memcpy(d + e, result, sizeof result);                                                                      \
        }                                                                                                              \
        return flags;                                                                                                  \
    }

#define MOVE(name, ...) KERNEL(name, xpu_u32, d[e] = (uint32_t)(__VA_ARGS__))

#define COMPARE(name, invalid, ...)                                                                                    \
    KERNEL(name, xpu_u8, flags |= (invalid(i) | invalid(j)) ? XPU_FLAG_NV : 0; d[e] = (uint8_t)(__VA_ARGS__))

#define SIGN 0x80000000u

/* Order of floats as integers: -0 below +0. */
static inline int32_t ordered(uint32_t bits) {
    return (int32_t)(bits ^ (uint32_t)((int32_t)bits >> 31) >> 1);
}

/* `chosen` of i and j unless one of them is NaN. */
static inline uint32_t unless_nan(uint32_t i, uint32_t j, uint32_t chosen) {
    uint32_t other = xpu_is_nan(j) ? i : chosen;
    uint32_t result = xpu_is_nan(i) ? j : other;
    return xpu_is_nan(i) & xpu_is_nan(j) ? (uint32_t)XPU_NAN_BITS : result;
}
#define EXTREME(name, operator)                                                                                        \
    KERNEL(name, xpu_u32, flags |= (xpu_is_signalling(i) | xpu_is_signalling(j)) ? XPU_FLAG_NV : 0;                    \
           d[e] = unless_nan(i, j, ordered(i) operator ordered(j) ? i : j))

ARITHMETIC(vfadd, x + y)
ARITHMETIC(vfsub, x - y)
ARITHMETIC(vfrsub, y - x)
ARITHMETIC(vfmul, x *y)
ARITHMETIC(vfdiv, x / y)
ARITHMETIC(vfrdiv, y / x)
ARITHMETIC(vfcvt_f_x, (float)(int32_t)i)
ARITHMETIC(vfcvt_f_xu, (float)(double)i)
FMA(vfmadd, k, j, i)
FMA(vfnmadd, k ^ SIGN, j, i ^ SIGN)
FMA(vfmsub, k, j, i ^ SIGN)
FMA(vfnmsub, k ^ SIGN, j, i)
FMA(vfmacc, i, j, k)
FMA(vfnmacc, i ^ SIGN, j, k ^ SIGN)
FMA(vfmsac, i, j, k ^ SIGN)
FMA(vfnmsac, i ^ SIGN, j, k)
MOVE(vfsgnj, (i & ~SIGN) | (j & SIGN))
MOVE(vfsgnjn, (i & ~SIGN) | (~j & SIGN))
MOVE(vfsgnjx, i ^ (j & SIGN))
MOVE(vfmv, j)
MOVE(vfclass, xpu_fp_classify(i))
MOVE(vfrec7, xpu_fp_reciprocal7(i, mode, &flags))
MOVE(vfrsqrt7, xpu_fp_rsqrt7(i, &flags))
EXTREME(vfmin, <)
EXTREME(vfmax, >)
COMPARE(vmfeq, xpu_is_signalling, x == y)
COMPARE(vmfne, xpu_is_signalling, x != y)
COMPARE(vmflt, xpu_is_nan, x < y)
COMPARE(vmfle, xpu_is_nan, x <= y)
COMPARE(vmfgt, xpu_is_nan, x > y)
COMPARE(vmfge, xpu_is_nan, x >= y)

#define FROM_INT16(name, type)                                                                                         \
    static uint32_t name(void *vd, const void *va, const void *vb, uint32_t n, uint32_t options) {                     \
        xpu_u32 *d = vd;                                                                                               \
        const type *a = va;                                                                                            \
        (void)vb, (void)options;                                                                                       \
        XPU_INDEPENDENT                                                                                                \
        for (size_t e = 0; e < xpu_blocks(n); e++) d[e] = xpu_bits((float)a[e]);                                       \
        return 0;                                                                                                      \
    }
FROM_INT16(vfwcvt_f_x, xpu_s16)
FROM_INT16(vfwcvt_f_xu, xpu_u16)

static uint32_t vfsqrt(void *vd, const void *va, const void *vb, uint32_t n, uint32_t options) {
    (void)vb, (void)options;
    for (uint32_t e = 0; e < n; e += 4) {
        _Alignas(16) float results[4];
        _mm_store_ps(results, _mm_sqrt_ps(_mm_loadu_ps((const float *)va + e)));
        for (unsigned i = 0; i < 4; i++) xpu_set_element(vd, 2, e + i, xpu_canonical(results[i]));
    }
    return 0;
}

/* To integers of `bits` (16, 32). The host rounds where every element is surely in range, as most are. */
static uint32_t to_int(uint8_t *d, const xpu_u32 *a, uint32_t n, uint32_t mode, unsigned bits, int is_signed) {
    uint32_t limit = bits == 32  ? 0x4f000000
                     : is_signed ? 0x46fffe00
                                 : 0x477fff00,
             flags = 0, outside = mode == XPU_RMM;
    for (uint32_t e = 0; e < n; e++) outside |= (is_signed ? a[e] & ~SIGN : a[e]) >= limit;
    if (outside) {
        for (uint32_t e = 0; e < n; e++)
            xpu_set_element(d, bits == 32 ? 2 : 1, e, xpu_fp_to_int(a[e], bits, is_signed, mode, &flags));
        return flags;
    }
    for (uint32_t e = 0; e < n; e += 4) {
        __m128 from = _mm_loadu_ps((const float *)(a + e));
        __m128i to = mode == XPU_RTZ ? _mm_cvttps_epi32(from) : _mm_cvtps_epi32(from);
        if (bits == 32) {
            _mm_storeu_si128((__m128i *)(void *)(d + 4 * e), to);
        } else {
            uint32_t results[4];
            _mm_storeu_si128((__m128i *)(void *)results, to);
            for (unsigned i = 0; i < 4; i++) xpu_set_element(d, 1, e + i, results[i]);
        }
    }
    return flags;
}
#define TO_INT(name, bits, is_signed, rounding_mode)                                                                   \
    static uint32_t name(void *vd, const void *va, const void *vb, uint32_t n, uint32_t options) {                     \
        (void)vb, (void)options;                                                                                       \
        return to_int(vd, va, n, rounding_mode, bits, is_signed);                                                      \
    }
TO_INT(vfcvt_xu_f, 32, 0, options &XPU_MODE)
TO_INT(vfcvt_x_f, 32, 1, options &XPU_MODE)
TO_INT(vfcvt_rtz_xu_f, 32, 0, XPU_RTZ)
TO_INT(vfcvt_rtz_x_f, 32, 1, XPU_RTZ)
TO_INT(vfncvt_xu_f, 16, 0, options &XPU_MODE)
TO_INT(vfncvt_x_f, 16, 1, options &XPU_MODE)
TO_INT(vfncvt_rtz_xu_f, 16, 0, XPU_RTZ)
TO_INT(vfncvt_rtz_x_f, 16, 1, XPU_RTZ)

#define AT16(name)                                                                                                     \
    {                                                                                                                  \
        {                                                                                                              \
            NULL, name, NULL                                                                                           \
        }                                                                                                              \
    }
#define AT32(name)                                                                                                     \
    {                                                                                                                  \
        {                                                                                                              \
            NULL, NULL, name                                                                                           \
        }                                                                                                              \
    }
#define VF(id, name)  [XPU_INSN_##id##_VV] = AT32(name), [XPU_INSN_##id##_VF] = AT32(name)
#define F(id, name)   [XPU_INSN_##id##_VF] = AT32(name)
#define ONE(id, name) [XPU_INSN_##id] = AT32(name)

const xpu_kernels KERNEL_TABLE[XPU_INSN_COUNT] = {
    VF(VFADD, vfadd),
    VF(VFSUB, vfsub),
    F(VFRSUB, vfrsub),
    VF(VFMUL, vfmul),
    VF(VFDIV, vfdiv),
    F(VFRDIV, vfrdiv),
    VF(VFMADD, vfmadd),
    VF(VFNMADD, vfnmadd),
    VF(VFMSUB, vfmsub),
    VF(VFNMSUB, vfnmsub),
    VF(VFMACC, vfmacc),
    VF(VFNMACC, vfnmacc),
    VF(VFMSAC, vfmsac),
    VF(VFNMSAC, vfnmsac),
    VF(VFMIN, vfmin),
    VF(VFMAX, vfmax),
    VF(VFSGNJ, vfsgnj),
    VF(VFSGNJN, vfsgnjn),
    VF(VFSGNJX, vfsgnjx),
    ONE(VFSQRT_V, vfsqrt),
    ONE(VFRSQRT7_V, vfrsqrt7),
    ONE(VFREC7_V, vfrec7),
    ONE(VFCLASS_V, vfclass),
    ONE(VFMV_V_F, vfmv),
    VF(VMFEQ, vmfeq),
    VF(VMFLE, vmfle),
    VF(VMFLT, vmflt),
    VF(VMFNE, vmfne),
    F(VMFGT, vmfgt),
    F(VMFGE, vmfge),
    ONE(VFCVT_XU_F_V, vfcvt_xu_f),
    ONE(VFCVT_X_F_V, vfcvt_x_f),
    ONE(VFCVT_F_XU_V, vfcvt_f_xu),
    ONE(VFCVT_F_X_V, vfcvt_f_x),
    ONE(VFCVT_RTZ_XU_F_V, vfcvt_rtz_xu_f),
    ONE(VFCVT_RTZ_X_F_V, vfcvt_rtz_x_f),
    [XPU_INSN_VFWCVT_F_XU_V] = AT16(vfwcvt_f_xu),
    [XPU_INSN_VFWCVT_F_X_V] = AT16(vfwcvt_f_x),
    [XPU_INSN_VFNCVT_XU_F_W] = AT16(vfncvt_xu_f),
    [XPU_INSN_VFNCVT_X_F_W] = AT16(vfncvt_x_f),
    [XPU_INSN_VFNCVT_RTZ_XU_F_W] = AT16(vfncvt_rtz_xu_f),
    [XPU_INSN_VFNCVT_RTZ_X_F_W] = AT16(vfncvt_rtz_x_f),
};
