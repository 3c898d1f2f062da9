#ifndef XPU_CORE_PASSES_CONTROL_H
#define XPU_CORE_PASSES_CONTROL_H

#include "core/ops/op.h"

/* An if whose condition is constant, a loop that is known to run not at all or once: the node becomes the nodes of the
 * body that runs. Return 1 when it did; not where a result or an argument defines a symbol. */
int xpu_decide_if(xpu_graph *graph, xpu_node node, xpu_diags *diags);
int xpu_decide_loop(xpu_graph *graph, xpu_node node, xpu_diags *diags);

#endif
