/* Random and directed streams of instructions, written from the rows of core/isa.def. */
#include "tests/rtl/vector/streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/func/core.h"
#include "tests/rtl/core/programs.h"

enum {
    TABLE_BYTES = 0x2000,
    INDICES = 0x4000, /* in GM behind TABLE: offsets of 8, 16 and 32 bits, 1024 bytes each */
    BASE = 10,        /* registers of addresses and strides */
    STRIDE = 11,
    LENGTH = 12,
    OTHER = 13
};
#define TABLE  (BENCH_GM + 0x200000u)
#define MEMORY (BENCH_GM + 0x300000u)

static bench_code code;
static uint64_t state;
static xpu_hart hart, before;
static xpu_code *hart_code;
static uint32_t rejected; /* the last instruction that was not legal */

static uint32_t below(uint32_t bound) {
    return bench_random(&state) % bound;
}

static const xpu_core_bus no_bus;

/* Begins a program: memories, the functional core, registers. */
static void begin(uint64_t seed) {
    state = seed * 0x9e3779b97f4a7c15u + 3;
    for (unsigned i = 0; i < 8; i++) bench_random(&state);
    bench_clear();
    for (uint32_t i = 0; i < TABLE_BYTES; i += 4) {
        uint32_t value = below(4) ? bench_random_float(&state) : bench_random(&state);
        bench_write(TABLE + i, &value, 4);
        bench_write(BENCH_LM + i, &value, 4);
        bench_write((below(2) ? BENCH_SM : BENCH_L3) + i, &value, 4);
        bench_write(MEMORY + i, &value, 4);
    }
    for (uint32_t i = 0; i < 1024; i += 4) {
        uint32_t small = (bench_random(&state) & 0x3c3c3c3c), wide = below(0x800) * 4;
        uint32_t halves = below(0x800) * 4 | below(0x800) * 4 << 16;
        bench_write(TABLE + INDICES + i, &small, 4);
        bench_write(TABLE + INDICES + 1024 + i, &halves, 4);
        bench_write(TABLE + INDICES + 2048 + i, &wide, 4);
    }
    xpu_core_range ranges[] = {{BENCH_LM, BENCH_LM_SHARED, bench_memory(1, BENCH_LM, 4), 1, {0, 0}},
                               {BENCH_SM, BENCH_SM_BYTES, bench_memory(1, BENCH_SM, 4), 1, {0, 0}},
                               {BENCH_L3, BENCH_L3_BYTES, bench_memory(1, BENCH_L3, 4), 1, {0, 0}},
                               {BENCH_GM, BENCH_GM_BYTES, bench_memory(1, BENCH_GM, 4), 1, {0, 0}}};
    code_begin(&code, BENCH_GM);
    if (!hart_code) hart_code = xpu_code_new(BENCH_GM, BENCH_GM_BYTES, bench_memory(1, BENCH_GM, 4));
    if (!hart_code || !xpu_hart_init(&hart, 3, 5, &no_bus, ranges, 4, hart_code, code.base)) {
        fprintf(stderr, "the functional core cannot be made\n");
        exit(1);
    }
    xpu_code_invalidate(hart_code, BENCH_GM, BENCH_GM_BYTES);
    rejected = 0;
}

/* Executes the words from `from` on; those from the first that faults are taken back. Returns whether there was none.
 */
static int settle(unsigned from) {
    uint32_t bytes = 4 * (code.count - from);
    memcpy(bench_memory(1, code.base + 4 * from, bytes), code.words + from, bytes);
    xpu_code_invalidate(hart_code, code.base + 4 * from, bytes);
    for (; from < code.count; from++) {
        before = hart;
        if (xpu_hart_run(&hart, 1) != XPU_HART_FAULT) continue;
        if (hart.fault.address - BENCH_LM >= BENCH_LM_BYTES) rejected = code.words[from];
        hart = before;
        xpu_hart_clear_fault(&hart, code.base + 4 * from);
        code.count = from;
        return 0;
    }
    return 1;
}

