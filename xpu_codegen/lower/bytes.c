/* Elementwise operators on quantised tensors: kernels on the cores over dense bytes. */
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/choose/costs.h"
#include "xpu_codegen/lower/elementwise.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"
#include "xpu_codegen/quantised_input.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

static int is_signed(const xpu_codegen *cg, xpu_value value) {
    return xpu_value_at(cg->graph, value)->dtype == XPU_I8;
}

static xpu_arg_address result_of(xpu_codegen *cg, xpu_node node) {
    return xpu_arg_at(xpu_activation_buffer(cg, xpu_node_output(cg->graph, node, 0)));
}

/* Elements of the result. */
static xpu_arg_int count_of(xpu_codegen *cg, xpu_node node) {
    xpu_value y = xpu_node_output(cg->graph, node, 0);
    return xpu_arg_dim(xpu_dims_product(cg, y, 0, xpu_value_at(cg->graph, y)->rank));
}

static xpu_arg_address operand_of(xpu_codegen *cg, uint32_t layer, xpu_node node, uint32_t input, const char *role) {
    return xpu_arg_at(xpu_operand_buffer(cg, layer, xpu_node_input(cg->graph, node, input), role));
}

/* ---- on the tensor engine's post-processor ---- */

static xpu_arg_int type_of(const xpu_codegen *cg, xpu_value value) {
    return xpu_arg_number(is_signed(cg, value) ? XPU_TYPE_I8 : XPU_TYPE_U8);
}

/* Whether the engine makes a result of bytes of one or two operands of its shape sooner than the cores, which need so
 * many cycles for 64 of them; says why. */
static int is_faster_on_engine(xpu_codegen *cg, uint32_t layer, int operands, double cycles_of_64,
                               xpu_elementwise_tile *tile) {
    xpu_program_layer *item = &cg->program.layers.items[layer];
    const xpu_value y = xpu_node_output(cg->graph, item->node, 0);
    const xpu_elementwise_shape shape = {.rows = xpu_dims_product(cg, y, 0, xpu_value_at(cg->graph, y)->rank),
                                         .is_flat = 1,
                                         .x_bytes = 1,
                                         .branch_bytes = operands > 1,
                                         .y_bytes = 1,
                                         .has_table = operands == 1};
    const double by_cores = xpu_bytes_on_cores_cycles(cg, shape.rows, operands + 1, cycles_of_64);
    if (!xpu_choose_elementwise(cg, &shape, tile)) {
        item->reason = "shared memory has no room for its tiles";
        return 0;
    }
    const double by_engine = xpu_elementwise_cycles(cg, tile);
    item->reason =
        xpu_printf(cg->arena, "about %.0f cycles by the post-processor, %.0f by the cores", by_engine, by_cores);
    return by_engine < by_cores;
}

/* What the layers of all sums and products have; operands in the order of the node. */
static struct xpu_elementwise_call pair_on_engine(const xpu_codegen *cg, xpu_node node,
                                                  const struct xpu_qpair_call *pair) {
    const xpu_value a = xpu_node_input(cg->graph, node, 0), b = xpu_node_input(cg->graph, node, 1);
    const int is_product = xpu_node_is(cg->graph, node, XPU_OP_QMUL);
    struct xpu_elementwise_call call = xpu_elementwise_defaults();
    call.x = pair->a, call.branch = pair->b, call.y = pair->y;
    call.rows = pair->count;
    call.x_type = type_of(cg, a), call.branch_type = type_of(cg, b);
    call.y_type = type_of(cg, xpu_node_output(cg->graph, node, 0));
    call.op = xpu_arg_number(is_product ? XPU_POST_MUL : XPU_POST_ADD);
    call.ra = pair->a_factor, call.rb = pair->b_factor, call.f = pair->addend;
    call.x_zero = pair->a_zero, call.b_zero = pair->b_zero, call.zero = pair->y_zero;
    call.least = pair->low, call.most = pair->high;
    return call;
}

