/*
 * Maxima over windows in integers: the same bits on all chips, on the window engine and on the cores, as on the host,
 * and within half a step of the maximum of floats. Where they stay in float32. What one may cost on the Verilated chip.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sim/func/driver.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/golden/drawn_network.h"
#include "tests/unit/bench.h"
#include "tests/unit/unit.h"

enum { MOST_ELEMENTS = 2 * 101 * 25 * 25 };

static float x[MOST_ELEMENTS];

typedef struct {
    int64_t dims[4], kernel[2], stride[2], pads[4], gap, ceil;
    int stays_float;
} maximum;

static int64_t extent(const maximum *m, int axis) {
    return (m->kernel[axis] - 1) * (1 + m->gap) + 1;
}

static int64_t out_size(const maximum *m, int axis) {
    const int64_t size = m->dims[2 + axis] + m->pads[axis], room = size + m->pads[2 + axis] - extent(m, axis);
    const int64_t windows = (room + (m->ceil ? m->stride[axis] - 1 : 0)) / m->stride[axis] + 1;
    return (windows - 1) * m->stride[axis] >= size ? windows - 1
                                                   : windows; /* one that begins behind the image is none */
}

static size_t bytes_of(const maximum *m) {
    return (size_t)(4 * m->dims[0] * m->dims[1] * out_size(m, 0) * out_size(m, 1));
}

/* Its operand is x negated, a layer on the cores, or, in_integers, behind a convolution that negates it in int16. */
static const char *write_model(const maximum *m, int in_integers, bench *b) {
    xpu_onnx_builder o;
    size_t length;
    const int64_t out[] = {m->dims[0], m->dims[1], out_size(m, 0), out_size(m, 1)}, channels = m->dims[1];
    xpu_onnx_begin(&o, b->arena, 19);
    xpu_onnx_input(&o, "x", 4, m->dims);
    if (in_integers) {
        float *w = XPU_NEW_ARRAY(b->arena, float, channels *channels);
        for (int64_t i = 0; i < channels; i++) w[i * channels + i] = -1;
        const xpu_tensor weights = {.dtype = XPU_F32, .rank = 4, .dims = {channels, channels, 1, 1}, .data = w};
        xpu_onnx_initializer(&o, "w", &weights, 0);
        xpu_onnx_node(&o, "Conv", "front", "t", (const char *const[]){"x", "w", NULL});
    } else {
        xpu_onnx_node(&o, "Neg", "front", "t", (const char *const[]){"x", NULL});
    }
    XpuOnnx__NodeProto *pool = xpu_onnx_node(&o, "MaxPool", "max", "y", (const char *const[]){"t", NULL});
    xpu_onnx_ints(&o, pool, "kernel_shape", m->kernel, 2);
    xpu_onnx_ints(&o, pool, "strides", m->stride, 2);
    xpu_onnx_ints(&o, pool, "pads", m->pads, 4);
    if (m->gap) xpu_onnx_ints(&o, pool, "dilations", (const int64_t[]){1 + m->gap, 1 + m->gap}, 2);
    if (m->ceil) xpu_onnx_int(&o, pool, "ceil_mode", 1);
    xpu_onnx_output(&o, "y", 4, out);
    const char *path = xpu_path_join(b->arena, b->folder, "maximum.onnx");
    void *bytes = xpu_onnx_pack(&o, "maximum", &length);
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b->arena, path, bytes, length, &b->diags), XPU_OK);
    return path;
}

/* A rule that names the layer has it in integers whatever stands in front. */
static const char *write_rule(const char *precision, bench *b) {
    const char *path = xpu_path_join(b->arena, b->folder, "rules.json");
    const char *text = xpu_printf(b->arena, "{\"rules\": [{\"match\": \"max\", \"precision\": \"%s\"}]}", precision);
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b->arena, path, text, strlen(text), &b->diags), XPU_OK);
    return path;
}

static double maximum_at(const maximum *m, int64_t plane, int64_t row, int64_t column) {
    double most = -INFINITY;
    const int64_t top = row * m->stride[0] - m->pads[0], left = column * m->stride[1] - m->pads[1];
    for (int64_t i = top; i < top + extent(m, 0); i += 1 + m->gap) {
        for (int64_t j = left; j < left + extent(m, 1); j += 1 + m->gap) {
            if (i < 0 || i >= m->dims[2] || j < 0 || j >= m->dims[3]) continue;
            most = fmax(most, -(double)x[(plane * m->dims[2] + i) * m->dims[3] + j]);
        }
    }
    return most;
}

static double most_of(const maximum *m) {
    double most = 0;
    for (int64_t i = 0; i < m->dims[0] * m->dims[1] * m->dims[2] * m->dims[3]; i++)
        most = fmax(most, fabs((double)x[i]));
    return most;
}

