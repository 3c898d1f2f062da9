/* The exact search itself (memplan/exact.h says how it goes). */
#include "memplan/exact.h"

#include <string.h>

enum { MOST_WORDS = 64, MOST_CHANGES = 1 << 16, MOST_DOUBLED = 32, FIRST_NODES = 200 };
/* Where nothing failed for CALM nodes, every third bound is enough: what cannot fit is seen a little later. */
enum { CALM = 4, LOOKS = 3 };

/* Room that a depth needs is made when it is first reached. */
static void reach(xpu_memplan_exact *x, uint32_t depth) {
    for (; x->depths <= depth; x->depths++) {
        x->lists[x->depths] = XPU_NEW_ARRAY(x->arena, uint32_t, x->count);
        x->parts[x->depths] = XPU_NEW_ARRAY(x->arena, uint32_t, x->count);
        x->sets[x->depths] = XPU_NEW_ARRAY(x->arena, xpu_memplan_reasons, 2 * (size_t)x->words);
    }
}

static void make_state(xpu_memplan_exact *x) {
    uint32_t n = x->count + 1;
    x->words = (4 * x->count + 127) / 64;
    if (x->words > MOST_WORDS) x->words = MOST_WORDS;
    size_t depths = (size_t)x->words * 64;
    x->floor = XPU_NEW_ARRAY(x->arena, xpu_memplan_height, n);
    x->least = XPU_NEW_ARRAY(x->arena, xpu_memplan_height, n);
    x->limit = XPU_NEW_ARRAY(x->arena, xpu_memplan_height, n);
    x->place = XPU_NEW_ARRAY(x->arena, xpu_memplan_height, n);
    x->placed = XPU_NEW_ARRAY(x->arena, uint8_t, n);
    x->marked = XPU_NEW_ARRAY(x->arena, uint8_t, n);
    x->seen = XPU_NEW_ARRAY(x->arena, uint8_t, n);
    x->decision = XPU_NEW_ARRAY(x->arena, uint32_t, n);
    x->why = XPU_NEW_ARRAY(x->arena, xpu_memplan_reasons, (size_t)n * x->words);
    x->last_change = XPU_NEW_ARRAY(x->arena, uint32_t, n);
    x->trail = XPU_NEW_ARRAY(x->arena, uint32_t, n);
    x->work = XPU_NEW_ARRAY(x->arena, uint32_t, n);
    x->sorted = XPU_NEW_ARRAY(x->arena, uint32_t, n);
    x->raised = XPU_NEW_ARRAY(x->arena, uint32_t, n);
    x->all_sorted = XPU_NEW_ARRAY(x->arena, uint32_t, n);
    x->found = XPU_NEW_ARRAY(x->arena, uint64_t, x->all + 1);
    x->lists = XPU_NEW_ARRAY(x->arena, uint32_t *, depths);
    x->parts = XPU_NEW_ARRAY(x->arena, uint32_t *, depths);
    x->sets = XPU_NEW_ARRAY(x->arena, xpu_memplan_reasons *, depths);
}

xpu_memplan_exact *xpu_memplan_exact_new(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count,
                                         uint64_t start, uint64_t end) {
    xpu_memplan_exact *x = xpu_memplan_exact_prepare(arena, items, count, start, end);
    if (x) make_state(x);
    return x;
}

static void reset(xpu_memplan_exact *x) {
    memset(x->placed, 0, x->count);
    memset(x->marked, 0, x->count);
    memset(x->why, 0, (size_t)x->count * x->words * sizeof *x->why);
    memset(x->across, 0, x->sections * sizeof *x->across);
    for (uint32_t i = 0; i < x->count; i++) {
        x->floor[i] = xpu_memplan_exact_rest(x, i, (xpu_memplan_height)(x->start / x->unit));
        x->last_change[i] = XPU_MEMPLAN_NO_CHANGE;
        for (uint32_t s = x->from[i] + 1; s < x->to[i]; s++) x->across[s]++;
    }
    memset(x->skyline, 0, x->sections * sizeof *x->skyline);
    x->covered_count = 0;
    x->change_count = x->trail_count = 0;
    x->nodes = x->failed_at = 0;
    x->most_placed = 0;
    x->stopped = 0;
}

