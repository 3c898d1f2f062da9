/*
 * Scalar float32. The host's SSE unit computes (it detects tininess after rounding, like RISC-V) with the core's
 * rounding mode; its sticky flags are the core's until they are read. Rounding to nearest with ties away from zero,
 * which it does not have, is done from a double that was rounded to odd.
 */
#include "sim/func/core_parts.h"

#include <math.h>
#include <xmmintrin.h>

enum { CSR_MASKS = 0x1f80, CSR_FLAGS = 0x3f };

/* XPU_RNE .. XPU_RUP as MXCSR's rounding control. */
static uint32_t control_of(unsigned mode) {
    static const uint8_t controls[4] = {0, 3, 1, 2};
    return CSR_MASKS | (uint32_t)(mode < 4 ? controls[mode] : 0) << 13;
}

static _Thread_local uint32_t host_control;

static uint8_t flags_of(uint32_t control) {
    return (uint8_t)((control & 0x20 ? XPU_FLAG_NX : 0) | (control & 0x10 ? XPU_FLAG_UF : 0) |
                     (control & 0x08 ? XPU_FLAG_OF : 0) | (control & 0x04 ? XPU_FLAG_DZ : 0) |
                     (control & 0x01 ? XPU_FLAG_NV : 0));
}

void xpu_fp_enter(xpu_hart *hart) {
    host_control = _mm_getcsr();
    _mm_setcsr(control_of(hart->frm));
}

void xpu_fp_collect(xpu_hart *hart) {
    hart->fflags |= flags_of(_mm_getcsr());
    _mm_setcsr(control_of(hart->frm));
}

void xpu_fp_leave(xpu_hart *hart) {
    hart->fflags |= flags_of(_mm_getcsr());
    _mm_setcsr(host_control);
}

/* Keeps the operations on both sides of a change of MXCSR where they are. */
#define ORDERED(value) __asm__ volatile("" : "+x"(value) : : "memory")

static float compute(xpu_fp_operation operation, float a, float b, float c) {
    switch (operation) {
    case XPU_FP_ADD: return a + b;
    case XPU_FP_SUB: return a - b;
    case XPU_FP_MUL: return a * b;
    case XPU_FP_DIV: return a / b;
    case XPU_FP_SQRT: return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a)));
    default: return fmaf(a, b, c);
    }
}

/* In double: towards zero, and odd where inexact; exact products and enough bits make one later rounding right. */
static double compute_odd(xpu_fp_operation operation, uint32_t a, uint32_t b, uint32_t c, uint32_t *flags) {
    uint32_t saved = _mm_getcsr();
    if (operation == XPU_FP_SQRT) b = 0; /* what is not used raises no flag */
    if (operation != XPU_FP_FMA) c = 0;
    _mm_setcsr(control_of(XPU_RTZ));
    float fa = xpu_float(a), fb = xpu_float(b), fc = xpu_float(c);
    ORDERED(fa);
    ORDERED(fb);
    ORDERED(fc);
    double x = fa, y = fb, z = fc, result;
    switch (operation) {
    case XPU_FP_ADD: result = x + y; break;
    case XPU_FP_SUB: result = x - y; break;
    case XPU_FP_MUL: result = x * y; break;
    case XPU_FP_DIV: result = x / y; break;
    case XPU_FP_SQRT: result = _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x))); break;
    default:
        result = x * y;
        ORDERED(result);
        result = result + z;
    }
    ORDERED(result);
    uint32_t raised = _mm_getcsr();
    _mm_setcsr(saved);
    *flags |= flags_of(raised) & (XPU_FLAG_NV | XPU_FLAG_DZ);
    if (raised & 0x20) {
        uint64_t bits;
        memcpy(&bits, &result, 8);
        bits |= 1;
        memcpy(&result, &bits, 8);
    }
    return result;
}

/* A double that holds a value exactly or rounded to odd, to float with ties away from zero. */
static uint32_t round_away(double value, uint32_t *flags) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    uint32_t sign = (uint32_t)(bits >> 63) << 31;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t mantissa = (bits & 0xfffffffffffff) | 0x10000000000000;
    if (value != value) return XPU_NAN_BITS;
    if (value == 0 || exponent == 1024) return sign | (value == 0 ? 0 : 0x7f800000);
    unsigned drop = exponent < -126 ? 29 + (unsigned)(-126 - exponent) : 29;
    if (drop > 60) drop = 60;
    uint64_t rest = mantissa & ((1ull << drop) - 1), half = 1ull << (drop - 1);
    uint32_t result = (uint32_t)(mantissa >> drop) + (rest >= half);
    if (exponent >= -126) result += (uint32_t)(exponent + 126) << 23;
    if (rest) *flags |= XPU_FLAG_NX;
    if (exponent > 127 || result >= 0x7f800000) {
        *flags |= XPU_FLAG_OF | XPU_FLAG_NX;
        return sign | 0x7f800000;
    }
    int reaches_normal = exponent == -127 && mantissa >> 28 == 0x1ffffff;
    if (rest && exponent < -126 && !reaches_normal) *flags |= XPU_FLAG_UF;
    return sign | result;
}

