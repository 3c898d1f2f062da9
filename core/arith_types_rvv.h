/*
 * core/arith_types.h for vectors, device only: xv_NAME_CLASS(operands, vl) gives, element by element, the bits of
 * xa_NAME_CLASS. Class f32 is vfloat32m4_t, i32 vint32m4_t, u32 vuint32m4_t; a bool is vint32m4_t of 0 and 1. There are
 * no vectors of 64-bit elements.
 */
#ifndef XPU_CORE_ARITH_TYPES_RVV_H
#define XPU_CORE_ARITH_TYPES_RVV_H

#include "core/arith_rvv.h"
#include "core/arith_types.h"

#define XV_SIGNED(x)   __riscv_vreinterpret_v_u32m4_i32m4(x)
#define XV_UNSIGNED(x) __riscv_vreinterpret_v_i32m4_u32m4(x)
#define XV_BITS(x)     __riscv_vreinterpret_v_f32m4_u32m4(x)
#define XV_FLOAT(x)    __riscv_vreinterpret_v_u32m4_f32m4(x)

XA_INLINE vint32m4_t xv_of_mask(vbool8_t mask, size_t vl) {
    return __riscv_vmerge_vxm_i32m4(__riscv_vmv_v_x_i32m4(0, vl), 1, mask, vl);
}

/* ---- float16, bfloat16 as the low half of each element ----------------------------------------------------------- */

XA_INLINE vuint32m4_t xv_float16_bits(vfloat32m4_t x, size_t vl) {
    vuint32m4_t bits = XV_BITS(x), size = __riscv_vand_vx_u32m4(bits, 0x7fffffffu, vl);
    vuint32m4_t odd = __riscv_vand_vx_u32m4(__riscv_vsrl_vx_u32m4(size, 13, vl), 1, vl);
    vuint32m4_t number = __riscv_vadd_vv_u32m4(__riscv_vadd_vx_u32m4(size, 0xfffu - 0x38000000u, vl), odd, vl);
    number = __riscv_vsrl_vx_u32m4(number, 13, vl);
    vuint32m4_t tiny = XV_BITS(__riscv_vfadd_vf_f32m4(XV_FLOAT(size), 0.5f, vl));
    tiny = __riscv_vsub_vx_u32m4(tiny, 0x3f000000u, vl);
    number = __riscv_vmerge_vvm_u32m4(number, tiny, __riscv_vmsltu_vx_u32m4_b8(size, 0x38800000u, vl), vl);
    number = __riscv_vmerge_vxm_u32m4(number, 0x7c00u, __riscv_vmsgtu_vx_u32m4_b8(size, 0x477fefffu, vl), vl);
    vuint32m4_t sign = __riscv_vand_vx_u32m4(__riscv_vsrl_vx_u32m4(bits, 16, vl), 0x8000u, vl);
    number = __riscv_vor_vv_u32m4(number, sign, vl);
    return __riscv_vmerge_vxm_u32m4(number, 0x7e00u, __riscv_vmsgtu_vx_u32m4_b8(size, 0x7f800000u, vl), vl);
}

XA_INLINE vfloat32m4_t xv_from_float16(vuint32m4_t half, size_t vl) {
    vuint32m4_t size = __riscv_vsll_vx_u32m4(__riscv_vand_vx_u32m4(half, 0x7fffu, vl), 13, vl);
    vuint32m4_t number = XV_BITS(__riscv_vfmul_vf_f32m4(XV_FLOAT(size), 0x1p112f, vl));
    vbool8_t special = __riscv_vmsgtu_vx_u32m4_b8(size, (0x7c00u << 13) - 1, vl);
    number = __riscv_vor_vx_u32m4_mu(special, number, size, 0x7f800000u, vl);
    vuint32m4_t sign = __riscv_vsll_vx_u32m4(__riscv_vand_vx_u32m4(half, 0x8000u, vl), 16, vl);
    return XV_FLOAT(__riscv_vor_vv_u32m4(number, sign, vl));
}

