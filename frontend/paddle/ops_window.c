/* Operators that slide a window, batch normalisation, interpolation and padding. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

/* ---- channels behind the spatial dims ---- */

static int is_channel_last(const xpu_paddle_node *node, const char *name) {
    const char *format = xpu_paddle_text(node, name, "");
    return format[0] == 'N' && format[strlen(format) - 1] == 'C';
}

/* The channel to its place behind the batch, or from there to the end. */
static xpu_value move_channel(fe_builder *b, xpu_value x, int to_front) {
    int64_t perm[XPU_MAX_RANK];
    if (!x.id) return x;
    int rank = fe_info(b, x)->rank;
    if (rank < 3) return x;
    for (int i = 0; i < rank; i++) perm[i] = i == 0 ? 0 : to_front ? (i == 1 ? rank - 1 : i - 1) : i % (rank - 1) + 1;
    return fe_transpose(b, x, (fe_ints){perm, (size_t)rank});
}

/* A builder for an operator between two moves of the channels, and what is behind it. */
static fe_builder begin(xpu_paddle_node *node, int moved, xpu_value *x) {
    fe_builder b = moved ? fe_inside(&node->build) : node->build;
    if (moved) *x = move_channel(&b, *x, 1);
    return b;
}

static xpu_value end(xpu_paddle_node *node, int moved, const fe_builder *b, xpu_value y) {
    node->build.made = b->made;
    return moved ? move_channel(&node->build, y, 0) : y;
}

/* ---- windows ---- */

/* [h, w], or [top, bottom, left, right] (of each dim both), or of all dims with batch and channel. */
static int read_window(const xpu_paddle_node *node, int spatial, fe_window *window) {
    const char *way = xpu_paddle_text(node, "padding_algorithm", "EXPLICIT");
    fe_ints pads = xpu_paddle_ints(node, "paddings");
    window->strides = xpu_paddle_ints(node, "strides");
    window->dilations = xpu_paddle_ints(node, "dilations");
    if (strcmp(way, "SAME") == 0) {
        window->auto_pad = "SAME_UPPER";
        window->dilations = (fe_ints){NULL, 0};
        return 1;
    }
    if (strcmp(way, "VALID") == 0) return 1;
    if (!pads.items || !pads.count) return 1;
    size_t n = (size_t)spatial;
    if (pads.count != n && pads.count != 2 * n) {
        xpu_paddle_refuse(node, "the paddings are not supported",
                          xpu_paddle_format(node, "there are %zu for %d spatial dims", pads.count, spatial));
        return 0;
    }
    int64_t *list = XPU_NEW_ARRAY(node->importer->scratch, int64_t, 2 * n);
    for (size_t i = 0; i < n; i++) {
        list[i] = pads.count == n ? pads.items[i] : pads.items[2 * i];
        list[n + i] = pads.count == n ? pads.items[i] : pads.items[2 * i + 1];
    }
    window->pads = (fe_ints){list, 2 * n};
    return 1;
}

static int spatial_of(const xpu_paddle_node *node, xpu_value x) {
    return xpu_paddle_rank(node, x) - 2;
}

xpu_value xpu_paddle_convert_conv(xpu_paddle_node *node) {
    fe_convolution conv = {.group = xpu_paddle_int(node, "groups", 1)};
    xpu_value x = xpu_paddle_operand(node, "Input"), w = xpu_paddle_operand(node, "Filter");
    const char *activation = xpu_paddle_text(node, "fuse_activation", "");
    int moved = is_channel_last(node, "data_format");
    xpu_value residual, bias = xpu_paddle_operand(node, "Bias");
    if (!x.id || !w.id || !read_window(node, spatial_of(node, x), &conv.window) || !xpu_paddle_has_floats(node))
        return failed;
    if (!xpu_paddle_is_fused(node, activation, &residual)) {
        fe_builder b = begin(node, moved, &x);
        return end(node, moved, &b, fe_conv(&b, x, w, bias, &conv));
    }
    fe_builder inside = fe_inside(&node->build);
    if (moved) x = move_channel(&inside, x, 1);
    xpu_value y = fe_conv(&inside, x, w, bias, &conv);
    if (moved) y = move_channel(&inside, y, 0);
    if (residual.id) y = fe_binary(&inside, XPU_OP_ADD, y, residual);
    return xpu_paddle_give(node, &inside, 0, xpu_paddle_activated(node, &inside, y, activation));
}

