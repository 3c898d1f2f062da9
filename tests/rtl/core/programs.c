/* Programs for the bench: random ones, float operands, directed cases, ELF files. */
#include "tests/rtl/core/programs.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bench_code code;

void code_begin(bench_code *to, uint32_t base) {
    to->base = base;
    to->count = 0;
}
void code_word(bench_code *to, uint32_t word) {
    if (to->count < sizeof to->words / 4) to->words[to->count++] = word;
}
uint32_t code_match(xpu_insn_id id) {
    return xpu_insn_infos[id].match;
}
void code_r(bench_code *to, xpu_insn_id id, unsigned rd, unsigned rs1, unsigned rs2) {
    const xpu_insn_info *info = &xpu_insn_infos[id];
    uint32_t mode = info->mask & 0x7000 ? 0 : 0x7000, second = info->mask & 0x01f00000 ? 0 : rs2 << 20;
    code_word(to, info->match | mode | second | rd << 7 | rs1 << 15);
}
void code_i(bench_code *to, xpu_insn_id id, unsigned rd, unsigned rs1, int32_t imm) {
    code_word(to, code_match(id) | rd << 7 | rs1 << 15 | (uint32_t)imm << 20);
}
void code_s(bench_code *to, xpu_insn_id id, unsigned rs2, unsigned rs1, int32_t imm) {
    code_word(to,
              code_match(id) | ((uint32_t)imm >> 5 & 127) << 25 | rs2 << 20 | rs1 << 15 | ((uint32_t)imm & 31) << 7);
}
void code_b(bench_code *to, xpu_insn_id id, unsigned rs1, unsigned rs2, int32_t distance) {
    uint32_t d = (uint32_t)distance;
    code_word(to, code_match(id) | rs1 << 15 | rs2 << 20 | (d >> 12 & 1) << 31 | (d >> 5 & 63) << 25 |
                      (d >> 1 & 15) << 8 | (d >> 11 & 1) << 7);
}
void code_j(bench_code *to, unsigned rd, int32_t distance) {
    uint32_t d = (uint32_t)distance;
    code_word(to, code_match(XPU_INSN_JAL) | rd << 7 | (d >> 20 & 1) << 31 | (d >> 1 & 1023) << 21 |
                      (d >> 11 & 1) << 20 | (d >> 12 & 255) << 12);
}
void code_li(bench_code *to, unsigned rd, uint32_t value) {
    code_word(to, code_match(XPU_INSN_LUI) | rd << 7 | ((value + 0x800) & 0xfffff000));
    code_i(to, XPU_INSN_ADDI, rd, rd, (int32_t)(value & 0xfff));
}
uint32_t code_end(bench_code *to) {
    bench_write(to->base, to->words, 4 * to->count);
    return to->base;
}

uint32_t bench_random_float(uint64_t *state) {
    static const uint32_t special[] = {
        0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
        0x7f800001, 0xff812345, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
        0x7f7fffff, 0xff7fffff, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000, 0x4f000000, 0xcf000000,
        0x4f800000, 0x4effffff, 0x4f7fffff, 0x4b000000, 0x4b7fffff, 0x3effffff, 0x3f7fffff, 0x7effffff};
    uint32_t bits = bench_random(state), low = bench_random(state);
    switch (bench_random(state) % 10) {
    case 0:
    case 1: return special[bits % (sizeof special / sizeof *special)];
    case 2: return bits;
    case 3: return (bits & 0x807fffff) | (120 + low % 16) << 23;
    case 4: return (bits & 0x80700000) | (126 + low % 4) << 23;
    case 5: return (bits & 0x807fffff) | (140 + low % 24) << 23;
    case 6: return (bits & 0x807fffff) >> low % 24; /* subnormal */
    case 7: return (bits & 0x807fffff) | (low % 3) << 23 | (low & 0x100 ? 0x3f000000 : 0);
    case 8: return (bits & 0x80000000) | (0x3f800000 + (low % 64) - 32 + (bits % 254 << 23) % 0x3f000000);
    default: return (bits & 0x807fffff) | (251 + low % 4) << 23;
    }
}

/* ---- Random scalar programs ---- */

enum { TABLE = BENCH_LM, DATA = BENCH_LM + 0x1000, LOOP = 6, SCRATCH = 7 };
static uint64_t state;
static uint32_t below(uint32_t n) {
    return bench_random(&state) % n;
}

