/* Why a buffer is where it is: xpu-memplan explain. */
#ifndef XPU_MEMPLAN_EXPLAIN_H
#define XPU_MEMPLAN_EXPLAIN_H

#include <jansson.h>

#include "memplan/memplan.h"

/* What stands in the way of a buffer in a level that it is not in. */
typedef struct {
    uint32_t level;
    uint32_t step;        /* of its life: where the fewest bytes are free */
    uint64_t free_bytes;  /* there */
    uint64_t short_bytes; /* by so many it does not fit at that step; 0: there is room, but not in one piece */
    uint32_t *blockers;   /* what has bytes there at that step, the biggest first */
    uint32_t blocker_count;
} xpu_memplan_shortage;

typedef struct {
    uint32_t buffer;
    uint32_t preferred; /* the level that it would like best, after its rules */
    const char *why;    /* the level: one phrase */
    int is_elsewhere;   /* it is not in `preferred`, and `shortage` says what is there */
    xpu_memplan_shortage shortage;
    uint32_t below, above;            /* the nearest that live at the same time, or XPU_MEMPLAN_NONE */
    uint64_t below_distance;          /* free bytes between them; without a neighbour: to the start */
    uint64_t above_distance;          /* to the end of the level */
    uint32_t *sharing, sharing_count; /* those that use the same bytes by an alias, itself left out */
    uint32_t *rules, rule_count;      /* that match it */
} xpu_memplan_reason;

/* What is known of one buffer of a valid plan; all in `arena`. */
xpu_memplan_reason xpu_memplan_explain(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan,
                                       uint32_t buffer);

/* The same as lines for people, names escaped. */
char *xpu_memplan_reason_text(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan,
                              const xpu_memplan_reason *reason);

/* {"name", "kind", "bytes", "alignment", "first", "last", "level", "offset", "allowed": [...], "preferred", "why",
 *  "shortage": {"level", "step", "free", "short", "blockers": [{"name", "bytes", "first", "last"}]},
 *  "below": {"name", "distance"}, "above": {"name", "distance"}, "alias_of", "sharing": [...], "rules": [...]}
 * shortage is there where the buffer is elsewhere, alias_of where it is an alias, "gaps": [[first, last], ...] after a
 * "last" where it has some; name is null without a neighbour.
 * Released with the arena. */
json_t *xpu_memplan_reason_json(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan,
                                const xpu_memplan_reason *reason);

#endif
