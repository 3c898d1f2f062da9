/*
 * Attention as one layer: scores, factor, mask, softmax and values of a block of queries in a core's LM
 * (xpu_runtime/kernels/attention_f32.c). The cores take what the softmax takes and two multiply-accumulates for each
 * score and channel; in integers the array takes less for wide heads, but for narrow ones neither fills the array nor
 * makes up for packing, scales of rows and scores that go to memory and back.
 */
#include "xpu_codegen/choose/attention.h"

#include <math.h>

#include "core/passes/rewrite.h"
#include "xpu_codegen/choose/computed_weights.h"
#include "xpu_codegen/values.h"

enum {
    LEAST_ROWS = 8,   /* fewer queries leave most of a vector empty */
    MOST_NARROW = 32, /* channels of a head: with 64 the array is faster */
    FLOAT_BYTES = 4
};

/* What stands between the product of queries and keys and the softmax. */
typedef struct {
    xpu_node scores, chain, softmax;
    xpu_value mask; /* {0}: none */
    float scale, masked;
} attention;

static xpu_dim dim_from_end(const xpu_codegen *cg, xpu_value value, int i) {
    return xpu_value_dim(cg, value, xpu_value_at(cg->graph, value)->rank - i);
}

static int is_same_dim(const xpu_codegen *cg, xpu_dim a, xpu_dim b) {
    return xpu_dim_same(&cg->graph->dims, a, b);
}

/* A layer of the chip that `user` alone reads. */
static int is_own(const xpu_codegen *cg, xpu_node node, xpu_op_id op, xpu_node user) {
    return node.id && xpu_node_is(cg->graph, node, op) && xpu_used_once(cg->graph, node) &&
           xpu_same_block(cg->graph, node, user) && !xpu_on_host(cg, node) && !xpu_is_foreign(cg, node) &&
           xpu_node_at(cg->graph, node)->region == xpu_node_at(cg->graph, user)->region;
}

/* A product of two computed lists of matrices, as many of each. */
static int is_product(xpu_codegen *cg, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X), w = xpu_node_input(cg->graph, node, XPU_IN_W);
    int rank = xpu_value_at(cg->graph, x)->rank, alike = rank == xpu_value_at(cg->graph, w)->rank;
    if (!xpu_is_plain_product(cg, node) || xpu_is_const_value(cg, x) || xpu_is_const_value(cg, w)) return 0;
    for (int i = 0; alike && i < rank - 2; i++) {
        alike = is_same_dim(cg, xpu_value_dim(cg, x, i), xpu_value_dim(cg, w, i));
    }
    return alike;
}

/* ---- what is between ---- */

static int one_number(const xpu_codegen *cg, xpu_value value, float *number) {
    int is_one = 0;
    return xpu_one_number(cg->graph, value, number, &is_one, cg->diags) == XPU_OK && is_one;
}

/* One mask for all matrices: [.., M, T] behind dims of 1. */
static int is_mask(xpu_codegen *cg, xpu_value mask, xpu_value scores) {
    const xpu_value_info *info = xpu_value_at(cg->graph, mask);
    if (info->dtype != XPU_BOOL || info->rank < 2 || info->rank > xpu_value_at(cg->graph, scores)->rank) return 0;
    for (int i = 0; i < info->rank - 2; i++) {
        if (!xpu_dim_equal(info->dims[i], xpu_dim_of(cg, 1))) return 0;
    }
    return is_same_dim(cg, dim_from_end(cg, mask, 1), dim_from_end(cg, scores, 1)) &&
           is_same_dim(cg, dim_from_end(cg, mask, 2), dim_from_end(cg, scores, 2));
}

/* A factor that is a number, then a mask; value `at` of the chain, which has `inputs`, has come so far. */
static int takes_step(xpu_codegen *cg, attention *a, const xpu_chain *chain, const xpu_value *inputs,
                      const xpu_chain_step *step, uint32_t at, xpu_value scores) {
    const uint8_t *operand = step->operands;
    float number;
    switch (step->op) {
    case XPU_EW_mul_scalar: a->scale *= step->immediates[0]; return operand[0] == at && !a->mask.id;
    case XPU_EW_div:
        if (operand[0] != at || operand[1] >= chain->input_count || a->mask.id) return 0;
        if (!one_number(cg, inputs[operand[1]], &number)) return 0;
        a->scale /= number;
        return 1;
    case XPU_EW_where:
        if (operand[1] != at || operand[0] >= chain->input_count || operand[2] >= chain->input_count || a->mask.id)
            return 0;
        a->mask = inputs[operand[0]];
        return one_number(cg, inputs[operand[2]], &a->masked) && is_mask(cg, a->mask, scores);
    default: return 0;
    }
}

static int takes_chain(xpu_codegen *cg, attention *a, xpu_value scores) {
    const xpu_chain *chain = xpu_chain_of(cg->graph, a->chain);
    const xpu_value *inputs = xpu_node_at(cg->graph, a->chain)->inputs;
    uint32_t at = UINT32_MAX;
    for (uint32_t i = 0; i < chain->input_count; i++) {
        if (inputs[i].id == scores.id) at = i;
    }
    for (uint32_t i = 0; i < chain->step_count; i++) {
        if (!takes_step(cg, a, chain, inputs, &chain->steps[i], at, scores)) return 0;
        at = chain->input_count + i;
    }
    return isfinite(a->scale) && a->scale != 0;
}

