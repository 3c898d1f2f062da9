/* Batch norm behind a convolution or a matrix product goes into its weights and bias; behind a convolution a product
 * with one number or a sum with one, too. */
#include <math.h>

#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

enum { IN_X, IN_SCALE, IN_OFFSET, IN_MEAN, IN_VARIANCE };

/* The axis of the weights that is the channel; -1 where the batch norm cannot go into this producer. */
static int channel_axis(const xpu_graph *graph, xpu_node producer) {
    int rank = xpu_value_at(graph, xpu_node_output(graph, producer, 0))->rank;
    int weight_rank = xpu_value_at(graph, xpu_node_input(graph, producer, XPU_IN_W))->rank;
    if (xpu_node_is(graph, producer, XPU_OP_CONV)) return 0;
    if (xpu_node_is(graph, producer, XPU_OP_CONV_TRANSPOSE) && xpu_node_int(graph, producer, XPU_ATTR_GROUP) == 1)
        return 1;
    return xpu_node_is(graph, producer, XPU_OP_MATMUL) && rank == 2 && weight_rank == 2 ? 1 : -1;
}

/* Whether nothing stands between this producer's sum and its only user. */
static int is_open(const xpu_graph *graph, xpu_node producer) {
    if (!producer.id || !xpu_used_once(graph, producer)) return 0;
    if (channel_axis(graph, producer) < 0) return 0;
    if (xpu_node_int(graph, producer, XPU_ATTR_ACTIVATION) != XPU_ACTIVATION_NONE ||
        xpu_node_int(graph, producer, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32 ||
        xpu_node_input(graph, producer, XPU_IN_BRANCH).id) {
        return 0;
    }
    xpu_value bias = xpu_node_input(graph, producer, XPU_IN_BIAS);
    if (!xpu_is_constant(graph, xpu_node_input(graph, producer, XPU_IN_W))) return 0;
    return !bias.id || xpu_is_constant(graph, bias);
}

static int accepts(const xpu_graph *graph, xpu_node node, xpu_node producer) {
    if (!is_open(graph, producer)) return 0;
    for (uint32_t i = IN_SCALE; i <= IN_VARIANCE; i++) {
        if (!xpu_is_constant(graph, xpu_node_input(graph, node, i))) return 0;
    }
    return 1;
}

/* factor[c] = scale / sqrt(variance + epsilon), offset[c] = (bias - mean) * factor + offset, each rounded once.
 * 0 where one of them is not finite: the operator then stays as it is. */
static int combine(const xpu_graph *graph, xpu_node node, const float *const *operands, const float *bias, size_t count,
                   float *factor, float *offset) {
    double epsilon = (double)xpu_node_float(graph, node, XPU_ATTR_EPSILON);
    for (size_t c = 0; c < count; c++) {
        double f = (double)operands[IN_SCALE][c] / sqrt((double)operands[IN_VARIANCE][c] + epsilon);
        double b = bias ? (double)bias[c] : 0;
        factor[c] = (float)f;
        offset[c] = (float)((b - (double)operands[IN_MEAN][c]) * f + (double)operands[IN_OFFSET][c]);
        if (!isfinite(factor[c]) || !isfinite(offset[c])) return 0;
    }
    return 1;
}

/* `node` becomes its producer with the weights of channel c times factor[c] (NULL: as they are) and the bias
 * offset[c]. */
static xpu_status take_over(xpu_graph *graph, xpu_node node, xpu_node producer, const float *factor, float *offset,
                            int64_t count, xpu_arena *arena, xpu_diags *diags) {
    xpu_value weights = xpu_node_input(graph, producer, XPU_IN_W);
    if (factor) {
        xpu_const_step scale = {.kind = XPU_STEP_SCALE,
                                .axis = channel_axis(graph, producer),
                                .factors = factor,
                                .factor_count = (uint32_t)count};
        weights = xpu_const_derive(graph, weights, &scale, xpu_value_at(graph, weights)->name, diags);
        if (!weights.id) return xpu_diags_status(diags);
    }
    xpu_tensor vector = {.dtype = XPU_F32, .rank = 1, .dims = {count}, .data = offset};
    const char *name = xpu_printf(arena, "%s_bias", xpu_value_at(graph, xpu_node_output(graph, node, 0))->name);
    xpu_value new_bias = xpu_graph_const_bytes(graph, name, &vector);
    xpu_absorb(graph, node, producer);
    xpu_node_set_input(graph, node, XPU_IN_W, weights);
    xpu_node_set_input(graph, node, XPU_IN_BIAS, new_bias);
    return xpu_op_infer(graph, node, diags);
}

/* The producer's bias; NULL: it has none. */
static xpu_status bias_of(const xpu_graph *graph, xpu_node producer, xpu_arena *arena, const float **bias,
                          xpu_diags *diags) {
    xpu_value value = xpu_node_input(graph, producer, XPU_IN_BIAS);
    xpu_tensor tensor;
    *bias = NULL;
    if (!value.id) return XPU_OK;
    xpu_status status = xpu_const_tensor(graph, value, arena, &tensor, diags);
    if (status == XPU_OK) *bias = tensor.data;
    return status;
}

static xpu_status fold_into(xpu_graph *graph, xpu_node node, xpu_node producer, xpu_arena *arena, xpu_diags *diags) {
    const float *operands[IN_VARIANCE + 1] = {NULL}, *bias = NULL;
    xpu_tensor tensor = {.dtype = XPU_DTYPE_NONE};
    xpu_status status = XPU_OK;
    for (uint32_t i = IN_SCALE; i <= IN_VARIANCE && status == XPU_OK; i++) {
        status = xpu_const_tensor(graph, xpu_node_input(graph, node, i), arena, &tensor, diags);
        operands[i] = tensor.data;
    }
    int64_t count = xpu_tensor_count(&tensor);
    if (status == XPU_OK) status = bias_of(graph, producer, arena, &bias, diags);
    if (status != XPU_OK) return status;
    float *factor = XPU_NEW_ARRAY(arena, float, count), *offset = XPU_NEW_ARRAY(arena, float, count);
    if (!combine(graph, node, operands, bias, (size_t)count, factor, offset)) return XPU_OK;
    return take_over(graph, node, producer, factor, offset, count, arena, diags);
}

/* A product of a convolution's result and one number, or a sum: x * number, or x + number. */
static xpu_status fold_number(xpu_graph *graph, xpu_node node, xpu_node producer, float number, xpu_arena *arena,
                              xpu_diags *diags) {
    const int is_sum = xpu_node_is(graph, node, XPU_OP_ADD);
    xpu_value y = xpu_node_output(graph, producer, 0);
    const float *bias;
    int64_t count;
    if (!xpu_dim_is_const(&graph->dims, xpu_value_at(graph, y)->dims[1], &count)) return XPU_OK;
    xpu_status status = bias_of(graph, producer, arena, &bias, diags);
    if (status != XPU_OK) return status;
    float *factor = XPU_NEW_ARRAY(arena, float, count), *offset = XPU_NEW_ARRAY(arena, float, count);
    for (int64_t c = 0; c < count; c++) {
        const float before = bias ? bias[c] : 0.0f;
        factor[c] = number;
        offset[c] = is_sum ? before + number : before * number;
        if (!isfinite(factor[c]) || !isfinite(offset[c])) return XPU_OK;
    }
    return take_over(graph, node, producer, is_sum ? NULL : factor, offset, count, arena, diags);
}

static xpu_status fold_sum_or_product(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    for (uint32_t input = 0; input < 2; input++) {
        xpu_node producer = xpu_maker(graph, node, input);
        float number;
        int is_one;
        if (!producer.id || !xpu_node_is(graph, producer, XPU_OP_CONV) || !is_open(graph, producer)) continue;
        if (!xpu_same_block(graph, producer, node)) continue;
        xpu_status status = xpu_one_number(graph, xpu_node_input(graph, node, 1 - input), &number, &is_one, diags);
        if (status != XPU_OK || !is_one) return status;
        if (!xpu_value_same_shape(graph, xpu_node_output(graph, producer, 0), xpu_node_output(graph, node, 0)))
            return XPU_OK;
        xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "factor");
        status = fold_number(graph, node, producer, number, arena, diags);
        xpu_arena_free(arena);
        return status;
    }
    return XPU_OK;
}

