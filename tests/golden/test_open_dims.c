/*
 * A network whose batch, height and width nobody bounds, and which is empty below 10 x 10: one program serves every
 * shape from there on, with the bytes of a program for that shape; each shape is planned once. And a dim of which
 * memory leaves one value.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sim/func/driver.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/bench.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"
#include "tools/common/inputs.h"
#include "xpuc/include/xpuc.h"

enum { CHANNELS = 2, MIDDLE = 4, MOST = 3 * CHANNELS * 64 * 64, OUTPUTS = 2 /* at most */, HEIGHT = 400, WIDTH = 500 };

static float noise[MOST];

static void add_conv(xpu_onnx_builder *builder, const char *x, const char *y, const char *w, int from, int kernel) {
    xpu_tensor weights = {.dtype = XPU_F32, .rank = 4, .dims = {MIDDLE, from, kernel, kernel}, .data = noise};
    xpu_onnx_initializer(builder, w, &weights, 0);
    xpu_onnx_node(builder, "Conv", y, y, (const char *const[]){x, w, NULL});
}

/* 5 x 5, times a scalar, maximum of 2 x 2, 3 x 3, all without padding. The scalar's shape is an empty constant. */
static const char *write_model(xpu_arena *arena, xpu_diags *diags) {
    static char *names[] = {"N", NULL, "H", "W"};
    xpu_onnx_builder builder;
    xpu_onnx_begin(&builder, arena, 13);
    xpu_onnx_input(&builder, "x", 4, (const int64_t[]){-1, CHANNELS, -1, -1});
    XpuOnnx__TensorShapeProto *shape = builder.inputs.items[0]->type->tensor_type->shape;
    for (int i = 0; i < 4; i++) {
        if (names[i]) shape->dim[i]->dim_param = names[i];
    }
    add_conv(&builder, "x", "a", "a.w", CHANNELS, 5);
    xpu_onnx_initializer(&builder, "one", &(xpu_tensor){.dtype = XPU_F32, .rank = 1, .dims = {1}, .data = noise}, 0);
    xpu_onnx_initializer(&builder, "none", &(xpu_tensor){.dtype = XPU_I64, .rank = 1, .data = noise}, 0);
    xpu_onnx_node(&builder, "Reshape", "factor", "factor", (const char *const[]){"one", "none", NULL});
    xpu_onnx_node(&builder, "Mul", "scaled", "scaled", (const char *const[]){"a", "factor", NULL});
    XpuOnnx__NodeProto *pool = xpu_onnx_node(&builder, "MaxPool", "b", "b", (const char *const[]){"scaled", NULL});
    xpu_onnx_ints(&builder, pool, "kernel_shape", (const int64_t[]){2, 2}, 2);
    xpu_onnx_ints(&builder, pool, "strides", (const int64_t[]){2, 2}, 2);
    add_conv(&builder, "b", "y", "y.w", MIDDLE, 3);
    xpu_onnx_output(&builder, "y", 4, (const int64_t[]){-1, MIDDLE, -1, -1});
    shape = builder.outputs.items[0]->type->tensor_type->shape;
    for (int i = 2; i < 4; i++) shape->dim[i]->dim_param = i == 2 ? "YH" : "YW";
    return write_network_file(&builder, "open", xpu_temporary_folder(arena, diags), diags);
}

static int run(xpu_device_check *check, const int64_t *dims, xpurt_tensor *output) {
    xpurt_tensor input = {"x", "float32", 4, {dims[0], dims[1], dims[2], dims[3]}, noise};
    int good = xpu_device_check_layers(check, &input, 1, output);
    if (!good) printf("%s\n", check->message);
    return good;
}

static void compare(xpu_device_check *check, const char *model, const char *chip, const char *precision,
                    const int64_t *dims) {
    char shape[64];
    xpu_device_check fixed;
    xpurt_tensor got[OUTPUTS] = {0}, wanted[OUTPUTS] = {0};
    snprintf(shape, sizeof shape, "x=%d,%d,%d,%d", (int)dims[0], (int)dims[1], (int)dims[2], (int)dims[3]);
    int good = xpu_device_check_compile_shape(&fixed, model, chip, precision, shape) && run(&fixed, dims, wanted) &&
               run(check, dims, got);
    CU_ASSERT(good);
    for (int i = 0; i < OUTPUTS; i++) {
        if (good && got[i].data) {
            xpu_tensor a = xpu_from_runtime(&got[i]), b = xpu_from_runtime(&wanted[i]);
            CU_ASSERT(xpu_tensor_bytes(&a) == xpu_tensor_bytes(&b));
            CU_ASSERT(memcmp(a.data, b.data, xpu_tensor_bytes(&a)) == 0);
        }
        xpurt_tensor_clear(&got[i]);
        xpurt_tensor_clear(&wanted[i]);
    }
    xpu_device_check_close(&fixed);
}

