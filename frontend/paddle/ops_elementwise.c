/* Operators on each element, and what makes tensors of one value. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

/* From this version on, hard_swish and swish have fixed parameters, whatever their attributes say. */
enum { FIXED_SWISH = 2004000 };

/* ---- one operand ---- */

/* The row's operator: of bool, the logical one instead of the bitwise one. */
static xpu_op_id op_for(const xpu_paddle_node *node, xpu_value x) {
    if (!x.id || xpu_paddle_info(node, x)->dtype != XPU_BOOL) return node->row->op;
    switch (node->row->op) {
    case XPU_OP_BIT_NOT: return XPU_OP_NOT;
    case XPU_OP_BIT_AND: return XPU_OP_AND;
    case XPU_OP_BIT_OR: return XPU_OP_OR;
    case XPU_OP_BIT_XOR: return XPU_OP_XOR;
    default: return node->row->op;
    }
}

/* With the parameters of the core's row, under the names that the two have. */
xpu_value xpu_paddle_convert_unary(xpu_paddle_node *node) {
    static const struct {
        xpu_op_id op;
        const char *name;
        xpu_attr_id attr;
        float fallback;
    } rows[] = {
        {XPU_OP_LEAKY_RELU, "alpha", XPU_ATTR_ALPHA, 0.02f},
        {XPU_OP_ELU, "alpha", XPU_ATTR_ALPHA, 1.0f},
        {XPU_OP_CELU, "alpha", XPU_ATTR_ALPHA, 1.0f},
        {XPU_OP_SELU, "alpha", XPU_ATTR_ALPHA, 1.67326319217681884765625f},
        {XPU_OP_SELU, "scale", XPU_ATTR_BETA, 1.05070102214813232421875f},
        {XPU_OP_HARD_SIGMOID, "slope", XPU_ATTR_ALPHA, 0.2f},
        {XPU_OP_HARD_SIGMOID, "offset", XPU_ATTR_BETA, 0.5f},
        {XPU_OP_THRESHOLDED_RELU, "threshold", XPU_ATTR_ALPHA, 1.0f},
        {XPU_OP_SWISH, "beta", XPU_ATTR_ALPHA, 1.0f},
    };
    xpu_attr attrs[2];
    uint32_t count = 0;
    xpu_value x = xpu_paddle_operand(node, "X");
    int is_fixed = node->row->op == XPU_OP_SWISH && !xpu_paddle_is_before(node, FIXED_SWISH);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].op != node->row->op || is_fixed) continue;
        attrs[count++] = (xpu_attr){.id = rows[i].attr, .f = xpu_paddle_float(node, rows[i].name, rows[i].fallback)};
    }
    return fe_elementwise(&node->build, op_for(node, x), &x, 1, attrs, count);
}

static xpu_value last(xpu_paddle_node *node, xpu_op_id op, xpu_value x, xpu_value y) {
    if (!x.id || !y.id) return failed;
    return fe_elementwise(&node->build, op, (xpu_value[]){x, y}, 2, NULL, 0);
}

xpu_value xpu_paddle_convert_identity(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    return fe_identity(&node->build, x.id ? x : xpu_paddle_operand(node, "In"));
}

xpu_value xpu_paddle_convert_dropout(xpu_paddle_node *node) {
    double ratio = 0.5;
    xpu_value x = xpu_paddle_operand(node, "X");
    const char *way = xpu_paddle_text(node, "dropout_implementation", "downgrade_in_infer");
    if (!xpu_paddle_int(node, "is_test", 0))
        return xpu_paddle_refuse(node, "the training form is not supported", "is_test is false");
    if (xpu_paddle_is_used(node, 1)) return xpu_paddle_refuse(node, "the mask is not supported", "an operator uses it");
    if (strcmp(way, "upscale_in_train") == 0) return fe_identity(&node->build, x);
    if (!xpu_paddle_number(node, "dropout_prob", "dropout_prob", &ratio)) return failed;
    return last(node, XPU_OP_MUL, x, fe_number(&node->build, 1.0f - (float)ratio));
}

/* Whether the run finds the operand, a number: then it is a scalar of this type, or {0} after reporting. */
static int is_computed(xpu_paddle_node *node, const char *name, xpu_dtype dtype, xpu_value *scalar) {
    xpu_value x = xpu_paddle_operand(node, name);
    if (!x.id || xpu_paddle_info(node, x)->constant) return 0;
    fe_builder b = fe_inside(&node->build);
    *scalar = fe_reshape_to(&b, fe_as(&b, x, dtype), NULL, 0, 0);
    node->build.made = b.made;
    return 1;
}

