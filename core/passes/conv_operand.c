/* A product with one number in front of a convolution goes into its weights, and a sum with one number, where no pixel
 * is padding, into its bias. Where there is padding, which is 0 behind them, the factor of a product before a sum goes
 * into the weights, and its inverse into the number of the sum: x s + t = (x + t/s) s. */
#include <math.h>

#include "core/passes/rewrite.h"

/* A sum or product of a value and one number. */
typedef struct {
    xpu_node node;
    xpu_value x; /* the value */
    uint32_t input;
    float number;
} affine;

/* Whether what makes `value` is `op` of a value of its shape and one number, and has no other user. */
static xpu_status find_affine(const xpu_graph *graph, xpu_value value, xpu_op_id op, affine *found, xpu_diags *diags) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    *found = (affine){0};
    if (info->kind != XPU_VALUE_NODE || !xpu_node_is(graph, info->node, op) || info->dtype != XPU_F32) return XPU_OK;
    if (!xpu_used_once(graph, info->node)) return XPU_OK;
    for (uint32_t i = 0; i < 2; i++) {
        xpu_value x = xpu_node_input(graph, info->node, i);
        float number;
        int is_one;
        xpu_status status = xpu_one_number(graph, xpu_node_input(graph, info->node, 1 - i), &number, &is_one, diags);
        if (status != XPU_OK) return status;
        if (!is_one || xpu_is_constant(graph, x) || !xpu_value_same_shape(graph, x, value)) continue;
        *found = (affine){.node = info->node, .x = x, .input = i, .number = number};
        return XPU_OK;
    }
    return XPU_OK;
}

static int has_pads(const xpu_graph *graph, xpu_node conv) {
    uint32_t count;
    const int64_t *pads = xpu_node_ints(graph, conv, XPU_ATTR_PADS, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (pads[i] != 0) return 1;
    }
    return 0;
}

/* Factors that leave weights in the range of float32. */
static int is_moderate(float factor) {
    return fabsf(factor) > 0x1p-20f && fabsf(factor) < 0x1p20f;
}

static xpu_status scale_weights(xpu_graph *graph, xpu_node conv, float factor, xpu_diags *diags) {
    xpu_value weights = xpu_node_input(graph, conv, XPU_IN_W);
    int64_t dims[XPU_MAX_RANK];
    if (!xpu_value_dims(graph, weights, NULL, dims)) return XPU_EBUG;
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "factor");
    float *factors = XPU_NEW_ARRAY(arena, float, dims[0]);
    for (int64_t c = 0; c < dims[0]; c++) factors[c] = factor;
    const xpu_const_step scale = {
        .kind = XPU_STEP_SCALE, .axis = 0, .factors = factors, .factor_count = (uint32_t)dims[0]};
    weights = xpu_const_derive(graph, weights, &scale, xpu_value_at(graph, weights)->name, diags);
    if (weights.id) xpu_node_set_input(graph, conv, XPU_IN_W, weights);
    xpu_arena_free(arena);
    return weights.id ? XPU_OK : xpu_diags_status(diags);
}

/* The bias gets `number` times the sum of each channel's weights; *done: it is finite. */
static xpu_status shift_bias(xpu_graph *graph, xpu_node conv, float number, int *done, xpu_diags *diags) {
    xpu_value bias = xpu_node_input(graph, conv, XPU_IN_BIAS), weights = xpu_node_input(graph, conv, XPU_IN_W);
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "shift");
    xpu_tensor w, b = {.data = NULL};
    xpu_status status = xpu_const_tensor(graph, weights, arena, &w, diags);
    if (status == XPU_OK && bias.id) status = xpu_const_tensor(graph, bias, arena, &b, diags);
    *done = status == XPU_OK;
    if (status == XPU_OK) {
        int64_t channels = w.dims[0], each = channels ? xpu_tensor_count(&w) / channels : 0;
        float *shifted = XPU_NEW_ARRAY(arena, float, channels);
        for (int64_t c = 0; c < channels; c++) {
            double sum = 0;
            for (int64_t i = 0; i < each; i++) sum += (double)((const float *)w.data)[c * each + i];
            double before = b.data ? (double)((const float *)b.data)[c] : 0;
            shifted[c] = (float)(before + sum * (double)number);
            *done &= isfinite(shifted[c]) != 0;
        }
        const xpu_tensor vector = {.dtype = XPU_F32, .rank = 1, .dims = {channels}, .data = shifted};
        const char *name = xpu_printf(arena, "%s_bias", xpu_value_at(graph, xpu_node_output(graph, conv, 0))->name);
        if (*done) xpu_node_set_input(graph, conv, XPU_IN_BIAS, xpu_graph_const_bytes(graph, name, &vector));
    }
    xpu_arena_free(arena);
    return status;
}

