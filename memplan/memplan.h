/*
 * The memory-hierarchy planner. It knows no IR: a problem is plain numbers (levels, buffers with lifetimes, aliases
 * that the caller allows, placement rules already matched to buffers), a plan is a level and an offset per buffer.
 *
 * Time is counted in steps: buffer A and buffer B may share bytes when no step is in both of their closed intervals
 * [first, last], gaps left out. What one step reads and what it writes therefore never share bytes, unless an alias
 * says so.
 *
 * The planner is deterministic: equal problems and options give equal plans, on every machine. It uses no clock.
 *
 *     xpu_memplan_problem problem = {.levels = levels, .level_count = 3, .buffers = buffers, .buffer_count = n};
 *     xpu_memplan *plan;
 *     status = xpu_memplan_make(arena, &problem, NULL, &plan, diags);
 *     if (status == XPU_OK) status = xpu_memplan_check(arena, &problem, plan, diags);    // memplan/check.h
 */
#ifndef XPU_MEMPLAN_MEMPLAN_H
#define XPU_MEMPLAN_MEMPLAN_H

#include <stdint.h>

#include "base/diag.h"

enum { XPU_MEMPLAN_MAX_LEVELS = 8 };
#define XPU_MEMPLAN_NONE UINT32_MAX /* no buffer, no level, no alias */

/* Limits of a problem; anything above is [plan-problem]. */
#define XPU_MEMPLAN_MAX_BUFFERS   (1u << 20)
#define XPU_MEMPLAN_MAX_MATCHES   (1u << 22) /* also of aliases and gaps */
#define XPU_MEMPLAN_MAX_STEP      (1u << 30)
#define XPU_MEMPLAN_MAX_BYTES     (UINT64_C(1) << 44)
#define XPU_MEMPLAN_MAX_ALIGNMENT (1u << 30)
#define XPU_MEMPLAN_MAX_TIMELINE  (1u << 16)          /* steps of a time line, and cycles of a latency */
#define XPU_MEMPLAN_MAX_CYCLES    (UINT64_C(1) << 40) /* of a step */

/* X(enum name, text in reports and rule files) */
#define XPU_MEMPLAN_KINDS(X)                                                                                           \
    X(WEIGHT, "weight")                                                                                                \
    X(ACTIVATION, "activation")                                                                                        \
    X(SCRATCH, "scratch")

typedef enum {
#define X(name, text) XPU_MEMPLAN_##name,
    XPU_MEMPLAN_KINDS(X)
#undef X
        XPU_MEMPLAN_KIND_COUNT
} xpu_memplan_kind;

const char *xpu_memplan_kind_name(xpu_memplan_kind kind);

/* A memory, for example "SM", "L3" or "GM". Levels are numbered by their place in the problem, fastest first. */
typedef struct {
    const char *name;
    uint64_t bytes;           /* size of the whole level */
    uint64_t reserved;        /* its first bytes belong to somebody else; no buffer is placed there */
    uint32_t alignment;       /* of every allocation in this level, a power of two; 0 stands for 1 */
    uint32_t bytes_per_cycle; /* what an access costs, to weigh one buffer against another; 0 = unknown */
    const char *full_rule;    /* id of the error when it has no room; NULL: "plan-capacity" */
    /* Lines of bank_bytes lie in banks: a line's bank is the exclusive or of the bank_fields lowest fields of its
     * number, each as wide as `banks` needs. Powers of two; banks 0: it has none, and no rule names one. */
    uint32_t banks, bank_bytes, bank_fields;
    uint32_t latency; /* cycles; only a time line asks for it */
} xpu_memplan_level;

/* Steps, both included. */
typedef struct {
    uint32_t first, last;
} xpu_memplan_steps;

typedef struct {
    const char *name;
    uint64_t bytes;       /* 0 is allowed: it gets an offset and takes no room */
    uint32_t alignment;   /* of its first byte, also where it is an alias; a power of two; 0 stands for 1 */
    uint32_t first, last; /* the steps of its life, both included */
    /* Steps within its life at which it is not live, so that others may use its bytes: it comes back to the same place
     * and is written anew. In order; before, between and behind them it lives for a step or more. Alternatives of a
     * buffer with gaps, and those in it, are not taken. */
    const xpu_memplan_steps *gaps;
    uint32_t gap_count;
    xpu_memplan_kind kind;
    uint64_t access_bytes; /* read and written over the whole run: what a fast level saves; 0 stands for 2 * bytes */
    uint8_t levels[XPU_MEMPLAN_MAX_LEVELS]; /* numbers of the levels that are allowed, best first, all different */
    uint32_t level_count;                   /* at least 1 */
    /* Pinned: it stands in levels[0] (level_count is 1) at this offset, also within the reserved bytes. It never moves
     * and is nobody's alias, though others may be its aliases. */
    int pinned;
    uint64_t pinned_offset;
} xpu_memplan_buffer;