/* Whether a core's LM certainly has room for what the kernel needs at least. */
static int fits_lm(const xpu_codegen *cg, int64_t inner, int64_t width) {
    if (inner > XPU_ATTENTION_MOST_INNER || width > XPU_ATTENTION_MOST_INNER) return 0;
    const uint32_t lanes = XPU_ATTENTION_LANES;
    const int64_t bytes = FLOAT_BYTES * (int64_t)xpu_attention_floats(lanes, lanes, (uint32_t)inner, (uint32_t)width);
    return bytes <= xpu_lm_room(cg);
}

/* Takes apart what makes the weights of `product`; 0 where it is something else. */
static int find_attention(xpu_codegen *cg, xpu_node product, attention *a) {
    const xpu_graph *graph = cg->graph;
    *a = (attention){.scale = 1};
    if (!xpu_node_is(graph, product, XPU_OP_MATMUL) || !is_product(cg, product)) return 0;
    a->softmax = xpu_maker(graph, product, XPU_IN_X);
    if (!is_own(cg, a->softmax, XPU_OP_SOFTMAX, product)) return 0;
    xpu_value weights = xpu_node_input(graph, product, XPU_IN_X), values = xpu_node_input(graph, product, XPU_IN_W);
    if (xpu_node_int(graph, a->softmax, XPU_ATTR_AXIS) != xpu_value_at(graph, weights)->rank - 1) return 0;
    xpu_node maker = xpu_maker(graph, a->softmax, 0), reader = a->softmax;
    if (is_own(cg, maker, XPU_OP_CHAIN, a->softmax)) {
        reader = a->chain = maker;
        maker = (xpu_node){0};
        for (uint32_t i = 0; i < xpu_node_at(graph, reader)->input_count && !maker.id; i++) {
            xpu_node other = xpu_maker(graph, reader, i);
            if (is_own(cg, other, XPU_OP_MATMUL, reader)) maker = other;
        }
    }
    if (!is_own(cg, maker, XPU_OP_MATMUL, reader) || !is_product(cg, maker)) return 0;
    a->scores = maker;
    xpu_value scores = xpu_node_output(graph, maker, XPU_OUT_Y);
    if (!xpu_value_same_shape(graph, scores, weights) || (a->chain.id && !takes_chain(cg, a, scores))) return 0;
    xpu_value queries = xpu_node_input(graph, maker, XPU_IN_X);
    for (int i = 1; i <= 2; i++) {
        if (xpu_dim_min(&graph->dims, dim_from_end(cg, queries, i)) < 1) return 0;
        if (xpu_dim_min(&graph->dims, dim_from_end(cg, values, i)) < 1) return 0;
    }
    if (xpu_dim_likely(cg, dim_from_end(cg, queries, 2)) < LEAST_ROWS) return 0;
    return fits_lm(cg, xpu_dim_upper(cg, dim_from_end(cg, queries, 1)), xpu_dim_upper(cg, dim_from_end(cg, values, 1)));
}

xpu_node xpu_scores_of(xpu_codegen *cg, xpu_node product) {
    attention a;
    if (!find_attention(cg, product, &a)) return (xpu_node){0};
    return xpu_is_transposed(cg, xpu_node_input(cg->graph, a.scores, XPU_IN_W)) ? a.scores : (xpu_node){0};
}

int xpu_is_narrow_attention(xpu_codegen *cg, xpu_node product) {
    xpu_value values = xpu_node_input(cg->graph, product, XPU_IN_W);
    xpu_value queries = xpu_node_input(cg->graph, xpu_scores_of(cg, product), XPU_IN_X);
    return xpu_dim_upper(cg, dim_from_end(cg, queries, 1)) <= MOST_NARROW &&
           xpu_dim_upper(cg, dim_from_end(cg, values, 1)) <= MOST_NARROW;
}

/* The layer stands for all of their operators; the last one names it. */
static void join_origins(xpu_graph *graph, xpu_node node, const attention *a) {
    xpu_node parts[3];
    uint32_t count = 0;
    parts[count++] = a->scores;
    if (a->chain.id) parts[count++] = a->chain;
    parts[count++] = a->softmax;
    xpu_node_lead_origins(graph, node, parts, count);
}

xpu_status xpu_join_attention(xpu_codegen *cg, xpu_node product) {
    xpu_graph *graph = cg->graph;
    attention a;
    if (!find_attention(cg, product, &a)) return xpu_codegen_bug(cg, "attention is none", "of product %u", product.id);
    xpu_value transposed = xpu_node_input(graph, a.scores, XPU_IN_W);
    const xpu_value inputs[] = {[XPU_IN_QUERIES] = xpu_node_input(graph, a.scores, XPU_IN_X),
                                [XPU_IN_KEYS] = xpu_before_transpose(cg, a.scores, transposed),
                                [XPU_IN_VALUES] = xpu_node_input(graph, product, XPU_IN_W),
                                [XPU_IN_MASK] = a.mask};
    const xpu_attr attrs[] = {XPU_ATTR_FLOAT_OF(SCALE, a.scale), XPU_ATTR_FLOAT_OF(VALUE, a.masked)};
    join_origins(graph, product, &a);
    xpu_rewrite(graph, product, XPU_OP_ATTENTION, inputs, a.mask.id ? 4 : 3, attrs, 2);
    const xpu_node gone[] = {a.softmax, a.chain, a.scores, xpu_value_at(graph, transposed)->node};
    for (uint32_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        if (gone[i].id) xpu_node_remove(graph, gone[i]);
    }
    return xpu_op_infer(graph, product, cg->diags);
}
