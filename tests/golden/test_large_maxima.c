/*
 * Maxima over more than 7 x 7 taps, in float32, in int16 and over bytes: what a formula says, the same bits on all
 * chips, on the window engine and on the cores, as on the host. Which kernels make them, and what some cost.
 */
#include "base/file.h"
#include "tests/golden/drawn_network.h"
#include "tests/unit/bench.h"

enum { MOST_ELEMENTS = 2 * 40 * 40 * 40, MOST_POOLS = 3 };

typedef enum { FLOATS, WIDE, BYTES } kind;

typedef struct {
    int64_t kernel[2], stride[2], pads[4], gap;
    int ceil;
} pool;

typedef struct {
    kind kind;
    int64_t dims[4];
    int count;
    pool pools[MOST_POOLS];
    int layers; /* of maxima on the window engine; 0: not known */
} network;

static float x[MOST_ELEMENTS];

static int64_t extent(const pool *p, int axis) {
    return (p->kernel[axis] - 1) * (1 + p->gap) + 1;
}

static int64_t out_size(const network *n, const pool *p, int axis) {
    const int64_t size = n->dims[2 + axis] + p->pads[axis], room = size + p->pads[2 + axis] - extent(p, axis);
    const int64_t windows = (room + (p->ceil ? p->stride[axis] - 1 : 0)) / p->stride[axis] + 1;
    return p->ceil && (windows - 1) * p->stride[axis] >= size ? windows - 1 : windows;
}

static int64_t count_of(const network *n, const pool *p) {
    return n->dims[0] * n->dims[1] * out_size(n, p, 0) * out_size(n, p, 1);
}

static void add_pool(xpu_onnx_builder *o, const network *n, int i) {
    const pool *p = &n->pools[i];
    xpu_arena *arena = o->arena;
    const char *name = xpu_printf(arena, "max%d", i), *y = xpu_printf(arena, "y%d", i);
    const char *made = n->kind == BYTES ? xpu_printf(arena, "q%d", i) : y;
    XpuOnnx__NodeProto *node = xpu_onnx_node(o, "MaxPool", name, made, (const char *const[]){"t", NULL});
    xpu_onnx_ints(o, node, "kernel_shape", p->kernel, 2);
    xpu_onnx_ints(o, node, "strides", p->stride, 2);
    xpu_onnx_ints(o, node, "pads", p->pads, 4);
    if (p->gap) xpu_onnx_ints(o, node, "dilations", (const int64_t[]){1 + p->gap, 1 + p->gap}, 2);
    if (p->ceil) xpu_onnx_int(o, node, "ceil_mode", 1);
    if (n->kind == BYTES) xpu_onnx_node(o, "DequantizeLinear", name, y, (const char *const[]){made, "one", "z", NULL});
    const int64_t out[] = {n->dims[0], n->dims[1], out_size(n, p, 0), out_size(n, p, 1)};
    xpu_onnx_output(o, y, 4, out);
}

/* The operand of the maxima is -x, or as bytes x, which is whole numbers. */
static const char *write_model(const network *n, bench *b) {
    static const float one = 1;
    static const uint8_t zero = 128;
    xpu_onnx_builder o;
    size_t length;
    xpu_onnx_begin(&o, b->arena, 19);
    xpu_onnx_input(&o, "x", 4, n->dims);
    constant(&o, "one", XPU_F32, 0, NULL, &one);
    constant(&o, "z", XPU_U8, 0, NULL, &zero);
    if (n->kind == BYTES)
        xpu_onnx_node(&o, "QuantizeLinear", "front", "t", (const char *const[]){"x", "one", "z", NULL});
    else
        xpu_onnx_node(&o, "Neg", "front", "t", (const char *const[]){"x", NULL});
    for (int i = 0; i < n->count; i++) add_pool(&o, n, i);
    const char *path = xpu_path_join(b->arena, b->folder, "maxima.onnx");
    void *bytes = xpu_onnx_pack(&o, "maxima", &length);
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b->arena, path, bytes, length, &b->diags), XPU_OK);
    return path;
}

static const char *write_rule(const network *n, bench *b) {
    const char *path = xpu_path_join(b->arena, b->folder, "rules.json");
    const char *text = xpu_printf(b->arena, "{\"rules\": [{\"match\": \"max*\", \"precision\": \"%s\"}]}",
                                  n->kind == WIDE ? "int16" : "fp32");
    if (n->kind == BYTES) return "auto";
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b->arena, path, text, strlen(text), &b->diags), XPU_OK);
    return path;
}

