/* Pattern actions for the tables of targets: what may follow a convolution or matrix product inside one layer. */
#include <math.h>

#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

/* The operand of match->nodes[1] that is not the result of match->nodes[0]. */
static xpu_value other_operand(const xpu_graph *graph, const xpu_match *match) {
    return xpu_node_input(graph, match->nodes[1], 1 - match->operand[1]);
}

static int is_plain(const xpu_graph *graph, xpu_node node) {
    return xpu_node_int(graph, node, XPU_ATTR_ACTIVATION) == XPU_ACTIVATION_NONE &&
           xpu_node_int(graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_FP32 &&
           !xpu_node_input(graph, node, XPU_IN_BRANCH).id;
}

static int keeps_shape(const xpu_graph *graph, const xpu_match *match) {
    return xpu_value_same_shape(graph, xpu_node_output(graph, match->nodes[0], 0),
                                xpu_node_output(graph, match->nodes[1], 0));
}

/* A product that may have no inner dim: on its own it is zeros then. */
static int may_be_zeros(const xpu_graph *graph, xpu_node producer) {
    const xpu_value_info *x = xpu_value_at(graph, xpu_node_input(graph, producer, XPU_IN_X));
    return xpu_node_is(graph, producer, XPU_OP_MATMUL) && xpu_dim_min(&graph->dims, x->dims[x->rank - 1]) < 1;
}

static int channel_dim(const xpu_graph *graph, xpu_node producer) {
    int rank = xpu_value_at(graph, xpu_node_output(graph, producer, 0))->rank;
    return xpu_node_is(graph, producer, XPU_OP_MATMUL) ? rank - 1 : 1;
}

/* Elements of a constant that varies along the channels of the result at most; 0 where it varies along other dims. */
static int64_t channel_vector(const xpu_graph *graph, xpu_node producer, xpu_value constant) {
    const xpu_value_info *result = xpu_value_at(graph, xpu_node_output(graph, producer, 0));
    const xpu_value_info *info = xpu_value_at(graph, constant);
    int channel = channel_dim(graph, producer);
    int64_t dims[XPU_MAX_RANK], count = 1;
    if (info->dtype != XPU_F32 || !xpu_value_dims(graph, constant, NULL, dims)) return 0;
    for (int i = 0; i < info->rank; i++) {
        if (dims[i] != 1 && i + result->rank - info->rank != channel) return 0;
        count *= dims[i];
    }
    return count;
}

int xpu_accepts_bias(const xpu_graph *graph, const xpu_match *match) {
    xpu_value vector = other_operand(graph, match);
    return is_plain(graph, match->nodes[0]) && !xpu_node_input(graph, match->nodes[0], XPU_IN_BIAS).id &&
           xpu_is_constant(graph, vector) && keeps_shape(graph, match) && !may_be_zeros(graph, match->nodes[0]) &&
           channel_vector(graph, match->nodes[0], vector) > 0;
}

/* The constant as a vector over `channels`. */
static xpu_value bias_vector(xpu_graph *graph, xpu_value constant, int64_t count, int64_t channels, xpu_diags *diags) {
    const char *name = xpu_value_at(graph, constant)->name;
    if (count == channels) {
        xpu_const_step flat = {.kind = XPU_STEP_RESHAPE, .rank = 1, .dims = {channels}};
        if (xpu_value_at(graph, constant)->rank == 1) return constant;
        return xpu_const_derive(graph, constant, &flat, name, diags);
    }
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "bias");
    xpu_tensor one, all = {.dtype = XPU_F32, .rank = 1, .dims = {channels}};
    xpu_value result = {0};
    if (xpu_const_tensor(graph, constant, arena, &one, diags) == XPU_OK) {
        float *data = XPU_NEW_ARRAY(arena, float, channels);
        for (int64_t i = 0; i < channels; i++) data[i] = *(const float *)one.data;
        all.data = data;
        result = xpu_graph_const_bytes(graph, name, &all);
    }
    xpu_arena_free(arena);
    return result;
}

