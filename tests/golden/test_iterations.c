/*
 * Statistics and profiles of loops: the rows of the iterations sum to the layer's figures on rtl, func and ref, say how
 * bodies grow, are those that were asked for, and are bounded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/npy.h"
#include "base/status.h"
#include "tests/unit/unit.h"
#include "tools/common/inputs.h"
#include "tools/common/profile.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/include/xpurt_device.h"
#include "xpu_runtime/include/xpurt_func.h"
#include "xpu_runtime/include/xpurt_rtl.h"
#include "xpuc/include/xpuc.h"

enum { FEW = 8, DEVICES = 3 };

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    xpuc_result compiled;
    xpurt_program *program;
    const char *base; /* "tests/loops/NETWORK" */
    const xpurt_device_driver *devices[DEVICES];
} bench;

static void bench_open(bench *b, const char *network) {
    const xpuc_options how = {.chip = "nano", .precision = "fp32"};
    xpu_diags_init(&b->diags);
    b->arena = xpu_arena_new(&b->mem, "test");
    b->base = xpu_printf(b->arena, "tests/loops/%s", network);
    CU_ASSERT_EQUAL_FATAL(xpuc_compile_file(xpu_printf(b->arena, "%s.onnx", b->base), &how, &b->compiled, NULL), 0);
    b->program = xpurt_open_memory(b->compiled.bytes, b->compiled.size, network, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->program);
    const char *build = getenv("XPU_BUILD");
    b->devices[0] = xpurt_rtl_load("nano", xpu_printf(b->arena, "%s/lib", build ? build : "build"), NULL, NULL);
    b->devices[1] = xpurt_func_driver();
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->devices[0]);
}

static void bench_close(bench *b) {
    xpurt_close(b->program);
    xpuc_result_clear(&b->compiled);
    xpu_diags_clear(&b->diags);
    xpu_mem_release(&b->mem);
}

#define BENCH_OPEN(b, network)                                                                                         \
    bench b = {.arena = NULL};                                                                                         \
    xpu_mem_init(&b.mem);                                                                                              \
    if (setjmp(b.mem.out_of_memory)) exit(EXIT_FAILURE);                                                               \
    bench_open(&b, network)

static xpurt_tensor *read_inputs(bench *b, const char *name, uint32_t *count) {
    xpu_named_tensors given = {0};
    const char *path = xpu_printf(b->arena, "%s.%s_in.npz", b->base, name);
    CU_ASSERT_EQUAL_FATAL(xpu_npz_read(b->arena, path, &given, &b->diags), XPU_OK);
    xpurt_tensor *inputs = XPU_NEW_ARRAY(b->arena, xpurt_tensor, given.count);
    for (uint32_t i = 0; i < given.count; i++) inputs[i] = xpu_to_runtime(given.items[i].name, &given.items[i].tensor);
    *count = given.count;
    return inputs;
}

