/* Which items' lives meet, gaps or not, listed for the items that meet few others. */
#include "memplan/internal.h"

#include <stdlib.h>

enum { FEW = 64 };

typedef struct {
    uint32_t step, index;
} moment;

static int compare_moments(const void *a, const void *b) {
    const moment *x = a, *y = b;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* How many of the sorted moments are before `step`. */
static uint32_t moments_before(const moment *moments, uint32_t count, uint64_t step) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (moments[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void connect(xpu_memplan_neighbours *n, uint32_t *filled, uint32_t a, uint32_t b) {
    if (!n->many[a]) n->list[n->start[a] + filled[a]++] = b;
    if (!n->many[b]) n->list[n->start[b] + filled[b]++] = a;
}

void xpu_memplan_find_neighbours(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count,
                                 xpu_memplan_neighbours *n) {
    moment *births = XPU_NEW_ARRAY(arena, moment, count), *deaths = XPU_NEW_ARRAY(arena, moment, count);
    for (uint32_t i = 0; i < count; i++) {
        births[i] = (moment){items[i].life.first, i};
        deaths[i] = (moment){items[i].life.last, i};
    }
    qsort(births, count, sizeof *births, compare_moments);
    qsort(deaths, count, sizeof *deaths, compare_moments);
    n->start = XPU_NEW_ARRAY(arena, uint32_t, (size_t)count + 1);
    n->many = XPU_NEW_ARRAY(arena, uint8_t, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t born = moments_before(births, count, (uint64_t)items[i].life.last + 1);
        uint32_t meets = born - moments_before(deaths, count, items[i].life.first) - 1;
        n->many[i] = meets > FEW;
        n->start[i + 1] = n->start[i] + (n->many[i] ? 0 : meets);
    }
    n->list = XPU_NEW_ARRAY(arena, uint32_t, n->start[count]);
    uint32_t *filled = XPU_NEW_ARRAY(arena, uint32_t, count), *alive = XPU_NEW_ARRAY(arena, uint32_t, count);
    uint32_t alive_count = 0, dead = 0; /* `alive` may hold dead ones */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = births[i].index;
        while (dead < count && deaths[dead].step < births[i].step) dead++;
        if (i - dead <= FEW) { /* with more alive, none of them meets few */
            uint32_t kept = 0;
            for (uint32_t k = 0; k < alive_count; k++) {
                if (items[alive[k]].life.last >= births[i].step) alive[kept++] = alive[k];
            }
            alive_count = kept;
            for (uint32_t k = 0; k < alive_count; k++) connect(n, filled, index, alive[k]);
        }
        alive[alive_count++] = index;
    }
}
