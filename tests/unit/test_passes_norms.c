/* Norms over the last dims as exporters write them out become one operator, which is written out where rows are long.
 */
#include "tests/unit/passes.h"

enum { ROWS = 3, COUNT = 10 };

static xpu_value mean(bench *b, xpu_value x) {
    return OP_WITH(b, REDUCE_MEAN, x, XPU_ATTR_INT_OF(AXIS, xpu_value_at(b->graph, x)->rank - 1));
}
static xpu_value rows(bench *b) {
    return input(b, DIMS(ROWS, COUNT));
}
static xpu_value length(bench *b, xpu_value d, float epsilon) {
    return OP(b, SQRT, OP(b, ADD, mean(b, OP(b, MUL, d, d)), number(b, epsilon)));
}
static xpu_value centred(bench *b, xpu_value x) {
    return OP(b, SUB, x, mean(b, x));
}
static xpu_value constant_row(bench *b) {
    return constant(b, DIMS(COUNT));
}

static void layer_norm(bench *b) {
    xpu_value d = centred(b, rows(b)), y = OP(b, DIV, d, length(b, d, 1e-5f));
    OUT(b, OP(b, ADD, OP(b, MUL, y, constant_row(b)), constant_row(b)));
}
static void rms_norm(bench *b) {
    xpu_value x = rows(b);
    OUT(b, OP(b, MUL, constant_row(b), OP(b, DIV, x, length(b, x, 1e-5f))));
}
static void by_reciprocal(bench *b) {
    xpu_value x = rows(b);
    OUT(b, OP(b, MUL, OP(b, RECIPROCAL, length(b, x, 1e-5f)), x));
}
static void by_quotient(bench *b) {
    xpu_value d = centred(b, rows(b));
    OUT(b, OP(b, ADD, OP(b, MUL, d, OP(b, DIV, number(b, 1), length(b, d, 0.5f))), constant(b, DIMS(1, COUNT))));
}
static void epsilon_row(bench *b) { /* a number as a row of it */
    float epsilon[COUNT];
    xpu_value x = rows(b);
    for (int i = 0; i < COUNT; i++) epsilon[i] = 1e-5f;
    xpu_tensor row = {.dtype = XPU_F32, .rank = 1, .dims = {COUNT}, .data = epsilon};
    xpu_value sum = OP(b, ADD, mean(b, OP(b, MUL, x, x)), xpu_graph_const_bytes(b->graph, NULL, &row));
    OUT(b, OP(b, DIV, x, OP(b, SQRT, sum)));
}
/* Over two dims, whose means are those of one. */
static xpu_value mean_of_two(bench *b, xpu_value x) {
    return reshape(b, mean(b, reshape(b, x, DIMS(ROWS, 6 * COUNT))), DIMS(ROWS, 1, 1));
}
static void two_dims(bench *b) {
    xpu_value x = input(b, DIMS(ROWS, 6, COUNT)), d = OP(b, SUB, x, mean_of_two(b, x));
    xpu_value sum = OP(b, ADD, mean_of_two(b, OP(b, MUL, d, d)), number(b, 1e-5f));
    xpu_value y = OP(b, DIV, d, OP(b, SQRT, sum));
    OUT(b, OP(b, ADD, OP(b, MUL, y, constant(b, DIMS(6, COUNT))), constant(b, DIMS(1, 6, COUNT))));
}

static void other_mean(bench *b) { /* of something else */
    xpu_value x = rows(b), d = OP(b, SUB, x, mean(b, rows(b)));
    OUT(b, OP(b, DIV, d, length(b, d, 1e-5f)));
}
static void other_length(bench *b) {
    OUT(b, OP(b, DIV, rows(b), length(b, rows(b), 1e-5f)));
}
static void negative_epsilon(bench *b) {
    xpu_value x = rows(b);
    OUT(b, OP(b, DIV, x, length(b, x, -1e-5f)));
}
static void other_axis(bench *b) {
    xpu_value x = rows(b), square = OP(b, MUL, x, x);
    square = OP_WITH(b, REDUCE_MEAN, square, XPU_ATTR_INT_OF(AXIS, 0));
    OUT(b, OP(b, DIV, x, OP(b, SQRT, OP(b, ADD, square, number(b, 1e-5f)))));
}
static void sum_of_squares(bench *b) { /* the Euclidean length */
    xpu_value x = rows(b), sum = OP(b, MUL, x, x);
    sum = OP_WITH(b, REDUCE_SUM, sum, XPU_ATTR_INT_OF(AXIS, 1));
    OUT(b, OP(b, DIV, x, OP(b, SQRT, OP(b, ADD, sum, number(b, 1e-5f)))));
}
static void inverse_of_two(bench *b) {
    xpu_value x = rows(b);
    OUT(b, OP(b, MUL, x, OP(b, DIV, number(b, 2), length(b, x, 1e-5f))));
}
static void long_rows(bench *b) {
    xpu_value x = input(b, DIMS(2, 4097));
    OUT(b, OP(b, DIV, x, length(b, x, 1e-5f)));
}
static void scale_of_other_form(bench *b) { /* a number for each row, a computed row */
    xpu_value x = rows(b), y = OP(b, DIV, x, length(b, x, 1e-5f));
    y = OP(b, MUL, y, constant(b, DIMS(ROWS, 1)));
    OUT(b, OP(b, MUL, y, input(b, DIMS(COUNT))));
}
static void beside_quantised(bench *b) { /* what is left of groups keeps the roundings that it is written with */
    const uint8_t byte = 128;
    const xpu_tensor zero = {.dtype = XPU_U8, .data = (void *)&byte};
    rms_norm(b);
    xpu_value operands[] = {rows(b), number(b, 0.5f), xpu_graph_const_bytes(b->graph, NULL, &zero)};
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(DTYPE, XPU_U8)};
    OUT(b, xpu_node_output(b->graph, bench_node(b, XPU_OP_QUANTIZE, operands, 3, attrs, 1), 0));
}
static void shared(bench *b) {
    xpu_value x = rows(b), y = OP(b, DIV, x, length(b, x, 1e-5f));
    OUT(b, OP(b, MUL, y, constant_row(b)));
    OUT(b, y);
}