static double maximum_at(const network *n, const pool *p, int64_t plane, int64_t row, int64_t column) {
    double most = -INFINITY;
    const double sign = n->kind == BYTES ? 1 : -1;
    const int64_t top = row * p->stride[0] - p->pads[0], left = column * p->stride[1] - p->pads[1];
    for (int64_t i = top; i < top + extent(p, 0); i += 1 + p->gap) {
        for (int64_t j = left; j < left + extent(p, 1); j += 1 + p->gap) {
            if (i < 0 || i >= n->dims[2] || j < 0 || j >= n->dims[3]) continue;
            most = fmax(most, sign * (double)x[(plane * n->dims[2] + i) * n->dims[3] + j]);
        }
    }
    return most;
}

/* Exact, or in int16 to half a step. */
static void check_values(const network *n, const pool *p, const float *y) {
    double most = 0;
    int right = 1;
    for (int64_t i = 0; i < n->dims[0] * n->dims[1] * n->dims[2] * n->dims[3]; i++)
        most = fmax(most, fabs((double)x[i]));
    const double room = n->kind == WIDE ? most * (1.0 / 65534 + 4e-7) : 0;
    for (int64_t plane = 0; plane < n->dims[0] * n->dims[1]; plane++)
        for (int64_t row = 0; row < out_size(n, p, 0); row++)
            for (int64_t column = 0; column < out_size(n, p, 1); column++)
                right &= fabs((double)*y++ - maximum_at(n, p, plane, row, column)) <= room;
    CU_ASSERT(right);
}

static int layers_of(const xpu_device_check *check, const char *kernel, bench *b) {
    const char *at = xpurt_describe(check->program, NULL), *key = xpu_printf(b->arena, "\"kernel\": \"%s\"", kernel);
    int count = 0;
    for (; at && (at = strstr(at, key)); at++) count++;
    return count;
}

/* On chips with a window engine all maxima of bytes and int16 are there. */
static void check_kernels(const network *n, const xpu_device_check *check, int has_engine, bench *b) {
    if (n->kind == FLOATS) return;
    const int on_engine = layers_of(check, n->kind == WIDE ? "window_i16" : "window_i8", b);
    const int on_cores =
        layers_of(check, "pool_f32", b) + layers_of(check, "max_pool_i8", b) + layers_of(check, "large_max_pool_i8", b);
    if (!has_engine) CU_ASSERT(on_engine == 0 && on_cores >= n->count);
    if (has_engine) CU_ASSERT(on_cores == 0 && on_engine >= n->count);
    if (has_engine && n->layers) CU_ASSERT_EQUAL(on_engine, n->layers);
}

/* y are those of the runs before, or empty. */
static void run_on(const network *n, const char *model, const char *chip, int has_engine, xpurt_tensor *y, bench *b) {
    xpu_device_check check;
    xpurt_tensor input = {"x", "float32", 4, {n->dims[0], n->dims[1], n->dims[2], n->dims[3]}, x};
    xpurt_tensor here[MOST_POOLS] = {0};
    int good = xpu_device_check_compile(&check, model, chip, write_rule(n, b));
    if (good) {
        check_kernels(n, &check, has_engine, b);
        xpu_func_configure(&(xpu_func_options){.check_races = 1});
        good = xpu_device_check_layers(&check, &input, 1, here);
        xpu_func_configure(&(xpu_func_options){.check_races = 0});
    }
    if (!good) printf("%s: %s\n", chip, check.message);
    CU_ASSERT(good);
    for (int i = 0; good && i < n->count; i++) {
        const size_t bytes = (size_t)(4 * count_of(n, &n->pools[i]));
        if (!y[i].data) check_values(n, &n->pools[i], here[i].data);
        if (y[i].data) CU_ASSERT(memcmp(y[i].data, here[i].data, bytes) == 0);
    }
    for (int i = 0; i < MOST_POOLS; i++) {
        xpurt_tensor_clear(&y[i]);
        y[i] = here[i];
    }
    xpu_device_check_close(&check);
}

