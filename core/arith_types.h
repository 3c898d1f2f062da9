/*
 * The element types that are not float32: docs/arithmetic.md is the readable form of this file, core/arith_types_rvv.h
 * holds the vector forms. A value of a narrow type is computed in a class, and fitted into its type behind every
 * operator:
 *
 *     f32: float32, float16, bfloat16    i32: int8, int16, int32, bool (0 or 1)    u32: uint8, uint16, uint32
 *     i64: int64                         u64: uint64
 *
 * Functions of a class carry its name (xa_add_i32), those of f32 do not (xa_add); comparisons give int32_t 0 or 1.
 * Integers wrap; a division by zero gives all ones, its remainder is the dividend, and the least number divided by -1
 * is itself, as RISC-V has it: nothing traps.
 */
#ifndef XPU_CORE_ARITH_TYPES_H
#define XPU_CORE_ARITH_TYPES_H

#include "core/arith.h"

/* X(type, C type in memory, class) of every element type that is computed with. */
#define XA_TYPES(X)                                                                                                    \
    X(float32, float, f32)                                                                                             \
    X(float16, uint16_t, f32)                                                                                          \
    X(bfloat16, uint16_t, f32)                                                                                         \
    X(int8, int8_t, i32)                                                                                               \
    X(uint8, uint8_t, u32)                                                                                             \
    X(int16, int16_t, i32)                                                                                             \
    X(uint16, uint16_t, u32)                                                                                           \
    X(int32, int32_t, i32)                                                                                             \
    X(uint32, uint32_t, u32)                                                                                           \
    X(int64, int64_t, i64)                                                                                             \
    X(uint64, uint64_t, u64)                                                                                           \
    X(bool, uint8_t, i32)

/* X(class, C type, the unsigned one of its size) */
#define XA_INTEGER_CLASSES(X)                                                                                          \
    X(i32, int32_t, uint32_t) X(u32, uint32_t, uint32_t) X(i64, int64_t, uint64_t) X(u64, uint64_t, uint64_t)

typedef float xa_f32;
typedef int32_t xa_i32;
typedef uint32_t xa_u32;
typedef int64_t xa_i64;
typedef uint64_t xa_u64;

/* ---- float16, bfloat16 ------------------------------------------------------------------------------------------ */

