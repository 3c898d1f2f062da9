/*
 * Offsets in one level. One arrangement takes the items in some order and puts each into the smallest hole that it
 * fits (or the lowest) among those already placed whose lives meet its own. Several orders are tried, then the best one
 * is improved: an item that stands too high is moved forward in the order, at random from a fixed seed. Before that the
 * exact search looks for the optimum, or for something better at least.
 */
#include "memplan/exact.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

#define PATIENCE       UINT64_C(4000000)
#define MOST_ARRANGED  4096         /* items, by the skyline's order */
#define MOST_LOOKS     UINT64_C(50) /* at the skyline, for each of more items, before another one */
#define EXACT_SHARE    2            /* times the budget; its comparisons take longer than those of the orders */
#define REPAIR_SHARE   8            /* times the budget */
#define EXACT_PATIENCE 4            /* the same where there is no valid plan yet */

typedef struct {
    uint64_t offset, end;
    uint32_t first, last;
    const xpu_memplan_item *item;
} standing;

/* What an arrangement is worth: less is better, compared field by field. */
typedef struct {
    uint64_t overflow, lost, peak;
} score;

typedef struct {
    const xpu_memplan_item *items;
    uint32_t count;
    uint64_t start, end;
    uint64_t lower_bound; /* of the peak: where it is reached with nothing lost, the search ends */
    uint8_t *whole;       /* per item: it lives over all the steps */
    uint32_t first, last; /* all the steps */
    uint32_t pinned_count;
    int have_gaps; /* some items */

    standing *standing; /* sorted by offset */
    uint32_t standing_count;
    standing *near; /* the same of one item's neighbours */
    xpu_memplan_neighbours neighbours;
    uint64_t *offset; /* per item, of the arrangement being made; UINT64_MAX while it does not stand */
    uint64_t steps;

    uint32_t *best_order;
    uint64_t *best_offset;
    int best_fit; /* how the best order was placed */
    score best;
    int hopeless;           /* what has nowhere else to go needs more than there is */
    int searched;           /* the exact search found something better than the orders did */
    const xpu_arena *arena; /* whose caller may want to stop */
} packer;

static int better(const score *a, const score *b) {
    if (a->overflow != b->overflow) return a->overflow < b->overflow;
    if (a->lost != b->lost) return a->lost < b->lost;
    return a->peak < b->peak;
}

