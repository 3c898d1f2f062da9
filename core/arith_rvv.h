/*
 * core/arith.h for vectors, device only: xv_NAME(operands, immediates, vl) gives, element by element, the bits of
 * xa_NAME. Floats are vfloat32m4_t, integers vint32m4_t (64 elements at VLEN 512); immediates are scalars. frm must be
 * 0 (nearest, ties to even), as at start-up. Elements from vl on are unspecified unless a function says otherwise.
 */
#ifndef XPU_CORE_ARITH_RVV_H
#define XPU_CORE_ARITH_RVV_H

#include <riscv_vector.h>

#include "core/arith.h"

/* ---- The basic operations --------------------------------------------------------------------------------------- */

XA_INLINE vfloat32m4_t xv_splat(float c, size_t vl) {
    return __riscv_vfmv_v_f_f32m4(c, vl);
}
XA_INLINE vint32m4_t xv_splat_i32(int32_t c, size_t vl) {
    return __riscv_vmv_v_x_i32m4(c, vl);
}

/* Magnitudes as bits (xa_absmax), and the larger ones of two vectors; from vl on `most` stays. */
XA_INLINE vuint32m4_t xv_magnitude(vfloat32m4_t v, size_t vl) {
    return __riscv_vand_vx_u32m4(__riscv_vreinterpret_v_f32m4_u32m4(v), 0x7fffffff, vl);
}
XA_INLINE vuint32m4_t xv_most(vuint32m4_t most, vuint32m4_t bits, size_t vl) {
    return __riscv_vmaxu_vv_u32m4_tu(most, most, bits, vl);
}

#define XV_BINARY(name, instruction)                                                                                   \
    XA_INLINE vfloat32m4_t xv_##name(vfloat32m4_t a, vfloat32m4_t b, size_t vl) {                                      \
        return __riscv_##instruction##_vv_f32m4(a, b, vl);                                                             \
    }
XV_BINARY(add, vfadd)
XV_BINARY(sub, vfsub)
XV_BINARY(mul, vfmul)
XV_BINARY(div, vfdiv)
XV_BINARY(fmin, vfmin)
XV_BINARY(fmax, vfmax)
#undef XV_BINARY

/* The instructions give the other operand where one is NaN: there the sum, which is NaN, takes its place. */
XA_INLINE vfloat32m4_t xv_or_nan(vfloat32m4_t number, vfloat32m4_t a, vfloat32m4_t b, size_t vl) {
    vbool8_t nan = __riscv_vmor_mm_b8(__riscv_vmfne_vv_f32m4_b8(a, a, vl), __riscv_vmfne_vv_f32m4_b8(b, b, vl), vl);
    return __riscv_vfadd_vv_f32m4_mu(nan, number, a, b, vl);
}
XA_INLINE vfloat32m4_t xv_min(vfloat32m4_t a, vfloat32m4_t b, size_t vl) {
    return xv_or_nan(xv_fmin(a, b, vl), a, b, vl);
}
XA_INLINE vfloat32m4_t xv_max(vfloat32m4_t a, vfloat32m4_t b, size_t vl) {
    return xv_or_nan(xv_fmax(a, b, vl), a, b, vl);
}

XA_INLINE vfloat32m4_t xv_fma(vfloat32m4_t a, vfloat32m4_t b, vfloat32m4_t c, size_t vl) {
    return __riscv_vfmacc_vv_f32m4(c, a, b, vl);
}

XA_INLINE vfloat32m4_t xv_mul_add(vfloat32m4_t a, vfloat32m4_t b, vfloat32m4_t c, size_t vl) {
    return xv_add(xv_mul(a, b, vl), c, vl);
}

XA_INLINE vfloat32m4_t xv_add_scalar(vfloat32m4_t a, float b, size_t vl) {
    return __riscv_vfadd_vf_f32m4(a, b, vl);
}
XA_INLINE vfloat32m4_t xv_mul_scalar(vfloat32m4_t a, float b, size_t vl) {
    return __riscv_vfmul_vf_f32m4(a, b, vl);
}