/* Rounded once, ties to even; too large gives inf, NaN the canonical NaN. */
XA_INLINE uint16_t xa_float16_bits(float x) {
    uint32_t bits = xa_bits(x), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    uint32_t tiny = xa_bits(xa_float(size) + 0.5f) - 0x3f000000u; /* 0.5 has the last place of subnormals */
    uint32_t rounded = (size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13;
    uint32_t finite = size < 0x38800000u ? tiny : rounded;
    uint32_t number = size < 0x477ff000u ? finite : 0x7c00u;
    return (uint16_t)(size > 0x7f800000u ? 0x7e00u : sign | number);
}

XA_INLINE float xa_from_float16(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, size = half & 0x7fffu;
    uint32_t finite = xa_bits(xa_mul(xa_float(size << 13), 0x1p112f)); /* exact, of subnormals, too */
    return xa_float(sign | (size < 0x7c00u ? finite : size << 13 | 0x7f800000u));
}

XA_INLINE uint16_t xa_bfloat16_bits(float x) {
    uint32_t bits = xa_bits(x), rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return (uint16_t)(x != x ? 0x7fc0u : rounded);
}

XA_INLINE float xa_from_bfloat16(uint16_t brain) {
    return xa_float((uint32_t)brain << 16);
}

/* ---- float32 to integer: toward zero, out of range saturates, NaN gives the largest ------------------------------ */

XA_INLINE uint32_t xa_rtz_u32(float x) {
    float above = x > 0.0f ? x : 0.0f; /* of NaN: any value in range serves */
    float in_range = above < 0x1p32f ? above : 0.0f;
    uint32_t converted = (uint32_t)in_range;
    return x < 0x1p32f ? converted : UINT32_MAX;
}

XA_INLINE int64_t xa_rtz_i64(float x) {
    float in_range = x >= -0x1p63f && x < 0x1p63f ? x : 0.0f;
    int64_t outside = x < 0.0f ? INT64_MIN : INT64_MAX;
    return x >= -0x1p63f && x < 0x1p63f ? (int64_t)in_range : outside;
}

XA_INLINE uint64_t xa_rtz_u64(float x) {
    float in_range = x > 0.0f && x < 0x1p64f ? x : 0.0f;
    return x < 0x1p64f ? (uint64_t)in_range : UINT64_MAX;
}

/* ---- xa_fit_TYPE: a value of the class into the type, by rounding or by dropping bits ---------------------------- */

XA_INLINE float xa_fit_float32(float x) {
    return x;
}
XA_INLINE float xa_fit_float16(float x) {
    return xa_from_float16(xa_float16_bits(x));
}
XA_INLINE float xa_fit_bfloat16(float x) {
    return xa_from_bfloat16(xa_bfloat16_bits(x));
}
XA_INLINE int32_t xa_fit_int8(int32_t x) {
    return (int8_t)x;
}
XA_INLINE uint32_t xa_fit_uint8(uint32_t x) {
    return x & 0xffu;
}
XA_INLINE int32_t xa_fit_int16(int32_t x) {
    return (int16_t)x;
}
XA_INLINE uint32_t xa_fit_uint16(uint32_t x) {
    return x & 0xffffu;
}
XA_INLINE int32_t xa_fit_int32(int32_t x) {
    return x;
}
XA_INLINE uint32_t xa_fit_uint32(uint32_t x) {
    return x;
}
XA_INLINE int64_t xa_fit_int64(int64_t x) {
    return x;
}
XA_INLINE uint64_t xa_fit_uint64(uint64_t x) {
    return x;
}
XA_INLINE int32_t xa_fit_bool(int32_t x) {
    return x != 0;
}

/* ---- xa_load_TYPE, xa_store_TYPE: between memory and class; what is stored was fitted ---------------------------- */

#define X(type, memory, class)                                                                                         \
    XA_INLINE xa_##class xa_load_##type(const memory *from) {                                                          \
        return XA_LOAD_##type(*from);                                                                                  \
    }                                                                                                                  \
    XA_INLINE void xa_store_##type(memory *to, xa_##class x) {                                                         \
        *to = XA_STORE_##type(x);                                                                                      \
    }
#define XA_LOAD_float32   /* as it is */
#define XA_LOAD_float16   xa_from_float16
#define XA_LOAD_bfloat16  xa_from_bfloat16
#define XA_LOAD_int8      /* as it is */
#define XA_LOAD_uint8     /* as it is */
#define XA_LOAD_int16     /* as it is */
#define XA_LOAD_uint16    /* as it is */
#define XA_LOAD_int32     /* as it is */
#define XA_LOAD_uint32    /* as it is */
#define XA_LOAD_int64     /* as it is */
#define XA_LOAD_uint64    /* as it is */
#define XA_LOAD_bool      xa_fit_bool
#define XA_STORE_float32  /* as it is */
#define XA_STORE_float16  xa_float16_bits
#define XA_STORE_bfloat16 xa_bfloat16_bits
#define XA_STORE_int8     (int8_t)
#define XA_STORE_uint8    (uint8_t)
#define XA_STORE_int16    (int16_t)
#define XA_STORE_uint16   (uint16_t)
#define XA_STORE_int32    /* as it is */
#define XA_STORE_uint32   /* as it is */
#define XA_STORE_int64    /* as it is */
#define XA_STORE_uint64   /* as it is */
#define XA_STORE_bool     (uint8_t)
XA_TYPES(X)
#undef X

/* ---- xa_to_TYPE_CLASS: the operator Cast ------------------------------------------------------------------------- */

