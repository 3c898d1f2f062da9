/* The recurrence of LSTM, GRU and RNN: operands, and how gates stand in them. */
#ifndef XPU_CORE_OPS_RECURRENT_H
#define XPU_CORE_OPS_RECURRENT_H

#include "core/ops/op.h"

/* Attribute KIND. Gates stand side by side in the columns of x, w and bias: of an LSTM input, output, forget, cell; of
 * a GRU update, reset, hidden, with the reset behind the product. */
typedef enum { XPU_LSTM, XPU_GRU, XPU_RNN, XPU_RECURRENT_KINDS } xpu_recurrent_kind;

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

int xpu_gates_of(int64_t kind); /* 0: there is no such kind */

/* Sizes of a node whose operands fit each other. */
typedef struct {
    xpu_recurrent_kind kind;
    int gates;
    int64_t directions, hidden;
    xpu_dim steps, batch;
    int backwards; /* the only direction goes from the last step to the first; of two the second does */
} xpu_recurrence;
/* 0: they do not fit. */
int xpu_recurrence_of(const xpu_graph *graph, xpu_node node, xpu_recurrence *sizes);

#endif
