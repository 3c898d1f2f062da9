/*
 * A clip behind the sum of a convolution that has a clip itself and a branch, as dequantised networks have them: the
 * post-processor clips twice. Against a plain formula, and func against ref and rtl bit for bit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/golden/drawn_network.h"
#include "tests/unit/bench.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { CHANNELS = 40, SIDE = 23, PIXELS = SIDE * SIDE };

static const float limits[] = {-1.5f, 2.25f, -2.0f, 1.75f};
static float x[CHANNELS * PIXELS], w[CHANNELS * CHANNELS];
static double sum[CHANNELS * PIXELS], expected[CHANNELS * PIXELS];

static double clip(double v, const float *limit) {
    return fmin(fmax(v, (double)limit[0]), (double)limit[1]);
}

static void multiply(const double *in, double *out) {
    for (int i = 0; i < CHANNELS * PIXELS; i++) {
        out[i] = 0;
        for (int c = 0; c < CHANNELS; c++) out[i] += (double)w[i / PIXELS * CHANNELS + c] * in[c * PIXELS + i % PIXELS];
    }
}

/* Two convolutions of single pixels; between them what the first makes, clipped, plus x, clipped again. */
static void compute(void) {
    uint32_t state = 3;
    for (int i = 0; i < CHANNELS * PIXELS; i++) x[i] = ((float)draw(&state, 2001) - 1000) / 400;
    for (int i = 0; i < CHANNELS * CHANNELS; i++) w[i] = ((float)draw(&state, 2001) - 1000) / 4000;
    for (int i = 0; i < CHANNELS * PIXELS; i++) expected[i] = (double)x[i];
    multiply(expected, sum);
    for (int i = 0; i < CHANNELS * PIXELS; i++) sum[i] = clip(clip(sum[i], limits) + (double)x[i], limits + 2);
    multiply(sum, expected);
}

static const char *write_model(xpu_arena *arena, xpu_diags *diags) {
    static const char *const names[] = {"low", "high", "last_low", "last_high"};
    const int64_t image[] = {1, CHANNELS, SIDE, SIDE};
    xpu_onnx_builder b;
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "x", 4, image);
    constant(&b, "w", XPU_F32, 4, (const int64_t[]){CHANNELS, CHANNELS, 1, 1}, w);
    for (int i = 0; i < 4; i++) constant(&b, names[i], XPU_F32, 0, NULL, &limits[i]);
    xpu_onnx_node(&b, "Conv", "first", "first", (const char *const[]){"x", "w", NULL});
    xpu_onnx_node(&b, "Clip", "clipped", "clipped", (const char *const[]){"first", "low", "high", NULL});
    xpu_onnx_node(&b, "Add", "sum", "sum", (const char *const[]){"clipped", "x", NULL});
    xpu_onnx_node(&b, "Clip", "last", "last", (const char *const[]){"sum", "last_low", "last_high", NULL});
    xpu_onnx_node(&b, "Conv", "y", "y", (const char *const[]){"last", "w", NULL});
    xpu_onnx_output(&b, "y", 4, image);
    return write_network_file(&b, "clip", xpu_temporary_folder(arena, diags), diags);
}

static void run(const char *precision, double limit) {
    BENCH_OPEN(b);
    xpu_device_check check;
    const xpurt_tensor input = {"x", "float32", 4, {1, CHANNELS, SIDE, SIDE}, x};
    xpurt_tensor y = {0};
    compute();
    CU_ASSERT_FATAL(xpu_device_check_compile(&check, write_model(b.arena, &b.diags), "standard", precision));
    CU_ASSERT_FATAL(xpu_device_check_layers(&check, &input, 1, &y));
    check_near(y.data, expected, CHANNELS * PIXELS, limit);
    char *stats = xpu_device_check_rtl(&check, &input, 1, y.data, sizeof(float) * CHANNELS * PIXELS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
    CU_ASSERT(xpu_device_check_cycles(stats, "last", "tensor") > 0);
    CU_ASSERT_EQUAL(xpu_device_check_cycles(stats, "sum", NULL), -1);
    free(stats);
    xpurt_tensor_clear(&y);
    xpu_device_check_close(&check);
    bench_close(&b);
}

static void in_int16(void) {
    run("int16", 2e-4);
}

static void in_int16x8(void) {
    run("int16x8", 2e-2);
}

XPU_TEST_MAIN("last clip", {"int16", in_int16}, {"int16x8", in_int16x8})
