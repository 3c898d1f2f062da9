/*
 * What a program needs at least is never more than what it takes: on the Verilated chip utilisation is at most 1, and
 * no bound of a layer is over its cycles. Random networks at several precisions, networks that are little but movement,
 * and one layer alone. XPU_RANDOM_SEED=N replays one seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/gen/onnx_build.h"
#include "tests/gen/random_cnn.h"
#include "tests/unit/unit.h"
#include "tools/common/inputs.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/include/xpurt_rtl.h"
#include "xpuc/include/xpuc.h"

enum { SEEDS = 12, CHANNELS = 32, SIDE = 64, ELEMENTS = CHANNELS * SIDE * SIDE };

static float noise[2 * ELEMENTS];

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    const char *folder;
    unsigned runs, layers, bounds;
    double most; /* utilisation, of a run or a layer */
} bench;

static void bench_open(bench *b) {
    b->arena = xpu_arena_new(&b->mem, "test");
    xpu_diags_init(&b->diags);
    b->folder = xpu_temporary_folder(b->arena, &b->diags);
}

static void bench_close(bench *b) {
    printf("\n%u runs, %u layers with %u bounds, at most %.1f %%; ", b->runs, b->layers, b->bounds, 100 * b->most);
    xpu_diags_clear(&b->diags);
    xpu_mem_release(&b->mem);
}

#define BENCH_OPEN(b)                                                                                                  \
    bench b = {.runs = 0};                                                                                             \
    xpu_mem_init(&b.mem);                                                                                              \
    if (setjmp(b.mem.out_of_memory)) exit(EXIT_FAILURE);                                                               \
    bench_open(&b)

static const xpurt_device_driver *rtl_driver(const char *chip) {
    const char *build = getenv("XPU_BUILD");
    char folder[1024];
    xpurt_error error = {0};
    snprintf(folder, sizeof folder, "%s/lib", build ? build : "build");
    const xpurt_device_driver *driver = xpurt_rtl_load(chip, folder, NULL, &error);
    if (!driver) fprintf(stderr, "%s", error.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(driver);
    return driver;
}

/* ---- what statistics must be ---- */

static void note(bench *b, const char *what, const char *of, double bound, double cycles) {
    if (bound > b->most * cycles) b->most = bound / cycles;
    if (!(bound <= cycles)) printf("\n%s, %s: at least %.0f of %.0f cycles", what, of, bound, cycles);
    CU_ASSERT(bound <= cycles);
}

/* bound_cycles. */
static double check_stats(bench *b, const char *what, const char *text) {
    json_t *stats = xpu_json_parse(b->arena, text, strlen(text), "stats", &b->diags), *layer, *value;
    const char *key;
    size_t i;
    CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
    double cycles = (double)json_integer_value(json_object_get(stats, "cycles"));
    double bound = (double)json_integer_value(json_object_get(stats, "bound_cycles"));
    CU_ASSERT(cycles > 0);
    note(b, what, "all", bound, cycles);
    CU_ASSERT(json_number_value(json_object_get(stats, "utilisation")) <= 1);
    json_array_foreach(json_object_get(stats, "layers"), i, layer) {
        double own = (double)json_integer_value(json_object_get(layer, "cycles"));
        json_object_foreach(json_object_get(layer, "bounds"), key, value) {
            const char *of =
                xpu_printf(b->arena, "layer %zu (%s), %s", i, json_string_value(json_object_get(layer, "op")), key);
            note(b, what, of, (double)json_integer_value(value), own);
            b->bounds++;
        }
        b->layers++;
    }
    b->runs++;
    return bound;
}

static double run_file(bench *b, const char *what, const char *model, const char *chip, const char *precision,
                       const xpurt_tensor *inputs, uint32_t count, const xpurt_run_options *options) {
    xpuc_options how = {.chip = chip, .precision = precision};
    xpuc_result compiled;
    xpuc_error compiling = {0};
    xpurt_error error = {0};
    double bound = 0;
    if (xpuc_compile_file(model, &how, &compiled, &compiling)) fprintf(stderr, "\n%s: %s", what, compiling.text);
    CU_ASSERT_EQUAL_FATAL(compiling.status, 0);
    xpuc_error_clear(&compiling);
    xpurt_program *program = xpurt_open_memory(compiled.bytes, compiled.size, what, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    uint32_t results = xpurt_output_count(program);
    xpurt_tensor *outputs = XPU_NEW_ARRAY(b->arena, xpurt_tensor, results + 1);
    char *stats = NULL;
    xpurt_run_options with = *options;
    with.stats = &stats;
    if (xpurt_run(program, inputs, count, outputs, &with, &error)) fprintf(stderr, "\n%s: %s", what, error.text);
    CU_ASSERT_EQUAL(error.status, 0);
    if (!error.status) bound = check_stats(b, what, stats);
    free(stats);
    for (uint32_t i = 0; i < results; i++) xpurt_tensor_clear(&outputs[i]);
    xpurt_error_clear(&error);
    xpurt_close(program);
    xpuc_result_clear(&compiled);
    return bound;
}

static const char *write_model(bench *b, const void *bytes, size_t length) {
    const char *path = xpu_path_join(b->arena, b->folder, "model.onnx");
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b->arena, path, bytes, length, &b->diags), XPU_OK);
    return path;
}

