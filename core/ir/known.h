/*
 * Values of small tensors as expressions: what shape arithmetic computes while a graph is built. An entry of integers
 * and bool (0 or 1) is a dim; one of float32 is a dim over a constant, exact where that is a power of two.
 */
#ifndef XPU_CORE_IR_KNOWN_H
#define XPU_CORE_IR_KNOWN_H

#include "core/ir/graph.h"

/* The entries of a value: known ones, or a small constant's. Returns how many, or -1 where nothing is known. */
int xpu_value_known(xpu_graph *graph, xpu_value value, xpu_known list[XPU_MOST_KNOWN]);
/* The same as dims; -1 where one of them is not known or no integer. */
int xpu_value_as_dims(xpu_graph *graph, xpu_value value, xpu_dim list[XPU_MOST_KNOWN]);
/* Takes away the symbols that values define and that no dim of a value, attribute or guard that is needed holds and
 * from which nothing was found: any data will do. */
void xpu_graph_drop_elements(xpu_graph *graph);
/* Says what the value's entries are: as a constant where all are, else as expressions. Those that its type may not hold
 * become unknown. Returns 1 where it became a constant. */
int xpu_value_set_known(xpu_graph *graph, xpu_value value, const xpu_known *list, int count);

#endif
