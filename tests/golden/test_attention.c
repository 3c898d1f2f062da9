/*
 * Attention is one layer on the cores: with as many keys as there are, which are not as many as channels, with and
 * without a mask, heads of one width and of two. Against a plain formula, and func against rtl and the graph on the
 * host bit for bit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { HEADS = 2, ROWS = 20, KEYS = 27, MOST_WIDTH = 16 };

typedef struct {
    int inner, width, has_mask;
} form;

static float q[HEADS * ROWS * MOST_WIDTH], k[HEADS * KEYS * MOST_WIDTH], v[HEADS * KEYS * MOST_WIDTH];
static uint8_t mask[ROWS * KEYS];
static double expected[HEADS * ROWS * MOST_WIDTH];

static void fill(float *to, int count, int seed, float size) {
    for (int i = 0; i < count; i++) to[i] = (float)((i * 7919 + i / 97 * seed + seed) % 1021 - 510) / 510.0f * size;
}

/* One row of queries of a head; keys behind its own number are masked. */
static void compute_row(const form *f, int head, int row) {
    double weights[KEYS], sum = 0;
    for (int i = 0; i < KEYS; i++) {
        double score = 0;
        for (int c = 0; c < f->inner; c++)
            score += (double)q[(head * ROWS + row) * f->inner + c] * (double)k[(head * KEYS + i) * f->inner + c];
        sum += weights[i] = f->has_mask && !mask[row * KEYS + i] ? 0 : exp(score / 4);
    }
    for (int c = 0; c < f->width; c++) {
        double *y = &expected[(head * ROWS + row) * f->width + c];
        *y = 0;
        for (int i = 0; i < KEYS; i++) *y += weights[i] / sum * (double)v[(head * KEYS + i) * f->width + c];
    }
}

static const char *write_model(const form *f, xpu_arena *arena, xpu_diags *diags) {
    static float factor = 0.25f, low = -1e9f;
    xpu_onnx_builder b;
    xpu_onnx_begin(&b, arena, 14);
    xpu_onnx_input(&b, "q", 3, (const int64_t[]){HEADS, ROWS, f->inner});
    xpu_onnx_input(&b, "k", 3, (const int64_t[]){HEADS, KEYS, f->inner});
    xpu_onnx_input(&b, "v", 3, (const int64_t[]){HEADS, KEYS, f->width});
    xpu_onnx_initializer(&b, "factor", &(xpu_tensor){XPU_F32, 0, {0}, &factor}, 0);
    xpu_onnx_initializer(&b, "low", &(xpu_tensor){XPU_F32, 0, {0}, &low}, 0);
    xpu_onnx_initializer(&b, "mask", &(xpu_tensor){XPU_BOOL, 2, {ROWS, KEYS}, mask}, 0);
    XpuOnnx__NodeProto *node = xpu_onnx_node(&b, "Transpose", "turned", "turned", (const char *const[]){"k", NULL});
    xpu_onnx_ints(&b, node, "perm", (const int64_t[]){0, 2, 1}, 3);
    xpu_onnx_node(&b, "MatMul", "scores", "scores", (const char *const[]){"q", "turned", NULL});
    xpu_onnx_node(&b, "Mul", "scaled", "scaled", (const char *const[]){"scores", "factor", NULL});
    if (f->has_mask)
        xpu_onnx_node(&b, "Where", "masked", "masked", (const char *const[]){"mask", "scaled", "low", NULL});
    node = xpu_onnx_node(&b, "Softmax", "weights", "weights",
                         (const char *const[]){f->has_mask ? "masked" : "scaled", NULL});
    xpu_onnx_int(&b, node, "axis", -1);
    xpu_onnx_node(&b, "MatMul", "y", "y", (const char *const[]){"weights", "v", NULL});
    xpu_onnx_output(&b, "y", 3, (const int64_t[]){HEADS, ROWS, f->width});
    return write_network_file(&b, "attention", xpu_temporary_folder(arena, diags), diags);
}

static void check_values(const form *f, const float *y) {
    double off = 0;
    for (int i = 0; i < HEADS * ROWS * f->width; i++) off = fmax(off, fabs(expected[i] - (double)y[i]));
    CU_ASSERT(off <= 1e-6);
    if (off > 1e-6) printf("off by %g\n", off);
}

static void run(const form *f) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    for (int i = 0; i < ROWS * KEYS; i++) mask[i] = i % KEYS <= i / KEYS;
    for (int i = 0; i < HEADS * ROWS; i++) compute_row(f, i / ROWS, i % ROWS);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        xpu_device_check check;
        xpu_arena *arena = xpu_arena_new(&mem, "test");
        CU_ASSERT_FATAL(xpu_device_check_compile(&check, write_model(f, arena, &diags), "standard", "auto"));
        const xpurt_tensor inputs[] = {{"q", "float32", 3, {HEADS, ROWS, f->inner}, q},
                                       {"k", "float32", 3, {HEADS, KEYS, f->inner}, k},
                                       {"v", "float32", 3, {HEADS, KEYS, f->width}, v}};
        xpurt_tensor y = {0};
        int good = xpu_device_check_layers(&check, inputs, 3, &y);
        if (!good) printf("%s\n", check.message);
        CU_ASSERT_FATAL(good);
        CU_ASSERT_EQUAL(check.layers, 1);
        check_values(f, y.data);
        char *stats =
            xpu_device_check_rtl(&check, inputs, 3, y.data, sizeof(float) * (size_t)(HEADS * ROWS * f->width));
        CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
        CU_ASSERT(xpu_device_check_cycles(stats, "y", "core") > 0);
        free(stats);
        xpurt_tensor_clear(&y);
        xpu_device_check_close(&check);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void layers(void) {
    static const form forms[] = {{8, 8, 0}, {8, 8, 1}, {16, 8, 0}, {8, 16, 1}};
    fill(q, (int)(sizeof q / sizeof *q), 3, 2.0f);
    fill(k, (int)(sizeof k / sizeof *k), 5, 2.0f);
    fill(v, (int)(sizeof v / sizeof *v), 7, 1.0f);
    for (volatile size_t i = 0; i < sizeof forms / sizeof *forms; i++) run(&forms[i]);
}

XPU_TEST_MAIN("attention", {"layers", layers})