/* x3 and x4 are pointers, x6 counts rounds. */
static unsigned destination(void) {
    unsigned rd = below(32);
    return rd == 3 || rd == 4 || rd == LOOP ? SCRATCH : rd;
}

static void random_access(xpu_insn_id id, int is_store) {
    static const uint8_t sizes[] = {4, 1, 2};
    unsigned kind = code_match(id) >> 12 & 3, size = id == XPU_INSN_FLW || id == XPU_INSN_FSW ? 4
                                                     : kind == 2                              ? 4
                                                                                              : sizes[1 + (kind & 1)];
    int32_t offset = (int32_t)(below(4096) / size * size) - 2048;
    unsigned pointer = 3 + (below(6) == 0), rd = id == XPU_INSN_FLW ? below(32) : destination();
    if (is_store)
        code_s(&code, id, below(32), pointer, offset);
    else
        code_i(&code, id, rd, pointer, offset);
}

static void random_csr(xpu_insn_id id) {
    static const uint16_t readable[] = {0x001, 0x002, 0x003, 0x008, 0x009, 0x00a, 0x00f, 0xc00, 0xc02,
                                        0xc80, 0xc82, 0xc20, 0xc21, 0xc22, 0xf14, 0xfc0, 0xfc1, 0xfc2};
    switch (below(5)) {
    case 0: code_i(&code, XPU_INSN_CSRRWI, destination(), below(5), 0x002); break;
    case 1: code_i(&code, XPU_INSN_CSRRSI, destination(), 0, readable[below(18)]); break;
    case 2: code_i(&code, XPU_INSN_CSRRS, destination(), 0, readable[below(18)]); break;
    case 3:
        code_i(&code, id, destination(), below(32), readable[below(7)]);
        code_i(&code, XPU_INSN_CSRRWI, 0, below(5), 0x002);
        break;
    default: code_i(&code, id, destination(), below(32), 0x001); break;
    }
}

static void random_instruction(void) {
    xpu_insn_id id = (xpu_insn_id)(1 + below(XPU_INSN_FMV_W_X));
    const xpu_insn_info *info = &xpu_insn_infos[id];
    const char *operands = xpu_format_operands((xpu_insn_format)info->format);
    uint32_t word = (bench_random(&state) & ~info->mask) | info->match;
    switch (info->class) {
    case XPU_CLASS_SYSTEM: return;
    case XPU_CLASS_FENCE:
        if (below(4) == 0) code_word(&code, word);
        return;
    case XPU_CLASS_LOAD: random_access(id, 0); return;
    case XPU_CLASS_STORE: random_access(id, 1); return;
    case XPU_CLASS_CSR: random_csr(id); return;
    case XPU_CLASS_BRANCH: code_b(&code, id, below(32), below(32), 4 + 4 * (int32_t)below(4)); break;
    case XPU_CLASS_JUMP:
        if (id == XPU_INSN_JAL) {
            code_j(&code, destination(), 4 + 4 * (int32_t)below(4));
        } else {
            code_word(&code, code_match(XPU_INSN_AUIPC) | SCRATCH << 7);
            code_i(&code, id, destination(), SCRATCH, 8 + 4 * (int32_t)below(4) + (int32_t)below(2));
        }
        break;
    default:
        word &= ~0xf80u;
        word |= (operands[0] == 'f' ? below(32) : destination()) << 7;
        if (strstr(operands, "rm") && (word >> 12 & 7) > 4) word |= 0x7000;
        code_word(&code, word);
        return;
    }
    for (unsigned i = 0; i < 4; i++) code_r(&code, XPU_INSN_XOR, destination(), below(32), below(32));
}

