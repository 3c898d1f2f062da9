/*
 * Averages over windows on func against the graph on the host, bit for bit, and against sums in double. In float32:
 * each column added up first (opset 13) and row by row (opset 19), with and without padding that counts, windows that
 * overlap, leave pixels out or lie in the padding in part, rows that LM does not hold as a whole. In integers: the same
 * bits on all chips, on the window engine and on the cores, in all precisions but fp32. What one may cost on the
 * Verilated chip.
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
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { MOST_ELEMENTS = 480 * 3 * 80, MOST_CYCLES = 25000 };

static float x[MOST_ELEMENTS];

typedef struct {
    int64_t dims[4], kernel[2], stride[2], pads[4], pads_count;
    int64_t gap;  /* pixels between taps */
    int64_t ceil; /* windows may end behind the padding */
} average;

static int64_t extent(const average *a, int axis) {
    return (a->kernel[axis] - 1) * (1 + a->gap) + 1;
}

static int64_t out_size(const average *a, int axis) {
    const int64_t room = a->dims[2 + axis] + a->pads[axis] + a->pads[2 + axis] - extent(a, axis);
    const int64_t more = (room + (a->ceil ? a->stride[axis] - 1 : 0)) / a->stride[axis];
    return more * a->stride[axis] >= a->dims[2 + axis] + a->pads[axis] ? more : more + 1; /* it begins in the image */
}

static const char *write_model(const average *a, int opset, xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder b;
    const int64_t out[] = {a->dims[0], a->dims[1], out_size(a, 0), out_size(a, 1)};
    xpu_onnx_begin(&b, arena, opset);
    xpu_onnx_input(&b, "x", 4, a->dims);
    xpu_onnx_node(&b, "Neg", "front", "t", (const char *const[]){"x", NULL});
    XpuOnnx__NodeProto *pool = xpu_onnx_node(&b, "AveragePool", "average", "y", (const char *const[]){"t", NULL});
    xpu_onnx_ints(&b, pool, "kernel_shape", a->kernel, 2);
    xpu_onnx_ints(&b, pool, "strides", a->stride, 2);
    xpu_onnx_ints(&b, pool, "pads", a->pads, 4);
    xpu_onnx_int(&b, pool, "count_include_pad", a->pads_count);
    if (a->gap) xpu_onnx_ints(&b, pool, "dilations", (const int64_t[]){1 + a->gap, 1 + a->gap}, 2);
    if (a->ceil) xpu_onnx_int(&b, pool, "ceil_mode", 1);
    xpu_onnx_output(&b, "y", 4, out);
    return write_network_file(&b, "average", xpu_temporary_folder(arena, diags), diags);
}

static double average_at(const average *a, int64_t plane, int64_t row, int64_t column) {
    double sum = 0;
    int64_t count = 0, top = row * a->stride[0] - a->pads[0], left = column * a->stride[1] - a->pads[1];
    for (int64_t i = top; i < top + extent(a, 0); i += 1 + a->gap) {
        for (int64_t j = left; j < left + extent(a, 1); j += 1 + a->gap) {
            int in = i >= 0 && i < a->dims[2] && j >= 0 && j < a->dims[3];
            int padded = i < a->dims[2] + a->pads[2] && j < a->dims[3] + a->pads[3];
            count += in || (a->pads_count && padded);
            if (in) sum -= (double)x[(plane * a->dims[2] + i) * a->dims[3] + j];
        }
    }
    return sum / (double)count;
}

static void check_values(const average *a, const float *y, double room) {
    int right = 1;
    for (int64_t plane = 0; plane < a->dims[0] * a->dims[1]; plane++) {
        for (int64_t row = 0; row < out_size(a, 0); row++) {
            for (int64_t column = 0; column < out_size(a, 1); column++) {
                right &= fabs((double)*y++ - average_at(a, plane, row, column)) <= room;
            }
        }
    }
    CU_ASSERT(right);
}

