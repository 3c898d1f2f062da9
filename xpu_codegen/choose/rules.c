/* What the target takes: operators, the rules that they must meet, and the patterns that it fuses. */
#include "xpu_codegen/choose/rules.h"
#include "xpu_runtime/include/xpu_kernel_args.h"

#include <string.h>

#include "core/ops/resample.h"
#include "core/passes/passes.h"
#include "xpu_codegen/choose/byte_tasks.h"
#include "xpu_codegen/choose/chain_loops.h"
#include "xpu_codegen/choose/elementwise.h"
#include "xpu_codegen/choose/tiles.h"

enum { WORD_BYTES = 4 };
static const int64_t tensor_limit = INT32_MAX;

static xpu_codegen *codegen_of(const xpu_rule_query *query) {
    xpu_codegen *cg = query->job->state;
    cg->graph = query->job->graph;
    return cg;
}

static const char *type_text(const xpu_rule_query *query, xpu_value value) {
    return xpu_type_text(query->job->graph, value, query->job->arena);
}

/* ---- every operand and result ---- */

typedef int (*value_test)(const xpu_graph *graph, const xpu_value_info *info);

/* Tests every operand and result that is there; the first that fails is the offending value. */
static int all_values(xpu_rule_query *query, value_test test) {
    const xpu_graph *graph = query->job->graph;
    const xpu_node_info *info = xpu_node_at(graph, query->node);
    for (uint32_t i = 0; i < info->input_count + info->output_count; i++) {
        int is_input = i < info->input_count;
        xpu_value value = is_input ? info->inputs[i] : info->outputs[i - info->input_count];
        if (!value.id || test(graph, xpu_value_at(graph, value))) continue;
        query->value = xpu_printf(query->job->arena, "%s %u is %s", is_input ? "operand" : "result",
                                  is_input ? i : i - info->input_count, type_text(query, value));
        return 0;
    }
    return 1;
}

/* A dim that may be 0, but for the inner one of a product, is one of the first result, too, which then has no elements
 * either: the layer does nothing. */
static int empties_result(const xpu_graph *graph, xpu_node node, const xpu_value_info *operand, int inner) {
    const xpu_value_info *y = xpu_value_at(graph, xpu_node_output(graph, node, 0));
    const int alone = xpu_node_at(graph, node)->output_count == 1; /* other results would have to be made */
    for (int i = 0; i < operand->rank; i++) {
        int found = i == inner || xpu_dim_min(&graph->dims, operand->dims[i]) > 0;
        for (int d = 0; d < y->rank && alone && !found; d++)
            found = xpu_dim_same(&graph->dims, operand->dims[i], y->dims[d]);
        if (!found) return 0;
    }
    return 1;
}
static int empty_operand_holds(xpu_rule_query *query) {
    const xpu_graph *graph = query->job->graph;
    const xpu_node_info *info = xpu_node_at(graph, query->node);
    if (xpu_is_empty(codegen_of(query), info->outputs[0]) && info->output_count == 1) return 1;
    const int plain = xpu_is_plain_product(codegen_of(query), query->node);
    for (uint32_t i = 0; i < info->input_count; i++) {
        xpu_value x = info->inputs[i];
        if (!x.id) continue;
        int inner = plain ? xpu_value_at(graph, x)->rank - 1 - (i == XPU_IN_W) : -1;
        if (empties_result(graph, query->node, xpu_value_at(graph, x), inner)) continue;
        query->value = xpu_printf(query->job->arena, "operand %u is %s", i, type_text(query, x));
        return 0;
    }
    return 1;
}
static const xpu_rule empty_operand = {"empty-operand", "an operand has elements, at any shape at which the result has",
                                       "give symbols a range in which the dimension is not empty", empty_operand_holds};

/* Of larger shapes the runtime makes sure: what has a place in memory is smaller. */
static int is_small(const xpu_graph *graph, const xpu_value_info *info) {
    int64_t bytes = (int64_t)xpu_dtype_bytes(info->dtype);
    for (int i = 0; i < info->rank; i++) {
        if (__builtin_mul_overflow(bytes, xpu_dim_min(&graph->dims, info->dims[i]), &bytes)) return 0;
    }
    return bytes <= tensor_limit;
}
static int tensor_size_holds(xpu_rule_query *query) {
    return all_values(query, is_small);
}
static const xpu_rule tensor_size = {"tensor-size", "every tensor of the smallest shape is smaller than 2 GiB",
                                     "give the symbols smaller values with --shape", tensor_size_holds};

