/*
 * Loops of the vector float32 instructions. Included once per host instruction set by a file that defines KERNEL_TABLE.
 * In expressions: x, y, z are the elements of vs2, of vs1 (or the scalar) and of vd as floats, i, j, k their bits.
 * Operands of inactive elements have been made harmless: every loop computes them too. `mode` is the rounding mode; the
 * host computes in it (XPU_RMM does not come here, except for conversions to integer).
 */
#include <emmintrin.h>
#include <math.h>

#include "sim/func/core_parts.h"

/* Declares elements and bits for the body of a loop. */
#define OPERANDS                                                                                                       \
    uint32_t i = a[e], j = b[e], k = d[e];                                                                             \
    float x = xpu_float(i), y = xpu_float(j), z = xpu_float(k);                                                        \
    (void)i, (void)j, (void)k, (void)x, (void)y, (void)z

#define KERNEL_BEGIN(name, TD, TA)                                                                                     \
    static uint32_t name(void *vd, const void *va, const void *vb, uint32_t n, uint32_t mode) {                        \
        TD *d = vd;                                                                                                    \
        const TA *a = va;                                                                                              \
        const xpu_u32 *b = vb;                                                                                         \
        uint32_t flags = 0;                                                                                            \
        (void)b, (void)mode;                                                                                           \
        for (uint32_t block = 0; block < n; block += 16) {                                                             \
            XPU_INDEPENDENT                                                                                            \
            for (uint32_t e = block; e < block + 16; e++) {
#define KERNEL_END                                                                                                     \
    }                                                                                                                  \
    }                                                                                                                  \
    return flags;                                                                                                      \
    }

#define ARITHMETIC(name, ...)                                                                                          \
    KERNEL_BEGIN(name, xpu_u32, xpu_u32)                                                                               \
    OPERANDS;                                                                                                          \
    d[e] = xpu_canonical(__VA_ARGS__);                                                                                 \
    KERNEL_END

/* p * q + r, all bits. */
#define FMA(name, p, q, r)                                                                                             \
    static uint32_t name(void *vd, const void *va, const void *vb, uint32_t n, uint32_t mode) {                        \
        xpu_u32 *d = vd;                                                                                               \
        const xpu_u32 *a = va, *b = vb;                                                                                \
        uint32_t flags = 0;                                                                                            \
        (void)mode;                                                                                                    \
        for (uint32_t block = 0; block < n; block += 16) {                                                             \
            uint32_t results[16], not_a_number = 0;                                                                    \
            for (uint32_t e = 0; e < 16; e++) {                                                                        \
                uint32_t i = a[block + e], j = b[block + e], k = d[block + e];                                         \
                results[e] = xpu_bits(fmaf(xpu_float(p), xpu_float(q), xpu_float(r)));                                 \
            }                                                                                                          \
            for (uint32_t e = 0; e < 16; e++) not_a_number |= 0x7f800000u - (results[e] & 0x7fffffff);                 \
            for (uint32_t e = 0; e < 16 && not_a_number >> 31; e++) {                                                  \
                uint32_t i = a[block + e], j = b[block + e], k = d[block + e];                                         \
                (void)i, (void)j, (void)k;                                                                             \
                flags |= xpu_fp_product_invalid(p, q);                                                                 \
                if (xpu_is_nan(results[e])) results[e] = XPU_NAN_BITS;                                                 \
            }                                                                                                          \
            memcpy(d + block, results, sizeof results);                                                                \
        }                                                                                                              \
        return flags;                                                                                                  \
    }

#define MOVE(name, ...)                                                                                                \
    KERNEL_BEGIN(name, xpu_u32, xpu_u32)                                                                               \
    OPERANDS;                                                                                                          \
    d[e] = (uint32_t)(__VA_ARGS__);                                                                                    \
    KERNEL_END

#define COMPARE(name, invalid, ...)                                                                                    \
    KERNEL_BEGIN(name, xpu_u8, xpu_u32)                                                                                \
    OPERANDS;                                                                                                          \
    flags |= (invalid(i) | invalid(j)) ? XPU_FLAG_NV : 0;                                                              \
    d[e] = (uint8_t)(__VA_ARGS__);                                                                                     \
    KERNEL_END

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
    KERNEL_BEGIN(name, xpu_u32, xpu_u32)                                                                               \
    uint32_t i = a[e], j = b[e];                                                                                       \
    flags |= (xpu_is_signalling(i) | xpu_is_signalling(j)) ? XPU_FLAG_NV : 0;                                          \
    d[e] = unless_nan(i, j, ordered(i) operator ordered(j) ? i : j);                                                   \
    KERNEL_END

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

KERNEL_BEGIN(vfwcvt_f_x, xpu_u32, xpu_s16)
d[e] = xpu_bits((float)a[e]);
KERNEL_END

KERNEL_BEGIN(vfwcvt_f_xu, xpu_u32, xpu_u16)
d[e] = xpu_bits((float)a[e]);
KERNEL_END

static uint32_t vfsqrt(void *vd, const void *va, const void *vb, uint32_t n, uint32_t mode) {
    (void)vb, (void)mode;
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
    static uint32_t name(void *vd, const void *va, const void *vb, uint32_t n, uint32_t mode) {                        \
        (void)vb, (void)mode;                                                                                          \
        return to_int(vd, va, n, rounding_mode, bits, is_signed);                                                      \
    }
TO_INT(vfcvt_xu_f, 32, 0, mode)
TO_INT(vfcvt_x_f, 32, 1, mode)
TO_INT(vfcvt_rtz_xu_f, 32, 0, XPU_RTZ)
TO_INT(vfcvt_rtz_x_f, 32, 1, XPU_RTZ)
TO_INT(vfncvt_xu_f, 16, 0, mode)
TO_INT(vfncvt_x_f, 16, 1, mode)
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