/* The last instruction: wfi, or one that faults. */
static void random_end(void) {
    uint32_t word = bench_random(&state);
    switch (below(12)) {
    case 0: code_word(&code, code_match(XPU_INSN_EBREAK)); break;
    case 1: code_word(&code, code_match(XPU_INSN_ECALL)); break;
    case 2: code_i(&code, XPU_INSN_LW, 8, 3, 1 + (int32_t)below(3)); break;
    case 3: code_s(&code, XPU_INSN_SH, 8, 4, 1); break;
    case 4: code_i(&code, XPU_INSN_LW, 8, 0, 16); break;
    case 5: code_i(&code, XPU_INSN_JALR, 8, 0, (int32_t)below(2048)); break;
    case 6:
        code_li(&code, SCRATCH, BENCH_REGISTERS + (below(2) ? 0x420 : 0x1000));
        code_s(&code, below(2) ? XPU_INSN_SW : XPU_INSN_SB, 8, SCRATCH, 0);
        break;
    case 7:
        if (xpu_insn_find(word) == XPU_INSN_ILLEGAL) code_word(&code, word);
        break;
    case 8: code_i(&code, XPU_INSN_CSRRW, 8, 0, 0xc00); break;
    case 9:
        code_i(&code, XPU_INSN_CSRRWI, 0, 5 + below(3), 0x002);
        code_r(&code, XPU_INSN_FADD_S, 1, 2, 3);
        break;
    default: break;
    }
    code_word(&code, code_match(XPU_INSN_WFI));
}

uint32_t bench_random_program(uint64_t seed, unsigned length) {
    state = seed * 0x9e3779b97f4a7c15u + 1;
    for (unsigned i = 0; i < 8; i++) bench_random(&state);
    bench_clear();
    for (uint32_t i = 0; i < 0x3000; i += 4) {
        uint32_t value = below(3) ? bench_random_float(&state) : bench_random(&state);
        bench_write(TABLE + i, &value, 4);
        bench_write((below(2) ? BENCH_SM : BENCH_L3) + i, &value, 4);
    }
    code_begin(&code, BENCH_GM + (below(0x1000) & ~3u));
    code_li(&code, 31, TABLE);
    for (unsigned i = 0; i < 32; i++) code_i(&code, XPU_INSN_FLW, i, 31, (int32_t)(4 * i));
    for (unsigned i = 1; i < 32; i++) code_i(&code, XPU_INSN_LW, i, 31, (int32_t)(128 + 4 * i));
    static const uint32_t others[] = {BENCH_SM, BENCH_L3, BENCH_GM + 0x200000};
    code_li(&code, 3, DATA);
    code_li(&code, 4, others[below(3)] + 0x1000);
    code_i(&code, XPU_INSN_ADDI, LOOP, 0, 1 + (int32_t)below(3));
    uint32_t begin = code.count;
    for (unsigned i = 0; i < length; i++) random_instruction();
    code_i(&code, XPU_INSN_ADDI, LOOP, LOOP, -1);
    code_b(&code, XPU_INSN_BEQ, LOOP, 0, 8);
    code_j(&code, 0, (int32_t)(begin - code.count) * 4);
    for (unsigned i = 0; i < 3; i++) code_i(&code, XPU_INSN_CSRRS, 8 + i, 0, 0x001 + (int32_t)i);
    random_end();
    return code_end(&code);
}

/* ---- Float operations: every one on each triple of a table, in a mode of the triple, flags read after each ---- */