/* ---- random networks ---- */

static void run_random(bench *b, uint64_t seed, int is_quantised, const char *precision) {
    xpu_random_network network;
    xpu_random_quantised quantised;
    if (is_quantised) {
        xpu_random_qcnn(b->arena, seed, &quantised);
        network = quantised.network;
    } else {
        xpu_random_cnn(b->arena, seed, &network);
    }
    const xpurt_tensor input = xpu_to_runtime(network.input_name, &network.input);
    const xpurt_run_options options = {.device = rtl_driver("nano")};
    run_file(b, xpu_printf(b->arena, "seed %d, %s", (int)seed, is_quantised ? "quantised" : precision),
             write_model(b, network.model, network.model_bytes), "nano", precision, &input, 1, &options);
}

static void random_networks(void) {
    static const char *const precisions[] = {"fp32", "int16", "int16x8"};
    const char *only = getenv("XPU_RANDOM_SEED");
    uint64_t first = only ? strtoull(only, NULL, 10) : 1, last = only ? first : SEEDS;
    BENCH_OPEN(b);
    for (uint64_t seed = first; seed <= last; seed++) {
        for (int i = 0; i < 3; i++)
            if (only || seed % 3 == (uint64_t)i) run_random(&b, seed, 0, precisions[i]);
        run_random(&b, seed, 1, "auto");
    }
    CU_ASSERT(b.bounds > 100 || only);
    bench_close(&b);
}

/* ---- little but movement ---- */

static const int64_t image_dims[] = {1, CHANNELS, SIDE, SIDE};

static const char *pack(bench *b, xpu_onnx_builder *builder) {
    size_t length;
    void *bytes = xpu_onnx_pack(builder, "network", &length);
    return write_model(b, bytes, length);
}

static xpurt_tensor image(const char *name) {
    return (xpurt_tensor){name, "float32", 4, {1, CHANNELS, SIDE, SIDE}, noise};
}

/* Two inputs side by side: on standard all lies in L3, which reads and writes in one cycle; on nano in GM, which does
 * not. */
static const char *concat_model(bench *b) {
    xpu_onnx_builder builder;
    xpu_onnx_begin(&builder, b->arena, 13);
    xpu_onnx_input(&builder, "a", 4, image_dims);
    xpu_onnx_input(&builder, "b", 4, image_dims);
    XpuOnnx__NodeProto *node = xpu_onnx_node(&builder, "Concat", "c", "y", (const char *const[]){"a", "b", NULL});
    xpu_onnx_int(&builder, node, "axis", 0);
    xpu_onnx_output(&builder, "y", 4, (const int64_t[]){2, CHANNELS, SIDE, SIDE});
    return pack(b, &builder);
}

