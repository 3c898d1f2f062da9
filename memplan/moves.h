/*
 * Places in time: a buffer stands in different levels at different times, joined by transfers that run beside the
 * steps. Asked for by the time line of a problem (memplan/memplan.h).
 *
 * The time line. A step takes what it computes, or longer where a level has to move more bytes in it than it can: what
 * the step accesses there, and the shares of transfers in it, each as if its bytes were more by what moves during the
 * latency of the level. Behind that it waits once for the greatest latency of the levels that it accesses. A step
 * accesses a buffer in the fastest level that it stands in, and where it has arrived.
 *
 * What is sought: the fewest cycles, of these the fewest bytes that cross the last level.
 *
 *     xpu_memplan_moves *moves;
 *     status = xpu_memplan_make_moves(arena, &problem, NULL, &moves, diags);
 *     if (status == XPU_OK) status = xpu_memplan_check_moves(arena, &problem, moves, diags);
 */
#ifndef XPU_MEMPLAN_MOVES_H
#define XPU_MEMPLAN_MOVES_H

#include <jansson.h>

#include "memplan/memplan.h"

/* A buffer's bytes stand in a level from one step to another, both included. */
typedef struct {
    uint32_t buffer, level, from, to;
} xpu_memplan_stay;

/* From one stay of a buffer to another of it, which begins with the transfer. What is written last in step `end` is
 * there from the next step on. A computation anew has no source; it is one step. */
typedef struct {
    uint32_t source, target; /* stays; source may be XPU_MEMPLAN_NONE: computed anew */
    uint32_t begin, end;
    const xpu_memplan_use *shares; /* the bytes that move in a step, by step; none is 0 */
    uint32_t share_count;
} xpu_memplan_transfer;

typedef struct {
    xpu_memplan_stay *stays; /* by buffer, then by their first step, then by level */
    uint32_t stay_count;
    xpu_memplan_transfer *transfers; /* by target */
    uint32_t transfer_count;
    uint64_t *cycles;                   /* per step; NULL: none of these numbers is known */
    uint64_t all_cycles, last_bytes;    /* their sum; the bytes that cross the last level */
    uint64_t still_cycles, still_bytes; /* the same where each buffer has one level for life; 0: not known */
    xpu_memplan_problem problem;        /* with a buffer for each stay, which has one level, and no time line */
    xpu_memplan plan;                   /* of it: where the stays are */
    const char *file;                   /* it was read from; NULL: the planner made it */
} xpu_memplan_moves;

/* Errors as of xpu_memplan_make. The search takes about 16 times the step budget, in changes of a step. Buffers with
 * gaps, rules, pins, or bytes of others are not moved. */
xpu_status xpu_memplan_make_moves(xpu_arena *arena, const xpu_memplan_problem *problem,
                                  const xpu_memplan_options *options, xpu_memplan_moves **moves, xpu_diags *diags);

/* The validator, which shares no code with the planner. As xpu_memplan_check of the places; and
 *   [check-stay]     a stay that is out of the life of its buffer, or in a level that it may not have
 *   [check-use]      a step accesses a buffer that is nowhere, or has not arrived
 *   [check-transfer] a transfer that has no source in its time, or moves other bytes than the buffer's
 *   [check-cycles]   a step takes less than it needs, so that a level is overbooked, or more; or a sum is wrong */
xpu_status xpu_memplan_check_moves(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_moves *moves,
                                   xpu_diags *diags);

/* The problem of the stays: `moves` needs its stays and transfers, which make sense by themselves. */
xpu_memplan_problem xpu_memplan_problem_of_stays(xpu_arena *arena, const xpu_memplan_problem *problem,
                                                 const xpu_memplan_moves *moves);

/* A plan with moves as JSON (memplan/file.h). */
xpu_status xpu_memplan_write_moves(xpu_arena *arena, const char *path, const xpu_memplan_problem *problem,
                                   const xpu_memplan_moves *moves, xpu_diags *diags);
xpu_status xpu_memplan_read_moves(xpu_arena *arena, const char *path, const xpu_memplan_problem *problem,
                                  xpu_memplan_moves *moves, xpu_diags *diags);

/* As xpu_memplan_draw, with the time in which a stay arrives hatched. */
xpu_status xpu_memplan_draw_moves(xpu_arena *arena, const char *path, const xpu_memplan_moves *moves, xpu_diags *diags);

/* "comes from GM in steps 3 to 4", "is computed anew in step 3", or NULL. */
char *xpu_memplan_arrival_text(xpu_arena *arena, const xpu_memplan_moves *moves, uint32_t stay);

/* Cycles, and a line for each transfer: text for people, names escaped. */
char *xpu_memplan_moves_text(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_moves *moves);
/* The same: {"cycles", "last_bytes", "transfers": [{"buffer", "source", "target", "begin", "end", "bytes"}],
 *  "steps": [cycles, ...]} with "still_cycles" and "still_bytes" where they are known; source is null where it is
 *  computed anew. Released with the arena. */
json_t *xpu_memplan_moves_json(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_moves *moves);

#endif
