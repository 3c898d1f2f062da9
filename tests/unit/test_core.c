/* The functional core: edge cases of instructions, faults, the bus, and the two sets of vector loops. */
#include <stdio.h>
#include <string.h>

#include "sim/func/core.h"
#include "sim/func/core_csr.h"
#include "sim/func/core_parts.h"
#include "tests/unit/unit.h"

enum {
    CODE = 0x10000000,
    DATA = 0x20000000,
    DATA_BYTES = 4096,
    CONSTANTS = 0x30000000,
    BUS = 0x02000000,
    WORDS = 3000
};

static uint32_t words[WORDS], count;
static _Alignas(64) uint8_t data[DATA_BYTES];
static xpu_hart hart;
static xpu_code *code;

/* ---- The system around the core ---- */

static unsigned stalls, observed;
static uint32_t last_stored;
static xpu_bus_result bus_load(void *context, uint32_t address, uint32_t *value) {
    (void)context;
    *value = address;
    if (address == BUS + 4 && stalls) return stalls--, XPU_BUS_STALL;
    if (address == BUS + 8) return *value = XPU_FAULT_ADDRESS, XPU_BUS_FAULT;
    return XPU_BUS_OK;
}
static xpu_bus_result bus_store(void *context, uint32_t address, uint32_t *value) {
    (void)context;
    last_stored = *value;
    if (address == BUS + 12) return XPU_BUS_STOP;
    if (address == BUS + 16) return *value = XPU_FAULT_ABORT, XPU_BUS_FAULT;
    return XPU_BUS_OK;
}
static void observe(void *context, uint32_t address, uint32_t bytes, int store) {
    (void)context, (void)address, (void)store;
    observed += bytes;
}
static const xpu_core_bus plain_bus = {NULL, bus_load, bus_store, NULL, NULL};
static const xpu_core_bus observing_bus = {NULL, bus_load, bus_store, NULL, observe};

static void start(const xpu_core_bus *bus) {
    xpu_core_range ranges[] = {{DATA, DATA_BYTES, data, 1, {0, 0}}, {CONSTANTS, DATA_BYTES, data, 0, {0, 0}}};
    if (code) xpu_code_free(code);
    code = xpu_code_new(CODE, sizeof words, (const uint8_t *)words);
    CU_ASSERT_FATAL(code != NULL);
    CU_ASSERT_FATAL(xpu_hart_init(&hart, 2, 4, bus, ranges, 2, code, CODE) == 1);
    memset(words, 0, sizeof words);
    count = 0;
}

/* ---- Assembling ---- */

static void put(uint32_t word) {
    words[count++] = word;
}
static uint32_t match(xpu_insn_id id) {
    return xpu_insn_infos[id].match;
}
static void put_r(xpu_insn_id id, unsigned rd, unsigned rs1, unsigned rs2) {
    put(match(id) | rd << 7 | rs1 << 15 | rs2 << 20);
}
static void put_i(xpu_insn_id id, unsigned rd, unsigned rs1, int32_t imm) {
    put(match(id) | rd << 7 | rs1 << 15 | (uint32_t)imm << 20);
}
static void put_sw(unsigned rs2, unsigned rs1, unsigned offset) {
    put(match(XPU_INSN_SW) | (offset >> 5) << 25 | rs2 << 20 | rs1 << 15 | (offset & 31) << 7);
}
static void put_jal(uint32_t distance) {
    put(match(XPU_INSN_JAL) | (distance >> 20 & 1) << 31 | (distance >> 1 & 0x3ff) << 21 | (distance >> 11 & 1) << 20 |
        (distance >> 12 & 0xff) << 12);
}
static void put_v(xpu_insn_id id, unsigned vd, unsigned vs2, unsigned vs1) { /* unmasked */
    put(match(id) | 1u << 25 | vd << 7 | vs1 << 15 | vs2 << 20);
}
enum { E8 = 0, E16 = 8, E32 = 16, M1 = 0, M2 = 1, M4 = 2, M8 = 3, MF4 = 6, MF2 = 7 };
static void put_vset(uint32_t vtype, uint32_t length) {
    put_i(XPU_INSN_ADDI, 31, 0, (int32_t)length);
    put(match(XPU_INSN_VSETVLI) | 31u << 15 | vtype << 20);
}

/* Runs from the first word to the ebreak behind the last; 1 when it gets there. */
static int run(void) {
    uint32_t end = CODE + 4 * count;
    put(match(XPU_INSN_EBREAK));
    hart.pc = CODE;
    xpu_code_invalidate(code, CODE, sizeof words);
    xpu_hart_reason reason = xpu_hart_run(&hart, 1000000);
    count = 0;
    int arrived = reason == XPU_HART_FAULT && hart.fault.cause == XPU_FAULT_ABORT && hart.fault.pc == end;
    if (arrived) xpu_hart_clear_fault(&hart, CODE);
    return arrived;
}
static uint32_t v32(unsigned reg, unsigned element) {
    return xpu_element(hart.v + 64 * reg, 2, element);
}
static void set_v32(unsigned reg, unsigned element, uint32_t value) {
    xpu_set_element(hart.v + 64 * reg, 2, element, value);
}

/* ---- Scalars ---- */

static void integers(void) {
    static const struct {
        xpu_insn_id id;
        uint32_t a, b, result;
    } cases[] = {
        {XPU_INSN_DIV, 0x80000000, 0xffffffff, 0x80000000},
        {XPU_INSN_REM, 0x80000000, 0xffffffff, 0},
        {XPU_INSN_DIV, 7, 0, 0xffffffff},
        {XPU_INSN_REM, 7, 0, 7},
        {XPU_INSN_DIVU, 7, 0, 0xffffffff},
        {XPU_INSN_REMU, 7, 0, 7},
        {XPU_INSN_DIV, (uint32_t)-7, 2, (uint32_t)-3},
        {XPU_INSN_REM, (uint32_t)-7, 2, (uint32_t)-1},
        {XPU_INSN_MULH, 0x80000000, 0x80000000, 0x40000000},
        {XPU_INSN_MULHU, 0xffffffff, 0xffffffff, 0xfffffffe},
        {XPU_INSN_MULHSU, 0xffffffff, 0xffffffff, 0xffffffff},
        {XPU_INSN_SLL, 1, 33, 2},
        {XPU_INSN_SRA, 0x80000000, 31, 0xffffffff},
        {XPU_INSN_SLTU, 1, 0xffffffff, 1},
        {XPU_INSN_SLT, 1, 0xffffffff, 0},
    };
    start(&plain_bus);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hart.x[5] = cases[i].a, hart.x[6] = cases[i].b;
        put_r(cases[i].id, 7, 5, 6);
        put_r(cases[i].id, 0, 5, 6);
        CU_ASSERT(run());
        if (hart.x[7] != cases[i].result)
            printf("%s %x %x: %x\n", xpu_insn_infos[cases[i].id].mnemonic, cases[i].a, cases[i].b, hart.x[7]);
        CU_ASSERT_EQUAL(hart.x[7], cases[i].result);
        CU_ASSERT_EQUAL(hart.x[0], 0);
    }
}