XA_INLINE vuint32m4_t xv_bfloat16_bits(vfloat32m4_t x, size_t vl) {
    vuint32m4_t bits = XV_BITS(x);
    vuint32m4_t odd = __riscv_vand_vx_u32m4(__riscv_vsrl_vx_u32m4(bits, 16, vl), 1, vl);
    vuint32m4_t rounded = __riscv_vadd_vv_u32m4(__riscv_vadd_vx_u32m4(bits, 0x7fffu, vl), odd, vl);
    rounded = __riscv_vsrl_vx_u32m4(rounded, 16, vl);
    return __riscv_vmerge_vxm_u32m4(rounded, 0x7fc0u, __riscv_vmfne_vv_f32m4_b8(x, x, vl), vl);
}

XA_INLINE vfloat32m4_t xv_from_bfloat16(vuint32m4_t brain, size_t vl) {
    return XV_FLOAT(__riscv_vsll_vx_u32m4(brain, 16, vl));
}

/* ---- xv_fit_TYPE ------------------------------------------------------------------------------------------------- */

XA_INLINE vfloat32m4_t xv_fit_float32(vfloat32m4_t x, size_t vl) {
    (void)vl;
    return x;
}
XA_INLINE vfloat32m4_t xv_fit_float16(vfloat32m4_t x, size_t vl) {
    return xv_from_float16(xv_float16_bits(x, vl), vl);
}
XA_INLINE vfloat32m4_t xv_fit_bfloat16(vfloat32m4_t x, size_t vl) {
    return xv_from_bfloat16(xv_bfloat16_bits(x, vl), vl);
}
XA_INLINE vint32m4_t xv_fit_int8(vint32m4_t x, size_t vl) {
    return __riscv_vsra_vx_i32m4(__riscv_vsll_vx_i32m4(x, 24, vl), 24, vl);
}
XA_INLINE vuint32m4_t xv_fit_uint8(vuint32m4_t x, size_t vl) {
    return __riscv_vand_vx_u32m4(x, 0xffu, vl);
}
XA_INLINE vint32m4_t xv_fit_int16(vint32m4_t x, size_t vl) {
    return __riscv_vsra_vx_i32m4(__riscv_vsll_vx_i32m4(x, 16, vl), 16, vl);
}
XA_INLINE vuint32m4_t xv_fit_uint16(vuint32m4_t x, size_t vl) {
    return __riscv_vand_vx_u32m4(x, 0xffffu, vl);
}
XA_INLINE vint32m4_t xv_fit_int32(vint32m4_t x, size_t vl) {
    (void)vl;
    return x;
}
XA_INLINE vuint32m4_t xv_fit_uint32(vuint32m4_t x, size_t vl) {
    (void)vl;
    return x;
}
XA_INLINE vint32m4_t xv_fit_bool(vint32m4_t x, size_t vl) {
    return xv_of_mask(__riscv_vmsne_vx_i32m4_b8(x, 0, vl), vl);
}

/* ---- xv_load_TYPE, xv_store_TYPE --------------------------------------------------------------------------------- */

XA_INLINE vuint32m4_t xv_load_uint8(const uint8_t *from, size_t vl) {
    return __riscv_vzext_vf4_u32m4(__riscv_vle8_v_u8m1(from, vl), vl);
}
XA_INLINE vuint32m4_t xv_load_uint16(const uint16_t *from, size_t vl) {
    return __riscv_vzext_vf2_u32m4(__riscv_vle16_v_u16m2(from, vl), vl);
}
XA_INLINE vuint32m4_t xv_load_uint32(const uint32_t *from, size_t vl) {
    return __riscv_vle32_v_u32m4(from, vl);
}
XA_INLINE vint32m4_t xv_load_int8(const int8_t *from, size_t vl) {
    return __riscv_vsext_vf4_i32m4(__riscv_vle8_v_i8m1(from, vl), vl);
}
XA_INLINE vint32m4_t xv_load_int16(const int16_t *from, size_t vl) {
    return __riscv_vsext_vf2_i32m4(__riscv_vle16_v_i16m2(from, vl), vl);
}
XA_INLINE vint32m4_t xv_load_int32(const int32_t *from, size_t vl) {
    return __riscv_vle32_v_i32m4(from, vl);
}
XA_INLINE vint32m4_t xv_load_bool(const uint8_t *from, size_t vl) {
    return xv_fit_bool(XV_SIGNED(xv_load_uint8(from, vl)), vl);
}
XA_INLINE vfloat32m4_t xv_load_float32(const float *from, size_t vl) {
    return __riscv_vle32_v_f32m4(from, vl);
}
XA_INLINE vfloat32m4_t xv_load_float16(const uint16_t *from, size_t vl) {
    return xv_from_float16(xv_load_uint16(from, vl), vl);
}
XA_INLINE vfloat32m4_t xv_load_bfloat16(const uint16_t *from, size_t vl) {
    return xv_from_bfloat16(xv_load_uint16(from, vl), vl);
}