static void stand(packer *p, const xpu_memplan_item *item, uint64_t offset) {
    uint32_t low = 0, high = p->standing_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->standing[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(p->standing + low + 1, p->standing + low, (p->standing_count - low) * sizeof *p->standing);
    p->standing[low] = (standing){offset, offset + item->bytes, item->life.first, item->life.last, item};
    p->standing_count++;
}

/* Collects, by offset, what already stands of the item's few neighbours. */
static uint32_t gather(packer *p, uint32_t index) {
    uint32_t count = 0, to = p->neighbours.start[index + 1];
    for (uint32_t i = p->neighbours.start[index]; i < to; i++) {
        uint32_t other = p->neighbours.list[i];
        if (p->offset[other] == UINT64_MAX) continue;
        const xpu_memplan_item *item = &p->items[other];
        uint32_t k = count++;
        for (; k > 0 && p->near[k - 1].offset > p->offset[other]; k--) p->near[k] = p->near[k - 1];
        p->near[k] =
            (standing){p->offset[other], p->offset[other] + item->bytes, item->life.first, item->life.last, item};
    }
    p->steps += to - p->neighbours.start[index];
    return count;
}

/* Where the item goes: into a hole, or on top of all that it meets. */
static uint64_t find_place(packer *p, uint32_t index, uint64_t floor, int best_fit) {
    const xpu_memplan_item *item = &p->items[index];
    const standing *all = p->standing;
    uint32_t count = p->standing_count, i;
    if (!p->neighbours.many[index]) {
        count = gather(p, index);
        all = p->near;
    }
    uint64_t cursor = floor, found = UINT64_MAX, hole = UINT64_MAX;
    uint64_t aligned = xpu_memplan_align(cursor, item->alignment);
    for (i = 0; i < count; i++) {
        const standing *s = &all[i];
        if (s->first > item->life.last || s->last < item->life.first || s->end <= cursor) continue;
        if (p->have_gaps && !xpu_memplan_items_meet(s->item, item)) continue;
        if (s->offset >= aligned + item->bytes && s->offset - cursor < hole) {
            found = aligned;
            hole = s->offset - cursor;
            if (!best_fit) break;
        }
        cursor = s->end;
        aligned = xpu_memplan_align(cursor, item->alignment);
    }
    p->steps += i + 1;
    return found == UINT64_MAX ? aligned : found;
}

/* Places the items in this order. Returns 0 when it was given up as worse than the best. */
static int arrange(packer *p, const uint32_t *order, int best_fit, const score *limit, score *result) {
    uint64_t floor = p->start;
    int bottom = !p->pinned_count; /* whole lives that come first just stack; nobody needs to look at them again */
    *result = (score){0, 0, 0};
    p->standing_count = 0;
    memset(p->offset, 0xff, p->count * sizeof *p->offset);
    for (uint32_t i = 0; i < p->count; i++) {
        const xpu_memplan_item *item = &p->items[order[i]];
        uint64_t offset;
        if (item->pinned) {
            offset = item->offset;
        } else if (item->bytes == 0) {
            offset = xpu_memplan_empty_place(p->start, p->end, item->alignment);
        } else if (bottom && p->whole[order[i]]) {
            offset = xpu_memplan_align(floor, item->alignment);
        } else {
            bottom = 0;
            offset = find_place(p, order[i], floor, best_fit);
        }
        uint64_t end = offset + item->bytes;
        if (end > p->end && !item->forced) {
            p->offset[order[i]] = UINT64_MAX;
            result->lost += item->benefit + 1;
        } else {
            p->offset[order[i]] = offset;
            if (end > p->end && end - p->end > result->overflow) result->overflow = end - p->end;
            if (end > p->start && end - p->start > result->peak) result->peak = end - p->start;
            if (item->bytes && bottom && !item->pinned)
                floor = end;
            else if (item->bytes)
                stand(p, item, offset);
        }
        if (better(limit, result)) return 0;
    }
    return 1;
}

static void keep(packer *p, const uint32_t *order, int best_fit, const score *result) {
    p->best = *result;
    p->best_fit = best_fit;
    memcpy(p->best_order, order, p->count * sizeof *order);
    memcpy(p->best_offset, p->offset, p->count * sizeof *p->offset);
}

enum { GROUP, MAJOR, MINOR }; /* of the keys */

typedef enum { BY_BYTES, BY_AREA, BY_LENGTH, BY_LOAD, BY_BENEFIT, BY_BIRTH, BY_DEATH, ORDERS } order_kind;

static uint64_t shrink(wide value) {
    return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

uint64_t xpu_memplan_density(const xpu_memplan_item *item) {
    wide area = (wide)item->bytes * xpu_memplan_live_steps(&item->life);
    return shrink(((wide)item->benefit << 24) / ((area >> 12) + 1));
}

static void set_key(const packer *p, const uint64_t *load, order_kind kind, uint32_t index, xpu_memplan_sort_key *key) {
    const xpu_memplan_item *item = &p->items[index];
    uint64_t length = xpu_memplan_live_steps(&item->life), area = shrink((wide)item->bytes * length >> 12);
    key->keys[MINOR] = item->bytes;
    switch (kind) {
    case BY_BYTES: key->keys[MAJOR] = item->bytes, key->keys[MINOR] = length; break;
    case BY_AREA: key->keys[MAJOR] = area; break;
    case BY_LENGTH: key->keys[MAJOR] = length; break;
    case BY_LOAD: key->keys[MAJOR] = load[index]; break;
    case BY_BENEFIT: key->keys[MAJOR] = xpu_memplan_density(item); break;
    case BY_BIRTH: key->keys[MAJOR] = UINT32_MAX - item->life.first; break;
    default: key->keys[MAJOR] = item->life.last; break;
    }
}

/* Pinned items, then those that live over all the steps, then by kind; `forced_first` puts what has nowhere else to go
 * before all that has. */
static void make_order(const packer *p, const uint64_t *load, order_kind kind, int forced_first,
                       xpu_memplan_sort_key *keys, uint32_t *order) {
    for (uint32_t i = 0; i < p->count; i++) {
        const xpu_memplan_item *item = &p->items[i];
        keys[i].index = i;
        keys[i].keys[GROUP] = item->pinned ? 4u : (forced_first && item->forced ? 2u : 0u) + (p->whole[i] ? 1u : 0u);
        set_key(p, load, kind, i, &keys[i]);
        if (p->whole[i]) keys[i].keys[MAJOR] = item->alignment; /* no padding between them */
    }
    if (p->count) qsort(keys, p->count, sizeof *keys, xpu_memplan_compare_keys);
    for (uint32_t i = 0; i < p->count; i++) order[i] = keys[i].index;
}

static uint32_t random_below(uint64_t *state, uint32_t limit) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)((*state >> 20) % limit);
}

