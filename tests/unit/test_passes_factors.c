/* Factors and sums become a part of the layer beside them: batch norms, single numbers, hard swish, averages. */
#include "tests/unit/passes.h"

/* ---- batch norm ---- */

static xpu_value batch_norm(bench *b, xpu_value x, int64_t channels) {
    xpu_value scale = constant(b, 1, &channels), offset = constant(b, 1, &channels), mean = constant(b, 1, &channels);
    return OP(b, BATCH_NORM, x, scale, offset, mean, constant(b, 1, &channels));
}
static void conv_norm(bench *b) {
    OUT(b, batch_norm(b, conv(b, image(b)), 4));
}
static void conv_bias_norm(bench *b) {
    xpu_value x = OP(b, CONV, image(b), constant(b, DIMS(4, 3, 2, 2)), constant(b, DIMS(4)));
    OUT(b, batch_norm(b, x, 4));
}
static void matmul_norm(bench *b) {
    OUT(b, batch_norm(b, OP(b, MATMUL, input(b, DIMS(2, 5)), constant(b, DIMS(5, 4))), 4));
}
static void matmul_rank_3_norm(bench *b) {
    OUT(b, batch_norm(b, OP(b, MATMUL, input(b, DIMS(2, 3, 5)), constant(b, DIMS(5, 4))), 3));
}
static void shared_conv_norm(bench *b) {
    xpu_value x = conv(b, image(b));
    OUT(b, batch_norm(b, x, 4));
    OUT(b, OP(b, RELU, x));
}
static void infinite_norm(bench *b) {
    float zero = 0;
    xpu_value variance =
        xpu_graph_const_bytes(b->graph, NULL, &(xpu_tensor){.dtype = XPU_F32, .rank = 1, .dims = {1}, .data = &zero});
    xpu_value x = OP(b, CONV, image(b), constant(b, DIMS(1, 3, 2, 2)));
    xpu_value inputs[] = {x, constant(b, DIMS(1)), constant(b, DIMS(1)), constant(b, DIMS(1)), variance};
    OUT(b, op(b, XPU_OP_BATCH_NORM, inputs, 5, &XPU_ATTR_FLOAT_OF(EPSILON, 0), 1));
}
static void single_norm(bench *b) {
    OUT(b, batch_norm(b, image(b), 3));
}

/* ---- factors and sums of one number behind a convolution; hard swish ---- */

static xpu_value affine(bench *b, xpu_value x) {
    return OP(b, ADD, number(b, -0.25f), OP(b, MUL, x, number(b, 1.5f)));
}
static void conv_affine(bench *b) {
    OUT(b, affine(b, conv(b, image(b))));
}
static void conv_bias_affine(bench *b) {
    OUT(b, affine(b, OP(b, CONV, image(b), constant(b, DIMS(4, 3, 3, 3)), constant(b, DIMS(4)))));
}
static void affine_conv(bench *b) {
    OUT(b, conv(b, affine(b, image(b))));
}
static void affine_conv_bias(bench *b) { /* and one behind */
    OUT(b, affine(b, OP(b, CONV, affine(b, image(b)), constant(b, DIMS(4, 3, 3, 3)), constant(b, DIMS(4)))));
}
static void sums_products_conv(bench *b) {
    OUT(b, conv(b, OP(b, MUL, affine(b, affine(b, image(b))), number(b, -3))));
}
static void factor_padded_conv(bench *b) { /* padding is 0 behind it */
    xpu_value x = OP(b, MUL, image(b), number(b, 1.5f));
    OUT(b, OP_WITH2(b, CONV, x, constant(b, DIMS(4, 3, 3, 3)), INTS(PADS, 1, 1, 1, 1)));
}
static void affine_padded_conv(bench *b) { /* and not behind the sum */
    OUT(b, OP_WITH2(b, CONV, affine(b, image(b)), constant(b, DIMS(4, 3, 3, 3)), INTS(PADS, 1, 0, 0, 1)));
}
static void affine_shared_conv(bench *b) {
    xpu_value x = affine(b, image(b));
    OUT(b, conv(b, x));
    OUT(b, OP(b, RELU, x));
}
static void small_factor_conv(bench *b) { /* weights would leave the range of float32 */
    OUT(b, conv(b, OP(b, MUL, image(b), number(b, 1e-30f))));
}
static void grouped_affine_conv(bench *b) {
    xpu_value x = affine(b, image(b));
    OUT(b, OP_WITH2(b, CONV, x, constant(b, DIMS(6, 1, 3, 3)), XPU_ATTR_INT_OF(GROUP, 3)));
}
static void conv_factor_infinite(bench *b) {
    OUT(b, OP(b, MUL, conv(b, image(b)), number(b, INFINITY)));
}
static void conv_factor_shared(bench *b) {
    xpu_value x = conv(b, image(b));
    OUT(b, OP(b, MUL, x, number(b, 2)));
    OUT(b, OP(b, RELU, x));
}
static xpu_value gate(bench *b, xpu_value x, float shift, float high) {
    xpu_value shifted = OP(b, ADD, x, number(b, shift));
    return OP_WITH(b, CLIP, shifted, XPU_ATTR_FLOAT_OF(LOW, 0), XPU_ATTR_FLOAT_OF(HIGH, high));
}
static void swish_divided_last(bench *b) {
    xpu_value x = image(b);
    OUT(b, OP(b, DIV, OP(b, MUL, x, gate(b, x, 3, 6)), number(b, 6)));
}
static void swish_by_sixth(bench *b) { /* and divided first */
    xpu_value x = image(b), y = OP(b, MUL, number(b, 1.0f / 6), OP(b, MUL, gate(b, x, 3, 6), x));
    OUT(b, OP(b, MUL, OP(b, DIV, gate(b, y, 3, 6), number(b, 6)), y));
}
static void swish_by_sigmoid(bench *b) {
    xpu_value x = image(b);
    xpu_value y = OP_WITH(b, HARD_SIGMOID, x, XPU_ATTR_FLOAT_OF(ALPHA, 1.0f / 6), XPU_ATTR_FLOAT_OF(BETA, 0.5f));
    OUT(b, OP(b, MUL, x, y));
}
static void swish_of_two(bench *b) {
    OUT(b, OP(b, DIV, OP(b, MUL, image(b), gate(b, image(b), 3, 6)), number(b, 6)));
}
static void swish_nearly(bench *b) {
    xpu_value x = image(b);
    x = OP(b, DIV, OP(b, MUL, x, gate(b, x, 3, 6)), number(b, 5));
    x = OP(b, DIV, OP(b, MUL, x, gate(b, x, 3, 5)), number(b, 6));
    OUT(b, OP(b, DIV, OP(b, MUL, x, gate(b, x, 2.5f, 6)), number(b, 6)));
}
static void swish_gate_used(bench *b) {
    xpu_value x = image(b), y = gate(b, x, 3, 6);
    OUT(b, OP(b, DIV, OP(b, MUL, x, y), number(b, 6)));
    OUT(b, y);
}

