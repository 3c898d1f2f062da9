/*
 * What makes bytes of a float32 input: the load of the product that alone reads them, another copy by DMA, or the
 * cores, as each case says. Each layer on func is that of the graph on the host, and rtl gives the same bytes; the
 * input has ties, infinities and NaN. And what makes pixels of the planes of an input for products in int16.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sim/func/driver.h"
#include "tests/gen/devices.h"
#include "tests/golden/drawn_network.h"
#include "tests/unit/bench.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { OUT = 20, MOST_ELEMENTS = 2 * 24 * 40 * 40, MOST_WEIGHTS = 24 * OUT * 25 };

typedef enum { IN_LOAD, BY_COPY, BY_CORES } maker;

typedef struct {
    const char *what;
    int64_t batch, channels, side, kernel, stride;
    float scale;
    int is_signed, zero;
    int is_read_twice; /* by a second product */
    maker maker;
} network;

static const network networks[] = {
    {"one plane", 1, 1, 28, 5, 1, 0.02f, 0, 3, 0, IN_LOAD},
    {"three planes", 1, 3, 39, 3, 2, 0.0171f, 0, 117, 0, IN_LOAD},
    {"three planes of two images", 2, 3, 17, 3, 2, 0.02f, 1, -5, 0, IN_LOAD},
    {"eight planes", 1, 8, 40, 3, 1, 3.0f, 1, 0, 0, IN_LOAD},
    {"pixels of three planes", 1, 3, 40, 1, 1, 0.5f, 0, 128, 0, IN_LOAD},
    {"every other pixel of three planes", 1, 3, 40, 1, 2, 0.5f, 0, 128, 0, BY_COPY},
    {"nine planes", 1, 9, 24, 3, 1, 0.02f, 0, 100, 0, IN_LOAD},
    {"sixteen planes", 1, 16, 24, 3, 2, 0.02f, 0, 100, 0, IN_LOAD},
    {"seventeen planes", 1, 17, 24, 3, 1, 0.02f, 0, 100, 0, BY_COPY},
    {"for two products", 1, 3, 24, 3, 1, 0.02f, 0, 100, 1, BY_COPY},
    {"the least scale", 1, 3, 24, 3, 1, 0x1p-126f, 0, 100, 0, IN_LOAD},
    {"a subnormal scale", 1, 3, 24, 3, 1, 0x1p-130f, 0, 100, 0, BY_CORES},
    {"a scale below 0", 1, 3, 24, 3, 1, -0.02f, 0, 100, 0, BY_CORES},
};

static float x[MOST_ELEMENTS];
static int8_t weights[MOST_WEIGHTS];

static void add_product(xpu_onnx_builder *b, const network *n, const char *name, const char *result) {
    const char *y = xpu_printf(b->arena, "%s_y", name);
    const int64_t edge = n->kernel / 2;
    XpuOnnx__NodeProto *node = xpu_onnx_node(
        b, "QLinearConv", name, y, (const char *const[]){"bytes", "xs", "xz", "w", "ws", "wz", "ys", "yz", NULL});
    xpu_onnx_ints(b, node, "strides", (const int64_t[]){n->stride, n->stride}, 2);
    xpu_onnx_ints(b, node, "pads", (const int64_t[]){edge, edge, edge, edge}, 4);
    xpu_onnx_node(b, "DequantizeLinear", result, result, (const char *const[]){y, "ys", "yz", NULL});
    xpu_onnx_output(b, result, 4, (const int64_t[]){n->batch, OUT, -1, -1});
}

