/* Values that grow in place. */
#include "xpu_codegen/choose/extents.h"

#include "core/ops/control.h"
#include "xpu_codegen/choose/chain_loops.h"
#include "xpu_runtime/include/xpu_kernel_args.h"

/* ---- what grows, and how far ---- */

/* The largest value of an expression that the run finds, of what is known before; {0}: nobody knows, or it may fall as
 * a part of it grows. */
static xpu_dim largest(xpu_codegen *cg, xpu_dim dim) {
    xpu_dims *dims = &cg->graph->dims;
    const xpu_dim_node node = *xpu_dim_at(dims, dim);
    int64_t by;
    if (!xpu_dim_is_dynamic(cg->graph, dim)) return dim;
    if (node.kind == XPU_DIM_SYMBOL) {
        const xpu_symbol symbol = dims->symbols.items[node.value];
        xpu_dim most = symbol.max < INT32_MAX - 1 ? xpu_dim_of(cg, symbol.max) : (xpu_dim){0};
        xpu_dim bound = symbol.bound.id ? largest(cg, symbol.bound) : (xpu_dim){0};
        if (!most.id || !bound.id) return most.id ? most : bound;
        return xpu_dim_op(dims, XPU_DIM_MIN, bound, most);
    }
    if (node.kind == XPU_DIM_MOD) return (xpu_dim){0};
    if (node.kind == XPU_DIM_FLOORDIV && (!xpu_dim_is_const(dims, node.b, &by) || by < 1)) return (xpu_dim){0};
    if (node.kind == XPU_DIM_MUL && (xpu_dim_min(dims, node.a) < 0 || xpu_dim_min(dims, node.b) < 0))
        return (xpu_dim){0};
    xpu_dim a = largest(cg, node.a), b = largest(cg, node.b);
    return a.id && b.id ? xpu_dim_op(dims, node.kind, a, b) : (xpu_dim){0};
}

/* The places along an axis that all of these need. */
static xpu_dim capacity_of(xpu_codegen *cg, const xpu_value *values, uint32_t count, int axis) {
    xpu_dim capacity = {0};
    for (uint32_t i = 0; i < count; i++) {
        xpu_dim most = largest(cg, xpu_value_dim(cg, values[i], axis));
        if (!most.id) return most;
        capacity = capacity.id ? xpu_dim_op(&cg->graph->dims, XPU_DIM_MAX, capacity, most) : most;
    }
    return capacity;
}

/* Equal but along the axis, and row-major. */
static int differ_by_axis(const xpu_codegen *cg, const xpu_value *values, uint32_t count, int axis) {
    const xpu_value_info *first = xpu_value_at(cg->graph, values[0]);
    for (uint32_t i = 0; i < count; i++) {
        const xpu_value_info *info = xpu_value_at(cg->graph, values[i]);
        if (info->layout != XPU_LAYOUT_LINEAR || info->rank != first->rank) return 0;
        for (int d = 0; d < info->rank; d++) {
            if (d != axis && !xpu_dim_equal(info->dims[d], first->dims[d])) return 0;
        }
    }
    return 1;
}

/* A copy has a dim for each of the value's, and elements of 8 bytes are pairs of words. */
static int is_movable(const xpu_value_info *info) {
    return info->rank + (xpu_dtype_bytes(info->dtype) > sizeof(uint32_t)) <= XPU_COPY_DIMS;
}

/* Whether a node of another target reads the value: in its own way. */
static int is_read_elsewhere(const xpu_codegen *cg, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    for (uint32_t i = 0; i < info->uses.count; i++) {
        xpu_node user = info->uses.items[i].node;
        if (xpu_is_foreign(cg, user) || xpu_node_is(cg->graph, user, XPU_OP_REGION)) return 1;
    }
    return 0;
}

enum { NOW, NEXT, LAST, FAMILY };

