/*
 * Depthwise convolutions of float models in int16 and int16x8: func equals ref in every layer, on chips with a window
 * engine and without one, on the unit that is expected; results are the same on all chips, and those of a plain formula
 * with integers of 64 bits. One size goes to the Verilated chip as well.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sim/func/driver.h"
#include "tests/gen/devices.h"
#include "tests/golden/drawn_network.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/bench.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { MOST_ELEMENTS = 132000, MOST_WEIGHTS = 200 * 49 };

typedef struct {
    int64_t batch, channels, height, width, kernel[2], stride, dilation, pads[4]; /* top, left, bottom, right */
    float low, high; /* of a Clip behind it; equal: there is none */
    int stays_float;
    int swish; /* hard swish behind it; 2: times 3/4, plus 1/4 */
} window;

static float x[MOST_ELEMENTS], weights[MOST_WEIGHTS], bias[256];

static float noise(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)((int32_t)*state >> 8) / (float)(1 << 23);
}

static void fill(void) {
    uint32_t state = 3;
    for (int i = 0; i < MOST_ELEMENTS; i++) x[i] = 3 * noise(&state);
    for (int i = 0; i < MOST_WEIGHTS; i++) weights[i] = noise(&state) * (float)(1 + i % 5);
    for (int i = 0; i < 256; i++) bias[i] = noise(&state);
}

/* In front and behind stand layers that are none of the engines': a sign is turned, so that largest magnitudes are
 * found and used. */
static const char *write_model(const window *v, xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder b;
    const int64_t dims[] = {v->batch, v->channels, v->height, v->width}, out[] = {v->batch, v->channels, -1, -1};
    const int64_t strides[] = {v->stride, v->stride}, dilations[] = {v->dilation, v->dilation};
    const int clips = v->low < v->high, follows = clips || v->swish;
    static const float factor = 0.75f, addend = 0.25f;
    xpu_onnx_begin(&b, arena, 14);
    xpu_onnx_input(&b, "x", 4, dims);
    xpu_onnx_initializer(&b, "w", &(xpu_tensor){XPU_F32, 4, {v->channels, 1, v->kernel[0], v->kernel[1]}, weights}, 0);
    xpu_onnx_initializer(&b, "b", &(xpu_tensor){XPU_F32, 1, {v->channels}, bias}, 0);
    xpu_onnx_initializer(&b, "low", &(xpu_tensor){XPU_F32, 0, {0}, (void *)(uintptr_t)&v->low}, 0);
    xpu_onnx_initializer(&b, "high", &(xpu_tensor){XPU_F32, 0, {0}, (void *)(uintptr_t)&v->high}, 0);
    xpu_onnx_node(&b, "Neg", "front", "t", (const char *const[]){"x", NULL});
    XpuOnnx__NodeProto *node =
        xpu_onnx_node(&b, "Conv", "window", follows ? "c" : "y", (const char *const[]){"t", "w", "b", NULL});
    xpu_onnx_ints(&b, node, "strides", strides, 2);
    xpu_onnx_ints(&b, node, "dilations", dilations, 2);
    xpu_onnx_ints(&b, node, "pads", v->pads, 4);
    xpu_onnx_int(&b, node, "group", v->channels);
    if (clips) xpu_onnx_node(&b, "Clip", "clip", "y", (const char *const[]){"c", "low", "high", NULL});
    if (v->swish) xpu_onnx_node(&b, "HardSwish", "swish", v->swish == 2 ? "s" : "y", (const char *const[]){"c", NULL});
    if (v->swish == 2) {
        xpu_onnx_initializer(&b, "factor", &(xpu_tensor){XPU_F32, 0, {0}, (void *)(uintptr_t)&factor}, 0);
        xpu_onnx_initializer(&b, "addend", &(xpu_tensor){XPU_F32, 0, {0}, (void *)(uintptr_t)&addend}, 0);
        xpu_onnx_node(&b, "Mul", "times", "m", (const char *const[]){"s", "factor", NULL});
        xpu_onnx_node(&b, "Add", "plus", "y", (const char *const[]){"m", "addend", NULL});
    }
    xpu_onnx_output(&b, "y", 4, out);
    return write_network_file(&b, "window", xpu_temporary_folder(arena, diags), diags);
}

/* ---- the plain formula ---- */

static double quantised(double value, double most, double limit) {
    return most > 0 ? nearbyint((double)(float)((float)value * (float)(limit / most))) : 0;
}

