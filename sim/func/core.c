/* The interpreter: memory, predecoded pages, RV32IM; everything else goes to the class's function. */
#include "sim/func/core.h"

#include <math.h>
#include <stdlib.h>

#include "sim/func/core_parts.h"

enum { PAGE_BYTES = 4096, PAGE_INSNS = PAGE_BYTES / 4, PAGE_SLOTS = 256, MAX_BREAKS = 256 };

/* The instructions that the interpreter does itself. x, i, RS1, RS2: registers and instruction; RD: the result. */
#define HOT_INSNS(X)                                                                                                   \
    X(LUI, RD = (uint32_t)i->imm)                                                                                      \
    X(AUIPC, RD = (uint32_t)i->imm)                                                                                    \
    X(ADDI, RD = RS1 + (uint32_t)i->imm)                                                                               \
    X(SLTI, RD = (int32_t)RS1 < i->imm)                                                                                \
    X(SLTIU, RD = RS1 < (uint32_t)i->imm)                                                                              \
    X(XORI, RD = RS1 ^ (uint32_t)i->imm)                                                                               \
    X(ORI, RD = RS1 | (uint32_t)i->imm)                                                                                \
    X(ANDI, RD = RS1 & (uint32_t)i->imm)                                                                               \
    X(SLLI, RD = RS1 << i->imm)                                                                                        \
    X(SRLI, RD = RS1 >> i->imm)                                                                                        \
    X(SRAI, RD = (uint32_t)((int32_t)RS1 >> i->imm))                                                                   \
    X(ADD, RD = RS1 + RS2)                                                                                             \
    X(SUB, RD = RS1 - RS2)                                                                                             \
    X(SLL, RD = RS1 << (RS2 & 31))                                                                                     \
    X(SLT, RD = (int32_t)RS1 < (int32_t)RS2)                                                                           \
    X(SLTU, RD = RS1 < RS2)                                                                                            \
    X(XOR, RD = RS1 ^ RS2)                                                                                             \
    X(SRL, RD = RS1 >> (RS2 & 31))                                                                                     \
    X(SRA, RD = (uint32_t)((int32_t)RS1 >> (RS2 & 31)))                                                                \
    X(OR, RD = RS1 | RS2)                                                                                              \
    X(AND, RD = RS1 & RS2)                                                                                             \
    X(MUL, RD = RS1 * RS2)                                                                                             \
    X(MULH, RD = (uint32_t)((int64_t)(int32_t)RS1 * (int32_t)RS2 >> 32))                                               \
    X(MULHSU, RD = (uint32_t)((int64_t)(int32_t)RS1 * (int64_t)RS2 >> 32))                                             \
    X(MULHU, RD = (uint32_t)((uint64_t)RS1 * RS2 >> 32))                                                               \
    X(DIV, RD = divide(RS1, RS2))                                                                                      \
    X(DIVU, RD = RS2 ? RS1 / RS2 : UINT32_MAX)                                                                         \
    X(REM, RD = remainder_of(RS1, RS2))                                                                                \
    X(REMU, RD = RS2 ? RS1 % RS2 : RS1)                                                                                \
    X(FENCE, if (hart->bus->fence) hart->bus->fence(hart->bus->context))                                               \
    X(LB, LOAD(1, RD, (uint32_t)(int8_t)value))                                                                        \
    X(LH, LOAD(2, RD, (uint32_t)(int16_t)value))                                                                       \
    X(LW, LOAD(4, RD, value))                                                                                          \
    X(LBU, LOAD(1, RD, value))                                                                                         \
    X(LHU, LOAD(2, RD, value))                                                                                         \
    X(FLW, LOAD(4, hart->f[i->rd], value))                                                                             \
    X(FADD_S, FLOAT(FS1 + FS2))                                                                                        \
    X(FSUB_S, FLOAT(FS1 - FS2))                                                                                        \
    X(FMUL_S, FLOAT(FS1 *FS2))                                                                                         \
    X(FMADD_S, FUSED(hart->f[i->rs1], hart->f[i->word >> 27]))                                                         \
    X(FNMSUB_S, FUSED(hart->f[i->rs1] ^ 0x80000000, hart->f[i->word >> 27]))                                           \
    X(FMV_W_X, hart->f[i->rd] = RS1)                                                                                   \
    X(FMV_X_W, RD = hart->f[i->rs1])                                                                                   \
    X(SB, STORE(1, RS2))                                                                                               \
    X(SH, STORE(2, RS2))                                                                                               \
    X(SW, STORE(4, RS2))                                                                                               \
    X(FSW, STORE(4, hart->f[i->rs2]))                                                                                  \
    X(BEQ, BRANCH(RS1 == RS2))                                                                                         \
    X(BNE, BRANCH(RS1 != RS2))                                                                                         \
    X(BLT, BRANCH((int32_t)RS1 < (int32_t)RS2))                                                                        \
    X(BGE, BRANCH((int32_t)RS1 >= (int32_t)RS2))                                                                       \
    X(BLTU, BRANCH(RS1 < RS2))                                                                                         \
    X(BGEU, BRANCH(RS1 >= RS2))                                                                                        \
    X(JAL, JUMP(PC + (uint32_t)i->imm))                                                                                \
    X(JALR, JUMP((RS1 + (uint32_t)i->imm) & ~1u))

