/*
 * Weights of more bytes than are packed while clang works: some come before that limit, one passes it, some come
 * behind. The results are those of plain sums over the model's own weights.
 */
#include <math.h>
#include <stdio.h>

#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/bench.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { LAYERS = 4, WIDEST = 4224 };
static const int64_t sizes[LAYERS + 1] = {48, 512, 4096, WIDEST, 24}; /* 69 MB in the third */

static float weight(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return ((float)(*state >> 16) / 32768.0f - 1.0f) / 32.0f;
}

/* x times each matrix in turn, in double. */
static void chain_of_products(bench *b, const float *x, const float *const *matrices, double *result) {
    double *next = XPU_NEW_ARRAY(b->arena, double, WIDEST);
    for (int64_t i = 0; i < sizes[0]; i++) result[i] = (double)x[i];
    for (int layer = 0; layer < LAYERS; layer++) {
        int64_t from = sizes[layer], to = sizes[layer + 1];
        for (int64_t n = 0; n < to; n++) next[n] = 0;
        for (int64_t k = 0; k < from; k++) {
            for (int64_t n = 0; n < to; n++) next[n] += result[k] * (double)matrices[layer][k * to + n];
        }
        for (int64_t n = 0; n < to; n++) result[n] = next[n];
    }
}

static const char *write_model(bench *b, const float **matrices) {
    xpu_onnx_builder builder;
    uint32_t state = 1;
    xpu_onnx_begin(&builder, b->arena, 13);
    xpu_onnx_input(&builder, "v0", 2, (const int64_t[]){1, sizes[0]});
    for (int layer = 0; layer < LAYERS; layer++) {
        xpu_tensor w = {.dtype = XPU_F32, .rank = 2, .dims = {sizes[layer], sizes[layer + 1]}};
        int64_t count = xpu_tensor_count(&w);
        float *data = xpu_alloc(b->arena, xpu_tensor_bytes(&w));
        for (int64_t i = 0; i < count; i++) data[i] = weight(&state);
        matrices[layer] = w.data = data;
        const char *name = xpu_printf(b->arena, "w%d", layer), *from = xpu_printf(b->arena, "v%d", layer);
        xpu_onnx_initializer(&builder, name, &w, 0);
        xpu_onnx_node(&builder, "MatMul", NULL, xpu_printf(b->arena, "v%d", layer + 1),
                      (const char *const[]){from, name, NULL});
    }
    xpu_onnx_output(&builder, xpu_printf(b->arena, "v%d", LAYERS), 2, (const int64_t[]){1, sizes[LAYERS]});
    return write_network_file(&builder, "large", b->folder, &b->diags);
}

static void run_model(bench *b) {
    const float *matrices[LAYERS];
    float x[48];
    double wanted[WIDEST], worst = 0;
    xpurt_tensor input = {"v0", "float32", 2, {1, sizes[0]}, x}, output = {0};
    xpu_device_check check;
    for (int i = 0; i < 48; i++) x[i] = (float)(i % 7) - 3;
    const char *model = write_model(b, matrices);
    int good = xpu_device_check_compile(&check, model, "standard", "fp32") &&
               xpu_device_check_layers(&check, &input, 1, &output);
    if (!good) printf("%s\n", check.message);
    CU_ASSERT_FATAL(good);
    chain_of_products(b, x, matrices, wanted);
    for (int64_t i = 0; i < sizes[LAYERS]; i++) {
        worst = fmax(worst, fabs((double)((const float *)output.data)[i] - wanted[i]) / (1 + fabs(wanted[i])));
    }
    CU_ASSERT(worst < 1e-4);
    xpurt_tensor_clear(&output);
    xpu_device_check_close(&check);
}
static void around_the_limit(void) {
    with_bench(run_model);
}

XPU_TEST_MAIN("large weights", {"around the limit", around_the_limit})
