/*
 * Quantised groups: DEQUANTIZE of the operands, a float operator, QUANTIZE of its result become one operator on
 * integers, with the roundings of ONNX's QLinear operators. What is found is in docs/arithmetic.md; everything else
 * keeps its literal meaning.
 */
#include <string.h>

#include "core/arith.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

typedef struct {
    xpu_graph *graph;
    xpu_arena *arena;
    xpu_diags *diags;
} pass;

/* What a QUANTIZE or DEQUANTIZE does: constant scales, one zero point. */
typedef struct {
    xpu_value q; /* the integers */
    xpu_dtype dtype;
    const float *scales;
    int64_t count; /* of scales; 1: per tensor */
    int axis;
    int32_t zero;
    int is_positive; /* every scale is more than 0 */
} scheme;

static int32_t lowest(xpu_dtype dtype) {
    return dtype == XPU_I8 ? INT8_MIN : 0;
}

static int32_t highest(xpu_dtype dtype) {
    return dtype == XPU_I8 ? INT8_MAX : UINT8_MAX;
}

/* ---- reading ---- */

static const void *constant_bytes(const pass *p, xpu_value value, xpu_tensor *tensor) {
    if (!xpu_is_constant(p->graph, value)) return NULL;
    return xpu_const_tensor(p->graph, value, p->arena, tensor, p->diags) == XPU_OK ? tensor->data : NULL;
}

/* The one zero point; 0 where the channels' differ. Elements wider than a byte must be 0. */
static int read_zero(const pass *p, xpu_node node, scheme *s) {
    xpu_value zero = xpu_node_input(p->graph, node, 2);
    xpu_tensor tensor;
    s->zero = 0;
    if (!zero.id) return 1;
    const uint8_t *bytes = constant_bytes(p, zero, &tensor);
    if (!bytes) return 0;
    size_t size = xpu_tensor_bytes(&tensor);
    if (xpu_is_byte(tensor.dtype)) s->zero = tensor.dtype == XPU_I8 ? (int8_t)bytes[0] : bytes[0];
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != (uint8_t)s->zero) return 0;
    }
    return 1;
}

static int is_finite(float x) {
    return xa_magnitude_bits(x) < xa_bits(xa_inf());
}

/* `node` is a QUANTIZE or DEQUANTIZE; `integers` its integer side. 0 where its parameters are not of this kind. */
static int read_scheme(const pass *p, xpu_node node, xpu_value integers, scheme *s) {
    xpu_tensor tensor;
    *s = (scheme){.q = integers, .dtype = xpu_value_at(p->graph, integers)->dtype};
    s->scales = constant_bytes(p, xpu_node_input(p->graph, node, 1), &tensor);
    if (!s->scales || !read_zero(p, node, s)) return 0;
    s->count = xpu_tensor_count(&tensor);
    s->axis = (int)xpu_node_int(p->graph, node, XPU_ATTR_AXIS);
    s->is_positive = 1;
    for (int64_t i = 0; i < s->count; i++) {
        if (!is_finite(xa_mul(s->scales[i], 512.0f))) return 0; /* any difference of two bytes can be dequantised */
        s->is_positive &= s->scales[i] > 0;
    }
    return s->count > 0;
}

/* The integers behind a float value. */
static int dequantised(const pass *p, xpu_value value, scheme *s) {
    if (!value.id || xpu_value_at(p->graph, value)->kind != XPU_VALUE_NODE) return 0;
    xpu_node node = xpu_value_at(p->graph, value)->node;
    return xpu_node_is(p->graph, node, XPU_OP_DEQUANTIZE) && read_scheme(p, node, xpu_node_input(p->graph, node, 0), s);
}

/* The same for 8-bit integers with one scale. */
static int dequantised_bytes(const pass *p, xpu_value value, scheme *s) {
    return dequantised(p, value, s) && xpu_is_byte(s->dtype) && s->count == 1;
}

static int same_scheme(const scheme *a, const scheme *b) {
    return a->dtype == b->dtype && a->count == 1 && b->count == 1 && a->scales[0] == b->scales[0] && a->zero == b->zero;
}

/* ---- moving DEQUANTIZE behind what only moves elements ---- */

