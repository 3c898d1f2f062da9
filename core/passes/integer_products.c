/*
 * Products of bytes whose results are their int32 sums, as products that give float32, and integers again behind them.
 * float32 holds every integer up to 2^24: where a sum may be larger, the weights are cut into parts that are digits of
 * them, each with a product of its own, and the sums put together wrap as the sum itself does.
 *
 * By constant weights, what remains is a qconv or qmatmul with a float32 result; of two computed matrices, or several
 * constant ones, a matmul in float32. Sums that no cut makes small enough stay what they were.
 */
#include <stdlib.h>

#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

enum { EXACT = 1 << 24, MOST_PARTS = 4, BYTE_RANGE = 255 };

/* Bits of the digits of numbers within +-BYTE_RANGE that are cut into so many parts. */
static const int digit_bits[MOST_PARTS + 1] = {0, 0, 4, 3, 2};

typedef struct {
    xpu_graph *graph;
    xpu_node node;
    xpu_diags *diags;
    int parts;
    xpu_value sums[MOST_PARTS]; /* float32, of each part */
} product;

static xpu_value build(const product *p, xpu_op_id op, const xpu_value *inputs, uint32_t count, const xpu_attr *attrs,
                       uint32_t attr_count) {
    return xpu_build_part(p->graph, p->node, op, inputs, count, attrs, attr_count, p->diags);
}

static xpu_value pair(const product *p, xpu_op_id op, xpu_value a, xpu_value b) {
    return build(p, op, (const xpu_value[]){a, b}, 2, NULL, 0);
}

static xpu_value converted(const product *p, xpu_value x, xpu_dtype dtype) {
    return build(p, XPU_OP_CONVERT, &x, 1, &XPU_ATTR_INT_OF(DTYPE, dtype), 1);
}

static const xpu_value_info *operand(const product *p, uint32_t input) {
    return xpu_value_at(p->graph, xpu_node_input(p->graph, p->node, input));
}

/* The largest magnitude of a byte of this type minus its zero point; of one that is computed, minus any. */
static int64_t most_of(xpu_dtype dtype, int64_t zero, int computed) {
    int64_t least = dtype == XPU_I8 ? INT8_MIN : 0, most = least + BYTE_RANGE;
    if (computed) return BYTE_RANGE;
    return most - zero > zero - least ? most - zero : zero - least;
}

/* What is counted on below: zero points of their operand's type. */
static int has_zeros(const product *p) {
    static const xpu_attr_id zeros[] = {[XPU_IN_X] = XPU_ATTR_X_ZERO, [XPU_IN_W] = XPU_ATTR_W_ZERO};
    for (uint32_t i = XPU_IN_X; i <= XPU_IN_W; i++) {
        int64_t least = operand(p, i)->dtype == XPU_I8 ? INT8_MIN : 0, zero = xpu_node_int(p->graph, p->node, zeros[i]);
        if (zero < least || zero > least + BYTE_RANGE) return 0;
    }
    int computed = xpu_node_input(p->graph, p->node, XPU_IN_XZERO).id != 0;
    return !computed || operand(p, XPU_IN_XZERO)->dtype == operand(p, XPU_IN_X)->dtype;
}

static int64_t most_x(const product *p) {
    int computed = xpu_node_input(p->graph, p->node, XPU_IN_XZERO).id != 0;
    return most_of(operand(p, XPU_IN_X)->dtype, xpu_node_int(p->graph, p->node, XPU_ATTR_X_ZERO), computed);
}

/* ---- by constant weights ---- */

/* Digit `part` of `parts`, from the lowest: value = sum of digit << part * bits, digits being signed. */
static int32_t digit_of(int32_t value, int part, int parts) {
    const int32_t base = 1 << digit_bits[parts], half = base / 2;
    for (int i = 0; i < part; i++) {
        int32_t low = ((value + half) & (base - 1)) - half;
        value = (value - low) / base;
    }
    return part == parts - 1 ? value : ((value + half) & (base - 1)) - half;
}