/* x (or x + bias) times a factor, plus a bias. */
xpu_value xpu_paddle_convert_scale(xpu_paddle_node *node) {
    double scale = 1;
    float bias = xpu_paddle_float(node, "bias", 0);
    xpu_value x = xpu_paddle_operand(node, "X"), factor;
    if (!x.id) return failed;
    xpu_dtype dtype = xpu_paddle_info(node, x)->dtype;
    if (is_computed(node, "ScaleTensor", dtype, &factor))
        scale = 0; /* not 1 */
    else if (xpu_paddle_number(node, "scale", "ScaleTensor", &scale))
        factor = xpu_paddle_single(node, dtype, scale);
    else
        return failed;
    xpu_value addend = xpu_paddle_single(node, dtype, (double)bias);
    int after = xpu_paddle_int(node, "bias_after_scale", 1) != 0;
    if (bias == 0 && scale == 1) return fe_identity(&node->build, x);
    if (bias == 0) return last(node, XPU_OP_MUL, x, factor);
    if (scale == 1) return last(node, XPU_OP_ADD, x, addend);
    if (after) return last(node, XPU_OP_ADD, fe_binary(&node->build, XPU_OP_MUL, x, factor), addend);
    return last(node, XPU_OP_MUL, fe_binary(&node->build, XPU_OP_ADD, x, addend), factor);
}

xpu_value xpu_paddle_convert_clip(xpu_paddle_node *node) {
    double low = -HUGE_VAL, high = HUGE_VAL;
    xpu_value least, most;
    int is_relu6 = strcmp(node->op->type, "relu6") == 0, is_bounded = strcmp(node->op->type, "brelu") == 0;
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!x.id) return failed;
    xpu_dtype dtype = xpu_paddle_info(node, x)->dtype;
    int has_least = is_computed(node, "Min", dtype, &least), has_most = is_computed(node, "Max", dtype, &most);
    if (is_relu6) {
        low = 0;
        high = (double)xpu_paddle_float(node, "threshold", 6);
    } else if (is_bounded || strcmp(node->op->type, "hardtanh") == 0) {
        low = (double)xpu_paddle_float(node, "t_min", 0);
        high = (double)xpu_paddle_float(node, "t_max", 24);
    } else if ((!has_least && !xpu_paddle_number(node, "min", "Min", &low)) ||
               (!has_most && !xpu_paddle_number(node, "max", "Max", &high))) {
        return failed;
    }
    xpu_compute class = xpu_compute_of(dtype);
    if (class == XPU_COMPUTE_F32 && !has_least && !has_most) return fe_clip(&node->build, x, (float)low, (float)high);
    if (!has_least) least = xpu_paddle_single(node, dtype, low);
    if (!has_most) most = xpu_paddle_single(node, dtype, high);
    return last(node, XPU_OP_MIN, fe_binary(&node->build, XPU_OP_MAX, x, least), most);
}

xpu_value xpu_paddle_convert_cast(xpu_paddle_node *node) {
    xpu_dtype dtype = xpu_paddle_type(node, "out_dtype", XPU_DTYPE_NONE);
    if (dtype == XPU_DTYPE_NONE) return failed;
    return fe_convert(&node->build, xpu_paddle_operand(node, "X"), dtype);
}

xpu_value xpu_paddle_convert_gelu(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    int is_tanh = xpu_paddle_int(node, "approximate", 0) != 0;
    return fe_elementwise(&node->build, is_tanh ? XPU_OP_GELU_TANH : XPU_OP_GELU, &x, 1, NULL, 0);
}

/* x * clip(x + offset, 0, threshold) / scale; since PaddlePaddle 2.4 the attributes say nothing. */
xpu_value xpu_paddle_convert_hard_swish(xpu_paddle_node *node) {
    float threshold = xpu_paddle_float(node, "threshold", 6), scale = xpu_paddle_float(node, "scale", 6);
    float offset = xpu_paddle_float(node, "offset", 3);
    xpu_value x = xpu_paddle_operand(node, "X");
    int is_usual = threshold == 6 && scale == 6 && offset == 3;
    if (is_usual || !xpu_paddle_is_before(node, FIXED_SWISH))
        return fe_elementwise(&node->build, XPU_OP_HARD_SWISH, &x, 1, NULL, 0);
    fe_builder inside = fe_inside(&node->build);
    xpu_value gate = fe_clip(&inside, fe_binary(&inside, XPU_OP_ADD, x, fe_number(&inside, offset)), 0, threshold);
    node->build.made = inside.made;
    return last(node, XPU_OP_DIV, fe_binary(&node->build, XPU_OP_MUL, x, gate), fe_number(&node->build, scale));
}

