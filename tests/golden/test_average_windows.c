/*
 * Averages over windows on func against the graph on the host, bit for bit, and against sums in double: each column
 * added up first (opset 13) and row by row (opset 19), with and without padding that counts, windows that overlap,
 * leave pixels out or lie in the padding in part, rows that LM does not hold as a whole; and what one may cost on the
 * Verilated chip.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/unit.h"

enum { MOST_ELEMENTS = 480 * 3 * 80, MOST_CYCLES = 25000 };

static float x[MOST_ELEMENTS];

typedef struct {
    int64_t dims[4], kernel[2], stride[2], pads[4], pads_count;
} average;

static int64_t out_size(const average *a, int axis) {
    return (a->dims[2 + axis] + a->pads[axis] + a->pads[2 + axis] - a->kernel[axis]) / a->stride[axis] + 1;
}

static const char *write_model(const average *a, int opset, xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder b;
    size_t length;
    const int64_t out[] = {a->dims[0], a->dims[1], out_size(a, 0), out_size(a, 1)};
    xpu_onnx_begin(&b, arena, opset);
    xpu_onnx_input(&b, "x", 4, a->dims);
    xpu_onnx_node(&b, "Neg", "front", "t", (const char *const[]){"x", NULL});
    XpuOnnx__NodeProto *pool = xpu_onnx_node(&b, "AveragePool", "average", "y", (const char *const[]){"t", NULL});
    xpu_onnx_ints(&b, pool, "kernel_shape", a->kernel, 2);
    xpu_onnx_ints(&b, pool, "strides", a->stride, 2);
    xpu_onnx_ints(&b, pool, "pads", a->pads, 4);
    xpu_onnx_int(&b, pool, "count_include_pad", a->pads_count);
    xpu_onnx_output(&b, "y", 4, out);
    const char *path = xpu_path_join(arena, xpu_temporary_folder(arena, diags), "average.onnx");
    void *bytes = xpu_onnx_pack(&b, "average", &length);
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(arena, path, bytes, length, diags), XPU_OK);
    return path;
}

static double average_at(const average *a, int64_t plane, int64_t row, int64_t column) {
    double sum = 0;
    int64_t count = 0, top = row * a->stride[0] - a->pads[0], left = column * a->stride[1] - a->pads[1];
    for (int64_t i = top; i < top + a->kernel[0]; i++) {
        for (int64_t j = left; j < left + a->kernel[1]; j++) {
            int in = i >= 0 && i < a->dims[2] && j >= 0 && j < a->dims[3];
            count += in || a->pads_count;
            if (in) sum -= (double)x[(plane * a->dims[2] + i) * a->dims[3] + j];
        }
    }
    return sum / (double)count;
}

static void check_values(const average *a, const float *y) {
    int right = 1;
    for (int64_t plane = 0; plane < a->dims[0] * a->dims[1]; plane++) {
        for (int64_t row = 0; row < out_size(a, 0); row++) {
            for (int64_t column = 0; column < out_size(a, 1); column++) {
                right &= fabs((double)*y++ - average_at(a, plane, row, column)) < 1e-6;
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
        if (good) check_values(a, y.data);
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
    static const average averages[] = {
        {{1, 70, 9, 12}, {3, 2}, {3, 2}, {0, 0, 0, 0}, 0},  {{2, 17, 8, 9}, {3, 3}, {1, 1}, {1, 1, 1, 1}, 0},
        {{1, 24, 7, 11}, {3, 3}, {2, 2}, {1, 1, 1, 1}, 1},  {{1, 130, 5, 6}, {2, 2}, {1, 1}, {1, 0, 0, 1}, 1},
        {{1, 16, 11, 10}, {2, 3}, {3, 4}, {0, 1, 0, 1}, 0}, {{1, 20, 6, 90}, {5, 5}, {1, 1}, {2, 2, 2, 2}, 0},
        {{3, 5, 4, 4}, {4, 4}, {4, 4}, {0, 0, 0, 0}, 0},    {{1, 64, 2, 150}, {2, 1}, {1, 1}, {1, 0, 1, 0}, 0}};
    for (size_t i = 0; i < sizeof averages / sizeof *averages; i++) {
        for (int opset = 13; opset <= 19; opset += 6) {
            run("nano", &averages[i], opset, NULL);
            run("standard", &averages[i], opset, NULL);
        }
    }
}

/* 51,443 cycles with a step of the window's walk for each tap. */
static void of_many_channels(void) {
    const average a = {{1, 480, 3, 80}, {3, 2}, {3, 2}, {0, 0, 0, 0}, 0};
    long cycles = 0;
    run("standard", &a, 13, &cycles);
    printf("%ld cycles; ", cycles);
    CU_ASSERT(cycles > 7200 && cycles <= MOST_CYCLES);
}

XPU_TEST_MAIN("averages over windows", {"windows", windows}, {"many channels", of_many_channels})
