/* libxpurt: opening, binding inputs, running on ref and func, dumps, replay, faults, and memory that runs out. */
#include <elf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/npy.h"
#include "sim/func/driver.h"
#include "tests/unit/unit.h"
#include "tools/common/dump.h"
#include "tools/common/inputs.h"
#include "core/chip.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/program/file.h"
#include "xpuc/include/xpuc.h"

#define MODEL  "examples/digits/digits.onnx"
#define IMAGES "examples/digits/digits_heldout.npz"

enum { MOST = 16, PIXELS = 256, CLASSES = 10 };

/* The digits network at one precision, compiled once; images of the held-out set. */
typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    xpuc_result compiled; /* shared */
    xpurt_program *program;
    const float *images;
    char *folder; /* temporary */
} bench;

#define IN_L3 "+L3" /* behind a precision: with weights copied into L3 */

/* Compiled at its first use, once for all tests. */
static const xpuc_result *compiled_at(const char *variant) {
    static xpuc_result results[4];
    int is_fp32 = strncmp(variant, "fp32", 4) == 0, in_l3 = strstr(variant, IN_L3) != NULL;
    xpuc_result *result = &results[is_fp32 + 2 * in_l3];
    static const char *const shapes[] = {"x=1..16,1,16,16", NULL};
    xpuc_options options = {.shapes = shapes,
                            .precision = is_fp32 ? "fp32" : "int16",
                            .memory_rules = in_l3 ? "configs/memory/weights-in-l3.json" : NULL};
    xpuc_error error = {0};
    if (result->bytes) return result;
    int status = xpuc_compile_file(MODEL, &options, result, &error);
    if (status) fprintf(stderr, "%s", error.text);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    xpuc_error_clear(&error);
    return result;
}

static void bench_open(bench *b, const char *precision) {
    xpurt_error error = {0};
    xpu_named_tensors entries = {0};
    xpu_diags_init(&b->diags);
    b->arena = xpu_arena_new(&b->mem, "test");
    b->folder = xpu_temporary_folder(b->arena, &b->diags);
    b->compiled = *compiled_at(precision);
    b->program = xpurt_open_memory(b->compiled.bytes, b->compiled.size, "digits.xpu", &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->program);
    CU_ASSERT_EQUAL_FATAL(xpu_npz_read(b->arena, IMAGES, &entries, &b->diags), XPU_OK);
    for (uint32_t i = 0; i < entries.count; i++) {
        if (strcmp(entries.items[i].name, "x") == 0) b->images = entries.items[i].tensor.data;
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->images);
}

static void bench_close(bench *b) {
    xpurt_close(b->program);
    xpu_diags_clear(&b->diags);
    xpu_mem_release(&b->mem);
}

#define BENCH_OPEN(b, precision)                                                                                       \
    bench b = {.program = NULL};                                                                                       \
    xpu_mem_init(&b.mem);                                                                                              \
    if (setjmp(b.mem.out_of_memory)) exit(EXIT_FAILURE);                                                               \
    bench_open(&b, precision)

static xpurt_tensor images_of(const bench *b, int64_t first, int64_t count) {
    return (xpurt_tensor){.name = "x",
                          .dtype = "float32",
                          .rank = 4,
                          .dims = {count, 1, 16, 16},
                          .data = (void *)(uintptr_t)(b->images + first * PIXELS)};
}

/* Runs `count` images; the caller clears the output. A failure is printed. */
static int run(bench *b, const xpurt_run_options *options, int64_t count, xpurt_tensor *output) {
    xpurt_error error = {0};
    xpurt_tensor input = images_of(b, 0, count);
    int status = xpurt_run(b->program, &input, 1, output, options, &error);
    if (status) fprintf(stderr, "%s", error.text);
    CU_ASSERT_EQUAL(status, 0);
    xpurt_error_clear(&error);
    return status;
}

/* What xpurt_run_options.stats gave. */
static json_t *take_stats(bench *b, char **text) {
    json_t *stats = xpu_json_parse(b->arena, *text, strlen(*text), "stats", &b->diags);
    free(*text);
    *text = NULL;
    return stats;
}

static void expect_text(const xpurt_error *error, const char *expected) {
    CU_ASSERT_PTR_NOT_NULL(error->text);
    if (!error->text) return;
    if (strcmp(error->text, expected) != 0) fprintf(stderr, "got:\n%sexpected:\n%s", error->text, expected);
    CU_ASSERT_STRING_EQUAL(error->text, expected);
}

/* ---- opening ---- */

static void open_errors(void) {
    xpurt_error error = {0};
    CU_ASSERT_PTR_NULL(xpurt_open("/nonexistent/digits.xpu", &error));
    CU_ASSERT_EQUAL(error.status, XPU_EIO);
    expect_text(&error, "/nonexistent/digits.xpu: error [io-open] the file cannot be opened\n"
                        "  why: No such file or directory (errno 2)\n"
                        "  hint: check the spelling of the path\n");
    xpurt_error_clear(&error);
    CU_ASSERT_PTR_NULL(error.text);
    CU_ASSERT_PTR_NULL(xpurt_open_memory("hello", 5, "hello.xpu", &error));
    CU_ASSERT_EQUAL(error.status, XPU_EIO);
    expect_text(&error, "hello.xpu: error [xpu-format] this is not a program that xpuc made\n"
                        "  why: it is shorter than an ELF header\n"
                        "  hint: compile the model again with xpuc\n");
    xpurt_error_clear(&error);
    CU_ASSERT_PTR_NULL(xpurt_open_memory(NULL, 0, NULL, &error));
    xpurt_error_clear(&error);
    CU_ASSERT_PTR_NULL(xpurt_open("examples", &error));
    CU_ASSERT_EQUAL(error.status, XPU_EIO);
    xpurt_error_clear(&error);
    xpurt_close(NULL);
}