XA_INLINE void xv_store_uint16(uint16_t *to, vuint32m4_t x, size_t vl) {
    __riscv_vse16_v_u16m2(to, __riscv_vnsrl_wx_u16m2(x, 0, vl), vl);
}
XA_INLINE void xv_store_uint8(uint8_t *to, vuint32m4_t x, size_t vl) {
    __riscv_vse8_v_u8m1(to, __riscv_vnsrl_wx_u8m1(__riscv_vnsrl_wx_u16m2(x, 0, vl), 0, vl), vl);
}
XA_INLINE void xv_store_uint32(uint32_t *to, vuint32m4_t x, size_t vl) {
    __riscv_vse32_v_u32m4(to, x, vl);
}
XA_INLINE void xv_store_int8(int8_t *to, vint32m4_t x, size_t vl) {
    xv_store_uint8((uint8_t *)to, XV_UNSIGNED(x), vl);
}
XA_INLINE void xv_store_int16(int16_t *to, vint32m4_t x, size_t vl) {
    xv_store_uint16((uint16_t *)to, XV_UNSIGNED(x), vl);
}
XA_INLINE void xv_store_int32(int32_t *to, vint32m4_t x, size_t vl) {
    __riscv_vse32_v_i32m4(to, x, vl);
}
XA_INLINE void xv_store_bool(uint8_t *to, vint32m4_t x, size_t vl) {
    xv_store_uint8(to, XV_UNSIGNED(x), vl);
}
XA_INLINE void xv_store_float32(float *to, vfloat32m4_t x, size_t vl) {
    __riscv_vse32_v_f32m4(to, x, vl);
}
XA_INLINE void xv_store_float16(uint16_t *to, vfloat32m4_t x, size_t vl) {
    xv_store_uint16(to, xv_float16_bits(x, vl), vl);
}
XA_INLINE void xv_store_bfloat16(uint16_t *to, vfloat32m4_t x, size_t vl) {
    xv_store_uint16(to, xv_bfloat16_bits(x, vl), vl);
}

/* ---- xv_to_TYPE_CLASS -------------------------------------------------------------------------------------------- */

#define XV_TO_FLOATS(class, type, convert)                                                                             \
    XA_INLINE vfloat32m4_t xv_to_float32_##class(type x, size_t vl) {                                                  \
        (void)vl;                                                                                                      \
        return convert;                                                                                                \
    }                                                                                                                  \
    XA_INLINE vfloat32m4_t xv_to_float16_##class(type x, size_t vl) {                                                  \
        return xv_fit_float16(convert, vl);                                                                            \
    }                                                                                                                  \
    XA_INLINE vfloat32m4_t xv_to_bfloat16_##class(type x, size_t vl) {                                                 \
        return xv_fit_bfloat16(convert, vl);                                                                           \
    }
XV_TO_FLOATS(f32, vfloat32m4_t, x)
XV_TO_FLOATS(i32, vint32m4_t, __riscv_vfcvt_f_x_v_f32m4(x, vl))
XV_TO_FLOATS(u32, vuint32m4_t, __riscv_vfcvt_f_xu_v_f32m4(x, vl))
#undef XV_TO_FLOATS

