/*
 * Guards: a network of two pictures whose sizes have names of their own, and have to agree, and whose last matrix fixes
 * the number of pixels. One program runs every shape that fulfils the guards, with the bytes of a program for that
 * shape; others are refused with the node's name.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/bench.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"
#include "tools/common/inputs.h"

enum { CHANNELS = 2, MIDDLE = 4, PIXELS = 64, CLASSES = 10, MOST = 2 * MIDDLE * PIXELS * CLASSES };

static float noise[MOST];

static void add_floats(xpu_onnx_builder *builder, const char *name, int rank, const int64_t *dims) {
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = rank, .data = noise};
    for (int i = 0; i < rank; i++) tensor.dims[i] = dims[i];
    xpu_onnx_initializer(builder, name, &tensor, 0);
}

static void add_node(xpu_onnx_builder *builder, const char *op, const char *y, const char *a, const char *b) {
    xpu_onnx_node(builder, op, y, y, (const char *const[]){a, b, NULL});
}

static void add_picture(xpu_onnx_builder *builder, const char *name, char *height, char *width) {
    xpu_onnx_input(builder, name, 4, (const int64_t[]){1, CHANNELS, -1, -1});
    XpuOnnx__TensorShapeProto *shape = builder->inputs.items[builder->inputs.count - 1]->type->tensor_type->shape;
    shape->dim[2]->dim_param = height;
    shape->dim[3]->dim_param = width;
}

static void add_window(xpu_onnx_builder *builder, const char *op, const char *y, const char *x, const char *w,
                       int64_t kernel, int64_t stride, int64_t pad) {
    XpuOnnx__NodeProto *node = xpu_onnx_node(builder, op, y, y, (const char *const[]){x, w, NULL});
    xpu_onnx_ints(builder, node, "kernel_shape", (const int64_t[]){kernel, kernel}, 2);
    xpu_onnx_ints(builder, node, "strides", (const int64_t[]){stride, stride}, 2);
    xpu_onnx_ints(builder, node, "pads", (const int64_t[]){pad, pad, pad, pad}, 4);
}

/* A convolution of each picture; their sum, and the second one beside it; the largest of 4 x 4; a matrix that wants 64
 * pixels. And the sum of both, quantised. */
static const char *write_model(xpu_arena *arena, xpu_diags *diags) {
    static float scale[] = {0.0625f};
    static uint8_t zero[] = {128};
    xpu_onnx_builder b;
    xpu_onnx_begin(&b, arena, 13);
    add_picture(&b, "x", "H", "W");
    add_picture(&b, "z", "P", "Q");
    add_floats(&b, "w", 4, (const int64_t[]){MIDDLE, CHANNELS, 3, 3});
    add_floats(&b, "m", 2, (const int64_t[]){2 * MIDDLE * PIXELS, CLASSES});
    xpu_onnx_initializer(&b, "scale", &(xpu_tensor){.dtype = XPU_F32, .data = scale}, 0);
    xpu_onnx_initializer(&b, "zero", &(xpu_tensor){.dtype = XPU_U8, .data = zero}, 0);
    add_window(&b, "Conv", "cx", "x", "w", 3, 1, 1);
    add_window(&b, "Conv", "cz", "z", "w", 3, 1, 1);
    xpu_onnx_node(&b, "QuantizeLinear", "qx", "qx", (const char *const[]){"cx", "scale", "zero", NULL});
    xpu_onnx_node(&b, "QuantizeLinear", "qz", "qz", (const char *const[]){"cz", "scale", "zero", NULL});
    xpu_onnx_domain(
        &b,
        xpu_onnx_node(&b, "QLinearAdd", "qsum", "qsum",
                      (const char *const[]){"qx", "scale", "zero", "qz", "scale", "zero", "scale", "zero", NULL}),
        "com.microsoft");
    xpu_onnx_node(&b, "DequantizeLinear", "bytes", "bytes", (const char *const[]){"qsum", "scale", "zero", NULL});
    add_node(&b, "Add", "sum", "cx", "cz");
    XpuOnnx__NodeProto *joined = xpu_onnx_node(&b, "Concat", "both", "both", (const char *const[]){"sum", "cz", NULL});
    xpu_onnx_int(&b, joined, "axis", 1);
    add_window(&b, "MaxPool", "largest", "both", NULL, 4, 4, 0);
    xpu_onnx_node(&b, "Flatten", "flat", "flat", (const char *const[]){"largest", NULL});
    add_node(&b, "MatMul", "y", "flat", "m");
    xpu_onnx_output(&b, "y", 2, (const int64_t[]){1, CLASSES});
    xpu_onnx_output(&b, "bytes", 4, (const int64_t[]){1, MIDDLE, -1, -1});
    return write_network_file(&b, "guards", xpu_temporary_folder(arena, diags), diags);
}

typedef struct {
    int64_t height, width, height_z, width_z;
} sizes;

static void make_inputs(const sizes *s, xpurt_tensor *inputs) {
    inputs[0] = (xpurt_tensor){"x", "float32", 4, {1, CHANNELS, s->height, s->width}, noise};
    inputs[1] = (xpurt_tensor){"z", "float32", 4, {1, CHANNELS, s->height_z, s->width_z}, noise + 7};
}

static int same(const xpurt_tensor *a, const xpurt_tensor *b) {
    xpu_tensor left = xpu_from_runtime(a), right = xpu_from_runtime(b);
    size_t bytes = xpu_tensor_bytes(&left);
    return bytes == xpu_tensor_bytes(&right) && memcmp(left.data, right.data, bytes) == 0;
}