/* Vector instructions without mask that the interpreter does itself where they were found legal and nothing is unusual:
 * unit-stride loads and stores, elementwise float32 and integer ones whose second operand is a vector, the scalar or
 * the immediate at `second`. The host computes with frm. */
#define QUICK_INSNS(X)                                                                                                 \
    X(LOAD, TRANSFER(0, hart->host->copy(v, memory, bytes), memcpy(v, memory, bytes)))                                 \
    X(STORE, TRANSFER(1, hart->host->copy(memory, v, bytes), memcpy(memory, v, bytes)))                                \
    X(FLOAT_VECTOR, ELEMENTWISE(fflags, 2, xpu_v(hart, i->rs1), hart->frm))                                            \
    X(FLOAT_SCALAR, ELEMENTWISE(fflags, 2, &hart->f[i->rs1], hart->frm | XPU_SCALAR))                                  \
    X(INT_VECTOR, ELEMENTWISE(vxsat, hart->sew, xpu_v(hart, i->rs1), hart->vxrm))                                      \
    X(INT_SCALAR, ELEMENTWISE(vxsat, hart->sew, &hart->x[i->rs1], hart->vxrm | XPU_SCALAR))                            \
    X(INT_IMMEDIATE, ELEMENTWISE(vxsat, hart->sew, &i->imm, hart->vxrm | XPU_SCALAR))

enum {
    HOT_OTHER,   /* by class */
    HOT_END,     /* behind the last instruction of a page */
    HOT_OUTSIDE, /* not in code memory */
    HOT_BREAK,   /* a breakpoint */
#define X(id, ...) HOT_##id,
    HOT_INSNS(X)
#undef X
#define X(name, ...) HOT_##name,
        QUICK_INSNS(X)
#undef X
};

static const uint8_t hot_of[XPU_INSN_COUNT] = {
#define X(id, ...) [XPU_INSN_##id] = HOT_##id,
    HOT_INSNS(X)
#undef X
};

typedef struct {
    uint32_t base; /* address, or 1 where the slot is empty */
    xpu_decoded insns[PAGE_INSNS + 1];
} code_page;

struct xpu_code {
    uint32_t base, size;
    const uint8_t *host;
    unsigned break_count;
    uint32_t breaks[MAX_BREAKS];
    code_page pages[PAGE_SLOTS];
};

xpu_code *xpu_code_new(uint32_t base, uint32_t size, const uint8_t *host) {
    xpu_code *code = calloc(1, sizeof *code);
    if (!code) return NULL;
    code->base = base;
    code->size = size;
    code->host = host;
    xpu_code_invalidate(code, base, size);
    return code;
}

void xpu_code_free(xpu_code *code) {
    free(code);
}

void xpu_code_invalidate(xpu_code *code, uint32_t address, uint32_t size) {
    for (unsigned i = 0; i < PAGE_SLOTS; i++) {
        code_page *page = &code->pages[i];
        if (page->base - address < size || address - page->base < PAGE_BYTES) page->base = 1;
    }
}