/* cycles: NULL, or what the layer takes on rtl, whose bits must be those of func. */
static void run(const char *chip, const average *a, int opset, long *cycles) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    for (int i = 0; i < MOST_ELEMENTS; i++) x[i] = (float)((i * 7919 + i / 97) % 1021 - 510) / 337.0f;
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        xpu_device_check check;
        xpu_arena *arena = xpu_arena_new(&mem, "test");
        CU_ASSERT_FATAL(xpu_device_check_compile(&check, write_model(a, opset, arena, &diags), chip, "fp32"));
        xpurt_tensor input = {"x", "float32", 4, {0}, x}, y = {0};
        memcpy(input.dims, a->dims, sizeof a->dims);
        int good = xpu_device_check_layers(&check, &input, 1, &y);
        CU_ASSERT(good);
        if (!good) printf("%s\n", check.message);
        if (good) check_values(a, y.data, 1e-6);
        if (good && cycles) {
            size_t bytes = (size_t)(4 * a->dims[0] * a->dims[1] * out_size(a, 0) * out_size(a, 1));
            char *stats = xpu_device_check_rtl(&check, &input, 1, y.data, bytes);
            CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
            *cycles = xpu_device_check_cycles(stats, "average", "core");
            free(stats);
        }
        xpurt_tensor_clear(&y);
        xpu_device_check_close(&check);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void windows(void) {
    static const average averages[] = {{{1, 70, 9, 12}, {3, 2}, {3, 2}, {0, 0, 0, 0}, 0, 0, 0},
                                       {{2, 17, 8, 9}, {3, 3}, {1, 1}, {1, 1, 1, 1}, 0, 0, 0},
                                       {{1, 24, 7, 11}, {3, 3}, {2, 2}, {1, 1, 1, 1}, 1, 0, 0},
                                       {{1, 130, 5, 6}, {2, 2}, {1, 1}, {1, 0, 0, 1}, 1, 0, 0},
                                       {{1, 16, 11, 10}, {2, 3}, {3, 4}, {0, 1, 0, 1}, 0, 0, 0},
                                       {{1, 20, 6, 90}, {5, 5}, {1, 1}, {2, 2, 2, 2}, 0, 0, 0},
                                       {{3, 5, 4, 4}, {4, 4}, {4, 4}, {0, 0, 0, 0}, 0, 0, 0},
                                       {{1, 64, 2, 150}, {2, 1}, {1, 1}, {1, 0, 1, 0}, 0, 0, 0}};
    for (size_t i = 0; i < sizeof averages / sizeof *averages; i++) {
        for (int opset = 13; opset <= 19; opset += 6) {
            run("nano", &averages[i], opset, NULL);
            run("standard", &averages[i], opset, NULL);
        }
    }
}

/* 51,443 cycles with a step of the window's walk for each tap. */
static void of_many_channels(void) {
    const average a = {{1, 480, 3, 80}, {3, 2}, {3, 2}, {0, 0, 0, 0}, 0, 0, 0};
    long cycles = 0;
    run("standard", &a, 13, &cycles);
    printf("%ld cycles; ", cycles);
    CU_ASSERT(cycles > 7200 && cycles <= MOST_CYCLES);
}

/* ---- in integers ---- */

/* Half a step of the operand's scale, and roundings. */
static double room_of(const average *a) {
    double most = 0;
    for (int64_t i = 0; i < a->dims[0] * a->dims[1] * a->dims[2] * a->dims[3]; i++)
        most = fmax(most, fabs((double)x[i]));
    return most / 65534 + 4e-7 * most;
}

static size_t bytes_of(const average *a) {
    return (size_t)(4 * a->dims[0] * a->dims[1] * out_size(a, 0) * out_size(a, 1));
}

