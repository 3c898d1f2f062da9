/* Operators that slide a window, batch normalisation, and padding. */
#include <inttypes.h>
#include <string.h>

#include "frontend/build/build.h"

enum { MAX_SPATIAL = 2 };

/* The window over `n` spatial dims, in numbers. */
typedef struct {
    int n;
    int64_t kernel[MAX_SPATIAL], strides[MAX_SPATIAL], dilations[MAX_SPATIAL];
    int64_t pads[2 * MAX_SPATIAL]; /* all begins, then all ends */
} window;

/* A list of exactly `count` values in min..FE_MAX_EXTENT; not given, it leaves `values` as they are. */
static int read_list(const fe_builder *b, const char *name, fe_ints list, int count, int64_t min, int64_t *values) {
    if (!list.items) return 1;
    if (list.count != (size_t)count) {
        return fe_bad_attr(b, name, fe_format(b, "it has %zu values, not %d", list.count, count));
    }
    for (int i = 0; i < count; i++) {
        if (list.items[i] < min || list.items[i] > FE_MAX_EXTENT) {
            return fe_bad_attr(b, name,
                               fe_format(b, "value %d is %" PRId64 "; %" PRId64 " to %d are supported", i,
                                         list.items[i], min, FE_MAX_EXTENT));
        }
        values[i] = list.items[i];
    }
    return 1;
}

/* The padding that keeps ceil(size / stride) positions, over both ends: max(reach - (the last step's share), 0). */
static int same_padding(const fe_builder *b, xpu_dim size, const window *win, int i, int64_t *padding) {
    xpu_dims *dims = &b->graph->dims;
    int64_t stride = win->strides[i], reach = (win->kernel[i] - 1) * win->dilations[i] + 1, rest = 0;
    xpu_dim modulo = xpu_dim_op(dims, XPU_DIM_MOD, size, xpu_dim_const(dims, stride));
    if (stride > 1 && !xpu_dim_is_const(dims, modulo, &rest)) {
        fe_refuse(b, FE_FORM, "the padding depends on the size of the input",
                  fe_format(b, "auto_pad with stride %" PRId64 " over a dim of size %s", stride,
                            xpu_dim_text(dims, size, b->scratch)),
                  fe_format(b, "give that dim a size, or a step that %" PRId64 " divides (--shape)", stride));
        return 0;
    }
    *padding = reach - (rest == 0 ? stride : rest);
    if (*padding < 0) *padding = 0;
    return 1;
}

/* pads, or what auto_pad stands for. */
static int read_pads(const fe_builder *b, xpu_value x, const fe_window *given, window *win) {
    const char *mode = given->auto_pad ? given->auto_pad : "";
    if (strcmp(mode, "NOTSET") == 0 || mode[0] == '\0') {
        return read_list(b, "pads", given->pads, 2 * win->n, 0, win->pads);
    }
    if (strcmp(mode, "VALID") == 0) return 1;
    int upper = strcmp(mode, "SAME_UPPER") == 0;
    if (!upper && strcmp(mode, "SAME_LOWER") != 0) {
        return fe_bad_attr(b, "auto_pad",
                           fe_format(b, "it is '%s'; NOTSET, SAME_UPPER, SAME_LOWER and VALID are defined",
                                     xpu_escape(b->scratch, mode, 40)));
    }
    for (int i = 0; i < win->n; i++) {
        int64_t padding = 0;
        if (!same_padding(b, fe_info(b, x)->dims[2 + i], win, i, &padding)) return 0;
        int64_t less = padding / 2, more = padding - less;
        win->pads[i] = upper ? less : more;
        win->pads[win->n + i] = upper ? more : less;
    }
    return 1;
}

/* The spatial rank of x, [N, C, spatial...]; 0 after reporting. */
static int spatial_rank(const fe_builder *b, xpu_value x) {
    int n = fe_info(b, x)->rank - 2;
    if (n >= 1 && n <= MAX_SPATIAL) return n;
    fe_refuse(b, FE_FORM, fe_format(b, "%d-D is not supported", n < 0 ? 0 : n),
              fe_format(b, "the input has shape %s; [N,C,W] and [N,C,H,W] are supported", fe_shape_text(b, x)), NULL);
    return 0;
}

