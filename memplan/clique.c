/*
 * A bound of the peak for lives with gaps. Items of which each two meet never share bytes, so together they are a
 * bound. Lives without gaps that meet each other all live at one step, which the load counts; three with gaps may meet
 * at three different steps. The heaviest such set is looked for from the last item to the first: the best among those
 * behind an item bounds what they can add to it.
 */
#include "memplan/internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 1024, MOST_STEPS = 1 << 19 };

typedef struct {
    uint64_t *bytes, *best_behind; /* per vertex; the latter: of sets from it on */
    uint64_t *meets;               /* a row of bits per vertex */
    uint32_t words, depth, steps;
    uint32_t *chosen, *best_chosen, best_count;
    uint64_t best;
    xpu_arena *arena;
} clique;

static int meet(const clique *c, uint32_t a, uint32_t b) {
    return c->meets[(size_t)a * c->words + b / 64] >> b % 64 & 1;
}

/* Adds vertices of a list, which is in order, to what is chosen and weighs `weight`. */
static void expand(clique *c, const uint32_t *list, uint32_t count, uint64_t weight) {
    uint64_t left = 0;
    if (weight > c->best) {
        c->best = weight;
        c->best_count = c->depth;
        memcpy(c->best_chosen, c->chosen, c->depth * sizeof *c->chosen);
    }
    for (uint32_t i = 0; i < count; i++) left += c->bytes[list[i]];
    uint32_t *rest = count ? XPU_NEW_ARRAY(c->arena, uint32_t, count) : NULL;
    for (uint32_t i = 0; i < count && c->steps < MOST_STEPS; i++) {
        if (weight + left <= c->best || weight + c->best_behind[list[i]] <= c->best) break;
        uint32_t kept = 0;
        for (uint32_t k = i + 1; k < count; k++) {
            if (meet(c, list[i], list[k])) rest[kept++] = list[k];
        }
        c->steps += count - i;
        c->chosen[c->depth++] = list[i];
        expand(c, rest, kept, weight + c->bytes[list[i]]);
        c->depth--;
        left -= c->bytes[list[i]];
    }
}

/* By the step at which they begin, so that those behind an item that meet it are few. */
static uint32_t *sort_vertices(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count, uint32_t *vertices) {
    xpu_memplan_sort_key *keys = XPU_NEW_ARRAY(arena, xpu_memplan_sort_key, count);
    uint32_t *sorted = XPU_NEW_ARRAY(arena, uint32_t, count);
    *vertices = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].bytes)
            keys[(*vertices)++] = (xpu_memplan_sort_key){{UINT32_MAX - items[i].life.first, items[i].bytes, 0}, i};
    }
    if (*vertices) qsort(keys, *vertices, sizeof *keys, xpu_memplan_compare_keys);
    for (uint32_t i = 0; i < *vertices; i++) sorted[i] = keys[i].index;
    return sorted;
}

/* Where a part of a life begins, and behind its end. */
typedef struct {
    uint64_t step;
    uint32_t vertex;
    int begins;
} event;

static int compare_events(const void *a, const void *b) {
    const event *x = a, *y = b;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    return x->begins != y->begins ? x->begins - y->begins : x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

/* Who meets whom: with each part that begins, those that live then; n log n in all parts, not in pairs of them. */
static void find_meetings(clique *c, xpu_arena *arena, const xpu_memplan_item *items, const uint32_t *at, uint32_t n) {
    size_t parts = 0, count = 0;
    for (uint32_t i = 0; i < n; i++) parts += items[at[i]].life.gap_count + (size_t)1;
    event *events = XPU_NEW_ARRAY(arena, event, 2 * parts);
    uint64_t *live = XPU_NEW_ARRAY(arena, uint64_t, c->words + 1);
    for (uint32_t i = 0; i < n; i++) {
        const xpu_memplan_life *life = &items[at[i]].life;
        for (uint32_t k = 0; k <= life->gap_count; k++) {
            const xpu_memplan_steps part = xpu_memplan_part(life, k);
            events[count++] = (event){part.first, i, 1};
            events[count++] = (event){(uint64_t)part.last + 1, i, 0};
        }
    }
    if (count) qsort(events, count, sizeof *events, compare_events);
    for (size_t e = 0; e < count; e++) {
        const uint32_t i = events[e].vertex;
        live[i / 64] ^= UINT64_C(1) << i % 64;
        for (uint32_t w = 0; events[e].begins && w < c->words; w++) c->meets[(size_t)i * c->words + w] |= live[w];
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < n; k++)
            if (meet(c, i, k)) c->meets[(size_t)k * c->words + i / 64] |= UINT64_C(1) << i % 64;
    }
}

uint64_t xpu_memplan_clique(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count, uint64_t start,
                            uint64_t grid) {
    uint32_t n = 0;
    if (count > MOST_ITEMS) return 0;
    xpu_arena *work = xpu_arena_new(xpu_arena_mem(arena), "bound of lives with gaps");
    const uint32_t *at = sort_vertices(work, items, count, &n);
    clique c = {.bytes = XPU_NEW_ARRAY(work, uint64_t, n + 1),
                .best_behind = XPU_NEW_ARRAY(work, uint64_t, n + 1),
                .words = (n + 63) / 64,
                .chosen = XPU_NEW_ARRAY(work, uint32_t, n + 1),
                .best_chosen = XPU_NEW_ARRAY(work, uint32_t, n + 1)};
    const size_t bits = (size_t)n * c.words;
    c.meets = XPU_NEW_ARRAY(work, uint64_t, bits + 1);
    uint32_t *list = XPU_NEW_ARRAY(work, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const xpu_memplan_item *item = &items[at[i]];
        uint64_t end = item->offset + item->bytes;
        c.bytes[i] = !item->pinned || item->offset >= start ? item->bytes : end > start ? end - start : 0;
    }
    find_meetings(&c, work, items, at, n);
    for (uint32_t i = n; i-- > 0 && c.steps < MOST_STEPS;) {
        uint32_t behind = 0;
        for (uint32_t k = i + 1; k < n; k++) {
            if (meet(&c, i, k)) list[behind++] = k;
        }
        c.arena = xpu_arena_new(xpu_arena_mem(arena), "sets of lives that meet");
        c.chosen[0] = i;
        c.depth = 1;
        expand(&c, list, behind, c.bytes[i]);
        c.best_behind[i] = c.best;
        xpu_arena_free(c.arena);
    }
    uint64_t whole = xpu_memplan_align(start, grid) - start, padding = 0; /* as in xpu_memplan_bound */
    int stand = 0;                                                        /* some that are not pinned */
    for (uint32_t i = 0; i < c.best_count; i++) {
        const xpu_memplan_item *item = &items[at[c.best_chosen[i]]];
        const uint64_t size = item->pinned ? 0 : xpu_memplan_align(item->bytes, grid);
        whole += size;
        stand |= size > 0;
        if (size && size - item->bytes > padding) padding = size - item->bytes;
    }
    if (!stand) whole = padding = 0;
    uint64_t best = c.best > whole - padding ? c.best : whole - padding;
    xpu_arena_free(work);
    return best;
}