xpu_value xpu_paddle_convert_conv_transpose(xpu_paddle_node *node) {
    fe_transposed_convolution conv = {.group = xpu_paddle_int(node, "groups", 1)};
    xpu_value x = xpu_paddle_operand(node, "Input"), w = xpu_paddle_operand(node, "Filter");
    int moved = is_channel_last(node, "data_format");
    if (!x.id || !w.id || !read_window(node, spatial_of(node, x), &conv.window)) return failed;
    conv.output_padding = xpu_paddle_ints(node, "output_padding");
    if (!conv.output_padding.count) conv.output_padding = (fe_ints){NULL, 0};
    if (!xpu_paddle_numbers(node, "output_size", "output_size", NULL, &conv.output_shape)) return failed;
    if (!conv.output_shape.count) conv.output_shape = (fe_ints){NULL, 0};
    fe_builder b = begin(node, moved, &x);
    return end(node, moved, &b, fe_conv_transpose(&b, x, w, (xpu_value){0}, &conv));
}

/* Windows that cut the image into equal parts: 0 where the sizes are not known, or no multiples. */
static int adapt_window(const xpu_paddle_node *node, xpu_value x, fe_ints size, fe_pooling *pool) {
    const xpu_value_info info = *xpu_paddle_info(node, x);
    int64_t *window = XPU_NEW_ARRAY(node->importer->scratch, int64_t, size.count + 1);
    for (size_t i = 0; i < size.count; i++) {
        int64_t dim;
        if (!xpu_dim_is_const(&node->build.graph->dims, info.dims[2 + i], &dim) || size.items[i] < 1 ||
            dim % size.items[i])
            return 0;
        window[i] = dim / size.items[i];
    }
    pool->window = (fe_window){.kernel_shape = {window, size.count}, .strides = {window, size.count}};
    return 1;
}

/* One dim of the image cut into `count` windows, k from floor(k n / count) to where the next one begins or just behind,
 * one reduced after the other. A dim that is cut into its elements stays. {0} after reporting. */
static xpu_value adapt_dim(fe_builder *b, xpu_value x, int64_t axis, int64_t n, int64_t count, int is_max) {
    xpu_value *parts = XPU_NEW_ARRAY(b->scratch, xpu_value, (size_t)count);
    if (n == count) return x;
    for (int64_t k = 0; k < count; k++) {
        xpu_dims *dims = &b->graph->dims;
        int64_t first = k * n / count, last = ((k + 1) * n + count - 1) / count;
        parts[k] = fe_part(b, x, (int)axis, xpu_dim_const(dims, first), xpu_dim_const(dims, last - first), 1, 0);
        if (last - first > 1 && parts[k].id)
            parts[k] = fe_reduce(b, is_max ? XPU_OP_REDUCE_MAX : XPU_OP_REDUCE_MEAN, parts[k], (fe_ints){&axis, 1}, 1);
        if (!parts[k].id) return parts[k];
    }
    return count == 1 ? parts[0] : fe_concat(b, parts, (uint32_t)count, axis);
}

xpu_value xpu_paddle_adapt(xpu_paddle_node *node, fe_builder *b, xpu_value x, fe_ints size, int is_max) {
    enum { MOST_WINDOWS = 256 };
    const xpu_value_info info = *fe_info(b, x);
    fe_builder inside = fe_inside(b);
    for (size_t i = 0; i < size.count && x.id; i++) {
        int64_t n;
        if (!xpu_dim_is_const(&b->graph->dims, info.dims[2 + i], &n))
            return xpu_paddle_refuse(node, "adaptive pooling needs an image of known dims",
                                     xpu_paddle_format(node, "it is %s", fe_shape_text(b, x)));
        if (size.items[i] < 1 || size.items[i] > MOST_WINDOWS || n < 1)
            return xpu_paddle_refuse(node, "adaptive pooling takes 1 to 256 windows along a dim",
                                     xpu_paddle_format(node, "there are %" PRId64 " of %" PRId64, size.items[i], n));
        x = adapt_dim(&inside, x, 2 + (int64_t)i, n, size.items[i], is_max);
    }
    return fe_finish(b, &inside, x);
}

