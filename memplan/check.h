/*
 * The validator of memory plans: written to be obviously right, shares no code with the planner. Every plan that is
 * used goes through it, whoever made it.
 */
#ifndef XPU_MEMPLAN_CHECK_H
#define XPU_MEMPLAN_CHECK_H

#include "memplan/memplan.h"

/* XPU_OK when the plan is valid; otherwise XPU_EBUG, or XPU_EUSAGE of one that was read from a file, with one error per
 * problem found (at most 100 are reported):
 *   [check-size]     the plan has another number of buffers or levels than the problem
 *   [check-level]    a buffer stands in a level that does not exist or that it is not allowed
 *   [check-align]    a buffer or an allocation is not aligned
 *   [check-bounds]   a buffer reaches out of its level or into its reserved start
 *   [check-pinned]   a pinned buffer was moved
 *   [check-alias]    an alias that was not declared, not at its declared place, or not legal in time
 *   [check-overlap]  two buffers that both live share bytes without a declared alias
 *   [check-rule]     a must or never rule is broken
 *   [check-usage]    a reported peak, lower bound or gap is not what the places say
 *   [check-spill]    a spill that is not reported, or is reported wrongly
 */
xpu_status xpu_memplan_check(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan,
                             xpu_diags *diags);

/* For the validators alone: what a message calls a buffer, and an error of a plan, which may come from a file. */
const char *xpu_memplan_check_name(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t buffer);
void xpu_memplan_check_wrong(xpu_diags *diags, const char *file, const char *rule, const char *where, const char *what);

#endif
