/*
 * Scales per row. All of x has one scale in an int16 product: a row with one large element leaves few bits to the
 * others, and one NaN makes everything NaN. So each row is divided by a power of two before, and the product's row is
 * multiplied by it behind, where bias, branch and activation follow; both are exact. Not for one row, constants, and
 * what is bounded.
 */
#include "xpu_codegen/choose/row_scale.h"

#include <math.h>

#include "core/arith.h"
#include "core/passes/rewrite.h"
#include "xpu_codegen/choose/chain_loops.h"
#include "xpu_codegen/values.h"

static int has_finite_limits(float low, float high) {
    return isfinite(low) && isfinite(high);
}

/* Whether no element of what a chain makes can be much larger than the others may be. */
static int is_bounded_chain(const xpu_chain *chain) {
    const xpu_chain_step *last = &chain->steps[chain->step_count - 1];
    switch (last->op) {
    case XPU_EW_sigmoid:
    case XPU_EW_tanh:
    case XPU_EW_hard_sigmoid: return 1;
    case XPU_EW_clip: return has_finite_limits(last->immediates[0], last->immediates[1]);
    default: return 0;
    }
}

static int is_bounded(const xpu_codegen *cg, xpu_value x) {
    const xpu_graph *graph = cg->graph;
    const xpu_value_info *info = xpu_value_at(graph, xpu_same_elements(cg, x));
    if (info->kind != XPU_VALUE_NODE) return 0;
    switch (xpu_op_id_of(xpu_node_at(graph, info->node)->op)) {
    case XPU_OP_SOFTMAX: return 1;
    case XPU_OP_CHAIN: return is_bounded_chain(xpu_chain_of(graph, info->node));
    case XPU_OP_CONV:
    case XPU_OP_MATMUL:
    case XPU_OP_ROW_RESTORE:
        return xpu_node_int(graph, info->node, XPU_ATTR_ACTIVATION) == XPU_ACTIVATION_CLIP &&
               has_finite_limits(xpu_node_float(graph, info->node, XPU_ATTR_LOW),
                                 xpu_node_float(graph, info->node, XPU_ATTR_HIGH));
    default: return 0;
    }
}

int xpu_wants_row_scales(xpu_codegen *cg, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X), y = xpu_node_output(cg->graph, node, XPU_OUT_Y);
    int rank = xpu_value_at(cg->graph, x)->rank;
    if (!xpu_node_is(cg->graph, node, XPU_OP_MATMUL) || xpu_is_const_value(cg, x)) return 0;
    if (rank != xpu_value_at(cg->graph, y)->rank) return 0;
    return !xpu_dim_equal(xpu_dims_product(cg, x, 0, rank - 1), xpu_dim_of(cg, 1)) && !is_bounded(cg, x);
}

/* A node of the target's own in front of `before`, in the product's region. */
static xpu_node add_node(xpu_codegen *cg, xpu_node product, xpu_node before, xpu_op_id op, const xpu_value *inputs,
                         uint32_t input_count, const char *const *names, uint32_t output_count) {
    xpu_graph *graph = cg->graph;
    xpu_node node =
        xpu_graph_add(graph, before, xpu_op_of(op), inputs, input_count, names, output_count, NULL, 0, NULL, 0);
    xpu_node_at(graph, node)->region = xpu_node_at(graph, product)->region;
    return node;
}

/* Rows are scaled in front of the product that asks for them first; where it is in a body of control flow and x is from
 * outside, or products in front of it may ask later, directly behind what makes x, so that all of them may read them.
 */
static xpu_node add_rows(xpu_codegen *cg, xpu_node product, xpu_value x, int early, const char *const *names,
                         uint32_t count) {
    xpu_graph *graph = cg->graph;
    const xpu_value_info *info = xpu_value_at(graph, x);
    xpu_block own = xpu_value_block(graph, xpu_node_output(graph, product, XPU_OUT_Y)),
              outer = xpu_value_block(graph, x);
    if (own.id == outer.id && !early) return add_node(cg, product, product, XPU_OP_ROW_SCALE, &x, 1, names, count);
    xpu_block left = xpu_graph_enter(graph, outer);
    xpu_node before =
        info->kind == XPU_VALUE_NODE ? xpu_node_next(graph, info->node) : xpu_block_at(graph, outer)->first;
    xpu_node node = add_node(cg, product, before, XPU_OP_ROW_SCALE, &x, 1, names, count);
    xpu_graph_enter(graph, left);
    return node;
}

static int has_known_rows(const xpu_codegen *cg, xpu_value x) {
    int64_t dims[XPU_MAX_RANK];
    return xpu_value_dims(cg->graph, x, NULL, dims);
}