/* On a chip, by that kernel; y is that of the runs before, or empty. */
static void run_on(const average *a, const char *model, const char *chip, const char *precision, const char *kernel,
                   xpurt_tensor *y, xpu_arena *arena) {
    xpu_device_check check;
    xpurt_tensor input = {"x", "float32", 4, {a->dims[0], a->dims[1], a->dims[2], a->dims[3]}, x}, here = {0};
    int good = xpu_device_check_compile(&check, model, chip, precision);
    if (good) {
        const char *wanted = xpu_printf(arena, "\"kernel\": \"%s\"", kernel);
        CU_ASSERT(strstr(xpurt_describe(check.program, NULL), wanted) != NULL);
        xpu_func_configure(&(xpu_func_options){.check_races = 1});
        good = xpu_device_check_layers(&check, &input, 1, &here);
        xpu_func_configure(&(xpu_func_options){.check_races = 0});
    }
    if (good && y->data) CU_ASSERT(memcmp(y->data, here.data, bytes_of(a)) == 0);
    if (good && !y->data) check_values(a, here.data, room_of(a));
    if (!good) printf("%s in %s: %s\n", chip, precision, check.message);
    CU_ASSERT(good);
    if (y->data)
        xpurt_tensor_clear(&here);
    else
        *y = here;
    xpu_device_check_close(&check);
}

static void run_everywhere(const average *a, int stays_float, bench *b) {
    static const char *const chips[] = {"standard", "tests/chip/nano-window.json", "tests/chip/tiny-window.json",
                                        "nano", "pro"};
    static const char *const precisions[] = {"int16", "int16x8"};
    xpurt_tensor y = {0};
    const char *model = write_model(a, 19, b->arena, &b->diags);
    for (int i = 0; i < 5; i++) {
        const char *kernel = stays_float ? "pool_f32" : i < 3 ? "window_i16" : "depthwise_i16";
        run_on(a, model, chips[i], precisions[i % 2], kernel, &y, b->arena);
    }
    xpurt_tensor_clear(&y);
}

static void fill(void) {
    for (int i = 0; i < MOST_ELEMENTS; i++) x[i] = (float)((i * 7919 + i / 97) % 1021 - 510) / 337.0f;
}

static void integers(void) {
    static const struct {
        average a;
        int stays_float;
    } cases[] = {
        {{{1, 192, 17, 17}, {3, 3}, {1, 1}, {1, 1, 1, 1}, 1, 0, 0}, 0},
        {{{2, 70, 14, 15}, {2, 2}, {2, 2}, {0, 0, 0, 0}, 0, 0, 0}, 0},
        {{{1, 33, 16, 18}, {7, 7}, {1, 1}, {0, 0, 0, 0}, 0, 0, 0}, 0},
        {{{1, 40, 16, 14}, {3, 3}, {2, 2}, {1, 1, 1, 1}, 1, 1, 0}, 0},
        {{{1, 24, 21, 22}, {5, 3}, {3, 1}, {2, 0, 1, 1}, 1, 0, 0}, 0},
        {{{1, 24, 9, 21}, {3, 3}, {2, 2}, {0, 0, 0, 0}, 0, 0, 1}, 0}, /* no window ends behind the image */
        {{{1, 24, 10, 21}, {3, 3}, {2, 2}, {0, 0, 0, 0}, 0, 0, 1}, 0},
        {{{1, 24, 10, 20}, {3, 3}, {1, 1}, {1, 1, 1, 1}, 0, 0, 0}, 0}, /* fewer taps count at the edges */
        {{{2, 130, 8, 8}, {3, 3}, {1, 1}, {1, 1, 1, 1}, 0, 0, 0}, 0},
        {{{1, 96, 33, 31}, {2, 2}, {2, 2}, {0, 0, 0, 0}, 0, 0, 1}, 0},
        {{{1, 40, 33, 12}, {2, 2}, {2, 2}, {1, 1, 0, 0}, 1, 0, 1}, 0}, /* padding counts, what is behind it does not */
        {{{1, 20, 21, 19}, {7, 7}, {1, 1}, {3, 3, 3, 3}, 0, 0, 0}, 0},
        {{{1, 36, 16, 17}, {5, 3}, {2, 1}, {1, 2, 3, 0}, 0, 0, 1}, 0},
        {{{1, 33, 15, 18}, {3, 3}, {1, 2}, {2, 2, 2, 2}, 0, 1, 0}, 0},
        {{{1, 24, 5, 4}, {4, 3}, {1, 1}, {3, 2, 3, 2}, 0, 1, 0}, 0}, /* the image lies in a window */
        {{{1, 1, 20, 20}, {2, 2}, {2, 2}, {0, 0, 0, 0}, 0, 0, 0}, 0},
        {{{1, 1, 19, 20}, {3, 3}, {1, 1}, {1, 0, 1, 1}, 0, 0, 0}, 0},
        {{{1, 24, 20, 20}, {8, 2}, {2, 2}, {0, 0, 0, 0}, 0, 0, 0}, 1},
        {{{1, 8, 9, 9}, {1, 1}, {2, 2}, {0, 0, 0, 0}, 0, 0, 0}, 1},
    };
    BENCH_OPEN(b);
    fill();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_everywhere(&cases[i].a, cases[i].stays_float, &b);
    bench_close(&b);
}

