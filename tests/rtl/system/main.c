/*
 * The whole Verilated chip: each program runs on the functional chip and, in several ways, on the Verilated one;
 * events, results and faults must be the same, cycle counts too with skipping on and off.
 */
#include <stdio.h>
#include <string.h>

#include "sim/harness/harness.h"
#include "tests/rtl/system/rig.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

/* ---- comparing ---- */

static int same_events(const outcome *a, const outcome *b) {
    if (a->event_count != b->event_count) return 0;
    for (unsigned i = 0; i < a->event_count; i++) {
        const xpurt_event *x = &a->events[i], *y = &b->events[i];
        if (x->kind != y->kind || x->status != y->status || x->layer != y->layer || x->address != y->address) return 0;
    }
    return a->fault.cause == b->fault.cause;
}

/* Of faults of cores. */
static int same_fault(const xpurt_fault *a, const xpurt_fault *b) {
    return a->cause == b->cause && a->core == b->core && a->engine == b->engine && a->pc == b->pc &&
           a->instruction == b->instruction && a->address == b->address && a->code == b->code && a->layer == b->layer;
}

static void expect_same(const system_chip *chip, const char *name, const outcome *func, const outcome *rtl) {
    int same =
        same_events(func, rtl) && memcmp(func->results, rtl->results, sizeof func->results) == 0 &&
        memcmp(func->printed, rtl->printed, sizeof func->printed) == 0 && strcmp(func->state, rtl->state) == 0 &&
        (func->fault.cause == 0 || func->fault.cause >= XPU_FAULT_TIMEOUT || same_fault(&func->fault, &rtl->fault));
    if (func->fault.cause == 0)
        same =
            same &&
            memcmp(func->counters.instructions, rtl->counters.instructions, sizeof func->counters.instructions) == 0 &&
            func->counters.gm_read_bytes == rtl->counters.gm_read_bytes &&
            func->counters.gm_write_bytes == rtl->counters.gm_write_bytes;
    CU_ASSERT_TRUE(same);
    if (!same)
        printf("\n%s on %s: func %s, rtl %s\n%s%s", name, chip->name, func->text, rtl->text, func->state, rtl->state);
}

/* A program in all ways. Its results depend on no timing. */
static void all_ways(const system_chip *chip, const char *name, const uint32_t *request) {
    static outcome func, plain, slow, compared;
    static const xpurt_rtl_options none = {0}, no_skip = {.no_skip = 1}, lockstep = {.lockstep = 1};
    run_func(&chip->chip, request, &func);
    run_rtl(chip, request, &none, &plain);
    expect_same(chip, name, &func, &plain);
    run_rtl(chip, request, &no_skip, &slow);
    CU_ASSERT_TRUE(same_time(&plain, &slow));
    CU_ASSERT_EQUAL(slow.statistics.edges, slow.statistics.cycles + 2); /* two of the reset */
    CU_ASSERT(plain.statistics.edges < slow.statistics.edges);
    run_rtl(chip, request, &lockstep, &compared);
    expect_same(chip, name, &func, &compared);
    CU_ASSERT_TRUE(same_time(&plain, &compared));
    for (uint32_t seed = 1; seed <= 3; seed++) {
        xpurt_rtl_options options = {.lockstep = seed & 1, .seed = seed * 0x9e3779b9};
        run_rtl(chip, request, &options, &compared);
        expect_same(chip, name, &func, &compared);
        options.no_skip = 1;
        run_rtl(chip, request, &options, &slow);
        CU_ASSERT_TRUE(same_time(&compared, &slow));
    }
}

/* ---- tests ---- */

static void programs(void) {
    static const struct {
        const char *name;
        uint32_t request[5];
    } cases[] = {{"registers", {SYSTEM_REGISTERS}}, {"ring", {SYSTEM_RING, 5}},    {"meet", {SYSTEM_MEET, 6}},
                 {"tickets", {SYSTEM_TICKETS}},     {"host calls", {SYSTEM_HOST}}, {"memory", {SYSTEM_MEMORY}},
                 {"dead lock", {SYSTEM_DEAD}},      {"print", {SYSTEM_PRINT}},     {"unknown", {0}}};
    for (int c = 0; c < CHIPS; c++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) all_ways(&chips[c], cases[i].name, cases[i].request);
}

