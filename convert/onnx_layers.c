/* Products, windows, norms, reductions and quantised operators in ONNX. */
#include <string.h>

#include "convert/onnx_writer.h"
#include "core/ops/window.h"

/* ---- windows ---- */

static const int64_t *ints(ow *w, xpu_attr_id id, uint32_t *count) {
    return xpu_node_ints(w->graph, w->node, id, count);
}

static void copy_ints(ow *w, ow_node *node, xpu_attr_id id, const char *name) {
    uint32_t count = 0;
    const int64_t *values = ints(w, id, &count);
    if (values && count) ow_ints(w, node, name, values, count);
}

static void kernel_shape(ow *w, ow_node *node, uint32_t operand) {
    const xpu_value_info *info = ow_info_in(w, operand);
    int64_t sizes[XPU_MAX_RANK];
    for (int i = 2; i < info->rank; i++) {
        if (!xpu_dim_is_const(&w->graph->dims, info->dims[i], &sizes[i - 2])) return;
    }
    if (info->rank > 2) ow_ints(w, node, "kernel_shape", sizes, (size_t)info->rank - 2);
}

static void no_more_operands(ow *w, uint32_t first) {
    const xpu_node_info *info = xpu_node_at(w->graph, w->node);
    for (uint32_t i = first; i < info->input_count; i++) {
        if (info->inputs[i].id) ow_refuse(w, XPU_REFUSED_PASSES);
    }
}

void ow_write_conv(ow *w, const ow_row *row) {
    ow_node *node;
    no_more_operands(w, XPU_IN_BRANCH);
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, XPU_IN_X), ow_in(w, XPU_IN_W), NULL);
    if (xpu_node_input(w->graph, w->node, XPU_IN_BIAS).id) ow_input(w, node, ow_in(w, XPU_IN_BIAS));
    kernel_shape(w, node, XPU_IN_W);
    copy_ints(w, node, XPU_ATTR_STRIDES, "strides");
    copy_ints(w, node, XPU_ATTR_DILATIONS, "dilations");
    copy_ints(w, node, XPU_ATTR_PADS, "pads");
    ow_int(w, node, "group", xpu_node_int(w->graph, w->node, XPU_ATTR_GROUP));
}

/* What the result lacks of the full one at its end is a pad, what it has more is output_padding. */
void ow_write_conv_transpose(ow *w, const ow_row *row) {
    xpu_dims *dims = &w->graph->dims;
    const xpu_value_info *x = ow_info_in(w, 0), *weights = ow_info_in(w, 1);
    uint32_t spatial = 0, unused;
    const int64_t *crop = ints(w, XPU_ATTR_CROP, &spatial), *strides = ints(w, XPU_ATTR_STRIDES, &unused);
    const int64_t *dilations = ints(w, XPU_ATTR_DILATIONS, &unused);
    const xpu_attr *shape = xpu_node_attr(w->graph, w->node, XPU_ATTR_SHAPE);
    int64_t pads[2 * XPU_MAX_RANK] = {0}, more[XPU_MAX_RANK] = {0}, has_more = 0;
    for (uint32_t i = 0; i < spatial; i++) {
        int64_t kernel, rest;
        if (!xpu_dim_is_const(dims, weights->dims[i + 2], &kernel)) {
            ow_refuse(w, XPU_REFUSED_WEIGHTS);
            return;
        }
        const int64_t stride = strides ? strides[i] : 1, dilation = dilations ? dilations[i] : 1;
        xpu_dim full = xpu_dim_add_const(dims, x->dims[i + 2], -1);
        full = xpu_dim_add_const(dims, xpu_dim_mul_const(dims, full, stride), dilation * (kernel - 1) + 1 - crop[i]);
        const xpu_dim left = xpu_dim_add(dims, full, xpu_dim_mul_const(dims, shape->dims[i], -1));
        if (!xpu_dim_is_const(dims, left, &rest)) {
            ow_refuse(w, XPU_REFUSED_CROPPED);
            return;
        }
        pads[i] = crop[i];
        pads[spatial + i] = rest > 0 ? rest : 0;
        more[i] = rest < 0 ? -rest : 0;
        has_more |= rest < 0;
    }
    ow_node *node;
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), ow_in(w, 1), NULL);
    if (xpu_node_input(w->graph, w->node, 2).id) ow_input(w, node, ow_in(w, 2));
    kernel_shape(w, node, 1);
    copy_ints(w, node, XPU_ATTR_STRIDES, "strides");
    copy_ints(w, node, XPU_ATTR_DILATIONS, "dilations");
    ow_ints(w, node, "pads", pads, (size_t)2 * spatial);
    if (has_more) ow_ints(w, node, "output_padding", more, spatial);
    ow_int(w, node, "group", xpu_node_int(w->graph, w->node, XPU_ATTR_GROUP));
}

