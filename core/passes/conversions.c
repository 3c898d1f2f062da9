/*
 * Conversions between floats and quantised integers that are no kernel's: scales or zero points that differ along an
 * axis or are computed, and integers wider than a byte. As elementwise steps they give the same bits.
 */
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

enum { X, SCALE, ZERO };

typedef struct {
    xpu_graph *graph;
    xpu_node node;
    xpu_diags *diags;
} conversion;

static xpu_value build(const conversion *c, xpu_op_id op, const xpu_value *inputs, uint32_t count,
                       const xpu_attr *attr) {
    return xpu_build_part(c->graph, c->node, op, inputs, count, attr, attr ? 1 : 0, c->diags);
}

static xpu_value pair(const conversion *c, xpu_op_id op, xpu_value a, xpu_value b) {
    return build(c, op, (const xpu_value[]){a, b}, 2, NULL);
}

static xpu_value converted(const conversion *c, xpu_value x, xpu_dtype dtype) {
    return build(c, XPU_OP_CONVERT, &x, 1, &XPU_ATTR_INT_OF(DTYPE, dtype));
}

static int is_single(const xpu_graph *graph, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    int64_t size = 1;
    return info->rank == 0 || (xpu_dim_is_const(&graph->dims, info->dims[0], &size) && size == 1);
}

/* One constant scale and zero point, and bytes: kernels of targets. */
static int is_plain(const xpu_graph *graph, xpu_node node) {
    xpu_value scale = xpu_node_input(graph, node, SCALE), zero = xpu_node_input(graph, node, ZERO);
    xpu_value q =
        xpu_node_is(graph, node, XPU_OP_QUANTIZE) ? xpu_node_output(graph, node, 0) : xpu_node_input(graph, node, X);
    if (!xpu_is_constant(graph, scale) || !is_single(graph, scale)) return 0;
    if (zero.id && (!xpu_is_constant(graph, zero) || !is_single(graph, zero))) return 0;
    return xpu_dtype_bytes(xpu_value_at(graph, q)->dtype) == 1;
}

/* A scale or zero point as it broadcasts to x. */
static xpu_value parameter(const conversion *c, xpu_value value) {
    const xpu_value_info *x = xpu_value_at(c->graph, xpu_node_input(c->graph, c->node, X));
    const xpu_value_info *info = xpu_value_at(c->graph, value);
    xpu_dim dims[XPU_MAX_RANK];
    uint32_t rank = 0;
    if (info->rank == 0) return value;
    if (!is_single(c->graph, value)) {
        int axis = (int)xpu_node_int(c->graph, c->node, XPU_ATTR_AXIS);
        dims[rank++] = info->dims[0];
        for (int i = axis + 1; i < x->rank; i++) dims[rank++] = xpu_dim_const(&c->graph->dims, 1);
    }
    return build(c, XPU_OP_RESHAPE, &value, 1, &XPU_ATTR_DIMS_OF(SHAPE, dims, rank));
}

/* A conversion to integers saturates, as clamping does. */
static xpu_value quantized(const conversion *c, xpu_value x, xpu_value scale, xpu_value zero) {
    const xpu_dtype dtype = xpu_value_at(c->graph, xpu_node_output(c->graph, c->node, 0))->dtype;
    int zero_first = xpu_node_int(c->graph, c->node, XPU_ATTR_ZERO_FIRST) != 0;
    if (zero.id) zero = converted(c, parameter(c, zero), XPU_F32);
    xpu_value y = pair(c, XPU_OP_DIV, x, parameter(c, scale));
    if (zero.id && zero_first) y = pair(c, XPU_OP_ADD, y, zero);
    y = build(c, XPU_OP_ROUND, &y, 1, NULL);
    if (zero.id && !zero_first) y = pair(c, XPU_OP_ADD, y, zero);
    return converted(c, y, dtype);
}

static xpu_value dequantized(const conversion *c, xpu_value x, xpu_value scale, xpu_value zero) {
    xpu_value y = converted(c, x, XPU_I32);
    if (zero.id) y = pair(c, XPU_OP_SUB, y, converted(c, parameter(c, zero), XPU_I32));
    return pair(c, XPU_OP_MUL, converted(c, y, XPU_F32), parameter(c, scale));
}

xpu_status xpu_write_out_conversions(xpu_graph *graph, xpu_diags *diags) {
    size_t errors = diags->errors;
    XPU_ARRAY(xpu_node) nodes = {0};
    XPU_FOR_ALL_NODES(graph, node) {
        int converts = xpu_node_is(graph, node, XPU_OP_QUANTIZE) || xpu_node_is(graph, node, XPU_OP_DEQUANTIZE);
        if (converts && !is_plain(graph, node)) XPU_PUSH(graph->arena, &nodes, node);
    }
    for (uint32_t i = 0; i < nodes.count; i++) {
        const conversion c = {graph, nodes.items[i], diags};
        xpu_value x = xpu_node_input(graph, c.node, X), scale = xpu_node_input(graph, c.node, SCALE);
        xpu_value zero = xpu_node_input(graph, c.node, ZERO);
        int quantizes = xpu_node_is(graph, c.node, XPU_OP_QUANTIZE);
        xpu_replace_node(graph, c.node, (quantizes ? quantized : dequantized)(&c, x, scale, zero));
    }
    return xpu_diags_since(diags, errors);
}
