/* Vector loads and stores. */
#include "sim/func/core_parts.h"

/* log2 of the bytes of the element that the width field names. */
static unsigned width_of(const xpu_decoded *insn) {
    unsigned width = insn->word >> 12 & 7;
    return width == 0 ? 0 : width - 4;
}

static int is_store(const xpu_decoded *insn) {
    return insn->word >> 5 & 1;
}

/* One element of one field. Returns 0 after a fault. */
static int transfer(xpu_hart *hart, uint32_t address, uint8_t *element, unsigned sew, int store) {
    uint8_t *memory = xpu_hart_memory(hart, address, 1u << sew, store);
    if (!memory) memory = xpu_hart_slow(hart, address, 1u << sew, store);
    if (!memory) return 0;
    if (store)
        memcpy(memory, element, (size_t)1 << sew);
    else
        memcpy(element, memory, (size_t)1 << sew);
    return 1;
}

/* Unit stride without mask: one copy where it lies in one range as a whole. Returns 0 where it does not. */
static int copy_block(xpu_hart *hart, const xpu_decoded *insn, unsigned sew) {
    uint32_t address = hart->x[insn->rs1], bytes = hart->vl << sew;
    int store = is_store(insn);
    xpu_core_range *range = &hart->ranges[hart->map[store][address >> 20]];
    uint32_t offset = address - range->base;
    uint8_t *v = xpu_v(hart, insn->rd), *memory;
    if (address & ((1u << sew) - 1)) return 0;
    if (offset < range->size && bytes <= range->size - offset) {
        range->bytes[store] += bytes;
        memory = range->host + offset;
    } else if (!(memory = xpu_hart_span(hart, address, bytes, store))) {
        return 0;
    }
    if (store)
        memcpy(memory, v, bytes);
    else
        memcpy(v, memory, bytes);
    return 1;
}

xpu_outcome xpu_exec_vmem(xpu_hart *hart, xpu_decoded *insn) {
    if (!xpu_vector_ready(hart, insn)) return xpu_illegal(hart);
    int indexed = insn->class == XPU_CLASS_VLOAD_INDEXED || insn->class == XPU_CLASS_VSTORE_INDEXED;
    int strided = insn->class == XPU_CLASS_VLOAD_STRIDED || insn->class == XPU_CLASS_VSTORE_STRIDED;
    int masked = xpu_is_masked(insn), store = is_store(insn);
    unsigned width = width_of(insn), sew = indexed ? hart->sew : width, fields = (insn->word >> 29) + 1;
    int lmul = hart->lmul + (int)sew - hart->sew;
    if (!masked && fields == 1 && !indexed && !strided && !hart->vstart && (!hart->vl || copy_block(hart, insn, sew)))
        return XPU_DONE;
    uint32_t base = hart->x[insn->rs1], stride = strided ? hart->x[insn->rs2] : fields << sew;
    size_t group = (size_t)XPU_VLEN_BYTES << (lmul > 0 ? lmul : 0);
    uint8_t *v = xpu_v(hart, insn->rd);
    const uint8_t *index = xpu_v(hart, insn->rs2);
    for (uint32_t e = hart->vstart; e < hart->vl; e++) {
        if (masked && !xpu_mask_bit(hart->v, e)) continue;
        uint32_t address = base + (indexed ? xpu_element(index, width, e) : e * stride);
        for (unsigned f = 0; f < fields; f++) {
            if (transfer(hart, address + (f << sew), v + f * group + ((size_t)e << sew), sew, store)) continue;
            if (insn->class == XPU_CLASS_VLOAD_FIRST && e > 0) {
                hart->fault = (xpu_hart_fault){0};
                hart->vl = e;
                hart->vstart = 0;
                return XPU_DONE;
            }
            hart->vstart = e;
            return XPU_FAULTED;
        }
    }
    hart->vstart = 0;
    return XPU_DONE;
}

/* `bytes` bytes of the registers from vd, from byte `first`. */
static xpu_outcome transfer_bytes(xpu_hart *hart, const xpu_decoded *insn, uint32_t first, uint32_t bytes,
                                  unsigned sew) {
    int store = is_store(insn);
    if (first < bytes) {
        uint8_t *memory = xpu_hart_block(hart, hart->x[insn->rs1] + first, bytes - first, 1u << sew, store);
        uint8_t *v = xpu_v(hart, insn->rd) + first;
        if (!memory) return XPU_FAULTED;
        if (store)
            memcpy(memory, v, bytes - first);
        else
            memcpy(v, memory, bytes - first);
    }
    hart->vstart = 0;
    return XPU_DONE;
}

xpu_outcome xpu_exec_vwhole(xpu_hart *hart, xpu_decoded *insn) {
    unsigned registers = (insn->word >> 29) + 1, sew = width_of(insn);
    if (insn->rd % registers) return xpu_illegal(hart);
    return transfer_bytes(hart, insn, hart->vstart << sew, registers * XPU_VLEN_BYTES, sew);
}

xpu_outcome xpu_exec_vmask_memory(xpu_hart *hart, xpu_decoded *insn) {
    if (!xpu_vector_ready(hart, insn)) return xpu_illegal(hart);
    return transfer_bytes(hart, insn, hart->vstart, (hart->vl + 7) / 8, 0);
}