#define XV_TO_INTEGERS(class, type, as_signed, as_unsigned)                                                            \
    XA_INLINE vint32m4_t xv_to_int8_##class(type x, size_t vl) {                                                       \
        return xv_fit_int8(as_signed, vl);                                                                             \
    }                                                                                                                  \
    XA_INLINE vuint32m4_t xv_to_uint8_##class(type x, size_t vl) {                                                     \
        return xv_fit_uint8(as_unsigned, vl);                                                                          \
    }                                                                                                                  \
    XA_INLINE vint32m4_t xv_to_int16_##class(type x, size_t vl) {                                                      \
        return xv_fit_int16(as_signed, vl);                                                                            \
    }                                                                                                                  \
    XA_INLINE vuint32m4_t xv_to_uint16_##class(type x, size_t vl) {                                                    \
        return xv_fit_uint16(as_unsigned, vl);                                                                         \
    }                                                                                                                  \
    XA_INLINE vint32m4_t xv_to_int32_##class(type x, size_t vl) {                                                      \
        (void)vl;                                                                                                      \
        return as_signed;                                                                                              \
    }                                                                                                                  \
    XA_INLINE vuint32m4_t xv_to_uint32_##class(type x, size_t vl) {                                                    \
        (void)vl;                                                                                                      \
        return as_unsigned;                                                                                            \
    }                                                                                                                  \
    XA_INLINE vint32m4_t xv_to_bool_##class(type x, size_t vl) {                                                       \
        return xv_fit_bool(as_signed, vl);                                                                             \
    }
XV_TO_INTEGERS(i32, vint32m4_t, x, XV_UNSIGNED(x))
XV_TO_INTEGERS(u32, vuint32m4_t, XV_SIGNED(x), x)
#undef XV_TO_INTEGERS

XA_INLINE vint32m4_t xv_to_int32_f32(vfloat32m4_t x, size_t vl) {
    return __riscv_vfcvt_rtz_x_f_v_i32m4(x, vl);
}
XA_INLINE vuint32m4_t xv_to_uint32_f32(vfloat32m4_t x, size_t vl) {
    return __riscv_vfcvt_rtz_xu_f_v_u32m4(x, vl);
}
XA_INLINE vint32m4_t xv_to_int8_f32(vfloat32m4_t x, size_t vl) {
    return xv_clamp_i32(xv_to_int32_f32(x, vl), INT8_MIN, INT8_MAX, vl);
}
XA_INLINE vuint32m4_t xv_to_uint8_f32(vfloat32m4_t x, size_t vl) {
    return __riscv_vminu_vx_u32m4(xv_to_uint32_f32(x, vl), UINT8_MAX, vl);
}
XA_INLINE vint32m4_t xv_to_int16_f32(vfloat32m4_t x, size_t vl) {
    return xv_clamp_i32(xv_to_int32_f32(x, vl), INT16_MIN, INT16_MAX, vl);
}
XA_INLINE vuint32m4_t xv_to_uint16_f32(vfloat32m4_t x, size_t vl) {
    return __riscv_vminu_vx_u32m4(xv_to_uint32_f32(x, vl), UINT16_MAX, vl);
}
XA_INLINE vint32m4_t xv_to_bool_f32(vfloat32m4_t x, size_t vl) {
    return xv_of_mask(__riscv_vmfne_vf_f32m4_b8(x, 0.0f, vl), vl);
}

/* ---- Integer operators ------------------------------------------------------------------------------------------- */

/* X(class, type, suffix, u or nothing for unsigned forms, right shift) */
#define XV_INTEGER_CLASSES(X) X(i32, vint32m4_t, i32m4, , int32_t) X(u32, vuint32m4_t, u32m4, u, uint32_t)

#define XV_BINARY(name, instruction, class, type, suffix)                                                              \
    XA_INLINE type xv_##name##_##class(type a, type b, size_t vl) {                                                    \
        return __riscv_##instruction##_vv_##suffix(a, b, vl);                                                          \
    }
#define XV_COMPARE(name, instruction, first, second, class, type, suffix)                                              \
    XA_INLINE vint32m4_t xv_##name##_##class(type a, type b, size_t vl) {                                              \
        return xv_of_mask(__riscv_##instruction##_vv_##suffix##_b8(first, second, vl), vl);                            \
    }