/* log(1 + e^(beta x)) / beta; x where beta x is above a threshold, at which the two differ by less than 1e-8. */
xpu_value xpu_paddle_convert_softplus(xpu_paddle_node *node) {
    float beta = xpu_paddle_float(node, "beta", 1), threshold = xpu_paddle_float(node, "threshold", 20);
    xpu_value x = xpu_paddle_operand(node, "X");
    if (threshold < 15)
        return xpu_paddle_refuse(node, "the threshold is not supported",
                                 xpu_paddle_format(node, "it is %g; from 15 on it changes nothing", (double)threshold));
    if (beta == 1) return fe_elementwise(&node->build, XPU_OP_SOFTPLUS, &x, 1, NULL, 0);
    xpu_value factor = fe_number(&node->build, beta);
    xpu_value y = fe_unary(&node->build, XPU_OP_SOFTPLUS, fe_binary(&node->build, XPU_OP_MUL, x, factor));
    return last(node, XPU_OP_DIV, y, factor);
}

xpu_value xpu_paddle_convert_shrink(xpu_paddle_node *node) {
    int is_soft = strncmp(node->op->type, "soft", 4) == 0;
    float lambda = xpu_paddle_float(node, is_soft ? "lambda" : "threshold", 0.5f);
    xpu_value x = xpu_paddle_operand(node, "X");
    xpu_attr attrs[] = {{.id = XPU_ATTR_BETA, .f = is_soft ? lambda : 0}, {.id = XPU_ATTR_ALPHA, .f = lambda}};
    return fe_elementwise(&node->build, XPU_OP_SHRINK, &x, 1, attrs, 2);
}

/* Those that are a few of the core's. */
xpu_value xpu_paddle_convert_composed(xpu_paddle_node *node) {
    fe_builder *b = &node->build;
    const char *type = node->op->type;
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!x.id) return failed;
    if (strcmp(type, "square") == 0) return last(node, XPU_OP_MUL, x, x);
    if (strcmp(type, "rsqrt") == 0) return last(node, XPU_OP_DIV, fe_number(b, 1), fe_unary(b, XPU_OP_SQRT, x));
    if (strcmp(type, "log2") == 0)
        return last(node, XPU_OP_DIV, fe_unary(b, XPU_OP_LOG, x), fe_number(b, 0.693147180559945309f));
    if (strcmp(type, "log10") == 0)
        return last(node, XPU_OP_DIV, fe_unary(b, XPU_OP_LOG, x), fe_number(b, 2.302585092994045684f));
    if (strcmp(type, "expm1") == 0) return last(node, XPU_OP_SUB, fe_unary(b, XPU_OP_EXP, x), fe_number(b, 1));
    if (strcmp(type, "tanh_shrink") == 0) return last(node, XPU_OP_SUB, x, fe_unary(b, XPU_OP_TANH, x));
    if (strcmp(type, "log1p") == 0) {
        xpu_value sum = fe_binary(b, XPU_OP_ADD, x, fe_number(b, 1));
        return fe_elementwise(b, XPU_OP_LOG, &sum, 1, NULL, 0);
    }
    if (strcmp(type, "logsigmoid") == 0) {
        xpu_value y = fe_unary(b, XPU_OP_SOFTPLUS, fe_unary(b, XPU_OP_NEG, x));
        return fe_elementwise(b, XPU_OP_NEG, &y, 1, NULL, 0);
    }
    if (strcmp(type, "stanh") == 0) {
        xpu_value scaled = fe_binary(b, XPU_OP_MUL, x, fe_number(b, xpu_paddle_float(node, "scale_a", 0.67f)));
        return last(node, XPU_OP_MUL, fe_unary(b, XPU_OP_TANH, scaled),
                    fe_number(b, xpu_paddle_float(node, "scale_b", 1.7159f)));
    }
    /* round: halves away from 0; trunc: towards it */
    xpu_value size = fe_unary(b, XPU_OP_ABS, x), sign = fe_unary(b, XPU_OP_SIGN, x);
    if (strcmp(type, "round") == 0) size = fe_binary(b, XPU_OP_ADD, size, fe_number(b, 0.5f));
    return last(node, XPU_OP_MUL, sign, fe_unary(b, XPU_OP_FLOOR, size));
}

