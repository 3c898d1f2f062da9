/* Operators that take tensors apart and put them together in ways of their own: channels, columns of windows, parts. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "frontend/paddle/converters.h"

static const xpu_value failed = {0};

enum { IMAGE = 4, MOST_TAPS = 1024 };

/* The sizes of the dims from `first` on; 0 after reporting those that are not known. */
static int known_dims(const xpu_paddle_node *node, xpu_value x, int first, int64_t *sizes) {
    const xpu_value_info *info = xpu_paddle_info(node, x);
    for (int i = first; i < info->rank; i++) {
        if (xpu_dim_is_const(&node->build.graph->dims, info->dims[i], &sizes[i])) continue;
        xpu_paddle_refuse(node, "a dim is not known",
                          xpu_paddle_format(node, "dim %d of %s", i, fe_shape_text(&node->build, x)));
        return 0;
    }
    return 1;
}

static int needs_rank(const xpu_paddle_node *node, xpu_value x, int rank) {
    if (!x.id) return 0;
    if (xpu_paddle_rank(node, x) == rank) return 1;
    xpu_paddle_refuse(node, "the rank is not supported",
                      xpu_paddle_format(node, "the operand is %s, of rank %d it would be imported",
                                        fe_shape_text(&node->build, x), rank));
    return 0;
}

static int divides(const xpu_paddle_node *node, const char *what, int64_t parts, int64_t size) {
    if (parts >= 1 && size % parts == 0) return 1;
    return fe_bad_attr(&node->build, what, xpu_paddle_format(node, "%" PRId64 " into %" PRId64, size, parts));
}

static xpu_dim fixed(const xpu_paddle_node *node, int64_t size) {
    return xpu_dim_const(&node->build.graph->dims, size);
}

/* x as `rank` dims, with the dims changed in order, then as `last_rank` dims: each entry of the last ones is how many
 * of the changed dims it stands for. */
static xpu_value rearrange(xpu_paddle_node *node, xpu_value x, const xpu_dim *dims, int rank, const int64_t *perm,
                           const int *joined, int last_rank) {
    xpu_dim moved[XPU_MAX_RANK], last[XPU_MAX_RANK];
    fe_builder inside = fe_inside(&node->build);
    xpu_value y = fe_reshape_to(&inside, x, dims, rank, 0);
    if (y.id) y = fe_transpose(&inside, y, (fe_ints){perm, (size_t)rank});
    node->build.made = inside.made;
    if (!y.id) return failed;
    for (int i = 0; i < rank; i++) moved[i] = dims[perm[i]];
    for (int i = 0, at = 0; i < last_rank; at += joined[i++])
        last[i] = fe_dim_product(&node->build, moved, at, at + joined[i]);
    return fe_reshape_to(&node->build, y, last, last_rank, 1);
}

static int is_channel_last(const xpu_paddle_node *node) {
    const char *format = xpu_paddle_text(node, "data_format", "NCHW");
    return format[0] == 'N' && format[strlen(format) - 1] == 'C';
}

static int refuse_channel_last(const xpu_paddle_node *node) {
    if (!is_channel_last(node)) return 0;
    xpu_paddle_refuse(node, "the layout is not supported", "channels come last");
    return 1;
}

/* shuffle_channel, channel_shuffle: the channels of each group in turn. */
xpu_value xpu_paddle_convert_channel_shuffle(xpu_paddle_node *node) {
    static const int64_t perm[] = {0, 2, 1, 3, 4};
    static const int joined[] = {1, 2, 1, 1};
    xpu_value x = xpu_paddle_operand(node, "X");
    int64_t sizes[XPU_MAX_RANK], groups = xpu_paddle_int(node, "groups", xpu_paddle_int(node, "group", 1));
    if (!needs_rank(node, x, IMAGE) || refuse_channel_last(node)) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    if (!xpu_dim_is_const(&node->build.graph->dims, info.dims[1], &sizes[1]))
        return xpu_paddle_refuse(node, "the channels are not known", fe_shape_text(&node->build, x));
    if (!divides(node, "group", groups, sizes[1])) return failed;
    xpu_dim dims[] = {info.dims[0], fixed(node, groups), fixed(node, sizes[1] / groups), info.dims[2], info.dims[3]};
    return rearrange(node, x, dims, 5, perm, joined, IMAGE);
}

