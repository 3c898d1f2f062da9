/*
 * A norm over the last dim as exporters write it out is one layer on the cores, also where its result is the operand of
 * an integer product. Against a plain formula, and func against rtl and the graph on the host bit for bit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/golden/drawn_network.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { MOST_ROWS = 40, MOST_COUNT = 120, COLUMNS = 96 };

typedef struct {
    int rows, count, centred, has_product;
    long most_cycles; /* of the norm */
} form;

static float x[MOST_ROWS * MOST_COUNT], scale[MOST_COUNT], bias[MOST_COUNT], weights[MOST_COUNT * COLUMNS];
static double normed[MOST_ROWS * MOST_COUNT], expected[MOST_ROWS * MOST_COUNT];

static void fill(float *to, int count, int seed, float size) {
    for (int i = 0; i < count; i++) to[i] = (float)((i * 7919 + i / 97 * seed + seed) % 1021 - 510) / 510.0f * size;
}

static void compute(const form *f) {
    fill(x, f->rows * f->count, 3, 5.0f);
    fill(scale, f->count, 5, 0.7f);
    fill(bias, f->count, 7, 0.3f);
    fill(weights, f->count * COLUMNS, 11, 0.4f);
    for (int i = 0; i < f->rows; i++) {
        double sum = 0, squares = 0;
        for (int j = 0; j < f->count; j++) sum += x[i * f->count + j];
        const double mean = f->centred ? sum / f->count : 0;
        for (int j = 0; j < f->count; j++) squares += pow(x[i * f->count + j] - mean, 2);
        const double length = sqrt(squares / f->count + 1e-5);
        for (int j = 0; j < f->count; j++) {
            const double y = (x[i * f->count + j] - mean) / length * scale[j];
            normed[i * f->count + j] = f->centred ? y + bias[j] : y;
        }
    }
    for (int i = 0; i < f->rows * f->count; i++) expected[i] = normed[i];
    for (int i = 0; i < f->rows * COLUMNS && f->has_product; i++) {
        expected[i] = 0;
        for (int j = 0; j < f->count; j++)
            expected[i] += normed[i / COLUMNS * f->count + j] * (double)weights[j * COLUMNS + i % COLUMNS];
    }
}

static void add(xpu_onnx_builder *b, const char *op, const char *y, const char *p, const char *q) {
    xpu_onnx_node(b, op, y, y, (const char *const[]){p, q, NULL});
}

static void add_mean(xpu_onnx_builder *b, const char *y, const char *of) {
    XpuOnnx__NodeProto *node = xpu_onnx_node(b, "ReduceMean", y, y, (const char *const[]){of, NULL});
    xpu_onnx_ints(b, node, "axes", (const int64_t[]){-1}, 1);
}

static const char *write_model(const form *f, xpu_arena *arena, xpu_diags *diags) {
    static float two = 2, epsilon = 1e-5f;
    xpu_onnx_builder b;
    const char *d = f->centred ? "difference" : "x", *y = f->has_product ? "norm" : "y";
    xpu_onnx_begin(&b, arena, 14);
    xpu_onnx_input(&b, "x", 2, (const int64_t[]){f->rows, f->count});
    xpu_onnx_initializer(&b, "two", &(xpu_tensor){XPU_F32, 0, {0}, &two}, 0);
    xpu_onnx_initializer(&b, "epsilon", &(xpu_tensor){XPU_F32, 0, {0}, &epsilon}, 0);
    xpu_onnx_initializer(&b, "scale", &(xpu_tensor){XPU_F32, 1, {f->count}, scale}, 0);
    xpu_onnx_initializer(&b, "bias", &(xpu_tensor){XPU_F32, 1, {f->count}, bias}, 0);
    xpu_onnx_initializer(&b, "w", &(xpu_tensor){XPU_F32, 2, {f->count, COLUMNS}, weights}, 0);
    if (f->centred) {
        add_mean(&b, "mean", "x");
        add(&b, "Sub", d, "x", "mean");
    }
    add(&b, "Pow", "square", d, "two");
    add_mean(&b, "variance", "square");
    add(&b, "Add", "sum", "variance", "epsilon");
    xpu_onnx_node(&b, "Sqrt", "length", "length", (const char *const[]){"sum", NULL});
    add(&b, "Div", "quotient", d, "length");
    add(&b, "Mul", f->centred ? "scaled" : y, "quotient", "scale");
    if (f->centred) add(&b, "Add", y, "scaled", "bias");
    if (f->has_product) add(&b, "MatMul", "y", "norm", "w");
    xpu_onnx_output(&b, "y", 2, (const int64_t[]){f->rows, f->has_product ? COLUMNS : f->count});
    return write_network_file(&b, "norm", xpu_temporary_folder(arena, diags), diags);
}

static void run(const form *f) {
    static const char *const gone[] = {"mean", "difference", "square",   "variance",
                                       "sum",  "length",     "quotient", "scaled"};
    xpu_mem mem;
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    compute(f);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        xpu_device_check check;
        xpu_arena *arena = xpu_arena_new(&mem, "test");
        CU_ASSERT_FATAL(xpu_device_check_compile(&check, write_model(f, arena, &diags), "standard", "int16"));
        xpurt_tensor input = {"x", "float32", 2, {f->rows, f->count}, x}, y = {0};
        int good = xpu_device_check_layers(&check, &input, 1, &y),
            count = f->rows * (f->has_product ? COLUMNS : f->count);
        CU_ASSERT(good);
        if (!good) printf("%s\n", check.message);
        check_near(y.data, expected, count, f->has_product ? 2e-4 : 1e-6);
        char *stats = xpu_device_check_rtl(&check, &input, 1, y.data, sizeof(float) * (size_t)count);
        CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
        for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
            CU_ASSERT_EQUAL(xpu_device_check_cycles(stats, gone[i], NULL), -1);
        CU_ASSERT_EQUAL(xpu_device_check_cycles(stats, "norm/absmax", NULL), -1);
        long cycles = xpu_device_check_cycles(stats, f->has_product ? "norm" : "y", "core");
        printf("%d x %d: %ld cycles; ", f->rows, f->count, cycles);
        CU_ASSERT(cycles > 0 && cycles <= f->most_cycles);
        free(stats);
        xpurt_tensor_clear(&y);
        xpu_device_check_close(&check);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void layer_norm(void) {
    run(&(form){.rows = 40, .count = 120, .centred = 1, .most_cycles = 6500});
}

/* Behind it a product in int16, which needs the scale of its operand. */
static void norm_and_product(void) {
    run(&(form){.rows = 40, .count = 120, .centred = 1, .has_product = 1, .most_cycles = 7000});
}

static void row_and_product(void) {
    run(&(form){.rows = 1, .count = 120, .centred = 0, .has_product = 1, .most_cycles = 4500});
}

XPU_TEST_MAIN("norms", {"layer norm", layer_norm}, {"norm and product", norm_and_product},
              {"row and product", row_and_product})