/* NaN, infinities, or neither. */
xpu_value xpu_paddle_convert_is(xpu_paddle_node *node) {
    fe_builder *b = &node->build;
    xpu_value x = xpu_paddle_operand(node, "X");
    if (strncmp(node->op->type, "isnan", 5) == 0) {
        xpu_value same = fe_binary(b, XPU_OP_EQUAL, x, x);
        return same.id ? fe_elementwise(b, XPU_OP_NOT, &same, 1, NULL, 0) : failed;
    }
    int infinite = strncmp(node->op->type, "isinf", 5) == 0;
    return last(node, infinite ? XPU_OP_EQUAL : XPU_OP_LESS, fe_unary(b, XPU_OP_ABS, x), fe_number(b, INFINITY));
}

/* ---- two operands ---- */

/* y of a lower rank than x stands at its dims from `axis` on. */
static xpu_value aligned(xpu_paddle_node *node, xpu_value x, xpu_value y) {
    int64_t axis = xpu_paddle_int(node, "axis", -1);
    if (!x.id || !y.id || axis == -1) return y;
    const xpu_value_info big = *xpu_paddle_info(node, x), small = *xpu_paddle_info(node, y);
    if (axis < 0) axis += big.rank;
    if (small.rank >= big.rank || axis < 0 || axis > big.rank) return y;
    int rank = small.rank;
    int64_t size = 0;
    while (rank > 0 && axis + rank > big.rank &&
           xpu_dim_is_const(&node->build.graph->dims, small.dims[rank - 1], &size) && size == 1)
        rank--;
    if (axis + rank > big.rank)
        return fe_refuse(&node->build, FE_SHAPE, "the operands do not fit each other",
                         xpu_paddle_format(node, "axis %" PRId64 " of a tensor of rank %d, the other one has rank %d",
                                           axis, big.rank, small.rank),
                         NULL);
    if (axis + rank == big.rank && rank == small.rank) return y;
    xpu_dim dims[XPU_MAX_RANK];
    int to = big.rank - (int)axis;
    for (int i = 0; i < to; i++) dims[i] = i < rank ? small.dims[i] : xpu_dim_const(&node->build.graph->dims, 1);
    return fe_reshape_to(&node->build, y, dims, to, 0);
}

xpu_value xpu_paddle_convert_binary(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X"), y = xpu_paddle_operand(node, "Y");
    if (!x.id || !y.id) return failed;
    if (xpu_paddle_rank(node, x) < xpu_paddle_rank(node, y))
        x = aligned(node, y, x);
    else
        y = aligned(node, x, y);
    return last(node, op_for(node, x), x, y);
}

xpu_value xpu_paddle_convert_not_equal(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X"), y = aligned(node, x, xpu_paddle_operand(node, "Y"));
    xpu_value same = fe_binary(&node->build, XPU_OP_EQUAL, x, y);
    return same.id ? fe_elementwise(&node->build, XPU_OP_NOT, &same, 1, NULL, 0) : failed;
}

/* Of floats: what fmod leaves, which is exact, and the divisor once more where that has the other sign. */
static xpu_value float_remainder(xpu_paddle_node *node, xpu_value x, xpu_value y) {
    fe_builder inside = fe_inside(&node->build), *b = &inside;
    xpu_value none = xpu_paddle_single(node, xpu_paddle_info(node, x)->dtype, 0);
    xpu_value rest = fe_binary(b, XPU_OP_FMOD, x, y);
    xpu_value differ =
        fe_binary(b, XPU_OP_XOR, fe_binary(b, XPU_OP_LESS, rest, none), fe_binary(b, XPU_OP_LESS, y, none));
    xpu_value is_none = fe_binary(b, XPU_OP_EQUAL, rest, none);
    xpu_value moved = xpu_paddle_choose(b, differ, fe_binary(b, XPU_OP_ADD, rest, y), rest);
    node->build.made = b->made;
    if (!is_none.id || !moved.id) return failed;
    return fe_elementwise(&node->build, XPU_OP_WHERE, (xpu_value[]){is_none, rest, moved}, 3, NULL, 0);
}

