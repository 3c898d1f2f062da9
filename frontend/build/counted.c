#include "frontend/build/counted.h"

#include "core/ir/known.h"

/* ---- dims ---- */

int fe_dim_is_inner(const xpu_graph *graph, xpu_dim dim, xpu_block block) {
    const xpu_dim_node *node = xpu_dim_at(&graph->dims, dim);
    if (node->kind == XPU_DIM_CONST) return 0;
    if (node->kind != XPU_DIM_SYMBOL)
        return fe_dim_is_inner(graph, node->a, block) || fe_dim_is_inner(graph, node->b, block);
    xpu_value value = graph->dims.symbols.items[node->value].value;
    return value.id && xpu_block_is_in(graph, xpu_value_block(graph, value), block);
}

xpu_dim fe_dim_again(xpu_dims *dims, const xpu_dim_node *nodes, uint32_t kept, xpu_dim dim) {
    if (dim.id < kept) return dim;
    const xpu_dim_node *node = &nodes[dim.id];
    if (node->kind == XPU_DIM_CONST) return xpu_dim_const(dims, node->value);
    if (node->kind == XPU_DIM_SYMBOL) return (xpu_dim){0};
    return xpu_dim_op(dims, node->kind, fe_dim_again(dims, nodes, kept, node->a),
                      fe_dim_again(dims, nodes, kept, node->b));
}

xpu_dim fe_dim_with(xpu_dims *dims, xpu_dim dim, xpu_dim symbol, int64_t number) {
    const xpu_dim_node node = *xpu_dim_at(dims, dim);
    if (dim.id == symbol.id) return xpu_dim_const(dims, number);
    if (node.kind == XPU_DIM_CONST || node.kind == XPU_DIM_SYMBOL) return dim;
    xpu_dim a = fe_dim_with(dims, node.a, symbol, number), b = fe_dim_with(dims, node.b, symbol, number);
    return xpu_dim_op(dims, node.kind, a, b);
}

/* ---- counters ---- */

/* The node that computes the value, past those that only name or shape one element. */
static const xpu_node_info *maker_of(const fe_builder *b, xpu_value value) {
    for (;;) {
        const xpu_value_info *info = fe_info(b, value);
        if (info->kind != XPU_VALUE_NODE) return NULL;
        const xpu_node_info *node = xpu_node_at(b->graph, info->node);
        if (xpu_op_id_of(node->op) != XPU_OP_IDENTITY && xpu_op_id_of(node->op) != XPU_OP_RESHAPE) return node;
        value = node->inputs[0];
    }
}

/* Past IDENTITY and RESHAPE. */
static xpu_value origin_of(const fe_builder *b, xpu_value value) {
    for (;;) {
        const xpu_value_info *info = fe_info(b, value);
        if (info->kind != XPU_VALUE_NODE) return value;
        const xpu_node_info *node = xpu_node_at(b->graph, info->node);
        if (xpu_op_id_of(node->op) != XPU_OP_IDENTITY && xpu_op_id_of(node->op) != XPU_OP_RESHAPE) return value;
        value = node->inputs[0];
    }
}

/* The one entry of the value, where it is known. */
static xpu_dim dim_of(const fe_builder *b, xpu_value value) {
    xpu_dim list[XPU_MOST_KNOWN];
    return xpu_value_as_dims(b->graph, value, list) == 1 ? list[0] : (xpu_dim){0};
}

int fe_is_counter(const fe_builder *b, xpu_value argument, xpu_value next, int64_t *step) {
    const xpu_node_info *node = maker_of(b, next);
    if (!node || (xpu_op_id_of(node->op) != XPU_OP_ADD && xpu_op_id_of(node->op) != XPU_OP_SUB)) return 0;
    for (uint32_t i = 0; i < 2; i++) {
        xpu_value other = node->inputs[!i];
        if (origin_of(b, node->inputs[i]).id != argument.id || !fe_info(b, other)->constant) continue;
        if (!xpu_dim_is_const(&b->graph->dims, dim_of(b, other), step)) return 0;
        if (xpu_op_id_of(node->op) == XPU_OP_ADD) return *step != 0;
        *step = -*step;
        return i == 0 && *step != 0;
    }
    return 0;
}

