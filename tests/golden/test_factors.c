/*
 * Squeeze and excite behind a convolution of pixels, and a smaller image that is added, as feature pyramids have them:
 * one layer of the tensor engine, whose scales the network computes and whose branch is repeated pixels. Against a
 * plain formula, and func against ref and rtl bit for bit, at fixed and at free shapes.
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

enum { IN = 8, OUT = 40, DOWN = 2, ACROSS = 3, MOST = 66 * 66 };

/* y f, y + y f, and each plus the image. */
typedef enum { PRODUCT, SUM, PRODUCT_BRANCH, SUM_BRANCH } form;

static float x[IN * MOST], level[OUT * MOST], w[OUT * IN], bias[OUT], gate_w[OUT * OUT], gate_bias[OUT];
static double expected[OUT * MOST];

static void fill(float *to, int count, uint32_t seed, float scale) {
    for (int i = 0; i < count; i++) to[i] = ((float)draw(&seed, 2001) - 1000) / 1000 * scale;
}

static int has_branch(form f) {
    return f >= PRODUCT_BRANCH;
}

static int is_added(form f) {
    return f == SUM || f == SUM_BRANCH;
}

static void compute(form f, int height, int width) {
    static double mean[OUT];
    const int pixels = height * width;
    for (int o = 0; o < OUT; o++) {
        mean[o] = 0;
        for (int p = 0; p < pixels; p++) {
            double sum = (double)bias[o];
            for (int c = 0; c < IN; c++) sum += (double)w[o * IN + c] * (double)x[c * pixels + p];
            expected[o * pixels + p] = sum;
            mean[o] += sum / pixels;
        }
    }
    for (int o = 0; o < OUT; o++) {
        double gate = (double)gate_bias[o];
        for (int c = 0; c < OUT; c++) gate += (double)gate_w[o * OUT + c] * mean[c];
        gate = fmin(fmax(gate / 5 + 0.5, 0), 1) + (is_added(f) ? 1 : 0);
        for (int p = 0; p < pixels; p++) {
            const int at = p / width / DOWN * (width / ACROSS) + p % width / ACROSS;
            expected[o * pixels + p] *= gate;
            for (int c = 0; has_branch(f) && c < OUT; c++)
                expected[o * pixels + p] +=
                    (double)gate_w[o * OUT + c] * (double)level[c * (height / DOWN) * (width / ACROSS) + at];
        }
    }
}

static void add_conv(xpu_onnx_builder *b, const char *name, const char *from, const char *weights, const char *offset) {
    xpu_onnx_node(b, "Conv", name, name, (const char *const[]){from, weights, offset, NULL});
}

static const char *write_model(form f, xpu_arena *arena, xpu_diags *diags) {
    static const float scales[] = {1, 1, DOWN, ACROSS};
    const char *last = is_added(f) ? "sum" : "scaled";
    xpu_onnx_builder b;
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "x", 4, (const int64_t[]){1, IN, 46, 66});
    if (has_branch(f)) xpu_onnx_input(&b, "level", 4, (const int64_t[]){1, OUT, 46 / DOWN, 66 / ACROSS});
    constant(&b, "w", XPU_F32, 4, (const int64_t[]){OUT, IN, 1, 1}, w);
    constant(&b, "bias", XPU_F32, 1, (const int64_t[]){OUT}, bias);
    constant(&b, "gate_w", XPU_F32, 4, (const int64_t[]){OUT, OUT, 1, 1}, gate_w);
    constant(&b, "gate_bias", XPU_F32, 1, (const int64_t[]){OUT}, gate_bias);
    constant(&b, "scales", XPU_F32, 1, (const int64_t[]){4}, scales);
    add_conv(&b, "fine", "x", "w", "bias");
    xpu_onnx_node(&b, "GlobalAveragePool", "mean", "mean", (const char *const[]){"fine", NULL});
    add_conv(&b, "squeeze", "mean", "gate_w", "gate_bias");
    xpu_onnx_node(&b, "HardSigmoid", "gate", "gate", (const char *const[]){"squeeze", NULL});
    xpu_onnx_node(&b, "Mul", "scaled", "scaled", (const char *const[]){"gate", "fine", NULL});
    if (is_added(f)) xpu_onnx_node(&b, "Add", "sum", "sum", (const char *const[]){"fine", "scaled", NULL});
    if (has_branch(f)) {
        add_conv(&b, "coarse", "level", "gate_w", NULL);
        XpuOnnx__NodeProto *resize =
            xpu_onnx_node(&b, "Resize", "large", "large", (const char *const[]){"coarse", "", "scales", NULL});
        xpu_onnx_string(&b, resize, "mode", "nearest");
        xpu_onnx_string(&b, resize, "coordinate_transformation_mode", "asymmetric");
        xpu_onnx_string(&b, resize, "nearest_mode", "floor");
        xpu_onnx_node(&b, "Add", "all", "all", (const char *const[]){"large", last, NULL});
        last = "all";
    }
    xpu_onnx_output(&b, last, 4, (const int64_t[]){1, OUT, 46, 66});
    return write_network_file(&b, "factors", xpu_temporary_folder(arena, diags), diags);
}

