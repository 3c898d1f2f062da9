/* Elementwise operators on quantised tensors: kernels on the cores over dense bytes. */
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"

static int is_signed(const xpu_codegen *cg, xpu_value value) {
    return xpu_value_at(cg->graph, value)->dtype == XPU_I8;
}

static xpu_dim count_of(xpu_codegen *cg, xpu_value value) {
    return xpu_dims_product(cg, value, 0, xpu_value_at(cg->graph, value)->rank);
}

/* A call whose result is result 0 of the node, and its number of elements. */
static xpu_call begin(xpu_codegen *cg, xpu_kernel kernel, xpu_node node) {
    xpu_call call = xpu_call_begin(cg->arena, kernel);
    xpu_value y = xpu_node_output(cg->graph, node, 0);
    xpu_set_address(&call, "y", xpu_activation_buffer(cg, y));
    xpu_set_int(&call, "count", count_of(cg, y));
    return call;
}

static xpu_status finish(xpu_codegen *cg, uint32_t layer, const xpu_call *call) {
    xpu_describe_layer(cg, layer, "core", xpu_kernel_of(call->kernel)->name, xpu_dim_of(cg, 0));
    return xpu_add_call(cg, layer, call);
}

xpu_status xpu_lower_qpair(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value a = xpu_node_input(cg->graph, node, 0), b = xpu_node_input(cg->graph, node, 1);
    xpu_call call = begin(cg, XPU_KERNEL_qpair, node);
    xpu_set_address(&call, "a", xpu_operand_buffer(cg, layer, a, "a"));
    xpu_set_address(&call, "b", xpu_operand_buffer(cg, layer, b, "b"));
    xpu_set_number(&call, "a_signed", is_signed(cg, a));
    xpu_set_number(&call, "b_signed", is_signed(cg, b));
    xpu_set_number(&call, "is_product", xpu_node_is(cg->graph, node, XPU_OP_QMUL));
    xpu_set_attr(cg, &call, node, "a_zero", XPU_ATTR_X_ZERO);
    xpu_set_attr(cg, &call, node, "b_zero", XPU_ATTR_B_ZERO);
    xpu_set_attr(cg, &call, node, "y_zero", XPU_ATTR_Y_ZERO);
    xpu_set_attr(cg, &call, node, "low", XPU_ATTR_Y_LOW);
    xpu_set_attr(cg, &call, node, "high", XPU_ATTR_Y_HIGH);
    xpu_set_float(&call, "a_factor", xpu_node_float(cg->graph, node, XPU_ATTR_X_FACTOR));
    xpu_set_float(&call, "b_factor", xpu_node_float(cg->graph, node, XPU_ATTR_B_FACTOR));
    xpu_set_float(&call, "addend", xpu_node_float(cg->graph, node, XPU_ATTR_ADDEND));
    return finish(cg, layer, &call);
}

xpu_status xpu_lower_lookup(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_call call = begin(cg, XPU_KERNEL_lookup, node);
    xpu_set_address(&call, "x", xpu_operand_buffer(cg, layer, xpu_node_input(cg->graph, node, 0), "x"));
    xpu_set_address(&call, "table", xpu_operand_buffer(cg, layer, xpu_node_input(cg->graph, node, 1), "table"));
    return finish(cg, layer, &call);
}

/* The scale and the zero point, which rule one-scale has found to be one constant each. */
static xpu_status set_scheme(xpu_codegen *cg, xpu_call *call, xpu_node node) {
    xpu_tensor tensor;
    xpu_status status = xpu_const_tensor(cg->graph, xpu_node_input(cg->graph, node, 1), cg->arena, &tensor, cg->diags);
    if (status != XPU_OK) return status;
    xpu_set_float(call, "scale", *(const float *)tensor.data);
    xpu_value zero = xpu_node_input(cg->graph, node, 2);
    int32_t value = 0;
    if (zero.id) {
        status = xpu_const_tensor(cg->graph, zero, cg->arena, &tensor, cg->diags);
        if (status != XPU_OK) return status;
        value = tensor.dtype == XPU_I8 ? *(const int8_t *)tensor.data : *(const uint8_t *)tensor.data;
    }
    xpu_set_number(call, "zero", value);
    return XPU_OK;
}

xpu_status xpu_lower_quantize(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    int to_signed = is_signed(cg, xpu_node_output(cg->graph, node, 0));
    xpu_call call = begin(cg, XPU_KERNEL_quantize, node);
    xpu_set_address(&call, "x", xpu_operand_buffer(cg, layer, xpu_node_input(cg->graph, node, 0), "x"));
    xpu_set_number(&call, "low", to_signed ? INT8_MIN : 0);
    xpu_set_number(&call, "high", to_signed ? INT8_MAX : UINT8_MAX);
    xpu_set_number(&call, "zero_first", xpu_node_int(cg->graph, node, XPU_ATTR_ZERO_FIRST));
    xpu_status status = set_scheme(cg, &call, node);
    return status == XPU_OK ? finish(cg, layer, &call) : status;
}

xpu_status xpu_lower_dequantize(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0);
    xpu_call call = begin(cg, XPU_KERNEL_dequantize, node);
    xpu_set_address(&call, "x", xpu_operand_buffer(cg, layer, x, "x"));
    xpu_set_number(&call, "x_signed", is_signed(cg, x));
    xpu_status status = set_scheme(cg, &call, node);
    return status == XPU_OK ? finish(cg, layer, &call) : status;
}
