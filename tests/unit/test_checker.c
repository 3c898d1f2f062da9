/*
 * --check-passes: passes that do what they may are not blamed, on quantised networks too; a pass that does more is
 * caught, with the layer in which it does so.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/onnx_build.h"
#include "tests/gen/random_cnn.h"
#include "tests/unit/ir.h"
#include "core/passes/passes.h"
#include "xpu_codegen/xpu_codegen.h"
#include "xpuc/pipeline.h"

/* ---- whole compilations ---- */

static int check_model(bench *b, const void *model, size_t bytes, const char *precision) {
    const char *path = xpu_path_join(b->arena, xpu_temporary_folder(b->arena, &b->diags), "model.onnx");
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b->arena, path, model, bytes, &b->diags), XPU_OK);
    xpuc_options options = {.emit = "ir", .check_passes = 1, .precision = precision};
    xpuc_result result;
    xpuc_error error;
    int status = xpuc_compile_file(path, &options, &result, &error);
    if (status) printf("%s", error.text ? error.text : "out of memory\n");
    xpuc_result_clear(&result);
    xpuc_error_clear(&error);
    return status;
}

enum { QUANTISED = 120, FLOATS = 40 };

static void check_random(uint64_t seed) {
    static const char *const precisions[] = {"auto", "int16", "int16x8"};
    BENCH_OPEN(b);
    xpu_random_quantised quantised;
    if (seed <= QUANTISED)
        xpu_random_qcnn(b.arena, seed, &quantised);
    else
        xpu_random_cnn(b.arena, seed, &quantised.network);
    int status = check_model(&b, quantised.network.model, quantised.network.model_bytes, precisions[seed % 3]);
    CU_ASSERT_EQUAL(status, 0);
    if (status) printf("seed %d\n", (int)seed);
    bench_close(&b);
}

static void random_networks(void) {
    for (uint64_t seed = 1; seed <= QUANTISED + FLOATS; seed++) check_random(seed);
}

static void weight(xpu_onnx_builder *m, const char *name, xpu_dtype dtype, int rank, const int64_t *dims, void *data) {
    xpu_tensor tensor = {.dtype = dtype, .rank = rank, .data = data};
    for (int i = 0; i < rank; i++) tensor.dims[i] = dims[i];
    xpu_onnx_initializer(m, name, &tensor, 0);
}

#define NODE(m, op, output, ...) xpu_onnx_node(m, op, NULL, output, (const char *const[]){__VA_ARGS__, NULL})

/* Many values lie where the float network rounds one way and the one on integers the other. */
static void image_between_quantisations(void) {
    enum { CHANNELS = 32, FILTERS = 4 };
    BENCH_OPEN(b);
    xpu_onnx_builder m;
    random_source r = {3};
    int8_t w[FILTERS * CHANNELS], zero = 0;
    float x_scale = 0.0213f, w_scale = 0.00371f, y_scale = 0.0917f;
    for (size_t i = 0; i < sizeof w; i++) w[i] = (int8_t)random_range(&r, -127, 127);
    xpu_onnx_begin(&m, b.arena, 13);
    weight(&m, "w", XPU_I8, DIMS(FILTERS, CHANNELS, 1, 1), w);
    weight(&m, "x_scale", XPU_F32, 0, NULL, &x_scale);
    weight(&m, "w_scale", XPU_F32, 0, NULL, &w_scale);
    weight(&m, "y_scale", XPU_F32, 0, NULL, &y_scale);
    weight(&m, "zero", XPU_I8, 0, NULL, &zero);
    xpu_onnx_input(&m, "x", DIMS(1, CHANNELS, 160, 160));
    NODE(&m, "QuantizeLinear", "xq", "x", "x_scale", "zero");
    NODE(&m, "DequantizeLinear", "xd", "xq", "x_scale", "zero");
    NODE(&m, "DequantizeLinear", "wd", "w", "w_scale", "zero");
    NODE(&m, "Conv", "c", "xd", "wd");
    NODE(&m, "QuantizeLinear", "yq", "c", "y_scale", "zero");
    NODE(&m, "DequantizeLinear", "y", "yq", "y_scale", "zero");
    xpu_onnx_output(&m, "y", DIMS(1, FILTERS, 160, 160));
    size_t bytes;
    void *model = xpu_onnx_pack(&m, "image", &bytes);
    CU_ASSERT_EQUAL(check_model(&b, model, bytes, "auto"), 0);
    bench_close(&b);
}

/* ---- what spreads, and what does not ---- */

static xpu_value op(bench *b, xpu_op_id id, xpu_value x, xpu_value y) {
    return xpu_node_output(b->graph, bench_node(b, id, (const xpu_value[]){x, y}, y.id ? 2 : 1, NULL, 0), 0);
}

