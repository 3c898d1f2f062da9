/* The race check: programs with one race each, and what is reported; programs without races. Each core has a short
 * program put together by the functions below; descriptors are written before the start. */
#include <stdio.h>

#include "sim/func/events.h"
#include "tests/unit/func_fixture.h"

enum { T0 = 5, T1 = 6, T2 = 7, ENTRY = 0x80001000u, CORES = 2, WORDS = 512 };
enum { LISTS = 0x80010000u, GM = 0x80020000u, SM = 0x20001000u, L3 = 0x40000000u, LM0 = 0x11000000u };

/* `marked`: index of the instruction that the test expects in a report. */
typedef struct {
    uint32_t words[WORDS], count, marked;
} program;

typedef struct {
    fixture f;
    program core[CORES];
    uint32_t lists; /* descriptors so far */
} test;

/* ---- assembling ---- */

static void emit(program *p, uint32_t word) {
    p->words[p->count++] = word;
}

static void load_immediate(program *p, uint32_t rd, uint32_t value) {
    uint32_t upper = (value + 0x800) >> 12;
    emit(p, upper << 12 | rd << 7 | 0x37);
    emit(p, (value & 0xfff) << 20 | rd << 15 | rd << 7 | 0x13);
}

/* size: log2 of the bytes */
static void store(program *p, uint32_t address, uint32_t value, uint32_t size) {
    load_immediate(p, T0, address);
    load_immediate(p, T1, value);
    emit(p, T1 << 20 | T0 << 15 | size << 12 | 0x23);
}

static void load(program *p, uint32_t address, uint32_t size) {
    load_immediate(p, T0, address);
    emit(p, T0 << 15 | size << 12 | T1 << 7 | 0x03);
}

static void mark(program *p) {
    p->marked = p->count - 1;
}

static void fence(program *p) {
    emit(p, 0x0ff0000f);
}

static void set_register(program *p, uint32_t offset, uint32_t value) {
    store(p, XPU_REGS_BASE + offset, value, 2);
}

static void wait_counter(program *p, uint32_t counter, uint32_t value) {
    set_register(p, XPU_REG_WAIT_VALUE + 4 * counter, value);
    load(p, XPU_REGS_BASE + XPU_REG_WAIT + 4 * counter, 2);
}

static void signal_counter(program *p, uint32_t counter) {
    set_register(p, XPU_REG_COUNTER + 4 * counter, 1);
}

static void barrier(program *p) {
    load(p, XPU_REGS_BASE + XPU_REG_BARRIER, 2);
}

static void ring(program *p, uint32_t engine, uint32_t list, uint32_t count) {
    set_register(p, XPU_REG_DOORBELL_ADDRESS + 16 * engine, list);
    set_register(p, XPU_REG_DOORBELL_COUNT + 16 * engine, count);
}

/* ---- descriptors ---- */

/* Adds descriptors to the list; returns the address. */
static uint32_t add_words(test *t, const uint32_t *words) {
    uint32_t address = LISTS + XPU_DESC_BYTES * t->lists++;
    memcpy(host(&t->f, address), words, XPU_DESC_BYTES);
    return address;
}

static uint32_t add_copy(test *t, uint32_t dst, uint32_t src, uint32_t bytes, uint32_t wait, uint32_t value,
                         uint32_t signal) {
    uint32_t words[XPU_DESC_WORDS];
    xpu_desc_copy d = {.layer = 7,
                       .wait0 = wait,
                       .wait0_value = value,
                       .wait1 = XPU_NO_COUNTER,
                       .signal = signal,
                       .signal_add = 1,
                       .src = src,
                       .dst = dst,
                       DENSE(bytes, XPU_TYPE_U8, 1)};
    xpu_desc_copy_pack(words, &d);
    return add_words(t, words);
}

