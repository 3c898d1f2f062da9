/* What a target before the last one takes, as bodies of REGION nodes. */
#include "partition/partition.h"

typedef struct {
    xpu_graph *graph;
    xpu_node call; /* the REGION */
    xpu_block body;
    XPU_ARRAY(xpu_value) outputs;
} region;

static int is_inside(const region *r, xpu_node node) {
    return xpu_node_at(r->graph, node)->parent.id == r->body.id;
}

/* ---- operands ---- */

/* The argument of the body that stands for the value, which is an operand of the region from now on. */
static xpu_value argument_for(region *r, xpu_value value) {
    const xpu_node_info *call = xpu_node_at(r->graph, r->call);
    for (uint32_t i = 0; i < call->input_count; i++) {
        if (call->inputs[i].id == value.id) return xpu_block_at(r->graph, r->body)->arguments.items[i];
    }
    const xpu_value_info outside = *xpu_value_at(r->graph, value);
    const char *name = xpu_printf(r->graph->arena, "%s/operand", outside.name);
    xpu_node_set_input(r->graph, r->call, call->input_count, value);
    return xpu_block_argument(r->graph, r->body, name, outside.dtype, outside.rank, outside.dims);
}

static void take_operands(region *r, xpu_node node) {
    for (uint32_t i = 0; i < xpu_node_at(r->graph, node)->input_count; i++) {
        xpu_value value = xpu_node_input(r->graph, node, i);
        if (!value.id) continue;
        const xpu_value_info *info = xpu_value_at(r->graph, value);
        if (info->kind == XPU_VALUE_CONST || (info->kind == XPU_VALUE_NODE && is_inside(r, info->node))) continue;
        if (info->kind == XPU_VALUE_ARGUMENT && info->block.id == r->body.id) continue;
        xpu_node_set_input(r->graph, node, i, argument_for(r, value));
    }
}

/* ---- results ---- */

static int is_used_outside(const region *r, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(r->graph, value);
    if (xpu_value_leaves(r->graph, value)) return 1;
    for (uint32_t u = 0; u < info->uses.count; u++) {
        if (!is_inside(r, info->uses.items[u].node)) return 1;
    }
    return 0;
}

/* A value of the same type that the node in the body makes; `value` with its name and other uses is the region's. */
static void give_result(region *r, xpu_node node, uint32_t output) {
    xpu_graph *graph = r->graph;
    xpu_value value = xpu_node_output(graph, node, output);
    xpu_value inside = xpu_graph_value(graph, xpu_printf(graph->arena, "%s/result", xpu_value_at(graph, value)->name));
    xpu_value_info *old = xpu_value_at(graph, value), *made = xpu_value_at(graph, inside);
    made->dtype = old->dtype;
    made->rank = old->rank;
    for (int d = 0; d < old->rank; d++) made->dims[d] = old->dims[d];
    made->node = node;
    made->output = output;
    xpu_node_at(graph, node)->outputs[output] = inside;
    old->node = r->call;
    old->output = r->outputs.count;
    XPU_PUSH(graph->arena, &r->outputs, value);
    XPU_ARRAY(xpu_use) uses = {0};
    for (uint32_t u = 0; u < old->uses.count; u++) XPU_PUSH(graph->arena, &uses, old->uses.items[u]);
    for (uint32_t u = 0; u < uses.count; u++) {
        if (is_inside(r, uses.items[u].node))
            xpu_node_set_input(graph, uses.items[u].node, uses.items[u].input, inside);
    }
    xpu_block_add_result(graph, r->body, inside);
}

/* ---- regions ---- */

/* Nodes first .. last of one block. */
static void outline(xpu_graph *graph, xpu_node first, xpu_node last) {
    region r = {.graph = graph};
    r.call = xpu_graph_add(graph, first, xpu_op_of(XPU_OP_REGION), NULL, 0, NULL, 0, NULL, 0, NULL, 0);
    r.body = xpu_graph_block(graph, r.call);
    for (xpu_node node = first, next; node.id; node = next) {
        next = node.id == last.id ? (xpu_node){0} : xpu_node_next(graph, node);
        xpu_node_move_into(graph, node, r.body);
        xpu_node_add_origins(graph, r.call, node);
    }
    XPU_FOR_BLOCK_NODES(graph, r.body, node) take_operands(&r, node);
    XPU_FOR_BLOCK_NODES(graph, r.body, node) {
        for (uint32_t i = 0; i < xpu_node_at(graph, node)->output_count; i++) {
            if (is_used_outside(&r, xpu_node_output(graph, node, i))) give_result(&r, node, i);
        }
    }
    xpu_node_at(graph, r.call)->outputs = r.outputs.items;
    xpu_node_at(graph, r.call)->output_count = r.outputs.count;
}

static uint32_t side_of(const xpu_partition *partition, xpu_node node) {
    return node.id < partition->node_count ? partition->side[node.id] : partition->offer_count;
}

void xpu_partition_outline(xpu_graph *graph, const xpu_partition *partition) {
    const uint32_t blocks = graph->blocks.count, last_target = partition->offer_count - 1;
    for (uint32_t b = XPU_TOP_BLOCK.id; b < blocks; b++) {
        for (xpu_node node = xpu_block_at(graph, (xpu_block){b})->first, next; node.id; node = next) {
            xpu_node last = node;
            uint32_t side = side_of(partition, node);
            for (next = xpu_node_next(graph, node); next.id && side_of(partition, next) == side;
                 next = xpu_node_next(graph, next))
                last = next;
            if (side < last_target) outline(graph, node, last);
        }
    }
}
