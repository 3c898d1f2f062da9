/* Vector float32 instructions: operands around the loops, rounding that the host does not have, reductions. */
#include <math.h>

#include "sim/func/core_parts.h"

enum { LANES = 4 };
typedef uint32_t lanes __attribute__((vector_size(16)));
static inline lanes fuse(lanes p, lanes q, lanes r) {
    for (unsigned l = 0; l < LANES; l++) r[l] = xpu_bits(fmaf(xpu_float(p[l]), xpu_float(q[l]), xpu_float(r[l])));
    return r;
}
static inline int has_nan(lanes v) {
    int found = 0;
    for (unsigned l = 0; l < LANES; l++) found |= xpu_is_nan(v[l]);
    return found;
}
#define SPREAD(x)    ((lanes){(x), (x), (x), (x)})
#define FUSE         fuse
#define HAS_NAN      has_nan
#define KERNEL_TABLE xpu_fp_kernels_any
#include "sim/func/core_vfp_kernels.h"

enum { HARMLESS = 0x3f800000 }; /* 1.0: raises no flag in any operation, nor does its integer value */

/* A copy of n elements in which inactive ones are harmless. */
static const uint8_t *only_active(const uint8_t *from, const uint8_t *active, uint32_t n, unsigned sew,
                                  uint8_t *space) {
    xpu_fill(space, sew == 2 ? HARMLESS : 0, n, sew);
    xpu_blend(space, from, active, n, sew);
    return space;
}

/* An instruction that rounds, with ties away from zero, on the bits of its operands as the loops call them. */
static uint32_t one_away(unsigned op, uint32_t i, uint32_t j, uint32_t k, uint32_t *flags) {
    const uint32_t sign = SIGN;
    switch (op) {
    case XPU_INSN_VFADD_VV:
    case XPU_INSN_VFADD_VF: return xpu_fp_away(XPU_FP_ADD, i, j, 0, flags);
    case XPU_INSN_VFSUB_VV:
    case XPU_INSN_VFSUB_VF: return xpu_fp_away(XPU_FP_SUB, i, j, 0, flags);
    case XPU_INSN_VFRSUB_VF: return xpu_fp_away(XPU_FP_SUB, j, i, 0, flags);
    case XPU_INSN_VFMUL_VV:
    case XPU_INSN_VFMUL_VF: return xpu_fp_away(XPU_FP_MUL, i, j, 0, flags);
    case XPU_INSN_VFDIV_VV:
    case XPU_INSN_VFDIV_VF: return xpu_fp_away(XPU_FP_DIV, i, j, 0, flags);
    case XPU_INSN_VFRDIV_VF: return xpu_fp_away(XPU_FP_DIV, j, i, 0, flags);
    case XPU_INSN_VFSQRT_V: return xpu_fp_away(XPU_FP_SQRT, i, 0, 0, flags);
    case XPU_INSN_VFMADD_VV:
    case XPU_INSN_VFMADD_VF: return xpu_fp_away(XPU_FP_FMA, k, j, i, flags);
    case XPU_INSN_VFNMADD_VV:
    case XPU_INSN_VFNMADD_VF: return xpu_fp_away(XPU_FP_FMA, k ^ sign, j, i ^ sign, flags);
    case XPU_INSN_VFMSUB_VV:
    case XPU_INSN_VFMSUB_VF: return xpu_fp_away(XPU_FP_FMA, k, j, i ^ sign, flags);
    case XPU_INSN_VFNMSUB_VV:
    case XPU_INSN_VFNMSUB_VF: return xpu_fp_away(XPU_FP_FMA, k ^ sign, j, i, flags);
    case XPU_INSN_VFMACC_VV:
    case XPU_INSN_VFMACC_VF: return xpu_fp_away(XPU_FP_FMA, i, j, k, flags);
    case XPU_INSN_VFNMACC_VV:
    case XPU_INSN_VFNMACC_VF: return xpu_fp_away(XPU_FP_FMA, i ^ sign, j, k ^ sign, flags);
    case XPU_INSN_VFMSAC_VV:
    case XPU_INSN_VFMSAC_VF: return xpu_fp_away(XPU_FP_FMA, i, j, k ^ sign, flags);
    case XPU_INSN_VFNMSAC_VV:
    case XPU_INSN_VFNMSAC_VF: return xpu_fp_away(XPU_FP_FMA, i ^ sign, j, k, flags);
    case XPU_INSN_VFCVT_F_X_V: return xpu_fp_from_int_away((int32_t)i, flags);
    default: return xpu_fp_from_int_away((int64_t)i, flags); /* vfcvt.f.xu.v */
    }
}

static int rounds(const xpu_decoded *insn) {
    return insn->class == XPU_CLASS_VFP || insn->class == XPU_CLASS_VFP_DIVIDE || insn->op == XPU_INSN_VFCVT_F_X_V ||
           insn->op == XPU_INSN_VFCVT_F_XU_V;
}

