/* What a program's file is worth: every changed bit is found, and who changes the file while it runs changes nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "sim/func/driver.h"
#include "tests/unit/unit.h"
#include "tools/common/dump.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpuc/include/xpuc.h"

#define DIGITS "examples/digits/digits.onnx"
#define MNIST  "tests/models/mnist-8.onnx"

enum { PIXELS = 256, CLASSES = 10 };

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    const char *folder;
    xpuc_result compiled;
} bench;

static void bench_open(bench *b, const char *model, const char *precision) {
    xpuc_options options = {.precision = precision};
    xpuc_error error;
    xpu_diags_init(&b->diags);
    b->arena = xpu_arena_new(&b->mem, "test");
    b->folder = xpu_temporary_folder(b->arena, &b->diags);
    int status = xpuc_compile_file(model, &options, &b->compiled, &error);
    if (status) fprintf(stderr, "%s", error.text);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    xpuc_error_clear(&error);
}

#define BENCH_OPEN(b, model, precision)                                                                                \
    bench b = {.folder = NULL};                                                                                        \
    xpu_mem_init(&b.mem);                                                                                              \
    if (setjmp(b.mem.out_of_memory)) exit(EXIT_FAILURE);                                                               \
    bench_open(&b, model, precision)

static void bench_close(bench *b) {
    xpuc_result_clear(&b->compiled);
    xpu_diags_clear(&b->diags);
    xpu_mem_release(&b->mem);
}

/* ---- damage ---- */

/* Whether the program is refused with bit `bit` of byte `at` another one. */
static int is_found(uint8_t *bytes, size_t size, size_t at, int bit) {
    xpurt_error error = {0, NULL};
    bytes[at] ^= (uint8_t)(1u << bit);
    xpurt_program *program = xpurt_open_memory(bytes, size, "flipped.xpu", &error);
    bytes[at] ^= (uint8_t)(1u << bit);
    int found = !program && error.status == XPU_EIO && error.text &&
                (strstr(error.text, "[xpu-hash]") || strstr(error.text, "[xpu-format]"));
    if (!found) fprintf(stderr, "bit %d of byte %zu of %zu: %s\n", bit, at, size, error.text ? error.text : "taken");
    xpurt_error_clear(&error);
    xpurt_close(program);
    return found;
}

/* All over the file; test_program.c takes every byte of a smaller one. */
static void everywhere(void) {
    BENCH_OPEN(b, DIGITS, "int16");
    size_t at = 0;
    while (at < b.compiled.size && is_found(b.compiled.bytes, b.compiled.size, at, (int)(at / 11 % 8))) at += 11;
    CU_ASSERT(at >= b.compiled.size);
    bench_close(&b);
}

static void sample_of_a_larger_one(void) {
    BENCH_OPEN(b, MNIST, "fp32");
    uint64_t state = 11;
    for (int i = 0; i < 2000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        if (!is_found(b.compiled.bytes, b.compiled.size, (size_t)(state >> 20) % b.compiled.size, i % 8)) {
            CU_FAIL_FATAL("a bit");
        }
    }
    bench_close(&b);
}

/* A file that is longer or shorter. */
static void lengths(void) {
    BENCH_OPEN(b, DIGITS, "int16");
    uint8_t *longer = xpu_alloc(b.arena, b.compiled.size + 64);
    memcpy(longer, b.compiled.bytes, b.compiled.size);
    for (size_t more = 1; more <= 64; more++) {
        CU_ASSERT_PTR_NULL(xpurt_open_memory(longer, b.compiled.size + more, "longer.xpu", NULL));
        CU_ASSERT_PTR_NULL(xpurt_open_memory(longer, b.compiled.size - more, "shorter.xpu", NULL));
    }
    bench_close(&b);
}

/* ---- the file changes while it is used ---- */

static int run(xpurt_program *program, const xpurt_device_driver *device, float *logits) {
    static float image[PIXELS];
    for (int i = 0; i < PIXELS; i++) image[i] = (float)(i * 37 % 101) / 101;
    xpurt_tensor input = {"x", "float32", 4, {1, 1, 16, 16}, image}, output;
    const xpurt_run_options options = {.device = device};
    xpurt_error error = {0, NULL};
    int status = xpurt_run(program, &input, 1, &output, &options, &error);
    if (status) fprintf(stderr, "%s", error.text);
    CU_ASSERT_EQUAL(status, 0);
    if (!status) memcpy(logits, output.data, CLASSES * sizeof *logits);
    xpurt_error_clear(&error);
    xpurt_tensor_clear(&output);
    return status;
}

typedef enum { CUT, OVERWRITTEN, REMOVED } change;

static void change_file(bench *b, const char *path, change how) {
    FILE *file = how == OVERWRITTEN ? fopen(path, "r+b") : NULL;
    switch (how) {
    case CUT: CU_ASSERT_EQUAL(truncate(path, 0), 0); break;
    case OVERWRITTEN:
        for (size_t i = 0; i < b->compiled.size; i++) fputc(0x5a, file);
        fclose(file);
        break;
    case REMOVED: CU_ASSERT_EQUAL(unlink(path), 0); break;
    }
}

