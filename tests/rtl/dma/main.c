/*
 * The DMA engine's RTL against the functional engine and against a plain formula: lists of random descriptors under
 * random back-pressure; faults; quotients about k + 1/2 against divisions; then lists of several cores on two engines
 * behind the queues and registers, with waits and signals; cycles per 64 bytes, and host time per cycle beside the bare
 * array's. dma [lists [first seed]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "sim/func/driver.h"
#include "sim/func/engine.h"
#include "sim/func/func.h"
#include "sim/func/memory.h"
#include "sim/func/queues.h"
#include "tests/gen/small_chip.h"
#include "tests/rtl/dma/draw.h"
#include "tests/rtl/dma/plain.h"
#include "tests/rtl/dma/rtl.h"
#include "tests/rtl/bare/bare.h"

enum { LIST = 12, LIST_AT = 0x80080000, QUEUES = 2 * RTL_CORES, JOBS = 24, JOB_SPACE = 0x4000 };

typedef struct {
    xpurt_device *device;
    xpu_func *func;
    rtl *rtl;
    uint8_t *plain[WINDOWS]; /* of each window, with guards */
    uint64_t random;
    unsigned passed, failed;
} bench;

static const xpu_chip chip = {SMALL_CHIP,
                              .array_rows = 8,
                              .array_columns = 8,
                              .acc_banks = 2,
                              .acc_rows = 16,
                              .weight_rows = 1,
                              .post_lanes = 8,
                              .cores = RTL_CORES,
                              .lm_bytes = RTL_LM_BYTES,
                              .sm_bytes = RTL_SM_BYTES,
                              .l3_bytes = RTL_L3_BYTES,
                              .gm_bytes = RTL_GM_BYTES};

static uint8_t *host(void *context, uint32_t address) {
    return xpu_func_host(((const bench *)context)->func, address);
}

/* ---- Memory ---- */

static uint8_t *plain_at(void *context, uint32_t address) {
    const bench *b = context;
    for (unsigned i = 0; i < WINDOWS; i++)
        if (address - window_at[i] + GUARD < WINDOW_BYTES + 2 * GUARD)
            return b->plain[i] + (address - window_at[i] + GUARD);
    return host(context, address); /* indices and scales: nobody writes them */
}

static uint32_t guard_of(unsigned window) {
    return (window_at[window] & 0xffff) ? GUARD : 0; /* none before the start of a memory */
}

/* New contents for all windows, the same in the three memories. */
static void scribble(bench *b) {
    for (unsigned i = 0; i < WINDOWS; i++) {
        uint32_t first = window_at[i] - guard_of(i), bytes = WINDOW_BYTES + guard_of(i) + GUARD;
        for (uint32_t at = 0; at < bytes; at += 4) {
            uint32_t word = draw(&b->random, 2) ? draw_float(&b->random, 40.0f) : draw(&b->random, 1u << 31) * 3;
            memcpy(host(b, first + at), &word, 4);
        }
        memcpy(rtl_memory(b->rtl, first), host(b, first), bytes);
        memcpy(plain_at(b, first), host(b, first), bytes);
    }
}

/* Copies what generators wrote to the functional chip only. */
static void copy_extras(const bench *b) {
    for (unsigned i = 0; i < 3; i++)
        memcpy(rtl_memory(b->rtl, window_at[i] + WINDOW_BYTES + GUARD),
               host((void *)(uintptr_t)b, window_at[i] + WINDOW_BYTES + GUARD), EXTRAS * EXTRA_BYTES);
}

static int is_nan(uint32_t bits) {
    return (bits & 0x7fffffff) > 0x7f800000;
}

/* Words of the windows that differ between the RTL and the functional chip or the plain formula; NaNs may differ in
 * their bits, where the RTL has the canonical one. */
static unsigned differences(bench *b, int with_plain, uint32_t *where) {
    unsigned count = 0;
    for (unsigned i = 0; i < WINDOWS; i++) {
        uint32_t first = window_at[i] - guard_of(i), bytes = WINDOW_BYTES + guard_of(i) + GUARD;
        const uint8_t *r = rtl_memory(b->rtl, first), *f = host(b, first), *p = with_plain ? plain_at(b, first) : f;
        if (memcmp(r, f, bytes) == 0 && memcmp(r, p, bytes) == 0) continue;
        for (uint32_t at = 0; at < bytes; at += 4) {
            uint32_t rw, fw, pw;
            memcpy(&rw, r + at, 4), memcpy(&fw, f + at, 4), memcpy(&pw, p + at, 4);
            if ((rw == fw || (rw == 0x7fc00000 && is_nan(fw))) && (rw == pw || (rw == 0x7fc00000 && is_nan(pw))))
                continue;
            if (count++ == 0) *where = first + at;
        }
    }
    return count;
}

static const uint32_t memory_at[] = {XPU_GM_BASE, XPU_L3_BASE, XPU_SM_BASE};
static const uint32_t memory_bytes[] = {RTL_GM_BYTES, RTL_L3_BYTES, RTL_SM_BYTES};

