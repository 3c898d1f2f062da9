#include "xpu_codegen/quantised_input.h"

#include <float.h>

#include "core/arith.h"
#include "core/ops/window.h"
#include "core/passes/rewrite.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

/* The only reader of a value that stays in its block, or {0}. */
static xpu_use only_use(const xpu_codegen *cg, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    if (xpu_value_leaves(cg->graph, value) || info->uses.count != 1) return (xpu_use){0};
    const xpu_use use = info->uses.items[0];
    const uint32_t home = xpu_value_block(cg->graph, value).id;
    return xpu_node_at(cg->graph, use.node)->parent.id == home ? use : (xpu_use){0};
}

/* ---- what is quantised ---- */

static int read_constant(xpu_codegen *cg, xpu_value value, xpu_tensor *tensor) {
    return xpu_is_const_value(cg, value) &&
           xpu_const_tensor(cg->graph, value, cg->arena, tensor, cg->diags) == XPU_OK && xpu_tensor_count(tensor) == 1;
}

int xpu_is_quantised_by_dma(xpu_codegen *cg, xpu_node quantize, xpu_quantised_input *input) {
    const xpu_value x = xpu_node_input(cg->graph, quantize, 0), zero = xpu_node_input(cg->graph, quantize, 2);
    xpu_quantised_input found = {.x = x};
    xpu_tensor tensor;
    if (!xpu_on_chip(cg, quantize) || xpu_node_int(cg->graph, quantize, XPU_ATTR_ZERO_FIRST)) return 0;
    if (xpu_value_at(cg->graph, x)->dtype != XPU_F32 || xpu_is_const_value(cg, x) || xpu_has_gaps(cg, x)) return 0;
    if (xpu_dtype_bytes(xpu_value_at(cg->graph, xpu_node_output(cg->graph, quantize, 0))->dtype) != 1) return 0;
    if (!read_constant(cg, xpu_node_input(cg->graph, quantize, 1), &tensor)) return 0;
    found.scale = *(const float *)tensor.data;
    if (!(found.scale >= FLT_MIN && found.scale <= FLT_MAX)) return 0;
    if (zero.id) {
        if (!read_constant(cg, zero, &tensor)) return 0;
        found.zero = tensor.dtype == XPU_I8 ? *(const int8_t *)tensor.data : *(const uint8_t *)tensor.data;
    }
    if (input) *input = found;
    return 1;
}

/* ---- who loads it ---- */

/* Whether the tensor engine multiplies the bytes x by constant weights, and sums become bytes. */
static int is_product(const xpu_codegen *cg, xpu_use use) {
    const xpu_graph *graph = cg->graph;
    if (!use.node.id || use.input != XPU_IN_X || !xpu_on_chip(cg, use.node)) return 0;
    if (xpu_node_is(graph, use.node, XPU_OP_QMATMUL)) return xpu_node_int(graph, use.node, XPU_ATTR_DTYPE) != XPU_F32;
    return xpu_node_is(graph, use.node, XPU_OP_QCONV) && xpu_window_of(graph, use.node).groups == 1 &&
           xpu_node_int(graph, use.node, XPU_ATTR_DTYPE) != XPU_F32;
}

/* Whether every pixel is loaded, side by side with its neighbours, and there are as many planes as DMA weaves. */
static int can_weave(const xpu_codegen *cg, xpu_node conv) {
    const xpu_window w = xpu_window_of(cg->graph, conv);
    const xpu_value x = xpu_node_input(cg->graph, conv, XPU_IN_X);
    const int leaves_out = w.kernel[0] == 1 && w.kernel[1] == 1 && (w.stride[0] > 1 || w.stride[1] > 1);
    return !leaves_out && xpu_dim_upper(cg, xpu_value_dim(cg, x, 1)) <= XPU_WOVEN_PLANES;
}

static xpu_node maker_of(const xpu_codegen *cg, xpu_value value, xpu_op_id op) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    const int is_it = info->kind == XPU_VALUE_NODE && xpu_node_is(cg->graph, info->node, op);
    return is_it ? info->node : (xpu_node){0};
}

int xpu_quantises_input(xpu_codegen *cg, xpu_node node, xpu_quantised_input *input) {
    const xpu_value bytes = xpu_node_input(cg->graph, node, XPU_IN_X);
    const xpu_node relayout = maker_of(cg, bytes, XPU_OP_RELAYOUT);
    const xpu_value made = relayout.id ? xpu_node_input(cg->graph, relayout, 0) : bytes;
    const xpu_node quantize = maker_of(cg, made, XPU_OP_QUANTIZE);
    const xpu_use use = only_use(cg, bytes);
    xpu_quantised_input found;
    if (!quantize.id || use.node.id != node.id || !is_product(cg, use)) return 0;
    if (!only_use(cg, made).node.id || !xpu_is_quantised_by_dma(cg, quantize, &found)) return 0;
    const xpu_layout from = xpu_value_at(cg->graph, found.x)->layout,
                     wanted = xpu_node_is(cg->graph, node, XPU_OP_QCONV) ? XPU_LAYOUT_CHANNEL_LAST : XPU_LAYOUT_LINEAR;
    found.has_planes = from != wanted && !xpu_layout_free(cg, found.x);
    if (found.has_planes && (wanted == XPU_LAYOUT_LINEAR || !relayout.id || !can_weave(cg, node))) return 0;
    if (input) *input = found;
    return 1;
}

int xpu_weaves_input(xpu_codegen *cg, xpu_node node, xpu_value *planes) {
    const xpu_graph *graph = cg->graph;
    if (!xpu_node_is(graph, node, XPU_OP_CONV) || !xpu_on_chip(cg, node)) return 0;
    if (xpu_node_int(graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_FP32) return 0;
    const xpu_value image = xpu_node_input(graph, node, XPU_IN_X);
    const xpu_node relayout = maker_of(cg, image, XPU_OP_RELAYOUT);
    if (!relayout.id || !xpu_on_chip(cg, relayout) || only_use(cg, image).node.id != node.id) return 0;
    const xpu_value from = xpu_node_input(graph, relayout, 0);
    if (xpu_value_at(graph, image)->layout != XPU_LAYOUT_CHANNEL_LAST || xpu_is_const_value(cg, from)) return 0;
    if (xpu_has_gaps(cg, from) || xpu_window_of(graph, node).groups != 1 || !can_weave(cg, node)) return 0;
    if (planes) *planes = from;
    return 1;
}

int xpu_is_quantised_in_load(xpu_codegen *cg, xpu_node node) {
    const int is_it = xpu_node_is(cg->graph, node, XPU_OP_QUANTIZE) || xpu_node_is(cg->graph, node, XPU_OP_RELAYOUT);
    if (!is_it || !xpu_on_chip(cg, node)) return 0;
    xpu_use use = only_use(cg, xpu_node_output(cg->graph, node, 0));
    if (use.node.id && use.input == XPU_IN_X && xpu_weaves_input(cg, use.node, NULL)) return 1;
    if (use.node.id && xpu_node_is(cg->graph, use.node, XPU_OP_RELAYOUT))
        use = only_use(cg, xpu_node_output(cg->graph, use.node, 0));
    return use.node.id && is_product(cg, use) && xpu_quantises_input(cg, use.node, NULL);
}
