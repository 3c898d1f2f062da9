/*
 * Quantised networks on chips with a window engine: func equals ref in every layer, and those that the engine is there
 * for run on it. The random networks are those of test_random_quantised.c, with the answers of onnxruntime.
 */
#include "tests/gen/onnx_build.h"
#include "tests/golden/drawn_network.h"
#include "tests/golden/random_quantised.h"
#include "tests/unit/network_file.h"

#define NANO     "tests/chip/nano-window.json"
#define STANDARD "standard"

enum { MOST_CHANNELS = 200, MOST_TAPS = 1024, MOST_ELEMENTS = 1 << 17 };

/* ---- one window ---- */

typedef struct {
    int64_t batch, channels, height, width, kernel[2], stride, dilation, pads[4]; /* top, left, bottom, right */
    int w_zero;                                                                   /* other than 0: weights are uint8 */
    const char *unit;                                                             /* where it runs */
} window;

static float input[MOST_ELEMENTS];

static const char *write_model(const window *v, xpu_arena *arena, xpu_diags *diags) {
    static float scales[MOST_CHANNELS];
    static int8_t w[MOST_CHANNELS * MOST_TAPS];
    static int32_t bias[MOST_CHANNELS];
    static const float one = 1, y_scale = 40;
    static const uint8_t x_zero = 131, y_zero = 120;
    uint8_t w_zeros[MOST_CHANNELS];
    const xpu_dtype type = v->w_zero ? XPU_U8 : XPU_I8;
    const int64_t dims[] = {v->batch, v->channels, v->height, v->width}, out[] = {-1, v->channels, -1, -1};
    const int64_t strides[] = {v->stride, v->stride}, dilations[] = {v->dilation, v->dilation};
    uint32_t state = 5;
    xpu_onnx_builder b;
    for (int i = 0; i < MOST_CHANNELS * MOST_TAPS; i++) w[i] = (int8_t)((state = state * 1664525u + 1013904223u) >> 24);
    for (int i = 0; i < MOST_CHANNELS; i++) scales[i] = (float)(1 + i % 7) / 8, bias[i] = 997 * (i % 13) - 5000;
    memset(w_zeros, v->w_zero, sizeof w_zeros);
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "x", 4, dims);
    xpu_onnx_initializer(&b, "one", &(xpu_tensor){XPU_F32, 0, {0}, (void *)(uintptr_t)&one}, 0);
    xpu_onnx_initializer(&b, "ys", &(xpu_tensor){XPU_F32, 0, {0}, (void *)(uintptr_t)&y_scale}, 0);
    xpu_onnx_initializer(&b, "xz", &(xpu_tensor){XPU_U8, 0, {0}, (void *)(uintptr_t)&x_zero}, 0);
    xpu_onnx_initializer(&b, "yz", &(xpu_tensor){XPU_U8, 0, {0}, (void *)(uintptr_t)&y_zero}, 0);
    xpu_onnx_initializer(&b, "wz", &(xpu_tensor){type, 1, {v->channels}, w_zeros}, 0);
    xpu_onnx_initializer(&b, "w", &(xpu_tensor){type, 4, {v->channels, 1, v->kernel[0], v->kernel[1]}, w}, 0);
    xpu_onnx_initializer(&b, "ws", &(xpu_tensor){XPU_F32, 1, {v->channels}, scales}, 0);
    xpu_onnx_initializer(&b, "b", &(xpu_tensor){XPU_I32, 1, {v->channels}, bias}, 0);
    xpu_onnx_node(&b, "QuantizeLinear", "q", "xq", (const char *const[]){"x", "one", "xz", NULL});
    XpuOnnx__NodeProto *node =
        xpu_onnx_node(&b, "QLinearConv", "window", "yq",
                      (const char *const[]){"xq", "one", "xz", "w", "ws", "wz", "ys", "yz", "b", NULL});
    xpu_onnx_ints(&b, node, "strides", strides, 2);
    xpu_onnx_ints(&b, node, "dilations", dilations, 2);
    xpu_onnx_ints(&b, node, "pads", v->pads, 4);
    xpu_onnx_int(&b, node, "group", v->channels);
    xpu_onnx_node(&b, "DequantizeLinear", "d", "y", (const char *const[]){"yq", "ys", "yz", NULL});
    xpu_onnx_output(&b, "y", 4, out);
    return write_network_file(&b, "window", xpu_temporary_folder(arena, diags), diags);
}