/* Everything but the kernel, which is there already. */
static int read_window(const fe_builder *b, xpu_value x, const fe_window *given, window *win) {
    for (int i = 0; i < win->n; i++) win->strides[i] = win->dilations[i] = 1;
    int ok = read_list(b, "strides", given->strides, win->n, 1, win->strides);
    ok &= read_list(b, "dilations", given->dilations, win->n, 1, win->dilations);
    return ok && read_pads(b, x, given, win);
}

enum { WINDOW_ATTRS = 3 };
static void window_attrs(const window *win, xpu_attr attrs[WINDOW_ATTRS]) {
    uint32_t n = (uint32_t)win->n;
    attrs[0] = XPU_ATTR_INTS_OF(STRIDES, win->strides, n);
    attrs[1] = XPU_ATTR_INTS_OF(DILATIONS, win->dilations, n);
    attrs[2] = XPU_ATTR_INTS_OF(PADS, win->pads, 2 * n);
}

/* ---- convolution ---- */

/* The kernel of weights w over x; 0 after reporting. */
static int conv_kernel(const fe_builder *b, xpu_value x, xpu_value w, const fe_window *given, window *win) {
    *win = (window){.n = spatial_rank(b, x)};
    if (!win->n) return 0;
    const xpu_value_info *weights = fe_info(b, w);
    if (weights->rank != win->n + 2) {
        fe_refuse(b, FE_SHAPE, "the weights have the wrong rank",
                  fe_format(b, "they have shape %s, the input %s", fe_shape_text(b, w), fe_shape_text(b, x)), NULL);
        return 0;
    }
    int64_t declared[MAX_SPATIAL];
    for (int i = 0; i < win->n; i++) {
        if (!xpu_dim_is_const(&b->graph->dims, weights->dims[2 + i], &win->kernel[i])) {
            fe_refuse(b, FE_FORM, "the size of the kernel is not constant",
                      fe_format(b, "the weights have shape %s", fe_shape_text(b, w)), NULL);
            return 0;
        }
        declared[i] = win->kernel[i];
    }
    if (!read_list(b, "kernel_shape", given->kernel_shape, win->n, 1, declared)) return 0;
    if (memcmp(declared, win->kernel, (size_t)win->n * sizeof *declared) == 0) return 1;
    fe_refuse(b, FE_SHAPE, "attribute 'kernel_shape' does not fit the weights",
              fe_format(b, "the weights have shape %s", fe_shape_text(b, w)), NULL);
    return 0;
}

/* The window of weights w over x; 0 after reporting. */
static int conv_window(const fe_builder *b, xpu_value x, xpu_value w, const fe_window *given, window *win) {
    return conv_kernel(b, x, w, given, win) && read_window(b, x, given, win);
}

static int good_group(const fe_builder *b, int64_t group) {
    if (group >= 1 && group <= FE_MAX_EXTENT) return 1;
    return fe_bad_attr(b, "group", fe_format(b, "it is %" PRId64, group));
}

/* A convolution of operands 0 (x) and 1 (w) with `more` attributes, at most MORE. */
enum { MORE = 4 };
static xpu_value convolve(fe_builder *b, xpu_op_id op, const xpu_value *operands, uint32_t operand_count,
                          const fe_convolution *conv, const xpu_attr *more, uint32_t more_count, int last) {
    window win;
    if (!operands[0].id || !operands[1].id) return (xpu_value){0};
    if (!conv_window(b, operands[0], operands[1], &conv->window, &win)) return (xpu_value){0};
    if (!good_group(b, conv->group)) return (xpu_value){0};
    xpu_attr attrs[WINDOW_ATTRS + 1 + MORE];
    window_attrs(&win, attrs);
    attrs[WINDOW_ATTRS] = XPU_ATTR_INT_OF(GROUP, conv->group);
    for (uint32_t i = 0; i < more_count && i < MORE; i++) attrs[WINDOW_ATTRS + 1 + i] = more[i];
    return fe_node(b, op, operands, operand_count, attrs, WINDOW_ATTRS + 1 + more_count, last);
}

