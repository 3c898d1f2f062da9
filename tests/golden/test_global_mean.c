/*
 * Global averages of images on func against the graph on the host and against a sum in double, for shapes whose lanes
 * are shared out over the cores and for such whose channels are: in float32, and in integers on the window engine and
 * on the cores, the same bits on all chips and in all precisions but fp32. What one may cost on the Verilated chip.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sim/func/driver.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/bench.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { MOST_ELEMENTS = 12 * 160 * 160, MOST_CYCLES = 20000 };

static float x[MOST_ELEMENTS];

static void fill(void) {
    for (int i = 0; i < MOST_ELEMENTS; i++) x[i] = (float)((i % 99991 * 7919 + i / 97) % 1021 - 510) / 256.0f;
}

static const char *write_model(const int64_t *dims, xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder b;
    const int64_t out[] = {dims[0], dims[1], 1, 1};
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "x", 4, dims);
    xpu_onnx_node(&b, "Neg", "front", "t", (const char *const[]){"x", NULL});
    xpu_onnx_node(&b, "GlobalAveragePool", "mean", "y", (const char *const[]){"t", NULL});
    xpu_onnx_output(&b, "y", 4, out);
    return write_network_file(&b, "mean", xpu_temporary_folder(arena, diags), diags);
}

static void check_values(const int64_t *dims, const float *y, double room) {
    int64_t pixels = dims[2] * dims[3];
    for (int64_t p = 0; p < dims[0] * dims[1]; p++) {
        double sum = 0;
        for (int64_t i = 0; i < pixels; i++) sum -= (double)x[p * pixels + i];
        CU_ASSERT_DOUBLE_EQUAL((double)y[p], sum / (double)pixels, room);
    }
}

/* Cycles of layer "mean" on rtl, whose output must be that of func. */
static long rtl_cycles(xpu_device_check *check, const xpurt_tensor *input, const float *expected, size_t bytes,
                       const char *unit) {
    char *stats = xpu_device_check_rtl(check, input, 1, expected, bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
    long cycles = xpu_device_check_cycles(stats, "mean", unit);
    free(stats);
    return cycles;
}

/* cycles: NULL, or what rtl takes. */
static void run(const char *chip, const int64_t *dims, long *cycles) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    fill();
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        xpu_device_check check;
        xpu_arena *arena = xpu_arena_new(&mem, "test");
        CU_ASSERT_FATAL(xpu_device_check_compile(&check, write_model(dims, arena, &diags), chip, "fp32"));
        xpurt_tensor input = {"x", "float32", 4, {0}, x}, y = {0};
        memcpy(input.dims, dims, 4 * sizeof *dims);
        int good = xpu_device_check_layers(&check, &input, 1, &y);
        CU_ASSERT(good);
        if (!good) printf("%s\n", check.message);
        if (good) check_values(dims, y.data, 1e-6);
        if (cycles) *cycles = rtl_cycles(&check, &input, y.data, (size_t)(4 * dims[0] * dims[1]), "core");
        xpurt_tensor_clear(&y);
        xpu_device_check_close(&check);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void shapes(void) {
    static const int64_t dims[][4] = {{1, 24, 40, 40}, {2, 24, 9, 9},  {3, 17, 8, 8},  {1, 192, 10, 10},
                                      {1, 40, 7, 11},  {1, 300, 9, 9}, {1, 1, 20, 20}, {1, 513, 3, 3}};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        run("nano", dims[i], NULL);
        run("standard", dims[i], NULL);
        run("pro", dims[i], NULL);
    }
}

static void few_channels(void) {
    long cycles = 0;
    run("standard", (const int64_t[]){1, 24, 80, 80}, &cycles);
    printf("%ld cycles; ", cycles);
    CU_ASSERT(cycles > 0 && cycles <= MOST_CYCLES);
}

/* ---- in integers ---- */

