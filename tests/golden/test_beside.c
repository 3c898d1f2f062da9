/*
 * Depthwise layers on the window engine beside the product that makes their input, and the product behind them: of
 * random sizes, strides, pads, channels and branches, every layer on func is that of the graph on the host, and func
 * without a dump, in any order of its engines, and rtl give the same bytes; most of them get rows that stay in SM, some
 * for all three layers, some follow what the product stores, and all are faster than one behind the other where the
 * layers are large. Windows before which there is no product stay in SM for the product behind them, too. Of a chip
 * whose SM has room for more rows than a descriptor's fields, rings have as many as these. The same holds for drawn
 * rows of layers of bytes on engines, which begin while the one before ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/golden/drawn_network.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum {
    OUT = 16,
    IN_OF_CHAIN = 16,
    MOST_CHANNELS_OF_ROW = 128,
    SIDE_OF_CHAIN = 61,
    MOST_ELEMENTS = 16 * 65535,
    MOST_WEIGHTS = 160 * 960,
    MOST_BIASES = 960,
    NETWORKS = 24,
    BLOCKS = 30,
    SEEDS = 2
};

/* What is an output, too, and so cannot stay in SM: the result of the first product, of the windows, or of both. */
typedef enum { NOTHING, FIRST, SECOND, BOTH } also_read;

/* x, a product of its pixels (or a convolution; where `first` is 0 there is none), a depthwise one or maxima of that,
 * and a product of its pixels. */
typedef struct {
    int64_t in, channels, height, width, first, kernel, stride, dilation, pads[4];
    also_read read;
    int64_t out;
    int has_branch; /* x is added to the result */
    int is_max;
} network;

static float x[MOST_ELEMENTS];
static uint8_t weights[MOST_WEIGHTS];
static int32_t biases[MOST_BIASES];

static void add_conv(xpu_onnx_builder *b, const char *name, const char *from, const int64_t *dims, const int64_t *steps,
                     const int64_t *pads, int64_t group) {
    const char *w = xpu_printf(b->arena, "%s_w", name), *c = xpu_printf(b->arena, "%s_c", name);
    constant(b, w, XPU_U8, 4, dims, weights);
    constant(b, c, XPU_I32, 1, dims, biases);
    XpuOnnx__NodeProto *node =
        xpu_onnx_node(b, "QLinearConv", name, name,
                      (const char *const[]){from, "xs", "zero", w, "ws", "zero", "ys", "zero", c, NULL});
    xpu_onnx_ints(b, node, "strides", (const int64_t[]){steps[0], steps[0]}, 2);
    xpu_onnx_ints(b, node, "dilations", (const int64_t[]){steps[1], steps[1]}, 2);
    xpu_onnx_ints(b, node, "pads", pads, 4);
    xpu_onnx_int(b, node, "group", group);
}

static void add_maximum(xpu_onnx_builder *b, const char *name, const char *from, const network *n) {
    XpuOnnx__NodeProto *node = xpu_onnx_node(b, "MaxPool", name, name, (const char *const[]){from, NULL});
    xpu_onnx_ints(b, node, "kernel_shape", (const int64_t[]){n->kernel, n->kernel}, 2);
    xpu_onnx_ints(b, node, "strides", (const int64_t[]){n->stride, n->stride}, 2);
    xpu_onnx_ints(b, node, "dilations", (const int64_t[]){n->dilation, n->dilation}, 2);
    xpu_onnx_ints(b, node, "pads", n->pads, 4);
}