/* The axis of the scales behind the operator; -1: it is lost. */
static int moved_axis(const pass *p, xpu_node node, const scheme *s) {
    if (s->count == 1) return 0;
    if (!xpu_node_is(p->graph, node, XPU_OP_TRANSPOSE))
        return xpu_node_is(p->graph, node, XPU_OP_IDENTITY) ? s->axis : -1;
    uint32_t count;
    const int64_t *perm = xpu_node_ints(p->graph, node, XPU_ATTR_PERM, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (perm[i] == s->axis) return (int)i;
    }
    return -1;
}

static int moves_elements(const pass *p, xpu_node node, const scheme *s) {
    if (xpu_node_has(p->graph, node, XPU_TRAIT_VIEW)) return 1;
    return xpu_node_is(p->graph, node, XPU_OP_MAX_POOL) && xpu_is_byte(s->dtype) && s->count == 1 && s->is_positive;
}

static xpu_status sink(pass *p, xpu_node node) {
    xpu_graph *graph = p->graph;
    xpu_value x = xpu_node_input(graph, node, 0);
    scheme s;
    if (xpu_node_at(graph, node)->input_count != 1 || !dequantised(p, x, &s) || !moves_elements(p, node, &s)) {
        return XPU_OK;
    }
    int axis = moved_axis(p, node, &s);
    if (axis < 0) return XPU_OK;
    xpu_node maker = xpu_value_at(graph, x)->node;
    xpu_value scale = xpu_node_input(graph, maker, 1), zero = xpu_node_input(graph, maker, 2);
    xpu_node_info info = *xpu_node_at(graph, node);
    xpu_node moved = xpu_build(graph, node, xpu_op_id_of(info.op), &s.q, 1, NULL, info.attrs.items, info.attrs.count,
                               info.origins.items, info.origins.count, p->diags);
    xpu_value operands[] = {xpu_node_output(graph, moved, 0), scale, zero};
    xpu_rewrite(graph, node, XPU_OP_DEQUANTIZE, operands, zero.id ? 3 : 2, &XPU_ATTR_INT_OF(AXIS, axis), 1);
    return xpu_op_infer(graph, node, p->diags);
}

/* ---- groups ---- */

/* A QUANTIZE, what it quantises, and what stands between: at most an activation that clamps the integers. */
typedef struct {
    xpu_node quantise, producer, activation; /* activation {0}: none */
    scheme y;
    int32_t low, high; /* of the result */
} group;

/* `group.quantise` becomes `op`; operands may be {0} at the end. */
static xpu_status become(pass *p, const group *g, xpu_op_id op, const xpu_value *operands, uint32_t count,
                         const xpu_attr *attrs, uint32_t attr_count) {
    xpu_graph *graph = p->graph;
    xpu_attr all[16];
    uint32_t used = 0;
    const xpu_node_info *producer = xpu_node_at(graph, g->producer);
    for (uint32_t i = 0; i < producer->attrs.count && producer->op != xpu_op_of(op); i++) {
        if (xpu_op_attr(xpu_op_of(op), producer->attrs.items[i].id)) all[used++] = producer->attrs.items[i];
    }
    for (uint32_t i = 0; i < attr_count; i++) all[used++] = attrs[i];
    xpu_rewrite(graph, g->quantise, op, operands, count, all, used);
    const xpu_node parts[] = {g->producer, g->activation};
    xpu_node_lead_origins(graph, g->quantise, parts, g->activation.id ? 2 : 1);
    return xpu_op_infer(graph, g->quantise, p->diags);
}

static xpu_value vector_of(pass *p, const char *name, const float *values, int64_t count) {
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 1, .dims = {count}, .data = (void *)(uintptr_t)values};
    return xpu_graph_const_bytes(p->graph, name, &tensor);
}

/* Whether a bias has the scale of the sums, x_scale * w_scale of its channel, but for roundings of float32. */
static int has_scale_of_sums(const scheme *bias, const scheme *x, const scheme *w) {
    const float tolerance = 0x1p-20f;
    for (int64_t c = 0; c < bias->count || c < w->count; c++) {
        float scale = bias->scales[bias->count == 1 ? 0 : c];
        float sums = xa_mul(x->scales[0], w->scales[w->count == 1 ? 0 : c]);
        if (!(xa_abs(xa_sub(scale, sums)) <= xa_mul(xa_abs(sums), tolerance))) return 0;
    }
    return 1;
}

