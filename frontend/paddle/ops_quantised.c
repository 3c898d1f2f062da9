/*
 * Quantised programs. A scale is the largest magnitude, which the level 2^(bits - 1) - 1 stands for: with 8 bits the
 * step is scale / 127. With a constant scale they become QUANTIZE and DEQUANTIZE, whose groups core/passes/quantised.c
 * turns into operators on integers; everything else is written out in float32.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "frontend/paddle/converters.h"
#include "frontend/paddle/quantised.h"

static const xpu_value failed = {0};

typedef struct {
    int bits, away;         /* away: halves are rounded away from 0, and the least level is -bound */
    float bound;            /* the largest level */
    xpu_value scale;        /* largest magnitudes: one, or one for each channel */
    xpu_paddle_steps known; /* the same of a constant; items NULL: it is computed */
    int axis;               /* of the channels; -1: one scale */
} quantiser;

enum { MAX_BITS = 16, BYTE_BITS = 8 };

/* ---- reading ---- */

static float bound_of(int64_t bits) {
    return (float)((1 << (bits - 1)) - 1);
}

static int read_bits(const xpu_paddle_node *node, quantiser *q) {
    int64_t bits = xpu_paddle_int(node, "bit_length", BYTE_BITS);
    if (bits < 2 || bits > MAX_BITS)
        return fe_bad_attr(&node->build, "bit_length", xpu_paddle_format(node, "it is %" PRId64 ", not 2 to 16", bits));
    q->bits = (int)bits;
    q->bound = bound_of(bits);
    return 1;
}

static int read_known(const xpu_paddle_node *node, quantiser *q) {
    const xpu_value_info *info = xpu_paddle_info(node, q->scale);
    xpu_tensor tensor;
    if (info->kind != XPU_VALUE_CONST || info->dtype != XPU_F32) return 1;
    if (xpu_const_tensor(node->importer->graph, q->scale, node->importer->scratch, &tensor, node->importer->diags))
        return 0;
    q->known = (xpu_paddle_steps){tensor.data, xpu_tensor_count(&tensor), q->axis < 0 ? 0 : q->axis};
    return 1;
}

/* The scales fit the tensor: one, or as many as the axis is long. */
static int check_scales(const xpu_paddle_node *node, const quantiser *q, xpu_value x) {
    const xpu_value_info *info = xpu_paddle_info(node, x), *scale = xpu_paddle_info(node, q->scale);
    int64_t length = 1, dim = 1, count = 1;
    int known = 1;
    for (int i = 0; i < scale->rank; i++) {
        known &= xpu_dim_is_const(&node->build.graph->dims, scale->dims[i], &dim);
        count = known && dim < INT32_MAX && count < INT32_MAX ? count * dim : -1;
    }
    if (q->axis >= 0 && q->axis < info->rank)
        known &= xpu_dim_is_const(&node->build.graph->dims, info->dims[q->axis], &length);
    if (known && q->axis < info->rank && count == length && scale->dtype == XPU_F32) return 1;
    xpu_paddle_refuse(node, "the scales do not fit",
                      xpu_paddle_format(node, "they are %s%s, the tensor is %s, its channels are dim %d",
                                        xpu_dtype_name(scale->dtype), fe_shape_text(&node->build, q->scale),
                                        fe_shape_text(&node->build, x), q->axis));
    return 0;
}

static int read_axis(const xpu_paddle_node *node, xpu_value x, int64_t fallback, quantiser *q) {
    int64_t axis = xpu_paddle_int(node, "quant_axis", fallback);
    q->axis = axis < 0 ? -1 : fe_axis(&node->build, axis, xpu_paddle_rank(node, x));
    return axis < 0 || q->axis >= 0;
}

/* Of an operand with the scales; `round` where the attribute is missing. */
static int read_quantiser(const xpu_paddle_node *node, xpu_value x, const char *scale, int64_t axis, int64_t round,
                          quantiser *q) {
    *q = (quantiser){.away = xpu_paddle_int(node, "round_type", round) != 0};
    q->scale = xpu_paddle_operand(node, scale);
    if (!x.id || !q->scale.id || !read_bits(node, q) || !read_axis(node, x, axis, q)) return 0;
    return check_scales(node, q, x) && read_known(node, q);
}

