/* Products, windows, norms, reductions and quantised operators in PaddlePaddle. */
#include <math.h>
#include <string.h>

#include "base/compare.h"
#include "convert/paddle_writer.h"
#include "core/arith_resample.h"

static const int64_t *ints(pw *w, xpu_attr_id id, uint32_t *count) {
    *count = 0;
    return xpu_node_ints(w->graph, w->node, id, count);
}

/* ---- images of one row ---- */

/* [N,C,W] as [N,C,1,W] */
static pw_type wide(pw *w, const pw_type *type) {
    pw_type made = {.dtype = type->dtype, .rank = 4};
    made.dims[0] = type->dims[0];
    made.dims[1] = type->dims[1];
    made.dims[2] = xpu_dim_const(&w->graph->dims, 1);
    made.dims[3] = type->dims[2];
    return made;
}

static const char *as_image(pw *w, const char *x, pw_type *type) {
    if (type->rank != 3) return x;
    const pw_type image = wide(w, type);
    const char *made = pw_reshape(w, NULL, x, type, &image);
    *type = image;
    return made;
}

/* Lists of a window for height and width: `first` where there is no height. */
static void window_list(pw *w, pw_op *op, const char *name, xpu_attr_id id, int spatial, int64_t first) {
    uint32_t count;
    const int64_t *given = ints(w, id, &count);
    int64_t list[2] = {first, first};
    for (int i = 0; i < spatial; i++) list[2 - spatial + i] = given && (uint32_t)i < count ? given[i] : first;
    pw_ints(w, op, name, list, 2);
}

static void paddings(pw *w, pw_op *op, const int64_t *begin, const int64_t *end, int spatial) {
    int64_t list[4] = {0};
    for (int i = 0; i < spatial; i++) {
        const size_t at = 2 * (size_t)(2 - spatial + i);
        list[at] = begin[i];
        list[at + 1] = end[i];
    }
    pw_ints(w, op, "paddings", list, 4);
    pw_string(w, op, "padding_algorithm", "EXPLICIT");
    pw_string(w, op, "data_format", "NCHW");
}

/* A result of the image's type under a name of its own, then back to one dim, then plus a bias. */
static void finish(pw *w, const char *y, const pw_type *image, const char *bias) {
    pw_type type = pw_result_type(w, 0);
    if (type.rank == 3) y = pw_reshape(w, bias ? NULL : pw_result(w, 0), y, image, &type);
    if (!bias) return;
    pw_op *op;
    pw_make(w, &op, pw_result(w, 0), "elementwise_add", &type, y, bias);
    pw_int(w, op, "axis", 1);
}

static const char *image_result(pw *w, int is_last, const pw_type *image) {
    return is_last ? pw_result(w, 0) : pw_new(w, "image", image);
}

void pw_write_conv(pw *w, const pw_row *row) {
    pw_type x = pw_operand_type(w, 0), filter = pw_operand_type(w, 1), y = pw_result_type(w, 0);
    const int spatial = x.rank - 2;
    const char *bias = pw_operand(w, 2), *input = as_image(w, pw_operand(w, 0), &x);
    const char *weights = as_image(w, pw_operand(w, 1), &filter);
    const pw_type image = y.rank == 3 ? wide(w, &y) : y;
    const int64_t group = xpu_node_int(w->graph, w->node, XPU_ATTR_GROUP);
    int64_t channels, none[4] = {0};
    uint32_t count;
    const int64_t *pads = ints(w, XPU_ATTR_PADS, &count);
    const int depthwise = group > 1 && xpu_dim_is_const(&w->graph->dims, x.dims[1], &channels) && channels == group;
    pw_op *op = pw_add(w, depthwise ? "depthwise_conv2d" : row->name);
    const char *result = image_result(w, !bias && spatial == 2, &image);
    pw_in(w, op, "Input", input);
    pw_in(w, op, "Filter", weights);
    pw_out(w, op, "Output", result);
    window_list(w, op, "strides", XPU_ATTR_STRIDES, spatial, 1);
    window_list(w, op, "dilations", XPU_ATTR_DILATIONS, spatial, 1);
    paddings(w, op, pads ? pads : none, pads ? pads + spatial : none, spatial);
    pw_int(w, op, "groups", group);
    if (depthwise) pw_bool(w, op, "use_cudnn", 0);
    if (bias || spatial == 1) finish(w, result, &image, bias);
}

