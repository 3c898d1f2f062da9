/* Pooling: kernels on the cores, or of bytes and of averages and maxima in integers on the window engine. */
#include "core/arith.h"
#include "xpu_codegen/choose/wide_tasks.h"
#include "xpu_codegen/lower/beside.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/by_size.h"
#include "xpu_codegen/lower/epilogue.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

/* ---- pooling ---- */

typedef struct {
    xpu_dim kernel[2];
    int64_t stride[2], dilation[2], begin[2], end[2];
    int is_max, count_include_pad, by_columns;
} pool_window;

static void set_window(const xpu_codegen *cg, xpu_conv_shape *s, const pool_window *w) {
    for (int axis = 0; axis < 2; axis++) {
        s->kernel[axis] = xpu_dim_upper(cg, w->kernel[axis]);
        s->stride[axis] = w->stride[axis];
        s->dilation[axis] = w->dilation[axis];
        s->begin[axis] = w->begin[axis];
        s->end[axis] = w->end[axis];
    }
    s->groups = 1;
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
    pool.y_pixel = xpu_arg_dim(s->y_pixel);
    return pool;
}

static struct xpu_geometry_group geometry_of(const struct xpu_pool_group *pool) {
    return (struct xpu_geometry_group){.batch = pool->batch,
                                       .in_h = pool->in_h,
                                       .in_w = pool->in_w,
                                       .in_c = pool->in_c,
                                       .out_h = pool->out_h,
                                       .out_w = pool->out_w,
                                       .out_c = pool->in_c,
                                       .kernel_h = pool->kernel_h,
                                       .kernel_w = pool->kernel_w,
                                       .stride_h = pool->stride_h,
                                       .stride_w = pool->stride_w,
                                       .dilation_h = pool->dilation_h,
                                       .dilation_w = pool->dilation_w,
                                       .pad_top = pool->pad_top,
                                       .pad_left = pool->pad_left,
                                       .groups = pool->in_c,
                                       .y_pixel = pool->y_pixel};
}

static int is_unsigned(const xpu_codegen *cg, xpu_value value) {
    return xpu_value_at(cg->graph, value)->dtype == XPU_U8;
}

/* The limits of a type of bytes. */
static void set_limits(const xpu_codegen *cg, xpu_value y, xpu_arg_int *low, xpu_arg_int *high) {
    *low = xpu_arg_number(is_unsigned(cg, y) ? 0 : INT8_MIN);
    *high = xpu_arg_number(is_unsigned(cg, y) ? UINT8_MAX : INT8_MAX);
}

/* A maximum on the window engine: the scale 1 gives the bytes back. */
static xpu_status lower_window_maximum(xpu_codegen *cg, uint32_t layer, xpu_node node,
                                       const struct xpu_pool_group *pool, const xpu_conv_shape *s,
                                       xpu_byte_tasks *tasks, int64_t sm_bytes) {
    struct xpu_window_i8_call call = {.x = pool->x, .y = pool->y, .geometry = geometry_of(pool)};
    call.w = call.bias = call.factors = xpu_arg_absent();
    call.op = xpu_arg_number(XPU_WINDOW_MAX);
    call.x_unsigned = xpu_arg_number(is_unsigned(cg, xpu_node_input(cg->graph, node, 0)));
    call.whole = call.w_unsigned = call.x_zero = call.w_zero = call.zero = xpu_arg_number(0);
    call.factor = xpu_arg_real(1.0f);
    set_limits(cg, xpu_node_output(cg->graph, node, 0), &call.low, &call.high);
    xpu_describe_layer(cg, layer, XPU_KERNEL_window_i8, xpu_dim_of(cg, 0));
    xpu_place_beside(cg, layer, node, s, tasks, sm_bytes, &call);
    return xpu_add_window_i8(cg, layer, &call);
}

static xpu_status lower_byte_pool(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s,
                                  const pool_window *w) {
    xpu_byte_tasks tasks;
    int64_t sm_bytes;
    xpu_conv_shape shape = *s;
    set_window(cg, &shape, w);
    const struct xpu_pool_group pool = pool_of(cg, layer, node, s, w);
    if (xpu_choose_window_tasks(cg, &shape, 0, 0, &tasks, &sm_bytes))
        return lower_window_maximum(cg, layer, node, &pool, &shape, &tasks, sm_bytes);
    const int tasked = xpu_choose_byte_tasks(cg, &shape, 0, &tasks); /* else windows are large */
    const xpu_arg_int x_unsigned = xpu_arg_number(is_unsigned(cg, xpu_node_input(cg->graph, node, 0)));
    xpu_note_pixels(cg, s->in_c, s->y_pixel);
    xpu_describe_layer(cg, layer, tasked ? XPU_KERNEL_max_pool_i8 : XPU_KERNEL_large_max_pool_i8, xpu_dim_of(cg, 0));
    if (!tasked) {
        struct xpu_large_max_pool_i8_call call = {.pool = pool, .x_unsigned = x_unsigned};
        return xpu_add_large_max_pool_i8(cg, layer, &call);
    }
    struct xpu_max_pool_i8_call call = {.pool = pool, .x_unsigned = x_unsigned, .task = xpu_task_of(cg, &tasks)};
    cg->layers.items[layer].task_cycles = tasks.predicted;
    return xpu_add_max_pool_i8(cg, layer, &call);
}

