/* Target-neutral passes: what small graphs become, and that their results stay what they were. */
#include <math.h>

#include "tests/unit/passes.h"

static const xpu_pattern patterns[] = {
    {"bias", "adds a constant vector", {"conv|matmul", "add"}, xpu_accepts_bias, xpu_fuse_bias},
    {"branch", "adds a tensor", {"conv|matmul", "add"}, xpu_accepts_branch, xpu_fuse_branch},
    {"activation", "clips", {"conv|matmul", "relu|clip|leaky_relu"}, xpu_accepts_activation, xpu_fuse_activation},
    {NULL, NULL, {NULL}, NULL, NULL},
};

static xpu_status match(xpu_graph *graph, xpu_diags *diags) {
    static const xpu_target target = {.name = "test", .patterns = patterns};
    return xpu_partition_match(graph, &target, NULL, diags);
}

/* ---- fold ---- */

static void fold_unary(bench *b) {
    xpu_value k = OP(b, SQRT, constant(b, DIMS(2, 3)));
    OUT(b, OP(b, ADD, input(b, DIMS(2, 3)), k));
}
static void fold_large(bench *b) { /* over 64 KiB: recipes, and the reference kernel */
    xpu_value k = reshape(b, constant(b, DIMS(200, 300)), DIMS(300, 200));
    k = OP_WITH(b, TRANSPOSE, k, INTS(PERM, 1, 0));
    xpu_value sum = OP(b, ADD, k, constant(b, DIMS(200, 300)));
    OUT(b, OP(b, MUL, input(b, DIMS(200, 300)), sum));
}
static void fold_output(bench *b) {
    input(b, DIMS(1));
    OUT(b, OP(b, EXP, constant(b, DIMS(3))));
}
static void fold_used_output(bench *b) {
    xpu_value k = OP(b, EXP, constant(b, DIMS(3)));
    OUT(b, OP(b, ADD, input(b, DIMS(3)), k));
    OUT(b, k);
}
/* A node with three results, of which two are used; and one whose last result is an output. */
static void fold_results(bench *b) {
    xpu_value k = constant(b, DIMS(2, 3));
    xpu_node node =
        xpu_graph_add(b->graph, (xpu_node){0}, xpu_op_of(XPU_OP_DYNAMIC_QUANTIZE), &k, 1, NULL, 3, NULL, 0, NULL, 0);
    xpu_op_infer(b->graph, node, &b->diags);
    xpu_value operands[] = {xpu_node_output(b->graph, node, 0), xpu_node_output(b->graph, node, 1)};
    xpu_value y = op(b, XPU_OP_DEQUANTIZE, operands, 2, NULL, 0);
    OUT(b, OP(b, ADD, input(b, DIMS(2, 3)), y));
    OUT(b, xpu_node_output(b->graph, node, 2));
}
static void fold_nothing(bench *b) {
    OUT(b, OP(b, ADD, input(b, DIMS(3)), constant(b, DIMS(3))));
}

static void folding(void) {
    static const pass_case cases[] = {
        {"unary", fold_unary, "add"},           {"large", fold_large, "mul"},
        {"output", fold_output, "identity"},    {"used output", fold_used_output, "identity add"},
        {"nothing to do", fold_nothing, "add"}, {"three results", fold_results, "identity add"},
    };
    RUN_CASES(cases, XPU_EFFECT_EXACT, xpu_pass_fold);
}

/* What a graph with `y` as its output is behind the folding of constants, whose results are not looked at. */
static void folds_to(bench *b, xpu_value y, const char *expected) {
    bench_print(b);
    CU_ASSERT_EQUAL_FATAL(b->diags.errors, 0);
    OUT(b, y);
    CU_ASSERT_EQUAL(xpu_pass_fold(b->graph, &b->diags), XPU_OK);
    CU_ASSERT_STRING_EQUAL(summary(b), expected);
    bench_close(b);
}

/* A result of more than 64 MiB stays an operator. */
static void folds_no_large_result(void) {
    const uint8_t byte = 7;
    const xpu_tensor one = {.dtype = XPU_U8, .data = (void *)(uintptr_t)&byte};
    BENCH_OPEN(b);
    xpu_value k = xpu_graph_const_bytes(b.graph, NULL, &one);
    const xpu_dim dims[] = {xpu_dim_const(&b.graph->dims, 8193), xpu_dim_const(&b.graph->dims, 8192)};
    folds_to(&b, OP_WITH(&b, EXPAND, k, XPU_ATTR_DIMS_OF(SHAPE, dims, 2)), "expand");
}

