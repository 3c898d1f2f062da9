/* Composite operators into primitives with the same result, bit for bit. */
#include "core/ops/infer.h"

/* Builds nodes in front of `node` that carry its origins. */
typedef struct {
    xpu_graph *graph;
    xpu_node node;
    xpu_diags *diags;
} builder;

static xpu_value build(builder *b, xpu_op_id op, const xpu_value *inputs, uint32_t count, const xpu_attr *attr) {
    return xpu_build_part(b->graph, b->node, op, inputs, count, attr, attr ? 1 : 0, b->diags);
}

static xpu_value build_2(builder *b, xpu_op_id op, xpu_value x, xpu_value y) {
    return build(b, op, (const xpu_value[]){x, y}, 2, NULL);
}

xpu_status xpu_expand_batch_norm(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    builder b = {graph, node, diags};
    size_t errors = diags->errors;
    xpu_value x = xpu_node_input(graph, node, 0), y = xpu_node_output(graph, node, 0);
    xpu_value scale = xpu_node_input(graph, node, 1), bias = xpu_node_input(graph, node, 2);
    xpu_value mean = xpu_node_input(graph, node, 3), variance = xpu_node_input(graph, node, 4);
    xpu_value epsilon = xpu_graph_const_f32(graph, NULL, xpu_node_float(graph, node, XPU_ATTR_EPSILON));
    xpu_value sum = build_2(&b, XPU_OP_ADD, variance, epsilon);
    xpu_value deviation = build(&b, XPU_OP_SQRT, &sum, 1, NULL);
    xpu_value factor = build_2(&b, XPU_OP_DIV, scale, deviation);
    xpu_value offset = build_2(&b, XPU_OP_SUB, bias, build_2(&b, XPU_OP_MUL, mean, factor));
    const xpu_value_info *info = xpu_value_at(graph, x);
    int rank = info->rank;
    xpu_dim dims[XPU_MAX_RANK] = {info->dims[1]};
    for (int i = 1; i < rank - 1; i++) dims[i] = xpu_dim_const(&graph->dims, 1);
    xpu_attr shape = XPU_ATTR_DIMS_OF(SHAPE, dims, (uint32_t)(rank - 1));
    factor = build(&b, XPU_OP_RESHAPE, &factor, 1, &shape);
    offset = build(&b, XPU_OP_RESHAPE, &offset, 1, &shape);
    xpu_value result = build_2(&b, XPU_OP_ADD, build_2(&b, XPU_OP_MUL, x, factor), offset);
    if (diags->errors != errors) return xpu_diags_status(diags);
    xpu_value_replace(graph, y, result);
    xpu_node_remove(graph, node);
    return XPU_OK;
}