xpu_value xpu_paddle_convert_pixel_unshuffle(xpu_paddle_node *node) {
    static const int64_t perm[] = {0, 1, 3, 5, 2, 4};
    static const int joined[] = {1, 3, 1, 1};
    xpu_value x = xpu_paddle_operand(node, "X");
    int64_t sizes[XPU_MAX_RANK], r = xpu_paddle_int(node, "downscale_factor", 1);
    if (!needs_rank(node, x, IMAGE) || refuse_channel_last(node) || !known_dims(node, x, 2, sizes)) return failed;
    if (!divides(node, "downscale_factor", r, sizes[2]) || !divides(node, "downscale_factor", r, sizes[3]))
        return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    xpu_dim dims[] = {info.dims[0],  info.dims[1], fixed(node, sizes[2] / r), fixed(node, r), fixed(node, sizes[3] / r),
                      fixed(node, r)};
    return rearrange(node, x, dims, 6, perm, joined, IMAGE);
}

/* The largest of each group of channels. */
xpu_value xpu_paddle_convert_maxout(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    int64_t size = 0, groups = xpu_paddle_int(node, "groups", 1), inner;
    if (!x.id) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    int axis = fe_axis(&node->build, xpu_paddle_int(node, "axis", 1), info.rank);
    if (axis < 0 || info.rank >= XPU_MAX_RANK) return failed;
    if (!xpu_dim_is_const(&node->build.graph->dims, info.dims[axis], &size))
        return xpu_paddle_refuse(node, "the channels are not known", fe_shape_text(&node->build, x));
    if (!divides(node, "groups", groups, size)) return failed;
    xpu_dim dims[XPU_MAX_RANK];
    for (int i = 0; i <= info.rank; i++) {
        dims[i] = i < axis ? info.dims[i] : i == axis ? fixed(node, size / groups) : info.dims[i - 1];
        if (i == axis + 1) dims[i] = fixed(node, groups);
    }
    inner = axis + 1;
    xpu_value y = fe_reshape_to(&node->build, x, dims, info.rank + 1, 0);
    return y.id ? fe_reduce(&node->build, XPU_OP_REDUCE_MAX, y, (fe_ints){&inner, 1}, 0) : failed;
}

/* Of the steps of a sequence the first channels come from the step before, others from the one behind. */
xpu_value xpu_paddle_convert_temporal_shift(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    int64_t sizes[XPU_MAX_RANK], steps = xpu_paddle_int(node, "seg_num", 1);
    double ratio = (double)xpu_paddle_float(node, "shift_ratio", 0.25f);
    if (!needs_rank(node, x, IMAGE) || refuse_channel_last(node) || !known_dims(node, x, 0, sizes)) return failed;
    if (!divides(node, "seg_num", steps, sizes[0])) return failed;
    if (!(ratio > 0 && ratio < 0.5))
        return fe_bad_attr(&node->build, "shift_ratio", "it is not between 0 and 0.5"), failed;
    const int64_t cuts[] = {0, (int64_t)((double)sizes[1] * ratio), (int64_t)((double)sizes[1] * 2 * ratio), sizes[1]};
    xpu_dim dims[] = {fixed(node, sizes[0] / steps), fixed(node, steps), fixed(node, sizes[1]), fixed(node, sizes[2]),
                      fixed(node, sizes[3])};
    const xpu_value_info info = *xpu_paddle_info(node, x);
    fe_builder inside = fe_inside(&node->build);
    xpu_value y = fe_reshape_to(&inside, x, dims, 5, 0), parts[3];
    uint32_t count = 0;
    for (int k = 0; y.id && k < 3; k++) {
        int64_t pads[10] = {0};
        if (cuts[k] == cuts[k + 1]) continue;
        xpu_value part = fe_part(&inside, y, 2, fixed(node, cuts[k]), fixed(node, cuts[k + 1] - cuts[k]), 1, 0);
        if (k < 2) { /* one step in at one end, one out at the other */
            pads[k == 0 ? 1 : 6] = 1;
            pads[k == 0 ? 6 : 1] = -1;
            part = fe_pad(&inside, part, &(fe_padding){.mode = "constant", .pads = {pads, 10}});
        }
        if (!part.id) return failed;
        parts[count++] = part;
    }
    if (y.id) y = fe_concat(&inside, parts, count, 2);
    node->build.made = inside.made;
    return y.id ? fe_reshape_to(&node->build, y, info.dims, IMAGE, 1) : failed;
}