static xpu_value indices(bench *b, int rank, const int64_t *dims) {
    xpu_tensor tensor = {.dtype = XPU_I64, .rank = rank};
    for (int i = 0; i < rank; i++) tensor.dims[i] = dims[i];
    tensor.data = XPU_NEW_ARRAY(b->arena, int64_t, xpu_tensor_count(&tensor));
    return xpu_graph_const_bytes(b->graph, NULL, &tensor);
}

static xpu_value bytes(bench *b, int64_t rows, int64_t columns) {
    int8_t *data = XPU_NEW_ARRAY(b->arena, int8_t, rows *columns);
    for (int64_t i = 0; i < rows * columns; i++) data[i] = (int8_t)i;
    return xpu_graph_const_bytes(b->graph, NULL, &(xpu_tensor){XPU_I8, 2, {rows, columns}, data});
}

/* Operators that read every operand element about once fold however large results times operands are; others do not. */
static void folds_cheap_operators(void) {
    static const struct {
        xpu_op_id op;
        const char *after;
    } cases[] = {
        {XPU_OP_REDUCE_SUM, "identity"}, {XPU_OP_REDUCE_MEAN, "identity"}, {XPU_OP_REDUCE_MAX, "identity"},
        {XPU_OP_REDUCE_MIN, "identity"}, {XPU_OP_REDUCE_PROD, "identity"}, {XPU_OP_SOFTMAX, "identity"},
        {XPU_OP_CONCAT, "identity"},     {XPU_OP_GATHER, "identity"},      {XPU_OP_GATHER_ELEMENTS, "identity"},
        {XPU_OP_GATHER_ND, "identity"},  {XPU_OP_SCATTER_ND, "identity"},  {XPU_OP_ADD, "identity"},
        {XPU_OP_EXP, "identity"},        {XPU_OP_TRANSPOSE, "identity"},   {XPU_OP_SLICE, "identity"},
        {XPU_OP_PAD, "identity"},        {XPU_OP_REPEAT, "identity"},      {XPU_OP_NONZERO_COUNTS, "identity"},
        {XPU_OP_EXPAND, "identity"},     {XPU_OP_RESHAPE, "identity"},     {XPU_OP_QUANTIZE, "identity"},
        {XPU_OP_DEQUANTIZE, "identity"}, {XPU_OP_MATMUL, "matmul"},
    };
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        xpu_value k = constant(&b, DIMS(256, 256)), operands[] = {k, k, {0}};
        const xpu_dim all[] = {xpu_dim_const(&b.graph->dims, 256), xpu_dim_const(&b.graph->dims, 256)};
        const xpu_dim none[] = {xpu_dim_const(&b.graph->dims, 0), xpu_dim_const(&b.graph->dims, 0)};
        const xpu_attr slice[] = {XPU_ATTR_DIMS_OF(SHAPE, all, 2), XPU_ATTR_DIMS_OF(STARTS, none, 2), INTS(BY, 1, 1)};
        const xpu_attr perm = INTS(PERM, 1, 0), pads = INTS(PADS, 1, 1, 1, 1), axis = XPU_ATTR_INT_OF(AXIS, 2);
        const xpu_attr to_bytes = XPU_ATTR_INT_OF(DTYPE, XPU_I8);
        const xpu_attr repeats = INTS(REPEATS, 2, 1), *attrs = &axis;
        uint32_t has_axis = 0;
        switch (cases[i].op) {
        case XPU_OP_GATHER: operands[1] = indices(&b, DIMS(80)); break;
        case XPU_OP_GATHER_ELEMENTS: operands[1] = indices(&b, DIMS(80, 256)); break;
        case XPU_OP_GATHER_ND: operands[1] = indices(&b, DIMS(80, 1)); break;
        case XPU_OP_SCATTER_ND:
            operands[1] = indices(&b, DIMS(80, 1));
            operands[2] = constant(&b, DIMS(80, 256));
            break;
        case XPU_OP_TRANSPOSE: attrs = &perm, has_axis = 1; break;
        case XPU_OP_PAD: attrs = &pads, has_axis = 1; break;
        case XPU_OP_SLICE: attrs = slice, has_axis = 3; break;
        case XPU_OP_REPEAT: attrs = &repeats, has_axis = 1; break;
        case XPU_OP_EXPAND:
        case XPU_OP_RESHAPE: attrs = slice, has_axis = 1; break;
        case XPU_OP_NONZERO_COUNTS: operands[0] = constant(&b, DIMS(1024, 1024)); break;
        case XPU_OP_QUANTIZE: operands[1] = number(&b, 0.5f), attrs = &to_bytes, has_axis = 1; break;
        case XPU_OP_DEQUANTIZE: operands[0] = bytes(&b, 256, 256), operands[1] = number(&b, 0.5f); break;
        case XPU_OP_CONCAT:
        case XPU_OP_ADD:
        case XPU_OP_EXP:
        case XPU_OP_MATMUL: break;
        default: operands[0] = constant(&b, DIMS(256, 256, 1)); has_axis = 1;
        }
        uint32_t count = (uint32_t)xpu_op_of(cases[i].op)->max_inputs;
        folds_to(&b,
                 op(&b, cases[i].op, operands,
                    operands[2].id ? 3
                    : count < 2    ? 1
                                   : 2,
                    attrs, has_axis),
                 cases[i].after);
    }
}

