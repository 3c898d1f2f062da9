/*
 * Networks of odd shapes, and networks with nodes that the target's rules refuse: they compile, every layer on func
 * equals ref bit for bit on all chips, and what runs on the host is explained with its rule and a hint.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/bench.h"
#include "tests/unit/unit.h"
#include "xpuc/include/xpuc.h"

enum { FREE_DIM = 3 }; /* -1 in a shape is the free dimension N, bound to FREE_DIM */

typedef struct {
    xpu_onnx_builder builder;
    unsigned made; /* values so far, for names */
} network;

#define DIMS(...)        (int64_t[]){__VA_ARGS__}, (int)(sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t))
#define NODE(n, op, ...) add_node(n, op, (const char *const[]){__VA_ARGS__, NULL})

static float random_float(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)(int32_t)(*state >> 8) / (float)(1 << 23) - 1.0f;
}

static const char *new_name(network *n, const char *what) {
    return xpu_printf(n->builder.arena, "%s%u", what, ++n->made);
}

static const char *input(network *n, const int64_t *dims, int rank) {
    const char *name = new_name(n, "x");
    xpu_onnx_input(&n->builder, name, rank, dims);
    return name;
}

static const char *constant(network *n, const int64_t *dims, int rank) {
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = rank};
    uint32_t state = ++n->made;
    for (int i = 0; i < rank; i++) tensor.dims[i] = dims[i];
    float *data = xpu_alloc(n->builder.arena, xpu_tensor_bytes(&tensor));
    for (int64_t i = 0; i < xpu_tensor_count(&tensor); i++) data[i] = random_float(&state);
    tensor.data = data;
    const char *name = new_name(n, "c");
    xpu_onnx_initializer(&n->builder, name, &tensor, 0);
    return name;
}

static const char *integers(network *n, const int64_t *values, int count) {
    xpu_tensor tensor = {.dtype = XPU_I64, .rank = 1, .dims = {count}, .data = (void *)values};
    const char *name = new_name(n, "c");
    xpu_onnx_initializer(&n->builder, name, &tensor, 0);
    return name;
}

/* A node named like its result: "Conv3". */
static XpuOnnx__NodeProto *add_node(network *n, const char *op, const char *const *inputs) {
    const char *name = new_name(n, op);
    return xpu_onnx_node(&n->builder, op, name, name, inputs);
}

static const char *result(const XpuOnnx__NodeProto *node) {
    return node->output[0];
}

/* Makes the node's result an output too; its shape is left to inference. */
static const char *output(network *n, const XpuOnnx__NodeProto *node) {
    xpu_onnx_output(&n->builder, node->output[0], 0, NULL);
    n->builder.outputs.items[n->builder.outputs.count - 1]->type->tensor_type->shape = NULL;
    return node->output[0];
}

static void ints(network *n, XpuOnnx__NodeProto *node, const char *name, const int64_t *values, int count) {
    xpu_onnx_ints(&n->builder, node, name, values, (size_t)count);
}

/* ---- the networks ---- */

/* Nodes that a rule of xpu-sim refuses, with device layers before and behind them. */
static void refused(network *n) {
    const char *x = input(n, DIMS(2, 6, 7, 5));
    const char *computed = output(n, NODE(n, "Conv", x, input(n, DIMS(4, 6, 3, 3))));
    output(n, NODE(n, "Conv", computed, constant(n, DIMS(4, 4, 1, 1))));
    output(n, NODE(n, "MatMul", input(n, DIMS(2, 3, 4, 5)), input(n, DIMS(1, 3, 5, 6))));
    const char *deep = input(n, DIMS(2, 3, 1, 2, 2, 2, 3));
    XpuOnnx__NodeProto *turned = NODE(n, "Transpose", deep);
    ints(n, turned, "perm", DIMS(6, 5, 4, 3, 2, 1, 0));
    output(n, NODE(n, "Relu", output(n, turned)));
    output(n, NODE(n, "Identity", deep));
    const char *sum = output(n, NODE(n, "Add", input(n, DIMS(2, 3, 2, 3, 2, 3)), input(n, DIMS(1, 3, 1, 3, 1, 3))));
    output(n, NODE(n, "Sigmoid", sum));
    XpuOnnx__NodeProto *pad = NODE(n, "Pad", input(n, DIMS(3, 4)), integers(n, DIMS(-1, 1, 0, 2)));
    xpu_onnx_string(&n->builder, pad, "mode", "edge");
    output(n, NODE(n, "MatMul", output(n, pad), constant(n, DIMS(7, 5))));
}

