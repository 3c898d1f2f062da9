/* The functional core beside the RTL: one instruction for each that retires there, everything visible compared. */
#include "tests/rtl/core/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/func/core.h"

static xpu_hart hart;
static xpu_code *code;
static uint32_t x[32], f[32]; /* as the retire port has told them */
static const bench_retired *now;
static struct {
    uint32_t address, bytes;
    int store, seen;
} access_now;

/* Registers give what they gave in RTL; what is written to them is compared with the retire port. */
static xpu_bus_result bus_load(void *context, uint32_t address, uint32_t *value) {
    (void)context;
    if (address - BENCH_REGISTERS >= BENCH_REGISTER_BYTES) {
        *value = XPU_FAULT_ADDRESS;
        return XPU_BUS_FAULT;
    }
    *value = now->read_data;
    access_now.address = address, access_now.bytes = 4, access_now.store = 0, access_now.seen = 1;
    return XPU_BUS_OK;
}

static xpu_bus_result bus_store(void *context, uint32_t address, uint32_t *value) {
    (void)context;
    uint32_t offset = address - BENCH_REGISTERS;
    if (offset >= BENCH_REGISTER_BYTES || offset == BENCH_ABORT) {
        *value = offset == BENCH_ABORT ? XPU_FAULT_ABORT : XPU_FAULT_ADDRESS;
        return XPU_BUS_FAULT;
    }
    if (*value != now->write_data) printf("value written to register %08x: %08x\n", address, *value);
    access_now.address = address, access_now.bytes = 4, access_now.store = 1;
    access_now.seen = *value == now->write_data;
    return XPU_BUS_OK;
}

static uint64_t cycle(void *context) {
    (void)context;
    return (now->insn >> 20 == 0xc80) ? (uint64_t)now->rd_value << 32 : now->rd_value;
}

static void observe(void *context, uint32_t address, uint32_t bytes, int store) {
    (void)context;
    access_now.address = address, access_now.bytes = bytes, access_now.store = store, access_now.seen = 1;
}

static const xpu_core_bus bus = {.load = bus_load, .store = bus_store, .cycle = cycle, .observe = observe};

void bench_lockstep_start(uint32_t entry) {
    xpu_core_range ranges[] = {
        {BENCH_LM, BENCH_LM_BYTES, bench_memory(1, BENCH_LM, 4), 1, {0, 0}},
        {BENCH_SM, BENCH_SM_BYTES, bench_memory(1, BENCH_SM, 4), 1, {0, 0}},
        {BENCH_L3, BENCH_L3_BYTES, bench_memory(1, BENCH_L3, 4), 1, {0, 0}},
        {BENCH_GM, BENCH_GM_BYTES, bench_memory(1, BENCH_GM, 4), 1, {0, 0}},
    };
    if (!code) code = xpu_code_new(BENCH_GM, BENCH_GM_BYTES, bench_memory(1, BENCH_GM, 4));
    if (!code || !xpu_hart_init(&hart, 3, 5, &bus, ranges, 4, code, entry)) {
        fprintf(stderr, "the functional core cannot be made\n");
        exit(1);
    }
    xpu_code_invalidate(code, BENCH_GM, BENCH_GM_BYTES);
    memset(x, 0, sizeof x);
    memset(f, 0, sizeof f);
}

static int differs(const char *what, uint32_t rtl, uint32_t func) {
    char text[80];
    if (rtl == func) return 0;
    xpu_disassemble(now->insn, now->pc, text, sizeof text);
    printf("difference at cycle %llu, instruction %llu, pc %08x, %08x %s: %s is %08x in RTL, %08x in func\n",
           (unsigned long long)now->cycle, (unsigned long long)now->order, now->pc, now->insn, text, what, rtl, func);
    return 1;
}

static int registers_differ(void) {
    char name[16];
    for (unsigned i = 0; i < 32; i++) {
        snprintf(name, sizeof name, "x%u", i);
        if (differs(name, x[i], hart.x[i])) return 1;
        snprintf(name, sizeof name, "f%u", i);
        if (differs(name, f[i], hart.f[i])) return 1;
    }
    return 0;
}

