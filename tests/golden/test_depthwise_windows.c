/*
 * Depthwise windows of three and five columns on func against the graph on the host, bit for bit: sizes whose strips
 * are cut by channels, columns and rows, windows with fewer rows, and pads of more than a window; and what a window of
 * 5 x 5 may cost on the Verilated chip.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { MOST_ELEMENTS = 192 * 20 * 20, MOST_CYCLES = 105000 };

typedef struct {
    int64_t batch, channels, height, width, kernel[2], stride, pads[4];
} window;

static float x[MOST_ELEMENTS];

static const char *write_model(const window *v, xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder b;
    const int64_t dims[] = {v->batch, v->channels, v->height, v->width}, out[] = {v->batch, v->channels, -1, -1};
    const int64_t strides[] = {v->stride, v->stride}, kernel[] = {v->channels, 1, v->kernel[0], v->kernel[1]};
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "x", 4, dims);
    xpu_onnx_initializer(&b, "w", &(xpu_tensor){XPU_F32, 4, {kernel[0], 1, kernel[2], kernel[3]}, x + 7}, 0);
    xpu_onnx_initializer(&b, "b", &(xpu_tensor){XPU_F32, 1, {v->channels}, x + 100}, 0);
    xpu_onnx_node(&b, "Neg", "front", "t", (const char *const[]){"x", NULL});
    XpuOnnx__NodeProto *node = xpu_onnx_node(&b, "Conv", "window", "y", (const char *const[]){"t", "w", "b", NULL});
    xpu_onnx_ints(&b, node, "strides", strides, 2);
    xpu_onnx_ints(&b, node, "pads", v->pads, 4);
    xpu_onnx_int(&b, node, "group", v->channels);
    xpu_onnx_output(&b, "y", 4, out);
    return write_network_file(&b, "window", xpu_temporary_folder(arena, diags), diags);
}

/* Cycles of layer "window" on rtl, whose output must be that of func. */
static long rtl_cycles(xpu_device_check *check, const xpurt_tensor *input, const float *expected, size_t bytes) {
    char *stats = xpu_device_check_rtl(check, input, 1, expected, bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
    long cycles = xpu_device_check_cycles(stats, "window", "core");
    free(stats);
    return cycles;
}

/* cycles: NULL, or what rtl takes. */
static void run(const char *chip, const window *v, long *cycles) {
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
        CU_ASSERT_FATAL(xpu_device_check_compile(&check, write_model(v, arena, &diags), chip, "fp32"));
        xpurt_tensor input = {"x", "float32", 4, {v->batch, v->channels, v->height, v->width}, x}, y = {0};
        int good = xpu_device_check_layers(&check, &input, 1, &y);
        CU_ASSERT(good);
        if (!good) printf("%s\n", check.message);
        if (cycles)
            *cycles = rtl_cycles(&check, &input, y.data, (size_t)(4 * y.dims[0] * y.dims[1] * y.dims[2] * y.dims[3]));
        xpurt_tensor_clear(&y);
        xpu_device_check_close(&check);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void shapes(void) {
    static const window windows[] = {
        {1, 192, 20, 20, {5, 5}, 1, {2, 2, 2, 2}}, {1, 192, 20, 20, {5, 5}, 2, {2, 2, 2, 2}},
        {2, 72, 9, 11, {5, 5}, 1, {2, 2, 2, 2}},   {1, 40, 30, 33, {5, 5}, 1, {0, 0, 0, 0}},
        {1, 24, 7, 8, {3, 5}, 2, {1, 2, 1, 2}},    {1, 17, 6, 6, {1, 5}, 1, {0, 4, 0, 4}},
        {3, 16, 5, 5, {4, 5}, 1, {4, 5, 6, 7}},    {1, 65, 4, 3, {5, 5}, 2, {2, 2, 2, 2}},
        {1, 96, 20, 20, {3, 3}, 1, {1, 1, 1, 1}},  {1, 48, 12, 40, {5, 3}, 1, {2, 1, 2, 1}},
        {1, 8, 64, 64, {5, 5}, 1, {2, 2, 2, 2}},   {1, 128, 3, 3, {5, 5}, 1, {2, 2, 2, 2}},
        {1, 16, 20, 37, {3, 3}, 1, {1, 1, 1, 1}},  {1, 32, 21, 38, {3, 3}, 2, {1, 1, 1, 1}},
        {2, 24, 9, 9, {3, 3}, 2, {0, 1, 1, 0}},    {1, 5, 8, 70, {3, 3}, 1, {0, 0, 0, 0}},
        {1, 16, 5, 4, {3, 3}, 1, {1, 1, 1, 1}},    {3, 48, 16, 16, {3, 3}, 2, {1, 1, 1, 1}},
    };
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        run("nano", &windows[i], NULL);
        run("standard", &windows[i], NULL);
    }
}

static void five_by_five(void) {
    long cycles = 0;
    run("standard", &(window){1, 192, 20, 20, {5, 5}, 1, {2, 2, 2, 2}}, &cycles);
    printf("%ld cycles; ", cycles);
    CU_ASSERT(cycles > 0 && cycles <= MOST_CYCLES);
}

XPU_TEST_MAIN("depthwise windows", {"shapes", shapes}, {"5 x 5", five_by_five})