/* ---- single operators ---- */

static int constant_weights_holds(xpu_rule_query *query) {
    xpu_value w = xpu_node_input(query->job->graph, query->node, XPU_IN_W);
    if (xpu_is_const_value(codegen_of(query), w)) return 1;
    query->value = xpu_printf(query->job->arena, "they are computed: '%s'",
                              xpu_escape(query->job->arena, xpu_value_at(query->job->graph, w)->name, 80));
    return 0;
}
static const xpu_rule constant_weights = {"constant-weights", "the weights of a convolution are a constant",
                                          "export the model with its weights as initialisers", constant_weights_holds};

static int is_single(xpu_codegen *cg, xpu_value value) {
    int rank = xpu_value_at(cg->graph, value)->rank;
    return xpu_dim_equal(xpu_dims_product(cg, value, 0, rank - 2), xpu_dim_of(cg, 1));
}

static int leading_dims_holds(xpu_rule_query *query) {
    xpu_codegen *cg = codegen_of(query);
    xpu_value a = xpu_node_input(cg->graph, query->node, XPU_IN_X);
    xpu_value b = xpu_node_input(cg->graph, query->node, XPU_IN_W);
    if (is_single(cg, a) || is_single(cg, b)) return 1;
    int a_rank = xpu_value_at(cg->graph, a)->rank, b_rank = xpu_value_at(cg->graph, b)->rank, equal = a_rank == b_rank;
    for (int i = 0; equal && i < a_rank - 2; i++) {
        equal = xpu_dim_same(&cg->graph->dims, xpu_value_dim(cg, a, i), xpu_value_dim(cg, b, i));
    }
    if (!equal) {
        query->value = xpu_printf(query->job->arena, "they are %s and %s", type_text(query, a), type_text(query, b));
    }
    return equal;
}
static const xpu_rule leading_dims = {
    "matmul-leading-dims", "the leading dimensions of both matrices are equal, or one operand is a single matrix",
    "expand the smaller operand in the model", leading_dims_holds};

static int pool_rank_holds(xpu_rule_query *query) {
    xpu_value x = xpu_node_input(query->job->graph, query->node, 0);
    if (xpu_value_at(query->job->graph, x)->rank <= 4) return 1;
    query->value = xpu_printf(query->job->arena, "the operand is %s", type_text(query, x));
    return 0;
}
static const xpu_rule pool_rank = {"pool-rank", "a pooling window has one or two spatial dimensions",
                                   "reshape the operand to [N,C,H,W]", pool_rank_holds};

static int move_rank_holds(xpu_rule_query *query) {
    const xpu_graph *graph = query->job->graph;
    xpu_value y = xpu_node_output(graph, query->node, 0);
    int words = xpu_dtype_bytes(xpu_value_at(graph, y)->dtype) > WORD_BYTES;
    if (xpu_value_at(graph, y)->rank + words <= XPU_COPY_DIMS) return 1;
    query->value = xpu_printf(query->job->arena, "the result is %s", type_text(query, y));
    return 0;
}
static const xpu_rule move_rank = {"move-rank",
                                   "elements are moved in at most six dimensions (five of 8-byte elements)",
                                   "merge dimensions with a reshape before", move_rank_holds};

static int repeat_rank_holds(xpu_rule_query *query) {
    const xpu_graph *graph = query->job->graph;
    xpu_value y = xpu_node_output(graph, query->node, 0);
    uint32_t count;
    const int64_t *repeats = xpu_node_ints(graph, query->node, XPU_ATTR_REPEATS, &count);
    int dims = xpu_dtype_bytes(xpu_value_at(graph, y)->dtype) > WORD_BYTES;
    for (uint32_t i = 0; i < count; i++) dims += repeats[i] > 1 ? 2 : 1;
    if (dims <= XPU_COPY_DIMS) return 1;
    query->value = xpu_printf(query->job->arena, "the result is %s", type_text(query, y));
    return 0;
}
static const xpu_rule repeat_rank = {
    "repeat-rank", "elements are repeated in six dimensions, two for each repeated one (five of 8-byte elements)",
    "merge dimensions with a reshape before, or repeat one after the other", repeat_rank_holds};