/* The int32 bias of a product; *bias {0} where there is none. 0: it is of another kind. */
static int read_bias(const pass *p, xpu_node node, const scheme *x, const scheme *w, xpu_value *bias) {
    xpu_value value = xpu_node_input(p->graph, node, XPU_IN_BIAS);
    scheme s;
    *bias = (xpu_value){0};
    if (!value.id) return 1;
    if (!dequantised(p, value, &s) || s.dtype != XPU_I32 || s.zero != 0) return 0;
    if (!has_scale_of_sums(&s, x, w)) return 0;
    *bias = s.q;
    return xpu_value_at(p->graph, s.q)->rank == 1;
}

static int64_t output_channels(const pass *p, xpu_value w, int axis) {
    int64_t channels;
    return xpu_dim_is_const(&p->graph->dims, xpu_value_at(p->graph, w)->dims[axis], &channels) ? channels : 0;
}

static int make_product(pass *p, const group *g, xpu_status *status) {
    int is_conv = xpu_node_is(p->graph, g->producer, XPU_OP_CONV);
    xpu_value float_w = xpu_node_input(p->graph, g->producer, XPU_IN_W), bias;
    scheme x, w;
    if (!dequantised_bytes(p, xpu_node_input(p->graph, g->producer, XPU_IN_X), &x) || !dequantised(p, float_w, &w) ||
        !xpu_is_byte(w.dtype) || xpu_node_input(p->graph, g->producer, XPU_IN_BRANCH).id) {
        return 0;
    }
    int axis = is_conv ? 0 : xpu_value_at(p->graph, float_w)->rank - 1;
    int64_t channels = output_channels(p, float_w, axis);
    if (channels < 1 || (w.count != 1 && (w.axis != axis || w.count != channels))) return 0;
    if (!read_bias(p, g->producer, &x, &w, &bias)) return 0;
    float *factors = XPU_NEW_ARRAY(p->arena, float, channels);
    for (int64_t c = 0; c < channels; c++) {
        factors[c] = xa_requantize_scale(x.scales[0], w.scales[w.count == 1 ? 0 : c], g->y.scales[0]);
        if (!is_finite(factors[c])) return 0;
    }
    const char *name = xpu_printf(p->arena, "%s/factors", xpu_value_at(p->graph, g->y.q)->name);
    xpu_value operands[] = {[XPU_IN_X] = x.q,
                            [XPU_IN_W] = w.q,
                            [XPU_IN_BIAS] = bias,
                            [XPU_IN_BRANCH] = {0},
                            [XPU_IN_WSCALE] = vector_of(p, name, factors, channels)};
    xpu_attr attrs[] = {XPU_ATTR_INT_OF(DTYPE, g->y.dtype), XPU_ATTR_INT_OF(X_ZERO, x.zero),
                        XPU_ATTR_INT_OF(W_ZERO, w.zero),    XPU_ATTR_INT_OF(Y_ZERO, g->y.zero),
                        XPU_ATTR_INT_OF(Y_LOW, g->low),     XPU_ATTR_INT_OF(Y_HIGH, g->high)};
    *status = become(p, g, is_conv ? XPU_OP_QCONV : XPU_OP_QMATMUL, operands, XPU_IN_WSCALE + 1, attrs, 6);
    return 1;
}

/* The bytes of `node`'s result, whose operands are constants, as a table of the group; {0}: they do not fold. */
static xpu_value folded_table(pass *p, const group *g, xpu_node node) {
    xpu_tensor result;
    if (!constant_bytes(p, xpu_node_output(p->graph, node, 0), &result)) return (xpu_value){0};
    const char *name = xpu_printf(p->arena, "%s/table", xpu_value_at(p->graph, g->y.q)->name);
    return xpu_graph_const_bytes(p->graph, name, &result);
}

static xpu_value all_bytes(pass *p, xpu_dtype dtype) {
    uint8_t bytes[256];
    for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)i;
    const xpu_tensor all = {.dtype = dtype, .rank = 1, .dims = {256}, .data = bytes};
    return xpu_graph_const_bytes(p->graph, NULL, &all);
}

/* A constant of one byte that leaves the other operand its shape. */
static int is_one_byte(pass *p, xpu_value value, xpu_value other, xpu_tensor *tensor) {
    return xpu_value_at(p->graph, value)->rank <= xpu_value_at(p->graph, other)->rank &&
           constant_bytes(p, value, tensor) && xpu_tensor_bytes(tensor) == 1 && !xpu_is_constant(p->graph, other);
}