int xpu_code_break(xpu_code *code, uint32_t address, int set) {
    unsigned i = 0;
    while (i < code->break_count && code->breaks[i] != address) i++;
    if (set && i == code->break_count) {
        if (i == MAX_BREAKS || address - code->base >= code->size || address & 3) return 0;
        code->breaks[code->break_count++] = address;
    } else if (!set && i < code->break_count) {
        code->breaks[i] = code->breaks[--code->break_count];
    }
    xpu_code_invalidate(code, address, 4);
    return 1;
}

static int writes_x(xpu_insn_format format) {
    const char *operands = xpu_format_operands(format);
    return operands[0] == 'r' && operands[1] == 'd';
}

/* How an instruction of a vector class is dispatched. */
static uint8_t hot_of_vector(const xpu_decoded *insn, unsigned format) {
    int is_float = 0;
    if (xpu_is_masked(insn)) return HOT_OTHER;
    switch (insn->class) {
    case XPU_CLASS_VLOAD_UNIT: return insn->word >> 29 ? HOT_OTHER : HOT_LOAD;
    case XPU_CLASS_VSTORE_UNIT: return insn->word >> 29 ? HOT_OTHER : HOT_STORE;
    case XPU_CLASS_VFP:
    case XPU_CLASS_VFP_DIVIDE:
    case XPU_CLASS_VFP_MOVE:
    case XPU_CLASS_VFP_CONVERT: is_float = 1; break;
    case XPU_CLASS_VINT:
    case XPU_CLASS_VINT_MULTIPLY:
    case XPU_CLASS_VINT_DIVIDE:
    case XPU_CLASS_VFIX: break;
    default: return HOT_OTHER;
    }
    switch (format) {
    case XPU_FORMAT_VVV:
    case XPU_FORMAT_VMAC:
    case XPU_FORMAT_VV: /* the second operand is not read */
    case XPU_FORMAT_V_V: return is_float ? HOT_FLOAT_VECTOR : HOT_INT_VECTOR;
    case XPU_FORMAT_VVF:
    case XPU_FORMAT_VMACF:
    case XPU_FORMAT_V_F: return HOT_FLOAT_SCALAR;
    case XPU_FORMAT_VVX:
    case XPU_FORMAT_VMACX:
    case XPU_FORMAT_V_X: return HOT_INT_SCALAR;
    case XPU_FORMAT_VVI:
    case XPU_FORMAT_VVU:
    case XPU_FORMAT_V_I: return HOT_INT_IMMEDIATE;
    default: return HOT_OTHER;
    }
}

/* How an instruction is dispatched where there is no breakpoint. */
static uint8_t hot_of_insn(const xpu_decoded *insn) {
    unsigned format = xpu_insn_infos[insn->op].format;
    if (insn->class >= XPU_CLASS_VCONFIG) return hot_of_vector(insn, format);
    int is_rounded = format == XPU_FORMAT_F3RM || format == XPU_FORMAT_F4;
    return is_rounded && (insn->word >> 12 & 7) != 7 ? HOT_OTHER : hot_of[insn->op];
}

static void decode(xpu_decoded *insn, uint32_t word, uint32_t pc) {
    xpu_insn_id id = xpu_insn_find(word);
    const xpu_insn_info *info = &xpu_insn_infos[id];
    xpu_insn_format format = (xpu_insn_format)info->format;
    *insn = (xpu_decoded){.op = (uint16_t)id, .class = info->class, .word = word};
    insn->rd = word >> 7 & 31;
    insn->rs1 = word >> 15 & 31;
    insn->rs2 = word >> 20 & 31;
    insn->imm = xpu_insn_immediate(word, format);
    insn->hot = hot_of_insn(insn);
    if (id == XPU_INSN_AUIPC) insn->imm = (int32_t)(pc + (uint32_t)insn->imm);
    if (insn->rd == 0 && writes_x(format)) insn->rd = 32;
}

/* The decoded page that holds `pc`; NULL: pc is no address of an instruction. */
static code_page *find_page(xpu_code *code, uint32_t pc) {
    if (pc - code->base >= code->size || pc & 3) return NULL;
    uint32_t base = pc & ~(PAGE_BYTES - 1u);
    code_page *page = &code->pages[base / PAGE_BYTES % PAGE_SLOTS];
    if (page->base == base) return page;
    page->base = base;
    for (unsigned i = 0; i < PAGE_INSNS; i++) {
        uint32_t offset = base + 4 * i - code->base, word;
        page->insns[i] = (xpu_decoded){.hot = HOT_OUTSIDE};
        if (offset >= code->size) continue;
        memcpy(&word, code->host + offset, 4);
        decode(&page->insns[i], word, base + 4 * i);
    }
    page->insns[PAGE_INSNS].hot = HOT_END;
    for (unsigned i = 0; i < code->break_count; i++)
        if (code->breaks[i] - base < PAGE_BYTES) page->insns[(code->breaks[i] - base) / 4].hot = HOT_BREAK;
    return page;
}

