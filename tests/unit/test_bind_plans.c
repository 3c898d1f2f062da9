/*
 * Plans that are made when shapes are bound: kept per shape, the same ones that xpuc reports, refused where GM has no
 * room; ranges that reach beyond memory, and dims without a bound.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "core/chip.h"
#include "sim/func/driver.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/program/file.h"
#include "xpu_runtime/program/placement.h"
#include "xpuc/include/xpuc.h"

#define MODEL "examples/digits/digits.onnx"

enum { PIXELS = 256, CLASSES = 10, CACHED = 16, TOO_MANY = 20000 /* images for nano's GM */ };

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    xpuc_result compiled;
    xpuc_error compiling; /* its messages, notes too */
    xpurt_program *program;
    char *stats;   /* of the last run */
    float *images; /* noise */
} bench;

static void bench_compile(bench *b, const xpuc_options *options) {
    xpu_diags_init(&b->diags);
    b->arena = xpu_arena_new(&b->mem, "test");
    b->images = XPU_NEW_ARRAY(b->arena, float, TOO_MANY *PIXELS);
    for (int i = 0; i < 64 * PIXELS; i++) b->images[i] = (float)(i * 37 % 101) / 101;
    if (xpuc_compile_file(MODEL, options, &b->compiled, &b->compiling)) return;
    b->program = xpurt_open_memory(b->compiled.bytes, b->compiled.size, "digits.xpu", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->program);
}

/* The digits network for a chip; shape NULL: as the model says, with N open. */
#define BENCH_OPEN(b, chip_name, shape)                                                                                \
    bench b = {.program = NULL};                                                                                       \
    const char *const b##_shapes[] = {shape, NULL};                                                                    \
    xpu_mem_init(&b.mem);                                                                                              \
    if (setjmp(b.mem.out_of_memory)) exit(EXIT_FAILURE);                                                               \
    bench_compile(&b, &(xpuc_options){.chip = chip_name, .precision = "int16", .shapes = b##_shapes})

static void bench_close(bench *b) {
    free(b->stats);
    xpurt_close(b->program);
    xpuc_result_clear(&b->compiled);
    xpuc_error_clear(&b->compiling);
    xpu_diags_clear(&b->diags);
    xpu_mem_release(&b->mem);
}

/* Runs on func; the caller clears the output and the error. */
static int run(bench *b, int64_t count, xpurt_tensor *output, xpurt_error *error) {
    const xpurt_run_options func = {.device = &xpu_func_driver, .stats = &b->stats};
    xpurt_tensor input = {"x", "float32", 4, {count, 1, 16, 16}, b->images};
    *error = (xpurt_error){0};
    free(b->stats);
    return xpurt_run(b->program, &input, 1, output, &func, error);
}

static int64_t statistic(bench *b, const char *key) {
    const char *text = b->stats;
    return json_integer_value(json_object_get(xpu_json_parse(b->arena, text, strlen(text), "stats", &b->diags), key));
}

static void expect_plans(bench *b, int64_t count, int64_t plans, int64_t hits) {
    xpurt_tensor output;
    xpurt_error error;
    CU_ASSERT_EQUAL(run(b, count, &output, &error), 0);
    CU_ASSERT_EQUAL(statistic(b, "plans"), plans);
    CU_ASSERT_EQUAL(statistic(b, "plan_hits"), hits);
    xpurt_error_clear(&error);
    xpurt_tensor_clear(&output);
}

static void kept_per_shape(void) {
    BENCH_OPEN(b, "standard", NULL);
    expect_plans(&b, 1, 1, 0);
    expect_plans(&b, 2, 2, 0);
    expect_plans(&b, 1, 2, 1);
    for (int64_t n = 3; n <= CACHED + 1; n++) expect_plans(&b, n, n, 1);
    expect_plans(&b, 1, CACHED + 1, 2);          /* used after 2, which has made room */
    expect_plans(&b, 2, CACHED + 2, 2);          /* makes 3 go */
    expect_plans(&b, CACHED + 1, CACHED + 2, 3); /* still there */
    expect_plans(&b, 3, CACHED + 3, 3);
    bench_close(&b);
}

static void fixed_shape(void) {
    BENCH_OPEN(b, "standard", "x=3,1,16,16");
    expect_plans(&b, 3, 0, 0);
    expect_plans(&b, 3, 0, 0);
    bench_close(&b);
}

/* A shape that GM has no room for is refused, again too; others run and give what a program for their size gives. */
static void beyond_memory(const char *shape, const char *note) {
    static const struct {
        int64_t count;
        const char *begin, *part;
    } refused[] = {
        {TOO_MANY, "digits.onnx: error [gm-capacity] shape x=20000,1,16,16: GM has no room: ", " bytes short for one"},
        {15000,
         "digits.onnx: error [gm-capacity] shape x=15000,1,16,16: GM has no room: ", " bytes short at layer 2 'pool1'"},
    };
    BENCH_OPEN(b, "nano", shape);
    BENCH_OPEN(fixed, "nano", "x=5,1,16,16");
    CU_ASSERT_PTR_NOT_NULL_FATAL(b.compiling.text);
    if (!strstr(b.compiling.text, note)) fprintf(stderr, "%s", b.compiling.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.compiling.text, note));
    CU_ASSERT_PTR_NOT_NULL(strstr(b.compiling.text, "note [shape-limit] not every shape in range fits"));
    xpurt_tensor output, wanted;
    xpurt_error error;
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(run(&b, refused[i].count, &output, &error), XPU_EMODEL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(error.text);
        int good = strstr(error.text, refused[i].begin) == error.text && strstr(error.text, refused[i].part);
        if (!good) fprintf(stderr, "%s", error.text);
        CU_ASSERT(good);
        xpurt_error_clear(&error);
        CU_ASSERT_EQUAL_FATAL(run(&b, 5, &output, &error), 0);
        CU_ASSERT_EQUAL_FATAL(run(&fixed, 5, &wanted, &error), 0);
        CU_ASSERT_EQUAL(memcmp(output.data, wanted.data, 5 * CLASSES * sizeof(float)), 0);
        xpurt_tensor_clear(&output);
        xpurt_tensor_clear(&wanted);
    }
    expect_plans(&b, 5, 1, 2);
    bench_close(&fixed);
    bench_close(&b);
}

static void range_beyond_memory(void) {
    beyond_memory("x=1..65536,1,16,16", "shape x=65536,1,16,16: GM has no room");
}
static void open_dim(void) {
    beyond_memory(NULL, "note [shape-open] input 'x': dim 0 ('N') may be as large as memory allows");
}

static void nothing_fits(void) {
    BENCH_OPEN(b, "nano", "x=20000..65536,1,16,16");
    CU_ASSERT_PTR_NULL(b.program);
    CU_ASSERT_EQUAL(b.compiling.status, XPU_EMODEL);
    CU_ASSERT(b.compiling.text &&
              strstr(b.compiling.text, "error [gm-capacity] shape x=20000,1,16,16: GM has no room"));
    bench_close(&b);
}

/* ---- one plan on both sides ---- */

static void compare_places(const xpu_program *program, const xpu_placement *placement, const xpu_place *places,
                           json_t *buffers) {
    static const char *const levels[] = {"SM", "L3", "GM"};
    CU_ASSERT_EQUAL_FATAL(json_array_size(buffers), program->buffers.count);
    int moved = 0;
    for (uint32_t i = 0; i < program->buffers.count; i++) {
        json_t *item = json_array_get(buffers, i);
        if (program->buffers.items[i].kind == XPU_BUFFER_WEIGHT) continue;
        CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(item, "level")), levels[places[i].level]);
        CU_ASSERT_EQUAL(json_integer_value(json_object_get(item, "offset")),
                        (json_int_t)(places[i].offset + placement->reserved[places[i].level]));
        moved += places[i].offset > 0;
    }
    CU_ASSERT(moved > 2);
}