/* XPU_RANDOM_SEED=N tries one. */
static void by_chance(void) {
    enum { SEEDS = 12 };
    const char *only = getenv("XPU_RANDOM_SEED");
    BENCH_OPEN(b);
    fill();
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        uint32_t state = only ? (uint32_t)atoi(only) : seed;
        average a = {.dims = {1 + draw(&state, 2), 2 + draw(&state, 99), 13 + draw(&state, 12), 13 + draw(&state, 12)}};
        a.pads_count = draw(&state, 3) != 0;
        a.ceil = draw(&state, 2);
        a.gap = draw(&state, 4) == 0;
        for (int i = 0; i < 2; i++) {
            a.kernel[i] = 2 + draw(&state, a.gap ? 2 : 6);
            a.stride[i] = 1 + draw(&state, 3);
            a.pads[i] = draw(&state, (uint32_t)a.kernel[i]);
            a.pads[2 + i] = draw(&state, (uint32_t)a.kernel[i]);
        }
        run_everywhere(&a, 0, &b);
        if (CU_get_number_of_failures() || only) printf("seed %u; ", only ? (unsigned)atoi(only) : seed);
        if (only) break;
    }
    bench_close(&b);
}

/* A program of open sizes computes as one of each does. */
static void open_sizes(void) {
    static const int64_t sizes[][2] = {{9, 12}, {30, 7}, {17, 40}};
    average a = {{1, 48, 9, 9}, {3, 3}, {2, 1}, {1, 1, 1, 1}, 0, 0, 1};
    BENCH_OPEN(b);
    fill();
    xpu_device_check check, fixed;
    const char *model = write_model(&a, 19, b.arena, &b.diags);
    CU_ASSERT_FATAL(xpu_device_check_compile_shape(&check, model, "standard", "int16", "x=1,48,H=5..64,W=5..64"));
    CU_ASSERT(strstr(xpurt_describe(check.program, NULL), "\"kernel\": \"window_i16\"") != NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        a.dims[2] = sizes[i][0], a.dims[3] = sizes[i][1];
        const char *shape = xpu_printf(b.arena, "x=1,48,%d,%d", (int)a.dims[2], (int)a.dims[3]);
        xpurt_tensor input = {"x", "float32", 4, {1, 48, a.dims[2], a.dims[3]}, x}, got = {0}, wanted = {0};
        CU_ASSERT_FATAL(xpu_device_check_compile_shape(&fixed, model, "nano", "int16", shape));
        CU_ASSERT(xpu_device_check_run(&fixed, &input, 1, &wanted) && xpu_device_check_layers(&check, &input, 1, &got));
        CU_ASSERT_FATAL(got.data && wanted.data);
        CU_ASSERT(memcmp(got.data, wanted.data, bytes_of(&a)) == 0);
        check_values(&a, got.data, room_of(&a));
        xpurt_tensor_clear(&got);
        xpurt_tensor_clear(&wanted);
        xpu_device_check_close(&fixed);
    }
    xpu_device_check_close(&check);
    bench_close(&b);
}

/* Largest magnitudes that are 0, small, huge, too small for the bits that others have, infinite or no number: of these
 * two every result is none. */
