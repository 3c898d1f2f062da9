/* Which operator made the difference. */
#include <math.h>

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

static int constants_differ(const xpu_validation *v, xpu_value a, xpu_value b, xpu_arena *arena, xpu_hit *hit) {
    xpu_tensor x, y;
    if (!a.id || !b.id || xpu_value_at(v->a.graph, a)->kind != XPU_VALUE_CONST ||
        xpu_value_at(v->b.graph, b)->kind != XPU_VALUE_CONST)
        return 0;
    if (xpu_const_tensor(v->a.graph, a, arena, &x, v->diags) != XPU_OK ||
        xpu_const_tensor(v->b.graph, b, arena, &y, v->diags) != XPU_OK)
        return 0;
    hit->apart = xpu_validate_apart(&x, &y, xpu_validate_largest(&x), (double)INFINITY, 0);
    if (hit->apart.of_max <= v->tolerance) return 0;
    hit->a = a;
    hit->b = b;
    xpu_validate_place(hit, &x, &y);
    return 1;
}

int xpu_validate_constants(const xpu_validation *v, xpu_node *node_a, xpu_hit *hit) {
    const xpu_graph *a = v->a.graph, *b = v->b.graph;
    xpu_node x = xpu_graph_first(a), y = xpu_graph_first(b);
    int differ = 0;
    for (; x.id && !differ; x = xpu_node_next_of_all(a, x), y = xpu_node_next_of_all(b, y)) {
        const xpu_node_info *info = xpu_node_at(a, x);
        xpu_arena *arena = xpu_arena_new(xpu_arena_mem(v->arena), "constants");
        for (uint32_t i = 0; i < info->input_count && !differ; i++)
            differ = constants_differ(v, info->inputs[i], xpu_node_input(b, y, i), arena, hit);
        xpu_arena_free(arena);
        *node_a = x;
        hit->node = y;
    }
    return differ;
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

/* Position of each node in the order of execution. */
static xpu_node *nodes_of(const xpu_validation *v, uint32_t *count) {
    const xpu_graph *graph = v->b.graph;
    xpu_node *nodes = XPU_NEW_ARRAY(v->scratch, xpu_node, graph->nodes.count);
    *count = 0;
    XPU_FOR_ALL_NODES(graph, node) nodes[(*count)++] = node;
    return nodes;
}

/* The position of the node that made the difference: from the back, as operands stand in front of those that use them,
 * through all that have no counterparts. */
static uint32_t cause_of(const xpu_validation *v, const xpu_beside *beside, const xpu_hit *hit, const xpu_node *nodes,
                         uint32_t count) {
    uint8_t *marked = XPU_NEW_ARRAY(v->scratch, uint8_t, v->b.graph->nodes.count);
    uint32_t cause = 0;
    marked[hit->node.id] = 1;
    while (count-- > 0) {
        if (!marked[nodes[count].id]) continue;
        cause = count;
        mark(v->b.graph, beside, nodes[count], marked);
    }
    return cause;
}

/* Large differences first: on equal operands one operator makes it, and roundings are small beside it. Where both do
 * the same step by step there are no roundings, and any difference counts. Of those of one size the one that was made
 * first. */
const xpu_hit *xpu_validate_first(const xpu_validation *v, const xpu_beside *beside, int sure, xpu_node *cause) {
    const double levels[] = {v->tolerance, v->tolerance / 10, v->tolerance * XPU_VALIDATE_ROUNDINGS, 0};
    enum { LEVELS = sizeof levels / sizeof *levels, MOST = 1000 };
    uint32_t count, looked = 0;
    const xpu_node *nodes = nodes_of(v, &count);
    const xpu_hit *first = NULL;
    for (int i = 0; i < LEVELS && !first; i++) {
        uint32_t least = UINT32_MAX;
        if (levels[i] <= 0 && (sure || !xpu_validate_is_alike(v))) continue;
        for (uint32_t k = 0; k < beside->hits.count && looked < MOST; k++) {
            const xpu_hit *hit = &beside->hits.items[k];
            if (!(hit->apart.of_max > levels[i]) || (!hit->is_sure && sure)) continue;
            uint32_t at = cause_of(v, beside, hit, nodes, count);
            looked++;
            if (at >= least) continue;
            least = at;
            first = hit;
            *cause = nodes[at];
        }
    }
    return first;
}

xpu_node xpu_validate_cause_in_a(const xpu_validation *v, const xpu_record *record, const xpu_hit *hit) {
    const xpu_graph *graph = v->a.graph;
    uint8_t *marked = XPU_NEW_ARRAY(v->scratch, uint8_t, graph->nodes.count);
    xpu_node *nodes = XPU_NEW_ARRAY(v->scratch, xpu_node, graph->nodes.count);
    xpu_node cause = xpu_value_at(graph, hit->a)->node;
    uint32_t count = 0;
    if (!cause.id) return cause;
    marked[cause.id] = 1;
    XPU_FOR_ALL_NODES(graph, node) nodes[count++] = node;
    while (count-- > 0) {
        const xpu_node_info *info = xpu_node_at(graph, nodes[count]);
        if (!marked[nodes[count].id]) continue;
        cause = nodes[count];
        for (uint32_t i = 0; i < info->input_count; i++) {
            const xpu_value_info *operand = xpu_value_at(graph, info->inputs[i]);
            const xpu_kept_tensor *kept =
                operand->kind == XPU_VALUE_NODE ? xpu_validate_kept(record, info->inputs[i], 0) : NULL;
            if (kept && !kept->taken && !is_of_constants(graph, info->inputs[i], 0)) marked[operand->node.id] = 1;
        }
    }
    return cause;
}
