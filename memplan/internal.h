/* What the parts of the planner share with each other. The validator does not include this file. */
#ifndef XPU_MEMPLAN_INTERNAL_H
#define XPU_MEMPLAN_INTERNAL_H

#include "memplan/memplan.h"

/* "'conv1/out'" or "buffer 7" where it has no name. */
const char *xpu_memplan_quote(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t buffer);

/* offset rounded up to a power of two. */
static inline uint64_t xpu_memplan_align(uint64_t offset, uint64_t alignment) {
    return (offset + alignment - 1) & ~(alignment - 1);
}

/* Where a buffer of no bytes stands: the lowest aligned offset. None from `start` to `end`: among the reserved bytes.
 */
static inline uint64_t xpu_memplan_empty_place(uint64_t start, uint64_t end, uint64_t alignment) {
    uint64_t lowest = xpu_memplan_align(start, alignment);
    return lowest <= end ? lowest : 0;
}

static inline uint64_t xpu_memplan_alignment(uint32_t alignment) {
    return alignment ? alignment : 1;
}

/* problem.c: everything that a problem may say wrong. */
xpu_status xpu_memplan_problem_check(xpu_arena *arena, const xpu_memplan_problem *problem, xpu_diags *diags);

/* timeline.c: the same of the time line, of a problem that is right otherwise. */
xpu_status xpu_memplan_timeline_check(xpu_arena *arena, const xpu_memplan_problem *problem, xpu_diags *diags);

/* A rule about the place in a level that holds for a buffer. */
typedef struct xpu_memplan_place_rule {
    uint32_t rule;
    const struct xpu_memplan_place_rule *next;
} xpu_memplan_place_rule;

/* rule_sets.c: what the rules leave of each buffer's levels. */
typedef struct {
    const xpu_memplan_place_rule *places;  /* rules with an offset or a bank, NULL: none */
    uint32_t mask;                         /* bit i: level i is allowed */
    uint32_t prefer;                       /* the first "prefer" rule, or XPU_MEMPLAN_NONE */
    uint8_t order[XPU_MEMPLAN_MAX_LEVELS]; /* the allowed levels, best first */
    uint32_t order_count;
} xpu_memplan_choice;

/* One choice per buffer; rules with off[rule] != 0 do not count (`off` may be NULL). */
xpu_memplan_choice *xpu_memplan_choices(xpu_arena *arena, const xpu_memplan_problem *problem, const uint8_t *off);

/* [plan-rules] for every set of rules that leaves a buffer no level. */
xpu_status xpu_memplan_rules_check(xpu_arena *arena, const xpu_memplan_problem *problem,
                                   const xpu_memplan_choice *choices, xpu_diags *diags);

/* positions.c: offsets and banks. A copy of the problem whose buffers are pinned where rules want them: those that say
 * must, and with `prefer` those that say it and are in nobody's way; without it no place is preferred. *preferred: how
 * many wishes went in. Rules with off[rule] != 0 do not count. */
xpu_memplan_problem xpu_memplan_pin_offsets(xpu_arena *arena, const xpu_memplan_problem *problem, const uint8_t *off,
                                            int prefer, uint32_t *preferred);
/* [plan-rules] for offsets and banks that no plan can have. */
xpu_status xpu_memplan_positions_check(xpu_arena *arena, const xpu_memplan_problem *problem, xpu_diags *diags);

/* Places that a buffer tries one after the other, `step` bytes apart, so that one of them suits its rules. */
typedef struct {
    uint64_t step;
    uint32_t count;     /* 1: no rule is about its place */
    uint64_t alignment; /* of the first of them */
} xpu_memplan_window;
xpu_memplan_window xpu_memplan_window_of(const xpu_memplan_problem *problem, const xpu_memplan_choice *choice,
                                         uint64_t alignment);
/* The bytes from `offset`, where the window begins in the level, to the first place that suits. */
uint64_t xpu_memplan_shift(const xpu_memplan_problem *problem, const xpu_memplan_choice *choice,
                           const xpu_memplan_window *window, uint32_t level, uint64_t offset);

/* Whether two lives have a step in common that is in no gap. */
int xpu_memplan_lives_meet(const xpu_memplan_life *a, const xpu_memplan_life *b);

/* How many steps are in no gap. */
uint64_t xpu_memplan_live_steps(const xpu_memplan_life *life);