/* The statistics of a run. */
static json_t *stats_of(bench *b, const xpurt_device_driver *device, const xpurt_tensor *inputs, uint32_t count,
                        const char *iterations) {
    char *text = NULL;
    xpurt_tensor outputs[FEW];
    const xpurt_run_options options = {.device = device, .stats = &text, .stats_iterations = iterations};
    CU_ASSERT_FATAL(xpurt_output_count(b->program) <= FEW);
    CU_ASSERT_EQUAL_FATAL(xpurt_run(b->program, inputs, count, outputs, &options, NULL), 0);
    for (uint32_t i = 0; i < xpurt_output_count(b->program); i++) xpurt_tensor_clear(&outputs[i]);
    json_t *stats = xpu_json_parse(b->arena, text, strlen(text), "statistics", &b->diags);
    free(text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
    return stats;
}

static json_t *stats_of_case(bench *b, int device, const char *name, const char *iterations) {
    uint32_t count;
    const xpurt_tensor *inputs = read_inputs(b, name, &count);
    return stats_of(b, b->devices[device], inputs, count, iterations);
}

static long long count_of(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

static json_t *layer_named(const json_t *stats, const char *name) {
    size_t i;
    json_t *layer;
    json_array_foreach(json_object_get(stats, "layers"), i, layer) {
        if (strcmp(json_string_value(json_object_get(layer, "name")), name) == 0) return layer;
    }
    CU_FAIL_FATAL("no such layer");
    return NULL;
}

/* ---- sums ---- */

/* A figure of the rows against that of the layer, and least, mean and most with where they were. */
static void check_figure(const json_t *layer, const char *key) {
    const json_t *rows = json_object_get(layer, "iterations"), *row, *least = NULL, *most = NULL;
    const json_t *spread = json_object_get(json_object_get(layer, "per_execution"), key);
    long long sum = 0;
    size_t i;
    if (!json_object_get(layer, key)) {
        CU_ASSERT_PTR_NULL(spread);
        return;
    }
    json_array_foreach(rows, i, row) {
        sum += count_of(row, key);
        if (!least || count_of(row, key) < count_of(least, key)) least = row;
        if (!most || count_of(row, key) > count_of(most, key)) most = row;
    }
    CU_ASSERT_EQUAL(sum, count_of(layer, key));
    CU_ASSERT_EQUAL(count_of(spread, "min"), count_of(least, key));
    CU_ASSERT_EQUAL(count_of(spread, "max"), count_of(most, key));
    CU_ASSERT(json_equal(json_object_get(spread, "min_at"), json_object_get(least, "iteration")));
    CU_ASSERT(json_equal(json_object_get(spread, "max_at"), json_object_get(most, "iteration")));
    CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_object_get(spread, "mean")), (double)sum / (double)i, 1e-9);
}

/* States of a unit, bytes of a memory: those of the rows make those of the layer. */
static void check_parts(const json_t *layer, const json_t *whole, const char *path, const char *inner) {
    const char *key;
    json_t *value, *row;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)whole, key, value) {
        long long sum = 0;
        if (json_is_object(value)) {
            check_parts(layer, value, path, key);
            continue;
        }
        json_array_foreach(json_object_get(layer, "iterations"), i, row) {
            const json_t *part = json_object_get(row, path);
            sum += count_of(inner ? json_object_get(part, inner) : part, key);
        }
        CU_ASSERT_EQUAL(sum, json_integer_value(value));
    }
}

static void check_sums(const json_t *stats) {
    long long cycles = 0;
    int loops = 0;
    size_t i;
    const json_t *layer;
    json_array_foreach(json_object_get(stats, "layers"), i, layer) {
        const json_t *rows = json_object_get(layer, "iterations");
        cycles += count_of(layer, "cycles");
        CU_ASSERT_EQUAL(rows != NULL, json_object_get(layer, "per_execution") != NULL);
        if (!rows) continue;
        loops++;
        CU_ASSERT_EQUAL((long long)json_array_size(rows), count_of(layer, "executions"));
        check_figure(layer, "cycles");
        check_figure(layer, "instructions");
        check_figure(layer, "macs");
        check_parts(layer, json_object_get(layer, "units"), "units", NULL);
        check_parts(layer, json_object_get(layer, "bytes"), "bytes", NULL);
    }
    CU_ASSERT(loops > 0);
    CU_ASSERT_EQUAL(cycles, count_of(stats, "cycles"));
}

/* loop_count ends in its loop: the cycles behind its last layer are that execution's. */
static void sums(void) {
    static const char *const cases[][2] = {{"append_cache", "9"},
                                           {"loop_in_loop", "4"},
                                           {"loop_count", "17_1"},
                                           {"if_in_loop", "9"},
                                           {"grow_in_loop", "4"}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        BENCH_OPEN(b, cases[n][0]);
        for (int device = 0; device < DEVICES; device++) {
            check_sums(stats_of_case(&b, device, cases[n][1], "*"));
        }
        bench_close(&b);
    }
}