int xpu_hart_init(xpu_hart *hart, unsigned id, unsigned cores, const xpu_core_bus *bus, const xpu_core_range *ranges,
                  unsigned range_count, xpu_code *code, uint32_t entry) {
    memset(hart, 0, sizeof *hart);
    hart->id = id;
    hart->cores = cores;
    hart->bus = bus;
    hart->host = xpu_this_host();
    hart->code = code;
    hart->pc = entry;
    hart->pass = 1;
    hart->vtype = 0x80000000;
    if (range_count > XPU_CORE_RANGES) return 0;
    hart->range_count = range_count;
    uint8_t seen[4096] = {0};
    for (unsigned i = 0; i < range_count; i++) {
        const xpu_core_range *range = &ranges[i];
        hart->ranges[i + 1] = *range;
        hart->ranges[i + 1].bytes[0] = hart->ranges[i + 1].bytes[1] = 0;
        if (range->size == 0 || range->base & 0xfffff || range->size & 63 || range->size - 1 > UINT32_MAX - range->base)
            return 0;
        for (uint32_t mib = range->base >> 20; mib <= (range->base + (range->size - 1)) >> 20; mib++) {
            if (seen[mib]) return 0;
            seen[mib] = 1;
        }
    }
    xpu_hart_observe(hart, bus->observe != NULL);
    return 1;
}

void xpu_hart_observe(xpu_hart *hart, int on) {
    memset(hart->map, 0, sizeof hart->map);
    for (unsigned i = 1; i <= hart->range_count && !on; i++) {
        const xpu_core_range *range = &hart->ranges[i];
        for (uint32_t mib = range->base >> 20; mib <= (range->base + (range->size - 1)) >> 20; mib++) {
            hart->map[0][mib] = (uint8_t)i;
            if (range->writable) hart->map[1][mib] = (uint8_t)i;
        }
    }
}

void xpu_hart_clear_fault(xpu_hart *hart, uint32_t pc) {
    hart->fault = (xpu_hart_fault){0};
    hart->pc = pc;
}

static uint32_t divide(uint32_t a, uint32_t b) {
    if (!b) return UINT32_MAX;
    if (a == 0x80000000 && b == UINT32_MAX) return a;
    return (uint32_t)((int32_t)a / (int32_t)b);
}

static uint32_t remainder_of(uint32_t a, uint32_t b) {
    if (!b) return a;
    if (a == 0x80000000 && b == UINT32_MAX) return 0;
    return (uint32_t)((int32_t)a % (int32_t)b);
}

static xpu_outcome exec_system(xpu_hart *hart, xpu_decoded *insn) {
    switch (insn->op) {
    case XPU_INSN_WFI: return XPU_IDLE;
    case XPU_INSN_ECALL:
    case XPU_INSN_EBREAK: return xpu_fault(hart, XPU_FAULT_ABORT, 0);
    default: return xpu_illegal(hart);
    }
}

static xpu_outcome exec_fence_i(xpu_hart *hart, xpu_decoded *insn) {
    (void)insn;
    xpu_code_invalidate(hart->code, hart->code->base, hart->code->size);
    return XPU_REFETCH;
}

