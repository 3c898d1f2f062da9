/*
 * Every rounding of the project, once: docs/arithmetic.md is the readable form of this file. Header only; it compiles
 * for the host (gcc, clang) and for the device (clang, riscv32, freestanding) and gives the same bits on both. All
 * NaNs count as equal (xa_same); comparisons and conversions to integer are those of RISC-V; a maximum, minimum or clip
 * of a NaN is a NaN, as in ONNX. core/arith_rvv.h holds the vector forms. Functions are branch-free, so that loops over
 * them vectorise (gcc wants -fno-math-errno and -fno-trapping-math for that; neither changes a result).
 *
 * fl(..) in comments: rounded to float32, ties to even. rne(..): rounded to integer, ties to even.
 */
#ifndef XPU_CORE_ARITH_H
#define XPU_CORE_ARITH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each operation rounds on its own: no contraction to fma, no wider intermediates, no value-changing optimisation.
 * gcc tells by __GCC_IEC_559 what it was asked for, but in ISO mode only: in GNU mode XA_PRODUCT below keeps a product
 * from being merged with the sum that follows. xa_contraction_is_off() looks at the code that was really made. */
#if defined(__FAST_MATH__) || __FINITE_MATH_ONLY__ || __FLT_EVAL_METHOD__ != 0
#error "core/arith.h needs IEEE arithmetic in float: no -ffast-math, -ffinite-math-only or x87"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#define XA_PRODUCT(product) (product)
#else
#if __GCC_IEC_559 != 2
#error "core/arith.h needs -ffp-contract=off"
#endif
#define XA_PRODUCT(product) __builtin_assoc_barrier(product)
#endif

#define XA_INLINE static inline __attribute__((always_inline, unused))

enum { XA_LANES = 16, XA_I16_MAX = 32767, XA_I8_MAX = 127, XA_ACC48_BITS = 48 };

/* ---- Bits, NaN ------------------------------------------------------------------------------------------------- */

