/* Lists of integers that only the run knows, of at most XPU_MOST_KNOWN numbers: symbols that values define. */
#ifndef XPU_FRONTEND_BUILD_FOUND_H
#define XPU_FRONTEND_BUILD_FOUND_H

#include "frontend/build/build.h"

/* How many numbers the value has; 0: it is no such list. */
int64_t fe_found_count(const xpu_graph *graph, xpu_value value);
/* The list, in `scratch`, with a symbol from `min` to `max` for each entry that is not known, or may be larger. */
fe_dims fe_found_list(xpu_graph *graph, xpu_arena *scratch, xpu_value value, int64_t min, int64_t max);
/* The numbers of a result that the user bounds by this name are symbols from here on. */
void fe_bound_result(xpu_graph *graph, xpu_arena *scratch, xpu_value value, const char *name);
/* Places along dims, which may lie far outside, in b->scratch. -1: the value is no such list, or known; 0 after
 * reporting. */
int fe_found_places(fe_builder *b, xpu_value value, fe_dims *list);

#endif