/* ---- quantised groups ---- */

static xpu_value floats(bench *b, int64_t count, float value) {
    float *data = XPU_NEW_ARRAY(b->arena, float, count);
    for (int64_t i = 0; i < count; i++) data[i] = value;
    const xpu_tensor tensor = {.dtype = XPU_F32, .rank = count > 1, .dims = {count}, .data = data};
    return xpu_graph_const_bytes(b->graph, NULL, &tensor);
}

/* A product of quantised operands and a bias with a scale for each channel. */
static void quantised_product(float x_scale, float w_scale, float y_scale, const char *expected) {
    enum { CHANNELS = 4 };
    static const int8_t weights[CHANNELS * CHANNELS] = {1, 2, 3, 4, 5, -6, 7};
    static const int32_t biases[CHANNELS] = {100, 200, -300};
    const xpu_tensor w = {XPU_I8, 2, {CHANNELS, CHANNELS}, (void *)(uintptr_t)weights};
    const xpu_tensor bias = {XPU_I32, 1, {CHANNELS}, (void *)(uintptr_t)biases};
    const xpu_attr axis = XPU_ATTR_INT_OF(AXIS, 0), to = XPU_ATTR_INT_OF(DTYPE, XPU_I8);
    BENCH_OPEN(b);
    xpu_value x = bench_input(&b, NULL, XPU_I8, DIMS(2, CHANNELS));
    xpu_value wide[] = {xpu_graph_const_bytes(b.graph, NULL, &bias), floats(&b, CHANNELS, x_scale * w_scale)};
    xpu_value operands[] = {OP(&b, DEQUANTIZE, x, floats(&b, 1, x_scale)),
                            OP(&b, DEQUANTIZE, xpu_graph_const_bytes(b.graph, NULL, &w), floats(&b, 1, w_scale)),
                            op(&b, XPU_OP_DEQUANTIZE, wide, 2, &axis, 1)};
    xpu_value made[] = {op(&b, XPU_OP_MATMUL, operands, 3, NULL, 0), floats(&b, 1, y_scale)};
    OUT(&b, op(&b, XPU_OP_QUANTIZE, made, 2, &to, 1));
    CU_ASSERT_EQUAL_FATAL(b.diags.errors, 0);
    CU_ASSERT_EQUAL(xpu_pass_quantised(b.graph, &b.diags), XPU_OK);
    xpu_remove_dead(b.graph);
    CU_ASSERT_STRING_EQUAL(summary(&b), expected);
    bench_close(&b);
}

static void quantised_products(void) {
    static const char *const literal = "dequantize dequantize dequantize matmul+bias quantize";
    quantised_product(0.5f, 0.25f, 2, "qmatmul");
    quantised_product(0x1p56f, 0x1p56f, 1, "qmatmul");
    quantised_product(0x1p56f, 0x1p56f, 0x1p-20f, literal); /* the factor is infinite */
}

/* Operands of other scales than the result become its bytes, each by a table of its own. */
static void quantised_joins(void) {
    static const float scales[] = {1, 4};
    BENCH_OPEN(b);
    xpu_value parts[2], tables[2];
    for (int i = 0; i < 2; i++)
        parts[i] = OP(&b, DEQUANTIZE, bench_input(&b, NULL, XPU_I8, DIMS(1, 2)), floats(&b, 1, scales[i]));
    xpu_value made[] = {op(&b, XPU_OP_CONCAT, parts, 2, &XPU_ATTR_INT_OF(AXIS, 1), 1), floats(&b, 1, 2)};
    OUT(&b, op(&b, XPU_OP_QUANTIZE, made, 2, &XPU_ATTR_INT_OF(DTYPE, XPU_I8), 1));
    CU_ASSERT_EQUAL(xpu_pass_quantised(b.graph, &b.diags), XPU_OK);
    xpu_remove_dead(b.graph);
    CU_ASSERT_STRING_EQUAL(summary(&b), "lookup lookup concat");
    xpu_node concat = xpu_value_at(b.graph, b.graph->outputs.items[0])->node;
    for (uint32_t i = 0; i < 2; i++) {
        xpu_node lookup = xpu_value_at(b.graph, xpu_node_input(b.graph, concat, i))->node;
        tables[i] = xpu_node_input(b.graph, lookup, 1);
        const int8_t *table = xpu_const_data(b.graph, tables[i], b.arena, &b.diags);
        CU_ASSERT_EQUAL(table[8], i ? 16 : 4); /* 8 * scale / 2 */
        CU_ASSERT_EQUAL(xpu_node_input(b.graph, lookup, 0).id, b.graph->inputs.items[i].id);
    }
    bench_close(&b);
}