xpu_value xpu_paddle_convert_pool(xpu_paddle_node *node) {
    const char *kind = xpu_paddle_text(node, "pooling_type", "max");
    int is_max = strcmp(kind, "max") == 0, moved = is_channel_last(node, "data_format"), ones = 1;
    fe_pooling pool = {.ceil_mode = xpu_paddle_int(node, "ceil_mode", 0),
                       .count_include_pad = !is_max && !xpu_paddle_int(node, "exclusive", 1)};
    xpu_value x = xpu_paddle_operand(node, "X");
    fe_ints size;
    if (!x.id || !xpu_paddle_numbers(node, "ksize", "ksize", NULL, &size) ||
        !read_window(node, spatial_of(node, x), &pool.window))
        return failed;
    int spatial = spatial_of(node, x), adaptive = xpu_paddle_int(node, "adaptive", 0) != 0;
    for (size_t i = 0; i < size.count; i++) ones &= size.items[i] == 1;
    x = is_max ? xpu_paddle_countable(node, x) : x;
    if (!x.id || (is_max && !xpu_paddle_give_places(node, x))) return failed;
    fe_builder b = begin(node, moved, &x);
    if (adaptive && is_max && strcmp(node->op->type, "pool2d") == 0) {
        x = xpu_paddle_fitted(node, &b, x, size, pool.window.strides);
        pool.window = (fe_window){.kernel_shape = size, .strides = pool.window.strides};
        return end(node, moved, &b, x.id ? fe_pool(&b, XPU_OP_MAX_POOL, x, &pool) : failed);
    }
    if (xpu_paddle_int(node, "global_pooling", 0) || (adaptive && ones))
        return end(node, moved, &b, is_max ? fe_global_max_pool(&b, x) : fe_global_average_pool(&b, x));
    if ((int)size.count != spatial)
        return xpu_paddle_refuse(node, "the window does not fit the image",
                                 xpu_paddle_format(node, "it has %zu dims, the image %d", size.count, spatial));
    pool.window.kernel_shape = size;
    if (adaptive && !adapt_window(node, x, size, &pool))
        return end(node, moved, &b, xpu_paddle_adapt(node, &b, x, size, is_max));
    return end(node, moved, &b, fe_pool(&b, is_max ? XPU_OP_MAX_POOL : XPU_OP_AVERAGE_POOL, x, &pool));
}

xpu_value xpu_paddle_convert_batch_norm(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    int moved = is_channel_last(node, "data_layout");
    if (!xpu_paddle_int(node, "is_test", 0) && !xpu_paddle_int(node, "use_global_stats", 0))
        return xpu_paddle_refuse(node, "the training form is not supported", "is_test is false");
    fe_builder b = begin(node, moved, &x);
    return end(node, moved, &b,
               fe_batch_norm(&b, x, xpu_paddle_operand(node, "Scale"), xpu_paddle_operand(node, "Bias"),
                             xpu_paddle_operand(node, "Mean"), xpu_paddle_operand(node, "Variance"),
                             xpu_paddle_float(node, "epsilon", 1e-5f)));
}

/* ---- interpolation ---- */

/* Sizes, or factors, of the spatial dims: tensors before attributes. 0 after reporting. */
static int read_sizes(xpu_paddle_node *node, int spatial, int old, fe_resizing *form) {
    static const char *const names[] = {"out_d", "out_h", "out_w"};
    size_t count = 0;
    fe_dims sizes;
    if (!xpu_paddle_dims(node, NULL, "OutSize", "SizeTensor", &sizes)) return 0;
    if (sizes.items) {
        form->sizes = sizes;
        return 1;
    }
    double one = 0;
    const float *factors = xpu_paddle_floats(node, "scale", &count);
    if (xpu_paddle_operand(node, "Scale").id) {
        if (!xpu_paddle_number(node, NULL, "Scale", &one)) return 0;
        count = 1;
    } else if (count) {
        one = (double)factors[0];
    }
    if (count && one > 0) {
        float *list = XPU_NEW_ARRAY(node->importer->scratch, float, (size_t)spatial);
        for (int i = 0; i < spatial; i++) list[i] = count == (size_t)spatial && !old ? factors[i] : (float)one;
        form->scales = list;
        form->scale_count = (size_t)spatial;
        return 1;
    }
    int64_t *numbers = XPU_NEW_ARRAY(node->importer->scratch, int64_t, (size_t)spatial);
    for (int i = 0; i < spatial; i++) numbers[i] = xpu_paddle_int(node, names[3 - spatial + i], 0);
    form->sizes = fe_dims_of(&node->build, (fe_ints){numbers, (size_t)spatial});
    return 1;
}