/* x as bytes, and the constants that all layers share. */
static void begin_model(xpu_onnx_builder *b, xpu_arena *arena, const int64_t *dims) {
    static const float x_scale = 0.02f, w_scale = 0.01f, y_scale = 0.1f, one_scale = 1;
    static const uint8_t zero = 117, nought = 0;
    static const int64_t none[4] = {0};
    xpu_onnx_begin(b, arena, 13);
    xpu_onnx_input(b, "x", 4, dims);
    constant(b, "xs", XPU_F32, 0, none, &x_scale);
    constant(b, "ws", XPU_F32, 0, none, &w_scale);
    constant(b, "ys", XPU_F32, 0, none, &y_scale);
    constant(b, "zero", XPU_U8, 0, none, &zero);
    constant(b, "one", XPU_F32, 0, none, &one_scale);
    constant(b, "nought", XPU_U8, 0, none, &nought);
    xpu_onnx_node(b, "QuantizeLinear", "bytes", "bytes", (const char *const[]){"x", "one", "nought", NULL});
}

static const char *end_model(xpu_onnx_builder *b, xpu_arena *arena, xpu_diags *diags) {
    return write_network_file(b, "beside", xpu_temporary_folder(arena, diags), diags);
}

static const char *write_model(const network *n, xpu_arena *arena, xpu_diags *diags) {
    static const int64_t none[4] = {0}, one[2] = {1, 1};
    const int64_t edge = n->first / 2, same[] = {edge, edge, edge, edge}, steps[] = {n->stride, n->dilation};
    xpu_onnx_builder b;
    begin_model(&b, arena, (const int64_t[]){1, n->in, n->height, n->width});
    const char *from = n->first ? "first" : "bytes";
    if (n->first) add_conv(&b, from, "bytes", (const int64_t[]){n->channels, n->in, n->first, n->first}, one, same, 1);
    if (n->is_max)
        add_maximum(&b, "second", from, n);
    else
        add_conv(&b, "second", from, (const int64_t[]){n->channels, 1, n->kernel, n->kernel}, steps, n->pads,
                 n->channels);
    add_conv(&b, "third", "second", (const int64_t[]){n->out, n->channels, 1, 1}, one, none, 1);
    if (n->has_branch) {
        const char *const inputs[] = {"third", "ys", "zero", "bytes", "xs", "zero", "ys", "zero", NULL};
        xpu_onnx_domain(&b, xpu_onnx_node(&b, "QLinearAdd", "sum", "sum", inputs), "com.microsoft");
    }
    const char *last = n->has_branch ? "sum" : "third";
    xpu_onnx_node(&b, "DequantizeLinear", "y", "y", (const char *const[]){last, "one", "nought", NULL});
    xpu_onnx_output(&b, "y", 4, (const int64_t[]){1, n->out, -1, -1});
    static const char *const also[] = {"first", "second"}, *const outputs[] = {"of_first", "of_second"};
    for (int i = 0; i < 2; i++) {
        if (n->read != (i ? SECOND : FIRST) && n->read != BOTH) continue;
        xpu_onnx_node(&b, "DequantizeLinear", outputs[i], outputs[i],
                      (const char *const[]){also[i], "one", "nought", NULL});
        xpu_onnx_output(&b, outputs[i], 4, (const int64_t[]){1, n->channels, -1, -1});
    }
    return end_model(&b, arena, diags);
}

/* How the second layer runs: behind the first, beside it, or on rows that stay in SM, as those for the third may; these
 * alone may, too. */
typedef enum { BEHIND, BESIDE, IN_SM, ALL_IN_SM, RESULT_IN_SM, WAYS } together;

static together way_of(const char *described) {
    static const char in_sm[] = "\"reason\": \"with ", first[] = "\"reason\": \"with \\\\x27first";
    const char *with = strstr(described, in_sm);
    if (!with) return strstr(described, "\"reason\": \"beside ") ? BESIDE : BEHIND;
    if (strstr(with + 1, in_sm)) return ALL_IN_SM;
    return with == strstr(described, first) ? IN_SM : RESULT_IN_SM;
}