static void copy_all(const bench *b) {
    for (unsigned i = 0; i < 3; i++)
        memcpy(rtl_memory(b->rtl, memory_at[i]), host((void *)(uintptr_t)b, memory_at[i]), memory_bytes[i]);
    for (uint32_t core = 0, at = XPU_LM_ALL_BASE; core < RTL_CORES; core++, at += XPU_LM_ALIAS_STRIDE)
        memcpy(rtl_memory(b->rtl, at), host((void *)(uintptr_t)b, at), RTL_LM_BYTES);
}

/* All of a chip's memory, now and then: nothing may be written outside of the windows. */
static int same_elsewhere(const bench *b) {
    for (unsigned i = 0; i < 3; i++)
        for (uint32_t at = 0; at < memory_bytes[i]; at += 64)
            if (memory_at[i] + at - window_at[i] >= WINDOW_BYTES &&
                memcmp(rtl_memory(b->rtl, memory_at[i] + at), host((void *)(uintptr_t)b, memory_at[i] + at), 64) != 0) {
                printf("0x%x differs\n", memory_at[i] + at);
                return 0;
            }
    return 1;
}

static void describe(const uint32_t *w, unsigned i) {
    static const char *const names[] = {"?", "nop", "copy", "fill", "gather"};
    printf("  %u: %s src %x dst %x types %x sizes %u %u %u %u src strides %d %d %d %d dst strides %d %d %d %d scale %x "
           "at %x index %x waits %x %u %u\n",
           i, names[(w[0] & 255) < 5 ? w[0] & 255 : 0], w[4], w[5], w[7], w[8], w[9], w[10], w[11], (int)w[12],
           (int)w[13], (int)w[14], (int)w[15], (int)w[16], (int)w[17], (int)w[18], (int)w[19], w[20], w[21], w[22],
           w[1], w[2], w[3]);
}

/* ---- The engine alone ---- */

static void func_reset(const bench *b) {
    memset(&b->func->fault, 0, sizeof b->func->fault);
    memset(b->func->queues, 0, sizeof b->func->queues);
    memset(b->func->next_queue, 0, sizeof b->func->next_queue);
    memset(b->func->events.counters, 0, sizeof b->func->events.counters);
}

/* Runs a list on the functional engine; returns how many descriptors it finished. */
static uint64_t func_run(bench *b, const uint32_t *words, unsigned count) {
    func_reset(b);
    memcpy(host(b, LIST_AT), words, (size_t)count * XPU_DESC_BYTES);
    memcpy(rtl_memory(b->rtl, LIST_AT), words, (size_t)count * XPU_DESC_BYTES);
    xpu_func_queue_push(b->func, XPU_ENGINE_DMA0, 0, LIST_AT, count);
    return xpu_func_engines_run(b->func);
}

/* A field or two of a valid descriptor get other values. */
static void spoil(bench *b, draw_descriptor *d) {
    static const uint32_t sizes[] = {0, 1, 2, 3, 0x80000000, 0xffffffff, 0x10000};
    uint32_t *w = d->words;
    for (unsigned i = 8; i < 12; i++)
        if (w[i] > 6) w[i] = 1 + draw(&b->random, 6);
    for (unsigned n = 1 + draw(&b->random, 2); n > 0; n--) switch (draw(&b->random, 9)) {
        case 0: w[4 + draw(&b->random, 2)] += draw(&b->random, 8); break;
        case 1: w[4 + draw(&b->random, 2)] ^= 1u << draw(&b->random, 31) << 1; break;
        case 2: w[6] |= 1u << draw(&b->random, 32); break;
        case 3: w[7] = (w[7] & ~255u) | draw(&b->random, 256); break;
        case 4: w[7] ^= 0x100u << draw(&b->random, 4); break;
        case 5: w[8 + draw(&b->random, 4)] = sizes[draw(&b->random, 7)]; break;
        case 6: w[12 + draw(&b->random, 8)] += 1u + draw(&b->random, 8); break;
        case 7: w[12 + draw(&b->random, 8)] ^= 1u << draw(&b->random, 31) << 1; break;
        default: w[21 + draw(&b->random, 2)] ^= 1u << draw(&b->random, 31); break;
        }
    for (unsigned i = 8; i < 12; i++) /* either few elements, or refused */
        if (w[i] >= 0x10000 && !w[i + 8]) w[i + 8] = 4;
    uint64_t elements = 1;
    for (unsigned i = 8; i < 12; i++) elements = elements * (w[i] < 0x10000 ? w[i] : 0x10000);
    if (elements > 4096)
        for (unsigned i = 8; i < 12; i++)
            if (w[i] == 0x10000) w[i] = 2;
}

/* Whether the boxes of a spoilt descriptor may overlap: then nobody says what it does. */
static int overlaps(const uint32_t *w) {
    int64_t first[2], last[2];
    for (unsigned side = 0; side < 2; side++) {
        first[side] = last[side] = w[4 + side];
        for (unsigned d = 0; d < 4; d++) {
            int64_t reach = ((int64_t)w[8 + d] - 1) * (int32_t)w[12 + 4 * side + d];
            *(reach < 0 ? &first[side] : &last[side]) += reach;
        }
        last[side] += 3;
    }
    return (w[0] & 255) == XPU_OPCODE_GATHER || (first[0] <= last[1] && first[1] <= last[0]);
}

