/* Which vector operands are legal, and what all vector instructions share. */
#include "sim/func/core_parts.h"

/* A register group: first register, log2 of LMUL, log2 of the element's bytes (-1: mask bits, one register). */
typedef struct {
    unsigned reg;
    int lmul, sew;
} group;

enum { MASK_BITS = -1 };

static unsigned registers(group g) {
    return g.lmul > 0 ? 1u << g.lmul : 1;
}
static int aligned(group g) {
    return g.lmul >= -3 && g.lmul <= 3 && g.reg % registers(g) == 0;
}
static int overlap(group a, group b) {
    return a.reg < b.reg + registers(b) && b.reg < a.reg + registers(a);
}

/* The rules for a destination that overlaps a source (RVV 1.0, 5.2). */
static int may_overlap(group d, group s) {
    if (!overlap(d, s) || d.sew == s.sew) return 1;
    if (d.sew < s.sew) return d.reg == s.reg;
    return s.lmul >= 0 && s.sew != MASK_BITS && s.reg == d.reg + registers(d) - registers(s);
}

typedef struct {
    const xpu_hart *hart;
    const xpu_decoded *insn;
    int masked, vector1; /* whether vs1 is a vector operand */
    unsigned vd, vs1, vs2;
} operands;

static group of_sew(const operands *o, unsigned reg, int wider) {
    return (group){reg, o->hart->lmul + wider, o->hart->sew + wider};
}
static group mask_register(unsigned reg) {
    return (group){reg, 0, MASK_BITS};
}
static int fits(group g) {
    return g.sew >= 0 && g.sew <= 2 && aligned(g);
}
static int spares_v0(const operands *o, group d) {
    return !o->masked || d.reg != 0;
}

/* d = s2 op s1 with widths SEW * 2^dw, SEW * 2^w2, SEW. */
static int elementwise(const operands *o, int dw, int w2) {
    group d = of_sew(o, o->vd, dw), s2 = of_sew(o, o->vs2, w2), s1 = of_sew(o, o->vs1, 0);
    if (!fits(d) || !fits(s2) || !may_overlap(d, s2) || !spares_v0(o, d)) return 0;
    return !o->vector1 || (fits(s1) && may_overlap(d, s1));
}

static int into_mask(const operands *o) {
    group d = mask_register(o->vd), s2 = of_sew(o, o->vs2, 0), s1 = of_sew(o, o->vs1, 0);
    if (!fits(s2) || !may_overlap(d, s2)) return 0;
    return !o->vector1 || (fits(s1) && may_overlap(d, s1));
}

/* Slides up, gathers, compress: the destination overlaps no source; vs1, if it is a vector, is `s1`. */
static int apart(const operands *o, group s1) {
    group d = of_sew(o, o->vd, 0), s2 = of_sew(o, o->vs2, 0);
    if (!fits(d) || !fits(s2) || overlap(d, s2) || !spares_v0(o, d)) return 0;
    return !o->vector1 || (aligned(s1) && !overlap(d, s1));
}

static int indexed(const operands *o, int store) {
    static const int widths[8] = {0, -1, -1, -1, -1, 1, 2, -1};
    int sew = widths[o->insn->word >> 12 & 7];
    unsigned fields = (o->insn->word >> 29) + 1;
    group d = of_sew(o, o->vd, 0), s2 = {o->vs2, o->hart->lmul + sew - o->hart->sew, sew};
    if (!fits(d) || !fits(s2)) return 0;
    if (fields * registers(d) > 8 || d.reg + fields * registers(d) > 32) return 0;
    if (store) return 1;
    if (!spares_v0(o, d)) return 0;
    if (fields == 1) return may_overlap(d, s2);
    group all = {d.reg, d.lmul, d.sew};
    for (unsigned i = 0; i < fields; i++, all.reg += registers(d))
        if (overlap(all, s2)) return 0;
    return 1;
}

static int contiguous(const operands *o, int store) {
    static const int widths[8] = {0, -1, -1, -1, -1, 1, 2, -1};
    int sew = widths[o->insn->word >> 12 & 7];
    unsigned fields = (o->insn->word >> 29) + 1;
    group d = {o->vd, o->hart->lmul + sew - o->hart->sew, sew};
    if (!fits(d) || fields * registers(d) > 8 || d.reg + fields * registers(d) > 32) return 0;
    return store || spares_v0(o, d);
}

static int reads_vs1(xpu_insn_format format) {
    return format == XPU_FORMAT_VVV || format == XPU_FORMAT_VVVM || format == XPU_FORMAT_VMAC ||
           format == XPU_FORMAT_V_V;
}