/* nano with a faster GM: the program's chip but for time. */
static const char *faster_nano(bench *b) {
    char text[4096] = "";
    FILE *file = fopen("configs/chip/nano.json", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    char *rate = strstr(text, "\"bytes_per_cycle\": 16,");
    CU_ASSERT_FATAL(length > 0 && rate != NULL);
    memcpy(rate, "\"bytes_per_cycle\": 32,", 22);
    return xpu_strdup(b->arena, text);
}

static void movement(void) {
    BENCH_OPEN(b);
    const xpurt_tensor inputs[] = {image("a"), image("b")};
    const xpurt_run_options standard = {.device = rtl_driver("standard")};
    const char *model = concat_model(&b);
    double bytes = 4.0 * ELEMENTS * 2; /* in each direction */
    CU_ASSERT_EQUAL(run_file(&b, "concat in L3", model, "standard", "fp32", inputs, 2, &standard), bytes / 64);
    xpurt_run_options nano = {.device = rtl_driver("nano")};
    CU_ASSERT_EQUAL(run_file(&b, "concat in GM", model, "nano", "fp32", inputs, 2, &nano), 2 * bytes / 16);
    nano.chip_json = faster_nano(&b);
    CU_ASSERT_EQUAL(run_file(&b, "concat in faster GM", model, "nano", "fp32", inputs, 2, &nano), 2 * bytes / 32);
    CU_ASSERT(b.most > 0.7);
    bench_close(&b);
}

/* Large inputs of which nothing is used, and pixels that a stride leaves out. */
static void unused(void) {
    BENCH_OPEN(b);
    const xpurt_tensor inputs[] = {image("x"), {"z", "float32", 4, {1, 1, 4, 16}, noise}};
    const xpurt_run_options standard = {.device = rtl_driver("standard")}, nano = {.device = rtl_driver("nano")};
    xpu_onnx_builder builder;
    xpu_onnx_begin(&builder, b.arena, 13);
    xpu_onnx_input(&builder, "x", 4, image_dims);
    xpu_onnx_input(&builder, "z", 4, inputs[1].dims);
    xpu_onnx_node(&builder, "Relu", "r", "y", (const char *const[]){"z", NULL});
    xpu_onnx_output(&builder, "y", 4, inputs[1].dims);
    const char *model = pack(&b, &builder);
    run_file(&b, "an input that nobody reads, in GM", model, "nano", "fp32", inputs, 2, &nano);
    run_file(&b, "an input that nobody reads, in L3", model, "standard", "fp32", inputs, 2, &standard);
    xpu_tensor weights = {.dtype = XPU_F32, .rank = 4, .dims = {16, CHANNELS, 1, 1}, .data = noise};
    xpu_onnx_begin(&builder, b.arena, 13);
    xpu_onnx_input(&builder, "x", 4, image_dims);
    xpu_onnx_initializer(&builder, "w", &weights, 0);
    XpuOnnx__NodeProto *conv = xpu_onnx_node(&builder, "Conv", "c", "y", (const char *const[]){"x", "w", NULL});
    xpu_onnx_ints(&builder, conv, "strides", (const int64_t[]){4, 4}, 2);
    xpu_onnx_output(&builder, "y", 4, (const int64_t[]){1, 16, SIDE / 4, SIDE / 4});
    model = pack(&b, &builder);
    run_file(&b, "1 x 1 with stride 4", model, "standard", "int16", inputs, 1, &standard);
    run_file(&b, "1 x 1 with stride 4", model, "nano", "int16x8", inputs, 1, &nano);
    bench_close(&b);
}

/* The other layers' work, weights and inputs are not asked for. */
static void one_layer(void) {
    BENCH_OPEN(b);
    static float digit[28 * 28];
    const xpurt_tensor input = {"Input3", "float32", 4, {1, 1, 28, 28}, digit};
    const char *dump = xpu_path_join(b.arena, b.folder, "dump"), *model = "tests/models/mnist-8.onnx";
    xpurt_run_options options = {.device = rtl_driver("nano"), .dump_folder = dump};
    run_file(&b, "mnist-8", model, "nano", "int16", &input, 1, &options);
    options.dump_folder = NULL, options.from_dump = dump, options.layer = "Plus214";
    run_file(&b, "layer Plus214", model, "nano", "int16", NULL, 0, &options);
    bench_close(&b);
}

static void fill(void) {
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) noise[i] = (float)(i * 37 % 101) / 101 - 0.5f;
}

XPU_TEST_MAIN("utilisation", {"fill", fill}, {"random networks", random_networks}, {"movement", movement},
              {"unused", unused}, {"one layer", one_layer})