static uint32_t all_away(unsigned op, uint8_t *d, const uint8_t *a, const uint8_t *b, uint32_t n) {
    uint32_t flags = 0;
    for (uint32_t e = 0; e < n; e++) {
        uint32_t i = xpu_element(a, 2, e), j = xpu_element(b, 2, e), k = xpu_element(d, 2, e);
        xpu_set_element(d, 2, e, one_away(op, i, j, k, &flags));
    }
    return flags;
}

xpu_outcome xpu_exec_vfp(xpu_hart *hart, xpu_decoded *insn) {
    _Alignas(64) uint8_t space_a[512], space_b[512], space_d[512], active[XPU_MAX_ELEMENTS];
    if (!xpu_vector_ready(hart, insn)) return xpu_illegal(hart);
    uint32_t vl = hart->vl, n = (vl + 15) & ~15u, flags;
    int to_mask = insn->class == XPU_CLASS_VFP_COMPARE, masked = xpu_is_masked(insn);
    unsigned format = xpu_insn_infos[insn->op].format;
    unsigned sew_a = insn->class == XPU_CLASS_VFP_WIDEN ? 1 : 2;
    unsigned sew_d = to_mask ? 0 : insn->class == XPU_CLASS_VFP_NARROW ? 1 : 2;
    const xpu_kernels *table = hart->host->fp_kernels;
    xpu_kernel *kernel = table[insn->op].by_sew[hart->sew];
    uint8_t *d = xpu_v(hart, insn->rd);
    const uint8_t *a = xpu_v(hart, insn->rs2), *b = a;
    if (hart->vstart >= vl) {
        hart->vstart = 0;
        return XPU_DONE;
    }
    if (format == XPU_FORMAT_VVF || format == XPU_FORMAT_VMACF || format == XPU_FORMAT_V_F) {
        xpu_fill(space_b, hart->f[insn->rs1], n, 2);
        b = space_b;
    } else if (format == XPU_FORMAT_VVV || format == XPU_FORMAT_VMAC) {
        b = xpu_v(hart, insn->rs1);
    }
    int whole = !masked && !hart->vstart && vl == n, direct = whole && sew_d == 2 && sew_a == 2;
    uint8_t *to = direct ? d : space_d;
    if (!whole) {
        xpu_active(hart, masked, active);
        int b_is_a = b == a, b_is_scalar = b == space_b;
        a = only_active(a, active, n, sew_a, space_a);
        b = b_is_a ? a : b_is_scalar ? b : only_active(b, active, n, 2, space_b);
        if (b_is_scalar) {
            for (uint32_t e = 0; e < n; e++)
                if (!active[e]) xpu_set_element(space_b, 2, e, HARMLESS);
        }
        if (sew_d == 2) only_active(d, active, n, 2, space_d);
    }
    if (hart->frm == XPU_RMM && rounds(insn))
        flags = all_away(insn->op, to, a, b, n);
    else
        flags = kernel(to, a, b, n, hart->frm);
    hart->fflags |= (uint8_t)flags;
    if (to_mask)
        xpu_write_mask(hart, insn->rd, space_d, masked);
    else if (whole && !direct)
        memcpy(d, space_d, (size_t)vl << sew_d);
    else if (!whole)
        xpu_blend(d, space_d, active, vl, sew_d);
    hart->vstart = 0;
    return XPU_DONE;
}

/* vfredusum is computed in order too: a tree would give other bits than QEMU. */
xpu_outcome xpu_exec_vfp_reduce(xpu_hart *hart, xpu_decoded *insn) {
    if (!xpu_vector_ready(hart, insn)) return xpu_illegal(hart);
    if (hart->vl == 0) return XPU_DONE;
    uint32_t result = xpu_element(xpu_v(hart, insn->rs1), 2, 0), flags = 0;
    const uint8_t *source = xpu_v(hart, insn->rs2);
    for (uint32_t e = 0; e < hart->vl; e++) {
        if (xpu_is_masked(insn) && !xpu_mask_bit(hart->v, e)) continue;
        uint32_t x = xpu_element(source, 2, e);
        if (insn->op == XPU_INSN_VFREDMIN_VS)
            result = xpu_fp_minimum(result, x, &flags);
        else if (insn->op == XPU_INSN_VFREDMAX_VS)
            result = xpu_fp_maximum(result, x, &flags);
        else if (hart->frm == XPU_RMM)
            result = xpu_fp_away(XPU_FP_ADD, result, x, 0, &flags);
        else
            result = xpu_canonical(xpu_float(result) + xpu_float(x));
    }
    hart->fflags |= (uint8_t)flags;
    xpu_set_element(xpu_v(hart, insn->rd), 2, 0, result);
    return XPU_DONE;
}