/* Sums of 32 bits may have a zero point. */
static void wide_zero_points(void) {
    int32_t value = 7, zero = 3;
    BENCH_OPEN(b);
    xpu_value x = xpu_graph_const_bytes(b.graph, NULL, &(xpu_tensor){.dtype = XPU_I32, .data = &value});
    xpu_value z = xpu_graph_const_bytes(b.graph, NULL, &(xpu_tensor){.dtype = XPU_I32, .data = &zero});
    folds_to(&b, OP(&b, DEQUANTIZE, x, floats(&b, 1, 0.5f), z), "identity");
}

/* ---- canonicalise ---- */

static void identities(bench *b) {
    xpu_value x = OP(b, IDENTITY, OP(b, IDENTITY, input(b, DIMS(3))));
    OUT(b, OP(b, IDENTITY, OP(b, RELU, x)));
}
static void identity_of_input(bench *b) {
    OUT(b, OP(b, IDENTITY, input(b, DIMS(3))));
}
static void same_output_twice(bench *b) {
    xpu_value x = OP(b, RELU, input(b, DIMS(3)));
    OUT(b, x);
    OUT(b, OP(b, IDENTITY, x));
}
static void reshapes(bench *b) {
    xpu_value x = OP(b, RELU, input(b, DIMS(2, 6)));
    x = reshape(b, reshape(b, reshape(b, x, DIMS(2, 6)), DIMS(3, 4)), DIMS(12));
    OUT(b, OP(b, EXP, x));
}
static void reshapes_back(bench *b) {
    xpu_value x = OP(b, RELU, input(b, DIMS(2, 6)));
    OUT(b, OP(b, EXP, reshape(b, reshape(b, x, DIMS(3, 4)), DIMS(2, 6))));
}
static void gather_from(bench *b, xpu_value x, const int64_t *index, int64_t count) {
    const xpu_tensor list = {.dtype = XPU_I64, .rank = 1, .dims = {count}, .data = (void *)(uintptr_t)index};
    const xpu_value operands[] = {x, xpu_graph_const_bytes(b->graph, NULL, &list)};
    OUT(b, xpu_node_output(b->graph, bench_node(b, XPU_OP_GATHER, operands, 2, &XPU_ATTR_INT_OF(AXIS, 1), 1), 0));
}
static void gather_of(bench *b, const int64_t *index, int64_t count) {
    gather_from(b, input(b, DIMS(3, 8, 2)), index, count);
}
static void gather_pairs(bench *b) {
    gather_of(b, (const int64_t[]){1, 0, 3, 2, -3, 4, 7, 6}, 8);
}
static void gather_halves(bench *b) {
    gather_of(b, (const int64_t[]){4, 5, 6, 7, 0, 1, 2, 3}, 8);
}
static void gather_backwards(bench *b) {
    gather_of(b, (const int64_t[]){7, 5, 3}, 3);
}
static void gather_others(bench *b) {
    gather_of(b, (const int64_t[]){1, 0, 3, 2, 5, 4, 6, 7}, 8);
}
static void gather_of_most_dims(bench *b) { /* pairs would need one more */
    gather_from(b, input(b, DIMS(1, 4, 1, 1, 1, 1, 1, 2)), (const int64_t[]){1, 0, 3, 2}, 4);
}
static void transposes_back(bench *b) {
    xpu_value x = input(b, DIMS(2, 3, 4));
    x = OP_WITH(b, TRANSPOSE, x, INTS(PERM, 1, 2, 0));
    OUT(b, OP(b, RELU, OP_WITH(b, TRANSPOSE, x, INTS(PERM, 2, 0, 1))));
}
static void transposes_combined(bench *b) {
    xpu_value x = input(b, DIMS(2, 3, 4));
    x = OP_WITH(b, TRANSPOSE, x, INTS(PERM, 1, 2, 0));
    OUT(b, OP_WITH(b, TRANSPOSE, x, INTS(PERM, 1, 0, 2)));
}
static void transpose_of_ones(bench *b) {
    xpu_value x = input(b, DIMS(2, 1, 4));
    OUT(b, OP_WITH(b, TRANSPOSE, x, INTS(PERM, 1, 0, 2)));
}
static void empty_pad(bench *b) {
    xpu_value x = image(b);
    OUT(b, OP(b, RELU, OP_WITH(b, PAD, x, INTS(PADS, 0, 0, 0, 0, 0, 0, 0, 0))));
}
static xpu_value padded(bench *b, float value) {
    xpu_value x = image(b);
    return OP_WITH(b, PAD, x, INTS(PADS, 0, 0, 1, 2, 0, 0, 0, 1), XPU_ATTR_FLOAT_OF(VALUE, value));
}
static void pad_conv(bench *b) {
    OUT(b, conv(b, padded(b, 0)));
}
static void pad_value_conv(bench *b) {
    OUT(b, conv(b, padded(b, 1)));
}
static void pad_twice_conv(bench *b) {
    xpu_value x = padded(b, 0);
    OUT(b, conv(b, x));
    OUT(b, OP(b, EXP, x));
}
static void crop_conv(bench *b) {
    xpu_value x = image(b);
    OUT(b, conv(b, OP_WITH(b, PAD, x, INTS(PADS, 0, 0, -1, 0, 0, 0, 0, 1))));
}
static void pad_average(bench *b) {
    xpu_value x = padded(b, 0);
    OUT(b, OP_WITH(b, AVERAGE_POOL, x, INTS(KERNEL, 3, 3)));
}
static void pad_padded_average(bench *b) {
    xpu_value x = padded(b, 0);
    OUT(b, OP_WITH(b, AVERAGE_POOL, x, INTS(KERNEL, 3, 3), INTS(PADS, 1, 1, 1, 1)));
}
static void pad_wide_average(bench *b) {
    xpu_value x = padded(b, 0);
    OUT(b, OP_WITH(b, AVERAGE_POOL, x, INTS(KERNEL, 2, 2)));
}
static void pad_max(bench *b) {
    xpu_value x = padded(b, 0);
    OUT(b, OP_WITH(b, MAX_POOL, x, INTS(KERNEL, 3, 3)));
}
static void single_concat(bench *b) {
    xpu_value x = input(b, DIMS(2, 3));
    OUT(b, OP(b, RELU, OP_WITH(b, CONCAT, x, XPU_ATTR_INT_OF(AXIS, 1))));
}
static void equal_nodes(bench *b) {
    xpu_value x = input(b, DIMS(3));
    xpu_value a = OP(b, EXP, OP(b, RELU, x)), c = OP(b, EXP, OP(b, RELU, x));
    OUT(b, OP(b, MUL, a, c));
}
static void equal_outputs(bench *b) {
    xpu_value x = input(b, DIMS(3));
    OUT(b, OP(b, RELU, x));
    OUT(b, OP(b, RELU, x));
}
static void other_attributes(bench *b) {
    xpu_value x = input(b, DIMS(3));
    xpu_value a = OP_WITH(b, LEAKY_RELU, x, XPU_ATTR_FLOAT_OF(ALPHA, 0.1f));
    OUT(b, OP(b, ADD, a, OP_WITH(b, LEAKY_RELU, x, XPU_ATTR_FLOAT_OF(ALPHA, 0.2f))));
}
static xpu_value chain_of(bench *b, xpu_value x, float slope) {
    xpu_chain chain = {.input_count = 1, .step_count = 1};
    chain.steps[0] = (xpu_chain_step){.op = XPU_EW_leaky_relu, .operands = {0}, .immediates = {slope}};
    return OP_WITH(b, CHAIN, x, XPU_ATTR_CHAIN_OF(STEPS, &chain));
}
static void equal_chains(bench *b) {
    xpu_value x = input(b, DIMS(3));
    OUT(b, OP(b, ADD, OP(b, MUL, chain_of(b, x, 0.1f), chain_of(b, x, 0.1f)), chain_of(b, x, 0.2f)));
}
static void dead_nodes(bench *b) {
    xpu_value x = input(b, DIMS(3));
    OP(b, EXP, OP(b, RELU, x));
    OUT(b, OP(b, ABS, x));
}