static void check_values(const maximum *m, const float *y, double room) {
    int right = 1;
    for (int64_t plane = 0; plane < m->dims[0] * m->dims[1]; plane++)
        for (int64_t row = 0; row < out_size(m, 0); row++)
            for (int64_t column = 0; column < out_size(m, 1); column++)
                right &= fabs((double)*y++ - maximum_at(m, plane, row, column)) <= room;
    CU_ASSERT(right);
}

static xpurt_tensor input_of(const maximum *m) {
    return (xpurt_tensor){"x", "float32", 4, {m->dims[0], m->dims[1], m->dims[2], m->dims[3]}, x};
}

static int has_kernel(const xpu_device_check *check, const char *kernel, bench *b) {
    return strstr(xpurt_describe(check->program, NULL), xpu_printf(b->arena, "\"kernel\": \"%s\"", kernel)) != NULL;
}

/* y is that of the runs before, or empty. */
static void run_on(const maximum *m, const char *model, const char *chip, const char *precision, const char *kernel,
                   xpurt_tensor *y, bench *b) {
    xpu_device_check check;
    xpurt_tensor input = input_of(m), here = {0};
    int good = xpu_device_check_compile(&check, model, chip, precision);
    if (good) {
        CU_ASSERT(has_kernel(&check, kernel, b));
        xpu_func_configure(&(xpu_func_options){.check_races = 1});
        good = xpu_device_check_layers(&check, &input, 1, &here);
        xpu_func_configure(&(xpu_func_options){.check_races = 0});
    }
    if (good && y->data) CU_ASSERT(memcmp(y->data, here.data, bytes_of(m)) == 0);
    if (good && !y->data) check_values(m, here.data, m->stays_float ? 0 : most_of(m) * (1.0 / 65534 + 4e-7));
    if (!good) printf("%s in %s: %s\n", chip, precision, check.message);
    CU_ASSERT(good);
    if (y->data)
        xpurt_tensor_clear(&here);
    else
        *y = here;
    xpu_device_check_close(&check);
}

static void run_everywhere(const maximum *m, bench *b) {
    static const char *const chips[] = {"standard", "tests/chip/nano-window.json", "tests/chip/tiny-window.json",
                                        "nano", "pro"};
    xpurt_tensor y = {0};
    const char *model = write_model(m, 0, b);
    for (int i = 0; i < 5; i++)
        run_on(m, model, chips[i], write_rule(i % 2 ? "int16x8" : "int16", b),
               m->stays_float || i >= 3 ? "pool_f32" : "window_i16", &y, b);
    xpurt_tensor_clear(&y);
}

static void fill(void) {
    for (int i = 0; i < MOST_ELEMENTS; i++) x[i] = (float)((i * 7919 + i / 97) % 1021 - 510) / 337.0f;
}

static void integers(void) {
    static const maximum cases[] = {
        {{1, 64, 24, 24}, {3, 3}, {2, 2}, {1, 1, 1, 1}, 0, 0, 0},
        {{2, 70, 14, 15}, {2, 2}, {2, 2}, {0, 0, 0, 0}, 0, 0, 0},
        {{1, 33, 16, 18}, {7, 7}, {1, 1}, {3, 3, 3, 3}, 0, 0, 0},
        {{1, 24, 10, 21}, {3, 3}, {2, 2}, {0, 0, 0, 0}, 0, 1, 0}, /* windows end behind the image */
        {{1, 1, 20, 20}, {2, 3}, {1, 2}, {0, 1, 1, 0}, 0, 0, 0},
        {{1, 40, 16, 14}, {3, 3}, {1, 1}, {2, 2, 2, 2}, 1, 0, 0},
        {{1, 24, 20, 20}, {8, 2}, {2, 2}, {0, 0, 0, 0}, 0, 0, 0},
        {{1, 8, 9, 9}, {1, 1}, {2, 2}, {0, 0, 0, 0}, 0, 0, 1},
    };
    BENCH_OPEN(b);
    fill();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_everywhere(&cases[i], &b);
    bench_close(&b);
}

/* XPU_RANDOM_SEED=N tries one. */
static void by_chance(void) {
    enum { SEEDS = 16 };
    const char *only = getenv("XPU_RANDOM_SEED");
    BENCH_OPEN(b);
    fill();
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        uint32_t state = only ? (uint32_t)atoi(only) : seed;
        maximum m = {
            .dims = {1 + draw(&state, 2), 1 + draw(&state, 100), 13 + draw(&state, 12), 13 + draw(&state, 12)}};
        m.gap = draw(&state, 4) == 0;
        m.ceil = draw(&state, 2);
        for (int i = 0; i < 2; i++) {
            m.kernel[i] = 2 + draw(&state, m.gap ? 2 : 6);
            m.stride[i] = 1 + draw(&state, 3);
            m.pads[i] = draw(&state, (uint32_t)m.kernel[i]);
            m.pads[2 + i] = draw(&state, (uint32_t)m.kernel[i]);
        }
        run_everywhere(&m, &b);
        if (CU_get_number_of_failures() || only) printf("seed %u; ", only ? (unsigned)atoi(only) : seed);
        if (only) break;
    }
    bench_close(&b);
}