uint32_t xpu_fp_away(xpu_fp_operation operation, uint32_t a, uint32_t b, uint32_t c, uint32_t *flags) {
    double value = compute_odd(operation, a, b, c, flags);
    if (operation == XPU_FP_FMA) *flags |= xpu_fp_product_invalid(a, b);
    return round_away(value, flags);
}

uint32_t xpu_fp_from_int_away(int64_t value, uint32_t *flags) {
    return round_away((double)value, flags);
}

uint32_t xpu_fp_to_int(uint32_t value, unsigned bits, int is_signed, unsigned mode, uint32_t *flags) {
    uint32_t negative = value >> 31, exponent = value >> 23 & 255;
    uint64_t mantissa = (value & 0x7fffff) | (exponent ? 0x800000 : 0);
    uint64_t most = is_signed ? (1ull << (bits - 1)) - !negative : (1ull << bits) - 1;
    if (!is_signed && negative) most = 0;
    if (xpu_is_nan(value)) negative = 0, most = is_signed ? (1ull << (bits - 1)) - 1 : (1ull << bits) - 1;
    int shift = (int)(exponent ? exponent : 1) - 150; /* value = mantissa * 2^shift */
    uint64_t magnitude, rest = 0;
    if (exponent == 255 || shift > 16) {
        magnitude = UINT64_MAX;
    } else if (shift >= 0) {
        magnitude = mantissa << shift;
    } else {
        unsigned drop = shift < -40 ? 40 : (unsigned)-shift;
        uint64_t half = 1ull << (drop - 1);
        magnitude = mantissa >> drop;
        rest = mantissa & ((1ull << drop) - 1);
        magnitude += mode == XPU_RNE   ? rest > half || (rest == half && (magnitude & 1))
                     : mode == XPU_RMM ? rest >= half
                     : mode == XPU_RDN ? rest && negative
                     : mode == XPU_RUP ? rest && !negative
                                       : 0;
    }
    if (magnitude > most) {
        *flags |= XPU_FLAG_NV;
        magnitude = most;
    } else if (rest) {
        *flags |= XPU_FLAG_NX;
    }
    return negative ? (uint32_t)-magnitude : (uint32_t)magnitude;
}

/* Whether a is less than b, with -0 below +0; no NaN. */
static int below(uint32_t a, uint32_t b) {
    int32_t x = (int32_t)(a >> 31 ? a ^ 0x7fffffff : a), y = (int32_t)(b >> 31 ? b ^ 0x7fffffff : b);
    return x < y;
}

static uint32_t choose(uint32_t a, uint32_t b, int take_a, uint32_t *flags) {
    if (xpu_is_signalling(a) || xpu_is_signalling(b)) *flags |= XPU_FLAG_NV;
    if (xpu_is_nan(a)) return xpu_is_nan(b) ? XPU_NAN_BITS : b;
    return xpu_is_nan(b) || take_a ? a : b;
}

uint32_t xpu_fp_minimum(uint32_t a, uint32_t b, uint32_t *flags) {
    return choose(a, b, below(a, b), flags);
}
uint32_t xpu_fp_maximum(uint32_t a, uint32_t b, uint32_t *flags) {
    return choose(a, b, below(b, a), flags);
}

uint32_t xpu_fp_classify(uint32_t a) {
    uint32_t negative = a >> 31, exponent = a >> 23 & 255, fraction = a & 0x7fffff;
    if (exponent == 255 && fraction) return fraction & 0x400000 ? 1 << 9 : 1 << 8;
    unsigned kind = exponent == 255 ? 0 : exponent ? 1 : fraction ? 2 : 3; /* infinite, normal, subnormal, zero */
    return negative ? 1u << kind : 1u << (7 - kind);
}

/* The 7 bits of 1/x that are nearest for the middle of [1 + index/128, 1 + (index + 1)/128). */
static uint32_t reciprocal_table(uint32_t index) {
    return (131072 / (257 + 2 * index) + 1) / 2 - 128;
}