#define XA_TO_INTEGERS(class, type)                                                                                    \
    XA_INLINE int32_t xa_to_int8_##class(type x) {                                                                     \
        return (int8_t)(uint8_t)x;                                                                                     \
    }                                                                                                                  \
    XA_INLINE uint32_t xa_to_uint8_##class(type x) {                                                                   \
        return (uint8_t)x;                                                                                             \
    }                                                                                                                  \
    XA_INLINE int32_t xa_to_int16_##class(type x) {                                                                    \
        return (int16_t)(uint16_t)x;                                                                                   \
    }                                                                                                                  \
    XA_INLINE uint32_t xa_to_uint16_##class(type x) {                                                                  \
        return (uint16_t)x;                                                                                            \
    }                                                                                                                  \
    XA_INLINE int32_t xa_to_int32_##class(type x) {                                                                    \
        return (int32_t)(uint32_t)x;                                                                                   \
    }                                                                                                                  \
    XA_INLINE uint32_t xa_to_uint32_##class(type x) {                                                                  \
        return (uint32_t)x;                                                                                            \
    }                                                                                                                  \
    XA_INLINE int64_t xa_to_int64_##class(type x) {                                                                    \
        return (int64_t)x;                                                                                             \
    }                                                                                                                  \
    XA_INLINE uint64_t xa_to_uint64_##class(type x) {                                                                  \
        return (uint64_t)x;                                                                                            \
    }
#define XA_TO_OTHERS(class, type)                                                                                      \
    XA_INLINE float xa_to_float32_##class(type x) {                                                                    \
        return (float)x;                                                                                               \
    }                                                                                                                  \
    XA_INLINE float xa_to_float16_##class(type x) {                                                                    \
        return xa_fit_float16((float)x);                                                                               \
    }                                                                                                                  \
    XA_INLINE float xa_to_bfloat16_##class(type x) {                                                                   \
        return xa_fit_bfloat16((float)x);                                                                              \
    }                                                                                                                  \
    XA_INLINE int32_t xa_to_bool_##class(type x) {                                                                     \
        return x != 0;                                                                                                 \
    }
#define X(class, type, bits)                                                                                           \
    XA_TO_INTEGERS(class, type)                                                                                        \
    XA_TO_OTHERS(class, type)
XA_INTEGER_CLASSES(X)
#undef X
XA_TO_OTHERS(f32, float)
#undef XA_TO_INTEGERS
#undef XA_TO_OTHERS

XA_INLINE int32_t xa_to_int8_f32(float x) {
    return xa_clamp_i32(xa_rtz_i32(x), INT8_MIN, INT8_MAX);
}
XA_INLINE uint32_t xa_to_uint8_f32(float x) {
    uint32_t wide = xa_rtz_u32(x);
    return wide < UINT8_MAX ? wide : UINT8_MAX;
}
XA_INLINE int32_t xa_to_int16_f32(float x) {
    return xa_clamp_i32(xa_rtz_i32(x), INT16_MIN, INT16_MAX);
}
XA_INLINE uint32_t xa_to_uint16_f32(float x) {
    uint32_t wide = xa_rtz_u32(x);
    return wide < UINT16_MAX ? wide : UINT16_MAX;
}
XA_INLINE int32_t xa_to_int32_f32(float x) {
    return xa_rtz_i32(x);
}
XA_INLINE uint32_t xa_to_uint32_f32(float x) {
    return xa_rtz_u32(x);
}
XA_INLINE int64_t xa_to_int64_f32(float x) {
    return xa_rtz_i64(x);
}
XA_INLINE uint64_t xa_to_uint64_f32(float x) {
    return xa_rtz_u64(x);
}

/* ---- Integer operators ------------------------------------------------------------------------------------------- */

/* Quotients toward zero; xa_fmod: the remainder of that, with the sign of a; xa_mod: with the sign of b. */
#define XA_SIGNED_DIVISION(class, type, bits, least)                                                                   \
    XA_INLINE type xa_div_##class(type a, type b) {                                                                    \
        if (b == 0) return -1;                                                                                         \
        return a == (least) && b == -1 ? a : a / b;                                                                    \
    }                                                                                                                  \
    XA_INLINE type xa_fmod_##class(type a, type b) {                                                                   \
        if (b == 0) return a;                                                                                          \
        return b == -1 ? 0 : a % b;                                                                                    \
    }                                                                                                                  \
    XA_INLINE type xa_mod_##class(type a, type b) {                                                                    \
        type rest = xa_fmod_##class(a, b);                                                                             \
        return rest != 0 && (rest < 0) != (b < 0) ? (type)((bits)rest + (bits)b) : rest;                               \
    }                                                                                                                  \
    XA_INLINE type xa_abs_##class(type a) {                                                                            \
        return a < 0 ? (type)(0 - (bits)a) : a;                                                                        \
    }                                                                                                                  \
    XA_INLINE type xa_sign_##class(type a) {                                                                           \
        return (a > 0) - (a < 0);                                                                                      \
    }