static void consider(xpu_codegen *cg, xpu_node loop, const xpu_block_info *body, uint32_t i) {
    const xpu_value family[FAMILY] = {[NOW] = body->arguments.items[XPU_BODY_FIRST + i],
                                      [NEXT] = body->results.items[XPU_BODY_NEXT + i],
                                      [LAST] = xpu_node_output(cg->graph, loop, i)};
    const xpu_value_info *now = xpu_value_at(cg->graph, family[NOW]), *next = xpu_value_at(cg->graph, family[NEXT]);
    xpu_node append = next->node;
    if (next->kind != XPU_VALUE_NODE || !xpu_node_is(cg->graph, append, XPU_OP_CONCAT)) return;
    if (!xpu_on_chip(cg, append)) return;
    if (xpu_node_input(cg->graph, append, 0).id != family[NOW].id || cg->extents[family[NEXT].id].capacity.id) return;
    if (xpu_value_block(cg->graph, family[NEXT]).id != now->block.id) return;
    const int axis = (int)xpu_node_int(cg->graph, append, XPU_ATTR_AXIS);
    if (!differ_by_axis(cg, family, FAMILY, axis)) return;
    xpu_extent extent = {.axis = axis, .capacity = capacity_of(cg, family, FAMILY, axis)};
    xpu_dim one = xpu_dim_of(cg, 1);
    extent.has_gaps = !xpu_dim_equal(xpu_dims_product(cg, family[NOW], 0, axis), one);
    if (!extent.capacity.id) return;
    if (extent.has_gaps && (now->results || next->results > 1 || !is_movable(now))) return;
    for (int k = 0; k < LAST && extent.has_gaps; k++) {
        if (is_read_elsewhere(cg, family[k])) return;
    }
    for (int k = 0; k < FAMILY; k++) cg->extents[family[k].id] = extent;
    cg->extents[family[NEXT].id].is_appended = 1;
}

/* ---- who reads values with gaps ---- */

/* Operands behind these are what bodies read. */
static uint32_t own_operands(const xpu_codegen *cg, xpu_node node) {
    if (xpu_node_is(cg->graph, node, XPU_OP_LOOP)) return XPU_LOOP_FIRST + xpu_loop_of(cg->graph, node).carried;
    return xpu_node_is(cg->graph, node, XPU_OP_IF) ? XPU_IF_OPERANDS : UINT32_MAX;
}

static int takes_gaps(xpu_codegen *cg, xpu_node node, uint32_t input) {
    const xpu_node_info *info = xpu_node_at(cg->graph, node);
    const xpu_value_info *x = xpu_value_at(cg->graph, info->inputs[input]);
    xpu_chain_loops loops;
    if (xpu_on_host(cg, node)) return 0;
    switch (xpu_op_id_of(info->op)) {
    case XPU_OP_CONCAT:
    case XPU_OP_SLICE:
    case XPU_OP_TRANSPOSE:
    case XPU_OP_RESHAPE:
    case XPU_OP_IDENTITY: return xpu_value_at(cg->graph, info->outputs[0])->layout == XPU_LAYOUT_LINEAR;
    case XPU_OP_MATMUL:
        return !xpu_is_const_value(cg, xpu_node_input(cg->graph, node, XPU_IN_W)) && input <= XPU_IN_W &&
               cg->extents[info->inputs[input].id].axis == x->rank - 2;
    case XPU_OP_PACK_MATRIX: return cg->extents[info->inputs[input].id].axis == x->rank - 2;
    case XPU_OP_CHAIN: return xpu_chain_plan(cg, node, xpu_value_at(cg->graph, info->outputs[0])->layout, &loops, NULL);
    default: return input >= own_operands(cg, node);
    }
}

static void say_why(xpu_codegen *cg, xpu_node node, xpu_value value) {
    while (cg->reasons.count <= node.id) XPU_PUSH(cg->arena, &cg->reasons, NULL);
    const char *before = cg->reasons.items[node.id];
    cg->reasons.items[node.id] =
        xpu_printf(cg->arena, "%s%sreads a compact copy of '%s', which grows in place", before ? before : "",
                   before ? "; " : "", xpu_escape(cg->arena, xpu_value_at(cg->graph, value)->name, 80));
}