/* One operand is a row of channels for all pixels. */
static xpu_status lower_row_pair(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_row_pair *rows,
                                 struct xpu_elementwise_call *call) {
    const struct xpu_elementwise_call given = *call;
    if (rows->full == 1) { /* x is the other one then, and a sum's second operand */
        call->x = given.branch, call->branch = given.x;
        call->x_type = given.branch_type, call->branch_type = given.x_type;
        call->x_zero = given.b_zero, call->b_zero = given.x_zero;
        call->branch_first = xpu_arg_number(1);
        if (xpu_node_is(cg->graph, node, XPU_OP_QADD)) call->ra = given.rb, call->rb = given.ra;
    }
    const xpu_dim image = xpu_dim_mul(&cg->graph->dims, rows->shape.rows, rows->shape.columns);
    call->images = xpu_arg_dim(rows->shape.images);
    call->rows = xpu_arg_dim(rows->shape.rows);
    call->columns = call->x_row = call->y_row = xpu_arg_dim(rows->shape.columns);
    call->x_image = call->y_image = xpu_arg_dim(image);
    if (rows->row_by_image) call->branch_image = call->columns;
    return xpu_lower_elementwise(cg, layer, &rows->tile, call);
}

/* Bytes are taken as levels 0 to 255, whatever their type, so that the table finds them as they are. */
static xpu_status lower_lookup_on_engine(xpu_codegen *cg, uint32_t layer, const struct xpu_lookup_call *lookup,
                                         int is_const, const xpu_elementwise_tile *tile) {
    struct xpu_elementwise_call call = xpu_elementwise_defaults();
    call.x = lookup->x, call.table = lookup->table, call.y = lookup->y;
    call.rows = lookup->count;
    call.x_type = call.y_type = xpu_arg_number(XPU_TYPE_U8);
    call.vectors_computed = xpu_arg_number(!is_const);
    call.least = xpu_arg_number(0), call.most = xpu_arg_number(UINT8_MAX);
    return xpu_lower_elementwise(cg, layer, tile, &call);
}

/* ---- layers ---- */

xpu_status xpu_lower_qpair(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value a = xpu_node_input(cg->graph, node, 0), b = xpu_node_input(cg->graph, node, 1);
    struct xpu_qpair_call call = {0};
    call.y = result_of(cg, node);
    call.count = count_of(cg, node);
    call.a = operand_of(cg, layer, node, 0, "a");
    call.b = operand_of(cg, layer, node, 1, "b");
    call.a_signed = xpu_arg_number(is_signed(cg, a));
    call.b_signed = xpu_arg_number(is_signed(cg, b));
    call.is_product = xpu_arg_number(xpu_node_is(cg->graph, node, XPU_OP_QMUL));
    call.a_zero = xpu_arg_attr(cg, node, XPU_ATTR_X_ZERO);
    call.b_zero = xpu_arg_attr(cg, node, XPU_ATTR_B_ZERO);
    call.y_zero = xpu_arg_attr(cg, node, XPU_ATTR_Y_ZERO);
    call.low = xpu_arg_attr(cg, node, XPU_ATTR_Y_LOW);
    call.high = xpu_arg_attr(cg, node, XPU_ATTR_Y_HIGH);
    call.a_factor = xpu_arg_real(xpu_node_float(cg->graph, node, XPU_ATTR_X_FACTOR));
    call.b_factor = xpu_arg_real(xpu_node_float(cg->graph, node, XPU_ATTR_B_FACTOR));
    call.addend = xpu_arg_real(xpu_node_float(cg->graph, node, XPU_ATTR_ADDEND));
    struct xpu_elementwise_call on_engine = pair_on_engine(cg, node, &call);
    xpu_elementwise_tile tile;
    xpu_row_pair rows;
    if (xpu_find_row_pair(cg, node, &rows)) return lower_row_pair(cg, layer, node, &rows, &on_engine);
    if (is_faster_on_engine(cg, layer, 2, xpu_cost.pair_bytes, &tile))
        return xpu_lower_elementwise(cg, layer, &tile, &on_engine);
    xpu_describe_layer(cg, layer, XPU_KERNEL_qpair, xpu_dim_of(cg, 0));
    return xpu_add_qpair(cg, layer, &call);
}

xpu_status xpu_lower_lookup(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    struct xpu_lookup_call call = {0};
    call.y = result_of(cg, node);
    call.count = count_of(cg, node);
    call.x = operand_of(cg, layer, node, 0, "x");
    call.table = operand_of(cg, layer, node, 1, "table");
    xpu_elementwise_tile tile;
    if (is_faster_on_engine(cg, layer, 1, xpu_cost.table_bytes, &tile))
        return lower_lookup_on_engine(cg, layer, &call, xpu_is_const_value(cg, xpu_node_input(cg->graph, node, 1)),
                                      &tile);
    xpu_describe_layer(cg, layer, XPU_KERNEL_lookup, xpu_dim_of(cg, 0));
    return xpu_add_lookup(cg, layer, &call);
}

