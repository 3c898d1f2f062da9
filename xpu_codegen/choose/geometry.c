/* Geometry of convolutions and of what is computed like them. */
#include "xpu_codegen/choose/geometry.h"

#include "core/ops/op.h"
#include "xpu_codegen/quantised_input.h"

enum { MAX_EXTENT = 1 << 28 }; /* dims that are larger do not get to tiles */

xpu_conv_shape xpu_image_shape(xpu_codegen *cg, xpu_value x, xpu_value y) {
    int rank = xpu_value_at(cg->graph, x)->rank;
    xpu_dim one = xpu_dim_of(cg, 1);
    return (xpu_conv_shape){.batch = xpu_value_dim(cg, x, 0),
                            .in_h = rank == 4 ? xpu_value_dim(cg, x, 2) : one,
                            .in_w = xpu_value_dim(cg, x, rank - 1),
                            .in_c = xpu_value_dim(cg, x, 1),
                            .out_h = rank == 4 ? xpu_value_dim(cg, y, 2) : one,
                            .out_w = xpu_value_dim(cg, y, rank - 1),
                            .out_c = xpu_value_dim(cg, y, 1),
                            .x_pixel = xpu_value_extent(cg, x, 1),
                            .y_pixel = xpu_value_extent(cg, y, 1)};
}

void xpu_set_window(xpu_conv_shape *shape, xpu_window window) {
    for (int axis = 0; axis < XPU_WINDOW_AXES; axis++) {
        shape->kernel[axis] = window.kernel[axis];
        shape->stride[axis] = window.stride[axis];
        shape->dilation[axis] = window.dilation[axis];
        shape->begin[axis] = window.begin[axis];
        shape->end[axis] = window.end[axis];
    }
    shape->groups = window.groups;
}

int xpu_padding_fits(const xpu_conv_shape *shape) {
    for (int axis = 0; axis < XPU_WINDOW_AXES; axis++) {
        const int64_t extent = (shape->kernel[axis] - 1) * shape->dilation[axis] + 1;
        if (shape->begin[axis] > INT16_MAX || shape->end[axis] > INT16_MAX || extent > INT16_MAX) return 0;
    }
    return 1;
}

int xpu_has_taps_inside(const xpu_codegen *cg, xpu_value x, const xpu_window *w) {
    for (int axis = w->first; axis < XPU_WINDOW_AXES; axis++) {
        int64_t size;
        if (w->dilation[axis] == 1) continue;
        if (!xpu_dim_is_const(&cg->graph->dims, xpu_value_dim(cg, x, 2 + axis - w->first), &size)) return 0;
        if (size < w->dilation[axis]) return 0;
    }
    return 1;
}

static xpu_conv_shape conv_shape(xpu_codegen *cg, xpu_node node) {
    xpu_conv_shape s =
        xpu_image_shape(cg, xpu_node_input(cg->graph, node, XPU_IN_X), xpu_node_output(cg->graph, node, 0));
    xpu_set_window(&s, xpu_window_of(cg->graph, node));
    return s;
}

/* A product by a constant matrix is a convolution with a 1x1 kernel over one row of pixels; over a column of them where
 * row_restore takes the rows as they come. */
static xpu_conv_shape matmul_shape(xpu_codegen *cg, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X), y = xpu_node_output(cg->graph, node, 0);
    const xpu_value_info *result = xpu_value_at(cg->graph, y);
    int rank = xpu_value_at(cg->graph, x)->rank;
    int restored = result->uses.count == 1 && xpu_node_is(cg->graph, result->uses.items[0].node, XPU_OP_ROW_RESTORE);
    xpu_dim one = xpu_dim_of(cg, 1), rows = xpu_dims_product(cg, x, 0, rank - 1);
    xpu_dim height = restored ? rows : one, width = restored ? one : rows;
    return (xpu_conv_shape){.restored = restored,
                            .batch = one,
                            .in_h = height,
                            .in_w = width,
                            .in_c = xpu_value_dim(cg, x, rank - 1),
                            .out_h = height,
                            .out_w = width,
                            .out_c = xpu_value_dim(cg, y, result->rank - 1),
                            .kernel = {1, 1},
                            .stride = {1, 1},
                            .dilation = {1, 1},
                            .groups = 1};
}