/* ---- averages behind convolutions ---- */

static xpu_value average(bench *b, xpu_value x) {
    return OP(b, GLOBAL_AVERAGE_POOL, x);
}
static void pixels_average(bench *b) { /* and another reader */
    xpu_value x = OP(b, CONV, image(b), constant(b, DIMS(4, 3, 1, 1)), constant(b, DIMS(4)));
    OUT(b, average(b, x));
    OUT(b, OP(b, RELU, x));
}
static void pixels_norm_average(bench *b) {
    xpu_value x = batch_norm(b, OP(b, CONV, image(b), constant(b, DIMS(4, 3, 1, 1))), 4);
    OUT(b, average(b, x));
}
static void narrowing_average(bench *b) {
    OUT(b, average(b, OP(b, CONV, image(b), constant(b, DIMS(2, 3, 1, 1)))));
}
static void windows_average(bench *b) {
    OUT(b, average(b, conv(b, image(b))));
}
static void strides_average(bench *b) {
    OUT(b, average(b, OP_WITH2(b, CONV, image(b), constant(b, DIMS(4, 3, 1, 1)), INTS(STRIDES, 2, 2))));
}
static void padded_average(bench *b) {
    OUT(b, average(b, OP_WITH2(b, CONV, image(b), constant(b, DIMS(4, 3, 1, 1)), INTS(PADS, 0, 1, 0, 0))));
}
static void groups_average(bench *b) {
    OUT(b, average(b, OP_WITH2(b, CONV, image(b), constant(b, DIMS(6, 1, 1, 1)), XPU_ATTR_INT_OF(GROUP, 3))));
}
static void relu_average(bench *b) {
    OUT(b, average(b, OP(b, RELU, OP(b, CONV, image(b), constant(b, DIMS(4, 3, 1, 1))))));
}

static xpu_value summed(bench *b, xpu_value x, int channels) {
    return OP(b, ADD, constant(b, DIMS(channels, 1, 1)), x);
}
static void conv_sum_affine(bench *b) {
    OUT(b, affine(b, summed(b, conv(b, image(b)), 4)));
}
static void affine_conv_sum_affine(bench *b) { /* the bias that the numbers in front make comes later */
    OUT(b, affine(b, summed(b, conv(b, affine(b, image(b))), 4)));
}
static void conv_number_sum_affine(bench *b) {
    OUT(b, affine(b, summed(b, conv(b, image(b)), 1)));
}
static void conv_shared_sum(bench *b) {
    xpu_value y = conv(b, image(b));
    OUT(b, affine(b, summed(b, y, 4)));
    OUT(b, OP(b, RELU, y));
}
static void conv_bias_sum(bench *b) {
    OUT(b, summed(b, OP(b, CONV, image(b), constant(b, DIMS(4, 3, 3, 3)), constant(b, DIMS(4))), 4));
}