static void canonicalising(void) {
    static const pass_case cases[] = {
        {"identities", identities, "relu"},
        {"identity of an input", identity_of_input, "identity"},
        {"same output twice", same_output_twice, "relu identity"},
        {"reshapes", reshapes, "relu reshape exp"},
        {"reshape there and back", reshapes_back, "relu exp"},
        {"transpose there and back", transposes_back, "relu"},
        {"transposes", transposes_combined, "transpose"},
        {"transpose of ones", transpose_of_ones, "reshape"},
        {"empty pad", empty_pad, "relu"},
        {"pad into conv", pad_conv, "conv"},
        {"pad of ones stays", pad_value_conv, "pad conv"},
        {"pad with two users", pad_twice_conv, "pad conv exp"},
        {"crop stays", crop_conv, "pad conv"},
        {"pad into average", pad_average, "average_pool"},
        {"padded average", pad_padded_average, "pad average_pool"},
        {"pad as wide as the window", pad_wide_average, "pad average_pool"},
        {"pad before maximum", pad_max, "pad max_pool"},
        {"concat of one", single_concat, "relu"},
        {"equal nodes", equal_nodes, "relu exp mul"},
        {"equal outputs", equal_outputs, "relu relu"},
        {"other attributes", other_attributes, "leaky_relu leaky_relu add"},
        {"equal and other chains", equal_chains, "chain(1) mul chain(1) add"},
        {"dead nodes", dead_nodes, "abs"},
        {"gather of pairs that change places", gather_pairs, "reshape slice reshape"},
        {"gather of halves that change places", gather_halves, "reshape slice reshape"},
        {"gather of every second one from the end", gather_backwards, "slice"},
        {"gather of no box", gather_others, "gather"},
        {"gather of pairs of eight dims", gather_of_most_dims, "gather"},
    };
    RUN_CASES(cases, XPU_EFFECT_EXACT, xpu_pass_canonicalise);
}