void pw_write_conv_transpose(pw *w, const pw_row *row) {
    xpu_dims *dims = &w->graph->dims;
    pw_type x = pw_operand_type(w, 0), filter = pw_operand_type(w, 1), y = pw_result_type(w, 0);
    const pw_type image = y.rank == 3 ? wide(w, &y) : y;
    const int spatial = x.rank - 2;
    uint32_t count, unused;
    const int64_t *crop = ints(w, XPU_ATTR_CROP, &count), *strides = ints(w, XPU_ATTR_STRIDES, &unused);
    const int64_t *dilations = ints(w, XPU_ATTR_DILATIONS, &unused);
    const xpu_attr *shape = xpu_node_attr(w->graph, w->node, XPU_ATTR_SHAPE);
    int64_t end[2] = {0}, more[2] = {0}, has_more = 0;
    for (int i = 0; i < spatial; i++) {
        int64_t kernel = 0, rest = 0;
        int known = xpu_dim_is_const(dims, filter.dims[i + 2], &kernel);
        const int64_t stride = strides ? strides[i] : 1, dilation = dilations ? dilations[i] : 1;
        xpu_dim full = xpu_dim_mul_const(dims, xpu_dim_add_const(dims, x.dims[i + 2], -1), stride);
        full = xpu_dim_add_const(dims, full, dilation * (kernel - 1) + 1 - crop[i]);
        known &= xpu_dim_is_const(dims, xpu_dim_add(dims, full, xpu_dim_mul_const(dims, shape->dims[i], -1)), &rest);
        if (!known) {
            pw_refuse(w, XPU_REFUSED_CROPPED);
            return;
        }
        end[i] = rest > 0 ? rest : 0;
        more[2 - spatial + i] = rest < 0 ? -rest : 0;
        has_more |= rest < 0;
    }
    const char *bias = pw_operand(w, 2), *input = as_image(w, pw_operand(w, 0), &x);
    const char *weights = as_image(w, pw_operand(w, 1), &filter);
    pw_op *op = pw_add(w, row->name);
    const char *result = image_result(w, !bias && spatial == 2, &image);
    pw_in(w, op, "Input", input);
    pw_in(w, op, "Filter", weights);
    pw_out(w, op, "Output", result);
    window_list(w, op, "strides", XPU_ATTR_STRIDES, spatial, 1);
    window_list(w, op, "dilations", XPU_ATTR_DILATIONS, spatial, 1);
    paddings(w, op, crop, end, spatial);
    pw_ints(w, op, "output_padding", more, has_more ? 2 : 0);
    pw_ints(w, op, "output_size", NULL, 0);
    pw_int(w, op, "groups", xpu_node_int(w->graph, w->node, XPU_ATTR_GROUP));
    if (bias || spatial == 1) finish(w, result, &image, bias);
}

static void pool_flags(pw *w, pw_op *op, const char *kind, int adaptive, int exclusive, int ceil_mode) {
    pw_string(w, op, "pooling_type", kind);
    pw_bool(w, op, "adaptive", adaptive);
    pw_bool(w, op, "exclusive", exclusive);
    pw_bool(w, op, "ceil_mode", ceil_mode);
    pw_bool(w, op, "global_pooling", 0);
}

/* A mean that counts its pads: PaddlePaddle takes those at the end for as many as those at the beginning. */
static int counts_uneven_pads(pw *w, const int64_t *pads, int spatial) {
    int uneven = 0;
    for (int i = 0; i < spatial; i++) uneven |= pads[i] != pads[spatial + i];
    return uneven && xpu_node_is(w->graph, w->node, XPU_OP_AVERAGE_POOL) &&
           xpu_node_int(w->graph, w->node, XPU_ATTR_COUNT_INCLUDE_PAD);
}

