/*
 * Weights that are fetched to L3 while layers before theirs compute: networks of quantised products, of large images
 * first, of small ones with many weights behind, for a chip whose GM moves 16 bytes a cycle. Every layer on func is
 * that of the graph on the host, func without a dump has no races, rtl gives the same bytes; with GM as
 * fast as L3 nothing is fetched.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "core/chip.h"
#include "sim/func/driver.h"
#include "tests/gen/devices.h"
#include "tests/golden/drawn_network.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { IN = 8, MOST_ELEMENTS = IN * 64 * 64, MOST_WEIGHTS = 512 * 512, NETWORKS = 8, RATE = 16 };

/* Products of `wide` x `wide` pixels, then one over steps of `stride`, then products with more channels. */
typedef struct {
    int64_t size, wide, stride, deep, kernel;
    int wides, deeps;
} network;

static float x[MOST_ELEMENTS];
static uint8_t weights[9 * MOST_WEIGHTS];
static int32_t biases[512];

/* One more product of what is there, whose name is returned. */
static const char *add_conv(xpu_onnx_builder *b, const char *from, int number, int64_t in, int64_t out, int64_t kernel,
                            int64_t stride) {
    const char *name = xpu_printf(b->arena, "conv%d", number), *w = xpu_printf(b->arena, "%s_w", name),
               *c = xpu_printf(b->arena, "%s_c", name);
    const int64_t edge = kernel / 2;
    constant(b, w, XPU_U8, 4, (const int64_t[]){out, in, kernel, kernel}, weights + number);
    constant(b, c, XPU_I32, 1, (const int64_t[]){out}, biases);
    XpuOnnx__NodeProto *node =
        xpu_onnx_node(b, "QLinearConv", name, name,
                      (const char *const[]){from, "xs", "zero", w, "ws", "zero", "ys", "zero", c, NULL});
    xpu_onnx_ints(b, node, "strides", (const int64_t[]){stride, stride}, 2);
    xpu_onnx_ints(b, node, "pads", (const int64_t[]){edge, edge, edge, edge}, 4);
    return name;
}

static const char *write_model(const network *n, xpu_arena *arena, xpu_diags *diags) {
    static const float x_scale = 0.02f, w_scale = 0.01f, y_scale = 0.3f, one_scale = 1;
    static const uint8_t zero = 117, nought = 0;
    static const int64_t none[4] = {0};
    xpu_onnx_builder b;
    int number = 0;
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "x", 4, (const int64_t[]){1, IN, n->size, n->size});
    constant(&b, "xs", XPU_F32, 0, none, &x_scale);
    constant(&b, "ws", XPU_F32, 0, none, &w_scale);
    constant(&b, "ys", XPU_F32, 0, none, &y_scale);
    constant(&b, "zero", XPU_U8, 0, none, &zero);
    constant(&b, "one", XPU_F32, 0, none, &one_scale);
    constant(&b, "nought", XPU_U8, 0, none, &nought);
    xpu_onnx_node(&b, "QuantizeLinear", "bytes", "bytes", (const char *const[]){"x", "one", "nought", NULL});
    const char *at = add_conv(&b, "bytes", number++, IN, n->wide, 3, 1);
    for (int i = 0; i < n->wides; i++) at = add_conv(&b, at, number++, n->wide, n->wide, 3, 1);
    at = add_conv(&b, at, number++, n->wide, n->deep, 1, n->stride);
    for (int i = 0; i < n->deeps; i++) at = add_conv(&b, at, number++, n->deep, n->deep, n->kernel, 1);
    xpu_onnx_node(&b, "DequantizeLinear", "y", "y", (const char *const[]){at, "one", "nought", NULL});
    xpu_onnx_output(&b, "y", 4, (const int64_t[]){1, n->deep, -1, -1});
    return write_network_file(&b, "ahead", xpu_temporary_folder(arena, diags), diags);
}

/* The standard chip with a slower GM. */
static const char *write_chip(uint32_t rate, xpu_arena *arena, xpu_diags *diags) {
    xpu_chip chip;
    CU_ASSERT_EQUAL_FATAL(xpu_chip_load(arena, "configs/chip", "standard", &chip, diags), XPU_OK);
    chip.gm_rate = rate;
    const char *text = xpu_chip_json(arena, &chip),
               *path = xpu_path_join(arena, xpu_temporary_folder(arena, diags), "slow.json");
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(arena, path, text, strlen(text), diags), XPU_OK);
    return path;
}