enum { RNE, RTZ, RDN, RUP, RMM, DYN = 7 };
enum { NX = 1, UF = 2, OF = 4, DZ = 8, NV = 16 };

static const struct {
    xpu_insn_id id;
    unsigned mode;
    uint32_t a, b, c, result, flags;
} floats[] = {
    {XPU_INSN_FADD_S, DYN, 0x7f800000, 0xff800000, 0, 0x7fc00000, NV},
    {XPU_INSN_FADD_S, DYN, 0xffc12345, 0x3f800000, 0, 0x7fc00000, 0},
    {XPU_INSN_FADD_S, DYN, 0xff812345, 0x3f800000, 0, 0x7fc00000, NV},
    {XPU_INSN_FADD_S, RDN, 0x3f800000, 0xbf800000, 0, 0x80000000, 0},
    {XPU_INSN_FADD_S, RNE, 0x3f800000, 0x33800000, 0, 0x3f800000, NX}, /* 1 + half an ulp */
    {XPU_INSN_FADD_S, RMM, 0x3f800000, 0x33800000, 0, 0x3f800001, NX},
    {XPU_INSN_FADD_S, RUP, 0x3f800000, 0x00000001, 0, 0x3f800001, NX},
    {XPU_INSN_FADD_S, RMM, 0x3f800000, 0x00000001, 0, 0x3f800000, NX},
    {XPU_INSN_FMUL_S, DYN, 0x7f7fffff, 0x40000000, 0, 0x7f800000, OF | NX},
    {XPU_INSN_FMUL_S, RTZ, 0x7f7fffff, 0x40000000, 0, 0x7f7fffff, OF | NX},
    {XPU_INSN_FMUL_S, RMM, 0x7f7fffff, 0x40000000, 0, 0x7f800000, OF | NX},
    {XPU_INSN_FMUL_S, DYN, 0x00800000, 0x3f000000, 0, 0x00400000, 0},  /* subnormal, exact */
    {XPU_INSN_FMUL_S, DYN, 0x00800001, 0x3f7ffffe, 0, 0x00800000, NX}, /* not tiny after rounding */
    {XPU_INSN_FMUL_S, RMM, 0x00800001, 0x3f7ffffe, 0, 0x00800000, NX},
    {XPU_INSN_FMUL_S, DYN, 0x00800001, 0x3f000000, 0, 0x00400000, UF | NX},
    {XPU_INSN_FMUL_S, RMM, 0x00800001, 0x3f000000, 0, 0x00400001, UF | NX},
    {XPU_INSN_FDIV_S, DYN, 0x3f800000, 0x80000000, 0, 0xff800000, DZ},
    {XPU_INSN_FDIV_S, DYN, 0x00000000, 0x00000000, 0, 0x7fc00000, NV},
    {XPU_INSN_FDIV_S, RMM, 0x3f800000, 0x40400000, 0, 0x3eaaaaab, NX},
    {XPU_INSN_FSQRT_S, DYN, 0xbf800000, 0, 0, 0x7fc00000, NV},
    {XPU_INSN_FSQRT_S, DYN, 0x80000000, 0, 0, 0x80000000, 0},
    {XPU_INSN_FSQRT_S, RMM, 0x40000000, 0, 0, 0x3fb504f3, NX},
    {XPU_INSN_FMADD_S, DYN, 0x7f800000, 0x00000000, 0x7fc00000, 0x7fc00000, NV},
    {XPU_INSN_FMADD_S, DYN, 0x7f800000, 0x3f800000, 0x7fc00000, 0x7fc00000, 0},
    {XPU_INSN_FMADD_S, DYN, 0x3f800001, 0x3f800001, 0xbf800002, 0x28800000, 0}, /* one rounding only */
    {XPU_INSN_FNMADD_S, DYN, 0x3f800000, 0x3f800000, 0x3f800000, 0xc0000000, 0},
    {XPU_INSN_FNMSUB_S, DYN, 0x3f800000, 0x3f800000, 0x3f800000, 0x00000000, 0},
    {XPU_INSN_FMIN_S, 0, 0x00000000, 0x80000000, 0, 0x80000000, 0},
    {XPU_INSN_FMAX_S, 1, 0x80000000, 0x00000000, 0, 0x00000000, 0},
    {XPU_INSN_FMIN_S, 0, 0x7fc00000, 0x3f800000, 0, 0x3f800000, 0},
    {XPU_INSN_FMAX_S, 1, 0x3f800000, 0x7f800001, 0, 0x3f800000, NV},
    {XPU_INSN_FMAX_S, 1, 0xffc00001, 0xffc00002, 0, 0x7fc00000, 0},
    {XPU_INSN_FSGNJN_S, 1, 0x3f800000, 0x00000000, 0, 0xbf800000, 0},
    {XPU_INSN_FSGNJ_S, 0, 0x7f812345, 0x80000000, 0, 0xff812345, 0},
};