#define XA_UNSIGNED_DIVISION(class, type)                                                                              \
    XA_INLINE type xa_div_##class(type a, type b) {                                                                    \
        return b == 0 ? (type) - 1 : a / b;                                                                            \
    }                                                                                                                  \
    XA_INLINE type xa_fmod_##class(type a, type b) {                                                                   \
        return b == 0 ? a : a % b;                                                                                     \
    }                                                                                                                  \
    XA_INLINE type xa_mod_##class(type a, type b) {                                                                    \
        return xa_fmod_##class(a, b);                                                                                  \
    }                                                                                                                  \
    XA_INLINE type xa_abs_##class(type a) {                                                                            \
        return a;                                                                                                      \
    }                                                                                                                  \
    XA_INLINE type xa_sign_##class(type a) {                                                                           \
        return a != 0;                                                                                                 \
    }
XA_SIGNED_DIVISION(i32, int32_t, uint32_t, INT32_MIN)
XA_SIGNED_DIVISION(i64, int64_t, uint64_t, INT64_MIN)
XA_UNSIGNED_DIVISION(u32, uint32_t)
XA_UNSIGNED_DIVISION(u64, uint64_t)
#undef XA_SIGNED_DIVISION
#undef XA_UNSIGNED_DIVISION

/* Shifts by the width and more give 0; to the right, of negative numbers -1. */
#define X(class, type, bits)                                                                                           \
    XA_INLINE type xa_add_##class(type a, type b) {                                                                    \
        return (type)((bits)a + (bits)b);                                                                              \
    }                                                                                                                  \
    XA_INLINE type xa_sub_##class(type a, type b) {                                                                    \
        return (type)((bits)a - (bits)b);                                                                              \
    }                                                                                                                  \
    XA_INLINE type xa_mul_##class(type a, type b) {                                                                    \
        return (type)((bits)a * (bits)b);                                                                              \
    }                                                                                                                  \
    XA_INLINE type xa_neg_##class(type a) {                                                                            \
        return (type)(0 - (bits)a);                                                                                    \
    }                                                                                                                  \
    XA_INLINE type xa_max_##class(type a, type b) {                                                                    \
        return a > b ? a : b;                                                                                          \
    }                                                                                                                  \
    XA_INLINE type xa_min_##class(type a, type b) {                                                                    \
        return a < b ? a : b;                                                                                          \
    }                                                                                                                  \
    XA_INLINE type xa_relu_##class(type a) {                                                                           \
        return a > 0 ? a : 0;                                                                                          \
    }                                                                                                                  \
    XA_INLINE type xa_identity_##class(type a) {                                                                       \
        return a;                                                                                                      \
    }                                                                                                                  \
    XA_INLINE type xa_where_##class(int32_t chosen, type a, type b) {                                                  \
        return chosen ? a : b;                                                                                         \
    }                                                                                                                  \
    XA_INLINE int32_t xa_equal_##class(type a, type b) {                                                               \
        return a == b;                                                                                                 \
    }                                                                                                                  \
    XA_INLINE int32_t xa_less_##class(type a, type b) {                                                                \
        return a < b;                                                                                                  \
    }                                                                                                                  \
    XA_INLINE int32_t xa_less_or_equal_##class(type a, type b) {                                                       \
        return a <= b;                                                                                                 \
    }                                                                                                                  \
    XA_INLINE int32_t xa_greater_##class(type a, type b) {                                                             \
        return a > b;                                                                                                  \
    }                                                                                                                  \
    XA_INLINE int32_t xa_greater_or_equal_##class(type a, type b) {                                                    \
        return a >= b;                                                                                                 \
    }                                                                                                                  \
    XA_INLINE type xa_bit_and_##class(type a, type b) {                                                                \
        return a & b;                                                                                                  \
    }                                                                                                                  \
    XA_INLINE type xa_bit_or_##class(type a, type b) {                                                                 \
        return a | b;                                                                                                  \
    }                                                                                                                  \
    XA_INLINE type xa_bit_xor_##class(type a, type b) {                                                                \
        return a ^ b;                                                                                                  \
    }                                                                                                                  \
    XA_INLINE type xa_bit_not_##class(type a) {                                                                        \
        return ~a;                                                                                                     \
    }                                                                                                                  \
    XA_INLINE type xa_shift_left_##class(type a, type b) {                                                             \
        return (bits)b < 8 * sizeof a ? (type)((bits)a << ((bits)b & (8 * sizeof a - 1))) : 0;                         \
    }