static void written_out(void) {
    static const pass_case cases[] = {
        {"layer norm", layer_norm, "norm"},
        {"without a mean", rms_norm, "norm"},
        {"times the reciprocal", by_reciprocal, "norm"},
        {"times 1 / length", by_quotient, "reshape norm"},
        {"epsilon as a row", epsilon_row, "norm"},
        {"over two dims", two_dims, "reshape reshape reshape norm reshape"},
        {"the mean of something else", other_mean, "reduce_mean sub norm"},
        {"the length of something else", other_length, "mul reduce_mean add sqrt div"},
        {"a negative epsilon", negative_epsilon, "mul reduce_mean add sqrt div"},
        {"another axis", other_axis, "mul reduce_mean add sqrt div"},
        {"a sum, not a mean", sum_of_squares, "mul reduce_sum add sqrt div"},
        {"2 / length", inverse_of_two, "mul reduce_mean add sqrt div mul"},
        {"long rows", long_rows, "mul reduce_mean add sqrt div"},
        {"rows of other forms", scale_of_other_form, "norm mul mul"},
        {"beside quantised values", beside_quantised, "mul reduce_mean add sqrt div mul quantize"},
        {"another user", shared, "norm mul"},
    };
    RUN_CASES(cases, XPU_EFFECT_TOLERANCE, xpu_pass_fold_batch_norm);
}

/* Scale and bias reach the operator, and only the one that is meant. */
static void rows_of_constants(void) {
    BENCH_OPEN(b);
    by_quotient(&b);
    CU_ASSERT_EQUAL(xpu_pass_fold_batch_norm(b.graph, &b.diags), XPU_OK);
    XPU_FOR_ALL_NODES(b.graph, node) {
        if (!xpu_node_is(b.graph, node, XPU_OP_NORM)) continue;
        CU_ASSERT_EQUAL(xpu_node_at(b.graph, node)->input_count, 3);
        CU_ASSERT_EQUAL(xpu_node_input(b.graph, node, 1).id, 0);
        CU_ASSERT(xpu_node_float(b.graph, node, XPU_ATTR_EPSILON) == 0.5f);
        CU_ASSERT_EQUAL(xpu_node_int(b.graph, node, XPU_ATTR_CENTRED), 1);
    }
    bench_close(&b);
}

static xpu_value norm(bench *b, xpu_value x) {
    return OP(b, NORM, x);
}
static void short_rows(bench *b) {
    OUT(b, norm(b, input(b, DIMS(2, 4096))));
}
static void planes(bench *b) { /* of an image: their means are taken where they lie */
    OUT(b, norm(b, reshape(b, image(b), DIMS(2, 3, 42))));
}
static void groups(bench *b) {
    OUT(b, norm(b, reshape(b, image(b), DIMS(2, 1, 126))));
}
static void long_norm(bench *b) {
    OUT(b, norm(b, input(b, DIMS(2, 4097))));
}

static void legal(void) {
    static const char all[] = "reduce_mean sub mul reduce_mean add sqrt reciprocal mul",
                      with_reshape[] = "reshape reduce_mean sub mul reduce_mean add sqrt reciprocal mul";
    static const pass_case cases[] = {
        {"short rows", short_rows, "norm"},
        {"long rows", long_norm, all},
        {"planes", planes, with_reshape},
        {"groups", groups, "reshape norm"},
    };
    RUN_CASES(cases, XPU_EFFECT_EXACT, xpu_pass_legalise);
}

XPU_TEST_MAIN("norms", {"written out", written_out}, {"rows of constants", rows_of_constants}, {"legalise", legal})
