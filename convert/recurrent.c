/* Recurrences as the core has them, with what stands in front of them. */
#include "convert/recurrent.h"
#include "core/passes/rewrite.h"

/* The maker of a value that nothing else uses, where it is this operator; {0}: it is not. */
static xpu_node maker(const xpu_graph *graph, xpu_value value, xpu_op_id op) {
    const xpu_value_info *info = value.id ? xpu_value_at(graph, value) : NULL;
    if (!info || info->kind != XPU_VALUE_NODE || !xpu_node_is(graph, info->node, op)) return (xpu_node){0};
    return info->node;
}

xpu_value xpu_through_reshape(const xpu_graph *graph, xpu_value value) {
    const xpu_node node = maker(graph, value, XPU_OP_RESHAPE);
    return node.id ? xpu_node_input(graph, node, 0) : value;
}

int xpu_recurrent_source_of(const xpu_graph *graph, xpu_node recurrent, xpu_recurrent_source *s) {
    xpu_value value = xpu_through_reshape(graph, xpu_node_input(graph, recurrent, XPU_IN_X));
    const xpu_node sum = maker(graph, value, XPU_OP_ADD);
    *s = (xpu_recurrent_source){.bias = {0}};
    if (sum.id) {
        s->bias = xpu_node_input(graph, sum, 1);
        value = xpu_node_input(graph, sum, 0);
        if (xpu_value_at(graph, s->bias)->rank != 1) return 0;
    }
    const xpu_node product = maker(graph, value, XPU_OP_MATMUL);
    if (!product.id || xpu_node_input(graph, product, XPU_IN_BIAS).id) return 0;
    s->x = xpu_node_input(graph, product, XPU_IN_X);
    s->w = xpu_node_input(graph, product, XPU_IN_W);
    const xpu_value_info *x = xpu_value_at(graph, s->x), *w = xpu_value_at(graph, s->w);
    if (x->rank < 1 || w->rank != 2) return 0;
    s->inputs = x->dims[x->rank - 1];
    return 1;
}
