#include "core/passes/rewrite.h"

void xpu_rewrite(xpu_graph *graph, xpu_node node, xpu_op_id op, const xpu_value *inputs, uint32_t input_count,
                 const xpu_attr *attrs, uint32_t attr_count) {
    for (uint32_t i = input_count; i < xpu_node_at(graph, node)->input_count; i++) {
        xpu_node_set_input(graph, node, i, (xpu_value){0});
    }
    for (uint32_t i = 0; i < input_count; i++) xpu_node_set_input(graph, node, i, inputs[i]);
    xpu_node_info *info = xpu_node_at(graph, node);
    if (info->input_count > input_count) info->input_count = input_count;
    info->op = xpu_op_of(op);
    info->attrs.count = 0;
    for (uint32_t i = 0; i < attr_count; i++) xpu_node_set_attr(graph, node, &attrs[i]);
}

void xpu_absorb(xpu_graph *graph, xpu_node node, xpu_node from) {
    const xpu_node_info source = *xpu_node_at(graph, from);
    xpu_rewrite(graph, node, xpu_op_id_of(source.op), source.inputs, source.input_count, source.attrs.items,
                source.attrs.count);
    xpu_node_lead_origins(graph, node, &from, 1);
    xpu_node_remove(graph, from);
}

int xpu_replace_node(xpu_graph *graph, xpu_node node, xpu_value value) {
    xpu_value result = xpu_node_output(graph, node, 0);
    uint32_t uses = xpu_value_at(graph, result)->uses.count;
    if (xpu_value_defines_symbol(graph, result)) return 0;
    int is_output = xpu_value_at(graph, result)->is_output;
    if (is_output && xpu_value_at(graph, value)->kind != XPU_VALUE_NODE) {
        if (!uses) return 0;
        for (uint32_t i = uses; i-- > 0;) {
            xpu_use use = xpu_value_at(graph, result)->uses.items[i];
            xpu_node_set_input(graph, use.node, use.input, value);
        }
        return 1;
    }
    int gone = xpu_value_replace(graph, result, value);
    if (gone) xpu_node_remove(graph, node);
    return gone || uses > 0;
}

int xpu_is_columns_of(const xpu_graph *graph, xpu_node node, xpu_node product) {
    const xpu_node_info *part = xpu_node_at(graph, node), *whole = xpu_node_at(graph, product);
    const int is_whole =
        xpu_node_has(graph, product, XPU_TRAIT_PRODUCT) || xpu_node_is(graph, product, XPU_OP_ROW_RESTORE);
    if (!xpu_node_is(graph, node, XPU_OP_SLICE) || !is_whole) return 0;
    for (uint32_t i = 0; i < whole->origins.count && part->origins.count; i++) {
        if (whole->origins.items[i] == part->origins.items[0]) return 1;
    }
    return 0;
}

xpu_node xpu_value_maker(const xpu_graph *graph, xpu_value value) {
    return value.id && xpu_value_at(graph, value)->kind == XPU_VALUE_NODE ? xpu_value_at(graph, value)->node
                                                                          : (xpu_node){0};
}

xpu_node xpu_maker(const xpu_graph *graph, xpu_node node, uint32_t input) {
    return xpu_value_maker(graph, xpu_node_input(graph, node, input));
}

xpu_node xpu_made_by(const xpu_graph *graph, xpu_value value, xpu_op_id op) {
    xpu_node node = xpu_value_maker(graph, value);
    return node.id && xpu_node_is(graph, node, op) ? node : (xpu_node){0};
}

void xpu_node_lead_origins(xpu_graph *graph, xpu_node node, const xpu_node *parts, uint32_t count) {
    xpu_node_info *info = xpu_node_at(graph, node);
    const xpu_node_info own = *info;
    info->origins.items = NULL;
    info->origins.count = info->origins.capacity = 0;
    for (uint32_t i = 0; i < count; i++) xpu_node_add_origins(graph, node, parts[i]);
    for (uint32_t i = 0; i < own.origins.count; i++) xpu_node_add_origin(graph, node, own.origins.items[i]);
}

int xpu_used_once(const xpu_graph *graph, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    for (uint32_t i = 0; i < info->output_count; i++) {
        if (xpu_value_at(graph, info->outputs[i])->uses.count != (i == 0)) return 0;
        if (xpu_value_leaves(graph, info->outputs[i])) return 0;
    }
    return xpu_same_block(graph, node, xpu_value_at(graph, info->outputs[0])->uses.items[0].node);
}

xpu_value xpu_moved_constant(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value operand = xpu_node_input(graph, node, 0), result = xpu_node_output(graph, node, 0);
    if (!xpu_is_constant(graph, operand)) return (xpu_value){0};
    xpu_const_step step = {.rank = xpu_value_at(graph, result)->rank};
    if (xpu_node_is(graph, node, XPU_OP_RESHAPE)) {
        step.kind = XPU_STEP_RESHAPE;
        if (!xpu_value_dims(graph, result, NULL, step.dims)) return (xpu_value){0};
    } else if (xpu_node_is(graph, node, XPU_OP_TRANSPOSE)) {
        uint32_t count;
        const int64_t *perm = xpu_node_ints(graph, node, XPU_ATTR_PERM, &count);
        step.kind = XPU_STEP_TRANSPOSE;
        for (uint32_t i = 0; i < count; i++) step.dims[i] = perm[i];
    } else {
        return (xpu_value){0};
    }
    return xpu_const_derive(graph, operand, &step, xpu_value_at(graph, result)->name, diags);
}