/* Moves an item that is left out, or stands highest, forward in the order, or another one that its life meets. */
static void disturb(const packer *p, uint64_t *random, uint32_t *order) {
    uint64_t top = p->start + p->best.peak;
    uint32_t from = 0, seen = 0;
    for (uint32_t i = 0; i < p->count; i++) { /* one of them, each as likely */
        const xpu_memplan_item *item = &p->items[order[i]];
        uint64_t offset = p->best_offset[order[i]];
        if (item->pinned || (offset != UINT64_MAX && offset + item->bytes != top)) continue;
        if (random_below(random, ++seen) == 0) from = i;
    }
    const xpu_memplan_item *high = &p->items[order[from]];
    uint32_t moves = 1 + random_below(random, 3);
    for (uint32_t m = 0; m < moves; m++) {
        uint32_t at = from;
        if (m > 0 || random_below(random, 2)) {
            for (uint32_t tries = 0; tries < 16; tries++) {
                at = random_below(random, p->count);
                const xpu_memplan_item *item = &p->items[order[at]];
                if (xpu_memplan_items_meet(item, high)) break;
            }
        }
        if (at <= p->pinned_count) continue; /* pinned items stay in front */
        uint32_t to = p->pinned_count + random_below(random, at - p->pinned_count), moved = order[at];
        memmove(order + to + 1, order + to, (at - to) * sizeof *order);
        order[to] = moved;
    }
}

static int is_perfect(const packer *p) {
    return p->best.overflow == 0 && p->best.lost == 0 && p->best.peak <= p->lower_bound;
}

/* A budget is for making a valid plan better; one that is not valid yet gets at least PATIENCE, unless it is 0. */
static int has_time(const packer *p, uint64_t budget) {
    if (p->best.overflow && budget && budget < PATIENCE && !p->hopeless) budget = PATIENCE;
    return p->steps < budget && !is_perfect(p) && !xpu_stopped(p->arena);
}

/* An order as it is, and with another rule where each item goes. */
static void try_order(packer *p, const uint32_t *order, int best_fit) {
    score result;
    if (arrange(p, order, best_fit, &p->best, &result) && better(&result, &p->best)) keep(p, order, best_fit, &result);
}

/* What the offsets of an arrangement are worth; what reaches above the end and can go elsewhere is taken out. */
static score judge(const packer *p, uint64_t *offset) {
    score result = {0, 0, 0};
    for (uint32_t i = 0; i < p->count; i++) {
        const xpu_memplan_item *item = &p->items[i];
        uint64_t end = offset[i] + item->bytes;
        if (offset[i] == UINT64_MAX || (end > p->end && !item->forced)) {
            offset[i] = UINT64_MAX;
            result.lost += item->benefit + 1;
        } else if (item->bytes && end > p->start) {
            if (end > p->end && end - p->end > result.overflow) result.overflow = end - p->end;
            if (end - p->start > result.peak) result.peak = end - p->start;
        }
    }
    return result;
}

/* The skyline's own offsets, which fill no holes: where it takes too long to look for those. */
static void take_skyline(xpu_arena *arena, packer *p, const uint64_t *load, xpu_memplan_fill fill, uint32_t *order) {
    uint32_t sky = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->items[i].bytes)
            order[sky++] = i;
        else
            p->offset[i] = xpu_memplan_empty_place(p->start, p->end, p->items[i].alignment);
    }
    p->steps += xpu_memplan_skyline_order(arena, p->items, load, sky, fill, p->start, order, p->offset);
    for (uint32_t i = 0; i < p->count; i++) {
        if (!p->items[i].bytes) order[sky++] = i;
    }
    score result = judge(p, p->offset);
    if (better(&result, &p->best)) keep(p, order, 0, &result);
}