/* Remembers an item as it is. */
static void remember(xpu_memplan_exact *x, uint32_t item) {
    if (x->change_count == x->change_room) {
        uint32_t room = x->change_room ? 2 * x->change_room : 1024;
        xpu_memplan_change *changes = XPU_NEW_ARRAY(x->arena, xpu_memplan_change, room);
        xpu_memplan_reasons *why = XPU_NEW_ARRAY(x->arena, xpu_memplan_reasons, (size_t)room * x->words);
        if (x->change_room) {
            memcpy(changes, x->changes, x->change_room * sizeof *changes);
            memcpy(why, x->changed_why, (size_t)x->change_room * x->words * sizeof *why);
        }
        x->changes = changes;
        x->changed_why = why;
        x->change_room = room;
    }
    x->changes[x->change_count] = (xpu_memplan_change){.floor = x->floor[item],
                                                       .item = item,
                                                       .before = x->last_change[item],
                                                       .decision = x->decision[item],
                                                       .marked = x->marked[item]};
    memcpy(x->changed_why + (size_t)x->change_count * x->words, xpu_memplan_why(x, item),
           x->words * sizeof *x->changed_why);
    x->last_change[item] = x->change_count++;
}

/* Puts the item on the skyline, which is lower wherever it lives. */
static void cover(xpu_memplan_exact *x, uint32_t item) {
    const xpu_memplan_height top = x->place[item] + x->size[item];
    for (uint32_t k = x->stretch_at[item]; k < x->stretch_at[item + 1]; k++) {
        for (uint32_t s = x->stretches[k].from; s < x->stretches[k].to; s++) {
            x->covered[x->covered_count++] = x->skyline[s];
            x->skyline[s] = top;
        }
    }
}

static void uncover(xpu_memplan_exact *x, uint32_t item) {
    for (uint32_t k = x->stretch_at[item + 1]; k-- > x->stretch_at[item];) {
        for (uint32_t s = x->stretches[k].to; s-- > x->stretches[k].from;)
            x->skyline[s] = x->covered[--x->covered_count];
    }
}

static void undo(xpu_memplan_exact *x, uint32_t trail_count, uint32_t change_count) {
    while (x->trail_count > trail_count) {
        uint32_t item = x->trail[--x->trail_count];
        x->placed[item] = 0;
        if (x->fits_walls) uncover(x, item);
        for (uint32_t s = x->from[item] + 1; s < x->to[item]; s++) x->across[s]++;
    }
    while (x->change_count > change_count) {
        const xpu_memplan_change *change = &x->changes[--x->change_count];
        uint32_t item = change->item;
        x->floor[item] = change->floor;
        x->marked[item] = change->marked;
        x->decision[item] = change->decision;
        x->last_change[item] = change->before;
        memcpy(xpu_memplan_why(x, item), x->changed_why + (size_t)x->change_count * x->words,
               x->words * sizeof *x->changed_why);
    }
}

/* An item goes above one that was placed at `base`. What that rests on, besides the placing: that it could not go
 * below, for which its first floor from which it reaches above `base` is enough. */
static void raise(xpu_memplan_exact *x, uint32_t item, xpu_memplan_height base, xpu_memplan_height top,
                  uint32_t depth) {
    uint32_t enough = XPU_MEMPLAN_NO_CHANGE, at = x->last_change[item];
    while (at != XPU_MEMPLAN_NO_CHANGE && x->changes[at].floor + x->size[item] > base) {
        enough = at;
        at = x->changes[at].before;
    }
    remember(x, item);
    if (enough != XPU_MEMPLAN_NO_CHANGE) {
        memcpy(xpu_memplan_why(x, item), x->changed_why + (size_t)enough * x->words, x->words * sizeof *x->changed_why);
    }
    xpu_memplan_add_reason(xpu_memplan_why(x, item), depth);
    x->floor[item] = xpu_memplan_exact_rest(x, item, top);
    x->marked[item] = 0;
}

static int is_before(const xpu_memplan_exact *x, uint32_t a, uint32_t b) {
    if (x->floor[a] != x->floor[b]) return x->floor[a] < x->floor[b];
    return x->rank[a] < x->rank[b];
}

/* Places an item at its floor. The others of the list go to `rest` in their new order. Returns one that cannot fit any
 * more, or `item`. */