/* A sum or product with one constant byte is a function of a byte: a table, of what the operator makes of all. */
static xpu_value table_of_pair(pass *p, const group *g, xpu_op_id op, const xpu_value operands[2],
                               const xpu_attr *attrs, uint32_t count, int of) {
    xpu_tensor one;
    if (!is_one_byte(p, operands[!of], operands[of], &one)) return (xpu_value){0};
    one.rank = 0;
    xpu_value values[2];
    values[of] = all_bytes(p, xpu_value_at(p->graph, operands[of])->dtype);
    values[!of] = xpu_graph_const_bytes(p->graph, NULL, &one);
    return folded_table(p, g, xpu_build(p->graph, g->quantise, op, values, 2, NULL, attrs, count, NULL, 0, p->diags));
}

static xpu_status become_pair(pass *p, const group *g, xpu_op_id op, const xpu_value operands[2], const xpu_attr *attrs,
                              uint32_t count) {
    for (int i = 0; i < 2; i++) {
        const xpu_value pair[] = {operands[i], table_of_pair(p, g, op, operands, attrs, count, i)};
        if (pair[1].id) return become(p, g, XPU_OP_LOOKUP, pair, 2, NULL, 0);
    }
    return become(p, g, op, operands, 2, attrs, count);
}

static int make_pair(pass *p, const group *g, xpu_status *status) {
    scheme a, b;
    if (!dequantised_bytes(p, xpu_node_input(p->graph, g->producer, 0), &a) ||
        !dequantised_bytes(p, xpu_node_input(p->graph, g->producer, 1), &b)) {
        return 0;
    }
    xpu_value operands[] = {a.q, b.q};
    float y_scale = g->y.scales[0];
    if (xpu_node_is(p->graph, g->producer, XPU_OP_ADD)) {
        xa_qadd_constants k = xa_qadd_prepare(a.scales[0], a.zero, b.scales[0], b.zero, y_scale, g->y.zero);
        if (!is_finite(k.ra) || !is_finite(k.rb) || !is_finite(k.f)) return 0;
        xpu_attr attrs[] = {XPU_ATTR_INT_OF(DTYPE, g->y.dtype), XPU_ATTR_FLOAT_OF(X_FACTOR, k.ra),
                            XPU_ATTR_FLOAT_OF(B_FACTOR, k.rb),  XPU_ATTR_FLOAT_OF(ADDEND, k.f),
                            XPU_ATTR_INT_OF(Y_LOW, g->low),     XPU_ATTR_INT_OF(Y_HIGH, g->high)};
        *status = become_pair(p, g, XPU_OP_QADD, operands, attrs, 6);
        return 1;
    }
    float factor = xa_qmul_scale(a.scales[0], b.scales[0], y_scale);
    if (!is_finite(factor)) return 0;
    xpu_attr attrs[] = {XPU_ATTR_INT_OF(DTYPE, g->y.dtype),  XPU_ATTR_INT_OF(X_ZERO, a.zero),
                        XPU_ATTR_INT_OF(B_ZERO, b.zero),     XPU_ATTR_INT_OF(Y_ZERO, g->y.zero),
                        XPU_ATTR_FLOAT_OF(X_FACTOR, factor), XPU_ATTR_INT_OF(Y_LOW, g->low),
                        XPU_ATTR_INT_OF(Y_HIGH, g->high)};
    *status = become_pair(p, g, XPU_OP_QMUL, operands, attrs, 7);
    return 1;
}

static int make_global_average(pass *p, const group *g, xpu_status *status) {
    scheme x;
    if (!dequantised_bytes(p, xpu_node_input(p->graph, g->producer, 0), &x)) return 0;
    xpu_attr attrs[] = {XPU_ATTR_INT_OF(DTYPE, g->y.dtype), XPU_ATTR_FLOAT_OF(X_SCALE, x.scales[0]),
                        XPU_ATTR_INT_OF(X_ZERO, x.zero), XPU_ATTR_FLOAT_OF(Y_SCALE, g->y.scales[0]),
                        XPU_ATTR_INT_OF(Y_ZERO, g->y.zero)};
    *status = become(p, g, XPU_OP_QGLOBAL_AVERAGE_POOL, &x.q, 1, attrs, 5);
    return 1;
}

/* ---- tables ---- */