static void expectations(void) {
    static outcome o;
    static const xpurt_rtl_options none = {0};
    for (int c = 0; c < CHIPS; c++) {
        const uint32_t tickets[5] = {SYSTEM_TICKETS}, host[5] = {SYSTEM_HOST}, print[5] = {SYSTEM_PRINT};
        run_rtl(&chips[c], tickets, &none, &o);
        CU_ASSERT_EQUAL_FATAL(o.event_count, 6);
        CU_ASSERT_EQUAL(o.events[0].layer, 2); /* true when it was announced */
        CU_ASSERT_EQUAL(o.events[5].kind, XPURT_EVENT_ENDED);
        run_rtl(&chips[c], host, &none, &o);
        CU_ASSERT_EQUAL_FATAL(o.event_count, 4);
        CU_ASSERT_EQUAL(o.events[3].status, 147); /* 1, 4, 7 */
        run_rtl(&chips[c], print, &none, &o);
        CU_ASSERT_STRING_EQUAL(o.printed, "printed\n");
    }
}

/* Addresses that depend on the chip; others are what they are. */
enum { BEHIND_GM = 1, BEHIND_LM, BEHIND_LM_ALL, END_OF_GM, BEHIND_ENGINES };

static uint32_t address_on(const xpu_chip *chip, uint32_t address) {
    switch (address) {
    case BEHIND_GM: return XPU_GM_BASE + chip->gm_bytes;
    case BEHIND_LM: return XPU_LM_BASE + chip->lm_bytes;
    case BEHIND_LM_ALL: return XPU_LM_ALL_BASE + chip->lm_bytes;
    case END_OF_GM: return XPU_GM_BASE + chip->gm_bytes - 4;
    case BEHIND_ENGINES: return chip->window_channels ? 0x02000340 : 0x02000330;
    default: return address;
    }
}

static void faults(void) {
    static outcome func, rtl;
    static const struct {
        uint32_t kind, address, value;
        int cause;
    } cases[] = {
        {SYSTEM_LW, 0, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_SW, 0x90, 1, XPU_FAULT_ADDRESS},
        {SYSTEM_LW, BEHIND_GM, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_SB, 0xffffffff, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_LW, 0x80000002, 0, XPU_FAULT_MISALIGNED},
        {SYSTEM_LH, 0x80100001, 0, XPU_FAULT_MISALIGNED},
        {SYSTEM_SH, 0x11000001, 0, XPU_FAULT_MISALIGNED},
        {SYSTEM_SW, 0x10000002, 0, XPU_FAULT_MISALIGNED},
        {SYSTEM_LW, BEHIND_LM, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_LW, BEHIND_LM_ALL, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_SW, 0x11f00000, 0, XPU_FAULT_ADDRESS}, /* no such core */
        {SYSTEM_LB, 0x02000000, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_LH, 0x02000444, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_LW, 0x02000002, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_LW, 0x02000410, 0, XPU_FAULT_ADDRESS}, /* TICKET_LAYER cannot be read */
        {SYSTEM_LW, 0x02000304, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_LW, BEHIND_ENGINES, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_SW, BEHIND_ENGINES, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_LW, 0x0200030c, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_LW, 0x02000460, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_LW, 0x02001000, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_SW, 0x02000200, 0, XPU_FAULT_ADDRESS}, /* WAIT cannot be written */
        {SYSTEM_SW, 0x02000308, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_SW, 0x02000400, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_SW, 0x02000408, 64, XPU_FAULT_ADDRESS}, /* no such counter */
        {SYSTEM_SW, 0x02000428, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_SW, 0x02000440, 0, XPU_FAULT_ADDRESS},
        {SYSTEM_SW, 0x02000304, 0, XPU_FAULT_DOORBELL}, /* an empty list */
        {SYSTEM_SW, 0x02000420, 4711, XPU_FAULT_ABORT},
        {SYSTEM_JUMP, 0x20000000, 0, XPU_FAULT_FETCH},
        {SYSTEM_JUMP, 0x80000002, 0, XPU_FAULT_FETCH},
        {SYSTEM_JUMP, BEHIND_GM, 0, XPU_FAULT_FETCH},
        {SYSTEM_JUMP, END_OF_GM, 0, XPU_FAULT_ILLEGAL}, /* its line is fetched with lines that do not exist */
        {SYSTEM_EBREAK, 0, 0, XPU_FAULT_ABORT},
        {SYSTEM_ILLEGAL, 0, 0, XPU_FAULT_ILLEGAL},
    };
    static const xpurt_rtl_options lockstep = {.lockstep = 1};
    for (int c = 0; c < CHIPS; c++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            uint32_t at = address_on(&chips[c].chip, cases[i].address);
            uint32_t request[5] = {SYSTEM_ACCESS, cases[i].kind, at, cases[i].value, 0};
            request[4] = (uint32_t)i % chips[c].chip.cores;
            run_func(&chips[c].chip, request, &func);
            run_rtl(&chips[c], request, &lockstep, &rtl);
            CU_ASSERT_EQUAL(rtl.fault.cause, cases[i].cause);
            expect_same(&chips[c], xpu_printf(arena, "fault %zu", i), &func, &rtl);
        }
}