static uint32_t place(xpu_memplan_exact *x, const uint32_t *list, uint32_t count, uint32_t item, uint32_t depth,
                      uint32_t *rest) {
    xpu_memplan_height base = x->floor[item], top = base + x->size[item];
    uint32_t kept = 0, raised = 0, bad = item;
    x->place[item] = base;
    x->placed[item] = 1;
    x->least[item] = XPU_MEMPLAN_PLACED;
    if (x->fits_walls) cover(x, item);
    x->decision[item] = depth;
    x->trail[x->trail_count++] = item;
    if (x->trail_count > x->most_placed) {
        x->most_placed = x->trail_count;
        x->node_limit = x->nodes + x->patience;
    }
    for (uint32_t s = x->from[item] + 1; s < x->to[item]; s++) x->across[s]--;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = list[i];
        if (other == item) continue;
        if (x->floor[other] >= top || !xpu_memplan_exact_meet(x, other, item)) {
            rest[kept++] = other;
            continue;
        }
        raise(x, other, base, top, depth);
        if (x->floor[other] + x->size[other] > x->limit[other]) bad = other;
        uint32_t k = raised++;
        for (; k > 0 && is_before(x, other, x->raised[k - 1]); k--) x->raised[k] = x->raised[k - 1];
        x->raised[k] = other;
    }
    x->steps += count;
    uint32_t at = kept + raised;
    while (raised > 0) {
        int from_kept = kept > 0 && is_before(x, x->raised[raised - 1], rest[kept - 1]);
        rest[--at] = from_kept ? rest[--kept] : x->raised[--raised];
    }
    return bad;
}

static int search(xpu_memplan_exact *x, const uint32_t *list, uint32_t count, uint32_t depth, uint32_t from,
                  uint32_t to);

/* Searches the parts of a list between cuts in time one after the other. */
static int search_parts(xpu_memplan_exact *x, const uint32_t *list, uint32_t count, uint32_t depth, uint32_t from,
                        uint32_t to) {
    uint32_t *part = x->parts[depth];
    for (uint32_t begin = from; begin < to && count > 0;) {
        uint32_t end = begin + 1, size = 0;
        while (end < to && x->across[end] > 0) end++;
        if (begin == from && end == to) return search(x, list, count, depth, from, to);
        for (uint32_t i = 0; i < count; i++) {
            if (x->from[list[i]] >= begin && x->from[list[i]] < end) part[size++] = list[i];
        }
        if (size > 0 && !search(x, part, size, depth, begin, end)) return 0;
        part += size;
        begin = end;
    }
    return 1;
}

static int must_stop(xpu_memplan_exact *x, uint32_t depth) {
    x->nodes++;
    if (x->nodes > x->node_limit || x->steps > x->step_limit || depth + 2 >= x->words * 64 ||
        x->change_count > MOST_CHANGES || (x->nodes % 256 == 0 && xpu_stopped(x->arena))) {
        x->stopped = 1;
    }
    return x->stopped;
}

/* Places the item and searches the rest. Where it fails, why stands in the set of the next depth. */
static int search_with(xpu_memplan_exact *x, const uint32_t *list, uint32_t count, uint32_t item, uint32_t depth,
                       uint32_t from, uint32_t to) {
    uint32_t trail_count = x->trail_count, change_count = x->change_count;
    reach(x, depth + 1);
    xpu_memplan_reasons *why = x->sets[depth + 1];
    uint32_t bad = place(x, list, count, item, depth, x->lists[depth]);
    if (bad != item) {
        memcpy(why, xpu_memplan_why(x, bad), x->words * sizeof *why);
    } else if (search_parts(x, x->lists[depth], count - 1, depth + 1, from, to)) {
        return 1;
    }
    undo(x, trail_count, change_count);
    return 0;
}

