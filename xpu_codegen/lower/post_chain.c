#include "xpu_codegen/lower/post_chain.h"

#include "xpu_codegen/choose/post_chain.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/elementwise.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

static xpu_arg_address operand_of(xpu_codegen *cg, uint32_t layer, xpu_node node, int input, const char *role) {
    if (input < 0) return xpu_arg_absent();
    return xpu_arg_at(xpu_operand_buffer(cg, layer, xpu_node_input(cg->graph, node, (uint32_t)input), role));
}

static xpu_arg_int bytes_of(xpu_codegen *cg, xpu_dim elements) {
    return xpu_arg_dim(xpu_dim_mul_const(&cg->graph->dims, elements, sizeof(float)));
}

static void set_places(xpu_codegen *cg, const xpu_post_chain *chain, struct xpu_elementwise_call *call) {
    const xpu_elementwise_shape *shape = &chain->shape;
    const xpu_post_form *form = &chain->form;
    call->images = xpu_arg_dim(shape->images);
    call->rows = xpu_arg_dim(shape->rows);
    call->columns = xpu_arg_dim(shape->columns);
    if (shape->is_flat) return;
    call->x_image = bytes_of(cg, chain->x[form->x].image);
    call->x_row = bytes_of(cg, chain->x[form->x].row);
    call->y_image = bytes_of(cg, chain->y.image);
    call->y_row = bytes_of(cg, chain->y.row);
    if (form->branch >= 0) {
        call->branch_image = bytes_of(cg, chain->x[form->branch].image);
        call->branch_row = bytes_of(cg, chain->x[form->branch].row);
    }
    const int vector = form->scale >= 0 ? form->scale : form->bias;
    if (vector >= 0) call->vector_image = bytes_of(cg, chain->x[vector].image);
}

static void set_arithmetic(const xpu_post_form *form, struct xpu_elementwise_call *call) {
    call->op = xpu_arg_number(form->is_product ? XPU_POST_MUL : XPU_POST_SCALE);
    call->is_float = xpu_arg_number(1);
    call->x_type = call->y_type = xpu_arg_number(XPU_TYPE_F32);
    if (form->branch >= 0) call->branch_type = xpu_arg_number(XPU_TYPE_F32);
    call->activation = xpu_arg_number(form->activation);
    call->branch_after = xpu_arg_number(form->branch_after);
    call->clips_last = xpu_arg_number(form->clips_last);
    call->factor = xpu_arg_real(form->factor);
    call->low = xpu_arg_real(form->low);
    call->high = xpu_arg_real(form->high);
    call->slope = xpu_arg_real(form->slope);
    call->ra = xpu_arg_real(form->ra);
    call->rb = xpu_arg_real(form->rb);
    call->f = xpu_arg_real(form->f);
}

static int is_computed(const xpu_codegen *cg, xpu_node node, int input) {
    return input >= 0 && !xpu_is_const_value(cg, xpu_node_input(cg->graph, node, (uint32_t)input));
}

static int is_dense(xpu_codegen *cg, const xpu_elementwise_shape *shape, const xpu_post_strides *strides) {
    if (shape->is_flat) return 1;
    const xpu_dim image = xpu_dim_mul(&cg->graph->dims, shape->rows, shape->columns);
    return xpu_dim_equal(strides->row, shape->columns) &&
           (xpu_is_one(cg, shape->images) || xpu_dim_equal(strides->image, image));
}

/* The result may lie on an operand that lies as it does. */
static void offer_in_place(xpu_codegen *cg, const xpu_post_chain *chain, const struct xpu_elementwise_call *call) {
    const xpu_program_buffer *buffers = cg->program.buffers.items;
    const xpu_arg_address operands[] = {call->x, call->branch};
    const int numbers[] = {chain->form.x, chain->form.branch};
    const uint32_t result = call->y.arg.word.buffer;
    if (!is_dense(cg, &chain->shape, &chain->y)) return;
    for (int i = 0; i < 2 && numbers[i] >= 0; i++) {
        const uint32_t operand = operands[i].arg.word.buffer;
        if (is_dense(cg, &chain->shape, &chain->x[numbers[i]]) &&
            xpu_dim_equal(buffers[operand].bytes, buffers[result].bytes))
            xpu_offer_in_place(cg, result, operand);
    }
}

xpu_status xpu_lower_post_chain(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_post_chain *chain) {
    const xpu_post_form *form = &chain->form;
    const xpu_value most = xpu_node_output(cg->graph, node, XPU_OUT_ABSMAX);
    struct xpu_elementwise_call call = xpu_elementwise_defaults();
    call.y = xpu_arg_at(xpu_activation_buffer(cg, xpu_node_output(cg->graph, node, XPU_OUT_Y)));
    if (most.id) call.y_absmax = xpu_arg_at(xpu_activation_buffer(cg, most));
    call.x = operand_of(cg, layer, node, form->x, "x");
    call.branch = operand_of(cg, layer, node, form->branch, "branch");
    call.scale = operand_of(cg, layer, node, form->scale, "scale");
    call.bias = operand_of(cg, layer, node, form->bias, "bias");
    call.vectors_computed = xpu_arg_number(is_computed(cg, node, form->scale) || is_computed(cg, node, form->bias));
    set_places(cg, chain, &call);
    set_arithmetic(form, &call);
    offer_in_place(cg, chain, &call);
    cg->program.layers.items[layer].reason =
        xpu_printf(cg->arena, "the post-processor does it in one pass: %.0f cycles instead of %.0f on the cores",
                   chain->cycles, chain->core_cycles);
    return xpu_lower_elementwise(cg, layer, &chain->tile, &call);
}
