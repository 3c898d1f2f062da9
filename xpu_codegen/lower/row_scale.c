/* Rows divided by powers of two, and multiplied by them again behind the product (choose/row_scale.c). */
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

/* Each block is loaded before its result is stored: the result may lie on the operand. */
static void offer_in_place(xpu_codegen *cg, uint32_t result, uint32_t operand) {
    xpu_program_in_place pair = {result, operand};
    if (cg->program.buffers.items[operand].kind != XPU_BUFFER_ACTIVATION) return;
    XPU_PUSH(cg->arena, &cg->program.in_place, pair);
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
    offer_in_place(cg, to, from);
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