static void report(const draw_descriptor *list, unsigned count, const char *what, uint32_t seed) {
    printf("seed %u: %s\n", seed, what);
    for (unsigned i = 0; i < count; i++) describe(list[i].words, i);
}

static void one_list(bench *b, uint32_t seed) {
    draw_descriptor list[LIST];
    uint32_t words[LIST * XPU_DESC_WORDS], where = 0;
    unsigned count = 1 + draw(&b->random, LIST), spoilt = draw(&b->random, 5) == 0;
    char text[256];
    scribble(b);
    for (unsigned i = 0; i < count; i++) {
        draw_one(&b->random, &list[i], i, i + 1 == count, host, b);
        if (spoilt && i + 1 == count) spoil(b, &list[i]);
        memcpy(words + (size_t)i * XPU_DESC_WORDS, list[i].words, XPU_DESC_BYTES);
    }
    copy_extras(b);
    uint64_t done = func_run(b, words, count);
    uint32_t timing = seed % 4 == 0 ? 0 : seed, latency = seed % 8 == 0 ? 100 : 2;
    rtl_result r = rtl_run(b->rtl, words, count, timing, latency);
    int cause = (int)b->func->fault.cause, unknown = cause || (spoilt && overlaps(list[count - 1].words));
    uint32_t address = (uint32_t)b->func->fault.address;
    if (!cause && !spoilt)
        for (unsigned i = 0; i < count; i++) plain_execute(list[i].words, plain_at, b);
    unsigned wrong = unknown ? 0 : differences(b, !spoilt, &where);
    int fault_differs = r.fault != cause || (cause && cause != XPU_FAULT_DESCRIPTOR && r.fault_address != address);
    if ((cause && !spoilt) || fault_differs || r.hung || r.unclean || r.done != done || wrong ||
        ((seed % 64 == 0 || spoilt) && !unknown && !same_elsewhere(b))) {
        snprintf(text, sizeof text,
                 "fault %d at 0x%x (expected %d at 0x%x), %s%s%u of %u done, %u words differ, the first at 0x%x",
                 r.fault, r.fault_address, cause, address, r.hung ? "hung, " : "", r.unclean ? "unclean, " : "", r.done,
                 (unsigned)done, wrong, where);
        report(list, count, text, seed);
        b->failed++;
    } else {
        b->passed++;
    }
    if (unknown) copy_all(b); /* a gather may have got further in one of them */
    func_reset(b);
}

/* The same list under twenty timings. */
static void timings(bench *b, uint32_t seed) {
    draw_descriptor list[LIST];
    uint32_t words[LIST * XPU_DESC_WORDS], where = 0;
    b->random = seed;
    for (unsigned i = 0; i < LIST; i++) {
        draw_one(&b->random, &list[i], i, i + 1 == LIST, host, b);
        memcpy(words + (size_t)i * XPU_DESC_WORDS, list[i].words, XPU_DESC_BYTES);
    }
    copy_extras(b);
    for (uint32_t timing = 0; timing < 20; timing++) {
        b->random = seed;
        scribble(b);
        func_run(b, words, LIST);
        rtl_result r = rtl_run(b->rtl, words, LIST, timing, 30);
        if (r.fault || r.hung || r.unclean || differences(b, 0, &where)) {
            report(list, LIST, "results depend on the timing", seed);
            b->failed++;
        } else {
            b->passed++;
        }
    }
}

/* ---- Quotients ---- */

enum { QUOTIENTS = 16384, QUOTIENTS_AT = 0x80020000, LEVELS_AT = 0x20010000 };

/* A number whose quotient by the scale is about k + 1/2, or any. */
static uint32_t draw_dividend(uint64_t *random, float scale) {
    uint32_t bits;
    if (draw(random, 8) == 0) return draw_float(random, 300.0f);
    float x = (float)(((double)draw(random, 300) + 0.5) * (double)scale);
    memcpy(&bits, &x, 4);
    return (bits + draw(random, 9) - 4) ^ draw(random, 2) << 31;
}