/* Weights as [outer][channels][inner]: of a convolution [channels][..], of a matrix [K][channels]. */
typedef struct {
    const uint8_t *bytes;
    int is_signed;
    int32_t zero;
    size_t outer, channels, inner;
} weights;

static int32_t weight_at(const weights *w, size_t i) {
    return (w->is_signed ? (int8_t)w->bytes[i] : w->bytes[i]) - w->zero;
}

/* The largest sum of magnitudes of a channel, over all digits. */
static int64_t largest_sum(const weights *w, int parts, int64_t *sums) {
    int64_t largest = 0;
    for (int part = 0; part < parts; part++) {
        int32_t magnitude[2 * BYTE_RANGE + 1];
        for (int32_t v = -BYTE_RANGE; v <= BYTE_RANGE; v++) magnitude[v + BYTE_RANGE] = abs(digit_of(v, part, parts));
        for (size_t c = 0; c < w->channels; c++) sums[c] = 0;
        for (size_t i = 0, at = 0; i < w->outer; i++) {
            for (size_t c = 0; c < w->channels; c++) {
                for (size_t k = 0; k < w->inner; k++) sums[c] += magnitude[weight_at(w, at++) + BYTE_RANGE];
            }
        }
        for (size_t c = 0; c < w->channels; c++) largest = sums[c] > largest ? sums[c] : largest;
    }
    return largest;
}

/* How many parts make every sum exact; 0 where none does. One part is the weights themselves. */
static int count_parts(const weights *w, int64_t most, int may_keep, xpu_arena *scratch) {
    int64_t *sums = XPU_NEW_ARRAY(scratch, int64_t, w->channels);
    for (int parts = may_keep ? 1 : 2; parts <= MOST_PARTS; parts++) {
        if (largest_sum(w, parts, sums) <= EXACT / most) return parts;
    }
    return 0;
}

static xpu_value digits_of(const product *p, const weights *w, const xpu_tensor *source, int part, xpu_arena *scratch) {
    size_t count = w->outer * w->channels * w->inner;
    int8_t *bytes = XPU_NEW_ARRAY(scratch, int8_t, count);
    for (size_t i = 0; i < count; i++) bytes[i] = (int8_t)digit_of(weight_at(w, i), part, p->parts);
    xpu_tensor digits = *source;
    digits.dtype = XPU_I8;
    digits.data = bytes;
    return xpu_graph_const_bytes(p->graph, NULL, &digits);
}

static xpu_value ones(const product *p, size_t count, xpu_arena *scratch) {
    float *values = XPU_NEW_ARRAY(scratch, float, count);
    for (size_t i = 0; i < count; i++) values[i] = 1.0f;
    const xpu_tensor tensor = {.dtype = XPU_F32, .rank = 1, .dims = {(int64_t)count}, .data = values};
    return xpu_graph_const_bytes(p->graph, NULL, &tensor);
}

/* The node itself with other weights and a float32 result. */
static xpu_value by_weights(const product *p, xpu_value w, xpu_value scales, int64_t zero) {
    const xpu_node_info *info = xpu_node_at(p->graph, p->node);
    xpu_value inputs[XPU_IN_COUNT] = {{0}};
    xpu_attr *attrs = XPU_NEW_ARRAY(p->graph->arena, xpu_attr, info->attrs.count + 2);
    uint32_t count = 0;
    for (uint32_t i = 0; i < info->input_count; i++) inputs[i] = info->inputs[i];
    inputs[XPU_IN_W] = w;
    inputs[XPU_IN_WSCALE] = scales;
    for (uint32_t i = 0; i < info->attrs.count; i++) {
        xpu_attr_id id = info->attrs.items[i].id;
        if (id != XPU_ATTR_DTYPE && id != XPU_ATTR_W_ZERO) attrs[count++] = info->attrs.items[i];
    }
    attrs[count++] = XPU_ATTR_INT_OF(DTYPE, XPU_F32);
    attrs[count++] = XPU_ATTR_INT_OF(W_ZERO, zero);
    uint32_t operands = inputs[XPU_IN_XZERO].id ? XPU_IN_XZERO + 1 : XPU_IN_WSCALE + 1;
    return build(p, xpu_op_id_of(info->op), inputs, operands, attrs, count);
}