XA_INTEGER_CLASSES(X)
#undef X

/* a^b, modulo 2^bits. */
#define XA_UNSIGNED(class, type)                                                                                       \
    XA_INLINE type xa_shift_right_##class(type a, type b) {                                                            \
        return b < 8 * sizeof a ? a >> (b & (8 * sizeof a - 1)) : 0;                                                   \
    }                                                                                                                  \
    XA_INLINE type xa_prelu_##class(type a, type slope) {                                                              \
        (void)slope;                                                                                                   \
        return a;                                                                                                      \
    }                                                                                                                  \
    XA_INLINE type xa_pow_##class(type a, type b) {                                                                    \
        type power = 1;                                                                                                \
        for (; b; b >>= 1) {                                                                                           \
            power = b & 1 ? power * a : power;                                                                         \
            a *= a;                                                                                                    \
        }                                                                                                              \
        return power;                                                                                                  \
    }
XA_UNSIGNED(u32, uint32_t)
XA_UNSIGNED(u64, uint64_t)
#undef XA_UNSIGNED

/* Powers with a negative exponent are 0, but of 1 and -1; of these the exponent as unsigned number serves, too. */
#define XA_SIGNED(class, type, unsigned_class, bits)                                                                   \
    XA_INLINE type xa_shift_right_##class(type a, type b) {                                                            \
        return a >> ((bits)b < 8 * sizeof a ? b : (type)(8 * sizeof a - 1));                                           \
    }                                                                                                                  \
    XA_INLINE type xa_prelu_##class(type a, type slope) {                                                              \
        return a < 0 ? xa_mul_##class(a, slope) : a;                                                                   \
    }                                                                                                                  \
    XA_INLINE type xa_pow_##class(type a, type b) {                                                                    \
        type power = (type)xa_pow_##unsigned_class((bits)a, (bits)b);                                                  \
        return b >= 0 || a == 1 || a == -1 ? power : 0;                                                                \
    }
XA_SIGNED(i32, int32_t, u32, uint32_t)
XA_SIGNED(i64, int64_t, u64, uint64_t)
#undef XA_SIGNED

/* Of bools: 0 and 1. */
XA_INLINE int32_t xa_and_i32(int32_t a, int32_t b) {
    return a & b;
}
XA_INLINE int32_t xa_or_i32(int32_t a, int32_t b) {
    return a | b;
}
XA_INLINE int32_t xa_xor_i32(int32_t a, int32_t b) {
    return a ^ b;
}
XA_INLINE int32_t xa_not_i32(int32_t a) {
    return a ^ 1;
}

/* ---- Of floats, with a bool as result or operand; NaN is not even equal to itself -------------------------------- */

XA_INLINE int32_t xa_equal(float a, float b) {
    return a == b;
}
XA_INLINE int32_t xa_less(float a, float b) {
    return a < b;
}
XA_INLINE int32_t xa_less_or_equal(float a, float b) {
    return a <= b;
}
XA_INLINE int32_t xa_greater(float a, float b) {
    return a > b;
}
XA_INLINE int32_t xa_greater_or_equal(float a, float b) {
    return a >= b;
}
XA_INLINE float xa_where(int32_t chosen, float a, float b) {
    return chosen ? a : b;
}

#endif
