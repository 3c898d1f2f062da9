/* Control flow that is decided: the body that runs, once, stands in place of the node. */
#include "core/passes/control.h"

#include "core/ops/control.h"
#include "core/passes/rewrite.h"

static int read_constant(const xpu_graph *graph, xpu_value value, xpu_dtype dtype, int64_t *number, xpu_diags *diags) {
    xpu_tensor tensor;
    if (!value.id || !xpu_is_constant(graph, value)) return 0;
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "control");
    int known = xpu_const_tensor(graph, value, arena, &tensor, diags) == XPU_OK && tensor.dtype == dtype &&
                xpu_tensor_count(&tensor) == 1;
    if (known) *number = dtype == XPU_BOOL ? *(const uint8_t *)tensor.data : *(const int64_t *)tensor.data;
    xpu_arena_free(arena);
    return known;
}

/* Whether a size is made of the value: it then is not simply another one. */
static int defines_symbol(const xpu_graph *graph, xpu_value value) {
    for (uint32_t i = 0; i < graph->dims.symbols.count; i++) {
        const xpu_symbol *symbol = &graph->dims.symbols.items[i];
        if (symbol->value.id == value.id && symbol->min != symbol->max) return 1;
    }
    return 0;
}

static int any_defines_symbol(const xpu_graph *graph, const xpu_value *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (defines_symbol(graph, values[i])) return 1;
    }
    return 0;
}

/* Uses of a result become uses of `value`; where it is an output of the graph, of a copy. */
static void replace_output(xpu_graph *graph, xpu_node node, uint32_t output, xpu_value value, xpu_diags *diags) {
    xpu_value result = xpu_node_output(graph, node, output);
    if (xpu_value_at(graph, result)->is_output) {
        const xpu_node_info info = *xpu_node_at(graph, node);
        xpu_node copy = xpu_build(graph, node, XPU_OP_IDENTITY, &value, 1, NULL, NULL, 0, info.origins.items,
                                  info.origins.count, diags);
        value = xpu_node_output(graph, copy, 0);
    }
    xpu_value_replace(graph, result, value);
}

int xpu_decide_if(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_node_info info = *xpu_node_at(graph, node);
    int64_t condition;
    if (!read_constant(graph, info.inputs[XPU_IF_CONDITION], XPU_BOOL, &condition, diags)) return 0;
    if (any_defines_symbol(graph, info.outputs, info.output_count)) return 0;
    xpu_block body = info.blocks[condition ? XPU_THEN : XPU_ELSE];
    xpu_block_hoist(graph, body);
    for (uint32_t i = 0; i < info.output_count; i++) {
        replace_output(graph, node, i, xpu_block_at(graph, body)->results.items[i], diags);
    }
    xpu_node_remove(graph, node);
    return 1;
}

static xpu_value number(xpu_graph *graph, xpu_value like, int64_t value) {
    const xpu_value_info *info = xpu_value_at(graph, like);
    xpu_tensor tensor = {.dtype = info->dtype, .rank = info->rank, .data = &value};
    for (int i = 0; i < info->rank; i++) tensor.dims[i] = 1;
    return xpu_graph_const_bytes(graph, NULL, &tensor);
}

/* An entry of a stack as the whole stack. */
static xpu_value stack_of_one(xpu_graph *graph, xpu_node node, xpu_value entry, xpu_diags *diags) {
    const xpu_node_info info = *xpu_node_at(graph, node);
    const xpu_value_info from = *xpu_value_at(graph, entry);
    xpu_dim dims[XPU_MAX_RANK] = {xpu_dim_const(&graph->dims, 1)};
    for (int d = 0; d < from.rank; d++) dims[d + 1] = from.dims[d];
    xpu_node made =
        xpu_build(graph, node, XPU_OP_RESHAPE, &entry, 1, NULL, &XPU_ATTR_DIMS_OF(SHAPE, dims, (uint32_t)from.rank + 1),
                  1, info.origins.items, info.origins.count, diags);
    return xpu_node_output(graph, made, 0);
}

/* How often the loop runs where that is known to be 0 or 1; else -1. */
static int known_count(const xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    int64_t trips, condition;
    xpu_value first = xpu_node_input(graph, node, XPU_LOOP_CONDITION);
    int goes = !first.id || read_constant(graph, first, XPU_BOOL, &condition, diags);
    if (first.id && goes && !condition) return 0;
    if (!read_constant(graph, xpu_node_input(graph, node, XPU_LOOP_TRIPS), XPU_I64, &trips, diags)) return -1;
    return trips <= 0 ? 0 : trips == 1 && goes ? 1 : -1;
}

int xpu_decide_loop(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_node_info info = *xpu_node_at(graph, node);
    const xpu_loop loop = xpu_loop_of(graph, node);
    const xpu_block_info body = *xpu_block_at(graph, loop.body);
    const int count = known_count(graph, node, diags);
    if (count < 0 || (count == 0 && loop.stacked)) return 0;
    if (any_defines_symbol(graph, info.outputs, info.output_count) ||
        (count && any_defines_symbol(graph, body.arguments.items, body.arguments.count))) {
        return 0;
    }
    if (count) {
        xpu_value_replace(graph, body.arguments.items[XPU_BODY_ITERATION],
                          number(graph, body.arguments.items[XPU_BODY_ITERATION], 0));
        xpu_value_replace(graph, body.arguments.items[XPU_BODY_CONDITION],
                          number(graph, body.arguments.items[XPU_BODY_CONDITION], 1));
        for (uint32_t i = 0; i < loop.carried; i++) {
            xpu_value_replace(graph, body.arguments.items[XPU_BODY_FIRST + i], info.inputs[XPU_LOOP_FIRST + i]);
        }
        xpu_block_hoist(graph, loop.body);
    }
    for (uint32_t i = 0; i < loop.carried + loop.stacked; i++) {
        xpu_value value =
            count ? xpu_block_at(graph, loop.body)->results.items[XPU_BODY_NEXT + i] : info.inputs[XPU_LOOP_FIRST + i];
        if (i >= loop.carried) value = stack_of_one(graph, node, value, diags);
        replace_output(graph, node, i, value, diags);
    }
    uint32_t last = xpu_loop_count_result(&loop);
    replace_output(graph, node, last, number(graph, info.outputs[last], count), diags);
    xpu_node_remove(graph, node);
    return 1;
}
