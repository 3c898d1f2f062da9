/*
 * Loops of chains go through a block two vectors at a time and then through what is left: every length around the
 * borders of one, two and four vectors of 64 elements, on every core, against a plain formula. Rows that are the same
 * in every block stay in LM: several numbers of blocks, the last one of fewer rows, and rows that are another's in each
 * image. Behind products of matrices chains begin with no rows of images, which these have not.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/bench.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { MOST = 4 * 520 };

static float a[MOST], b[MOST];

/* What follows s = a + b: loads of both vectors go before their few sums, or stand between many. */
typedef enum { CLIP, SWISH } ending;

/* clip(s, -1, 0.5) or hard_swish(s) * a + b, of N elements */
static const char *write_model(ending form, xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder builder;
    const int64_t free_length[] = {-1};
    xpu_onnx_begin(&builder, arena, form == CLIP ? 7 : 14);
    xpu_onnx_input(&builder, "a", 1, free_length);
    xpu_onnx_input(&builder, "b", 1, free_length);
    xpu_onnx_node(&builder, "Add", "sum", "s", (const char *const[]){"a", "b", NULL});
    if (form == CLIP) {
        XpuOnnx__NodeProto *clip = xpu_onnx_node(&builder, "Clip", "clip", "y", (const char *const[]){"s", NULL});
        xpu_onnx_float(&builder, clip, "min", -1.0f);
        xpu_onnx_float(&builder, clip, "max", 0.5f);
    } else {
        xpu_onnx_node(&builder, "HardSwish", "swish", "h", (const char *const[]){"s", NULL});
        xpu_onnx_node(&builder, "Mul", "product", "p", (const char *const[]){"h", "a", NULL});
        xpu_onnx_node(&builder, "Add", "result", "y", (const char *const[]){"p", "b", NULL});
    }
    xpu_onnx_output(&builder, "y", 1, free_length);
    return write_network_file(&builder, "chain", xpu_temporary_folder(arena, diags), diags);
}

static float expected(ending form, int64_t i) {
    const float sum = a[i] + b[i];
    if (isnan(sum)) return sum;
    if (form == CLIP) return fminf(fmaxf(sum, -1.0f), 0.5f);
    volatile float product = sum * (1.0f / 6.0f);
    const float gate = fminf(fmaxf(product + 0.5f, 0.0f), 1.0f);
    product = sum * gate;
    product = product * a[i];
    return product + b[i];
}

static int is_right(ending form, const float *y, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const float right = expected(form, i);
        if (isnan(right) ? !isnan(y[i]) : memcmp(&right, &y[i], sizeof right) != 0) return 0;
    }
    return 1;
}

static void every_length(ending form, const char *model, const char *chip) {
    xpu_device_check check;
    int compiled = xpu_device_check_compile(&check, model, chip, "fp32");
    if (!compiled) printf("%s\n", check.message);
    CU_ASSERT_FATAL(compiled);
    for (int64_t around = 64; around <= 512; around *= 2) {
        for (int64_t near = -1; near <= 1; near++) {
            for (int64_t cores = 1; cores <= 4; cores += 3) {
                int64_t count = cores * (around + near);
                const xpurt_tensor inputs[] = {{"a", "float32", 1, {count}, a}, {"b", "float32", 1, {count}, b}};
                xpurt_tensor y = {0};
                int good = xpu_device_check_layers(&check, inputs, 2, &y);
                if (!good) printf("%s\n", check.message);
                CU_ASSERT_FATAL(good);
                CU_ASSERT(is_right(form, y.data, count));
                xpurt_tensor_clear(&y);
            }
        }
    }
    xpu_device_check_close(&check);
}

/* ---- operands that are a row, or an element, for all rows ---- */

enum { WIDTH = 96, ROWS = 1100, IMAGES = 2 };

static float images[IMAGES * ROWS * WIDTH], rows[IMAGES * WIDTH];

/* x * r + e: x [I, N, WIDTH], r [I or 1, 1, WIDTH], e [1] */
static const char *write_rows(xpu_arena *arena, int64_t row_images, xpu_diags *diags) {
    xpu_onnx_builder builder;
    const int64_t x[] = {row_images, -1, WIDTH}, r[] = {row_images, 1, WIDTH}, e[] = {1};
    xpu_onnx_begin(&builder, arena, 7);
    xpu_onnx_input(&builder, "x", 3, x);
    xpu_onnx_input(&builder, "r", 3, r);
    xpu_onnx_input(&builder, "e", 1, e);
    xpu_onnx_node(&builder, "Mul", "product", "p", (const char *const[]){"x", "r", NULL});
    xpu_onnx_node(&builder, "Add", "sum", "y", (const char *const[]){"p", "e", NULL});
    xpu_onnx_output(&builder, "y", 3, x);
    return write_network_file(&builder, "rows", xpu_temporary_folder(arena, diags), diags);
}

static int are_rows_right(const float *y, int64_t count, int64_t image_rows) {
    for (int64_t i = 0; i < count; i++) {
        volatile float product = images[i] * rows[i / (image_rows * WIDTH) * WIDTH + i % WIDTH];
        float right = product + 0.25f;
        if (memcmp(&right, &y[i], sizeof right) != 0) return 0;
    }
    return 1;
}

