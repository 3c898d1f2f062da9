/*
 * The exact search for offsets in one level, and what its files share.
 *
 * Time is cut into sections, in which nothing begins or ends; an item with gaps is in the sections in which it lives,
 * and across a cut also where it has a gap there. Items are placed from low to high: the next one is the
 * lowest that can be, of those that can be as low the first in a fixed order. Only placements count in which no item
 * can be moved to a lower offset; so an item that is passed over (marked) must be lifted later by one that its life
 * meets. What is left splits wherever no life goes across a cut in time, and each part is searched alone. A part that
 * has no placement says which decisions that rests on, as a set; those that it does not rest on are not tried again.
 */
#ifndef XPU_MEMPLAN_EXACT_H
#define XPU_MEMPLAN_EXACT_H

#include "memplan/internal.h"

enum { XPU_MEMPLAN_EXACT_MOST = 1024 }; /* items */

typedef enum { XPU_MEMPLAN_FITS, XPU_MEMPLAN_NEVER_FITS, XPU_MEMPLAN_GAVE_UP } xpu_memplan_verdict;

typedef struct xpu_memplan_exact xpu_memplan_exact;

/* Prepares a search over items that live at some time, at most XPU_MEMPLAN_EXACT_MOST, in a level from `start` to
 * `end`. NULL: too many, or none. */
xpu_memplan_exact *xpu_memplan_exact_new(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count,
                                         uint64_t start, uint64_t end);

/* Looks for offsets below `end`, in about `budget` comparisons, which it adds to *steps. XPU_MEMPLAN_FITS: offset[i] of
 * every item. XPU_MEMPLAN_NEVER_FITS: there are none. */
xpu_memplan_verdict xpu_memplan_exact_fit(xpu_memplan_exact *exact, uint64_t end, uint64_t budget, uint64_t *steps,
                                          uint64_t *offset);

/* Looks for offsets with the lowest peak. `low` is a bound of the peak, *peak one that is known to be possible; it and
 * `offset` change when a lower one is found. Returns what no placement has a lower peak than: *peak where that is the
 * optimum. */
uint64_t xpu_memplan_exact_minimise(xpu_memplan_exact *exact, uint64_t low, uint64_t budget, uint64_t *steps,
                                    uint64_t *peak, uint64_t *offset);

/* From the start to the highest byte of these offsets. */
uint64_t xpu_memplan_exact_peak(const xpu_memplan_exact *exact, const uint64_t *offset);

/* How many placements were tried so far. */
uint64_t xpu_memplan_exact_nodes(const xpu_memplan_exact *exact);

/* ---- inside ---- */

/* Offsets and sizes of the search, in units: what divides all of them. */
typedef int64_t xpu_memplan_height;

/* A set of decisions, by their depth. */
typedef uint64_t xpu_memplan_reasons;

typedef struct {
    xpu_memplan_height floor;
    uint32_t item, before; /* `before`: the item's change before this one */
    uint32_t decision;
    uint8_t marked;
} xpu_memplan_change;

/* The second one is not included. */
typedef struct {
    uint32_t from, to;
} xpu_memplan_sections;

/* A pinned item; `to` is not included. */
typedef struct {
    xpu_memplan_height from, to;
} xpu_memplan_pin;

#define XPU_MEMPLAN_NO_CHANGE UINT32_MAX
#define XPU_MEMPLAN_PLACED    (INT64_MAX / 2)
enum { XPU_MEMPLAN_EXACT_KEYS = 10 };

struct xpu_memplan_exact {
    xpu_arena *arena;
    const xpu_memplan_item *items;
    uint32_t all;                         /* items of the caller */
    uint32_t count, sections;             /* items that are placed, numbered anew */
    uint32_t *id;                         /* per item: its number with the caller */
    uint64_t start, level_end;            /* these and the next three in bytes */
    uint64_t pinned_end;                  /* no peak is lower than where the highest pinned item ends */
    uint64_t unit;                        /* divides every offset and every size */
    uint64_t grid;                        /* divides every offset */
    xpu_memplan_height *size, *alignment; /* sizes in whole grid steps, as nothing can begin in between */
    xpu_memplan_height most;              /* what lives in one section at most */
    xpu_memplan_height *limit, top; /* of the peak that is tried: where each item may end at most, and any of them */
    uint32_t *from, *to;            /* sections, from the first to the last one of a life, gaps or not */
    uint32_t *stretch_at;           /* the sections in which it lives: stretches[stretch_at[i]] and so on */
    xpu_memplan_sections *stretches;
    int have_gaps;             /* some items */
    uint32_t *meet_at, *meets; /* whose lives meet: meets[meet_at[i]] to meets[meet_at[i + 1] - 1] */
    uint32_t *pin_at;          /* the same of the pinned ones, by offset */
    xpu_memplan_pin *pins;
    uint64_t (*keys)[XPU_MEMPLAN_EXACT_KEYS]; /* per item: what orders are made of */
    uint32_t *rank, *ranked;                  /* of the order that is tried */
    uint32_t *twin;                           /* the equal item before it in the order, or itself */