/* The image with zeros around it. */
static const char *padded(pw *w, const char *x, pw_type *image, const int64_t *pads, int spatial) {
    int64_t both[8] = {0};
    for (int i = 0; i < spatial; i++) {
        const int64_t axis = 4 - spatial + i;
        both[2 * axis] = pads[i];
        both[2 * axis + 1] = pads[spatial + i];
        image->dims[axis] = xpu_dim_add_const(&w->graph->dims, image->dims[axis], pads[i] + pads[spatial + i]);
    }
    pw_op *op;
    x = pw_make(w, &op, NULL, "pad", image, x, NULL);
    pw_ints(w, op, "paddings", both, 8);
    pw_float(w, op, "pad_value", 0);
    return x;
}

void pw_write_pool(pw *w, const pw_row *row) {
    pw_type x = pw_operand_type(w, 0), y = pw_result_type(w, 0);
    pw_type image = y.rank == 3 ? wide(w, &y) : y;
    const int spatial = x.rank - 2;
    uint32_t count;
    const int64_t *dilations = ints(w, XPU_ATTR_DILATIONS, &count), none[4] = {0};
    for (uint32_t i = 0; dilations && i < count; i++) {
        if (dilations[i] == 1) continue;
        pw_refuse(w, XPU_REFUSED_POOL_DILATIONS);
        return;
    }
    const int64_t *pads = ints(w, XPU_ATTR_PADS, &count);
    if (!pads) pads = none;
    const int casts = xpu_dtype_bytes(x.dtype) == 1;
    const char *input = pw_operand(w, 0);
    if (casts) input = pw_cast(w, NULL, input, &x, XPU_F32);
    if (casts) x.dtype = image.dtype = XPU_F32;
    input = as_image(w, input, &x);
    if (counts_uneven_pads(w, pads, spatial)) {
        input = padded(w, input, &x, pads, spatial);
        pads = none;
    }
    pw_op *op;
    const int is_last = spatial == 2 && !casts;
    const char *result = pw_make(w, &op, image_result(w, is_last, &image), "pool2d", &image, input, NULL);
    window_list(w, op, "ksize", XPU_ATTR_KERNEL, spatial, 1);
    window_list(w, op, "strides", XPU_ATTR_STRIDES, spatial, 1);
    paddings(w, op, pads, pads + spatial, spatial);
    pool_flags(w, op, row->name, 0, !xpu_node_int(w->graph, w->node, XPU_ATTR_COUNT_INCLUDE_PAD),
               xpu_node_int(w->graph, w->node, XPU_ATTR_CEIL_MODE) != 0);
    if (casts) result = pw_cast(w, spatial == 2 ? pw_result(w, 0) : NULL, result, &image, y.dtype);
    image.dtype = y.dtype;
    if (spatial == 1) finish(w, result, &image, NULL);
}

void pw_write_global_pool(pw *w, const pw_row *row) {
    const pw_type x = pw_operand_type(w, 0), y = pw_result_type(w, 0);
    const int64_t ones[] = {1, 1}, none[2] = {0};
    int64_t axes[XPU_MAX_RANK];
    pw_op *op;
    if (x.rank == 4) {
        pw_make(w, &op, pw_result(w, 0), row->name, &y, pw_operand(w, 0), NULL);
        pw_ints(w, op, "ksize", ones, 2);
        pw_ints(w, op, "strides", ones, 2);
        paddings(w, op, none, none, 2);
        pool_flags(w, op, "avg", 1, 1, 0);
        return;
    }
    for (int i = 2; i < x.rank; i++) axes[i - 2] = i;
    pw_make(w, &op, pw_result(w, 0), "reduce_mean", &y, pw_operand(w, 0), NULL);
    pw_ints(w, op, "dim", axes, (uint32_t)x.rank - 2);
    pw_bool(w, op, "keep_dim", 1);
    pw_bool(w, op, "reduce_all", 0);
}

/* ---- products and norms ---- */

void pw_write_matmul(pw *w, const pw_row *row) {
    const pw_type y = pw_result_type(w, 0);
    const char *bias = pw_operand(w, 2);
    pw_op *op;
    const char *product =
        pw_make(w, &op, bias ? NULL : pw_result(w, 0), row->name, &y, pw_operand(w, 0), pw_operand(w, 1));
    pw_bool(w, op, "trans_x", 0);
    pw_bool(w, op, "trans_y", 0);
    if (bias) pw_binary(w, pw_result(w, 0), "elementwise_add", &y, product, bias);
}

