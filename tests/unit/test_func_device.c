/* The functional chip as a device: events, waits, barrier, tickets, host calls, and the report of every way to fail.
 * The programs are a few instructions, put together by the functions below. */
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/func_fixture.h"

enum { T0 = 5, T1 = 6, T2 = 7, ENTRY = 0x80001000u, LIST = 0x11000400u };

typedef struct {
    uint32_t words[256];
    uint32_t count;
} program;

static void emit(program *p, uint32_t word) {
    p->words[p->count++] = word;
}

static void load_immediate(program *p, uint32_t rd, uint32_t value) {
    uint32_t upper = (value + 0x800) >> 12;
    emit(p, upper << 12 | rd << 7 | 0x37);
    emit(p, (value & 0xfff) << 20 | rd << 15 | rd << 7 | 0x13);
}

static void load_word(program *p, uint32_t rd, uint32_t base) {
    emit(p, base << 15 | 2 << 12 | rd << 7 | 0x03);
}

static void store_word(program *p, uint32_t source, uint32_t base) {
    emit(p, source << 20 | base << 15 | 2 << 12 | 0x23);
}

/* register = value */
static void set_register(program *p, uint32_t offset, uint32_t value) {
    load_immediate(p, T0, XPU_REGS_BASE + offset);
    load_immediate(p, T1, value);
    store_word(p, T1, T0);
}

static void read_register(program *p, uint32_t rd, uint32_t offset) {
    load_immediate(p, T0, XPU_REGS_BASE + offset);
    load_word(p, rd, T0);
}

static void wait_counter(program *p, uint32_t counter, uint32_t value) {
    set_register(p, XPU_REG_WAIT_VALUE + 4 * counter, value);
    read_register(p, T1, XPU_REG_WAIT + 4 * counter);
}

static void loop_for_ever(program *p) {
    emit(p, 0x0000006f);
}

/* Core 0 goes on; the others jump to the word after the `length` words that the caller emits next for core 0. */
static void only_core0(program *p, uint32_t length) {
    uint32_t distance = 4 * (length + 1);
    emit(p, 0xf14u << 20 | 2 << 12 | T2 << 7 | 0x73);
    emit(p, (distance >> 11 & 1) << 7 | (distance >> 1 & 15) << 8 | (distance >> 5 & 63) << 25 | T2 << 15 | 1 << 12 |
                0x63);
}

static void start(fixture *f, const program *p) {
    CU_ASSERT_EQUAL(xpu_func_driver.write(f->device, ENTRY, p->words, sizeof p->words), 0);
    CU_ASSERT_EQUAL(xpu_func_driver.start(f->device, ENTRY), 0);
}

static xpurt_event next(fixture *f, uint64_t budget) {
    xpurt_event event;
    CU_ASSERT_EQUAL_FATAL(xpu_func_driver.run(f->device, budget, &event), 0);
    return event;
}

static void put(void *context, char byte) {
    char *text = context;
    size_t length = strlen(text);
    text[length] = byte;
    text[length + 1] = 0;
}

static void ends(void) {
    fixture f;
    program p = {{0}, 0};
    char text[8] = "";
    xpurt_counters totals;
    open_fixture(&f, 1);
    set_register(&p, XPU_REG_PUTCHAR, 'o');
    set_register(&p, XPU_REG_EXIT, 42);
    loop_for_ever(&p);
    xpu_func_driver.output(f.device, put, text);
    for (int twice = 0; twice < 2; twice++) {
        program with_others = {{0}, 0};
        only_core0(&with_others, 10);
        for (uint32_t i = 0; i < p.count - 1; i++) emit(&with_others, p.words[i]);
        loop_for_ever(&with_others);
        start(&f, &with_others);
        xpurt_event event = next(&f, 0);
        CU_ASSERT_EQUAL(event.kind, XPURT_EVENT_ENDED);
        CU_ASSERT_EQUAL(event.status, 42);
    }
    CU_ASSERT_STRING_EQUAL(text, "oo");
    xpu_func_driver.counters(f.device, &totals);
    CU_ASSERT_EQUAL(totals.instructions[0], 24);
    close_fixture(&f);
}

