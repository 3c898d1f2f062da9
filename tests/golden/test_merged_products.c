/*
 * Products of one row, or of several on the tensor engine, by several constant matrices run as one, on the Verilated
 * chip too, and give bit for bit what they give alone, which they are where they are outputs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { DEPTH = 96, PRODUCTS = 3, MOST = 172, MOST_ROWS = 21 };
static const int64_t columns[PRODUCTS] = {40, MOST, 23};
enum { ALL = 40 + MOST + 23 };

static float x[MOST_ROWS * DEPTH], w[PRODUCTS][DEPTH * MOST], bias[PRODUCTS][MOST];

static const struct {
    const char *precision, *unit;
    int epilogue; /* a bias and a relu behind each product */
    int64_t rows;
} cases[] = {{"fp32", "core", 0, 1},     {"fp32", "core", 1, 1},      {"int16", "tensor", 0, 1},
             {"int16", "tensor", 1, 1},  {"int16x8", "tensor", 0, 1}, {"int16x8", "tensor", 1, 1},
             {"int16", "tensor", 0, 21}, {"int16", "tensor", 1, 21},  {"int16x8", "tensor", 1, MOST_ROWS}};

static const char *numbered(xpu_arena *arena, const char *what, int i) {
    return xpu_printf(arena, "%s%d", what, i);
}

/* Results go through a negation into one output, or are outputs themselves. */
static const char *write_model(int alone, int epilogue, int64_t rows, xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder b;
    const char *parts[PRODUCTS + 1] = {NULL};
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "x", 2, (const int64_t[]){rows, DEPTH});
    for (int i = 0; i < PRODUCTS; i++) {
        const char *weights = numbered(arena, "w", i), *summand = numbered(arena, "b", i);
        const char *made = numbered(arena, "y", i), *product = epilogue ? numbered(arena, "p", i) : made;
        xpu_onnx_initializer(&b, weights, &(xpu_tensor){XPU_F32, 2, {DEPTH, columns[i]}, w[i]}, 0);
        xpu_onnx_initializer(&b, summand, &(xpu_tensor){XPU_F32, 1, {columns[i]}, bias[i]}, 0);
        xpu_onnx_node(&b, epilogue ? "Gemm" : "MatMul", numbered(arena, "product", i), product,
                      (const char *const[]){"x", weights, epilogue ? summand : NULL, NULL});
        if (epilogue) xpu_onnx_node(&b, "Relu", numbered(arena, "relu", i), made, (const char *const[]){product, NULL});
        parts[i] = numbered(arena, "n", i);
        if (alone)
            xpu_onnx_output(&b, made, 2, (const int64_t[]){rows, columns[i]});
        else
            xpu_onnx_node(&b, "Neg", numbered(arena, "neg", i), parts[i], (const char *const[]){made, NULL});
    }
    if (!alone) {
        xpu_onnx_int(&b, xpu_onnx_node(&b, "Concat", "all", "y", parts), "axis", 1);
        xpu_onnx_output(&b, "y", 2, (const int64_t[]){rows, ALL});
    }
    return write_network_file(&b, "products", xpu_temporary_folder(arena, diags), diags);
}

static int layers_agree(xpu_device_check *check, int64_t rows, xpurt_tensor *outputs) {
    const xpurt_tensor input = {"x", "float32", 2, {rows, DEPTH}, x};
    int good = xpu_device_check_layers(check, &input, 1, outputs);
    if (!good) printf("%s\n", check->message);
    return good;
}

/* What the products are alone, with the sign that a negation gives. */
static void expect(float *y, size_t k, xpu_arena *arena, xpu_diags *diags) {
    xpu_device_check check;
    xpurt_tensor outputs[PRODUCTS] = {{0}};
    const char *model = write_model(1, cases[k].epilogue, cases[k].rows, arena, diags);
    CU_ASSERT_FATAL(xpu_device_check_compile(&check, model, "standard", cases[k].precision));
    CU_ASSERT_FATAL(layers_agree(&check, cases[k].rows, outputs));
    for (int64_t row = 0; row < cases[k].rows; row++) {
        for (int i = 0; i < PRODUCTS; i++) {
            for (int64_t c = 0; c < columns[i]; c++) *y++ = -((const float *)outputs[i].data)[row * columns[i] + c];
        }
    }
    for (int i = 0; i < PRODUCTS; i++) xpurt_tensor_clear(&outputs[i]);
    xpu_device_check_close(&check);
}

static void one_case(size_t k, xpu_arena *arena, xpu_diags *diags) {
    static float expected[MOST_ROWS * ALL];
    const int64_t rows = cases[k].rows;
    const size_t bytes = (size_t)(rows * ALL) * sizeof *expected;
    xpu_device_check check;
    xpurt_tensor y = {0};
    const char *name = cases[k].epilogue ? "relu" : "product";
    expect(expected, k, arena, diags);
    const char *model = write_model(0, cases[k].epilogue, rows, arena, diags);
    CU_ASSERT_FATAL(xpu_device_check_compile(&check, model, "standard", cases[k].precision));
    CU_ASSERT_FATAL(layers_agree(&check, rows, &y));
    CU_ASSERT_EQUAL(memcmp(y.data, expected, bytes), 0);
    const xpurt_tensor input = {"x", "float32", 2, {rows, DEPTH}, x};
    char *stats = xpu_device_check_rtl(&check, &input, 1, expected, bytes);
    if (!stats) printf("%s\n", check.message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
    const char *merged = xpu_printf(arena, "%s%d/merged%s", name, PRODUCTS - 1, rows > 1 ? "/rows" : "");
    CU_ASSERT(xpu_device_check_cycles(stats, merged, cases[k].unit) > 0);
    for (int i = 0; i < PRODUCTS; i++) { /* columns of one row are no layers, those of several are copied */
        const long copied = xpu_device_check_cycles(stats, numbered(arena, name, i), rows > 1 ? "dma" : NULL);
        CU_ASSERT(rows > 1 ? copied > 0 : copied == -1);
    }
    free(stats);
    xpurt_tensor_clear(&y);
    xpu_device_check_close(&check);
}

static void as_alone(void) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    for (int i = 0; i < MOST_ROWS * DEPTH; i++) x[i] = (float)(i * 37 % 61 - 30) / 7.0f;
    for (int i = 0; i < PRODUCTS; i++) {
        for (int j = 0; j < DEPTH * MOST; j++) w[i][j] = (float)((j * 53 + i * 7) % 97 - 48) / (91.0f * (float)(i + 1));
        for (int j = 0; j < MOST; j++) bias[i][j] = (float)((j + i) % 11 - 5) / 3.0f;
    }
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        xpu_arena *arena = xpu_arena_new(&mem, "test");
        for (volatile size_t k = 0; k < sizeof cases / sizeof *cases; k++) one_case(k, arena, &diags);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

XPU_TEST_MAIN("merged products", {"as alone", as_alone})
