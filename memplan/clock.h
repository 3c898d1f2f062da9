/* The time line while places in time are sought: what each level moves and holds in each step, and what that takes.
 * What is put in can be taken out again. */
#ifndef XPU_MEMPLAN_CLOCK_H
#define XPU_MEMPLAN_CLOCK_H

#include "memplan/memplan.h"

typedef struct {
    uint64_t moved;    /* bytes: accesses, and shares of transfers with their latency */
    uint64_t live;     /* bytes that stand here, rounded up to whole alignments */
    uint32_t accesses; /* that a step makes itself */
} xpu_memplan_slot;

typedef struct {
    const xpu_memplan_problem *problem;
    uint32_t steps;
    xpu_memplan_slot *slots; /* by step, then by level */
    uint64_t *compute, *cycles;
    uint64_t all, last_bytes; /* cycles of all steps; bytes that cross the last level */
    uint64_t room[XPU_MEMPLAN_MAX_LEVELS];
    uint64_t work; /* changes so far */
} xpu_memplan_clock;

void xpu_memplan_clock_init(xpu_arena *arena, const xpu_memplan_problem *problem, xpu_memplan_clock *clock);

/* `in`: 1 puts it in, 0 takes it out. */
void xpu_memplan_clock_access(xpu_memplan_clock *clock, uint32_t step, uint32_t level, uint64_t bytes, int in);
void xpu_memplan_clock_compute(xpu_memplan_clock *clock, uint32_t step, uint64_t cycles, int in);
/* A share of a transfer: at both of its ends. */
void xpu_memplan_clock_share(xpu_memplan_clock *clock, uint32_t step, uint32_t from, uint32_t to, uint64_t bytes,
                             int in);
void xpu_memplan_clock_stand(xpu_memplan_clock *clock, uint32_t first, uint32_t last, uint32_t level, uint64_t bytes,
                             int in);

/* Whether so many bytes have room in a level from one step to another. */
int xpu_memplan_clock_fits(xpu_memplan_clock *clock, uint32_t first, uint32_t last, uint32_t level, uint64_t bytes);

/* The largest share from a level to another that does not make the step longer. */
uint64_t xpu_memplan_clock_free(const xpu_memplan_clock *clock, uint32_t step, uint32_t from, uint32_t to);

#endif