void pw_write_batch_norm(pw *w, const pw_row *row) {
    static const char *const slots[] = {"X", "Scale", "Bias", "Mean", "Variance"};
    const pw_type vector = pw_operand_type(w, 3);
    pw_op *op = pw_add(w, row->name);
    for (uint32_t i = 0; i < 5; i++) pw_in(w, op, slots[i], pw_operand(w, i));
    pw_out(w, op, "Y", pw_result(w, 0));
    pw_out(w, op, "MeanOut", pw_operand(w, 3));
    pw_out(w, op, "VarianceOut", pw_operand(w, 4));
    pw_out(w, op, "SavedMean", pw_new(w, "saved_mean", &vector));
    pw_out(w, op, "SavedVariance", pw_new(w, "saved_variance", &vector));
    pw_float(w, op, "epsilon", xpu_node_float(w->graph, w->node, XPU_ATTR_EPSILON));
    pw_float(w, op, "momentum", 0.9f);
    pw_string(w, op, "data_layout", "NCHW");
    pw_bool(w, op, "is_test", 1);
    pw_bool(w, op, "use_global_stats", 1);
    pw_bool(w, op, "trainable_statistics", 0);
}

static const char *reduced(pw *w, const char *result, const char *type, const char *x, const pw_type *gives,
                           int64_t axis) {
    pw_op *op;
    result = pw_make(w, &op, result, type, gives, x, NULL);
    pw_reduction(w, op, gives, axis, 1);
    return result;
}

void pw_write_norm(pw *w, const pw_row *row) {
    const pw_type type = pw_result_type(w, 0);
    const char *x = pw_operand(w, 0), *scale = pw_operand(w, 1), *bias = pw_operand(w, 2);
    const float epsilon = xpu_node_float(w->graph, w->node, XPU_ATTR_EPSILON);
    const float most_epsilon = 1e-3f; /* that PaddlePaddle's layer_norm takes */
    const int centred = xpu_node_int(w->graph, w->node, XPU_ATTR_CENTRED) != 0;
    pw_type mean = type;
    if (!centred || epsilon > most_epsilon || type.rank == 1) {
        mean.dims[type.rank - 1] = xpu_dim_const(&w->graph->dims, 1);
        if (centred)
            x = pw_binary(w, NULL, "elementwise_sub", &type, x,
                          reduced(w, NULL, "reduce_mean", x, &mean, type.rank - 1));
        const char *squares = pw_binary(w, NULL, "elementwise_mul", &type, x, x);
        const char *root = reduced(w, NULL, "reduce_mean", squares, &mean, type.rank - 1);
        root = pw_make(w, NULL, NULL, "sqrt", &mean, pw_scale(w, NULL, root, &mean, 1, epsilon), NULL);
        root = pw_make(w, NULL, NULL, "reciprocal", &mean, root, NULL);
        const char *y = pw_binary(w, scale || bias ? NULL : pw_result(w, 0), "elementwise_mul", &type, x, root);
        if (scale) y = pw_binary(w, bias ? NULL : pw_result(w, 0), "elementwise_mul", &type, y, scale);
        if (bias) pw_binary(w, pw_result(w, 0), "elementwise_add", &type, y, bias);
        return;
    }
    mean.rank--;
    pw_op *op = pw_add(w, row->name);
    pw_in(w, op, "X", x);
    if (scale) pw_in(w, op, "Scale", scale);
    if (bias) pw_in(w, op, "Bias", bias);
    pw_out(w, op, "Y", pw_result(w, 0));
    pw_out(w, op, "Mean", pw_new(w, "mean", &mean));
    pw_out(w, op, "Variance", pw_new(w, "variance", &mean));
    pw_int(w, op, "begin_norm_axis", type.rank - 1);
    pw_float(w, op, "epsilon", epsilon);
}

void pw_write_softmax(pw *w, const pw_row *row) {
    pw_op *op = pw_unary(w, row->name);
    pw_int(w, op, "axis", xpu_node_int(w->graph, w->node, XPU_ATTR_AXIS));
}