static void queries(void) {
    BENCH_OPEN(b, "fp32");
    xpurt_tensor info;
    CU_ASSERT_EQUAL(xpurt_input_count(b.program), 1);
    CU_ASSERT_EQUAL(xpurt_output_count(b.program), 1);
    xpurt_input(b.program, 0, &info);
    CU_ASSERT_STRING_EQUAL(info.name, "x");
    CU_ASSERT_STRING_EQUAL(info.dtype, "float32");
    CU_ASSERT_EQUAL(info.rank, 4);
    CU_ASSERT(info.dims[0] == -1 && info.dims[1] == 1 && info.dims[2] == 16 && info.dims[3] == 16);
    xpurt_output(b.program, 0, &info);
    CU_ASSERT_STRING_EQUAL(info.name, "logits");
    CU_ASSERT(info.rank == 2 && info.dims[0] == -1 && info.dims[1] == CLASSES && !info.data);
    CU_ASSERT_PTR_NOT_NULL(strstr(xpurt_chip_json(b.program), "standard"));
    const char *text = xpurt_describe(b.program, NULL);
    json_t *about = xpu_json_parse(b.arena, text, strlen(text), "description", &b.diags);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(about, "source")), "digits.onnx");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(about, "precision")), "fp32");
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(about, "source_nodes")), 20);
    CU_ASSERT(json_array_size(json_object_get(about, "layers")) > 4);
    bench_close(&b);
}

/* ---- binding ---- */

/* Inputs that the digits network does not take. */
typedef struct {
    const char *name;
    xpurt_tensor inputs[2];
    uint32_t count;
    const char *expected;
} binding;

static float zeros[MOST * PIXELS];
static const binding wrong_inputs[] = {
    {"none",
     {{0}},
     0,
     "digits.xpu: error [input-missing] input 'x': it is missing\n"
     "  why: the model takes 1, 0 given\n"
     "  hint: inputs are: x float32 [N,1,16,16]\n"},
    {"unknown",
     {{"y", "float32", 4, {1, 1, 16, 16}, zeros}},
     1,
     "digits.xpu: error [input-unknown] input 'y': the model has no such input\n"
     "  why: inputs are: x float32 [N,1,16,16]\n"
     "  hint: give it the name of one of these\n"},
    {"one too many",
     {{"x", "float32", 4, {1, 1, 16, 16}, zeros}, {NULL, "float32", 4, {1, 1, 16, 16}, zeros}},
     2,
     "digits.xpu: error [input-unknown] input #1: the model has no such input\n"
     "  why: inputs are: x float32 [N,1,16,16]\n"
     "  hint: give it the name of one of these\n"},
    {"twice",
     {{"x", "float32", 4, {1, 1, 16, 16}, zeros}, {"x", "float32", 4, {1, 1, 16, 16}, zeros}},
     2,
     "digits.xpu: error [input-twice] input 'x': it is given twice\n"
     "  why: an input takes one tensor\n"
     "  hint: give each --input once\n"},
    {"dtype",
     {{"x", "float64", 4, {1, 1, 16, 16}, zeros}},
     1,
     "digits.xpu: error [input-dtype] input 'x': it has the wrong element type\n"
     "  why: the model takes float32, the tensor is float64\n"
     "  hint: convert it, in NumPy: x.astype('float32')\n"},
    {"no dtype",
     {{"x", NULL, 4, {1, 1, 16, 16}, zeros}},
     1,
     "digits.xpu: error [input-dtype] input 'x': it has the wrong element type\n"
     "  why: the model takes float32, the tensor is none\n"
     "  hint: convert it, in NumPy: x.astype('float32')\n"},
    {"rank",
     {{"x", "float32", 3, {1, 16, 16}, zeros}},
     1,
     "digits.xpu: error [input-shape] input 'x': it has the wrong number of dimensions\n"
     "  why: the model takes 4, the tensor has 3\n"
     "  hint: inputs are: x float32 [N,1,16,16]\n"},
    {"dim",
     {{"x", "float32", 4, {1, 1, 16, 15}, zeros}},
     1,
     "digits.xpu: error [input-shape] input 'x': it has the wrong shape\n"
     "  why: dimension 3 is 15, the model takes 16 ([1,1,16,15])\n"
     "  hint: inputs are: x float32 [N,1,16,16]\n"},
    {"range",
     {{"x", "float32", 4, {17, 1, 16, 16}, zeros}},
     1,
     "digits.xpu: error [shape-range] symbol 'N': the input's shape is out of range\n"
     "  why: N is 17, the program was compiled for 1..16\n"
     "  hint: compile with a larger range: xpuc --shape\n"},
    {"nothing in it",
     {{"x", "float32", 4, {0, 1, 16, 16}, zeros}},
     1,
     "digits.xpu: error [shape-range] symbol 'N': the input's shape is out of range\n"
     "  why: N is 0, the program was compiled for 1..16\n"
     "  hint: compile with a larger range: xpuc --shape\n"},
    {"no data",
     {{"x", "float32", 4, {1, 1, 16, 16}, NULL}},
     1,
     "digits.xpu: error [input-data] input 'x': it has no data\n"
     "  why: the tensor's pointer is NULL\n"
     "  hint: inputs are: x float32 [N,1,16,16]\n"},
};