/* Cubic halfway between what is in front of the edge and the first element: 1.09375 of that, less 0.09375 of the next.
 */
static xpu_value cubic_edge(fe_builder *b, xpu_value x, int axis) {
    enum { OVER = 3, ALL = 32 };
    xpu_dims *dims = &b->graph->dims;
    const xpu_dim none = xpu_dim_const(dims, 0), one = xpu_dim_const(dims, 1);
    xpu_dim next = xpu_dim_add_const(dims, fe_info(b, x)->dims[axis], -1);
    next = xpu_dim_op(dims, XPU_DIM_MIN, next, one);
    const float over = (float)OVER / ALL;
    xpu_value first = fe_part(b, x, axis, none, one, 1, 0), second = fe_part(b, x, axis, next, one, 1, 0);
    if (!first.id || !second.id) return failed;
    return fe_binary(b, XPU_OP_SUB, fe_binary(b, XPU_OP_MUL, first, fe_number(b, 1 + over)),
                     fe_binary(b, XPU_OP_MUL, second, fe_number(b, over)));
}

/* An axis that becomes one element is read at -0.5, however long it is. */
static xpu_value to_single(xpu_paddle_node *node, fe_builder *b, xpu_value x, int is_cubic, fe_resizing *form) {
    xpu_dims *dims = &b->graph->dims;
    const size_t count = form->sizes.items ? form->sizes.count : form->scale_count;
    float *scales = XPU_NEW_ARRAY(node->importer->scratch, float, form->scale_count);
    for (size_t i = 0; i < form->scale_count; i++) scales[i] = form->scales[i];
    form->scales = scales;
    for (size_t i = 0; i < count && x.id; i++) {
        const int axis = (int)form->axes.items[i];
        const xpu_value_info info = *fe_info(b, x);
        if (axis >= info.rank) return x; /* fe_resize reports it */
        xpu_dim size = form->sizes.items ? form->sizes.items[i] : fe_scaled(b, info.dims[axis], form->scales[i]);
        int64_t known = 0;
        if (!size.id || xpu_dim_min(dims, size) > 1 || xpu_dim_same(dims, size, info.dims[axis])) continue;
        if (!is_cubic) form->coordinates = "pytorch_half_pixel"; /* 0 there: the same */
        if (!is_cubic || (xpu_dim_is_const(dims, size, &known) && known != 1)) continue;
        if (!known)
            return xpu_paddle_refuse(node, "an axis may become one element, which is resampled otherwise",
                                     xpu_paddle_format(node, "axis %d becomes %s of at least %" PRId64, axis,
                                                       xpu_dim_text(dims, size, b->scratch), xpu_dim_min(dims, size)));
        x = cubic_edge(b, x, axis);
        if (form->scale_count) scales[i] = 1;
    }
    return x;
}

xpu_value xpu_paddle_convert_interp(xpu_paddle_node *node) {
    const char *way = xpu_paddle_text(node, "interp_method", "");
    int old = node->row->op == XPU_OP_IDENTITY, moved = is_channel_last(node, "data_layout");
    int corners = xpu_paddle_int(node, "align_corners", old) != 0, mode = (int)xpu_paddle_int(node, "align_mode", 1);
    int is_nearest = strcmp(way, "nearest") == 0, is_cubic = strcmp(way, "bicubic") == 0;
    xpu_value x = xpu_paddle_operand(node, "X");
    int spatial = spatial_of(node, x);
    if (!x.id || spatial < 1 || spatial > 3) return failed;
    int64_t axes[] = {2, 3, 4};
    fe_resizing form = {.mode = is_nearest ? "nearest"
                                : is_cubic ? "cubic"
                                           : "linear",
                        .nearest_mode = corners ? "round_prefer_ceil" : "floor",
                        .cubic_coefficient = -0.75f,
                        .axes = {axes, (size_t)spatial}};
    form.coordinates = corners ? "align_corners" : is_nearest || (mode == 1 && !is_cubic) ? "asymmetric" : "half_pixel";
    if (!read_sizes(node, spatial, old, &form)) return failed;
    fe_builder b = begin(node, moved, &x), inside = fe_inside(&b);
    if (!x.id) return failed;
    if (strcmp(form.coordinates, "half_pixel") == 0) x = to_single(node, &inside, x, is_cubic, &form);
    b.made = inside.made;
    return x.id ? end(node, moved, &b, fe_resize(&b, x, &form)) : failed;
}

