/* Mask instructions, vid, and integer reductions. */
#include "sim/func/core_parts.h"

static uint8_t combine(unsigned op, uint8_t a, uint8_t b) {
    switch (op) {
    case XPU_INSN_VMAND_MM: return a & b;
    case XPU_INSN_VMNAND_MM: return (uint8_t)~(a & b);
    case XPU_INSN_VMANDN_MM: return (uint8_t)(a & ~b);
    case XPU_INSN_VMXOR_MM: return a ^ b;
    case XPU_INSN_VMOR_MM: return a | b;
    case XPU_INSN_VMNOR_MM: return (uint8_t)~(a | b);
    case XPU_INSN_VMORN_MM: return (uint8_t)(a | ~b);
    default: return (uint8_t)~(a ^ b);
    }
}

static void logic(xpu_hart *hart, const xpu_decoded *insn) {
    uint8_t *d = xpu_v(hart, insn->rd);
    const uint8_t *a = xpu_v(hart, insn->rs2), *b = xpu_v(hart, insn->rs1);
    for (uint32_t i = hart->vstart / 8; i < (hart->vl + 7) / 8; i++) {
        unsigned where = 0xff;
        if (8 * i < hart->vstart) where &= 0xffu << (hart->vstart & 7);
        if (8 * i + 8 > hart->vl) where &= 0xffu >> (8 * i + 8 - hart->vl);
        d[i] = (uint8_t)((d[i] & ~where) | (combine(insn->op, a[i], b[i]) & where));
    }
}

static int is_active(const xpu_hart *hart, const xpu_decoded *insn, uint32_t e) {
    return !xpu_is_masked(insn) || xpu_mask_bit(hart->v, e);
}

/* vcpop, vfirst */
static uint32_t count(const xpu_hart *hart, const xpu_decoded *insn) {
    const uint8_t *mask = hart->v + (size_t)insn->rs2 * XPU_VLEN_BYTES;
    uint32_t bits = 0;
    for (uint32_t e = 0; e < hart->vl; e++) {
        if (!is_active(hart, insn, e) || !xpu_mask_bit(mask, e)) continue;
        if (insn->op == XPU_INSN_VFIRST_M) return e;
        bits++;
    }
    return insn->op == XPU_INSN_VFIRST_M ? UINT32_MAX : bits;
}

/* vmsbf, vmsif, vmsof */
static void set_by_first(xpu_hart *hart, const xpu_decoded *insn) {
    uint8_t bits[XPU_MAX_ELEMENTS] = {0};
    const uint8_t *mask = xpu_v(hart, insn->rs2);
    int found = 0;
    for (uint32_t e = 0; e < hart->vl; e++) {
        if (!is_active(hart, insn, e)) continue;
        int first = !found && xpu_mask_bit(mask, e);
        found |= first;
        bits[e] = insn->op == XPU_INSN_VMSBF_M ? !found : insn->op == XPU_INSN_VMSOF_M ? first : !found || first;
    }
    xpu_write_mask(hart, insn->rd, bits, xpu_is_masked(insn));
}

/* viota, vid */
static void number(xpu_hart *hart, const xpu_decoded *insn) {
    uint8_t *d = xpu_v(hart, insn->rd);
    const uint8_t *mask = xpu_v(hart, insn->rs2);
    uint32_t sum = 0;
    for (uint32_t e = hart->vstart; e < hart->vl; e++) {
        if (!is_active(hart, insn, e)) continue;
        xpu_set_element(d, hart->sew, e, insn->op == XPU_INSN_VID_V ? e : sum);
        sum += (uint32_t)xpu_mask_bit(mask, e);
    }
}

xpu_outcome xpu_exec_vmask(xpu_hart *hart, xpu_decoded *insn) {
    if (!xpu_vector_ready(hart, insn)) return xpu_illegal(hart);
    switch (insn->class) {
    case XPU_CLASS_VMASK: logic(hart, insn); break;
    case XPU_CLASS_VMASK_COUNT: hart->x[insn->rd] = count(hart, insn); break;
    case XPU_CLASS_VMASK_SET: set_by_first(hart, insn); break;
    default: number(hart, insn); break;
    }
    hart->vstart = 0;
    return XPU_DONE;
}

/* One step of a reduction; signed operations get sign-extended values. */
static uint32_t reduce_step(unsigned op, uint32_t sum, uint32_t x) {
    switch (op) {
    case XPU_INSN_VREDAND_VS: return sum & x;
    case XPU_INSN_VREDOR_VS: return sum | x;
    case XPU_INSN_VREDXOR_VS: return sum ^ x;
    case XPU_INSN_VREDMINU_VS: return x < sum ? x : sum;
    case XPU_INSN_VREDMAXU_VS: return x > sum ? x : sum;
    case XPU_INSN_VREDMIN_VS: return (int32_t)x < (int32_t)sum ? x : sum;
    case XPU_INSN_VREDMAX_VS: return (int32_t)x > (int32_t)sum ? x : sum;
    default: return sum + x;
    }
}

xpu_outcome xpu_exec_vreduce(xpu_hart *hart, xpu_decoded *insn) {
    if (!xpu_vector_ready(hart, insn)) return xpu_illegal(hart);
    if (hart->vl == 0) return XPU_DONE;
    int is_signed =
        insn->op == XPU_INSN_VREDMIN_VS || insn->op == XPU_INSN_VREDMAX_VS || insn->op == XPU_INSN_VWREDSUM_VS;
    unsigned sew = hart->sew, sew_d = insn->class == XPU_CLASS_VREDUCE_WIDEN ? sew + 1 : sew;
    const uint8_t *source = xpu_v(hart, insn->rs2);
    uint32_t sum = xpu_element(xpu_v(hart, insn->rs1), sew_d, 0);
    if (is_signed) sum = (uint32_t)xpu_sign_extend(sum, sew_d);
    for (uint32_t e = 0; e < hart->vl; e++) {
        if (!is_active(hart, insn, e)) continue;
        uint32_t x = xpu_element(source, sew, e);
        sum = reduce_step(insn->op, sum, is_signed ? (uint32_t)xpu_sign_extend(x, sew) : x);
    }
    xpu_set_element(xpu_v(hart, insn->rd), sew_d, 0, sum);
    return XPU_DONE;
}
