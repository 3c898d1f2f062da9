/*
 * Integers with zero points, which PaddlePaddle has none of: products of what is left of bytes without their zero
 * points, in float32. Its own products of integers are float32 inside. Sums stay below 2^24, where float32 has all
 * integers: long ones are two, of the operand's upper and lower four bits.
 */
#include "convert/paddle_writer.h"

enum { MOST = 255, EXACT = 1 << 24 };

/* How many products an element of the result sums up; 0: not known. */
static int64_t depth_of(pw *w) {
    const pw_type weights = pw_operand_type(w, 1);
    const int is_conv = xpu_node_is(w->graph, w->node, XPU_OP_QCONV);
    int64_t depth = 1, size;
    if (!is_conv)
        return xpu_dim_is_const(&w->graph->dims, weights.dims[weights.rank > 1 ? weights.rank - 2 : 0], &size) ? size
                                                                                                               : 0;
    for (int i = 1; i < weights.rank; i++) {
        if (!xpu_dim_is_const(&w->graph->dims, weights.dims[i], &size)) return 0;
        depth *= size;
    }
    return depth;
}

static const char *without_zero(pw *w, uint32_t operand, xpu_attr_id zero) {
    const pw_type from = pw_operand_type(w, operand), real = pw_as(from, XPU_F32);
    const xpu_node_info *info = xpu_node_at(w->graph, w->node);
    const int64_t point = xpu_node_int(w->graph, w->node, zero);
    const char *x = pw_cast(w, NULL, pw_operand(w, operand), &from, XPU_F32);
    if (point) x = pw_scale(w, NULL, x, &real, 1, (float)-point);
    if (operand || XPU_IN_XZERO >= info->input_count || !info->inputs[XPU_IN_XZERO].id) return x;
    const pw_type zero_type = pw_operand_type(w, XPU_IN_XZERO);
    const char *computed = pw_cast(w, NULL, pw_operand(w, XPU_IN_XZERO), &zero_type, XPU_F32);
    return pw_binary(w, NULL, "elementwise_sub", &real, x, computed);
}

/* The node on float32, of these operands, into `result`. */
static void product(pw *w, const char *x, const char *weights, const char *result) {
    static const pw_row conv = {.name = "conv2d"}, matmul = {.name = "matmul_v2"};
    const xpu_value values[] = {xpu_node_input(w->graph, w->node, 0), xpu_node_input(w->graph, w->node, 1),
                                xpu_node_output(w->graph, w->node, 0)};
    const char *before[3], *now[] = {x, weights, result};
    for (int i = 0; i < 3; i++) {
        before[i] = pw_name(w, values[i]);
        w->values.items[values[i].id] = now[i];
    }
    w->as_float32 = 1;
    if (xpu_node_is(w->graph, w->node, XPU_OP_QCONV))
        pw_write_conv(w, &conv);
    else
        pw_write_matmul(w, &matmul);
    w->as_float32 = 0;
    for (int i = 3; i-- > 0;) w->values.items[values[i].id] = before[i];
}

/* base^2 and more fit the operand's magnitudes, and sums of its digits float32. 0: they do not. */
static int digits_for(int64_t depth, int *base) {
    static const int bases[] = {MOST + 1, 16, 8, 4};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        int digits = 1;
        *base = bases[i];
        for (int most = MOST + 1; most > *base; most /= *base) digits++;
        if (depth && depth <= EXACT / (MOST * *base)) return digits;
    }
    return 0;
}