/* Ends a program: the memories become what they were. */
static uint32_t end(void) {
    code_word(&code, code_match(XPU_INSN_WFI));
    memcpy(bench_memory(1, BENCH_LM, 4), bench_memory(0, BENCH_LM, 4), BENCH_LM_BYTES);
    memcpy(bench_memory(1, BENCH_SM, 4), bench_memory(0, BENCH_SM, 4), BENCH_SM_BYTES);
    memcpy(bench_memory(1, BENCH_L3, 4), bench_memory(0, BENCH_L3, 4), BENCH_L3_BYTES);
    memcpy(bench_memory(1, BENCH_GM, 4), bench_memory(0, BENCH_GM, 4), BENCH_GM_BYTES);
    return code_end(&code);
}

/* All registers from the table. */
static void load_registers(void) {
    unsigned from = code.count;
    for (unsigned reg = 0; reg < 32; reg += 8) {
        code_li(&code, BASE, TABLE + (below(TABLE_BYTES - 512) & ~3u));
        code_word(&code, code_match(XPU_INSN_VL8RE32_V) | reg << 7 | BASE << 15);
    }
    settle(from);
}

static void load_scalars(void) {
    unsigned from = code.count;
    code_li(&code, BASE, TABLE + (below(TABLE_BYTES - 512) & ~3u));
    for (unsigned i = 0; i < 32; i++) code_i(&code, XPU_INSN_FLW, i, BASE, (int32_t)(4 * i));
    for (unsigned i = 14; i < 32; i++) code_i(&code, XPU_INSN_LW, i, BASE, (int32_t)(128 + 4 * i));
    for (unsigned i = 20; i < 26; i++) code_i(&code, XPU_INSN_ADDI, i, 0, (int32_t)(below(80))-16);
    settle(from);
}

/* vtype and vl. */
static void configure(unsigned vtype, uint32_t length) {
    unsigned from = code.count;
    code_li(&code, LENGTH, length);
    code_word(&code, code_match(XPU_INSN_VSETVLI) | vtype << 20 | LENGTH << 15 | below(2) * 15 << 7);
    settle(from);
}

static void write_csr(unsigned number, unsigned value) {
    unsigned from = code.count;
    code_i(&code, XPU_INSN_ADDI, LENGTH, 0, (int32_t)value);
    code_i(&code, XPU_INSN_CSRRW, 0, LENGTH, (int32_t)number);
    settle(from);
}

/* A register for a vector operand: multiples of small and large groups are frequent. */
static unsigned vector_register(void) {
    unsigned reg = below(32);
    switch (below(6)) {
    case 0: return reg;
    case 1: return reg & ~1u;
    case 2:
    case 3: return reg & ~3u;
    default: return reg & ~7u;
    }
}

static uint32_t memory_base(unsigned alignment) {
    static const uint32_t others[] = {BENCH_SM, BENCH_L3, MEMORY};
    uint32_t base = below(4) ? BENCH_LM : others[below(3)];
    uint32_t offset = below(0x3000) & ~(alignment - 1);
    if (below(3) == 0) offset &= ~63u;
    if (below(60) == 0) base = BENCH_SM + BENCH_SM_BYTES - 0x100, offset &= 0x1ff; /* across the end */
    return base + offset;
}