/* Why two buffers may share bytes although both live.
 * IN_PLACE: `buffer` overwrites `other`, which its first step reads for the last time. Where other.last > buffer.first,
 *           or `buffer` has more bytes than fit, the alternative is just not taken.
 * PART:     `buffer` is written straight to its place in `other` (an input of a concat); `other` begins when all its
 *           parts are there: buffer.first <= other.first <= buffer.last. Parts that share bytes are not taken together.
 * VIEW:     `buffer` is another name for bytes of `other` and never written (reshape, slice along the outer axis):
 *           other.first <= buffer.first <= other.last.
 * A part or view out of those bounds, in time or in space, is [plan-problem]. */
typedef enum { XPU_MEMPLAN_IN_PLACE, XPU_MEMPLAN_PART, XPU_MEMPLAN_VIEW } xpu_memplan_alias_kind;

/* An alternative: `buffer` may lie in `other`, `offset` bytes after its start. The planner takes at most one
 * alternative of a buffer, the first possible one in the order of the problem, or none: then `buffer` has bytes of its
 * own, and the caller copies. A part or view moves to a level that both allow; in place needs the same preferred level.
 * A box with gaps (channels in a channel-last concat) is `rows` runs of `row_bytes`, each `pitch` bytes after the one
 * before; rows = 0 stands for one run of the buffer's bytes. Only a PART has rows, and then nobody is its alias. */
typedef struct {
    uint32_t buffer, other;
    xpu_memplan_alias_kind kind;
    uint64_t offset;
    uint32_t rows;
    uint64_t row_bytes, pitch;
} xpu_memplan_alias;

typedef enum { XPU_MEMPLAN_MUST, XPU_MEMPLAN_PREFER, XPU_MEMPLAN_NEVER } xpu_memplan_strength;

const char *xpu_memplan_strength_name(xpu_memplan_strength strength);

/* A placement rule. `text` names it in messages, for example: rule 3 ("layer3.*"/weight must be in L3). One with an
 * offset, a bank or both is about where in the level the buffer's first byte lies; with "never" it forbids that place
 * alone, not the level. A "prefer" for an offset is dropped, with all others, where nothing else fits. */
typedef struct {
    const char *text;
    uint32_t level;
    xpu_memplan_strength strength;
    int has_offset, has_bank;
    uint64_t offset; /* from the start of the level: the reserved bytes count */
    uint32_t bank;
} xpu_memplan_rule;

/* Rule number `rule` holds for buffer number `buffer`. Of several "prefer" rules of a buffer the first one counts. */
typedef struct {
    uint32_t buffer, rule;
} xpu_memplan_match;

/* So many bytes are read or written in a step. */
typedef struct {
    uint32_t step;
    uint64_t bytes;
} xpu_memplan_use;

/* What a time line knows of a buffer. The first use writes it, all others read it; its content is wanted until its last
 * step. A constant has a home instead, a level in which it stands for all its life, and is only read. */
typedef struct {
    const xpu_memplan_use *uses; /* by step, each step once, within its life */
    uint32_t use_count;          /* 0: it is not moved, and costs nothing */
    uint32_t home;               /* a level that it is allowed, or XPU_MEMPLAN_NONE */
    /* Instead of being kept it may be computed anew within a step, which reads the operands and computes so much
     * longer; 0 cycles: it may not. */
    uint64_t anew_cycles;
    const uint32_t *operands;
    uint32_t operand_count;
} xpu_memplan_traffic;

/* Steps in cycles: asks for places in time (memplan/moves.h). xpu_memplan_make does not look at it. */
typedef struct {
    const uint64_t *cycles; /* per step: what it computes, where no memory holds it up */
    uint32_t step_count;
    const xpu_memplan_traffic *traffic; /* per buffer */
} xpu_memplan_timeline;

/* Everything is owned by the caller and must outlive the plan. */
typedef struct {
    const xpu_memplan_level *levels;
    uint32_t level_count;
    const xpu_memplan_buffer *buffers;
    uint32_t buffer_count;
    const xpu_memplan_alias *aliases;
    uint32_t alias_count;
    const xpu_memplan_rule *rules;
    uint32_t rule_count;
    const xpu_memplan_match *matches;
    uint32_t match_count;
    const char *file;              /* of messages; NULL: none */
    const char *rules_file;        /* of those about rules; NULL: `file` */
    const char *subject;           /* the place of the error that there is no room; NULL: the level */
    const char *const *step_names; /* what happens at each step (layers), for messages; NULL: steps are numbered */
    uint32_t step_name_count;
    const xpu_memplan_timeline *timeline; /* NULL: steps are not counted in cycles */
} xpu_memplan_problem;

#define XPU_MEMPLAN_DEFAULT_BUDGET UINT64_C(4000000)