static void odd_numbers(void) {
    static const average a = {{1, 20, 6, 7}, {3, 3}, {1, 1}, {1, 1, 1, 1}, 1, 0, 0};
    static const float odd[] = {0, 1e-30f, 3e38f, 1e-38f, INFINITY, NAN};
    BENCH_OPEN(b);
    const char *model = write_model(&a, 19, b.arena, &b.diags);
    memset(x, 0, sizeof x);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        static const char *const chips[] = {"standard", "nano"};
        x[77] = odd[i];
        for (int k = 0; k < 2; k++) {
            xpu_device_check check;
            xpurt_tensor input = {"x", "float32", 4, {1, 20, 6, 7}, x}, y = {0};
            CU_ASSERT(xpu_device_check_compile(&check, model, chips[k], "int16"));
            CU_ASSERT(xpu_device_check_layers(&check, &input, 1, &y));
            CU_ASSERT_FATAL(y.data != NULL);
            const float *at = y.data;
            if (i < 3) check_values(&a, at, 1.0001 * (double)odd[i] / 65534);
            if (i > 3) CU_ASSERT(isnan(at[0]) && isnan(at[20 * 6 * 7 - 1]));
            xpurt_tensor_clear(&y);
            xpu_device_check_close(&check);
        }
    }
    bench_close(&b);
}

/* What reaches a square root, what a rule says, and in auto what nothing in integers stands in front of, is float32. */
static void where_exact(void) {
    static const average a = {{1, 24, 12, 12}, {2, 2}, {2, 2}, {0, 0, 0, 0}, 0, 0, 0};
    BENCH_OPEN(b);
    xpu_onnx_builder o;
    const int64_t out[] = {1, 24, 6, 6}, image[] = {1, 24, 12, 12};
    xpu_onnx_begin(&o, b.arena, 19);
    xpu_onnx_input(&o, "x", 4, image);
    XpuOnnx__NodeProto *pool = xpu_onnx_node(&o, "LpPool", "average", "y", (const char *const[]){"x", NULL});
    xpu_onnx_ints(&o, pool, "kernel_shape", a.kernel, 2);
    xpu_onnx_ints(&o, pool, "strides", a.stride, 2);
    xpu_onnx_output(&o, "y", 4, out);
    const char *path = write_network_file(&o, "root", b.folder, &b.diags);
    const char *rules = xpu_path_join(b.arena, b.folder, "rules.json");
    static const char text[] = "{\"rules\": [{\"match\": \"average\", \"precision\": \"fp32\"}]}";
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b.arena, rules, text, sizeof text - 1, &b.diags), XPU_OK);
    const char *const pooled = write_model(&a, 19, b.arena, &b.diags);
    const char *const models[] = {path, pooled, pooled}, *const precisions[] = {"int16", rules, "auto"};
    for (int i = 0; i < 3; i++) {
        xpu_device_check check;
        CU_ASSERT_FATAL(xpu_device_check_compile(&check, models[i], "standard", precisions[i]));
        CU_ASSERT(strstr(xpurt_describe(check.program, NULL), "\"kernel\": \"pool_f32\"") != NULL);
        xpu_device_check_close(&check);
    }
    bench_close(&b);
}

/* As Inception v3 has them, padding counting or not (155,000 cycles on the cores in float32), and shortcuts of ResNet-D
 * over images of odd sizes. */
static void verilated(void) {
    static const struct {
        average a;
        long most;
    } cases[] = {{{{1, 192, 28, 21}, {3, 3}, {1, 1}, {1, 1, 1, 1}, 1, 0, 0}, 11000},
                 {{{1, 192, 28, 21}, {3, 3}, {1, 1}, {1, 1, 1, 1}, 0, 0, 0}, 12500},
                 {{{1, 256, 21, 21}, {2, 2}, {2, 2}, {0, 0, 0, 0}, 0, 0, 1}, 9000}};
    BENCH_OPEN(b);
    fill();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const average *a = &cases[i].a;
        const xpurt_tensor input = {"x", "float32", 4, {1, a->dims[1], a->dims[2], a->dims[3]}, x};
        check_verilated(write_model(a, 19, b.arena, &b.diags), "int16", &input, "average", "window", cases[i].most);
    }
    bench_close(&b);
}

XPU_TEST_MAIN("averages over windows", {"windows", windows}, {"many channels", of_many_channels},
              {"integers", integers}, {"by chance", by_chance}, {"open sizes", open_sizes},
              {"odd numbers", odd_numbers}, {"where exact", where_exact}, {"on rtl", verilated})