static int legal_by_class(const operands *o) {
    const xpu_hart *h = o->hart;
    int at_start = h->vstart == 0, is_float = h->sew == 2;
    group index16 = {o->vs1, h->lmul + 1 - h->sew, 1};
    switch (o->insn->class) {
    case XPU_CLASS_VINT:
    case XPU_CLASS_VINT_CARRY:
    case XPU_CLASS_VINT_MULTIPLY:
    case XPU_CLASS_VINT_DIVIDE:
    case XPU_CLASS_VFIX: return elementwise(o, 0, 0);
    case XPU_CLASS_VFP:
    case XPU_CLASS_VFP_DIVIDE:
    case XPU_CLASS_VFP_MOVE:
    case XPU_CLASS_VFP_MERGE:
    case XPU_CLASS_VFP_CONVERT: return is_float && elementwise(o, 0, 0);
    case XPU_CLASS_VWIDEN: return elementwise(o, 1, 0);
    case XPU_CLASS_VWIDEN_W: return elementwise(o, 1, 1);
    case XPU_CLASS_VFP_WIDEN: return h->sew == 1 && elementwise(o, 1, 0);
    case XPU_CLASS_VNARROW:
    case XPU_CLASS_VFIX_NARROW: return elementwise(o, 0, 1);
    case XPU_CLASS_VFP_NARROW: return h->sew == 1 && elementwise(o, 0, 1);
    case XPU_CLASS_VEXTEND2: return elementwise(o, 0, -1);
    case XPU_CLASS_VEXTEND4: return elementwise(o, 0, -2);
    case XPU_CLASS_VCOMPARE:
    case XPU_CLASS_VCARRY_OUT: return into_mask(o);
    case XPU_CLASS_VFP_COMPARE: return is_float && into_mask(o);
    case XPU_CLASS_VREDUCE: return at_start && fits(of_sew(o, o->vs2, 0));
    case XPU_CLASS_VREDUCE_WIDEN: return at_start && h->sew < 2 && fits(of_sew(o, o->vs2, 0));
    case XPU_CLASS_VFP_REDUCE: return at_start && is_float && fits(of_sew(o, o->vs2, 0));
    case XPU_CLASS_VMASK:
    case XPU_CLASS_VMOVE_SCALAR: return 1;
    case XPU_CLASS_VMOVE_SCALAR_FP: return is_float;
    case XPU_CLASS_VMASK_COUNT: return at_start;
    case XPU_CLASS_VMASK_SET: return at_start && o->vd != o->vs2 && spares_v0(o, mask_register(o->vd));
    case XPU_CLASS_VIOTA:
        return at_start && fits(of_sew(o, o->vd, 0)) && spares_v0(o, of_sew(o, o->vd, 0)) &&
               !overlap(of_sew(o, o->vd, 0), mask_register(o->vs2));
    case XPU_CLASS_VID: return fits(of_sew(o, o->vd, 0)) && spares_v0(o, of_sew(o, o->vd, 0));
    case XPU_CLASS_VSLIDE_UP: return apart(o, of_sew(o, 0, 0));
    case XPU_CLASS_VSLIDE_DOWN: return elementwise(o, 0, 0);
    case XPU_CLASS_VSLIDE_UP_FP: return is_float && apart(o, of_sew(o, 0, 0));
    case XPU_CLASS_VSLIDE_DOWN_FP: return is_float && elementwise(o, 0, 0);
    case XPU_CLASS_VGATHER: return apart(o, of_sew(o, o->vs1, 0));
    case XPU_CLASS_VGATHER16: return apart(o, index16);
    case XPU_CLASS_VCOMPRESS: return at_start && apart(o, mask_register(o->vs1));
    case XPU_CLASS_VLOAD_UNIT:
    case XPU_CLASS_VLOAD_FIRST:
    case XPU_CLASS_VLOAD_STRIDED: return contiguous(o, 0);
    case XPU_CLASS_VSTORE_UNIT:
    case XPU_CLASS_VSTORE_STRIDED: return contiguous(o, 1);
    case XPU_CLASS_VLOAD_INDEXED: return indexed(o, 0);
    case XPU_CLASS_VSTORE_INDEXED: return indexed(o, 1);
    case XPU_CLASS_VLOAD_MASK:
    case XPU_CLASS_VSTORE_MASK: return 1;
    default: return 0;
    }
}

