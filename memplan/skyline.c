/*
 * An order by filling valleys: time runs to the right, offsets upward, and the highest used byte at each step makes a
 * skyline. The lowest valley takes, of the items whose whole lives lie in it, the one that fills it best; a valley that
 * takes none is lifted to its lower neighbour.
 */
#include "memplan/internal.h"

#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

typedef struct {
    uint64_t *height; /* per segment, between two steps at which something begins or ends */
    uint64_t *at;     /* where the segments begin, sorted; one more than segments */
    uint32_t segments;
} skyline;

static int compare_steps(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static uint32_t segment_at(const skyline *s, uint64_t step) {
    uint32_t low = 0, high = s->segments;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->at[middle] < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static skyline make_skyline(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count) {
    skyline s = {.at = XPU_NEW_ARRAY(arena, uint64_t, 2 * (size_t)count)};
    uint32_t points = 0;
    for (uint32_t i = 0; i < count; i++) {
        s.at[(size_t)2 * i] = items[i].first;
        s.at[2 * i + 1] = (uint64_t)items[i].last + 1;
    }
    qsort(s.at, 2 * (size_t)count, sizeof *s.at, compare_steps);
    for (uint32_t i = 0; i < 2 * count; i++) {
        if (points == 0 || s.at[i] != s.at[points - 1]) s.at[points++] = s.at[i];
    }
    s.segments = points - 1;
    s.height = XPU_NEW_ARRAY(arena, uint64_t, s.segments);
    return s;
}

/* The lowest run of segments of one height, the first of several: [*from, *to). */
static void find_valley(const skyline *s, uint32_t *from, uint32_t *to) {
    uint32_t lowest = 0;
    for (uint32_t i = 1; i < s->segments; i++) {
        if (s->height[i] < s->height[lowest]) lowest = i;
    }
    *from = lowest;
    *to = lowest + 1;
    while (*to < s->segments && s->height[*to] == s->height[lowest]) ++*to;
}

static void lift_valley(skyline *s, uint32_t from, uint32_t to) {
    uint64_t left = from > 0 ? s->height[from - 1] : UINT64_MAX;
    uint64_t right = to < s->segments ? s->height[to] : UINT64_MAX;
    for (uint32_t i = from; i < to; i++) s->height[i] = left < right ? left : right;
}

static uint64_t fill_of(const xpu_memplan_item *item, xpu_memplan_fill fill) {
    uint64_t length = (uint64_t)item->last - item->first + 1;
    if (fill == XPU_MEMPLAN_FILL_LONGEST) return length;
    if (fill == XPU_MEMPLAN_FILL_BIGGEST) return item->bytes;
    wide area = (wide)item->bytes * length >> 8;
    return area > UINT64_MAX ? UINT64_MAX : (uint64_t)area;
}

uint64_t xpu_memplan_skyline_order(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count, uint32_t placed,
                                   xpu_memplan_fill fill, uint64_t budget, uint32_t *order) {
    skyline s = make_skyline(arena, items, count);
    uint64_t steps = 0;
    while (placed < count && steps < budget) {
        uint32_t from, to, best = count;
        find_valley(&s, &from, &to);
        steps += s.segments + count - placed;
        for (uint32_t i = placed; i < count; i++) {
            const xpu_memplan_item *item = &items[order[i]];
            if (item->first < s.at[from] || item->last >= s.at[to]) continue;
            if (best == count || fill_of(item, fill) > fill_of(&items[order[best]], fill) ||
                (fill_of(item, fill) == fill_of(&items[order[best]], fill) && item->bytes > items[order[best]].bytes)) {
                best = i;
            }
        }
        if (best == count) {
            lift_valley(&s, from, to);
            continue;
        }
        uint32_t chosen = order[best];
        order[best] = order[placed];
        order[placed++] = chosen;
        uint32_t end = segment_at(&s, (uint64_t)items[chosen].last + 1);
        for (uint32_t i = segment_at(&s, items[chosen].first); i < end; i++) s.height[i] += items[chosen].bytes;
    }
    return steps;
}