static xpu_status cut_constant(product *p, xpu_arena *scratch) {
    const xpu_graph *graph = p->graph;
    int is_conv = xpu_node_is(graph, p->node, XPU_OP_QCONV);
    xpu_value kept = xpu_node_input(graph, p->node, XPU_IN_W);
    int64_t zero = xpu_node_int(graph, p->node, XPU_ATTR_W_ZERO);
    xpu_tensor tensor;
    xpu_status status = xpu_const_tensor(graph, kept, scratch, &tensor, p->diags);
    if (status != XPU_OK) return status;
    size_t channels = (size_t)tensor.dims[is_conv ? 0 : tensor.rank - 1];
    size_t rest = channels ? (size_t)xpu_tensor_count(&tensor) / channels : 0;
    const weights w = {.bytes = tensor.data,
                       .is_signed = tensor.dtype == XPU_I8,
                       .zero = (int32_t)zero,
                       .outer = is_conv ? 1 : rest,
                       .channels = channels,
                       .inner = is_conv ? rest : 1};
    int groups = is_conv && xpu_node_int(graph, p->node, XPU_ATTR_GROUP) > 1;
    p->parts = count_parts(&w, most_x(p), zero == 0 || !groups, scratch);
    if (!p->parts) return XPU_OK;
    xpu_value scales = ones(p, channels, scratch);
    for (int i = 0; i < p->parts; i++) {
        p->sums[i] = p->parts == 1 ? by_weights(p, kept, scales, zero)
                                   : by_weights(p, digits_of(p, &w, &tensor, i, scratch), scales, 0);
    }
    return XPU_OK;
}

/* ---- two computed matrices, or several constant ones ---- */

/* The bytes as float32, minus their zero point: a number, or a value. */
static xpu_value difference(const product *p, xpu_value bytes, int64_t number, xpu_value value) {
    xpu_value x = converted(p, bytes, XPU_F32);
    if (value.id) return pair(p, XPU_OP_SUB, x, converted(p, value, XPU_F32));
    return number ? pair(p, XPU_OP_SUB, x, xpu_graph_const_f32(p->graph, NULL, (float)number)) : x;
}

static void cut_computed(product *p) {
    const xpu_value none = {0};
    const xpu_value_info *x = operand(p, XPU_IN_X), *w = operand(p, XPU_IN_W);
    int64_t k, x_zero = xpu_node_int(p->graph, p->node, XPU_ATTR_X_ZERO), most = most_x(p);
    int64_t w_zero = xpu_node_int(p->graph, p->node, XPU_ATTR_W_ZERO), most_w = most_of(w->dtype, w_zero, 0);
    const int32_t base = 1 << digit_bits[2];
    if (!xpu_dim_is_const(&p->graph->dims, x->dims[x->rank - 1], &k) || k > EXACT / most / base) return;
    p->parts = k <= EXACT / most / most_w ? 1 : 2;
    xpu_value left = difference(p, xpu_node_input(p->graph, p->node, XPU_IN_X), x_zero,
                                xpu_node_input(p->graph, p->node, XPU_IN_XZERO));
    xpu_value right = difference(p, xpu_node_input(p->graph, p->node, XPU_IN_W), w_zero, none);
    if (p->parts == 1) {
        p->sums[0] = pair(p, XPU_OP_MATMUL, left, right);
        return;
    }
    xpu_value half = xpu_graph_const_f32(p->graph, NULL, (float)base / 2);
    xpu_value part = xpu_graph_const_f32(p->graph, NULL, 1.0f / (float)base);
    xpu_value high = pair(p, XPU_OP_MUL, pair(p, XPU_OP_ADD, right, half), part);
    high = build(p, XPU_OP_FLOOR, &high, 1, NULL, 0);
    xpu_value shifted = pair(p, XPU_OP_MUL, high, xpu_graph_const_f32(p->graph, NULL, (float)base));
    p->sums[0] = pair(p, XPU_OP_MATMUL, left, pair(p, XPU_OP_SUB, right, shifted));
    p->sums[1] = pair(p, XPU_OP_MATMUL, left, high);
}

