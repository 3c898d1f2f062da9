/*
 * --check-passes where a pass makes layers in int16 anew: two transposed convolutions become products of their phases,
 * and what reads these, a sigmoid of very negative numbers, is further from before than a bound of its own elements
 * says.
 */
#include "base/file.h"
#include "tests/golden/drawn_network.h"
#include "tests/unit/bench.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"
#include "xpuc/include/xpuc.h"

enum { CHANNELS = 24, SIDE = 12, STRIDE = 2, TAPS = STRIDE * STRIDE };

static float first[CHANNELS * CHANNELS * TAPS], last[CHANNELS * TAPS];

static void fill(float *weights, int count, uint32_t *state) {
    for (int i = 0; i < count; i++) weights[i] = ((float)draw(state, 2001) - 1000) / 2000;
}

static void enlarge(xpu_onnx_builder *b, const char *y, const char *const *inputs) {
    XpuOnnx__NodeProto *node = xpu_onnx_node(b, "ConvTranspose", y, y, inputs);
    xpu_onnx_ints(b, node, "strides", (const int64_t[]){STRIDE, STRIDE}, 2);
}

static const char *write_model(xpu_arena *arena, xpu_diags *diags) {
    static const float bias = -19;
    xpu_onnx_builder b;
    uint32_t state = 5;
    fill(first, CHANNELS * CHANNELS * TAPS, &state);
    fill(last, CHANNELS * TAPS, &state);
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "x", 4, (const int64_t[]){1, CHANNELS, SIDE, SIDE});
    constant(&b, "first", XPU_F32, 4, (const int64_t[]){CHANNELS, CHANNELS, STRIDE, STRIDE}, first);
    constant(&b, "last", XPU_F32, 4, (const int64_t[]){CHANNELS, 1, STRIDE, STRIDE}, last);
    constant(&b, "bias", XPU_F32, 1, (const int64_t[]){1}, &bias);
    enlarge(&b, "twice", (const char *const[]){"x", "first", NULL});
    xpu_onnx_node(&b, "Relu", "clipped", "clipped", (const char *const[]){"twice", NULL});
    enlarge(&b, "four times", (const char *const[]){"clipped", "last", "bias", NULL});
    xpu_onnx_node(&b, "Sigmoid", "y", "y", (const char *const[]){"four times", NULL});
    xpu_onnx_output(&b, "y", 4, (const int64_t[]){1, 1, TAPS * SIDE, TAPS * SIDE});
    return write_network_file(&b, "sigmoid", xpu_temporary_folder(arena, diags), diags);
}

static void behind_new_layers(void) {
    static const char *const precisions[] = {"fp32", "int16", "int16x8"};
    BENCH_OPEN(b);
    const char *model = write_model(b.arena, &b.diags);
    for (size_t i = 0; i < sizeof precisions / sizeof *precisions; i++) {
        xpuc_options options = {.emit = "ir", .precision = precisions[i], .check_passes = 1};
        xpuc_result result = {0};
        xpuc_error error = {0};
        CU_ASSERT_EQUAL(xpuc_compile_file(model, &options, &result, &error), 0);
        if (error.text) printf("%s: %s\n", precisions[i], error.text);
        xpuc_result_clear(&result);
        xpuc_error_clear(&error);
    }
    bench_close(&b);
}

XPU_TEST_MAIN("check passes", {"behind new layers", behind_new_layers})