/* x by rows; where there may be one row only, with its absmax: then the product gives what it gives in a program for
 * one row, which has no scales of rows. Once for all products that read it. */
static xpu_node scaled_rows(xpu_codegen *cg, xpu_node product, xpu_row_scales *scales, int early) {
    xpu_graph *graph = cg->graph;
    xpu_value x = xpu_node_input(graph, product, XPU_IN_X);
    while (scales->rows.count <= x.id) XPU_PUSH(cg->arena, &scales->rows, (xpu_node){0});
    if (scales->rows.items[x.id].id) return scales->rows.items[x.id];
    const char *name = xpu_value_at(graph, x)->name;
    const char *const names[] = {xpu_printf(cg->arena, "%s/rows", name), xpu_printf(cg->arena, "%s/powers", name),
                                 xpu_printf(cg->arena, "%s/rows/absmax", name)};
    xpu_node node = add_rows(cg, product, x, early, names, has_known_rows(cg, x) ? 2 : 3);
    xpu_op_infer(graph, node, cg->diags);
    scales->rows.items[x.id] = node;
    return node;
}

xpu_scaled_rows xpu_scale_rows_of(xpu_codegen *cg, xpu_node node, xpu_row_scales *scales, int early) {
    if (!scales->absmax.id) scales->absmax = xpu_graph_const_f32(cg->graph, "rows/absmax", XA_ROW_ABSMAX);
    xpu_node rows = scaled_rows(cg, node, scales, early);
    xpu_value absmax = xpu_node_output(cg->graph, rows, XPU_OUT_ROW_ABSMAX);
    return (xpu_scaled_rows){.x = xpu_node_output(cg->graph, rows, XPU_OUT_Y),
                             .powers = xpu_node_output(cg->graph, rows, XPU_OUT_POWERS),
                             .absmax = absmax.id ? absmax : scales->absmax};
}

xpu_node xpu_multiply_rows(xpu_codegen *cg, xpu_node node, const xpu_scaled_rows *rows, xpu_op_id op, xpu_value w,
                           xpu_value w_scale) {
    static const xpu_attr_id kept[] = {XPU_ATTR_ACTIVATION, XPU_ATTR_BRANCH_AFTER, XPU_ATTR_ALPHA, XPU_ATTR_LOW,
                                       XPU_ATTR_HIGH};
    xpu_graph *graph = cg->graph;
    const xpu_value product_inputs[XPU_IN_COUNT] = {
        [XPU_IN_X] = rows->x, [XPU_IN_W] = w, [XPU_IN_WSCALE] = w_scale, [XPU_IN_ABSMAX] = rows->absmax};
    const char *name = xpu_value_at(graph, xpu_node_output(graph, node, XPU_OUT_Y))->name;
    const char *const names[] = {xpu_printf(cg->arena, "%s/rows", name)};
    xpu_node product = add_node(cg, node, node, op, product_inputs, XPU_IN_COUNT, names, 1);
    xpu_node_set_attr(graph, product, xpu_node_attr(graph, node, XPU_ATTR_PRECISION));
    xpu_node_add_origins(graph, product, node);
    xpu_op_infer(graph, product, cg->diags);
    const xpu_value inputs[] = {[XPU_IN_X] = xpu_node_output(graph, product, XPU_OUT_Y),
                                [XPU_IN_POWERS] = rows->powers,
                                [XPU_IN_BIAS] = xpu_node_input(graph, node, XPU_IN_BIAS),
                                [XPU_IN_BRANCH] = xpu_node_input(graph, node, XPU_IN_BRANCH)};
    xpu_attr attrs[sizeof kept / sizeof *kept];
    uint32_t attr_count = 0;
    for (uint32_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const xpu_attr *attr = xpu_node_attr(graph, node, kept[i]);
        if (attr) attrs[attr_count++] = *attr;
    }
    xpu_rewrite(graph, node, XPU_OP_ROW_RESTORE, inputs, sizeof inputs / sizeof *inputs, attrs, attr_count);
    xpu_op_infer(graph, node, cg->diags);
    return product;
}

xpu_node xpu_add_row_scales(xpu_codegen *cg, xpu_node node, xpu_row_scales *scales) {
    const xpu_scaled_rows rows = xpu_scale_rows_of(cg, node, scales, 0);
    xpu_value w = xpu_node_input(cg->graph, node, XPU_IN_W), w_scale = xpu_node_input(cg->graph, node, XPU_IN_WSCALE);
    return xpu_multiply_rows(cg, node, &rows, XPU_OP_MATMUL, w, w_scale);
}