static void run_window(const window *v, const char *chip, xpu_arena *arena, xpu_diags *diags) {
    xpu_device_check check;
    xpurt_tensor x = {"x", "float32", 4, {v->batch, v->channels, v->height, v->width}, input}, y = {0};
    int good = xpu_device_check_compile(&check, write_model(v, arena, diags), chip, "auto");
    if (good) {
        uint64_t on_engine = count_layers(check.program, "window_i8", arena);
        CU_ASSERT_EQUAL(on_engine, strcmp(v->unit, "window") == 0);
        xpu_func_configure(&(xpu_func_options){.check_races = 1});
        good = xpu_device_check_layers(&check, &x, 1, &y);
        xpu_func_configure(&(xpu_func_options){.check_races = 0});
    }
    if (!good) printf("%s, %d x %d x %d: %s\n", chip, (int)v->channels, (int)v->height, (int)v->width, check.message);
    CU_ASSERT(good);
    xpurt_tensor_clear(&y);
    xpu_device_check_close(&check);
}

static void shapes(void) {
    static const window windows[] = {
        {1, 32, 28, 28, {3, 3}, 1, 1, {1, 1, 1, 1}, 0, "window"},
        {1, 200, 7, 7, {3, 3}, 1, 1, {1, 1, 1, 1}, 0, "window"},
        {2, 36, 15, 13, {3, 3}, 2, 1, {0, 0, 1, 1}, 0, "window"},
        {1, 40, 20, 33, {5, 5}, 1, 1, {2, 2, 2, 2}, 9, "window"},
        {1, 16, 30, 30, {7, 7}, 2, 1, {3, 3, 3, 3}, 0, "window"},
        {3, 8, 17, 19, {3, 5}, 1, 2, {2, 4, 2, 4}, 200, "window"},
        {1, 24, 1, 90, {1, 7}, 1, 1, {0, 3, 0, 3}, 0, "window"},
        {1, 4, 5, 6, {3, 3}, 3, 1, {2, 2, 2, 2}, 0, "window"},
        {1, 64, 40, 45, {3, 3}, 1, 1, {1, 1, 1, 1}, 128, "window"},
        {1, 12, 30, 30, {1, 1}, 1, 1, {0, 0, 0, 0}, 0, "window"},
        {1, 16, 30, 14, {3, 3}, 1, 1, {300, 1, 300, 1}, 0, "window"},
        {1, 4, 3, 1, {3, 1}, 255, 1, {40000, 0, 1, 0}, 0, "core"}, /* padding over 16 bits */
        {1, 4, 3, 1, {3, 1}, 255, 1, {1, 0, 40000, 0}, 0, "core"},
        {1, 6, 9, 9, {3, 3}, 1, 1, {1, 1, 1, 1}, 0, "window"},
    };
    BENCH_OPEN(b);
    xpu_arena *arena = xpu_arena_new(&b.mem, "test");
    for (int i = 0; i < MOST_ELEMENTS; i++) input[i] = (float)((i * 7919 + i / 97) % 256 - 131);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        run_window(&windows[i], STANDARD, arena, &b.diags);
        run_window(&windows[i], NANO, arena, &b.diags);
    }
    bench_close(&b);
}

/* Kernels of more than 7 x 7 taps are parts, whose sums stay in SM. */
static void large_kernels(void) {
    static const window windows[] = {
        {1, 16, 30, 30, {8, 8}, 1, 1, {3, 3, 3, 3}, 0, "window"},
        {1, 64, 1, 200, {1, 31}, 1, 1, {0, 15, 0, 15}, 0, "window"},
        {2, 36, 24, 25, {13, 9}, 2, 1, {6, 0, 1, 8}, 9, "window"},
        {1, 100, 60, 20, {9, 2}, 1, 2, {8, 1, 8, 1}, 0, "window"}, /* several tiles, one below the other */
        {1, 8, 40, 40, {31, 31}, 1, 1, {15, 15, 15, 15}, 200, "window"},
        {1, 4, 3, 2, {15, 14}, 1, 1, {7, 7, 7, 7}, 0, "window"},
    };
    BENCH_OPEN(b);
    for (int i = 0; i < MOST_ELEMENTS; i++) input[i] = (float)((i * 7919 + i / 97) % 256 - 131);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        run_window(&windows[i], STANDARD, b.arena, &b.diags);
        run_window(&windows[i], NANO, b.arena, &b.diags);
    }
    bench_close(&b);
}