static xpu_exec *const by_class[XPU_CLASS_COUNT] = {
    [XPU_CLASS_SYSTEM] = exec_system,
    [XPU_CLASS_FENCE] = exec_fence_i,
    [XPU_CLASS_CSR] = xpu_exec_csr,
    [XPU_CLASS_FP] = xpu_exec_fp,
    [XPU_CLASS_FP_DIVIDE] = xpu_exec_fp,
    [XPU_CLASS_FP_MOVE] = xpu_exec_fp,
    [XPU_CLASS_FP_COMPARE] = xpu_exec_fp,
    [XPU_CLASS_FP_CONVERT] = xpu_exec_fp,
    [XPU_CLASS_VCONFIG] = xpu_exec_vconfig,
    [XPU_CLASS_VLOAD_UNIT] = xpu_exec_vmem,
    [XPU_CLASS_VLOAD_FIRST] = xpu_exec_vmem,
    [XPU_CLASS_VLOAD_MASK] = xpu_exec_vmask_memory,
    [XPU_CLASS_VLOAD_STRIDED] = xpu_exec_vmem,
    [XPU_CLASS_VLOAD_INDEXED] = xpu_exec_vmem,
    [XPU_CLASS_VLOAD_WHOLE] = xpu_exec_vwhole,
    [XPU_CLASS_VSTORE_UNIT] = xpu_exec_vmem,
    [XPU_CLASS_VSTORE_MASK] = xpu_exec_vmask_memory,
    [XPU_CLASS_VSTORE_STRIDED] = xpu_exec_vmem,
    [XPU_CLASS_VSTORE_INDEXED] = xpu_exec_vmem,
    [XPU_CLASS_VSTORE_WHOLE] = xpu_exec_vwhole,
    [XPU_CLASS_VINT] = xpu_exec_vint,
    [XPU_CLASS_VINT_CARRY] = xpu_exec_vint,
    [XPU_CLASS_VINT_MULTIPLY] = xpu_exec_vint,
    [XPU_CLASS_VINT_DIVIDE] = xpu_exec_vint,
    [XPU_CLASS_VCARRY_OUT] = xpu_exec_vint,
    [XPU_CLASS_VCOMPARE] = xpu_exec_vint,
    [XPU_CLASS_VEXTEND2] = xpu_exec_vint,
    [XPU_CLASS_VEXTEND4] = xpu_exec_vint,
    [XPU_CLASS_VWIDEN] = xpu_exec_vint,
    [XPU_CLASS_VWIDEN_W] = xpu_exec_vint,
    [XPU_CLASS_VNARROW] = xpu_exec_vint,
    [XPU_CLASS_VFIX] = xpu_exec_vint,
    [XPU_CLASS_VFIX_NARROW] = xpu_exec_vint,
    [XPU_CLASS_VREDUCE] = xpu_exec_vreduce,
    [XPU_CLASS_VREDUCE_WIDEN] = xpu_exec_vreduce,
    [XPU_CLASS_VFP] = xpu_exec_vfp,
    [XPU_CLASS_VFP_DIVIDE] = xpu_exec_vfp,
    [XPU_CLASS_VFP_MOVE] = xpu_exec_vfp,
    [XPU_CLASS_VFP_MERGE] = xpu_exec_vint,
    [XPU_CLASS_VFP_COMPARE] = xpu_exec_vfp,
    [XPU_CLASS_VFP_CONVERT] = xpu_exec_vfp,
    [XPU_CLASS_VFP_WIDEN] = xpu_exec_vfp,
    [XPU_CLASS_VFP_NARROW] = xpu_exec_vfp,
    [XPU_CLASS_VFP_REDUCE] = xpu_exec_vfp_reduce,
    [XPU_CLASS_VMASK] = xpu_exec_vmask,
    [XPU_CLASS_VMASK_COUNT] = xpu_exec_vmask,
    [XPU_CLASS_VMASK_SET] = xpu_exec_vmask,
    [XPU_CLASS_VIOTA] = xpu_exec_vmask,
    [XPU_CLASS_VID] = xpu_exec_vmask,
    [XPU_CLASS_VMOVE_SCALAR] = xpu_exec_vmove,
    [XPU_CLASS_VMOVE_SCALAR_FP] = xpu_exec_vmove,
    [XPU_CLASS_VMOVE_WHOLE] = xpu_exec_vmove_whole,
    [XPU_CLASS_VSLIDE_UP] = xpu_exec_vpermute,
    [XPU_CLASS_VSLIDE_DOWN] = xpu_exec_vpermute,
    [XPU_CLASS_VSLIDE_UP_FP] = xpu_exec_vpermute,
    [XPU_CLASS_VSLIDE_DOWN_FP] = xpu_exec_vpermute,
    [XPU_CLASS_VGATHER] = xpu_exec_vpermute,
    [XPU_CLASS_VGATHER16] = xpu_exec_vpermute,
    [XPU_CLASS_VCOMPRESS] = xpu_exec_vpermute,
};

