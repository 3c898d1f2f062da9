/*
 * What stands around depthwise convolutions, and becomes part of them. Chains in front: the kernel puts each row of its
 * input through the chain once it lies in LM, so that what the chain makes is not stored, and the rows may be those
 * that the tensor engine is still making. Hard swish behind: of each row of the result before it is stored.
 */
#include "xpu_codegen/choose/prologue.h"

#include "core/passes/rewrite.h"
#include "xpu_codegen/choose/geometry.h"

int xpu_goes_in_strips(xpu_codegen *cg, xpu_node node) {
    enum { LEAST_LM = 32768 };
    const xpu_conv_shape s = xpu_conv_shape_of(cg, node);
    const int64_t height = s.kernel[0], width = s.kernel[1];
    if (!xpu_is_depthwise(cg, &s) || xpu_node_input(cg->graph, node, XPU_IN_BRANCH).id) return 0;
    return (width == 3 || width == 5) && height <= width && s.dilation[0] == 1 && s.dilation[1] == 1 &&
           s.stride[1] <= 2 && cg->chip.lm_bytes >= LEAST_LM;
}

/* The chain that makes its operand, and may become part of it; {0}: there is none. */
static xpu_node prologue_of(xpu_codegen *cg, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    const xpu_node none = {0}, maker = xpu_maker(graph, node, XPU_IN_X);
    xpu_chain_types types;
    if (!maker.id || !xpu_node_is(graph, maker, XPU_OP_CHAIN) || xpu_node_at(graph, maker)->input_count != 1)
        return none;
    if (!xpu_used_once(graph, maker) || xpu_node_at(graph, maker)->region != xpu_node_at(graph, node)->region)
        return none;
    return xpu_chain_types_of_node(graph, maker, &types) && types.is_float32 ? maker : none;
}

/* Whether the node is such a convolution. */
static int is_window(xpu_codegen *cg, xpu_node node) {
    if (!node.id || !xpu_node_is(cg->graph, node, XPU_OP_CONV) || xpu_on_host(cg, node) || xpu_is_foreign(cg, node))
        return 0;
    return xpu_node_int(cg->graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_FP32 && xpu_goes_in_strips(cg, node);
}

xpu_status xpu_join_prologues(xpu_codegen *cg) {
    xpu_graph *graph = cg->graph;
    XPU_FOR_ALL_NODES(graph, node) {
        if (!is_window(cg, node)) continue;
        const xpu_node chain = prologue_of(cg, node);
        if (!chain.id) continue;
        xpu_node_set_attr(graph, node, &XPU_ATTR_CHAIN_OF(STEPS, xpu_chain_of(graph, chain)));
        xpu_node_set_input(graph, node, XPU_IN_X, xpu_node_input(graph, chain, 0));
        xpu_node_lead_origins(graph, node, &chain, 1);
        xpu_node_remove(graph, chain);
        xpu_status status = xpu_op_infer(graph, node, cg->diags);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}

static int is_hard_swish(const xpu_graph *graph, xpu_node node) {
    if (!xpu_node_is(graph, node, XPU_OP_CHAIN) || xpu_node_at(graph, node)->input_count != 1) return 0;
    const xpu_chain *chain = xpu_chain_of(graph, node);
    return chain->step_count == 1 && chain->steps[0].op == XPU_EW_hard_swish;
}

xpu_status xpu_join_epilogues(xpu_codegen *cg) {
    xpu_graph *graph = cg->graph;
    XPU_FOR_ALL_NODES(graph, node) {
        if (!is_hard_swish(graph, node)) continue;
        const xpu_node window = xpu_maker(graph, node, 0);
        if (!is_window(cg, window) || !xpu_used_once(graph, window)) continue;
        if (xpu_node_at(graph, window)->region != xpu_node_at(graph, node)->region) continue;
        if (xpu_node_int(graph, window, XPU_ATTR_ACTIVATION) != XPU_ACTIVATION_NONE) continue;
        const char *reason = window.id < cg->reasons.count ? cg->reasons.items[window.id] : NULL;
        xpu_absorb(graph, node, window);
        xpu_node_set_attr(graph, node, &XPU_ATTR_INT_OF(ACTIVATION, XPU_ACTIVATION_HARD_SWISH));
        while (cg->reasons.count <= node.id) XPU_PUSH(cg->arena, &cg->reasons, NULL);
        cg->reasons.items[node.id] = reason;
        xpu_status status = xpu_op_infer(graph, node, cg->diags);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}