/* XPU_RANDOM_SEED=N tries one. */
static void drawn_kernels(void) {
    enum { SEEDS = 24 };
    const char *only = getenv("XPU_RANDOM_SEED");
    BENCH_OPEN(b);
    for (int i = 0; i < MOST_ELEMENTS; i++) input[i] = (float)((i * 7919 + i / 97) % 256 - 131);
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        uint32_t state = only ? (uint32_t)atoi(only) : seed;
        window v = {.batch = 1 + draw(&state, 2), .channels = 4 * (1 + draw(&state, 20)), .unit = "window"};
        v.stride = 1 + draw(&state, 3);
        v.dilation = 1 + (draw(&state, 4) == 0);
        v.w_zero = (int)draw(&state, 2) * 77;
        v.height = 1 + draw(&state, 28), v.width = 1 + draw(&state, 28);
        v.kernel[0] = 1 + draw(&state, 20), v.kernel[1] = 8 + draw(&state, 24);
        for (int i = 0; i < 4; i++)
            v.pads[i] = v.kernel[i % 2] * v.dilation / 2 + draw(&state, (uint32_t)v.kernel[i % 2]);
        run_window(&v, STANDARD, b.arena, &b.diags);
        run_window(&v, NANO, b.arena, &b.diags);
        if (CU_get_number_of_failures() || only) printf("seed %u; ", only ? (unsigned)atoi(only) : seed);
        if (only) break;
    }
    bench_close(&b);
}

/* On the cores 943,722 cycles, of 64 x 56 x 56. */
static void verilated(void) {
    static const window v = {1, 32, 56, 28, {9, 9}, 1, 1, {4, 4, 4, 4}, 0, "window"};
    enum { MOST = 22000 };
    BENCH_OPEN(b);
    const xpurt_tensor x = {"x", "float32", 4, {1, 32, 56, 28}, input};
    check_verilated(write_model(&v, b.arena, &b.diags), "auto", &x, "window", "window", MOST);
    bench_close(&b);
}

/* One program for several sizes: tiles and scratch are chosen for ranges of them. */
static void run_free_sizes(const window *v) {
    static const int sizes[][3] = {{1, 9, 9}, {3, 5, 60}, {2, 37, 40}, {1, 64, 64}};
    xpu_device_check check;
    BENCH_OPEN(b);
    const char *model = write_model(v, b.arena, &b.diags), *shape = "x=N=1..3,24,H=5..64,W=5..64";
    int good = xpu_device_check_compile_shape(&check, model, NANO, "auto", shape);
    if (good) CU_ASSERT_EQUAL(count_layers(check.program, "window_i8", b.arena), 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && good; i++) {
        xpurt_tensor x = {"x", "float32", 4, {sizes[i][0], v->channels, sizes[i][1], sizes[i][2]}, input}, y = {0};
        good = xpu_device_check_layers(&check, &x, 1, &y);
        xpurt_tensor_clear(&y);
    }
    if (!good) printf("%s\n", check.message);
    CU_ASSERT(good);
    xpu_device_check_close(&check);
    bench_close(&b);
}

static void free_sizes(void) {
    static const window windows[] = {{1, 24, 9, 9, {3, 3}, 2, 1, {1, 1, 1, 1}, 0, "window"},
                                     {1, 24, 9, 9, {13, 9}, 1, 1, {6, 4, 6, 4}, 0, "window"}};
    for (int i = 0; i < MOST_ELEMENTS; i++) input[i] = (float)((i * 7919 + i / 97) % 256 - 131);
    for (int i = 0; i < 2; i++) run_free_sizes(&windows[i]);
}

/* ---- a computed bias ---- */

enum { BIASES = 64, BIAS_SIDE = 5 };

