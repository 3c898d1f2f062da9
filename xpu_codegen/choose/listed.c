#include "xpu_codegen/choose/listed.h"

#include "core/ops/op.h"
#include "xpu_codegen/choose/costs.h"

int xpu_is_listed(xpu_codegen *cg) {
    if (cg->listed) return cg->listed == XPU_LISTED;
    int has_control = 0;
    XPU_FOR_ALL_NODES(cg->graph, node) {
        has_control |= xpu_node_is(cg->graph, node, XPU_OP_IF) || xpu_node_is(cg->graph, node, XPU_OP_LOOP);
    }
    cg->listed = has_control || cg->graph->dims.symbols.count ? XPU_NOT_LISTED : XPU_LISTED;
    return cg->listed == XPU_LISTED;
}