/* The comparison as a < b of dims; 0: it is none. */
static int comparison_of(const fe_builder *b, xpu_value value, xpu_dim sides[2]) {
    const xpu_node_info *node = maker_of(b, value);
    if (!node) return 0;
    xpu_dims *dims = &b->graph->dims;
    int is_turned = xpu_op_id_of(node->op) == XPU_OP_GREATER || xpu_op_id_of(node->op) == XPU_OP_GREATER_OR_EQUAL;
    int has_equal = xpu_op_id_of(node->op) == XPU_OP_LESS_OR_EQUAL || xpu_op_id_of(node->op) == XPU_OP_GREATER_OR_EQUAL;
    if (xpu_op_id_of(node->op) != XPU_OP_LESS && !is_turned && !has_equal) return 0;
    sides[0] = dim_of(b, node->inputs[is_turned]);
    sides[1] = dim_of(b, node->inputs[!is_turned]);
    if (has_equal) sides[1] = xpu_dim_add_const(dims, sides[1], 1);
    return sides[0].id && sides[1].id;
}

/* How often start + i step < end holds from i = 0 on. */
static xpu_dim count_between(xpu_dims *dims, xpu_dim start, xpu_dim end, int64_t step) {
    xpu_dim gap = xpu_dim_add(dims, end, xpu_dim_mul_const(dims, start, -1));
    xpu_dim count = xpu_dim_op(dims, XPU_DIM_MAX, xpu_dim_add_const(dims, gap, step - 1), xpu_dim_const(dims, 0));
    return xpu_dim_floordiv_const(dims, count, step);
}

/* counter < limit, the counter being start + step x iteration behind each iteration. */
typedef struct {
    xpu_dim start, limit;
    int64_t step;
} progress;

static int progress_of(const fe_builder *b, const fe_counting *form, xpu_value value, progress *found) {
    xpu_dims *dims = &b->graph->dims;
    xpu_dim sides[2];
    if (!comparison_of(b, value, sides)) return 0;
    const uint32_t symbol = (uint32_t)xpu_dim_at(dims, form->iteration)->value;
    if (xpu_dim_at(dims, form->iteration)->kind != XPU_DIM_SYMBOL) return 0;
    if (fe_dim_is_inner(b->graph, sides[1], form->body) || !xpu_dim_has_symbol(dims, sides[0], symbol)) return 0;
    for (int64_t step = 1; step <= 64; step++) { /* what stays when the counter's part is taken away */
        xpu_dim rest = xpu_dim_add(dims, sides[0], xpu_dim_mul_const(dims, form->iteration, -step));
        if (!rest.id) return 0;
        if (fe_dim_is_inner(b->graph, rest, form->body)) continue;
        *found = (progress){rest, sides[1], step};
        return 1;
    }
    return 0;
}

xpu_dim fe_count_trips(fe_builder *b, const fe_counting *form, int *exactly) {
    xpu_dims *dims = &b->graph->dims;
    const xpu_node_info *node = maker_of(b, form->goes_on);
    progress found;
    *exactly = 0;
    if (node && xpu_op_id_of(node->op) == XPU_OP_AND) { /* one of the two ends the loop */
        fe_counting side = *form;
        xpu_value sides[] = {node->inputs[0], node->inputs[1]};
        int ignored;
        side.goes_on = sides[0];
        xpu_dim trips = fe_count_trips(b, &side, &ignored);
        side.goes_on = sides[1];
        xpu_dim other = fe_count_trips(b, &side, &ignored);
        return trips.id && other.id ? xpu_dim_op(dims, XPU_DIM_MIN, trips, other) : trips.id ? trips : other;
    }
    if (!progress_of(b, form, form->goes_on, &found)) return (xpu_dim){0};
    xpu_dim before[2], start = xpu_dim_add_const(dims, found.start, -found.step);
    if (comparison_of(b, form->first, before) && xpu_dim_same(dims, before[0], start) &&
        xpu_dim_same(dims, before[1], found.limit)) {
        *exactly = 1;
        return count_between(dims, start, found.limit, found.step);
    }
    *exactly = fe_info(b, form->first)->constant != NULL; /* true: else there is no loop */
    return xpu_dim_add_const(dims, count_between(dims, found.start, found.limit, found.step), 1);
}