/* What only core 0 may do; a doorbell of an engine that this chip does not have. */
static void faults_of_cores(void) {
    static outcome func, rtl;
    static const uint32_t offsets[] = {XPU_REG_TICKET_LAYER, XPU_REG_EXIT, XPU_REG_HOST_CALL};
    static const xpurt_rtl_options lockstep = {.lockstep = 1};
    for (int i = 0; i < 3; i++) {
        uint32_t request[5] = {SYSTEM_ACCESS, SYSTEM_SW, XPU_REGS_BASE + offsets[i], 0, 3};
        run_func(&chips[1].chip, request, &func);
        run_rtl(&chips[1], request, &lockstep, &rtl);
        CU_ASSERT_EQUAL(rtl.fault.cause, XPU_FAULT_ADDRESS);
        expect_same(&chips[1], "core 0 only", &func, &rtl);
    }
}

/* The watchdog fires at its cycle: WATCHDOG_LIMIT after the last progress. */
static void watchdog(void) {
    static outcome o, slow;
    for (int c = 0; c < CHIPS; c++)
        for (uint32_t limit = 3000; limit < 3010; limit += 3) {
            const uint32_t request[5] = {SYSTEM_WATCHDOG, limit};
            run_rtl(&chips[c], request, &(xpurt_rtl_options){.lockstep = 1}, &o);
            run_rtl(&chips[c], request, &(xpurt_rtl_options){.no_skip = 1}, &slow);
            CU_ASSERT_EQUAL(o.fault.cause, XPU_FAULT_TIMEOUT);
            CU_ASSERT(o.fault.core == 0 && o.statistics.cycles > o.results[0] + limit);
            CU_ASSERT(o.statistics.cycles <= o.results[1] + limit);
            CU_ASSERT_EQUAL(o.statistics.cycles - o.results[0], slow.statistics.cycles - slow.results[0]);
            CU_ASSERT_TRUE(same_time(&o, &slow));
        }
}

/* Without any progress: at the limit, counted from the start. */
static void watchdog_from_start(void) {
    static outcome o;
    for (int c = 0; c < CHIPS; c++)
        for (uint32_t limit = 4000; limit < 4004; limit++) {
            const uint32_t request[5] = {SYSTEM_SPIN, limit};
            run_rtl(&chips[c], request, &(xpurt_rtl_options){.no_skip = limit & 1}, &o);
            CU_ASSERT_EQUAL(o.fault.cause, XPU_FAULT_TIMEOUT);
            CU_ASSERT_EQUAL(o.statistics.cycles, limit);
        }
}