/* The function DEQUANTIZE, then `unary` ({0}: nothing), then the group's QUANTIZE, of all 256 bytes: built as nodes,
 * which fold. */
static xpu_value table_of(pass *p, const group *g, const scheme *x, xpu_node unary) {
    xpu_graph *graph = p->graph;
    xpu_tensor zero = {.dtype = x->dtype, .data = &(uint8_t){(uint8_t)x->zero}};
    xpu_value operands[] = {all_bytes(p, x->dtype), vector_of(p, NULL, x->scales, 1),
                            xpu_graph_const_bytes(graph, NULL, &zero)};
    xpu_node node = xpu_build(graph, g->quantise, XPU_OP_DEQUANTIZE, operands, 3, NULL, NULL, 0, NULL, 0, p->diags);
    if (unary.id) {
        xpu_node_info info = *xpu_node_at(graph, unary);
        xpu_value value = xpu_node_output(graph, node, 0);
        node = xpu_build(graph, g->quantise, xpu_op_id_of(info.op), &value, 1, NULL, info.attrs.items, info.attrs.count,
                         NULL, 0, p->diags);
    }
    zero = (xpu_tensor){.dtype = g->y.dtype, .data = &(uint8_t){(uint8_t)g->y.zero}};
    operands[0] = xpu_node_output(graph, node, 0);
    operands[1] = vector_of(p, NULL, g->y.scales, 1);
    operands[2] = xpu_graph_const_bytes(graph, NULL, &zero);
    node = xpu_build(graph, g->quantise, XPU_OP_QUANTIZE, operands, 3, NULL, &XPU_ATTR_INT_OF(DTYPE, g->y.dtype), 1,
                     NULL, 0, p->diags);
    return folded_table(p, g, node);
}

static int make_lookup(pass *p, const group *g, xpu_status *status) {
    scheme x;
    int is_unary = !xpu_node_is(p->graph, g->producer, XPU_OP_DEQUANTIZE);
    xpu_value value = is_unary ? xpu_node_input(p->graph, g->producer, 0) : xpu_node_input(p->graph, g->quantise, 0);
    if (!dequantised_bytes(p, value, &x)) return 0;
    if (!is_unary && same_scheme(&x, &g->y)) return xpu_replace_node(p->graph, g->quantise, x.q);
    xpu_value operands[] = {x.q, table_of(p, g, &x, is_unary ? g->producer : (xpu_node){0})};
    if (!operands[1].id) return 0;
    *status = become(p, g, XPU_OP_LOOKUP, operands, 2, NULL, 0);
    return 1;
}

static int make_concat(pass *p, const group *g, xpu_status *status) {
    xpu_graph *graph = p->graph;
    uint32_t count = xpu_node_at(graph, g->producer)->input_count;
    xpu_value *operands = XPU_NEW_ARRAY(p->arena, xpu_value, count);
    scheme x;
    for (uint32_t i = 0; i < count; i++) {
        if (!dequantised_bytes(p, xpu_node_input(graph, g->producer, i), &x)) return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        dequantised_bytes(p, xpu_node_input(graph, g->producer, i), &x);
        operands[i] = x.q;
        if (same_scheme(&x, &g->y)) continue;
        xpu_value pair[] = {x.q, table_of(p, g, &x, (xpu_node){0})};
        if (!pair[1].id) return 0;
        const xpu_node_info *producer = xpu_node_at(graph, g->producer);
        xpu_node node = xpu_build(graph, g->quantise, XPU_OP_LOOKUP, pair, 2, NULL, NULL, 0, producer->origins.items,
                                  producer->origins.count, p->diags);
        operands[i] = xpu_node_output(graph, node, 0);
    }
    xpu_attr axis = XPU_ATTR_INT_OF(AXIS, xpu_node_int(graph, g->producer, XPU_ATTR_AXIS));
    *status = become(p, g, XPU_OP_CONCAT, operands, count, &axis, 1);
    return 1;
}

/* ---- what stays in float32 ---- */

/* The operand of `node` is of the group's result's type: then onnxruntime has a QLinear operator for them. */
static int has_one_type(const pass *p, const group *g, xpu_node node) {
    scheme x;
    return dequantised_bytes(p, xpu_node_input(p->graph, node, 0), &x) && x.dtype == g->y.dtype;
}

/* Whether onnxruntime moves a QuantizeLinear in front of the node: behind Flatten, of all that moves elements, it
 * stays. */