static uint32_t add_nop(test *t, uint32_t wait, uint32_t value) {
    uint32_t words[XPU_DESC_WORDS];
    xpu_desc_nop d = {.wait0 = wait, .wait0_value = value, .wait1 = XPU_NO_COUNTER, .signal = XPU_NO_COUNTER};
    xpu_desc_nop_pack(words, &d);
    return add_words(t, words);
}

/* ---- running ---- */

static void open_test(test *t) {
    static const xpu_func_options on = {.check_races = 1}, off = {0};
    memset(t, 0, sizeof *t);
    xpu_func_configure(&on);
    open_fixture(&t->f, 1);
    xpu_func_configure(&off);
}

/* Loads both programs: core 0's begins with a branch to core 1's, and ends with EXIT. */
static void start(test *t) {
    program all = {.count = 0};
    uint32_t distance = 4 * (t->core[0].count + 7);
    emit(&all, 0xf14u << 20 | 2 << 12 | T2 << 7 | 0x73);
    emit(&all, (distance >> 11 & 1) << 7 | (distance >> 1 & 15) << 8 | (distance >> 5 & 63) << 25 | T2 << 15 | 1 << 12 |
                   0x63);
    for (unsigned core = 0; core < CORES; core++) {
        program *p = &t->core[core];
        p->marked += all.count;
        for (uint32_t i = 0; i < p->count; i++) emit(&all, p->words[i]);
        if (core == 0) set_register(&all, XPU_REG_EXIT, 0);
        emit(&all, 0x10500073); /* wfi */
    }
    CU_ASSERT_EQUAL(xpu_func_driver.write(t->f.device, ENTRY, all.words, sizeof all.words), 0);
    CU_ASSERT_EQUAL(xpu_func_driver.start(t->f.device, ENTRY), 0);
}

static void add_access(char *text, size_t room, const test *t, const xpurt_access *a) {
    size_t length = strlen(text);
    text += length, room -= length;
    if (a->engine >= 0)
        snprintf(text, room, " engine %d core %d %s %u %s %s", a->engine, a->core, a->kind,
                 (unsigned)(a->descriptor - LISTS) / XPU_DESC_BYTES, a->write ? "writes" : "reads", a->field);
    else if (a->core >= 0)
        snprintf(text, room, " core %d %s%s layer %u", a->core, a->write ? "writes" : "reads",
                 a->pc == ENTRY + 4 * t->core[a->core].marked ? " here" : "", a->layer);
    else
        snprintf(text, room, " host %s", a->write ? "writes" : "reads");
}

/* The races as text: "20001000: core 0 writes here layer 0, core 1 reads here layer 0; ". */
static const char *races(const test *t) {
    static char text[4096];
    xpurt_race race;
    text[0] = 0;
    for (size_t i = 0; xpu_func_driver.race(t->f.device, i, &race); i++) {
        size_t length = strlen(text);
        if (race.counter >= 0)
            snprintf(text + length, sizeof text - length, "counter %d >= %u:", race.counter, race.value);
        else
            snprintf(text + length, sizeof text - length, "%08x:", (unsigned)race.address);
        add_access(text, sizeof text, t, &race.before);
        strcat(text, ",");
        add_access(text, sizeof text, t, &race.after);
        strcat(text, "; ");
    }
    return text;
}

/* Runs to the end, the host reading `outputs` bytes of GM behind it, and compares the report. */
static void finish(test *t, uint32_t outputs, const char *expected) {
    xpurt_event event;
    uint8_t bytes[64];
    start(t);
    do {
        CU_ASSERT_EQUAL_FATAL(xpu_func_driver.run(t->f.device, 100000, &event), 0);
    } while (event.kind == XPURT_EVENT_LAYER);
    CU_ASSERT_EQUAL(event.kind, XPURT_EVENT_ENDED);
    if (outputs) CU_ASSERT_EQUAL(xpu_func_driver.read(t->f.device, GM, bytes, outputs), 0);
    if (strcmp(races(t), expected) != 0) printf("\n  got      %s\n  expected %s\n", races(t), expected);
    CU_ASSERT_STRING_EQUAL(races(t), expected);
    close_fixture(&t->f);
}