static inline int xpu_memplan_buffers_meet(const xpu_memplan_buffer *a, const xpu_memplan_buffer *b) {
    const xpu_memplan_life x = xpu_memplan_life_of(a), y = xpu_memplan_life_of(b);
    return xpu_memplan_lives_meet(&x, &y);
}

/* The file that messages about rules are of, or NULL. */
const char *xpu_memplan_rules_file(const xpu_memplan_problem *problem);

/* "rule 1 (...) and rule 2 (...)" */
char *xpu_memplan_rules_text(xpu_arena *arena, const xpu_memplan_problem *problem, const uint32_t *rules,
                             uint32_t count);

/* groups.c: buffers that share bytes by aliases move as one. */
typedef struct {
    uint32_t root;         /* the buffer that contains all the others */
    xpu_memplan_life life; /* from the first step of any of them to the last step of any; gaps: of one that is alone */
    uint64_t bytes, alignment;
    uint64_t access_bytes; /* of all of them */
    uint8_t order[XPU_MEMPLAN_MAX_LEVELS];
    uint32_t order_count;
    uint32_t choice; /* the place in `order` that it is at now */
    uint64_t offset;
    xpu_memplan_window window;                    /* of the root; bytes has room for it */
    uint64_t short_bytes[XPU_MEMPLAN_MAX_LEVELS]; /* why it left a level; 0: no hole was big enough */
    uint32_t short_step[XPU_MEMPLAN_MAX_LEVELS];
} xpu_memplan_group;

typedef struct {
    xpu_memplan_group *items;
    uint32_t count;
    uint32_t *group_of; /* per buffer */
    uint32_t *alias;    /* per buffer: the alternative that was taken */
    uint64_t *delta;    /* per buffer: its offset in the group */
} xpu_memplan_groups;

typedef enum {
    XPU_MEMPLAN_ALL_ALIASES,
    XPU_MEMPLAN_NO_PARTS,
    XPU_MEMPLAN_NO_ALIASES,
    XPU_MEMPLAN_ALIAS_MODES
} xpu_memplan_alias_mode;

void xpu_memplan_group_buffers(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_choice *choices,
                               xpu_memplan_alias_mode mode, xpu_memplan_groups *groups);

/* pack.c: offsets in one level. */
typedef struct {
    uint32_t id; /* the caller's */
    xpu_memplan_life life;
    uint64_t bytes, alignment;
    uint64_t benefit; /* of standing here */
    uint64_t density; /* xpu_memplan_density, where the caller asks for it often */
    int forced;       /* it has nowhere else to go */
    int pinned;       /* at `offset` */
    uint64_t offset;  /* result: UINT64_MAX when it was left out; forced ones never are, but may reach above the end */
} xpu_memplan_item;

/* Places items between `start` and `end`. Makes the overflow above `end` small, then the lost benefit, then the peak.
 * Tries about `budget` comparisons, more when forced items reach above `end`; 0 asks for one quick arrangement, of
 * which nothing is proved. Adds what it used to *steps; the exact search may use as much again, which does not count.
 * *proved: no placement of all the items has a lower peak. Returns the bytes by which forced items reach above `end`.
 */
uint64_t xpu_memplan_pack(xpu_arena *arena, xpu_memplan_item *items, uint32_t count, uint64_t start, uint64_t end,
                          uint64_t budget, uint64_t *steps, uint64_t *proved);

static inline int xpu_memplan_items_meet(const xpu_memplan_item *a, const xpu_memplan_item *b) {
    if (a->life.first > b->life.last || b->life.first > a->life.last) return 0;
    return !(a->life.gap_count | b->life.gap_count) || xpu_memplan_lives_meet(&a->life, &b->life);
}

/* order.c: what orders sort by: greater keys first, then by index. */
typedef struct {
    uint64_t keys[3];
    uint32_t index;
} xpu_memplan_sort_key;
int xpu_memplan_compare_keys(const void *a, const void *b);

/* Benefit per byte and step, scaled to an integer. */
uint64_t xpu_memplan_density(const xpu_memplan_item *item);

/* neighbours.c: for an item that meets few others in time, which ones: list[start[i]] to list[start[i + 1] - 1]. */
typedef struct {
    uint32_t *start, *list;
    uint8_t *many; /* per item: it meets too many to list them */
} xpu_memplan_neighbours;
void xpu_memplan_find_neighbours(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count,
                                 xpu_memplan_neighbours *neighbours);