/* Copies that quantise, of 16384 numbers each and a scale of their own, against the division that they stand for. */
static void quotients(bench *b, unsigned count, uint32_t seed) {
    uint32_t words[XPU_DESC_WORDS];
    uint64_t random = seed, ties = 0;
    for (unsigned n = 0; n < count && b->failed < 3; n++) {
        xpu_desc_copy d = {
            .src = QUOTIENTS_AT, .dst = LEVELS_AT, .src_type = XPU_TYPE_F32, .dst_type = draw(&random, 2)};
        d.wait0 = d.wait1 = d.signal = XPU_NO_COUNTER;
        d.scale_mode = XPU_SCALE_DIVISOR, d.scale = draw_divisor(&random), d.zero = draw(&random, 256);
        d.size0 = d.size1 = d.size2 = 1, d.size3 = QUOTIENTS, d.src_stride3 = 4, d.dst_stride3 = 1;
        int zero = d.dst_type == XPU_TYPE_I8 ? (int8_t)d.zero : (int)d.zero, low = d.dst_type == XPU_TYPE_I8 ? -128 : 0;
        uint32_t *dividends = (void *)rtl_memory(b->rtl, d.src), wrong = 0;
        for (unsigned i = 0; i < QUOTIENTS; i++) dividends[i] = draw_dividend(&random, d.scale);
        memcpy(host(b, (uint32_t)d.src), dividends, 4 * (size_t)QUOTIENTS);
        xpu_desc_copy_pack(words, &d);
        func_run(b, words, 1);
        rtl_result r = rtl_run(b->rtl, words, 1, 0, 100);
        const uint8_t *rtl_levels = rtl_memory(b->rtl, (uint32_t)d.dst), *func_levels = host(b, (uint32_t)d.dst);
        for (unsigned i = 0; i < QUOTIENTS; i++) {
            float x;
            memcpy(&x, &dividends[i], 4);
            float quotient = x / d.scale;
            double level = nearbyint((double)quotient) + zero;
            int is_tie = fabsf(quotient) < 512 && fabsf(quotient - truncf(quotient)) == 0.5f;
            level = isnan(level) || level > low + 255 ? low + 255 : level < low ? low : level;
            ties += (unsigned)is_tie;
            if (rtl_levels[i] == (uint8_t)(int)level && func_levels[i] == (uint8_t)(int)level) continue;
            if (wrong++ == 0)
                printf("%a / %a + %d: %u on rtl, %u on func, expected %d\n", (double)x, (double)d.scale, zero,
                       rtl_levels[i], func_levels[i], (uint8_t)(int)level);
        }
        wrong || r.fault || r.hung ? b->failed++ : b->passed++;
    }
    printf("%u quotients, %llu of them k + 1/2\n", count * QUOTIENTS, (unsigned long long)ties);
    if (ties < count) b->failed++;
}

/* ---- Lists of several cores on two engines ---- */

typedef struct {
    draw_descriptor d;
    unsigned queue;   /* engine * RTL_CORES + core */
    uint32_t ordinal; /* of the queue's descriptors that signal, from 1 on */
} job;

/* Whether b must come after a. */
static int conflict(const job *a, const job *b) {
    for (unsigned i = 0; i < DRAW_RANGES; i++) {
        const draw_range *x = &a->d.ranges[DRAW_DST], *y = &b->d.ranges[i];
        if (x->first <= y->last && y->first <= x->last) return 1;
        x = &b->d.ranges[DRAW_DST], y = &a->d.ranges[i];
        if (x->first <= y->last && y->first <= x->last) return 1;
    }
    return 0;
}

/* The queue's descriptors, with nops for more than two waits. */
typedef struct {
    uint32_t words[JOBS * 5][XPU_DESC_WORDS];
    unsigned count;
} program;

static void add_job(program *p, const job *jobs, unsigned index) {
    uint32_t counter[QUEUES + 1], value[QUEUES + 1], n = 0, done = 0;
    const job *j = &jobs[index];
    for (unsigned q = 0; q < QUEUES; q++) {
        uint32_t last = 0;
        for (unsigned i = 0; i < index; i++)
            if (jobs[i].queue == q && q != j->queue && conflict(&jobs[i], j)) last = jobs[i].ordinal;
        if (last) counter[n] = 8 + q, value[n++] = last * (3 * q + 1);
    }
    for (;; done += 2) {
        uint32_t *w = p->words[p->count++], here = n - done < 2 ? n - done : 2;
        int last = n - done <= 2;
        memcpy(w, j->d.words, XPU_DESC_BYTES);
        if (!last) memset(w, 0, XPU_DESC_BYTES), w[0] = XPU_OPCODE_NOP | (j->d.words[0] & 0xffff0000);
        xpu_desc_nop_set_wait0(w, here > 0 ? counter[done] : XPU_NO_COUNTER);
        xpu_desc_nop_set_wait1(w, here > 1 ? counter[done + 1] : XPU_NO_COUNTER);
        xpu_desc_nop_set_wait0_value(w, here > 0 ? value[done] : 77);
        xpu_desc_nop_set_wait1_value(w, here > 1 ? value[done + 1] : 78);
        xpu_desc_nop_set_signal(w, last ? 8 + j->queue : XPU_NO_COUNTER);
        xpu_desc_nop_set_signal_add(w, last ? 3 * j->queue + 1 : 5);
        if (last) return;
    }
}

/* Cuts the programs into lists, in some order of the cores' doorbells, at addresses of any memory. */
static unsigned cut(bench *b, const program *programs, rtl_list *lists) {
    static const uint32_t spaces[] = {0x80040000, 0x40030000, 0x20020000};
    unsigned count = 0, at[QUEUES] = {0};
    uint32_t space[3] = {0};
    for (unsigned left = 1; left;) {
        left = 0;
        for (unsigned q = 0; q < QUEUES; q++) {
            unsigned rest = programs[q].count - at[q], n = 1 + draw(&b->random, 5), m = draw(&b->random, 3);
            if (!rest) continue;
            left = 1;
            if (n > rest) n = rest;
            space[m] += draw(&b->random, 2) ? 4 * draw(&b->random, 20) : 0;
            if (draw(&b->random, 2)) space[m] = (space[m] + 63) & ~63u;
            rtl_list *l = &lists[count++];
            *l = (rtl_list){q / RTL_CORES, q % RTL_CORES, spaces[m] + space[m], n};
            memcpy(host(b, l->address), programs[q].words[at[q]], (size_t)n * XPU_DESC_BYTES);
            memcpy(rtl_memory(b->rtl, l->address), programs[q].words[at[q]], (size_t)n * XPU_DESC_BYTES);
            space[m] += n * XPU_DESC_BYTES;
            at[q] += n;
        }
    }
    return count;
}

