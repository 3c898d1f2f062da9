/* Attention as one layer. */
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/operators.h"

xpu_status xpu_lower_attention(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_graph *graph = cg->graph;
    xpu_dims *dims = &graph->dims;
    xpu_value q = xpu_node_input(graph, node, XPU_IN_QUERIES), k = xpu_node_input(graph, node, XPU_IN_KEYS);
    xpu_value v = xpu_node_input(graph, node, XPU_IN_VALUES), mask = xpu_node_input(graph, node, XPU_IN_MASK);
    const int last = xpu_value_at(graph, q)->rank - 1;
    xpu_dim inner = xpu_value_dim(cg, q, last), width = xpu_value_dim(cg, v, last);
    xpu_dim keys = xpu_value_dim(cg, k, last - 1);
    struct xpu_attention_f32_call call = {.q = xpu_arg_at(xpu_operand_buffer(cg, layer, q, "q"))};
    call.k = xpu_arg_at(xpu_operand_buffer(cg, layer, k, "k"));
    call.v = xpu_arg_at(xpu_operand_buffer(cg, layer, v, "v"));
    call.mask = mask.id ? xpu_arg_at(xpu_operand_buffer(cg, layer, mask, "mask")) : xpu_arg_absent();
    call.y = xpu_arg_at(xpu_activation_buffer(cg, xpu_node_output(graph, node, XPU_OUT_Y)));
    call.batch = xpu_arg_dim(xpu_dims_product(cg, q, 0, last - 1));
    call.rows = xpu_arg_dim(xpu_value_dim(cg, q, last - 1));
    call.keys = xpu_arg_dim(keys);
    call.inner = xpu_arg_dim(inner);
    call.width = xpu_arg_dim(width);
    call.scale = xpu_arg_real(xpu_node_float(graph, node, XPU_ATTR_SCALE));
    call.masked = xpu_arg_real(xpu_node_float(graph, node, XPU_ATTR_VALUE));
    xpu_dim macs =
        xpu_dim_mul(dims, xpu_dims_product(cg, q, 0, last), xpu_dim_mul(dims, keys, xpu_dim_add(dims, inner, width)));
    xpu_describe_layer(cg, layer, XPU_KERNEL_attention_f32, macs);
    return xpu_add_attention_f32(cg, layer, &call);
}