static double largest(const float *items, int64_t count) {
    double most = 0;
    for (int64_t i = 0; i < count; i++) most = fmax(most, fabs((double)items[i]));
    return most;
}

/* An output before Clip or hard swish, exact but for its last roundings. */
static double formula(const window *v, double limit, double x_most, int64_t image, int64_t c, int64_t row,
                      int64_t column) {
    const int64_t taps = v->kernel[0] * v->kernel[1];
    const double w_most = largest(weights + c * taps, taps);
    int64_t sum = 0;
    for (int64_t kh = 0; kh < v->kernel[0]; kh++) {
        for (int64_t kw = 0; kw < v->kernel[1]; kw++) {
            const int64_t ih = row * v->stride + kh * v->dilation - v->pads[0];
            const int64_t iw = column * v->stride + kw * v->dilation - v->pads[1];
            if (ih < 0 || iw < 0 || ih >= v->height || iw >= v->width) continue;
            const float at = -x[((image * v->channels + c) * v->height + ih) * v->width + iw];
            sum += (int64_t)quantised(at, x_most, 32767) *
                   (int64_t)quantised(weights[c * taps + kh * v->kernel[1] + kw], w_most, limit);
        }
    }
    return (double)sum * (x_most / 32767) * (w_most / limit) + bias[c];
}

/* Whether results are those of the formula, to within what float32 rounds. */
static int is_formula(const window *v, int narrow, const xpurt_tensor *y) {
    const int64_t oh = y->dims[2], ow = y->dims[3];
    const double x_most = largest(x, v->batch * v->channels * v->height * v->width);
    const float *at = y->data;
    for (int64_t i = 0; i < v->batch * v->channels * oh * ow; i++) {
        const int64_t plane = i / (oh * ow), pixel = i % (oh * ow);
        double wanted =
            formula(v, narrow ? 127 : 32767, x_most, plane / v->channels, plane % v->channels, pixel / ow, pixel % ow);
        const double room = 8e-6 * fabs(wanted) + 1e-6;
        if (v->swish) wanted *= fmin(fmax(wanted / 6 + 0.5, 0.0), 1.0);
        if (v->swish == 2) wanted = 0.75 * wanted + 0.25;
        if (v->low < v->high) wanted = fmin(fmax(wanted, (double)v->low), (double)v->high);
        if (!(fabs((double)at[i] - wanted) <= room)) {
            printf("element %d is %.9g, by the formula %.9g\n", (int)i, (double)at[i], wanted);
            return 0;
        }
    }
    return 1;
}

/* ---- chips ---- */

static int has_kernel(xpurt_program *program, const char *kernel, xpu_arena *arena) {
    return strstr(xpurt_describe(program, NULL), xpu_printf(arena, "\"kernel\": \"%s\"", kernel)) != NULL;
}

static size_t bytes_of(const xpurt_tensor *y) {
    return (size_t)(4 * y->dims[0] * y->dims[1] * y->dims[2] * y->dims[3]);
}

static int count(const char *text, const char *part) {
    int found = 0;
    for (const char *at = text; (at = strstr(at, part)); at++) found++;
    return found;
}

/* Layers that are chains: the one in front alone, where what stands behind the window is part of it. */
static int count_chains(xpurt_program *program) {
    const char *text = xpurt_describe(program, NULL);
    return count(text, "\"kernel\": \"chain") + count(text, "\"kernel\": \"elementwise\"");
}

/* On a chip; y is that of the chips before, or empty. */
static void run_on(const window *v, const char *model, const char *chip, int on_engine, int narrow, xpurt_tensor *y,
                   xpu_arena *arena) {
    xpu_device_check check;
    xpurt_tensor input = {"x", "float32", 4, {v->batch, v->channels, v->height, v->width}, x}, here = {0};
    const char *kernel = v->stays_float ? "depthwise_f32" : on_engine ? "window_i16" : "depthwise_i16";
    int good = xpu_device_check_compile(&check, model, chip, narrow ? "int16x8" : "int16");
    if (good) {
        CU_ASSERT(has_kernel(check.program, kernel, arena));
        CU_ASSERT(v->stays_float || count_chains(check.program) == 1);
        xpu_func_configure(&(xpu_func_options){.check_races = on_engine});
        good = xpu_device_check_layers(&check, &input, 1, &here);
        xpu_func_configure(&(xpu_func_options){.check_races = 0});
    }
    if (good && y->data) CU_ASSERT(memcmp(y->data, here.data, bytes_of(y)) == 0);
    if (good && !y->data && !v->stays_float) CU_ASSERT(is_formula(v, narrow, &here));
    if (!good) printf("%s, %d x %d x %d: %s\n", chip, (int)v->channels, (int)v->height, (int)v->width, check.message);
    CU_ASSERT(good);
    if (y->data)
        xpurt_tensor_clear(&here);
    else
        *y = here;
    xpu_device_check_close(&check);
}