/* To and from integers; the register that is not a float is x. */
static const struct {
    xpu_insn_id id;
    unsigned mode;
    uint32_t from, result, flags;
} conversions[] = {
    {XPU_INSN_FCVT_W_S, DYN, 0x7fc00000, 0x7fffffff, NV},
    {XPU_INSN_FCVT_W_S, DYN, 0xff800000, 0x80000000, NV},
    {XPU_INSN_FCVT_W_S, DYN, 0xcf000000, 0x80000000, 0},
    {XPU_INSN_FCVT_W_S, DYN, 0x4f000000, 0x7fffffff, NV},
    {XPU_INSN_FCVT_W_S, RNE, 0x40200000, 2, NX},
    {XPU_INSN_FCVT_W_S, RMM, 0x40200000, 3, NX},
    {XPU_INSN_FCVT_W_S, RTZ, 0xbfc00000, (uint32_t)-1, NX},
    {XPU_INSN_FCVT_W_S, RDN, 0xbfc00000, (uint32_t)-2, NX},
    {XPU_INSN_FCVT_W_S, RUP, 0x00000001, 1, NX},
    {XPU_INSN_FCVT_WU_S, RTZ, 0xbf400000, 0, NX},
    {XPU_INSN_FCVT_WU_S, RNE, 0xbf400000, 0, NV},
    {XPU_INSN_FCVT_WU_S, RDN, 0x80000001, 0, NV},
    {XPU_INSN_FCVT_WU_S, DYN, 0x4f7fffff, 0xffffff00, 0},
    {XPU_INSN_FCVT_WU_S, DYN, 0xff800000, 0, NV},
    {XPU_INSN_FCVT_WU_S, DYN, 0xffc00000, 0xffffffff, NV},
    {XPU_INSN_FCVT_S_W, DYN, 0x80000000, 0xcf000000, 0},
    {XPU_INSN_FCVT_S_W, RTZ, 0x7fffffff, 0x4effffff, NX},
    {XPU_INSN_FCVT_S_WU, DYN, 0xffffffff, 0x4f800000, NX},
    {XPU_INSN_FCVT_S_WU, RMM, 0x01000001, 0x4b800001, NX},
    {XPU_INSN_FCVT_S_WU, RNE, 0x01000001, 0x4b800000, NX},
    {XPU_INSN_FCLASS_S, 1, 0xff800000, 1, 0},
    {XPU_INSN_FCLASS_S, 1, 0x807fffff, 4, 0},
    {XPU_INSN_FCLASS_S, 1, 0x00000000, 16, 0},
    {XPU_INSN_FCLASS_S, 1, 0x7f800001, 256, 0},
    {XPU_INSN_FCLASS_S, 1, 0x7fc00000, 512, 0},
    {XPU_INSN_FCLASS_S, 1, 0x00800000, 64, 0},
};

static void float_cases(void) {
    start(&plain_bus);
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        hart.f[1] = floats[i].a, hart.f[2] = floats[i].b, hart.f[3] = floats[i].c;
        hart.fflags = 0;
        uint32_t third = xpu_insn_infos[floats[i].id].format == XPU_FORMAT_F4 ? 3u << 27 : 0;
        uint32_t second = xpu_insn_infos[floats[i].id].format == XPU_FORMAT_F2RM ? 0 : 2u << 20;
        put(match(floats[i].id) | 4 << 7 | 1 << 15 | second | third | floats[i].mode << 12);
        CU_ASSERT(run());
        if (hart.f[4] != floats[i].result || hart.fflags != floats[i].flags)
            printf("case %zu, %s: %08x flags %x\n", i, xpu_insn_infos[floats[i].id].mnemonic, hart.f[4], hart.fflags);
        CU_ASSERT_EQUAL(hart.f[4], floats[i].result);
        CU_ASSERT_EQUAL(hart.fflags, floats[i].flags);
    }
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++) {
        hart.f[1] = hart.x[1] = conversions[i].from;
        hart.fflags = 0;
        put(match(conversions[i].id) | 4 << 7 | 1 << 15 | conversions[i].mode << 12);
        CU_ASSERT(run());
        int to_float = xpu_insn_infos[conversions[i].id].format == XPU_FORMAT_FXRM;
        uint32_t result = to_float ? hart.f[4] : hart.x[4];
        if (result != conversions[i].result || hart.fflags != conversions[i].flags)
            printf("conversion %zu: %08x flags %x\n", i, result, hart.fflags);
        CU_ASSERT_EQUAL(result, conversions[i].result);
        CU_ASSERT_EQUAL(hart.fflags, conversions[i].flags);
    }
}

static void rounding_modes(void) {
    static const uint32_t thirds[5] = {0x3eaaaaab, 0x3eaaaaaa, 0x3eaaaaaa, 0x3eaaaaab, 0x3eaaaaab};
    start(&plain_bus);
    for (unsigned mode = 0; mode < 8; mode++) {
        hart.f[1] = 0x3f800000, hart.f[2] = 0x40400000;
        put_i(XPU_INSN_CSRRWI, 0, mode, 2);
        put(match(XPU_INSN_FDIV_S) | 3 << 7 | 1 << 15 | 2 << 20 | 7 << 12);
        put_i(XPU_INSN_CSRRS, 5, 0, 1);
        CU_ASSERT_EQUAL(run(), mode <= RMM);
        if (mode > RMM) {
            CU_ASSERT_EQUAL(hart.fault.cause, XPU_FAULT_ILLEGAL);
            xpu_hart_clear_fault(&hart, CODE);
            continue;
        }
        CU_ASSERT_EQUAL(hart.f[3], thirds[mode]);
        CU_ASSERT_EQUAL(hart.x[5], NX);
    }
}

/* A signalling NaN in an operand that the operation does not have raises nothing. */
static void unused_operands(void) {
    const uint32_t one = 0x3f800000, signalling = 0x7f800001;
    for (int op = XPU_FP_ADD; op <= XPU_FP_SQRT; op++) {
        uint32_t flags = 0, second = op == XPU_FP_SQRT ? signalling : one;
        CU_ASSERT_NOT_EQUAL(xpu_fp_away((xpu_fp_operation)op, one, second, signalling, &flags), XPU_NAN_BITS);
        CU_ASSERT_EQUAL(flags, 0);
    }
    uint32_t flags = 0;
    CU_ASSERT_EQUAL(xpu_fp_away(XPU_FP_FMA, one, one, signalling, &flags), XPU_NAN_BITS);
    CU_ASSERT_EQUAL(flags, XPU_FLAG_NV);
}

/* ---- Vectors ---- */

static void configuration(void) {
    static const struct {
        uint32_t vtype, length, vl;
        int vill;
    } cases[] = {
        {E8 | M1, 100, 64, 0},  {E8 | M8, 2000, 512, 0},      {E32 | M1, 5, 5, 0},   {E32 | M8, 2000, 128, 0},
        {E16 | MF2, 99, 16, 0}, {E8 | MF4, 99, 16, 0},        {E8 | MF2, 99, 32, 0}, {E16 | MF4, 99, 0, 1},
        {E32 | MF2, 99, 0, 1},  {24 | M1, 99, 0, 1},          {E8 | 4, 99, 0, 1},    {E8 | 5, 99, 0, 1},
        {0x100 | M1, 99, 0, 1}, {E32 | M2 | 0xc0, 32, 32, 0},
    };
    start(&plain_bus);
    CU_ASSERT_EQUAL(hart.vtype, 0x80000000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hart.x[5] = cases[i].vtype, hart.x[6] = cases[i].length;
        put_r(XPU_INSN_VSETVL, 7, 6, 5);
        CU_ASSERT(run());
        CU_ASSERT_EQUAL(hart.vl, cases[i].vl);
        CU_ASSERT_EQUAL(hart.x[7], cases[i].vl);
        CU_ASSERT_EQUAL(hart.vtype, cases[i].vill ? 0x80000000 : cases[i].vtype);
    }
    put(match(XPU_INSN_VSETVLI) | 5 << 7 | (E16 | M4) << 20); /* rs1 = x0: VLMAX */
    CU_ASSERT(run());
    CU_ASSERT_EQUAL(hart.x[5], 128);
    put(match(XPU_INSN_VSETIVLI) | 5 << 7 | 17u << 15 | (E32 | M1) << 20);
    CU_ASSERT(run());
    CU_ASSERT_EQUAL(hart.x[5], 16);
}

