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

/* Who matches: the last of `count` targets; those before it keep what they take. */
typedef struct {
    xpu_graph *graph;
    const xpu_target *target;
    const xpu_services *services;
    const xpu_offer *earlier;
    uint32_t earlier_count;
} matcher;

static int is_free(const matcher *m, const xpu_match *match) {
    for (uint32_t i = 0; i < m->earlier_count; i++) {
        for (uint32_t n = 0; n < match->count; n++) {
            if (xpu_partition_takes(&m->earlier[i], 0, match->nodes[n])) return 0;
        }
    }
    return 1;
}

static int matches(const matcher *m, const xpu_pattern *pattern, xpu_node node, xpu_match *match) {
    const xpu_graph *graph = m->graph;
    *match = (xpu_match){.nodes = {node}, .count = 1, .services = m->services};
    if (!is_one_of(xpu_node_at(graph, node)->op->name, pattern->chain[0])) return 0;
    while (match->count < XPU_PATTERN_LENGTH && pattern->chain[match->count]) {
        xpu_use use = {.input = 0};
        if (!single_use(graph, node, &use)) return 0;
        if (!is_one_of(xpu_node_at(graph, use.node)->op->name, pattern->chain[match->count])) return 0;
        match->nodes[match->count] = node = use.node;
        match->operand[match->count++] = use.input;
    }
    return (!pattern->accepts || pattern->accepts(graph, match)) && is_free(m, match);
}

/* One round over a block. A fusion may remove the nodes around it, so the round ends behind the last node matched. */
static xpu_status match_round(const matcher *m, xpu_block block, uint32_t *applied, xpu_diags *diags) {
    xpu_graph *graph = m->graph;
    for (xpu_node node = xpu_block_at(graph, block)->first, next; node.id; node = next) {
        const xpu_pattern *pattern = m->target->patterns;
        xpu_match match;
        while (pattern->name && !matches(m, pattern, node, &match)) pattern++;
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

static xpu_status match_blocks(const matcher *m, uint32_t *applied, xpu_diags *diags) {
    uint32_t count = 0, before;
    xpu_status status = XPU_OK;
    if (m->target->patterns) {
        do {
            before = count;
            XPU_FOR_BLOCKS(m->graph, block) {
                if (status == XPU_OK) status = match_round(m, block, &count, diags);
            }
        } while (status == XPU_OK && count != before);
    }
    if (applied) *applied = count;
    return status;
}

xpu_status xpu_partition_match(xpu_graph *graph, const xpu_target *target, uint32_t *applied, xpu_diags *diags) {
    const matcher m = {.graph = graph, .target = target};
    return match_blocks(&m, applied, diags);
}

xpu_status xpu_partition_match_all(const xpu_offer *offers, uint32_t count, xpu_diags *diags) {
    xpu_status status = XPU_OK;
    for (uint32_t i = 0; i < count && status == XPU_OK; i++) {
        const matcher m = {offers[i].job->graph, offers[i].target, offers[i].job->services, offers, i};
        status = match_blocks(&m, NULL, diags);
    }
    return status;
}