static int refuse_training(const xpu_paddle_node *node) {
    xpu_paddle_refuse(node, "the training form is not supported", "is_test is false");
    return 0;
}

/* ---- written out ---- */

/* The scales, in float32 and not 0, as what broadcasts to x. */
static xpu_value spread(xpu_paddle_node *node, fe_builder *b, const quantiser *q, xpu_value x) {
    const xpu_value_info info = *xpu_paddle_info(node, x);
    xpu_dim dims[XPU_MAX_RANK];
    int rank = q->axis < 0 ? 0 : info.rank;
    for (int i = 0; i < rank; i++) dims[i] = i == q->axis ? info.dims[i] : xpu_dim_const(&b->graph->dims, 1);
    return fe_reshape_to(b, q->scale, dims, rank, 0);
}

static xpu_value rounded(fe_builder *b, xpu_value x, int away) {
    if (!away) return fe_unary(b, XPU_OP_ROUND, x);
    xpu_value size = fe_binary(b, XPU_OP_ADD, fe_unary(b, XPU_OP_ABS, x), fe_number(b, 0.5f));
    return fe_binary(b, XPU_OP_MUL, fe_unary(b, XPU_OP_SIGN, x), fe_unary(b, XPU_OP_FLOOR, size));
}

static xpu_value written_levels(xpu_paddle_node *node, fe_builder *b, const quantiser *q, xpu_value x) {
    const float least = 1e-30f;
    xpu_value scale = fe_binary(b, XPU_OP_MAX, spread(node, b, q, x), fe_number(b, least));
    xpu_value factor = fe_binary(b, XPU_OP_DIV, fe_number(b, q->bound), scale);
    xpu_value y = rounded(b, fe_binary(b, XPU_OP_MUL, x, factor), q->away);
    return y.id ? fe_clip(b, y, -q->bound - (q->away ? 0.0f : 1.0f), q->bound) : failed;
}

static xpu_value times_steps(xpu_paddle_node *node, fe_builder *b, const quantiser *q, xpu_value x) {
    xpu_value step = fe_binary(b, XPU_OP_DIV, spread(node, b, q, x), fe_number(b, q->bound));
    return x.id && step.id ? fe_elementwise(b, XPU_OP_MUL, (xpu_value[]){x, step}, 2, NULL, 0) : failed;
}

/* ---- with known scales of 8 bits ---- */

static xpu_paddle_steps steps_of(const xpu_paddle_node *node, const quantiser *q) {
    float *steps = XPU_NEW_ARRAY(node->importer->scratch, float, q->known.count + 1);
    for (int64_t i = 0; i < q->known.count; i++) {
        float scale = q->known.items[i];
        steps[i] = (scale <= 1e-30f ? scale + 1e-6f : scale) / q->bound;
    }
    return (xpu_paddle_steps){steps, q->known.count, q->known.axis};
}

/* Levels of constant weights, as PaddlePaddle computes them. */
static xpu_value constant_integers(xpu_paddle_node *node, fe_builder *b, const quantiser *q, xpu_value x) {
    xpu_tensor tensor, bytes;
    if (xpu_const_tensor(b->graph, x, b->scratch, &tensor, b->diags) != XPU_OK) return failed;
    int64_t count = xpu_tensor_count(&tensor), inner = 1;
    for (int i = q->axis + 1; q->axis >= 0 && i < tensor.rank; i++) inner *= tensor.dims[i];
    const float *from = tensor.data;
    int8_t *to = XPU_NEW_ARRAY(b->scratch, int8_t, count + 1);
    for (int64_t i = 0; i < count; i++) {
        float scale = q->known.items[q->known.count == 1 ? 0 : i / inner % q->known.count];
        float level = q->bound * (1.0f / (scale <= 1e-30f ? scale + 1e-6f : scale)) * from[i];
        level = q->away ? roundf(level) : rintf(level);
        float low = -q->bound - (q->away ? 0.0f : 1.0f);
        to[i] = (int8_t)(level > q->bound ? q->bound : level > low ? level : low);
    }
    bytes = tensor;
    bytes.dtype = XPU_I8;
    bytes.data = to;
    return xpu_graph_const_bytes(b->graph, xpu_paddle_format(node, "%s/integers", xpu_paddle_info(node, x)->name),
                                 &bytes);
}