static void bindings(void) {
    BENCH_OPEN(b, "fp32");
    for (size_t i = 0; i < sizeof wrong_inputs / sizeof *wrong_inputs; i++) {
        xpurt_error error = {0};
        xpurt_tensor output;
        int status = xpurt_run(b.program, wrong_inputs[i].inputs, wrong_inputs[i].count, &output, NULL, &error);
        if (status != XPU_EUSAGE) fprintf(stderr, "case '%s': status %d\n", wrong_inputs[i].name, status);
        CU_ASSERT_EQUAL(status, XPU_EUSAGE);
        CU_ASSERT_EQUAL(error.status, XPU_EUSAGE);
        CU_ASSERT_PTR_NULL(output.data);
        expect_text(&error, wrong_inputs[i].expected);
        xpurt_error_clear(&error);
    }
    bench_close(&b);
}

/* ---- running ---- */

/* From a file and from memory, on both devices, for every batch size: one program serves them all. */
static void every_batch_size_at(const char *precision) {
    BENCH_OPEN(b, precision);
    const char *path = xpu_path_join(b.arena, b.folder, "digits.xpu");
    CU_ASSERT_EQUAL(xpu_file_write(b.arena, path, b.compiled.bytes, b.compiled.size, &b.diags), XPU_OK);
    xpurt_program *in_memory = b.program, *from_file = xpurt_open(path, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(from_file);
    const xpurt_run_options func = {.device = &xpu_func_driver};
    int is_fp32 = strcmp(precision, "fp32") == 0;
    xpurt_tensor all, on_ref, on_func;
    CU_ASSERT_EQUAL_FATAL(run(&b, NULL, MOST, &all), 0);
    for (int64_t count = 1; count <= MOST; count++) {
        size_t bytes = (size_t)count * CLASSES * sizeof(float);
        b.program = in_memory;
        if (run(&b, NULL, count, &on_ref)) break;
        b.program = from_file;
        if (run(&b, &func, count, &on_func)) break;
        CU_ASSERT(on_func.rank == 2 && on_func.dims[0] == count && on_func.dims[1] == CLASSES);
        CU_ASSERT_EQUAL(memcmp(on_ref.data, on_func.data, bytes), 0);
        /* In int16 the scales, and so the results, depend on the whole batch. */
        CU_ASSERT(!is_fp32 || memcmp(on_func.data, all.data, bytes) == 0);
        xpurt_tensor_clear(&on_ref);
        xpurt_tensor_clear(&on_func);
    }
    xpurt_tensor_clear(&all);
    b.program = in_memory;
    xpurt_close(from_file);
    bench_close(&b);
}

static void every_batch_size(void) {
    every_batch_size_at("fp32");
    every_batch_size_at("int16");
}

static void statistics(void) {
    BENCH_OPEN(b, "int16");
    const char *path = xpu_path_join(b.arena, b.folder, "stats.json");
    char *stats_text = NULL;
    const xpurt_run_options func = {.device = &xpu_func_driver, .stats_file = path, .stats = &stats_text},
                            ref = {.stats = &stats_text};
    static const char *const keys[] = {"chip",   "device", "precision", "macs",         "instructions",
                                       "wall_s", "layers", "load_s",    "gm_read_bytes"};
    xpurt_tensor output;
    run(&b, &func, 3, &output);
    xpurt_tensor_clear(&output);
    json_t *stats = xpu_json_read(b.arena, path, &b.diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) CU_ASSERT_PTR_NOT_NULL(json_object_get(stats, keys[i]));
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(stats, "device")), "func");
    CU_ASSERT(json_integer_value(json_object_get(stats, "instructions")) > 1000);
    CU_ASSERT(json_integer_value(json_object_get(stats, "engine_macs")) > 0);
    json_t *text = take_stats(&b, &stats_text);
    CU_ASSERT(json_equal(stats, text) || json_object_size(stats) == json_object_size(text));
    int64_t macs = 0;
    size_t i;
    json_t *layer;
    json_array_foreach(json_object_get(stats, "layers"), i, layer) {
        CU_ASSERT_EQUAL(json_integer_value(json_object_get(layer, "index")), (json_int_t)i);
        macs += json_integer_value(json_object_get(layer, "macs"));
    }
    CU_ASSERT_EQUAL(macs, json_integer_value(json_object_get(stats, "macs")));
    run(&b, &ref, 3, &output);
    xpurt_tensor_clear(&output);
    text = take_stats(&b, &stats_text);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(text, "device")), "ref");
    CU_ASSERT_PTR_NULL(json_object_get(text, "instructions"));
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(text, "macs")), macs);
    bench_close(&b);
}

static void count_layer(void *context, uint32_t done, uint32_t layers, const char *layer) {
    uint32_t *seen = context;
    CU_ASSERT_EQUAL(done, *seen + 1);
    CU_ASSERT(done <= layers && layer && layer[0]);
    *seen = done;
}

static void progress(void) {
    BENCH_OPEN(b, "fp32");
    const xpurt_device_driver *const devices[] = {NULL, &xpu_func_driver};
    for (int d = 0; d < 2; d++) {
        uint32_t seen = 0;
        xpurt_run_options options = {.device = devices[d], .progress = count_layer, .context = &seen};
        xpurt_tensor output;
        run(&b, &options, 1, &output);
        xpurt_tensor_clear(&output);
        CU_ASSERT(seen > 4);
    }
    bench_close(&b);
}