/* ---- patterns ---- */

static xpu_value clip(bench *b, xpu_value x) {
    return OP_WITH(b, CLIP, x, XPU_ATTR_FLOAT_OF(LOW, -0.25f), XPU_ATTR_FLOAT_OF(HIGH, 6));
}
static void bias_vector(bench *b) {
    OUT(b, OP(b, ADD, constant(b, DIMS(4, 1, 1)), conv(b, image(b))));
}
static void bias_scalar(bench *b) {
    OUT(b, OP(b, ADD, conv(b, image(b)), constant(b, DIMS(1))));
}
static void bias_rows(bench *b) {
    OUT(b, OP(b, ADD, conv(b, image(b)), constant(b, DIMS(1, 5))));
}
static void bias_twice(bench *b) {
    xpu_value x = OP(b, ADD, conv(b, image(b)), constant(b, DIMS(4, 1, 1)));
    OUT(b, OP(b, ADD, x, constant(b, DIMS(4, 1, 1))));
}
static void bias_matmul(bench *b) {
    OUT(b, OP(b, ADD, OP(b, MATMUL, input(b, DIMS(3, 5)), constant(b, DIMS(5, 4))), constant(b, DIMS(4))));
}
static void bias_widens(bench *b) {
    xpu_value x = OP(b, MATMUL, input(b, DIMS(1, 5)), constant(b, DIMS(5, 1)));
    OUT(b, OP(b, ADD, x, constant(b, DIMS(4))));
}
static void residual(bench *b) {
    xpu_value x = image(b), k = constant(b, DIMS(3, 3, 1, 1));
    OUT(b, OP(b, RELU, OP(b, ADD, x, OP(b, CONV, x, k))));
}
static void residual_after(bench *b) {
    xpu_value x = image(b), k = constant(b, DIMS(3, 3, 1, 1));
    OUT(b, OP(b, ADD, clip(b, OP(b, CONV, x, k)), x));
}
static void residual_later(bench *b) { /* the branch is made behind the convolution */
    xpu_value x = image(b), y = OP(b, CONV, x, constant(b, DIMS(3, 3, 1, 1)));
    OUT(b, OP(b, ADD, y, OP(b, EXP, x)));
}
static void both_convs(bench *b) {
    xpu_value x = image(b);
    OUT(b, OP(b, ADD, conv(b, x), conv(b, x)));
}
static void activation_twice(bench *b) {
    OUT(b, clip(b, clip(b, conv(b, image(b)))));
}
static void activation_shared(bench *b) {
    xpu_value x = conv(b, image(b));
    OUT(b, OP(b, RELU, x));
    OUT(b, x);
}
static void leaky(bench *b) {
    xpu_value x = OP(b, ADD, conv(b, image(b)), constant(b, DIMS(1, 4, 1, 1)));
    OUT(b, OP_WITH(b, LEAKY_RELU, x, XPU_ATTR_FLOAT_OF(ALPHA, 0.125f)));
}
static void used_twice(bench *b) {
    xpu_value x = conv(b, image(b));
    OUT(b, OP(b, ADD, x, x));
}