XA_INLINE uint32_t xa_bits(float x) {
    uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

XA_INLINE float xa_float(uint32_t bits) {
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

XA_INLINE float xa_inf(void) {
    return __builtin_inff();
}

/* The lowest number: the maximum of no elements at all, in windows of padding only. */
XA_INLINE float xa_lowest(void) {
    return -0x1.fffffep127f;
}

/* The canonical NaN of RISC-V: the only one that dumps hold. */
XA_INLINE float xa_nan(void) {
    return xa_float(0x7fc00000u);
}

XA_INLINE bool xa_is_nan(float x) {
    return x != x;
}

/* x as it is written to dumps and files. */
XA_INLINE float xa_canonical(float x) {
    return x != x ? xa_nan() : x;
}

/* Equal bits, all NaNs being the same. */
XA_INLINE bool xa_same(float a, float b) {
    return xa_bits(xa_canonical(a)) == xa_bits(xa_canonical(b));
}

/* ---- The basic operations --------------------------------------------------------------------------------------- */

XA_INLINE float xa_add(float a, float b) {
    return a + b;
}
XA_INLINE float xa_sub(float a, float b) {
    return a - b;
}
XA_INLINE float xa_mul(float a, float b) {
    return XA_PRODUCT(a * b);
}
XA_INLINE float xa_div(float a, float b) {
    return a / b;
}
XA_INLINE float xa_fma(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}
XA_INLINE float xa_neg(float x) {
    return -x;
}
XA_INLINE float xa_abs(float x) {
    return __builtin_fabsf(x);
}
XA_INLINE float xa_sqrt(float x) {
    return __builtin_sqrtf(x);
}
XA_INLINE float xa_identity(float x) {
    return x;
}

/* fl(fl(a * b) + c): two roundings, as two operators of a graph. */
XA_INLINE float xa_mul_add(float a, float b, float c) {
    return xa_mul(a, b) + c;
}

/* A sum of products begins as the zero that changes no number: so with its first product, which a kernel may multiply
 * where others add it by fma to this. Behind the last one comes the bias, or +0 where there is none. */
#define XA_NO_PRODUCTS (-0.0f)

XA_INLINE float xa_end_sum(float sum, float bias) {
    return sum + bias;
}

/* A step of a chain whose second operand is one number. */
XA_INLINE float xa_add_scalar(float a, float b) {
    return a + b;
}
XA_INLINE float xa_mul_scalar(float a, float b) {
    return xa_mul(a, b);
}

/* fmin.s and fmax.s: the other operand when one is NaN, the canonical NaN when both are; -0 is less than +0. */
XA_INLINE float xa_fmin(float a, float b) {
#if defined(__riscv)
    return __builtin_fminf(a, b);
#else
    float least = a < b ? a : b;
    float either = a == b ? xa_float(xa_bits(a) | xa_bits(b)) : least; /* equal: differ in a zero's sign at most */
    return xa_canonical(b != b ? a : either);
#endif
}

XA_INLINE float xa_fmax(float a, float b) {
#if defined(__riscv)
    return __builtin_fmaxf(a, b);
#else
    float most = a > b ? a : b;
    float either = a == b ? xa_float(xa_bits(a) & xa_bits(b)) : most;
    return xa_canonical(b != b ? a : either);
#endif
}

/* The operators Min and Max: NaN where an operand is NaN; -0 is less than +0. */
XA_INLINE float xa_min(float a, float b) {
    float least = xa_fmin(a, b);
    return ((a != a) | (b != b)) ? xa_nan() : least;
}

XA_INLINE float xa_max(float a, float b) {
    float most = xa_fmax(a, b);
    return ((a != a) | (b != b)) ? xa_nan() : most;
}

/* min(max(x, lo), hi); NaN stays NaN, a limit that is NaN is none. */
XA_INLINE float xa_clip(float x, float lo, float hi) {
    float clipped = xa_fmin(xa_fmax(x, lo), hi);
    return x != x ? xa_nan() : clipped;
}

/* max(x, +0): NaN stays NaN, -0 gives +0. */
XA_INLINE float xa_relu(float x) {
    return x <= 0.0f ? 0.0f : x;
}

/* NaN stays NaN, zeros keep their sign. */
XA_INLINE float xa_leaky_relu(float x, float alpha) {
    float scaled = xa_mul(x, alpha);
    return x < 0.0f ? scaled : x;
}

/* clip(fl(fl(alpha * x) + beta), 0, 1) */
XA_INLINE float xa_hard_sigmoid(float x, float alpha, float beta) {
    return xa_clip(xa_mul_add(alpha, x, beta), 0.0f, 1.0f);
}

/* fl(x * hard_sigmoid(x, 1/6, 1/2)) */
XA_INLINE float xa_hard_swish(float x) {
    return xa_mul(x, xa_hard_sigmoid(x, 1.0f / 6.0f, 0.5f));
}

/* ---- Integers --------------------------------------------------------------------------------------------------- */

XA_INLINE int32_t xa_clamp_i32(int32_t x, int32_t lo, int32_t hi) {
    int32_t raised = x < lo ? lo : x;
    return raised > hi ? hi : raised;
}

/* To an integral float, ties to even; the sign of a zero is that of x; NaN and infinities stay. */
XA_INLINE float xa_round(float x) {
    uint32_t sign = xa_bits(x) & 0x80000000u;
    float magic = xa_float(0x4b000000u | sign); /* 2^23: its last place is 1 */
    float rounded = (x + magic) - magic;
    float signed_result = xa_float(xa_bits(rounded) | sign);
    return __builtin_fabsf(x) < 0x1p23f ? signed_result : x;
}

/* Converts an integral float as fcvt.w.s does: out of range saturates, NaN gives INT32_MAX. */
XA_INLINE int32_t xa_integral_to_i32(float x) {
    float low = x > -0x1p31f ? x : -0x1p31f; /* NaN to -2^31: any value in range serves */
    float in_range = low < 0x1p31f ? low : 0.0f;
    int32_t converted = (int32_t)in_range;
    return !(x < 0x1p31f) ? INT32_MAX : converted;
}

/* fcvt.w.s with rounding mode rne. */
XA_INLINE int32_t xa_rne_i32(float x) {
#if defined(__riscv)
    int32_t result;
    __asm__("fcvt.w.s %0, %1, rne" : "=r"(result) : "f"(x));
    return result;
#else
    return xa_integral_to_i32(xa_round(x));
#endif
}

/* fcvt.w.s with rounding mode rtz: the operator Cast. */
XA_INLINE int32_t xa_rtz_i32(float x) {
    return xa_integral_to_i32(x);
}

/* fcvt.w.s with rounding mode rmm: ties away from zero (Paddle's round_type 1). */
XA_INLINE int32_t xa_away_i32(float x) {
    float even = xa_round(x);
    float toward_zero = x > 0.0f ? xa_sub(x, even) : xa_sub(even, x); /* 1/2: a tie went towards zero */
    float step = x > 0.0f ? 1.0f : -1.0f;
    return xa_integral_to_i32(toward_zero == 0.5f ? even + step : even);
}

/* clamp(q + zero, lo, hi) without overflow, however large q is; zero, lo, hi within 16 bits of 0. */
XA_INLINE int32_t xa_clamp_add(int32_t q, int32_t zero, int32_t lo, int32_t hi) {
    return xa_clamp_i32(q, lo - zero, hi - zero) + zero;
}

/* ---- Quantised operators (integer semantics of ONNX's QLinear operators) ----------------------------------------
 * q is int8 or uint8 widened to int32, lo and hi the limits of the result's type or of a fused clip. */

/* clamp(rne(fl(x / scale)) + zero) */
XA_INLINE int32_t xa_quantize(float x, float scale, int32_t zero, int32_t lo, int32_t hi) {
    return xa_clamp_add(xa_rne_i32(x / scale), zero, lo, hi);
}

/* clamp(rne(fl(fl(x / scale) + zero))): QLinearAveragePool */
XA_INLINE int32_t xa_quantize_shifted(float x, float scale, int32_t zero, int32_t lo, int32_t hi) {
    return xa_clamp_i32(xa_rne_i32(x / scale + (float)zero), lo, hi);
}

/* xa_quantize with ties away from zero. */
XA_INLINE int32_t xa_quantize_away(float x, float scale, int32_t zero, int32_t lo, int32_t hi) {
    return xa_clamp_add(xa_away_i32(x / scale), zero, lo, hi);
}

/* Division by multiplications, for quotients that become bytes. The first step below makes the quotient faithful, the
 * second rounds it correctly (Markstein; Muller et al., Handbook of Floating-Point Arithmetic, on division with fma),
 * as long as nothing underflows: quotients of 1/4 and more are fl(x / scale), smaller ones stay smaller. */
typedef struct {
    float scale, inverse, most; /* most: what has the quotient XA_MOST_QUOTIENT */
} xa_divisor;
#define XA_MOST_QUOTIENT 1024

/* Whether xa_quotient may divide by it. */
XA_INLINE int xa_is_divisor(float scale) {
    return scale >= 0x1p-90f && scale <= 0x1p90f;
}
XA_INLINE xa_divisor xa_divisor_of(float scale) {
    return (xa_divisor){scale, 1.0f / scale, xa_mul(XA_MOST_QUOTIENT, scale)};
}
/* Within +-XA_MOST_QUOTIENT, which is also the quotient of NaN. */
XA_INLINE float xa_quotient(float x, xa_divisor d) {
    float most = xa_fmax(xa_fmin(x, d.most), -d.most), q = xa_mul(most, d.inverse);
    q = xa_fma(xa_fma(-q, d.scale, most), d.inverse, q);
    return xa_fma(xa_fma(-q, d.scale, most), d.inverse, q);
}

/* xa_quantize to a byte. */
XA_INLINE int32_t xa_quantize_byte(float x, xa_divisor d, int32_t zero, int32_t lo, int32_t hi) {
    return xa_clamp_add(xa_rne_i32(xa_quotient(x, d)), zero, lo, hi);
}

/* fl(float(q - zero) * scale); q may be an int32 too. */
XA_INLINE float xa_dequantize(int32_t q, float scale, int32_t zero) {
    return xa_mul((float)(int32_t)((uint32_t)q - (uint32_t)zero), scale);
}

/* Conv, MatMul, Gemm: s of one channel, fl(fl(x_scale * w_scale) / y_scale). */
XA_INLINE float xa_requantize_scale(float x_scale, float w_scale, float y_scale) {
    return xa_mul(x_scale, w_scale) / y_scale;
}

/* Conv, MatMul, Gemm, and stage 1 of the post-processor: clamp(rne(fl(float(acc) * s)) + zero). acc includes the bias
 * (int32, wrapping). */
XA_INLINE int32_t xa_requantize(int32_t acc, float s, int32_t zero, int32_t lo, int32_t hi) {
    return xa_clamp_add(xa_rne_i32(xa_mul((float)acc, s)), zero, lo, hi);
}

/* The float nearest to high * 2^16 + low, for |high| <= 2^24 and 0 <= low < 2^16: only the fma rounds. */
XA_INLINE float xa_wide_float(int32_t high, int32_t low) {
    return xa_fma((float)high, 65536.0f, (float)low);
}

/* GlobalAveragePool: acc = high * 2^16 + low = sum(x - x_zero), s = xa_average_scale. As xa_requantize(acc, ...) where
 * acc has 32 bits. */
XA_INLINE int32_t xa_mean(int32_t high, int32_t low, float s, int32_t zero, int32_t lo, int32_t hi) {
    return xa_clamp_add(xa_rne_i32(xa_mul(xa_wide_float(high, low), s)), zero, lo, hi);
}

/* GlobalAveragePool over n elements: fl(x_scale / fl(y_scale * n)). */
XA_INLINE float xa_average_scale(float x_scale, float y_scale, int32_t n) {
    return x_scale / xa_mul(y_scale, (float)n);
}

/* Add: constants of clamp(rne(fma(a, ra, fma(b, rb, f)))). */
typedef struct {
    float ra, rb, f;
} xa_qadd_constants;

XA_INLINE xa_qadd_constants xa_qadd_prepare(float a_scale, int32_t a_zero, float b_scale, int32_t b_zero, float c_scale,
                                            int32_t c_zero) {
    xa_qadd_constants k;
    k.ra = a_scale / c_scale;
    k.rb = b_scale / c_scale;
    k.f = (float)c_zero - xa_fma(k.ra, (float)a_zero, xa_mul(k.rb, (float)b_zero));
    return k;
}

/* Add, and stage 2 of the post-processor. The roundings are not the same for b and a. */
XA_INLINE int32_t xa_qadd(int32_t a, int32_t b, float ra, float rb, float f, int32_t lo, int32_t hi) {
    return xa_clamp_i32(xa_rne_i32(xa_fma((float)a, ra, xa_fma((float)b, rb, f))), lo, hi);
}

/* Mul: r = fl(fl(a_scale * b_scale) / c_scale). */
XA_INLINE float xa_qmul_scale(float a_scale, float b_scale, float c_scale) {
    return xa_mul(a_scale, b_scale) / c_scale;
}

/* Mul: clamp(rne(fl(fl(fl((a - a_zero) * (b - b_zero)) * r) + c_zero))): the zero point comes before the rounding to
 * integer, and product and sum round separately (an fma differs from onnxruntime in 633 of 26 million elements chosen
 * near ties, this form in none). */
XA_INLINE int32_t xa_qmul(int32_t a, int32_t a_zero, int32_t b, int32_t b_zero, float r, int32_t c_zero, int32_t lo,
                          int32_t hi) {
    float product = xa_mul((float)(a - a_zero), (float)(b - b_zero));
    return xa_clamp_i32(xa_rne_i32(xa_mul(product, r) + (float)c_zero), lo, hi);
}

/* DynamicQuantizeLinear: uint8 parameters for values from low <= 0 to high >= 0; both are NaN where a value is: so is
 * the scale. */
typedef struct {
    float scale;
    int32_t zero;
} xa_dynamic_range;

XA_INLINE xa_dynamic_range xa_dynamic_quantize(float low, float high) {
    xa_dynamic_range range;
    range.scale = high == low ? 1.0f : (high - low) / 255.0f;
    range.zero = xa_clamp_i32(xa_rne_i32(0.0f - low / range.scale), 0, 255);
    return range;
}

/* ---- int16 and int16x8 for float models; int8 the same way, with limit 127 --------------------------------------- */

/* |x| as its bits, whose order is that of the magnitudes; NaN counts as +inf. */
XA_INLINE uint32_t xa_magnitude_bits(float x) {
    uint32_t bits = xa_bits(x) & 0x7fffffffu;
    return bits < 0x7f800000u ? bits : 0x7f800000u;
}

/* findmax: starts at 0; max |x| so far. */
XA_INLINE float xa_absmax(float so_far, float x) {
    uint32_t old = xa_bits(so_far), bits = xa_magnitude_bits(x);
    return xa_float(old > bits ? old : bits);
}

/* The same over n elements. */
XA_INLINE float xa_absmax_of(const float *x, size_t n) {
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = xa_magnitude_bits(x[i]);
        most = most > bits ? most : bits;
    }
    return xa_float(most);
}

/* fl(absmax / limit), limit 32767 or 127. NaN where absmax is not finite: results that use the scale are NaN. */
XA_INLINE float xa_absmax_scale(float absmax, int32_t limit) {
    float scale = absmax / (float)limit;
    return absmax < xa_inf() ? scale : xa_nan();
}

/* fl(limit / absmax), at most the largest float (so that 0 stays 0 beside tiny values); 0 where absmax is 0. */
XA_INLINE float xa_absmax_inverse(float absmax, int32_t limit) {
    float inverse = (float)limit / absmax;
    float finite = inverse < 0x1.fffffep127f ? inverse : 0x1.fffffep127f;
    return absmax > 0.0f ? finite : 0.0f;
}

/* clamp(rne(fl(x * inverse)), -limit, limit); NaN gives limit. */
XA_INLINE int32_t xa_absmax_quantize(float x, float inverse, int32_t limit) {
    return xa_clamp_i32(xa_rne_i32(xa_mul(x, inverse)), -limit, limit);
}

/* ---- rows of int16 products, each with a power of two of its own ---- */

/* Above the magnitudes of a row that is divided by its power: the absmax that all such rows have in common. */
#define XA_ROW_ABSMAX 2.0f

/* The power of two p by which a row of this absmax is divided: 1 <= absmax / p < 2. At least 2^-127, so that p and 1/p
 * are floats; NaN where the row holds inf or NaN, so that all of its results are NaN, and no other row's. */
XA_INLINE float xa_row_power(float absmax) {
    uint32_t exponent = xa_bits(absmax) & 0x7f800000u;
    if (exponent == 0x7f800000u) return xa_nan();
    return xa_float(exponent ? exponent : 0x00400000u);
}

/* 1 / xa_row_power(absmax), exact. */
XA_INLINE float xa_row_inverse(float absmax) {
    uint32_t exponent = xa_bits(absmax) & 0x7f800000u, inverse = (254u << 23) - exponent;
    if (exponent == 0x7f800000u) return xa_nan();
    return xa_float(inverse ? inverse : 0x00400000u);
}

/* The scale of output channel c, computed when a descriptor starts: fl(x_scale * w_scale[c]). */
XA_INLINE float xa_channel_scale(float x_scale, float w_scale) {
    return xa_mul(x_scale, w_scale);
}

/* Of a sum of n such elements that becomes their mean. */
XA_INLINE float xa_mean_scale(float x_scale, int64_t n) {
    return xa_channel_scale(x_scale, xa_div(1.0f, (float)n));
}

/* Accumulators of the int16 operand modes wrap at 48 bits. */
XA_INLINE int64_t xa_acc48_wrap(int64_t acc) {
    uint64_t low = (uint64_t)acc << (64 - XA_ACC48_BITS);
    return (int64_t)low >> (64 - XA_ACC48_BITS);
}

/* float(acc), rounded once; acc is a wrapped 48-bit value. */
XA_INLINE float xa_acc48_to_float(int64_t acc) {
#if defined(__riscv)
    return (float)acc;
#else
    /* 1.5 * 2^52 + acc is exact as a double, and so is the difference; this form vectorises without AVX-512. */
    uint64_t bits = (uint64_t)acc + 0x4338000000000000u;
    double shifted;
    __builtin_memcpy(&shifted, &bits, sizeof shifted);
    return (float)(shifted - 0x1.8p52);
#endif
}

/* ---- Post-processor --------------------------------------------------------------------------------------------- */

/* Quantised mode, one element: xa_requantize(acc, s[c], zero, lo, hi), then as the parameters say. */
typedef struct {
    int32_t zero, lo, hi; /* stage 1 */
    bool has_branch;      /* stage 2: xa_qadd with ra, rb, f */
    bool branch_first;    /* of the branch and stage 1 instead of stage 1 and the branch; ra is still of stage 1 */
    float ra, rb, f;
    int32_t lo2, hi2;
    const uint8_t *table; /* NULL, or 256 bytes indexed by the low byte of the result */
    bool table_is_signed; /* the bytes of the table are int8 */
} xa_post_quantised;

XA_INLINE int32_t xa_post_quantise(int32_t acc, float s, int32_t branch, const xa_post_quantised *p) {
    int32_t y = xa_requantize(acc, s, p->zero, p->lo, p->hi);
    if (p->has_branch && p->branch_first) y = xa_qadd(branch, y, p->rb, p->ra, p->f, p->lo2, p->hi2);
    if (p->has_branch && !p->branch_first) y = xa_qadd(y, branch, p->ra, p->rb, p->f, p->lo2, p->hi2);
    if (!p->table) return y;
    uint8_t byte = p->table[(uint8_t)y];
    return p->table_is_signed ? (int8_t)byte : byte;
}

/* Hard swish as an activation: times a factor plus an addend, rounded once. */
XA_INLINE float xa_scaled_swish(float x, float factor, float addend) {
    return xa_fma(xa_hard_swish(x), factor, addend);
}

typedef enum { XA_ACT_NONE, XA_ACT_CLIP, XA_ACT_LEAKY, XA_ACT_HARD_SWISH } xa_activation;

/* Float mode. */
typedef struct {
    bool has_bias, has_branch; /* absent: the addition is left out */
    bool act_after;            /* the activation comes after the branch, else before it */
    xa_activation activation;
    float lo, hi, slope; /* hard swish: slope is its factor, lo its addend */
    bool clips_last;     /* the result is clipped then, not in xa_post_floating */
    float last_lo, last_hi;
} xa_post_float;

XA_INLINE float xa_activate(float x, const xa_post_float *p) {
    switch (p->activation) {
    case XA_ACT_CLIP: return xa_clip(x, p->lo, p->hi);
    case XA_ACT_LEAKY: return xa_leaky_relu(x, p->slope);
    case XA_ACT_HARD_SWISH: return xa_scaled_swish(x, p->slope, p->lo);
    default: return x;
    }
}

/* acc is float(acc): a converted int32, or xa_acc48_to_float. act_after: act(fl(fl(fl(acc * s) + bias) + branch)). The
 * result goes out as it is or through xa_absmax_quantize with the output's multiplier; findmax takes xa_absmax of it.
 */
XA_INLINE float xa_post_floating(float acc, float s, float bias, float branch, const xa_post_float *p) {
    float y = xa_mul(acc, s);
    if (p->has_bias) y += bias;
    if (!p->act_after) y = xa_activate(y, p);
    if (p->has_branch) y += branch;
    return p->act_after ? xa_activate(y, p) : y;
}

/* ---- Order of reductions ----------------------------------------------------------------------------------------
 * 16 strided lanes: element i in logical order goes to lane i mod 16; then a fixed binary tree. */

typedef struct {
    float lane[XA_LANES];
} xa_lanes;

XA_INLINE xa_lanes xa_lanes_fill(float x) {
    xa_lanes lanes;
    for (int i = 0; i < XA_LANES; i++) lanes.lane[i] = x;
    return lanes;
}

/* The tree: lane j += lane j + step for steps 8, 4, 2, 1. */
XA_INLINE float xa_lanes_sum(xa_lanes lanes) {
    for (int step = XA_LANES / 2; step > 0; step /= 2)
        for (int j = 0; j < step; j++) lanes.lane[j] += lanes.lane[j + step];
    return lanes.lane[0];
}

/* Elements that are not 0 are counted in blocks of so many. */
enum { XA_NONZERO_BLOCK = 256 };

/* Element i of a range: each operation rounded. */
XA_INLINE float xa_range(float start, float step, uint32_t i) {
    float way = (float)i * step;
    return start + way;
}

/* Sum of n elements x[0], x[stride], ...: lanes start at +0. */
XA_INLINE float xa_reduce_sum(const float *x, size_t n, size_t stride) {
    xa_lanes lanes = xa_lanes_fill(0.0f);
    size_t i = 0;
    for (; i + XA_LANES <= n; i += XA_LANES)
        for (size_t j = 0; j < XA_LANES; j++) lanes.lane[j] += x[(i + j) * stride];
    for (size_t j = 0; i + j < n; j++) lanes.lane[j] += x[(i + j) * stride];
    return xa_lanes_sum(lanes);
}

/* Maximum (xa_max); -inf for n = 0. Its result depends on no order. */
XA_INLINE float xa_reduce_max(const float *x, size_t n, size_t stride) {
    float most = -xa_inf();
    for (size_t i = 0; i < n; i++) most = xa_max(most, x[i * stride]);
    return most;
}

XA_INLINE float xa_reduce_min(const float *x, size_t n, size_t stride) {
    float least = xa_inf();
    for (size_t i = 0; i < n; i++) least = xa_min(least, x[i * stride]);
    return least;
}

/* Product: lanes start at 1; the same tree. */
XA_INLINE float xa_reduce_prod(const float *x, size_t n, size_t stride) {
    xa_lanes lanes = xa_lanes_fill(1.0f);
    for (size_t i = 0; i < n; i++) lanes.lane[i % XA_LANES] = xa_mul(lanes.lane[i % XA_LANES], x[i * stride]);
    for (int step = XA_LANES / 2; step > 0; step /= 2)
        for (int j = 0; j < step; j++) lanes.lane[j] = xa_mul(lanes.lane[j], lanes.lane[j + step]);
    return lanes.lane[0];
}

/* The reductions, in the order of their rows in core/ops/ops.def. A mean is fl(sum / n), of nothing 0. */
typedef enum { XA_REDUCE_SUM, XA_REDUCE_MEAN, XA_REDUCE_MAX, XA_REDUCE_MIN, XA_REDUCE_PROD } xa_reduction;

XA_INLINE float xa_reduce(xa_reduction kind, const float *x, size_t n, size_t stride) {
    switch (kind) {
    case XA_REDUCE_SUM: return xa_reduce_sum(x, n, stride);
    case XA_REDUCE_MEAN: return xa_reduce_sum(x, n, stride) / (float)(n ? n : 1);
    case XA_REDUCE_MAX: return xa_reduce_max(x, n, stride);
    case XA_REDUCE_MIN: return xa_reduce_min(x, n, stride);
    default: return xa_reduce_prod(x, n, stride);
    }
}

/* ---- Elementary functions: core/arith_poly.h on float ------------------------------------------------------------ */

#define XF_FUNCTION         XA_INLINE
#define XF                  float
#define XI                  int32_t
#define XM                  bool
#define XF_NAME(f)          xa_##f
#define XF_VL               /* scalars have no vector length */
#define XF_CALL(f, ...)     xa_##f(__VA_ARGS__)
#define XF_SPLAT(c)         (c)
#define XF_INF              __builtin_inff()
#define XF_NAN              __builtin_nanf("")
#define XF_ADD(a, b)        ((a) + (b))
#define XF_SUB(a, b)        ((a) - (b))
#define XF_MUL(a, b)        xa_mul(a, b)
#define XF_DIV(a, b)        ((a) / (b))
#define XF_FMA(a, b, c)     xa_fma(a, b, c)
#define XF_ADDC(a, c)       ((a) + (c))
#define XF_MULC(a, c)       xa_mul(a, c)
#define XF_RDIVC(a, c)      ((c) / (a))
#define XF_RSUBC(a, c)      ((c) - (a))
#define XF_FMAC(c, b, a)    xa_fma(c, b, a)
#define XF_LINE(c0, c1, x)  xa_fma(c1, x, c0)
#define XF_NEG(x)           (-(x))
#define XF_ABS(x)           __builtin_fabsf(x)
#define XF_COPYSIGN(x, s)   __builtin_copysignf(x, s)
#define XF_BITS(x)          ((int32_t)xa_bits(x))
#define XF_FROM_BITS(i)     xa_float((uint32_t)(i))
#define XF_NEAREST(x)       xa_nearest(x)
#define XF_FROM_INT(i)      ((float)(i))
#define XI_ADDC(a, c)       ((int32_t)((uint32_t)(a) + (uint32_t)(c)))
#define XI_SUB(a, b)        ((int32_t)((uint32_t)(a) - (uint32_t)(b)))
#define XI_SLLC(a, c)       ((int32_t)((uint32_t)(a) << (c)))
#define XI_SRAC(a, c)       ((a) >> (c))
#define XI_MINC(a, c)       ((a) < (c) ? (a) : (c))
#define XM_LTC(a, c)        ((a) < (c))
#define XM_GTC(a, c)        ((a) > (c))
#define XM_EQC(a, c)        ((a) == (c))
#define XM_LT(a, b)         ((a) < (b))
#define XM_GT(a, b)         ((a) > (b))
#define XM_EQ(a, b)         ((a) == (b))
#define XM_AND(m, n)        ((m) & (n))
#define XM_OR(m, n)         ((m) | (n))
#define XM_NOT(m)           (!(m))
#define XF_SELECT(m, a, b)  ((m) ? (a) : (b))
#define XF_SELECTC(m, c, b) ((m) ? (c) : (b))

/* Adding 1.5 * 2^23 leaves the integer in the low bits. */
XA_INLINE int32_t xa_nearest(float x) {
    return (int32_t)(xa_bits(x + 0x1.8p23f) - 0x4b400000u);
}

#include "core/arith_poly.h"

#define XI_ADD(a, b)        ((int32_t)((uint32_t)(a) + (uint32_t)(b)))
#define XI_MUL(a, b)        ((int32_t)((uint32_t)(a) * (uint32_t)(b)))
#define XI_MULHU(a, b)      ((int32_t)((uint64_t)(uint32_t)(a) * (uint32_t)(b) >> 32))
#define XI_OR(a, b)         ((a) | (b))
#define XI_ANDC(a, c)       ((a) & (c))
#define XI_SRLC(a, c)       ((int32_t)((uint32_t)(a) >> (c)))
#define XI_SLL(a, b)        ((int32_t)((uint32_t)(a) << (b)))
#define XI_SRL(a, b)        ((int32_t)((uint32_t)(a) >> (b)))
#define XI_RSUBC(a, c)      ((int32_t)((uint32_t)(c) - (uint32_t)(a)))
#define XI_SPLAT(c)         (c)
#define XI_SELECTC(m, c, b) ((m) ? (c) : (b))
#define XM_LTU(a, b)        ((uint32_t)(a) < (uint32_t)(b))
#define XM_IEQC(a, c)       ((a) == (c))
#include "core/arith_trigonometry.h"

#include "core/arith_elementwise.h"

/* ---- The remainder ----------------------------------------------------------------------------------------------- */

/* a - n b with n = a / b toward zero, exact, with the sign of a: C's fmod. NaN for b = 0 and for an infinite a. By long
 * division of the significands, 8 bits a step. */
XA_INLINE float xa_fmod(float a, float b) {
    const uint32_t one = 0x800000u;
    uint32_t size_a = xa_bits(a) & 0x7fffffffu, size_b = xa_bits(b) & 0x7fffffffu;
    uint32_t exponent_a = size_a >> 23, exponent_b = size_b >> 23;
    if (exponent_a == 255 || size_b == 0 || size_b > 0x7f800000u) return xa_nan();
    if (size_a < size_b) return a;
    uint32_t rest = exponent_a ? (size_a & (one - 1)) | one : size_a;
    uint32_t divisor = exponent_b ? (size_b & (one - 1)) | one : size_b;
    uint32_t least = exponent_b ? exponent_b : 1, left = (exponent_a ? exponent_a : 1) - least;
    for (rest %= divisor; left;) {
        uint32_t step = left < 8 ? left : 8;
        rest = (rest << step) % divisor;
        left -= step;
    }
    float size = xa_mul(xa_mul((float)rest, 0x1p-23f), xa_float(least << 23));
    return xa_float(xa_bits(size) | (xa_bits(a) & 0x80000000u));
}

/* ---- A look at the compiled code -------------------------------------------------------------------------------- */

/* False where this translation unit was compiled with contraction: a * b + c then leaves a residue. Library code
 * never needs it; tests call it. */
XA_INLINE bool xa_contraction_is_off(void) {
    volatile float third = 0x1.555556p-2f, three = 3.0f, minus_one = -1.0f;
    float a = third, b = three, c = minus_one;
    float plain = a * b + c;
    return plain == 0.0f;
}

#endif