/* skyline.c: sorts items of `order` by where they stand on the skyline of those before them, above `start`, and gives
 * these offsets. load: xpu_memplan_crowding. Returns the steps. */
typedef enum {
    XPU_MEMPLAN_FILL_LONG, /* where the most live the longest first */
    XPU_MEMPLAN_FILL_LONGISH,
    XPU_MEMPLAN_FILL_LARGE, /* bytes times steps */
    XPU_MEMPLAN_FILL_EARLY,
    XPU_MEMPLAN_FILLS
} xpu_memplan_fill;
uint64_t xpu_memplan_skyline_order(xpu_arena *arena, const xpu_memplan_item *items, const uint64_t *load,
                                   uint32_t count, xpu_memplan_fill fill, uint64_t start, uint32_t *order,
                                   uint64_t *offset);

/* repair.c: makes the peak of a placement lower where the items are too many for the exact search, in about `budget`
 * comparisons, which it adds to *steps. offset: UINT64_MAX for what does not stand. `bound`: of the peak. */
void xpu_memplan_repair(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count, uint64_t start, uint64_t bound,
                        uint64_t budget, uint64_t *steps, uint64_t *offset);

/* load.c: bytes over time. Items of 0 bytes and what lies below `start` do not count. */

/* Most bytes that live at one step, and the first such step. */
uint64_t xpu_memplan_load(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count, uint64_t start,
                          uint32_t *worst_step);

/* A power of two that divides every offset that items can have. */
uint64_t xpu_memplan_grid(const xpu_memplan_item *items, uint32_t count);

/* clique.c: the bytes of the heaviest set found of items each two of which meet, gaps or not, on a grid as below; 0:
 * too many items. */
uint64_t xpu_memplan_clique(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count, uint64_t start,
                            uint64_t grid);

/* The load, or more: items with gaps may meet each other at different steps, and where every offset lies on a grid, all
 * but the topmost of what lives at one step take whole steps of it. No placement has a lower peak, counted from
 * `start`. */
uint64_t xpu_memplan_bound(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count, uint64_t start);

/* Takes items in order while their live bytes fit between `start` and `end`; forced ones always. Sets offset to 0 for
 * those taken, UINT64_MAX for the others, with the bytes that were short and the step in short_bytes and short_step. */
void xpu_memplan_admit(xpu_arena *arena, xpu_memplan_item *items, uint32_t count, uint64_t start, uint64_t end,
                       uint64_t *short_bytes, uint32_t *short_step);

/* Per item the most bytes that live at one step of its life. `count` is at least 1. */
uint64_t *xpu_memplan_crowding(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count);

/* Holes below the highest live byte, in 1/1000 of the bytes below it, summed over the steps. */
uint32_t xpu_memplan_fragmentation(xpu_arena *arena, const xpu_memplan_item *items, uint32_t count, uint64_t start);

/* plan.c: one try to plan everything. It fails when a level is too small for what has nowhere else to go. */
typedef struct {
    xpu_memplan_groups groups;
    uint64_t steps;
    int failed;
    uint32_t level;          /* that failed */
    uint64_t short_bytes;    /* by so many */
    uint32_t step;           /* at this step */
    int crowded;             /* more bytes live than there are; otherwise only no arrangement was found */
    xpu_memplan_item *items; /* what had nowhere else to go, or was pinned; ids are groups */
    uint32_t item_count;
    uint64_t proved[XPU_MEMPLAN_MAX_LEVELS]; /* no placement has a lower peak; 0: nothing is known of it */
} xpu_memplan_attempt;

/* budget 0: it is not asked where groups stand. */
void xpu_memplan_try(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_choice *choices,
                     xpu_memplan_alias_mode mode, uint64_t budget, xpu_memplan_attempt *attempt);

/* What is lost, in 1/1024 cycles, when the group stands at its next level instead of this one. */
uint64_t xpu_memplan_benefit(const xpu_memplan_problem *problem, const xpu_memplan_group *group);

/* untie.c: plans again without those results in place of operands without which more of the benefit stays. */
void xpu_memplan_untie(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_choice *choices,
                       xpu_memplan_alias_mode mode, uint64_t budget, xpu_memplan_attempt *attempt);

/* blame.c: the error for a failed attempt: [plan-rules] when the problem has a plan without them, else [plan-capacity].
 */
xpu_status xpu_memplan_blame(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_attempt *attempt,
                             xpu_diags *diags);

#endif