static struct xpu_epilogue_group no_epilogue(void) {
    const xpu_arg_int none = xpu_arg_number(0);
    const xpu_arg_float zero = xpu_arg_real(0);
    return (struct xpu_epilogue_group){
        .activation = none, .low = zero, .high = zero, .alpha = zero, .branch_after = none};
}

/* Of averages: the padding counts or not. */
static struct xpu_counted_group counted_of(const pool_window *w) {
    const int pads = w->count_include_pad;
    return (struct xpu_counted_group){.counted_top = xpu_arg_number(pads ? w->begin[0] : 0),
                                      .counted_left = xpu_arg_number(pads ? w->begin[1] : 0),
                                      .counted_bottom = xpu_arg_number(pads ? w->end[0] : 0),
                                      .counted_right = xpu_arg_number(pads ? w->end[1] : 0)};
}

/* On the window engine: of float32 which int16 stand for. */
static struct xpu_window_i16_call wide_call(xpu_codegen *cg, uint32_t layer, const struct xpu_operands_group *operands,
                                            const xpu_byte_tasks *tasks, int64_t sm_bytes, int whole) {
    struct xpu_window_i16_call call = {.operands = *operands,
                                       .w_int8 = xpu_arg_number(1),
                                       .task = xpu_task_of(cg, tasks),
                                       .whole = xpu_arg_number(whole),
                                       .sm = xpu_window_scratch(cg, layer, tasks, sm_bytes),
                                       .sm_bytes = xpu_arg_number(sm_bytes)};
    call.operands.w = call.operands.bias = call.operands.branch = call.w_scale = xpu_arg_absent();
    call.epilogue = no_epilogue();
    call.counted = counted_of(&(pool_window){0});
    return call;
}

/* The absmax that a layer finds of its result. */
static xpu_arg_address absmax_of(xpu_codegen *cg, xpu_node node) {
    const xpu_value y_absmax = xpu_node_output(cg->graph, node, XPU_OUT_ABSMAX);
    return y_absmax.id ? xpu_arg_at(xpu_activation_buffer(cg, y_absmax)) : xpu_arg_absent();
}