typedef struct {
    xpu_value leaky, left;
} grows;

/* leaky(-|x|) - 0.1 * -|x|: nothing is left, until the slope is another. */
static grows make_growing(bench *b) {
    xpu_tensor tenth = {.dtype = XPU_F32, .data = &(float){0.1f}};
    xpu_value none = {0},
              x = op(b, XPU_OP_NEG, op(b, XPU_OP_ABS, bench_input(b, NULL, XPU_F32, DIMS(1, 3, 8, 8)), none), none);
    xpu_attr slope = XPU_ATTR_FLOAT_OF(ALPHA, 0.1f);
    grows g;
    g.leaky = xpu_node_output(b->graph, bench_node(b, XPU_OP_LEAKY_RELU, &x, 1, &slope, 1), 0);
    g.left = op(b, XPU_OP_SUB, g.leaky, op(b, XPU_OP_MUL, x, xpu_graph_const_bytes(b->graph, NULL, &tenth)));
    xpu_graph_output(b->graph, g.left);
    return g;
}

static void set_slope(bench *b, xpu_value value, float alpha) {
    xpu_node_set_attr(b->graph, xpu_value_at(b->graph, value)->node, &XPU_ATTR_FLOAT_OF(ALPHA, alpha));
}

#define RUN(b, checker, name, effect) xpu_checker_run(checker, (b)->graph, name, XPU_EFFECT_##effect, &(b)->diags)

static void allowed_differences_may_grow(void) {
    BENCH_OPEN(b);
    grows g = make_growing(&b);
    xpu_checker *checker = xpu_checker_new(b.arena);
    CU_ASSERT_EQUAL(RUN(&b, checker, "build", DEFINES), XPU_OK);
    set_slope(&b, g.leaky, 0.1000001f);
    CU_ASSERT_EQUAL(RUN(&b, checker, "rounds", TOLERANCE), XPU_OK);
    CU_ASSERT_EQUAL(RUN(&b, checker, "nothing", EXACT), XPU_OK);
    set_slope(&b, g.leaky, 0.2f);
    CU_ASSERT_EQUAL(RUN(&b, checker, "chooses", DEFINES), XPU_OK);
    CU_ASSERT_EQUAL(RUN(&b, checker, "nothing", EXACT), XPU_OK);
    bench_print(&b);
    bench_close(&b);
}

static void faults_behind_them_are_caught(void) {
    BENCH_OPEN(b);
    grows g = make_growing(&b);
    xpu_checker *checker = xpu_checker_new(b.arena);
    CU_ASSERT_EQUAL(RUN(&b, checker, "build", DEFINES), XPU_OK);
    set_slope(&b, g.leaky, 0.1000001f);
    xpu_node sub = xpu_value_at(b.graph, g.left)->node;
    xpu_node_set_input(b.graph, sub, 1, g.leaky);
    xpu_node_set_input(b.graph, sub, 0, b.graph->inputs.items[0]);
    CU_ASSERT_EQUAL(RUN(&b, checker, "wires", TOLERANCE), XPU_EBUG);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.diags.items[0].where, "sub"));
    set_slope(&b, g.leaky, 0.2f);
    CU_ASSERT_EQUAL(RUN(&b, checker, "chooses", DEFINES), XPU_OK);
    set_slope(&b, g.leaky, 0.2000001f);
    CU_ASSERT_EQUAL(RUN(&b, checker, "after a definition", EXACT), XPU_EBUG);
    CU_ASSERT_EQUAL(b.diags.errors, 2);
    bench_close(&b);
}

/* ---- prepare ---- */

static xpu_value constant(bench *b, int rank, const int64_t *dims, random_source *r) {
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = rank};
    for (int i = 0; i < rank; i++) tensor.dims[i] = dims[i];
    float *data = XPU_NEW_ARRAY(b->arena, float, xpu_tensor_count(&tensor));
    for (int64_t i = 0; i < xpu_tensor_count(&tensor); i++) data[i] = random_float(r);
    tensor.data = data;
    return xpu_graph_const_bytes(b->graph, NULL, &tensor);
}

enum { RIGHT, SCALE, ABSMAX, WEIGHTS, BIAS, BREAKS };

