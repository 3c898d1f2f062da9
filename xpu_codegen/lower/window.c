/* Pooling: kernels on the cores. */
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

/* Tasks of max_pool_i8; 0: it is large_max_pool_i8. */
static int has_tasks(xpu_codegen *cg, xpu_conv_shape s, const pool_window *w, xpu_byte_tasks *tasks) {
    for (int axis = 0; axis < 2; axis++) {
        s.kernel[axis] = xpu_dim_upper(cg, w->kernel[axis]);
        s.stride[axis] = w->stride[axis];
        s.dilation[axis] = w->dilation[axis];
    }
    s.groups = 1;
    return xpu_choose_byte_tasks(cg, &s, 0, tasks);
}

static struct xpu_pool_group pool_of(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s,
                                     const pool_window *w) {
    struct xpu_pool_group pool = {0};
    pool.x = xpu_arg_at(xpu_operand_buffer(cg, layer, xpu_node_input(cg->graph, node, 0), "x"));
    pool.y = xpu_arg_at(xpu_activation_buffer(cg, xpu_node_output(cg->graph, node, 0)));
    pool.batch = xpu_arg_dim(s->batch);
    pool.in_h = xpu_arg_dim(s->in_h);
    pool.in_w = xpu_arg_dim(s->in_w);
    pool.in_c = xpu_arg_dim(s->in_c);
    pool.out_h = xpu_arg_dim(s->out_h);
    pool.out_w = xpu_arg_dim(s->out_w);
    pool.kernel_h = xpu_arg_dim(w->kernel[0]);
    pool.kernel_w = xpu_arg_dim(w->kernel[1]);
    pool.stride_h = xpu_arg_number(w->stride[0]);
    pool.stride_w = xpu_arg_number(w->stride[1]);
    pool.dilation_h = xpu_arg_number(w->dilation[0]);
    pool.dilation_w = xpu_arg_number(w->dilation[1]);
    pool.pad_top = xpu_arg_number(w->begin[0]);
    pool.pad_left = xpu_arg_number(w->begin[1]);
    return pool;
}

static xpu_status lower_byte_pool(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s,
                                  const pool_window *w) {
    xpu_byte_tasks tasks;
    int tasked = has_tasks(cg, *s, w, &tasks);
    const struct xpu_pool_group pool = pool_of(cg, layer, node, s, w);
    xpu_value x = xpu_node_input(cg->graph, node, 0);
    const xpu_arg_int x_unsigned = xpu_arg_number(xpu_value_at(cg->graph, x)->dtype == XPU_U8);
    xpu_describe_layer(cg, layer, tasked ? XPU_KERNEL_max_pool_i8 : XPU_KERNEL_large_max_pool_i8, xpu_dim_of(cg, 0));
    if (!tasked) {
        struct xpu_large_max_pool_i8_call call = {.pool = pool, .x_unsigned = x_unsigned};
        return xpu_add_large_max_pool_i8(cg, layer, &call);
    }
    struct xpu_max_pool_i8_call call = {.pool = pool, .x_unsigned = x_unsigned, .task = xpu_task_of(cg, &tasks)};
    return xpu_add_max_pool_i8(cg, layer, &call);
}

static xpu_status lower_pool(xpu_codegen *cg, uint32_t layer, xpu_node node, const pool_window *w) {
    xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    const xpu_conv_shape s = xpu_image_shape(cg, x, y);
    if (xpu_value_at(cg->graph, x)->dtype != XPU_F32) return lower_byte_pool(cg, layer, node, &s, w);
    struct xpu_pool_f32_call call = {.pool = pool_of(cg, layer, node, &s, w)};
    call.pad_bottom = xpu_arg_number(w->end[0]);
    call.pad_right = xpu_arg_number(w->end[1]);
    call.is_max = xpu_arg_number(w->is_max);
    call.count_include_pad = xpu_arg_number(w->count_include_pad);
    call.by_columns = xpu_arg_number(w->by_columns);
    xpu_describe_layer(cg, layer, XPU_KERNEL_pool_f32, xpu_dim_of(cg, 0));
    return xpu_add_pool_f32(cg, layer, &call);
}

static pool_window window_of(xpu_codegen *cg, xpu_node node, int is_max) {
    const xpu_graph *graph = cg->graph;
    const xpu_window read = xpu_window_of(graph, node);
    pool_window w = {.is_max = is_max};
    for (int axis = 0; axis < XPU_WINDOW_AXES; axis++) {
        w.kernel[axis] = xpu_dim_of(cg, read.kernel[axis]);
        w.stride[axis] = read.stride[axis];
        w.dilation[axis] = read.dilation[axis];
        w.begin[axis] = read.begin[axis];
        w.end[axis] = read.end[axis];
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

xpu_status xpu_lower_qglobal_average_pool(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    int to_signed = xpu_value_at(cg->graph, y)->dtype == XPU_I8;
    struct xpu_mean_i8_call call = {0};
    call.x = xpu_arg_at(xpu_operand_buffer(cg, layer, x, "x"));
    call.y = xpu_arg_at(xpu_activation_buffer(cg, y));
    call.batch = xpu_arg_dim(xpu_value_dim(cg, x, 0));
    call.pixels = xpu_arg_dim(xpu_dims_product(cg, x, 2, xpu_value_at(cg->graph, x)->rank));
    call.channels = xpu_arg_dim(xpu_value_dim(cg, x, 1));
    call.x_unsigned = xpu_arg_number(xpu_value_at(cg->graph, x)->dtype == XPU_U8);
    call.x_zero = xpu_arg_number(xpu_node_int(cg->graph, node, XPU_ATTR_X_ZERO));
    call.x_scale = xpu_arg_real(xpu_node_float(cg->graph, node, XPU_ATTR_X_SCALE));
    call.y_scale = xpu_arg_real(xpu_node_float(cg->graph, node, XPU_ATTR_Y_SCALE));
    call.zero = xpu_arg_number(xpu_node_int(cg->graph, node, XPU_ATTR_Y_ZERO));
    call.low = xpu_arg_number(to_signed ? INT8_MIN : 0);
    call.high = xpu_arg_number(to_signed ? INT8_MAX : UINT8_MAX);
    xpu_describe_layer(cg, layer, XPU_KERNEL_mean_i8, xpu_dim_of(cg, 0));
    return xpu_add_mean_i8(cg, layer, &call);
}