/* The product's own zero point differs from that of QuantizeLinear. */
static const char *write_model(const network *n, xpu_arena *arena, xpu_diags *diags) {
    const float product_scale = 0.02f, w_scale = 0.01f, y_scale = 0.1f * sqrtf((float)(n->channels * n->kernel));
    const int8_t zero = (int8_t)n->zero, product_zero = 7, no_zero = 0;
    const uint8_t y_zero = 121;
    const xpu_dtype type = n->is_signed ? XPU_I8 : XPU_U8;
    xpu_onnx_builder b;
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "x", 4, (const int64_t[]){n->batch, n->channels, n->side, n->side});
    constant(&b, "scale", XPU_F32, 0, NULL, &n->scale);
    constant(&b, "zero", type, 0, NULL, &zero);
    constant(&b, "xs", XPU_F32, 0, NULL, &product_scale);
    constant(&b, "xz", type, 0, NULL, &product_zero);
    constant(&b, "ws", XPU_F32, 0, NULL, &w_scale);
    constant(&b, "wz", XPU_I8, 0, NULL, &no_zero);
    constant(&b, "ys", XPU_F32, 0, NULL, &y_scale);
    constant(&b, "yz", XPU_U8, 0, NULL, &y_zero);
    constant(&b, "w", XPU_I8, 4, (const int64_t[]){OUT, n->channels, n->kernel, n->kernel}, weights);
    xpu_onnx_node(&b, "QuantizeLinear", "bytes", "bytes", (const char *const[]){"x", "scale", "zero", NULL});
    add_product(&b, n, "first", "y");
    if (n->is_read_twice) add_product(&b, n, "second", "z");
    return write_network_file(&b, "input", xpu_temporary_folder(arena, diags), diags);
}

/* Whole and half levels, and beyond the limits. */
static void draw_input(const network *n, uint32_t *state) {
    const int64_t count = n->batch * n->channels * n->side * n->side;
    for (int64_t i = 0; i < count; i++) {
        const float level = ((float)draw(state, 1200) - 600.0f) / 2.0f;
        x[i] = n->scale * (draw(state, 3) ? level : level + (float)draw(state, 1000) / 1000.0f);
    }
    x[0] = NAN, x[1] = INFINITY, x[2] = -INFINITY, x[3] = -0.0f, x[4] = 0x1p-140f;
}

static maker maker_in(const char *described) {
    return strstr(described, "\"kernel\": \"quantize\"")        ? BY_CORES
           : strstr(described, "\"kernel\": \"copy_quantize\"") ? BY_COPY
                                                                : IN_LOAD;
}