static int is_float_class(unsigned class) {
    switch (class) {
    case XPU_CLASS_VFP:
    case XPU_CLASS_VFP_DIVIDE:
    case XPU_CLASS_VFP_MOVE:
    case XPU_CLASS_VFP_MERGE:
    case XPU_CLASS_VFP_COMPARE:
    case XPU_CLASS_VFP_CONVERT:
    case XPU_CLASS_VFP_WIDEN:
    case XPU_CLASS_VFP_NARROW:
    case XPU_CLASS_VFP_REDUCE:
    case XPU_CLASS_VMOVE_SCALAR_FP:
    case XPU_CLASS_VSLIDE_UP_FP:
    case XPU_CLASS_VSLIDE_DOWN_FP: return 1;
    default: return 0;
    }
}

int xpu_vector_legal(xpu_hart *hart, xpu_decoded *insn) {
    xpu_insn_format format = (xpu_insn_format)xpu_insn_infos[insn->op].format;
    operands o = {hart, insn, xpu_is_masked(insn), reads_vs1(format), insn->word >> 7 & 31, insn->rs1, insn->rs2};
    insn->checked = 0;
    if (!hart->vkey || (hart->frm > XPU_RMM && is_float_class(insn->class))) return 0;
    /* vmadc and vmsbc read v0 without being masked, and may write it. */
    if (!legal_by_class(&o)) return 0;
    if (!hart->vstart && hart->frm <= XPU_RMM) insn->checked = hart->vkey;
    const xpu_kernels *table = is_float_class(insn->class) ? hart->host->fp_kernels : hart->host->int_kernels;
    insn->kernel = table[insn->op].by_sew[hart->sew];
    return 1;
}

/* Eight mask bits as eight bytes of 0 or 1. */
static uint64_t spread(uint8_t bits) {
    uint64_t each = (bits * 0x0101010101010101ull) & 0x8040201008040201ull;
    return (each + 0x7f7f7f7f7f7f7f7full) >> 7 & 0x0101010101010101ull;
}

/* The reverse. */
static uint8_t gather_bits(const uint8_t *bytes) {
    uint64_t each;
    memcpy(&each, bytes, 8);
    return (uint8_t)(each * 0x0102040810204080ull >> 56);
}

void xpu_active(const xpu_hart *hart, int masked, uint8_t *active) {
    uint32_t blocks = (hart->vl + 15) / 16 * 2;
    for (uint32_t i = 0; i < blocks; i++) {
        uint64_t bytes = masked ? spread(hart->v[i]) : 0x0101010101010101ull;
        memcpy(active + (size_t)8 * i, &bytes, 8);
    }
    memset(active + hart->vl, 0, 8 * blocks - hart->vl);
    memset(active, 0, hart->vstart < 8 * blocks ? hart->vstart : 8 * blocks);
}

void xpu_blend(uint8_t *destination, const uint8_t *values, const uint8_t *active, uint32_t vl, unsigned sew) {
    xpu_this_host()->blend(destination, values, active, vl, sew);
}

void xpu_fill(uint8_t *to, uint32_t value, uint32_t count, unsigned sew) {
    if (sew == 0) value = (value & 0xff) * 0x01010101u;
    if (sew == 1) value = (value & 0xffff) * 0x00010001u;
    for (uint32_t i = 0; i < count << sew >> 2; i++) memcpy(to + (size_t)4 * i, &value, 4);
}

void xpu_write_mask(xpu_hart *hart, unsigned vd, const uint8_t *bits, int masked) {
    uint8_t *to = xpu_v(hart, vd), active[XPU_MAX_ELEMENTS];
    xpu_active(hart, masked, active);
    for (uint32_t i = 0; i < (hart->vl + 7) / 8; i++) {
        uint8_t where = gather_bits(active + (size_t)8 * i);
        to[i] = (uint8_t)((to[i] & ~where) | (gather_bits(bits + (size_t)8 * i) & where));
    }
}

const xpu_host *const *xpu_all_hosts(void) {
    static const xpu_host any = {xpu_int_kernels_any, xpu_fp_kernels_any, xpu_blend_any, xpu_copy_any, xpu_rest_any};
    static const xpu_host avx2 = {xpu_int_kernels_avx2, xpu_fp_kernels_avx2, xpu_blend_avx2, xpu_copy_avx2,
                                  xpu_rest_avx2};
    static const xpu_host avx512 = {xpu_int_kernels_avx512, xpu_fp_kernels_avx512, xpu_blend_avx512, xpu_copy_avx512,
                                    xpu_rest_avx512};
    static const xpu_host *const lists[][4] = {{&any}, {&any, &avx2}, {&any, &avx2, &avx512}};
    int has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    int has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                     __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return lists[has_avx2 ? 1 + has_avx512 : 0];
}

const xpu_host *xpu_this_host(void) {
    const xpu_host *const *list = xpu_all_hosts();
    while (list[1]) list++;
    return *list;
}
