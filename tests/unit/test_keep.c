/* No output takes the place of a file that was read, whichever way leads to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/npy.h"
#include "sim/func/driver.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/bench.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpuc/include/xpuc.h"

enum { ROWS = 48, COLUMNS = 40 };

static const char *in_folder(bench *b, const char *name) {
    return xpu_path_join(b->arena, b->folder, name);
}

static void write_file(bench *b, const char *name, const void *bytes, size_t length) {
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b->arena, in_folder(b, name), bytes, length, &b->diags), XPU_OK);
}

static void copy_file(bench *b, const char *from, const char *name) {
    size_t length;
    const void *bytes = xpu_file_read_all(b->arena, from, 1 << 26, &length, &b->diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    write_file(b, name, bytes, length);
}

static XpuOnnx__StringStringEntryProto *pair(bench *b, const char *key, const char *value) {
    XpuOnnx__StringStringEntryProto *entry = XPU_NEW(b->arena, XpuOnnx__StringStringEntryProto);
    xpu_onnx__string_string_entry_proto__init(entry);
    entry->key = xpu_strdup(b->arena, key);
    entry->value = xpu_strdup(b->arena, value);
    return entry;
}

/* model.onnx: y = x * w, with w in weights.bin. */
static void write_model(bench *b) {
    static float data[ROWS * COLUMNS];
    xpu_onnx_builder builder;
    xpu_tensor w = {.dtype = XPU_F32, .rank = 2, .dims = {ROWS, COLUMNS}, .data = data};
    size_t length = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++) data[i] = (float)(i % 13) - 6;
    write_file(b, "weights.bin", data, sizeof data);
    xpu_onnx_begin(&builder, b->arena, 13);
    xpu_onnx_input(&builder, "x", 2, (const int64_t[]){1, ROWS});
    xpu_onnx_initializer(&builder, "w", &w, 0);
    xpu_onnx_node(&builder, "MatMul", "product", "y", (const char *const[]){"x", "w", NULL});
    xpu_onnx_output(&builder, "y", 2, (const int64_t[]){1, COLUMNS});
    XpuOnnx__TensorProto *tensor = builder.initializers.items[0];
    tensor->has_raw_data = 0;
    tensor->has_data_location = 1;
    tensor->data_location = 1;
    tensor->external_data = XPU_NEW_ARRAY(b->arena, XpuOnnx__StringStringEntryProto *, 1);
    tensor->external_data[tensor->n_external_data++] = pair(b, "location", "weights.bin");
    const void *bytes = xpu_onnx_pack(&builder, "external", &length);
    write_file(b, "model.onnx", bytes, length);
}

/* Ways to the file `name` of the folder. */
enum { WAYS = 5 };
static const char *way_to(bench *b, const char *name, int way) {
    const char *file = in_folder(b, name), *soft = in_folder(b, "a-link"), *hard = in_folder(b, "a-hard-link");
    const char *folder = in_folder(b, "a-folder");
    switch (way) {
    case 0: return file;
    case 1: return xpu_printf(b->arena, "%s/./../%s/%s", b->folder, xpu_path_name(b->folder), name);
    case 2: unlink(soft); return symlink(file, soft) ? NULL : soft;
    case 3: unlink(hard); return link(file, hard) ? NULL : hard;
    default: unlink(folder); return symlink(b->folder, folder) ? NULL : xpu_path_join(b->arena, folder, name);
    }
}

/* ---- xpuc ---- */

static void compile(bench *b, const char *output, const char *report, int *status, char **text) {
    xpuc_result result;
    xpuc_error error;
    const xpuc_options options = {.chip = in_folder(b, "chip.json"),
                                  .precision_rules = in_folder(b, "precision.json"),
                                  .memory_rules = in_folder(b, "memory.json"),
                                  .report = report};
    *status = xpuc_compile_to_file(in_folder(b, "model.onnx"), output, &options, &result, &error);
    *text = xpu_strdup(b->arena, error.text ? error.text : "");
    xpuc_result_clear(&result);
    xpuc_error_clear(&error);
}

