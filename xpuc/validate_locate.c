/* Which operator made the difference. */
#include <string.h>

#include "xpuc/validate.h"

int xpu_validate_is_alike(const xpu_validation *v) {
    const xpu_graph *a = v->a.graph, *b = v->b.graph;
    xpu_node x = xpu_graph_first(a), y = xpu_graph_first(b);
    while (x.id && y.id && xpu_node_at(a, x)->op == xpu_node_at(b, y)->op) {
        x = xpu_node_next_of_all(a, x);
        y = xpu_node_next_of_all(b, y);
    }
    return !x.id && !y.id;
}

/* Large differences first: on equal operands one operator makes it, and roundings are small beside it. Where both do
 * the same step by step there are no roundings, and any difference counts. */
const xpu_hit *xpu_validate_first(const xpu_validation *v, const xpu_beside *beside) {
    const double levels[] = {v->tolerance, v->tolerance / 10, 2e-6, 0};
    enum { LEVELS = sizeof levels / sizeof *levels };
    for (int i = 0; i < LEVELS; i++) {
        if (levels[i] > v->tolerance || (levels[i] <= 0 && !xpu_validate_is_alike(v))) continue;
        for (uint32_t k = 0; k < beside->hits.count; k++) {
            if (beside->hits.items[k].apart.of_max > levels[i]) return &beside->hits.items[k];
        }
    }
    return NULL;
}

/* Whether the value comes from constants alone: such are weights, and belong to who reads them. */
static int is_of_constants(const xpu_graph *graph, xpu_value value, int depth) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    if (info->kind != XPU_VALUE_NODE) return info->kind == XPU_VALUE_CONST;
    const xpu_node_info *node = xpu_node_at(graph, info->node);
    if (depth > 16 || node->block_count || !node->input_count) return 0;
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (node->inputs[i].id && !is_of_constants(graph, node->inputs[i], depth + 1)) return 0;
    }
    return 1;
}

static void mark(const xpu_graph *graph, const xpu_beside *beside, xpu_node node, uint8_t *marked) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (!info->inputs[i].id || beside->state[info->inputs[i].id] != XPU_MATCH_NONE) continue;
        const xpu_value_info *operand = xpu_value_at(graph, info->inputs[i]);
        if (operand->kind == XPU_VALUE_NODE && !is_of_constants(graph, info->inputs[i], 0))
            marked[operand->node.id] = 1;
    }
}

/* From the back, as operands stand in front of those that use them. */
xpu_node xpu_validate_cause(const xpu_validation *v, const xpu_beside *beside, const xpu_hit *hit) {
    const xpu_graph *graph = v->b.graph;
    uint8_t *marked = XPU_NEW_ARRAY(v->scratch, uint8_t, graph->nodes.count);
    xpu_node *nodes = XPU_NEW_ARRAY(v->scratch, xpu_node, graph->nodes.count), cause = hit->node;
    uint32_t count = 0;
    marked[hit->node.id] = 1;
    XPU_FOR_ALL_NODES(graph, node) nodes[count++] = node;
    while (count-- > 0) {
        if (!marked[nodes[count].id]) continue;
        cause = nodes[count];
        mark(graph, beside, cause, marked);
    }
    return cause;
}