/* Weights were mapped from the file once: a file that is cut then ended the process with SIGBUS. */
static void changed_while_it_runs(void) {
    BENCH_OPEN(b, DIGITS, "fp32");
    const char *path = xpu_path_join(b.arena, b.folder, "digits.xpu");
    const xpurt_device_driver *const devices[] = {&xpu_func_driver, NULL};
    for (int how = CUT; how <= REMOVED; how++) {
        for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
            float before[CLASSES] = {0}, after[CLASSES] = {1};
            xpu_file_write(b.arena, path, b.compiled.bytes, b.compiled.size, &b.diags);
            xpurt_program *program = xpurt_open(path, NULL);
            CU_ASSERT_PTR_NOT_NULL_FATAL(program);
            if (how != REMOVED) run(program, devices[i], before);
            change_file(&b, path, (change)how);
            run(program, devices[i], after);
            CU_ASSERT(how == REMOVED || memcmp(before, after, sizeof before) == 0);
            xpurt_close(program);
        }
    }
    bench_close(&b);
}

/* Within a run: when its first layer is complete the file is cut. */
static void cut_now(void *path, uint32_t done, uint32_t layers, const char *layer) {
    (void)layers, (void)layer;
    if (done == 1) CU_ASSERT_EQUAL(truncate(path, 0), 0);
}