XA_INLINE vfloat32m4_t xv_neg(vfloat32m4_t x, size_t vl) {
    return __riscv_vfneg_v_f32m4(x, vl);
}
XA_INLINE vfloat32m4_t xv_abs(vfloat32m4_t x, size_t vl) {
    return __riscv_vfabs_v_f32m4(x, vl);
}
XA_INLINE vfloat32m4_t xv_sqrt(vfloat32m4_t x, size_t vl) {
    return __riscv_vfsqrt_v_f32m4(x, vl);
}
XA_INLINE vfloat32m4_t xv_relu(vfloat32m4_t x, size_t vl) {
    return __riscv_vfmerge_vfm_f32m4(x, 0.0f, __riscv_vmfle_vf_f32m4_b8(x, 0.0f, vl), vl);
}

XA_INLINE vfloat32m4_t xv_identity(vfloat32m4_t x, size_t vl) {
    (void)vl;
    return x;
}

/* Adding 2^23 of x's sign leaves no bits behind the point. */
XA_INLINE vfloat32m4_t xv_round(vfloat32m4_t x, size_t vl) {
    vfloat32m4_t magic = __riscv_vfsgnj_vv_f32m4(xv_splat(0x1p23f, vl), x, vl);
    vfloat32m4_t rounded = xv_sub(xv_add(x, magic, vl), magic, vl);
    rounded = __riscv_vfsgnj_vv_f32m4(rounded, x, vl);
    return __riscv_vmerge_vvm_f32m4(x, rounded, __riscv_vmflt_vf_f32m4_b8(xv_abs(x, vl), 0x1p23f, vl), vl);
}

XA_INLINE vfloat32m4_t xv_clip(vfloat32m4_t x, float lo, float hi, size_t vl) {
    vbool8_t number = __riscv_vmfeq_vv_f32m4_b8(x, x, vl);
    return __riscv_vfmin_vf_f32m4_mu(number, x, __riscv_vfmax_vf_f32m4(x, lo, vl), hi, vl);
}

XA_INLINE vfloat32m4_t xv_leaky_relu(vfloat32m4_t x, float alpha, size_t vl) {
    vbool8_t negative = __riscv_vmflt_vf_f32m4_b8(x, 0.0f, vl);
    return __riscv_vfmul_vf_f32m4_mu(negative, x, x, alpha, vl);
}

XA_INLINE vfloat32m4_t xv_hard_sigmoid(vfloat32m4_t x, float alpha, float beta, size_t vl) {
    return xv_clip(__riscv_vfadd_vf_f32m4(__riscv_vfmul_vf_f32m4(x, alpha, vl), beta, vl), 0.0f, 1.0f, vl);
}

/* Parts of hard swish, between which generated loops load and store. */
XA_INLINE vfloat32m4_t xv_swish_line(vfloat32m4_t x, size_t vl) {
    return __riscv_vfadd_vf_f32m4(__riscv_vfmul_vf_f32m4(x, 1.0f / 6.0f, vl), 0.5f, vl);
}
XA_INLINE vfloat32m4_t xv_swish_gate(vfloat32m4_t line, size_t vl) {
    return __riscv_vfmin_vf_f32m4(__riscv_vfmax_vf_f32m4(line, 0.0f, vl), 1.0f, vl);
}
XA_INLINE vfloat32m4_t xv_hard_swish(vfloat32m4_t x, size_t vl) {
    return xv_mul(x, xv_swish_gate(xv_swish_line(x, vl), vl), vl); /* of a NaN, too */
}

/* ---- Elementary functions: core/arith_poly.h on vfloat32m4_t ----------------------------------------------------- */