/* ---- columns of windows ---- */

typedef struct {
    int64_t kernel[2], strides[2], pads[4], dilations[2]; /* pads: top, left, bottom, right */
} columns;

static int read_pair(const xpu_paddle_node *node, const char *name, int64_t fallback, int64_t least, int64_t pair[2]) {
    fe_ints list = xpu_paddle_ints(node, name);
    for (size_t i = 0; i < 2; i++) {
        pair[i] = list.count == 2 ? list.items[i] : list.count == 1 ? list.items[0] : fallback;
        if (pair[i] < least || pair[i] > FE_MAX_EXTENT || list.count > 2)
            return fe_bad_attr(&node->build, name, "it is no pair of numbers in range");
    }
    return 1;
}

static int read_columns(const xpu_paddle_node *node, const char *kernel, columns *form) {
    fe_ints pads = xpu_paddle_ints(node, "paddings");
    for (size_t i = 0; i < 4; i++) {
        form->pads[i] = pads.count == 4 ? pads.items[i] : pads.count == 2 ? pads.items[i % 2] : 0;
        if (pads.count == 1) form->pads[i] = pads.items[0];
        if (form->pads[i] < 0 || form->pads[i] > FE_MAX_EXTENT)
            return fe_bad_attr(&node->build, "paddings", "a number is out of range");
    }
    if (!read_pair(node, kernel, 0, 1, form->kernel) || !read_pair(node, "strides", 1, 1, form->strides) ||
        !read_pair(node, "dilations", 1, 1, form->dilations))
        return 0;
    if (form->kernel[0] * form->kernel[1] <= MOST_TAPS) return 1;
    return fe_bad_attr(&node->build, kernel, "the window has more than 1024 places");
}

static int64_t places(const columns *form, int axis, int64_t size) {
    int64_t padded = size + form->pads[axis] + form->pads[axis + 2];
    int64_t extent = form->dilations[axis] * (form->kernel[axis] - 1) + 1;
    return padded < extent ? 0 : (padded - extent) / form->strides[axis] + 1;
}

/* im2col of x [N,C,H,W]: [N,C,kernel,places,places], a slice of the padded image for each place of the kernel. */
static xpu_value columns_of(xpu_paddle_node *node, fe_builder *b, xpu_value x, const columns *form,
                            const int64_t sizes[XPU_MAX_RANK]) {
    int64_t pads[8] = {0}, count[2], taps = form->kernel[0] * form->kernel[1], two = 2;
    for (int i = 0; i < 2; i++) {
        count[i] = places(form, i, sizes[2 + i]);
        pads[2 + i] = form->pads[i];
        pads[6 + i] = form->pads[i + 2];
    }
    if (count[0] < 1 || count[1] < 1)
        return xpu_paddle_refuse(node, "the window is larger than the image", "padded as it is");
    x = fe_pad(b, x, &(fe_padding){.mode = "constant", .pads = {pads, 8}});
    xpu_value *parts = XPU_NEW_ARRAY(node->importer->scratch, xpu_value, taps);
    for (int64_t k = 0; x.id && k < taps; k++) {
        xpu_value part = x;
        int64_t at[] = {k / form->kernel[1] * form->dilations[0], k % form->kernel[1] * form->dilations[1]};
        for (int i = 0; part.id && i < 2; i++)
            part = fe_part(b, part, 2 + i, fixed(node, at[i]), fixed(node, count[i]), form->strides[i], 0);
        parts[k] = part.id ? fe_unsqueeze(b, part, (fe_ints){&two, 1}) : failed;
        if (!parts[k].id) return failed;
    }
    return x.id ? fe_concat(b, parts, (uint32_t)taps, 2) : failed;
}