static void every_count_of_rows(const char *model, int64_t image_count, const char *chip) {
    static const int64_t counts[] = {1, 3, 25, 104, 211, 517, ROWS};
    static float element = 0.25f;
    xpu_device_check check;
    int compiled = xpu_device_check_compile(&check, model, chip, "fp32");
    if (!compiled) printf("%s\n", check.message);
    CU_ASSERT_FATAL(compiled);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const xpurt_tensor inputs[] = {{"x", "float32", 3, {image_count, counts[i], WIDTH}, images},
                                       {"r", "float32", 3, {image_count, 1, WIDTH}, rows},
                                       {"e", "float32", 1, {1}, &element}};
        xpurt_tensor y = {0};
        int good = xpu_device_check_layers(&check, inputs, 3, &y);
        if (!good) printf("%s\n", check.message);
        CU_ASSERT_FATAL(good);
        CU_ASSERT(are_rows_right(y.data, image_count * counts[i] * WIDTH, counts[i]));
        xpurt_tensor_clear(&y);
    }
    xpu_device_check_close(&check);
}

static void same_rows(void) {
    xpu_mem mem;
    xpu_diags diags;
    for (int i = 0; i < IMAGES * ROWS * WIDTH; i++) images[i] = (float)(i % 1009 - 500) / 64.0f;
    for (int i = 0; i < IMAGES * WIDTH; i++) rows[i] = (float)(i % 83 - 41) / 16.0f;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        for (int64_t count = 1; count <= IMAGES; count++) {
            const char *model = write_rows(xpu_arena_new(&mem, "test"), count, &diags);
            every_count_of_rows(model, count, "standard");
            every_count_of_rows(model, count, "nano");
        }
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void lengths(void) {
    xpu_mem mem;
    xpu_diags diags;
    for (int i = 0; i < MOST; i++) {
        a[i] = (float)(i % 37 - 18) / 16.0f;
        b[i] = i % 61 == 60 ? NAN : (float)(i % 23 - 11) / 32.0f;
    }
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        for (ending form = CLIP; form <= SWISH; form++) {
            const char *model = write_model(form, xpu_arena_new(&mem, "test"), &diags);
            every_length(form, model, "standard");
            every_length(form, model, "nano");
        }
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

/* ---- behind products of matrices of rank 4, whose rows are no image's ---- */

enum { SLICES = 6, DEPTH = 64, MATRIX_ROWS = 48, COLUMNS = 80 };

static float matrices[SLICES * MATRIX_ROWS * DEPTH], weights[DEPTH * COLUMNS];

/* tanh(sigmoid(x) w): x [first, SLICES / first, MATRIX_ROWS, DEPTH] */
static const char *write_product(int64_t first, xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder builder;
    const xpu_tensor w = {.dtype = XPU_F32, .rank = 2, .dims = {DEPTH, COLUMNS}, .data = weights};
    xpu_onnx_begin(&builder, arena, 13);
    xpu_onnx_input(&builder, "x", 4, (const int64_t[]){first, SLICES / first, MATRIX_ROWS, DEPTH});
    xpu_onnx_initializer(&builder, "w", &w, 0);
    xpu_onnx_node(&builder, "Sigmoid", "bounded", "b", (const char *const[]){"x", NULL}); /* one scale for all rows */
    xpu_onnx_node(&builder, "MatMul", "product", "p", (const char *const[]){"b", "w", NULL});
    xpu_onnx_node(&builder, "Tanh", "tanh", "y", (const char *const[]){"p", NULL});
    xpu_onnx_output(&builder, "y", 4, (const int64_t[]){first, SLICES / first, MATRIX_ROWS, COLUMNS});
    return write_network_file(&builder, "product", xpu_temporary_folder(arena, diags), diags);
}

static void run_product(int64_t first, const char *model, const char *chip) {
    const xpurt_tensor input = {"x", "float32", 4, {first, SLICES / first, MATRIX_ROWS, DEPTH}, matrices};
    xpu_device_check check;
    xpurt_tensor y = {0};
    CU_ASSERT_FATAL(xpu_device_check_compile(&check, model, chip, "int16"));
    const char *product = strstr(xpurt_describe(check.program, NULL), "\"kernel\": \"conv2d_i16\"");
    CU_ASSERT_PTR_NOT_NULL_FATAL(product);
    const char *next = strstr(product + 1, "\"kernel\": ");
    CU_ASSERT(next && strncmp(next, "\"kernel\": \"chain_dense\"", strlen("\"kernel\": \"chain_dense\"")) == 0);
    const int good = xpu_device_check_layers(&check, &input, 1, &y);
    if (!good) printf("%s: %s\n", chip, check.message);
    CU_ASSERT(good);
    xpurt_tensor_clear(&y);
    xpu_device_check_close(&check);
}

static void behind_products(void) {
    static const char *const chips[] = {"standard", "small-l3", "nano", "pro"};
    BENCH_OPEN(test);
    for (int i = 0; i < SLICES * MATRIX_ROWS * DEPTH; i++) matrices[i] = (float)(i % 41 - 20) / 16.0f;
    for (int i = 0; i < DEPTH * COLUMNS; i++) weights[i] = (float)(i % 29 - 14) / 64.0f;
    for (int64_t first = 1; first <= SLICES; first++) {
        if (SLICES % first) continue;
        const char *model = write_product(first, test.arena, &test.diags);
        for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) run_product(first, model, chips[i]);
    }
    bench_close(&test);
}

XPU_TEST_MAIN("chain lengths", {"around one, two and four vectors", lengths},
              {"rows that are the same in every block", same_rows}, {"behind products of matrices", behind_products})