enum { TRIPLES = 3500 };
uint32_t bench_float_program(uint64_t seed, unsigned *operations) {
    static const xpu_insn_id ids[] = {XPU_INSN_FADD_S,   XPU_INSN_FSUB_S,   XPU_INSN_FMUL_S,   XPU_INSN_FDIV_S,
                                      XPU_INSN_FSQRT_S,  XPU_INSN_FMADD_S,  XPU_INSN_FMSUB_S,  XPU_INSN_FNMSUB_S,
                                      XPU_INSN_FNMADD_S, XPU_INSN_FMIN_S,   XPU_INSN_FMAX_S,   XPU_INSN_FEQ_S,
                                      XPU_INSN_FLT_S,    XPU_INSN_FLE_S,    XPU_INSN_FCLASS_S, XPU_INSN_FSGNJ_S,
                                      XPU_INSN_FSGNJN_S, XPU_INSN_FSGNJX_S, XPU_INSN_FCVT_W_S, XPU_INSN_FCVT_WU_S,
                                      XPU_INSN_FCVT_S_W, XPU_INSN_FCVT_S_WU};
    state = seed * 0x9e3779b97f4a7c15u + 7;
    for (unsigned i = 0; i < 8; i++) bench_random(&state);
    bench_clear();
    static uint32_t table[TRIPLES][4];
    for (unsigned i = 0; i < TRIPLES; i++) {
        for (unsigned k = 0; k < 3; k++) table[i][k] = bench_random_float(&state);
        if (below(8) == 0) table[i][2] = (table[i][0] & 0x7fffffff) ^ below(2) << 31; /* cancellation of a * 1 */
        if (below(16) == 0) table[i][1] = 0x3f800000 ^ below(2) << 31;
        table[i][3] = below(5);
    }
    bench_write(BENCH_LM, table, sizeof table);
    code_begin(&code, BENCH_GM);
    code_li(&code, 8, BENCH_LM);
    code_li(&code, 9, BENCH_LM + sizeof table);
    uint32_t begin = code.count;
    for (unsigned k = 0; k < 3; k++) code_i(&code, XPU_INSN_FLW, 1 + k, 8, (int32_t)(4 * k));
    code_i(&code, XPU_INSN_LW, 10, 8, 12);
    code_i(&code, XPU_INSN_LW, 11, 8, 0);
    code_i(&code, XPU_INSN_CSRRW, 0, 10, 0x002);
    for (unsigned k = 0; k < sizeof ids / sizeof *ids; k++) {
        const char *text = xpu_format_operands((xpu_insn_format)xpu_insn_infos[ids[k]].format);
        int from_x = strstr(text, "rs1") != NULL, fused = strstr(text, "fs3") != NULL;
        uint32_t at = code.count;
        code_r(&code, ids[k], 12, from_x ? 11 : 1, 2);
        if (fused) code.words[at] |= 3u << 27;
        code_i(&code, XPU_INSN_CSRRWI, 13, 0, 0x001);
    }
    code_i(&code, XPU_INSN_ADDI, 8, 8, 16);
    code_b(&code, XPU_INSN_BNE, 8, 9, (int32_t)(begin - code.count) * 4);
    code_word(&code, code_match(XPU_INSN_WFI));
    *operations = TRIPLES;
    return code_end(&code);
}

/* ---- Directed cases ---- */

/* Blocks of code that change an instruction behind themselves, perhaps while its line is being fetched. */
static void self_modifying(void) {
    code_i(&code, XPU_INSN_ADDI, 11, 0, 2);
    code_j(&code, 0, 8);
    uint32_t again = code.count;
    code_j(&code, 0, 8);
    for (unsigned block = 0; block < 40; block++) {
        uint32_t begin = code.count, distance = 7 + block % 29;
        code_li(&code, 8, code.base + 4 * (begin + distance));
        code_li(&code, 9, code_match(XPU_INSN_ADDI) | 10 << 7 | (42 + block) << 20);
        code_s(&code, XPU_INSN_SW, 9, 8, 0);
        code_word(&code, code_match(XPU_INSN_FENCE_I));
        if (block % 2) code_j(&code, 0, (int32_t)(begin + distance - code.count) * 4);
        while (code.count < begin + distance) code_i(&code, XPU_INSN_ADDI, 12, 12, 1);
        code_i(&code, XPU_INSN_ADDI, 10, 0, 1); /* becomes li x10, 42 + block */
        code_r(&code, XPU_INSN_ADD, 13, 13, 10);
    }
    code_i(&code, XPU_INSN_ADDI, 11, 11, -1);
    code_b(&code, XPU_INSN_BEQ, 11, 0, 8);
    code_j(&code, 0, (int32_t)(again - code.count) * 4);
}

static void divisions(void) {
    static const uint32_t values[] = {0,          1,          2,          3,         0xff,       0x100,
                                      0xffff,     0x10000,    0xffffff,   0x1000000, 0x7fffffff, 0x80000000,
                                      0x80000001, 0xffffff00, 0xfffffffe, 0xffffffff};
    for (unsigned a = 0; a < 16; a++)
        for (unsigned b = 0; b < 16; b++) {
            code_li(&code, 8, values[a]);
            code_li(&code, 9, values[b]);
            for (xpu_insn_id id = XPU_INSN_MUL; id <= XPU_INSN_REMU; id++) code_r(&code, id, 10, 8, 9);
            code_r(&code, XPU_INSN_ADD, 11, 10, 11);
        }
}