/* The scale of one channel of 16 is off by a hundredth, x is scaled by the wrong magnitude, and so on. */
static void break_layer(bench *b, xpu_node conv, xpu_value other, int how) {
    xpu_value scales = xpu_node_input(b->graph, conv, XPU_IN_WSCALE);
    xpu_tensor tensor;
    random_source r = {9};
    switch (how) {
    case SCALE:
        CU_ASSERT_EQUAL(xpu_const_tensor(b->graph, scales, b->arena, &tensor, &b->diags), XPU_OK);
        tensor.data = xpu_copy(b->arena, tensor.data, xpu_tensor_bytes(&tensor));
        ((float *)tensor.data)[5] *= 1.02f;
        xpu_node_set_input(b->graph, conv, XPU_IN_WSCALE, xpu_graph_const_bytes(b->graph, NULL, &tensor));
        break;
    case ABSMAX: xpu_node_set_input(b->graph, conv, XPU_IN_ABSMAX, other); break;
    case WEIGHTS:
        CU_ASSERT_EQUAL(
            xpu_const_tensor(b->graph, xpu_node_input(b->graph, conv, XPU_IN_W), b->arena, &tensor, &b->diags), XPU_OK);
        tensor.data = xpu_copy(b->arena, tensor.data, xpu_tensor_bytes(&tensor));
        memset(tensor.data, 0, 8 * xpu_dtype_bytes(tensor.dtype));
        xpu_node_set_input(b->graph, conv, XPU_IN_W, xpu_graph_const_bytes(b->graph, NULL, &tensor));
        break;
    case BIAS: xpu_node_set_input(b->graph, conv, XPU_IN_BIAS, constant(b, DIMS(16), &r)); break;
    default: break;
    }
}

/* One NaN in the operand makes all results NaN: there is no bound. */
static void expect_no_bound(bench *b, xpu_node conv) {
    static float data[16 * 7 * 7];
    const xpu_tensor x = {.dtype = XPU_F32, .rank = 4, .dims = {1, 16, 7, 7}, .data = data};
    xpu_margin margin;
    data[5] = NAN;
    CU_ASSERT_EQUAL_FATAL(xpu_narrowed_margin(b->graph, conv, &x, NULL, &margin, b->arena, &b->diags), XPU_OK);
    CU_ASSERT(!isfinite(margin.extra[0]));
}

/* The target's prepare on two convolutions, then one fault in the second. */
static void prepare_with(const char *precision, int how) {
    BENCH_OPEN(b);
    random_source r = {5};
    xpu_value x = bench_input(&b, NULL, XPU_F32, DIMS(1, 8, 9, 9)), none = {0};
    xpu_value first = op(&b, XPU_OP_CONV, x, constant(&b, DIMS(16, 8, 3, 3), &r));
    xpu_value second = op(&b, XPU_OP_CONV, op(&b, XPU_OP_RELU, first, none), constant(&b, DIMS(16, 16, 3, 3), &r));
    xpu_graph_output(b.graph, second);
    xpu_node conv = xpu_value_at(b.graph, second)->node;
    xpu_compile_options options = {.target = "xpu-sim",
                                   .chip = "standard",
                                   .precision = precision,
                                   .source_name = "test.onnx",
                                   .resources = ".",
                                   .emit = "ir"};
    xpu_target_job job = {
        .services = &xpu_target_services, .options = &options, .graph = b.graph, .arena = b.arena, .diags = &b.diags};
    xpu_checker *checker = xpu_checker_new(b.arena);
    CU_ASSERT_EQUAL(xpu_pass_chains(b.graph, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(RUN(&b, checker, "build", DEFINES), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(xpu_sim_target.start(&job), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(xpu_sim_target.prepare(&job), XPU_OK);
    xpu_node maker = xpu_value_at(b.graph, xpu_node_input(b.graph, conv, XPU_IN_X))->node;
    break_layer(&b, conv, how == ABSMAX ? xpu_node_input(b.graph, maker, XPU_IN_ABSMAX) : none, how);
    xpu_status wanted = how == RIGHT ? XPU_OK : XPU_EBUG;
    xpu_status got = RUN(&b, checker, "prepare", PRECISION);
    CU_ASSERT_EQUAL(got, wanted);
    if (got != wanted) printf("precision %s, fault %d: %d\n", precision, how, got);
    if (got == XPU_OK) bench_print(&b);
    if (how == RIGHT && xpu_is_narrowed(b.graph, conv)) expect_no_bound(&b, conv);
    bench_close(&b);
}

static void prepare_is_checked(void) {
    prepare_with("fp32", RIGHT); /* what is broken is there in int16 only */
    for (int how = RIGHT; how < BREAKS; how++) {
        prepare_with("int16", how);
        if (how == RIGHT || how == WEIGHTS) prepare_with("int16x8", how); /* int8 is too coarse for the others */
    }
}

XPU_TEST_MAIN("checker", {"random networks", random_networks}, {"between quantisations", image_between_quantisations},
              {"differences grow", allowed_differences_may_grow}, {"faults", faults_behind_them_are_caught},
              {"prepare", prepare_is_checked})
