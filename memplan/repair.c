/*
 * A lower peak for more items than the exact search takes. What reaches above the peak that is wanted stands in few
 * places of time: around each of them, some items are placed anew by the exact search between the others, which stay.
 * First those that reach highest there, however long they live; where that does not help, those that live within a
 * window of time.
 */
#include "memplan/exact.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_FREE = 48,
    FIRST_HIGH = 12,
    MOST_FREE = 384,
    MOST_GIVEN_UP = 8,
    WAYS = 6 * XPU_MEMPLAN_EXACT_STYLES,
    WINDOW_SHARE = 16
};

typedef struct {
    uint64_t end;
    uint32_t index;
} height;

typedef struct {
    const xpu_memplan_item *items;
    uint32_t count;
    uint64_t start, *offset;
    uint64_t steps, step_limit;
    const xpu_arena *arena; /* whose caller may want to stop */
    xpu_memplan_item *near; /* items of a window: those that are free, then those that stay */
    uint32_t *number;       /* which ones */
    uint64_t *found;
    height *heights;  /* of the items of a window */
    uint8_t *is_free; /* of all items */
} repair;

static int stands(const repair *r, uint32_t i) {
    return r->offset[i] != UINT64_MAX && r->items[i].bytes;
}

/* The item that reaches highest, above `end`; `count` where none does. */
static uint32_t highest(const repair *r, uint64_t end) {
    uint32_t highest = r->count;
    for (uint32_t i = 0; i < r->count; i++) {
        if (!stands(r, i) || r->items[i].pinned || r->offset[i] + r->items[i].bytes <= end) continue;
        end = r->offset[i] + r->items[i].bytes;
        highest = i;
    }
    return highest;
}

/* Collects the items of a window. Returns how many there are, `*count` of them free; 0: they are too many. */
static uint32_t collect(repair *r, uint32_t first, uint32_t last, uint32_t *free_count) {
    uint32_t count = 0;
    for (int stay = 0; stay < 2; stay++) {
        for (uint32_t i = 0; i < r->count; i++) {
            const xpu_memplan_item *item = &r->items[i];
            if (item->life.first > last || item->life.last < first || !stands(r, i)) continue;
            int within = item->life.first >= first && item->life.last <= last && !item->pinned;
            if (within == stay) continue;
            if (count == (stay ? 2 * XPU_MEMPLAN_EXACT_MOST : MOST_FREE)) return 0;
            r->near[count] = *item;
            r->near[count].pinned = stay;
            r->near[count].offset = r->offset[i];
            r->number[count++] = i;
        }
        if (!stay) *free_count = count;
    }
    r->steps += 2 * (uint64_t)r->count / 8;
    return count;
}

static int by_height(const void *a, const void *b) {
    const height *x = a, *y = b;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Collects the `most` items of a window of time that reach highest, which are free, and all whose lives meet theirs. */
static uint32_t collect_highest(repair *r, uint32_t first, uint32_t last, uint32_t most, uint32_t *free_count) {
    uint32_t count = 0, found = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const xpu_memplan_item *item = &r->items[i];
        if (item->life.first > last || item->life.last < first || !stands(r, i) || item->pinned) continue;
        r->heights[found++] = (height){r->offset[i] + item->bytes, i};
    }
    if (found) qsort(r->heights, found, sizeof *r->heights, by_height);
    if (found > most) found = most;
    for (uint32_t i = 0; i < found; i++) {
        const xpu_memplan_item *item = &r->items[r->heights[i].index];
        if (item->life.first < first) first = item->life.first;
        if (item->life.last > last) last = item->life.last;
        r->is_free[r->heights[i].index] = 1;
    }
    for (int stay = 0; stay < 2; stay++) {
        for (uint32_t i = 0; i < r->count && count < XPU_MEMPLAN_EXACT_MOST; i++) {
            const xpu_memplan_item *item = &r->items[i];
            if (r->is_free[i] == stay || item->life.first > last || item->life.last < first || !stands(r, i)) continue;
            r->near[count] = *item;
            r->near[count].pinned = stay;
            r->near[count].offset = r->offset[i];
            r->number[count++] = i;
        }
    }
    for (uint32_t i = 0; i < found; i++) r->is_free[r->heights[i].index] = 0;
    *free_count = found;
    r->steps += 3 * (uint64_t)r->count / 8;
    return count < XPU_MEMPLAN_EXACT_MOST ? count : 0;
}

