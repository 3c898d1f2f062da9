/* What works on rows: norms, rotary embedding, and what products of scaled rows and of computed matrices need besides
 * the product (choose/row_scale.c, choose/computed_weights.c). */
#include "core/ops/rotary.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/epilogue.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"

static xpu_arg_int rows_of(xpu_codegen *cg, xpu_value x) {
    return xpu_arg_dim(xpu_dims_product(cg, x, 0, xpu_value_at(cg->graph, x)->rank - 1));
}

static xpu_arg_int count_of(const xpu_codegen *cg, xpu_value x) {
    return xpu_arg_dim(xpu_value_dim(cg, x, xpu_value_at(cg->graph, x)->rank - 1));
}

xpu_status xpu_lower_norm(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0), most = xpu_node_output(cg->graph, node, XPU_OUT_ABSMAX);
    uint32_t from = xpu_operand_buffer(cg, layer, x, "x");
    uint32_t to = xpu_activation_buffer(cg, xpu_node_output(cg->graph, node, XPU_OUT_Y));
    struct xpu_norm_f32_call call = {.x = xpu_arg_at(from), .y = xpu_arg_at(to)};
    call.scale = xpu_operand_of(cg, layer, node, 1, "scale");
    call.bias = xpu_operand_of(cg, layer, node, 2, "bias");
    call.y_absmax = most.id ? xpu_arg_at(xpu_activation_buffer(cg, most)) : xpu_arg_absent();
    call.rows = rows_of(cg, x);
    call.count = count_of(cg, x);
    call.epsilon = xpu_arg_real(xpu_node_float(cg->graph, node, XPU_ATTR_EPSILON));
    call.centred = xpu_arg_attr(cg, node, XPU_ATTR_CENTRED);
    xpu_offer_in_place(cg, to, from); /* each block is loaded before its result is stored */
    xpu_describe_layer(cg, layer, XPU_KERNEL_norm_f32, xpu_dim_of(cg, 0));
    return xpu_add_norm_f32(cg, layer, &call);
}

xpu_status xpu_lower_rotary(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0);
    const xpu_value_info *info = xpu_value_at(cg->graph, x);
    int first, last;
    if (!xpu_rotary_fits(cg->graph, info, xpu_value_at(cg->graph, xpu_node_input(cg->graph, node, XPU_IN_COSINES)),
                         &first, &last))
        return xpu_codegen_bug(cg, "tables do not fit", "of node %u", node.id);
    const int rows = info->rank - 1;
    const uint32_t from = xpu_operand_buffer(cg, layer, x, "x");
    const uint32_t to = xpu_activation_buffer(cg, xpu_node_output(cg->graph, node, 0));
    struct xpu_rotary_f32_call call = {.x = xpu_arg_at(from), .y = xpu_arg_at(to)};
    call.cosines = xpu_operand_of(cg, layer, node, XPU_IN_COSINES, "cosines");
    call.sines = xpu_operand_of(cg, layer, node, XPU_IN_SINES, "sines");
    call.outer = xpu_arg_dim(xpu_dims_product(cg, x, 0, first));
    call.middle = xpu_arg_dim(xpu_dims_product(cg, x, first, last));
    call.inner = xpu_arg_dim(xpu_dims_product(cg, x, last, rows));
    call.size = xpu_arg_dim(xpu_value_dim(cg, x, rows));
    call.interleaved = xpu_arg_attr(cg, node, XPU_ATTR_INTERLEAVED);
    xpu_offer_in_place(cg, to, from); /* each block is loaded before its result is stored */
    xpu_describe_layer(cg, layer, XPU_KERNEL_rotary_f32, xpu_dim_of(cg, 0));
    return xpu_add_rotary_f32(cg, layer, &call);
}

xpu_status xpu_lower_row_scale(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X);
    uint32_t from = xpu_operand_buffer(cg, layer, x, "x");
    uint32_t to = xpu_activation_buffer(cg, xpu_node_output(cg->graph, node, XPU_OUT_Y));
    struct xpu_row_scale_f32_call call = {.x = xpu_arg_at(from), .y = xpu_arg_at(to)};
    call.powers = xpu_arg_at(xpu_activation_buffer(cg, xpu_node_output(cg->graph, node, XPU_OUT_POWERS)));
    xpu_value most = xpu_node_output(cg->graph, node, XPU_OUT_ROW_ABSMAX);
    call.y_absmax = most.id ? xpu_arg_at(xpu_activation_buffer(cg, most)) : xpu_arg_absent();
    call.rows = rows_of(cg, x);
    call.count = count_of(cg, x);
    xpu_offer_in_place(cg, to, from); /* each block is loaded before its result is stored */
    xpu_describe_layer(cg, layer, XPU_KERNEL_row_scale_f32, xpu_dim_of(cg, 0));
    return xpu_add_row_scale_f32(cg, layer, &call);
}

