/*
 * Rows of int16 matrix products have scales of their own: a product with one activation of 3,000 among N(0, 1), with
 * bias, branch and activation behind it, and for a free number of rows. Errors are those against sums in double.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sim/func/driver.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/ir.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"
#include "tools/common/inputs.h"

enum { ROWS = 256, DEPTH = 256, OUTLIER_ROW = 17, OUTLIER = OUTLIER_ROW * DEPTH + 33, WIDE_ROWS = 40, WIDE = 1000 };

static int64_t columns; /* of the product, at most WIDE */
static float x[ROWS * DEPTH], w[DEPTH * WIDE], bias[WIDE], branch[ROWS * WIDE];

/* N(0, 1) */
static void fill(float *to, size_t count, random_source *random) {
    for (size_t i = 0; i < count; i++) {
        double u = (double)random_range(random, 1, 1 << 30) / (1 << 30), v = (double)random_range(random, 1, 1 << 30);
        to[i] = (float)(sqrt(-2 * log(u)) * cos(v / (1 << 30) * 6.283185307179586));
    }
}

typedef struct {
    int64_t rows;    /* -1: free */
    int64_t columns; /* 0: 256 */
    int epilogue;    /* bias, branch and relu behind the product */
    double most_error;
} shape;

static const char *write_model(const shape *s, xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder b;
    const char *product = s->epilogue ? "p" : "y";
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "x", 2, (const int64_t[]){s->rows, DEPTH});
    xpu_onnx_initializer(&b, "w", &(xpu_tensor){XPU_F32, 2, {DEPTH, columns}, w}, 0);
    xpu_onnx_node(&b, "MatMul", "product", product, (const char *const[]){"x", "w", NULL});
    if (s->epilogue) {
        xpu_onnx_input(&b, "r", 2, (const int64_t[]){s->rows, columns});
        xpu_onnx_initializer(&b, "b", &(xpu_tensor){XPU_F32, 1, {columns}, bias}, 0);
        xpu_onnx_node(&b, "Add", "biased", "q", (const char *const[]){"p", "b", NULL});
        xpu_onnx_node(&b, "Add", "summed", "t", (const char *const[]){"q", "r", NULL});
        xpu_onnx_node(&b, "Relu", "relu", "y", (const char *const[]){"t", NULL});
    }
    xpu_onnx_output(&b, "y", 2, (const int64_t[]){s->rows, columns});
    return write_network_file(&b, "rows", xpu_temporary_folder(arena, diags), diags);
}

/* y of x's first `rows` rows, all layers compared on ref and func; the caller frees it. */
static float *run(xpu_device_check *check, const shape *s, int64_t rows) {
    const xpurt_tensor inputs[] = {{"x", "float32", 2, {rows, DEPTH}, x}, {"r", "float32", 2, {rows, columns}, branch}};
    xpurt_tensor output = {0};
    int good = xpu_device_check_layers(check, inputs, s->epilogue ? 2 : 1, &output);
    if (!good) printf("%s\n", check->message);
    CU_ASSERT_FATAL(good);
    float *y = malloc(sizeof *y * (size_t)(rows * columns));
    CU_ASSERT_FATAL(y != NULL);
    memcpy(y, output.data, sizeof *y * (size_t)(rows * columns));
    xpurt_tensor_clear(&output);
    return y;
}

/* The largest error of rows other than the outlier's. */
static double largest_error(const shape *s, const float *y, int64_t rows) {
    double most = 0;
    for (int64_t i = 0; i < rows * columns; i++) {
        int64_t row = i / columns, column = i % columns;
        double sum = 0;
        for (int k = 0; k < DEPTH; k++) sum += (double)x[row * DEPTH + k] * (double)w[k * columns + column];
        if (s->epilogue) sum = fmax(sum + (double)bias[column] + (double)branch[i], 0);
        if (row != OUTLIER_ROW && !(fabs(sum - (double)y[i]) <= most)) most = fabs(sum - (double)y[i]);
    }
    return most;
}

static int same_but_outlier(const float *a, const float *b, int64_t rows) {
    for (int64_t i = 0; i < rows; i++) {
        if (i != OUTLIER_ROW && memcmp(a + i * columns, b + i * columns, (size_t)columns * sizeof *a) != 0) return 0;
    }
    return 1;
}

static int all_nan(const float *row) {
    int count = 0;
    for (int64_t i = 0; i < columns; i++) count += isnan(row[i]) != 0;
    return count == columns;
}

/* Plain, with the outlier, with inf and NaN in its place: other rows have the same bits. */
static void one_row_harms_no_other(const shape *s, xpu_device_check *check) {
    const int64_t rows = s->rows > 0 ? s->rows : 50;
    static const float outliers[] = {3000, 0x1p127f, INFINITY, NAN};
    float *plain = run(check, s, rows), kept = x[OUTLIER];
    double error = largest_error(s, plain, rows);
    CU_ASSERT(error < s->most_error);
    for (size_t i = 0; i < sizeof outliers / sizeof *outliers; i++) {
        x[OUTLIER] = outliers[i];
        float *y = run(check, s, rows);
        CU_ASSERT(same_but_outlier(plain, y, rows));
        CU_ASSERT_EQUAL(isfinite(outliers[i]) != 0, !all_nan(y + OUTLIER_ROW * columns));
        free(y);
    }
    x[OUTLIER] = kept;
    free(plain);
}