xpu_value fe_conv(fe_builder *b, xpu_value x, xpu_value w, xpu_value bias, const fe_convolution *conv) {
    xpu_value operands[] = {x, w, bias};
    return convolve(b, XPU_OP_CONV, operands, bias.id ? 3 : 2, conv, NULL, 0, 1);
}

/* Zero points of channels: the sums of x that they are multiplied by are those of a convolution by ones. */
static xpu_value minus_zeros(fe_builder *b, xpu_value product, fe_integer_operands *parts, const fe_convolution *conv) {
    const xpu_value_info *w = fe_info(b, parts->operands[XPU_IN_W]);
    xpu_dim one = xpu_dim_const(&b->graph->dims, 1), dims[XPU_MAX_RANK], of_zeros[XPU_MAX_RANK];
    int rank = w->rank, depthwise = xpu_dim_equal(w->dims[0], xpu_dim_const(&b->graph->dims, conv->group));
    if (conv->group != 1 && !depthwise) {
        return fe_refuse(b, FE_FORM, "the channels of a convolution with groups have zero points of their own",
                         fe_format(b, "%" PRId64 " groups of more than one channel", conv->group),
                         "quantise the weights to int8, symmetric");
    }
    for (int i = 0; i < rank; i++) {
        dims[i] = i == 0 ? (depthwise ? w->dims[0] : one) : w->dims[i];
        of_zeros[i] = i == 0 ? w->dims[0] : one;
    }
    xpu_value zeros = parts->w_zeros;
    if (fe_info(b, zeros)->rank > 0) zeros = fe_reshape_to(b, zeros, of_zeros, rank - 1, 0);
    parts->operands[XPU_IN_W] = fe_ones(b, dims, rank);
    if (!zeros.id || !parts->operands[XPU_IN_W].id) return (xpu_value){0};
    xpu_value sum = convolve(b, XPU_OP_QCONV, parts->operands, parts->count, conv, parts->attrs, FE_INTEGER_ATTRS, 0);
    return fe_minus_zeros(b, product, sum, zeros, 1);
}

xpu_value fe_integer_conv(fe_builder *b, xpu_value x, xpu_value w, xpu_value x_zero, xpu_value w_zero,
                          const fe_convolution *conv) {
    fe_integer_operands parts;
    if (!fe_read_zeros(b, x, w, x_zero, w_zero, &parts)) return (xpu_value){0};
    int split = parts.w_zeros.id != 0;
    xpu_value product =
        convolve(b, XPU_OP_QCONV, parts.operands, parts.count, conv, parts.attrs, FE_INTEGER_ATTRS, !split);
    return split && product.id ? minus_zeros(b, product, &parts, conv) : product;
}

/* ---- transposed convolution ---- */

/* Padding of `total` elements in all over both ends of dim i. */
static void share_padding(window *win, int i, int64_t total, int upper) {
    if (total < 0) total = 0;
    win->pads[i] = upper ? total / 2 : total - total / 2;
    win->pads[win->n + i] = total - win->pads[i];
}

/* Pads, and output_shape where it is given as sizes of the spatial dims; 0 after reporting. `full`: sizes of the result
 * without padding, for a dim that is open what it has besides stride times its size. */