/* Integers: a ProgramDesc's quotient is cut off, PIR's is rounded down; the remainder has the divisor's sign. */
xpu_value xpu_paddle_convert_divmod(xpu_paddle_node *node) {
    fe_builder *b = &node->build;
    xpu_value x = xpu_paddle_operand(node, "X"), y = aligned(node, x, xpu_paddle_operand(node, "Y"));
    if (!x.id || !y.id) return failed;
    int is_float = xpu_compute_of(xpu_paddle_info(node, x)->dtype) == XPU_COMPUTE_F32;
    int is_mod = node->row->op == XPU_OP_MOD;
    if (is_float && is_mod) return float_remainder(node, x, y);
    if (is_float) {
        xpu_value quotient = fe_binary(b, XPU_OP_DIV, x, y);
        return quotient.id ? fe_elementwise(b, XPU_OP_FLOOR, &quotient, 1, NULL, 0) : failed;
    }
    if (is_mod) return last(node, XPU_OP_MOD, x, y);
    if (node->row->dialect == XPU_PADDLE_DESC) return last(node, XPU_OP_DIV, x, y);
    return last(node, XPU_OP_DIV, fe_binary(b, XPU_OP_SUB, x, fe_binary(b, XPU_OP_MOD, x, y)), y);
}

xpu_value xpu_paddle_convert_pow(xpu_paddle_node *node) {
    double factor = 1;
    xpu_value x = xpu_paddle_operand(node, "X"), power;
    if (!x.id) return failed;
    const xpu_dtype dtype = xpu_paddle_info(node, x)->dtype;
    if (is_computed(node, "FactorTensor", dtype, &power)) return power.id ? fe_pow(&node->build, x, power) : failed;
    if (!xpu_paddle_number(node, "factor", "FactorTensor", &factor)) return failed;
    return fe_pow(&node->build, x, xpu_paddle_single(node, dtype, factor));
}

xpu_value xpu_paddle_convert_increment(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!x.id) return failed;
    double step = (double)xpu_paddle_float(node, "step", 1);
    return last(node, XPU_OP_ADD, x, xpu_paddle_single(node, xpu_paddle_info(node, x)->dtype, step));
}

xpu_value xpu_paddle_convert_where(xpu_paddle_node *node) {
    xpu_value in[] = {xpu_paddle_operand(node, "Condition"), xpu_paddle_operand(node, "X"),
                      xpu_paddle_operand(node, "Y")};
    if (!in[0].id || !in[1].id || !in[2].id) return failed;
    return fe_elementwise(&node->build, XPU_OP_WHERE, in, 3, NULL, 0);
}

xpu_value xpu_paddle_convert_sum(xpu_paddle_node *node) {
    xpu_paddle_values all = xpu_paddle_operands(node, "X");
    return all.count ? fe_variadic(&node->build, XPU_OP_ADD, all.items, all.count) : failed;
}

/* alpha: one for all, for each channel, or for each element but the batch. */
xpu_value xpu_paddle_convert_prelu(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X"), alpha = xpu_paddle_operand(node, "Alpha");
    const char *mode = xpu_paddle_text(node, "mode", "all"), *format = xpu_paddle_text(node, "data_format", "NCHW");
    if (!x.id || !alpha.id) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    xpu_dim dims[XPU_MAX_RANK];
    int by_channel = strcmp(mode, "channel") == 0, is_last = format[strlen(format) - 1] == 'C';
    for (int i = 0; i < info.rank; i++) {
        int own = by_channel ? i == (is_last ? info.rank - 1 : 1) : strcmp(mode, "element") == 0 && i > 0;
        dims[i] = own ? info.dims[i] : xpu_dim_const(&node->build.graph->dims, 1);
    }
    return last(node, XPU_OP_PRELU, x, fe_reshape_to(&node->build, alpha, dims, info.rank, 0));
}

/* ---- constants ---- */

/* `value` as an element of the type; a whole number of 64 bits exactly. */
static void put_element(xpu_dtype dtype, double value, int64_t whole, int is_whole, unsigned char *element) {
    memset(element, 0, XPU_ELEMENT_BYTES);
    size_t bytes = xpu_dtype_bytes(dtype);
    if (dtype == XPU_F64) {
        memcpy(element, &value, sizeof value);
    } else if (dtype == XPU_F32 || dtype == XPU_F16 || dtype == XPU_BF16) {
        xpu_dtype_element(dtype, (float)value, element);
    } else {
        int64_t number = is_whole ? whole : value >= 0x1p63 ? INT64_MAX : value >= -0x1p63 ? (int64_t)value : INT64_MIN;
        if (dtype == XPU_BOOL) number = number != 0 || (!is_whole && value != 0);
        memcpy(element, &number, bytes);
    }
}

