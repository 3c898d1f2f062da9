/* Where one buffer stands over its life, and how it gets there: what the search for places in time chooses among. */
#ifndef XPU_MEMPLAN_ROUTES_H
#define XPU_MEMPLAN_ROUTES_H

#include "memplan/clock.h"

enum {
    XPU_MEMPLAN_MOST_NEEDS = 12, /* of a buffer that is moved */
    XPU_MEMPLAN_MOST_LEGS = XPU_MEMPLAN_MOST_NEEDS + 2,
    XPU_MEMPLAN_MOST_AHEAD = 32 /* steps that a transfer takes at most */
};

/* A stay, and how it begins: written or home, loaded from another one, or computed anew in its first step. */
typedef struct {
    uint32_t level, from, to;
    uint32_t source; /* leg of the same route, or XPU_MEMPLAN_NONE */
    int is_anew;
    uint32_t end; /* of the transfer */
    xpu_memplan_use *shares;
    uint32_t share_count;
} xpu_memplan_leg;

typedef struct {
    xpu_memplan_leg *legs;
    uint32_t leg_count;
    uint8_t *level_of; /* per use */
} xpu_memplan_route;

/* Steps in which the content is wanted: the uses and, unless it has a home, the first and last step of its life. */
typedef struct {
    uint32_t step[XPU_MEMPLAN_MOST_NEEDS];
    uint32_t use[XPU_MEMPLAN_MOST_NEEDS]; /* or XPU_MEMPLAN_NONE */
    uint32_t count;
    uint32_t written; /* the need that writes it; of one with a home 0 */
} xpu_memplan_needs;

/* 0: there are too many. */
int xpu_memplan_needs_of(const xpu_memplan_problem *problem, uint32_t buffer, xpu_memplan_needs *needs);

/* One stay for life. */
xpu_memplan_route xpu_memplan_route_still(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t buffer,
                                          uint32_t level);

/* What is asked for while routes of one buffer are compared. */
typedef struct {
    xpu_memplan_clock *clock;
    uint32_t buffer;
    int anywhere;             /* as if every level had room */
    const uint32_t *level_of; /* per buffer: where it stands for life, or XPU_MEMPLAN_NONE: it moves */
} xpu_memplan_search;

/* Puts a route of the buffer in, or takes it out. */
void xpu_memplan_route_put(const xpu_memplan_search *search, const xpu_memplan_route *route, int in);

/* The best route, in `arena`, of a buffer that is not in the clock: the fewest cycles, of these the fewest bytes, of
 * these the first tried. NULL: none has room. */
xpu_memplan_route *xpu_memplan_route_best(xpu_arena *arena, const xpu_memplan_search *search);

#endif