static void run_everywhere(const window *v, int narrow, xpu_arena *arena, xpu_diags *diags) {
    xpurt_tensor y = {0};
    const char *model = write_model(v, arena, diags);
    run_on(v, model, "standard", 1, narrow, &y, arena);
    run_on(v, model, "tests/chip/nano-window.json", 1, narrow, &y, arena);
    run_on(v, model, "tests/chip/tiny-window.json", 1, narrow, &y, arena);
    run_on(v, model, "nano", 0, narrow, &y, arena);
    run_on(v, model, "pro", 0, narrow, &y, arena);
    xpurt_tensor_clear(&y);
}

static void shapes(void) {
    static const window windows[] = {
        {1, 32, 28, 28, {3, 3}, 1, 1, {1, 1, 1, 1}, 0, 6, 0, 0},
        {1, 96, 15, 17, {3, 3}, 2, 1, {0, 0, 1, 1}, 0, 0, 0, 0},
        {2, 35, 9, 13, {3, 3}, 1, 1, {1, 1, 1, 1}, -1, 1, 0, 0},
        {1, 200, 7, 7, {5, 5}, 1, 1, {2, 2, 2, 2}, 0, 6, 0, 0},
        {1, 16, 30, 31, {7, 7}, 1, 1, {3, 3, 3, 3}, 0, 0, 0, 0},
        {1, 72, 14, 14, {7, 7}, 2, 1, {3, 3, 3, 3}, 0, 0, 0, 0},
        {1, 3, 17, 19, {3, 5}, 1, 2, {2, 4, 2, 4}, 0, 0, 0, 0},
        {1, 24, 1, 90, {1, 7}, 1, 1, {0, 3, 0, 3}, 0, 0, 0, 0},
        {3, 5, 5, 6, {3, 3}, 3, 1, {2, 2, 2, 2}, 0, 0, 0, 0},
        {1, 64, 6, 5, {3, 3}, 1, 1, {1, 1, 1, 1}, 2, 3, 0, 0},
        {1, 12, 30, 30, {1, 1}, 1, 1, {0, 0, 0, 0}, 0, 0, 0, 0},
        {1, 20, 21, 9, {3, 3}, 1, 4, {4, 4, 4, 4}, 0, 0, 0, 0},
        {1, 16, 12, 14, {3, 3}, 1, 1, {40, 1, 40, 1}, 0, 0, 0, 0},
        {1, 16, 40, 3, {7, 2}, 5, 1, {0, 9, 0, 9}, 0, 0, 0, 0},
        {1, 2, 1, 65601, {1, 5}, 1, 1, {0, 2, 0, 2}, 0, 0, 0, 0}, /* more columns than a descriptor's field can say */
        {1, 2, 65601, 1, {3, 1}, 2, 1, {1, 0, 1, 0}, 0, 0, 0, 0},
        {1, 16, 20, 20, {8, 8}, 1, 1, {3, 3, 3, 3}, 0, 0, 1, 0},      /* more than 7 x 7 */
        {1, 16, 30, 30, {3, 3}, 1, 12, {12, 12, 12, 12}, 0, 0, 1, 0}, /* reaches over 25 x 25 */
        {1, 40, 19, 17, {3, 3}, 1, 1, {1, 1, 1, 1}, 0, 0, 0, 1},
        {2, 33, 14, 14, {5, 5}, 2, 1, {2, 2, 2, 2}, 0, 0, 0, 2},
        {1, 3, 17, 19, {3, 5}, 1, 2, {2, 4, 2, 4}, 0, 0, 0, 2},
        {1, 32, 62, 63, {3, 3}, 2, 1, {1, 1, 1, 1}, 0, 6, 0, 0}, /* input rows in a ring on all chips with an engine */
        {2, 40, 39, 40, {5, 5}, 2, 1, {2, 2, 1, 1}, 0, 0, 0, 0},
        {1, 33, 60, 61, {3, 3}, 1, 2, {2, 2, 2, 2}, 0, 0, 0, 0},
    };
    BENCH_OPEN(b);
    xpu_arena *arena = xpu_arena_new(&b.mem, "test");
    fill();
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        run_everywhere(&windows[i], 0, arena, &b.diags);
        run_everywhere(&windows[i], 1, arena, &b.diags);
    }
    bench_close(&b);
}

