/*
 * What stands around convolutions, and becomes part of them. Chains in front of a depthwise one in float32: the kernel
 * puts each row of its input through the chain once it lies in LM, so that what the chain makes is not stored, and the
 * rows may be those that the tensor engine is still making. Hard swish behind it: of each row of the result before it
 * is stored. Behind convolutions with 16-bit operands the post-processor, or the kernel on the cores, makes hard swish,
 * times a factor and plus an addend; behind those on the tensor engine it may clip the result once more.
 */
#include "xpu_codegen/choose/prologue.h"

#include <math.h>

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
    if (!node.id || !xpu_node_is(cg->graph, node, XPU_OP_CONV) || !xpu_on_chip(cg, node)) return 0;
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

/* A step of a chain of one operand: `op` of what the step before makes, and its number. 0: it is not. */
static int take_step(const xpu_chain *chain, uint32_t *step, xpu_elementwise op, float *number) {
    if (*step == chain->step_count || chain->steps[*step].op != op || chain->steps[*step].operands[0] != *step)
        return 0;
    if (number) *number = chain->steps[*step].immediates[0];
    ++*step;
    return 1;
}

/* A chain that is hard swish, perhaps times a factor, perhaps plus an addend. */
static int is_hard_swish(const xpu_graph *graph, xpu_node node, float *factor, float *addend) {
    uint32_t step = 0;
    *factor = 1;
    *addend = -0.0f;
    if (!xpu_node_is(graph, node, XPU_OP_CHAIN) || xpu_node_at(graph, node)->input_count != 1) return 0;
    const xpu_chain *chain = xpu_chain_of(graph, node);
    if (!take_step(chain, &step, XPU_EW_hard_swish, NULL)) return 0;
    take_step(chain, &step, XPU_EW_mul_scalar, factor);
    take_step(chain, &step, XPU_EW_add_scalar, addend);
    return step == chain->step_count;
}

/* Whether hard swish may become part of the node. */
static int may_swish(xpu_codegen *cg, xpu_node node, int is_scaled) {
    const xpu_graph *graph = cg->graph;
    if (!node.id || !xpu_node_is(graph, node, XPU_OP_CONV) || !xpu_on_chip(cg, node)) return 0;
    if (xpu_node_int(graph, node, XPU_ATTR_ACTIVATION) != XPU_ACTIVATION_NONE || !xpu_used_once(graph, node)) return 0;
    if (xpu_node_int(graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_FP32) return !is_scaled && is_window(cg, node);
    return !xpu_node_input(graph, node, XPU_IN_BRANCH).id;
}

/* The chain becomes the convolution, with the reason of its precision. */
static void absorb(xpu_codegen *cg, xpu_node chain, xpu_node conv) {
    const char *reason = xpu_reason_of(cg, conv);
    xpu_absorb(cg->graph, chain, conv);
    xpu_set_reason(cg, chain, reason);
}

xpu_status xpu_join_epilogues(xpu_codegen *cg) {
    xpu_graph *graph = cg->graph;
    XPU_FOR_ALL_NODES(graph, node) {
        float factor, addend;
        if (!is_hard_swish(graph, node, &factor, &addend)) continue;
        const xpu_node window = xpu_maker(graph, node, 0);
        if (!may_swish(cg, window, xpu_chain_of(graph, node)->step_count > 1)) continue;
        if (xpu_node_at(graph, window)->region != xpu_node_at(graph, node)->region) continue;
        absorb(cg, node, window);
        xpu_node_set_attr(graph, node, &XPU_ATTR_INT_OF(ACTIVATION, XPU_ACTIVATION_HARD_SWISH));
        xpu_node_set_attr(graph, node, &XPU_ATTR_FLOAT_OF(ALPHA, factor));
        xpu_node_set_attr(graph, node, &XPU_ATTR_FLOAT_OF(LOW, addend));
        xpu_status status = xpu_op_infer(graph, node, cg->diags);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}

/* A chain that is one clip. */
static int is_clip(const xpu_graph *graph, xpu_node node, float *low, float *high) {
    if (!xpu_node_is(graph, node, XPU_OP_CHAIN) || xpu_node_at(graph, node)->input_count != 1) return 0;
    const xpu_chain *chain = xpu_chain_of(graph, node);
    const xpu_chain_step *step = chain->steps;
    const int is_relu = step->op == XPU_EW_relu;
    xpu_chain_types types;
    if (chain->step_count != 1 || !(is_relu || step->op == XPU_EW_clip)) return 0;
    *low = is_relu ? 0.0f : step->immediates[0];
    *high = is_relu ? INFINITY : step->immediates[1];
    return xpu_chain_types_of_node(graph, node, &types) && types.is_float32;
}

/* Whether the node is a convolution on the tensor engine behind which a clip may be its own. */
static int may_clip(xpu_codegen *cg, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    if (!node.id || !xpu_node_is(graph, node, XPU_OP_CONV) || !xpu_on_chip(cg, node)) return 0;
    if (xpu_node_int(graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_FP32 || !xpu_used_once(graph, node)) return 0;
    if (xpu_node_attr(graph, node, XPU_ATTR_LAST_LOW)) return 0;
    const xpu_conv_shape shape = xpu_conv_shape_of(cg, node);
    return xpu_node_int(graph, node, XPU_ATTR_ACTIVATION) != XPU_ACTIVATION_HARD_SWISH && !xpu_is_depthwise(cg, &shape);
}

xpu_status xpu_join_last_clips(xpu_codegen *cg) {
    xpu_graph *graph = cg->graph;
    XPU_FOR_ALL_NODES(graph, node) {
        float low, high;
        if (!is_clip(graph, node, &low, &high)) continue;
        const xpu_node conv = xpu_maker(graph, node, 0);
        if (!may_clip(cg, conv) || xpu_node_at(graph, conv)->region != xpu_node_at(graph, node)->region) continue;
        absorb(cg, node, conv);
        xpu_node_set_attr(graph, node, &XPU_ATTR_FLOAT_OF(LAST_LOW, low));
        xpu_node_set_attr(graph, node, &XPU_ATTR_FLOAT_OF(LAST_HIGH, high));
        xpu_status status = xpu_op_infer(graph, node, cg->diags);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}