/* Equal to a program for this shape, whose layers on func are ref's. */
static void accept(xpu_device_check *check, const char *model, const char *precision, const sizes *s) {
    char shape[128];
    xpu_device_check fixed;
    xpurt_tensor inputs[2], got[2] = {0}, wanted[2] = {0};
    make_inputs(s, inputs);
    snprintf(shape, sizeof shape, "x=1,%d,%d,%d z=1,%d,%d,%d", CHANNELS, (int)s->height, (int)s->width, CHANNELS,
             (int)s->height_z, (int)s->width_z);
    int good = xpu_device_check_compile_shape(&fixed, model, "standard", precision, shape);
    if (!good) printf("%s\n", fixed.message);
    CU_ASSERT_FATAL(good);
    good = xpu_device_check_layers(&fixed, inputs, 2, wanted) && xpu_device_check_layers(check, inputs, 2, got);
    if (!good) printf("%s %s\n", fixed.message, check->message);
    CU_ASSERT(good && check->layers > 4);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT(good && same(&got[i], &wanted[i]));
        xpurt_tensor_clear(&got[i]);
        xpurt_tensor_clear(&wanted[i]);
    }
    xpu_device_check_close(&fixed);
}

static void refuse(xpu_device_check *check, const sizes *s, const char *message) {
    xpurt_tensor inputs[2], outputs[2];
    make_inputs(s, inputs);
    CU_ASSERT_FALSE(xpu_device_check_run(check, inputs, 2, outputs));
    CU_ASSERT_PTR_NOT_NULL(strstr(check->message, message));
    if (!strstr(check->message, message)) printf("%s\n", check->message);
}

static void check_model(const char *model, const char *precision) {
    static const sizes good[] = {{32, 32, 32, 32}, {35, 33, 35, 33}, {16, 67, 16, 67}, {64, 16, 64, 16}};
    xpu_device_check check;
    int compiled = xpu_device_check_compile(&check, model, "standard", precision);
    if (!compiled) printf("%s\n", check.message);
    CU_ASSERT_FATAL(compiled);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) accept(&check, model, precision, &good[i]);
    refuse(&check, &(sizes){32, 32, 33, 32},
           "error [shape-guard] node 'qsum' (QLinearAdd-1, #4): it cannot run with shape x=1,2,32,32, z=1,2,33,32\n"
           "  why: it needs H = P; they are 32 and 33\n"
           "  hint: choose a shape for which they are equal");
    refuse(&check, &(sizes){32, 32, 32, 36}, "it needs W = Q; they are 32 and 36");
    refuse(&check, &(sizes){32, 36, 32, 36}, "node 'y' (MatMul-13, #10): it cannot run");
    refuse(&check, &(sizes){32, 36, 32, 36}, "they are 576 and 512");
    xpu_device_check_close(&check);
}

static void network(void) {
    BENCH_OPEN(b);
    for (int i = 0; i < MOST; i++) noise[i] = (float)(i * 37 % 101) / 101 - 0.5f;
    const char *model = write_model(b.arena, &b.diags);
    check_model(model, "fp32");
    check_model(model, "auto");
    bench_close(&b);
}

/* Sizes that cannot agree, or agree for one value only, are refused when the model is compiled. */
static void ranges(void) {
    static const char *const shapes[] = {"x=1,2,32..64,32 z=1,2,65..99,32", "x=1,2,32,32..64 z=1,2,32,40",
                                         "x=1,2,32..64:2,32 z=1,2,33..65:2,32"};
    BENCH_OPEN(b);
    const char *model = write_model(b.arena, &b.diags);
    for (int i = 0; i < 3; i++) {
        xpu_device_check check;
        CU_ASSERT_FALSE(xpu_device_check_compile_shape(&check, model, "standard", "fp32", shapes[i]));
        CU_ASSERT_PTR_NOT_NULL(strstr(check.message, "error [shape-broadcast] node 'qsum' (QLinearAdd-1, #4)"));
        xpu_device_check_close(&check);
    }
    bench_close(&b);
}

/* A size that a branch chooses has to be that of an input, which is open: the run finds whether it is. */
static void branches(void) {
    static const struct {
        uint8_t then;
        int64_t rows;
        int good;
    } runs[] = {{1, 12, 1}, {0, 2, 1}, {1, 2, 0}, {1, 11, 0}, {0, 12, 0}};
    xpu_device_check check;
    int compiled =
        xpu_device_check_compile_shape(&check, "tests/control/if_sizes_guarded.onnx", "nano", "fp32", "z=2..12,3");
    if (!compiled) printf("%s\n", check.message);
    CU_ASSERT_FATAL(compiled);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        uint8_t then = runs[i].then;
        const xpurt_tensor inputs[] = {{"c", "bool", 0, {0}, &then},
                                       {"x", "float32", 2, {4, 3}, noise},
                                       {"z", "float32", 2, {runs[i].rows, 3}, noise}};
        xpurt_tensor y = {0};
        int good = xpu_device_check_run(&check, inputs, 3, &y);
        CU_ASSERT_EQUAL(good, runs[i].good);
        CU_ASSERT(good || strstr(check.message, "error [value-guard] node 'g_add2' (Add-14, #1)"));
        CU_ASSERT(!good || y.dims[0] == runs[i].rows);
        if (good != runs[i].good) printf("%s\n", check.message);
        xpurt_tensor_clear(&y);
    }
    xpu_device_check_close(&check);
}

XPU_TEST_MAIN("guards", {"a network", network}, {"ranges", ranges}, {"branches", branches})