/* Results that are used inside and are outputs; constants, inputs and copies as outputs; vectors as matrices. */
static void shared(network *n) {
    const char *x = input(n, DIMS(-1, 6, 7, 5));
    xpu_onnx_output(&n->builder, x, 4, (int64_t[]){-1, 6, 7, 5});
    const char *k = constant(n, DIMS(3, 4));
    xpu_onnx_output(&n->builder, k, 2, (int64_t[]){3, 4});
    output(n, NODE(n, "Relu", k));
    output(n, NODE(n, "Identity", x));
    const char *c = output(n, NODE(n, "Conv", x, constant(n, DIMS(8, 6, 1, 1)), constant(n, DIMS(8))));
    const char *d = output(n, NODE(n, "Conv", output(n, NODE(n, "Relu", c)), constant(n, DIMS(8, 8, 1, 1))));
    const char *a = output(n, NODE(n, "Relu", output(n, NODE(n, "Add", d, c))));
    output(n, NODE(n, "MatMul", a, constant(n, DIMS(5))));
    output(n, NODE(n, "MatMul", constant(n, DIMS(7)), a));
    output(n, NODE(n, "MatMul", constant(n, DIMS(1, 1, 3, 7)), a));
    output(n, NODE(n, "Flatten", a));
    XpuOnnx__NodeProto *softmax = NODE(n, "Softmax", a), *concat = NODE(n, "Concat", a, c);
    xpu_onnx_int(&n->builder, softmax, "axis", 2);
    xpu_onnx_int(&n->builder, concat, "axis", 3);
    output(n, NODE(n, "Conv", result(softmax), constant(n, DIMS(4, 8, 3, 3))));
    output(n, NODE(n, "Conv", output(n, concat), constant(n, DIMS(4, 8, 3, 3))));
    XpuOnnx__NodeProto *pad = NODE(n, "Pad", a, integers(n, DIMS(0, 0, 6, 2, 0, 0, 2, 4)));
    xpu_onnx_string(&n->builder, pad, "mode", "reflect");
    output(n, NODE(n, "Conv", result(pad), constant(n, DIMS(4, 8, 3, 3))));
}

static const char *scalar(network *n, xpu_dtype dtype, void *value) {
    const xpu_tensor tensor = {.dtype = dtype, .data = value};
    const char *name = new_name(n, "c");
    xpu_onnx_initializer(&n->builder, name, &tensor, 0);
    return name;
}

static void add_byte_pool(network *n, const int64_t *dims, int rank, int64_t kernel, int64_t stride) {
    const char *scale = scalar(n, XPU_F32, &(float){0.01f}), *zero = scalar(n, XPU_U8, &(uint8_t){128});
    XpuOnnx__NodeProto *pool = NODE(n, "MaxPool", result(NODE(n, "QuantizeLinear", input(n, dims, rank), scale, zero)));
    ints(n, pool, "kernel_shape", DIMS(kernel, kernel));
    ints(n, pool, "strides", DIMS(stride, stride));
    output(n, NODE(n, "DequantizeLinear", result(pool), scale, zero));
}

/* Pools over bytes that a core's local memory has just room for, and those that it has no room for, with their stride
 * or at all; of a whole image too. */