/* In front of `before`, or at the end of the block. It is in the region of the layer before it. */
static xpu_value add_copy(xpu_codegen *cg, xpu_block block, xpu_node before, xpu_value value) {
    xpu_graph *graph = cg->graph;
    const char *name = xpu_printf(cg->arena, "%s/compact", xpu_value_at(graph, value)->name);
    xpu_block left = xpu_graph_enter(graph, block);
    xpu_node copy = xpu_graph_add(graph, before, xpu_op_of(XPU_OP_IDENTITY), &value, 1, &name, 1, NULL, 0, NULL, 0);
    xpu_graph_enter(graph, left);
    xpu_op_infer(graph, copy, cg->diags);
    return xpu_node_output(graph, copy, 0);
}

/* Copies that are there, by value: the last one of each. */
static void give_copies(xpu_codegen *cg, xpu_node node, xpu_value *copies) {
    xpu_block block = xpu_node_at(cg->graph, node)->parent;
    for (uint32_t i = 0; i < xpu_node_at(cg->graph, node)->input_count; i++) {
        xpu_value value = xpu_node_input(cg->graph, node, i);
        if (!xpu_has_gaps(cg, value) || takes_gaps(cg, node, i)) continue;
        xpu_value *copy = &copies[value.id];
        if (!copy->id || !xpu_block_is_in(cg->graph, block, xpu_value_block(cg->graph, *copy)))
            *copy = add_copy(cg, block, node, value);
        xpu_node_set_input(cg->graph, node, i, *copy);
        say_why(cg, node, value);
    }
}

/* The loop's result is compact behind it. */
static void compact_results(xpu_codegen *cg, xpu_node loop) {
    for (uint32_t i = 0; i < xpu_node_at(cg->graph, loop)->output_count; i++) {
        xpu_value last = xpu_node_output(cg->graph, loop, i);
        const xpu_value_info *info = xpu_value_at(cg->graph, last);
        if (!xpu_has_gaps(cg, last) || (!info->uses.count && !xpu_value_leaves(cg->graph, last))) continue;
        xpu_value copy = add_copy(cg, xpu_node_at(cg->graph, loop)->parent, xpu_node_next(cg->graph, loop), last);
        xpu_value_replace(cg->graph, last, copy);
        xpu_node_set_input(cg->graph, xpu_value_at(cg->graph, copy)->node, 0, last);
    }
}

xpu_status xpu_choose_extents(xpu_codegen *cg) {
    xpu_graph *graph = cg->graph;
    const uint32_t count = graph->values.count;
    int gaps = 0;
    XPU_FOR_ALL_NODES(graph, node) {
        if (!xpu_node_is(graph, node, XPU_OP_LOOP) || xpu_on_host(cg, node)) continue;
        if (!cg->extents) cg->extents = XPU_NEW_ARRAY(cg->arena, xpu_extent, count);
        cg->extent_count = count;
        xpu_loop loop = xpu_loop_of(graph, node);
        for (uint32_t i = 0; i < loop.carried; i++) consider(cg, node, xpu_block_at(graph, loop.body), i);
    }
    for (uint32_t i = 0; i < cg->extent_count; i++) gaps |= cg->extents[i].has_gaps;
    if (!gaps) return XPU_OK;
    size_t errors = cg->diags->errors;
    xpu_value *copies = XPU_NEW_ARRAY(cg->arena, xpu_value, count);
    XPU_FOR_ALL_NODES(graph, node) {
        give_copies(cg, node, copies);
        if (xpu_node_is(graph, node, XPU_OP_LOOP)) compact_results(cg, node);
    }
    return cg->diags->errors == errors ? XPU_OK : xpu_diags_status(cg->diags);
}