/* By the skyline; what is pinned or lives over all the steps stays in front. */
static void try_skyline(xpu_arena *arena, packer *p, const uint64_t *load, xpu_memplan_fill fill, uint32_t *order) {
    uint32_t placed = 0;
    memcpy(order, p->best_order, p->count * sizeof *order);
    for (uint32_t i = 0; i < p->count; i++) {
        if (!p->items[order[i]].pinned && !p->whole[order[i]]) continue;
        uint32_t moved = order[i];
        memmove(order + placed + 1, order + placed, (i - placed) * sizeof *order);
        order[placed++] = moved;
    }
    p->steps +=
        xpu_memplan_skyline_order(arena, p->items, load, p->count - placed, fill, p->start, order + placed, p->offset);
    for (int best_fit = 0; best_fit < 2; best_fit++) try_order(p, order, best_fit);
}

/* The first order always runs; while forced items overflow, so does one that puts them first. One by the skyline comes
 * second, as it is so often the best. Of very many items its offsets are all that is tried: nothing else is as quick.
 */
static void try_orders(xpu_arena *arena, packer *p, uint64_t budget, uint32_t *order) {
    xpu_memplan_sort_key *keys = XPU_NEW_ARRAY(arena, xpu_memplan_sort_key, p->count);
    int are_many = p->count > MOST_ARRANGED && !p->pinned_count;
    const uint64_t *load = budget < p->count && !are_many ? NULL : xpu_memplan_crowding(arena, p->items, p->count);
    int some_forced = 0, some_free = 0;
    for (int fill = 0; are_many && fill < XPU_MEMPLAN_FILLS; fill++) {
        if (fill && (is_perfect(p) || budget < p->count || p->steps > MOST_LOOKS * p->count)) break;
        take_skyline(arena, p, load, (xpu_memplan_fill)fill, order);
    }
    for (uint32_t i = 0; i < p->count; i++) {
        some_forced |= p->items[i].forced;
        some_free |= !p->items[i].forced;
    }
    for (int kind = 0; kind < ORDERS; kind++) {
        for (int way = 0; way < (some_forced && some_free ? 4 : 2); way++) {
            int needed = p->best.overflow == UINT64_MAX || (p->best.overflow && kind == 0 && (way & 2));
            if (!needed && (are_many || !has_time(p, budget))) continue;
            if (kind == BY_LOAD && !load) load = xpu_memplan_crowding(arena, p->items, p->count);
            make_order(p, load, (order_kind)kind, way & 2, keys, order);
            try_order(p, order, way & 1);
        }
        if (kind == 0 && load && !are_many && !is_perfect(p)) try_skyline(arena, p, load, XPU_MEMPLAN_FILL_LONG, order);
    }
    for (int fill = XPU_MEMPLAN_FILL_LONG + 1; fill < XPU_MEMPLAN_FILLS && load && !are_many && has_time(p, budget);
         fill++)
        try_skyline(arena, p, load, (xpu_memplan_fill)fill, order);
}

/* The optimum, or something better than the orders found; where that is no valid plan, any that is valid first. Where
 * the search finds nothing better, nothing changes but what is known of the bound. */
static void search_exactly(xpu_arena *arena, packer *p, uint64_t budget) {
    int valid = p->best.overflow == 0 && p->best.lost == 0;
    if (budget < p->count || is_perfect(p) || xpu_stopped(arena) || p->lower_bound > p->end - p->start) return;
    xpu_arena *work = xpu_arena_new(xpu_arena_mem(arena), "exact search");
    xpu_memplan_exact *exact = xpu_memplan_exact_new(work, p->items, p->count, p->start, p->end);
    uint64_t *offset = XPU_NEW_ARRAY(work, uint64_t, p->count), steps = 0;
    if (exact && !valid) {
        uint64_t most = p->best.overflow ? EXACT_PATIENCE * budget : EXACT_SHARE * budget;
        valid = p->searched = xpu_memplan_exact_fit(exact, p->end, most, &steps, offset) == XPU_MEMPLAN_FITS;
        if (valid) p->best = (score){0, 0, xpu_memplan_exact_peak(exact, offset)};
    }
    if (exact && valid) {
        uint64_t peak = p->best.peak;
        p->lower_bound = xpu_memplan_exact_minimise(exact, p->lower_bound, EXACT_SHARE * budget, &steps, &peak, offset);
        p->searched |= peak < p->best.peak;
        p->best.peak = peak;
    }
    if (p->searched) memcpy(p->best_offset, offset, p->count * sizeof *offset);
    xpu_arena_free(work);
}