/* Encodings that the vtype makes illegal, or legal. */
static void reserved_operands(void) {
    static const struct {
        uint32_t vtype;
        xpu_insn_id id;
        uint8_t vd, vs2, vs1, unmasked, legal;
    } cases[] = {
        {E32 | M2, XPU_INSN_VADD_VV, 2, 4, 6, 1, 1},       {E32 | M2, XPU_INSN_VADD_VV, 3, 4, 6, 1, 0},
        {E32 | M2, XPU_INSN_VADD_VV, 2, 5, 6, 1, 0},       {E32 | M2, XPU_INSN_VADD_VV, 0, 4, 6, 0, 0},
        {E32 | M1, XPU_INSN_VMSEQ_VV, 0, 4, 6, 0, 1},      {E32 | M2, XPU_INSN_VMSEQ_VV, 5, 4, 6, 1, 0},
        {E32 | M2, XPU_INSN_VMSEQ_VV, 4, 4, 6, 1, 1},      {E32 | M1, XPU_INSN_VWADD_VV, 4, 8, 9, 1, 0},
        {E16 | M1, XPU_INSN_VWADD_VV, 4, 5, 9, 1, 1},      {E16 | M1, XPU_INSN_VWADD_VV, 4, 4, 9, 1, 0},
        {E16 | M8, XPU_INSN_VWADD_VV, 0, 16, 24, 1, 0},    {E16 | M1, XPU_INSN_VNSRL_WV, 4, 4, 9, 1, 1},
        {E16 | M1, XPU_INSN_VNSRL_WV, 5, 4, 9, 1, 0},      {E16 | M1, XPU_INSN_VFADD_VV, 4, 8, 9, 1, 0},
        {E32 | M1, XPU_INSN_VRGATHER_VV, 4, 4, 9, 1, 0},   {E32 | M1, XPU_INSN_VSLIDEUP_VX, 4, 4, 9, 1, 0},
        {E32 | M1, XPU_INSN_VSLIDEDOWN_VX, 4, 4, 9, 1, 1}, {E8 | M8, XPU_INSN_VRGATHEREI16_VV, 0, 8, 16, 1, 0},
        {E32 | M4, XPU_INSN_VREDSUM_VS, 1, 4, 3, 1, 1},    {E32 | M1, XPU_INSN_VIOTA_M, 4, 4, 16, 1, 0},
        {E32 | M1, XPU_INSN_VCOMPRESS_VM, 4, 5, 4, 1, 0},  {E32 | M1, XPU_INSN_VMV_V_V, 4, 0, 5, 1, 1},
    };
    start(&plain_bus);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_vset(cases[i].vtype, 4);
        put(match(cases[i].id) | (uint32_t)cases[i].unmasked << 25 | (uint32_t)cases[i].vd << 7 |
            (uint32_t)cases[i].vs1 << 15 | (uint32_t)cases[i].vs2 << 20);
        int legal = run();
        if (legal != cases[i].legal) printf("case %zu, %s\n", i, xpu_insn_infos[cases[i].id].mnemonic);
        CU_ASSERT_EQUAL(legal, cases[i].legal);
        if (!legal) CU_ASSERT_EQUAL(hart.fault.cause, XPU_FAULT_ILLEGAL);
        xpu_hart_clear_fault(&hart, CODE);
    }
    /* The same instruction, legal before and illegal after another vtype: what was checked does not count then. */
    put_i(XPU_INSN_ADDI, 5, 0, 2);
    put_vset(E32 | M1, 4);
    uint32_t top = count;
    put_v(XPU_INSN_VADD_VV, 1, 2, 3);
    put(match(XPU_INSN_VSETIVLI) | 4u << 15 | (E32 | M2) << 20);
    put_jal(4 * (top - count));
    CU_ASSERT_FALSE(run());
    CU_ASSERT_EQUAL(hart.fault.cause, XPU_FAULT_ILLEGAL);
    CU_ASSERT_EQUAL(hart.fault.pc, CODE + 4 * top);
}

static void undisturbed(void) {
    start(&plain_bus);
    for (unsigned e = 0; e < 16; e++) set_v32(1, e, e), set_v32(2, e, 100 * e), set_v32(3, e, 7);
    hart.v[0] = 0xaa;
    put_vset(E32 | M1 | 0xc0, 6); /* agnostic, and yet undisturbed */
    put(match(XPU_INSN_VADD_VV) | 3 << 7 | 1 << 15 | 2 << 20);
    CU_ASSERT(run());
    for (unsigned e = 0; e < 16; e++) CU_ASSERT_EQUAL(v32(3, e), e < 6 && e % 2 ? 101 * e : 7);
    put_vset(E32 | M1, 16);
    put_i(XPU_INSN_CSRRWI, 0, 10, 8); /* vstart */
    put_v(XPU_INSN_VADD_VV, 3, 2, 1);
    put_i(XPU_INSN_CSRRS, 5, 0, 8);
    CU_ASSERT(run());
    for (unsigned e = 0; e < 16; e++) CU_ASSERT_EQUAL(v32(3, e), e >= 10 ? 101 * e : e < 6 && e % 2 ? 101 * e : 7);
    CU_ASSERT_EQUAL(hart.x[5], 0);
    put_vset(E32 | M1, 0);
    put_v(XPU_INSN_VMV_S_X, 3, 0, 5);
    put_i(XPU_INSN_CSRRWI, 0, 3, 8);
    put_v(XPU_INSN_VADD_VV, 3, 2, 1); /* vstart > vl: only resets it */
    put_i(XPU_INSN_CSRRS, 5, 0, 8);
    CU_ASSERT(run());
    CU_ASSERT_EQUAL(v32(3, 0), 7);
    CU_ASSERT_EQUAL(hart.x[5], 0);
}

