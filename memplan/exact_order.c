/* Prepares the exact search: sections of time, whose lives meet, what orders are made of. */
#include "memplan/exact.h"

#include <stdlib.h>
#include <string.h>

typedef enum {
    LOAD,     /* the most bytes that live at one time of its life */
    LOADS,    /* the bytes that live in each section of its life, added up */
    MEAN,     /* of those */
    BYTES,    /* its own */
    LENGTH,   /* of its life */
    SECTIONS, /* of its life */
    MEETS,    /* how many lives meet its own */
    BIRTH,    /* earliest first */
    DEATH,    /* latest first */
    AREA,     /* bytes times length */
    KEYS
} key;

/* What one order solves at once another does not solve in a day, and no order is the best of all. */
static const uint8_t orders[XPU_MEMPLAN_EXACT_ORDERS][3] = {
    {LOAD, LENGTH, DEATH}, {DEATH, LOAD, BYTES},  {DEATH, LOADS, BYTES},   {BIRTH, LOAD, AREA},
    {LOAD, MEETS, AREA},   {BIRTH, BYTES, LOAD},  {DEATH, SECTIONS, AREA}, {LENGTH, SECTIONS, AREA},
    {LOAD, LOADS, BYTES},  {LOAD, MEETS, LENGTH}, {LOAD, LENGTH, AREA},    {BIRTH, MEAN, BYTES},
};
_Static_assert((int)KEYS == XPU_MEMPLAN_EXACT_KEYS, "a key is counted once");

