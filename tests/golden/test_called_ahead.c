/*
 * A product by a computed matrix that is called before the layer that packs the matrix has run: none of its loads may
 * stand in core 0's queue in front of those of core 0's share of that layer. x has another reader, so its rows are
 * scaled before the convolution, and the packing stands alone between two layers on the tensor engine.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/ir.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { SIDE = 64, CHANNELS = 16, IMAGE = 24 };

static float x[SIDE * SIDE], a[SIDE * SIDE], image[CHANNELS * IMAGE * IMAGE];

static const char *write_model(xpu_arena *arena, xpu_diags *diags) {
    static float w[2 * CHANNELS * CHANNELS * 9];
    const int64_t matrix[] = {SIDE, SIDE}, in[] = {1, CHANNELS, IMAGE, IMAGE}, out[] = {1, 2 * CHANNELS, IMAGE, IMAGE};
    xpu_onnx_builder b;
    for (size_t i = 0; i < sizeof w / sizeof *w; i++) w[i] = (float)(i % 11) - 5;
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "i", 4, in);
    xpu_onnx_input(&b, "x", 2, matrix);
    xpu_onnx_input(&b, "a", 2, matrix);
    xpu_onnx_initializer(&b, "w", &(xpu_tensor){XPU_F32, 4, {2 * CHANNELS, CHANNELS, 3, 3}, w}, 0);
    XpuOnnx__NodeProto *conv = xpu_onnx_node(&b, "Conv", "conv", "z", (const char *const[]){"i", "w", NULL});
    xpu_onnx_ints(&b, conv, "pads", (const int64_t[]){1, 1, 1, 1}, 4);
    xpu_onnx_node(&b, "MatMul", "product", "y", (const char *const[]){"x", "a", NULL});
    xpu_onnx_node(&b, "Relu", "reader", "r", (const char *const[]){"x", NULL});
    xpu_onnx_output(&b, "y", 2, matrix);
    xpu_onnx_output(&b, "r", 2, matrix);
    xpu_onnx_output(&b, "z", 4, out);
    return write_network_file(&b, "ahead", xpu_temporary_folder(arena, diags), diags);
}

/* The units of the layers in order, by their first letters. */
static const char *units_of(xpurt_program *program, xpu_arena *arena) {
    static const char key[] = "\"unit\": \"";
    xpu_text units;
    xpu_text_init(&units, arena);
    for (const char *at = xpurt_describe(program, NULL); at && (at = strstr(at, key));) {
        at += sizeof key - 1;
        xpu_text_add(&units, "%c", *at);
    }
    return units.text;
}

static void packed_product(void) {
    static const char *const chips[] = {"nano", "standard"};
    BENCH_OPEN(b);
    for (int i = 0; i < SIDE * SIDE; i++)
        x[i] = (float)(i * 7919 % 201 - 100) / 50, a[i] = (float)(i * 104729 % 301 - 150) / 70;
    for (int i = 0; i < CHANNELS * IMAGE * IMAGE; i++) image[i] = (float)(i * 31 % 97 - 48) / 20;
    const xpurt_tensor inputs[] = {{"i", "float32", 4, {1, CHANNELS, IMAGE, IMAGE}, image},
                                   {"x", "float32", 2, {SIDE, SIDE}, x},
                                   {"a", "float32", 2, {SIDE, SIDE}, a}};
    const char *model = write_model(b.arena, &b.diags);
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        xpu_device_check check;
        xpurt_tensor outputs[3] = {{0}};
        int good = xpu_device_check_compile(&check, model, chips[i], "int16");
        if (good) CU_ASSERT_PTR_NOT_NULL(strstr(units_of(check.program, b.arena), "tct"));
        good = good && xpu_device_check_layers(&check, inputs, 3, outputs);
        if (!good) printf("%s: %s\n", chips[i], check.message);
        CU_ASSERT(good);
        for (int k = 0; k < 3; k++) xpurt_tensor_clear(&outputs[k]);
        xpu_device_check_close(&check);
    }
    bench_close(&b);
}

/* x times a constant matrix, and times the result: its rows are scaled once, in front of both. */
static void one_operand(void) {
    BENCH_OPEN(b);
    xpu_onnx_builder o;
    const int64_t matrix[] = {SIDE, SIDE};
    xpu_onnx_begin(&o, b.arena, 13);
    xpu_onnx_input(&o, "x", 2, matrix);
    xpu_onnx_initializer(&o, "w", &(xpu_tensor){XPU_F32, 2, {SIDE, SIDE}, a}, 0);
    xpu_onnx_node(&o, "MatMul", "first", "m", (const char *const[]){"x", "w", NULL});
    xpu_onnx_node(&o, "MatMul", "second", "y", (const char *const[]){"x", "m", NULL});
    xpu_onnx_output(&o, "y", 2, matrix);
    const char *model = write_network_file(&o, "twice", xpu_temporary_folder(b.arena, &b.diags), &b.diags);
    const xpurt_tensor input = {"x", "float32", 2, {SIDE, SIDE}, x};
    xpu_device_check check;
    xpurt_tensor y = {0};
    int good = xpu_device_check_compile(&check, model, "nano", "int16");
    good = good && xpu_device_check_layers(&check, &input, 1, &y);
    if (!good) printf("%s\n", check.message);
    CU_ASSERT(good);
    const float *got = y.data;
    for (int i = 0; good && i < SIDE; i++) { /* the first row */
        double sum = 0;
        for (int k = 0; k < SIDE; k++)
            for (int l = 0; l < SIDE; l++) sum += (double)x[k] * x[k * SIDE + l] * a[l * SIDE + i];
        CU_ASSERT_DOUBLE_EQUAL(got[i], sum, 0.5);
    }
    xpurt_tensor_clear(&y);
    xpu_device_check_close(&check);
    bench_close(&b);
}

XPU_TEST_MAIN("called ahead", {"packed product", packed_product}, {"one operand", one_operand})