/* On the Verilated chip: func's bits, the product on the tensor engine, and at most 1.1 times the 77,970 cycles that it
 * took with one scale for all rows. */
static void cycles_on_rtl(const shape *s, xpu_device_check *check) {
    x[OUTLIER] = 3000;
    float *y = run(check, s, ROWS);
    const xpurt_tensor input = {"x", "float32", 2, {ROWS, DEPTH}, x};
    char *stats = xpu_device_check_rtl(check, &input, 1, y, sizeof(float) * ROWS * (size_t)columns);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
    const char *at = strstr(stats, "\"cycles\": ");
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    long cycles = strtol(at + strlen("\"cycles\": "), NULL, 10);
    printf("%ld cycles; ", cycles);
    CU_ASSERT(cycles > 65536 && cycles <= 85767);
    CU_ASSERT_PTR_NOT_NULL(strstr(stats, "\"unit\": \"tensor\""));
    free(stats);
    free(y);
}

/* Where one tile of rows holds all of the product, its columns are multiplied while the engine makes later ones: behind
 * the last of them are 1,579 cycles, where all of them behind the product were 21,948. */
static void columns_behind_the_product(const shape *s, xpu_device_check *check) {
    float *y = run(check, s, WIDE_ROWS);
    const xpurt_tensor inputs[] = {{"x", "float32", 2, {WIDE_ROWS, DEPTH}, x},
                                   {"r", "float32", 2, {WIDE_ROWS, columns}, branch}};
    CU_ASSERT(largest_error(s, y, WIDE_ROWS) < s->most_error);
    char *stats = xpu_device_check_rtl(check, inputs, 2, y, sizeof(float) * WIDE_ROWS * (size_t)columns);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
    const char *at = strstr(stats, "\"op\": \"row_restore\"");
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    at = strstr(at, "\"cycles\": ");
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    long cycles = strtol(at + strlen("\"cycles\": "), NULL, 10);
    printf("%ld cycles; ", cycles);
    CU_ASSERT(cycles > 500 && cycles <= 3500);
    CU_ASSERT_PTR_NOT_NULL(strstr(stats, "\"unit\": \"tensor\""));
    free(stats);
    free(y);
}

/* A row gives the same bits among few and among many. (Alone it has the scale of a product of one row: what a program
 * for that size gives, as test_free_shapes looks.) */
static void rows_do_not_meet(const shape *s, xpu_device_check *check) {
    float *all = run(check, s, 40);
    for (int64_t rows = 2; rows < 40; rows += 19) {
        float *some = run(check, s, rows);
        CU_ASSERT_EQUAL(memcmp(all, some, (size_t)(rows * columns) * sizeof *all), 0);
        free(some);
    }
    free(all);
}

static void with_model(const shape *s, const char *chip, const char *precision,
                       void (*test)(const shape *s, xpu_device_check *check)) {
    xpu_mem mem;
    xpu_diags diags;
    random_source random = {2112};
    columns = s->columns ? s->columns : 256;
    fill(x, ROWS * DEPTH, &random);
    fill(w, DEPTH * (size_t)columns, &random);
    fill(bias, (size_t)columns, &random);
    fill(branch, ROWS * (size_t)columns, &random);
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        xpu_device_check check;
        const char *model = write_model(s, xpu_arena_new(&mem, "test"), &diags);
        CU_ASSERT_FATAL(xpu_device_check_compile(&check, model, chip, precision));
        test(s, &check);
        xpu_device_check_close(&check);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

/* 0.0012 is what 256 products of N(0, 1), each off by half a step of 4.5 / 32767 at most, are off by typically. */
static void product_in_int16(void) {
    const shape s = {.rows = ROWS, .most_error = 0.006};
    with_model(&s, "standard", "int16", one_row_harms_no_other);
    with_model(&s, "standard", "int16", cycles_on_rtl);
}

static void product_in_int16x8(void) {
    const shape s = {.rows = 64, .most_error = 1};
    with_model(&s, "nano", "int16x8", one_row_harms_no_other);
}

static void free_rows_and_epilogue(void) {
    const shape s = {.rows = -1, .epilogue = 1, .most_error = 0.006};
    with_model(&s, "nano", "int16", one_row_harms_no_other);
    with_model(&s, "standard", "int16", rows_do_not_meet);
}

/* The last columns are fewer than the array has. */
static void few_rows(void) {
    const shape s = {.rows = WIDE_ROWS, .columns = WIDE, .epilogue = 1, .most_error = 0.006};
    with_model(&s, "standard", "int16", one_row_harms_no_other);
    with_model(&s, "standard", "int16", columns_behind_the_product);
    const shape free_rows = {.rows = -1, .columns = WIDE - 40, .epilogue = 1, .most_error = 0.006};
    with_model(&free_rows, "standard", "int16", rows_do_not_meet);
}

XPU_TEST_MAIN("row scales", {"int16", product_in_int16}, {"int16x8", product_in_int16x8},
              {"free rows, epilogue", free_rows_and_epilogue}, {"few rows, many columns", few_rows})
