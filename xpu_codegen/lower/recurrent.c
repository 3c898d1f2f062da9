/* The steps of an LSTM, a GRU or an RNN: one call for all. */
#include "xpu_codegen/choose/recurrent.h"

#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/epilogue.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"

static xpu_arg_address result_of(xpu_codegen *cg, xpu_node node, uint32_t output) {
    xpu_value value = xpu_node_output(cg->graph, node, output);
    return value.id ? xpu_arg_at(xpu_activation_buffer(cg, value)) : xpu_arg_absent();
}

static struct xpu_recurrence_group recurrence_of(xpu_codegen *cg, uint32_t layer, xpu_node node,
                                                 const xpu_recurrence *r) {
    struct xpu_recurrence_group g;
    g.x = xpu_operand_of(cg, layer, node, XPU_IN_X, "x");
    g.w = xpu_arg_absent();
    g.bias = xpu_operand_of(cg, layer, node, XPU_IN_BIAS, "bias");
    g.h = xpu_operand_of(cg, layer, node, XPU_IN_HIDDEN, "h");
    g.c = xpu_operand_of(cg, layer, node, XPU_IN_CELL, "c");
    g.y = result_of(cg, node, XPU_OUT_Y);
    g.y_h = result_of(cg, node, XPU_OUT_HIDDEN);
    g.y_c = r->kind == XA_LSTM ? result_of(cg, node, XPU_OUT_CELL) : xpu_arg_absent();
    g.kind = xpu_arg_number(r->kind);
    g.directions = xpu_arg_number(r->directions);
    g.steps = xpu_arg_dim(r->steps);
    g.batch = xpu_arg_dim(r->batch);
    g.hidden = xpu_arg_number(r->hidden);
    g.backwards = xpu_arg_number(r->backwards);
    return g;
}

static xpu_dim macs_of(xpu_codegen *cg, const xpu_recurrence *r) {
    xpu_dim rows = xpu_dim_mul(&cg->graph->dims, r->steps, r->batch);
    return xpu_dim_mul_const(&cg->graph->dims, rows, r->directions * r->hidden * r->gates * r->hidden);
}

static xpu_status lower_i16(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_recurrence *r, int narrow) {
    xpu_recurrent_room room;
    const char *problem = xpu_choose_recurrent(cg, node, narrow, &room);
    if (problem) return xpu_codegen_bug(cg, "a recurrence has no room", "%s", problem);
    const xpu_packing packing = {.kind = narrow ? XPU_PACK_CONV_I8 : XPU_PACK_CONV_I16,
                                 .out_c = (int32_t)(r->gates * r->hidden),
                                 .in_c = (int32_t)(r->directions * r->hidden),
                                 .kernel_h = 1,
                                 .kernel_w = 1,
                                 .groups = 1,
                                 .transposed = 1,
                                 .columns = (int32_t)cg->chip.array_columns,
                                 .tile_c = (int32_t)r->hidden};
    const char *name = cg->program.layers.items[layer].name;
    struct xpu_recurrent_i16_call call = {.recurrence = recurrence_of(cg, layer, node, r)};
    call.w = xpu_arg_at(xpu_weight_buffer(cg, xpu_node_input(cg->graph, node, XPU_IN_W), &packing,
                                          xpu_printf(cg->arena, "%s/w", name)));
    call.w_scale = xpu_operand_of(cg, layer, node, XPU_IN_WSCALE, "scale");
    call.w_int8 = xpu_arg_number(narrow);
    call.slots = xpu_arg_number(room.slots);
    call.banks = xpu_arg_number(cg->chip.acc_banks);
    call.lists = xpu_arg_at(xpu_portable_scratch_buffer(cg, layer, xpu_dim_of(cg, room.lists)));
    call.sm = xpu_arg_at(
        xpu_scratch_buffer(cg, layer, layer, xpu_dim_of(cg, room.sm_bytes), xpu_printf(cg->arena, "%s/state", name)));
    call.sm_bytes = xpu_arg_number(room.sm_bytes);
    xpu_describe_layer(cg, layer, XPU_KERNEL_recurrent_i16, macs_of(cg, r));
    return xpu_add_recurrent_i16(cg, layer, &call);
}

xpu_status xpu_lower_recurrent(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_recurrence r;
    const int64_t precision = xpu_node_int(cg->graph, node, XPU_ATTR_PRECISION);
    if (!xpu_recurrence_of(cg->graph, node, &r))
        return xpu_codegen_bug(cg, "a recurrence has no sizes", "its operands");
    if (precision != XPU_PRECISION_FP32) return lower_i16(cg, layer, node, &r, precision == XPU_PRECISION_INT16X8);
    struct xpu_recurrent_f32_call call = {.recurrence = recurrence_of(cg, layer, node, &r)};
    call.w = xpu_operand_of(cg, layer, node, XPU_IN_W, "w");
    xpu_describe_layer(cg, layer, XPU_KERNEL_recurrent_f32, macs_of(cg, &r));
    return xpu_add_recurrent_f32(cg, layer, &call);
}