#define RD  x[i->rd]
#define RS1 x[i->rs1]
#define RS2 x[i->rs2]
#define PC  (base + 4 * (uint32_t)(i - insns))
#define NEXT                                                                                                           \
    do {                                                                                                               \
        i++;                                                                                                           \
        if (--left == 0) goto out_of_budget;                                                                           \
        goto *labels[i->hot];                                                                                          \
    } while (0)
#define GO_TO(address)                                                                                                 \
    do {                                                                                                               \
        uint32_t target = (address), offset = target - base;                                                           \
        left--;                                                                                                        \
        if (offset & ~(PAGE_BYTES - 4u)) {                                                                             \
            hart->pc = target;                                                                                         \
            goto enter;                                                                                                \
        }                                                                                                              \
        i = insns + offset / 4;                                                                                        \
        if (left == 0) goto out_of_budget;                                                                             \
        goto *labels[i->hot];                                                                                          \
    } while (0)
#define BRANCH(condition)                                                                                              \
    if (condition) GO_TO(PC + (uint32_t)i->imm)
#define JUMP(to)                                                                                                       \
    uint32_t jump_target = (to);                                                                                       \
    RD = PC + 4;                                                                                                       \
    GO_TO(jump_target)
#define LOAD(size, destination, result)                                                                                \
    uint32_t address = RS1 + (uint32_t)i->imm, value = 0;                                                              \
    const uint8_t *memory = xpu_hart_memory(hart, address, size, 0);                                                   \
    outcome = XPU_DONE;                                                                                                \
    if (memory) {                                                                                                      \
        memcpy(&value, memory, size);                                                                                  \
    } else {                                                                                                           \
        hart->instret = first + (budget - left);                                                                       \
        hart->pc = PC;                                                                                                 \
        outcome = xpu_hart_load(hart, address, size, &value);                                                          \
        if (outcome == XPU_STALL || outcome == XPU_FAULTED) goto special;                                              \
    }                                                                                                                  \
    destination = (result);                                                                                            \
    if (outcome) goto special
#define STORE(size, source)                                                                                            \
    uint32_t address = RS1 + (uint32_t)i->imm, value = (source);                                                       \
    uint8_t *memory = xpu_hart_memory(hart, address, size, 1);                                                         \
    if (memory) {                                                                                                      \
        memcpy(memory, &value, size);                                                                                  \
    } else {                                                                                                           \
        hart->instret = first + (budget - left);                                                                       \
        hart->pc = PC;                                                                                                 \
        outcome = xpu_hart_store(hart, address, size, value);                                                          \
        if (outcome) goto special;                                                                                     \
    }

#define FS1 xpu_float(hart->f[i->rs1])
#define FS2 xpu_float(hart->f[i->rs2])
/* With the dynamic rounding mode, when the host has it. */
#define FLOAT(result)                                                                                                  \
    if (hart->frm > XPU_RUP) goto other;                                                                               \
    hart->f[i->rd] = xpu_canonical(result)
#define FUSED(a, c)                                                                                                    \
    uint32_t p = (a), q = hart->f[i->rs2], sum = (c);                                                                  \
    FLOAT(fmaf(xpu_float(p), xpu_float(q), xpu_float(sum)));                                                           \
    if (hart->f[i->rd] == XPU_NAN_BITS) hart->fflags |= (uint8_t)xpu_fp_product_invalid(p, q)

/* Whether a vector instruction was found legal at this vtype, from element 0 on; the host has rounding modes up to RUP.
 */
#define IS_QUICK (i->checked == hart->vkey && hart->vkey && !hart->vstart && hart->frm <= XPU_RUP)
#define TRANSFER(store, blocks, any)                                                                                   \
    unsigned width = i->word >> 12 & 7;                                                                                \
    uint32_t address = RS1, bytes = hart->vl << (width ? width - 4 : 0);                                               \
    xpu_core_range *range = &hart->ranges[hart->map[store][address >> 20]];                                            \
    uint32_t offset = address - range->base;                                                                           \
    if (!IS_QUICK || offset >= range->size || bytes > range->size - offset) goto other;                                \
    if (address & ((1u << (width ? width - 4 : 0)) - 1)) goto other;                                                   \
    uint8_t *v = xpu_v(hart, i->rd), *memory = range->host + offset;                                                   \
    range->bytes[store] += bytes;                                                                                      \
    if (bytes & 63)                                                                                                    \
        any;                                                                                                           \
    else                                                                                                               \
        blocks