#define XF_FUNCTION         XA_INLINE
#define XF                  vfloat32m4_t
#define XI                  vint32m4_t
#define XM                  vbool8_t
#define XF_NAME(f)          xv_##f
#define XF_VL               , size_t vl
#define XF_CALL(f, ...)     xv_##f(__VA_ARGS__, vl)
#define XF_SPLAT(c)         __riscv_vfmv_v_f_f32m4(c, vl)
#define XF_INF              __builtin_inff()
#define XF_NAN              __builtin_nanf("")
#define XF_ADD(a, b)        __riscv_vfadd_vv_f32m4(a, b, vl)
#define XF_SUB(a, b)        __riscv_vfsub_vv_f32m4(a, b, vl)
#define XF_MUL(a, b)        __riscv_vfmul_vv_f32m4(a, b, vl)
#define XF_DIV(a, b)        __riscv_vfdiv_vv_f32m4(a, b, vl)
#define XF_FMA(a, b, c)     __riscv_vfmacc_vv_f32m4(c, a, b, vl)
#define XF_ADDC(a, c)       __riscv_vfadd_vf_f32m4(a, c, vl)
#define XF_MULC(a, c)       __riscv_vfmul_vf_f32m4(a, c, vl)
#define XF_RDIVC(a, c)      __riscv_vfrdiv_vf_f32m4(a, c, vl)
#define XF_RSUBC(a, c)      __riscv_vfrsub_vf_f32m4(a, c, vl)
#define XF_FMAC(c, b, a)    __riscv_vfmacc_vf_f32m4(a, c, b, vl)
#define XF_LINE(c0, c1, x)  __riscv_vfmacc_vf_f32m4(XF_SPLAT(c0), c1, x, vl)
#define XF_NEG(x)           __riscv_vfneg_v_f32m4(x, vl)
#define XF_ABS(x)           __riscv_vfabs_v_f32m4(x, vl)
#define XF_COPYSIGN(x, s)   __riscv_vfsgnj_vv_f32m4(x, s, vl)
#define XF_BITS(x)          __riscv_vreinterpret_v_f32m4_i32m4(x)
#define XF_FROM_BITS(i)     __riscv_vreinterpret_v_i32m4_f32m4(i)
#define XF_NEAREST(x)       __riscv_vfcvt_x_f_v_i32m4(x, vl)
#define XF_FROM_INT(i)      __riscv_vfcvt_f_x_v_f32m4(i, vl)
#define XI_ADDC(a, c)       __riscv_vadd_vx_i32m4(a, c, vl)
#define XI_SUB(a, b)        __riscv_vsub_vv_i32m4(a, b, vl)
#define XI_SLLC(a, c)       __riscv_vsll_vx_i32m4(a, c, vl)
#define XI_SRAC(a, c)       __riscv_vsra_vx_i32m4(a, c, vl)
#define XI_MINC(a, c)       __riscv_vmin_vx_i32m4(a, c, vl)
#define XM_LTC(a, c)        __riscv_vmflt_vf_f32m4_b8(a, c, vl)
#define XM_GTC(a, c)        __riscv_vmfgt_vf_f32m4_b8(a, c, vl)
#define XM_EQC(a, c)        __riscv_vmfeq_vf_f32m4_b8(a, c, vl)
#define XM_LT(a, b)         __riscv_vmflt_vv_f32m4_b8(a, b, vl)
#define XM_GT(a, b)         __riscv_vmfgt_vv_f32m4_b8(a, b, vl)
#define XM_EQ(a, b)         __riscv_vmfeq_vv_f32m4_b8(a, b, vl)
#define XM_AND(m, n)        __riscv_vmand_mm_b8(m, n, vl)
#define XM_OR(m, n)         __riscv_vmor_mm_b8(m, n, vl)
#define XM_NOT(m)           __riscv_vmnot_m_b8(m, vl)
#define XF_SELECT(m, a, b)  __riscv_vmerge_vvm_f32m4(b, a, m, vl)
#define XF_SELECTC(m, c, b) __riscv_vfmerge_vfm_f32m4(b, c, m, vl)
#include "core/arith_poly.h"

