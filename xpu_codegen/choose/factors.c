/*
 * Factors of channels that a network computes (squeeze and excite), and sums, behind a convolution on the tensor
 * engine: y f, y + y f, and either plus an image. The engine multiplies the sums of each column by a scale anyway, so
 * the factor, or one plus it, goes into the scales, a layer of a few numbers; the image becomes the branch.
 */
#include "xpu_codegen/choose/factors.h"

#include "core/passes/rewrite.h"
#include "xpu_codegen/choose/geometry.h"
#include "xpu_codegen/choose/tiles.h"

enum { BATCH, CHANNELS, ROWS, COLUMNS, IMAGE_RANK };

/* What a chain does with the result of a convolution; numbers of the chain's operands, -1: there is none. */
typedef struct {
    int product, factor, branch;
    int is_added; /* y + y f */
} scaling;

/* Whether a step is `op` of these two values, in either order. */
static int is_step(const xpu_chain_step *step, xpu_elementwise op, int a, int b) {
    return step->op == op &&
           ((step->operands[0] == a && step->operands[1] == b) || (step->operands[0] == b && step->operands[1] == a));
}

/* The operand that a sum adds to `value`, which is none of those that are taken; -1: it is none. */
static int added_operand(const xpu_chain *chain, const xpu_chain_step *step, int value, const scaling *s) {
    for (int i = 0; i < (int)chain->input_count; i++) {
        if (i != s->product && i != s->factor && is_step(step, XPU_EW_add, value, i)) return i;
    }
    return -1;
}

/* Whether the chain's first step is the product of operand `product` and operand `factor`, and what follows is taken.
 */
static int read_scaling(const xpu_chain *chain, int product, int factor, scaling *s) {
    int value = (int)chain->input_count;
    uint32_t step = 0;
    *s = (scaling){product, factor, -1, 0};
    if (!is_step(&chain->steps[step++], XPU_EW_mul, product, factor)) return 0;
    if (step < chain->step_count && is_step(&chain->steps[step], XPU_EW_add, product, value)) {
        s->is_added = 1;
        value++, step++;
    }
    if (step < chain->step_count) {
        s->branch = added_operand(chain, &chain->steps[step++], value, s);
        if (s->branch < 0) return 0;
    }
    return step == chain->step_count && chain->input_count == (s->branch < 0 ? 2u : 3u);
}

/* A number for each channel of one image. */
static int is_factor(const xpu_codegen *cg, xpu_value value, xpu_value y) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value), *image = xpu_value_at(cg->graph, y);
    if (info->rank != IMAGE_RANK || info->dtype != XPU_F32 || xpu_is_const_value(cg, value)) return 0;
    return xpu_is_one(cg, info->dims[BATCH]) && xpu_is_one(cg, info->dims[ROWS]) &&
           xpu_is_one(cg, info->dims[COLUMNS]) && xpu_dim_equal(info->dims[CHANNELS], image->dims[CHANNELS]);
}

/* Whether the node is a convolution of one image on the tensor engine, behind whose sums nothing stands. */
static int is_open_product(xpu_codegen *cg, xpu_node node, int gets_branch) {
    const xpu_graph *graph = cg->graph;
    if (!node.id || !xpu_node_is(graph, node, XPU_OP_CONV) || !xpu_on_chip(cg, node)) return 0;
    const int64_t precision = xpu_node_int(graph, node, XPU_ATTR_PRECISION);
    if (precision == XPU_PRECISION_FP32 || !xpu_used_once(graph, node)) return 0;
    if (xpu_node_int(graph, node, XPU_ATTR_ACTIVATION) != XPU_ACTIVATION_NONE) return 0;
    if (xpu_node_input(graph, node, XPU_IN_BRANCH).id) return 0;
    const xpu_value y = xpu_node_output(graph, node, XPU_OUT_Y);
    if (xpu_value_at(graph, y)->rank != IMAGE_RANK || !xpu_is_one(cg, xpu_value_dim(cg, y, BATCH))) return 0;
    const xpu_conv_shape shape = xpu_conv_shape_of(cg, node);
    xpu_tile tile;
    return !xpu_is_depthwise(cg, &shape) &&
           !xpu_choose_tile(cg, &shape, gets_branch,
                            precision == XPU_PRECISION_INT16X8 ? XPU_TILING_I16X8 : XPU_TILING_I16, &tile);
}