/* Stores to WATCHDOG alone put the time-out off for WATCHDOG_STRETCH times the limit. */
static void watchdog_kept_off(void) {
    static outcome o, slow, func;
    for (int c = 0; c < CHIPS; c++) {
        const uint32_t request[5] = {SYSTEM_ALIVE, 1000}, end = 1000 * XPU_WATCHDOG_STRETCH;
        run_rtl(&chips[c], request, &(xpurt_rtl_options){.lockstep = 1}, &o);
        run_rtl(&chips[c], request, &(xpurt_rtl_options){.no_skip = 1}, &slow);
        run_func(&chips[c].chip, request, &func);
        CU_ASSERT_EQUAL(o.fault.cause, XPU_FAULT_TIMEOUT);
        CU_ASSERT_EQUAL(func.fault.cause, XPU_FAULT_TIMEOUT);
        CU_ASSERT(o.statistics.cycles >= end && o.statistics.cycles < end + 2000);
        CU_ASSERT_TRUE(same_time(&o, &slow));
    }
}

/* As many tickets as the host keeps, then a fault. */
static void too_many_tickets(void) {
    static outcome o, func;
    for (int c = 0; c < CHIPS; c++) {
        const uint32_t request[5] = {SYSTEM_FLOOD};
        run_rtl(&chips[c], request, &(xpurt_rtl_options){.lockstep = 1}, &o);
        run_func(&chips[c].chip, request, &func);
        CU_ASSERT_EQUAL(o.fault.cause, XPU_FAULT_TICKETS);
        CU_ASSERT_TRUE(same_fault(&o.fault, &func.fault));
        CU_ASSERT_EQUAL(o.results[0], XPU_TICKETS);
    }
}

/* Limits of a run: the same end, whatever the pieces. */
static void limits(void) {
    static outcome whole, o;
    const uint32_t request[5] = {SYSTEM_MEET, 6};
    for (int c = 0; c < CHIPS; c++) {
        const xpurt_device_driver *driver = chips[c].driver;
        xpurt_event event = {.kind = XPURT_EVENT_BUDGET};
        unsigned runs = 0;
        run_rtl(&chips[c], request, &(xpurt_rtl_options){0}, &whole);
        chips[c].configure(&(xpurt_rtl_options){0});
        xpurt_device *device = prepare(driver, &chips[c].chip, request, &o);
        for (; event.kind == XPURT_EVENT_BUDGET && runs < 1000; runs++) {
            uint64_t before = 0, after = 0;
            driver->counters(device, &o.counters);
            for (int i = 0; i < XPURT_MAX_CORES; i++) before += o.counters.instructions[i];
            CU_ASSERT_EQUAL_FATAL(driver->run(device, 11, &event), 0);
            driver->counters(device, &o.counters);
            for (int i = 0; i < XPURT_MAX_CORES; i++) after += o.counters.instructions[i];
            CU_ASSERT(after - before <= 11 + chips[c].chip.cores);
        }
        CU_ASSERT(event.kind == XPURT_EVENT_ENDED && runs > 10);
        CU_ASSERT_EQUAL(o.counters.cycles, whole.counters.cycles);
        driver->destroy(device);
        run_rtl(&chips[c], request, &(xpurt_rtl_options){.max_cycles = 777}, &o);
        CU_ASSERT_EQUAL(o.events[0].kind, XPURT_EVENT_BUDGET);
        CU_ASSERT_EQUAL(o.statistics.cycles, 777);
    }
}

/* Run-time registers of GM: slower memory, more cycles, the same results; a library for another chip is refused. */
static void gm_times(void) {
    static outcome fast, slow;
    const uint32_t request[5] = {SYSTEM_MEMORY};
    system_chip chip = chips[1];
    xpurt_rtl_options none = {0};
    chip.chip.gm_latency = 10;
    run_rtl(&chip, request, &none, &fast);
    for (uint32_t latency = 11; latency <= 13; latency++) {
        chip.chip.gm_latency = latency;
        run_rtl(&chip, request, &none, &slow);
        CU_ASSERT(slow.statistics.cycles > fast.statistics.cycles);
        CU_ASSERT_EQUAL(memcmp(slow.results, fast.results, sizeof slow.results), 0);
    }
    chip.chip.gm_latency = 10;
    chip.chip.gm_rate = 1; /* 64 cycles for a line */
    run_rtl(&chip, request, &none, &slow);
    CU_ASSERT(slow.statistics.cycles > fast.statistics.cycles + fast.statistics.cycles / 2);
    chip.chip.gm_rate = 64;
    chip.chip.gm_outstanding = 1;
    run_rtl(&chip, request, &none, &slow);
    CU_ASSERT(slow.statistics.cycles > fast.statistics.cycles);
    chip.chip.lm_bytes *= 2;
    CU_ASSERT_PTR_NULL(chip.driver->create(&chip.chip, &diags));
    CU_ASSERT_STRING_EQUAL(diags.items[diags.count - 1].rule, "device-chip");
}