static void run(const network *n, xpu_arena *arena, xpu_diags *diags) {
    xpu_device_check check;
    xpurt_tensor input = {"x", "float32", 4, {n->batch, n->channels, n->side, n->side}, x};
    xpurt_tensor y[2] = {0};
    int good = xpu_device_check_compile(&check, write_model(n, arena, diags), "standard", "auto");
    xpu_func_configure(&(xpu_func_options){.check_races = 1});
    good = good && xpu_device_check_layers(&check, &input, 1, y);
    xpu_func_configure(&(xpu_func_options){.check_races = 0});
    if (!good) printf("%s: %s\n", n->what, check.message);
    CU_ASSERT_FATAL(good);
    const maker made = maker_in(xpurt_describe(check.program, NULL));
    if (made != n->maker) printf("%s: made by %d\n", n->what, made);
    CU_ASSERT_EQUAL(made, n->maker);
    const size_t bytes = sizeof(float) * (size_t)(n->batch * OUT * y[0].dims[2] * y[0].dims[3]);
    char *stats = xpu_device_check_rtl(&check, &input, 1, y[0].data, bytes);
    if (!stats) printf("%s: %s\n", n->what, check.message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
    CU_ASSERT(xpu_device_check_cycles(stats, "first", "tensor") > 0);
    CU_ASSERT_EQUAL(xpu_device_check_cycles(stats, "bytes", n->maker == BY_COPY ? "dma" : "core") > 0,
                    n->maker != IN_LOAD);
    free(stats);
    for (int i = 0; i < 2; i++) xpurt_tensor_clear(&y[i]);
    xpu_device_check_close(&check);
}

/* ---- products in int16 ---- */

typedef struct {
    const char *what;
    int64_t batch, channels, side, kernel, stride, groups;
    int is_read_twice;
    const char *precision;
    int is_woven; /* by the load of the product */
    int has_branch;
} float_network;

static const float_network float_networks[] = {
    {"three planes", 1, 3, 39, 3, 2, 1, 0, "int16", 1, 0},
    {"three planes, int8 weights", 1, 3, 40, 3, 2, 1, 0, "int16x8", 1, 0},
    {"eight planes of two images", 2, 8, 24, 5, 1, 1, 0, "int16x8", 1, 0},
    {"pixels of two planes", 1, 2, 40, 1, 1, 1, 0, "int16", 1, 0},
    {"every other pixel of three planes", 1, 3, 40, 1, 2, 1, 0, "int16", 0, 0},
    {"nine planes", 1, 9, 24, 3, 1, 1, 0, "int16", 1, 0},
    {"sixteen planes of two images", 2, 16, 20, 3, 2, 1, 0, "int16x8", 1, 0},
    {"seventeen planes", 1, 17, 24, 3, 1, 1, 0, "int16", 0, 0},
    {"two groups", 1, 4, 24, 3, 1, 2, 0, "int16", 0, 0},
    {"for two products", 1, 3, 24, 3, 1, 1, 1, "int16x8", 0, 0},
    {"beside planes that are added", 1, 3, 24, 3, 1, 1, 0, "int16", 1, 1},
    {"the same of two images", 2, 8, 24, 3, 2, 1, 0, "int16x8", 1, 1},
    {"in float32", 1, 3, 24, 3, 1, 1, 0, "fp32", 0, 0},
};

static float float_weights[MOST_WEIGHTS];

static void add_float_product(xpu_onnx_builder *b, const float_network *n, const char *result) {
    const int64_t edge = n->kernel / 2;
    const char *sum = n->has_branch ? "product" : result;
    XpuOnnx__NodeProto *node = xpu_onnx_node(b, "Conv", sum, sum, (const char *const[]){"x", "w", NULL});
    xpu_onnx_ints(b, node, "strides", (const int64_t[]){n->stride, n->stride}, 2);
    xpu_onnx_ints(b, node, "pads", (const int64_t[]){edge, edge, edge, edge}, 4);
    xpu_onnx_int(b, node, "group", n->groups);
    if (n->has_branch) xpu_onnx_node(b, "Add", result, result, (const char *const[]){sum, "branch", NULL});
    xpu_onnx_output(b, result, 4, (const int64_t[]){n->batch, OUT, -1, -1});
}

static const char *write_float_model(const float_network *n, xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder b;
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "x", 4, (const int64_t[]){n->batch, n->channels, n->side, n->side});
    const int64_t side = (n->side - 1) / n->stride + 1;
    if (n->has_branch) xpu_onnx_input(&b, "branch", 4, (const int64_t[]){n->batch, OUT, side, side});
    constant(&b, "w", XPU_F32, 4, (const int64_t[]){OUT, n->channels / n->groups, n->kernel, n->kernel}, float_weights);
    add_float_product(&b, n, "y");
    if (n->is_read_twice) add_float_product(&b, n, "z");
    return write_network_file(&b, "planes", xpu_temporary_folder(arena, diags), diags);
}