/* The bytes of a program of one shape, on the window engine: rows of input stand in a ring or not, as the shape has it.
 */
static void serve_width(xpu_device_check *check, const window *v, const char *model, int64_t width, xpu_arena *arena) {
    const char *shape = xpu_printf(arena, "x=1,%d,%d,%d", (int)v->channels, (int)v->height, (int)width);
    xpurt_tensor input = {"x", "float32", 4, {1, v->channels, v->height, width}, x}, got = {0}, wanted = {0};
    xpu_device_check fixed;
    int good = xpu_device_check_compile_shape(&fixed, model, "standard", "int16", shape) &&
               xpu_device_check_run(&fixed, &input, 1, &wanted);
    if (!good) printf("%s: %s\n", shape, fixed.message);
    CU_ASSERT(good);
    good = xpu_device_check_run(check, &input, 1, &got);
    if (!good) printf("%s, %s: %s\n", model, shape, check->message);
    CU_ASSERT(good && wanted.data && bytes_of(&got) == bytes_of(&wanted));
    CU_ASSERT(got.data && wanted.data && memcmp(got.data, wanted.data, bytes_of(&got)) == 0);
    xpurt_tensor_clear(&got);
    xpurt_tensor_clear(&wanted);
    xpu_device_check_close(&fixed);
}

static void open_width(void) {
    static const window windows[] = {
        {1, 16, 41, 60, {3, 3}, 2, 1, {1, 1, 1, 1}, 0, 0, 0, 0},
        {1, 48, 40, 60, {5, 5}, 2, 1, {2, 2, 2, 2}, 0, 6, 0, 0},
        {1, 16, 41, 60, {3, 3}, 1, 1, {1, 1, 1, 1}, 0, 0, 0, 0},
        {1, 64, 30, 60, {3, 3}, 3, 1, {1, 1, 1, 1}, 0, 0, 0, 0},
        {1, 64, 1, 60, {1, 31}, 2, 1, {0, 15, 0, 15}, 0, 0, 0, 0},
    };
    static const int64_t widths[] = {1, 9, 30, 48, 65};
    BENCH_OPEN(b);
    xpu_arena *arena = xpu_arena_new(&b.mem, "test");
    fill();
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        const window *v = &windows[i];
        const char *model = write_model(v, arena, &b.diags);
        const char *shape = xpu_printf(arena, "x=1,%d,%d,W", (int)v->channels, (int)v->height);
        xpu_device_check check;
        CU_ASSERT_FATAL(xpu_device_check_compile_shape(&check, model, "standard", "int16", shape));
        CU_ASSERT(has_kernel(check.program, "window_i16", arena));
        for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) serve_width(&check, v, model, widths[k], arena);
        xpu_device_check_close(&check);
    }
    bench_close(&b);
}

/* 1 to n. */
static int64_t up_to(uint32_t *state, uint32_t n) {
    *state = *state * 1664525u + 1013904223u;
    return 1 + (int64_t)((*state >> 16) % n);
}

/* Sizes around edges of tiles, by chance. XPU_RANDOM_SEED=N tries one. */
static void by_chance(void) {
    enum { SEEDS = 12 };
    const char *only = getenv("XPU_RANDOM_SEED");
    BENCH_OPEN(b);
    fill();
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        xpu_arena *arena = xpu_arena_new(&b.mem, "test");
        uint32_t state = only ? (uint32_t)atoi(only) : seed;
        const int narrow = (int)state & 1;
        for (int i = 0; i < 3; i++) up_to(&state, 2);
        window v = {.batch = up_to(&state, 2)};
        v.channels = 1 + up_to(&state, 90), v.height = 6 + up_to(&state, 24), v.width = 6 + up_to(&state, 24);
        for (int i = 0; i < 2; i++) v.kernel[i] = up_to(&state, 5);
        v.stride = up_to(&state, 3), v.dilation = up_to(&state, 2);
        for (int i = 0; i < 4; i++) v.pads[i] = 3 + up_to(&state, 2);
        run_everywhere(&v, narrow, arena, &b.diags);
        if (CU_get_number_of_failures() || only) printf("seed %u; ", only ? (unsigned)atoi(only) : seed);
        xpu_arena_free(arena);
        if (only) break;
    }
    bench_close(&b);
}