/* On a chip, by that kernel; y is that of the runs before, or empty. cycles: NULL, or what rtl takes on `unit`. */
static void run_wide(const int64_t *dims, const char *model, const char *chip, const char *precision,
                     const char *kernel, xpurt_tensor *y, long *cycles, const char *unit) {
    xpu_device_check check;
    xpurt_tensor input = {"x", "float32", 4, {dims[0], dims[1], dims[2], dims[3]}, x}, here = {0};
    const size_t bytes = (size_t)(4 * dims[0] * dims[1]);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"kernel\": \"%s\"", kernel);
    int good = xpu_device_check_compile(&check, model, chip, precision);
    if (good) {
        CU_ASSERT(strstr(xpurt_describe(check.program, NULL), wanted) != NULL);
        xpu_func_configure(&(xpu_func_options){.check_races = 1});
        good = xpu_device_check_layers(&check, &input, 1, &here);
        xpu_func_configure(&(xpu_func_options){.check_races = 0});
    }
    if (!good) printf("%s in %s, %d x %d: %s\n", chip, precision, (int)dims[2], (int)dims[3], check.message);
    CU_ASSERT(good);
    if (good && cycles) *cycles = rtl_cycles(&check, &input, here.data, bytes, unit);
    if (good && y->data) CU_ASSERT(memcmp(y->data, here.data, bytes) == 0);
    if (y->data)
        xpurt_tensor_clear(&here);
    else
        *y = here;
    xpu_device_check_close(&check);
}

static void integers(void) {
    static const struct {
        int64_t dims[4];
        const char *standard, *nano; /* kernels on standard and on nano with a window engine */
    } cases[] = {
        {{1, 24, 40, 40}, "window_i16", "window_i16"}, {{2, 24, 9, 9}, "window_i16", "window_i16"},
        {{3, 17, 8, 8}, "window_i16", "window_i16"},   {{1, 192, 10, 10}, "window_i16", "window_i16"},
        {{1, 40, 7, 11}, "window_i16", "window_i16"},  {{1, 300, 9, 9}, "window_i16", "window_i16"},
        {{1, 1, 20, 20}, "window_i16", "window_i16"},  {{1, 513, 3, 3}, "window_i16", "window_i16"},
        {{1, 12, 160, 160}, "mean_i16", "mean_i16"},   {{1, 3, 181, 182}, "mean_i16", "mean_i16"},
        {{2, 2, 1, 5}, "window_i16", "window_i16"},    {{1, 66, 1, 1}, "window_i16", "window_i16"},
    };
    BENCH_OPEN(b);
    fill();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t *dims = cases[i].dims;
        const char *model = write_model(dims, b.arena, &b.diags);
        xpurt_tensor y = {0};
        run_wide(dims, model, "standard", "int16", cases[i].standard, &y, NULL, NULL);
        run_wide(dims, model, "tests/chip/nano-window.json", "int16", cases[i].nano, &y, NULL, NULL);
        run_wide(dims, model, "nano", "int16x8", "mean_i16", &y, NULL, NULL);
        run_wide(dims, model, "pro", "int16", "mean_i16", &y, NULL, NULL);
        if (y.data) check_values(dims, y.data, 510.0 / 256 / 65534 + 1e-6);
        xpurt_tensor_clear(&y);
    }
    bench_close(&b);
}

/* A program of open sizes computes on the cores what the window engine does for one size. */
static void open_sizes(void) {
    static const int64_t sizes[][4] = {{1, 48, 9, 12}, {2, 48, 30, 7}, {1, 48, 1, 1}};
    BENCH_OPEN(b);
    fill();
    xpu_device_check check;
    const char *model = write_model(sizes[0], b.arena, &b.diags);
    CU_ASSERT_FATAL(xpu_device_check_compile_shape(&check, model, "standard", "int16", "x=N=1..2,48,H=1..32,W=1..32"));
    CU_ASSERT(strstr(xpurt_describe(check.program, NULL), "\"kernel\": \"mean_i16\"") != NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t *dims = sizes[i];
        xpurt_tensor input = {"x", "float32", 4, {dims[0], dims[1], dims[2], dims[3]}, x}, got = {0}, wanted = {0};
        CU_ASSERT(xpu_device_check_layers(&check, &input, 1, &got));
        model = write_model(dims, b.arena, &b.diags);
        run_wide(dims, model, "standard", "int16", "window_i16", &wanted, NULL, NULL);
        CU_ASSERT_FATAL(got.data && wanted.data);
        CU_ASSERT(memcmp(got.data, wanted.data, (size_t)(4 * dims[0] * dims[1])) == 0);
        xpurt_tensor_clear(&got);
        xpurt_tensor_clear(&wanted);
    }
    xpu_device_check_close(&check);
    bench_close(&b);
}