/* An instruction of this row with random operands; `masked`: 0, 1, or 2 for either. Returns 0 when it is not legal. */
static int try_vector(xpu_insn_id id, unsigned masked) {
    const xpu_insn_info *info = &xpu_insn_infos[id];
    unsigned from = code.count;
    uint32_t word = bench_random(&state) << 16 ^ bench_random(&state);
    word = (word & 0xfe00707fu) | vector_register() << 7 | vector_register() << 15 | vector_register() << 20;
    if (!(info->mask >> 25 & 1)) word = (word & ~(1u << 25)) | (masked == 2 ? below(2) : !masked) << 25;
    int is_memory = info->class >= XPU_CLASS_VLOAD_UNIT && info->class <= XPU_CLASS_VSTORE_WHOLE;
    if (is_memory) {
        unsigned width = info->match >> 12 & 7, bytes = width ? 1u << (width - 4) : 1;
        if (below(8) == 0) bytes = 1;
        word = (word & 0x1fffffffu) | below(8) << 29;
        if (below(3)) word &= 0x1fffffffu;
        int indexed = info->class == XPU_CLASS_VLOAD_INDEXED || info->class == XPU_CLASS_VSTORE_INDEXED;
        uint32_t base = memory_base(indexed ? 4 : bytes);
        unsigned beside = indexed && below(3) == 0 ? below(8) : 0; /* indices may be any numbers then */
        code_li(&code, BASE, beside ? MEMORY : base);
        if (info->class == XPU_CLASS_VLOAD_STRIDED || info->class == XPU_CLASS_VSTORE_STRIDED) {
            code_li(&code, STRIDE, (below(16) - 4) * bytes);
            word = (word & ~0x01f00000u) | STRIDE << 20;
        }
        if (indexed) {
            unsigned log = width ? width - 4 : 0, reg = vector_register() & ~7u;
            code_li(&code, OTHER, TABLE + INDICES + 1024 * log + (below(512) & ~3u));
            code_word(&code, code_match(XPU_INSN_VL8RE32_V) | reg << 7 | OTHER << 15);
            word = (word & ~0x01f00000u) | (reg | beside) << 20;
        }
        word = (word & ~0x000f8000u) | BASE << 15;
    } else {
        const char *operands = xpu_format_operands((xpu_insn_format)info->format);
        if (strncmp(operands, "rd", 2) == 0) word = (word & ~0xf80u) | (14 + below(18)) << 7;
        if (strstr(operands, "rs1")) word = (word & ~0xf8000u) | (below(4) ? 14 + below(18) : 0) << 15;
        if (strstr(operands, "imm")) word = (word & ~0xf8000u) | below(32) << 15;
    }
    code_word(&code, (word & ~info->mask) | info->match);
    return settle(from);
}

/* ---- Random ---- */

static void scalar_instruction(void) {
    static const xpu_insn_id ids[] = {XPU_INSN_ADD,    XPU_INSN_XOR,    XPU_INSN_SLTU,   XPU_INSN_MUL,
                                      XPU_INSN_FADD_S, XPU_INSN_FMUL_S, XPU_INSN_DIV,    XPU_INSN_FDIV_S,
                                      XPU_INSN_SUB,    XPU_INSN_SRA,    XPU_INSN_FSQRT_S};
    xpu_insn_id id = ids[below(sizeof ids / sizeof *ids)];
    unsigned from = code.count;
    code_r(&code, id, 14 + below(6), 14 + below(18), 14 + below(18));
    if (below(6) == 0) {
        code_li(&code, BASE, BENCH_LM + below(0x800) * 4);
        code_i(&code, XPU_INSN_LW, 14 + below(6), BASE, 0);
        code_s(&code, XPU_INSN_SW, 14 + below(6), BASE, 4);
    }
    settle(from);
}

static void read_csrs(void) {
    static const uint16_t numbers[] = {0x001, 0x008, 0x009, 0x00a, 0xc20, 0xc21};
    unsigned from = code.count;
    code_i(&code, XPU_INSN_CSRRS, 15, 0, numbers[below(6)]);
    settle(from);
}

static unsigned random_vtype(void) {
    static const uint8_t lmuls[] = {0, 0, 0, 1, 2, 2, 3, 6, 7};
    return lmuls[below(sizeof lmuls)] | below(5) / 2 << 3 | below(4) << 6;
}