/* ---- cores ---- */

/* Core 0 writes, core 1 reads; `how` says what stands between. */
enum between { NOTHING, NO_FENCE, SIGNAL, BARRIER, BARRIER_NO_FENCE, TOO_EARLY };

static void between_cores(enum between how, const char *expected) {
    test t;
    open_test(&t);
    program *a = &t.core[0], *b = &t.core[1];
    if (how == TOO_EARLY) signal_counter(a, 1);
    set_register(a, XPU_REG_LAYER, 3 << 16);
    store(a, SM, 1, 2), mark(a);
    if (how == SIGNAL || how == BARRIER || how == TOO_EARLY) fence(a);
    if (how == NO_FENCE || how == SIGNAL || how == TOO_EARLY) {
        signal_counter(a, 1);
        wait_counter(b, 1, 1);
    }
    if (how == BARRIER || how == BARRIER_NO_FENCE) barrier(a), barrier(b);
    load(b, SM, 2), mark(b);
    fence(b);
    signal_counter(b, 2);
    wait_counter(a, 2, 1);
    finish(&t, 0, expected);
}

static void two_cores(void) {
    const char *race = "20001000: core 0 writes here layer 3, core 1 reads here layer 0; ";
    between_cores(NOTHING, race);
    between_cores(NO_FENCE, race);
    between_cores(BARRIER_NO_FENCE, race);
    between_cores(TOO_EARLY, race);
    between_cores(SIGNAL, "");
    between_cores(BARRIER, "");
}

/* A value is overwritten before its reader is done; or a byte beside the one that was read. */
static void overwriting(uint32_t address, int waits, const char *expected) {
    test t;
    open_test(&t);
    program *a = &t.core[0], *b = &t.core[1];
    load(b, SM, 1), mark(b);
    fence(b);
    signal_counter(b, 2);
    if (waits) wait_counter(a, 2, 1);
    store(a, address, 1, 0), mark(a);
    wait_counter(a, 2, 1);
    finish(&t, 0, expected);
}

static void bytes_of_words(void) {
    overwriting(SM + 1, 0, "20001001: core 0 writes here layer 0, core 1 reads here layer 0; ");
    overwriting(SM + 2, 0, "");
    overwriting(SM + 1, 1, "");
}

/* LM of core 0 by its own address and by that for all. */
static void aliases(void) {
    test t;
    open_test(&t);
    store(&t.core[0], XPU_LM_BASE + 64, 1, 2), mark(&t.core[0]);
    store(&t.core[1], LM0 + 64, 1, 2), mark(&t.core[1]);
    store(&t.core[1], XPU_LM_BASE + 68, 1, 2);
    store(&t.core[0], XPU_LM_BASE + 68, 1, 2);
    fence(&t.core[1]);
    signal_counter(&t.core[1], 2);
    wait_counter(&t.core[0], 2, 1);
    finish(&t, 0, "11000040: core 0 writes here layer 0, core 1 writes here layer 0; ");
}

/* Whole vectors: 64 bytes by core 0, 32 by core 1. */
static void vectors(void) {
    test t;
    open_test(&t);
    for (unsigned core = 0; core < CORES; core++) {
        program *p = &t.core[core];
        emit(p, 0xcd087057); /* vsetivli zero, 16, e32, m1, ta, ma */
        load_immediate(p, T0, SM + (core ? 56 : 0));
        emit(p, 0x0202e407 | (core ? 0 : 0x20)), mark(p); /* vle32.v or vse32.v v8, (t0) */
    }
    wait_counter(&t.core[0], 2, 1);
    fence(&t.core[1]);
    signal_counter(&t.core[1], 2);
    finish(&t, 0, "20001038: core 0 writes here layer 0, core 1 reads here layer 0; ");
}