/* A sum with a constant vector becomes the bias of the convolution before it, if that is one of `op`. */
static xpu_status fold_bias(xpu_graph *graph, xpu_node node, xpu_op_id op, xpu_diags *diags) {
    for (uint32_t input = 0; input < 2; input++) {
        xpu_node producer = xpu_maker(graph, node, input);
        if (!producer.id || !xpu_node_is(graph, producer, op) || !xpu_used_once(graph, producer)) continue;
        xpu_match match = {.nodes = {producer, node}, .operand = {0, input}};
        if (xpu_same_block(graph, producer, node) && xpu_accepts_bias(graph, &match))
            return xpu_fuse_bias(graph, &match, diags);
    }
    return XPU_OK;
}

static xpu_status fold_batch_norm(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_node producer = xpu_maker(graph, node, IN_X);
    if (!accepts(graph, node, producer)) return XPU_OK;
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "batch norm");
    xpu_status status = fold_into(graph, node, producer, arena, diags);
    xpu_arena_free(arena);
    return status;
}

int xpu_has_groups(const xpu_graph *graph) {
    XPU_FOR_ALL_NODES(graph, node) {
        if (xpu_node_is(graph, node, XPU_OP_QUANTIZE) || xpu_node_is(graph, node, XPU_OP_DEQUANTIZE)) return 1;
    }
    return 0;
}

xpu_status xpu_pass_fold_biases(xpu_graph *graph, xpu_diags *diags) {
    if (xpu_has_groups(graph)) return XPU_OK;
    xpu_status status = XPU_OK;
    XPU_FOR_ALL_NODES(graph, node) {
        if (xpu_node_is(graph, node, XPU_OP_ADD)) status = fold_bias(graph, node, XPU_OP_CONV, diags);
        if (status != XPU_OK) return status;
    }
    xpu_remove_dead(graph);
    return status;
}

xpu_status xpu_pass_fold_batch_norm(xpu_graph *graph, xpu_diags *diags) {
    const int may_round = !xpu_has_groups(graph);
    xpu_status status = XPU_OK;
    XPU_FOR_ALL_NODES(graph, node) {
        if (xpu_node_is(graph, node, XPU_OP_ADD)) /* the phases then have it */
            status = fold_bias(graph, node, XPU_OP_CONV_TRANSPOSE, diags);
        if (status == XPU_OK && xpu_node_is(graph, node, XPU_OP_BATCH_NORM))
            status = fold_batch_norm(graph, node, diags);
        if (status == XPU_OK && may_round &&
            (xpu_node_is(graph, node, XPU_OP_ADD) || xpu_node_is(graph, node, XPU_OP_MUL)))
            status = fold_sum_or_product(graph, node, diags);
        if (status == XPU_OK && may_round) status = xpu_find_hard_swish(graph, node, diags);
        if (status == XPU_OK && may_round) status = xpu_find_norm(graph, node, diags);
        if (status == XPU_OK) status = xpu_find_rotary(graph, node, diags);
        if (status == XPU_OK && may_round) status = xpu_fold_before_conv(graph, node, diags);
        if (status != XPU_OK) return status;
    }
    xpu_remove_dead(graph);
    return status;
}