/* Passes the item over and searches on; where that fails too, both reasons together are the reason. */
static int search_without(xpu_memplan_exact *x, const uint32_t *list, uint32_t count, uint32_t item, uint32_t depth,
                          uint32_t from, uint32_t to) {
    uint32_t trail_count = x->trail_count, change_count = x->change_count;
    xpu_memplan_reasons *reasons = x->sets[depth], *first = reasons + x->words, *second;
    reach(x, depth + 1);
    second = x->sets[depth + 1];
    remember(x, item);
    x->marked[item] = 1;
    x->decision[item] = depth;
    if (search(x, list, count, depth + 1, from, to)) return 1;
    undo(x, trail_count, change_count);
    memcpy(reasons, second, x->words * sizeof *reasons);
    if (reasons[depth / 64] >> depth % 64 & 1) {
        xpu_memplan_add_reasons(x, reasons, first);
        xpu_memplan_add_reasons(x, reasons, xpu_memplan_why(x, item));
        reasons[depth / 64] &= ~(UINT64_C(1) << depth % 64);
    }
    return 0;
}

/* How many sides of an item that stands at its floor are open, and then whether it ends where others beside it do: less
 * is better. */
static int openness(const xpu_memplan_exact *x, uint32_t item, uint32_t from, uint32_t to) {
    const xpu_memplan_height floor = x->floor[item], top = floor + x->size[item];
    int open = 0, level = 0;
    for (int side = 0; side < 2; side++) {
        if (side ? x->to[item] == to : x->from[item] == from) continue;
        const xpu_memplan_height beside = x->skyline[side ? x->to[item] : x->from[item] - 1];
        open += beside <= floor;
        level += beside == top;
    }
    return 4 * open - level;
}

/* Of the items from `at` on that can be as low as that, the one to be placed next. */
static uint32_t choose(const xpu_memplan_exact *x, const uint32_t *list, uint32_t count, uint32_t at, uint32_t from,
                       uint32_t to) {
    uint32_t best = list[at];
    if (!x->fits_walls || at + 1 == count || x->floor[list[at + 1]] != x->floor[best]) return best;
    int least = openness(x, best, from, to);
    for (uint32_t i = at + 1; i < count && x->floor[list[i]] == x->floor[best]; i++) {
        if (x->marked[list[i]]) continue;
        const int open = openness(x, list[i], from, to);
        if (open < least) {
            least = open;
            best = list[i];
        }
    }
    return best;
}

/* Places all of a list, which is sorted. Where it fails, x->sets[depth] says on what that rests. */
static int search(xpu_memplan_exact *x, const uint32_t *list, uint32_t count, uint32_t depth, uint32_t from,
                  uint32_t to) {
    reach(x, depth);
    xpu_memplan_reasons *reasons = x->sets[depth], *first = reasons + x->words;
    memset(reasons, 0, x->words * sizeof *reasons);
    if (must_stop(x, depth)) return 0;
    uint32_t at = 0;
    while (count > 1 && at < count && x->marked[list[at]]) at++;
    if (at == count) { /* nothing is left that could lift anything */
        for (uint32_t i = 0; i < count; i++) xpu_memplan_exact_explain(x, list[i], reasons);
        return 0;
    }
    uint32_t item = choose(x, list, count, at, from, to);
    if (x->floor[item] + x->size[item] > x->limit[item]) {
        xpu_memplan_add_reasons(x, reasons, xpu_memplan_why(x, item));
        return 0;
    }
    x->place[item] = x->floor[item];
    if (count == 1) return 1;
    if ((x->nodes < x->failed_at + CALM || depth % LOOKS == 0) &&
        !xpu_memplan_exact_may_fit(x, list, count, x->floor[item], from, to, reasons)) {
        x->failed_at = x->nodes;
        return 0;
    }
    uint32_t twin = x->twin[item];
    if (twin != item && !x->placed[twin] && x->marked[twin]) { /* of two equal ones, the first stands lower */
        memcpy(first, xpu_memplan_why(x, twin), x->words * sizeof *first);
        xpu_memplan_add_reason(first, x->decision[twin]);
        xpu_memplan_add_reason(first, depth);
    } else {
        if (search_with(x, list, count, item, depth, from, to)) return 1;
        if (x->stopped) return 0;
        memcpy(first, x->sets[depth + 1], x->words * sizeof *first);
        if (!(first[depth / 64] >> depth % 64 & 1)) { /* it fails wherever this item is */
            memcpy(reasons, first, x->words * sizeof *reasons);
            return 0;
        }
    }
    return search_without(x, list, count, item, depth, from, to);
}