static void another_chip(void) {
    BENCH_OPEN(b, "int16");
    size_t length;
    char *nano = xpu_file_read_all(b.arena, "configs/chip/nano.json", 1 << 20, &length, &b.diags);
    char *own = xpu_strdup(b.arena, xpurt_chip_json(b.program));
    xpurt_run_options options = {.device = &xpu_func_driver, .chip_json = nano};
    xpurt_error error = {0};
    xpurt_tensor input = images_of(&b, 0, 1), output;
    CU_ASSERT_EQUAL(xpurt_run(b.program, &input, 1, &output, &options, &error), XPU_EUSAGE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(error.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "digits.xpu: error [chip-abi] the program was compiled for another chip\n"
                                              "  why: its ABI hash is 0x"));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "hint: compile it with xpuc --chip=nano\n"));
    xpurt_error_clear(&error);
    options.chip_json = own;
    CU_ASSERT_EQUAL(run(&b, &options, 1, &output), 0);
    xpurt_tensor_clear(&output);
    options.chip_json = "{}";
    CU_ASSERT_EQUAL(xpurt_run(b.program, &input, 1, &output, &options, &error), XPU_EUSAGE);
    xpurt_error_clear(&error);
    bench_close(&b);
}

/* The chip's JSON with L3 of so many bytes. */
static const char *chip_with_l3(bench *b, uint32_t bytes) {
    xpu_chip chip;
    const char *own = xpurt_chip_json(b->program);
    CU_ASSERT_EQUAL_FATAL(xpu_chip_parse(b->arena, own, strlen(own), "chip", &chip, &b->diags), XPU_OK);
    chip.l3_bytes = bytes;
    return xpu_chip_json(b->arena, &chip);
}

/* Planned for a smaller L3 a program gives the same bits, with more of them in GM; for a larger one it is refused. */
static void smaller_memory(void) {
    BENCH_OPEN(b, "int16");
    xpurt_run_options options = {.device = &xpu_func_driver};
    xpurt_error error = {0};
    xpurt_tensor input = images_of(&b, 0, 1), outputs[2];
    CU_ASSERT_EQUAL(run(&b, &options, 1, &outputs[0]), 0);
    options.memory_json = chip_with_l3(&b, 65536);
    CU_ASSERT_EQUAL(run(&b, &options, 1, &outputs[1]), 0);
    CU_ASSERT_EQUAL(memcmp(outputs[0].data, outputs[1].data, 10 * sizeof(float)), 0);
    options.memory_json = chip_with_l3(&b, 1u << 30);
    CU_ASSERT_EQUAL(xpurt_run(b.program, &input, 1, &outputs[1], &options, &error), XPU_EUSAGE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(error.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "[memory-larger] the chip has no such memory"));
    xpurt_error_clear(&error);
    options.memory_json = "{";
    CU_ASSERT_EQUAL(xpurt_run(b.program, &input, 1, &outputs[1], &options, &error), XPU_EUSAGE);
    xpurt_error_clear(&error);
    xpurt_tensor_clear(&outputs[0]);
    xpurt_tensor_clear(&outputs[1]);
    bench_close(&b);
}

/* ---- dumps and replay ---- */

static const xpurt_device_driver *const devices[] = {NULL, &xpu_func_driver};

/* Dumps change no result, and are equal on both devices. Every layer alone gives what the dump has, on both. */
static void dumps_and_replay_at(const char *precision) {
    BENCH_OPEN(b, precision);
    xpu_dump_list lists[2];
    xpurt_tensor plain, dumped;
    CU_ASSERT_EQUAL_FATAL(run(&b, NULL, 3, &plain), 0);
    for (int d = 0; d < 2; d++) {
        const char *folder = xpu_path_join(b.arena, b.folder, d ? "func" : "ref");
        xpurt_run_options options = {.device = devices[d], .dump_folder = folder};
        CU_ASSERT_EQUAL_FATAL(run(&b, &options, 3, &dumped), 0);
        CU_ASSERT_EQUAL(memcmp(plain.data, dumped.data, 3 * CLASSES * sizeof(float)), 0);
        xpurt_tensor_clear(&dumped);
        CU_ASSERT_EQUAL_FATAL(xpu_dump_list_open(&lists[d], b.arena, folder, &b.diags), XPU_OK);
    }
    static const xpu_tolerance exact;
    xpu_dump_difference difference;
    CU_ASSERT_EQUAL(xpu_dump_compare(&lists[0], &lists[1], &exact, NULL, NULL, &difference, b.arena, &b.diags), XPU_OK);
    CU_ASSERT(difference.compared > 4 && !difference.differing && !difference.only_a && !difference.only_b);
    for (uint32_t i = 0; i < lists[1].items.count; i++) {
        for (int d = 0; d < 2; d++) {
            uint64_t differs = 0;
            xpurt_run_options options = {.device = devices[d],
                                         .layer = lists[1].items.items[i].layer,
                                         .from_dump = lists[1].path,
                                         .layer_differs = &differs};
            if (run(&b, &options, 0, &dumped)) fprintf(stderr, "layer %s\n", options.layer);
            CU_ASSERT_EQUAL(differs, 0);
            xpurt_tensor_clear(&dumped);
        }
    }
    xpurt_tensor_clear(&plain);
    bench_close(&b);
}