/* Inactive elements raise nothing. */
static void masked_flags(void) {
    start(&plain_bus);
    for (unsigned e = 0; e < 16; e++) set_v32(1, e, 0x3f800000), set_v32(2, e, 0);
    set_v32(2, 4, 0x3f800000), hart.v[0] = 0x10;
    put_vset(E32 | M1, 16);
    put(match(XPU_INSN_VFDIV_VV) | 3 << 7 | 2 << 15 | 1 << 20); /* 1 / v2 where only element 4 is active */
    CU_ASSERT(run());
    CU_ASSERT_EQUAL(hart.fflags, 0);
    CU_ASSERT_EQUAL(v32(3, 4), 0x3f800000);
    put_vset(E32 | M1, 5);
    put(match(XPU_INSN_VFDIV_VV) | 1u << 25 | 3 << 7 | 2 << 15 | 1 << 20);
    CU_ASSERT(run());
    CU_ASSERT_EQUAL(hart.fflags, DZ);
    for (unsigned e = 0; e < 16; e++) set_v32(1, e, 0x7fffffff);
    put_vset(E32 | M1, 16);
    put(match(XPU_INSN_VSADD_VV) | 3 << 7 | 2 << 15 | 1 << 20);
    hart.v[0] = 0x0f, set_v32(2, 4, 0);
    for (unsigned e = 5; e < 16; e++) set_v32(2, e, 1);
    CU_ASSERT(run());
    CU_ASSERT_EQUAL(hart.vxsat, 0);
    hart.v[0] = 0x2f;
    put(match(XPU_INSN_VSADD_VV) | 3 << 7 | 2 << 15 | 1 << 20);
    CU_ASSERT(run());
    CU_ASSERT_EQUAL(hart.vxsat, 1);
}

/* Instructions on one element of v1 (and v2), float32 or as the vtype says. */
static const struct {
    xpu_insn_id id;
    uint32_t vtype, a, b, result;
    uint8_t vxrm, flags; /* flags: fflags, or vxsat in bit 7 */
} elements[] = {
    {XPU_INSN_VFREC7_V, E32, 0x3f800000, 0, 0x3f7f0000, 0, 0},
    {XPU_INSN_VFREC7_V, E32, 0x00000000, 0, 0x7f800000, 0, DZ},
    {XPU_INSN_VFREC7_V, E32, 0x00000001, 0, 0x7f800000, 0, OF | NX},
    {XPU_INSN_VFREC7_V, E32, 0x7f000000, 0, 0x003fc000, 0, 0},
    {XPU_INSN_VFREC7_V, E32, 0xff800000, 0, 0x80000000, 0, 0},
    {XPU_INSN_VFREC7_V, E32, 0x7f800001, 0, 0x7fc00000, 0, NV},
    {XPU_INSN_VFRSQRT7_V, E32, 0x3f800000, 0, 0x3f7f0000, 0, 0},
    {XPU_INSN_VFRSQRT7_V, E32, 0x40000000, 0, 0x3f340000, 0, 0},
    {XPU_INSN_VFRSQRT7_V, E32, 0x80000000, 0, 0xff800000, 0, DZ},
    {XPU_INSN_VFRSQRT7_V, E32, 0xbf800000, 0, 0x7fc00000, 0, NV},
    {XPU_INSN_VFRSQRT7_V, E32, 0x00000001, 0, 0x64b40000, 0, 0},
    {XPU_INSN_VFCVT_RTZ_X_F_V, E32, 0xc0200000, 0, (uint32_t)-2, 0, NX},
    {XPU_INSN_VFCVT_RTZ_XU_F_V, E32, 0xbf400000, 0, 0, 0, NX},
    {XPU_INSN_VFCVT_RTZ_XU_F_V, E32, 0xc0200000, 0, 0, 0, NV},
    {XPU_INSN_VFCVT_RTZ_X_F_V, E32, 0x7fc00000, 0, 0x7fffffff, 0, NV},
    {XPU_INSN_VFCVT_RTZ_X_F_V, E32, 0x4effffff, 0, 0x7fffff80, 0, 0},
    {XPU_INSN_VFCVT_X_F_V, E32, 0xc0200000, 0, (uint32_t)-2, 0, NX},
    {XPU_INSN_VSMUL_VV, E16, 0x8000, 0x8000, 0x7fff, 0, 0x80},
    {XPU_INSN_VSMUL_VV, E16, 0x4000, 0x0001, 0x0001, 0, 0},
    {XPU_INSN_VSMUL_VV, E16, 0x4000, 0x0001, 0x0000, 1, 0},
    {XPU_INSN_VSMUL_VV, E16, 0x4000, 0x0001, 0x0001, 3, 0},
    {XPU_INSN_VAADD_VV, E8, 0x7f, 0x7e, 0x7f, 0, 0},
    {XPU_INSN_VAADD_VV, E8, 0x7f, 0x7e, 0x7e, 2, 0},
    {XPU_INSN_VASUBU_VV, E8, 0x00, 0x01, 0x00, 0, 0},
    {XPU_INSN_VASUBU_VV, E8, 0x00, 0x01, 0xff, 2, 0},
    {XPU_INSN_VSSUBU_VV, E32, 1, 2, 0, 0, 0x80},
    {XPU_INSN_VSADDU_VV, E32, 0xffffffff, 1, 0xffffffff, 0, 0x80},
    {XPU_INSN_VSSRA_VV, E32, 0xfffffffd, 1, 0xffffffff, 0, 0},
    {XPU_INSN_VSSRA_VV, E32, 0xfffffffd, 1, 0xfffffffe, 1, 0},
    {XPU_INSN_VNCLIP_WV, E8, 0x7fff, 0, 0x7f, 0, 0x80},
    {XPU_INSN_VNCLIPU_WV, E16, 0x12345678, 16, 0x1234, 0, 0},
    {XPU_INSN_VDIV_VV, E8, 0x80, 0xff, 0x80, 0, 0},
    {XPU_INSN_VREM_VV, E16, 0x8000, 0xffff, 0, 0, 0},
    {XPU_INSN_VDIVU_VV, E16, 5, 0, 0xffff, 0, 0},
    {XPU_INSN_VMULHSU_VV, E8, 0xff, 0xff, 0xff, 0, 0},
    {XPU_INSN_VSLL_VV, E8, 1, 9, 2, 0, 0},
};

static void vector_elements(void) {
    start(&plain_bus);
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        int unary = xpu_insn_infos[elements[i].id].format == XPU_FORMAT_VV;
        memset(hart.v, 0, sizeof hart.v);
        set_v32(2, 0, elements[i].a), set_v32(4, 0, elements[i].b);
        hart.fflags = hart.vxsat = 0;
        hart.vxrm = elements[i].vxrm;
        put_vset(elements[i].vtype, 1);
        put_v(elements[i].id, 6, 2, unary ? 0 : 4);
        CU_ASSERT(run());
        uint8_t flags = (uint8_t)(hart.fflags | hart.vxsat << 7);
        if (v32(6, 0) != elements[i].result || flags != elements[i].flags)
            printf("case %zu, %s: %08x, flags %x\n", i, xpu_insn_infos[elements[i].id].mnemonic, v32(6, 0), flags);
        CU_ASSERT_EQUAL(v32(6, 0), elements[i].result);
        CU_ASSERT_EQUAL(flags, elements[i].flags);
    }
}