/* Two convolutions, and a layer between them that makes the bias of the second from the input b0; groups: 1 or all. */
static const char *write_computed_bias(int64_t groups, xpu_arena *arena, xpu_diags *diags) {
    static int8_t w[BIASES * BIASES * 9];
    static const float one = 1, y_scale = 40, w_scale = 0.5f;
    static const uint8_t x_zero = 131, y_zero = 120;
    static const int8_t w_zero = 0;
    static const int64_t dims[] = {1, BIASES, BIAS_SIDE, BIAS_SIDE}, pads[] = {1, 1, 1, 1};
    uint32_t state = 5;
    xpu_onnx_builder b;
    for (size_t i = 0; i < sizeof w; i++) w[i] = (int8_t)((state = state * 1664525u + 1013904223u) >> 24);
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "x", 4, dims);
    xpu_onnx_input(&b, "b0", 1, (const int64_t[]){BIASES});
    xpu_onnx_initializer(&b, "one", &(xpu_tensor){XPU_F32, 0, {0}, (void *)(uintptr_t)&one}, 0);
    xpu_onnx_initializer(&b, "ys", &(xpu_tensor){XPU_F32, 0, {0}, (void *)(uintptr_t)&y_scale}, 0);
    xpu_onnx_initializer(&b, "xz", &(xpu_tensor){XPU_U8, 0, {0}, (void *)(uintptr_t)&x_zero}, 0);
    xpu_onnx_initializer(&b, "yz", &(xpu_tensor){XPU_U8, 0, {0}, (void *)(uintptr_t)&y_zero}, 0);
    xpu_onnx_initializer(&b, "ws", &(xpu_tensor){XPU_F32, 0, {0}, (void *)(uintptr_t)&w_scale}, 0);
    xpu_onnx_initializer(&b, "wz", &(xpu_tensor){XPU_I8, 0, {0}, (void *)(uintptr_t)&w_zero}, 0);
    xpu_onnx_initializer(&b, "w", &(xpu_tensor){XPU_I8, 4, {BIASES, BIASES / groups, 3, 3}, w}, 0);
    xpu_onnx_node(&b, "QuantizeLinear", "q", "xq", (const char *const[]){"x", "one", "xz", NULL});
    XpuOnnx__NodeProto *first = xpu_onnx_node(
        &b, "QLinearConv", "first", "m", (const char *const[]){"xq", "one", "xz", "w", "ws", "wz", "ys", "yz", NULL});
    XpuOnnx__NodeProto *bias = xpu_onnx_node(&b, "Cast", "bias", "b1", (const char *const[]){"b0", NULL});
    xpu_onnx_int(&b, bias, "to", 6);
    XpuOnnx__NodeProto *second =
        xpu_onnx_node(&b, "QLinearConv", "second", "yq",
                      (const char *const[]){"m", "ys", "yz", "w", "ws", "wz", "ys", "yz", "b1", NULL});
    xpu_onnx_ints(&b, first, "pads", pads, 4);
    xpu_onnx_ints(&b, second, "pads", pads, 4);
    xpu_onnx_int(&b, first, "group", groups);
    xpu_onnx_int(&b, second, "group", groups);
    xpu_onnx_output(&b, "yq", 4, dims); /* bytes: behind a layer of floats, the bias had a wait by chance */
    b.outputs.items[0]->type->tensor_type->elem_type = XPU_ONNX__TENSOR_PROTO__DATA_TYPE__UINT8;
    return write_network_file(&b, "bias", xpu_temporary_folder(arena, diags), diags);
}

/* A bias that the layer before makes is loaded behind it. */
static void computed_bias(void) {
    static const struct {
        const char *chip, *kernel;
        int64_t groups;
    } cases[] = {{STANDARD, "window_i8", BIASES},
                 {NANO, "window_i8", BIASES},
                 {STANDARD, "conv2d_i8", 1},
                 {NANO, "conv2d_i8", 1}};
    static float biases[BIASES];
    BENCH_OPEN(b);
    xpu_arena *arena = xpu_arena_new(&b.mem, "test");
    for (int i = 0; i < MOST_ELEMENTS; i++) input[i] = (float)((i * 7919 + i / 97) % 256 - 131);
    for (int i = 0; i < BIASES; i++) biases[i] = (float)(997 * (i % 13) - 5000);
    const xpurt_tensor inputs[] = {{"x", "float32", 4, {1, BIASES, BIAS_SIDE, BIAS_SIDE}, input},
                                   {"b0", "float32", 1, {BIASES}, biases}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpu_device_check check;
        xpurt_tensor y = {0};
        const char *model = write_computed_bias(cases[i].groups, arena, &b.diags);
        int good = xpu_device_check_compile(&check, model, cases[i].chip, "auto");
        if (good) {
            CU_ASSERT_EQUAL(count_layers(check.program, cases[i].kernel, arena), 2);
            good = xpu_device_check_layers(&check, inputs, 2, &y);
        }
        if (!good) printf("%s, %s: %s\n", cases[i].chip, cases[i].kernel, check.message);
        CU_ASSERT(good);
        xpurt_tensor_clear(&y);
        xpu_device_check_close(&check);
    }
    bench_close(&b);
}

static void random_networks(void) {
    static const char *const chips[] = {NANO, STANDARD, STANDARD};
    tally sum = {.chips = chips, .kernel = "window_i8"};
    BENCH_OPEN(b);
    run_range(&b.mem, 1, RECORDED_SEEDS, &sum, &b.diags);
    printf("%d layers on the engine ", (int)sum.layers);
    CU_ASSERT(sum.layers >= 10 || getenv("XPU_RANDOM_SEED"));
    bench_close(&b);
}

XPU_TEST_MAIN("window engine", {"shapes", shapes}, {"large kernels", large_kernels}, {"drawn kernels", drawn_kernels},
              {"large kernels on rtl", verilated}, {"free sizes", free_sizes}, {"computed bias", computed_bias},
              {"random networks", random_networks})