static void dumps_and_replay(void) {
    dumps_and_replay_at("fp32");
    dumps_and_replay_at("int16");
}

/* Weights in L3 change no result or layer, and each is read from GM once, as engines do anyway (int16: 2 % more). */
static int64_t gm_bytes_read(const char *variant) {
    BENCH_OPEN(b, variant);
    xpurt_tensor output;
    char *text = NULL;
    run(&b, &(xpurt_run_options){.device = &xpu_func_driver, .stats = &text}, MOST, &output);
    xpurt_tensor_clear(&output);
    json_t *stats = take_stats(&b, &text);
    int64_t bytes = json_integer_value(json_object_get(stats, "gm_read_bytes"));
    bench_close(&b);
    return bytes;
}

static void weights_in_l3(void) {
    dumps_and_replay_at("fp32" IN_L3);
    dumps_and_replay_at("int16" IN_L3);
    int64_t plain[] = {gm_bytes_read("fp32"), gm_bytes_read("int16")};
    int64_t in_l3[] = {gm_bytes_read("fp32" IN_L3), gm_bytes_read("int16" IN_L3)};
    for (int i = 0; i < 2; i++) {
        const int64_t most = i ? plain[i] + plain[i] / 50 : plain[i] - 1;
        if (in_l3[i] > most) printf("read from GM: %lld bytes, %lld\n", (long long)plain[i], (long long)in_l3[i]);
        CU_ASSERT(in_l3[i] > 0 && in_l3[i] <= most);
    }
    BENCH_OPEN(b, "fp32" IN_L3);
    uint64_t differs = 0;
    const char *folder = xpu_path_join(b.arena, b.folder, "dump");
    xpurt_run_options dump = {.dump_folder = folder},
                      replay = {.layer = "weights/L3", .from_dump = folder, .layer_differs = &differs};
    xpurt_tensor output;
    xpurt_error error = {0};
    run(&b, &dump, 1, &output);
    xpurt_tensor_clear(&output);
    CU_ASSERT_EQUAL(xpurt_run(b.program, NULL, 0, &output, &replay, &error), XPU_EUSAGE);
    CU_ASSERT(error.text && strstr(error.text, "[layer-unknown] layer 'weights/L3' makes no tensor\n"));
    xpurt_error_clear(&error);
    bench_close(&b);
}

/* Adds 1 to element `position` of a dumped tensor. */
static void damage(bench *b, const xpu_dump_item *item, int64_t position) {
    xpu_tensor tensor;
    CU_ASSERT_EQUAL_FATAL(xpu_npy_read(b->arena, item->file, &tensor, &b->diags), XPU_OK);
    ((float *)tensor.data)[position] += 1;
    CU_ASSERT_EQUAL_FATAL(xpu_npy_write(b->arena, item->file, &tensor, &b->diags), XPU_OK);
}