static void reductions(void) {
    start(&plain_bus);
    /* (2^24 + 1) + 1: in order from vs1[0] nothing is added; a tree would give 2^24 + 2. */
    for (unsigned e = 0; e < 16; e++) set_v32(2, e, 0x3f800000);
    set_v32(1, 0, 0x4b800000);
    put_vset(E32 | M1, 16);
    put_v(XPU_INSN_VFREDUSUM_VS, 3, 2, 1);
    put_v(XPU_INSN_VFREDOSUM_VS, 4, 2, 1);
    put_i(XPU_INSN_CSRRWI, 0, RUP, 2);
    put_v(XPU_INSN_VFREDOSUM_VS, 5, 2, 1);
    CU_ASSERT(run());
    CU_ASSERT_EQUAL(v32(3, 0), 0x4b800000);
    CU_ASSERT_EQUAL(v32(4, 0), 0x4b800000);
    CU_ASSERT_EQUAL(v32(5, 0), 0x4b800010);
    CU_ASSERT_EQUAL(v32(5, 1), 0);
    /* No active element: vs1[0] as it is. */
    set_v32(1, 0, 0x7f800001);
    put(match(XPU_INSN_VFREDOSUM_VS) | 6 << 7 | 1 << 15 | 2 << 20);
    CU_ASSERT(run());
    CU_ASSERT_EQUAL(v32(6, 0), 0x7f800001);
}

/* ---- Memory, faults, the bus ---- */

static void check_fault(xpu_fault_cause cause, uint32_t instruction, uint32_t address) {
    CU_ASSERT_FALSE(run());
    CU_ASSERT_EQUAL(hart.fault.cause, cause);
    CU_ASSERT_EQUAL(hart.fault.pc, CODE + 4 * instruction);
    CU_ASSERT_EQUAL(hart.pc, hart.fault.pc);
    CU_ASSERT_EQUAL(hart.fault.word, words[instruction]);
    CU_ASSERT_EQUAL(hart.fault.address, address);
    CU_ASSERT_EQUAL(xpu_hart_run(&hart, 10), XPU_HART_FAULT);
    xpu_hart_clear_fault(&hart, CODE);
}

static void bad_addresses(void) {
    start(&plain_bus);
    hart.x[5] = DATA, hart.x[6] = DATA + DATA_BYTES, hart.x[7] = CONSTANTS, hart.x[8] = BUS;
    put_i(XPU_INSN_LW, 9, 5, 2), check_fault(XPU_FAULT_MISALIGNED, 0, DATA + 2);
    put_i(XPU_INSN_LH, 9, 5, 1), check_fault(XPU_FAULT_MISALIGNED, 0, DATA + 1);
    put_i(XPU_INSN_LB, 9, 6, 0), check_fault(XPU_FAULT_ADDRESS, 0, DATA + DATA_BYTES);
    put_i(XPU_INSN_LHU, 9, 8, 0), check_fault(XPU_FAULT_ADDRESS, 0, BUS);
    put_i(XPU_INSN_LW, 9, 8, 2), check_fault(XPU_FAULT_ADDRESS, 0, BUS + 2);
    put_i(XPU_INSN_LW, 9, 7, 0), put_sw(9, 7, 4), check_fault(XPU_FAULT_ADDRESS, 1, CONSTANTS + 4);
    put_i(XPU_INSN_LW, 9, 8, 8), check_fault(XPU_FAULT_ADDRESS, 0, BUS + 8);
    put_sw(5, 8, 16), check_fault(XPU_FAULT_ABORT, 0, BUS + 16);
    put(0), check_fault(XPU_FAULT_ILLEGAL, 0, 0);
    put(match(XPU_INSN_ECALL)), check_fault(XPU_FAULT_ABORT, 0, 0);
    put_i(XPU_INSN_CSRRWI, 0, 1, 0xc20), check_fault(XPU_FAULT_ILLEGAL, 0, 0); /* vl cannot be written */
    put_i(XPU_INSN_CSRRS, 5, 0, 0x300), check_fault(XPU_FAULT_ILLEGAL, 0, 0);
    put_vset(E32 | M1, 16);
    hart.x[5] = DATA + DATA_BYTES - 32;
    put_v(XPU_INSN_VLE32_V, 1, 0, 5), check_fault(XPU_FAULT_ADDRESS, 2, DATA + DATA_BYTES);
    CU_ASSERT_EQUAL(hart.vstart, 8);
    hart.vstart = 0;
    put_vset(E32 | M1, 16);
    put_v(XPU_INSN_VLE32FF_V, 1, 0, 5);
    CU_ASSERT(run());
    CU_ASSERT_EQUAL(hart.vl, 8);
    hart.x[5] = DATA + 2;
    put_vset(E32 | M1, 16);
    put_v(XPU_INSN_VSE32_V, 1, 0, 5), check_fault(XPU_FAULT_MISALIGNED, 2, DATA + 2);
    hart.vstart = 0;
    hart.x[5] = BUS;
    put_vset(E32 | M1, 16);
    put_v(XPU_INSN_VLE32_V, 1, 0, 5), check_fault(XPU_FAULT_ADDRESS, 2, BUS);
}

static void jumps_outside(void) {
    start(&plain_bus);
    hart.x[5] = DATA;
    put_i(XPU_INSN_JALR, 1, 5, 8);
    CU_ASSERT_FALSE(run());
    CU_ASSERT_EQUAL(hart.fault.cause, XPU_FAULT_FETCH);
    CU_ASSERT_EQUAL(hart.fault.pc, DATA + 8);
    CU_ASSERT_EQUAL(hart.fault.address, DATA + 8);
    CU_ASSERT_EQUAL(hart.x[1], CODE + 4);
    start(&plain_bus); /* past the end, straight on */
    for (unsigned i = 0; i < WORDS; i++) put_i(XPU_INSN_ADDI, 1, 1, 1);
    CU_ASSERT_EQUAL(xpu_hart_run(&hart, 1000000), XPU_HART_FAULT);
    CU_ASSERT_EQUAL(hart.fault.cause, XPU_FAULT_FETCH);
    CU_ASSERT_EQUAL(hart.fault.pc, CODE + 4 * WORDS);
    CU_ASSERT_EQUAL(hart.x[1], WORDS);
    CU_ASSERT_EQUAL(hart.instret, WORDS);
}