/* Both cores add 1; core 0 waits for 1, then for 2. */
static void ambiguous_wait(void) {
    test t;
    open_test(&t);
    program *a = &t.core[0], *b = &t.core[1];
    signal_counter(a, 5), mark(a);
    wait_counter(a, 5, 1);
    signal_counter(b, 5), mark(b);
    wait_counter(a, 5, 2);
    finish(&t, 0, "counter 5 >= 1: core 0 writes here layer 0, core 1 writes here layer 0; ");
    open_test(&t);
    signal_counter(a, 5);
    signal_counter(b, 5);
    wait_counter(a, 5, 2);
    finish(&t, 0, "");
}

/* ---- descriptors ---- */

static void doorbells(void) {
    for (int fenced = 0; fenced < 2; fenced++) {
        test t;
        open_test(&t);
        program *a = &t.core[0];
        uint32_t list = add_copy(&t, SM, GM, 8, XPU_NO_COUNTER, 0, 4), value;
        memcpy(&value, host(&t.f, list + 16), 4);
        store(a, list + 16, value, 2), mark(a);
        if (fenced) fence(a);
        ring(a, XPU_ENGINE_DMA0, list, 1);
        if (fenced) wait_counter(a, 4, 1);
        store(a, list + 16, value, 2);
        if (!fenced) wait_counter(a, 4, 1);
        finish(&t, 0, fenced ? "" : "80010010: core 0 writes layer 0, engine 0 core 0 copy 0 reads the descriptor; ");
    }
}

/* A copy from GM to SM; core 0 reads the result, having waited for `value`. */
static void result_of_copy(uint32_t value, const char *expected) {
    test t;
    open_test(&t);
    program *a = &t.core[0], *b = &t.core[1];
    uint32_t list = add_copy(&t, SM, GM, 8, XPU_NO_COUNTER, 0, 4);
    add_copy(&t, SM + 8, GM + 8, 8, XPU_NO_COUNTER, 0, 4);
    ring(a, XPU_ENGINE_DMA0, list, 2);
    barrier(a), barrier(b);
    wait_counter(a, 4, value);
    load(a, SM + 12, 2), mark(a);
    wait_counter(a, 4, 2);
    finish(&t, 0, expected);
}

static void waits_of_cores(void) {
    const char *race = "2000100c: engine 0 core 0 copy 1 writes dst, core 0 reads here layer 0; ";
    result_of_copy(0, race);
    result_of_copy(1, race);
    result_of_copy(2, "");
}

/* A second copy reads what the first one writes: on `engine`, with wait 4 >= value; `nop`: a nop between has it. */
static void chain(unsigned engine, uint32_t value, int nop, const char *expected) {
    test t;
    open_test(&t);
    program *a = &t.core[0];
    uint32_t first = add_copy(&t, SM, GM, 16, XPU_NO_COUNTER, 0, 4), wait = value && !nop ? 4 : XPU_NO_COUNTER;
    if (nop) add_nop(&t, 4, value);
    uint32_t second = add_copy(&t, L3, SM + 4, 8, wait, value, 5);
    if (engine == XPU_ENGINE_DMA0) {
        ring(a, engine, first, nop ? 3 : 2);
    } else {
        ring(a, XPU_ENGINE_DMA0, first, 1);
        ring(a, engine, second, 1);
    }
    wait_counter(a, 5, 1);
    finish(&t, 0, expected);
}

static void queues(void) {
    chain(XPU_ENGINE_DMA0, 0, 0, "");
    chain(XPU_ENGINE_DMA0, 1, 0, "");
    chain(XPU_ENGINE_DMA0, 1, 1, "");
    chain(XPU_ENGINE_DMA1, 0, 0, "20001004: engine 0 core 0 copy 0 writes dst, engine 1 core 0 copy 1 reads src; ");
    chain(XPU_ENGINE_DMA1, 1, 0, "");
}