#define XU_OF(i)            __riscv_vreinterpret_v_i32m4_u32m4(i)
#define XI_OF(u)            __riscv_vreinterpret_v_u32m4_i32m4(u)
#define XI_ADD(a, b)        __riscv_vadd_vv_i32m4(a, b, vl)
#define XI_MUL(a, b)        __riscv_vmul_vv_i32m4(a, b, vl)
#define XI_MULHU(a, b)      XI_OF(__riscv_vmulhu_vv_u32m4(XU_OF(a), XU_OF(b), vl))
#define XI_OR(a, b)         __riscv_vor_vv_i32m4(a, b, vl)
#define XI_ANDC(a, c)       __riscv_vand_vx_i32m4(a, c, vl)
#define XI_SRLC(a, c)       XI_OF(__riscv_vsrl_vx_u32m4(XU_OF(a), c, vl))
#define XI_SLL(a, b)        __riscv_vsll_vv_i32m4(a, XU_OF(b), vl)
#define XI_SRL(a, b)        XI_OF(__riscv_vsrl_vv_u32m4(XU_OF(a), XU_OF(b), vl))
#define XI_RSUBC(a, c)      __riscv_vrsub_vx_i32m4(a, c, vl)
#define XI_SPLAT(c)         __riscv_vmv_v_x_i32m4(c, vl)
#define XI_SELECTC(m, c, b) __riscv_vmerge_vxm_i32m4(b, c, m, vl)
#define XM_LTU(a, b)        __riscv_vmsltu_vv_u32m4_b8(XU_OF(a), XU_OF(b), vl)
#define XM_IEQC(a, c)       __riscv_vmseq_vx_i32m4_b8(a, c, vl)
#include "core/arith_trigonometry.h"
#undef XU_OF
#undef XI_OF

#include "core/arith_elementwise.h"

/* The significand as an integer, and the exponent of its last place + 150, of |x| as bits. */
XA_INLINE vuint32m4_t xv_significand(vuint32m4_t size, size_t vl) {
    vuint32m4_t low = __riscv_vand_vx_u32m4(size, 0x7fffffu, vl);
    return __riscv_vor_vx_u32m4_mu(__riscv_vmsgtu_vx_u32m4_b8(size, 0x7fffffu, vl), low, low, 0x800000u, vl);
}
XA_INLINE vuint32m4_t xv_last_place(vuint32m4_t size, size_t vl) {
    return __riscv_vmaxu_vx_u32m4(__riscv_vsrl_vx_u32m4(size, 23, vl), 1, vl);
}

XA_INLINE vfloat32m4_t xv_fmod(vfloat32m4_t a, vfloat32m4_t b, size_t vl) {
    vuint32m4_t bits = __riscv_vreinterpret_v_f32m4_u32m4(a), size_a = __riscv_vand_vx_u32m4(bits, 0x7fffffffu, vl);
    vuint32m4_t size_b = __riscv_vand_vx_u32m4(__riscv_vreinterpret_v_f32m4_u32m4(b), 0x7fffffffu, vl);
    vuint32m4_t divisor = xv_significand(size_b, vl), least = xv_last_place(size_b, vl);
    vuint32m4_t above = __riscv_vmaxu_vv_u32m4(xv_last_place(size_a, vl), least, vl);
    vuint32m4_t left = __riscv_vsub_vv_u32m4(above, least, vl);
    vuint32m4_t rest = __riscv_vremu_vv_u32m4(xv_significand(size_a, vl), divisor, vl);
    while (__riscv_vfirst_m_b8(__riscv_vmsne_vx_u32m4_b8(left, 0, vl), vl) >= 0) {
        vuint32m4_t step = __riscv_vminu_vx_u32m4(left, 8, vl);
        rest = __riscv_vremu_vv_u32m4(__riscv_vsll_vv_u32m4(rest, step, vl), divisor, vl);
        left = __riscv_vsub_vv_u32m4(left, step, vl);
    }
    vfloat32m4_t scale = __riscv_vreinterpret_v_u32m4_f32m4(__riscv_vsll_vx_u32m4(least, 23, vl));
    vfloat32m4_t y = __riscv_vfmul_vf_f32m4(__riscv_vfcvt_f_xu_v_f32m4(rest, vl), 0x1p-23f, vl);
    y = __riscv_vfsgnj_vv_f32m4(__riscv_vfmul_vv_f32m4(y, scale, vl), a, vl);
    y = __riscv_vmerge_vvm_f32m4(y, a, __riscv_vmsltu_vv_u32m4_b8(size_a, size_b, vl), vl);
    vbool8_t none = __riscv_vmor_mm_b8(__riscv_vmsgtu_vx_u32m4_b8(size_a, 0x7f7fffffu, vl),
                                       __riscv_vmsgtu_vx_u32m4_b8(size_b, 0x7f800000u, vl), vl);
    none = __riscv_vmor_mm_b8(none, __riscv_vmseq_vx_u32m4_b8(size_b, 0, vl), vl);
    return __riscv_vfmerge_vfm_f32m4(y, xa_nan(), none, vl);
}