static void func_run_lists(const bench *b, const rtl_list *lists, unsigned count) {
    func_reset(b);
    unsigned next[RTL_CORES] = {0};
    for (int moved = 1; moved && !b->func->fault.cause;) {
        moved = 0;
        for (unsigned core = 0; core < RTL_CORES; core++) {
            unsigned *i = &next[core];
            while (*i < count && lists[*i].core != core) ++*i;
            if (*i < count && xpu_func_queue_push(b->func, lists[*i].engine, core, lists[*i].address, lists[*i].count))
                ++*i, moved = 1;
        }
        if (xpu_func_engines_run(b->func)) moved = 1;
    }
}

static void one_program(bench *b, uint32_t seed) {
    static program programs[QUEUES];
    static job jobs[JOBS];
    static rtl_list lists[QUEUES * JOBS * 5];
    unsigned count = 1 + draw(&b->random, JOBS), descriptors = 0, cores = 1 + draw(&b->random, RTL_CORES);
    uint32_t ordinals[QUEUES] = {0}, where = 0;
    scribble(b);
    for (unsigned q = 0; q < QUEUES; q++) programs[q].count = 0;
    for (unsigned i = 0; i < count; i++) {
        draw_one(&b->random, &jobs[i].d, i, 0, host, b);
        jobs[i].queue = draw(&b->random, 2) * RTL_CORES + draw(&b->random, cores);
        jobs[i].ordinal = ++ordinals[jobs[i].queue];
        add_job(&programs[jobs[i].queue], jobs, i);
    }
    copy_extras(b);
    for (unsigned q = 0; q < QUEUES; q++) descriptors += programs[q].count;
    unsigned n = cut(b, programs, lists);
    func_run_lists(b, lists, n);
    rtl_result r = rtl_run_lists(b->rtl, lists, n, seed % 4 ? seed : 0, seed % 8 ? 2 : 60);
    for (unsigned i = 0; i < count; i++) plain_execute(jobs[i].d.words, plain_at, b);
    unsigned wrong = differences(b, 1, &where), counters = 0;
    for (unsigned i = 0; i < XPU_COUNTERS; i++)
        if (rtl_counter(b->rtl, i) != b->func->events.counters[i]) counters++;
    if (r.fault || b->func->fault.cause || r.hung || r.unclean || wrong || counters || r.done != descriptors) {
        printf("seed %u: program: fault %d (expected %d), %s%s%u of %u done, %u counters and %u words differ, the "
               "first at 0x%x\n",
               seed, r.fault, (int)b->func->fault.cause, r.hung ? "hung, " : "", r.unclean ? "unclean, " : "", r.done,
               descriptors, counters, wrong, where);
        for (unsigned i = 0; i < count; i++) printf("queue %u ", jobs[i].queue), describe(jobs[i].d.words, i);
        b->failed++;
    } else {
        b->passed++;
    }
    func_reset(b);
}

/* Faults that the queues find, and those of the engine with its descriptor. */
static void list_faults(bench *b) {
    static const struct {
        const char *what;
        uint32_t address, word, value;
    } cases[] = {{"opcode 0", LIST_AT, 0, 0x00070000},
                 {"tensor on a DMA engine", LIST_AT, 0, 0x00070008},
                 {"unknown opcode", LIST_AT + 4, 0, 0x00070055},
                 {"wait0 64", LIST_AT, 1, 0xff40},
                 {"wait1 254", LIST_AT + 8, 1, 0xfffffeff},
                 {"signal 100", LIST_AT, 1, 0x0164ffff},
                 {"bad types", LIST_AT, 7, 0x55},
                 {"scale_mode 3 to int16", LIST_AT, 7, 0x324},
                 {"scale_mode 3 with scale 0", LIST_AT, 7, 0x314},
                 {"scale_mode 3 with equal types", LIST_AT, 7, 0x322},
                 {"misaligned", LIST_AT + 60, 4, 0x80001001},
                 {"outside", LIST_AT, 5, 0x30000000},
                 {"a list at nothing", 0x50000000, 0, 0},
                 {"a list that leaves GM", XPU_GM_BASE + RTL_GM_BYTES - 3 * 128 + 4, 0, 0},
                 {"a list that leaves LM", 0x11000000 + RTL_LM_BYTES - 2 * 128, 0, 0},
                 {"no fault", LIST_AT, 0, 0}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t words[3 * XPU_DESC_WORDS];
        xpu_desc_copy d = {.layer = 9, .wait0 = XPU_NO_COUNTER, .wait1 = XPU_NO_COUNTER, .signal = 3, .signal_add = 2};
        d.src = 0x80001000, d.dst = 0x20001000, d.src_type = d.dst_type = XPU_TYPE_I16;
        d.size0 = d.size1 = 1, d.size2 = 4, d.size3 = 100, d.src_stride2 = d.dst_stride2 = 256;
        d.src_stride3 = d.dst_stride3 = 2;
        for (unsigned k = 0; k < 3; k++) xpu_desc_copy_pack(words + 32 * (size_t)k, &d), d.dst += 4096, d.layer++;
        if (cases[i].word || cases[i].value) words[2 * 32 + cases[i].word] = cases[i].value;
        for (unsigned k = 0; k < sizeof words; k += 4)
            if (rtl_memory(b->rtl, cases[i].address + k)) {
                memcpy(rtl_memory(b->rtl, cases[i].address + k), (uint8_t *)words + k, 4);
                memcpy(host(b, cases[i].address + k), (uint8_t *)words + k, 4);
            }
        rtl_list list = {i & 1, 1, cases[i].address, 3};
        func_run_lists(b, &list, 1);
        rtl_result r = rtl_run_lists(b->rtl, &list, 1, i, 2);
        const xpurt_fault *f = &b->func->fault;
        if ((uint32_t)f->cause == (uint32_t)r.fault && (uint32_t)f->address == (f->cause ? r.fault_address : 0) &&
            (!f->cause || ((uint32_t)f->descriptor == r.fault_descriptor && f->layer == r.fault_layer)) && !r.hung &&
            !r.unclean && rtl_counter(b->rtl, 3) == b->func->events.counters[3]) {
            b->passed++;
        } else {
            printf("%s: fault %d at 0x%x of 0x%x layer %u counter %u, expected %d at 0x%x of 0x%x layer %u counter "
                   "%u%s\n",
                   cases[i].what, r.fault, r.fault_address, r.fault_descriptor, r.fault_layer, rtl_counter(b->rtl, 3),
                   (int)f->cause, (uint32_t)f->address, (uint32_t)f->descriptor, f->layer, b->func->events.counters[3],
                   r.hung ? ", hung" : "");
            b->failed++;
        }
        func_reset(b);
    }
}