/* [N, C * kernel, places]. */
xpu_value xpu_paddle_convert_unfold(xpu_paddle_node *node) {
    columns form;
    int64_t sizes[XPU_MAX_RANK];
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!needs_rank(node, x, IMAGE) || !known_dims(node, x, 1, sizes) || !read_columns(node, "kernel_sizes", &form))
        return failed;
    fe_builder inside = fe_inside(&node->build);
    xpu_value y = columns_of(node, &inside, x, &form, sizes);
    node->build.made = inside.made;
    if (!y.id) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, y);
    xpu_dim dims[] = {info.dims[0], xpu_dim_mul(&inside.graph->dims, info.dims[1], info.dims[2]),
                      xpu_dim_mul(&inside.graph->dims, info.dims[3], info.dims[4])};
    return fe_reshape_to(&node->build, y, dims, 3, 1);
}

/* Of one image, a row for each place: [places, C * kernel]. */
xpu_value xpu_paddle_convert_im2sequence(xpu_paddle_node *node) {
    static const int64_t perm[] = {0, 3, 4, 1, 2};
    columns form;
    int64_t sizes[XPU_MAX_RANK];
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!needs_rank(node, x, IMAGE) || !known_dims(node, x, 0, sizes) || !read_columns(node, "kernels", &form))
        return failed;
    if (sizes[0] != 1)
        return xpu_paddle_refuse(node, "several images are not supported", "they would be several sequences");
    fe_builder inside = fe_inside(&node->build);
    xpu_value y = columns_of(node, &inside, x, &form, sizes);
    if (y.id) y = fe_transpose(&inside, y, (fe_ints){perm, 5});
    node->build.made = inside.made;
    if (!y.id) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, y);
    xpu_dim dims[] = {fe_dim_product(&inside, info.dims, 0, 3), fe_dim_product(&inside, info.dims, 3, 5)};
    return fe_reshape_to(&node->build, y, dims, 2, 1);
}

/* col2im: sums of what unfold takes; a transposed convolution by weights that are 1 at their own place. */
xpu_value xpu_paddle_convert_fold(xpu_paddle_node *node) {
    columns form;
    int64_t sizes[XPU_MAX_RANK], output[2];
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!needs_rank(node, x, 3) || !known_dims(node, x, 1, sizes) || !read_columns(node, "kernel_sizes", &form) ||
        !read_pair(node, "output_sizes", 0, 1, output))
        return failed;
    int64_t taps = form.kernel[0] * form.kernel[1], rows = places(&form, 0, output[0]),
            width = places(&form, 1, output[1]);
    if (sizes[1] % taps || rows * width != sizes[2])
        return xpu_paddle_refuse(
            node, "the columns do not fit the image",
            xpu_paddle_format(node, "%" PRId64 " x %" PRId64 " places of %" PRId64, rows, width, taps));
    int64_t channels = sizes[1] / taps;
    float *ones = XPU_NEW_ARRAY(node->importer->scratch, float, sizes[1] * taps);
    for (int64_t i = 0; i < sizes[1]; i++) ones[i * taps + i % taps] = 1;
    xpu_tensor tensor = {
        .dtype = XPU_F32, .rank = 4, .dims = {sizes[1], 1, form.kernel[0], form.kernel[1]}, .data = ones};
    xpu_dim dims[] = {xpu_paddle_info(node, x)->dims[0], fixed(node, sizes[1]), fixed(node, rows), fixed(node, width)};
    int64_t extra[2];
    for (int i = 0; i < 2; i++) {
        int64_t extent = form.dilations[i] * (form.kernel[i] - 1) + 1;
        extra[i] = output[i] + form.pads[i] + form.pads[i + 2] - extent - ((i ? width : rows) - 1) * form.strides[i];
    }
    fe_transposed_convolution conv = {.group = channels, .output_padding = {extra, 2}};
    conv.window = (fe_window){.strides = {form.strides, 2}, .dilations = {form.dilations, 2}, .pads = {form.pads, 4}};
    x = fe_reshape_to(&node->build, x, dims, 4, 0);
    if (!x.id) return failed;
    return fe_conv_transpose(&node->build, x, xpu_graph_const_bytes(node->importer->graph, NULL, &tensor), failed,
                             &conv);
}