/* Writing where an earlier one of the queue reads or writes is in order; of another core's queue it is not. */
static void writes_in_order(void) {
    for (int other = 0; other < 2; other++) {
        test t;
        open_test(&t);
        uint32_t first = add_copy(&t, SM, GM, 16, XPU_NO_COUNTER, 0, 4);
        uint32_t second = add_copy(&t, SM + 8, L3, 16, XPU_NO_COUNTER, 0, other ? 5 : 4);
        if (other) {
            ring(&t.core[0], XPU_ENGINE_DMA0, first, 1);
            ring(&t.core[1], XPU_ENGINE_DMA0, second, 1);
            wait_counter(&t.core[0], 4, 1);
            wait_counter(&t.core[0], 5, 1);
        } else {
            ring(&t.core[0], XPU_ENGINE_DMA0, first, 2);
            wait_counter(&t.core[0], 4, 2);
        }
        finish(&t, 0, other ? "20001008: engine 0 core 0 copy 0 writes dst, engine 0 core 1 copy 1 writes dst; " : "");
    }
}

static uint32_t add_tensor(test *t, int drain, uint32_t signal) {
    uint32_t words[XPU_DESC_WORDS];
    xpu_desc_tensor d = {NO_WAITS,
                         ONE_TAP,
                         .signal = signal,
                         .signal_add = 1,
                         .drain = (uint32_t)drain,
                         .post_mode = XPU_POST_FLOAT,
                         .x = SM,
                         .w = SM + 0x100,
                         .y = SM + 0x200,
                         .params = GM,
                         .y_type = XPU_TYPE_F32,
                         .tile_rows = 1,
                         .tile_cols = 1,
                         .channels = 16,
                         .columns = 4,
                         .x_row_stride = 16,
                         .x_pixel_stride = 16,
                         .w_row_stride = 4,
                         .oh = 1,
                         .ow = 1,
                         .y_row_stride = 16,
                         .y_pixel_stride = 16};
    xpu_desc_tensor_pack(words, &d);
    return add_words(t, words);
}

static uint32_t add_post(test *t, uint32_t y, uint32_t x, uint32_t wait) {
    uint32_t words[XPU_DESC_WORDS];
    xpu_desc_post p = {.wait0 = wait,
                       .wait0_value = 1,
                       .wait1 = XPU_NO_COUNTER,
                       .signal = 4,
                       .signal_add = 1,
                       .post_mode = XPU_POST_FLOAT,
                       .x = x,
                       .y = y,
                       .params = GM,
                       .x_type = XPU_TYPE_F32,
                       .y_type = XPU_TYPE_F32,
                       .columns = 4,
                       .oh = 1,
                       .ow = 1,
                       .x_row_stride = 16,
                       .x_pixel_stride = 16,
                       .y_row_stride = 16,
                       .y_pixel_stride = 16};
    xpu_desc_post_pack(words, &p);
    return add_words(t, words);
}

/* A tensor descriptor, then a post descriptor that writes y and reads x. */
static void array_then_post(int drain, uint32_t y, uint32_t x, int nop, uint32_t wait, const char *expected) {
    test t;
    open_test(&t);
    uint32_t list = add_tensor(&t, drain, 5);
    if (nop) add_nop(&t, 5, 1);
    add_post(&t, y, x, wait);
    ring(&t.core[0], XPU_ENGINE_TENSOR, list, nop ? 3 : 2);
    wait_counter(&t.core[0], 4, 1);
    finish(&t, 0, expected);
}

/* In the tensor engine a later descriptor reads too early; kind post writes over what the array still reads. */
static void tensor_engine(void) {
    uint32_t none = XPU_NO_COUNTER;
    array_then_post(1, SM + 0x300, SM + 0x208, 0, none,
                    "20001208: engine 2 core 0 tensor 0 writes y, engine 2 core 0 post 1 reads x; ");
    array_then_post(1, SM + 0x300, SM + 0x208, 0, 5, "");
    array_then_post(1, SM + 0x300, SM + 0x208, 1, none, "");
    array_then_post(1, SM + 0x200, SM + 0x300, 0, none, "");
    array_then_post(0, SM, SM + 0x300, 0, none,
                    "20001000: engine 2 core 0 tensor 0 reads x, engine 2 core 0 post 1 writes y; ");
    array_then_post(0, SM, SM + 0x300, 0, 5, "");
    array_then_post(1, SM, SM + 0x300, 0, none, "");
}

