/*
 * The walker of memory plans: goes through a program on every path (then and else, no iteration, one, two) and keeps
 * book of which value lies where, and whether something has been written over it. What a value is comes from the graph,
 * when layers run from program.steps, where a value lies from the plan; it shares no code with compiler and planner.
 */
#ifndef XPU_TESTS_GEN_PLAN_WALK_H
#define XPU_TESTS_GEN_PLAN_WALK_H

#include "base/arena.h"
#include "xpu_runtime/program/placement.h"

/* The plan of a program at the shapes of `symbols`; what the run finds is at its bound. */
typedef struct {
    const xpu_program *program;
    const int64_t *symbols;
    xpu_place *places; /* by buffer; those of states change places and back */
} xpu_walked_plan;

/*
 * How many rules are broken; a line in `text` for each of the first few:
 *   - a value is read where it was written, on every path, and nothing was written there since
 *   - a result lies over an operand of its layer only where program.in_place or alias_of says so
 *   - what a concat makes where its first operand lies leaves that as it is: it appends
 *   - buffers live, as they declare, at each layer that uses their values; those from outside of a loop which its body
 *     reads live to the loop's end
 *   - weights and copies of weights are not written to; scratch is nobody else's while it lives
 *   - what moves has a layer that moves it; steps and nodes are in the same order
 *   - a state outlives the run, and the next run finds what the last one gave
 */
uint32_t xpu_walk_plan(const xpu_walked_plan *plan, xpu_arena *arena, xpu_text *text);

/* Which buffers hold, at some moment, a value that is read later: by buffer, for tests that break plans. */
const uint8_t *xpu_walk_readers(const xpu_walked_plan *plan, xpu_arena *arena);

#endif