static void bus(void) {
    start(&plain_bus);
    hart.x[8] = BUS;
    stalls = 2;
    put_i(XPU_INSN_LW, 9, 8, 4);
    put_sw(9, 8, 12);
    put(match(XPU_INSN_WFI));
    put_i(XPU_INSN_CSRRS, 10, 0, 0xfc0);
    put_i(XPU_INSN_CSRRS, 11, 0, 0xfc2);
    put(match(XPU_INSN_EBREAK));
    CU_ASSERT_EQUAL(xpu_hart_run(&hart, 100), XPU_HART_STALLED);
    CU_ASSERT_EQUAL(xpu_hart_run(&hart, 100), XPU_HART_STALLED);
    CU_ASSERT_EQUAL(hart.pc, CODE);
    CU_ASSERT_EQUAL(hart.instret, 0);
    CU_ASSERT_EQUAL(xpu_hart_run(&hart, 100), XPU_HART_STOPPED);
    CU_ASSERT_EQUAL(last_stored, BUS + 4);
    CU_ASSERT_EQUAL(hart.pc, CODE + 8);
    CU_ASSERT_EQUAL(hart.instret, 2);
    CU_ASSERT_EQUAL(xpu_hart_run(&hart, 100), XPU_HART_IDLE);
    CU_ASSERT_EQUAL(xpu_hart_run(&hart, 1), XPU_HART_BUDGET);
    CU_ASSERT_EQUAL(hart.pc, CODE + 16);
    CU_ASSERT_EQUAL(hart.x[10], 2);
    CU_ASSERT_EQUAL(xpu_hart_run(&hart, 100), XPU_HART_FAULT);
    CU_ASSERT_EQUAL(hart.x[11], 4);
    CU_ASSERT_EQUAL(hart.instret, 5);
    start(&observing_bus);
    observed = 0;
    hart.x[5] = DATA;
    put_i(XPU_INSN_LW, 9, 5, 4);
    put_vset(E32 | M1, 16);
    put_v(XPU_INSN_VSE32_V, 1, 0, 5);
    CU_ASSERT(run());
    CU_ASSERT_EQUAL(observed, 68);
    CU_ASSERT_EQUAL(hart.ranges[1].bytes[0], 4);
    CU_ASSERT_EQUAL(hart.ranges[1].bytes[1], 64);
}

/* Any budget stops at the same instructions; pages are crossed by jumps and straight on. */
static void budgets(void) {
    xpu_hart whole;
    for (unsigned budget = 1; budget < 3000; budget = budget * 2 + 1) {
        start(&plain_bus);
        for (unsigned i = 0; i < WORDS - 2; i++) put_i(XPU_INSN_ADDI, 1, 1, (int32_t)(i & 7));
        put(match(XPU_INSN_BGE) | 1u << 15 | 2u << 20 | 0x80000000 | 3 << 25 | 0xc << 8); /* some pages back */
        put(match(XPU_INSN_EBREAK));
        hart.x[2] = 30000;
        xpu_hart_reason reason;
        uint64_t ran = 0;
        do {
            reason = xpu_hart_run(&hart, budget);
            if (reason == XPU_HART_BUDGET) CU_ASSERT_EQUAL(hart.instret, ran += budget);
        } while (reason == XPU_HART_BUDGET && ran < 100000);
        CU_ASSERT_EQUAL(hart.fault.cause, XPU_FAULT_ABORT);
        if (budget == 1) whole = hart;
        CU_ASSERT_EQUAL(hart.instret, whole.instret);
        CU_ASSERT_EQUAL(hart.x[1], whole.x[1]);
    }
}

static void changed_code(void) {
    start(&plain_bus);
    put_i(XPU_INSN_ADDI, 1, 1, 1);
    put(match(XPU_INSN_FENCE_I));
    put_jal((uint32_t)-8);
    CU_ASSERT_EQUAL(xpu_hart_run(&hart, 3), XPU_HART_BUDGET);
    CU_ASSERT_EQUAL(hart.pc, CODE);
    words[0] = match(XPU_INSN_ADDI) | 1 << 7 | 1 << 15 | 100 << 20;
    CU_ASSERT_EQUAL(xpu_hart_run(&hart, 4), XPU_HART_BUDGET); /* still the old one, then fence.i */
    CU_ASSERT_EQUAL(hart.x[1], 102);
    words[0] = match(XPU_INSN_ADDI) | 1 << 7 | 1 << 15 | 1000 << 20;
    xpu_code_invalidate(code, CODE, 4);
    CU_ASSERT_EQUAL(xpu_hart_run(&hart, 3), XPU_HART_BUDGET);
    CU_ASSERT_EQUAL(hart.x[1], 1102);
}