static ow_node *pool(ow *w, const ow_row *row) {
    ow_node *node;
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), NULL, NULL);
    copy_ints(w, node, XPU_ATTR_KERNEL, "kernel_shape");
    copy_ints(w, node, XPU_ATTR_STRIDES, "strides");
    copy_ints(w, node, XPU_ATTR_PADS, "pads");
    ow_int(w, node, "ceil_mode", xpu_node_int(w->graph, w->node, XPU_ATTR_CEIL_MODE));
    return node;
}

static int is_dilated(ow *w) {
    uint32_t count = 0;
    const int64_t *dilations = ints(w, XPU_ATTR_DILATIONS, &count);
    for (uint32_t i = 0; dilations && i < count; i++) {
        if (dilations[i] != 1) return 1;
    }
    return 0;
}

void ow_write_max_pool(ow *w, const ow_row *row) {
    ow_node *node = pool(w, row);
    if (is_dilated(w)) copy_ints(w, node, XPU_ATTR_DILATIONS, "dilations");
}

void ow_write_average_pool(ow *w, const ow_row *row) {
    if (is_dilated(w) && !ow_requires(w, XPU_SINCE_POOL_DILATED, NULL)) return;
    ow_node *node = pool(w, row);
    if (is_dilated(w)) copy_ints(w, node, XPU_ATTR_DILATIONS, "dilations");
    ow_int(w, node, "count_include_pad", xpu_node_int(w->graph, w->node, XPU_ATTR_COUNT_INCLUDE_PAD));
}

/* ---- products ---- */

void ow_write_matmul(ow *w, const ow_row *row) {
    const int has_bias = xpu_node_input(w->graph, w->node, XPU_IN_BIAS).id != 0;
    no_more_operands(w, XPU_IN_BRANCH);
    const char *y = ow_binary(w, has_bias ? NULL : ow_out(w, 0), row->name, ow_in(w, XPU_IN_X), ow_in(w, XPU_IN_W));
    if (has_bias) ow_binary(w, ow_out(w, 0), "Add", y, ow_in(w, XPU_IN_BIAS));
}

static const char *zero_point(ow *w, const char *word, uint32_t operand, int64_t zero) {
    return zero ? ow_number(w, word, ow_info_in(w, operand)->dtype, (double)zero) : "";
}

void ow_write_integer_product(ow *w, const ow_row *row) {
    const xpu_node_info *info = xpu_node_at(w->graph, w->node);
    const int has_bias = xpu_node_input(w->graph, w->node, XPU_IN_BIAS).id != 0;
    ow_node *node;
    if (xpu_node_int(w->graph, w->node, XPU_ATTR_DTYPE) != XPU_I32 ||
        xpu_node_input(w->graph, w->node, XPU_IN_BRANCH).id || xpu_node_input(w->graph, w->node, XPU_IN_WSCALE).id) {
        ow_refuse(w, XPU_REFUSED_PASSES);
        return;
    }
    const char *x_zero = info->input_count > XPU_IN_XZERO && info->inputs[XPU_IN_XZERO].id
                             ? ow_in(w, XPU_IN_XZERO)
                             : zero_point(w, "x_zero", XPU_IN_X, xpu_node_int(w->graph, w->node, XPU_ATTR_X_ZERO));
    const char *w_zero = zero_point(w, "w_zero", XPU_IN_W, xpu_node_int(w->graph, w->node, XPU_ATTR_W_ZERO));
    const char *y =
        ow_make(w, &node, has_bias ? NULL : ow_out(w, 0), row->name, ow_in(w, XPU_IN_X), ow_in(w, XPU_IN_W), NULL);
    if (x_zero[0] || w_zero[0]) ow_input(w, node, x_zero);
    if (w_zero[0]) ow_input(w, node, w_zero);
    if (xpu_node_is(w->graph, w->node, XPU_OP_QCONV)) {
        kernel_shape(w, node, XPU_IN_W);
        copy_ints(w, node, XPU_ATTR_STRIDES, "strides");
        copy_ints(w, node, XPU_ATTR_DILATIONS, "dilations");
        copy_ints(w, node, XPU_ATTR_PADS, "pads");
        ow_int(w, node, "group", xpu_node_int(w->graph, w->node, XPU_ATTR_GROUP));
    }
    if (!has_bias) return;
    const char *bias = ow_in(w, XPU_IN_BIAS);
    const int spatial = ow_info_out(w, 0)->rank - 2;
    if (xpu_node_is(w->graph, w->node, XPU_OP_QCONV)) {
        int64_t dims[XPU_MAX_RANK] = {-1};
        for (int i = 0; i < spatial; i++) dims[i + 1] = 1;
        bias = ow_binary(w, NULL, "Reshape", bias, ow_list(w, "bias", dims, spatial + 1));
    }
    ow_binary(w, ow_out(w, 0), "Add", y, bias);
}