/* A window over a tile of four rows in a ring of five, from row 2 on, while a row of the ring is written. */
static void ring_of_rows(uint32_t row, const char *expected) {
    test t;
    uint32_t words[XPU_DESC_WORDS];
    open_test(&t);
    xpu_desc_window d = {NO_WAITS, SMALL_WINDOW, .signal = 4, .signal_add = 1, .y_type = XPU_TYPE_F32};
    d.x = SM, d.w = SM + 0x400, d.y = SM + 0x800, d.params = GM, d.x_ring_rows = 5, d.x_ring_first = 2;
    d.y_pixel_stride = 32, d.y_row_stride = 128;
    xpu_desc_window_pack(words, &d);
    ring(&t.core[0], XPU_ENGINE_WINDOW, add_words(&t, words), 1);
    ring(&t.core[0], XPU_ENGINE_DMA0, add_copy(&t, SM + 32 * row, L3, 32, XPU_NO_COUNTER, 0, 5), 1);
    wait_counter(&t.core[0], 4, 1);
    wait_counter(&t.core[0], 5, 1);
    finish(&t, 0, expected);
}

static void window_engine(void) {
    ring_of_rows(1, "");
    ring_of_rows(0, "20001000: engine 0 core 0 copy 1 writes dst, engine 3 core 0 window 0 reads x; ");
    ring_of_rows(4, "20001080: engine 0 core 0 copy 1 writes dst, engine 3 core 0 window 0 reads x; ");
}

/* ---- the host ---- */

/* The output is stored by DMA; EXIT comes when counter 4 has reached `value`. */
static void exits(void) {
    for (uint32_t value = 0; value < 2; value++) {
        test t;
        open_test(&t);
        uint32_t list = add_copy(&t, GM, SM, 16, XPU_NO_COUNTER, 0, 4);
        ring(&t.core[0], XPU_ENGINE_DMA1, list, 1);
        wait_counter(&t.core[0], 4, value);
        finish(&t, 16, value ? "" : "80020000: engine 1 core 0 copy 0 writes dst, host reads; ");
    }
}

/* A ticket that comes true one store too early, while the host reads at each ticket. */
static void tickets(void) {
    for (uint32_t value = 1; value < 3; value++) {
        test t;
        xpurt_event event;
        uint8_t bytes[32];
        open_test(&t);
        program *a = &t.core[0];
        uint32_t list = add_copy(&t, GM, SM, 16, XPU_NO_COUNTER, 0, 4);
        add_copy(&t, GM + 16, SM, 16, XPU_NO_COUNTER, 0, 4);
        ring(a, XPU_ENGINE_DMA1, list, 2);
        barrier(a), barrier(&t.core[1]);
        set_register(a, XPU_REG_TICKET_COUNTER, 4);
        set_register(a, XPU_REG_TICKET_VALUE, value);
        set_register(a, XPU_REG_TICKET_LAYER, 1);
        wait_counter(a, 4, 2);
        start(&t);
        CU_ASSERT_EQUAL(xpu_func_driver.run(t.f.device, 100000, &event), 0);
        CU_ASSERT_EQUAL(event.kind, XPURT_EVENT_LAYER);
        CU_ASSERT_EQUAL(xpu_func_driver.read(t.f.device, GM, bytes, sizeof bytes), 0);
        CU_ASSERT_STRING_EQUAL(races(&t),
                               value == 2 ? "" : "80020010: engine 1 core 0 copy 1 writes dst, host reads; ");
        close_fixture(&t.f);
    }
}