/* Largest magnitudes that are 0, small, huge, infinite or no number: of these two every result is none. */
static void odd_numbers(void) {
    static const maximum m = {{1, 20, 6, 7}, {3, 3}, {1, 1}, {1, 1, 1, 1}, 0, 0, 0};
    static const float odd[] = {0, -1e-30f, -3e38f, 1e-38f, INFINITY, -INFINITY, NAN};
    BENCH_OPEN(b);
    const char *model = write_model(&m, 0, &b), *rule = write_rule("int16", &b);
    memset(x, 0, sizeof x);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        static const char *const chips[] = {"standard", "nano"};
        x[77] = odd[i];
        for (int k = 0; k < 2; k++) {
            xpu_device_check check;
            xpurt_tensor input = input_of(&m), y = {0};
            CU_ASSERT(xpu_device_check_compile(&check, model, chips[k], rule));
            CU_ASSERT(xpu_device_check_layers(&check, &input, 1, &y));
            CU_ASSERT_FATAL(y.data != NULL);
            const float *at = y.data;
            if (i < 3) check_values(&m, at, 1.0001 * fabs((double)odd[i]) / 65534);
            if (i > 3) CU_ASSERT(isnan(at[0]) && isnan(at[20 * 6 * 7 - 1]));
            xpurt_tensor_clear(&y);
            xpu_device_check_close(&check);
        }
    }
    bench_close(&b);
}

/* A program of open sizes computes as one of each does. */
static void open_sizes(void) {
    static const int64_t sizes[][2] = {{9, 12}, {24, 7}, {17, 25}};
    maximum m = {{1, 48, 9, 9}, {3, 3}, {2, 1}, {1, 1, 1, 1}, 0, 0, 0};
    BENCH_OPEN(b);
    fill();
    xpu_device_check check, fixed;
    const char *model = write_model(&m, 0, &b), *rule = write_rule("int16", &b);
    CU_ASSERT_FATAL(xpu_device_check_compile_shape(&check, model, "standard", rule, "x=1,48,H=5..64,W=5..64"));
    CU_ASSERT(has_kernel(&check, "window_i16", &b));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        m.dims[2] = sizes[i][0], m.dims[3] = sizes[i][1];
        const char *shape = xpu_printf(b.arena, "x=1,48,%d,%d", (int)m.dims[2], (int)m.dims[3]);
        xpurt_tensor input = input_of(&m), got = {0}, wanted = {0};
        CU_ASSERT_FATAL(xpu_device_check_compile_shape(&fixed, model, "nano", rule, shape));
        CU_ASSERT(xpu_device_check_run(&fixed, &input, 1, &wanted) && xpu_device_check_layers(&check, &input, 1, &got));
        CU_ASSERT_FATAL(got.data && wanted.data);
        CU_ASSERT(memcmp(got.data, wanted.data, bytes_of(&m)) == 0);
        xpurt_tensor_clear(&got);
        xpurt_tensor_clear(&wanted);
        xpu_device_check_close(&fixed);
    }
    xpu_device_check_close(&check);
    bench_close(&b);
}

/* Behind integers auto has integers; where nothing computes in them in front, or a rule or fp32 says so, it is float32.
 */
static void where_exact(void) {
    static const maximum m = {{1, 24, 12, 12}, {2, 2}, {2, 2}, {0, 0, 0, 0}, 0, 0, 0};
    BENCH_OPEN(b);
    const char *rule = write_rule("fp32", &b);
    const struct {
        int in_integers;
        const char *precision, *kernel;
    } cases[] = {{1, "auto", "window_i16"}, {1, "int16", "window_i16"}, {1, "int16x8", "window_i16"},
                 {0, "auto", "pool_f32"},   {0, "int16", "pool_f32"},   {1, "fp32", "pool_f32"},
                 {1, rule, "pool_f32"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpu_device_check check;
        const char *model = write_model(&m, cases[i].in_integers, &b);
        CU_ASSERT_FATAL(xpu_device_check_compile(&check, model, "standard", cases[i].precision));
        CU_ASSERT(has_kernel(&check, cases[i].kernel, &b));
        xpu_device_check_close(&check);
    }
    bench_close(&b);
}

/* 64,942 cycles on the cores in float32, of 256 x 28 x 28. */
static void verilated(void) {
    static const maximum m = {{1, 96, 24, 24}, {3, 3}, {1, 1}, {1, 1, 1, 1}, 0, 0, 0};
    enum { MOST = 7000 };
    BENCH_OPEN(b);
    fill();
    const xpurt_tensor input = input_of(&m);
    check_verilated(write_model(&m, 1, &b), "int16", &input, "max", "window", MOST);
    bench_close(&b);
}

XPU_TEST_MAIN("maxima over windows", {"integers", integers}, {"by chance", by_chance}, {"odd numbers", odd_numbers},
              {"open sizes", open_sizes}, {"where exact", where_exact}, {"on rtl", verilated})