static void run_everywhere(const network *n, bench *b) {
    static const char *const chips[] = {"standard", "tests/chip/nano-window.json", "nano", "pro"};
    xpurt_tensor y[MOST_POOLS] = {0};
    const char *model = write_model(n, b);
    for (int i = 0; i < 4; i++) run_on(n, model, chips[i], i < 2, y, b);
    for (int i = 0; i < MOST_POOLS; i++) xpurt_tensor_clear(&y[i]);
}

/* Whole numbers from -128 to 127. */
static void fill(void) {
    for (int i = 0; i < MOST_ELEMENTS; i++) x[i] = (float)((i * 7919 + i / 97) % 256 - 128);
}

#define SQUARE(k, s, p) {{k, k}, {s, s}, {p, p, p, p}, 0, 0}

static void cases(void) {
    static const network networks[] = {
        /* two each; of the second one the other reads what the first makes, then the third what the second makes */
        {WIDE, {1, 40, 20, 20}, 1, {SQUARE(13, 1, 6)}, 2},
        {WIDE, {1, 36, 20, 20}, 3, {SQUARE(5, 1, 2), SQUARE(9, 1, 4), SQUARE(13, 1, 6)}, 3},
        {WIDE, {1, 8, 20, 20}, 3, {SQUARE(13, 1, 6), SQUARE(9, 1, 4), SQUARE(5, 1, 2)}, 3},
        {BYTES, {1, 36, 20, 20}, 3, {SQUARE(9, 1, 4), SQUARE(13, 1, 6), SQUARE(5, 1, 2)}, 3},
        {FLOATS, {1, 36, 20, 20}, 3, {SQUARE(13, 1, 6), SQUARE(5, 1, 2), SQUARE(9, 1, 4)}, 0},
        /* windows of the second that begin in the padding have no part that others do not have; of the next they have
         */
        {BYTES, {1, 8, 20, 20}, 2, {SQUARE(5, 1, 0), SQUARE(9, 1, 4)}, 2},
        {BYTES, {1, 8, 20, 20}, 2, {SQUARE(2, 1, 0), SQUARE(9, 1, 4)}, 3},
        {BYTES, {2, 8, 24, 40}, 1, {SQUARE(8, 8, 0)}, 2},
        {WIDE, {1, 8, 30, 31}, 1, {{{49, 3}, {1, 2}, {24, 1, 24, 0}, 0, 0}}, 2},
        {BYTES, {1, 8, 60, 50}, 1, {{{50, 48}, {2, 1}, {3, 20, 3, 0}, 0, 0}}, 3},
        {WIDE, {1, 8, 24, 20}, 1, {{{11, 3}, {3, 2}, {0, 1, 5, 2}, 0, 1}}, 2}, /* windows end behind the padding */
        {BYTES, {1, 8, 30, 40}, 1, {{{9, 8}, {2, 1}, {8, 0, 9, 14}, 1, 0}}, 2},
        {WIDE, {1, 8, 5, 3}, 1, {SQUARE(9, 1, 4)}, 2}, /* images smaller than windows */
        {BYTES, {1, 8, 1, 2}, 1, {SQUARE(13, 1, 6)}, 2},
        {BYTES, {1, 8, 56, 56}, 1, {SQUARE(56, 1, 0)}, 3},
    };
    BENCH_OPEN(b);
    fill();
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        run_everywhere(&networks[i], &b);
        if (CU_get_number_of_failures()) printf("case %d: %d; ", (int)i, (int)CU_get_number_of_failures());
    }
    bench_close(&b);
}

static pool drawn_pool(const network *n, uint32_t *state) {
    pool p = {.gap = draw(state, 5) == 0 && n->dims[2] > 1 && n->dims[3] > 1, .ceil = draw(state, 3) == 0};
    for (int i = 0; i < 2; i++) {
        do {
            p.kernel[i] = 2 - i + draw(state, p.gap ? 12 : 20); /* single pixels are no maximum */
            p.stride[i] = 1 + draw(state, 4);
            p.pads[i] = draw(state, (uint32_t)extent(&p, i));
            p.pads[2 + i] = draw(state, (uint32_t)extent(&p, i));
        } while (n->dims[2 + i] + p.pads[i] + p.pads[2 + i] < extent(&p, i));
    }
    return p;
}