static int is_wide(const xpu_codegen *cg, xpu_node node) {
    return xpu_op_attr(xpu_node_at(cg->graph, node)->op, XPU_ATTR_PRECISION) != NULL &&
           xpu_node_int(cg->graph, node, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32;
}

static xpu_status lower_wide_maximum(xpu_codegen *cg, uint32_t layer, xpu_node node, const struct xpu_pool_group *pool,
                                     const xpu_byte_tasks *tasks, int64_t sm_bytes) {
    const struct xpu_operands_group operands = {.x = pool->x, .y = pool->y};
    struct xpu_window_i16_call call = wide_call(cg, layer, &operands, tasks, sm_bytes, XPU_WINDOW_MAXIMUM);
    call.x_absmax = xpu_operand_of(cg, layer, node, XPU_IN_ABSMAX, "absmax");
    call.y_absmax = absmax_of(cg, node);
    call.geometry = geometry_of(pool);
    xpu_describe_layer(cg, layer, XPU_KERNEL_window_i16, xpu_dim_of(cg, 0));
    return xpu_add_window_i16(cg, layer, &call);
}

/* On the window engine, or with the same bits on the cores. */
static xpu_status lower_wide_average(xpu_codegen *cg, uint32_t layer, xpu_node node, const struct xpu_pool_group *pool,
                                     const xpu_conv_shape *s, const pool_window *w) {
    const struct xpu_operands_group operands = {.x = pool->x, .y = pool->y};
    xpu_byte_tasks tasks;
    int64_t sm_bytes;
    const int on_engine =
        xpu_choose_wide_window_tasks(cg, s, XPU_WINDOW_COUNTS, 0, XPU_TILING_I16X8, &tasks, &sm_bytes);
    if (!on_engine && !xpu_choose_wide_tasks(cg, s, 1, &tasks))
        return xpu_codegen_bug(cg, "an average has no task", "of int16");
    struct xpu_depthwise_i16_call on_cores = {.operands = operands,
                                              .x_absmax = xpu_operand_of(cg, layer, node, XPU_IN_ABSMAX, "absmax"),
                                              .w_scale = xpu_arg_absent(),
                                              .y_absmax = absmax_of(cg, node),
                                              .geometry = geometry_of(pool),
                                              .epilogue = no_epilogue(),
                                              .w_int8 = xpu_arg_number(1),
                                              .counted = counted_of(w),
                                              .task = xpu_task_of(cg, &tasks)};
    on_cores.operands.w = on_cores.operands.bias = on_cores.operands.branch = xpu_arg_absent();
    xpu_describe_layer(cg, layer, on_engine ? XPU_KERNEL_window_i16 : XPU_KERNEL_depthwise_i16, xpu_dim_of(cg, 0));
    if (!on_engine) {
        cg->layers.items[layer].task_cycles = tasks.predicted;
        return xpu_add_depthwise_i16(cg, layer, &on_cores);
    }
    struct xpu_window_i16_call call = wide_call(cg, layer, &operands, &tasks, sm_bytes, XPU_WINDOW_AVERAGE);
    call.x_absmax = on_cores.x_absmax;
    call.y_absmax = on_cores.y_absmax;
    call.geometry = on_cores.geometry;
    call.counted = on_cores.counted;
    return xpu_add_window_i16(cg, layer, &call);
}

static xpu_status lower_pool(xpu_codegen *cg, uint32_t layer, xpu_node node, const pool_window *w) {
    xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    const xpu_conv_shape s = xpu_image_shape(cg, x, y);
    if (xpu_value_at(cg->graph, x)->dtype != XPU_F32) return lower_byte_pool(cg, layer, node, &s, w);
    struct xpu_pool_f32_call call = {.pool = pool_of(cg, layer, node, &s, w)};
    xpu_byte_tasks tasks;
    xpu_conv_shape shape = s;
    int64_t sm_bytes;
    set_window(cg, &shape, w);
    call.x_absmax = call.y_absmax = xpu_arg_absent();
    if (is_wide(cg, node) && !w->is_max) return lower_wide_average(cg, layer, node, &call.pool, &shape, w);
    if (is_wide(cg, node)) {
        if (xpu_choose_wide_window_tasks(cg, &shape, 0, 0, XPU_TILING_I16X8, &tasks, &sm_bytes))
            return lower_wide_maximum(cg, layer, node, &call.pool, &tasks, sm_bytes);
        call.x_absmax = xpu_operand_of(cg, layer, node, XPU_IN_ABSMAX, "absmax");
        call.y_absmax = absmax_of(cg, node);
    }
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

/* The mean on the window engine: of an image one row high. */
static xpu_status lower_window_mean(xpu_codegen *cg, uint32_t layer, xpu_node node, const struct xpu_mean_i8_call *mean,
                                    int64_t pixels, const xpu_byte_tasks *tasks, int64_t sm_bytes) {
    const xpu_graph *graph = cg->graph;
    const xpu_arg_int one = xpu_arg_number(1), none = xpu_arg_number(0), width = mean->pixels;
    struct xpu_window_i8_call call = {.x = mean->x,
                                      .y = mean->y,
                                      .geometry = {mean->batch, one, width, mean->channels, one, one, mean->channels,
                                                   one, width, one, one, one, one, none, none, mean->channels,
                                                   mean->channels}};
    call.w = call.bias = call.factors = xpu_arg_absent();
    call.op = xpu_arg_number(XPU_WINDOW_SUM);
    call.whole = xpu_arg_number(XPU_WINDOW_WHOLE);
    call.w_unsigned = call.w_zero = call.follows = none;
    call.ring_rows = call.made_rows = call.step_rows = call.ring_whole_w = call.slots = call.lag = none;
    call.x_unsigned = mean->x_unsigned, call.x_zero = mean->x_zero;
    call.zero = mean->zero, call.low = mean->low, call.high = mean->high;
    call.factor = xpu_arg_real(xa_average_scale(xpu_node_float(graph, node, XPU_ATTR_X_SCALE),
                                                xpu_node_float(graph, node, XPU_ATTR_Y_SCALE), (int32_t)pixels));
    xpu_describe_layer(cg, layer, XPU_KERNEL_window_i8, xpu_dim_of(cg, 0));
    xpu_place_window(cg, layer, tasks, sm_bytes, &call);
    return xpu_add_window_i8(cg, layer, &call);
}

/* Whether the number of pixels is known; an image of so many, one row high. */
static int has_known_row(xpu_codegen *cg, xpu_value x, int64_t *pixels, xpu_conv_shape *s) {
    const xpu_dim one = xpu_dim_of(cg, 1), all = xpu_dims_product(cg, x, 2, xpu_value_at(cg->graph, x)->rank);
    if (!xpu_dim_is_const(&cg->graph->dims, all, pixels) || *pixels > INT16_MAX) return 0;
    *s = (xpu_conv_shape){.batch = xpu_value_dim(cg, x, 0),
                          .in_h = one,
                          .in_w = all,
                          .in_c = xpu_value_dim(cg, x, 1),
                          .out_h = one,
                          .out_w = one,
                          .out_c = xpu_value_dim(cg, x, 1),
                          .kernel = {1, *pixels},
                          .stride = {1, 1},
                          .dilation = {1, 1},
                          .groups = 1};
    return 1;
}

xpu_status xpu_lower_qglobal_average_pool(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    xpu_byte_tasks tasks;
    xpu_conv_shape row;
    int64_t pixels, sm_bytes;
    struct xpu_mean_i8_call call = {0};
    call.x = xpu_arg_at(xpu_operand_buffer(cg, layer, x, "x"));
    call.y = xpu_arg_at(xpu_activation_buffer(cg, y));
    call.batch = xpu_arg_dim(xpu_value_dim(cg, x, 0));
    call.pixels = xpu_arg_dim(xpu_dims_product(cg, x, 2, xpu_value_at(cg->graph, x)->rank));
    call.channels = xpu_arg_dim(xpu_value_dim(cg, x, 1));
    call.x_unsigned = xpu_arg_number(is_unsigned(cg, x));
    call.x_zero = xpu_arg_number(xpu_node_int(cg->graph, node, XPU_ATTR_X_ZERO));
    call.x_scale = xpu_arg_real(xpu_node_float(cg->graph, node, XPU_ATTR_X_SCALE));
    call.y_scale = xpu_arg_real(xpu_node_float(cg->graph, node, XPU_ATTR_Y_SCALE));
    call.zero = xpu_arg_number(xpu_node_int(cg->graph, node, XPU_ATTR_Y_ZERO));
    set_limits(cg, y, &call.low, &call.high);
    if (has_known_row(cg, x, &pixels, &row) && xpu_choose_window_tasks(cg, &row, 0, 1, &tasks, &sm_bytes))
        return lower_window_mean(cg, layer, node, &call, pixels, &tasks, sm_bytes);
    xpu_note_pixels(cg, xpu_value_dim(cg, x, 1), xpu_value_dim(cg, x, 1));
    xpu_describe_layer(cg, layer, XPU_KERNEL_mean_i8, xpu_dim_of(cg, 0));
    return xpu_add_mean_i8(cg, layer, &call);
}

/* The mean of int16 on the window engine. */
static xpu_status lower_wide_window_mean(xpu_codegen *cg, uint32_t layer, const struct xpu_mean_i16_call *mean,
                                         const xpu_byte_tasks *tasks, int64_t sm_bytes) {
    const xpu_arg_int one = xpu_arg_number(1), none = xpu_arg_number(0), width = mean->pixels;
    const struct xpu_operands_group operands = {.x = mean->x, .y = mean->y};
    struct xpu_window_i16_call call = wide_call(cg, layer, &operands, tasks, sm_bytes, XPU_WINDOW_WHOLE);
    call.x_absmax = mean->x_absmax;
    call.y_absmax = mean->y_absmax;
    call.geometry = (struct xpu_geometry_group){
        mean->batch, one,  width, mean->channels, one,           one, mean->channels, one, width, one, one, one,
        one,         none, none,  mean->channels, mean->channels};
    xpu_describe_layer(cg, layer, XPU_KERNEL_window_i16, xpu_dim_of(cg, 0));
    return xpu_add_window_i16(cg, layer, &call);
}

xpu_status xpu_lower_wide_mean(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    const xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X), y = xpu_node_output(cg->graph, node, XPU_OUT_Y);
    xpu_byte_tasks tasks;
    xpu_conv_shape row;
    int64_t pixels, sm_bytes;
    struct xpu_mean_i16_call call = {.x = xpu_arg_at(xpu_operand_buffer(cg, layer, x, "x")),
                                     .x_absmax = xpu_operand_of(cg, layer, node, XPU_IN_ABSMAX, "absmax"),
                                     .y = xpu_arg_at(xpu_activation_buffer(cg, y)),
                                     .y_absmax = absmax_of(cg, node),
                                     .batch = xpu_arg_dim(xpu_value_dim(cg, x, 0)),
                                     .pixels =
                                         xpu_arg_dim(xpu_dims_product(cg, x, 2, xpu_value_at(cg->graph, x)->rank)),
                                     .channels = xpu_arg_dim(xpu_value_dim(cg, x, 1))};
    if (has_known_row(cg, x, &pixels, &row) &&
        xpu_choose_wide_window_tasks(cg, &row, 0, 1, XPU_TILING_I16X8, &tasks, &sm_bytes))
        return lower_wide_window_mean(cg, layer, &call, &tasks, sm_bytes);
    xpu_describe_layer(cg, layer, XPU_KERNEL_mean_i16, xpu_dim_of(cg, 0));
    return xpu_add_mean_i16(cg, layer, &call);
}