/* Two cores meet; core 1 counts; core 0 starts a DMA and waits for both; the ticket comes first, then the end. */
static void works_together(void) {
    fixture f;
    program p = {{0}, 0}, core0 = {{0}, 0};
    uint32_t words[XPU_DESC_WORDS];
    open_fixture(&f, 2);
    set_register(&core0, XPU_REG_TICKET_COUNTER, 9);
    set_register(&core0, XPU_REG_TICKET_VALUE, 3);
    set_register(&core0, XPU_REG_TICKET_LAYER, 17);
    wait_counter(&core0, 8, 5);
    set_register(&core0, XPU_REG_DOORBELL_ADDRESS, LIST);
    set_register(&core0, XPU_REG_DOORBELL_COUNT, 1);
    wait_counter(&core0, 9, 3);
    set_register(&core0, XPU_REG_EXIT, 0);
    read_register(&p, T1, XPU_REG_BARRIER);
    read_register(&p, T1, XPU_REG_BARRIER);
    only_core0(&p, core0.count);
    for (uint32_t i = 0; i < core0.count; i++) emit(&p, core0.words[i]);
    set_register(&p, XPU_REG_COUNTER + 4 * 8, 5);
    wait_counter(&p, 60, 1);
    xpu_desc_copy d = {ALONE, DENSE(100, XPU_TYPE_I8, 1), .src = XPU_GM_BASE, .dst = XPU_SM_BASE};
    d.signal = 9, d.signal_add = 3;
    xpu_desc_copy_pack(words, &d);
    CU_ASSERT_EQUAL(xpu_func_driver.write(f.device, LIST, words, sizeof words), 0);
    scribble(&f, XPU_GM_BASE, 100);
    start(&f, &p);
    xpurt_event event = next(&f, 0);
    CU_ASSERT_EQUAL(event.kind, XPURT_EVENT_LAYER);
    CU_ASSERT_EQUAL(event.layer, 17);
    CU_ASSERT_EQUAL(memcmp(host(&f, XPU_GM_BASE), host(&f, XPU_SM_BASE), 100), 0);
    event = next(&f, 0);
    CU_ASSERT_EQUAL(event.kind, XPURT_EVENT_ENDED);
    close_fixture(&f);
}

/* Descriptors take no time, but a budget ends a run before one that is more than what is left of it; a larger budget
 * lets it go on. */
static void long_copies(void) {
    static const struct {
        uint32_t size2, size3;
        uint64_t enough; /* instructions and cycles of the copy */
    } rows[] = {{1 << 15, 1 << 16, 0}, {1 << 10, 1 << 15, (1 << 19) + 1000}, {0x80000000u, 2, 100}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        program p = {{0}, 0}, core0 = {{0}, 0};
        uint32_t words[XPU_DESC_WORDS];
        open_fixture(&f, 5);
        set_register(&core0, XPU_REG_DOORBELL_ADDRESS, LIST);
        set_register(&core0, XPU_REG_DOORBELL_COUNT, 1);
        wait_counter(&core0, 9, 1);
        set_register(&core0, XPU_REG_EXIT, 0);
        only_core0(&p, core0.count);
        for (uint32_t k = 0; k < core0.count; k++) emit(&p, core0.words[k]);
        wait_counter(&p, 60, 1);
        xpu_desc_copy d = {ALONE,      .src = XPU_GM_BASE, .dst = XPU_SM_BASE,     .src_type = XPU_TYPE_I8,
                           .size0 = 1, .size1 = 1,         .size2 = rows[i].size2, .size3 = rows[i].size3};
        d.signal = 9, d.signal_add = 1;
        xpu_desc_copy_pack(words, &d);
        CU_ASSERT_EQUAL(xpu_func_driver.write(f.device, LIST, words, sizeof words), 0);
        start(&f, &p);
        if (i < 2) {
            for (int again = 0; again < 2; again++) CU_ASSERT_EQUAL(next(&f, 1 << 18).kind, XPURT_EVENT_BUDGET);
        }
        if (rows[i].enough) {
            CU_ASSERT_EQUAL(next(&f, rows[i].enough).kind, i < 2 ? XPURT_EVENT_ENDED : XPURT_EVENT_FAULT);
        }
        close_fixture(&f);
    }
}

static void host_call(void) {
    fixture f;
    program p = {{0}, 0}, core0 = {{0}, 0};
    uint32_t answer = 77;
    open_fixture(&f, 3);
    set_register(&core0, XPU_REG_HOST_CALL, 0x80003000);
    load_immediate(&core0, T0, 0x80003000);
    load_word(&core0, T1, T0);
    load_immediate(&core0, T0, XPU_REGS_BASE + XPU_REG_EXIT);
    store_word(&core0, T1, T0);
    only_core0(&p, core0.count);
    for (uint32_t i = 0; i < core0.count; i++) emit(&p, core0.words[i]);
    wait_counter(&p, 60, 1);
    start(&f, &p);
    for (int again = 0; again < 2; again++) {
        xpurt_event event = next(&f, 0);
        CU_ASSERT_EQUAL(event.kind, XPURT_EVENT_HOST_CALL);
        CU_ASSERT_EQUAL(event.address, 0x80003000);
    }
    CU_ASSERT_EQUAL(xpu_func_driver.write(f.device, 0x80003000, &answer, 4), 0);
    CU_ASSERT_EQUAL(xpu_func_driver.answer(f.device), 0);
    CU_ASSERT_NOT_EQUAL(xpu_func_driver.answer(f.device), 0);
    xpurt_event event = next(&f, 0);
    CU_ASSERT_EQUAL(event.kind, XPURT_EVENT_ENDED);
    CU_ASSERT_EQUAL(event.status, 77);
    close_fixture(&f);
}

