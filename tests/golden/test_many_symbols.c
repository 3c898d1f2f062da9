/*
 * A program with more sizes that only the run knows than a word has bits, and with a branch and more layers than have a
 * function each: func against the graph on the host, layer by layer, and against a plain sum.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/bench.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { ELEMENTS = 200, SIZES = 170, TURNED = 400 };

static void add_scalar(xpu_onnx_builder *b, const char *name, float value) {
    xpu_onnx_initializer(b, name, &(xpu_tensor){.dtype = XPU_F32, .data = &value}, 0);
}

static void add_node(xpu_onnx_builder *b, const char *op, const char *x, const char *y, const char *result) {
    xpu_onnx_node(b, op, result, result, (const char *const[]){x, y, NULL});
}

/* A branch: x softmaxed `times` times, and its sum. */
static void add_branch(xpu_onnx_builder *b, XpuOnnx__NodeProto *node, const char *attribute, int times) {
    xpu_onnx_builder branch;
    char last[16] = "x", next[16];
    xpu_onnx_begin(&branch, b->arena, 13);
    for (int i = 0; i < times; i++) {
        snprintf(next, sizeof next, "%s%d", attribute, i);
        add_node(&branch, "Softmax", last, NULL, next);
        memcpy(last, next, sizeof last);
    }
    XpuOnnx__NodeProto *sum =
        xpu_onnx_node(&branch, "ReduceSum", attribute, attribute, (const char *const[]){last, NULL});
    xpu_onnx_int(&branch, sum, "keepdims", 0);
    xpu_onnx_output(&branch, attribute, 0, NULL);
    xpu_onnx_graph(b, node, attribute, &branch);
}

/* y: the sum over i of the places of what is larger than i, and what the branch gives: 1 where x[0] is above 100, else
 * the sum of x. */
static const char *write_model(bench *test) {
    xpu_onnx_builder b;
    const char *terms[SIZES + 2] = {NULL};
    xpu_onnx_begin(&b, test->arena, 13);
    xpu_onnx_input(&b, "x", 1, (const int64_t[]){ELEMENTS});
    xpu_tensor zero = {.dtype = XPU_I64, .data = &(int64_t){0}};
    xpu_onnx_initializer(&b, "zero", &zero, 0);
    add_scalar(&b, "hundred", 100);
    add_node(&b, "Gather", "x", "zero", "first");
    add_node(&b, "Greater", "first", "hundred", "condition");
    XpuOnnx__NodeProto *branches = xpu_onnx_node(&b, "If", "If", "decided", (const char *const[]){"condition", NULL});
    add_branch(&b, branches, "then_branch", TURNED);
    add_branch(&b, branches, "else_branch", 0);
    for (int i = 0; i < SIZES; i++) {
        char names[5][16];
        for (int k = 0; k < 5; k++) snprintf(names[k], sizeof names[k], "%c%d", "cgnfs"[k], i);
        add_scalar(&b, names[0], (float)i);
        add_node(&b, "Greater", "x", names[0], names[1]);
        add_node(&b, "NonZero", names[1], NULL, names[2]);
        XpuOnnx__NodeProto *cast = xpu_onnx_node(&b, "Cast", names[3], names[3], (const char *const[]){names[2], NULL});
        xpu_onnx_int(&b, cast, "to", XPU_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
        XpuOnnx__NodeProto *sum =
            xpu_onnx_node(&b, "ReduceSum", names[4], names[4], (const char *const[]){names[3], NULL});
        xpu_onnx_int(&b, sum, "keepdims", 0);
        terms[i] = xpu_strdup(test->arena, names[4]);
    }
    terms[SIZES] = "decided";
    xpu_onnx_node(&b, "Sum", "y", "y", terms);
    xpu_onnx_output(&b, "y", 0, NULL);
    return write_network_file(&b, "sizes", test->folder, &test->diags);
}

/* Whole numbers below 2^24: float32 holds every sum. */
static void run(xpu_device_check *check, float first) {
    float x[ELEMENTS], total = 0;
    double places = 0;
    for (int i = 0; i < ELEMENTS; i++) {
        x[i] = i ? (float)(i * 77 % ELEMENTS) : first;
        places += i * (double)(x[i] < SIZES ? x[i] : SIZES);
        total += x[i];
    }
    xpurt_tensor input = {"x", "float32", 1, {ELEMENTS}, x}, y = {0};
    int good = xpu_device_check_layers(check, &input, 1, &y);
    CU_ASSERT(good);
    if (!good) printf("%s\n", check->message);
    if (good) CU_ASSERT_DOUBLE_EQUAL((double)*(float *)y.data, places + (first > 100 ? 1 : (double)total), 0.5);
    xpurt_tensor_clear(&y);
}

static void both_branches(bench *b, const char *chip) {
    xpu_device_check check;
    int good = xpu_device_check_compile(&check, write_model(b), chip, "fp32");
    if (!good) printf("%s\n", check.message);
    CU_ASSERT_FATAL(good);
    CU_ASSERT(xpurt_layer_count(check.program) > 1000);
    run(&check, 101);
    run(&check, 3);
    xpu_device_check_close(&check);
}

static void on_standard(bench *b) {
    both_branches(b, "standard");
}

static void on_nano(bench *b) {
    both_branches(b, "nano");
}

static void standard(void) {
    with_bench(on_standard);
}

static void nano(void) {
    with_bench(on_nano);
}

XPU_TEST_MAIN("many symbols", {"the standard chip", standard}, {"the nano chip", nano})