static int lets_quantise_pass(const pass *p, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(p->graph, node);
    const char *op = info->origins.count ? p->graph->origins.items[info->origins.items[0]].op : NULL;
    return xpu_node_has(p->graph, node, XPU_TRAIT_VIEW) && (!op || strcmp(op, "Flatten") != 0);
}

/* QLinearSoftmax multiplies by floor(1 / y_scale) instead of dividing by y_scale: the same for powers of two. Up to
 * opset 12 a RESHAPE stands behind the softmax. */
static int make_softmax(pass *p, const group *g, xpu_status *status) {
    xpu_graph *graph = p->graph;
    const float factor = __builtin_floorf(1.0f / g->y.scales[0]), one = 1;
    xpu_node softmax = g->producer;
    while (softmax.id && lets_quantise_pass(p, softmax) && xpu_used_once(graph, softmax))
        softmax = xpu_maker(graph, softmax, 0);
    if (!softmax.id || !xpu_node_is(graph, softmax, XPU_OP_SOFTMAX) || !xpu_used_once(graph, softmax)) return 0;
    if (!has_one_type(p, g, softmax) || !g->y.is_positive || !is_finite(factor)) return 0;
    if (factor > 0 && (xa_bits(g->y.scales[0]) & 0x7fffff) == 0) return 0;
    const xpu_node_info *producer = xpu_node_at(graph, g->producer);
    const char *name = xpu_printf(p->arena, "%s/factor", xpu_value_at(graph, g->y.q)->name);
    xpu_value product[] = {xpu_node_output(graph, g->producer, 0), vector_of(p, name, &factor, 1)};
    xpu_node scaled = xpu_build(graph, g->quantise, XPU_OP_MUL, product, 2, NULL, NULL, 0, producer->origins.items,
                                producer->origins.count, p->diags);
    xpu_value zero = xpu_node_input(graph, g->quantise, 2);
    xpu_value operands[] = {xpu_node_output(graph, scaled, 0), vector_of(p, NULL, &one, 1), zero};
    xpu_rewrite(graph, g->quantise, XPU_OP_QUANTIZE, operands, zero.id ? 3 : 2, &XPU_ATTR_INT_OF(DTYPE, g->y.dtype), 1);
    *status = xpu_op_infer(graph, g->quantise, p->diags);
    return 1;
}

/* QLinearAveragePool adds row by row, and the zero point before it rounds. */
static int make_average(pass *p, const group *g, xpu_status *status) {
    xpu_graph *graph = p->graph;
    if (!has_one_type(p, g, g->producer)) return 0;
    xpu_attr attrs[8] = {0};
    uint32_t count = 0;
    const xpu_node_info *info = xpu_node_at(graph, g->producer);
    for (uint32_t i = 0; i < info->attrs.count; i++)
        if (info->attrs.items[i].id != XPU_ATTR_BY_COLUMNS) attrs[count++] = info->attrs.items[i];
    xpu_value x = xpu_node_input(graph, g->producer, 0);
    xpu_rewrite(graph, g->producer, XPU_OP_AVERAGE_POOL, &x, 1, attrs, count);
    *status = xpu_op_infer(graph, g->producer, p->diags);
    const xpu_value operands[] = {xpu_node_input(graph, g->quantise, 0), xpu_node_input(graph, g->quantise, 1),
                                  xpu_node_input(graph, g->quantise, 2)};
    xpu_attr quantise[] = {XPU_ATTR_INT_OF(DTYPE, g->y.dtype), XPU_ATTR_INT_OF(ZERO_FIRST, 1)};
    xpu_rewrite(graph, g->quantise, XPU_OP_QUANTIZE, operands, operands[2].id ? 3 : 2, quantise, 2);
    if (*status == XPU_OK) *status = xpu_op_infer(graph, g->quantise, p->diags);
    return 1;
}

/* ---- the pass ---- */

typedef int (*maker)(pass *p, const group *g, xpu_status *status);

