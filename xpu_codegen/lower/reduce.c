/* Softmax, reductions, absmax: kernels on the cores that walk along one axis, or through everything. */
#include "core/arith.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"

struct xpu_axis_group xpu_axis_of(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0);
    const xpu_value_info *info = xpu_value_at(cg->graph, x);
    int order[XPU_MAX_RANK], axis = (int)xpu_node_int(cg->graph, node, XPU_ATTR_AXIS), inside = 0;
    xpu_dim one = xpu_dim_of(cg, 1), size[3] = {one, one, one};
    xpu_storage_order(info->layout, info->rank, order);
    for (int d = 0; d < info->rank; d++) {
        xpu_dim dim = xpu_value_dim(cg, x, order[d]);
        int part = order[d] == axis ? 1 : inside ? 2 : 0;
        inside |= order[d] == axis;
        size[part] = xpu_dim_mul(&cg->graph->dims, size[part], dim);
    }
    struct xpu_axis_group group = {.x = xpu_arg_at(xpu_operand_buffer(cg, layer, x, "x"))};
    group.y = xpu_arg_at(xpu_activation_buffer(cg, xpu_node_output(cg->graph, node, 0)));
    group.outer = xpu_arg_dim(size[0]);
    group.count = xpu_arg_dim(size[1]);
    group.inner = xpu_arg_dim(size[2]);
    return group;
}

xpu_status xpu_lower_softmax(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    struct xpu_softmax_f32_call call = {.axis = xpu_axis_of(cg, layer, node)};
    xpu_describe_layer(cg, layer, XPU_KERNEL_softmax_f32, xpu_dim_of(cg, 0));
    return xpu_add_softmax_f32(cg, layer, &call);
}

/* The rows of ops.def stand in the order of xa_reduction. */
static xpu_arg_int kind_of(xpu_codegen *cg, xpu_node node) {
    return xpu_arg_number((int64_t)xpu_op_id_of(xpu_node_at(cg->graph, node)->op) - XPU_OP_REDUCE_SUM);
}

xpu_status xpu_lower_reduce(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    const xpu_dtype dtype = xpu_value_at(cg->graph, xpu_node_input(cg->graph, node, 0))->dtype;
    if (dtype == XPU_F32) {
        struct xpu_reduce_f32_call call = {.axis = xpu_axis_of(cg, layer, node), .kind = kind_of(cg, node)};
        xpu_describe_layer(cg, layer, XPU_KERNEL_reduce_f32, xpu_dim_of(cg, 0));
        return xpu_add_reduce_f32(cg, layer, &call);
    }
    struct xpu_reduce_int_call call = {.axis = xpu_axis_of(cg, layer, node), .kind = kind_of(cg, node)};
    call.size = xpu_arg_number(__builtin_ctz((unsigned)xpu_dtype_bytes(dtype)));
    call.is_signed = xpu_arg_number(dtype == XPU_I8 || dtype == XPU_I32 || dtype == XPU_I64);
    call.is_bool = xpu_arg_number(dtype == XPU_BOOL);
    xpu_describe_layer(cg, layer, XPU_KERNEL_reduce_int, xpu_dim_of(cg, 0));
    return xpu_add_reduce_int(cg, layer, &call);
}

/* The mean over all pixels of an image. */
xpu_status xpu_lower_global_average_pool(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    if (xpu_node_int(cg->graph, node, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32)
        return xpu_lower_wide_mean(cg, layer, node);
    xpu_value x = xpu_node_input(cg->graph, node, 0);
    const int rank = xpu_value_at(cg->graph, x)->rank;
    xpu_dim channels = xpu_value_dim(cg, x, 1), one = xpu_dim_of(cg, 1), outer = xpu_value_dim(cg, x, 0);
    const int channel_last = xpu_value_at(cg->graph, x)->layout == XPU_LAYOUT_CHANNEL_LAST;
    if (!channel_last) outer = xpu_dim_mul(&cg->graph->dims, outer, channels);
    struct xpu_axis_group axis = {.x = xpu_arg_at(xpu_operand_buffer(cg, layer, x, "x"))};
    axis.y = xpu_arg_at(xpu_activation_buffer(cg, xpu_node_output(cg->graph, node, 0)));
    axis.outer = xpu_arg_dim(outer);
    axis.count = xpu_arg_dim(xpu_dims_product(cg, x, 2, rank));
    axis.inner = xpu_arg_dim(channel_last ? channels : one);
    struct xpu_reduce_f32_call call = {.axis = axis, .kind = xpu_arg_number(XA_REDUCE_MEAN)};
    xpu_describe_layer(cg, layer, XPU_KERNEL_reduce_f32, xpu_dim_of(cg, 0));
    return xpu_add_reduce_f32(cg, layer, &call);
}

/* Of an image that lies among the channels of another. */
static xpu_status lower_absmax_of_part(xpu_codegen *cg, uint32_t layer, xpu_value x, xpu_value y) {
    struct xpu_absmax_rows_f32_call call = {.x = xpu_arg_at(xpu_operand_buffer(cg, layer, x, "x")),
                                            .y = xpu_arg_at(xpu_activation_buffer(cg, y))};
    const xpu_dim channels = xpu_value_dim(cg, x, 1);
    const xpu_dim pixels = xpu_dims_product(cg, x, 2, xpu_value_at(cg->graph, x)->rank);
    call.rows = xpu_arg_dim(xpu_dim_mul(&cg->graph->dims, xpu_value_dim(cg, x, 0), pixels));
    call.count = xpu_arg_dim(channels);
    call.pitch = xpu_arg_dim(xpu_extent_of(cg, x)->capacity);
    xpu_describe_layer(cg, layer, XPU_KERNEL_absmax_rows_f32, xpu_dim_of(cg, 0));
    return xpu_add_absmax_rows_f32(cg, layer, &call);
}

xpu_status xpu_lower_absmax(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    if (xpu_has_gaps(cg, x)) return lower_absmax_of_part(cg, layer, x, y);
    struct xpu_absmax_f32_call call = {0};
    call.x = xpu_arg_at(xpu_operand_buffer(cg, layer, x, "x"));
    call.y = xpu_arg_at(xpu_activation_buffer(cg, y));
    call.count = xpu_arg_dim(xpu_dims_product(cg, x, 0, xpu_value_at(cg->graph, x)->rank));
    xpu_describe_layer(cg, layer, XPU_KERNEL_absmax_f32, xpu_dim_of(cg, 0));
    return xpu_add_absmax_f32(cg, layer, &call);
}
