#include "xpu_runtime/program/record_behind.h"

#include <string.h>

enum { ENGINES = 4 };

/* What is being merged: positions in the order of the kernels, and in the new one. */
typedef struct {
    const xpu_descriptors *d;
    uint32_t *order, count; /* order: of descriptors so far */
    uint32_t next;          /* of the second product */
} merger;

/* ---- the order ---- */

static void take(merger *m, uint32_t item) {
    m->order[m->count++] = item;
}

/* What comes before all steps of the second product. */
static void take_loads(merger *m, const xpu_recorded_behind *c) {
    while (m->next < c->first + c->loads) take(m, m->next++);
}

/* A step of it, with the stores of its results. */
static void take_step(merger *m, const xpu_recorded_behind *c) {
    for (int32_t stores = 0; stores < c->column_tiles && m->next < m->d->count; m->next++) {
        stores += m->d->engines[m->next] == XPU_ENGINE_DMA1;
        take(m, m->next);
    }
}

/* A step of the product behind the windows that make its input, and one more, whose loads come before its own. */
static void set_order_of_windows(merger *m, const xpu_recorded_behind *c) {
    const int32_t steps = (c->windows.out_h + c->ring.step_rows - 1) / c->ring.step_rows;
    int32_t step = 0, windows = 0;
    for (uint32_t i = 0; i < c->first; i++) {
        take(m, i);
        if (m->d->engines[i] != XPU_ENGINE_WINDOW) continue;
        windows++;
        take_loads(m, c);
        for (; step < steps && xpu_tiling_min(step + 2, steps) <= windows; step++) take_step(m, c);
    }
    while (m->next < m->d->count) take(m, m->next++);
}

/* Loads of the second product come behind the first's first step, which waits for what had this place in SM. */
static void set_order(merger *m, const xpu_recorded_behind *c) {
    int32_t step = 0, products = 0;
    for (uint32_t i = 0; i < c->first; i++) {
        if (m->d->engines[i] == XPU_ENGINE_TENSOR) {
            if (products > 0) take_loads(m, c);
            while (m->next < m->d->count &&
                   xpu_tiling_before_step(&c->windows, &c->ring, c->pad_top, c->blocks, step) <= products) {
                take_loads(m, c);
                take_step(m, c);
                step++;
            }
            products++;
        }
        take(m, i);
    }
    while (m->next < m->d->count) take(m, m->next++);
}

/* ---- waits ---- */

/* A counter's value in the new order. */
static uint32_t renumbered(const uint32_t *places, uint32_t count, uint32_t base, uint32_t value) {
    const uint32_t at = value - base - 1;
    return at < count ? base + 1 + places[at] : value;
}

/* Waits for what an engine signals, each of whose descriptors adds 1. */
static void renumber(const merger *m, uint32_t engine, uint32_t counter, uint32_t base, xpu_arena *scratch) {
    const xpu_descriptors *d = m->d;
    uint32_t *rank = XPU_NEW_ARRAY(scratch, uint32_t, d->count), *places = XPU_NEW_ARRAY(scratch, uint32_t, d->count);
    uint32_t count = 0, place = 0;
    for (uint32_t i = 0; i < d->count; i++)
        if (d->engines[i] == engine) rank[i] = count++;
    for (uint32_t i = 0; i < m->count; i++)
        if (d->engines[m->order[i]] == engine) places[rank[m->order[i]]] = place++;
    for (uint32_t i = 0; i < d->count; i++) {
        uint32_t *words = d->words[i];
        if (xpu_desc_nop_get_wait0(words) == counter)
            xpu_desc_nop_set_wait0_value(words, renumbered(places, count, base, xpu_desc_nop_get_wait0_value(words)));
        if (xpu_desc_nop_get_wait1(words) == counter)
            xpu_desc_nop_set_wait1_value(words, renumbered(places, count, base, xpu_desc_nop_get_wait1_value(words)));
    }
}

/* ---- whether engines can go on ---- */

static int holds(uint32_t counter, uint32_t value, const uint32_t *reached) {
    return counter >= XPU_RECORDED_COUNTERS || (int32_t)(reached[counter] - value) >= 0;
}

/* Whether all descriptors run where each engine takes its own in order, one after the other. */
static int can_run(const xpu_descriptors *d, const uint32_t *signals) {
    uint32_t reached[XPU_RECORDED_COUNTERS], at[ENGINES] = {0}, left = d->count;
    memcpy(reached, signals, sizeof reached);
    for (int goes_on = 1; goes_on && left;) {
        goes_on = 0;
        for (uint32_t engine = 0; engine < ENGINES; engine++) {
            for (; at[engine] < d->count; at[engine]++) {
                const uint32_t *words = d->words[at[engine]];
                if (d->engines[at[engine]] != engine) continue;
                if (!holds(xpu_desc_nop_get_wait0(words), xpu_desc_nop_get_wait0_value(words), reached) ||
                    !holds(xpu_desc_nop_get_wait1(words), xpu_desc_nop_get_wait1_value(words), reached))
                    break;
                if (xpu_desc_nop_get_signal(words) < XPU_RECORDED_COUNTERS)
                    reached[xpu_desc_nop_get_signal(words)] += xpu_desc_nop_get_signal_add(words);
                goes_on = 1;
                left--;
            }
        }
    }
    return left == 0;
}

/* ---- all of it ---- */

static void put_in_order(const merger *m, xpu_descriptors *d, int32_t banks, xpu_arena *scratch) {
    uint32_t(*words)[XPU_DESC_WORDS] = xpu_alloc(scratch, (size_t)d->count * sizeof *words), bank = 0;
    uint8_t *engines = XPU_NEW_ARRAY(scratch, uint8_t, d->count);
    for (uint32_t i = 0; i < m->count; i++) {
        memcpy(words[i], d->words[m->order[i]], sizeof *words);
        engines[i] = d->engines[m->order[i]];
        if (engines[i] != XPU_ENGINE_TENSOR) continue;
        xpu_desc_tensor_set_bank(words[i], bank);
        if (xpu_desc_tensor_get_drain(words[i]) && ++bank >= (uint32_t)banks) bank = 0;
    }
    memcpy(d->words, words, d->count * sizeof *words);
    memcpy(d->engines, engines, d->count);
}

const char *xpu_merge_behind(const xpu_recorded_behind *chain, xpu_descriptors *d, const uint32_t *signals,
                             xpu_arena *scratch) {
    merger m = {.d = d, .order = XPU_NEW_ARRAY(scratch, uint32_t, d->count), .next = chain->first};
    if (chain->ring.rows)
        set_order(&m, chain);
    else
        set_order_of_windows(&m, chain);
    renumber(&m, XPU_ENGINE_DMA0, XPU_COUNTER_LOAD, signals[XPU_COUNTER_LOAD], scratch);
    renumber(&m, XPU_ENGINE_TENSOR, XPU_COUNTER_TENSOR, signals[XPU_COUNTER_TENSOR], scratch);
    put_in_order(&m, d, chain->banks, scratch);
    return can_run(d, signals) ? NULL : "its engines would wait for each other";
}
