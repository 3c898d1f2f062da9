/* Vector integer and fixed-point instructions, comparisons and merges: operands around the loops. */
#include "sim/func/core_parts.h"

/* What a class of instructions does with its operands. */
typedef struct {
    int8_t wider_d, wider_2; /* width of vd and vs2 relative to SEW, as a power of two */
    uint8_t to_mask, carry;  /* the result is a mask; v0 holds a carry or a choice for each element */
    uint8_t saturates;       /* inactive elements must not be computed: they could set vxsat */
} shape;

static const shape shapes[XPU_CLASS_COUNT] = {
    [XPU_CLASS_VINT] = {0, 0, 0, 0, 0},        [XPU_CLASS_VINT_MULTIPLY] = {0, 0, 0, 0, 0},
    [XPU_CLASS_VINT_DIVIDE] = {0, 0, 0, 0, 0}, [XPU_CLASS_VINT_CARRY] = {0, 0, 0, 1, 0},
    [XPU_CLASS_VFP_MERGE] = {0, 0, 0, 1, 0},   [XPU_CLASS_VCARRY_OUT] = {0, 0, 1, 1, 0},
    [XPU_CLASS_VCOMPARE] = {0, 0, 1, 0, 0},    [XPU_CLASS_VEXTEND2] = {0, -1, 0, 0, 0},
    [XPU_CLASS_VEXTEND4] = {0, -2, 0, 0, 0},   [XPU_CLASS_VWIDEN] = {1, 0, 0, 0, 0},
    [XPU_CLASS_VWIDEN_W] = {1, 1, 0, 0, 0},    [XPU_CLASS_VNARROW] = {0, 1, 0, 0, 0},
    [XPU_CLASS_VFIX] = {0, 0, 0, 0, 1},        [XPU_CLASS_VFIX_NARROW] = {0, 1, 0, 0, 1},
};

/* vs1, or the scalar or immediate as a vector of n elements in `space`. */
static const uint8_t *second_operand(xpu_hart *hart, const xpu_decoded *insn, uint32_t n, uint8_t *space) {
    uint32_t value = (uint32_t)insn->imm;
    switch (xpu_insn_infos[insn->op].format) {
    case XPU_FORMAT_VVX:
    case XPU_FORMAT_VVXM:
    case XPU_FORMAT_VMACX:
    case XPU_FORMAT_V_X: value = hart->x[insn->rs1]; break;
    case XPU_FORMAT_VVFM: value = hart->f[insn->rs1]; break;
    case XPU_FORMAT_VVI:
    case XPU_FORMAT_VVIM:
    case XPU_FORMAT_VVU:
    case XPU_FORMAT_V_I: break;
    default: return xpu_v(hart, insn->rs1);
    }
    xpu_fill(space, value, n, hart->sew);
    return space;
}

/* A copy of n elements in which inactive ones are 0. */
static const uint8_t *only_active(const uint8_t *from, const uint8_t *active, uint32_t n, unsigned sew,
                                  uint8_t *space) {
    memset(space, 0, (size_t)n << sew);
    xpu_blend(space, from, active, n, sew);
    return space;
}

/* The bits of v0 as n elements of 0 or 1; zeros where the instruction does not read v0. */
static void put_carries(const xpu_hart *hart, const xpu_decoded *insn, uint32_t n, unsigned sew, uint8_t *to) {
    for (uint32_t e = 0; e < n; e++)
        xpu_set_element(to, sew, e, xpu_is_masked(insn) ? (uint32_t)xpu_mask_bit(hart->v, e) : 0);
}

xpu_outcome xpu_exec_vint(xpu_hart *hart, xpu_decoded *insn) {
    _Alignas(64) uint8_t space_b[512], space_d[512], zeroed_a[512], zeroed_b[512], active[XPU_MAX_ELEMENTS];
    if (!xpu_vector_ready(hart, insn)) return xpu_illegal(hart);
    uint32_t vl = hart->vl, n = (vl + 15) & ~15u;
    const shape *s = &shapes[insn->class];
    unsigned sew = hart->sew, sew_d = s->to_mask ? 0 : sew + (unsigned)s->wider_d;
    const xpu_kernels *table = hart->host->int_kernels;
    xpu_kernel *kernel = table[insn->op].by_sew[sew];
    unsigned rd = insn->word >> 7 & 31;
    uint8_t *d = xpu_v(hart, rd);
    const uint8_t *a = xpu_v(hart, insn->rs2), *b = second_operand(hart, insn, n, space_b);
    int masked = xpu_is_masked(insn) && !s->carry;
    int whole = !masked && !hart->vstart && vl == n;
    if (hart->vstart < vl && whole && !s->to_mask && !s->carry && !s->wider_d && !s->wider_2) {
        hart->vxsat |= (uint8_t)(kernel(d, a, b, n, hart->vxrm) != 0);
    } else if (hart->vstart < vl) {
        xpu_active(hart, masked, active);
        if (s->saturates && !whole) {
            a = only_active(a, active, n, sew + (unsigned)s->wider_2, zeroed_a);
            b = only_active(b, active, n, sew, zeroed_b);
        }
        if (s->carry)
            put_carries(hart, insn, n, sew_d, space_d);
        else if (!s->to_mask)
            memcpy(space_d, d, (size_t)n << sew_d);
        hart->vxsat |= (uint8_t)(kernel(space_d, a, b, n, hart->vxrm) != 0 && s->saturates);
        if (s->to_mask)
            xpu_write_mask(hart, rd, space_d, masked);
        else if (whole)
            memcpy(d, space_d, (size_t)vl << sew_d);
        else
            xpu_blend(d, space_d, active, vl, sew_d);
    }
    hart->vstart = 0;
    return XPU_DONE;
}