static void fusions(void) {
    static const pass_case cases[] = {
        {"bias vector", bias_vector, "conv+bias"},
        {"bias scalar", bias_scalar, "conv+bias"},
        {"bias along another dim", bias_rows, "conv add"},
        {"a second bias", bias_twice, "conv+bias add"},
        {"bias of matmul", bias_matmul, "matmul+bias"},
        {"bias that widens the result", bias_widens, "matmul add"},
        {"residual, then relu", residual, "conv+branch+clip"},
        {"residual behind clip", residual_after, "conv+clip+branch"},
        {"residual made later", residual_later, "exp conv+branch"},
        {"sum of two convs", both_convs, "conv conv+branch"},
        {"two activations", activation_twice, "conv+clip clip"},
        {"result is an output", activation_shared, "conv relu"},
        {"leaky", leaky, "conv+bias+leaky"},
        {"used twice", used_twice, "conv add"},
    };
    RUN_CASES(cases, XPU_EFFECT_TOLERANCE, match);
}

/* ---- chains ---- */

static void chain_one(bench *b) {
    OUT(b, clip(b, image(b)));
}
static void chain_line(bench *b) {
    xpu_value x = OP(b, MUL, image(b), constant(b, DIMS(3, 1, 1)));
    OUT(b, clip(b, OP(b, SIGMOID, OP(b, ADD, x, constant(b, DIMS(1))))));
}
static void chain_square(bench *b) {
    xpu_value x = OP(b, ABS, image(b));
    OUT(b, OP(b, MUL, x, x));
}
static void chain_diamond(bench *b) {
    xpu_value x = OP(b, RELU, image(b));
    OUT(b, OP(b, SUB, OP(b, EXP, x), OP(b, NEG, x)));
}
static void chain_output(bench *b) {
    xpu_value x = OP(b, RELU, image(b));
    OUT(b, OP(b, EXP, x));
    OUT(b, x);
}
static void chain_widens(bench *b) { /* joining would compute the exponentials once per row */
    xpu_value x = OP(b, EXP, input(b, DIMS(3, 1, 1)));
    OUT(b, OP(b, ADD, image(b), x));
}
static void chain_inputs(bench *b) { /* six inputs at most */
    xpu_value x = image(b);
    for (int i = 0; i < 7; i++) x = OP(b, ADD, x, image(b));
    OUT(b, x);
}
static void chain_steps(bench *b) { /* 32 steps at most */
    xpu_value x = image(b);
    for (int i = 0; i < 40; i++) x = op(b, i & 1 ? XPU_OP_ABS : XPU_OP_NEG, &x, 1, NULL, 0);
    OUT(b, x);
}
static void chain_immediates(bench *b) { /* 16 immediates at most: 8 clips */
    xpu_value x = image(b);
    for (int i = 0; i < 9; i++) x = clip(b, x);
    OUT(b, x);
}
static void chain_numbers(bench *b) { /* numbers are immediates, so that more than six of them fit */
    xpu_value x = image(b);
    for (int i = 0; i < 4; i++) {
        x = OP(b, ADD, OP(b, MUL, constant(b, DIMS(1, 1)), x), constant(b, DIMS(1)));
        x = OP(b, SUB, OP(b, DIV, x, number(b, -4)), number(b, 0.3f));
    }
    OUT(b, x);
}
static void chain_divided(bench *b) { /* a quotient by another number is none of a product */
    OUT(b, OP(b, SUB, number(b, 1), OP(b, DIV, image(b), number(b, 3))));
}
static void chain_number_shapes(bench *b) { /* the number's rank is the result's */
    OUT(b, OP(b, ADD, input(b, DIMS(3)), constant(b, DIMS(1, 1))));
}
static xpu_value converted(bench *b, xpu_value x, xpu_dtype dtype) {
    return op(b, XPU_OP_CONVERT, &x, 1, &XPU_ATTR_INT_OF(DTYPE, dtype), 1);
}
static void chain_wide(bench *b) { /* 64 bits in the middle alone keep vector code out as well */
    OUT(b, OP(b, SIGMOID, converted(b, converted(b, image(b), XPU_I64), XPU_F32)));
}

static void chains(void) {
    static const pass_case cases[] = {
        {"one", chain_one, "chain(1)"},
        {"line", chain_line, "chain(4)"},
        {"square", chain_square, "chain(2)"},
        {"numbers", chain_numbers, "chain(16)"},
        {"quotient by three", chain_divided, "chain(2)"},
        {"a number of higher rank", chain_number_shapes, "chain(1)"},
        {"diamond", chain_diamond, "chain(4)"},
        {"output in the middle", chain_output, "chain(1) chain(1)"},
        {"broadcast", chain_widens, "chain(1) chain(1)"},
        {"inputs", chain_inputs, "chain(5) chain(2)"},
        {"steps", chain_steps, "chain(32) chain(8)"},
        {"immediates", chain_immediates, "chain(8) chain(1)"},
        {"64 bits", chain_wide, "chain(2) chain(1)"},
    };
    RUN_CASES(cases, XPU_EFFECT_EXACT, xpu_pass_chains);
}