static const struct {
    xpu_op_id op;
    maker make;
    int clamps; /* its result, to limits that a relu or clip behind it may narrow */
} makers[] = {
    {XPU_OP_CONV, make_product, 1},      {XPU_OP_MATMUL, make_product, 1},
    {XPU_OP_ADD, make_pair, 1},          {XPU_OP_MUL, make_pair, 1},
    {XPU_OP_CONCAT, make_concat, 0},     {XPU_OP_GLOBAL_AVERAGE_POOL, make_global_average, 0},
    {XPU_OP_DEQUANTIZE, make_lookup, 0}, {XPU_OP_SOFTMAX, make_softmax, 0},
    {XPU_OP_RESHAPE, make_softmax, 0},   {XPU_OP_TRANSPOSE, make_softmax, 0},
    {XPU_OP_IDENTITY, make_softmax, 0},  {XPU_OP_AVERAGE_POOL, make_average, 0},
};
enum { MAKER_COUNT = sizeof makers / sizeof *makers };

static maker maker_of(const pass *p, xpu_node producer) {
    const xpu_op *op = xpu_node_at(p->graph, producer)->op;
    for (size_t i = 0; i < MAKER_COUNT; i++) {
        if (op == xpu_op_of(makers[i].op)) return makers[i].make;
    }
    return op->elementwise >= 0 && op->max_inputs == 1 ? make_lookup : NULL;
}

static int clamps(const pass *p, xpu_node producer) {
    for (size_t i = 0; i < MAKER_COUNT; i++) {
        if (xpu_node_is(p->graph, producer, makers[i].op)) return makers[i].clamps;
    }
    return 0;
}

/* relu and clip of what clamps its result anyway: the order of rounding and clamping does not matter. */
static void take_activation(const pass *p, group *g) {
    const xpu_graph *graph = p->graph;
    int is_relu = xpu_node_is(graph, g->producer, XPU_OP_RELU);
    if (!is_relu && !xpu_node_is(graph, g->producer, XPU_OP_CLIP)) return;
    if (!g->y.is_positive) return; /* it would turn the limits round */
    xpu_node before = xpu_maker(graph, g->producer, 0);
    if (!before.id || !xpu_used_once(graph, before) || !clamps(p, before)) return;
    float low = is_relu ? 0.0f : xpu_node_float(graph, g->producer, XPU_ATTR_LOW);
    float high = is_relu ? xa_inf() : xpu_node_float(graph, g->producer, XPU_ATTR_HIGH);
    g->high = xa_quantize(high, g->y.scales[0], g->y.zero, g->low, g->high);
    g->low = xa_quantize(low, g->y.scales[0], g->y.zero, g->low, g->high); /* a clip's high wins */
    g->activation = g->producer;
    g->producer = before;
}

static xpu_status recognise(pass *p, xpu_node node) {
    group g = {.quantise = node, .producer = xpu_maker(p->graph, node, 0)};
    xpu_status status = XPU_OK;
    if (!g.producer.id || !read_scheme(p, node, xpu_node_output(p->graph, node, 0), &g.y) || g.y.count != 1 ||
        !xpu_is_byte(g.y.dtype) || g.y.scales[0] == 0) {
        return XPU_OK;
    }
    if (!xpu_node_is(p->graph, g.producer, XPU_OP_DEQUANTIZE) && !xpu_used_once(p->graph, g.producer)) return XPU_OK;
    g.low = lowest(g.y.dtype);
    g.high = highest(g.y.dtype);
    take_activation(p, &g);
    maker make = maker_of(p, g.producer);
    if (make) make(p, &g, &status);
    return status;
}

typedef enum { SINK, RECOGNISE, STAGES } stage;

static xpu_status run_stage(xpu_graph *graph, stage now, xpu_block block, xpu_diags *diags) {
    xpu_status status = XPU_OK;
    for (xpu_node node = xpu_block_at(graph, block)->first, next; node.id && status == XPU_OK; node = next) {
        pass p = {graph, xpu_arena_new(xpu_arena_mem(graph->arena), "quantised"), diags};
        next = xpu_node_next(graph, node);
        if (now == SINK) {
            status = sink(&p, node);
        } else if (xpu_node_is(graph, node, XPU_OP_QUANTIZE)) {
            status = recognise(&p, node);
        }
        xpu_arena_free(p.arena);
    }
    return status;
}

xpu_status xpu_pass_quantised(xpu_graph *graph, xpu_diags *diags) {
    xpu_status status = XPU_OK;
    for (stage now = SINK; now < STAGES; now++) {
        XPU_FOR_BLOCKS(graph, block) {
            if (status == XPU_OK) status = run_stage(graph, now, block, diags);
        }
    }
    xpu_remove_dead(graph);
    return status;
}