/* Images are the matrices of x, one pixel wide, where each has a matrix of its own to be multiplied by. */
xpu_conv_shape xpu_matrices_shape(xpu_codegen *cg, xpu_node node, xpu_dim columns, int own_weights) {
    xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X);
    int rank = xpu_value_at(cg->graph, x)->rank, rows = own_weights ? rank - 2 : 0;
    xpu_dim height = xpu_dims_product(cg, x, rows, rank - 1), one = xpu_dim_of(cg, 1);
    return (xpu_conv_shape){.own_weights = own_weights,
                            .restored = 1,
                            .batch = xpu_dims_product(cg, x, 0, rows),
                            .in_h = height,
                            .in_w = one,
                            .in_c = xpu_value_dim(cg, x, rank - 1),
                            .out_h = height,
                            .out_w = one,
                            .out_c = columns,
                            .kernel = {1, 1},
                            .stride = {1, 1},
                            .dilation = {1, 1},
                            .groups = 1};
}

static int is_slow(xpu_codegen *cg, xpu_value value) {
    if (!cg->slow || !value.id) return 0;
    const xpu_value root = xpu_value_root(cg, value);
    return root.id < cg->slow_count && cg->slow[root.id];
}

xpu_conv_shape xpu_conv_shape_of(xpu_codegen *cg, xpu_node node) {
    int is_conv = xpu_node_has(cg->graph, node, XPU_TRAIT_WINDOW);
    xpu_conv_shape s = is_conv ? conv_shape(cg, node) : matmul_shape(cg, node);
    s.quantised = xpu_quantises_input(cg, node, NULL);
    s.woven = xpu_weaves_input(cg, node, NULL);
    if (is_slow(cg, xpu_node_input(cg->graph, node, XPU_IN_X))) s.slow |= XPU_SLOW_X;
    if (is_slow(cg, xpu_node_output(cg->graph, node, 0))) s.slow |= XPU_SLOW_Y;
    if (is_slow(cg, xpu_node_input(cg->graph, node, XPU_IN_BRANCH))) s.slow |= XPU_SLOW_BRANCH;
    return s;
}

xpu_conv_shape xpu_loaded_shape(xpu_codegen *cg, const xpu_conv_shape *shape) {
    xpu_conv_shape s = *shape;
    if (s.kernel[0] != 1 || s.kernel[1] != 1 || s.begin[0] || s.begin[1]) return s;
    xpu_dims *dims = &cg->graph->dims;
    s.in_h = xpu_dim_floordiv_const(dims, xpu_dim_add_const(dims, s.in_h, s.stride[0] - 1), s.stride[0]);
    s.in_w = xpu_dim_floordiv_const(dims, xpu_dim_add_const(dims, s.in_w, s.stride[1] - 1), s.stride[1]);
    s.stride[0] = s.stride[1] = 1;
    return s;
}

int32_t xpu_bounded(const xpu_codegen *cg, xpu_dim dim) {
    int64_t most = xpu_dim_upper(cg, dim);
    return (int32_t)(most < 1 ? 1 : most > MAX_EXTENT ? MAX_EXTENT : most);
}

xpu_tiling_shape xpu_tiling_shape_of(const xpu_codegen *cg, const xpu_conv_shape *s) {
    return (xpu_tiling_shape){.in_h = xpu_bounded(cg, s->in_h),
                              .in_w = xpu_bounded(cg, s->in_w),
                              .in_c = xpu_bounded(cg, s->in_c),
                              .out_h = xpu_bounded(cg, s->out_h),
                              .out_w = xpu_bounded(cg, s->out_w),
                              .out_c = xpu_bounded(cg, s->out_c),
                              .kernel_h = (int32_t)s->kernel[0],
                              .kernel_w = (int32_t)s->kernel[1],
                              .stride_h = (int32_t)s->stride[0],
                              .stride_w = (int32_t)s->stride[1],
                              .dilation_h = (int32_t)s->dilation[0],
                              .dilation_w = (int32_t)s->dilation[1],
                              .groups = (int32_t)s->groups};
}

xpu_status xpu_infer_as_float(xpu_codegen *cg, xpu_node node) {
    xpu_graph *graph = cg->graph;
    const int64_t precision = xpu_node_int(graph, node, XPU_ATTR_PRECISION);
    xpu_node_set_attr(graph, node, &XPU_ATTR_INT_OF(PRECISION, XPU_PRECISION_FP32));
    const xpu_status status = xpu_op_infer(graph, node, cg->diags);
    xpu_node_set_attr(graph, node, &XPU_ATTR_INT_OF(PRECISION, precision));
    return status;
}