/* Whether nothing is below the level -127 anyway. */
static int is_never_negative(const fe_builder *b, xpu_value x) {
    if (fe_info(b, x)->kind != XPU_VALUE_NODE) return 0;
    xpu_node maker = fe_info(b, x)->node;
    const xpu_op *op = xpu_node_at(b->graph, maker)->op;
    if (op == xpu_op_of(XPU_OP_CLIP)) return xpu_node_float(b->graph, maker, XPU_ATTR_LOW) >= 0;
    return op == xpu_op_of(XPU_OP_RELU) || op == xpu_op_of(XPU_OP_SIGMOID) || op == xpu_op_of(XPU_OP_SOFTMAX);
}

static xpu_value integers_of(xpu_paddle_node *node, fe_builder *b, const quantiser *q, xpu_value x) {
    if (xpu_paddle_info(node, x)->kind == XPU_VALUE_CONST) return constant_integers(node, b, q, x);
    xpu_paddle_steps steps = steps_of(node, q);
    if (q->away && !is_never_negative(b, x)) x = fe_clip(b, x, -q->known.items[0], INFINITY);
    fe_scales scales = {.scale = fe_number(b, steps.items[0])};
    return x.id ? fe_quantize(b, x, &scales, XPU_I8, 0) : failed;
}

/* Whether the tensor's levels are 8-bit integers: a constant of up to 8 bits, or computed ones with one scale. */
static int has_integers(const xpu_paddle_node *node, const quantiser *q, xpu_value x) {
    const xpu_value_info *info = xpu_paddle_info(node, x);
    if (!q->known.items || info->dtype != XPU_F32) return 0;
    for (int64_t i = 0; i < q->known.count; i++) {
        if (!(fabsf(q->known.items[i]) <= 1e30f) || q->known.items[i] < 0) return 0;
    }
    if (info->kind == XPU_VALUE_CONST) return q->bits <= BYTE_BITS;
    return q->bits == BYTE_BITS && q->known.count == 1;
}

static xpu_value quantised(xpu_paddle_node *node, const quantiser *q, xpu_value x) {
    static const float one = 1;
    fe_builder inside = fe_inside(&node->build);
    xpu_value y;
    if (has_integers(node, q, x)) {
        xpu_value integers = integers_of(node, &inside, q, x);
        node->build.made = inside.made;
        return integers.id ? xpu_paddle_dequantize(&node->build, integers, &(xpu_paddle_steps){&one, 1, 0}) : failed;
    }
    y = written_levels(node, &inside, q, x);
    return y.id ? fe_finish(&node->build, &inside, y) : failed;
}

static xpu_value quantised_and_back(xpu_paddle_node *node, const quantiser *q, xpu_value x) {
    fe_builder inside = fe_inside(&node->build);
    int bytes = has_integers(node, q, x);
    xpu_value y = bytes ? integers_of(node, &inside, q, x) : written_levels(node, &inside, q, x);
    if (!y.id) return failed;
    xpu_paddle_steps steps = bytes ? steps_of(node, q) : (xpu_paddle_steps){0};
    fe_builder *b = bytes ? &node->build : &inside;
    node->build.made = inside.made;
    y = bytes ? xpu_paddle_dequantize(b, y, &steps) : times_steps(node, &inside, q, y);
    return bytes || !y.id ? y : fe_finish(&node->build, &inside, y);
}

/* ---- quantize_linear, dequantize_linear ---- */

xpu_value xpu_paddle_convert_quantize_linear(xpu_paddle_node *node) {
    quantiser q;
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!read_quantiser(node, x, "Scale", 0, 0, &q)) return failed;
    if (!xpu_paddle_int(node, "is_test", 0) && xpu_paddle_operand(node, "InState").id)
        return refuse_training(node), failed;
    if (xpu_paddle_int(node, "only_observer", 0)) return fe_identity(&node->build, x);
    return quantised(node, &q, x);
}

/* Of the levels, which are computed, or stored as float32 or int8. */
xpu_value xpu_paddle_convert_dequantize_linear(xpu_paddle_node *node) {
    quantiser q;
    fe_builder inside = fe_inside(&node->build);
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!read_quantiser(node, x, "Scale", 0, 0, &q)) return failed;
    if (xpu_paddle_int(node, "only_observer", 0)) return fe_identity(&node->build, x);
    size_t errors = node->build.diags->errors;
    xpu_value integers = q.known.items ? xpu_paddle_levels(&inside, x) : failed;
    if (node->build.diags->errors > errors) return failed;
    node->build.made = inside.made;
    xpu_paddle_steps steps = q.known.items ? steps_of(node, &q) : (xpu_paddle_steps){0};
    if (integers.id) return xpu_paddle_dequantize(&node->build, integers, &steps);
    inside = fe_inside(&node->build);
    xpu_value y = times_steps(node, &inside, &q, fe_as(&inside, x, XPU_F32));
    return y.id ? fe_finish(&node->build, &inside, y) : failed;
}