/* An item may reach into the last, broken step of the grid where its own last step is as short. */
static void set_limits(xpu_memplan_exact *x, uint64_t end) {
    const uint64_t whole = end - end % x->grid, more = whole + x->grid;
    x->top = (xpu_memplan_height)(whole / x->unit);
    for (uint32_t i = 0; i < x->count; i++) {
        const uint64_t padding = (uint64_t)x->size[i] * x->unit - x->items[x->id[i]].bytes;
        x->limit[i] = (xpu_memplan_height)((padding >= more - end ? more : whole) / x->unit);
        if (x->limit[i] > x->top) x->top = x->limit[i];
    }
}

/* One search in one way. */
static xpu_memplan_verdict try_way(xpu_memplan_exact *x, uint32_t way, uint64_t patience) {
    xpu_memplan_exact_order(x, way / XPU_MEMPLAN_EXACT_STYLES);
    x->fits_walls = xpu_memplan_exact_fits_walls(way);
    reset(x);
    x->node_limit = x->patience = patience;
    for (uint32_t i = 0; i < x->count; i++) { /* by floor, then rank */
        uint32_t item = x->ranked[i], k = i;
        for (; k > 0 && is_before(x, item, x->all_sorted[k - 1]); k--) x->all_sorted[k] = x->all_sorted[k - 1];
        x->all_sorted[k] = item;
    }
    reach(x, 0);
    int fits = search_parts(x, x->all_sorted, x->count, 0, 0, x->sections);
    x->all_nodes += x->nodes;
    return fits ? XPU_MEMPLAN_FITS : x->stopped ? XPU_MEMPLAN_GAVE_UP : XPU_MEMPLAN_NEVER_FITS;
}

static void give_offsets(const xpu_memplan_exact *x, uint64_t *offset) {
    for (uint32_t i = 0; i < x->all; i++) {
        const xpu_memplan_item *item = &x->items[i];
        uint64_t empty = xpu_memplan_empty_place(x->start, x->level_end, item->alignment);
        offset[i] = item->pinned ? item->offset : empty;
    }
    for (uint32_t i = 0; i < x->count; i++) offset[x->id[i]] = (uint64_t)x->place[i] * x->unit;
}

xpu_memplan_verdict xpu_memplan_exact_try(xpu_memplan_exact *x, uint64_t end, uint32_t way, uint64_t patience,
                                          uint64_t *offset) {
    if (end < x->pinned_end) return XPU_MEMPLAN_NEVER_FITS;
    set_limits(x, end - end % x->unit);
    x->steps += x->count;
    xpu_memplan_verdict verdict = try_way(x, way, patience);
    if (verdict == XPU_MEMPLAN_FITS) give_offsets(x, offset);
    return verdict;
}

/* Where a way suits the problem it seldom looks long for a place; where it does not, another one is better. */
uint64_t xpu_memplan_exact_patience(const xpu_memplan_exact *x, uint32_t round) {
    return (FIRST_NODES + 2 * (uint64_t)x->count) / 5 << (round < MOST_DOUBLED ? round : MOST_DOUBLED);
}

/* The ways take turns, with twice the patience each time round. */
xpu_memplan_verdict xpu_memplan_exact_fit(xpu_memplan_exact *x, uint64_t end, uint64_t budget, uint64_t *steps,
                                          uint64_t *offset) {
    xpu_memplan_verdict verdict = XPU_MEMPLAN_GAVE_UP;
    x->steps = 0;
    x->step_limit = budget;
    for (uint32_t turn = 0; verdict == XPU_MEMPLAN_GAVE_UP && x->steps <= budget && !xpu_stopped(x->arena); turn++) {
        uint64_t patience = xpu_memplan_exact_patience(x, turn / XPU_MEMPLAN_EXACT_WAYS);
        verdict = xpu_memplan_exact_try(x, end, turn % XPU_MEMPLAN_EXACT_WAYS, patience, offset);
    }
    *steps += x->steps;
    return verdict;
}

uint64_t xpu_memplan_exact_nodes(const xpu_memplan_exact *x) {
    return x->all_nodes;
}

uint64_t xpu_memplan_exact_peak(const xpu_memplan_exact *x, const uint64_t *offset) {
    uint64_t peak = 0, start = x->start;
    for (uint32_t i = 0; i < x->all; i++) {
        uint64_t end = offset[i] + x->items[i].bytes;
        if (x->items[i].bytes && end > start && end - start > peak) peak = end - start;
    }
    return peak;
}