/* The same of 1/sqrt(x): index bit 6 is the exponent's last bit, bits 5:0 the fraction's first. */
static uint32_t rsqrt_table(uint32_t index) {
    uint32_t middle = (129 + 2 * (index & 63)) << (index < 64), y = 128;
    while (y < 255 && (uint64_t)(2 * y + 1) * (2 * y + 1) * middle < 4ull * 65536 * 128) y++;
    return y - 128;
}

static uint32_t normalise(uint32_t *fraction) {
    uint32_t shift = 0;
    while (!(*fraction & 0x800000)) *fraction <<= 1, shift++;
    *fraction &= 0x7fffff;
    return shift;
}

uint32_t xpu_fp_reciprocal7(uint32_t a, unsigned mode, uint32_t *flags) {
    uint32_t sign = a & 0x80000000, exponent = a >> 23 & 255, fraction = a & 0x7fffff;
    if (xpu_is_nan(a)) {
        if (xpu_is_signalling(a)) *flags |= XPU_FLAG_NV;
        return XPU_NAN_BITS;
    }
    if (exponent == 255) return sign;
    if (!exponent && !fraction) {
        *flags |= XPU_FLAG_DZ;
        return sign | 0x7f800000;
    }
    int scaled = (int)exponent;
    if (!exponent) scaled = 1 - (int)normalise(&fraction);
    if (scaled < -1) { /* the result is too large */
        *flags |= XPU_FLAG_OF | XPU_FLAG_NX;
        int largest = mode == XPU_RTZ || (mode == XPU_RDN && !sign) || (mode == XPU_RUP && sign);
        return sign | (largest ? 0x7f7fffff : 0x7f800000);
    }
    uint32_t result = reciprocal_table(fraction >> 16) << 16;
    int to = 253 - scaled;
    if (to > 0) return sign | (uint32_t)to << 23 | result;
    return sign | (result | 0x800000) >> (1 - to);
}

uint32_t xpu_fp_rsqrt7(uint32_t a, uint32_t *flags) {
    uint32_t exponent = a >> 23 & 255, fraction = a & 0x7fffff;
    if ((a & 0x7fffffff) == 0) {
        *flags |= XPU_FLAG_DZ;
        return (a & 0x80000000) | 0x7f800000;
    }
    if (xpu_is_nan(a) || a >> 31) {
        if (!xpu_is_nan(a) || xpu_is_signalling(a)) *flags |= XPU_FLAG_NV;
        return XPU_NAN_BITS;
    }
    if (exponent == 255) return 0;
    int scaled = (int)exponent;
    if (!exponent) scaled = 1 - (int)normalise(&fraction);
    uint32_t index = (uint32_t)(scaled & 1) << 6 | fraction >> 17;
    return (uint32_t)((380 - scaled) / 2) << 23 | rsqrt_table(index) << 16;
}

/* An operation that rounds, in the instruction's or the dynamic mode. Returns 0 for a reserved mode. */
static int arithmetic(xpu_hart *hart, const xpu_decoded *insn, xpu_fp_operation operation, const uint32_t *bits) {
    unsigned mode = insn->word >> 12 & 7;
    if (mode == 7) mode = hart->frm;
    if (mode > XPU_RMM) return 0;
    uint32_t flags = operation == XPU_FP_FMA ? xpu_fp_product_invalid(bits[0], bits[1]) : 0;
    if (mode == XPU_RMM) {
        hart->f[insn->rd] = xpu_fp_away(operation, bits[0], bits[1], bits[2], &flags);
    } else {
        float a = xpu_float(bits[0]), b = xpu_float(bits[1]), c = xpu_float(bits[2]);
        if (mode == hart->frm) {
            hart->f[insn->rd] = xpu_canonical(compute(operation, a, b, c));
        } else {
            xpu_fp_collect(hart);
            _mm_setcsr(control_of(mode));
            ORDERED(a);
            ORDERED(b);
            ORDERED(c);
            float result = compute(operation, a, b, c);
            ORDERED(result);
            xpu_fp_collect(hart);
            hart->f[insn->rd] = xpu_canonical(result);
        }
    }
    hart->fflags |= (uint8_t)flags;
    return 1;
}