/* The product alone, on what a dump has of it. */
static void run_alone(const float_network *n, xpurt_program *program, const xpurt_tensor *inputs, xpu_arena *arena,
                      xpu_diags *diags) {
    const char *dump = xpu_path_join(arena, xpu_temporary_folder(arena, diags), "dump");
    xpurt_tensor results[2] = {0};
    xpurt_error error = {0};
    uint64_t differs = 0;
    xpurt_run_options options = {.device = &xpu_func_driver, .dump_folder = dump};
    CU_ASSERT_EQUAL(xpurt_run(program, inputs, 1 + (uint32_t)n->has_branch, results, &options, &error), 0);
    options =
        (xpurt_run_options){.device = &xpu_func_driver, .from_dump = dump, .layer = "y", .layer_differs = &differs};
    xpurt_tensor none[2] = {0};
    CU_ASSERT_EQUAL(xpurt_run(program, NULL, 0, none, &options, &error), 0);
    if (error.text || differs) printf("%s: alone %s\n", n->what, error.text ? error.text : "it differs");
    CU_ASSERT_EQUAL(differs, 0);
    for (int i = 0; i < 2; i++) xpurt_tensor_clear(&results[i]), xpurt_tensor_clear(&none[i]);
}

static void run_float(const float_network *n, xpu_arena *arena, xpu_diags *diags) {
    xpu_device_check check;
    const int64_t side = (n->side - 1) / n->stride + 1;
    const xpurt_tensor inputs[] = {{"x", "float32", 4, {n->batch, n->channels, n->side, n->side}, x},
                                   {"branch", "float32", 4, {n->batch, OUT, side, side}, x + 1}};
    const uint32_t count = 1 + (uint32_t)n->has_branch;
    xpurt_tensor y[2] = {0};
    int good = xpu_device_check_compile(&check, write_float_model(n, arena, diags), "standard", n->precision);
    xpu_func_configure(&(xpu_func_options){.check_races = 1});
    good = good && xpu_device_check_layers(&check, inputs, count, y);
    xpu_func_configure(&(xpu_func_options){.check_races = 0});
    if (!good) printf("%s: %s\n", n->what, check.message);
    CU_ASSERT_FATAL(good);
    const size_t bytes = sizeof(float) * (size_t)(n->batch * OUT * y[0].dims[2] * y[0].dims[3]);
    char *stats = xpu_device_check_rtl(&check, inputs, count, y[0].data, bytes);
    if (!stats) printf("%s: %s\n", n->what, check.message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
    CU_ASSERT(xpu_device_check_cycles(stats, "y", strcmp(n->precision, "fp32") ? "tensor" : "core") > 0);
    const int is_woven = xpu_device_check_cycles(stats, "x/channel_last", NULL) < 0;
    if (is_woven != n->is_woven) printf("%s: woven %d\n", n->what, is_woven);
    CU_ASSERT_EQUAL(is_woven, n->is_woven);
    run_alone(n, check.program, inputs, arena, diags);
    free(stats);
    for (int i = 0; i < 2; i++) xpurt_tensor_clear(&y[i]);
    xpu_device_check_close(&check);
}

static void run_float_networks(xpu_arena *arena, xpu_diags *diags) {
    uint32_t state = 7;
    for (int i = 0; i < MOST_WEIGHTS; i++) float_weights[i] = ((float)draw(&state, 2001) - 1000.0f) / 4000.0f;
    for (int i = 0; i < MOST_ELEMENTS; i++) x[i] = ((float)draw(&state, 2001) - 1000.0f) / 300.0f;
    for (size_t i = 0; i < sizeof float_networks / sizeof *float_networks; i++)
        run_float(&float_networks[i], arena, diags);
}

static void run_networks(xpu_arena *arena, xpu_diags *diags) {
    uint32_t state = 5;
    for (int i = 0; i < MOST_WEIGHTS; i++) weights[i] = (int8_t)draw(&state, 256);
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        draw_input(&networks[i], &state);
        run(&networks[i], arena, diags);
    }
}

static void run_with(void (*all)(xpu_arena *arena, xpu_diags *diags)) {
    BENCH_OPEN(b);
    all(b.arena, &b.diags);
    bench_close(&b);
}

static void bytes_of_floats(void) {
    run_with(run_networks);
}
static void pixels_of_planes(void) {
    run_with(run_float_networks);
}

XPU_TEST_MAIN("quantised inputs", {"what makes the bytes", bytes_of_floats},
              {"what makes pixels of planes", pixels_of_planes})