/* ---- padding ---- */

/* From ProgramDesc's order (of pad: both ends of each dim, of pad2d of height and width, of pad3d of width, height,
 * depth) into all begins, then all ends. */
static int64_t *order_pads(const xpu_paddle_node *node, fe_ints pads, int rank, int channel_last) {
    int64_t *list = XPU_NEW_ARRAY(node->importer->scratch, int64_t, 2 * (size_t)rank);
    int spatial = (int)pads.count / 2, first = channel_last ? 1 : rank - spatial;
    int backwards = strcmp(node->op->type, "pad3d") == 0, whole = strcmp(node->op->type, "pad") == 0;
    for (int i = 0; i < spatial && i < rank; i++) {
        int dim = whole ? i : backwards ? first + spatial - 1 - i : first + i;
        if (dim < 0 || dim >= rank) continue;
        list[dim] = pads.items[2 * (size_t)i];
        list[rank + dim] = pads.items[2 * (size_t)i + 1];
    }
    return list;
}

static xpu_value pad(xpu_paddle_node *node, const char *value_name) {
    const char *mode = xpu_paddle_text(node, "mode", "constant");
    xpu_value x = xpu_paddle_operand(node, "X");
    int rank = xpu_paddle_rank(node, x);
    double value = 0;
    fe_ints pads;
    if (!x.id || !xpu_paddle_numbers(node, "paddings", "Paddings", NULL, &pads) ||
        !xpu_paddle_number(node, value_name, value_name, &value))
        return failed;
    if (pads.count % 2 || pads.count / 2 > (size_t)rank)
        return xpu_paddle_refuse(node, "the paddings do not fit the operand",
                                 xpu_paddle_format(node, "there are %zu for rank %d", pads.count, rank));
    if (strcmp(mode, "circular") == 0) return xpu_paddle_refuse(node, "the mode is not supported", "it is 'circular'");
    fe_padding form = {.mode = strcmp(mode, "replicate") == 0 ? "edge" : mode, .value = (float)value};
    form.pads = (fe_ints){order_pads(node, pads, rank, is_channel_last(node, "data_format")), 2 * (size_t)rank};
    return fe_pad(&node->build, x, &form);
}

xpu_value xpu_paddle_convert_pad(xpu_paddle_node *node) {
    return pad(node, "pad_value");
}

xpu_value xpu_paddle_convert_pad3d(xpu_paddle_node *node) {
    return pad(node, "value");
}

xpu_value xpu_paddle_convert_pixel_shuffle(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    int moved = is_channel_last(node, "data_format");
    fe_builder b = begin(node, moved, &x);
    return end(node, moved, &b, fe_depth_to_space(&b, x, xpu_paddle_int(node, "upscale_factor", 1), 1));
}

xpu_value xpu_paddle_convert_grid_sample(xpu_paddle_node *node) {
    const char *mode = xpu_paddle_text(node, "mode", "bilinear"),
               *outside = xpu_paddle_text(node, "padding_mode", "zeros");
    fe_sampling form = {.align_corners = xpu_paddle_int(node, "align_corners", 1) != 0,
                        .kind = strcmp(mode, "nearest") == 0 ? XA_NEAREST : XA_LINEAR,
                        .outside = strcmp(outside, "border") == 0       ? FE_BORDER
                                   : strcmp(outside, "reflection") == 0 ? FE_REFLECTION
                                                                        : FE_ZEROS};
    return fe_grid_sample(&node->build, xpu_paddle_operand(node, "X"), xpu_paddle_operand(node, "Grid"), &form);
}