/* Types that the operator does not have go through int32; a mean of integers is a sum and a division. */
void pw_write_reduce(pw *w, const pw_row *row) {
    pw_type x = pw_operand_type(w, 0), y = pw_result_type(w, 0);
    const int64_t axis = xpu_node_int(w->graph, w->node, XPU_ATTR_AXIS);
    const int direct =
        x.dtype == XPU_F32 || x.dtype == XPU_F16 || x.dtype == XPU_BF16 || x.dtype == XPU_I32 || x.dtype == XPU_I64;
    const int divides = strcmp(row->name, "reduce_mean") == 0 && (x.dtype == XPU_I32 || x.dtype == XPU_I64);
    const char *operand = direct ? pw_operand(w, 0) : pw_cast(w, NULL, pw_operand(w, 0), &x, XPU_I32);
    const pw_type type = pw_as(y, direct ? x.dtype : XPU_I32);
    int64_t count = 1;
    pw_type held = pw_as(x, type.dtype);
    if (xpu_node_is(w->graph, w->node, XPU_OP_REDUCE_SUM) && pw_may_be_empty(w, &held, (int)axis))
        operand = pw_with_zeros(w, operand, &held, (int)axis);
    if (divides && !xpu_dim_is_const(&w->graph->dims, x.dims[axis], &count)) {
        pw_refuse(w, XPU_REFUSED_INTEGER_MEAN);
        return;
    }
    const char *made = reduced(w, direct && !divides ? pw_result(w, 0) : NULL, divides ? "reduce_sum" : row->name,
                               operand, &type, axis);
    if (divides) pw_binary(w, pw_result(w, 0), "elementwise_div", &type, made, pw_scalar(w, type.dtype, (double)count));
    if (!direct) pw_cast(w, pw_result(w, 0), made, &type, y.dtype);
}

/* ---- quantised operators, as arithmetic ---- */

/* A scale or zero point along the axis, as float32 that broadcasts to x. */
static const char *parameter(pw *w, uint32_t operand, int rank) {
    const pw_type type = pw_operand_type(w, operand);
    const char *name = pw_operand(w, operand);
    pw_type to = {.dtype = type.dtype, .rank = rank};
    int64_t count;
    if (type.dtype != XPU_F32) name = pw_cast(w, NULL, name, &type, XPU_F32);
    if (type.rank != 1 || rank <= 1 || (xpu_dim_is_const(&w->graph->dims, type.dims[0], &count) && count == 1))
        return name;
    const int axis = (int)xpu_node_int(w->graph, w->node, XPU_ATTR_AXIS);
    for (int i = 0; i < rank; i++) to.dims[i] = i == axis ? type.dims[0] : xpu_dim_const(&w->graph->dims, 1);
    const pw_type from = pw_as(type, XPU_F32);
    return pw_reshape(w, NULL, name, &from, &to);
}

/* A zero point that is not 0 everywhere. */
static int has_zero_point(pw *w) {
    const xpu_value value = xpu_node_input(w->graph, w->node, 2);
    xpu_tensor tensor;
    if (!value.id || !xpu_value_at(w->graph, value)->constant) return value.id != 0;
    if (xpu_const_tensor(w->graph, value, w->arena, &tensor, w->diags) != XPU_OK) return 1;
    for (int64_t i = 0; i < xpu_tensor_count(&tensor); i++)
        if (xpu_element(&tensor, i) != 0) return 1;
    return 0;
}

void pw_write_quantize(pw *w, const pw_row *row) {
    const pw_type y = pw_result_type(w, 0), type = pw_as(y, XPU_F32);
    const xpu_dtype given = xpu_value_at(w->graph, xpu_node_output(w->graph, w->node, 0))->dtype;
    const int is_signed = y.dtype == XPU_I8 || y.dtype == XPU_I16, is_wide = xpu_dtype_bytes(given) == 2;
    const float low = is_signed ? is_wide ? -32768.0f : -128.0f : 0.0f, high = low + (is_wide ? 65535.0f : 255.0f);
    const int zero_first = xpu_node_int(w->graph, w->node, XPU_ATTR_ZERO_FIRST) != 0;
    (void)row;
    const char *made = pw_binary(w, NULL, "elementwise_div", &type, pw_operand(w, 0), parameter(w, 1, y.rank));
    const char *zero = has_zero_point(w) ? parameter(w, 2, y.rank) : NULL;
    if (zero && zero_first) made = pw_binary(w, NULL, "elementwise_add", &type, made, zero);
    made = pw_round(w, NULL, made, &type);
    if (zero && !zero_first) made = pw_binary(w, NULL, "elementwise_add", &type, made, zero);
    pw_op *op;
    made = pw_make(w, &op, NULL, "clip", &type, made, NULL);
    pw_float(w, op, "min", low);
    pw_float(w, op, "max", high);
    pw_cast(w, pw_result(w, 0), made, &type, y.dtype);
}