uint32_t stream_random(uint64_t seed, unsigned length) {
    begin(seed);
    load_registers();
    load_scalars();
    configure(2 << 3, 16);
    for (unsigned i = 0; i < length; i++) {
        switch (below(24)) {
        case 0:
        case 1: configure(random_vtype(), below(4) ? 1 + below(600) : below(40)); break;
        case 2: scalar_instruction(); break;
        case 3:
            if (below(4) == 0) load_registers();
            break;
        case 4: read_csrs(); break;
        case 5:
            if (below(4) == 0) write_csr(0x002, below(5));
            if (below(4) == 0) write_csr(0x00a, below(4));
            if (below(4) == 0) load_scalars();
            break;
        case 6:
            if (below(4) == 0) write_csr(0x008, below(below(2) ? 8 : 64));
            break;
        default: {
            xpu_insn_id id = (xpu_insn_id)(XPU_INSN_VLE8_V + below(XPU_INSN_COUNT - XPU_INSN_VLE8_V));
            for (unsigned k = 0; k < 6 && !try_vector(id, 2); k++);
        }
        }
    }
    if (below(3) == 0 && rejected) code_word(&code, rejected);
    return end();
}

/* ---- Directed ---- */

enum { PER_PROGRAM = 12 };

static void one_case(xpu_insn_id id, unsigned vtype, unsigned masked) {
    unsigned sew = vtype >> 3 & 3, lmul = vtype & 7, most = lmul & 4 ? (64u >> sew) >> (8 - lmul) : 64u >> sew << lmul;
    const uint32_t lengths[] = {most, most - 1, 1, 0, most / 2 + 1, 1 + below(most)};
    for (unsigned k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        if (k >= 3 && below(3)) continue;
        configure(vtype, lengths[k]);
        write_csr(0x002, k == 0 ? 0 : below(5));
        write_csr(0x00a, below(4));
        uint32_t start = k == 0 || below(3) ? 0 : below(4) == 0 ? lengths[k] : below(lengths[k] + 1);
        for (unsigned tries = 0; tries < 40; tries++) {
            if (tries > 20) start = 0;
            if (start) write_csr(0x008, start);
            if (try_vector(id, masked)) break;
        }
    }
}

uint32_t stream_directed(unsigned index, const char **name) {
    unsigned first = XPU_INSN_VLE8_V + index * PER_PROGRAM;
    if (first >= XPU_INSN_COUNT) return 0;
    *name = xpu_insn_infos[first].mnemonic;
    begin(1000 + index);
    load_registers();
    load_scalars();
    for (unsigned id = first; id < first + PER_PROGRAM && id < XPU_INSN_COUNT; id++)
        for (unsigned sew = 0; sew < 3; sew++)
            for (unsigned lmul = 0; lmul < 8; lmul++) {
                if (lmul == 4 || lmul == 5 || (lmul == 6 && sew > 0) || (lmul == 7 && sew > 1)) continue;
                for (unsigned masked = 0; masked < 2; masked++) {
                    if (masked && xpu_insn_infos[id].mask >> 25 & 1) continue;
                    if (below(3) == 0) load_registers();
                    if (below(8) == 0) load_scalars();
                    one_case((xpu_insn_id)id, lmul | sew << 3, masked);
                }
            }
    return end();
}

/* ---- Loops for measurements ---- */

enum { ROUNDS = 9 };

/* A vector instruction without mask; a is rs1, vs1, fs1 or an immediate. */
static void vector(xpu_insn_id id, unsigned vd, unsigned vs2, unsigned a) {
    code_word(&code, code_match(id) | 1u << 25 | vd << 7 | vs2 << 20 | a << 15);
}