/* The host reads at the ticket of a store, which core 1 waits for (or not) before it overwrites the result. */
static void overwritten_results(void) {
    for (int waits = 0; waits < 2; waits++) {
        test t;
        xpurt_event event;
        uint8_t bytes[16];
        open_test(&t);
        program *a = &t.core[0], *b = &t.core[1];
        ring(a, XPU_ENGINE_DMA1, add_copy(&t, GM, SM, 16, XPU_NO_COUNTER, 0, 4), 1);
        set_register(a, XPU_REG_TICKET_COUNTER, 4);
        set_register(a, XPU_REG_TICKET_VALUE, 1);
        set_register(a, XPU_REG_TICKET_LAYER, 7);
        wait_counter(a, 5, 1);
        if (waits) wait_counter(b, 4, 1);
        store(b, GM, 1, 2), mark(b);
        fence(b);
        signal_counter(b, 5);
        start(&t);
        CU_ASSERT_EQUAL(xpu_func_driver.run(t.f.device, 100000, &event), 0);
        CU_ASSERT_EQUAL(event.kind, XPURT_EVENT_LAYER);
        CU_ASSERT_EQUAL(xpu_func_driver.read(t.f.device, GM, bytes, sizeof bytes), 0);
        CU_ASSERT_EQUAL(xpu_func_driver.run(t.f.device, 100000, &event), 0);
        CU_ASSERT_EQUAL(event.kind, XPURT_EVENT_ENDED);
        CU_ASSERT_STRING_EQUAL(races(&t), waits ? ""
                                                : "80020000: engine 1 core 0 copy 0 writes dst, core 1 writes here "
                                                  "layer 0; 80020000: host reads, core 1 writes here layer 0; ");
        close_fixture(&t.f);
    }
}

/* In a host call the host acts for core 0. */
static void host_calls(void) {
    test t;
    xpurt_event event;
    uint32_t word = 1;
    open_test(&t);
    set_register(&t.core[0], XPU_REG_HOST_CALL, GM);
    load(&t.core[1], GM, 2), mark(&t.core[1]);
    start(&t);
    CU_ASSERT_EQUAL(xpu_func_driver.run(t.f.device, 100000, &event), 0);
    CU_ASSERT_EQUAL(event.kind, XPURT_EVENT_HOST_CALL);
    CU_ASSERT_EQUAL(xpu_func_driver.write(t.f.device, GM, &word, sizeof word), 0);
    CU_ASSERT_EQUAL(xpu_func_driver.answer(t.f.device), 0);
    CU_ASSERT_EQUAL(xpu_func_driver.run(t.f.device, 100000, &event), 0);
    CU_ASSERT_EQUAL(event.kind, XPURT_EVENT_ENDED);
    CU_ASSERT_STRING_EQUAL(races(&t), "80020000: host writes, core 1 reads here layer 0; ");
    close_fixture(&t.f);
}

/* Behind 65,535 tags begin again; a layer may be announced a little late. */
static void tags(void) {
    static const uint32_t cases[][3] = {{0, 0, 0},           {0, 65535, 65535},
                                        {40000, 3, 65539},   {65539, 65530, 65530},
                                        {65539, 300, 65836}, {131071, 0, 131072}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_EQUAL(xpu_sim_layer_of_tag(cases[i][0], cases[i][1]), cases[i][2]);
}

XPU_TEST_MAIN("race check", {"two cores", two_cores}, {"bytes of words", bytes_of_words}, {"aliases of LM", aliases},
              {"vectors", vectors}, {"ambiguous wait", ambiguous_wait}, {"doorbells", doorbells},
              {"waits of cores", waits_of_cores}, {"order of queues", queues}, {"writes in order", writes_in_order},
              {"tensor engine", tensor_engine}, {"window engine", window_engine}, {"exit", exits}, {"tickets", tickets},
              {"overwritten results", overwritten_results}, {"host calls", host_calls}, {"tags of many layers", tags})
