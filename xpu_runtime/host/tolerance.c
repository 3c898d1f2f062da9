/* How close results of layers have to be between ref and a device: equal in bits, but for C of another target, which
 * rounds as it likes while ref runs its nodes, and for what is computed from it. */
#include "core/ops/op.h"
#include "xpu_runtime/host/host.h"

static const xpu_tolerance exact = {0, 0}, of_portable = {1e-5, 1e-5}, behind_portable = {1e-3, 1e-5};

xpu_tolerance xpu_layer_tolerance(const xpu_run *run, uint32_t layer) {
    xpu_node node = run->program->layers.items[layer].node;
    return node.id && xpu_node_is(run->graph, node, XPU_OP_REGION) ? of_portable : exact;
}

static int any(const uint8_t *marks, const xpu_value *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (values[i].id && marks[values[i].id]) return 1;
    return 0;
}

static int mark(uint8_t *marks, const xpu_value *values, uint32_t count) {
    int more = 0;
    for (uint32_t i = 0; i < count; i++) {
        more |= !marks[values[i].id];
        marks[values[i].id] = 1;
    }
    return more;
}

/* Marks what the node makes of marked values; of a branch or loop what its bodies give, too, and what they are given.
 * Returns whether there is more than before. */
static int spread(const xpu_run *run, xpu_node node, uint8_t *marks) {
    const xpu_node_info *info = xpu_node_at(run->graph, node);
    int is_marked = xpu_node_is(run->graph, node, XPU_OP_REGION) || any(marks, info->inputs, info->input_count);
    int more = 0, is_control = xpu_node_is(run->graph, node, XPU_OP_LOOP) || xpu_node_is(run->graph, node, XPU_OP_IF);
    for (uint32_t i = 0; is_control && i < info->block_count; i++) {
        const xpu_block_info *body = xpu_block_at(run->graph, info->blocks[i]);
        is_marked |= any(marks, body->results.items, body->results.count);
    }
    for (uint32_t i = 0; is_control && is_marked && i < info->block_count; i++) {
        const xpu_block_info *body = xpu_block_at(run->graph, info->blocks[i]);
        more |= mark(marks, body->arguments.items, body->arguments.count);
    }
    return is_marked ? mark(marks, info->outputs, info->output_count) | more : more;
}

xpu_tolerance xpu_result_tolerance(xpu_run *run, uint32_t layer) {
    const xpu_program_layer *l = &run->program->layers.items[layer];
    if (!run->is_rounded) {
        int more = 1;
        run->is_rounded = XPU_NEW_ARRAY(run->arena, uint8_t, run->graph->values.count);
        while (more) {
            more = 0;
            XPU_FOR_ALL_NODES(run->graph, node) more |= spread(run, node, run->is_rounded);
        }
    }
    for (uint32_t i = 0; i < l->output_count; i++) {
        if (!run->is_rounded[l->outputs[i].id]) continue;
        const xpu_node_info *info = l->node.id ? xpu_node_at(run->graph, l->node) : NULL;
        int is_first = info && !any(run->is_rounded, info->inputs, info->input_count);
        return is_first ? xpu_layer_tolerance(run, layer) : behind_portable;
    }
    return exact;
}
