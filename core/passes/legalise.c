#include "core/passes/passes.h"

xpu_status xpu_pass_legalise(xpu_graph *graph, xpu_diags *diags) {
    xpu_status first = XPU_OK;
    XPU_FOR_BLOCKS(graph, block) {
        for (xpu_node node = xpu_block_at(graph, block)->first, next; node.id; node = next) {
            next = xpu_node_next(graph, node);
            const xpu_op *op = xpu_node_at(graph, node)->op;
            if (!op->expand) continue;
            xpu_status status = op->expand(graph, node, diags);
            if (first == XPU_OK) first = status;
        }
    }
    xpu_status status = xpu_cut_integer_products(graph, diags);
    return first == XPU_OK ? status : first;
}