static xpu_value single(const xpu_paddle_node *node, xpu_dtype dtype, const unsigned char *element) {
    xpu_tensor tensor = {.dtype = dtype, .data = (void *)(uintptr_t)element};
    return xpu_graph_const_bytes(node->importer->graph, NULL, &tensor);
}

xpu_value xpu_paddle_single(const xpu_paddle_node *node, xpu_dtype dtype, double value) {
    unsigned char element[XPU_ELEMENT_BYTES];
    put_element(dtype, value, 0, 0, element);
    return single(node, dtype, element);
}

/* A tensor of this shape: a constant where it is small, so that shapes may be made of it. */
static xpu_value filled(xpu_paddle_node *node, xpu_dtype dtype, const unsigned char *element, fe_dims shape) {
    enum { SMALL = 4096 };
    xpu_tensor tensor = {.dtype = dtype, .rank = (int)shape.count};
    int64_t count = 1;
    int known = shape.count <= XPU_MAX_RANK;
    for (size_t i = 0; known && i < shape.count; i++) {
        known = xpu_dim_is_const(&node->build.graph->dims, shape.items[i], &tensor.dims[i]) && tensor.dims[i] >= 0 &&
                tensor.dims[i] <= SMALL;
        if (known) count *= tensor.dims[i];
        known &= count <= SMALL;
    }
    if (!known) return fe_expand(&node->build, single(node, dtype, element), shape);
    size_t size = xpu_dtype_bytes(dtype);
    uint8_t *bytes = xpu_alloc(node->importer->scratch, (size_t)count * size + 1);
    for (int64_t i = 0; i < count; i++) memcpy(bytes + (size_t)i * size, element, size);
    tensor.data = bytes;
    return xpu_graph_const_bytes(node->importer->graph, xpu_paddle_constant_name(node), &tensor);
}

xpu_value xpu_paddle_convert_fill(xpu_paddle_node *node) {
    xpu_dtype dtype = xpu_paddle_type(node, "dtype", XPU_F32);
    unsigned char element[XPU_ELEMENT_BYTES];
    const char *text = xpu_paddle_text(node, "str_value", "");
    double value = (double)xpu_paddle_float(node, "value", 0);
    fe_dims shape;
    xpu_value found;
    if (dtype == XPU_DTYPE_NONE || !xpu_paddle_dims(node, "shape", "ShapeTensor", "ShapeTensorList", &shape))
        return failed;
    if (is_computed(node, "ValueTensor", dtype, &found))
        return found.id ? fe_expand(&node->build, found, shape) : failed;
    if (!xpu_paddle_number(node, "value", "ValueTensor", &value)) return failed;
    char *end = NULL;
    long long whole = strtoll(text, &end, 10);
    int is_whole = text[0] && end && !*end && !xpu_paddle_operand(node, "ValueTensor").id;
    if (text[0] && !is_whole && !xpu_paddle_operand(node, "ValueTensor").id) value = strtod(text, NULL);
    if (is_whole) value = (double)whole;
    put_element(dtype, value, whole, is_whole, element);
    return filled(node, dtype, element, shape);
}

xpu_value xpu_paddle_convert_fill_like(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!x.id) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    double value = 0;
    xpu_dtype dtype = xpu_paddle_type(node, "dtype", info.dtype);
    unsigned char element[XPU_ELEMENT_BYTES];
    xpu_value found;
    if (dtype == XPU_DTYPE_NONE) return failed;
    if (is_computed(node, "ValueTensor", dtype, &found))
        return found.id ? fe_expand(&node->build, found, (fe_dims){info.dims, (size_t)info.rank}) : failed;
    if (!xpu_paddle_number(node, "value", "ValueTensor", &value)) return failed;
    put_element(dtype, value, 0, 0, element);
    return filled(node, dtype, element, (fe_dims){info.dims, (size_t)info.rank});
}