/* States that do not sum to the cycles end a run. */
static void states_must_sum(void) {
    static outcome o;
    const uint32_t request[5] = {SYSTEM_MEET, 6};
    for (int c = 0; c < CHIPS; c++) {
        const xpurt_device_driver *driver = chips[c].driver;
        xpurt_event event = {0};
        chips[c].configure(&(xpurt_rtl_options){0});
        xpurt_device *device = prepare(driver, &chips[c].chip, request, &o);
        device->before.engine_states[2][XPU_LOST_BUSY]++;
        CU_ASSERT_EQUAL(driver->run(device, 0, &event), 0);
        CU_ASSERT_EQUAL_FATAL(event.kind, XPURT_EVENT_FAULT);
        CU_ASSERT_STRING_EQUAL(event.fault->cause_text, "wrong counts");
        CU_ASSERT_PTR_NOT_NULL(strstr(event.fault->reason, "the states of engine 2 sum to "));
        driver->destroy(device);
    }
}

/* The host's view of LM, and a second start of the same device. */
static void host_memory(void) {
    static outcome o;
    const uint32_t request[5] = {SYSTEM_PRINT};
    for (int c = 0; c < CHIPS; c++) {
        const xpurt_device_driver *driver = chips[c].driver;
        chips[c].configure(&(xpurt_rtl_options){0});
        xpurt_device *device = prepare(driver, &chips[c].chip, request, &o);
        uint32_t word = 0x12345678, back = 0, last = chips[c].chip.cores - 1;
        uint64_t at = XPU_LM_ALL_BASE + XPU_LM_ALIAS_STRIDE * last + chips[c].chip.lm_bytes - 4;
        CU_ASSERT_EQUAL(driver->read(device, at, &back, 4), 0);
        CU_ASSERT_EQUAL(back, 0);
        CU_ASSERT_EQUAL(driver->write(device, at, &word, 4), 0);
        CU_ASSERT_EQUAL(driver->read(device, at, &back, 4), 0);
        CU_ASSERT_EQUAL(back, word);
        CU_ASSERT_NOT_EQUAL(driver->write(device, at, &word, 5), 0);
        CU_ASSERT_NOT_EQUAL(driver->write(device, 0x10000000, &word, 4), 0);
        CU_ASSERT_NOT_EQUAL(driver->write(device, at + XPU_LM_ALIAS_STRIDE, &word, 4), 0);
        follow(driver, device, &o);
        uint64_t cycles = o.counters.cycles;
        CU_ASSERT_EQUAL(driver->start(device, system_entry), 0);
        follow(driver, device, &o);
        CU_ASSERT_EQUAL(o.counters.cycles, 2 * cycles);
        CU_ASSERT_STRING_EQUAL(o.printed, "printed\nprinted\n");
        driver->destroy(device);
    }
}

