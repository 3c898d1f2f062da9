/* Pooling, softmax, absmax: kernels on the cores. */
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/by_size.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"

/* ---- pooling ---- */

typedef struct {
    xpu_dim kernel[2];
    int64_t stride[2], dilation[2], begin[2], end[2];
    int is_max, count_include_pad, by_columns;
} pool_window;

/* The kernel, and its tasks if it is max_pool_i8. */
static xpu_kernel kernel_of(xpu_codegen *cg, xpu_conv_shape s, const pool_window *w, xpu_byte_tasks *tasks) {
    for (int axis = 0; axis < 2; axis++) {
        s.kernel[axis] = xpu_dim_upper(cg, w->kernel[axis]);
        s.stride[axis] = w->stride[axis];
        s.dilation[axis] = w->dilation[axis];
    }
    s.groups = 1;
    return xpu_choose_byte_tasks(cg, &s, 0, tasks) ? XPU_KERNEL_max_pool_i8 : XPU_KERNEL_large_max_pool_i8;
}

static xpu_status lower_pool(xpu_codegen *cg, uint32_t layer, xpu_node node, const pool_window *w) {
    xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    int bytes = xpu_value_at(cg->graph, x)->dtype != XPU_F32;
    const xpu_conv_shape s = xpu_image_shape(cg, x, y);
    xpu_byte_tasks tasks;
    xpu_call call = xpu_call_begin(cg->arena, bytes ? kernel_of(cg, s, w, &tasks) : XPU_KERNEL_pool_f32);
    xpu_set_address(&call, "x", xpu_operand_buffer(cg, layer, x, "x"));
    xpu_set_address(&call, "y", xpu_activation_buffer(cg, y));
    xpu_set_int(&call, "batch", s.batch);
    xpu_set_int(&call, "in_h", s.in_h);
    xpu_set_int(&call, "in_w", s.in_w);
    xpu_set_int(&call, "in_c", s.in_c);
    xpu_set_int(&call, "out_h", s.out_h);
    xpu_set_int(&call, "out_w", s.out_w);
    xpu_set_int(&call, "kernel_h", w->kernel[0]);
    xpu_set_int(&call, "kernel_w", w->kernel[1]);
    xpu_set_number(&call, "stride_h", w->stride[0]);
    xpu_set_number(&call, "stride_w", w->stride[1]);
    xpu_set_number(&call, "dilation_h", w->dilation[0]);
    xpu_set_number(&call, "dilation_w", w->dilation[1]);
    xpu_set_number(&call, "pad_top", w->begin[0]);
    xpu_set_number(&call, "pad_left", w->begin[1]);
    if (bytes) {
        xpu_set_number(&call, "x_unsigned", xpu_value_at(cg->graph, x)->dtype == XPU_U8);
        if (call.kernel == XPU_KERNEL_max_pool_i8) xpu_set_byte_tasks(cg, &call, &tasks);
    } else {
        xpu_set_number(&call, "pad_bottom", w->end[0]);
        xpu_set_number(&call, "pad_right", w->end[1]);
        xpu_set_number(&call, "is_max", w->is_max);
        xpu_set_number(&call, "count_include_pad", w->count_include_pad);
        xpu_set_number(&call, "by_columns", w->by_columns);
    }
    xpu_describe_layer(cg, layer, "core", xpu_kernel_of(call.kernel)->name, xpu_dim_of(cg, 0));
    return xpu_add_call(cg, layer, &call);
}

static pool_window window_of(xpu_codegen *cg, xpu_node node, int is_max) {
    const xpu_graph *graph = cg->graph;
    int dims = xpu_value_at(graph, xpu_node_input(graph, node, 0))->rank - 2;
    const int64_t *kernel = xpu_node_ints(graph, node, XPU_ATTR_KERNEL, NULL);
    const int64_t *strides = xpu_node_ints(graph, node, XPU_ATTR_STRIDES, NULL);
    const int64_t *dilations = xpu_node_ints(graph, node, XPU_ATTR_DILATIONS, NULL);
    const int64_t *pads = xpu_node_ints(graph, node, XPU_ATTR_PADS, NULL);
    pool_window w = {.is_max = is_max};
    for (int axis = 0; axis < 2; axis++) {
        int i = axis - (2 - dims);
        w.kernel[axis] = xpu_dim_of(cg, i < 0 ? 1 : kernel[i]);
        w.stride[axis] = i < 0 ? 1 : strides[i];
        w.dilation[axis] = i < 0 ? 1 : dilations[i];
        w.begin[axis] = i < 0 ? 0 : pads[i];
        w.end[axis] = i < 0 ? 0 : pads[dims + i];
    }
    if (!is_max) w.count_include_pad = xpu_node_int(graph, node, XPU_ATTR_COUNT_INCLUDE_PAD) != 0;
    if (!is_max) w.by_columns = xpu_node_int(graph, node, XPU_ATTR_BY_COLUMNS) != 0;
    return w;
}

