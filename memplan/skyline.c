/*
 * An order by a skyline: time runs to the right, offsets upward, and the highest used byte at each step makes the
 * skyline. The next item is always the one that comes to stand lowest on it, of several the first by a fixed order.
 */
#include "memplan/internal.h"

#include <stdlib.h>
#include <string.h>

/* The skyline as a tree over the steps at which something begins: node i has the children 2i and 2i + 1. */
typedef struct {
    uint64_t *most;  /* of the node's range, unless it lies below a level node */
    uint8_t *level;  /* the whole range is as high as `most` */
    uint32_t leaves; /* a power of two */
} skyline;

static uint64_t height(const skyline *s, uint32_t node, uint32_t a, uint32_t b, uint32_t from, uint32_t to) {
    if ((from <= a && b <= to) || s->level[node]) return s->most[node];
    uint32_t middle = a + (b - a) / 2;
    uint64_t left = from < middle ? height(s, 2 * node, a, middle, from, to) : 0;
    uint64_t right = to > middle ? height(s, 2 * node + 1, middle, b, from, to) : 0;
    return left > right ? left : right;
}

static void raise(skyline *s, uint32_t node, uint32_t a, uint32_t b, uint32_t from, uint32_t to, uint64_t top) {
    if (from <= a && b <= to) {
        s->most[node] = top;
        s->level[node] = 1;
        return;
    }
    uint32_t left = 2 * node, right = left + 1, middle = a + (b - a) / 2;
    if (s->level[node]) {
        s->most[left] = s->most[right] = s->most[node];
        s->level[left] = s->level[right] = 1;
        s->level[node] = 0;
    }
    if (from < middle) raise(s, left, a, middle, from, to, top);
    if (to > middle) raise(s, right, middle, b, from, to, top);
    s->most[node] = s->most[left] > s->most[right] ? s->most[left] : s->most[right];
}

