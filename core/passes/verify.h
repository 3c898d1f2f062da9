#ifndef XPU_CORE_PASSES_VERIFY_H
#define XPU_CORE_PASSES_VERIFY_H

#include "core/ir/graph.h"

/* What xpu_graph_verify checks, and what the operators' rows say: element types of operands and results, programs of
 * chains. Adds [ir-verify] errors; returns XPU_OK or XPU_EBUG. `stage` names the pass that just ran. */
xpu_status xpu_verify(const xpu_graph *graph, const char *stage, xpu_diags *diags);

#endif
