/*
 * Which iterations of loops are meant. A list has a number, a range or '*' for each loop around a layer, from the
 * outermost on: "2,0..3", "*,1", or ".i0002.i0001" as names have it. One alone is for every loop; of several, loops
 * further in run in all of their iterations.
 */
#ifndef XPU_RUNTIME_ITERATIONS_H
#define XPU_RUNTIME_ITERATIONS_H

#include "base/arena.h"
#include "base/diag.h"

enum { XPU_MOST_LOOPS = 32 };

/* Which iteration runs, of each loop around a layer from the outermost on. */
typedef struct {
    int64_t at[XPU_MOST_LOOPS];
} xpu_iterations;

typedef struct {
    int64_t first, last; /* both included */
} xpu_iteration_range;

typedef struct {
    uint32_t count;
    xpu_iteration_range of[XPU_MOST_LOOPS];
} xpu_iteration_ranges;

/* Whether `text` is such a list. */
int xpu_iteration_ranges_read(const char *text, xpu_iteration_ranges *ranges);
/* Whether an iteration of a layer with so many loops around it is meant. */
int xpu_iterations_are_in(const xpu_iteration_ranges *ranges, const xpu_iterations *iterations, uint32_t loops);
/* A list of single numbers: how many there are; -1: it is none. */
int xpu_iterations_read(const char *text, xpu_iterations *iterations);
/* The error of an option whose value is no list. */
xpu_status xpu_iterations_wrong(xpu_arena *arena, xpu_diags *diags, const char *option, const char *text);

#endif