static void byte_pools(network *n) {
    for (int64_t kernel = 8; kernel < 14; kernel++) {
        add_byte_pool(n, DIMS(1, 16, 40, 40), kernel, kernel);
        add_byte_pool(n, DIMS(1, 4, 13, 13), kernel, kernel);
    }
    add_byte_pool(n, DIMS(1, 4, 130, 130), 41, 41);
    add_byte_pool(n, DIMS(1, 4, 9, 300), 3, 100);
    add_byte_pool(n, DIMS(2, 24, 100, 100), 50, 50);
    add_byte_pool(n, DIMS(2, 100, 60, 60), 60, 1);
    add_byte_pool(n, DIMS(1, 8, 260, 259), 255, 3);
}

static XpuOnnx__NodeProto *conv(network *n, const int64_t *x, const int64_t *w, int rank) {
    return NODE(n, "Conv", input(n, x, rank), constant(n, w, rank), constant(n, w, 1));
}

/* Kernels larger than the image, pads larger than the kernel, one pixel, many channels, long rows and long sums. */
static void windows(network *n) {
    XpuOnnx__NodeProto *node = conv(n, (int64_t[]){1, 3, 20, 40}, (int64_t[]){5, 3, 11, 31}, 4);
    ints(n, node, "pads", DIMS(5, 15, 5, 15));
    output(n, node);
    node = conv(n, (int64_t[]){1, 4, 9, 5}, (int64_t[]){6, 4, 3, 3}, 4);
    ints(n, node, "pads", DIMS(40, 3, 0, 50));
    ints(n, node, "strides", DIMS(7, 11));
    output(n, node);
    node = conv(n, (int64_t[]){1, 2, 4, 600}, (int64_t[]){3, 2, 1, 7}, 4);
    ints(n, node, "dilations", DIMS(1, 9));
    ints(n, node, "pads", DIMS(0, 2, 0, 40));
    output(n, node);
    node = conv(n, (int64_t[]){3, 34, 4, 4}, (int64_t[]){66, 17, 3, 3}, 4);
    xpu_onnx_int(&n->builder, node, "group", 2);
    ints(n, node, "dilations", DIMS(2, 1));
    ints(n, node, "pads", DIMS(3, 2, 1, 0));
    output(n, node);
    output(n, conv(n, (int64_t[]){2, 300, 1, 1}, (int64_t[]){260, 300, 1, 1}, 4));
    output(n, conv(n, (int64_t[]){1, 2, 3, 700}, (int64_t[]){2, 2, 3, 600}, 4));
    node = NODE(n, "MaxPool", input(n, DIMS(2, 70, 13, 11)));
    ints(n, node, "kernel_shape", DIMS(3, 5));
    ints(n, node, "strides", DIMS(2, 3));
    ints(n, node, "pads", DIMS(1, 2, 1, 2));
    xpu_onnx_int(&n->builder, node, "ceil_mode", 1);
    output(n, node);
    node = NODE(n, "MaxPool", input(n, DIMS(1, 16, 8, 8))); /* its rows in LM are over 2^32 floats */
    ints(n, node, "kernel_shape", DIMS(65534, 4096));
    ints(n, node, "pads", DIMS(32764, 2045, 32764, 2045));
    output(n, node);
    const int64_t depth = (1 << 20) + 4;
    output(n, NODE(n, "MatMul", input(n, DIMS(1, depth)), constant(n, DIMS(depth, 1))));
}

/* Clips of depthwise results with their limits in any order, before a layer that takes the largest magnitude of them.
 */
static void clips(network *n) {
    static const float limits[][2] = {{0, 6}, {0, -1}, {3, -3}, {0.0f, -0.0f}, {-0.0f, 0.0f}, {5, 2}, {-4, -5}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        XpuOnnx__NodeProto *node = conv(n, (int64_t[]){1, 8, 9, 8}, (int64_t[]){8, 1, 3, 3}, 4);
        xpu_onnx_int(&n->builder, node, "group", 8);
        ints(n, node, "pads", DIMS(1, 1, 1, 1));
        float low = limits[i][0], high = limits[i][1];
        XpuOnnx__NodeProto *clip = NODE(n, "Clip", result(node), scalar(n, XPU_F32, &low), scalar(n, XPU_F32, &high));
        output(n, NODE(n, "Conv", result(clip), constant(n, DIMS(4, 8, 1, 1))));
    }
}