/* Looks for places below `end` for what is free in a window. */
static int place_window(repair *r, uint32_t count, uint32_t free_count, uint64_t end) {
    int fits = 0;
    xpu_arena *work = xpu_arena_new(xpu_arena_mem(r->arena), "window of a memory plan");
    for (uint32_t i = free_count; i < count; i++) { /* another window's */
        uint64_t room = end > r->near[i].offset ? end - r->near[i].offset : 0;
        if (r->near[i].bytes > room) r->near[i].bytes = room;
    }
    xpu_memplan_exact *exact = xpu_memplan_exact_new(work, r->near, count, r->start, UINT64_MAX);
    if (exact) {
        exact->step_limit = r->step_limit > r->steps ? (r->step_limit - r->steps) / WINDOW_SHARE : 0;
        for (uint32_t way = 0; way < WAYS && !fits; way += XPU_MEMPLAN_EXACT_STYLES) {
            uint64_t patience = 50 + free_count + free_count / 2;
            xpu_memplan_verdict verdict = xpu_memplan_exact_try(exact, end, way, patience, r->found);
            fits = verdict == XPU_MEMPLAN_FITS;
            if (verdict == XPU_MEMPLAN_NEVER_FITS) break;
        }
        r->steps += exact->steps + (uint64_t)count * free_count;
    }
    for (uint32_t i = 0; i < free_count && fits; i++) r->offset[r->number[i]] = r->found[i];
    xpu_arena_free(work);
    return fits;
}

static int is_over(const repair *r) {
    return r->steps > r->step_limit || xpu_stopped(r->arena);
}

/* Places the items that reach highest during an item's life anew, more and more of them. */
static int mend_top(repair *r, uint32_t item, uint64_t end) {
    const xpu_memplan_item *high = &r->items[item];
    for (uint32_t most = FIRST_HIGH; most <= MOST_FREE && !is_over(r); most += most / 2) {
        uint32_t free_count, count = collect_highest(r, high->life.first, high->life.last, most, &free_count);
        if (!count || free_count < most) break;
        if (place_window(r, count, free_count, end)) return 1;
    }
    return 0;
}

/* Places what is around an item anew, in wider and wider windows. */
static int mend(repair *r, uint32_t item, uint64_t end) {
    if (mend_top(r, item, end)) return 1;
    uint32_t least = FIRST_FREE, free_count = 0;
    const xpu_memplan_item *high = &r->items[item];
    for (uint64_t margin = 0; !is_over(r); margin = 2 * margin + 1) {
        uint32_t first = high->life.first > margin ? (uint32_t)(high->life.first - margin) : 0;
        uint64_t last = high->life.last + margin < UINT32_MAX ? high->life.last + margin : UINT32_MAX;
        uint32_t before = free_count, count = collect(r, first, (uint32_t)last, &free_count);
        if (!count || margin > UINT32_MAX) return 0;
        if (free_count < least || free_count == before) continue;
        if (place_window(r, count, free_count, end)) return 1;
        least = 2 * free_count;
    }
    return 0;
}

void xpu_memplan_repair(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count, uint64_t start, uint64_t bound,
                        uint64_t budget, uint64_t *steps, uint64_t *offset) {
    repair r = {.items = items, .count = count, .start = start, .offset = offset, .step_limit = budget, .arena = arena};
    r.near = XPU_NEW_ARRAY(arena, xpu_memplan_item, 2 * XPU_MEMPLAN_EXACT_MOST);
    r.number = XPU_NEW_ARRAY(arena, uint32_t, 2 * XPU_MEMPLAN_EXACT_MOST);
    r.found = XPU_NEW_ARRAY(arena, uint64_t, 2 * XPU_MEMPLAN_EXACT_MOST);
    r.heights = XPU_NEW_ARRAY(arena, height, count);
    r.is_free = XPU_NEW_ARRAY(arena, uint8_t, count);
    uint64_t below = start + bound;
    uint32_t item = highest(&r, below);
    for (uint32_t given_up = 0; item < count && given_up < MOST_GIVEN_UP && !is_over(&r);) {
        uint64_t peak = offset[item] + items[item].bytes;
        uint64_t wanted = given_up ? below + (peak - below) / 2 : below;
        uint32_t above = item;
        while (above < count && mend(&r, above, wanted)) above = highest(&r, wanted);
        if (above < count) {
            below = wanted;
            given_up++;
        }
        item = highest(&r, below);
    }
    *steps += r.steps;
}