/* ---- Cycles ---- */

typedef struct {
    const char *name;
    xpu_desc_gather d;
    uint32_t opcode, bytes; /* that are written */
    unsigned repeat;        /* descriptors in a row */
    uint32_t most;          /* cycles of each further one; 0: any number */
} measured;

#define BOX(a, b, c, d) .size0 = a, .size1 = b, .size2 = c, .size3 = d
#define FROM(address, t, a, b, c, d)                                                                                   \
    .src = address, .src_type = t, .src_stride0 = a, .src_stride1 = b, .src_stride2 = c, .src_stride3 = d
#define TO(address, t, a, b, c, d)                                                                                     \
    .dst = address, .dst_type = t, .dst_stride0 = a, .dst_stride1 = b, .dst_stride2 = c, .dst_stride3 = d

static const measured measurements[] = {
    {"dense 64 KiB, aligned",
     {BOX(1, 1, 1, 65536), FROM(0x80020000, 0, 0, 0, 0, 1), TO(0x20010000, 0, 0, 0, 0, 1)},
     XPU_OPCODE_COPY,
     65536,
     4},
    {"dense 64 KiB, 13 to 42",
     {BOX(1, 1, 1, 65536), FROM(0x8002000d, 0, 0, 0, 0, 1), TO(0x2001002a, 0, 0, 0, 0, 1)},
     XPU_OPCODE_COPY,
     65536,
     4},
    {"56 rows of 64 bytes",
     {BOX(1, 1, 56, 64), FROM(0x80020000, 0, 0, 0, 128, 1), TO(0x20010000, 0, 0, 0, 64, 1)},
     XPU_OPCODE_COPY,
     56 * 64,
     8},
    {"56 rows of 56 bytes to dense",
     {BOX(1, 1, 56, 56), FROM(0x80020000, 0, 0, 0, 64, 1), TO(0x20010000, 0, 0, 0, 56, 1)},
     XPU_OPCODE_COPY,
     56 * 56,
     8},
    {"float32 to int16, 16384 dense",
     {BOX(1, 1, 1, 16384), FROM(0x80020000, 4, 0, 0, 0, 4), TO(0x20010000, 2, 0, 0, 0, 2), .scale = 100.0f},
     XPU_OPCODE_COPY,
     65536,
     2},
    {"int8 to float32, 16384 dense",
     {BOX(1, 1, 1, 16384), FROM(0x80020000, 0, 0, 0, 0, 1), TO(0x20010000, 4, 0, 0, 0, 4), .scale = 0.1f},
     XPU_OPCODE_COPY,
     65536,
     2},
    {"transposing 64 x 64 of 4 bytes, into columns",
     {BOX(1, 1, 64, 64), FROM(0x80020000, 4, 0, 0, 256, 4), TO(0x20010000, 4, 0, 0, 4, 256)},
     XPU_OPCODE_COPY,
     16384,
     2},
    {"transposing 64 x 64 of 4 bytes, from columns",
     {BOX(1, 1, 64, 64), FROM(0x80020000, 4, 0, 0, 4, 256), TO(0x20010000, 4, 0, 0, 256, 4)},
     XPU_OPCODE_COPY,
     16384,
     2},
    {"weaving 3 planes of 64 x 64 float32",
     {BOX(1, 1, 4096, 3), FROM(0x80020000, 4, 0, 0, 4, 16384), TO(0x20010000, 4, 0, 0, 12, 4)},
     XPU_OPCODE_COPY,
     49152,
     2,
     790},
    {"weaving 3 planes of 64 x 64 bytes",
     {BOX(1, 1, 4096, 3), FROM(0x80020000, 1, 0, 0, 1, 4096), TO(0x20010000, 1, 0, 0, 3, 1)},
     XPU_OPCODE_COPY,
     12288,
     2,
     790},
    {"weaving 3 planes of 64 x 64, float32 to int16",
     {BOX(1, 1, 4096, 3), FROM(0x80020000, 4, 0, 0, 4, 16384), TO(0x20010000, 2, 0, 0, 6, 2), .scale = 100.0f},
     XPU_OPCODE_COPY,
     24576,
     2,
     790},
    {"float32 to uint8 by a divisor, 16384 dense",
     {BOX(1, 1, 1, 16384), FROM(0x80020000, 4, 0, 0, 0, 4), TO(0x20010000, 1, 0, 0, 0, 1), .scale = 0.02f,
      .scale_mode = XPU_SCALE_DIVISOR, .zero = 114},
     XPU_OPCODE_COPY,
     16384,
     2},
    {"weaving 3 planes of 64 x 64, to uint8",
     {BOX(1, 1, 4096, 3), FROM(0x80020000, 4, 0, 0, 4, 16384), TO(0x20010000, 1, 0, 0, 3, 1), .scale = 0.02f,
      .scale_mode = XPU_SCALE_DIVISOR, .zero = 114},
     XPU_OPCODE_COPY,
     12288,
     2,
     790},
    {"weaving 16 planes of 64 x 64 bytes",
     {BOX(1, 1, 4096, 16), FROM(0x80020000, 1, 0, 0, 1, 4096), TO(0x20010000, 1, 0, 0, 16, 1)},
     XPU_OPCODE_COPY,
     65536,
     2,
     4200},
    {"weaving 16 planes of 32 x 32 float32",
     {BOX(1, 1, 1024, 16), FROM(0x80020000, 4, 0, 0, 4, 4096), TO(0x20010000, 4, 0, 0, 64, 4)},
     XPU_OPCODE_COPY,
     65536,
     2,
     1060},
    {"weaving 48 planes of 32 x 32 bytes",
     {BOX(3, 1, 1024, 16), FROM(0x80020000, 1, 16384, 0, 1, 1024), TO(0x20010000, 1, 16, 0, 48, 1)},
     XPU_OPCODE_COPY,
     49152,
     2,
     3150},
    {"transposing 64 x 64 of 4 bytes, weaving",
     {BOX(4, 1, 64, 16), FROM(0x80020000, 4, 4096, 0, 4, 256), TO(0x20010000, 4, 64, 0, 256, 4)},
     XPU_OPCODE_COPY,
     16384,
     2,
     290},
    {"transposing 64 x 64 of 4 bytes, unweaving",
     {BOX(4, 1, 64, 16), FROM(0x80020000, 4, 64, 0, 256, 4), TO(0x20010000, 4, 4096, 0, 4, 256)},
     XPU_OPCODE_COPY,
     16384,
     2,
     290},
    {"transposing 128 x 128 of 2 bytes, unweaving",
     {BOX(8, 1, 128, 16), FROM(0x80020000, 2, 32, 0, 256, 2), TO(0x20010000, 2, 4096, 0, 2, 256)},
     XPU_OPCODE_COPY,
     32768,
     2,
     1060},
    {"unweaving 3 planes of 64 x 64 float32",
     {BOX(1, 1, 4096, 3), FROM(0x80020000, 4, 0, 0, 12, 4), TO(0x20010000, 4, 0, 0, 4, 16384)},
     XPU_OPCODE_COPY,
     49152,
     2,
     790},
    {"unweaving 3 planes of 64 x 64 bytes",
     {BOX(1, 1, 4096, 3), FROM(0x80020000, 1, 0, 0, 3, 1), TO(0x20010000, 1, 0, 0, 1, 4096)},
     XPU_OPCODE_COPY,
     12288,
     2,
     790},
    {"unweaving 16 planes of 64 x 64 bytes",
     {BOX(1, 1, 4096, 16), FROM(0x80020000, 1, 0, 0, 16, 1), TO(0x20010000, 1, 0, 0, 1, 4096)},
     XPU_OPCODE_COPY,
     65536,
     2,
     4200},
    {"unweaving 16 planes of 32 x 32 float32",
     {BOX(1, 1, 1024, 16), FROM(0x80020000, 4, 0, 0, 64, 4), TO(0x20010000, 4, 0, 0, 4, 4096)},
     XPU_OPCODE_COPY,
     65536,
     2,
     1060},
    {"unweaving 16 planes of 32 x 32, int8 to float32",
     {BOX(1, 1, 1024, 16), FROM(0x80020000, 0, 0, 0, 16, 1), TO(0x20010000, 4, 0, 0, 4, 4096), .scale = 0.1f},
     XPU_OPCODE_COPY,
     65536,
     2,
     1060},
    {"unweaving 16 planes of 7 x 7 float32",
     {BOX(1, 1, 49, 16), FROM(0x80020000, 4, 0, 0, 64, 4), TO(0x20010000, 4, 0, 0, 4, 196)},
     XPU_OPCODE_COPY,
     3136,
     2,
     140},
    {"gather of 256 rows of 256 bytes",
     {BOX(1, 1, 256, 64), FROM(0x80020000, 4, 0, 0, 256, 4), TO(0x20010000, 4, 0, 0, 256, 4), .gather_dim = 2,
      .index = LIST_AT},
     XPU_OPCODE_GATHER,
     65536,
     2},
    {"fill of 64 KiB", {BOX(1, 1, 1, 16384), TO(0x20010000, 4, 0, 0, 0, 4)}, XPU_OPCODE_FILL, 65536, 2},
};