/* ---- Integers and quantised operators: see the xa_ functions ----------------------------------------------------- */

XA_INLINE vint32m4_t xv_rne_i32(vfloat32m4_t x, size_t vl) {
    return __riscv_vfcvt_x_f_v_i32m4(x, vl);
}
XA_INLINE vint32m4_t xv_rtz_i32(vfloat32m4_t x, size_t vl) {
    return __riscv_vfcvt_rtz_x_f_v_i32m4(x, vl);
}
XA_INLINE vfloat32m4_t xv_from_i32(vint32m4_t q, size_t vl) {
    return __riscv_vfcvt_f_x_v_f32m4(q, vl);
}

XA_INLINE vint32m4_t xv_clamp_i32(vint32m4_t x, int32_t lo, int32_t hi, size_t vl) {
    return __riscv_vmin_vx_i32m4(__riscv_vmax_vx_i32m4(x, lo, vl), hi, vl);
}

XA_INLINE vint32m4_t xv_clamp_add(vint32m4_t q, int32_t zero, int32_t lo, int32_t hi, size_t vl) {
    return __riscv_vadd_vx_i32m4(xv_clamp_i32(q, lo - zero, hi - zero, vl), zero, vl);
}

XA_INLINE vint32m4_t xv_quantize(vfloat32m4_t x, float scale, int32_t zero, int32_t lo, int32_t hi, size_t vl) {
    return xv_clamp_add(xv_rne_i32(__riscv_vfdiv_vf_f32m4(x, scale, vl), vl), zero, lo, hi, vl);
}

XA_INLINE vint32m4_t xv_quantize_shifted(vfloat32m4_t x, float scale, int32_t zero, int32_t lo, int32_t hi, size_t vl) {
    vfloat32m4_t shifted = __riscv_vfadd_vf_f32m4(__riscv_vfdiv_vf_f32m4(x, scale, vl), (float)zero, vl);
    return xv_clamp_i32(xv_rne_i32(shifted, vl), lo, hi, vl);
}

/* Two of xa_quantize_byte, step by step: what one waits for, the other fills. */
XA_INLINE void xv_quantize_bytes(vfloat32m4_t x, vfloat32m4_t y, xa_divisor d, int32_t zero, int32_t lo, int32_t hi,
                                 vint16m2_t *x_to, vint16m2_t *y_to, size_t vl) {
    const int16_t low = (int16_t)(lo - zero), high = (int16_t)(hi - zero);
    x = __riscv_vfmin_vf_f32m4(x, d.most, vl), y = __riscv_vfmin_vf_f32m4(y, d.most, vl);
    x = __riscv_vfmax_vf_f32m4(x, -d.most, vl), y = __riscv_vfmax_vf_f32m4(y, -d.most, vl);
    vfloat32m4_t p = __riscv_vfmul_vf_f32m4(x, d.inverse, vl), q = __riscv_vfmul_vf_f32m4(y, d.inverse, vl);
    for (int i = 0; i < 2; i++) {
        vfloat32m4_t p_rest = __riscv_vfnmsac_vf_f32m4(x, d.scale, p, vl);
        vfloat32m4_t q_rest = __riscv_vfnmsac_vf_f32m4(y, d.scale, q, vl);
        p = __riscv_vfmacc_vf_f32m4(p, d.inverse, p_rest, vl), q = __riscv_vfmacc_vf_f32m4(q, d.inverse, q_rest, vl);
    }
    vint16m2_t v = __riscv_vfncvt_x_f_w_i16m2(p, vl), w = __riscv_vfncvt_x_f_w_i16m2(q, vl);
    v = __riscv_vmax_vx_i16m2(v, low, vl), w = __riscv_vmax_vx_i16m2(w, low, vl);
    v = __riscv_vmin_vx_i16m2(v, high, vl), w = __riscv_vmin_vx_i16m2(w, high, vl);
    *x_to = __riscv_vadd_vx_i16m2(v, (int16_t)zero, vl);
    *y_to = __riscv_vadd_vx_i16m2(w, (int16_t)zero, vl);
}

