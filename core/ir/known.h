/*
 * Values of small tensors as expressions: what shape arithmetic computes while a graph is built. An entry of integers
 * and bool (0 or 1) is a dim; one of float32 is a dim over a constant, exact where that is a power of two.
 */
#ifndef XPU_CORE_IR_KNOWN_H
#define XPU_CORE_IR_KNOWN_H

#include "core/ir/dim.h"

enum { XPU_MOST_KNOWN = 64 };
/* Whole numbers up to here are exact in float32. */
#define XPU_FLOAT_EXACT ((int64_t)1 << 24)

typedef struct {
    xpu_dim dim;  /* id 0: not known */
    int32_t over; /* what it is divided by; 1 but for float32 */
} xpu_known;

/* In row-major order; as many as the value's dims, which are constant, say. */
typedef struct {
    uint32_t count;
    xpu_known items[];
} xpu_known_list;

struct xpu_graph;

/* The entries of a value: known ones, or a small constant's. Returns how many, or -1 where nothing is known. */
int xpu_value_known(struct xpu_graph *graph, xpu_value value, xpu_known list[XPU_MOST_KNOWN]);
/* The same as dims; -1 where one of them is not known or no integer. */
int xpu_value_as_dims(struct xpu_graph *graph, xpu_value value, xpu_dim list[XPU_MOST_KNOWN]);
/* Takes away the last symbols of elements of inputs that no dim of a value, attribute or guard that is needed holds and
 * from which nothing was found: any data will do. */
void xpu_graph_drop_elements(struct xpu_graph *graph);
/* Says what the value's entries are: as a constant where all are, else as expressions. Those that its type may not hold
 * become unknown. Returns 1 where it became a constant. */
int xpu_value_set_known(struct xpu_graph *graph, xpu_value value, const xpu_known *list, int count);

#endif