/* What a failing program must be reported as. */
static void expect_fault(fixture *f, const program *p, int cause, int core, uint32_t address, const char *in_state) {
    start(f, p);
    for (int again = 0; again < 2; again++) { /* faults are sticky */
        xpurt_event event = next(f, 0);
        CU_ASSERT_EQUAL_FATAL(event.kind, XPURT_EVENT_FAULT);
        if (event.fault->cause != cause)
            printf("%s: %s\n%s", event.fault->cause_text, event.fault->reason, event.fault->state);
        CU_ASSERT_EQUAL(event.fault->cause, cause);
        CU_ASSERT_EQUAL(event.fault->core, core);
        if (address) CU_ASSERT_EQUAL(event.fault->address, address);
        if (!strstr(event.fault->state, in_state)) printf("%s", event.fault->state);
        CU_ASSERT_PTR_NOT_NULL(strstr(event.fault->state, in_state));
    }
}

static void bad_programs(void) {
    fixture f;
    open_fixture(&f, 4);
    static const struct {
        uint32_t address;
        int stores, cause;
    } accesses[] = {
        {0x00000010, 0, XPU_FAULT_ADDRESS},
        {0x00000010, 1, XPU_FAULT_ADDRESS},
        {XPU_LM_BASE + 16384, 0, XPU_FAULT_ADDRESS},
        {XPU_LM_BASE + 2, 0, XPU_FAULT_MISALIGNED},
        {XPU_GM_BASE + (16 << 20), 1, XPU_FAULT_ADDRESS},
        {XPU_LM_ALL_BASE + 2 * XPU_LM_ALIAS_STRIDE, 0, XPU_FAULT_ADDRESS},
        {XPU_REGS_BASE + 0x0434, 0, XPU_FAULT_ADDRESS},
        {XPU_REGS_BASE + XPU_REG_CORES, 1, XPU_FAULT_ADDRESS},
        {XPU_REGS_BASE + XPU_REG_EXIT, 0, XPU_FAULT_ADDRESS},
        {XPU_REGS_BASE + 0x8000, 0, XPU_FAULT_ADDRESS},
    };
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
        program p = {{0}, 0};
        load_immediate(&p, T0, accesses[i].address);
        if (accesses[i].stores)
            store_word(&p, T1, T0);
        else
            load_word(&p, T1, T0);
        expect_fault(&f, &p, accesses[i].cause, 0, accesses[i].address, "core 0: pc 0x80001008");
    }
    program nothing = {{0}, 0};
    load_immediate(&nothing, T0, 0x40);
    emit(&nothing, T0 << 15 | 0x67);
    expect_fault(&f, &nothing, XPU_FAULT_FETCH, 0, 0x40, "core 0");
    program illegal = {{0xffffffff}, 1};
    expect_fault(&f, &illegal, XPU_FAULT_ILLEGAL, 0, 0, "fault: illegal instruction");
    program aborts = {{0}, 0};
    set_register(&aborts, XPU_REG_ABORT, 1234);
    expect_fault(&f, &aborts, XPU_FAULT_ABORT, 0, 0, "software abort");
    CU_ASSERT_EQUAL(f.func->fault.code, 1234);
    program doorbell = {{0}, 0};
    only_core0(&doorbell, 1);
    loop_for_ever(&doorbell);
    set_register(&doorbell, XPU_REG_DOORBELL_COUNT + 16 * XPU_ENGINE_TENSOR, 1);
    expect_fault(&f, &doorbell, XPU_FAULT_DOORBELL, 1, 0, "core 1");
    close_fixture(&f);
}