xpu_status xpu_lower_max_pool(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    pool_window w = window_of(cg, node, 1);
    return lower_pool(cg, layer, node, &w);
}

xpu_status xpu_lower_average_pool(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    pool_window w = window_of(cg, node, 0);
    return lower_pool(cg, layer, node, &w);
}

/* One window over the whole image. */
xpu_status xpu_lower_global_average_pool(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0);
    int rank = xpu_value_at(cg->graph, x)->rank;
    pool_window w = {
        .kernel = {rank == 4 ? xpu_value_dim(cg, x, 2) : xpu_dim_of(cg, 1), xpu_value_dim(cg, x, rank - 1)},
        .stride = {1, 1},
        .dilation = {1, 1}};
    return lower_pool(cg, layer, node, &w);
}

xpu_status xpu_lower_qglobal_average_pool(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    int to_signed = xpu_value_at(cg->graph, y)->dtype == XPU_I8;
    xpu_call call = xpu_call_begin(cg->arena, XPU_KERNEL_mean_i8);
    xpu_set_address(&call, "x", xpu_operand_buffer(cg, layer, x, "x"));
    xpu_set_address(&call, "y", xpu_activation_buffer(cg, y));
    xpu_set_int(&call, "batch", xpu_value_dim(cg, x, 0));
    xpu_set_int(&call, "pixels", xpu_dims_product(cg, x, 2, xpu_value_at(cg->graph, x)->rank));
    xpu_set_int(&call, "channels", xpu_value_dim(cg, x, 1));
    xpu_set_number(&call, "x_unsigned", xpu_value_at(cg->graph, x)->dtype == XPU_U8);
    xpu_set_number(&call, "x_zero", xpu_node_int(cg->graph, node, XPU_ATTR_X_ZERO));
    xpu_set_float(&call, "x_scale", xpu_node_float(cg->graph, node, XPU_ATTR_X_SCALE));
    xpu_set_float(&call, "y_scale", xpu_node_float(cg->graph, node, XPU_ATTR_Y_SCALE));
    xpu_set_number(&call, "zero", xpu_node_int(cg->graph, node, XPU_ATTR_Y_ZERO));
    xpu_set_number(&call, "low", to_signed ? INT8_MIN : 0);
    xpu_set_number(&call, "high", to_signed ? INT8_MAX : UINT8_MAX);
    xpu_describe_layer(cg, layer, "core", "mean_i8", xpu_dim_of(cg, 0));
    return xpu_add_call(cg, layer, &call);
}

/* ---- softmax ---- */

/* In storage order: what lies outside the axis, the axis, what lies inside. */
xpu_status xpu_lower_softmax(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    const xpu_value_info *info = xpu_value_at(cg->graph, x);
    int order[XPU_MAX_RANK], axis = (int)xpu_node_int(cg->graph, node, XPU_ATTR_AXIS), inside = 0;
    xpu_dim size[3] = {xpu_dim_of(cg, 1), xpu_dim_of(cg, 1), xpu_dim_of(cg, 1)};
    xpu_storage_order(info->layout, info->rank, order);
    for (int d = 0; d < info->rank; d++) {
        xpu_dim dim = xpu_value_dim(cg, x, order[d]);
        int part = order[d] == axis ? 1 : inside ? 2 : 0;
        inside |= order[d] == axis;
        size[part] = xpu_dim_mul(&cg->graph->dims, size[part], dim);
    }
    xpu_call call = xpu_call_begin(cg->arena, XPU_KERNEL_softmax_f32);
    xpu_set_address(&call, "x", xpu_operand_buffer(cg, layer, x, "x"));
    xpu_set_address(&call, "y", xpu_activation_buffer(cg, y));
    xpu_set_int(&call, "outer", size[0]);
    xpu_set_int(&call, "count", size[1]);
    xpu_set_int(&call, "inner", size[2]);
    xpu_describe_layer(cg, layer, "core", "softmax_f32", xpu_dim_of(cg, 0));
    return xpu_add_call(cg, layer, &call);
}

/* ---- absmax ---- */

xpu_status xpu_lower_absmax(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    xpu_call call = xpu_call_begin(cg->arena, XPU_KERNEL_absmax_f32);
    xpu_set_address(&call, "x", xpu_operand_buffer(cg, layer, x, "x"));
    xpu_set_address(&call, "y", xpu_activation_buffer(cg, y));
    xpu_set_int(&call, "count", xpu_dims_product(cg, x, 0, xpu_value_at(cg->graph, x)->rank));
    xpu_describe_layer(cg, layer, "core", "absmax_f32", xpu_dim_of(cg, 0));
    return xpu_add_call(cg, layer, &call);
}