    /* the state */
    xpu_memplan_height *floor, *place;
    xpu_memplan_height *least; /* the floor, or above it where the item must be lifted; XPU_MEMPLAN_PLACED */
    uint8_t *placed, *marked, *seen;
    uint32_t *decision;          /* that placed or marked it */
    uint32_t *across;            /* per section: lives that go on into it from the one before and are not placed */
    xpu_memplan_height *skyline; /* per section: where the highest item that is placed ends */
    xpu_memplan_height *covered; /* what it was below those on the trail */
    size_t covered_count;
    int fits_walls;           /* of items that can be as low, those that stand between others come first */
    void *stack;              /* per section, of the bound: heights */
    uint32_t words;           /* of a set */
    xpu_memplan_reasons *why; /* per item: what its floor rests on */
    uint32_t *last_change;
    xpu_memplan_change *changes;
    xpu_memplan_reasons *changed_why;
    uint32_t change_count, change_room;
    uint32_t *trail, trail_count; /* what is placed, in order */

    /* room for work; what is per depth is made when it is first needed */
    uint32_t depths;
    uint32_t **lists, **parts;
    xpu_memplan_reasons **sets;
    uint32_t *work, *sorted, *raised, *all_sorted;
    uint64_t *found; /* offsets */

    uint32_t most_placed; /* at a time */
    uint64_t patience;    /* nodes without placing more than that */
    uint64_t failed_at;   /* the last node at which something did not fit */
    uint64_t nodes, node_limit, all_nodes, steps, step_limit;
    int stopped;
};

static inline void xpu_memplan_add_reasons(const xpu_memplan_exact *x, xpu_memplan_reasons *to,
                                           const xpu_memplan_reasons *from) {
    for (uint32_t w = 0; w < x->words; w++) to[w] |= from[w];
}

static inline void xpu_memplan_add_reason(xpu_memplan_reasons *to, uint32_t decision) {
    to[decision / 64] |= UINT64_C(1) << decision % 64;
}

static inline xpu_memplan_reasons *xpu_memplan_why(const xpu_memplan_exact *x, uint32_t item) {
    return x->why + (size_t)item * x->words;
}

/* Whether the lives of two items meet. */
static inline int xpu_memplan_exact_meet(const xpu_memplan_exact *x, uint32_t a, uint32_t b) {
    if (x->from[a] >= x->to[b] || x->from[b] >= x->to[a]) return 0;
    return !x->have_gaps || xpu_memplan_items_meet(&x->items[x->id[a]], &x->items[x->id[b]]);
}

/* exact_order.c: the search without its state, or NULL. */
xpu_memplan_exact *xpu_memplan_exact_prepare(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count,
                                             uint64_t start, uint64_t end);
enum { XPU_MEMPLAN_EXACT_ORDERS = 12 };
void xpu_memplan_exact_order(xpu_memplan_exact *x, uint32_t order);

/* A way to search: an order in one of two styles. By the order alone, or with those first of the items that can be as
 * low that stand between others, without open sides. */
enum { XPU_MEMPLAN_EXACT_STYLES = 2, XPU_MEMPLAN_EXACT_WAYS = XPU_MEMPLAN_EXACT_STYLES * XPU_MEMPLAN_EXACT_ORDERS };
static inline int xpu_memplan_exact_fits_walls(uint32_t way) {
    return way % XPU_MEMPLAN_EXACT_STYLES != 0;
}

/* exact.c: one search in one way for offsets below `end`. It gives up after `patience` nodes in which it never placed
 * more items than before. */
xpu_memplan_verdict xpu_memplan_exact_try(xpu_memplan_exact *x, uint64_t end, uint32_t way, uint64_t patience,
                                          uint64_t *offset);
/* Of a way in turn `round`. */
uint64_t xpu_memplan_exact_patience(const xpu_memplan_exact *x, uint32_t round);

/* The lowest place of an item at or above `height`: aligned, and between those that are pinned. */
xpu_memplan_height xpu_memplan_exact_rest(const xpu_memplan_exact *x, uint32_t item, xpu_memplan_height height);

/* exact_bound.c: whether what is left may fit; `list` is sorted by floor and rank, `low` the lowest floor of those that
 * are not marked. Where it cannot, `reasons` (empty before) says why. */
int xpu_memplan_exact_may_fit(xpu_memplan_exact *x, const uint32_t *list, uint32_t count, xpu_memplan_height low,
                              uint32_t from, uint32_t to, xpu_memplan_reasons *reasons);

/* exact_stack.c: in each of the sections, the items of `sorted` that live there, one above the other and none lower
 * than its least offset. The first section in which they end above the top; `to` where none does. */
uint32_t xpu_memplan_exact_stack(xpu_memplan_exact *x, const uint32_t *sorted, uint32_t count, uint32_t from,
                                 uint32_t to);
/* Makes room for it. */
void xpu_memplan_exact_stack_init(xpu_memplan_exact *x);

/* What an item's least offset rests on. */
void xpu_memplan_exact_explain(const xpu_memplan_exact *x, uint32_t item, xpu_memplan_reasons *reasons);

#endif