static void pack_measured(const bench *b, const measured *m, uint32_t *words) {
    xpu_desc_gather d = m->d;
    d.wait0 = d.wait1 = d.signal = XPU_NO_COUNTER;
    for (unsigned k = 0; k < m->repeat; k++) {
        uint32_t *w = words + (size_t)k * XPU_DESC_WORDS;
        xpu_desc_gather_pack(w, &d);
        w[0] = (w[0] & ~255u) | m->opcode;
        if (m->opcode == XPU_OPCODE_FILL) w[20] = 0x12345678;
    }
    for (uint32_t k = 0; k < 256; k++) {
        uint32_t index = (k * 37 + 5) & 255;
        memcpy(rtl_memory(b->rtl, LIST_AT + 4 * k), &index, 4);
    }
}

/* Prints what each takes. Returns the least nanoseconds per cycle of the first: caches are warm, nobody else runs. */
static double run_measured(bench *b) {
    double ns = 0;
    for (size_t i = 0; i < sizeof measurements / sizeof *measurements; i++) {
        const measured *m = &measurements[i];
        uint32_t words[8 * XPU_DESC_WORDS];
        pack_measured(b, m, words);
        rtl_result r = rtl_run(b->rtl, words, m->repeat, 0, 100), one = rtl_run(b->rtl, words, 1, 0, 100);
        const double lines = (double)m->bytes / 64;
        const double each = m->repeat > 1 ? (double)(r.cycles - one.cycles) / (m->repeat - 1) : 0;
        printf("%-45s %8.2f cycles per 64 bytes (first %6llu cycles, each further %6.0f), busy %5.1f %%, %4.0f ns per "
               "cycle%s\n",
               m->name, (double)r.cycles / lines / m->repeat, (unsigned long long)one.cycles, each,
               100.0 * (double)r.states[XPU_LOST_BUSY] / (double)r.cycles, r.ns / (double)r.cycles,
               r.fault || r.hung ? "; fault" : "");
        if (m->most && each > m->most) printf("more than the %u cycles that it should take\n", m->most);
        if (r.fault || r.hung || (m->most && each > m->most)) b->failed++;
        for (unsigned k = 0; k < 40 && i == 0; k++) {
            rtl_result again = rtl_run(b->rtl, words, m->repeat, 0, 100);
            if (ns == 0 || again.ns / (double)again.cycles < ns) ns = again.ns / (double)again.cycles;
        }
    }
    return ns;
}

