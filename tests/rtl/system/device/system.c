/* The device's half of tests/rtl/system/main.c: what the words at REQUEST ask for; results go to RESULTS. */
#include "tests/rtl/system/system.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

#define REG(offset) (*(volatile uint32_t *)(uintptr_t)(XPU_REGS_BASE + (offset)))
#define CSR(number)                                                                                                    \
    ({                                                                                                                 \
        uint32_t value;                                                                                                \
        __asm__ volatile("csrr %0, %1" : "=r"(value) : "i"(number));                                                   \
        value;                                                                                                         \
    })
#define FENCE() __asm__ volatile("fence" ::: "memory")

static volatile uint32_t *const request = (volatile uint32_t *)(uintptr_t)SYSTEM_REQUEST;
static volatile uint32_t *const results = (volatile uint32_t *)(uintptr_t)SYSTEM_RESULTS;

static void wait_for(uint32_t counter, uint32_t value) {
    REG(XPU_REG_WAIT_VALUE + 4 * counter) = value;
    (void)REG(XPU_REG_WAIT + 4 * counter);
    FENCE();
}

static void signal(uint32_t counter, uint32_t value) {
    FENCE();
    REG(XPU_REG_COUNTER + 4 * counter) = value;
}

static void barrier(void) {
    FENCE();
    (void)REG(XPU_REG_BARRIER);
    FENCE();
}

/* Every register that can be read, before and after writes. Counter 1 is main's. */
static uint32_t registers(uint32_t core) {
    uint32_t n = 0;
    for (uint32_t i = 2; i < XPU_COUNTERS; i++) {
        REG(XPU_REG_COUNTER + 4 * i) = i * 0x01010101;
        REG(XPU_REG_COUNTER + 4 * i) = 5 * i;
        REG(XPU_REG_WAIT_VALUE + 4 * i) = i * 0x01010101 + 4 * i;
        results[n++] = REG(XPU_REG_COUNTER + 4 * i);
        results[n++] = REG(XPU_REG_WAIT_VALUE + 4 * i);
        results[n++] = REG(XPU_REG_WAIT + 4 * i);
    }
    for (uint32_t e = 0; e < 3; e++) {
        REG(XPU_REG_DOORBELL_ADDRESS + 16 * e) = 0x80000000 + 64 * e;
        results[n++] = REG(XPU_REG_DOORBELL_ADDRESS + 16 * e);
        results[n++] = REG(XPU_REG_DOORBELL_STATUS + 16 * e);
    }
    REG(XPU_REG_LAYER) = 0x12340000;
    REG(XPU_REG_TICKET_COUNTER) = 63;
    REG(XPU_REG_TICKET_VALUE) = 0x89abcdef;
    REG(XPU_REG_WATCHDOG) = core;
    REG(XPU_REG_WATCHDOG_LIMIT) = 123456;
    for (uint32_t offset = XPU_REG_LAYER; offset <= XPU_REG_TICKET_VALUE; offset += 4) results[n++] = REG(offset);
    results[n++] = REG(XPU_REG_WATCHDOG_LIMIT);
    results[n++] = REG(XPU_REG_ABI_HASH);
    for (uint32_t offset = XPU_REG_CORES; offset <= XPU_REG_ACC_ROWS; offset += 4) results[n++] = REG(offset);
    results[n++] = CSR(XPU_CSR_CORE_ID) + 16 * CSR(XPU_CSR_CORE_NUM);
    return n;
}

/* One access: kind, address, value. */
static uint32_t access(uint32_t kind, uint32_t address, uint32_t value) {
    uintptr_t at = address;
    switch (kind) {
    case SYSTEM_LB: return *(volatile uint8_t *)at;
    case SYSTEM_LH: __asm__ volatile("lh %0, 0(%1)" : "=r"(value) : "r"(at)); return value;
    case SYSTEM_LW: __asm__ volatile("lw %0, 0(%1)" : "=r"(value) : "r"(at)); return value;
    case SYSTEM_SB: *(volatile uint8_t *)at = (uint8_t)value; return 0;
    case SYSTEM_SH: __asm__ volatile("sh %0, 0(%1)" ::"r"(value), "r"(at)); return 0;
    case SYSTEM_SW: __asm__ volatile("sw %0, 0(%1)" ::"r"(value), "r"(at)); return 0;
    case SYSTEM_JUMP: __asm__ volatile("jr %0" ::"r"(at)); return 0;
    case SYSTEM_EBREAK: __asm__ volatile("ebreak"); return 0;
    default: __asm__ volatile(".word 0xffffffff"); return 0;
    }
}