/* ---- parts ---- */

/* Columns from start_index on of every operand, side by side, or added up. */
xpu_value xpu_paddle_convert_partial(xpu_paddle_node *node) {
    xpu_paddle_values all = xpu_paddle_operands(node, "X");
    int64_t start = xpu_paddle_int(node, "start_index", 0), length = xpu_paddle_int(node, "length", -1);
    xpu_value *parts = XPU_NEW_ARRAY(node->importer->scratch, xpu_value, all.count + 1);
    fe_builder inside = fe_inside(&node->build);
    for (uint32_t i = 0; i < all.count; i++) {
        int64_t sizes[XPU_MAX_RANK];
        if (!needs_rank(node, all.items[i], 2) || !known_dims(node, all.items[i], 1, sizes)) return failed;
        int64_t from = start < 0 ? start + sizes[1] : start, count = length < 0 ? sizes[1] - from : length;
        if (from < 0 || count < 1 || count > sizes[1] - from)
            return xpu_paddle_refuse(node, "the part lies outside", fe_shape_text(&node->build, all.items[i]));
        parts[i] = fe_part(&inside, all.items[i], 1, fixed(node, from), fixed(node, count), 1, 0);
        if (!parts[i].id) return failed;
    }
    node->build.made = inside.made;
    if (!all.count) return failed;
    return node->row->op == XPU_OP_ADD ? fe_variadic(&node->build, XPU_OP_ADD, parts, all.count)
                                       : fe_concat(&node->build, parts, all.count, 1);
}

/* crop, crop_tensor: a box of the tensor; -1 in its shape: all that follows the offset. */
xpu_value xpu_paddle_convert_crop(xpu_paddle_node *node) {
    fe_ints offsets, shape;
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!x.id || !xpu_paddle_numbers(node, "offsets", "Offsets", "OffsetsTensor", &offsets) ||
        !xpu_paddle_numbers(node, "shape", "Shape", "ShapeTensor", &shape))
        return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    if (shape.count != (size_t)info.rank || (offsets.count && offsets.count != (size_t)info.rank))
        return xpu_paddle_refuse(node, "the box does not fit the tensor", fe_shape_text(&node->build, x));
    fe_builder inside = fe_inside(&node->build);
    for (int i = 0; i < info.rank; i++) {
        int64_t size = 0, from = offsets.count ? offsets.items[i] : 0;
        int known = xpu_dim_is_const(&node->build.graph->dims, info.dims[i], &size);
        int64_t count = shape.items[i] > 0 ? shape.items[i] : size - from;
        if (!known && from == 0 && shape.items[i] <= 0) continue;
        if (!known || from < 0 || count < 1 || count > size - from)
            return xpu_paddle_refuse(node, "the box does not fit the tensor", fe_shape_text(&node->build, x));
        if (count < size) x = fe_part(&inside, x, i, fixed(node, from), fixed(node, count), 1, 0);
        if (!x.id) return failed;
    }
    return fe_finish(&node->build, &inside, x);
}