static void never_a_hang(void) {
    fixture f;
    program dead = {{0}, 0}, spins = {{0}, 0}, engine = {{0}, 0}, barrier = {{0}, 0};
    uint32_t words[XPU_DESC_WORDS];
    open_fixture(&f, 5);
    set_register(&dead, XPU_REG_LAYER, 6 << 16);
    wait_counter(&dead, 3, 7);
    expect_fault(&f, &dead, XPU_FAULT_DEADLOCK, -1, 0,
                 "core 0: pc 0x80001030, 12 instructions, layer 6, waits for "
                 "counter 3 >= 7 (it is 0)");
    CU_ASSERT_EQUAL(f.func->fault.layer, 6);
    only_core0(&barrier, 3);
    read_register(&barrier, T1, XPU_REG_BARRIER);
    wait_counter(&barrier, 3, 7);
    expect_fault(&f, &barrier, XPU_FAULT_DEADLOCK, -1, 0, "waits at the barrier");
    only_core0(&spins, 1);
    loop_for_ever(&spins);
    wait_counter(&spins, 3, 7);
    expect_fault(&f, &spins, XPU_FAULT_TIMEOUT, 0, 0, "core 0: pc 0x80001008");
    start(&f, &spins);
    xpurt_event event = next(&f, 1000);
    CU_ASSERT_EQUAL(event.kind, XPURT_EVENT_BUDGET);
    xpu_desc_nop d = {ALONE, .layer = 12};
    d.wait0 = 40, d.wait0_value = 1;
    xpu_desc_nop_pack(words, &d);
    CU_ASSERT_EQUAL(xpu_func_driver.write(f.device, LIST, words, sizeof words), 0);
    only_core0(&engine, 11);
    set_register(&engine, XPU_REG_DOORBELL_ADDRESS + 16, LIST);
    set_register(&engine, XPU_REG_DOORBELL_COUNT + 16, 1);
    emit(&engine, 0xffdff06f); /* jal x0, -4: rings for ever */
    wait_counter(&engine, 3, 1);
    expect_fault(&f, &engine, XPU_FAULT_DEADLOCK, -1, 0,
                 "DMA1, queue of core 0: 4 lists, descriptor 1 of 1 at "
                 "0x11000400 (nop, layer 12), waits for counter 40 >= 1");
    close_fixture(&f);
}

static void engine_fault(void) {
    fixture f;
    program p = {{0}, 0};
    open_fixture(&f, 6);
    set_register(&p, XPU_REG_DOORBELL_ADDRESS, XPU_LM_BASE);
    set_register(&p, XPU_REG_DOORBELL_COUNT, 1);
    loop_for_ever(&p);
    start(&f, &p);
    xpurt_event event = next(&f, 0);
    CU_ASSERT_EQUAL_FATAL(event.kind, XPURT_EVENT_FAULT);
    CU_ASSERT_EQUAL(event.fault->cause, XPU_FAULT_ENGINE_ADDRESS);
    CU_ASSERT_EQUAL(event.fault->core, -1);
    CU_ASSERT_EQUAL(event.fault->engine, XPU_ENGINE_DMA0);
    CU_ASSERT_EQUAL(event.fault->descriptor, XPU_LM_BASE);
    close_fixture(&f);
}

static void memory(void) {
    fixture f;
    open_fixture(&f, 7);
    char bytes[16] = {0};
    CU_ASSERT_EQUAL(xpu_func_driver.write(f.device, XPU_L3_BASE + (1 << 20) - 4, "abcd", 4), 0);
    CU_ASSERT_NOT_EQUAL(xpu_func_driver.write(f.device, XPU_L3_BASE + (1 << 20) - 3, "abcd", 4), 0);
    CU_ASSERT_EQUAL(xpu_func_driver.read(f.device, XPU_L3_BASE + (1 << 20) - 4, bytes, 4), 0);
    CU_ASSERT_STRING_EQUAL(bytes, "abcd");
    CU_ASSERT_NOT_EQUAL(xpu_func_driver.read(f.device, XPU_REGS_BASE, bytes, 4), 0);
    FILE *file = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    static char page[3 * 4096];
    memset(page, 'x', sizeof page);
    fwrite(page, 1, sizeof page, file);
    fflush(file);
    uint64_t at = XPU_GM_BASE + 0x4000;
    CU_ASSERT_EQUAL(xpu_func_driver.write(f.device, at + 5000, "keep", 4), 0);
    CU_ASSERT_EQUAL(xpu_func_driver.map(f.device, at, fileno(file), 4096, 5000), 0);
    CU_ASSERT_EQUAL(xpu_func_driver.read(f.device, at + 4998, bytes, 6), 0);
    CU_ASSERT_EQUAL(memcmp(bytes, "xxkeep", 6), 0);
    CU_ASSERT_EQUAL(xpu_func_driver.write(f.device, at, "y", 1), 0);
    CU_ASSERT_EQUAL(pread(fileno(file), bytes, 1, 4096), 1);
    CU_ASSERT_EQUAL(bytes[0], 'x');
    CU_ASSERT_NOT_EQUAL(xpu_func_driver.map(f.device, at, fileno(file), 4096, 3 * 4096), 0);
    CU_ASSERT_NOT_EQUAL(xpu_func_driver.map(f.device, at + 1, fileno(file), 4096, 4096), 0);
    fclose(file);
    close_fixture(&f);
}

XPU_TEST_MAIN("func device", {"ends", ends}, {"works together", works_together}, {"long copies", long_copies},
              {"host call", host_call}, {"bad programs", bad_programs}, {"never a hang", never_a_hang},
              {"engine fault", engine_fault}, {"memory", memory})