/* Lock-step on made-up instructions: which differences it finds, and how it names them. */
static void lockstep_finds(void) {
    static const uint32_t code[] = {0x00700293, 0x80200337, 0x00532223, 0xc0002573, 0x00000073};
    static const xpu_retired good[] = {
        {.order = 0, .insn = 0x00700293, .pc = 0x80000000, .next = 0x80000004, .rd = 5, .rd_value = 7},
        {.order = 1, .insn = 0x80200337, .pc = 0x80000004, .next = 0x80000008, .rd = 6, .rd_value = 0x80200000},
        {.order = 2,
         .insn = 0x00532223,
         .pc = 0x80000008,
         .next = 0x8000000c,
         .address = 0x80200004,
         .write_mask = 15,
         .write_data = 7},
        {.order = 3, .insn = 0xc0002573, .pc = 0x8000000c, .next = 0x80000010, .rd = 10, .rd_value = 4711, .cycle = 99},
        {.order = 4, .insn = 0x00000073, .pc = 0x80000010, .next = 0x80000014, .trap = 1},
    };
    static const struct {
        int index; /* of the instruction that is damaged */
        size_t offset;
        const char *text;
    } cases[] = {
        {0, offsetof(xpu_retired, rd_value),
         "pc 0x80000000, addi t0, zero, 7: x5 is 0x00000008 on rtl, 0x00000007 on func"},
        {1, offsetof(xpu_retired, insn), "the instruction is 0x80200338 on rtl, 0x80200337 on func"},
        {1, offsetof(xpu_retired, pc), "pc is 0x80000005 on rtl, 0x80000004 on func"},
        {1, offsetof(xpu_retired, next), "the next pc is 0x80000009 on rtl"},
        {2, offsetof(xpu_retired, order), "the number of the instruction is 0x00000003 on rtl, 0x00000002 on func"},
        {2, offsetof(xpu_retired, write_data), "the stored value is 0x00000008 on rtl, 0x00000007 on func"},
        {2, offsetof(xpu_retired, address), "the stored value is 0x00000007 on rtl"},
        {3, offsetof(xpu_retired, trap),
         "cycle 99, core 0, instruction 3, pc 0x8000000c, csrrs a0, cycle, zero: the number"},
        {-1, 0, ""},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        xpu_lockstep *lockstep = xpu_lockstep_new(&chips[0].chip, NULL);
        int equal = 1, last = cases[c].index >= 0 ? cases[c].index : 4;
        CU_ASSERT_PTR_NOT_NULL_FATAL(lockstep);
        CU_ASSERT_EQUAL(xpu_lockstep_write(lockstep, 0x80000000, code, sizeof code), 0);
        CU_ASSERT_EQUAL(xpu_lockstep_start(lockstep, 0x80000000, 0), 0);
        for (int i = 0; i <= last; i++) {
            xpu_retired retired = good[i];
            if (i == cases[c].index) ++*(uint32_t *)(void *)((char *)&retired + cases[c].offset);
            CU_ASSERT_EQUAL(equal, 1);
            equal = xpu_lockstep_retire(lockstep, &retired);
        }
        CU_ASSERT_EQUAL(equal, cases[c].index < 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(xpu_lockstep_text(lockstep), cases[c].text));
        if (cases[c].index < 0) {
            CU_ASSERT_EQUAL(xpu_lockstep_fault(lockstep, 0, XPU_FAULT_ABORT, 0), 1);
            CU_ASSERT_EQUAL(xpu_lockstep_fault(lockstep, 0, XPU_FAULT_ABORT, 4), 0);
        }
        xpu_lockstep_free(lockstep);
    }
}

int main(void) {
    static const xpu_test tests[] = {{"programs", programs},
                                     {"expectations", expectations},
                                     {"faults", faults},
                                     {"faults of cores", faults_of_cores},
                                     {"watchdog", watchdog},
                                     {"watchdog from the start", watchdog_from_start},
                                     {"watchdog kept off", watchdog_kept_off},
                                     {"too many tickets", too_many_tickets},
                                     {"limits", limits},
                                     {"GM", gm_times},
                                     {"states sum to the cycles", states_must_sum},
                                     {"host memory", host_memory},
                                     {"lock-step", lockstep_finds},
                                     {"engines", test_engines},
                                     {"faults of engines", test_engine_faults},
                                     {"fields of descriptors", test_fields},
                                     {NULL, NULL}};
    if (set_up()) {
        xpu_diags_print(&diags, stderr);
        return EXIT_FAILURE;
    }
    int status = xpu_test_main("system", tests);
    release();
    return status;
}
