/*
 * Global averages of images on func against the graph on the host and against a sum in double, for shapes whose lanes
 * are shared out over the cores and for such whose channels are; and what one of few channels may cost on the Verilated
 * chip.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/unit.h"

enum { MOST_ELEMENTS = 24 * 80 * 80, MOST_CYCLES = 20000 };

static float x[MOST_ELEMENTS];

static const char *write_model(const int64_t *dims, xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder b;
    size_t length;
    const int64_t out[] = {dims[0], dims[1], 1, 1};
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "x", 4, dims);
    xpu_onnx_node(&b, "Neg", "front", "t", (const char *const[]){"x", NULL});
    xpu_onnx_node(&b, "GlobalAveragePool", "mean", "y", (const char *const[]){"t", NULL});
    xpu_onnx_output(&b, "y", 4, out);
    const char *path = xpu_path_join(arena, xpu_temporary_folder(arena, diags), "mean.onnx");
    void *bytes = xpu_onnx_pack(&b, "mean", &length);
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(arena, path, bytes, length, diags), XPU_OK);
    return path;
}

static void check_values(const int64_t *dims, const float *y) {
    int64_t pixels = dims[2] * dims[3];
    for (int64_t p = 0; p < dims[0] * dims[1]; p++) {
        double sum = 0;
        for (int64_t i = 0; i < pixels; i++) sum -= (double)x[p * pixels + i];
        CU_ASSERT_DOUBLE_EQUAL((double)y[p], sum / (double)pixels, 1e-6);
    }
}

/* Cycles of layer "mean" on rtl, whose output must be that of func. */
static long rtl_cycles(xpu_device_check *check, const xpurt_tensor *input, const float *expected, size_t bytes) {
    char *stats = xpu_device_check_rtl(check, input, 1, expected, bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
    long cycles = xpu_device_check_cycles(stats, "mean", "core");
    free(stats);
    return cycles;
}

/* cycles: NULL, or what rtl takes. */
static void run(const char *chip, const int64_t *dims, long *cycles) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    for (int i = 0; i < MOST_ELEMENTS; i++) x[i] = (float)((i * 7919 + i / 97) % 1021 - 510) / 256.0f;
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
        if (good) check_values(dims, y.data);
        if (cycles) *cycles = rtl_cycles(&check, &input, y.data, (size_t)(4 * dims[0] * dims[1]));
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

XPU_TEST_MAIN("global average", {"shapes", shapes}, {"few channels", few_channels})