static void damaged_dump(void) {
    BENCH_OPEN(b, "fp32");
    xpu_dump_list lists[2];
    xpurt_tensor output;
    for (int d = 0; d < 2; d++) {
        const char *folder = xpu_path_join(b.arena, b.folder, d ? "func" : "ref");
        xpurt_run_options options = {.device = devices[d], .dump_folder = folder};
        CU_ASSERT_EQUAL_FATAL(run(&b, &options, 2, &output), 0);
        xpurt_tensor_clear(&output);
        CU_ASSERT_EQUAL_FATAL(xpu_dump_list_open(&lists[d], b.arena, folder, &b.diags), XPU_OK);
    }
    CU_ASSERT_FATAL(lists[1].items.count > 4);
    const xpu_dump_item *second = &lists[1].items.items[1], *last = &lists[1].items.items[lists[1].items.count - 1];
    damage(&b, second, 77);
    damage(&b, last, 3);
    static const xpu_tolerance exact;
    xpu_dump_difference difference;
    CU_ASSERT_EQUAL(xpu_dump_compare(&lists[1], &lists[0], &exact, NULL, NULL, &difference, b.arena, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(difference.differing, 2);
    CU_ASSERT_STRING_EQUAL(difference.first.layer, second->layer);
    CU_ASSERT_EQUAL(difference.first_comparison.differing, 1);
    CU_ASSERT_EQUAL(difference.first_comparison.first, 77);
    CU_ASSERT(fabs(difference.first_comparison.max_difference - 1) < 1e-5);
    uint64_t differs = 0;
    xpurt_run_options replay = {
        .device = &xpu_func_driver, .layer = second->layer, .from_dump = lists[1].path, .layer_differs = &differs};
    run(&b, &replay, 0, &output);
    xpurt_tensor_clear(&output);
    CU_ASSERT_EQUAL(differs, 1);
    bench_close(&b);
}

static void replay_errors(void) {
    BENCH_OPEN(b, "fp32");
    xpurt_error error = {0};
    xpurt_tensor output;
    const char *folder = xpu_path_join(b.arena, b.folder, "dump");
    xpurt_run_options options = {.dump_folder = folder, .dump_filter = "*conv*"};
    run(&b, &options, 1, &output);
    xpurt_tensor_clear(&output);
    options = (xpurt_run_options){.layer = "nonsense", .from_dump = folder};
    CU_ASSERT_EQUAL(xpurt_run(b.program, NULL, 0, &output, &options, &error), XPU_EUSAGE);
    CU_ASSERT(error.text && strstr(error.text, "[layer-unknown] the program has no layer 'nonsense'\n"
                                               "  why: its layers are "));
    xpurt_error_clear(&error);
    options.from_dump = NULL;
    CU_ASSERT_EQUAL(xpurt_run(b.program, NULL, 0, &output, &options, &error), XPU_EUSAGE);
    expect_text(&error, "digits.xpu: error [layer-from-dump] --layer needs --from-dump\n"
                        "  why: one layer alone takes its operands from a dump folder\n"
                        "  hint: make one first: xpu-run --dump-layers=DIR\n");
    xpurt_error_clear(&error);
    xpu_dump_list list;
    CU_ASSERT_EQUAL_FATAL(xpu_dump_list_open(&list, b.arena, folder, &b.diags), XPU_OK);
    CU_ASSERT(list.fates.count > list.items.count);
    const char *text = xpurt_describe(b.program, NULL);
    json_t *about = xpu_json_parse(b.arena, text, strlen(text), "description", &b.diags);
    json_t *layers = json_object_get(about, "layers");
    const char *last = json_string_value(json_object_get(json_array_get(layers, json_array_size(layers) - 1), "name"));
    options = (xpurt_run_options){.layer = last, .from_dump = folder};
    CU_ASSERT_EQUAL(xpurt_run(b.program, NULL, 0, &output, &options, &error), XPU_EUSAGE);
    CU_ASSERT(error.text && strstr(error.text, "[dump-missing] the dump lacks an operand of the layer\n"));
    xpurt_error_clear(&error);
    options.layer = list.items.items[0].layer;
    CU_ASSERT_EQUAL(run(&b, &options, 0, &output), 0);
    xpurt_tensor_clear(&output);
    /* A layer whose operands the dump has, but not its own result. */
    uint64_t differs = 0;
    options = (xpurt_run_options){.dump_folder = folder, .dump_filter = last};
    run(&b, &options, 1, &output);
    xpurt_tensor_clear(&output);
    options = (xpurt_run_options){.layer = list.items.items[0].layer, .from_dump = folder, .layer_differs = &differs};
    CU_ASSERT_EQUAL(xpurt_run(b.program, NULL, 0, &output, &options, &error), XPU_EUSAGE);
    CU_ASSERT(error.text && strstr(error.text, "[dump-missing] the dump lacks what the layer made\n"));
    xpurt_error_clear(&error);
    bench_close(&b);
}

/* ---- layers by name ---- */

static void expect_layer(bench *b, const char *pattern, const char *text) {
    xpurt_error error = {0};
    CU_ASSERT_EQUAL(xpurt_find_layer(b->program, pattern, 0, 1, &error), -1);
    CU_ASSERT(error.status == XPU_EUSAGE && error.text && strstr(error.text, text));
    if (!error.text || !strstr(error.text, text)) fprintf(stderr, "%s: %s\n", pattern, error.text);
    xpurt_error_clear(&error);
}

static void layers_by_name(void) {
    BENCH_OPEN(b, "fp32");
    uint32_t count = xpurt_layer_count(b.program), matched = 0;
    CU_ASSERT(count > 4 && xpurt_layer_name(b.program, count) == NULL && xpurt_layer_count(NULL) == 0);
    for (uint32_t i = 0; i < count; i++) {
        CU_ASSERT_EQUAL(xpurt_find_layer(b.program, xpurt_layer_name(b.program, i), 0, 0, NULL), i);
        CU_ASSERT_EQUAL(xpurt_find_layer(b.program, xpurt_layer_name(b.program, i), i + 1, 0, NULL), -1);
    }
    for (int64_t at = -1; (at = xpurt_find_layer(b.program, "block1/*", (uint32_t)(at + 1), 1, NULL)) >= 0; matched++)
        CU_ASSERT_EQUAL(strncmp(xpurt_layer_name(b.program, (uint32_t)at), "block1/", 7), 0);
    CU_ASSERT_EQUAL(matched, 2);
    expect_layer(&b, "blok1/relu",
                 "error [layer-unknown] the program has no layer 'blok1/relu'\n  why: its layers are ");
    expect_layer(&b, "blok1/relu", "  hint: did you mean 'block1/relu'?\n");
    expect_layer(&b, "conv1/bn",
                 "  why: tensor 'conv1/bn' was fused into layer 'conv1/relu'\n  hint: name the layer: 'conv1/relu'\n");
    expect_layer(&b, "nothing*", "error [layer-unknown] no layer matches 'nothing*'\n");
    CU_ASSERT_EQUAL(xpurt_find_layer(NULL, "x", 0, 0, NULL), -1);
    CU_ASSERT_EQUAL(xpurt_find_layer(b.program, NULL, 0, 0, NULL), -1);
    bench_close(&b);
}

/* A filter that means no layer is an error before anything is written; one that means some dumps these. */
static void dump_filters(void) {
    BENCH_OPEN(b, "fp32");
    xpurt_error error = {0};
    xpurt_tensor input = images_of(&b, 0, 1), output;
    xpu_dump_list list;
    const char *folder = xpu_path_join(b.arena, b.folder, "dump");
    xpurt_run_options options = {.dump_folder = folder, .dump_filter = "nothing"};
    CU_ASSERT_EQUAL(xpurt_run(b.program, &input, 1, &output, &options, &error), XPU_EUSAGE);
    CU_ASSERT(error.text && strstr(error.text, "[layer-unknown]") && !xpu_file_exists(folder));
    xpurt_error_clear(&error);
    options.dump_filter = "block1/*";
    CU_ASSERT_EQUAL_FATAL(run(&b, &options, 1, &output), 0);
    xpurt_tensor_clear(&output);
    CU_ASSERT_EQUAL_FATAL(xpu_dump_list_open(&list, b.arena, folder, &b.diags), XPU_OK);
    CU_ASSERT(list.items.count >= 2);
    for (uint32_t i = 0; i < list.items.count; i++)
        CU_ASSERT_EQUAL(strncmp(list.items.items[i].layer, "block1/", 7), 0);
    /* The library runs one layer. */
    options = (xpurt_run_options){.layer = "block1/*", .from_dump = folder};
    CU_ASSERT_EQUAL(xpurt_run(b.program, NULL, 0, &output, &options, &error), XPU_EUSAGE);
    CU_ASSERT(error.text && strstr(error.text, "[layer-unknown] more than one layer matches 'block1/*'\n"));
    xpurt_error_clear(&error);
    bench_close(&b);
}

/* ---- faults ---- */

/* What was dumped before a run ended early is a dump; what an earlier run left is none. */
static void dump_until_fault(void) {
    BENCH_OPEN(b, "fp32");
    xpurt_error error = {0};
    xpurt_tensor input = images_of(&b, 0, 2), output;
    xpu_dump_list whole, part;
    const char *folders[] = {xpu_path_join(b.arena, b.folder, "whole"), xpu_path_join(b.arena, b.folder, "part")};
    char *text = NULL;
    xpurt_run_options options = {.device = &xpu_func_driver, .dump_folder = folders[0], .stats = &text};
    CU_ASSERT_EQUAL_FATAL(run(&b, &options, 2, &output), 0);
    xpurt_tensor_clear(&output);
    CU_ASSERT_EQUAL_FATAL(xpu_dump_list_open(&whole, b.arena, folders[0], &b.diags), XPU_OK);
    options.dump_folder = folders[1];
    json_t *stats = take_stats(&b, &text);
    options.max_instructions = (uint64_t)json_integer_value(json_object_get(stats, "instructions")) * 9 / 10;
    CU_ASSERT_EQUAL(xpurt_run(b.program, &input, 1, &output, &options, &error), XPU_ETIMEOUT);
    take_stats(&b, &text);
    xpurt_error_clear(&error);
    CU_ASSERT_EQUAL_FATAL(xpu_dump_list_open(&part, b.arena, folders[1], &b.diags), XPU_OK);
    CU_ASSERT(part.items.count >= 1 && part.items.count < whole.items.count);
    static const xpu_tolerance exact;
    xpu_dump_difference difference;
    CU_ASSERT_EQUAL(xpu_dump_compare(&part, &whole, &exact, NULL, NULL, &difference, b.arena, &b.diags), XPU_OK);
    CU_ASSERT(difference.compared == part.items.count && !difference.differing);
    CU_ASSERT_EQUAL(difference.only_b, whole.items.count - part.items.count);
    options = (xpurt_run_options){.dump_folder = folders[0]};
    input.dims[3] = 15; /* refused before anything is written */
    CU_ASSERT_EQUAL(xpurt_run(b.program, &input, 1, &output, &options, &error), XPU_EUSAGE);
    CU_ASSERT_EQUAL(xpu_dump_list_open(&whole, b.arena, folders[0], &b.diags), XPU_OK);
    xpurt_error_clear(&error);
    bench_close(&b);
}

/* A copy of the program whose first instruction is `word`. */
static xpurt_program *with_first_instruction(bench *b, uint32_t word) {
    uint8_t *copy = xpu_copy(b->arena, b->compiled.bytes, b->compiled.size);
    const Elf32_Ehdr *header = (const Elf32_Ehdr *)copy;
    const Elf32_Phdr *segments = (const Elf32_Phdr *)(copy + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++) {
        const Elf32_Phdr *s = &segments[i];
        if (header->e_entry < s->p_paddr || header->e_entry - s->p_paddr >= s->p_filesz) continue;
        memcpy(copy + s->p_offset + (header->e_entry - s->p_paddr), &word, sizeof word);
    }
    xpu_program_seal(copy, b->compiled.size);
    xpurt_program *program = xpurt_open_memory(copy, b->compiled.size, "damaged.xpu", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    return program;
}

static void faults(void) {
    static const struct {
        const char *name;
        uint32_t first;
        int status;
        const char *begin;
    } cases[] = {
        {"illegal", 0, XPU_EFAULT, "damaged.xpu: error [device-fault] "},
        {"load from nothing", 0x00002503, XPU_EFAULT, "damaged.xpu: error [device-fault] "}, /* lw a0, 0(zero) */
        {"jump to nothing", 0x00000067, XPU_EFAULT, "damaged.xpu: error [device-fault] "},   /* jr zero */
        {"for ever", 0x0000006f, XPU_ETIMEOUT, "damaged.xpu: error [device-timeout] "},      /* j . */
    };
    BENCH_OPEN(b, "fp32");
    xpurt_tensor input = images_of(&b, 0, 1), output;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpurt_error error = {0};
        xpurt_run_options options = {.device = &xpu_func_driver};
        xpurt_program *program = with_first_instruction(&b, cases[i].first);
        int status = xpurt_run(program, &input, 1, &output, &options, &error);
        CU_ASSERT_EQUAL(status, cases[i].status);
        CU_ASSERT(error.text && strncmp(error.text, cases[i].begin, strlen(cases[i].begin)) == 0);
        CU_ASSERT(error.text && strstr(error.text, "pc 0x8") && strstr(error.text, "core 0"));
        if (status != cases[i].status) fprintf(stderr, "%s: %d %s", cases[i].name, status, error.text);
        xpurt_error_clear(&error);
        xpurt_close(program);
    }
    xpurt_error error = {0};
    xpurt_run_options few = {.device = &xpu_func_driver, .max_instructions = 1000};
    CU_ASSERT_EQUAL(xpurt_run(b.program, &input, 1, &output, &few, &error), XPU_ETIMEOUT);
    expect_text(&error, "digits.xpu: error [device-budget] the program needs more instructions than allowed\n"
                        "  why: the limit is 1000 instructions\n"
                        "  hint: raise the limit: --max-cycles=N (xpurt_run_options.max_instructions)\n");
    xpurt_error_clear(&error);
    bench_close(&b);
}

static void stripped(void) {
    BENCH_OPEN(b, "fp32");
    xpuc_options how = {.precision = "fp32", .strip = 1};
    xpuc_result compiled;
    xpuc_error compile_error = {0};
    CU_ASSERT_EQUAL_FATAL(xpuc_compile_file(MODEL, &how, &compiled, &compile_error), 0);
    CU_ASSERT(compiled.size < b.compiled.size);
    xpuc_error_clear(&compile_error);
    xpurt_tensor whole, output;
    run(&b, NULL, 2, &whole);
    xpurt_program *with_graph = b.program;
    b.program = xpurt_open_memory(compiled.bytes, compiled.size, "stripped.xpu", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b.program);
    xpurt_run_options func = {.device = &xpu_func_driver};
    CU_ASSERT_EQUAL(run(&b, &func, 2, &output), 0);
    CU_ASSERT(output.data && memcmp(whole.data, output.data, 2 * CLASSES * sizeof(float)) == 0);
    xpurt_tensor_clear(&output);
    xpurt_error error = {0};
    xpurt_tensor input = images_of(&b, 0, 2);
    CU_ASSERT_EQUAL(xpurt_run(b.program, &input, 1, &output, NULL, &error), XPU_EUSAGE);
    expect_text(&error, "stripped.xpu: error [ref-stripped] this program cannot run on ref\n"
                        "  why: it was compiled with --strip, which leaves the graph out\n"
                        "  hint: compile it without --strip, or use another device\n");
    xpurt_error_clear(&error);
    xpurt_tensor_clear(&whole);
    xpurt_close(b.program);
    b.program = with_graph;
    xpuc_result_clear(&compiled);
    bench_close(&b);
}

/* ---- memory that runs out ---- */

/* Allocation n fails, for every n of opening and running; the program that was opened before works afterwards. */
static void out_of_memory(void) {
    BENCH_OPEN(b, "int16");
    xpurt_tensor input = images_of(&b, 0, 2), output, whole;
    for (int d = 0; d < 2; d++) {
        xpurt_run_options options = {.device = devices[d]};
        CU_ASSERT_EQUAL_FATAL(run(&b, &options, 2, &whole), 0);
        unsigned long failed = 0;
        for (unsigned long n = 1;; n += n < 40 ? 1 : 7) {
            xpurt_error error = {0};
            xpu_alloc_fail_at(n);
            xpurt_program *program = xpurt_open_memory(b.compiled.bytes, b.compiled.size, "digits.xpu", &error);
            int status = program ? xpurt_run(program, &input, 1, &output, &options, &error) : error.status;
            xpu_alloc_fail_at(0);
            if (status == 0) {
                CU_ASSERT_EQUAL(memcmp(whole.data, output.data, 2 * CLASSES * sizeof(float)), 0);
                xpurt_tensor_clear(&output);
                xpurt_close(program);
                break;
            }
            failed++;
            if (status != XPU_EIO) fprintf(stderr, "allocation %lu: status %d\n", n, status);
            CU_ASSERT_EQUAL(status, XPU_EIO);
            CU_ASSERT(error.text && strstr(error.text, "[out-of-memory]"));
            xpurt_error_clear(&error);
            if (program && n % 5 == 0) {
                CU_ASSERT_EQUAL(xpurt_run(program, &input, 1, &output, &options, &error), 0);
                CU_ASSERT_EQUAL(memcmp(whole.data, output.data, 2 * CLASSES * sizeof(float)), 0);
                xpurt_tensor_clear(&output);
            }
            xpurt_error_clear(&error);
            xpurt_close(program);
        }
        CU_ASSERT(failed > 40);
        xpurt_tensor_clear(&whole);
    }
    bench_close(&b);
}

XPU_TEST_MAIN("runtime", {"errors of opening", open_errors}, {"queries", queries}, {"binding of inputs", bindings},
              {"every batch size", every_batch_size}, {"statistics", statistics}, {"progress", progress},
              {"another chip", another_chip}, {"smaller memory", smaller_memory},
              {"dumps and replay", dumps_and_replay}, {"weights in L3", weights_in_l3}, {"damaged dump", damaged_dump},
              {"errors of replay", replay_errors}, {"layers by name", layers_by_name}, {"dump filters", dump_filters},
              {"faults and time-outs", faults}, {"dump until a fault", dump_until_fault},
              {"stripped program", stripped}, {"memory that runs out", out_of_memory})