static void read_through(xpu_graph *graph, xpu_node conv, const affine *a) {
    xpu_node_add_origins(graph, conv, a->node);
    xpu_node_set_input(graph, conv, XPU_IN_X, a->x);
    xpu_node_remove(graph, a->node);
}

static xpu_status fold_product(xpu_graph *graph, xpu_node conv, const affine *product, xpu_diags *diags) {
    xpu_status status = scale_weights(graph, conv, product->number, diags);
    if (status == XPU_OK) read_through(graph, conv, product);
    return status;
}

/* In front of padding: x s + t becomes x + t/s. */
static xpu_status fold_inner_product(xpu_graph *graph, xpu_node conv, const affine *sum, xpu_diags *diags) {
    affine product;
    xpu_status status = find_affine(graph, sum->x, XPU_OP_MUL, &product, diags);
    if (status != XPU_OK || !product.node.id || !is_moderate(product.number)) return status;
    float number = sum->number / product.number;
    if (!isfinite(number) || !xpu_same_block(graph, product.node, conv)) return XPU_OK;
    status = scale_weights(graph, conv, product.number, diags);
    if (status != XPU_OK) return status;
    const xpu_value inputs[] = {product.x, xpu_graph_const_f32(graph, NULL, number)};
    const xpu_node_info info = *xpu_node_at(graph, sum->node);
    xpu_node shifted = xpu_build(graph, sum->node, XPU_OP_ADD, inputs, 2, NULL, NULL, 0, info.origins.items,
                                 info.origins.count, diags);
    xpu_node_add_origins(graph, shifted, product.node);
    xpu_node_set_input(graph, conv, XPU_IN_X, xpu_node_output(graph, shifted, 0));
    xpu_node_remove(graph, sum->node);
    xpu_node_remove(graph, product.node);
    return XPU_OK;
}

static xpu_status fold_sum(xpu_graph *graph, xpu_node conv, const affine *sum, int *done, xpu_diags *diags) {
    xpu_status status = shift_bias(graph, conv, sum->number, done, diags);
    if (status == XPU_OK && *done) read_through(graph, conv, sum);
    return status;
}

xpu_status xpu_fold_before_conv(xpu_graph *graph, xpu_node conv, xpu_diags *diags) {
    xpu_value bias = xpu_node_input(graph, conv, XPU_IN_BIAS);
    if (!xpu_node_is(graph, conv, XPU_OP_CONV) || xpu_node_int(graph, conv, XPU_ATTR_PRECISION)) return XPU_OK;
    if (!xpu_is_constant(graph, xpu_node_input(graph, conv, XPU_IN_W))) return XPU_OK;
    if (bias.id && !xpu_is_constant(graph, bias)) return XPU_OK;
    for (int again = 1; again;) {
        affine sum, product;
        again = 0;
        xpu_value x = xpu_node_input(graph, conv, XPU_IN_X);
        xpu_status status = find_affine(graph, x, XPU_OP_ADD, &sum, diags);
        if (status == XPU_OK) status = find_affine(graph, x, XPU_OP_MUL, &product, diags);
        if (status != XPU_OK) return status;
        if (sum.node.id && xpu_same_block(graph, sum.node, conv)) {
            if (has_pads(graph, conv)) return fold_inner_product(graph, conv, &sum, diags);
            status = fold_sum(graph, conv, &sum, &again, diags);
        } else if (product.node.id && xpu_same_block(graph, product.node, conv) && is_moderate(product.number)) {
            status = fold_product(graph, conv, &product, diags);
            again = 1;
        }
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}
