/* Bytes over time: the load of a level, what fits under its capacity, and the holes that a plan leaves. */
#include "memplan/internal.h"

#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

/* The bytes of an item above `start`. */
static uint64_t bytes_above(const xpu_memplan_item *item, uint64_t start) {
    if (!item->pinned || item->offset >= start) return item->bytes;
    uint64_t end = item->offset + item->bytes;
    return end > start ? end - start : 0;
}

typedef struct {
    uint64_t step, plus, minus;
} event;

static int compare_events(const void *a, const void *b) {
    const event *x = a, *y = b;
    return x->step < y->step ? -1 : x->step > y->step;
}

/* Parts of the lives of all items, between their gaps. */
static size_t count_parts(const xpu_memplan_item *items, uint32_t count) {
    size_t parts = count;
    for (uint32_t i = 0; i < count; i++) parts += items[i].life.gap_count;
    return parts;
}

/* Adds the events of an item to a list of `count`. Returns how many there are then. */
static size_t add_events(event *events, size_t count, const xpu_memplan_item *item, uint64_t bytes) {
    for (uint32_t i = 0; i <= item->life.gap_count; i++) {
        const xpu_memplan_steps part = xpu_memplan_part(&item->life, i);
        events[count++] = (event){part.first, bytes, 0};
        events[count++] = (event){(uint64_t)part.last + 1, 0, bytes};
    }
    return count;
}

uint64_t xpu_memplan_load(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count, uint64_t start,
                          uint32_t *worst_step) {
    event *events = XPU_NEW_ARRAY(arena, event, 2 * count_parts(items, count));
    size_t event_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        event_count = add_events(events, event_count, &items[i], bytes_above(&items[i], start));
    }
    if (event_count) qsort(events, event_count, sizeof *events, compare_events);
    uint64_t live = 0, most = 0;
    *worst_step = 0;
    for (size_t i = 0; i < event_count;) {
        uint64_t step = events[i].step, ends = 0;
        for (; i < event_count && events[i].step == step; i++) {
            live += events[i].plus;
            ends += events[i].minus;
        }
        live -= ends;
        if (live > most) {
            most = live;
            *worst_step = (uint32_t)step;
        }
    }
    return most;
}

enum { MOST_GRID = 256 };

uint64_t xpu_memplan_grid(const xpu_memplan_item *items, uint32_t count) {
    uint64_t bits = MOST_GRID;
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].bytes) bits |= items[i].pinned ? items[i].offset : items[i].alignment;
    }
    return bits & -bits;
}

uint64_t xpu_memplan_bound(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count, uint64_t start) {
    uint32_t worst, live_with[MOST_GRID] = {0}; /* so much padding */
    uint64_t most = xpu_memplan_load(arena, items, count, start, &worst), grid = xpu_memplan_grid(items, count);
    if (count_parts(items, count) > count) {
        const uint64_t heaviest = xpu_memplan_clique(arena, items, count, start, grid);
        if (heaviest > most) most = heaviest;
    }
    if (grid == 1) return most;
    event *events = XPU_NEW_ARRAY(arena, event, 2 * count_parts(items, count));
    size_t event_count = 0; /* of what stands above the start, with padding */
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].pinned || !items[i].bytes) continue;
        event_count = add_events(events, event_count, &items[i], items[i].bytes);
    }
    if (event_count) qsort(events, event_count, sizeof *events, compare_events);
    uint64_t live = xpu_memplan_align(start, grid) - start, padding = 0;
    for (size_t i = 0; i < event_count; i++) {
        uint64_t bytes = events[i].plus + events[i].minus, whole = xpu_memplan_align(bytes, grid);
        if (events[i].plus) {
            live += whole;
            live_with[whole - bytes]++;
            if (whole - bytes > padding) padding = whole - bytes;
        } else {
            live -= whole;
            live_with[whole - bytes]--;
        }
        while (padding && !live_with[padding]) padding--;
        int last_of_step = i + 1 == event_count || events[i + 1].step != events[i].step;
        if (last_of_step && live > most + padding) most = live - padding;
    }
    return most;
}

/* Sorted, different steps. */
typedef struct {
    uint64_t *at;
    uint32_t count;
} points;