static int transposed_pads(const fe_builder *b, xpu_value x, const fe_transposed_convolution *conv, const int64_t *full,
                           const int64_t *shape, window *win) {
    const char *mode = conv->window.auto_pad ? conv->window.auto_pad : "";
    int upper = strcmp(mode, "SAME_UPPER") == 0, same = upper || strcmp(mode, "SAME_LOWER") == 0;
    const xpu_value_info *info = fe_info(b, x);
    if (!same && !shape) return read_pads(b, x, &conv->window, win);
    for (int i = 0; i < win->n; i++) {
        int64_t size = 0;
        int known = xpu_dim_is_const(&b->graph->dims, info->dims[2 + i], &size);
        if (shape && !known) {
            fe_refuse(b, FE_FORM, "the padding depends on the size of the input",
                      fe_format(b, "output_shape over a dim of size %s",
                                xpu_dim_text(&b->graph->dims, info->dims[2 + i], b->scratch)),
                      "give that dim a size (--shape), or export the model with pads instead");
            return 0;
        }
        share_padding(win, i, shape ? size * win->strides[i] + full[i] - shape[i] : full[i], upper);
    }
    return 1;
}

/* Sizes that output_shape gives to the spatial dims; NULL where it is not given. 0 after reporting. */
static int given_shape(const fe_builder *b, fe_ints given, int n, int64_t *sizes, const int64_t **shape) {
    *shape = NULL;
    if (!given.items || !given.count) return 1;
    int skipped = given.count == (size_t)n + 2 ? 2 : 0;
    fe_ints spatial = {given.items + skipped, given.count - (size_t)skipped};
    if (!read_list(b, "output_shape", spatial, n, 1, sizes)) return 0;
    *shape = sizes;
    return 1;
}

static xpu_value transposed_node(fe_builder *b, const xpu_value *operands, const fe_transposed_convolution *conv,
                                 const window *win, const int64_t *full, const int64_t *shape) {
    xpu_dims *dims = &b->graph->dims;
    const xpu_value_info *x = fe_info(b, operands[0]);
    xpu_dim sizes[MAX_SPATIAL];
    for (int i = 0; i < win->n; i++) {
        xpu_dim most = xpu_dim_mul_const(dims, x->dims[2 + i], win->strides[i]);
        sizes[i] = shape ? xpu_dim_const(dims, shape[i])
                         : xpu_dim_add_const(dims, most, full[i] - win->pads[i] - win->pads[win->n + i]);
    }
    uint32_t n = (uint32_t)win->n;
    xpu_attr attrs[] = {XPU_ATTR_INTS_OF(STRIDES, win->strides, n), XPU_ATTR_INTS_OF(DILATIONS, win->dilations, n),
                        XPU_ATTR_INTS_OF(CROP, win->pads, n), XPU_ATTR_DIMS_OF(SHAPE, sizes, n),
                        XPU_ATTR_INT_OF(GROUP, conv->group)};
    return fe_node(b, XPU_OP_CONV_TRANSPOSE, operands, operands[2].id ? 3 : 2, attrs, 5, 1);
}

xpu_value fe_conv_transpose(fe_builder *b, xpu_value x, xpu_value w, xpu_value bias,
                            const fe_transposed_convolution *conv) {
    static const xpu_value failed = {0};
    window win;
    if (!x.id || !w.id || !conv_kernel(b, x, w, &conv->window, &win)) return failed;
    for (int i = 0; i < win.n; i++) win.strides[i] = win.dilations[i] = 1;
    int64_t more[MAX_SPATIAL] = {0}, full[MAX_SPATIAL], sizes[MAX_SPATIAL];
    const int64_t *shape;
    if (!read_list(b, "strides", conv->window.strides, win.n, 1, win.strides) ||
        !read_list(b, "dilations", conv->window.dilations, win.n, 1, win.dilations) ||
        !read_list(b, "output_padding", conv->output_padding, win.n, 0, more) || !good_group(b, conv->group) ||
        !given_shape(b, conv->output_shape, win.n, sizes, &shape))
        return failed;
    for (int i = 0; i < win.n; i++) {
        full[i] = (win.kernel[i] - 1) * win.dilations[i] + 1 + more[i] - win.strides[i];
    }
    if (!transposed_pads(b, x, conv, full, shape, &win)) return failed;
    return transposed_node(b, (const xpu_value[]){x, w, bias}, conv, &win, full, shape);
}

/* ---- pooling ---- */