static void must(int good, const xpu_device_check *check) {
    if (!good) printf("%s\n", check->message);
    CU_ASSERT_FATAL(good);
}

/* How many bytes are fetched ahead; *cycles: of all layers on rtl. */
static uint64_t run(const network *n, uint32_t rate, xpu_arena *arena, xpu_diags *diags, long *cycles) {
    xpu_device_check check;
    xpurt_tensor input = {"x", "float32", 4, {1, IN, n->size, n->size}, x}, y = {0}, again = {0};
    must(xpu_device_check_compile(&check, write_model(n, arena, diags), write_chip(rate, arena, diags), "auto"),
         &check);
    must(xpu_device_check_layers(&check, &input, 1, &y), &check);
    xpu_func_configure(&(xpu_func_options){.check_races = 1});
    const int good = xpu_device_check_run(&check, &input, 1, &again);
    xpu_func_configure(&(xpu_func_options){.check_races = 0});
    must(good, &check);
    const size_t bytes = sizeof(float) * (size_t)(n->deep * y.dims[2] * y.dims[3]);
    CU_ASSERT(memcmp(y.data, again.data, bytes) == 0);
    char *stats = xpu_device_check_rtl(&check, &input, 1, y.data, bytes);
    must(stats != NULL, &check);
    *cycles = 0;
    for (int i = 0; i < 2 + n->wides + n->deeps; i++)
        *cycles += xpu_device_check_cycles(stats, xpu_printf(arena, "conv%d", i), "tensor");
    const char *described = xpurt_describe(check.program, NULL);
    uint64_t fetched = 0;
    for (const char *at = described; (at = strstr(at, "\"fetched_bytes\": ")); at++)
        fetched += strtoull(at + strlen("\"fetched_bytes\": "), NULL, 10);
    free(stats);
    xpurt_tensor_clear(&y);
    xpurt_tensor_clear(&again);
    xpu_device_check_close(&check);
    return fetched;
}

static void with_arena(void (*body)(xpu_arena *arena, xpu_diags *diags)) {
    xpu_mem mem;
    xpu_diags diags;
    uint32_t state = 5;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    for (int i = 0; i < MOST_ELEMENTS; i++) x[i] = (float)draw(&state, 256);
    for (int i = 0; i < 9 * MOST_WEIGHTS; i++) weights[i] = (uint8_t)draw(&state, 256);
    for (int i = 0; i < 512; i++) biases[i] = (int32_t)draw(&state, 4000) - 2000;
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        body(xpu_arena_new(&mem, "test"), &diags);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void run_random(xpu_arena *arena, xpu_diags *diags) {
    uint32_t state = 3, with = 0;
    long cycles;
    for (int i = 0; i < NETWORKS; i++) {
        network n = {.size = 16 + draw(&state, 33), .wide = 16 + 8 * draw(&state, 9), .stride = 4 + draw(&state, 4)};
        n.deep = 64 + 4 * draw(&state, 80);
        n.kernel = 1 + 2 * (int64_t)draw(&state, 2);
        if (n.kernel == 3 && n.deep > 160) n.deep /= 2;
        n.wides = 1 + (int)draw(&state, 3);
        n.deeps = 1 + (int)draw(&state, 4);
        with += run(&n, RATE, arena, diags, &cycles) > 0;
    }
    printf("%u of %d with weights fetched ahead; ", with, NETWORKS);
    CU_ASSERT(with >= NETWORKS / 2);
}

/* All that the last layers would wait for comes while the first ones compute. */
static void run_large(xpu_arena *arena, xpu_diags *diags) {
    enum { MOST = 240000 };
    const network n = {48, 64, 8, 512, 1, 2, 4};
    long cycles, fast;
    CU_ASSERT(run(&n, RATE, arena, diags, &cycles) > 500000);
    CU_ASSERT_EQUAL(run(&n, 64, arena, diags, &fast), 0);
    printf("%ld cycles, %ld with a fast GM; ", cycles, fast);
    CU_ASSERT(cycles < MOST);
}

static void random_networks(void) {
    with_arena(run_random);
}

static void large(void) {
    with_arena(run_large);
}

XPU_TEST_MAIN("weights ahead", {"random", random_networks}, {"large", large})
