#include "xpu_codegen/choose/listed.h"

#include "core/ops/op.h"
#include "xpu_codegen/choose/costs.h"

xpu_listed xpu_when_listed(xpu_codegen *cg) {
    if (cg->listed) return cg->listed;
    int has_control = 0;
    XPU_FOR_ALL_NODES(cg->graph, node) {
        has_control |= xpu_node_is(cg->graph, node, XPU_OP_IF) || xpu_node_is(cg->graph, node, XPU_OP_LOOP);
    }
    cg->listed = has_control ? XPU_NOT_LISTED : cg->graph->dims.symbols.count ? XPU_LISTED_WHEN_BOUND : XPU_LISTED;
    return cg->listed;
}

int xpu_is_listed(xpu_codegen *cg) {
    return xpu_when_listed(cg) == XPU_LISTED;
}