/* ---- norms, softmax, reductions ---- */

void ow_write_batch_norm(ow *w, const ow_row *row) {
    ow_write_same(w, row);
}

static const char *mean_of_rows(ow *w, const char *x) {
    const int64_t last = -1;
    ow_node *node;
    const char *mean = ow_make(w, &node, NULL, "ReduceMean", x, NULL, NULL);
    if (ow_has(w, 18))
        ow_input(w, node, ow_list(w, "axes", &last, 1));
    else
        ow_ints(w, node, "axes", &last, 1);
    return mean;
}

/* x * 1 / sqrt(mean(x * x) + epsilon), for opsets that have no such operator. */
static const char *root_mean_square(ow *w, const char *x, const char *result) {
    const float epsilon = xpu_node_float(w->graph, w->node, XPU_ATTR_EPSILON);
    const char *mean = mean_of_rows(w, ow_binary(w, NULL, "Mul", x, x));
    mean = ow_binary(w, NULL, "Add", mean, ow_number(w, "epsilon", XPU_F32, (double)epsilon));
    return ow_binary(w, result, "Mul", x, ow_unary(w, NULL, "Reciprocal", ow_unary(w, NULL, "Sqrt", mean)));
}

/* Scale is an operand that must be there. */
static const char *ones_like_row(ow *w) {
    const xpu_value_info *x = ow_info_in(w, 0);
    const xpu_dim row = x->dims[x->rank - 1];
    const float one = 1.0f;
    xpu_tensor scalar = {.dtype = XPU_F32, .rank = 1, .dims = {1}, .data = (void *)&one};
    int64_t count;
    if (!xpu_dim_is_const(&w->graph->dims, row, &count) || count > 1 << 20)
        return ow_binary(w, NULL, "Expand", ow_tensor(w, "one", &scalar), ow_dim(w, row));
    float *ones = XPU_NEW_ARRAY(w->arena, float, count + 1);
    for (int64_t i = 0; i < count; i++) ones[i] = 1.0f;
    return ow_tensor(w, "scale", &(xpu_tensor){.dtype = XPU_F32, .rank = 1, .dims = {count}, .data = ones});
}

void ow_write_norm(ow *w, const ow_row *row) {
    const char *x = ow_in(w, 0), *scale = ow_in(w, 1), *bias = ow_in(w, 2);
    const int centred = xpu_node_int(w->graph, w->node, XPU_ATTR_CENTRED) != 0;
    ow_node *node;
    if (!ow_has(w, centred ? 17 : 23)) {
        if (centred) x = ow_binary(w, NULL, "Sub", x, mean_of_rows(w, x));
        const char *y = root_mean_square(w, x, scale[0] || bias[0] ? NULL : ow_out(w, 0));
        if (scale[0]) y = ow_binary(w, bias[0] ? NULL : ow_out(w, 0), "Mul", y, scale);
        if (bias[0]) ow_binary(w, ow_out(w, 0), "Add", y, bias);
        return;
    }
    if (!scale[0]) scale = ones_like_row(w);
    const int adds = !centred && bias[0];
    const char *y = ow_make(w, &node, adds ? NULL : ow_out(w, 0), centred ? row->name : "RMSNormalization", x, scale,
                            centred && bias[0] ? bias : NULL);
    ow_int(w, node, "axis", -1);
    ow_float(w, node, "epsilon", xpu_node_float(w->graph, w->node, XPU_ATTR_EPSILON));
    if (adds) ow_binary(w, ow_out(w, 0), "Add", y, bias);
}

void ow_write_softmax(ow *w, const ow_row *row) {
    ow_node *node;
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), NULL, NULL);
    ow_int(w, node, "axis", xpu_node_int(w->graph, w->node, XPU_ATTR_AXIS));
}

/* Types that the operator does not have go through int32. */
static int reduces(ow *w, const ow_row *row) {
    const xpu_dtype dtype = ow_info_in(w, 0)->dtype;
    const int picks = strcmp(row->name, "ReduceMax") == 0 || strcmp(row->name, "ReduceMin") == 0;
    return dtype != XPU_BOOL && dtype != XPU_I16 && dtype != XPU_U16 && (picks || (dtype != XPU_I8 && dtype != XPU_U8));
}

