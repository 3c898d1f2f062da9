/* The memory plan of the largest shape that has one. */
#ifndef XPU_PROGRAM_LARGEST_SHAPE_H
#define XPU_PROGRAM_LARGEST_SHAPE_H

#include "xpu_runtime/program/placement.h"

/* A memory plan of the largest shape that has one. */
typedef struct xpu_largest_plan {
    const int64_t *symbols; /* the shape; NULL: the program has no symbols */
    const char *refused;    /* why the upper bound of the symbols has no plan; NULL: this is it */
    xpu_placement placement;
    xpu_memplan *plan;
} xpu_largest_plan;

/* Makes the memory problem of the program at a shape. */
typedef xpu_status (*xpu_problem_fn)(void *context, const int64_t *symbols, xpu_arena *arena, xpu_placement *placement,
                                     xpu_diags *diags);
typedef struct {
    xpu_graph *graph;
    xpu_problem_fn make;
    void *context;
    xpu_arena *arena; /* of the plan */
    xpu_diags *diags;
} xpu_shape_search;

/* Plans at the upper bound of the symbols or, where that has no plan, at the largest shape below that is found when all
 * symbols grow from their smallest values by the same number of steps. An error where not even the smallest fits. */
xpu_status xpu_plan_largest(const xpu_shape_search *search, xpu_largest_plan *plan);

#endif