static int resample_taps_holds(xpu_rule_query *query) {
    const xpu_graph *graph = query->job->graph;
    if (xpu_resample_bound(graph, query->node)) return 1;
    query->value = xpu_printf(query->job->arena, "the operand is %s, the result %s",
                              type_text(query, xpu_node_input(graph, query->node, 0)),
                              type_text(query, xpu_node_output(graph, query->node, 0)));
    return 0;
}
static const xpu_rule resample_taps = {"resample-taps",
                                       "an element of a resampled axis is a sum over at most 512 elements, for all "
                                       "values of the symbols",
                                       "resize in several steps, or fix the shape with --shape", resample_taps_holds};

static int pad_inside_holds(xpu_rule_query *query) {
    const xpu_graph *graph = query->job->graph;
    const xpu_pad_mode mode = xpu_node_pad_mode(graph, query->node);
    if (mode == XPU_PAD_CONSTANT) return 1;
    uint32_t count;
    const int64_t *pads = xpu_node_ints(graph, query->node, XPU_ATTR_PADS, &count);
    xpu_value x = xpu_node_input(graph, query->node, 0);
    for (uint32_t i = 0; i < count; i++) {
        int64_t least = xpu_dim_min(&graph->dims, xpu_value_at(graph, x)->dims[i % (count / 2)]);
        if (pads[i] >= 0 && (mode == XPU_PAD_EDGE ? least > 0 : pads[i] < least)) continue;
        query->value = xpu_printf(query->job->arena, "pad %u is %lld, the operand is %s", i, (long long)pads[i],
                                  type_text(query, x));
        return 0;
    }
    return 1;
}
static const xpu_rule pad_inside = {
    "pad-inside", "reflect and edge padding crop nothing, and a reflection is shorter than its dimension",
    "split cropping and padding in the model, or give the symbols a larger minimum", pad_inside_holds};

static int pad_word_holds(xpu_rule_query *query) {
    const xpu_graph *graph = query->job->graph;
    if (xpu_node_pad_mode(graph, query->node) != XPU_PAD_CONSTANT) return 1;
    xpu_value x = xpu_node_input(graph, query->node, 0);
    float word, value = xpu_node_float(graph, query->node, XPU_ATTR_VALUE);
    if (xpu_pad_word(xpu_value_at(graph, x)->dtype, value, &word)) return 1;
    query->value =
        xpu_printf(query->job->arena, "the value is %.9g, the operand is %s", (double)value, type_text(query, x));
    return 0;
}
static const xpu_rule pad_word = {"pad-word",
                                  "padding of 8-byte elements has a value with equal halves, as 0 and -1 have",
                                  "pad with 0 or -1", pad_word_holds};

static int chain_loops_holds(xpu_rule_query *query) {
    xpu_chain_loops loops;
    if (xpu_chain_plan(codegen_of(query), query->node, XPU_LAYOUT_LINEAR, &loops, NULL)) return 1;
    query->value = xpu_printf(query->job->arena, "it needs %d", loops.rank);
    return 0;
}
static const xpu_rule chain_loops = {"chain-loops", "an elementwise operator needs at most four loops",
                                     "expand broadcast operands in the model", chain_loops_holds};

static int chain_values_holds(xpu_rule_query *query) {
    enum { MOST_LIVE = 8 };
    uint32_t live = xpu_chain_most_live(xpu_chain_of(query->job->graph, query->node));
    xpu_chain_types types;
    int typed = xpu_chain_types_of_node(query->job->graph, query->node, &types) && !types.is_float32;
    if (live <= MOST_LIVE || typed) return 1;
    query->value = xpu_printf(query->job->arena, "it needs %u", live);
    return 0;
}
static const xpu_rule chain_values = {"chain-values",
                                      "an elementwise chain of float32 needs at most eight values at a time",
                                      "reorder the operators so that results are used sooner", chain_values_holds};