/* Rows of more than 7 taps, which the engine sees as rows that overlap. */
static void long_rows(void) {
    static const window windows[] = {
        {1, 24, 1, 90, {1, 31}, 1, 1, {0, 15, 0, 15}, 0, 6, 0, 0},
        {2, 35, 1, 40, {1, 9}, 2, 1, {0, 0, 0, 8}, 0, 0, 0, 0},
        {1, 5, 1, 60, {1, 35}, 3, 1, {0, 0, 0, 0}, 0, 0, 0, 0},
        {1, 100, 1, 200, {1, 15}, 1, 2, {0, 28, 0, 0}, 0, 0, 0, 1},
        {3, 16, 1, 3, {1, 8}, 1, 1, {0, 7, 0, 7}, 0, 0, 0, 0},
        {1, 2, 1, 50000, {1, 14}, 1, 1, {0, 6, 0, 7}, 0, 0, 0, 0},
        {1, 16, 1, 60, {1, 50}, 1, 1, {0, 24, 0, 25}, 0, 0, 1, 0},
        {1, 16, 2, 60, {1, 9}, 1, 1, {0, 4, 0, 4}, 0, 0, 1, 0},
    };
    enum { COUNT = sizeof windows / sizeof *windows, SEEDS = 8 };
    BENCH_OPEN(b);
    fill();
    for (uint32_t i = 0; i < COUNT; i++) run_everywhere(&windows[i], (int)i & 1, b.arena, &b.diags);
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        uint32_t state = seed;
        for (int i = 0; i < 3; i++) up_to(&state, 2);
        window v = {.batch = up_to(&state, 2), .height = 1, .kernel = {1, 7 + up_to(&state, 24)}, .dilation = 1};
        v.channels = 1 + up_to(&state, 90), v.width = up_to(&state, 300), v.stride = up_to(&state, 3);
        v.pads[1] = up_to(&state, 50), v.pads[3] = v.kernel[1];
        run_everywhere(&v, (int)seed & 1, b.arena, &b.diags);
        if (CU_get_number_of_failures()) printf("seed %u; ", (unsigned)seed);
    }
    bench_close(&b);
}

/* Largest magnitudes that are 0, infinite or no number. */
static void odd_numbers(void) {
    static const window v = {1, 20, 6, 7, {3, 3}, 1, 1, {1, 1, 1, 1}, 0, 6, 0, 0};
    static const float odd[] = {0, INFINITY, NAN, 1e-38f, 3e38f};
    BENCH_OPEN(b);
    xpu_arena *arena = xpu_arena_new(&b.mem, "test");
    fill();
    const char *model = write_model(&v, arena, &b.diags);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        static const char *const chips[] = {"standard", "nano"};
        for (int k = 0; k < 20 * 6 * 7; k++) x[k] = 0;
        x[77] = odd[i];
        for (int k = 0; k < 2; k++) {
            xpu_device_check check;
            xpurt_tensor input = {"x", "float32", 4, {1, 20, 6, 7}, x}, y = {0};
            CU_ASSERT(xpu_device_check_compile(&check, model, chips[k], "int16"));
            CU_ASSERT(xpu_device_check_layers(&check, &input, 1, &y));
            if (isnan(odd[i]) || isinf(odd[i])) CU_ASSERT(y.data && isnan(((const float *)y.data)[20]));
            xpurt_tensor_clear(&y);
            xpu_device_check_close(&check);
        }
    }
    bench_close(&b);
}

/* The Verilated chip gives the bits of func, on the window engine and in few cycles. */
static void verilated(void) {
    static const window v = {1, 96, 28, 28, {3, 3}, 1, 1, {1, 1, 1, 1}, 0, 6, 0, 0};
    enum { MOST_CYCLES = 14000 };
    BENCH_OPEN(b);
    xpu_arena *arena = xpu_arena_new(&b.mem, "test");
    fill();
    const xpurt_tensor input = {"x", "float32", 4, {1, 96, 28, 28}, x};
    check_verilated(write_model(&v, arena, &b.diags), "int16", &input, "clip", "window", MOST_CYCLES);
    bench_close(&b);
}

XPU_TEST_MAIN("depthwise in int16", {"long rows", long_rows}, {"shapes", shapes}, {"open width", open_width},
              {"by chance", by_chance}, {"odd numbers", odd_numbers}, {"on rtl", verilated})
