/* Rotary embedding: pairs of elements of a row turn by angles of which tables have cosines and sines. */
#ifndef XPU_CORE_OPS_ROTARY_H
#define XPU_CORE_OPS_ROTARY_H

#include "core/ir/graph.h"

enum {
    XPU_IN_COSINES = 1, /* operands of ROTARY; 0 is x, [..., d] */
    XPU_IN_SINES = 2,
    XPU_ROTARY_MOST = 256 /* elements of a row */
};

/* Whether a table [..., d] has a row for each row of x, or the same for all along dims of x that lie side by side:
 * [*first, *last), dims of 1 in the table or in front of its own. */
int xpu_rotary_fits(const xpu_graph *graph, const xpu_value_info *x, const xpu_value_info *table, int *first,
                    int *last);

#endif