static int same_dims(const xpu_codegen *cg, xpu_value a, xpu_value b) {
    const xpu_value_info *left = xpu_value_at(cg->graph, a), *right = xpu_value_at(cg->graph, b);
    int same = left->rank == right->rank;
    for (int i = 0; same && i < left->rank; i++) {
        same = xpu_dim_same(&cg->graph->dims, left->dims[i], right->dims[i]);
    }
    return same;
}

/* An operand of lower rank lacks dims of one element only; then the order in memory must not depend on the layout. */
static int same_elements(xpu_codegen *cg, xpu_value operand, xpu_value y) {
    if (same_dims(cg, operand, y)) return 1;
    int rank = xpu_value_at(cg->graph, operand)->rank, y_rank = xpu_value_at(cg->graph, y)->rank;
    return xpu_dim_equal(xpu_dims_product(cg, operand, 0, rank), xpu_dims_product(cg, y, 0, y_rank)) &&
           xpu_layout_free(cg, y) && xpu_layout_free(cg, operand);
}

static int same_shape_holds(xpu_rule_query *query) {
    xpu_codegen *cg = codegen_of(query);
    xpu_value a = xpu_node_input(cg->graph, query->node, 0), b = xpu_node_input(cg->graph, query->node, 1);
    xpu_value y = xpu_node_output(cg->graph, query->node, 0);
    xpu_row_pair pair;
    if (same_elements(cg, a, y) && same_elements(cg, b, y)) return 1;
    if (xpu_find_row_pair(cg, query->node, &pair)) return 1;
    query->value = xpu_printf(query->job->arena, "they are %s and %s", type_text(query, a), type_text(query, b));
    return 0;
}
static const xpu_rule same_shape = {"same-shape",
                                    "both operands of a quantised operator have the same dimensions, or one is a row "
                                    "of channels, or of the last dimension",
                                    "expand the smaller operand in the model", same_shape_holds};

static int is_one_constant(xpu_rule_query *query, xpu_value value) {
    xpu_codegen *cg = codegen_of(query);
    return xpu_is_const_value(cg, value) &&
           xpu_dim_equal(xpu_dims_product(cg, value, 0, xpu_value_at(cg->graph, value)->rank), xpu_dim_of(cg, 1));
}

static int one_scale_holds(xpu_rule_query *query) {
    const xpu_graph *graph = query->job->graph;
    xpu_value scale = xpu_node_input(graph, query->node, 1), zero = xpu_node_input(graph, query->node, 2);
    if (is_one_constant(query, scale) && (!zero.id || is_one_constant(query, zero))) return 1;
    query->value = xpu_printf(query->job->arena, "the scale is %s%s", type_text(query, scale),
                              xpu_is_const_value(codegen_of(query), scale) ? "" : ", computed");
    return 0;
}
static const xpu_rule one_scale = {"one-scale",
                                   "float32 and bytes are converted with one constant scale and zero point",
                                   "quantise activations per tensor", one_scale_holds};

static int rescaled_holds(xpu_rule_query *query) {
    const xpu_graph *graph = query->job->graph;
    int64_t dtype = xpu_node_int(graph, query->node, XPU_ATTR_DTYPE);
    int computed = xpu_node_input(graph, query->node, XPU_IN_XZERO).id != 0;
    if (dtype == XPU_F32 || (dtype != XPU_I32 && !computed)) return 1;
    query->value = computed ? "the zero point is computed" : "the result is int32";
    return 0;
}
static const xpu_rule rescaled = {
    "rescaled", "an integer product becomes bytes again, with a constant zero point, or float32 holds its sums",
    "quantise statically", rescaled_holds};