void pw_write_integer_product(pw *w, const pw_row *row) {
    const pw_type y = pw_result_type(w, 0), real = pw_as(y, XPU_F32), whole = pw_as(pw_operand_type(w, 0), XPU_F32);
    int base;
    const int digits = digits_for(depth_of(w), &base);
    (void)row;
    if (pw_operand(w, XPU_IN_BIAS) || y.dtype != XPU_I32) {
        pw_refuse(w, XPU_REFUSED_PASSES);
        return;
    }
    if (!digits) {
        pw_refuse(w, XPU_REFUSED_INTEGER_SUMS);
        return;
    }
    const char *x = without_zero(w, 0, XPU_ATTR_X_ZERO), *weights = without_zero(w, 1, XPU_ATTR_W_ZERO), *all = NULL;
    int64_t factor = 1;
    for (int i = 0; i < digits; i++, factor *= base) {
        const int is_last = i + 1 == digits;
        const char *digit = x, *sums = pw_new(w, "sums", &real);
        if (!is_last) {
            const char *upper =
                pw_make(w, NULL, NULL, "floor", &whole, pw_scale(w, NULL, x, &whole, 1.0f / (float)base, 0), NULL);
            digit = pw_binary(w, NULL, "elementwise_sub", &whole, x, pw_scale(w, NULL, upper, &whole, (float)base, 0));
            x = upper;
        }
        product(w, digit, weights, sums);
        sums = pw_cast(w, digits == 1 ? pw_result(w, 0) : NULL, sums, &real, XPU_I32);
        if (i) sums = pw_binary(w, NULL, "elementwise_mul", &y, sums, pw_scalar(w, XPU_I32, (double)factor));
        all = all ? pw_binary(w, is_last ? pw_result(w, 0) : NULL, "elementwise_add", &y, all, sums) : sums;
    }
}

static const char *extreme(pw *w, const char *flat, const pw_type *one, const char *type, const char *bound) {
    pw_op *op;
    const char *y = pw_make(w, &op, NULL, type, one, flat, NULL);
    pw_reduction(w, op, one, 0, 1);
    return pw_binary(w, NULL, bound, one, y, pw_number(w, XPU_F32, 0));
}

static const char *clipped(pw *w, const char *x, const pw_type *type) {
    pw_op *op;
    x = pw_make(w, &op, NULL, "clip", type, x, NULL);
    pw_float(w, op, "min", 0);
    pw_float(w, op, "max", 255);
    return x;
}

/* uint8 of the operand's own range: step (high - low) / 255, or 1 where that is 0, and the level of 0. */
void pw_write_dynamic_quantize(pw *w, const pw_row *row) {
    const pw_type x = pw_operand_type(w, 0), step_type = pw_result_type(w, 1), zero_type = pw_result_type(w, 2),
                  bytes = pw_result_type(w, 0), one = pw_scalar_list(w, XPU_F32, 1), flag = pw_as(one, XPU_BOOL);
    pw_type flat = one;
    (void)row;
    for (int i = 0; i < x.rank; i++) flat.dims[0] = xpu_dim_mul(&w->graph->dims, flat.dims[0], x.dims[i]);
    const char *list = x.rank == 1 ? pw_operand(w, 0) : pw_reshape(w, NULL, pw_operand(w, 0), &x, &flat);
    const char *high = extreme(w, list, &one, "reduce_max", "elementwise_max"),
               *low = extreme(w, list, &one, "reduce_min", "elementwise_min");
    const char *span = pw_binary(w, NULL, "elementwise_sub", &one, high, low);
    const char *is_flat = pw_binary(w, NULL, "less_equal", &flag, span, pw_number(w, XPU_F32, 0));
    const char *step = pw_new(w, "step", &one);
    pw_where(w, step, is_flat, pw_number(w, XPU_F32, 1),
             pw_binary(w, NULL, "elementwise_div", &one, span, pw_number(w, XPU_F32, 255)));
    const char *zero = pw_binary(w, NULL, "elementwise_div", &one, pw_scale(w, NULL, low, &one, -1, 0), step);
    zero = clipped(w, pw_round(w, NULL, zero, &one), &one);
    const char *levels = pw_binary(w, NULL, "elementwise_div", &x, pw_operand(w, 0), step);
    levels = pw_binary(w, NULL, "elementwise_add", &x, pw_round(w, NULL, levels, &x), zero);
    pw_cast(w, pw_result(w, 0), clipped(w, levels, &x), &x, bytes.dtype);
    pw_reshape(w, pw_result(w, 1), step, &one, &step_type);
    const pw_type number = pw_as(zero_type, XPU_F32);
    pw_cast(w, pw_result(w, 2), pw_reshape(w, NULL, zero, &one, &number), &number, zero_type.dtype);
}