/* What the exact search cannot take: where the best reaches too high. */
static void mend_peak(xpu_arena *arena, packer *p, uint64_t budget) {
    uint64_t steps = 0;
    const score before = p->best;
    if (p->searched || budget < p->count || is_perfect(p) || xpu_stopped(arena)) return;
    xpu_arena *work = xpu_arena_new(xpu_arena_mem(arena), "repair of a placement");
    xpu_memplan_repair(work, p->items, p->count, p->start, p->lower_bound, REPAIR_SHARE * budget, &steps,
                       p->best_offset);
    xpu_arena_free(work);
    p->best = judge(p, p->best_offset);
    p->searched |= better(&p->best, &before);
}

/* Whether the items that have nowhere else to go need more room than there is. */
static int is_hopeless(xpu_arena *arena, const packer *p) {
    uint32_t count = 0;
    if (p->lower_bound <= p->end - p->start) return 0;
    xpu_memplan_item *forced = XPU_NEW_ARRAY(arena, xpu_memplan_item, p->count);
    for (uint32_t i = 0; i < p->count; i++)
        if (p->items[i].forced) forced[count++] = p->items[i];
    return xpu_memplan_bound(arena, forced, count, p->start) > p->end - p->start;
}

static void improve(packer *p, uint64_t budget, uint32_t *order) {
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t vain = 0, patience = 500 + 50 * (uint64_t)p->count; /* tries without success */
    while (!p->searched && has_time(p, budget) && vain++ < patience) {
        memcpy(order, p->best_order, p->count * sizeof *order);
        disturb(p, &random, order);
        score result;
        p->steps += 4 * (uint64_t)p->count; /* what disturbing and keeping cost */
        if (!arrange(p, order, p->best_fit, &p->best, &result)) continue;
        if (better(&result, &p->best)) vain = 0;
        keep(p, order, p->best_fit, &result);
    }
}

uint64_t xpu_memplan_pack(xpu_arena *arena, xpu_memplan_item *items, uint32_t count, uint64_t start, uint64_t end,
                          uint64_t budget, uint64_t *steps, uint64_t *proved) {
    *proved = 0;
    if (count == 0) return 0;
    packer p = {.items = items, .count = count, .start = start, .end = end, .first = UINT32_MAX, .arena = arena};
    if (budget) p.lower_bound = xpu_memplan_bound(arena, items, count, start);
    p.whole = XPU_NEW_ARRAY(arena, uint8_t, count);
    p.standing = XPU_NEW_ARRAY(arena, standing, count);
    p.near = XPU_NEW_ARRAY(arena, standing, count);
    xpu_memplan_find_neighbours(arena, items, count, &p.neighbours);
    p.offset = XPU_NEW_ARRAY(arena, uint64_t, count);
    p.best_offset = XPU_NEW_ARRAY(arena, uint64_t, count);
    p.best_order = XPU_NEW_ARRAY(arena, uint32_t, count);
    p.best = (score){UINT64_MAX, UINT64_MAX, UINT64_MAX};
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].life.first < p.first) p.first = items[i].life.first;
        if (items[i].life.last > p.last) p.last = items[i].life.last;
        p.pinned_count += items[i].pinned != 0;
        p.have_gaps |= items[i].life.gap_count > 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const xpu_memplan_life *life = &items[i].life;
        p.whole[i] = life->first == p.first && life->last == p.last && !life->gap_count;
    }
    uint32_t *order = XPU_NEW_ARRAY(arena, uint32_t, count);
    p.hopeless = is_hopeless(arena, &p);
    try_orders(arena, &p, budget, order);
    search_exactly(arena, &p, budget);
    if (count > XPU_MEMPLAN_EXACT_MOST) mend_peak(arena, &p, budget);
    improve(&p, budget, order);
    for (uint32_t i = 0; i < count; i++) items[i].offset = p.best_offset[i];
    *steps += p.steps;
    *proved = p.lower_bound;
    return p.best.overflow;
}
