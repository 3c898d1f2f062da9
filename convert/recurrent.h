/* What stands in front of a recurrence: the product of the inputs with their weights. */
#ifndef XPU_CONVERT_RECURRENT_H
#define XPU_CONVERT_RECURRENT_H

#include "core/ops/recurrent.h"

typedef struct {
    xpu_value x;    /* [steps, batch, inputs] in any rank, row-major */
    xpu_value w;    /* [inputs, columns] */
    xpu_value bias; /* [columns], or {0} */
    xpu_dim inputs;
} xpu_recurrent_source;

/* x W + bias, reshaped: as builders make it. 0: something else makes the operand. */
int xpu_recurrent_source_of(const xpu_graph *graph, xpu_node recurrent, xpu_recurrent_source *source);

/* The value in front of a reshape that nothing else uses, else itself. */
xpu_value xpu_through_reshape(const xpu_graph *graph, xpu_value value);

#endif