XA_INLINE vfloat32m4_t xv_dequantize(vint32m4_t q, float scale, int32_t zero, size_t vl) {
    return __riscv_vfmul_vf_f32m4(xv_from_i32(__riscv_vsub_vx_i32m4(q, zero, vl), vl), scale, vl);
}

/* s: one scale per element; xv_splat where all are the same. lo - zero .. hi - zero are int16: what does not fit is
 * clamped twice. */
XA_INLINE vint16m2_t xv_requantize_float(vfloat32m4_t acc, vfloat32m4_t s, int32_t zero, int32_t lo, int32_t hi,
                                         size_t vl) {
    vint16m2_t q = __riscv_vfncvt_x_f_w_i16m2(xv_mul(acc, s, vl), vl);
    q = __riscv_vmin_vx_i16m2(__riscv_vmax_vx_i16m2(q, (int16_t)(lo - zero), vl), (int16_t)(hi - zero), vl);
    return __riscv_vadd_vx_i16m2(q, (int16_t)zero, vl);
}
XA_INLINE vint16m2_t xv_requantize(vint32m4_t acc, vfloat32m4_t s, int32_t zero, int32_t lo, int32_t hi, size_t vl) {
    return xv_requantize_float(xv_from_i32(acc, vl), s, zero, lo, hi, vl);
}

XA_INLINE vint16m2_t xv_mean(vint32m4_t high, vint32m4_t low, float s, int32_t zero, int32_t lo, int32_t hi,
                             size_t vl) {
    vfloat32m4_t acc = __riscv_vfmacc_vf_f32m4(xv_from_i32(low, vl), 65536.0f, xv_from_i32(high, vl), vl);
    return xv_requantize_float(acc, xv_splat(s, vl), zero, lo, hi, vl);
}

/* Two of them, step by step: what one waits for, the other fills. */
XA_INLINE void xv_requantize_two(vint32m4_t a, vint32m4_t b, vfloat32m4_t s, int32_t zero, int32_t lo, int32_t hi,
                                 vint16m2_t *a_to, vint16m2_t *b_to, size_t vl) {
    const int16_t low = (int16_t)(lo - zero), high = (int16_t)(hi - zero);
    vfloat32m4_t x = xv_from_i32(a, vl), y = xv_from_i32(b, vl);
    x = xv_mul(x, s, vl), y = xv_mul(y, s, vl);
    vint16m2_t p = __riscv_vfncvt_x_f_w_i16m2(x, vl), q = __riscv_vfncvt_x_f_w_i16m2(y, vl);
    p = __riscv_vmax_vx_i16m2(p, low, vl), q = __riscv_vmax_vx_i16m2(q, low, vl);
    p = __riscv_vmin_vx_i16m2(p, high, vl), q = __riscv_vmin_vx_i16m2(q, high, vl);
    *a_to = __riscv_vadd_vx_i16m2(p, (int16_t)zero, vl);
    *b_to = __riscv_vadd_vx_i16m2(q, (int16_t)zero, vl);
}

XA_INLINE vint32m4_t xv_qadd(vint32m4_t a, vint32m4_t b, float ra, float rb, float f, int32_t lo, int32_t hi,
                             size_t vl) {
    vfloat32m4_t sum = __riscv_vfmacc_vf_f32m4(xv_splat(f, vl), rb, xv_from_i32(b, vl), vl);
    sum = __riscv_vfmacc_vf_f32m4(sum, ra, xv_from_i32(a, vl), vl);
    return xv_clamp_i32(xv_rne_i32(sum, vl), lo, hi, vl);
}

XA_INLINE vint32m4_t xv_qmul(vint32m4_t a, int32_t a_zero, vint32m4_t b, int32_t b_zero, float r, int32_t c_zero,
                             int32_t lo, int32_t hi, size_t vl) {
    vfloat32m4_t x = xv_from_i32(__riscv_vsub_vx_i32m4(a, a_zero, vl), vl);
    vfloat32m4_t y = xv_from_i32(__riscv_vsub_vx_i32m4(b, b_zero, vl), vl);
    vfloat32m4_t scaled = __riscv_vfmul_vf_f32m4(xv_mul(x, y, vl), r, vl);
    return xv_clamp_i32(xv_rne_i32(__riscv_vfadd_vf_f32m4(scaled, (float)c_zero, vl), vl), lo, hi, vl);
}