static void write_inputs(bench *b) {
    static const char rules[] = "{\"rules\": [{\"match\": \"*\", \"precision\": \"fp32\"}]}",
                      none[] = "{\"rules\": []}";
    write_model(b);
    copy_file(b, "configs/chip/nano.json", "chip.json");
    write_file(b, "precision.json", rules, sizeof rules - 1);
    write_file(b, "memory.json", none, sizeof none - 1);
}

static void expect_refused(int status, const char *text, const char *name, const char *option) {
    int good = status == XPU_EUSAGE && strstr(text, "[output-read] ") && strstr(text, option) && strstr(text, name);
    if (!good) fprintf(stderr, "%s %s: status %d\n%s", option, name, status, text);
    CU_ASSERT(good);
}

static void compiler_run(bench *b) {
    static const char *const files[] = {"weights.bin", "model.onnx", "chip.json", "precision.json", "memory.json"};
    int status;
    char *text;
    write_inputs(b);
    compile(b, in_folder(b, "out.xpu"), in_folder(b, "report.json"), &status, &text);
    if (status) fprintf(stderr, "%s", text);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t before, after;
        const void *bytes = xpu_file_read_all(b->arena, in_folder(b, files[i]), 1 << 20, &before, &b->diags);
        for (int way = 0; way < WAYS; way++) {
            const char *path = way_to(b, files[i], way);
            CU_ASSERT_PTR_NOT_NULL_FATAL(path);
            compile(b, path, NULL, &status, &text);
            expect_refused(status, text, files[i], "--output");
            compile(b, in_folder(b, "other.xpu"), path, &status, &text);
            expect_refused(status, text, files[i], "--report");
        }
        const void *now = xpu_file_read_all(b->arena, in_folder(b, files[i]), 1 << 20, &after, &b->diags);
        CU_ASSERT(now && before == after && memcmp(bytes, now, before) == 0);
    }
    CU_ASSERT_FALSE(xpu_file_exists(in_folder(b, "other.xpu")));
}

static void compiler(void) {
    with_bench(compiler_run);
}

/* ---- libxpurt ---- */

typedef struct {
    bench *b;
    xpurt_program *program;
    xpurt_run_options options;
    char *text;
} running;

static int run(running *r) {
    static float x[ROWS];
    xpurt_tensor input = {"x", "float32", 2, {1, ROWS}, x}, output;
    xpurt_error error = {0, NULL};
    uint64_t differ = 0;
    r->options.layer_differs = &differ;
    int status = xpurt_run(r->program, &input, r->options.layer ? 0 : 1, &output, &r->options, &error);
    if (status && status != XPU_EUSAGE) fprintf(stderr, "%s", error.text);
    r->text = xpu_strdup(r->b->arena, error.text ? error.text : "");
    xpurt_tensor_clear(&output);
    xpurt_error_clear(&error);
    return status;
}

static void expect_run_refused(running *r, const char *name, const char *option) {
    int status = run(r);
    expect_refused(status, r->text, name, option);
}