void pw_write_dequantize(pw *w, const pw_row *row) {
    const pw_type x = pw_operand_type(w, 0), type = pw_as(x, XPU_F32);
    const int is_exact = x.dtype != XPU_I32, has_zero = has_zero_point(w);
    (void)row;
    if (!is_exact && has_zero) {
        pw_refuse(w, XPU_REFUSED_INTEGER_ZERO);
        return;
    }
    const char *made = pw_cast(w, NULL, pw_operand(w, 0), &x, XPU_F32);
    if (has_zero) made = pw_binary(w, NULL, "elementwise_sub", &type, made, parameter(w, 2, x.rank));
    pw_binary(w, pw_result(w, 0), "elementwise_mul", &type, made, parameter(w, 1, x.rank));
}

/* ---- resampled axes ---- */

/* Sizes of height and width, and whether they are known. */
static int sizes_of(pw *w, const pw_type *y, int64_t *sizes) {
    int known = 1;
    for (int i = 2; i < y->rank; i++) known &= xpu_dim_is_const(&w->graph->dims, y->dims[i], &sizes[i - 2]);
    return known;
}

static void interpolate(pw *w, const char *result, const char *x, const pw_type *y, const char *method, int corners,
                        int mode, const float *factors) {
    static const char *const names[] = {"out_h", "out_w"};
    int64_t sizes[2] = {0};
    const int known = sizes_of(w, y, sizes);
    const char *parts[2] = {NULL, NULL};
    for (int i = 0; i < 2 && !factors && !known; i++) parts[i] = pw_size_of(w, y->dims[2 + i]);
    pw_op *op;
    pw_make(w, &op, result, xpu_printf(w->arena, "%s_interp_v2", method), y, x, NULL);
    for (int i = 0; i < 2 && parts[i]; i++) pw_in(w, op, "SizeTensor", parts[i]);
    for (int i = 0; i < 2; i++) pw_int(w, op, names[i], factors ? -1 : known ? sizes[i] : -1);
    pw_int(w, op, "out_d", -1);
    pw_floats(w, op, "scale", factors, factors ? 2 : 0);
    pw_string(w, op, "interp_method", method);
    pw_bool(w, op, "align_corners", corners);
    pw_int(w, op, "align_mode", mode);
    pw_string(w, op, "data_layout", "NCHW");
}

