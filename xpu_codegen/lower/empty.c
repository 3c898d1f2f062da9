#include "xpu_codegen/lower/empty.h"

#include <string.h>

#include "core/arith.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"

static int is_reduction(xpu_op_id op) {
    return op >= XPU_OP_REDUCE_SUM && op <= XPU_OP_REDUCE_PROD;
}

/* The result that has elements all the same, and what they are: a reduction's, a product's, or an absmax. */
static xpu_value filled_result(const xpu_codegen *cg, xpu_node node, uint32_t words[2]) {
    const xpu_op_id op = xpu_op_id_of(xpu_node_at(cg->graph, node)->op);
    const float absmax = op == XPU_OP_ROW_SCALE ? XA_ROW_ABSMAX : 0;
    xpu_value y = xpu_node_output(cg->graph, node, 0);
    memcpy(words, &absmax, sizeof absmax);
    if (op == XPU_OP_ROW_SCALE) return xpu_node_output(cg->graph, node, XPU_OUT_ROW_ABSMAX);
    if (xpu_is_plain_product(cg, node)) return y;
    if (!is_reduction(op)) return xpu_node_output(cg->graph, node, XPU_OUT_ABSMAX);
    xpu_reduced_nothing((int)op - XPU_OP_REDUCE_SUM, xpu_value_at(cg->graph, y)->dtype, words);
    return y;
}

int xpu_begin_layer(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_dims *dims = &cg->graph->dims;
    const int reduces = is_reduction(xpu_op_id_of(xpu_node_at(cg->graph, node)->op)) || xpu_is_plain_product(cg, node);
    xpu_value value = reduces ? xpu_node_input(cg->graph, node, 0) : xpu_node_output(cg->graph, node, 0);
    xpu_dim elements = xpu_dims_product(cg, value, 0, xpu_value_at(cg->graph, value)->rank), count = xpu_dim_of(cg, 0);
    if (xpu_dim_min(dims, elements) > 0) return 1;
    uint32_t words[2] = {0, 0};
    xpu_value filled = filled_result(cg, node, words);
    struct xpu_when_empty_call call = {.elements = xpu_arg_dim(elements), .y = xpu_arg_absent()};
    int64_t bytes = filled.id ? (int64_t)xpu_dtype_bytes(xpu_value_at(cg->graph, filled)->dtype) : 4;
    const int64_t unit = bytes == 8 ? 8 : 4;
    if (filled.id) {
        count = xpu_dims_product(cg, filled, 0, xpu_value_at(cg->graph, filled)->rank);
        count = xpu_dim_add_const(dims, xpu_dim_mul_const(dims, count, bytes), unit - 1);
        count = xpu_dim_floordiv_const(dims, count, unit);
        call.y = xpu_arg_at(xpu_activation_buffer(cg, filled));
    }
    call.count = xpu_arg_dim(count);
    call.element_bytes = xpu_arg_number(unit);
    call.low = xpu_arg_number((int32_t)words[0]);
    call.high = xpu_arg_number((int32_t)words[1]);
    xpu_describe_layer(cg, layer, XPU_KERNEL_when_empty, xpu_dim_of(cg, 0));
    return xpu_add_when_empty(cg, layer, &call) == XPU_OK && !xpu_is_empty(cg, value);
}