XA_INLINE vint32m4_t xv_absmax_quantize(vfloat32m4_t x, float inverse, int32_t limit, size_t vl) {
    return xv_clamp_i32(xv_rne_i32(__riscv_vfmul_vf_f32m4(x, inverse, vl), vl), -limit, limit, vl);
}

/* findmax: so_far starts as zeros in all elements; those from vl on are kept. */
XA_INLINE vuint32m4_t xv_absmax(vuint32m4_t so_far, vfloat32m4_t x, size_t vl) {
    vuint32m4_t bits = __riscv_vand_vx_u32m4(__riscv_vreinterpret_v_f32m4_u32m4(x), 0x7fffffffu, vl);
    bits = __riscv_vminu_vx_u32m4(bits, 0x7f800000u, vl);
    return __riscv_vmaxu_vv_u32m4_tu(so_far, so_far, bits, vl);
}

/* The absmax that vl elements of so_far hold. */
XA_INLINE float xv_absmax_result(vuint32m4_t so_far, size_t vl) {
    vuint32m1_t zero = __riscv_vmv_s_x_u32m1(0, 1);
    return xa_float(__riscv_vmv_x_s_u32m1_u32(__riscv_vredmaxu_vs_u32m4_u32m1(so_far, zero, vl)));
}

/* ---- Order of reductions ---------------------------------------------------------------------------------------- */

/* The 16 lanes of xa_lanes are one vfloat32m1_t; needs VLEN 512. */
XA_INLINE vfloat32m1_t xv_lanes_zero(void) {
    return __riscv_vfmv_v_f_f32m1(0.0f, XA_LANES);
}

/* Adds elements i .. i + vl - 1 of the logical order, i being a multiple of 64. */
XA_INLINE vfloat32m1_t xv_lanes_add(vfloat32m1_t lanes, vfloat32m4_t x, size_t vl) {
#define XV_ADD_PART(part)                                                                                              \
    if (vl > (part) * XA_LANES) {                                                                                      \
        size_t left = vl - (part) * XA_LANES;                                                                          \
        lanes = __riscv_vfadd_vv_f32m1_tu(lanes, lanes, __riscv_vget_v_f32m4_f32m1(x, part),                           \
                                          left < XA_LANES ? left : XA_LANES);                                          \
    }
    XV_ADD_PART(0)
    XV_ADD_PART(1)
    XV_ADD_PART(2)
    XV_ADD_PART(3)
#undef XV_ADD_PART
    return lanes;
}

XA_INLINE float xv_lanes_sum(vfloat32m1_t lanes) {
    for (size_t step = XA_LANES / 2; step > 0; step /= 2)
        lanes = __riscv_vfadd_vv_f32m1(lanes, __riscv_vslidedown_vx_f32m1(lanes, step, XA_LANES), step);
    return __riscv_vfmv_f_s_f32m1_f32(lanes);
}

/* The sum of n elements that lie side by side. */
XA_INLINE float xv_reduce_sum(const float *x, size_t n) {
    vfloat32m1_t lanes = xv_lanes_zero();
    for (size_t vl; n > 0; n -= vl, x += vl) {
        vl = __riscv_vsetvl_e32m4(n < 4 * XA_LANES ? n : 4 * XA_LANES);
        lanes = xv_lanes_add(lanes, __riscv_vle32_v_f32m4(x, vl), vl);
    }
    return xv_lanes_sum(lanes);
}

/* xa_max over so_far and vl elements; starts from -inf. */
XA_INLINE float xv_reduce_max(float so_far, vfloat32m4_t x, size_t vl) {
    vfloat32m1_t start = __riscv_vfmv_s_f_f32m1(so_far, 1);
    if (so_far != so_far || __riscv_vfirst_m_b8(__riscv_vmfne_vv_f32m4_b8(x, x, vl), vl) >= 0) return xa_nan();
    return __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredmax_vs_f32m4_f32m1(x, start, vl));
}

#endif