/* Whether onnxruntime 1.31 adds each column of a window first: where a padded row and the window fit its buffer. */
static int adds_columns(const fe_builder *b, xpu_value x, const window *win) {
    enum { BUFFER = 2048 };
    int64_t width = 0;
    if (win->n != 2 || win->strides[1] > 2) return 0;
    const xpu_value_info *info = fe_info(b, x);
    if (!xpu_dim_is_const(&b->graph->dims, info->dims[info->rank - 1], &width)) width = 0;
    return win->kernel[0] > 1 && win->kernel[1] > 1 && width + win->pads[1] + win->pads[3] + win->kernel[1] <= BUFFER;
}

/* Bytes of channels that fill no words: no target has maxima of them but as floats, which are as exact. */
static int has_odd_bytes(const fe_builder *b, xpu_value x) {
    enum { WORD = 4 };
    int64_t channels;
    const xpu_value_info *info = fe_info(b, x);
    return xpu_dtype_bytes(info->dtype) == 1 && xpu_dim_is_const(&b->graph->dims, info->dims[1], &channels) &&
           channels % WORD != 0;
}

xpu_value fe_pool(fe_builder *b, xpu_op_id op, xpu_value x, const fe_pooling *pool) {
    static const xpu_value failed = {0};
    if (!x.id) return failed;
    window win = {.n = spatial_rank(b, x)};
    if (!win.n) return failed;
    if (!pool->window.kernel_shape.items) {
        fe_bad_attr(b, "kernel_shape", "it is missing");
        return failed;
    }
    int ok = read_list(b, "kernel_shape", pool->window.kernel_shape, win.n, 1, win.kernel);
    int ceil_mode = fe_flag(b, "ceil_mode", pool->ceil_mode, &ok);
    int include_pad = fe_flag(b, "count_include_pad", pool->count_include_pad, &ok);
    if (!ok || !read_window(b, x, &pool->window, &win)) return failed;
    xpu_attr attrs[WINDOW_ATTRS + 4];
    window_attrs(&win, attrs);
    uint32_t count = WINDOW_ATTRS;
    attrs[count++] = XPU_ATTR_INTS_OF(KERNEL, win.kernel, (uint32_t)win.n);
    attrs[count++] = XPU_ATTR_INT_OF(CEIL_MODE, ceil_mode);
    if (op == XPU_OP_AVERAGE_POOL) {
        attrs[count++] = XPU_ATTR_INT_OF(COUNT_INCLUDE_PAD, include_pad);
        attrs[count++] = XPU_ATTR_INT_OF(BY_COLUMNS, pool->by_columns && adds_columns(b, x, &win));
    }
    const xpu_dtype dtype = fe_info(b, x)->dtype;
    if (op != XPU_OP_MAX_POOL || !has_odd_bytes(b, x)) return fe_node(b, op, &x, 1, attrs, count, 1);
    x = fe_node(b, XPU_OP_CONVERT, &x, 1, &XPU_ATTR_INT_OF(DTYPE, XPU_F32), 1, 0);
    if (x.id) x = fe_node(b, op, &x, 1, attrs, count, 0);
    return x.id ? fe_node(b, XPU_OP_CONVERT, &x, 1, &XPU_ATTR_INT_OF(DTYPE, dtype), 1, 1) : x;
}

xpu_value fe_global_average_pool(fe_builder *b, xpu_value x) {
    return fe_node(b, XPU_OP_GLOBAL_AVERAGE_POOL, &x, 1, NULL, 0, 1);
}

/* The spatial dims; their number, 0 after reporting. */
static size_t spatial_axes(const fe_builder *b, xpu_value x, int64_t axes[XPU_MAX_RANK]) {
    const int rank = x.id ? fe_info(b, x)->rank : 0;
    for (int i = 2; i < rank; i++) axes[i - 2] = i;
    if (x.id && rank < 3) {
        fe_refuse(b, FE_SHAPE, "the input has no spatial dims", fe_format(b, "it has rank %d", rank), NULL);
    }
    return rank < 3 ? 0 : (size_t)(rank - 2);
}