xpu_status xpu_fuse_bias(xpu_graph *graph, const xpu_match *match, xpu_diags *diags) {
    xpu_node producer = match->nodes[0], node = match->nodes[1];
    xpu_value constant = other_operand(graph, match);
    const xpu_value_info *result = xpu_value_at(graph, xpu_node_output(graph, producer, 0));
    int64_t channels;
    if (!xpu_dim_is_const(&graph->dims, result->dims[channel_dim(graph, producer)], &channels)) return XPU_OK;
    xpu_value bias = bias_vector(graph, constant, channel_vector(graph, producer, constant), channels, diags);
    if (!bias.id) return xpu_diags_status(diags);
    xpu_absorb(graph, node, producer);
    xpu_node_set_input(graph, node, XPU_IN_BIAS, bias);
    return xpu_op_infer(graph, node, diags);
}

int xpu_accepts_branch(const xpu_graph *graph, const xpu_match *match) {
    xpu_value branch = other_operand(graph, match);
    return !xpu_node_input(graph, match->nodes[0], XPU_IN_BRANCH).id && !xpu_is_constant(graph, branch) &&
           xpu_node_int(graph, match->nodes[0], XPU_ATTR_PRECISION) == XPU_PRECISION_FP32 &&
           keeps_shape(graph, match) && !may_be_zeros(graph, match->nodes[0]) &&
           xpu_value_same_shape(graph, branch, xpu_node_output(graph, match->nodes[0], 0));
}

xpu_status xpu_fuse_branch(xpu_graph *graph, const xpu_match *match, xpu_diags *diags) {
    xpu_node producer = match->nodes[0], node = match->nodes[1];
    xpu_value branch = other_operand(graph, match);
    int after = xpu_node_int(graph, producer, XPU_ATTR_ACTIVATION) != XPU_ACTIVATION_NONE;
    xpu_absorb(graph, node, producer);
    xpu_node_set_input(graph, node, XPU_IN_BRANCH, branch);
    xpu_node_set_attr(graph, node, &XPU_ATTR_INT_OF(BRANCH_AFTER, after));
    return xpu_op_infer(graph, node, diags);
}

int xpu_accepts_activation(const xpu_graph *graph, const xpu_match *match) {
    return xpu_node_int(graph, match->nodes[0], XPU_ATTR_ACTIVATION) == XPU_ACTIVATION_NONE &&
           !may_be_zeros(graph, match->nodes[0]) &&
           xpu_node_int(graph, match->nodes[0], XPU_ATTR_PRECISION) == XPU_PRECISION_FP32;
}

xpu_status xpu_fuse_activation(xpu_graph *graph, const xpu_match *match, xpu_diags *diags) {
    xpu_node node = match->nodes[1];
    int leaky = xpu_node_is(graph, node, XPU_OP_LEAKY_RELU), clip = xpu_node_is(graph, node, XPU_OP_CLIP);
    float low = clip ? xpu_node_float(graph, node, XPU_ATTR_LOW) : 0;
    float high = clip ? xpu_node_float(graph, node, XPU_ATTR_HIGH) : INFINITY;
    float alpha = leaky ? xpu_node_float(graph, node, XPU_ATTR_ALPHA) : 0;
    xpu_absorb(graph, node, match->nodes[0]);
    xpu_node_set_attr(graph, node, &XPU_ATTR_INT_OF(ACTIVATION, leaky ? XPU_ACTIVATION_LEAKY : XPU_ACTIVATION_CLIP));
    if (leaky) {
        xpu_node_set_attr(graph, node, &XPU_ATTR_FLOAT_OF(ALPHA, alpha));
    } else {
        xpu_node_set_attr(graph, node, &XPU_ATTR_FLOAT_OF(LOW, low));
        xpu_node_set_attr(graph, node, &XPU_ATTR_FLOAT_OF(HIGH, high));
    }
    return xpu_op_infer(graph, node, diags);
}