/* The scale and the zero point, which rule one-scale has found to be one constant each. */
static xpu_status read_scheme(xpu_codegen *cg, xpu_node node, xpu_arg_float *scale, xpu_arg_int *zero_point) {
    xpu_tensor tensor;
    xpu_status status = xpu_const_tensor(cg->graph, xpu_node_input(cg->graph, node, 1), cg->arena, &tensor, cg->diags);
    if (status != XPU_OK) return status;
    *scale = xpu_arg_real(*(const float *)tensor.data);
    xpu_value zero = xpu_node_input(cg->graph, node, 2);
    int32_t value = 0;
    if (zero.id) {
        status = xpu_const_tensor(cg->graph, zero, cg->arena, &tensor, cg->diags);
        if (status != XPU_OK) return status;
        value = tensor.dtype == XPU_I8 ? *(const int8_t *)tensor.data : *(const uint8_t *)tensor.data;
    }
    *zero_point = xpu_arg_number(value);
    return XPU_OK;
}

static xpu_status lower_copied_quantize(xpu_codegen *cg, uint32_t layer, xpu_node node,
                                        const xpu_quantised_input *input) {
    const struct xpu_copy_quantize_call call = {.x = operand_of(cg, layer, node, 0, "x"),
                                                .y = result_of(cg, node),
                                                .count = count_of(cg, node),
                                                .y_signed =
                                                    xpu_arg_number(is_signed(cg, xpu_node_output(cg->graph, node, 0))),
                                                .scale = xpu_arg_real(input->scale),
                                                .zero = xpu_arg_number(input->zero)};
    xpu_describe_layer(cg, layer, XPU_KERNEL_copy_quantize, xpu_dim_of(cg, 0));
    return xpu_add_copy_quantize(cg, layer, &call);
}

xpu_status xpu_lower_quantize(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_quantised_input input;
    if (xpu_is_quantised_by_dma(cg, node, &input)) return lower_copied_quantize(cg, layer, node, &input);
    int to_signed = is_signed(cg, xpu_node_output(cg->graph, node, 0));
    struct xpu_quantize_call call = {0};
    call.y = result_of(cg, node);
    call.count = count_of(cg, node);
    call.x = operand_of(cg, layer, node, 0, "x");
    call.low = xpu_arg_number(to_signed ? INT8_MIN : 0);
    call.high = xpu_arg_number(to_signed ? INT8_MAX : UINT8_MAX);
    call.zero_first = xpu_arg_number(xpu_node_int(cg->graph, node, XPU_ATTR_ZERO_FIRST));
    xpu_status status = read_scheme(cg, node, &call.scale, &call.zero);
    if (status != XPU_OK) return status;
    xpu_describe_layer(cg, layer, XPU_KERNEL_quantize, xpu_dim_of(cg, 0));
    return xpu_add_quantize(cg, layer, &call);
}

xpu_status xpu_lower_dynamic_quantize(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    struct xpu_dynamic_quantize_call call = {.x = operand_of(cg, layer, node, 0, "x")};
    call.y = result_of(cg, node);
    call.scale = xpu_arg_at(xpu_activation_buffer(cg, xpu_node_output(cg->graph, node, 1)));
    call.zero = xpu_arg_at(xpu_activation_buffer(cg, xpu_node_output(cg->graph, node, 2)));
    call.count = count_of(cg, node);
    xpu_describe_layer(cg, layer, XPU_KERNEL_dynamic_quantize, xpu_dim_of(cg, 0));
    return xpu_add_dynamic_quantize(cg, layer, &call);
}

xpu_status xpu_lower_dequantize(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0);
    struct xpu_dequantize_call call = {0};
    call.y = result_of(cg, node);
    call.count = count_of(cg, node);
    call.x = operand_of(cg, layer, node, 0, "x");
    call.x_signed = xpu_arg_number(is_signed(cg, x));
    xpu_status status = read_scheme(cg, node, &call.scale, &call.zero);
    if (status != XPU_OK) return status;
    xpu_describe_layer(cg, layer, XPU_KERNEL_dequantize, xpu_dim_of(cg, 0));
    return xpu_add_dequantize(cg, layer, &call);
}