static uint64_t gcd(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static int compare_steps(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* The section that begins at a step, which one does. */
static uint32_t section_at(const uint64_t *steps, uint32_t count, uint64_t step) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (steps[middle] < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void make_sections(xpu_memplan_exact *x) {
    size_t parts = x->count, count = 0;
    for (uint32_t i = 0; i < x->count; i++) parts += x->items[x->id[i]].life.gap_count;
    uint64_t *steps = XPU_NEW_ARRAY(x->arena, uint64_t, 2 * parts + 1);
    uint32_t different = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        const xpu_memplan_life *life = &x->items[x->id[i]].life;
        for (uint32_t k = 0; k <= life->gap_count; k++) {
            const xpu_memplan_steps part = xpu_memplan_part(life, k);
            steps[count++] = part.first;
            steps[count++] = (uint64_t)part.last + 1;
        }
    }
    qsort(steps, count, sizeof *steps, compare_steps);
    for (size_t i = 0; i < count; i++) {
        if (different == 0 || steps[i] != steps[different - 1]) steps[different++] = steps[i];
    }
    x->sections = different ? different - 1 : 0;
    x->across = XPU_NEW_ARRAY(x->arena, uint32_t, different);
    x->stretches = XPU_NEW_ARRAY(x->arena, xpu_memplan_sections, parts);
    for (uint32_t i = 0, at = 0; i < x->count; i++) {
        const xpu_memplan_life *life = &x->items[x->id[i]].life;
        for (uint32_t k = 0; k <= life->gap_count; k++) {
            const xpu_memplan_steps part = xpu_memplan_part(life, k);
            x->stretches[at++] = (xpu_memplan_sections){section_at(steps, different, part.first),
                                                        section_at(steps, different, (uint64_t)part.last + 1)};
        }
        x->from[i] = x->stretches[x->stretch_at[i]].from;
        x->to[i] = x->stretches[at - 1].to;
        x->stretch_at[i + 1] = at;
    }
    x->have_gaps = parts > x->count;
}

static int compare_pins(const void *a, const void *b) {
    const xpu_memplan_pin *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static xpu_memplan_height in_units(const xpu_memplan_exact *x, uint64_t bytes) {
    return (xpu_memplan_height)(bytes / x->unit);
}

static void make_meetings(xpu_memplan_exact *x) {
    XPU_ARRAY(uint32_t) meets = {0};
    XPU_ARRAY(xpu_memplan_pin) pins = {0};
    for (uint32_t i = 0; i < x->count; i++) {
        const xpu_memplan_item *item = &x->items[x->id[i]];
        for (uint32_t k = 0; k < x->count; k++) {
            if (k != i && xpu_memplan_items_meet(item, &x->items[x->id[k]])) XPU_PUSH(x->arena, &meets, k);
        }
        x->meet_at[i + 1] = meets.count;
        for (uint32_t k = 0; k < x->all; k++) {
            const xpu_memplan_item *pin = &x->items[k];
            if (!pin->pinned || !pin->bytes || !xpu_memplan_items_meet(item, pin)) continue;
            const xpu_memplan_height from = in_units(x, pin->offset);
            XPU_PUSH(x->arena, &pins, ((xpu_memplan_pin){from, from + in_units(x, pin->bytes)}));
        }
        x->pin_at[i + 1] = pins.count;
        uint32_t own = pins.count - x->pin_at[i];
        if (own) qsort(pins.items + x->pin_at[i], own, sizeof *pins.items, compare_pins);
    }
    x->meets = meets.items;
    x->pins = pins.items;
}

static void make_keys(xpu_memplan_exact *x) {
    uint64_t *load = XPU_NEW_ARRAY(x->arena, uint64_t, x->sections);
    for (uint32_t i = 0; i < x->count; i++) {
        for (uint32_t part = x->stretch_at[i]; part < x->stretch_at[i + 1]; part++) {
            for (uint32_t s = x->stretches[part].from; s < x->stretches[part].to; s++) load[s] += (uint64_t)x->size[i];
        }
    }
    for (uint32_t s = 0; s < x->sections; s++)
        if ((xpu_memplan_height)load[s] > x->most) x->most = (xpu_memplan_height)load[s];
    for (uint32_t i = 0; i < x->count; i++) {
        const xpu_memplan_item *item = &x->items[x->id[i]];
        uint64_t *keys = x->keys[i], sections = 0;
        for (uint32_t part = x->stretch_at[i]; part < x->stretch_at[i + 1]; part++) {
            sections += x->stretches[part].to - x->stretches[part].from;
            for (uint32_t s = x->stretches[part].from; s < x->stretches[part].to; s++) {
                keys[LOADS] += load[s];
                if (load[s] > keys[LOAD]) keys[LOAD] = load[s];
            }
        }
        keys[BYTES] = item->bytes / x->unit;
        keys[LENGTH] = xpu_memplan_live_steps(&item->life);
        keys[SECTIONS] = sections;
        keys[MEETS] = x->meet_at[i + 1] - x->meet_at[i];
        keys[BIRTH] = UINT32_MAX - item->life.first;
        keys[DEATH] = item->life.last;
        keys[AREA] = keys[BYTES] * keys[LENGTH];
        keys[MEAN] = keys[LOADS] * 1024 / sections;
    }
}

xpu_memplan_height xpu_memplan_exact_rest(const xpu_memplan_exact *x, uint32_t item, xpu_memplan_height height) {
    uint64_t alignment = (uint64_t)x->alignment[item], size = (uint64_t)x->size[item];
    uint64_t at = xpu_memplan_align((uint64_t)height, alignment);
    for (uint32_t i = x->pin_at[item]; i < x->pin_at[item + 1]; i++) {
        const xpu_memplan_pin *pin = &x->pins[i];
        if ((uint64_t)pin->to <= at) continue;
        if ((uint64_t)pin->from >= at + size) break;
        at = xpu_memplan_align((uint64_t)pin->to, alignment);
    }
    return (xpu_memplan_height)at;
}

static int are_equal(const xpu_memplan_exact *x, uint32_t a, uint32_t b) {
    const xpu_memplan_item *p = &x->items[x->id[a]], *q = &x->items[x->id[b]];
    const uint32_t gaps = p->life.gap_count;
    return p->life.first == q->life.first && p->life.last == q->life.last && p->bytes == q->bytes &&
           p->alignment == q->alignment && gaps == q->life.gap_count &&
           (!gaps || memcmp(p->life.gaps, q->life.gaps, gaps * sizeof *p->life.gaps) == 0);
}

void xpu_memplan_exact_order(xpu_memplan_exact *x, uint32_t order) {
    xpu_arena *work = xpu_arena_new(xpu_arena_mem(x->arena), "order of a search");
    xpu_memplan_sort_key *sorted = XPU_NEW_ARRAY(work, xpu_memplan_sort_key, x->count);
    for (uint32_t i = 0; i < x->count; i++) {
        sorted[i].index = i;
        for (int k = 0; k < 3; k++) sorted[i].keys[k] = x->keys[i][orders[order][k]];
    }
    if (x->count) qsort(sorted, x->count, sizeof *sorted, xpu_memplan_compare_keys);
    for (uint32_t i = 0; i < x->count; i++) {
        uint32_t item = sorted[i].index;
        x->ranked[i] = item;
        x->rank[item] = i;
        x->twin[item] = item;
        for (uint32_t k = i; k > 0 && x->twin[item] == item; k--) {
            uint32_t other = sorted[k - 1].index;
            if (are_equal(x, item, other)) x->twin[item] = other;
        }
    }
    xpu_arena_free(work);
}

/* The greatest number that divides all offsets of placements in which nothing can be moved down. */
static uint64_t find_unit(const xpu_memplan_exact *x) {
    uint64_t unit = x->start;
    for (uint32_t i = 0; i < x->all; i++) {
        const xpu_memplan_item *item = &x->items[i];
        unit = gcd(unit, item->bytes);
        if (item->pinned && item->bytes) unit = gcd(unit, item->offset);
    }
    for (uint32_t i = 0; i < x->count; i++) {
        uint64_t alignment = x->items[x->id[i]].alignment;
        if (unit % alignment) unit = gcd(unit, alignment);
    }
    return unit ? unit : 1;
}

xpu_memplan_exact *xpu_memplan_exact_prepare(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count,
                                             uint64_t start, uint64_t end) {
    uint32_t placed = 0;
    for (uint32_t i = 0; i < count; i++) placed += items[i].bytes && !items[i].pinned;
    if (placed == 0 || placed > XPU_MEMPLAN_EXACT_MOST || count > 2 * XPU_MEMPLAN_EXACT_MOST) return NULL;
    xpu_memplan_exact *x = XPU_NEW(arena, xpu_memplan_exact);
    *x = (xpu_memplan_exact){.arena = arena, .items = items, .all = count, .start = start, .level_end = end};
    x->grid = xpu_memplan_grid(items, count);
    x->id = XPU_NEW_ARRAY(arena, uint32_t, placed + 1);
    x->size = XPU_NEW_ARRAY(arena, xpu_memplan_height, placed + 1);
    x->alignment = XPU_NEW_ARRAY(arena, xpu_memplan_height, placed + 1);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t pin_end = items[i].offset + items[i].bytes;
        if (items[i].pinned && items[i].bytes && pin_end > x->pinned_end) x->pinned_end = pin_end;
        if (!items[i].bytes || items[i].pinned) continue;
        x->id[x->count++] = i;
    }
    x->unit = find_unit(x);
    for (uint32_t i = 0; i < x->count; i++) {
        const xpu_memplan_item *item = &items[x->id[i]];
        x->size[i] = in_units(x, xpu_memplan_align(item->bytes, x->grid));
        x->alignment[i] = item->alignment > x->unit ? in_units(x, item->alignment) : 1;
    }
    x->from = XPU_NEW_ARRAY(arena, uint32_t, placed + 1);
    x->to = XPU_NEW_ARRAY(arena, uint32_t, placed + 1);
    x->stretch_at = XPU_NEW_ARRAY(arena, uint32_t, placed + 1);
    x->meet_at = XPU_NEW_ARRAY(arena, uint32_t, placed + 1);
    x->pin_at = XPU_NEW_ARRAY(arena, uint32_t, placed + 1);
    x->keys = (uint64_t(*)[XPU_MEMPLAN_EXACT_KEYS])XPU_NEW_ARRAY(arena, uint64_t,
                                                                 (size_t)XPU_MEMPLAN_EXACT_KEYS *(placed + 1));
    x->rank = XPU_NEW_ARRAY(arena, uint32_t, placed + 1);
    x->ranked = XPU_NEW_ARRAY(arena, uint32_t, placed + 1);
    x->twin = XPU_NEW_ARRAY(arena, uint32_t, placed + 1);
    make_sections(x);
    make_meetings(x);
    make_keys(x);
    xpu_memplan_exact_stack_init(x);
    return x;
}