#define X(class, type, suffix, u, element)                                                                             \
    XV_BINARY(add, vadd, class, type, suffix)                                                                          \
    XV_BINARY(sub, vsub, class, type, suffix)                                                                          \
    XV_BINARY(mul, vmul, class, type, suffix)                                                                          \
    XV_BINARY(div, vdiv##u, class, type, suffix)                                                                       \
    XV_BINARY(fmod, vrem##u, class, type, suffix)                                                                      \
    XV_BINARY(max, vmax##u, class, type, suffix)                                                                       \
    XV_BINARY(min, vmin##u, class, type, suffix)                                                                       \
    XV_BINARY(bit_and, vand, class, type, suffix)                                                                      \
    XV_BINARY(bit_or, vor, class, type, suffix)                                                                        \
    XV_BINARY(bit_xor, vxor, class, type, suffix)                                                                      \
    XV_COMPARE(equal, vmseq, a, b, class, type, suffix)                                                                \
    XV_COMPARE(less, vmslt##u, a, b, class, type, suffix)                                                              \
    XV_COMPARE(less_or_equal, vmsle##u, a, b, class, type, suffix)                                                     \
    XV_COMPARE(greater, vmslt##u, b, a, class, type, suffix)                                                           \
    XV_COMPARE(greater_or_equal, vmsle##u, b, a, class, type, suffix)                                                  \
    XA_INLINE type xv_neg_##class(type a, size_t vl) {                                                                 \
        return __riscv_vrsub_vx_##suffix(a, 0, vl);                                                                    \
    }                                                                                                                  \
    XA_INLINE type xv_bit_not_##class(type a, size_t vl) {                                                             \
        return __riscv_vxor_vx_##suffix(a, (element) - 1, vl);                                                         \
    }                                                                                                                  \
    XA_INLINE type xv_identity_##class(type a, size_t vl) {                                                            \
        (void)vl;                                                                                                      \
        return a;                                                                                                      \
    }                                                                                                                  \
    XA_INLINE type xv_where_##class(vint32m4_t chosen, type a, type b, size_t vl) {                                    \
        return __riscv_vmerge_vvm_##suffix(b, a, __riscv_vmsne_vx_i32m4_b8(chosen, 0, vl), vl);                        \
    }
XV_INTEGER_CLASSES(X)
#undef X
#undef XV_INTEGER_CLASSES
#undef XV_BINARY
#undef XV_COMPARE

/* Comparisons of 64 bits: the high words decide, where these are equal the low ones. a, b: in memory. */
#define X(class, type, suffix, u)                                                                                      \
    XA_INLINE vbool8_t xv_below_##class(const xa_##class *a, const xa_##class *b, size_t vl) {                         \
        vuint32m4_t low_a = __riscv_vlse32_v_u32m4((const uint32_t *)a, 8, vl);                                        \
        vuint32m4_t low_b = __riscv_vlse32_v_u32m4((const uint32_t *)b, 8, vl);                                        \
        type high_a = __riscv_vlse32_v_##suffix((const xa_word_##class *)a + 1, 8, vl);                                \
        type high_b = __riscv_vlse32_v_##suffix((const xa_word_##class *)b + 1, 8, vl);                                \
        vbool8_t equal = __riscv_vmseq_vv_##suffix##_b8(high_a, high_b, vl);                                           \
        vbool8_t low = __riscv_vmand_mm_b8(equal, __riscv_vmsltu_vv_u32m4_b8(low_a, low_b, vl), vl);                   \
        return __riscv_vmor_mm_b8(low, __riscv_vmslt##u##_vv_##suffix##_b8(high_a, high_b, vl), vl);                   \
    }                                                                                                                  \
    XA_INLINE vint32m4_t xv_less_##class(const xa_##class *a, const xa_##class *b, size_t vl) {                        \
        return xv_of_mask(xv_below_##class(a, b, vl), vl);                                                             \
    }                                                                                                                  \
    XA_INLINE vint32m4_t xv_less_or_equal_##class(const xa_##class *a, const xa_##class *b, size_t vl) {               \
        return xv_of_mask(__riscv_vmnot_m_b8(xv_below_##class(b, a, vl), vl), vl);                                     \
    }                                                                                                                  \
    XA_INLINE vint32m4_t xv_greater_##class(const xa_##class *a, const xa_##class *b, size_t vl) {                     \
        return xv_less_##class(b, a, vl);                                                                              \
    }                                                                                                                  \
    XA_INLINE vint32m4_t xv_greater_or_equal_##class(const xa_##class *a, const xa_##class *b, size_t vl) {            \
        return xv_less_or_equal_##class(b, a, vl);                                                                     \
    }                                                                                                                  \
    XA_INLINE vint32m4_t xv_equal_##class(const xa_##class *a, const xa_##class *b, size_t vl) {                       \
        vbool8_t low = __riscv_vmseq_vv_u32m4_b8(__riscv_vlse32_v_u32m4((const uint32_t *)a, 8, vl),                   \
                                                 __riscv_vlse32_v_u32m4((const uint32_t *)b, 8, vl), vl);              \
        vbool8_t high = __riscv_vmseq_vv_u32m4_b8(__riscv_vlse32_v_u32m4((const uint32_t *)a + 1, 8, vl),              \
                                                  __riscv_vlse32_v_u32m4((const uint32_t *)b + 1, 8, vl), vl);         \
        return xv_of_mask(__riscv_vmand_mm_b8(low, high, vl), vl);                                                     \
    }
typedef int32_t xa_word_i64;
typedef uint32_t xa_word_u64;
X(i64, vint32m4_t, i32m4, )
X(u64, vuint32m4_t, u32m4, u)
#undef X

XA_INLINE vint32m4_t xv_relu_i32(vint32m4_t a, size_t vl) {
    return __riscv_vmax_vx_i32m4(a, 0, vl);
}
XA_INLINE vuint32m4_t xv_relu_u32(vuint32m4_t a, size_t vl) {
    (void)vl;
    return a;
}
XA_INLINE vint32m4_t xv_abs_i32(vint32m4_t a, size_t vl) {
    return __riscv_vmax_vv_i32m4(a, xv_neg_i32(a, vl), vl);
}
XA_INLINE vuint32m4_t xv_abs_u32(vuint32m4_t a, size_t vl) {
    (void)vl;
    return a;
}
XA_INLINE vint32m4_t xv_sign_i32(vint32m4_t a, size_t vl) {
    return __riscv_vmax_vx_i32m4(__riscv_vmin_vx_i32m4(a, 1, vl), -1, vl);
}
XA_INLINE vuint32m4_t xv_sign_u32(vuint32m4_t a, size_t vl) {
    return __riscv_vminu_vx_u32m4(a, 1, vl);
}
/* Where the remainder is not 0 and its sign is not that of b. */
XA_INLINE vint32m4_t xv_mod_i32(vint32m4_t a, vint32m4_t b, size_t vl) {
    vint32m4_t rest = xv_fmod_i32(a, b, vl);
    vbool8_t unequal = __riscv_vmslt_vx_i32m4_b8(__riscv_vxor_vv_i32m4(rest, b, vl), 0, vl);
    vbool8_t other = __riscv_vmand_mm_b8(unequal, __riscv_vmsne_vx_i32m4_b8(rest, 0, vl), vl);
    return __riscv_vadd_vv_i32m4_mu(other, rest, rest, b, vl);
}
XA_INLINE vuint32m4_t xv_mod_u32(vuint32m4_t a, vuint32m4_t b, size_t vl) {
    return xv_fmod_u32(a, b, vl);
}
XA_INLINE vuint32m4_t xv_shift_left_u32(vuint32m4_t a, vuint32m4_t b, size_t vl) {
    vuint32m4_t shifted = __riscv_vsll_vv_u32m4(a, b, vl);
    return __riscv_vmerge_vxm_u32m4(shifted, 0, __riscv_vmsgtu_vx_u32m4_b8(b, 31, vl), vl);
}
XA_INLINE vuint32m4_t xv_shift_right_u32(vuint32m4_t a, vuint32m4_t b, size_t vl) {
    vuint32m4_t shifted = __riscv_vsrl_vv_u32m4(a, b, vl);
    return __riscv_vmerge_vxm_u32m4(shifted, 0, __riscv_vmsgtu_vx_u32m4_b8(b, 31, vl), vl);
}
XA_INLINE vint32m4_t xv_shift_left_i32(vint32m4_t a, vint32m4_t b, size_t vl) {
    return XV_SIGNED(xv_shift_left_u32(XV_UNSIGNED(a), XV_UNSIGNED(b), vl));
}
XA_INLINE vint32m4_t xv_shift_right_i32(vint32m4_t a, vint32m4_t b, size_t vl) {
    return __riscv_vsra_vv_i32m4(a, __riscv_vminu_vx_u32m4(XV_UNSIGNED(b), 31, vl), vl);
}

XA_INLINE vint32m4_t xv_prelu_i32(vint32m4_t a, vint32m4_t slope, size_t vl) {
    return __riscv_vmul_vv_i32m4_mu(__riscv_vmslt_vx_i32m4_b8(a, 0, vl), a, a, slope, vl);
}
XA_INLINE vuint32m4_t xv_prelu_u32(vuint32m4_t a, vuint32m4_t slope, size_t vl) {
    (void)slope, (void)vl;
    return a;
}
XA_INLINE vuint32m4_t xv_pow_u32(vuint32m4_t a, vuint32m4_t b, size_t vl) {
    vuint32m4_t power = __riscv_vmv_v_x_u32m4(1, vl);
    for (int bit = 0; bit < 32; bit++) {
        vbool8_t odd = __riscv_vmsne_vx_u32m4_b8(__riscv_vand_vx_u32m4(b, 1, vl), 0, vl);
        power = __riscv_vmul_vv_u32m4_mu(odd, power, power, a, vl);
        a = __riscv_vmul_vv_u32m4(a, a, vl);
        b = __riscv_vsrl_vx_u32m4(b, 1, vl);
    }
    return power;
}
XA_INLINE vint32m4_t xv_pow_i32(vint32m4_t a, vint32m4_t b, size_t vl) {
    vint32m4_t power = XV_SIGNED(xv_pow_u32(XV_UNSIGNED(a), XV_UNSIGNED(b), vl));
    vbool8_t below = __riscv_vmslt_vx_i32m4_b8(b, 0, vl);
    vbool8_t other = __riscv_vmsgtu_vx_u32m4_b8(XV_UNSIGNED(xv_abs_i32(a, vl)), 1, vl);
    return __riscv_vmerge_vxm_i32m4(power, 0, __riscv_vmand_mm_b8(below, other, vl), vl);
}

XA_INLINE vint32m4_t xv_and_i32(vint32m4_t a, vint32m4_t b, size_t vl) {
    return __riscv_vand_vv_i32m4(a, b, vl);
}
XA_INLINE vint32m4_t xv_or_i32(vint32m4_t a, vint32m4_t b, size_t vl) {
    return __riscv_vor_vv_i32m4(a, b, vl);
}
XA_INLINE vint32m4_t xv_xor_i32(vint32m4_t a, vint32m4_t b, size_t vl) {
    return __riscv_vxor_vv_i32m4(a, b, vl);
}
XA_INLINE vint32m4_t xv_not_i32(vint32m4_t a, size_t vl) {
    return __riscv_vxor_vx_i32m4(a, 1, vl);
}

/* ---- Of floats, with a bool as result or operand ----------------------------------------------------------------- */

XA_INLINE vint32m4_t xv_equal(vfloat32m4_t a, vfloat32m4_t b, size_t vl) {
    return xv_of_mask(__riscv_vmfeq_vv_f32m4_b8(a, b, vl), vl);
}
XA_INLINE vint32m4_t xv_less(vfloat32m4_t a, vfloat32m4_t b, size_t vl) {
    return xv_of_mask(__riscv_vmflt_vv_f32m4_b8(a, b, vl), vl);
}
XA_INLINE vint32m4_t xv_less_or_equal(vfloat32m4_t a, vfloat32m4_t b, size_t vl) {
    return xv_of_mask(__riscv_vmfle_vv_f32m4_b8(a, b, vl), vl);
}
XA_INLINE vint32m4_t xv_greater(vfloat32m4_t a, vfloat32m4_t b, size_t vl) {
    return xv_less(b, a, vl);
}
XA_INLINE vint32m4_t xv_greater_or_equal(vfloat32m4_t a, vfloat32m4_t b, size_t vl) {
    return xv_less_or_equal(b, a, vl);
}
XA_INLINE vfloat32m4_t xv_where(vint32m4_t chosen, vfloat32m4_t a, vfloat32m4_t b, size_t vl) {
    return __riscv_vmerge_vvm_f32m4(b, a, __riscv_vmsne_vx_i32m4_b8(chosen, 0, vl), vl);
}

#endif