static xpu_status biases_and_numbers(xpu_graph *graph, xpu_diags *diags) {
    const xpu_status status = xpu_pass_fold_biases(graph, diags);
    return status == XPU_OK ? xpu_pass_fold_batch_norm(graph, diags) : status;
}

static void biases(void) {
    static const pass_case cases[] = {
        {"a sum, numbers", conv_sum_affine, "conv+bias"},
        {"numbers in front, too", affine_conv_sum_affine, "conv+bias"},
        {"a sum of one number", conv_number_sum_affine, "conv+bias"},
        {"used elsewhere", conv_shared_sum, "conv add mul add relu"},
        {"there is a bias", conv_bias_sum, "conv+bias add"},
    };
    RUN_CASES(cases, XPU_EFFECT_TOLERANCE, biases_and_numbers);
}

static xpu_status numbers_and_averages(xpu_graph *graph, xpu_diags *diags) {
    const xpu_status status = xpu_pass_fold_batch_norm(graph, diags);
    return status == XPU_OK ? xpu_pass_averages_first(graph, diags) : status;
}

static void averages(void) {
    static const pass_case cases[] = {
        {"conv of pixels", pixels_average, "conv+bias global_average_pool conv+bias relu"},
        {"conv of pixels, batch norm", pixels_norm_average, "global_average_pool conv+bias"},
        {"fewer channels", narrowing_average, "conv global_average_pool"},
        {"conv of windows", windows_average, "conv global_average_pool"},
        {"conv with strides", strides_average, "conv global_average_pool"},
        {"conv with padding", padded_average, "conv global_average_pool"},
        {"conv with groups", groups_average, "conv global_average_pool"},
        {"an activation between", relu_average, "conv relu global_average_pool"},
    };
    RUN_CASES(cases, XPU_EFFECT_TOLERANCE, numbers_and_averages);
}

static void written_out(void) {
    static const pass_case cases[] = {
        {"conv, factor, sum", conv_affine, "conv+bias"},
        {"conv with bias, factor, sum", conv_bias_affine, "conv+bias"},
        {"factor, sum, conv", affine_conv, "conv+bias"},
        {"factor, sum, conv with bias, factor, sum", affine_conv_bias, "conv+bias"},
        {"factors and sums, conv", sums_products_conv, "conv+bias"},
        {"factor, conv with padding", factor_padded_conv, "conv"},
        {"factor, sum, conv with padding", affine_padded_conv, "add conv"},
        {"factor, sum with another user, conv", affine_shared_conv, "mul add conv relu"},
        {"a very small factor, conv", small_factor_conv, "mul conv"},
        {"factor, sum, grouped conv", grouped_affine_conv, "conv+bias"},
        {"a factor that is not finite", conv_factor_infinite, "conv mul"},
        {"a factor behind a shared conv", conv_factor_shared, "conv mul relu"},
        {"hard swish, divided last", swish_divided_last, "hard_swish"},
        {"hard swish, times a sixth", swish_by_sixth, "hard_swish hard_swish"},
        {"hard swish by hard sigmoid", swish_by_sigmoid, "hard_swish"},
        {"another gate", swish_of_two, "add clip mul div"},
        {"another divisor, limit, shift", swish_nearly, "add clip mul div add clip mul div add clip mul div"},
        {"the gate has another user", swish_gate_used, "add clip hard_swish"},
    };
    RUN_CASES(cases, XPU_EFFECT_TOLERANCE, xpu_pass_fold_batch_norm);
}

static void batch_norms(void) {
    static const pass_case cases[] = {
        {"conv", conv_norm, "conv+bias"},
        {"conv with bias", conv_bias_norm, "conv+bias"},
        {"matmul", matmul_norm, "matmul+bias"},
        {"matmul of rank 3", matmul_rank_3_norm, "matmul batch_norm"},
        {"shared", shared_conv_norm, "conv batch_norm relu"},
        {"factor is not finite", infinite_norm, "conv batch_norm"},
    };
    static const pass_case legal[] = {{"legalise", single_norm, "mul add"}};
    RUN_CASES(cases, XPU_EFFECT_TOLERANCE, xpu_pass_fold_batch_norm);
    BENCH_OPEN(b);
    legal[0].build(&b);
    CU_ASSERT_EQUAL(xpu_pass_legalise(b.graph, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_pass_fold(b.graph, &b.diags), XPU_OK);
    CU_ASSERT_STRING_EQUAL(summary(&b), legal[0].after);
    bench_close(&b);
}

XPU_TEST_MAIN("factors", {"batch norm", batch_norms}, {"written out", written_out}, {"averages", averages},
              {"biases", biases})