/* The given shape, with one dim of the operand in it. */
xpu_value xpu_paddle_convert_fill_batch(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "Input");
    if (!x.id) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    xpu_dtype dtype = xpu_paddle_type(node, "dtype", XPU_F32);
    fe_dims shape = fe_dims_of(&node->build, xpu_paddle_ints(node, "shape"));
    int64_t from = xpu_paddle_int(node, "input_dim_idx", 0), to = xpu_paddle_int(node, "output_dim_idx", 0);
    unsigned char element[XPU_ELEMENT_BYTES];
    if (dtype == XPU_DTYPE_NONE) return failed;
    if (from < 0 || from >= info.rank || to < 0 || to >= (int64_t)shape.count)
        return xpu_paddle_refuse(
            node, "the dim of the batch is out of range",
            xpu_paddle_format(node, "input_dim_idx %" PRId64 ", output_dim_idx %" PRId64, from, to));
    xpu_dim *dims = xpu_copy(node->importer->scratch, shape.items, (shape.count + 1) * sizeof *dims);
    dims[to] = info.dims[from];
    const char *text = xpu_paddle_text(node, "str_value", "");
    put_element(dtype, text[0] ? strtod(text, NULL) : (double)xpu_paddle_float(node, "value", 0), 0, 0, element);
    return filled(node, dtype, element, (fe_dims){dims, shape.count});
}

/* The numbers stand in the attribute of their type, or from 2.6 on in "values". */
xpu_value xpu_paddle_convert_assign_value(xpu_paddle_node *node) {
    static const char *const names[] = {"values",       "fp32_values", "int32_values",
                                        "int64_values", "bool_values", "value"};
    xpu_dtype dtype = xpu_paddle_type(node, "dtype", XPU_F32);
    fe_ints shape = xpu_paddle_ints(node, "shape");
    const xpu_paddle_attr *values = NULL;
    if (dtype == XPU_DTYPE_NONE) return failed;
    for (size_t i = 0; i < sizeof names / sizeof *names && !values; i++) {
        const xpu_paddle_attr *attr = xpu_paddle_find_attr(node, names[i]);
        if (attr && attr->count && (attr->kind == XPU_PADDLE_INTS || attr->kind == XPU_PADDLE_FLOATS)) values = attr;
    }
    xpu_tensor tensor = {.dtype = dtype, .rank = (int)shape.count};
    int64_t count = 1;
    for (size_t i = 0; i < shape.count && i < XPU_MAX_RANK; i++) {
        tensor.dims[i] = shape.items[i];
        if (shape.items[i] < 0 || __builtin_mul_overflow(count, shape.items[i], &count)) count = -1;
        if (count < 0) break;
    }
    if (shape.count > XPU_MAX_RANK || count != (int64_t)(values ? values->count : 0))
        return xpu_paddle_refuse(node, "the numbers do not fit the shape",
                                 xpu_paddle_format(node, "there are %zu", values ? values->count : 0));
    size_t size = xpu_dtype_bytes(dtype);
    uint8_t *bytes = xpu_alloc(node->importer->scratch, (size_t)count * size + 1);
    for (int64_t i = 0; i < count; i++) {
        unsigned char element[XPU_ELEMENT_BYTES];
        int is_whole = values->kind == XPU_PADDLE_INTS;
        double value = is_whole ? (double)values->integers[i] : values->numbers[i];
        put_element(dtype, value, is_whole ? values->integers[i] : 0, is_whole, element);
        memcpy(bytes + (size_t)i * size, element, size);
    }
    tensor.data = bytes;
    return xpu_graph_const_bytes(node->importer->graph, xpu_paddle_constant_name(node), &tensor);
}

/* A list of integers. */
xpu_value xpu_paddle_convert_full_int_array(xpu_paddle_node *node) {
    fe_ints list = xpu_paddle_ints(node, "value");
    xpu_dtype dtype = xpu_paddle_type(node, "dtype", XPU_I64);
    if (dtype == XPU_DTYPE_NONE) return failed;
    size_t size = xpu_dtype_bytes(dtype);
    uint8_t *bytes = xpu_alloc(node->importer->scratch, list.count * size + 1);
    for (size_t i = 0; i < list.count; i++) {
        unsigned char element[XPU_ELEMENT_BYTES];
        put_element(dtype, (double)list.items[i], list.items[i], 1, element);
        memcpy(bytes + i * size, element, size);
    }
    xpu_tensor tensor = {.dtype = dtype, .rank = 1, .dims = {(int64_t)list.count}, .data = bytes};
    return xpu_graph_const_bytes(node->importer->graph, xpu_paddle_constant_name(node), &tensor);
}
