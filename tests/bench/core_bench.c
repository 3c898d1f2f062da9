/* How many instructions per second the functional core executes: a scalar loop, float32 scalars, and vector loops. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sim/func/core.h"

enum { CODE = 0x10000000, DATA = 0x20000000, DATA_BYTES = 65536, LOOPS = 2000000 };

static uint32_t words[256], count;
static uint8_t data[DATA_BYTES];

static void r(xpu_insn_id id, unsigned rd, unsigned rs1, unsigned rs2) {
    words[count++] = xpu_insn_infos[id].match | rd << 7 | rs1 << 15 | rs2 << 20;
}
static void i(xpu_insn_id id, unsigned rd, unsigned rs1, int32_t imm) {
    words[count++] = xpu_insn_infos[id].match | rd << 7 | rs1 << 15 | (uint32_t)imm << 20;
}
static void li(unsigned rd, uint32_t value) {
    words[count++] = xpu_insn_infos[XPU_INSN_LUI].match | rd << 7 | ((value + 0x800) & 0xfffff000);
    i(XPU_INSN_ADDI, rd, rd, (int32_t)(value & 0xfff));
}

/* x5 counts down to 0 from LOOPS; x6 points to the data. */
static uint32_t begin(void) {
    count = 0;
    li(5, LOOPS);
    li(6, DATA);
    li(7, 512);
    return count;
}
static void end(uint32_t top) {
    i(XPU_INSN_ADDI, 5, 5, -1);
    uint32_t distance = 4 * (top - count);
    words[count++] = xpu_insn_infos[XPU_INSN_BNE].match | 5u << 15 | (distance >> 12 & 1) << 31 |
                     (distance >> 5 & 63) << 25 | (distance >> 1 & 15) << 8 | (distance >> 11 & 1) << 7;
    i(XPU_INSN_EBREAK, 0, 0, 1);
    words[count - 1] = xpu_insn_infos[XPU_INSN_EBREAK].match;
}

static void scalar_loop(void) {
    uint32_t top = begin();
    i(XPU_INSN_LW, 8, 6, 0);
    r(XPU_INSN_ADD, 9, 9, 8);
    r(XPU_INSN_XOR, 10, 9, 5);
    i(XPU_INSN_SLLI, 11, 10, 3);
    r(XPU_INSN_MUL, 12, 11, 9);
    words[count++] = xpu_insn_infos[XPU_INSN_SW].match | 6u << 15 | 12u << 20 | 4u << 7;
    i(XPU_INSN_ANDI, 13, 12, 255);
    r(XPU_INSN_SLTU, 14, 13, 9);
    end(top);
}

static void float_loop(void) {
    uint32_t top = begin();
    i(XPU_INSN_FLW, 1, 6, 64);
    words[count++] = xpu_insn_infos[XPU_INSN_FMUL_S].match | 2 << 7 | 1 << 15 | 1 << 20 | 7 << 12;
    words[count++] = xpu_insn_infos[XPU_INSN_FADD_S].match | 3 << 7 | 2 << 15 | 1 << 20 | 7 << 12;
    words[count++] = xpu_insn_infos[XPU_INSN_FMADD_S].match | 4 << 7 | 2 << 15 | 1 << 20 | 7 << 12 | 3u << 27;
    r(XPU_INSN_FMAX_S, 5, 4, 1);
    end(top);
}

static void vector_loop(unsigned lmul, int masked) {
    uint32_t top = begin();

    words[count++] = xpu_insn_infos[XPU_INSN_VSETVLI].match | 7u << 15 | (2u << 3 | lmul) << 20;
    r(XPU_INSN_VMV_V_I, 0, 5, 0);
    top = count;
    uint32_t vm = masked ? 0 : 1u << 25;
    r(XPU_INSN_VLE32_V, 8, 6, 0), words[count - 1] |= 1u << 25;
    r(XPU_INSN_VFMACC_VV, 16, 8, 8), words[count - 1] |= vm;
    r(XPU_INSN_VFADD_VV, 24, 16, 8), words[count - 1] |= vm;
    r(XPU_INSN_VADD_VV, 24, 24, 8), words[count - 1] |= vm;
    r(XPU_INSN_VSE32_V, 24, 6, 0), words[count - 1] |= 1u << 25;
    end(top);
}

static void measure(const char *name) {
    static xpu_hart hart;
    static const xpu_core_bus bus = {0};
    xpu_core_range ranges[] = {{DATA, DATA_BYTES, data, 1, {0, 0}}};
    xpu_code *code = xpu_code_new(CODE, sizeof words, (const uint8_t *)words);
    if (!code || !xpu_hart_init(&hart, 0, 1, &bus, ranges, 1, code, CODE)) return;
    memset(data, 0, sizeof data);
    clock_t start = clock();
    xpu_hart_reason reason;
    do reason = xpu_hart_run(&hart, 10000);
    while (reason == XPU_HART_BUDGET);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%-24s %8.0f million instructions per CPU second (%s)\n", name, (double)hart.instret / seconds / 1e6,
           hart.fault.cause == XPU_FAULT_ABORT ? "ok" : xpu_fault_text(hart.fault.cause));
    xpu_code_free(code);
}

int main(void) {
    scalar_loop();
    measure("core scalar");
    float_loop();
    measure("core float32");
    vector_loop(0, 0);
    measure("core vector m1");
    vector_loop(2, 0);
    measure("core vector m4");
    vector_loop(2, 1);
    measure("core vector m4 masked");
    return 0;
}