/* ---- running them ---- */

static void make_input(const xpurt_tensor *info, xpurt_tensor *tensor, xpu_arena *arena) {
    size_t count = 1;
    uint32_t state = 7;
    *tensor = *info;
    for (int i = 0; i < info->rank; i++) {
        if (tensor->dims[i] < 0) tensor->dims[i] = FREE_DIM;
        count *= (size_t)tensor->dims[i];
    }
    float *data = XPU_NEW_ARRAY(arena, float, count);
    for (size_t i = 0; i < count; i++) data[i] = random_float(&state);
    tensor->data = data;
}

static void compare_layers(xpu_device_check *check, const char *what, xpu_arena *arena) {
    uint32_t count = xpurt_input_count(check->program), results = xpurt_output_count(check->program);
    xpurt_tensor *inputs = XPU_NEW_ARRAY(arena, xpurt_tensor, count);
    xpurt_tensor *outputs = XPU_NEW_ARRAY(arena, xpurt_tensor, results);
    for (uint32_t i = 0; i < count; i++) {
        xpurt_tensor info;
        xpurt_input(check->program, i, &info);
        make_input(&info, &inputs[i], arena);
    }
    int equal = xpu_device_check_layers(check, inputs, count, outputs);
    if (!equal) printf("%s: %s\n", what, check->message);
    CU_ASSERT(equal);
    CU_ASSERT(check->layers >= results);
    for (uint32_t i = 0; i < results; i++) xpurt_tensor_clear(&outputs[i]);
}

/* Builds a network, writes it to a file, returns its path; NULL after a failure. */
static const char *write_network(void (*build)(network *), xpu_arena *arena, xpu_diags *diags) {
    network n = {0};
    size_t length;
    xpu_onnx_begin(&n.builder, arena, 13);
    build(&n);
    void *bytes = xpu_onnx_pack(&n.builder, "odd", &length);
    const char *folder = xpu_temporary_folder(arena, diags);
    const char *path = folder ? xpu_path_join(arena, folder, "odd.onnx") : NULL;
    return path && xpu_file_write(arena, path, bytes, length, diags) == XPU_OK ? path : NULL;
}

static void run_network(void (*build)(network *), xpu_arena *arena, xpu_diags *diags) {
    static const struct {
        const char *chip, *precision;
    } runs[] = {{"nano", "fp32"}, {"standard", "int16"}, {"pro", "fp32"}, {"nano", "int16"}};
    const char *path = write_network(build, arena, diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(path);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const char *what = xpu_printf(arena, "%s %s", runs[i].chip, runs[i].precision);
        xpu_device_check check;
        int good = xpu_device_check_compile(&check, path, runs[i].chip, runs[i].precision);
        if (!good) printf("%s: %s\n", what, check.message);
        CU_ASSERT(good);
        if (!good) continue;
        compare_layers(&check, what, arena);
        xpu_device_check_close(&check);
    }
}

/* Whether the explanation has a line of this operator on the host by this rule, and the hint right behind it. */
static int explains(const char *text, const char *op, const char *rule, const char *hint) {
    const char *reason = strstr(text, rule), *line = reason;
    if (!reason) return 0;
    while (line > text && line[-1] != '\n') line--;
    const char *end = strchr(reason, '\n');
    return strncmp(line + strcspn(line, " ") + strspn(line + strcspn(line, " "), " "), op, strlen(op)) == 0 && end &&
           strncmp(end + 1, hint, strlen(hint)) == 0;
}