/* Every slice along an axis so many times; without an axis, every element. */
xpu_value xpu_paddle_convert_repeat_interleave(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    int64_t repeats = xpu_paddle_int(node, "Repeats", 1);
    if (!x.id) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    int axis = fe_axis(&node->build, xpu_paddle_int(node, "dim", 0), info.rank);
    if (axis < 0 || info.rank >= XPU_MAX_RANK) return failed;
    if (repeats < 1 || repeats > INT32_MAX) return fe_bad_attr(&node->build, "Repeats", "it is not at least 1"), failed;
    xpu_dim dims[XPU_MAX_RANK], last[XPU_MAX_RANK];
    int64_t inner = axis + 1;
    for (int i = 0; i <= info.rank; i++)
        dims[i] = i <= axis ? info.dims[i] : i == inner ? fixed(node, repeats) : info.dims[i - 1];
    for (int i = 0; i < info.rank; i++)
        last[i] = i == axis ? xpu_dim_mul(&node->build.graph->dims, info.dims[i], fixed(node, repeats)) : info.dims[i];
    fe_builder inside = fe_inside(&node->build);
    xpu_value y = fe_unsqueeze(&inside, x, (fe_ints){&inner, 1});
    if (y.id) y = fe_expand(&inside, y, (fe_dims){dims, (size_t)info.rank + 1});
    node->build.made = inside.made;
    return y.id ? fe_reshape_to(&node->build, y, last, info.rank, 1) : failed;
}

/* ---- assignment to places ---- */

static int64_t at_or(fe_ints list, size_t i, int64_t fallback) {
    return i < list.count ? list.items[i] : fallback;
}

/* For every place along an axis, which of the value's it gets; -1: it keeps its own. Returns how many there are. */
static int64_t assigned_places(int64_t size, int64_t start, int64_t end, int64_t step, int64_t *places) {
    int64_t count = 0;
    start = start < 0 ? start + size : start;
    end = end < 0 ? (end < -size ? -1 : end + size) : end;
    if (start < 0) start = step > 0 ? 0 : -1;
    if (step < 0 && start >= size) start = size - 1;
    for (int64_t i = 0; i < size; i++) places[i] = -1;
    for (int64_t at = start; step > 0 ? at < end && at < size : at > end && at >= 0; at += step) places[at] = count++;
    return count;
}

/* The value as it lies under x: of each axis it has one place, or as many as are assigned. */
static xpu_value spread_value(xpu_paddle_node *node, fe_builder *b, xpu_value value, int rank, int axis,
                              const int64_t *places, int64_t size, int64_t count) {
    const xpu_value_info *info = xpu_paddle_info(node, value);
    int own = axis - (rank - info->rank);
    int64_t dim = 1;
    if (own < 0 || (xpu_dim_is_const(&b->graph->dims, info->dims[own], &dim) && dim == 1)) return value;
    if (dim != count) return xpu_paddle_refuse(node, "the value does not fit the places", fe_shape_text(b, value));
    int64_t *indices = XPU_NEW_ARRAY(b->scratch, int64_t, size + 1);
    for (int64_t i = 0; i < size; i++) indices[i] = places[i] < 0 ? 0 : places[i];
    xpu_tensor tensor = {.dtype = XPU_I64, .rank = 1, .dims = {size}, .data = indices};
    return fe_gather(b, value, xpu_graph_const_bytes(b->graph, NULL, &tensor), own);
}