int main(int argc, char **argv) {
    unsigned lists = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 3000;
    uint32_t seed = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 1;
    xpu_diags diags;
    bench b = {0};
    xpu_diags_init(&diags);
    b.device = xpu_func_driver.create(&chip, &diags);
    if (!b.device) return 1;
    b.func = xpu_func_of(b.device);
    b.rtl = rtl_create();
    for (unsigned i = 0; i < WINDOWS; i++)
        if (!(b.plain[i] = calloc(1, WINDOW_BYTES + 2 * GUARD))) return 1;
    printf("%u lists and %u programs from seed %u\n", lists, lists / 4, seed);
    for (unsigned i = 0; i < lists && b.failed < 3; i++) {
        b.random = seed + i;
        one_list(&b, seed + i);
    }
    quotients(&b, lists / 8, seed);
    for (unsigned i = 0; i < 10 && b.failed < 3; i++) timings(&b, seed + i);
    for (unsigned i = 0; i < lists / 4 && b.failed < 3; i++) {
        b.random = seed + i;
        one_program(&b, seed + i);
    }
    list_faults(&b);
    double bare = bare_ns_per_cycle(20000);
    for (unsigned i = 0; i < 20; i++) {
        double again = bare_ns_per_cycle(10000);
        if (again < bare) bare = again;
    }
    double busy = run_measured(&b), idle = rtl_idle(b.rtl, 1000000);
    double all = rtl_idle_lists(b.rtl, 1000000), memories = rtl_memories(b.rtl, 300000);
    printf("host time per cycle: busy %.0f ns, of which the bench's memories %.0f ns; bare 32x32 array %.0f ns; ratio "
           "of the engine %.2f\n",
           busy, memories, bare, (busy - memories) / bare);
    printf("idle: %.1f ns, with queues, registers and two engines %.1f ns\n", idle, all);
    rtl_destroy(b.rtl);
    xpu_func_driver.destroy(b.device);
    for (unsigned i = 0; i < WINDOWS; i++) free(b.plain[i]);
    xpu_diags_clear(&diags);
    printf("%u passed, %u failed\n", b.passed, b.failed);
    return b.failed != 0;
}