/* A token goes around all cores, through GM, through LM of the next core, and through counters. */
static void ring(uint32_t core, uint32_t cores, uint32_t rounds) {
    volatile uint32_t *gm = results + 64;
    uint32_t next = (core + 1) % cores;
    volatile uint32_t *mine = (volatile uint32_t *)(uintptr_t)XPU_LM_BASE;
    volatile uint32_t *other = (volatile uint32_t *)(uintptr_t)(XPU_LM_ALL_BASE + XPU_LM_ALIAS_STRIDE * next);
    for (uint32_t round = 0; round < rounds; round++) {
        wait_for(16 + core, round + (core != 0));
        uint32_t token = core == 0 && round == 0 ? 1 : mine[round % 64];
        token = token * 1664525 + core;
        other[(round + (next == 0)) % 64] = token;
        gm[16 * round + core] = token;
        signal(16 + next, 1);
    }
}

/* Each core sums what the others have written, round by round, with the barrier between. */
static void meet(uint32_t core, uint32_t cores, uint32_t rounds) {
    volatile uint32_t *gm = results + 256;
    uint32_t value = core + 1;
    for (uint32_t round = 0; round < rounds; round++) {
        gm[core] = value;
        barrier();
        value = 0;
        for (uint32_t i = 0; i < cores; i++) value += gm[i] * (i + core + 1);
        for (uint32_t i = 0; i < 8 * core; i++) __asm__ volatile("");
        barrier();
    }
    gm[32 + core] = value;
}

static void tickets(uint32_t cores) {
    static const struct {
        uint32_t counter, value, layer;
    } list[] = {{3, 1, 0}, {4, 2, 1}, {5, 0, 2}, {6, 1, 3}, {3, 1, 4}};
    for (uint32_t i = 0; i < 5; i++) {
        REG(XPU_REG_TICKET_COUNTER) = list[i].counter;
        REG(XPU_REG_TICKET_VALUE) = list[i].value;
        results[i] = list[i].layer + 100;
        FENCE();
        REG(XPU_REG_TICKET_LAYER) = list[i].layer;
    }
    signal(4, 2);
    results[0] = 7;
    signal(3, 1);
    if (cores == 1) signal(6, 1);
    wait_for(6, 1);
}

static uint32_t host_calls(void) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 3; i++) {
        results[8] = i;
        FENCE();
        REG(XPU_REG_HOST_CALL) = (uint32_t)(uintptr_t)&results[8];
        FENCE();
        sum = sum * 10 + results[9];
    }
    return sum;
}

static void watchdog(uint32_t limit) {
    REG(XPU_REG_WATCHDOG_LIMIT) = limit;
    results[0] = CSR(XPU_CSR_CYCLE);
    FENCE();
    REG(XPU_REG_WATCHDOG) = 1;
    FENCE();
    results[1] = CSR(XPU_CSR_CYCLE);
    for (;;) __asm__ volatile("");
}

static void alive(uint32_t limit) {
    REG(XPU_REG_WATCHDOG_LIMIT) = limit;
    for (;;) REG(XPU_REG_WATCHDOG) = 1;
}

static void flood(void) {
    REG(XPU_REG_TICKET_COUNTER) = 3;
    REG(XPU_REG_TICKET_VALUE) = 1;
    for (uint32_t i = 0;; i++) {
        results[0] = i;
        FENCE();
        REG(XPU_REG_TICKET_LAYER) = 1;
    }
}

/* Loads and stores of all sizes in GM and LM. */
static uint32_t memory(uint32_t core) {
    uint32_t sum = 0;
    volatile uint8_t *places[] = {(volatile uint8_t *)(results + 512 + 64 * core), (volatile uint8_t *)XPU_LM_BASE,
                                  (volatile uint8_t *)(XPU_LM_ALL_BASE + XPU_LM_ALIAS_STRIDE * core + 256)};
    for (uint32_t p = 0; p < 3; p++) {
        for (uint32_t i = 0; i < 48; i++) places[p][i] = (uint8_t)(i * 37 + p);
        for (uint32_t i = 0; i < 24; i += 3) ((volatile uint16_t *)places[p])[i] ^= (uint16_t)(i * 0x1357);
        for (uint32_t i = 0; i < 12; i++) sum = sum * 31 + ((volatile uint32_t *)places[p])[i];
        for (uint32_t i = 0; i < 48; i++) sum = sum * 33 + (uint32_t)((volatile int8_t *)places[p])[i];
    }
    return sum;
}