static int memory_differs(void) {
    uint32_t mask = now->read_mask | now->write_mask, bytes = mask == 15 ? 4 : mask == 3 ? 2 : mask;
    if (differs("an access", mask != 0, (uint32_t)access_now.seen)) return 1;
    if (!mask) return 0;
    if (differs("the address", now->address, access_now.address) || differs("the size", bytes, access_now.bytes) ||
        differs("store", now->write_mask != 0, (uint32_t)access_now.store))
        return 1;
    const uint8_t *memory = bench_memory(1, now->address, bytes);
    if (!memory) return 0;
    uint32_t func = 0, rtl = now->write_mask ? now->write_data : now->read_data;
    memcpy(&func, memory, bytes);
    if (bytes < 4) rtl &= (1u << 8 * bytes) - 1;
    return differs("the data", rtl, func);
}

static int fault_differs(xpu_hart_reason reason) {
    if (differs("a fault", now->trap, reason == XPU_HART_FAULT)) return 1;
    if (!now->trap) return 0;
    return differs("the fault's cause", now->cause, hart.fault.cause) ||
           differs("the fault's pc", now->fault_pc, hart.fault.pc) ||
           differs("the fault's instruction", now->fault_insn, hart.fault.word) ||
           differs("the fault's address", now->fault_address, hart.fault.address);
}

static int register_differs(unsigned reg, const void *rtl) {
    char name[32];
    uint32_t words[2][16];
    memcpy(words[0], (const uint8_t *)rtl + 64 * (size_t)reg, 64);
    memcpy(words[1], hart.v + 64 * (size_t)reg, 64);
    for (unsigned i = 0; i < 16; i++) {
        snprintf(name, sizeof name, "v%u, word %u", reg, i);
        if (differs(name, words[0][i], words[1][i])) return 1;
    }
    return 0;
}

int bench_lockstep_end(const void *v) {
    for (unsigned reg = 0; reg < 32; reg++)
        if (register_differs(reg, v)) return 0;
    return 1;
}

/* Registers that no younger instruction writes, and the flags, which `flags` has collected before. */
static int vector_differs(uint8_t *flags) {
    uint8_t raised[2] = {hart.fflags, hart.vxsat};
    hart.fflags |= flags[0];
    hart.vxsat |= flags[1];
    if (differs("fflags", now->fflags, raised[0]) || differs("vxsat", now->vxsat, raised[1])) return 1;
    for (unsigned reg = 0; reg < 32; reg++)
        if (now->writers[reg] == (now->order & 15) && register_differs(reg, now->v)) return 1;
    return 0;
}

int bench_lockstep_check(const bench_retired *retired) {
    now = retired;
    access_now.seen = 0;
    if (differs("the number of the instruction", (uint32_t)now->order, (uint32_t)hart.instret) ||
        differs("pc", now->pc, hart.pc))
        return 0;
    uint32_t word = 0;
    const uint8_t *memory = bench_memory(1, now->pc, 4);
    if (memory && !(now->pc & 3)) memcpy(&word, memory, 4);
    if (differs("the instruction", now->insn, word)) return 0;
    uint8_t flags[2] = {hart.fflags, hart.vxsat};
    if (now->vector) hart.fflags = hart.vxsat = 0;
    xpu_hart_reason reason = xpu_hart_run(&hart, 1);
    if (fault_differs(reason)) return 0;
    if (now->trap) return 1;
    if (now->rd) x[now->rd] = now->rd_value;
    if (now->is_float) f[now->frd] = now->frd_value;
    if (memcmp(x, hart.x, sizeof x) != 0 || memcmp(f, hart.f, sizeof f) != 0)
        if (registers_differ()) return 0;
    if (now->vector ? vector_differs(flags) : memory_differs()) return 0;
    return !differs("the next pc", now->next, hart.pc);
}