#define ELEMENTWISE(flag, width, second, options)                                                                      \
    if (!IS_QUICK || !i->kernel) goto other;                                                                           \
    uint8_t *v = hart->v;                                                                                              \
    uint8_t *to = v + (size_t)(i->word >> 7 & 31) * XPU_VLEN_BYTES, *from = xpu_v(hart, i->rs2);                       \
    uint32_t raised = hart->vl & 15 ? hart->host->rest(i->kernel, to, from, second, hart->vl, options, width)          \
                                    : i->kernel(to, from, second, hart->vl, options);                                  \
    hart->flag |= (uint8_t)FLAG_##flag(raised)
#define FLAG_fflags(raised) (raised)
#define FLAG_vxsat(raised)  ((raised) != 0)

static xpu_hart_reason interpret(xpu_hart *hart, uint64_t budget) {
    static const void *const labels[] = {&&other, &&end_of_page, &&outside, &&breakpoint,
#define X(id, ...) &&do_##id,
                                         HOT_INSNS(X) QUICK_INSNS(X)
#undef X
    };
    uint32_t *const x = hart->x, base;
    uint64_t left = budget, first = hart->instret;
    xpu_decoded *insns, *i;
    xpu_outcome outcome;
enter: {
    hart->instret = first + (budget - left);
    code_page *page = find_page(hart->code, hart->pc);
    if (left == 0) return XPU_HART_BUDGET;
    if (!page) {
        hart->fault = (xpu_hart_fault){XPU_FAULT_FETCH, hart->pc, 0, hart->pc};
        return XPU_HART_FAULT;
    }
    base = page->base;
    insns = page->insns;
    i = insns + (hart->pc - base) / 4;
    goto *labels[i->hot];
}
#define X(id, ...)                                                                                                     \
    do_##id : {                                                                                                        \
        __VA_ARGS__;                                                                                                   \
    }                                                                                                                  \
    NEXT;
    HOT_INSNS(X)
    QUICK_INSNS(X)
#undef X
other:
    hart->instret = first + (budget - left);
    hart->pc = PC;
    outcome = by_class[i->class](hart, i);
    if (outcome == XPU_DONE) NEXT;
special:
    hart->pc = PC + (outcome == XPU_STALL || outcome == XPU_FAULTED ? 0 : 4);
    if (outcome != XPU_STALL && outcome != XPU_FAULTED) left--;
    if (outcome == XPU_REFETCH) goto enter;
    if (outcome == XPU_STALL) hart->pass = hart->pc;
    hart->instret = first + (budget - left);
    hart->fault.pc = hart->fault.cause ? hart->pc : 0;
    hart->fault.word = hart->fault.cause ? i->word : 0;
    return outcome == XPU_STALL  ? XPU_HART_STALLED
           : outcome == XPU_IDLE ? XPU_HART_IDLE
           : outcome == XPU_STOP ? XPU_HART_STOPPED
                                 : XPU_HART_FAULT;
breakpoint:
    if (hart->pass == PC) {
        hart->pass = 1;
        goto *labels[hot_of_insn(i)];
    }
    hart->pc = PC;
    hart->instret = first + (budget - left);
    return XPU_HART_BREAK;
end_of_page:
outside:
    hart->pc = PC;
    if (i->hot == HOT_OUTSIDE || base + PAGE_BYTES - hart->code->base >= hart->code->size) {
        hart->instret = first + (budget - left);
        hart->fault = (xpu_hart_fault){XPU_FAULT_FETCH, hart->pc, 0, hart->pc};
        return XPU_HART_FAULT;
    }
    goto enter;
out_of_budget:
    hart->pc = PC;
    hart->instret = first + budget;
    return XPU_HART_BUDGET;
}

xpu_hart_reason xpu_hart_run(xpu_hart *hart, uint64_t budget) {
    if (hart->fault.cause) return XPU_HART_FAULT;
    xpu_fp_enter(hart);
    xpu_hart_reason reason = interpret(hart, budget);
    xpu_fp_leave(hart);
    return reason;
}