static void cut_within_a_run(void) {
    BENCH_OPEN(b, DIGITS, "fp32");
    float image[PIXELS] = {1}, logits[2][CLASSES] = {{0}};
    char *path = xpu_path_join(b.arena, b.folder, "digits.xpu");
    xpurt_tensor input = {"x", "float32", 4, {1, 1, 16, 16}, image}, output;
    xpu_file_write(b.arena, path, b.compiled.bytes, b.compiled.size, &b.diags);
    xpurt_program *program = xpurt_open(path, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    for (int i = 0; i < 2; i++) {
        const xpurt_run_options options = {.device = &xpu_func_driver, .progress = i ? cut_now : NULL, .context = path};
        CU_ASSERT_EQUAL_FATAL(xpurt_run(program, &input, 1, &output, &options, NULL), 0);
        memcpy(logits[i], output.data, sizeof logits[i]);
        xpurt_tensor_clear(&output);
    }
    CU_ASSERT_EQUAL(memcmp(logits[0], logits[1], sizeof logits[0]), 0);
    CU_ASSERT_PTR_NULL(xpurt_open(path, NULL));
    xpurt_close(program);
    bench_close(&b);
}

/* ---- which program, of which model ---- */

static const char *fact(bench *b, const xpuc_result *compiled, const char *key) {
    xpurt_program *program = xpurt_open_memory(compiled->bytes, compiled->size, "x.xpu", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    const char *text = xpurt_describe(program, NULL);
    json_t *facts = xpu_json_parse(b->arena, text, strlen(text), "facts", &b->diags);
    const char *value = json_string_value(json_object_get(facts, key));
    xpurt_close(program);
    return value ? value : "";
}

static void identity(void) {
    BENCH_OPEN(a, DIGITS, "int16");
    BENCH_OPEN(same, DIGITS, "int16");
    BENCH_OPEN(other_precision, DIGITS, "fp32");
    BENCH_OPEN(other_model, MNIST, "fp32");
    const char *program = fact(&a, &a.compiled, "program_hash"), *model = fact(&a, &a.compiled, "source_hash");
    CU_ASSERT(strlen(program) == 32 && strlen(model) == 32 && strcmp(program, model) != 0);
    CU_ASSERT_STRING_EQUAL(fact(&a, &same.compiled, "program_hash"), program);
    CU_ASSERT_STRING_EQUAL(fact(&a, &same.compiled, "source_hash"), model);
    CU_ASSERT_STRING_NOT_EQUAL(fact(&a, &other_precision.compiled, "program_hash"), program);
    CU_ASSERT_STRING_EQUAL(fact(&a, &other_precision.compiled, "source_hash"), model);
    CU_ASSERT_STRING_NOT_EQUAL(fact(&a, &other_model.compiled, "source_hash"), model);
    bench_close(&a);
    bench_close(&same);
    bench_close(&other_precision);
    bench_close(&other_model);
}

/* ---- dumps ---- */

/* Runs into a dump folder; the status. */
static int dump(const xpuc_result *compiled, int64_t side, const char *folder, const char *layer, const char *from,
                xpurt_error *error) {
    static float image[28 * 28];
    uint64_t differ = 0;
    xpurt_tensor input = {NULL, "float32", 4, {1, 1, side, side}, image}, output = {0};
    const xpurt_run_options options = {
        .dump_folder = folder, .layer = layer, .from_dump = from, .layer_differs = &differ};
    xpurt_program *program = xpurt_open_memory(compiled->bytes, compiled->size, "x.xpu", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    *error = (xpurt_error){0, NULL};
    int status = xpurt_run(program, &input, layer ? 0 : 1, &output, &options, error);
    xpurt_tensor_clear(&output);
    xpurt_close(program);
    return status;
}

static const char *in_folder(const bench *b, const char *name) {
    return xpu_path_join(b->arena, b->folder, name);
}

/* A dump replaces the one before, and nothing else; a foreign index.json is refused. */
static void dump_folders(void) {
    BENCH_OPEN(b, DIGITS, "fp32");
    BENCH_OPEN(other, MNIST, "fp32");
    xpurt_error error;
    xpu_dump_list list;
    CU_ASSERT_EQUAL(dump(&b.compiled, 16, b.folder, NULL, NULL, &error), 0);
    CU_ASSERT(xpu_file_exists(in_folder(&b, "input_x.npy")));
    xpu_file_write(b.arena, in_folder(&b, "0001_mine.npy"), "mine", 4, &b.diags);
    CU_ASSERT_EQUAL(dump(&other.compiled, 28, b.folder, NULL, NULL, &error), 0);
    CU_ASSERT_FALSE(xpu_file_exists(in_folder(&b, "input_x.npy")));
    CU_ASSERT(xpu_file_exists(in_folder(&b, "0001_mine.npy")));
    CU_ASSERT_EQUAL_FATAL(xpu_dump_list_open(&list, b.arena, b.folder, &b.diags), XPU_OK);
    CU_ASSERT_STRING_EQUAL(list.program_hash, fact(&b, &other.compiled, "program_hash"));
    CU_ASSERT_STRING_EQUAL(list.source_hash, fact(&b, &other.compiled, "source_hash"));
    for (uint32_t i = 0; i < list.items.count; i++) CU_ASSERT(xpu_file_exists(list.items.items[i].file));
    xpu_file_write(b.arena, in_folder(&b, "index.json"), "{\"layers\": 3}", 13, &b.diags);
    CU_ASSERT_EQUAL(dump(&b.compiled, 16, b.folder, NULL, NULL, &error), XPU_EUSAGE);
    CU_ASSERT(error.text && strstr(error.text, "[dump-folder]"));
    CU_ASSERT(xpu_file_exists(list.items.items[0].file));
    size_t length;
    const char *kept = xpu_file_read_all(b.arena, in_folder(&b, "index.json"), 100, &length, &b.diags);
    CU_ASSERT(kept && strcmp(kept, "{\"layers\": 3}") == 0);
    xpurt_error_clear(&error);
    bench_close(&b);
    bench_close(&other);
}

static void replay_of_another(void) {
    BENCH_OPEN(b, DIGITS, "fp32");
    BENCH_OPEN(other, DIGITS, "int16");
    xpurt_error error;
    CU_ASSERT_EQUAL(dump(&b.compiled, 16, b.folder, NULL, NULL, &error), 0);
    CU_ASSERT_EQUAL(dump(&b.compiled, 16, NULL, "conv1/relu", b.folder, &error), 0);
    CU_ASSERT_EQUAL(dump(&other.compiled, 16, NULL, "conv1/relu", b.folder, &error), XPU_EUSAGE);
    CU_ASSERT(error.text && strstr(error.text, "[dump-program] the dump is of another program"));
    CU_ASSERT(error.text && strstr(error.text, fact(&b, &b.compiled, "program_hash")));
    xpurt_error_clear(&error);
    bench_close(&b);
    bench_close(&other);
}

static void statistics(void) {
    BENCH_OPEN(b, DIGITS, "fp32");
    const char *path = in_folder(&b, "stats.json");
    float image[PIXELS] = {0};
    xpurt_tensor input = {"x", "float32", 4, {1, 1, 16, 16}, image}, output;
    xpurt_program *program = xpurt_open_memory(b.compiled.bytes, b.compiled.size, "x.xpu", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    const xpurt_run_options options = {.stats_file = path};
    CU_ASSERT_EQUAL(xpurt_run(program, &input, 1, &output, &options, NULL), 0);
    json_t *stats = xpu_json_read(b.arena, path, &b.diags);
    const char *hash = json_string_value(json_object_get(stats, "program_hash"));
    CU_ASSERT(hash && strcmp(hash, fact(&b, &b.compiled, "program_hash")) == 0);
    hash = json_string_value(json_object_get(stats, "source_hash"));
    CU_ASSERT(hash && strcmp(hash, fact(&b, &b.compiled, "source_hash")) == 0);
    xpurt_tensor_clear(&output);
    xpurt_close(program);
    bench_close(&b);
}

XPU_TEST_MAIN("program hash", {"everywhere", everywhere}, {"a sample of a larger one", sample_of_a_larger_one},
              {"other lengths", lengths}, {"changed while it runs", changed_while_it_runs},
              {"cut within a run", cut_within_a_run}, {"identity", identity}, {"dump folders", dump_folders},
              {"replay of another program", replay_of_another}, {"statistics", statistics})