void pw_write_resample(pw *w, const pw_row *row) {
    pw_type x = pw_operand_type(w, 0), y = pw_result_type(w, 0);
    const int64_t kind = xpu_node_int(w->graph, w->node, XPU_ATTR_KIND),
                  axis = xpu_node_int(w->graph, w->node, XPU_ATTR_AXIS);
    const int64_t where = xpu_node_int(w->graph, w->node, XPU_ATTR_COORDINATES);
    const int64_t rounding = xpu_node_int(w->graph, w->node, XPU_ATTR_ROUNDING);
    const int plain = !xpu_node_int(w->graph, w->node, XPU_ATTR_ANTIALIAS) &&
                      !xpu_node_int(w->graph, w->node, XPU_ATTR_EXCLUDE_OUTSIDE);
    const int nearest = kind == XA_NEAREST && ((where == XA_ASYMMETRIC && rounding == XA_ROUND_FLOOR) ||
                                               (where == XA_ALIGN_CORNERS && rounding == XA_ROUND_PREFER_CEIL));
    int64_t in, out;
    /* One element is the first one to PaddlePaddle, as in pytorch_half_pixel. */
    const int is_one = xpu_dim_is_const(&w->graph->dims, y.dims[axis], &out) && out == 1,
              is_half = where == XA_HALF_PIXEL && !is_one;
    const int linear = kind == XA_LINEAR && (is_half || where == XA_PYTORCH_HALF_PIXEL || where == XA_ASYMMETRIC ||
                                             where == XA_ALIGN_CORNERS);
    const int cubic = kind == XA_CUBIC && (is_half || where == XA_ALIGN_CORNERS) &&
                      xpu_node_float(w->graph, w->node, XPU_ATTR_ALPHA) == -0.75f;
    const float factor = xpu_node_float(w->graph, w->node, XPU_ATTR_SCALE);
    const int unlike = factor != 0 && xpu_dim_is_const(&w->graph->dims, x.dims[axis], &in) &&
                       xpu_dim_is_const(&w->graph->dims, y.dims[axis], &out) && (int64_t)((float)in * factor) != out;
    (void)row;
    if (!plain || unlike || x.dtype != XPU_F32 || axis < 2 || x.rank < 3 || x.rank > 4 ||
        !(nearest || linear || cubic)) {
        if (pw_resample_axis(w, (int)axis)) return;
        pw_refuse(w, XPU_REFUSED_INTERPOLATION);
        return;
    }
    const char *input = as_image(w, pw_operand(w, 0), &x);
    const pw_type image = y.rank == 3 ? wide(w, &y) : y;
    float factors[2] = {1, 1};
    factors[y.rank == 3 ? 1 : axis - 2] = factor;
    const char *result = image_result(w, y.rank == 4, &image);
    interpolate(w, result, input, &image,
                kind == XA_NEAREST  ? "nearest"
                : kind == XA_LINEAR ? "bilinear"
                                    : "bicubic",
                where == XA_ALIGN_CORNERS, where == XA_ASYMMETRIC, factor != 0 ? factors : NULL);
    if (y.rank == 3) finish(w, result, &image, NULL);
}

/* Axes 2 and 3 of pictures, else a new dim that is expanded behind each axis. */
void pw_write_repeat(pw *w, const pw_row *row) {
    const pw_type x = pw_operand_type(w, 0), y = pw_result_type(w, 0);
    uint32_t count;
    const int64_t *by = ints(w, XPU_ATTR_REPEATS, &count);
    (void)row;
    if (x.rank == 4 && x.dtype == XPU_F32 && by[0] == 1 && by[1] == 1) {
        const float factors[] = {(float)by[2], (float)by[3]};
        interpolate(w, pw_result(w, 0), pw_operand(w, 0), &y, "nearest", 0, 1, factors);
        return;
    }
    const char *name = pw_operand(w, 0);
    pw_type now = x;
    int axes = 0, done = 0;
    for (int i = 0; i < x.rank; i++) axes += by[i] > 1;
    if (!axes) pw_make(w, NULL, pw_result(w, 0), "assign", &y, name, NULL);
    for (int i = 0; i < x.rank; i++) {
        pw_type apart = {.dtype = x.dtype, .rank = 3}, expanded, next = now;
        if (by[i] == 1) continue;
        xpu_dim before = xpu_dim_const(&w->graph->dims, 1), behind = before;
        for (int k = 0; k <= i; k++) before = xpu_dim_mul(&w->graph->dims, before, now.dims[k]);
        for (int k = i + 1; k < x.rank; k++) behind = xpu_dim_mul(&w->graph->dims, behind, now.dims[k]);
        apart.dims[0] = before;
        apart.dims[1] = xpu_dim_const(&w->graph->dims, 1);
        apart.dims[2] = behind;
        expanded = apart;
        expanded.dims[1] = xpu_dim_const(&w->graph->dims, by[i]);
        next.dims[i] = xpu_dim_mul_const(&w->graph->dims, now.dims[i], by[i]);
        name = pw_reshape(w, NULL, name, &now, &apart);
        name = pw_expand(w, NULL, name, &apart, &expanded);
        name = pw_reshape(w, ++done == axes ? pw_result(w, 0) : NULL, name, &expanded, &next);
        now = next;
    }
}