/* --stats and the dump folder against the program, a file of the caller's, and the dump that is replayed. */
static void runtime_run(bench *b) {
    int status;
    char *text;
    write_inputs(b);
    write_file(b, "input.npy", "an input", 8);
    compile(b, in_folder(b, "out.xpu"), NULL, &status, &text);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    running r = {.b = b, .program = xpurt_open(in_folder(b, "out.xpu"), NULL)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.program);
    const char *const keep[] = {in_folder(b, "input.npy"), NULL}, *dump = in_folder(b, "dump");
    r.options = (xpurt_run_options){.dump_folder = dump};
    CU_ASSERT_EQUAL(run(&r), 0);
    for (int way = 0; way < WAYS; way++) {
        r.options = (xpurt_run_options){.keep = keep, .stats_file = way_to(b, "out.xpu", way)};
        expect_run_refused(&r, "out.xpu", "--stats");
        r.options.stats_file = way_to(b, "input.npy", way);
        expect_run_refused(&r, "input.npy", "--stats");
    }
    r.options = (xpurt_run_options){.layer = "product", .from_dump = dump};
    CU_ASSERT_EQUAL(run(&r), 0);
    r.options.stats_file = xpu_path_join(b->arena, dump, "index.json");
    expect_run_refused(&r, "dump", "--stats");
    r.options.stats_file = xpu_path_join(b->arena, dump, "input_x.npy");
    expect_run_refused(&r, "dump", "--stats");
    r.options.stats_file = xpu_path_join(b->arena, dump, "stats.json"); /* beside the dump: nothing is lost */
    CU_ASSERT_EQUAL(run(&r), 0);
    CU_ASSERT_EQUAL(run(&r), 0);
    /* An input that lies in the folder where the dump goes, under a name that the dump gives. */
    const char *const own[] = {xpu_path_join(b->arena, dump, "input_x.npy"), NULL};
    r.options = (xpurt_run_options){.keep = own, .dump_folder = dump};
    expect_run_refused(&r, "input_x.npy", "--dump-layers");
    CU_ASSERT(xpu_file_exists(own[0]) && xpu_file_exists(xpu_path_join(b->arena, dump, "index.json")));
    /* A dump's file that is a link to the program. */
    const char *first = xpu_path_join(b->arena, dump, "input_x.npy");
    CU_ASSERT(unlink(first) == 0 && symlink(in_folder(b, "out.xpu"), first) == 0);
    r.options = (xpurt_run_options){.dump_folder = dump};
    expect_run_refused(&r, "out.xpu", "--dump-layers");
    xpurt_close(r.program);
}

static void runtime(void) {
    with_bench(runtime_run);
}

/* ---- the mechanism ---- */

static void mechanism_run(bench *b) {
    const char *file = in_folder(b, "read");
    write_file(b, "read", "read", 4);
    CU_ASSERT_PTR_NULL(xpu_kept_path(&b->mem, file));
    xpu_keep_what_is_read(&b->mem);
    CU_ASSERT_PTR_NOT_NULL(xpu_file_open(b->arena, file, &b->diags));
    for (int way = 0; way < WAYS; way++) CU_ASSERT_PTR_NOT_NULL(xpu_kept_path(&b->mem, way_to(b, "read", way)));
    CU_ASSERT_PTR_NULL(xpu_kept_path(&b->mem, in_folder(b, "other")));
    CU_ASSERT_PTR_NULL(xpu_kept_path(&b->mem, "/dev/null"));
    /* Who replaces the file meanwhile does not make the name free. */
    unlink(file);
    CU_ASSERT_PTR_NOT_NULL(xpu_kept_path(&b->mem, file));
    xpu_keep_no_more(&b->mem, file);
    CU_ASSERT_EQUAL(xpu_file_write(b->arena, file, "new", 3, &b->diags), XPU_OK);
    /* What becomes a link to a kept file while it is written is refused at the end. */
    write_file(b, "late", "late", 4);
    xpu_output *output = xpu_output_open(b->arena, in_folder(b, "late"), &b->diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(output);
    xpu_keep(b->arena, in_folder(b, "late"));
    xpu_output_write(output, "lost", 4);
    CU_ASSERT_EQUAL(xpu_output_commit(output), XPU_EUSAGE);
    size_t length;
    const char *text = xpu_file_read_all(b->arena, in_folder(b, "late"), 10, &length, &b->diags);
    CU_ASSERT(text && strcmp(text, "late") == 0);
    xpu_keep_files(b->arena, b->folder, "*.npy");
    write_file(b, "mine.txt", "1", 1);
    CU_ASSERT_PTR_NULL(xpu_kept_path(&b->mem, in_folder(b, "new.npy")));
    write_file(b, "new.npy", "1", 1);
    CU_ASSERT_PTR_NOT_NULL(xpu_kept_path(&b->mem, in_folder(b, "new.npy")));
}

static void mechanism(void) {
    with_bench(mechanism_run);
}

XPU_TEST_MAIN("keep", {"the mechanism", mechanism}, {"compiler", compiler}, {"runtime", runtime})