/* Loads and stores of all sizes, in all memories in turn, of words that nobody else touches. */
static uint32_t traffic(uint32_t core, uint32_t cores, uint32_t rounds) {
    uint32_t sum = core, other = (core + 1) % cores;
    const uintptr_t places[] = {XPU_SM_BASE + SYSTEM_BLOCK * (SYSTEM_SM_CORE + core),
                                XPU_L3_BASE + SYSTEM_BLOCK * (SYSTEM_L3_CORE + core),
                                XPU_LM_ALL_BASE + XPU_LM_ALIAS_STRIDE * other + SYSTEM_BLOCK * SYSTEM_LM_CORE,
                                (uintptr_t)(results + 512 + 64 * core)};
    for (uint32_t i = 0; i < rounds; i++)
        for (uint32_t p = 0; p < 4; p++) {
            uintptr_t at = places[p] + (i * 52 & 252);
            sum = sum * 31 + *(volatile uint32_t *)at;
            *(volatile uint32_t *)at = sum;
            *(volatile uint16_t *)(at + 2) = (uint16_t)(sum >> 5);
            *(volatile uint8_t *)(at + 1) = (uint8_t)i;
            sum += *(volatile uint32_t *)at;
        }
    return sum;
}

static void engines(uint32_t core, uint32_t cores) {
    volatile uint32_t *list = (volatile uint32_t *)(uintptr_t)SYSTEM_TABLE + 4 * SYSTEM_LISTS * core;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < SYSTEM_LISTS; i++, list += 4) {
        if (list[2]) {
            REG(XPU_REG_DOORBELL_ADDRESS + 16 * list[0]) = list[1];
            REG(XPU_REG_DOORBELL_COUNT + 16 * list[0]) = list[2];
        }
        sum += traffic(core, cores, request[3]);
    }
    if (core == 0) {
        wait_for(11, request[1]);
        wait_for(12, request[2]);
    }
    results[core] = sum;
}

static uint32_t work(uint32_t core, uint32_t cores) {
    switch (request[0]) {
    case SYSTEM_REGISTERS: return core == 0 ? registers(core) : 0;
    case SYSTEM_ACCESS: return core == request[4] ? access(request[1], request[2], request[3]) : 0;
    case SYSTEM_RING: ring(core, cores, request[1]); return 0;
    case SYSTEM_MEET: meet(core, cores, request[1]); return 0;
    case SYSTEM_TICKETS:
        if (core == 0) tickets(cores);
        if (core == 1) signal(6, 1);
        return 0;
    case SYSTEM_HOST: return core == 0 ? host_calls() : 0;
    case SYSTEM_WATCHDOG:
        if (core == 0) watchdog(request[1]);
        return 0;
    case SYSTEM_SPIN:
        REG(XPU_REG_WATCHDOG_LIMIT) = request[1];
        for (;;) __asm__ volatile("");
    case SYSTEM_ALIVE:
        if (core == 0) alive(request[1]);
        return 0;
    case SYSTEM_FLOOD:
        if (core == 0) flood();
        return 0;
    case SYSTEM_MEMORY: results[16 + core] = memory(core); return 0;
    case SYSTEM_DEAD: wait_for(7, core + 1); return 0;
    case SYSTEM_ENGINES: engines(core, cores); return 0;
    case SYSTEM_PRINT:
        for (const char *c = "printed\n"; core == 0 && *c; c++) REG(XPU_REG_PUTCHAR) = (uint8_t)*c;
        return 0;
    default: return 99;
    }
}

void other_main(uint32_t core, uint32_t cores);
void other_main(uint32_t core, uint32_t cores) {
    work(core, cores);
    signal(1, 1);
}

/* Core 0 ends when all have. */
int main(uint32_t core, uint32_t cores) {
    uint32_t status = work(core, cores);
    wait_for(1, cores - 1);
    for (uint32_t i = 0; i < 100; i++) __asm__ volatile(""); /* until the others have come to their wfi */
    return (int)status;
}