void ow_write_reduce(ow *w, const ow_row *row) {
    const int64_t axis = xpu_node_int(w->graph, w->node, XPU_ATTR_AXIS);
    const int direct = reduces(w, row), by_operand = ow_has(w, strcmp(row->name, "ReduceSum") == 0 ? 13 : 18);
    const char *x = direct ? ow_in(w, 0) : ow_cast(w, NULL, ow_in(w, 0), XPU_I32);
    ow_node *node;
    const char *y = ow_make(w, &node, direct ? ow_out(w, 0) : NULL, row->name, x,
                            by_operand ? ow_list(w, "axes", &axis, 1) : NULL, NULL);
    if (!by_operand) ow_ints(w, node, "axes", &axis, 1);
    ow_int(w, node, "keepdims", 1);
    if (!direct) ow_cast(w, ow_out(w, 0), y, ow_info_out(w, 0)->dtype);
}

/* ---- quantised operators ---- */

static int is_per_axis(ow *w) {
    const xpu_value_info *scale = ow_info_in(w, 1);
    int64_t count;
    return scale->rank == 1 && !(xpu_dim_is_const(&w->graph->dims, scale->dims[0], &count) && count == 1);
}

/* round(x / scale + zero), clamped: QuantizeLinear rounds before it adds. */
static void quantize_zero_first(ow *w) {
    const xpu_dtype dtype = ow_info_out(w, 0)->dtype;
    const int is_signed = dtype == XPU_I8 || dtype == XPU_I16, wide = xpu_dtype_bytes(dtype) == 2;
    const double low = is_signed ? wide ? -32768.0 : -128.0 : 0.0, high = low + (wide ? 65535.0 : 255.0);
    if (is_per_axis(w)) {
        ow_refuse(w, XPU_REFUSED_ZEROS_FIRST);
        return;
    }
    const char *y = ow_binary(w, NULL, "Div", ow_in(w, 0), ow_in(w, 1));
    if (ow_in(w, 2)[0]) y = ow_binary(w, NULL, "Add", y, ow_cast(w, NULL, ow_in(w, 2), XPU_F32));
    y = ow_unary(w, NULL, "Round", y);
    y = ow_make(w, NULL, NULL, "Clip", y, ow_number(w, "low", XPU_F32, low), ow_number(w, "high", XPU_F32, high));
    ow_cast(w, ow_out(w, 0), y, dtype);
}

/* A zero point says the type of the result. */
static const char *no_zero_point(ow *w, xpu_dtype dtype) {
    if (!is_per_axis(w)) return ow_number(w, "zero_point", dtype, 0);
    const xpu_dim count = ow_info_in(w, 1)->dims[0];
    int64_t size;
    const char *zero = ow_number(w, "zero", dtype, 0);
    if (!xpu_dim_is_const(&w->graph->dims, count, &size) || size > 1 << 20)
        return ow_binary(w, NULL, "Expand", zero, ow_dim(w, count));
    xpu_tensor tensor = {.dtype = dtype, .rank = 1, .dims = {size}};
    tensor.data = xpu_alloc(w->arena, (size_t)size * xpu_dtype_bytes(dtype) + 1);
    return ow_tensor(w, "zero_point", &tensor);
}

void ow_write_quantize(ow *w, const ow_row *row) {
    const xpu_dtype dtype = ow_info_out(w, 0)->dtype;
    ow_node *node;
    if (xpu_node_int(w->graph, w->node, XPU_ATTR_ZERO_FIRST)) {
        quantize_zero_first(w);
        return;
    }
    if (xpu_dtype_bytes(dtype) != 1 && !ow_requires(w, XPU_SINCE_QUANTISE_16, NULL)) return;
    const int has_zero = xpu_node_input(w->graph, w->node, 2).id != 0;
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), ow_in(w, 1), has_zero ? ow_in(w, 2) : NULL);
    if (!has_zero && dtype != XPU_U8) ow_input(w, node, no_zero_point(w, dtype));
    if (is_per_axis(w)) ow_int(w, node, "axis", xpu_node_int(w->graph, w->node, XPU_ATTR_AXIS));
}

void ow_write_dequantize(ow *w, const ow_row *row) {
    const xpu_dtype dtype = ow_info_in(w, 0)->dtype;
    ow_node *node;
    if (xpu_dtype_bytes(dtype) == 2 && !ow_requires(w, XPU_SINCE_DEQUANTISE_16, NULL)) return;
    const int has_zero = xpu_node_input(w->graph, w->node, 2).id != 0;
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), ow_in(w, 1), has_zero ? ow_in(w, 2) : NULL);
    if (is_per_axis(w)) ow_int(w, node, "axis", xpu_node_int(w->graph, w->node, XPU_ATTR_AXIS));
}

void ow_write_dynamic_quantize(ow *w, const ow_row *row) {
    ow_node *node;
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), NULL, NULL);
    ow_result(w, node, ow_out(w, 1));
    ow_result(w, node, ow_out(w, 2));
}
