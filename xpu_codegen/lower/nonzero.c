/* Places of elements that are not 0. */
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"

static xpu_arg_int elements_of(xpu_codegen *cg, xpu_value x) {
    return xpu_arg_dim(xpu_dims_product(cg, x, 0, xpu_value_at(cg->graph, x)->rank));
}

static xpu_arg_int bytes_of(const xpu_codegen *cg, xpu_value x) {
    return xpu_arg_number((int64_t)xpu_dtype_bytes(xpu_value_at(cg->graph, x)->dtype));
}

/* Whether the highest bit is a sign that 0 may have. */
static xpu_arg_int is_float(const xpu_codegen *cg, xpu_value x) {
    xpu_dtype dtype = xpu_value_at(cg->graph, x)->dtype;
    return xpu_arg_number(dtype == XPU_F32 || dtype == XPU_F64 || dtype == XPU_F16 || dtype == XPU_BF16);
}

xpu_status xpu_lower_nonzero_counts(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0);
    struct xpu_nonzero_counts_call call = {.x = xpu_arg_at(xpu_operand_buffer(cg, layer, x, "x"))};
    call.y = xpu_arg_at(xpu_activation_buffer(cg, xpu_node_output(cg->graph, node, 0)));
    call.count = elements_of(cg, x);
    call.element_bytes = bytes_of(cg, x);
    call.is_float = is_float(cg, x);
    xpu_describe_layer(cg, layer, XPU_KERNEL_nonzero_counts, xpu_dim_of(cg, 0));
    return xpu_add_nonzero_counts(cg, layer, &call);
}

xpu_status xpu_lower_nonzero(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0), counts = xpu_node_input(cg->graph, node, 1);
    xpu_value y = xpu_node_output(cg->graph, node, 0);
    const int rank = xpu_value_at(cg->graph, x)->rank;
    struct xpu_nonzero_call call = {.x = xpu_arg_at(xpu_operand_buffer(cg, layer, x, "x"))};
    call.counts = xpu_arg_at(xpu_operand_buffer(cg, layer, counts, "counts"));
    call.y = xpu_arg_at(xpu_activation_buffer(cg, y));
    call.count = elements_of(cg, x);
    call.found = xpu_arg_dim(xpu_value_dim(cg, y, 1));
    call.element_bytes = bytes_of(cg, x);
    call.is_float = is_float(cg, x);
    call.rank = xpu_arg_number(rank);
    for (int d = 0; d < XPU_MAX_RANK; d++)
        call.dims[d] = d < rank ? xpu_arg_dim(xpu_value_dim(cg, x, d)) : xpu_arg_number(1);
    xpu_describe_layer(cg, layer, XPU_KERNEL_nonzero, xpu_dim_of(cg, 0));
    return xpu_add_nonzero(cg, layer, &call);
}