/* 1 where places of an axis are assigned, as what broadcasts to x. */
static xpu_value places_mask(const fe_builder *b, const int64_t *places, int64_t size, int axis, int rank) {
    xpu_tensor tensor = {.dtype = XPU_BOOL, .rank = rank};
    uint8_t *bits = XPU_NEW_ARRAY(b->scratch, uint8_t, size + 1);
    for (int i = 0; i < rank; i++) tensor.dims[i] = i == axis ? size : 1;
    for (int64_t i = 0; i < size; i++) bits[i] = places[i] >= 0;
    tensor.data = bits;
    return xpu_graph_const_bytes(b->graph, NULL, &tensor);
}

static xpu_value attribute_value(xpu_paddle_node *node, xpu_dtype dtype) {
    size_t count = 0;
    fe_ints shape = xpu_paddle_ints(node, "shape");
    const float *values = xpu_paddle_floats(node, "values", &count);
    fe_ints whole = xpu_paddle_ints(node, "values");
    if (!count) count = whole.count;
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = (int)shape.count};
    int64_t total = 1;
    for (size_t i = 0; i < shape.count && i < XPU_MAX_RANK; i++)
        total *= tensor.dims[i] = shape.items[i] == 1 ? 1 : (int64_t)count;
    if (!count || shape.count > XPU_MAX_RANK || total != (int64_t)count)
        return xpu_paddle_refuse(node, "the values do not fit their shape",
                                 xpu_paddle_format(node, "there are %zu", count));
    float *list = XPU_NEW_ARRAY(node->importer->scratch, float, count);
    for (size_t i = 0; i < count; i++) list[i] = whole.count ? (float)whole.items[i] : values[i];
    tensor.data = list;
    return fe_as(&node->build, xpu_graph_const_bytes(node->importer->graph, NULL, &tensor), dtype);
}

/* A box of x gets a value: which places are assigned, axis by axis, and under each of them its part of the value. */
xpu_value xpu_paddle_convert_set_value(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "Input"), value = xpu_paddle_operand(node, "ValueTensor"), mask = {0};
    fe_ints axes = xpu_paddle_ints(node, "axes"), decrease = xpu_paddle_ints(node, "decrease_axes"), starts, ends,
            steps;
    if (!x.id || !xpu_paddle_numbers(node, "starts", NULL, "StartsTensorList", &starts) ||
        !xpu_paddle_numbers(node, "ends", NULL, "EndsTensorList", &ends) ||
        !xpu_paddle_numbers(node, "steps", NULL, "StepsTensorList", &steps))
        return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    fe_builder inside = fe_inside(&node->build);
    if (!value.id) value = attribute_value(node, info.dtype);
    if (xpu_paddle_ints(node, "none_axes").count)
        return xpu_paddle_refuse(node, "none_axes is not supported", "it is given");
    if (value.id && decrease.count && xpu_paddle_rank(node, value) > 0 &&
        xpu_paddle_rank(node, value) + (int)decrease.count <= info.rank)
        value = fe_unsqueeze(&inside, value, decrease);
    for (size_t i = 0; value.id && i < axes.count; i++) {
        int64_t size = 0, step = at_or(steps, i, 1);
        int axis = fe_axis(&node->build, axes.items[i], info.rank);
        if (axis < 0) return failed;
        if (!xpu_dim_is_const(&inside.graph->dims, info.dims[axis], &size) || !step || size > FE_MAX_EXTENT)
            return xpu_paddle_refuse(node, "the places are not known", fe_shape_text(&inside, x));
        int64_t *at = XPU_NEW_ARRAY(node->importer->scratch, int64_t, size + 1);
        int64_t count = assigned_places(size, at_or(starts, i, 0), at_or(ends, i, size), step, at);
        value = spread_value(node, &inside, value, info.rank, axis, at, size, count);
        xpu_value own = places_mask(&inside, at, size, axis, info.rank);
        mask = mask.id ? fe_binary(&inside, XPU_OP_AND, mask, own) : own;
    }
    node->build.made = inside.made;
    if (!value.id || !mask.id) return failed;
    return fe_elementwise(&node->build, XPU_OP_WHERE, (xpu_value[]){mask, value, x}, 3, NULL, 0);
}