static void loop_scalar(void) {
    for (unsigned i = 0; i < 6; i++) code_r(&code, i & 1 ? XPU_INSN_XOR : XPU_INSN_ADD, 14, 15, 14);
}
static void loop_fma(void) {
    for (unsigned i = 0; i < 6; i++) vector(XPU_INSN_VFMACC_VV, 8 + 4 * i, 0, 4);
}
static void loop_fadd(void) {
    for (unsigned i = 0; i < 6; i++) vector(XPU_INSN_VFADD_VV, 8 + 4 * i, 0, 4);
}
static void loop_add32(void) {
    for (unsigned i = 0; i < 6; i++) vector(XPU_INSN_VADD_VV, 8 + 4 * i, 0, 4);
}
static void loop_load(void) {
    for (unsigned i = 0; i < 6; i++) vector(XPU_INSN_VLE32_V, 8 + 4 * i, 0, BASE);
}
static void loop_copy(void) {
    vector(XPU_INSN_VLE32_V, 8, 0, BASE);
    vector(XPU_INSN_VFMACC_VV, 8, 0, 4);
    vector(XPU_INSN_VSE32_V, 8, 0, OTHER);
}
/* e^x of 64 floats: 19 instructions, constants in f and v registers. */
static void loop_exp(void) {
    vector(XPU_INSN_VLE32_V, 8, 0, BASE);
    vector(XPU_INSN_VFMIN_VF, 8, 8, 1);
    vector(XPU_INSN_VFMAX_VF, 8, 8, 2);
    vector(XPU_INSN_VFMUL_VF, 12, 8, 3);
    vector(XPU_INSN_VFCVT_X_F_V, 16, 12, 1);
    vector(XPU_INSN_VFCVT_F_X_V, 12, 16, 3);
    vector(XPU_INSN_VFNMSAC_VF, 8, 12, 4);
    vector(XPU_INSN_VFNMSAC_VF, 8, 12, 5);
    vector(XPU_INSN_VFMV_V_F, 20, 0, 6);
    for (unsigned i = 0; i < 5; i++) vector(XPU_INSN_VFMADD_VV, 20, 24 + 4 * (i & 1), 8);
    vector(XPU_INSN_VFMADD_VV, 20, 24, 8);
    vector(XPU_INSN_VSLL_VI, 16, 16, 23);
    vector(XPU_INSN_VADD_VX, 16, 16, 14);
    vector(XPU_INSN_VADD_VV, 20, 20, 16);
    vector(XPU_INSN_VSE32_V, 20, 0, OTHER);
}

uint32_t stream_loop(unsigned index, unsigned rounds, const char **name) {
    static const struct {
        const char *name;
        void (*body)(void);
        unsigned vtype;
    } loops[] = {{"scalar", loop_scalar, 2 << 3 | 2},
                 {"vfmacc.vv m4, 6", loop_fma, 2 << 3 | 2},
                 {"vfadd.vv m4, 6", loop_fadd, 2 << 3 | 2},
                 {"vadd.vv e32 m4, 6", loop_add32, 2 << 3 | 2},
                 {"vadd.vv e8 m4, 6", loop_add32, 2},
                 {"vle32 m4, 6", loop_load, 2 << 3 | 2},
                 {"load, fma, store m4", loop_copy, 2 << 3 | 2},
                 {"exp m4, 64 floats", loop_exp, 2 << 3 | 2},
                 {"exp m1, 16 floats", loop_exp, 2 << 3}};
    if (index >= sizeof loops / sizeof *loops) return 0;
    *name = loops[index].name;
    begin(5);
    for (uint32_t i = 0; i < 0x1000; i += 4) { /* numbers from 1 to 2 */
        uint32_t value = 0x3f800000 | (bench_random(&state) & 0x7fffff);
        bench_write(BENCH_LM + i, &value, 4);
    }
    code_li(&code, BASE, BENCH_LM);
    for (unsigned reg = 0; reg < 32; reg += 8) code_word(&code, code_match(XPU_INSN_VL8RE32_V) | reg << 7 | BASE << 15);
    for (unsigned i = 0; i < 16; i++) code_i(&code, XPU_INSN_FLW, i, BASE, (int32_t)(4 * i));
    code_li(&code, OTHER, BENCH_LM + 0x2000);
    code_li(&code, LENGTH, 512);
    code_word(&code, code_match(XPU_INSN_VSETVLI) | loops[index].vtype << 20 | LENGTH << 15);
    code_li(&code, ROUNDS, rounds);
    uint32_t from = code.count;
    loops[index].body();
    code_i(&code, XPU_INSN_ADDI, ROUNDS, ROUNDS, -1);
    code_b(&code, XPU_INSN_BNE, ROUNDS, 0, (int32_t)(from - code.count) * 4);
    return end();
}