/* A smaller one of the same operand without strides. */
static pool drawn_inner(const pool *of, uint32_t *state) {
    pool p = *of;
    for (int i = 0; i < 2; i++) {
        p.kernel[i] = 2 - i + draw(state, (uint32_t)(of->kernel[i] - 1 + i));
        p.stride[i] = 1;
        p.pads[i] = draw(state, (uint32_t)extent(&p, i));
        p.pads[2 + i] = draw(state, (uint32_t)extent(&p, i));
    }
    return p;
}

/* XPU_RANDOM_SEED=N tries one. */
static void by_chance(void) {
    enum { SEEDS = 40 };
    const char *only = getenv("XPU_RANDOM_SEED");
    BENCH_OPEN(b);
    fill();
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        uint32_t state = only ? (uint32_t)atoi(only) : seed;
        network n = {.kind = (kind)draw(&state, 3), .count = 1 + (int)draw(&state, 2)};
        n.dims[0] = 1 + draw(&state, 2);
        n.dims[1] = 4 * (1 + draw(&state, 10));
        for (int i = 2; i < 4; i++) n.dims[i] = 1 + draw(&state, 40);
        n.pools[0] = drawn_pool(&n, &state);
        n.pools[1] = drawn_inner(&n.pools[0], &state);
        for (int i = 0; i < 2; i++) /* an inner one may find no room */
            if (out_size(&n, &n.pools[1], i) < 1 ||
                n.dims[2 + i] + n.pools[1].pads[i] + n.pools[1].pads[2 + i] < extent(&n.pools[1], i))
                n.count = 1;
        run_everywhere(&n, &b);
        if (CU_get_number_of_failures() || only) printf("seed %u; ", only ? (unsigned)atoi(only) : seed);
        if (only) break;
    }
    bench_close(&b);
}

/* A program of open sizes computes as one of each does. */
static void open_sizes(void) {
    static const int64_t sizes[][2] = {{9, 12}, {24, 3}, {1, 25}};
    BENCH_OPEN(b);
    fill();
    for (kind of = WIDE; of <= BYTES; of++) {
        network n = {of, {1, 48, 9, 9}, 2, {SQUARE(13, 1, 6), SQUARE(5, 1, 2)}, 0};
        xpu_device_check check;
        const char *model = write_model(&n, &b), *rule = write_rule(&n, &b);
        CU_ASSERT_FATAL(xpu_device_check_compile_shape(&check, model, "standard", rule, "x=1,48,H=1..64,W=1..64"));
        check_kernels(&n, &check, 1, &b);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            n.dims[2] = sizes[i][0], n.dims[3] = sizes[i][1];
            xpurt_tensor input = {"x", "float32", 4, {1, 48, n.dims[2], n.dims[3]}, x}, y[MOST_POOLS] = {0};
            CU_ASSERT(xpu_device_check_layers(&check, &input, 1, y));
            for (int k = 0; k < n.count; k++) {
                CU_ASSERT_FATAL(y[k].data != NULL);
                check_values(&n, &n.pools[k], y[k].data);
                xpurt_tensor_clear(&y[k]);
            }
        }
        xpu_device_check_close(&check);
    }
    bench_close(&b);
}

/* On the cores 129,000 and 233,000 cycles, of 256 x 20 x 20. */
static void verilated(void) {
    static const network wide = {WIDE, {1, 128, 20, 20}, 1, {SQUARE(9, 1, 4)}, 2};
    static const network bytes = {BYTES, {1, 256, 20, 20}, 1, {SQUARE(9, 1, 4)}, 2};
    enum { MOST_WIDE = 6000, MOST_BYTES = 6000 };
    BENCH_OPEN(b);
    fill();
    const xpurt_tensor x_wide = {"x", "float32", 4, {1, 128, 20, 20}, x},
                       x_bytes = {"x", "float32", 4, {1, 256, 20, 20}, x};
    check_verilated(write_model(&wide, &b), write_rule(&wide, &b), &x_wide, "max0", "window", MOST_WIDE);
    check_verilated(write_model(&bytes, &b), write_rule(&bytes, &b), &x_bytes, "max0_2", "window", MOST_BYTES);
    bench_close(&b);
}

XPU_TEST_MAIN("maxima over large windows", {"cases", cases}, {"by chance", by_chance}, {"open sizes", open_sizes},
              {"on rtl", verilated})