/* ---- which iterations ---- */

/* A cache that grows by a row: each iteration multiplies by more of it. */
static void growing(void) {
    BENCH_OPEN(b, "append_cache");
    for (int device = 0; device < DEVICES; device++) {
        const json_t *stats = stats_of_case(&b, device, "9", "*");
        const json_t *rows = json_object_get(layer_named(stats, "b_matmul6"), "iterations");
        CU_ASSERT_EQUAL_FATAL(json_array_size(rows), 9);
        for (size_t i = 0; i < 9; i++) {
            const json_t *row = json_array_get(rows, i);
            CU_ASSERT_EQUAL(count_of(row, "macs"), 2 * 4 * ((long long)i + 4));
            CU_ASSERT_EQUAL(json_integer_value(json_array_get(json_object_get(row, "iteration"), 0)), (json_int_t)i);
        }
        CU_ASSERT_EQUAL(count_of(stats, "macs"), 2 * 576);
        if (device) continue;
        rows = json_object_get(layer_named(stats, "b_add11"), "iterations");
        CU_ASSERT(count_of(json_array_get(rows, 8), "cycles") > count_of(json_array_get(rows, 1), "cycles") + 20);
    }
    bench_close(&b);
}

static void chosen(void) {
    static const struct {
        const char *text;
        size_t outer, inner; /* rows of a layer in one loop, and in two */
    } cases[] = {{"0..1", 2, 3},         {"2", 1, 1},      {"2,*", 1, 3}, {"3,1..2", 1, 2}, {"*,0", 4, 4}, {"9", 0, 0},
                 {".i0003.i0002", 1, 1}, {"1..3,1", 3, 3}, {"*", 4, 10}};
    BENCH_OPEN(b, "loop_in_loop");
    const json_t *all = stats_of_case(&b, 0, "4", "*");
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        const json_t *stats = stats_of_case(&b, 0, "4", cases[n].text);
        const json_t *inner = json_object_get(layer_named(stats, "p_add3"), "iterations"), *row, *other;
        const json_t *same = json_object_get(layer_named(all, "p_add3"), "iterations");
        size_t i, k, found = 0;
        CU_ASSERT_EQUAL(json_array_size(json_object_get(layer_named(stats, "o_add2"), "iterations")), cases[n].outer);
        CU_ASSERT_EQUAL(json_array_size(inner), cases[n].inner);
        json_array_foreach(inner, i, row) {
            json_array_foreach(same, k, other) found += (size_t)json_equal(row, other);
        }
        CU_ASSERT_EQUAL(found, cases[n].inner);
    }
    const json_t *layer = layer_named(stats_of_case(&b, 1, "4", NULL), "p_add3");
    CU_ASSERT(json_object_get(layer, "per_execution") && !json_object_get(layer, "iterations"));
    bench_close(&b);
}

static void wrong(void) {
    static const char *const texts[] = {"", "2..1", "x", "1,", "-1", "**", "9999999999"};
    BENCH_OPEN(b, "loop_in_loop");
    uint32_t count;
    const xpurt_tensor *inputs = read_inputs(&b, "4", &count);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        xpurt_tensor outputs[FEW];
        xpurt_error error = {0};
        const xpurt_run_options options = {.stats_iterations = texts[i]};
        CU_ASSERT_EQUAL(xpurt_run(b.program, inputs, count, outputs, &options, &error), XPU_EUSAGE);
        CU_ASSERT(error.text &&
                  strstr(error.text, "error [usage] option '--iteration': this is no range of iterations"));
        xpurt_error_clear(&error);
    }
    bench_close(&b);
}