static int compare_steps(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* What waits: where it stood lowest when that was last looked at, and its rank. */
typedef struct {
    uint64_t floor;
    uint32_t rank;
} waiting;

static int is_before(const waiting *a, const waiting *b) {
    return a->floor != b->floor ? a->floor < b->floor : a->rank < b->rank;
}

/* Moves the first of a heap down to where it belongs. */
static void sift(waiting *heap, uint32_t count) {
    waiting first = heap[0];
    uint32_t i = 0;
    for (uint32_t child = 1; child < count; child = 2 * i + 1) {
        if (child + 1 < count && is_before(&heap[child + 1], &heap[child])) child++;
        if (!is_before(&heap[child], &first)) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = first;
}

static uint32_t begin_at(const uint32_t *steps, uint32_t count, uint64_t step) {
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

static uint64_t doublings(uint64_t number) {
    uint64_t count = 0;
    for (; number > 1; number /= 2) count++;
    return count;
}

/* The items of `order` by rank. What lives where about as many bytes do is equally urgent. */
static void sort_items(xpu_arena *arena, const xpu_memplan_item *items, const uint64_t *load, uint32_t count,
                       xpu_memplan_fill fill, uint32_t *order) {
    enum { FINE = 96, COARSE = 80 };
    xpu_memplan_sort_key *keys = XPU_NEW_ARRAY(arena, xpu_memplan_sort_key, count);
    uint64_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (load[order[i]] > most) most = load[order[i]];
    }
    for (uint32_t i = 0; i < count; i++) {
        const xpu_memplan_item *item = &items[order[i]];
        uint64_t length = xpu_memplan_live_steps(&item->life), bytes = item->bytes;
        uint64_t area = bytes > UINT64_MAX / length ? UINT64_MAX : bytes * length;
        uint64_t fine = load[order[i]] / (most / FINE + 1), coarse = load[order[i]] / (most / COARSE + 1);
        keys[i].index = order[i];
        switch (fill) {
        case XPU_MEMPLAN_FILL_LONG: memcpy(keys[i].keys, (uint64_t[]){fine, length, area}, sizeof keys[i].keys); break;
        case XPU_MEMPLAN_FILL_LONGISH:
            memcpy(keys[i].keys, (uint64_t[]){coarse, doublings(length), area}, sizeof keys[i].keys);
            break;
        case XPU_MEMPLAN_FILL_LARGE: memcpy(keys[i].keys, (uint64_t[]){fine, area, bytes}, sizeof keys[i].keys); break;
        default:
            memcpy(keys[i].keys, (uint64_t[]){UINT32_MAX - item->life.first, load[order[i]], area},
                   sizeof keys[i].keys);
        }
    }
    qsort(keys, count, sizeof *keys, xpu_memplan_compare_keys);
    for (uint32_t i = 0; i < count; i++) order[i] = keys[i].index;
}

/* Where items live, by rank: parts[at[i]] to parts[at[i + 1] - 1], the second point not included. */
typedef struct {
    uint32_t from, to;
} stretch;

typedef struct {
    stretch *parts;
    size_t *at;
} stretches;

/* The steps at which something begins are the leaves of the skyline, `*leaves` of them. */
static stretches find_stretches(xpu_arena *arena, const xpu_memplan_item *items, const uint32_t *order, uint32_t count,
                                uint32_t *leaves) {
    stretches s = {.at = XPU_NEW_ARRAY(arena, size_t, (size_t)count + 1)};
    for (uint32_t i = 0; i < count; i++) s.at[i + 1] = s.at[i] + items[order[i]].life.gap_count + 1;
    const size_t part_count = s.at[count];
    uint32_t *begins = XPU_NEW_ARRAY(arena, uint32_t, part_count), different = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (size_t k = s.at[i]; k < s.at[i + 1]; k++) {
            begins[k] = xpu_memplan_part(&items[order[i]].life, (uint32_t)(k - s.at[i])).first;
        }
    }
    qsort(begins, part_count, sizeof *begins, compare_steps);
    for (size_t i = 0; i < part_count; i++) {
        if (i == 0 || begins[i] != begins[different - 1]) begins[different++] = begins[i];
    }
    s.parts = XPU_NEW_ARRAY(arena, stretch, part_count);
    for (uint32_t i = 0; i < count; i++) {
        for (size_t k = s.at[i]; k < s.at[i + 1]; k++) {
            const xpu_memplan_steps part = xpu_memplan_part(&items[order[i]].life, (uint32_t)(k - s.at[i]));
            s.parts[k].from = begin_at(begins, different, part.first);
            s.parts[k].to = begin_at(begins, different, (uint64_t)part.last + 1);
        }
    }
    *leaves = different;
    return s;
}

uint64_t xpu_memplan_skyline_order(xpu_arena *arena, const xpu_memplan_item *items, const uint64_t *load,
                                   uint32_t count, xpu_memplan_fill fill, uint64_t start, uint32_t *order,
                                   uint64_t *offset) {
    if (count == 0) return 0;
    xpu_arena *work = xpu_arena_new(xpu_arena_mem(arena), "skyline");
    uint32_t different;
    sort_items(work, items, load, count, fill, order);
    uint32_t *ranked = xpu_copy(work, order, count * sizeof *order);
    const stretches lives = find_stretches(work, items, ranked, count, &different);
    skyline s = {.leaves = 1};
    while (s.leaves < different) s.leaves *= 2;
    s.most = XPU_NEW_ARRAY(work, uint64_t, 2 * (size_t)s.leaves);
    s.level = XPU_NEW_ARRAY(work, uint8_t, 2 * (size_t)s.leaves);
    waiting *heap = XPU_NEW_ARRAY(work, waiting, count);
    for (uint32_t i = 0; i < count; i++) heap[i] = (waiting){start, i};
    uint64_t steps = 0;
    for (uint32_t left = count; left > 0; steps++) {
        const uint32_t rank = heap[0].rank;
        const xpu_memplan_item *item = &items[ranked[rank]];
        uint64_t lowest = start;
        for (size_t k = lives.at[rank]; k < lives.at[rank + 1]; k++) {
            uint64_t top = height(&s, 1, 0, s.leaves, lives.parts[k].from, lives.parts[k].to);
            if (top > lowest) lowest = top;
        }
        uint64_t floor = xpu_memplan_align(lowest, item->alignment);
        if (floor == heap[0].floor) {
            order[count - left] = ranked[rank];
            offset[ranked[rank]] = floor;
            for (size_t k = lives.at[rank]; k < lives.at[rank + 1]; k++) {
                raise(&s, 1, 0, s.leaves, lives.parts[k].from, lives.parts[k].to, floor + item->bytes);
            }
            heap[0] = heap[--left];
        } else {
            heap[0].floor = floor;
        }
        sift(heap, left);
    }
    xpu_arena_free(work);
    return steps;
}
