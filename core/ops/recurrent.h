/* The recurrence of LSTM, GRU and RNN: operands, and how gates stand in them. */
#ifndef XPU_CORE_OPS_RECURRENT_H
#define XPU_CORE_OPS_RECURRENT_H

#include "core/arith_recurrent.h"
#include "core/ops/op.h"

/* Operands: x [steps, batch, directions * gates * hidden], the products of the inputs and all that is added to them but
 * what XPU_IN_BIAS holds; w [directions * hidden, gates * hidden]; the rest may be absent. */
enum {
    XPU_IN_HIDDEN = XPU_IN_BRANCH, /* [directions, batch, hidden]: the state at the start; absent: 0 */
    XPU_IN_CELL = XPU_IN_COUNT     /* the same of an LSTM's cells */
};
/* XPU_IN_BIAS is [directions, gates * hidden]: added to the product of the state. XPU_IN_WSCALE as of a matmul. */

/* Results: y [steps, directions, batch, hidden]; the state at the end [directions, batch, hidden]; of an LSTM its
 * cells, too. */
enum { XPU_OUT_HIDDEN = 1, XPU_OUT_CELL = 2 };

/* Sizes of a node whose operands fit each other. */
typedef struct {
    xa_recurrence kind; /* attribute KIND */
    int gates;
    int64_t directions, hidden;
    xpu_dim steps, batch;
    int backwards; /* the only direction goes from the last step to the first; of two the second does */
} xpu_recurrence;
/* 0: they do not fit. */
int xpu_recurrence_of(const xpu_graph *graph, xpu_node node, xpu_recurrence *sizes);

#endif