typedef struct {
    uint64_t step_budget; /* work after the first valid plan, in comparisons of two buffers, shared by the levels; 0 =
                             the default; 1 = stop at the first valid plan. The exact search gets eight times as much,
                             together with the default no more than about 50 ms; trials of
                             results in place 32 times as much, of 2^15 buffers at most. */
    int no_aliases;       /* ignore every alternative */
    int any_plan;         /* only whether there is a plan is asked: less is done to make it better */
} xpu_memplan_options;

typedef struct {
    uint32_t level;
    uint64_t offset;   /* of its first byte, from the start of the level (the reserved bytes count) */
    uint32_t alias;    /* number of the alternative that was taken, or XPU_MEMPLAN_NONE */
    uint32_t alias_of; /* that alternative's `other`, or XPU_MEMPLAN_NONE */
} xpu_memplan_place;

/* Bytes here are without the level's reserved start. */
typedef struct {
    uint32_t buffers;      /* placed here, aliases included */
    uint64_t capacity;     /* bytes that can be used */
    uint64_t peak;         /* from the start to the highest byte ever used */
    uint64_t lower_bound;  /* max over steps of the bytes that live; no placement of these allocations in this
                              level has a lower peak */
    uint64_t gap;          /* peak - lower_bound: 0 proves the offsets optimal */
    uint64_t proved_bound; /* lower_bound, or above it where alignments, gaps or the search show that no placement
                              has a lower peak: where it is the peak, the offsets are optimal */
    uint32_t worst_step;   /* the first step at which lower_bound bytes live */
    uint32_t fragmentation_permille; /* holes: 1000 * (1 - live bytes / bytes below the highest live one), summed over
                                        the steps */
} xpu_memplan_usage;

/* A buffer that is not in its preferred level: the first "prefer" rule's, else levels[0] less what rules forbid. */
typedef struct {
    uint32_t buffer;
    uint32_t preferred;
    const char *why; /* one phrase: "no room: 4096 bytes short at step 7", "shares bytes with 'x'" */
} xpu_memplan_spill;

typedef struct {
    xpu_memplan_place *places; /* one per buffer */
    uint32_t buffer_count;
    xpu_memplan_usage *usage; /* one per level */
    uint32_t level_count;
    xpu_memplan_spill *spills; /* in the order of the buffers */
    uint32_t spill_count;
    uint64_t steps_used; /* comparisons made */
    const char *file;    /* it was read from; NULL: the planner made it */
} xpu_memplan;

/* A life: from its first to its last step, without the gaps. */
typedef struct {
    uint32_t first, last;
    const xpu_memplan_steps *gaps;
    uint32_t gap_count;
} xpu_memplan_life;

/* Whether the gaps of a buffer are in order, and it lives before, between and behind them. */
int xpu_memplan_gaps_hold(const xpu_memplan_buffer *buffer);

static inline xpu_memplan_life xpu_memplan_life_of(const xpu_memplan_buffer *buffer) {
    return (xpu_memplan_life){buffer->first, buffer->last, buffer->gaps, buffer->gap_count};
}

/* The steps between two gaps, before the first or behind the last one: part 0 to part gap_count. */
static inline xpu_memplan_steps xpu_memplan_part(const xpu_memplan_life *life, uint32_t part) {
    return (xpu_memplan_steps){part ? life->gaps[part - 1].last + 1 : life->first,
                               part < life->gap_count ? life->gaps[part].first - 1 : life->last};
}

/* "layer 7 'conv1'" where steps have names, else "step 7". */
const char *xpu_memplan_step(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t step);
/* "layers 3 'conv1' to 7 'add'", "layer 3 'conv1'", "steps 3 to 7", "step 3", "steps 3 to 9 without 5 and 7 to 8" */
const char *xpu_memplan_life_text(xpu_arena *arena, const xpu_memplan_problem *problem, xpu_memplan_life life);

/* Fills in one usage per level: what the places of all buffers say. */
void xpu_memplan_measure(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_place *places,
                         xpu_memplan_usage *usage);

/* Plans. `options` may be NULL. On XPU_OK *plan is in `arena`; otherwise *plan is NULL and diags says why, as errors:
 *   [plan-problem]  (XPU_EMODEL) the problem contradicts itself: an unknown level, a lifetime that ends before it
 *                   begins, two pinned buffers on the same bytes ...
 *   [plan-rules]    (XPU_EUSAGE) rules contradict each other or leave no room; `why` is the smallest conflicting set
 *   [plan-capacity] (XPU_EMODEL) no room: the level, the bytes short, the worst step and the biggest buffers there; a
 *                   level may have an id of its own for it
 * Bytes for work come from an arena of their own that is freed before returning. */
xpu_status xpu_memplan_make(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_options *options,
                            xpu_memplan **plan, xpu_diags *diags);

#endif