static void subword_accesses(void) {
    code_li(&code, 8, BENCH_LM + 0x100);
    code_li(&code, 9, BENCH_SM + 0x100);
    code_li(&code, 10, 0x81828384);
    for (unsigned to = 8; to < 10; to++) {
        for (int32_t i = 0; i < 64; i += 4) code_s(&code, XPU_INSN_SW, 10, to, i);
        for (int32_t i = 0; i < 64; i++) {
            code_s(&code, XPU_INSN_SB, 8, to, i);
            code_i(&code, XPU_INSN_LBU, 11, to, i);
            code_i(&code, XPU_INSN_LB, 12, to, 63 - i);
            if (i & 1) continue;
            code_s(&code, XPU_INSN_SH, 10, to, i);
            code_i(&code, XPU_INSN_LHU, 13, to, i);
            code_i(&code, XPU_INSN_LH, 14, to, 62 - i);
        }
    }
}

/* Results that are used at once, by every kind of user. */
static void hazards(void) {
    code_li(&code, 8, BENCH_LM + 0x100);
    code_i(&code, XPU_INSN_ADDI, 9, 0, 7);
    for (unsigned i = 0; i < 8; i++) {
        code_r(&code, XPU_INSN_FCVT_S_W, 1, 9, 0);
        code_r(&code, XPU_INSN_FADD_S, 2, 1, 1);
        code_s(&code, XPU_INSN_FSW, 2, 8, 0);
        code_i(&code, XPU_INSN_LW, 10, 8, 0);
        code_r(&code, XPU_INSN_MUL, 10, 10, 9);
        code_s(&code, XPU_INSN_SW, 10, 8, 4);
        code_i(&code, XPU_INSN_FLW, 3, 8, 4);
        code_r(&code, XPU_INSN_FDIV_S, 2, 2, 1);
        code_r(&code, XPU_INSN_FMUL_S, 2, 1, 1); /* the same destination */
        code_r(&code, XPU_INSN_FSQRT_S, 4, 2, 0);
        code_r(&code, XPU_INSN_FCVT_W_S, 11, 4, 0);
        code_b(&code, XPU_INSN_BNE, 11, 9, 8);
        code_i(&code, XPU_INSN_ADDI, 12, 12, 1);
        code_r(&code, XPU_INSN_DIV, 13, 10, 9);
        code_r(&code, XPU_INSN_REM, 13, 10, 9);
        code_i(&code, XPU_INSN_ADDI, 13, 13, 1);
        code_r(&code, XPU_INSN_FCVT_W_S, 0, 4, 0);
        code_r(&code, XPU_INSN_MUL, 0, 9, 9);
        code_r(&code, XPU_INSN_ADD, 14, 0, 0);
        code_i(&code, XPU_INSN_LW, 0, 8, 0);
        code_r(&code, XPU_INSN_ADD, 14, 0, 9);
        code_i(&code, XPU_INSN_CSRRS, 15, 0, 0x003);
    }
}

/* The end of the memory that holds code. */
static void run_off(void) {
    code_begin(&code, BENCH_GM + BENCH_GM_BYTES - 64);
    for (unsigned i = 0; i < 16; i++) code_i(&code, XPU_INSN_ADDI, 8, 8, 1);
}

uint32_t bench_directed_program(unsigned index, const char **name) {
    static const struct {
        const char *name;
        void (*make)(void);
    } cases[] = {{"self-modifying code", self_modifying},
                 {"division", divisions},
                 {"bytes and halves", subword_accesses},
                 {"hazards", hazards},
                 {"end of code memory", run_off}};
    if (index >= sizeof cases / sizeof *cases) return 0;
    bench_clear();
    code_begin(&code, BENCH_GM + 0x40);
    *name = cases[index].name;
    cases[index].make();
    if (cases[index].make != run_off) code_word(&code, code_match(XPU_INSN_WFI));
    return code_end(&code);
}

/* ---- ELF files ---- */

uint32_t bench_elf_program(const char *path) {
    static uint8_t bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    Elf32_Ehdr header;
    if (size < sizeof header) return 0;
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != EM_RISCV) return 0;
    bench_clear();
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf32_Phdr segment;
        size_t at = header.e_phoff + i * sizeof segment;
        if (at + sizeof segment > size) return 0;
        memcpy(&segment, bytes + at, sizeof segment);
        if (segment.p_type != PT_LOAD) continue;
        if (segment.p_offset + segment.p_filesz > size || !bench_memory(0, segment.p_vaddr, segment.p_memsz)) return 0;
        bench_write(segment.p_vaddr, bytes + segment.p_offset, segment.p_filesz);
    }
    return header.e_entry;
}