/* Points, the second not included. */
typedef struct {
    uint32_t from, to;
} range;

static int compare_steps(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static points sort_points(uint64_t *steps, size_t count) {
    points result = {steps, 0};
    if (count) qsort(steps, count, sizeof *steps, compare_steps);
    for (size_t i = 0; i < count; i++) {
        if (result.count == 0 || steps[i] != steps[result.count - 1]) steps[result.count++] = steps[i];
    }
    return result;
}

/* How many points are below `step`. */
static uint32_t points_below(const points *p, uint64_t step) {
    uint32_t low = 0, high = p->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->at[middle] < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The points of a part of an item's life. */
static range range_of(const points *p, const xpu_memplan_item *item, uint32_t part) {
    const xpu_memplan_steps steps = xpu_memplan_part(&item->life, part);
    return (range){points_below(p, steps.first), points_below(p, (uint64_t)steps.last + 1)};
}

/* The live bytes at each point, as a tree that adds to a range and knows the most in a range: node i has the children
 * 2i and 2i + 1; most[i] is the most in its range without what was added to the nodes above it. */
typedef struct {
    uint64_t *most, *added;
    uint32_t leaves; /* a power of two */
} load_tree;

static void tree_add(load_tree *tree, uint32_t from, uint32_t to, uint64_t bytes) {
    uint32_t left = from + tree->leaves, right = to + tree->leaves;
    for (uint32_t l = left, r = right; l < r; l /= 2, r /= 2) {
        if (l & 1) tree->most[l] += bytes, tree->added[l] += bytes, l++;
        if (r & 1) r--, tree->most[r] += bytes, tree->added[r] += bytes;
    }
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = (side ? right - 1 : left) / 2; i >= 1; i /= 2) {
            uint64_t a = tree->most[(size_t)2 * i], b = tree->most[(size_t)2 * i + 1];
            tree->most[i] = (a > b ? a : b) + tree->added[i];
        }
    }
}

/* The most in [low, high) of node `node`'s range [a, b), and where it first is. */
static uint64_t tree_most(const load_tree *tree, uint32_t node, uint32_t a, uint32_t b, uint32_t low, uint32_t high,
                          uint32_t *where) {
    if (low <= a && b <= high) {
        uint32_t leaf = node;
        while (leaf < tree->leaves) leaf = 2 * leaf + (tree->most[(size_t)2 * leaf] < tree->most[(size_t)2 * leaf + 1]);
        *where = leaf - tree->leaves;
        return tree->most[node];
    }
    uint32_t middle = a + (b - a) / 2, at_left = 0, at_right = 0;
    uint64_t left = 0, right = 0;
    int has_left = low<middle, has_right = high> middle;
    if (has_left) left = tree_most(tree, 2 * node, a, middle, low, high < middle ? high : middle, &at_left);
    if (has_right) right = tree_most(tree, 2 * node + 1, middle, b, low > middle ? low : middle, high, &at_right);
    int take_left = has_left && (!has_right || left >= right);
    *where = take_left ? at_left : at_right;
    return (take_left ? left : right) + tree->added[node];
}

static void add_item(load_tree *tree, const points *p, const xpu_memplan_item *item, uint64_t bytes) {
    for (uint32_t i = 0; i <= item->life.gap_count; i++) {
        const range part = range_of(p, item, i);
        tree_add(tree, part.from, part.to, bytes);
    }
}

/* The most while an item lives, and where it first is. */
static uint64_t most_during(const load_tree *tree, const points *p, const xpu_memplan_item *item, uint32_t *where) {
    uint64_t most = 0;
    for (uint32_t i = 0; i <= item->life.gap_count; i++) {
        uint32_t at;
        const range part = range_of(p, item, i);
        const uint64_t live = tree_most(tree, 1, 0, tree->leaves, part.from, part.to, &at);
        if (i > 0 && live <= most) continue;
        most = live;
        *where = at;
    }
    return most;
}

