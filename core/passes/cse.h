#ifndef XPU_CORE_PASSES_CSE_H
#define XPU_CORE_PASSES_CSE_H

#include "core/ir/graph.h"

/* Nodes of the graph's own block with the same operator, operands and attributes as an earlier one: their users take
 * its result. Returns how many nodes went. */
uint32_t xpu_merge_equal_nodes(xpu_graph *graph);

#endif