xpu_status xpu_lower_row_restore(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X);
    int early = xpu_follows_tensor(cg, layer, node);
    struct xpu_row_restore_f32_call call = {.epilogue = xpu_epilogue_of(cg, node), .early = xpu_arg_number(early)};
    call.x = xpu_operand_of(cg, layer, node, XPU_IN_X, "x");
    call.powers = xpu_operand_of(cg, layer, node, XPU_IN_POWERS, "powers");
    call.bias = xpu_operand_of(cg, layer, node, XPU_IN_BIAS, "bias");
    call.branch = xpu_operand_of(cg, layer, node, XPU_IN_BRANCH, "branch");
    call.y = xpu_arg_at(xpu_activation_buffer(cg, xpu_node_output(cg->graph, node, XPU_OUT_Y)));
    call.rows = rows_of(cg, x);
    call.count = count_of(cg, x);
    cg->layers.items[layer].begins_early = early;
    xpu_describe_layer(cg, layer, XPU_KERNEL_row_restore_f32, xpu_dim_of(cg, 0));
    return xpu_add_row_restore_f32(cg, layer, &call);
}

xpu_status xpu_lower_softmax_parts(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X);
    uint32_t from = xpu_operand_buffer(cg, layer, x, "x");
    uint32_t to = xpu_activation_buffer(cg, xpu_node_output(cg->graph, node, XPU_OUT_Y));
    struct xpu_softmax_parts_f32_call call = {.x = xpu_arg_at(from), .y = xpu_arg_at(to)};
    call.inverses = xpu_arg_at(xpu_activation_buffer(cg, xpu_node_output(cg->graph, node, XPU_OUT_POWERS)));
    call.rows = rows_of(cg, x);
    call.count = count_of(cg, x);
    xpu_offer_in_place(cg, to, from); /* each block is loaded before its result is stored */
    xpu_describe_layer(cg, layer, XPU_KERNEL_softmax_parts_f32, xpu_dim_of(cg, 0));
    return xpu_add_softmax_parts_f32(cg, layer, &call);
}

xpu_status xpu_lower_pack_matrix(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    xpu_value x = xpu_node_input(graph, node, XPU_IN_X), y = xpu_node_output(graph, node, XPU_OUT_Y);
    int rank = xpu_value_at(graph, x)->rank, transposed = xpu_node_int(graph, node, XPU_ATTR_TRANSPOSED) != 0;
    xpu_dim extent = xpu_value_extent(cg, x, rank - 2), row = xpu_value_dim(cg, x, rank - 1);
    struct xpu_pack_matrix_f32_call call = {.x = xpu_arg_at(xpu_operand_buffer(cg, layer, x, "x"))};
    call.y = xpu_arg_at(xpu_activation_buffer(cg, y));
    call.scales = xpu_arg_at(xpu_activation_buffer(cg, xpu_node_output(graph, node, XPU_OUT_PACK_SCALES)));
    call.batch = xpu_arg_dim(xpu_value_dim(cg, y, 0));
    call.stride = xpu_arg_dim(xpu_dim_mul(&cg->graph->dims, extent, row));
    call.k = xpu_arg_dim(xpu_value_dim(cg, y, 2));
    call.n = xpu_arg_dim(xpu_value_dim(cg, x, rank - (transposed ? 2 : 1)));
    call.columns = xpu_arg_number(xpu_node_int(graph, node, XPU_ATTR_COLUMNS));
    call.transposed = xpu_arg_number(transposed);
    call.narrow = xpu_arg_number(xpu_value_at(graph, y)->dtype == XPU_I8);
    xpu_describe_layer(cg, layer, XPU_KERNEL_pack_matrix_f32, xpu_dim_of(cg, 0));
    return xpu_add_pack_matrix_f32(cg, layer, &call);
}