/* ---- the sums as int32 ---- */

static xpu_value integer_sum(const product *p) {
    xpu_value total = converted(p, p->sums[0], XPU_I32);
    for (int i = 1; i < p->parts; i++) {
        const int32_t weight = 1 << i * digit_bits[p->parts];
        const xpu_tensor tensor = {.dtype = XPU_I32, .data = (void *)(uintptr_t)&weight};
        xpu_value shifted = converted(p, p->sums[i], XPU_I32);
        shifted = pair(p, XPU_OP_MUL, shifted, xpu_graph_const_bytes(p->graph, NULL, &tensor));
        total = pair(p, XPU_OP_ADD, total, shifted);
    }
    return total;
}

/* What makes the result float32 gets the sum as it is. */
static void skip_conversions(const product *p) {
    xpu_value y = xpu_node_output(p->graph, p->node, 0);
    for (uint32_t i = xpu_value_at(p->graph, y)->uses.count; i-- > 0;) {
        xpu_node user = xpu_value_at(p->graph, y)->uses.items[i].node;
        if (!xpu_node_is(p->graph, user, XPU_OP_CONVERT)) continue;
        if (xpu_node_int(p->graph, user, XPU_ATTR_DTYPE) == XPU_F32) xpu_replace_node(p->graph, user, p->sums[0]);
    }
}

/* ---- the pass ---- */

static int is_one_matrix(const product *p) {
    const xpu_value_info *w = operand(p, XPU_IN_W);
    int64_t size;
    for (int i = 0; i < w->rank - 2; i++) {
        if (!xpu_dim_is_const(&p->graph->dims, w->dims[i], &size) || size != 1) return 0;
    }
    return 1;
}

static xpu_status cut(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    product p = {.graph = graph, .node = node, .diags = diags};
    int is_conv = xpu_node_is(graph, node, XPU_OP_QCONV), is_constant = operand(&p, XPU_IN_W)->constant != NULL;
    size_t errors = diags->errors;
    xpu_status status = XPU_OK;
    if (!has_zeros(&p)) return XPU_OK;
    if (is_constant && (is_conv || is_one_matrix(&p))) {
        xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(graph->arena), "integer products");
        status = cut_constant(&p, scratch);
        xpu_arena_free(scratch);
    } else if (!is_conv) {
        cut_computed(&p);
    }
    if (status != XPU_OK || !p.parts) return status;
    if (p.parts == 1) skip_conversions(&p);
    const xpu_value_info *y = xpu_value_at(graph, xpu_node_output(graph, node, 0));
    if (y->uses.count || y->is_output) xpu_replace_node(graph, node, integer_sum(&p));
    if (!xpu_node_at(graph, node)->dead) xpu_node_remove(graph, node);
    return xpu_diags_since(diags, errors);
}

xpu_status xpu_cut_integer_products(xpu_graph *graph, xpu_diags *diags) {
    xpu_status first = XPU_OK;
    XPU_ARRAY(xpu_node) nodes = {0};
    XPU_FOR_ALL_NODES(graph, node) {
        int is_product = xpu_node_is(graph, node, XPU_OP_QCONV) || xpu_node_is(graph, node, XPU_OP_QMATMUL);
        if (is_product && xpu_node_int(graph, node, XPU_ATTR_DTYPE) == XPU_I32 &&
            !xpu_node_input(graph, node, XPU_IN_BIAS).id)
            XPU_PUSH(graph->arena, &nodes, node);
    }
    for (uint32_t i = 0; i < nodes.count; i++) {
        xpu_status status = cut(graph, nodes.items[i], diags);
        if (first == XPU_OK) first = status;
    }
    return first;
}
