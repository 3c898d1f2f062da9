/* Common subexpressions. */
#include "core/passes/cse.h"

#include <string.h>

#include "core/passes/rewrite.h"

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

static uint64_t hash_of_bytes(uint64_t hash, const void *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) hash = mix(hash, ((const uint8_t *)bytes)[i]);
    return hash;
}

static uint64_t hash_of_attr(const xpu_attr *attr) {
    uint64_t hash = mix(1 + (uint64_t)attr->id, attr->count);
    switch (xpu_attr_type_of(attr->id)) {
    case XPU_ATTR_TYPE_INT: return mix(hash, (uint64_t)attr->i);
    case XPU_ATTR_TYPE_FLOAT: return hash_of_bytes(hash, &attr->f, sizeof attr->f);
    case XPU_ATTR_TYPE_STRING: return hash_of_bytes(hash, attr->s, strlen(attr->s));
    case XPU_ATTR_TYPE_INTS: return hash_of_bytes(hash, attr->ints, attr->count * sizeof *attr->ints);
    case XPU_ATTR_TYPE_DIMS: return hash_of_bytes(hash, attr->dims, attr->count * sizeof *attr->dims);
    case XPU_ATTR_TYPE_CHAIN: return hash_of_bytes(hash, attr->chain, sizeof *attr->chain);
    }
    return hash;
}

/* The order of the attributes does not count, as in same_node. */
static uint64_t hash_of(const xpu_graph *graph, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    uint64_t hash = mix(0, (uint64_t)xpu_op_id_of(info->op));
    for (uint32_t i = 0; i < info->input_count; i++) hash = mix(hash, info->inputs[i].id);
    for (uint32_t i = 0; i < info->attrs.count; i++) hash += hash_of_attr(&info->attrs.items[i]);
    return hash;
}

static int same_attr(const xpu_attr *a, const xpu_attr *b) {
    if (!b || a->count != b->count) return 0;
    switch (xpu_attr_type_of(a->id)) {
    case XPU_ATTR_TYPE_INT: return a->i == b->i;
    case XPU_ATTR_TYPE_FLOAT: return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case XPU_ATTR_TYPE_STRING: return strcmp(a->s, b->s) == 0;
    case XPU_ATTR_TYPE_INTS: return memcmp(a->ints, b->ints, a->count * sizeof *a->ints) == 0;
    case XPU_ATTR_TYPE_DIMS: return memcmp(a->dims, b->dims, a->count * sizeof *a->dims) == 0;
    case XPU_ATTR_TYPE_CHAIN: return memcmp(a->chain, b->chain, sizeof *a->chain) == 0;
    }
    return 0;
}

static int same_node(const xpu_graph *graph, xpu_node a, xpu_node b) {
    const xpu_node_info *left = xpu_node_at(graph, a), *right = xpu_node_at(graph, b);
    if (left->op != right->op || left->input_count != right->input_count || left->output_count != right->output_count ||
        left->attrs.count != right->attrs.count) {
        return 0;
    }
    for (uint32_t i = 0; i < left->input_count; i++) {
        if (left->inputs[i].id != right->inputs[i].id) return 0;
    }
    for (uint32_t i = 0; i < left->attrs.count; i++) {
        const xpu_attr *attr = &left->attrs.items[i];
        if (!same_attr(attr, xpu_node_attr(graph, b, attr->id))) return 0;
    }
    return 1;
}

static int may_merge(const xpu_graph *graph, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    return info->output_count == 1 && !info->block_count;
}

static int both_outputs(const xpu_graph *graph, xpu_node a, xpu_node b) {
    return xpu_value_at(graph, xpu_node_output(graph, a, 0))->is_output &&
           xpu_value_at(graph, xpu_node_output(graph, b, 0))->is_output;
}

/* Whether `first`, which stands before `node`, always runs when `node` does. */
static int dominates(const xpu_graph *graph, xpu_node first, xpu_node node) {
    return xpu_block_is_in(graph, xpu_node_at(graph, node)->parent, xpu_node_at(graph, first)->parent);
}

uint32_t xpu_merge_equal_nodes(xpu_graph *graph) {
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "common subexpressions");
    uint32_t size = 64, merged = 0;
    while (size < 2 * graph->nodes.count) size *= 2;
    xpu_node *table = XPU_NEW_ARRAY(arena, xpu_node, size);
    for (xpu_node node = xpu_graph_first(graph), next; node.id; node = next) {
        next = xpu_node_next_of_all(graph, node); /* nodes with bodies stay */
        if (!may_merge(graph, node)) continue;
        uint32_t slot = (uint32_t)hash_of(graph, node) & (size - 1);
        while (table[slot].id && !(same_node(graph, table[slot], node) && dominates(graph, table[slot], node)))
            slot = (slot + 1) & (size - 1);
        if (!table[slot].id) {
            table[slot] = node;
        } else if (!both_outputs(graph, table[slot], node)) {
            merged += xpu_replace_node(graph, node, xpu_node_output(graph, table[slot], 0)) != 0;
        }
    }
    xpu_arena_free(arena);
    return merged;
}