xpu_value fe_global_max_pool(fe_builder *b, xpu_value x) {
    int64_t axes[XPU_MAX_RANK];
    const size_t count = spatial_axes(b, x, axes);
    return count ? fe_reduce(b, XPU_OP_REDUCE_MAX, x, (fe_ints){axes, count}, 1) : (xpu_value){0};
}

/* ---- sums of powers ---- */

static xpu_value power_of(fe_builder *b, xpu_value x, float power) {
    if (power == 2.0f) return fe_binary(b, XPU_OP_MUL, x, x);
    x = fe_unary(b, XPU_OP_ABS, x);
    return power == 1.0f ? x : fe_binary(b, XPU_OP_POW, x, fe_number(b, power));
}

static xpu_value root_of(fe_builder *b, xpu_value x, float power) {
    if (power == 1.0f) return x;
    return power == 2.0f ? fe_unary(b, XPU_OP_SQRT, x) : fe_binary(b, XPU_OP_POW, x, fe_number(b, 1.0f / power));
}

static int check_power(const fe_builder *b, float power) {
    return power >= 1.0f || fe_bad_attr(b, "p", "it is less than 1");
}

xpu_value fe_global_lp_pool(fe_builder *b, xpu_value x, float power) {
    int64_t axes[XPU_MAX_RANK];
    const size_t count = spatial_axes(b, x, axes);
    if (!count || !check_power(b, power)) return (xpu_value){0};
    fe_builder inside = fe_inside(b);
    xpu_value sum = fe_reduce(&inside, XPU_OP_REDUCE_SUM, power_of(&inside, x, power), (fe_ints){axes, count}, 1);
    return fe_finish(b, &inside, root_of(&inside, sum, power));
}

/* With ceil_mode the window that hangs over the end is one over padding, of which there is more. 0 after reporting. */
static int pad_to_ceil(const fe_builder *b, xpu_value x, window *win) {
    for (int i = 0; i < win->n; i++) {
        int64_t size, extent = (win->kernel[i] - 1) * win->dilations[i] + 1, stride = win->strides[i];
        if (!xpu_dim_is_const(&b->graph->dims, fe_info(b, x)->dims[i + 2], &size)) {
            fe_refuse(b, FE_FORM, "ceil_mode asks for known spatial dims",
                      fe_format(b, "the input has shape %s", fe_shape_text(b, x)), "fix them with --shape");
            return 0;
        }
        int64_t room = size + win->pads[i] + win->pads[win->n + i] - extent;
        int64_t steps = room < 0 ? 0 : (room + stride - 1) / stride;
        if (steps * stride >= size + win->pads[i]) steps--;
        if (steps * stride > room) win->pads[win->n + i] += steps * stride - room;
    }
    return 1;
}

/* The mean over each window, padding too, times its elements. */
xpu_value fe_lp_pool(fe_builder *b, xpu_value x, const fe_pooling *pool, float power) {
    static const xpu_value failed = {0};
    window win = {.n = x.id ? spatial_rank(b, x) : 0};
    if (!win.n || !check_power(b, power)) return failed;
    if (!pool->window.kernel_shape.items) {
        fe_bad_attr(b, "kernel_shape", "it is missing");
        return failed;
    }
    int ok = read_list(b, "kernel_shape", pool->window.kernel_shape, win.n, 1, win.kernel);
    int ceil_mode = fe_flag(b, "ceil_mode", pool->ceil_mode, &ok);
    if (!ok || !read_window(b, x, &pool->window, &win) || (ceil_mode && !pad_to_ceil(b, x, &win))) return failed;
    const fe_pooling sums = {.window = {.kernel_shape = {win.kernel, (size_t)win.n},
                                        .strides = {win.strides, (size_t)win.n},
                                        .dilations = {win.dilations, (size_t)win.n},
                                        .pads = {win.pads, 2 * (size_t)win.n}},
                             .count_include_pad = 1};
    float elements = 1;
    for (int i = 0; i < win.n; i++) elements *= (float)win.kernel[i];
    fe_builder inside = fe_inside(b);
    xpu_value mean = fe_pool(&inside, XPU_OP_AVERAGE_POOL, power_of(&inside, x, power), &sums);
    xpu_value sum = fe_binary(&inside, XPU_OP_MUL, mean, fe_number(b, elements));
    return fe_finish(b, &inside, root_of(&inside, sum, power));
}

