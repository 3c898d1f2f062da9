/* CSRs and vector configuration. */
#include "sim/func/core_csr.h"

#include "sim/func/core_parts.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

static uint64_t cycles(const xpu_hart *hart) {
    return hart->bus->cycle ? hart->bus->cycle(hart->bus->context) : hart->instret;
}

int xpu_hart_read_csr(xpu_hart *hart, unsigned number, uint32_t *value) {
    switch (number) {
    case XPU_CSR_FFLAGS: *value = hart->fflags; return 1;
    case XPU_CSR_FRM: *value = hart->frm; return 1;
    case XPU_CSR_FCSR: *value = (uint32_t)hart->frm << 5 | hart->fflags; return 1;
    case XPU_CSR_VSTART: *value = hart->vstart; return 1;
    case XPU_CSR_VXSAT: *value = hart->vxsat; return 1;
    case XPU_CSR_VXRM: *value = hart->vxrm; return 1;
    case XPU_CSR_VCSR: *value = (uint32_t)hart->vxrm << 1 | hart->vxsat; return 1;
    case XPU_CSR_CYCLE:
    case XPU_CSR_TIME: *value = (uint32_t)cycles(hart); return 1;
    case XPU_CSR_CYCLEH:
    case XPU_CSR_TIMEH: *value = (uint32_t)(cycles(hart) >> 32); return 1;
    case XPU_CSR_INSTRET: *value = (uint32_t)hart->instret; return 1;
    case XPU_CSR_INSTRETH: *value = (uint32_t)(hart->instret >> 32); return 1;
    case XPU_CSR_VL: *value = hart->vl; return 1;
    case XPU_CSR_VTYPE: *value = hart->vtype; return 1;
    case XPU_CSR_VLENB: *value = XPU_VLEN_BYTES; return 1;
    case XPU_CSR_MHARTID:
    case XPU_CSR_CORE_ID: *value = hart->id; return 1;
    case XPU_CSR_CLUSTER_ID: *value = 0; return 1;
    case XPU_CSR_CORE_NUM: *value = hart->cores; return 1;
    default: return 0;
    }
}

int xpu_hart_write_csr(xpu_hart *hart, unsigned number, uint32_t value) {
    switch (number) {
    case XPU_CSR_FFLAGS: hart->fflags = value & 31; return 1;
    case XPU_CSR_FRM: hart->frm = value & 7; return 1;
    case XPU_CSR_FCSR:
        hart->fflags = value & 31;
        hart->frm = value >> 5 & 7;
        return 1;
    case XPU_CSR_VSTART: hart->vstart = value & (XPU_MAX_ELEMENTS - 1); return 1;
    case XPU_CSR_VXSAT: hart->vxsat = value & 1; return 1;
    case XPU_CSR_VXRM: hart->vxrm = value & 3; return 1;
    case XPU_CSR_VCSR:
        hart->vxsat = value & 1;
        hart->vxrm = value >> 1 & 3;
        return 1;
    default: return 0;
    }
}

xpu_outcome xpu_exec_csr(xpu_hart *hart, xpu_decoded *insn) {
    unsigned number = (unsigned)insn->imm, kind = insn->word >> 12 & 3; /* 1: write, 2: set, 3: clear */
    int immediate = insn->word >> 14 & 1;
    uint32_t source = immediate ? insn->rs1 : hart->x[insn->rs1], old;
    int writes = kind == 1 || insn->rs1 != 0;
    if (number <= XPU_CSR_FCSR) xpu_fp_collect(hart);
    if (!xpu_hart_read_csr(hart, number, &old)) return xpu_illegal(hart);
    uint32_t value = kind == 1 ? source : kind == 2 ? old | source : old & ~source;
    if (writes && !xpu_hart_write_csr(hart, number, value)) return xpu_illegal(hart);
    if (writes && number <= XPU_CSR_FCSR) xpu_fp_collect(hart);
    hart->x[insn->rd] = old;
    return XPU_DONE;
}

static void set_vtype(xpu_hart *hart, uint32_t vtype) {
    int sew = vtype >> 3 & 7, lmul = (int)((vtype & 7) ^ 4) - 4;
    if (vtype >> 8 || sew > 2 || lmul == -4 || sew - lmul > 2) {
        hart->vtype = 0x80000000;
        hart->sew = 0;
        hart->lmul = 0;
        hart->vkey = 0;
        hart->vlmax = 0;
        return;
    }
    hart->vtype = vtype;
    hart->sew = (uint8_t)sew;
    hart->lmul = (int8_t)lmul;
    hart->vkey = (uint8_t)(1 + (vtype & 63));
    hart->vlmax = lmul >= 0 ? (uint32_t)XPU_VLEN_BYTES >> sew << lmul : (uint32_t)XPU_VLEN_BYTES >> sew >> -lmul;
}

xpu_outcome xpu_exec_vconfig(xpu_hart *hart, xpu_decoded *insn) {
    uint32_t vtype = insn->op == XPU_INSN_VSETVL ? hart->x[insn->rs2] : (uint32_t)insn->imm;
    uint32_t length;
    if (insn->op == XPU_INSN_VSETIVLI)
        length = insn->rs1;
    else if (insn->rs1)
        length = hart->x[insn->rs1];
    else
        length = insn->rd == 32 ? hart->vl : UINT32_MAX;
    set_vtype(hart, vtype);
    hart->vl = length < hart->vlmax ? length : hart->vlmax;
    hart->vstart = 0;
    hart->x[insn->rd] = hart->vl;
    return XPU_DONE;
}
