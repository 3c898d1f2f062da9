/*
 * Cuts a graph into regions. Each node has a level, which grows where a path goes from a node that the chip takes to
 * one that it does not take. Nodes that it takes, of one level, connected by values, are a region: a path that leaves
 * it comes back at a higher level only.
 */
#include "provider/provider.h"

typedef struct {
    const xpu_ep_graph *graph;
    const uint8_t *takes;
    uint32_t *levels, *leaders;
    uint8_t *is_fixed; /* the node depends on constants only */
} cutter;

static uint32_t producer_of(const xpu_ep_graph *graph, uint32_t value) {
    return value == XPU_EP_NONE ? XPU_EP_NONE : graph->values.items[value].producer;
}

static int is_fixed(const xpu_ep_value *value) {
    return value->is_constant || value->is_default;
}

static void set_levels(cutter *c) {
    for (uint32_t n = 0; n < c->graph->node_count; n++) {
        const xpu_ep_node *node = &c->graph->nodes[n];
        c->is_fixed[n] = 1;
        for (uint32_t i = 0; i < node->input_count; i++) {
            uint32_t from = producer_of(c->graph, node->inputs[i]);
            if (from == XPU_EP_NONE) {
                if (node->inputs[i] != XPU_EP_NONE && !is_fixed(&c->graph->values.items[node->inputs[i]]))
                    c->is_fixed[n] = 0;
                continue;
            }
            uint32_t level = c->levels[from] + (c->takes[from] && !c->takes[n]);
            if (level > c->levels[n]) c->levels[n] = level;
            if (!c->is_fixed[from]) c->is_fixed[n] = 0;
        }
    }
}

/* What depends on constants only belongs to who uses it. */
static void raise_fixed(cutter *c) {
    for (uint32_t n = c->graph->node_count; n-- > 0;) {
        const xpu_ep_node *node = &c->graph->nodes[n];
        uint32_t lowest = UINT32_MAX;
        if (!c->takes[n] || !c->is_fixed[n]) continue;
        for (uint32_t i = 0; i < node->output_count; i++) {
            if (node->outputs[i] == XPU_EP_NONE) continue;
            const xpu_ep_value *value = &c->graph->values.items[node->outputs[i]];
            for (uint32_t j = 0; j < value->consumers.count; j++) {
                uint32_t user = value->consumers.items[j], level = c->levels[user] - !c->takes[user];
                if (level < lowest) lowest = level;
            }
        }
        if (lowest != UINT32_MAX) c->levels[n] = lowest;
    }
}

static uint32_t leader_of(const cutter *c, uint32_t node) {
    while (c->leaders[node] != node) node = c->leaders[node] = c->leaders[c->leaders[node]];
    return node;
}

/* Also nodes with a constant node in common: it is computed in one place. */
static void join(cutter *c) {
    for (uint32_t n = 0; n < c->graph->node_count; n++) c->leaders[n] = n;
    for (uint32_t n = 0; n < c->graph->node_count; n++) {
        const xpu_ep_node *node = &c->graph->nodes[n];
        for (uint32_t i = 0; c->takes[n] && i < node->input_count; i++) {
            uint32_t from = producer_of(c->graph, node->inputs[i]);
            if (from == XPU_EP_NONE || !c->takes[from] || c->levels[from] != c->levels[n]) continue;
            uint32_t a = leader_of(c, from), b = leader_of(c, n);
            c->leaders[a > b ? a : b] = a > b ? b : a; /* the first node leads */
        }
    }
}

uint32_t xpu_ep_regions(const xpu_ep_graph *graph, const uint8_t *takes, uint32_t *region_of) {
    cutter c = {graph, takes, XPU_NEW_ARRAY(graph->arena, uint32_t, graph->node_count + 1),
                XPU_NEW_ARRAY(graph->arena, uint32_t, graph->node_count + 1),
                XPU_NEW_ARRAY(graph->arena, uint8_t, graph->node_count + 1)};
    uint32_t count = 0;
    set_levels(&c);
    raise_fixed(&c);
    join(&c);
    for (uint32_t n = 0; n < graph->node_count; n++) {
        uint32_t leader = leader_of(&c, n);
        region_of[n] = !takes[n] ? 0 : leader == n ? ++count : region_of[leader];
    }
    return count;
}

/* Whether nodes of other regions (wanted 1), or nodes of none (0), use or make the value. */
static int meets(const uint32_t *region_of, const xpu_ep_value *value, uint32_t region, int wanted) {
    if (value->producer != XPU_EP_NONE && region_of[value->producer] != region)
        return (region_of[value->producer] != 0) == wanted;
    for (uint32_t i = 0; i < value->consumers.count; i++) {
        uint32_t other = region_of[value->consumers.items[i]];
        if (other != region && (other != 0) == wanted) return 1;
    }
    return 0;
}

xpu_ep_copies xpu_ep_count_copies(const xpu_ep_graph *graph, const uint32_t *region_of, uint32_t region) {
    xpu_ep_copies copies = {0, 0};
    for (uint32_t v = 0; v < graph->values.count; v++) {
        const xpu_ep_value *value = &graph->values.items[v];
        int touches = value->producer != XPU_EP_NONE && region_of[value->producer] == region;
        if (value->producer == XPU_EP_NONE) continue; /* inputs of the graph and constants are the same to both */
        for (uint32_t i = 0; i < value->consumers.count; i++) touches |= region_of[value->consumers.items[i]] == region;
        if (!touches) continue;
        copies.with += (uint32_t)meets(region_of, value, region, 0);
        copies.without += (uint32_t)meets(region_of, value, region, 1);
    }
    return copies;
}