/* The convolution has taken what stands behind it: it is the only layer of the tensor engine with so many pixels. */
static void check_layers(form f, const char *stats) {
    const char *last = has_branch(f) ? "all" : is_added(f) ? "sum" : "scaled";
    CU_ASSERT(xpu_device_check_cycles(stats, last, "tensor") > 0);
    CU_ASSERT_EQUAL(xpu_device_check_cycles(stats, "fine", NULL), -1);
    CU_ASSERT_EQUAL(xpu_device_check_cycles(stats, "large", NULL), -1);
}

static void run_at(xpu_device_check *check, form f, int height, int width, double limit) {
    const xpurt_tensor inputs[] = {
        {"x", "float32", 4, {1, IN, height, width}, x},
        {"level", "float32", 4, {1, OUT, height / DOWN, width / ACROSS}, level},
    };
    const uint32_t count = has_branch(f) ? 2 : 1;
    xpurt_tensor y = {0};
    compute(f, height, width);
    const int good = xpu_device_check_layers(check, inputs, count, &y);
    CU_ASSERT_FATAL(good);
    check_near(y.data, expected, OUT * height * width, limit);
    char *stats = xpu_device_check_rtl(check, inputs, count, y.data, sizeof(float) * (size_t)(OUT * height * width));
    CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
    check_layers(f, stats);
    free(stats);
    xpurt_tensor_clear(&y);
}

static void run(form f, const char *precision, const char *shape, double limit) {
    BENCH_OPEN(b);
    xpu_device_check check;
    const char *model = write_model(f, b.arena, &b.diags);
    CU_ASSERT_FATAL(xpu_device_check_compile_shape(&check, model, "standard", precision, shape));
    run_at(&check, f, 46, 66, limit);
    if (shape) run_at(&check, f, 62, 33, limit);
    xpu_device_check_close(&check);
    bench_close(&b);
}

static void all_forms(void) {
    for (volatile int f = PRODUCT; f <= SUM_BRANCH; f++) {
        run((form)f, "int16", NULL, 2e-4);
        run((form)f, "int16x8", NULL, 3e-2);
    }
}

static void free_shapes(void) {
    run(SUM, "int16", "x=1,8,H,W", 2e-4);
    run(SUM_BRANCH, "int16x8", "x=1,8,2..64:2,3..66:3 level=1,40,1..32,1..22", 3e-2);
}

static void fill_all(void) {
    fill(x, IN * MOST, 1, 2);
    fill(level, OUT * MOST, 2, 5);
    fill(w, OUT * IN, 3, 0.7f);
    fill(bias, OUT, 4, 1);
    fill(gate_w, OUT * OUT, 5, 1.5f);
    fill(gate_bias, OUT, 6, 1);
}

static void forms(void) {
    fill_all();
    all_forms();
}

XPU_TEST_MAIN("factors", {"forms", forms}, {"free shapes", free_shapes})