/* ---- batch normalisation ---- */

xpu_value fe_batch_norm(fe_builder *b, xpu_value x, xpu_value scale, xpu_value bias, xpu_value mean, xpu_value variance,
                        float epsilon) {
    xpu_value operands[] = {x, scale, bias, mean, variance};
    return fe_node(b, XPU_OP_BATCH_NORM, operands, 5, &XPU_ATTR_FLOAT_OF(EPSILON, epsilon), 1, 1);
}

/* ---- padding ---- */

/* Pads of the listed axes, spread over all dims. */
static int spread_pads(const fe_builder *b, xpu_value x, const fe_padding *padding, int64_t pads[2 * XPU_MAX_RANK]) {
    int rank = fe_info(b, x)->rank;
    size_t dims = padding->axes.items ? padding->axes.count : (size_t)rank;
    if (padding->pads.count != 2 * dims) {
        fe_refuse(b, FE_OPERAND, "the pads do not fit the input",
                  fe_format(b, "%zu values for %zu dims", padding->pads.count, dims), NULL);
        return 0;
    }
    unsigned seen = 0;
    for (size_t i = 0; i < dims; i++) {
        int axis = padding->axes.items ? fe_axis(b, padding->axes.items[i], rank) : (int)i;
        if (axis < 0) return 0;
        if (seen & 1u << axis) {
            fe_refuse(b, FE_OPERAND, "an axis is given twice", fe_format(b, "axis %d", axis), NULL);
            return 0;
        }
        seen |= 1u << axis;
        for (size_t end = 0; end < 2; end++) {
            int64_t pad = padding->pads.items[end * dims + i];
            if (pad > FE_MAX_EXTENT || pad < -(int64_t)FE_MAX_EXTENT) {
                fe_refuse(b, FE_OPERAND, "a pad is too large", fe_format(b, "%" PRId64, pad), NULL);
                return 0;
            }
            pads[end * (size_t)rank + (size_t)axis] = pad;
        }
    }
    return 1;
}

xpu_value fe_pad(fe_builder *b, xpu_value x, const fe_padding *padding) {
    const char *mode = padding->mode;
    if (!x.id) return x;
    if (strcmp(mode, "constant") != 0 && strcmp(mode, "reflect") != 0 && strcmp(mode, "edge") != 0) {
        return fe_refuse(b, FE_FORM, fe_format(b, "mode '%s' is not supported", xpu_escape(b->scratch, mode, 40)),
                         "constant, reflect and edge are supported", NULL);
    }
    int64_t pads[2 * XPU_MAX_RANK] = {0};
    if (!spread_pads(b, x, padding, pads)) return (xpu_value){0};
    xpu_value integer = strcmp(mode, "constant") == 0 ? padding->integer : (xpu_value){0};
    xpu_attr attrs[] = {XPU_ATTR_INTS_OF(PADS, pads, 2 * (uint32_t)fe_info(b, x)->rank), XPU_ATTR_STRING_OF(MODE, mode),
                        XPU_ATTR_FLOAT_OF(VALUE, integer.id ? 0.0f : padding->value)};
    if (!integer.id) return fe_node(b, XPU_OP_PAD, &x, 1, attrs, 3, 1);
    x = fe_node(b, XPU_OP_SUB, (xpu_value[]){x, integer}, 2, NULL, 0, 0); /* modulo 2^bits: pads with 0 are the value */
    if (x.id) x = fe_node(b, XPU_OP_PAD, &x, 1, attrs, 3, 0);
    return x.id ? fe_node(b, XPU_OP_ADD, (xpu_value[]){x, integer}, 2, NULL, 0, 1) : x;
}