/* A tree over the steps at which something begins: the load is highest at one of them. */
static load_tree make_tree(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count, points *p) {
    uint64_t *steps = XPU_NEW_ARRAY(arena, uint64_t, count_parts(items, count));
    size_t begins = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k <= items[i].life.gap_count; k++) {
            steps[begins++] = xpu_memplan_part(&items[i].life, k).first;
        }
    }
    *p = sort_points(steps, begins);
    load_tree tree = {.leaves = 1};
    while (tree.leaves < p->count) tree.leaves *= 2;
    tree.most = XPU_NEW_ARRAY(arena, uint64_t, 2 * (size_t)tree.leaves);
    tree.added = XPU_NEW_ARRAY(arena, uint64_t, 2 * (size_t)tree.leaves);
    return tree;
}

void xpu_memplan_admit(xpu_arena *arena, xpu_memplan_item *items, uint32_t count, uint64_t start, uint64_t end,
                       uint64_t *short_bytes, uint32_t *short_step) {
    if (count == 0) return;
    points p;
    load_tree tree = make_tree(arena, items, count, &p);
    for (uint32_t i = 0; i < count; i++) {
        if (!items[i].forced) {
            uint32_t where;
            uint64_t live = most_during(&tree, &p, &items[i], &where);
            uint64_t lost = items[i].bytes ? xpu_memplan_align(start, items[i].alignment) - start : 0;
            uint64_t needed = items[i].bytes + (live > lost ? live : lost);
            if (needed > end - start) {
                short_bytes[i] = needed - (end - start);
                short_step[i] = (uint32_t)p.at[where];
                items[i].offset = UINT64_MAX;
                continue;
            }
        }
        add_item(&tree, &p, &items[i], bytes_above(&items[i], start));
        if (!items[i].pinned) items[i].offset = 0;
    }
}

uint64_t *xpu_memplan_crowding(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count) {
    points p;
    load_tree tree = make_tree(arena, items, count, &p);
    uint64_t *crowding = XPU_NEW_ARRAY(arena, uint64_t, count);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t where;
            if (pass == 0)
                add_item(&tree, &p, &items[i], items[i].bytes);
            else
                crowding[i] = most_during(&tree, &p, &items[i], &where);
        }
    }
    return crowding;
}

typedef struct {
    uint64_t end;
    range segments;
} roof;

static int compare_roofs(const void *a, const void *b) {
    const roof *x = a, *y = b;
    return x->end > y->end ? -1 : x->end < y->end;
}

uint32_t xpu_memplan_fragmentation(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count, uint64_t start) {
    const size_t part_count = count_parts(items, count);
    uint64_t *steps = XPU_NEW_ARRAY(arena, uint64_t, 2 * part_count);
    roof *roofs = XPU_NEW_ARRAY(arena, roof, part_count);
    size_t roof_count = 0, step_count = 0;
    wide live = 0, below = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k <= items[i].life.gap_count; k++) {
            const xpu_memplan_steps part = xpu_memplan_part(&items[i].life, k);
            steps[step_count++] = part.first;
            steps[step_count++] = (uint64_t)part.last + 1;
        }
    }
    points p = sort_points(steps, step_count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bytes = bytes_above(&items[i], start);
        if (!bytes) continue;
        live += (wide)bytes * xpu_memplan_live_steps(&items[i].life);
        for (uint32_t k = 0; k <= items[i].life.gap_count; k++) {
            roofs[roof_count++] = (roof){items[i].offset + items[i].bytes - start, range_of(&p, &items[i], k)};
        }
    }
    if (roof_count == 0) return 0;
    /* The highest end first: each segment between two points belongs to the first roof that covers it. */
    qsort(roofs, roof_count, sizeof *roofs, compare_roofs);
    uint32_t *next = XPU_NEW_ARRAY(arena, uint32_t, p.count + 1); /* a free segment at or after this one */
    for (uint32_t i = 0; i <= p.count; i++) next[i] = i;
    for (size_t i = 0; i < roof_count; i++) {
        for (uint32_t k = roofs[i].segments.from;;) {
            uint32_t found = k;
            while (next[found] != found) found = next[found];
            while (next[k] != found) { /* shorten the way for the next one */
                uint32_t step = next[k];
                next[k] = found;
                k = step;
            }
            if (found >= roofs[i].segments.to) break;
            below += (wide)roofs[i].end * (p.at[found + 1] - p.at[found]);
            next[found] = found + 1;
            k = found;
        }
    }
    return (uint32_t)((below - live) * 1000 / below);
}