/* Of the three layers on rtl, which gives the same bytes. */
static long count_cycles(xpu_device_check *check, const network *n, const xpurt_tensor *input,
                         const xpurt_tensor *expected, size_t bytes) {
    char *stats = xpu_device_check_rtl(check, input, 1, expected->data, bytes);
    if (!stats) printf("%s\n", check->message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
    const long windows = xpu_device_check_cycles(stats, "second", "window");
    CU_ASSERT(windows > 0);
    const long cycles = (n->first ? xpu_device_check_cycles(stats, "first", "tensor") : 0) + windows +
                        xpu_device_check_cycles(stats, n->has_branch ? "sum" : "third", "tensor");
    free(stats);
    return cycles;
}

/* Every layer on func and ref, one behind the other for their dumps where rows stay in SM else; the result on func,
 * without races, and on rtl where cycles are asked for. */
static together run(const network *n, const char *chip, xpu_arena *arena, xpu_diags *diags, long *cycles) {
    xpu_device_check check;
    xpurt_tensor input = {"x", "float32", 4, {1, n->in, n->height, n->width}, x};
    xpurt_tensor y[3] = {0};
    int good = xpu_device_check_compile(&check, write_model(n, arena, diags), chip, "auto");
    if (!good) printf("%s\n", check.message);
    CU_ASSERT_FATAL(good);
    good = xpu_device_check_layers(&check, &input, 1, y);
    if (!good) printf("%s\n", check.message);
    CU_ASSERT_FATAL(good);
    const size_t bytes = sizeof(float) * (size_t)(n->out * y[0].dims[2] * y[0].dims[3]);
    for (uint32_t seed = 0; seed <= SEEDS; seed++) run_without_races(&check, &input, seed, &y[0], bytes);
    if (cycles) *cycles = count_cycles(&check, n, &input, &y[0], bytes);
    const together how = way_of(xpurt_describe(check.program, NULL));
    for (int i = 0; i < 3; i++) xpurt_tensor_clear(&y[i]);
    xpu_device_check_close(&check);
    return how;
}

static network random_network(uint32_t *state) {
    static const int64_t kernels[] = {1, 2, 3, 3, 3, 5, 7};
    network n = {.in = 4 + 4 * draw(state, 4), .channels = 4 + 4 * draw(state, 40)};
    n.height = 7 + draw(state, 50);
    n.width = 7 + draw(state, 50);
    n.first = draw(state, 3) ? 1 : 3;
    if (n.first == 3 && n.in * n.channels * 9 > MOST_WEIGHTS) n.first = 1;
    n.kernel = kernels[draw(state, 7)];
    n.stride = 1 + draw(state, 2);
    n.dilation = n.kernel == 3 ? 1 + draw(state, 3) : 1;
    n.read = draw(state, 3) ? NOTHING : draw(state, 2) ? FIRST : BOTH;
    n.out = OUT;
    for (int i = 0; i < 4; i++) n.pads[i] = draw(state, (uint32_t)n.kernel);
    return n;
}

static void with_arena(void (*body)(xpu_arena *arena, xpu_diags *diags)) {
    xpu_mem mem;
    xpu_diags diags;
    uint32_t state = 5;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    for (int i = 0; i < MOST_ELEMENTS; i++) x[i] = (float)draw(&state, 256);
    for (int i = 0; i < MOST_WEIGHTS; i++) weights[i] = (uint8_t)draw(&state, 256);
    for (int i = 0; i < MOST_BIASES; i++) biases[i] = (int32_t)draw(&state, 4000) - 2000;
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        body(xpu_arena_new(&mem, "test"), &diags);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void run_random_networks(int is_max, uint32_t *counts, xpu_arena *arena, xpu_diags *diags) {
    uint32_t state = is_max ? 2 : 1;
    long cycles;
    for (int i = 0; i < NETWORKS; i++) {
        network n = random_network(&state);
        n.is_max = is_max;
        if (is_max && n.kernel == 1) n.kernel = 2;
        counts[run(&n, "standard", arena, diags, &cycles)]++;
    }
}

static void print_counts(const uint32_t *counts) {
    printf("%u behind, %u beside, %u in SM, %u of them all three layers, %u the last two; ", counts[BEHIND],
           counts[BESIDE], counts[IN_SM] + counts[ALL_IN_SM] + counts[RESULT_IN_SM], counts[ALL_IN_SM],
           counts[RESULT_IN_SM]);
}

static void run_random(xpu_arena *arena, xpu_diags *diags) {
    uint32_t counts[WAYS] = {0};
    run_random_networks(0, counts, arena, diags);
    print_counts(counts);
    CU_ASSERT(counts[IN_SM] + counts[ALL_IN_SM] >= NETWORKS / 2 && counts[BESIDE] >= NETWORKS / 8);
    CU_ASSERT(counts[ALL_IN_SM] >= NETWORKS / 4 && counts[RESULT_IN_SM] >= NETWORKS / 12);
}

static void run_maxima(xpu_arena *arena, xpu_diags *diags) {
    uint32_t counts[WAYS] = {0};
    run_random_networks(1, counts, arena, diags);
    print_counts(counts);
    CU_ASSERT(counts[IN_SM] + counts[ALL_IN_SM] >= NETWORKS / 2);
    CU_ASSERT(counts[ALL_IN_SM] >= NETWORKS / 4);
}

/* Blocks as mobile networks have them, of any number of channels and with or without their branch, on three chips. */
static network random_block(uint32_t *state) {
    static const int64_t kernels[] = {3, 3, 5, 7};
    network n = {.in = 4 + 4 * draw(state, 12), .channels = 4 + 4 * draw(state, 48), .first = 1, .dilation = 1};
    n.height = 5 + draw(state, 40);
    n.width = 5 + draw(state, 40);
    n.kernel = kernels[draw(state, 4)];
    n.has_branch = draw(state, 2) == 0;
    n.stride = n.has_branch ? 1 : 1 + draw(state, 2);
    n.out = n.has_branch ? n.in : 4 + 4 * draw(state, 24);
    for (int i = 0; i < 4; i++) n.pads[i] = n.kernel / 2;
    return n;
}

/* The same layers where the windows' result is read by others take longer. */
static void check_faster(const network *n, long cycles, xpu_arena *arena, xpu_diags *diags) {
    network apart = *n;
    long cycles_apart;
    apart.read = SECOND;
    CU_ASSERT(run(&apart, "standard", arena, diags, &cycles_apart) < ALL_IN_SM);
    CU_ASSERT(cycles < cycles_apart);
}

static void run_blocks(xpu_arena *arena, xpu_diags *diags) {
    static const char *const chips[] = {"standard", "small-l3", "tests/chip/nano-window.json"};
    enum { CHIPS = sizeof chips / sizeof *chips };
    uint32_t state = 3, counts[CHIPS][WAYS] = {{0}}, branches = 0;
    long cycles;
    for (int i = 0; i < BLOCKS; i++) {
        const network n = random_block(&state);
        for (int chip = 0; chip < CHIPS; chip++) {
            const together how = run(&n, chips[chip], arena, diags, chip == 0 ? &cycles : NULL);
            if (chip == 0 && how == ALL_IN_SM) check_faster(&n, cycles, arena, diags);
            branches += n.has_branch && how == ALL_IN_SM;
            counts[chip][how]++;
        }
    }
    for (int chip = 0; chip < CHIPS; chip++) {
        printf("%u of %u on %s; ", counts[chip][ALL_IN_SM], (uint32_t)BLOCKS, chips[chip]);
        CU_ASSERT(counts[chip][ALL_IN_SM] >= BLOCKS / 3);
    }
    CU_ASSERT(branches >= BLOCKS / 4);
}

/* Windows over x itself, and a product of their pixels, to which x may be added: on the same chips. */
static void run_in_front(xpu_arena *arena, xpu_diags *diags) {
    static const char *const chips[] = {"standard", "small-l3", "tests/chip/nano-window.json"};
    enum { CHIPS = sizeof chips / sizeof *chips };
    uint32_t state = 7, counts[CHIPS][WAYS] = {{0}}, branches = 0, maxima_in_sm = 0;
    long cycles, apart;
    for (int i = 0; i < BLOCKS; i++) {
        network n = random_block(&state);
        if (!n.has_branch) n.in = n.channels;
        n.channels = n.in, n.first = 0, n.is_max = i % 3 == 0;
        for (int k = 0; k < 4; k++) n.pads[k] = n.has_branch ? n.kernel / 2 : draw(&state, (uint32_t)n.kernel);
        for (int chip = 0; chip < CHIPS; chip++) {
            const together how = run(&n, chips[chip], arena, diags, chip == 0 ? &cycles : NULL);
            counts[chip][how]++;
            if (chip > 0 || how != RESULT_IN_SM) continue;
            branches += n.has_branch;
            maxima_in_sm += n.is_max;
            n.read = SECOND;
            CU_ASSERT_EQUAL(run(&n, chips[chip], arena, diags, &apart), BEHIND);
            CU_ASSERT(cycles < apart);
            n.read = NOTHING;
        }
    }
    for (int chip = 0; chip < CHIPS; chip++) {
        printf("%u of %u on %s; ", counts[chip][RESULT_IN_SM], (uint32_t)BLOCKS, chips[chip]);
        CU_ASSERT(counts[chip][RESULT_IN_SM] >= BLOCKS / 2);
    }
    CU_ASSERT(branches >= BLOCKS / 4 && maxima_in_sm >= BLOCKS / 6);
}

static void run_large(xpu_arena *arena, xpu_diags *diags) {
    enum { MOST = 29500 }; /* the first two through SM, and the third behind them: 32,771 */
    network n = {16, 96, 64, 64, 1, 3, 1, 1, {1, 1, 1, 1}, NOTHING, OUT, 1};
    long cycles, apart;
    CU_ASSERT_EQUAL(run(&n, "standard", arena, diags, &cycles), ALL_IN_SM);
    n.read = SECOND;
    CU_ASSERT_EQUAL(run(&n, "standard", arena, diags, &apart), IN_SM);
    printf("%ld cycles, %ld one behind the other; ", cycles, apart);
    CU_ASSERT(cycles < MOST && cycles < apart);
}

/* Weights of the last product that do not fit beside all else: each block is needed once, as one step has all rows, and
 * comes with its channels in parts. */
static void run_deep(xpu_arena *arena, xpu_diags *diags) {
    const network blocks[] = {{160, 960, 7, 7, 1, 3, 1, 1, {1, 1, 1, 1}, NOTHING, 160, 1},
                              {160, 960, 7, 7, 1, 3, 1, 1, {1, 1, 1, 1}, NOTHING, 36, 0},
                              {96, 576, 14, 14, 1, 5, 2, 1, {2, 2, 2, 2}, NOTHING, 160, 0}};
    long cycles;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        CU_ASSERT_EQUAL(run(&blocks[i], "standard", arena, diags, &cycles), ALL_IN_SM);
}

/* Depthwise layers and products of pixels in turns, each smaller than those before. */
static const char *write_chain(xpu_arena *arena, xpu_diags *diags) {
    static const char *const names[] = {"first", "w1", "p1", "w2", "p2", "w3", "p3"};
    static const int64_t channels[] = {64, 64, 48, 48, 32, 32, 16}, none[4] = {0}, same[] = {1, 1, 1, 1},
                         one[2] = {1, 1};
    enum { LAYERS = sizeof names / sizeof *names };
    int64_t before = IN_OF_CHAIN;
    xpu_onnx_builder b;
    begin_model(&b, arena, (const int64_t[]){1, IN_OF_CHAIN, SIDE_OF_CHAIN, SIDE_OF_CHAIN});
    for (int i = 0; i < LAYERS; i++) {
        const int is_window = i % 2;
        const int64_t dims[] = {channels[i], is_window ? 1 : before, is_window ? 3 : 1, is_window ? 3 : 1};
        const int64_t steps[] = {is_window && i < 5 ? 2 : 1, 1};
        add_conv(&b, names[i], i ? names[i - 1] : "bytes", dims, is_window ? steps : one, is_window ? same : none,
                 is_window ? before : 1);
        before = channels[i];
    }
    xpu_onnx_node(&b, "DequantizeLinear", "y", "y", (const char *const[]){names[LAYERS - 1], "one", "nought", NULL});
    xpu_onnx_output(&b, "y", 4, (const int64_t[]){1, OUT, -1, -1});
    return end_model(&b, arena, diags);
}

/* A product behind windows does not begin a pipeline of its own with those behind it. */
static void run_chain(xpu_arena *arena, xpu_diags *diags) {
    static const char *const chips[] = {"standard", "small-l3", "tests/chip/tiny-window.json"};
    const char *model = write_chain(arena, diags);
    const xpurt_tensor input = {"x", "float32", 4, {1, IN_OF_CHAIN, SIDE_OF_CHAIN, SIDE_OF_CHAIN}, x};
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        xpu_device_check check;
        xpurt_tensor y = {0};
        CU_ASSERT_FATAL(xpu_device_check_compile(&check, model, chips[i], "auto"));
        const int good = xpu_device_check_layers(&check, &input, 1, &y);
        if (!good) printf("%s: %s\n", chips[i], check.message);
        CU_ASSERT_FATAL(good);
        const size_t bytes = sizeof(float) * (size_t)(OUT * y.dims[2] * y.dims[3]);
        for (uint32_t seed = 0; seed <= SEEDS; seed++) run_without_races(&check, &input, seed, &y, bytes);
        if (i == 0) CU_ASSERT_EQUAL(way_of(xpurt_describe(check.program, NULL)), ALL_IN_SM);
        xpurt_tensor_clear(&y);
        xpu_device_check_close(&check);
    }
}

static void run_tall(xpu_arena *arena, xpu_diags *diags) {
    const network n = {16, 32, 65535, 1, 1, 3, 1, 1, {1, 1, 1, 1}, SECOND, OUT, 0};
    CU_ASSERT_EQUAL(run(&n, "tests/chip/large-sm.json", arena, diags, NULL), IN_SM);
}

/* ---- layers that begin while the one before ends ---- */

typedef enum { PIXELS, CONVOLUTION, DEPTHWISE, MAXIMUM, SUM, KINDS } layer_kind;

typedef struct {
    const char *name;
    int64_t channels, height, width;
} image;

static int same_size(const image *a, const image *b) {
    return a->channels == b->channels && a->height == b->height && a->width == b->width;
}

/* A layer of a drawn kind behind the last of `images`; where none has that one's size, a sum is a depthwise layer. */
static image add_layer(xpu_onnx_builder *b, const image *images, int count, uint32_t *state) {
    static const int64_t none[4] = {0};
    const image *from = &images[count - 1], *other = NULL;
    const layer_kind kind = (layer_kind)draw(state, KINDS);
    const int64_t stride = from->height > 8 && from->width > 8 ? 1 + (draw(state, 3) == 0) : 1, edges[] = {1, 1, 1, 1},
                  one[] = {1, 1}, steps[] = {stride, 1};
    image to = {xpu_printf(b->arena, "layer%d", count), from->channels, from->height, from->width};
    for (int i = 0; i + 1 < count; i++)
        if (same_size(&images[i], from)) other = &images[i];
    if (kind == SUM && other) {
        const char *const inputs[] = {from->name, "ys", "zero", other->name, "ys", "zero", "ys", "zero", NULL};
        xpu_onnx_domain(b, xpu_onnx_node(b, "QLinearAdd", to.name, to.name, inputs), "com.microsoft");
        return to;
    }
    if (kind == PIXELS || kind == CONVOLUTION) {
        const int64_t kernel = kind == PIXELS ? 1 : 3;
        to.channels = draw(state, 3) ? 4 + 4 * draw(state, MOST_CHANNELS_OF_ROW / 4) : from->channels;
        add_conv(b, to.name, from->name, (const int64_t[]){to.channels, from->channels, kernel, kernel}, one,
                 kind == PIXELS ? none : edges, 1);
        return to;
    }
    to.height = (from->height - 1) / stride + 1, to.width = (from->width - 1) / stride + 1;
    if (kind == MAXIMUM)
        add_maximum(b, to.name, from->name,
                    &(network){.kernel = 3, .stride = stride, .dilation = 1, .pads = {1, 1, 1, 1}});
    else
        add_conv(b, to.name, from->name, (const int64_t[]){to.channels, 1, 3, 3}, steps, edges, to.channels);
    return to;
}

static const char *write_row(image *last, int64_t *side, uint32_t *state, xpu_arena *arena, xpu_diags *diags) {
    enum { LEAST = 3, MOST = 9 };
    image images[MOST + 1] = {{"bytes", IN_OF_CHAIN, 7 + draw(state, 34), 7 + draw(state, 34)}};
    const int layers = LEAST + (int)draw(state, MOST - LEAST + 1);
    xpu_onnx_builder b;
    side[0] = images[0].height, side[1] = images[0].width;
    begin_model(&b, arena, (const int64_t[]){1, IN_OF_CHAIN, side[0], side[1]});
    for (int i = 1; i <= layers; i++) images[i] = add_layer(&b, images, i, state);
    *last = images[layers];
    xpu_onnx_node(&b, "DequantizeLinear", "y", "y", (const char *const[]){last->name, "one", "nought", NULL});
    xpu_onnx_output(&b, "y", 4, (const int64_t[]){1, last->channels, last->height, last->width});
    return end_model(&b, arena, diags);
}

static void run_rows(xpu_arena *arena, xpu_diags *diags) {
    static const char *const chips[] = {"standard", "small-l3", "nano", "tests/chip/nano-window.json"};
    enum { ROWS = 16, CHIPS = sizeof chips / sizeof *chips };
    uint32_t state = 11;
    for (int i = 0; i < ROWS; i++) {
        image last;
        int64_t side[2];
        const char *model = write_row(&last, side, &state, arena, diags);
        const xpurt_tensor input = {"x", "float32", 4, {1, IN_OF_CHAIN, side[0], side[1]}, x};
        const size_t bytes = sizeof(float) * (size_t)(last.channels * last.height * last.width);
        for (int chip = 0; chip < CHIPS; chip++) {
            xpu_device_check check;
            xpurt_tensor y = {0};
            CU_ASSERT_FATAL(xpu_device_check_compile(&check, model, chips[chip], "auto"));
            const int good = xpu_device_check_layers(&check, &input, 1, &y);
            if (!good) printf("%d on %s: %s\n", i, chips[chip], check.message);
            CU_ASSERT_FATAL(good);
            for (uint32_t seed = 0; seed <= SEEDS; seed++) run_without_races(&check, &input, seed, &y, bytes);
            char *stats = chip == 0 ? xpu_device_check_rtl(&check, &input, 1, y.data, bytes) : NULL;
            CU_ASSERT(chip > 0 || stats != NULL);
            free(stats);
            xpurt_tensor_clear(&y);
            xpu_device_check_close(&check);
        }
    }
}

static void random_networks(void) {
    with_arena(run_random);
}

static void maxima(void) {
    with_arena(run_maxima);
}

static void blocks(void) {
    with_arena(run_blocks);
}

static void in_front(void) {
    with_arena(run_in_front);
}

static void large(void) {
    with_arena(run_large);
}

static void deep(void) {
    with_arena(run_deep);
}

static void chain(void) {
    with_arena(run_chain);
}

static void rows(void) {
    with_arena(run_rows);
}

static void tall(void) {
    with_arena(run_tall);
}

XPU_TEST_MAIN("beside a product", {"random", random_networks}, {"maxima", maxima}, {"blocks", blocks},
              {"in_front", in_front}, {"large", large}, {"deep", deep}, {"chain", chain}, {"rows", rows},
              {"tall", tall})