static int convert(xpu_hart *hart, const xpu_decoded *insn) {
    unsigned mode = insn->word >> 12 & 7;
    if (mode == 7) mode = hart->frm;
    if (mode > XPU_RMM) return 0;
    uint32_t flags = 0, a = hart->f[insn->rs1];
    int is_signed = insn->op == XPU_INSN_FCVT_W_S || insn->op == XPU_INSN_FCVT_S_W;
    if (insn->op == XPU_INSN_FCVT_W_S || insn->op == XPU_INSN_FCVT_WU_S) {
        hart->x[insn->rd] = xpu_fp_to_int(a, 32, is_signed, mode, &flags);
    } else {
        uint32_t x = hart->x[insn->rs1];
        int64_t value = is_signed ? (int64_t)(int32_t)x : (int64_t)x;
        if (mode == XPU_RMM) {
            hart->f[insn->rd] = xpu_fp_from_int_away(value, &flags);
        } else {
            xpu_fp_collect(hart);
            _mm_setcsr(control_of(mode));
            double exact = (double)value;
            ORDERED(exact);
            float result = (float)exact;
            ORDERED(result);
            xpu_fp_collect(hart);
            hart->f[insn->rd] = xpu_bits(result);
        }
    }
    hart->fflags |= (uint8_t)flags;
    return 1;
}

/* feq, flt, fle */
static void compare(xpu_hart *hart, const xpu_decoded *insn) {
    uint32_t a = hart->f[insn->rs1], b = hart->f[insn->rs2], result = 0;
    if (xpu_is_nan(a) || xpu_is_nan(b)) {
        if (insn->op != XPU_INSN_FEQ_S || xpu_is_signalling(a) || xpu_is_signalling(b)) hart->fflags |= XPU_FLAG_NV;
    } else {
        int equal = a == b || ((a | b) & 0x7fffffff) == 0;
        int less = !equal && below(a, b);
        result = insn->op == XPU_INSN_FEQ_S ? equal : insn->op == XPU_INSN_FLT_S ? less : less || equal;
    }
    hart->x[insn->rd] = result;
}

static void move(xpu_hart *hart, const xpu_decoded *insn) {
    uint32_t a = hart->f[insn->rs1], b = hart->f[insn->rs2], sign = 0x80000000, flags = 0;
    switch (insn->op) {
    case XPU_INSN_FSGNJ_S: hart->f[insn->rd] = (a & ~sign) | (b & sign); break;
    case XPU_INSN_FSGNJN_S: hart->f[insn->rd] = (a & ~sign) | (~b & sign); break;
    case XPU_INSN_FSGNJX_S: hart->f[insn->rd] = a ^ (b & sign); break;
    case XPU_INSN_FMIN_S: hart->f[insn->rd] = xpu_fp_minimum(a, b, &flags); break;
    case XPU_INSN_FMAX_S: hart->f[insn->rd] = xpu_fp_maximum(a, b, &flags); break;
    case XPU_INSN_FMV_X_W: hart->x[insn->rd] = a; break;
    case XPU_INSN_FMV_W_X: hart->f[insn->rd] = hart->x[insn->rs1]; break;
    default: hart->x[insn->rd] = xpu_fp_classify(a); break;
    }
    hart->fflags |= (uint8_t)flags;
}

xpu_outcome xpu_exec_fp(xpu_hart *hart, xpu_decoded *insn) {
    const uint32_t sign = 0x80000000;
    uint32_t bits[3] = {hart->f[insn->rs1], hart->f[insn->rs2], hart->f[insn->word >> 27]};
    int known = 1;
    switch (insn->op) {
    case XPU_INSN_FADD_S: known = arithmetic(hart, insn, XPU_FP_ADD, bits); break;
    case XPU_INSN_FSUB_S: known = arithmetic(hart, insn, XPU_FP_SUB, bits); break;
    case XPU_INSN_FMUL_S: known = arithmetic(hart, insn, XPU_FP_MUL, bits); break;
    case XPU_INSN_FDIV_S: known = arithmetic(hart, insn, XPU_FP_DIV, bits); break;
    case XPU_INSN_FSQRT_S: known = arithmetic(hart, insn, XPU_FP_SQRT, bits); break;
    case XPU_INSN_FNMSUB_S:
    case XPU_INSN_FNMADD_S:
    case XPU_INSN_FMSUB_S:
    case XPU_INSN_FMADD_S:
        if (insn->op == XPU_INSN_FNMSUB_S || insn->op == XPU_INSN_FNMADD_S) bits[0] ^= sign;
        if (insn->op == XPU_INSN_FMSUB_S || insn->op == XPU_INSN_FNMADD_S) bits[2] ^= sign;
        known = arithmetic(hart, insn, XPU_FP_FMA, bits);
        break;
    case XPU_INSN_FEQ_S:
    case XPU_INSN_FLT_S:
    case XPU_INSN_FLE_S: compare(hart, insn); break;
    case XPU_INSN_FCVT_W_S:
    case XPU_INSN_FCVT_WU_S:
    case XPU_INSN_FCVT_S_W:
    case XPU_INSN_FCVT_S_WU: known = convert(hart, insn); break;
    default: move(hart, insn); break;
    }
    return known ? XPU_DONE : xpu_illegal(hart);
}