/* ---- the checker itself ---- */

static void checker_finds_changes(void) {
    BENCH_OPEN(b);
    xpu_value x = image(&b);
    xpu_value y = OP_WITH(&b, LEAKY_RELU, x, XPU_ATTR_FLOAT_OF(ALPHA, 0.1f));
    OUT(&b, OP(&b, EXP, y));
    xpu_checker *checker = xpu_checker_new(b.arena);
    CU_ASSERT_EQUAL(xpu_checker_run(checker, b.graph, "build", XPU_EFFECT_DEFINES, &b.diags), XPU_OK);
    xpu_node node = xpu_value_at(b.graph, y)->node;
    xpu_node_set_attr(b.graph, node, &XPU_ATTR_FLOAT_OF(ALPHA, 0.1000001f));
    CU_ASSERT_EQUAL(xpu_checker_run(checker, b.graph, "small", XPU_EFFECT_TOLERANCE, &b.diags), XPU_OK);
    xpu_node_set_attr(b.graph, node, &XPU_ATTR_FLOAT_OF(ALPHA, 0.1f));
    CU_ASSERT_EQUAL(xpu_checker_run(checker, b.graph, "exact", XPU_EFFECT_EXACT, &b.diags), XPU_EBUG);
    xpu_node_set_attr(b.graph, node, &XPU_ATTR_FLOAT_OF(ALPHA, 0.2f));
    CU_ASSERT_EQUAL(xpu_checker_run(checker, b.graph, "large", XPU_EFFECT_TOLERANCE, &b.diags), XPU_EBUG);
    CU_ASSERT_EQUAL(b.diags.errors, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.diags.items[0].where, "leaky_relu"));
    CU_ASSERT_STRING_EQUAL(b.diags.items[0].what, "pass 'exact' changes the results more than it may");
    bench_close(&b);
}

/* ---- the checker of passes ---- */

/* y = x + c: what the checker says of c before a pass and behind it. */
static xpu_status checked(float before, float behind) {
    BENCH_OPEN(a);
    BENCH_OPEN(b);
    xpu_checker *checker = xpu_checker_new(a.arena);
    bench *both[] = {&a, &b};
    const float values[] = {before, behind};
    for (int i = 0; i < 2; i++) {
        xpu_value x = input(both[i], DIMS(2, 3));
        OUT(both[i], OP(both[i], ADD, x, xpu_graph_const_f32(both[i]->graph, "c", values[i])));
    }
    CU_ASSERT_EQUAL(xpu_checker_run(checker, a.graph, "first", XPU_EFFECT_DEFINES, &a.diags), XPU_OK);
    xpu_status status = xpu_checker_run(checker, b.graph, "second", XPU_EFFECT_TOLERANCE, &b.diags);
    bench_close(&b);
    bench_close(&a);
    return status;
}

/* A tolerance of a part of infinity is not one for every number. */
static void checks_of_infinities(void) {
    CU_ASSERT_EQUAL(checked(1, 1.0001f), XPU_OK);
    CU_ASSERT_EQUAL(checked(INFINITY, INFINITY), XPU_OK);
    CU_ASSERT_EQUAL(checked(NAN, NAN), XPU_OK);
    CU_ASSERT_EQUAL(checked(1, 2), XPU_EBUG);
    CU_ASSERT_EQUAL(checked(INFINITY, 1), XPU_EBUG);
    CU_ASSERT_EQUAL(checked(INFINITY, -INFINITY), XPU_EBUG);
    CU_ASSERT_EQUAL(checked(1, INFINITY), XPU_EBUG);
    CU_ASSERT_EQUAL(checked(NAN, 1), XPU_EBUG);
    CU_ASSERT_EQUAL(checked(1, NAN), XPU_EBUG);
}

XPU_TEST_MAIN("passes", {"quantised joins", quantised_joins}, {"wide zero points", wide_zero_points}, {"fold", folding},
              {"no large result folds", folds_no_large_result}, {"cheap operators fold", folds_cheap_operators},
              {"quantised products", quantised_products}, {"canonicalise", canonicalising}, {"fusions", fusions},
              {"chains", chains}, {"checker", checker_finds_changes}, {"checks of infinities", checks_of_infinities})
