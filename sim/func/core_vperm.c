/* Moves of scalars and whole registers, slides, gathers, compress. */
#include "sim/func/core_parts.h"

xpu_outcome xpu_exec_vmove(xpu_hart *hart, xpu_decoded *insn) {
    if (!xpu_vector_ready(hart, insn)) return xpu_illegal(hart);
    int writes = hart->vstart < hart->vl;
    switch (insn->op) {
    case XPU_INSN_VMV_X_S:
        hart->x[insn->rd] = (uint32_t)xpu_sign_extend(xpu_element(xpu_v(hart, insn->rs2), hart->sew, 0), hart->sew);
        break;
    case XPU_INSN_VFMV_F_S: hart->f[insn->rd] = xpu_element(xpu_v(hart, insn->rs2), 2, 0); break;
    case XPU_INSN_VMV_S_X:
        if (writes) xpu_set_element(xpu_v(hart, insn->rd), hart->sew, 0, hart->x[insn->rs1]);
        break;
    default: /* vfmv.s.f */
        if (writes) xpu_set_element(xpu_v(hart, insn->rd), 2, 0, hart->f[insn->rs1]);
    }
    hart->vstart = 0;
    return XPU_DONE;
}

/* Does not depend on vtype (compilers use it before any vsetvl), except that vstart counts elements of SEW. */
xpu_outcome xpu_exec_vmove_whole(xpu_hart *hart, xpu_decoded *insn) {
    unsigned registers = insn->rs1 + 1u;
    if (insn->rd % registers || insn->rs2 % registers) return xpu_illegal(hart);
    uint32_t bytes = registers * XPU_VLEN_BYTES, first = hart->vstart << hart->sew;
    if (first < bytes) memmove(xpu_v(hart, insn->rd) + first, xpu_v(hart, insn->rs2) + first, bytes - first);
    hart->vstart = 0;
    return XPU_DONE;
}

/* The scalar operand: register, float register or immediate. */
static uint32_t scalar_of(const xpu_hart *hart, const xpu_decoded *insn) {
    switch (xpu_insn_infos[insn->op].format) {
    case XPU_FORMAT_VVX: return hart->x[insn->rs1];
    case XPU_FORMAT_VVF: return hart->f[insn->rs1];
    default: return (uint32_t)insn->imm;
    }
}

/* Elements first .. vl - 1 of the result, before masking, into `to`; elements below `*from` keep their value. */
static void slide(xpu_hart *hart, const xpu_decoded *insn, uint8_t *to, uint32_t *from) {
    unsigned sew = hart->sew;
    const uint8_t *a = xpu_v(hart, insn->rs2);
    uint32_t vl = hart->vl, scalar = scalar_of(hart, insn), limit = hart->vlmax;
    switch (insn->op) {
    case XPU_INSN_VSLIDEUP_VX:
    case XPU_INSN_VSLIDEUP_VI:
        *from = scalar < vl ? scalar : vl;
        memcpy(to + ((size_t)*from << sew), a, (size_t)(vl - *from) << sew);
        break;
    case XPU_INSN_VSLIDE1UP_VX:
    case XPU_INSN_VFSLIDE1UP_VF:
        memcpy(to + ((size_t)1 << sew), a, (size_t)(vl - 1) << sew);
        xpu_set_element(to, sew, 0, scalar);
        break;
    case XPU_INSN_VSLIDEDOWN_VX:
    case XPU_INSN_VSLIDEDOWN_VI: {
        uint32_t offset = scalar < limit ? scalar : limit, taken = limit - offset < vl ? limit - offset : vl;
        memcpy(to, a + ((size_t)offset << sew), (size_t)taken << sew);
        memset(to + ((size_t)taken << sew), 0, (size_t)(vl - taken) << sew);
        break;
    }
    default: /* vslide1down, vfslide1down */
        memcpy(to, a + ((size_t)1 << sew), (size_t)(vl - 1) << sew);
        xpu_set_element(to, sew, vl - 1, scalar);
    }
}

static void gather(xpu_hart *hart, const xpu_decoded *insn, uint8_t *to) {
    unsigned sew = hart->sew, index_sew = insn->op == XPU_INSN_VRGATHEREI16_VV ? 1 : sew;
    const uint8_t *a = xpu_v(hart, insn->rs2), *indices = xpu_v(hart, insn->rs1);
    int by_vector = xpu_insn_infos[insn->op].format == XPU_FORMAT_VVV;
    uint32_t scalar = by_vector ? 0 : scalar_of(hart, insn);
    for (uint32_t e = 0; e < hart->vl; e++) {
        uint32_t index = by_vector ? xpu_element(indices, index_sew, e) : scalar;
        xpu_set_element(to, sew, e, index < hart->vlmax ? xpu_element(a, sew, index) : 0);
    }
}

static void compress(xpu_hart *hart, const xpu_decoded *insn) {
    const uint8_t *a = xpu_v(hart, insn->rs2), *mask = xpu_v(hart, insn->rs1);
    uint8_t *d = xpu_v(hart, insn->rd);
    uint32_t next = 0;
    for (uint32_t e = 0; e < hart->vl; e++)
        if (xpu_mask_bit(mask, e)) xpu_set_element(d, hart->sew, next++, xpu_element(a, hart->sew, e));
}

xpu_outcome xpu_exec_vpermute(xpu_hart *hart, xpu_decoded *insn) {
    uint8_t to[512], active[XPU_MAX_ELEMENTS];
    if (!xpu_vector_ready(hart, insn)) return xpu_illegal(hart);
    if (insn->class == XPU_CLASS_VCOMPRESS) {
        compress(hart, insn);
    } else if (hart->vstart < hart->vl) {
        uint32_t from = 0;
        if (insn->class == XPU_CLASS_VGATHER || insn->class == XPU_CLASS_VGATHER16)
            gather(hart, insn, to);
        else
            slide(hart, insn, to, &from);
        xpu_active(hart, xpu_is_masked(insn), active);
        memset(active, 0, from);
        xpu_blend(xpu_v(hart, insn->rd), to, active, hart->vl, hart->sew);
    }
    hart->vstart = 0;
    return XPU_DONE;
}