/* ---- the fake_quantize families ---- */

static int goes_back(const xpu_paddle_node *node) {
    return strstr(node->op->type, "quantize_dequantize") != NULL;
}

static xpu_value fake(xpu_paddle_node *node, const quantiser *q, xpu_value x) {
    if (node->result_count > 1) node->results[1] = q->scale;
    return goes_back(node) ? quantised_and_back(node, q, x) : quantised(node, q, x);
}

/* With a scale that was found in training: range_abs_max and moving_average_abs_max. */
xpu_value xpu_paddle_convert_fake_quantize(xpu_paddle_node *node) {
    quantiser q;
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!read_quantiser(node, x, "InScale", -1, 1, &q)) return failed;
    if (!xpu_paddle_int(node, "is_test", 0)) return refuse_training(node), failed;
    q.axis = -1;
    return fake(node, &q, x);
}

static xpu_value largest_of(fe_builder *b, xpu_value x, int axis) {
    int64_t axes[XPU_MAX_RANK];
    size_t count = 0;
    int rank = fe_info(b, x)->rank;
    for (int i = 0; i < rank; i++) {
        if (i != axis) axes[count++] = i;
    }
    xpu_value size = fe_unary(b, XPU_OP_ABS, x);
    xpu_dim one = xpu_dim_const(&b->graph->dims, 1);
    if (size.id && count) size = fe_reduce(b, XPU_OP_REDUCE_MAX, size, (fe_ints){axes, count}, 0);
    return size.id && axis < 0 ? fe_reshape_to(b, size, &one, 1, 0) : size;
}

static xpu_value largest_of_constant(const fe_builder *b, xpu_value x, int axis) {
    xpu_tensor tensor, result = {.dtype = XPU_F32, .rank = 1, .dims = {1}};
    if (xpu_const_tensor(b->graph, x, b->scratch, &tensor, b->diags) != XPU_OK) return failed;
    int64_t count = xpu_tensor_count(&tensor), inner = 1;
    for (int i = axis + 1; axis >= 0 && i < tensor.rank; i++) inner *= tensor.dims[i];
    if (axis >= 0) result.dims[0] = tensor.dims[axis];
    const float *from = tensor.data;
    float *largest = XPU_NEW_ARRAY(b->scratch, float, result.dims[0] + 1);
    for (int64_t i = 0; i < count; i++) {
        float *at = &largest[axis < 0 ? 0 : i / inner % result.dims[0]];
        if (fabsf(from[i]) > *at) *at = fabsf(from[i]);
    }
    result.data = largest;
    return xpu_graph_const_bytes(b->graph, NULL, &result);
}

/* With the scale of this very tensor: abs_max, for each channel or not. */
xpu_value xpu_paddle_convert_fake_quantize_own(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    quantiser q = {.away = xpu_paddle_int(node, "round_type", 1) != 0, .axis = -1};
    if (!x.id || !read_bits(node, &q)) return failed;
    if (strstr(node->op->type, "channel_wise") && !read_axis(node, x, 0, &q)) return failed;
    int is_constant = xpu_paddle_info(node, x)->kind == XPU_VALUE_CONST && xpu_paddle_info(node, x)->dtype == XPU_F32;
    fe_builder inside = fe_inside(&node->build);
    q.scale = is_constant ? largest_of_constant(&inside, x, q.axis) : largest_of(&inside, x, q.axis);
    node->build.made = inside.made;
    if (!q.scale.id || !check_scales(node, &q, x) || !read_known(node, &q)) return failed;
    return fake(node, &q, x);
}

/* ---- the fake_dequantize families ---- */

/* x times a constant for all elements or for each channel: that of the operands of a product, of integers, or of any
 * tensor. */