static int64_t groups_of(const xpu_graph *graph, xpu_node product) {
    return xpu_node_is(graph, product, XPU_OP_QCONV) ? xpu_node_int(graph, product, XPU_ATTR_GROUP) : 1;
}

static int takes_quantised_branch(const xpu_graph *graph, xpu_node product) {
    return xpu_node_input(graph, product, XPU_IN_WSCALE).id && !xpu_node_input(graph, product, XPU_IN_BRANCH).id &&
           groups_of(graph, product) == 1;
}

/* Of a sum of two products the first one takes it. */
static int first_takes_sum(const xpu_graph *graph, const xpu_match *match) {
    xpu_value first = xpu_node_input(graph, match->nodes[1], 0);
    xpu_node product = xpu_value_at(graph, first)->node;
    return match->operand[1] == 1 && product.id && xpu_used_once(graph, product) &&
           (xpu_node_is(graph, product, XPU_OP_QCONV) || xpu_node_is(graph, product, XPU_OP_QMATMUL)) &&
           xpu_value_same_shape(graph, first, xpu_node_output(graph, match->nodes[1], 0)) &&
           takes_quantised_branch(graph, product);
}

int xpu_accepts_quantised_branch(const xpu_graph *graph, const xpu_match *match) {
    xpu_node product = match->nodes[0];
    xpu_value branch = other_operand(graph, match);
    return takes_quantised_branch(graph, product) && !first_takes_sum(graph, match) &&
           !xpu_is_constant(graph, branch) && keeps_shape(graph, match) &&
           xpu_value_same_shape(graph, branch, xpu_node_output(graph, product, 0));
}

/* The sum rounds fma(a, a's factor, fma(b, b's factor, f)): which operand the product is, branch_first says. */
xpu_status xpu_fuse_quantised_branch(xpu_graph *graph, const xpu_match *match, xpu_diags *diags) {
    static const xpu_attr_id taken[] = {XPU_ATTR_ADDEND, XPU_ATTR_DTYPE, XPU_ATTR_Y_LOW, XPU_ATTR_Y_HIGH};
    enum { TAKEN = sizeof taken / sizeof *taken };
    xpu_node product = match->nodes[0], node = match->nodes[1];
    xpu_value branch = other_operand(graph, match);
    const int first = match->operand[1] == 1;
    const float of_a = xpu_node_float(graph, node, XPU_ATTR_X_FACTOR);
    const float of_b = xpu_node_float(graph, node, XPU_ATTR_B_FACTOR);
    const xpu_attr made[] = {XPU_ATTR_INT_OF(MID_ZERO, xpu_node_int(graph, product, XPU_ATTR_Y_ZERO)),
                             XPU_ATTR_INT_OF(MID_LOW, xpu_node_int(graph, product, XPU_ATTR_Y_LOW)),
                             XPU_ATTR_INT_OF(MID_HIGH, xpu_node_int(graph, product, XPU_ATTR_Y_HIGH)),
                             XPU_ATTR_FLOAT_OF(X_FACTOR, first ? of_b : of_a),
                             XPU_ATTR_FLOAT_OF(B_FACTOR, first ? of_a : of_b),
                             XPU_ATTR_INT_OF(BRANCH_FIRST, first)};
    xpu_attr sum[TAKEN];
    for (int i = 0; i < TAKEN; i++) sum[i] = *xpu_node_attr(graph, node, taken[i]);
    xpu_absorb(graph, node, product);
    for (int i = 0; i < TAKEN; i++) xpu_node_set_attr(graph, node, &sum[i]);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) xpu_node_set_attr(graph, node, &made[i]);
    xpu_node_set_input(graph, node, XPU_IN_BRANCH, branch);
    return xpu_op_infer(graph, node, diags);
}