static void wrong_ranges(void) {
    static const xpu_core_range cases[][2] = {
        {{DATA + 64, 64, data, 1, {0, 0}}, {CONSTANTS, 64, data, 1, {0, 0}}},
        {{DATA, 32, data, 1, {0, 0}}, {CONSTANTS, 64, data, 1, {0, 0}}},
        {{DATA, 0x200000, data, 1, {0, 0}}, {DATA + 0x100000, 64, data, 1, {0, 0}}},
        {{0xfff00000, 0x200000, data, 1, {0, 0}}, {CONSTANTS, 64, data, 1, {0, 0}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_EQUAL(xpu_hart_init(&hart, 0, 1, &plain_bus, cases[i], 2, code, CODE), 0);
    xpu_core_range high = {0x80000000, 0x80000000, data, 1, {0, 0}};
    CU_ASSERT_EQUAL(xpu_hart_init(&hart, 0, 1, &plain_bus, &high, 1, code, CODE), 1);
}

/* ---- Both sets of loops ---- */

static uint64_t random_state = 88172645463325252u;
static uint32_t random_bits(void) {
    static const uint32_t special[] = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 1, 0x3f800000};
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    uint32_t bits = (uint32_t)(random_state >> 20);
    return bits % 4 ? bits : special[bits / 4 % 8];
}

/* One loop with its flags: those that the host raised, too, for float32; whether anything saturated, for integers. */
static uint32_t run_kernel(xpu_kernel *kernel, void *d, const void *a, const void *b, uint32_t n, uint32_t options,
                           int is_float) {
    hart.fflags = 0, hart.frm = (uint8_t)(options & XPU_MODE);
    xpu_fp_enter(&hart);
    uint32_t flags = kernel(d, a, b, n, options);
    xpu_fp_leave(&hart);
    return is_float ? flags | hart.fflags : flags != 0;
}

typedef struct {
    uint32_t a[128], b[128], d[128];
} kernel_operands;

static void draw_operands(kernel_operands *o, int scalar, unsigned sew) {
    for (unsigned e = 0; e < 128; e++) o->a[e] = random_bits(), o->b[e] = random_bits(), o->d[e] = random_bits();
    for (unsigned e = 1; scalar && e < 512u >> sew; e++) memcpy((uint8_t *)o->b + (e << sew), o->b, 1u << sew);
}

static void compare_kernels(const xpu_kernels *any, const xpu_kernels *avx2, unsigned *bad) {
    int is_float = any == xpu_fp_kernels_any;
    for (unsigned id = 0; id < XPU_INSN_COUNT; id++) {
        for (unsigned sew = 0; sew < 3; sew++) {
            xpu_kernel *one = any[id].by_sew[sew], *two = avx2[id].by_sew[sew];
            CU_ASSERT((one == NULL) == (two == NULL));
            for (unsigned i = 0; one && i < 48; i++) {
                kernel_operands o, first, second;
                int scalar = i % 2;
                draw_operands(&o, scalar, sew);
                first = second = o;
                uint32_t n = 16 + 16 * (i / 2 % 3), mode = i / 6 % 4;
                uint32_t flags = run_kernel(one, first.d, o.a, o.b, n, mode, is_float);
                uint32_t same = run_kernel(two, second.d, o.a, o.b, n, mode | (scalar ? XPU_SCALAR : 0), is_float);
                if (memcmp(&first, &second, sizeof first) == 0 && flags == same) continue;
                if (++*bad < 10) printf("%s: loops differ, flags %x %x\n", xpu_insn_infos[id].mnemonic, flags, same);
            }
        }
    }
}

static int one_width(unsigned class) {
    return class == XPU_CLASS_VINT || class == XPU_CLASS_VINT_MULTIPLY || class == XPU_CLASS_VINT_DIVIDE ||
           class == XPU_CLASS_VFIX || class == XPU_CLASS_VFP || class == XPU_CLASS_VFP_DIVIDE ||
           class == XPU_CLASS_VFP_MOVE || class == XPU_CLASS_VFP_CONVERT;
}

/* What is behind vl stays, and raises no flag: as if the elements behind were those of the last active one. */
static void compare_rests(const xpu_kernels *table, xpu_kernel_rest *rest, int is_float, unsigned *bad) {
    for (unsigned id = 0; id < XPU_INSN_COUNT; id++) {
        for (unsigned sew = 0; sew < 3 && one_width(xpu_insn_infos[id].class); sew++) {
            xpu_kernel *kernel = table[id].by_sew[sew];
            for (unsigned i = 0; kernel && i < 32; i++) {
                kernel_operands o, before, whole;
                uint32_t vl = 1 + random_bits() % 60, mode = i / 2 % 4 | (i % 2 ? XPU_SCALAR : 0);
                vl += vl % 16 == 0;
                draw_operands(&o, i % 2, sew);
                before = whole = o;
                size_t last = (size_t)(vl - 1) << sew;
                for (unsigned e = vl; e < 64; e++) {
                    memcpy((uint8_t *)whole.a + (e << sew), (uint8_t *)o.a + last, 1u << sew);
                    memcpy((uint8_t *)whole.b + (e << sew), (uint8_t *)o.b + last, 1u << sew);
                    memcpy((uint8_t *)whole.d + (e << sew), (uint8_t *)o.d + last, 1u << sew);
                }
                uint32_t wanted = run_kernel(kernel, whole.d, whole.a, whole.b, 64, mode & XPU_MODE, is_float);
                hart.fflags = 0, hart.frm = (uint8_t)(mode & XPU_MODE);
                xpu_fp_enter(&hart);
                uint32_t flags = rest(kernel, o.d, o.a, o.b, vl, mode, sew);
                xpu_fp_leave(&hart);
                flags = is_float ? flags | hart.fflags : flags != 0;
                if (flags == wanted && memcmp(o.d, whole.d, (size_t)vl << sew) == 0 &&
                    memcmp((uint8_t *)o.d + ((size_t)vl << sew), (uint8_t *)before.d + ((size_t)vl << sew),
                           sizeof o.d - ((size_t)vl << sew)) == 0)
                    continue;
                if (++*bad < 10) printf("%s: vl %u, flags %x %x\n", xpu_insn_infos[id].mnemonic, vl, flags, wanted);
            }
        }
    }
}

static void rests(void) {
    unsigned bad = 0;
    start(&plain_bus);
    for (const xpu_host *const *host = xpu_all_hosts(); *host; host++) {
        compare_rests((*host)->int_kernels, (*host)->rest, 0, &bad);
        compare_rests((*host)->fp_kernels, (*host)->rest, 1, &bad);
    }
    CU_ASSERT_EQUAL(bad, 0);
    xpu_code_free(code);
    code = NULL;
}

static void all_loops(void) {
    unsigned bad = 0;
    start(&plain_bus);
    const xpu_host *const *hosts = xpu_all_hosts(), *any = hosts[0];
    for (unsigned h = 1; hosts[h]; h++) {
        const xpu_host *host = hosts[h];
        printf("(set %u) ", h);
        compare_kernels(any->int_kernels, host->int_kernels, &bad);
        compare_kernels(any->fp_kernels, host->fp_kernels, &bad);
        uint8_t active[512], from[512], one[512], two[512];
        for (unsigned sew = 0; sew < 3; sew++) {
            for (uint32_t vl = 0; vl <= 512u >> sew; vl += 3) {
                for (unsigned i = 0; i < 512; i++)
                    active[i] = random_bits() & 1, from[i] = (uint8_t)random_bits(), one[i] = two[i] = (uint8_t)i;
                any->blend(one, from, active, vl, sew);
                host->blend(two, from, active, vl, sew);
                CU_ASSERT_EQUAL(memcmp(one, two, 512), 0);
            }
        }
        host->copy(two, active, 448);
        CU_ASSERT_EQUAL(memcmp(two, active, 448), 0);
    }
    CU_ASSERT_EQUAL(bad, 0);
    xpu_code_free(code);
    code = NULL;
}

XPU_TEST_MAIN("core", {"integers", integers}, {"float32", float_cases}, {"rounding modes", rounding_modes},
              {"unused operands", unused_operands}, {"vector configuration", configuration},
              {"reserved operands", reserved_operands}, {"tails, masks, vstart", undisturbed},
              {"flags of inactive elements", masked_flags}, {"vector elements", vector_elements},
              {"reductions", reductions}, {"bad addresses", bad_addresses}, {"jumps outside", jumps_outside},
              {"bus", bus}, {"budgets", budgets}, {"changed code", changed_code}, {"wrong ranges", wrong_ranges},
              {"all sets of loops", all_loops}, {"loops behind the last block", rests})