/* Largest magnitudes that are 0, huge, infinite or no number: of these two every result is none. All elements alike. */
static void odd_numbers(void) {
    static const float odd[] = {0, 3e38f, -1, INFINITY, NAN};
    static const int64_t dims[] = {1, 20, 6, 7};
    BENCH_OPEN(b);
    const char *model = write_model(dims, b.arena, &b.diags);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        for (int k = 0; k < MOST_ELEMENTS; k++) x[k] = i < 3 ? odd[i] : 1;
        x[77] = odd[i];
        xpurt_tensor y = {0};
        run_wide(dims, model, "standard", "int16", "window_i16", &y, NULL, NULL);
        run_wide(dims, model, "nano", "int16", "mean_i16", &y, NULL, NULL);
        CU_ASSERT_FATAL(y.data != NULL);
        const float *at = y.data;
        for (int c = 0; c < 20; c++)
            CU_ASSERT(i < 3 ? fabsf(at[c] + odd[i]) <= 1e-6f * fabsf(odd[i]) : isnan(at[c]) != 0);
        xpurt_tensor_clear(&y);
    }
    bench_close(&b);
}

/* What a norm is made of is float32: the model's x - mean(x), and its squares' mean. */
static void of_a_norm(void) {
    const int64_t dims[] = {1, 24, 9, 9}, axes[] = {2, 3};
    static const float epsilon = 1e-5f;
    xpu_onnx_builder o;
    BENCH_OPEN(b);
    xpu_onnx_begin(&o, b.arena, 13);
    xpu_onnx_input(&o, "x", 4, dims);
    xpu_onnx_initializer(&o, "e", &(xpu_tensor){XPU_F32, 0, {0}, (void *)(uintptr_t)&epsilon}, 0);
    xpu_onnx_ints(&o, xpu_onnx_node(&o, "ReduceMean", "m", "m", (const char *const[]){"x", NULL}), "axes", axes, 2);
    xpu_onnx_node(&o, "Sub", "d", "d", (const char *const[]){"x", "m", NULL});
    xpu_onnx_node(&o, "Mul", "s", "s", (const char *const[]){"d", "d", NULL});
    xpu_onnx_ints(&o, xpu_onnx_node(&o, "ReduceMean", "v", "v", (const char *const[]){"s", NULL}), "axes", axes, 2);
    xpu_onnx_node(&o, "Add", "a", "a", (const char *const[]){"v", "e", NULL});
    xpu_onnx_node(&o, "Sqrt", "r", "r", (const char *const[]){"a", NULL});
    xpu_onnx_node(&o, "Div", "y", "y", (const char *const[]){"d", "r", NULL});
    xpu_onnx_output(&o, "y", 4, dims);
    const char *path = write_network_file(&o, "norm", b.folder, &b.diags);
    xpu_device_check check;
    CU_ASSERT_FATAL(xpu_device_check_compile(&check, path, "standard", "int16"));
    CU_ASSERT(strstr(xpurt_describe(check.program, NULL), "window_i16") == NULL);
    CU_ASSERT(strstr(xpurt_describe(check.program, NULL), "mean_i16") == NULL);
    xpu_device_check_close(&check);
    bench_close(&b);
}

/* As squeeze and excite has them, on the window engine (6,545 cycles in float32), and of a large image, whose sums the
 * cores share. */
static void wide_on_rtl(void) {
    static const int64_t small[] = {1, 96, 14, 14}, large[] = {1, 12, 160, 160};
    long cycles = 0;
    xpurt_tensor y = {0};
    BENCH_OPEN(b);
    fill();
    run_wide(small, write_model(small, b.arena, &b.diags), "standard", "int16", "window_i16", &y, &cycles, "window");
    printf("%ld and ", cycles);
    CU_ASSERT(cycles > 0 && cycles <= 3000);
    xpurt_tensor_clear(&y);
    run_wide(large, write_model(large, b.arena, &b.diags), "standard", "int16", "mean_i16", &y, &cycles, "core");
    printf("%ld cycles; ", cycles);
    CU_ASSERT(cycles > 0 && cycles <= 30000);
    xpurt_tensor_clear(&y);
    bench_close(&b);
}

XPU_TEST_MAIN("global average", {"shapes", shapes}, {"few channels", few_channels}, {"integers", integers},
              {"open sizes", open_sizes}, {"odd numbers", odd_numbers}, {"of a norm", of_a_norm},
              {"in integers on rtl", wide_on_rtl})