/* Weights of other groups stand as zero bytes in a tile of packed weights. */
static int symmetric_groups_holds(xpu_rule_query *query) {
    const xpu_graph *graph = query->job->graph;
    int64_t groups = xpu_node_int(graph, query->node, XPU_ATTR_GROUP);
    int64_t zero = xpu_node_int(graph, query->node, XPU_ATTR_W_ZERO);
    if (groups == 1 || zero == 0 || xpu_is_byte_depthwise(codegen_of(query), query->node)) return 1;
    query->value = xpu_printf(query->job->arena, "%lld groups, zero point %lld", (long long)groups, (long long)zero);
    return 0;
}
static const xpu_rule symmetric_groups = {"symmetric-groups",
                                          "the weights of a quantised convolution with groups have the zero point 0",
                                          "quantise the weights to int8, symmetric", symmetric_groups_holds};

static int tensor_tile_holds(xpu_rule_query *query) {
    xpu_codegen *cg = codegen_of(query);
    xpu_conv_shape shape = xpu_conv_shape_of(cg, query->node);
    int branch = xpu_node_input(query->job->graph, query->node, XPU_IN_BRANCH).id != 0;
    xpu_tile tile;
    if (xpu_is_empty(cg, xpu_node_output(cg->graph, query->node, 0))) return 1;
    if (xpu_is_byte_depthwise(cg, query->node)) return 1;
    query->value = xpu_choose_tile(cg, &shape, branch, xpu_byte_format(cg, query->node), &tile);
    return query->value == NULL;
}
static const xpu_rule tensor_tile = {"tensor-tile", "a tile of a quantised product fits the tensor engine",
                                     "compile for a chip with more shared memory", tensor_tile_holds};

static int single_matrix_holds(xpu_rule_query *query) {
    xpu_codegen *cg = codegen_of(query);
    xpu_value w = xpu_node_input(cg->graph, query->node, XPU_IN_W);
    if (is_single(cg, w)) return 1;
    query->value = xpu_printf(query->job->arena, "they are %s", type_text(query, w));
    return 0;
}
static const xpu_rule single_matrix = {"single-matrix", "the weights of a quantised matrix product are one matrix",
                                       "split the product in the model", single_matrix_holds};

static int bytes_holds(xpu_rule_query *query) {
    const xpu_graph *graph = query->job->graph;
    int quantize = xpu_node_is(graph, query->node, XPU_OP_QUANTIZE);
    xpu_value q = quantize ? xpu_node_output(graph, query->node, 0) : xpu_node_input(graph, query->node, 0);
    if (xpu_dtype_bytes(xpu_value_at(graph, q)->dtype) == 1) return 1;
    query->value = xpu_printf(query->job->arena, "they are %s", type_text(query, q));
    return 0;
}
static const xpu_rule bytes = {"bytes", "quantised values are int8 or uint8", "quantise to 8 bits", bytes_holds};

/* ---- tables ---- */

#define RULE(name) &name,
#define XPU_SIM_OP(op, lowering, rules, ...)                                                                           \
    static const xpu_rule *const rules_of_##op[] = {RULE(tensor_size) rules NULL};
#include "xpu_codegen/ops.def"

const xpu_support xpu_sim_support[] = {
#define XPU_SIM_OP(op, lowering, rules, layout, becomes) {XPU_OP_##op, becomes, rules_of_##op},
#include "xpu_codegen/ops.def"
    {.lowering = NULL},
};

const xpu_pattern xpu_sim_patterns[] = {
    {.name = "bias",
     .sentence = "adding a constant vector over the channels starts the accumulation",
     .chain = {"conv|matmul", "add"},
     .accepts = xpu_accepts_bias,
     .fuse = xpu_fuse_bias},
    {.name = "branch",
     .sentence = "adding a tensor of the same shape happens behind the accumulation",
     .chain = {"conv|matmul", "add"},
     .accepts = xpu_accepts_branch,
     .fuse = xpu_fuse_branch},
    {.name = "activation",
     .sentence = "relu, clip and leaky relu happen behind the accumulation",
     .chain = {"conv|matmul", "relu|clip|leaky_relu"},
     .accepts = xpu_accepts_activation,
     .fuse = xpu_fuse_activation},
    {.name = "quantised-branch",
     .sentence = "adding a quantised tensor of the same shape happens behind the rounding of the product",
     .chain = {"qconv|qmatmul", "qadd"},
     .accepts = xpu_accepts_quantised_branch,
     .fuse = xpu_fuse_quantised_branch},
    {.name = NULL},
};