/* The scaling that the chain `node` is, and the convolution that goes into it; {0}: there is none. */
static xpu_node product_of(xpu_codegen *cg, xpu_node node, scaling *s) {
    const xpu_graph *graph = cg->graph;
    const xpu_node none = {0};
    xpu_chain_types types;
    if (!xpu_node_is(graph, node, XPU_OP_CHAIN) || !xpu_on_chip(cg, node)) return none;
    if (!xpu_chain_types_of_node(graph, node, &types) || !types.is_float32) return none;
    const xpu_chain *chain = xpu_chain_of(graph, node);
    for (int i = 0; i < 2; i++) {
        const int product = chain->steps[0].operands[i], factor = chain->steps[0].operands[1 - i];
        if (product >= (int)chain->input_count || factor >= (int)chain->input_count) return none;
        const xpu_node maker = xpu_maker(graph, node, (uint32_t)product);
        if (!read_scaling(chain, product, factor, s) || !is_open_product(cg, maker, s->branch >= 0)) continue;
        const xpu_value y = xpu_node_output(graph, maker, XPU_OUT_Y);
        if (!xpu_value_same_shape(graph, y, xpu_node_output(graph, node, XPU_OUT_Y))) continue;
        if (!is_factor(cg, xpu_node_input(graph, node, (uint32_t)factor), y)) continue;
        if (s->branch >= 0 && !xpu_value_same_shape(graph, y, xpu_node_input(graph, node, (uint32_t)s->branch)))
            continue;
        return xpu_node_at(graph, maker)->region == xpu_node_at(graph, node)->region ? maker : none;
    }
    return none;
}

/* ---- the scales ---- */

static xpu_value add_before(xpu_codegen *cg, xpu_node node, xpu_op_id op, const xpu_value *inputs, uint32_t count,
                            const char *name, const xpu_attr *attr) {
    xpu_graph *graph = cg->graph;
    const xpu_block left = xpu_graph_enter(graph, xpu_node_at(graph, node)->parent);
    const xpu_node made = xpu_graph_add(graph, node, xpu_op_of(op), inputs, count, &name, 1, attr, 1, NULL, 0);
    xpu_graph_enter(graph, left);
    xpu_node_at(graph, made)->region = xpu_node_at(graph, node)->region;
    xpu_op_infer(graph, made, cg->diags);
    return xpu_node_output(graph, made, 0);
}

/* The vector `of` times the factors, or times one plus them, in front of `node`. */
static xpu_value scaled(xpu_codegen *cg, xpu_node node, xpu_value factors, xpu_value of, int is_added,
                        const char *name) {
    xpu_chain chain = {.input_count = 2, .step_count = is_added ? 2 : 1};
    if (is_added) chain.steps[0] = (xpu_chain_step){.op = XPU_EW_add_scalar, .operands = {0}, .immediates = {1.0f}};
    chain.steps[is_added] = (xpu_chain_step){.op = XPU_EW_mul, .operands = {is_added ? 2 : 0, 1}};
    const xpu_value inputs[] = {factors, of};
    return add_before(cg, node, XPU_OP_CHAIN, inputs, 2, name, &XPU_ATTR_CHAIN_OF(STEPS, &chain));
}

/* `node`, a chain, becomes the convolution with other scales, and another bias. */
static xpu_status join(xpu_codegen *cg, xpu_node node, xpu_node conv, const scaling *s) {
    xpu_graph *graph = cg->graph;
    const xpu_value factor = xpu_node_input(graph, node, (uint32_t)s->factor),
                    branch = s->branch < 0 ? (xpu_value){0} : xpu_node_input(graph, node, (uint32_t)s->branch),
                    scale = xpu_node_input(graph, conv, XPU_IN_WSCALE), bias = xpu_node_input(graph, conv, XPU_IN_BIAS);
    const char *name = xpu_value_at(graph, xpu_node_output(graph, node, XPU_OUT_Y))->name;
    const char *reason = xpu_reason_of(cg, conv);
    const xpu_dim channels = xpu_value_at(graph, scale)->dims[0];
    const xpu_value row = add_before(cg, node, XPU_OP_RESHAPE, &factor, 1, xpu_printf(cg->arena, "%s/factors", name),
                                     &XPU_ATTR_DIMS_OF(SHAPE, &channels, 1));
    const xpu_value scales = scaled(cg, node, row, scale, s->is_added, xpu_printf(cg->arena, "%s/scales", name));
    const xpu_value biases =
        bias.id ? scaled(cg, node, row, bias, s->is_added, xpu_printf(cg->arena, "%s/bias", name)) : bias;
    xpu_absorb(graph, node, conv);
    xpu_node_set_input(graph, node, XPU_IN_WSCALE, scales);
    xpu_node_set_input(graph, node, XPU_IN_BIAS, biases);
    xpu_node_set_input(graph, node, XPU_IN_BRANCH, branch);
    if (reason) reason = xpu_printf(cg->arena, "%s; the factors of its channels are in its scales", reason);
    xpu_set_reason(cg, node, reason);
    return xpu_op_infer(graph, node, cg->diags);
}

xpu_status xpu_join_factors(xpu_codegen *cg) {
    XPU_FOR_ALL_NODES(cg->graph, node) {
        scaling s;
        const xpu_node conv = product_of(cg, node, &s);
        const xpu_status status = conv.id ? join(cg, node, conv, &s) : XPU_OK;
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}
