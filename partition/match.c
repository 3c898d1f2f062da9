/* The pattern matcher. */
#include <string.h>

#include "core/passes/rewrite.h"
#include "partition/partition.h"

/* `name` is one of the words of "conv|matmul". */
static int is_one_of(const char *name, const char *words) {
    size_t length = strlen(name);
    for (const char *word = words; word; word = strchr(word, '|')) {
        if (*word == '|') word++;
        if (strncmp(word, name, length) == 0 && (word[length] == '\0' || word[length] == '|')) return 1;
    }
    return 0;
}

/* The only use of the node's first result, where that is one in the same block and nothing else needs the node. */
static int single_use(const xpu_graph *graph, xpu_node node, xpu_use *use) {
    if (!xpu_used_once(graph, node)) return 0;
    *use = xpu_value_at(graph, xpu_node_output(graph, node, 0))->uses.items[0];
    return xpu_node_at(graph, use->node)->parent.id == xpu_node_at(graph, node)->parent.id;
}

static int matches(const xpu_graph *graph, const xpu_pattern *pattern, xpu_node node, xpu_match *match) {
    *match = (xpu_match){.nodes = {node}, .count = 1};
    if (!is_one_of(xpu_node_at(graph, node)->op->name, pattern->chain[0])) return 0;
    while (match->count < XPU_PATTERN_LENGTH && pattern->chain[match->count]) {
        xpu_use use = {.input = 0};
        if (!single_use(graph, node, &use)) return 0;
        if (!is_one_of(xpu_node_at(graph, use.node)->op->name, pattern->chain[match->count])) return 0;
        match->nodes[match->count] = node = use.node;
        match->operand[match->count++] = use.input;
    }
    return !pattern->accepts || pattern->accepts(graph, match);
}

/* One round over a block. A fusion may remove the nodes around it, so the round ends behind the last node matched. */
static xpu_status match_round(xpu_graph *graph, xpu_block block, const xpu_target *target, uint32_t *applied,
                              xpu_diags *diags) {
    for (xpu_node node = xpu_block_at(graph, block)->first, next; node.id; node = next) {
        const xpu_pattern *pattern = target->patterns;
        xpu_match match;
        while (pattern->name && !matches(graph, pattern, node, &match)) pattern++;
        next = xpu_node_next(graph, node);
        if (!pattern->name) continue;
        xpu_node last = match.nodes[match.count - 1], before = xpu_node_at(graph, node)->previous;
        xpu_status status = pattern->fuse(graph, &match, diags);
        if (status != XPU_OK) return status;
        ++*applied;
        if (!xpu_node_at(graph, last)->dead) {
            next = last;
        } else if (!before.id) {
            next = xpu_block_at(graph, block)->first;
        } else {
            next = xpu_node_next(graph, before);
        }
    }
    return XPU_OK;
}

xpu_status xpu_partition_match(xpu_graph *graph, const xpu_target *target, uint32_t *applied, xpu_diags *diags) {
    uint32_t count = 0, before;
    xpu_status status = XPU_OK;
    if (target->patterns) {
        do {
            before = count;
            XPU_FOR_BLOCKS(graph, block) {
                if (status == XPU_OK) status = match_round(graph, block, target, &count, diags);
            }
        } while (status == XPU_OK && count != before);
    }
    if (applied) *applied = count;
    return status;
}