static xpu_value times(xpu_paddle_node *node, xpu_value x, const xpu_paddle_steps *steps) {
    fe_builder inside = fe_inside(&node->build);
    size_t errors = node->build.diags->errors;
    xpu_value y = xpu_paddle_rescale_product(&node->build, x, steps);
    if (y.id || node->build.diags->errors > errors) return y;
    xpu_value integers = xpu_paddle_levels(&inside, x);
    if (node->build.diags->errors > errors) return failed;
    node->build.made = inside.made;
    if (integers.id) return xpu_paddle_dequantize(&node->build, integers, steps);
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 1, .dims = {steps->count}, .data = (void *)(uintptr_t)steps->items};
    quantiser q = {.axis = steps->count == 1 ? -1 : steps->axis, .bound = 1};
    q.scale = xpu_graph_const_bytes(inside.graph, NULL, &tensor);
    y = times_steps(node, &inside, &q, fe_as(&inside, x, XPU_F32));
    return y.id ? fe_finish(&node->build, &inside, y) : failed;
}

static int are_finite(const xpu_paddle_node *node, const xpu_paddle_steps *steps) {
    for (int64_t i = 0; i < steps->count; i++) {
        if (isfinite(steps->items[i])) continue;
        xpu_paddle_refuse(node, "a scale is invalid",
                          xpu_paddle_format(node, "element %" PRId64 " is %g", i, (double)steps->items[i]));
        return 0;
    }
    return 1;
}

xpu_value xpu_paddle_convert_fake_dequantize(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    float range = xpu_paddle_float(node, "max_range", 127);
    double scale = 0;
    if (!x.id || !xpu_paddle_operand(node, "Scale").id) return failed;
    if (xpu_paddle_info(node, xpu_paddle_operand(node, "Scale"))->kind != XPU_VALUE_CONST) {
        quantiser q = {.axis = -1, .bound = range, .scale = xpu_paddle_operand(node, "Scale")};
        if (!check_scales(node, &q, x)) return failed;
        fe_builder inside = fe_inside(&node->build);
        xpu_value y = times_steps(node, &inside, &q, fe_as(&inside, x, XPU_F32));
        return y.id ? fe_finish(&node->build, &inside, y) : failed;
    }
    if (!xpu_paddle_number(node, NULL, "Scale", &scale)) return failed;
    float step = (float)scale / range;
    xpu_paddle_steps steps = {&step, 1, 0};
    return are_finite(node, &steps) ? times(node, x, &steps) : failed;
}

/* With one list of scales, of weights; with two, of a product: the weights' channels, then the other operand's one. */
xpu_value xpu_paddle_convert_fake_channel_dequantize(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    xpu_paddle_values scales = xpu_paddle_operands(node, "Scales");
    fe_ints bits = xpu_paddle_ints(node, "quant_bits");
    if (!x.id || !scales.count) return failed;
    quantiser q = {0}, other = {.axis = -1};
    int64_t axis = xpu_paddle_int(node, scales.count > 1 ? "x_num_col_dims" : "quant_axis", scales.count > 1);
    q.axis = fe_axis(&node->build, axis, xpu_paddle_rank(node, x));
    q.scale = scales.items[0];
    if (q.axis < 0 || !check_scales(node, &q, x) || !read_known(node, &q)) return failed;
    other.scale = scales.items[scales.count > 1];
    if (scales.count > 1 && (!check_scales(node, &other, x) || !read_known(node, &other))) return failed;
    if (!q.known.items || (scales.count > 1 && !other.known.items))
        return xpu_paddle_refuse(node, "the scales are computed", "they are needed as constants");
    float bounds[2] = {127, 127};
    for (size_t i = 0; i < bits.count && i < 2; i++) {
        if (bits.items[i] < 2 || bits.items[i] > MAX_BITS)
            return fe_bad_attr(&node->build, "quant_bits", "an entry is not 2 to 16"), failed;
        bounds[i] = bound_of(bits.items[i]);
    }
    float *steps = XPU_NEW_ARRAY(node->importer->scratch, float, q.known.count + 1);
    for (int64_t i = 0; i < q.known.count; i++) {
        steps[i] = q.known.items[i] / bounds[0];
        if (scales.count > 1) steps[i] *= other.known.items[0] / bounds[1];
    }
    xpu_paddle_steps all = {steps, q.known.count, q.axis};
    return are_finite(node, &all) ? times(node, x, &all) : failed;
}