static void check_explanation(void (*build)(network *), xpu_arena *arena, xpu_diags *diags) {
    static const struct {
        const char *op, *rule, *hint;
    } nodes[] = {
        {"Conv ", "host: [constant-weights] ", "     hint: export the model with its weights as initialisers\n"},
        {"Transpose ", "host: [move-rank] ", "     hint: merge dimensions with a reshape before\n"},
        {"Add ", "host: [chain-loops] ", "     hint: expand broadcast operands in the model\n"},
        {"Pad ", "host: [pad-inside] ", "     hint: split cropping and padding in the model, or give the symbols"},
    };
    const char *path = write_network(build, arena, diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(path);
    xpuc_options options = {.emit = "c", .precision = "int16", .explain = "text"};
    xpuc_result compiled = {0};
    xpuc_error error = {0};
    CU_ASSERT_EQUAL_FATAL(xpuc_compile_file(path, &options, &compiled, &error), 0);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        int good = explains(compiled.explanation, nodes[i].op, nodes[i].rule, nodes[i].hint);
        if (!good) printf("%s\n%s\n", nodes[i].rule, compiled.explanation);
        CU_ASSERT(good);
    }
    xpuc_result_clear(&compiled);
    xpuc_error_clear(&error);
}

/* A product by a vector becomes two nodes; its precision is that of the product. */
static void check_vectors(void (*build)(network *), xpu_arena *arena, xpu_diags *diags) {
    const char *path = write_network(build, arena, diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(path);
    xpuc_options options = {.emit = "c", .precision = "int16", .explain = "text"};
    xpuc_result compiled = {0};
    xpuc_error error = {0};
    CU_ASSERT_EQUAL_FATAL(xpuc_compile_file(path, &options, &compiled, &error), 0);
    const char *first = strstr(compiled.explanation, " MatMul ");
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    const char *precision = strstr(first, " int16 "), *end = strchr(first, '\n');
    if (!precision || precision >= end) printf("%s\n", compiled.explanation);
    CU_ASSERT(precision && precision < end);
    xpuc_result_clear(&compiled);
    xpuc_error_clear(&error);
}

/* Everything of it runs on the chip, in kernels for windows of each size. */
static void check_on_chip(void (*build)(network *), xpu_arena *arena, xpu_diags *diags) {
    const char *path = write_network(build, arena, diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(path);
    xpuc_options options = {.emit = "c", .chip = "nano", .precision = "int16", .explain = "text"};
    xpuc_result compiled = {0};
    xpuc_error error = {0};
    CU_ASSERT_EQUAL_FATAL(xpuc_compile_file(path, &options, &compiled, &error), 0);
    CU_ASSERT_PTR_NULL(strstr(compiled.explanation, "host:"));
    const char *text = xpu_printf(arena, "%.*s", (int)compiled.size, (const char *)compiled.bytes);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "return xpu_max_pool_i8("));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "return xpu_large_max_pool_i8("));
    xpuc_result_clear(&compiled);
    xpuc_error_clear(&error);
}

static void with_arena(void (*run)(void (*build)(network *), xpu_arena *, xpu_diags *), void (*build)(network *)) {
    BENCH_OPEN(b);
    run(build, b.arena, &b.diags);
    CU_ASSERT_EQUAL(b.diags.errors, 0);
    bench_close(&b);
}

static void host_regions(void) {
    with_arena(run_network, refused);
}
static void shared_results(void) {
    with_arena(run_network, shared);
}
static void odd_windows(void) {
    with_arena(run_network, windows);
}
static void clips_in_any_order(void) {
    with_arena(run_network, clips);
}
static void pools_of_bytes(void) {
    with_arena(run_network, byte_pools);
}
static void pools_of_bytes_on_chip(void) {
    with_arena(check_on_chip, byte_pools);
}
static void host_explained(void) {
    with_arena(check_explanation, refused);
}
static void vectors_explained(void) {
    with_arena(check_vectors, shared);
}

XPU_TEST_MAIN("odd networks", {"host regions", host_regions}, {"shared results", shared_results},
              {"odd windows", odd_windows}, {"clips in any order", clips_in_any_order},
              {"pools of bytes", pools_of_bytes}, {"pools of bytes run on the chip", pools_of_bytes_on_chip},
              {"host regions explained", host_explained}, {"products by vectors explained", vectors_explained})