static void check_model(const char *model, const char *chip, const char *precision) {
    static const int64_t sizes[][4] = {{1, CHANNELS, 10, 10}, {3, CHANNELS, 31, 17}, {1, CHANNELS, 64, 40}};
    xpu_device_check check;
    xpurt_tensor output;
    CU_ASSERT_FATAL(xpu_device_check_compile(&check, model, chip, precision));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) compare(&check, model, chip, precision, sizes[i]);
    xpurt_tensor input = {"x", "float32", 4, {1, CHANNELS, 10, 10}, noise};
    char *stats = NULL;
    const xpurt_run_options func = {.device = &xpu_func_driver, .stats = &stats};
    CU_ASSERT(xpu_device_check_run(&check, &input, 1, &output));
    xpurt_tensor_clear(&output);
    CU_ASSERT_EQUAL(xpurt_run(check.program, &input, 1, &output, &func, NULL), 0);
    xpurt_tensor_clear(&output);
    CU_ASSERT(stats && strstr(stats, "\"plans\": 3,") && strstr(stats, "\"plan_hits\": 5,"));
    free(stats);
    input.dims[3] = 9;
    CU_ASSERT_FALSE(xpu_device_check_run(&check, &input, 1, &output));
    CU_ASSERT_PTR_NOT_NULL(strstr(check.message, "[shape-range]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(check.message, "W is 9, the program was compiled for 10.."));
    xpu_device_check_close(&check);
}

static void with_model(const char *(*write)(xpu_arena *, xpu_diags *), void (*test)(const char *model)) {
    xpu_mem mem;
    xpu_diags diags;
    for (int i = 0; i < MOST; i++) noise[i] = (float)(i * 37 % 101) / 101 - 0.5f;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        test(write(xpu_arena_new(&mem, "test"), &diags));
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void serve_all(const char *model) {
    check_model(model, "standard", "auto");
    check_model(model, "nano", "fp32");
}
static void every_shape(void) {
    with_model(write_model, serve_all);
}

/* A range of the user's is not changed: below it the tensors would have negative dims. */
static void refuse_small(const char *model) {
    xpu_device_check check;
    CU_ASSERT_FALSE(xpu_device_check_compile_shape(&check, model, "standard", "fp32", "x=N,2,3..64,32..64"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(check.message, "error [shape-negative] tensor 'a': a dim is negative at the smallest"));
    xpu_device_check_close(&check);
}
static void range_too_low(void) {
    with_model(write_model, refuse_small);
}

/* ---- reflection ---- */

enum { REFLECTED = 3 };

/* Reflects 3 rows and 2 columns: an image has at least 4 x 3 pixels. */
static const char *write_reflection(xpu_arena *arena, xpu_diags *diags) {
    static char *names[] = {NULL, NULL, "H", "W"};
    static const int64_t pads[] = {0, 0, REFLECTED, REFLECTED - 1, 0, 0, 1, REFLECTED - 1};
    xpu_onnx_builder builder;
    xpu_onnx_begin(&builder, arena, 13);
    xpu_onnx_input(&builder, "x", 4, (const int64_t[]){1, CHANNELS, -1, -1});
    XpuOnnx__TensorShapeProto *shape = builder.inputs.items[0]->type->tensor_type->shape;
    for (int i = 2; i < 4; i++) shape->dim[i]->dim_param = names[i];
    xpu_onnx_initializer(&builder, "pads",
                         &(xpu_tensor){.dtype = XPU_I64, .rank = 1, .dims = {8}, .data = (void *)(uintptr_t)pads}, 0);
    XpuOnnx__NodeProto *pad = xpu_onnx_node(&builder, "Pad", "a", "a", (const char *const[]){"x", "pads", NULL});
    xpu_onnx_string(&builder, pad, "mode", "reflect");
    add_conv(&builder, "a", "y", "y.w", CHANNELS, 3);
    xpu_onnx_output(&builder, "y", 4, (const int64_t[]){1, MIDDLE, -1, -1});
    shape = builder.outputs.items[0]->type->tensor_type->shape;
    for (int i = 2; i < 4; i++) shape->dim[i]->dim_param = i == 2 ? "YH" : "YW";
    return write_network_file(&builder, "reflect", xpu_temporary_folder(arena, diags), diags);
}

static void serve_reflection(const char *model) {
    static const int64_t sizes[][4] = {
        {1, CHANNELS, REFLECTED + 1, REFLECTED}, {1, CHANNELS, 4, 64}, {1, CHANNELS, 33, 20}};
    xpuc_options options = {.emit = "ir", .explain = "text", .check_passes = 1};
    xpuc_result compiled = {0};
    xpuc_error error = {0};
    CU_ASSERT_EQUAL(xpuc_compile_file(model, &options, &compiled, &error), 0);
    CU_ASSERT(compiled.explanation && !strstr(compiled.explanation, "host:"));
    CU_ASSERT(error.text && strstr(error.text, "note [shape-open] 'H' is at least 4, 'W' is at least 3\n"));
    xpuc_result_clear(&compiled);
    xpuc_error_clear(&error);
    xpu_device_check check;
    xpurt_tensor output;
    CU_ASSERT_FATAL(xpu_device_check_compile(&check, model, "standard", "fp32"));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) compare(&check, model, "standard", "fp32", sizes[i]);
    xpurt_tensor input = {"x", "float32", 4, {1, CHANNELS, REFLECTED, REFLECTED}, noise};
    CU_ASSERT_FALSE(xpu_device_check_run(&check, &input, 1, &output));
    CU_ASSERT_PTR_NOT_NULL(strstr(check.message, "[shape-range]"));
    xpu_device_check_close(&check);
}
static void reflection(void) {
    with_model(write_reflection, serve_reflection);
}

/* ---- bytes ---- */

enum { BYTE_CHANNELS = 4, WINDOW = 50 };

static void add_scheme(xpu_onnx_builder *builder) {
    xpu_onnx_initializer(builder, "scale", &(xpu_tensor){.dtype = XPU_F32, .data = &(float){0.005f}}, 0);
    xpu_onnx_initializer(builder, "zero", &(xpu_tensor){.dtype = XPU_U8, .data = &(uint8_t){117}}, 0);
}

static const char *add_to_bytes(xpu_onnx_builder *builder, const char *x, const char *y) {
    xpu_onnx_node(builder, "QuantizeLinear", y, y, (const char *const[]){x, "scale", "zero", NULL});
    return y;
}

static const char *add_to_floats(xpu_onnx_builder *builder, const char *x, const char *y) {
    xpu_onnx_node(builder, "DequantizeLinear", y, y, (const char *const[]){x, "scale", "zero", NULL});
    return y;
}

/* Means of bytes: of the image, and of maxima over windows that a core's memory does not hold. */
static const char *write_means(xpu_arena *arena, xpu_diags *diags) {
    static char *names[] = {"N", NULL, "H", "W"};
    xpu_onnx_builder builder;
    xpu_onnx_begin(&builder, arena, 13);
    xpu_onnx_input(&builder, "x", 4, (const int64_t[]){-1, BYTE_CHANNELS, -1, -1});
    XpuOnnx__TensorShapeProto *shape = builder.inputs.items[0]->type->tensor_type->shape;
    for (int i = 0; i < 4; i++) {
        if (names[i]) shape->dim[i]->dim_param = names[i];
    }
    add_scheme(&builder);
    const char *bytes = add_to_bytes(&builder, "x", "bytes"), *image = add_to_floats(&builder, bytes, "image");
    xpu_onnx_node(&builder, "GlobalAveragePool", "mean", "mean", (const char *const[]){image, NULL});
    add_to_floats(&builder, add_to_bytes(&builder, "mean", "q"), "y");
    XpuOnnx__NodeProto *pool = xpu_onnx_node(&builder, "MaxPool", "max", "max", (const char *const[]){bytes, NULL});
    xpu_onnx_ints(&builder, pool, "kernel_shape", (const int64_t[]){WINDOW, WINDOW}, 2);
    xpu_onnx_ints(&builder, pool, "strides", (const int64_t[]){3, 30}, 2);
    add_to_floats(&builder, "max", "maxima");
    xpu_onnx_node(&builder, "GlobalAveragePool", "high", "high", (const char *const[]){"maxima", NULL});
    add_to_floats(&builder, add_to_bytes(&builder, "high", "r"), "z");
    xpu_onnx_output(&builder, "y", 4, (const int64_t[]){-1, BYTE_CHANNELS, 1, 1});
    xpu_onnx_output(&builder, "z", 4, (const int64_t[]){-1, BYTE_CHANNELS, 1, 1});
    return write_network_file(&builder, "means", xpu_temporary_folder(arena, diags), diags);
}

/* On every chip, with open dims and with a range: all of it runs on the chip, with the bytes of a program for the
 * shape. */
static void serve_means(const char *model) {
    static const int64_t sizes[][4] = {{1, BYTE_CHANNELS, 50, 50},
                                       {2, BYTE_CHANNELS, 51, 60},
                                       {1, BYTE_CHANNELS, 64, 64},
                                       {1, BYTE_CHANNELS, 50, 120}};
    static const char *const chips[] = {"nano", "standard", "pro"}, *const ranges[] = {NULL, "x=N,4,50..70,W"};
    for (size_t i = 0; i < 6; i++) {
        const char *const shapes[] = {ranges[i / 3], NULL};
        xpuc_options options = {.emit = "c", .chip = chips[i % 3], .explain = "text", .shapes = shapes};
        xpuc_result compiled = {0};
        xpuc_error error = {0};
        CU_ASSERT_EQUAL(xpuc_compile_file(model, &options, &compiled, &error), 0);
        CU_ASSERT(compiled.explanation && !strstr(compiled.explanation, "host:"));
        xpuc_result_clear(&compiled);
        xpuc_error_clear(&error);
        xpu_device_check check;
        int good = xpu_device_check_compile_shape(&check, model, chips[i % 3], "auto", ranges[i / 3]);
        if (!good) printf("%s\n", check.message);
        CU_ASSERT_FATAL(good);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            compare(&check, model, chips[i % 3], "auto", sizes[s]);
        xpu_device_check_close(&check);
    }
}
static void means(void) {
    with_model(write_means, serve_means);
}

/* ---- a dim of one value ---- */

/* nano with 1 MiB of GM. */
static const char *write_chip(xpu_arena *arena, xpu_diags *diags) {
    static const char bytes[] = "268435456";
    size_t length;
    char *text = xpu_file_read_all(arena, "configs/chip/nano.json", 1 << 16, &length, diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    char *gm = strstr(text, bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(gm);
    memcpy(gm, "  1048576", sizeof bytes - 1);
    const char *path = xpu_path_join(arena, xpu_temporary_folder(arena, diags), "tiny.json");
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(arena, path, text, length, diags), XPU_OK);
    return path;
}

/* A maximum over images of which GM holds one: N is 1, and still a symbol. */
static const char *write_large_image(xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder builder;
    xpu_onnx_begin(&builder, arena, 13);
    xpu_onnx_input(&builder, "x", 4, (const int64_t[]){-1, 1, HEIGHT, WIDTH});
    XpuOnnx__NodeProto *pool = xpu_onnx_node(&builder, "MaxPool", "y", "y", (const char *const[]){"x", NULL});
    xpu_onnx_ints(&builder, pool, "kernel_shape", (const int64_t[]){2, 2}, 2);
    xpu_onnx_ints(&builder, pool, "strides", (const int64_t[]){100, 100}, 2);
    xpu_onnx_output(&builder, "y", 4, (const int64_t[]){-1, 1, HEIGHT / 100, WIDTH / 100});
    return write_network_file(&builder, "large", xpu_temporary_folder(arena, diags), diags);
}

static void one_shape(void) {
    BENCH_OPEN(b);
    xpu_device_check check;
    const char *chip = write_chip(b.arena, &b.diags), *model = write_large_image(b.arena, &b.diags);
    int good = xpu_device_check_compile(&check, model, chip, "fp32");
    if (!good) printf("%s\n", check.message);
    CU_ASSERT_FATAL(good);
    float *image = XPU_NEW_ARRAY(b.arena, float, 2 * HEIGHT * WIDTH);
    xpurt_tensor input = {"x", "float32", 4, {1, 1, HEIGHT, WIDTH}, image}, output;
    for (int i = 0; i < HEIGHT * WIDTH; i++) image[i] = (float)(i % 1009);
    good = xpu_device_check_layers(&check, &input, 1, &output);
    if (!good) printf("%s\n", check.message);
    CU_ASSERT(good);
    xpurt_tensor_clear(&output);
    input.dims[0] = 2;
    CU_ASSERT_FALSE(xpu_device_check_run(&check, &input, 1, &output));
    CU_ASSERT_PTR_NOT_NULL(strstr(check.message, "[input-shape]"));
    xpu_device_check_close(&check);
    bench_close(&b);
}

XPU_TEST_MAIN("open dims", {"one shape", one_shape}, {"every shape", every_shape}, {"range too low", range_too_low},
              {"reflection", reflection}, {"means and maxima of bytes", means})
