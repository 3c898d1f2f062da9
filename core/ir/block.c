/* Blocks of control flow. */
#include <string.h>

#include "core/ir/graph.h"

xpu_block xpu_graph_block(xpu_graph *graph, xpu_node owner) {
    xpu_block block = {graph->blocks.count};
    xpu_node_info *info = xpu_node_at(graph, owner);
    xpu_block *blocks = XPU_NEW_ARRAY(graph->arena, xpu_block, info->block_count + 1);
    if (info->block_count) memcpy(blocks, info->blocks, info->block_count * sizeof *blocks);
    blocks[info->block_count] = block;
    info->blocks = blocks;
    info->block_count++;
    XPU_PUSH(graph->arena, &graph->blocks, ((xpu_block_info){.owner = owner}));
    return block;
}

xpu_block xpu_graph_enter(xpu_graph *graph, xpu_block block) {
    xpu_block left = graph->current;
    graph->current = block;
    return left;
}

void xpu_block_add_result(xpu_graph *graph, xpu_block block, xpu_value value) {
    XPU_PUSH(graph->arena, &xpu_block_at(graph, block)->results, value);
    xpu_value_at(graph, value)->results++;
}

void xpu_block_set_result(xpu_graph *graph, xpu_block block, uint32_t result, xpu_value value) {
    xpu_value *place = &xpu_block_at(graph, block)->results.items[result];
    xpu_value_at(graph, *place)->results--;
    *place = value;
    xpu_value_at(graph, value)->results++;
}

void xpu_block_hoist(xpu_graph *graph, xpu_block block) {
    xpu_node owner = xpu_block_at(graph, block)->owner;
    for (xpu_node first; (first = xpu_block_at(graph, block)->first).id;) xpu_node_move_before(graph, first, owner);
}

/* ---- where things are ---- */

xpu_block xpu_value_block(const xpu_graph *graph, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    if (info->kind == XPU_VALUE_ARGUMENT) return info->block;
    return info->kind == XPU_VALUE_NODE ? xpu_node_at(graph, info->node)->parent : XPU_TOP_BLOCK;
}

int xpu_block_is_in(const xpu_graph *graph, xpu_block inner, xpu_block outer) {
    while (inner.id != outer.id) {
        xpu_node owner = xpu_block_at(graph, inner)->owner;
        if (!owner.id) return 0;
        inner = xpu_node_at(graph, owner)->parent;
    }
    return 1;
}

static xpu_node first_from(const xpu_graph *graph, const xpu_node_info *owner, uint32_t body) {
    for (; body < owner->block_count; body++) {
        xpu_node first = xpu_block_at(graph, owner->blocks[body])->first;
        if (first.id) return first;
    }
    return (xpu_node){0};
}

xpu_node xpu_node_next_of_all(const xpu_graph *graph, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    xpu_node next = first_from(graph, info, 0);
    while (!next.id) {
        if (info->next.id) return info->next;
        xpu_node owner = xpu_block_at(graph, info->parent)->owner;
        if (!owner.id) return owner;
        uint32_t body = 0;
        const xpu_node_info *outer = xpu_node_at(graph, owner);
        while (outer->blocks[body].id != info->parent.id) body++;
        next = first_from(graph, outer, body + 1);
        info = outer;
    }
    return next;
}

/* ---- captures ---- */

typedef struct {
    const xpu_graph *graph;
    xpu_block outside; /* where the owner stands */
    xpu_arena *arena;
    XPU_ARRAY(xpu_value) found;
    uint8_t *is_found; /* by value */
} search;

static void look_at(search *s, xpu_value value) {
    if (!value.id || s->is_found[value.id] || xpu_value_at(s->graph, value)->kind == XPU_VALUE_CONST) return;
    if (!xpu_block_is_in(s->graph, s->outside, xpu_value_block(s->graph, value))) return;
    s->is_found[value.id] = 1;
    XPU_PUSH(s->arena, &s->found, value);
}

static void look_in(search *s, xpu_node owner) {
    const xpu_node_info *info = xpu_node_at(s->graph, owner);
    for (uint32_t b = 0; b < info->block_count; b++) {
        XPU_FOR_BLOCK_NODES(s->graph, info->blocks[b], node) {
            const xpu_node_info *inner = xpu_node_at(s->graph, node);
            for (uint32_t i = 0; i < inner->input_count; i++) look_at(s, inner->inputs[i]);
            look_in(s, node);
        }
        const xpu_block_info *block = xpu_block_at(s->graph, info->blocks[b]);
        for (uint32_t i = 0; i < block->results.count; i++) look_at(s, block->results.items[i]);
    }
}

xpu_value *xpu_node_captures(const xpu_graph *graph, xpu_node node, xpu_arena *arena, uint32_t *count) {
    search s = {.graph = graph, .outside = xpu_node_at(graph, node)->parent, .arena = arena};
    *count = 0;
    if (!xpu_node_at(graph, node)->block_count) return NULL;
    s.is_found = XPU_NEW_ARRAY(arena, uint8_t, graph->values.count);
    look_in(&s, node);
    *count = s.found.count;
    return s.found.items;
}