/* What xpuc reports of its largest shape is what the runtime plans for it, with placement rules too. */
static void same_plan(const char *rules, const char *shape, int64_t most) {
    static const char *const names[] = {"report.json", "rules.json"};
    bench b = {.program = NULL};
    const char *const shapes[] = {shape, NULL};
    xpu_mem_init(&b.mem);
    if (setjmp(b.mem.out_of_memory)) exit(EXIT_FAILURE);
    xpu_arena *arena = xpu_arena_new(&b.mem, "files");
    xpu_diags_init(&b.diags);
    const char *folder = xpu_temporary_folder(arena, &b.diags), *report = xpu_path_join(arena, folder, names[0]);
    const char *file = rules ? xpu_path_join(arena, folder, names[1]) : NULL;
    if (rules) CU_ASSERT_EQUAL(xpu_file_write(arena, file, rules, strlen(rules), &b.diags), XPU_OK);
    bench_compile(&b, &(xpuc_options){.shapes = shapes, .memory_rules = file, .report = report});
    json_t *top = xpu_json_read(arena, report, &b.diags);
    json_t *memory = json_object_get(json_object_get(top, "program"), "memory");
    json_int_t n = json_integer_value(json_object_get(json_object_get(memory, "symbols"), "N"));
    CU_ASSERT(most ? n == most : n > 16);
    xpu_program_image *image = xpu_program_parse(arena, b.compiled.bytes, b.compiled.size, "digits.xpu", &b.diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(image);
    const xpu_program *program = &image->program;
    xpu_chip chip;
    xpu_placement placement;
    CU_ASSERT_EQUAL(xpu_chip_parse(arena, program->chip_json, strlen(program->chip_json), "chip", &chip, &b.diags),
                    XPU_OK);
    const int64_t symbols[1] = {n};
    CU_ASSERT_EQUAL(xpu_placement_problem(program, &chip, symbols, arena, &placement, &b.diags), XPU_OK);
    const xpu_place *places = xpu_placement_make(program, &chip, symbols, arena, &b.diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(places);
    compare_places(program, &placement, places, json_object_get(memory, "buffers"));
    bench_close(&b);
}

static void same_plan_on_both_sides(void) {
    static const char rules[] = "{\"rules\": ["
                                "{\"match\": \"*\", \"kind\": \"weight\", \"level\": \"L3\", \"strength\": \"prefer\"},"
                                "{\"match\": \"block1*\", \"kind\": \"activation\", \"level\": \"GM\", \"strength\": "
                                "\"prefer\"},"
                                "{\"match\": \"pool*\", \"level\": \"L3\", \"strength\": \"never\"}]}";
    same_plan(NULL, "x=N=1..16,1,16,16", 16);
    same_plan(NULL, "x=N=1..300,1,16,16", 300);
    same_plan(NULL, NULL, 0);
    same_plan(rules, "x=N=1..16,1,16,16", 16);
    same_plan(rules, "x=N=1..300,1,16,16", 300);
    same_plan(rules, NULL, 0);
}

XPU_TEST_MAIN("plans of bound shapes", {"kept per shape", kept_per_shape}, {"fixed shape", fixed_shape},
              {"range beyond memory", range_beyond_memory}, {"open dim", open_dim}, {"nothing fits", nothing_fits},
              {"the same plan on both sides", same_plan_on_both_sides})