/* 10,000 rows at most: sums are of all executions. */
static void many(void) {
    BENCH_OPEN(b, "loop_goes_on");
    uint32_t count;
    xpurt_tensor *inputs = read_inputs(&b, "5", &count);
    int64_t trips = 12000;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(inputs[i].name, "n") == 0) inputs[i].data = &trips;
    for (int device = 1; device < DEVICES; device++) {
        const json_t *stats = stats_of(&b, b.devices[device], inputs, count, "*");
        const json_t *layer = layer_named(stats, "b_softsign3");
        size_t rows = 0, i;
        const json_t *l;
        json_array_foreach(json_object_get(stats, "layers"), i, l) rows +=
            json_array_size(json_object_get(l, "iterations"));
        CU_ASSERT_EQUAL(rows, 10000);
        CU_ASSERT_EQUAL(count_of(layer, "executions"), 12000);
        CU_ASSERT(count_of(stats, "iterations_left_out") >= 2000);
    }
    trips = 9999;
    CU_ASSERT_PTR_NULL(json_object_get(stats_of(&b, NULL, inputs, count, "*"), "iterations_left_out"));
    bench_close(&b);
}

/* ---- the table ---- */

static const char figures[] =
    "{\"cycles\": 1000, \"edges\": 1000, \"bound_cycles\": 10, \"utilisation\": 0.01, \"iterations_left_out\": 7, "
    "\"layers\": [{\"index\": 0, \"name\": \"first\", \"unit\": \"dma\", \"executions\": 1, \"cycles\": 100},"
    "{\"index\": 1, \"name\": \"body\", \"unit\": \"core\", \"executions\": 3, \"cycles\": 810,"
    " \"per_execution\": {\"cycles\": {\"min\": 200, \"mean\": 270.0, \"max\": 350, \"max_at\": [1, 0]}},"
    " \"iterations\": [{\"iteration\": [1, 0], \"cycles\": 350, \"bounds\": {\"GM\": 35}}]},"
    "{\"index\": 2, \"name\": \"even\", \"unit\": \"core\", \"executions\": 3, \"cycles\": 90,"
    " \"per_execution\": {\"cycles\": {\"min\": 30, \"mean\": 30.0, \"max\": 30, \"max_at\": [0]}}}]}";

static const char table[] =
    "#  layer           unit  runs  cycles   share  each                                 bound    array  busiest  "
    "tensor engine  core 0\n"
    "0  first           dma      1     100  10.0 %                                       -               -        -    "
    "          -\n"
    "1  body            core     3     810  81.0 %  200..350 (.i0001.i0000), mean 270.0  -               -        -    "
    "          -\n"
    "     .i0001.i0000                 350  35.0 %                                       GM 10 %         -        -    "
    "          -\n"
    "2  even            core     3      90   9.0 %  30                                   -               -        -    "
    "          -\n"
    "   all                           1000                                                                             "
    "          \n"
    "7 more executions in these iterations have no line: name fewer with --iteration\n"
    "utilisation 1.0 % (at least 10 of 1000 cycles are needed); 0.0 % of the cycles were skipped\n";

/* What is printed to standard output. */
static const char *printed(bench *b, const char *stats) {
    const char *path = xpu_path_join(b->arena, xpu_temporary_folder(b->arena, &b->diags), "text");
    xpu_tool tool = {.arena = b->arena, .mem = b->mem};
    xpu_diags_init(&tool.diags);
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    FILE *file = fopen(path, "w+");
    CU_ASSERT_FATAL(kept >= 0 && file && dup2(fileno(file), STDOUT_FILENO) >= 0);
    xpu_profile_print(&tool, stats);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    char *text = xpu_alloc(b->arena, 1 << 16);
    rewind(file);
    text[fread(text, 1, (1 << 16) - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void text(void) {
    BENCH_OPEN(b, "loop_goes_on");
    const char *shown = printed(&b, figures);
    if (strcmp(shown, table) != 0) printf("%s", shown);
    CU_ASSERT_STRING_EQUAL(shown, table);
    bench_close(&b);
}

XPU_TEST_MAIN("iterations", {"rows sum to the layer's figures", sums}, {"a body that grows", growing},
              {"which iterations", chosen}, {"texts that are none", wrong}, {"a long loop", many}, {"the table", text})
