/*
 * Runs in many parts: the argument of --frames (frames), and dumps of loops, whose index is damaged, with names of
 * layers and iterations (dumps).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/func/driver.h"
#include "tests/fuzz/hostile.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpuc/include/xpuc.h"

/* A few pieces in place of what is there, and now and then damage that knows nothing. */
static void replace_pieces(hostile_random *random, hostile_file *file, const char *const *pieces, uint32_t count) {
    for (uint32_t i = 1 + hostile_below(random, 3); i > 0; i--) {
        char number[24];
        size_t at = hostile_below(random, (uint32_t)file->size + 1), removed = hostile_below(random, 4);
        if (removed > file->size - at) removed = file->size - at;
        snprintf(number, sizeof number, "%lld", (long long)hostile_number(random));
        const char *piece = hostile_chance(random, 30) ? number : pieces[hostile_below(random, count)];
        hostile_replace(file, at, removed, piece, strlen(piece));
        if (hostile_chance(random, 10)) hostile_damage(random, file);
    }
}

/* What a command line can hold: up to the first NUL. */
static const char *argument(const hostile_file *file, const char *option, char *text, size_t size) {
    snprintf(text, size, "%s%.*s", option, (int)file->size, (const char *)file->data);
    return text;
}

/* ---- frames ---- */

static const char *folder;

static void load_frames(void) {
    static const char *const states[] = {"hN=h", NULL};
    const xpuc_options options = {.chip = "nano", .states = states, .resources = getenv("XPU_RESOURCES")};
    hostile_file file = {NULL, 0, 0};
    xpuc_result result;
    if (xpuc_compile_file("tests/golden/frames/rnn.onnx", &options, &result, NULL)) abort();
    folder = hostile_own_folder("frames");
    hostile_set(&file, result.bytes, result.size);
    xpuc_result_clear(&result);
    hostile_put(folder, "p.xpu", &file);
    hostile_clear(&file);
    hostile_load(&file, "tests/golden/frames/signal.npy");
    hostile_put(folder, "x.npy", &file);
    hostile_clear(&file);
}

static void make_frames(hostile_random *random, hostile_file *file) {
    static const char *const pieces[] = {"x", "h", "=", ":", "::", ":1", "=24:4", "0", "-1", "..", "\n", "%s", "\xff"};
    static const char *const seeds[] = {"x=24:16", "x=24:24:1", "x=24:8:1", "x=24:3"};
    const char *seed = seeds[hostile_below(random, sizeof seeds / sizeof *seeds)];
    hostile_set(file, seed, strlen(seed));
    if (hostile_chance(random, 20)) {
        file->data[5] = (uint8_t)('0' + hostile_below(random, 10));
        return;
    }
    replace_pieces(random, file, pieces, sizeof pieces / sizeof *pieces);
}

static void feed_frames(hostile_random *random, const hostile_file *file, hostile_result *result) {
    static const char *const with[] = {"--stats=s.json", "-oy.npz", "--dump-layers=d", "--reset-state", "-v", "-q"};
    char text[4096];
    const char *words[] = {"xpu-run",
                           "p.xpu",
                           "-i",
                           "x=x.npy",
                           hostile_chance(random, 50) ? "--device=ref" : "--device=func",
                           argument(file, "--frames=", text, sizeof text),
                           with[hostile_below(random, sizeof with / sizeof *with)],
                           NULL};
    hostile_tool_run(result, words, folder, 0);
}

const hostile_kind hostile_frames = {"frames", ".txt", load_frames, make_frames, feed_frames};

/* ---- dumps of loops ---- */

enum { DUMPS = 4, MOST_INPUTS = 8, MOST_OUTPUTS = 16 };
static struct {
    const char *model;
    xpurt_program *program;
    hostile_file index;
    char folder[160];
} dumps[DUMPS] = {{.model = "tests/loops/loop_in_loop.onnx"},
                  {.model = "tests/loops/if_in_loop.onnx"},
                  {.model = "tests/loops/grow_first.onnx"},
                  {.model = "tests/loops/scan_in_scan.onnx"}};

/* Whether the run could be made. Integers are 2, floats and bools have that byte, too. */
static int run(xpurt_program *program, const xpurt_run_options *options, hostile_result *result, const char *call) {
    xpurt_tensor inputs[MOST_INPUTS], outputs[MOST_OUTPUTS];
    xpurt_error error = {0, NULL};
    uint32_t count = xpurt_input_count(program);
    if (count > MOST_INPUTS || xpurt_output_count(program) > MOST_OUTPUTS) abort();
    for (uint32_t i = 0; i < count; i++) {
        size_t elements = 1;
        xpurt_input(program, i, &inputs[i]);
        for (int d = 0; d < inputs[i].rank; d++) elements *= (size_t)inputs[i].dims[d];
        inputs[i].data = calloc(elements + 1, 8);
        if (!inputs[i].data) abort();
        for (size_t k = 0; k < elements; k++)
            ((uint8_t *)inputs[i].data)[strcmp(inputs[i].dtype, "bool") ? 8 * k : k] = 1;
        if (strcmp(inputs[i].dtype, "int64") == 0) *(int64_t *)inputs[i].data = 2;
    }
    int status = xpurt_run(program, inputs, count, outputs, options, &error);
    hostile_judge(result, call, status, error.text);
    xpurt_error_clear(&error);
    for (uint32_t i = 0; i < count; i++) free(inputs[i].data);
    for (uint32_t i = 0; i < xpurt_output_count(program); i++) xpurt_tensor_clear(&outputs[i]);
    return status == 0;
}

static void load_dumps(void) {
    for (int i = 0; i < DUMPS; i++) {
        hostile_file compiled = {NULL, 0, 0};
        hostile_result result = {.refused = 0};
        char path[200];
        hostile_compile(&compiled, dumps[i].model, "nano", "fp32", NULL);
        dumps[i].program = xpurt_open_memory(compiled.data, compiled.size, "loop.xpu", NULL);
        hostile_clear(&compiled);
        snprintf(dumps[i].folder, sizeof dumps[i].folder, "%s/d%d", hostile_own_folder("dumps"), i);
        const xpurt_run_options options = {.dump_folder = dumps[i].folder};
        if (!dumps[i].program || !run(dumps[i].program, &options, &result, "xpurt_run")) {
            fprintf(stderr, "%s makes no dump: %s\n", dumps[i].model, result.rule);
            abort();
        }
        snprintf(path, sizeof path, "%s/index.json", dumps[i].folder);
        hostile_load(&dumps[i].index, path);
    }
}

/* The first byte says which dump. */
static void make_dumps(hostile_random *random, hostile_file *file) {
    uint8_t which = (uint8_t)hostile_below(random, DUMPS);
    hostile_set(file, dumps[which].index.data, dumps[which].index.size);
    if (hostile_chance(random, 80))
        hostile_damage_json(random, file);
    else if (hostile_chance(random, 50))
        hostile_damage(random, file);
    which = (uint8_t)('0' + which);
    hostile_replace(file, 0, 0, &which, 1);
}

/* A name of a layer as an index has it, or one with changes. */
static const char *layer_name(hostile_random *random, int which, char *text, size_t size) {
    static const char *const pieces[] = {"*",     "?",  "[", "]",  "[!", ".i0000", ".i",
                                         "i0001", "\\", "/", "..", "\n", "\xfe"};
    const char *all = (const char *)dumps[which].index.data, *end = all + dumps[which].index.size, *at = all;
    hostile_file name = {NULL, 0, 0};
    uint32_t wanted = hostile_below(random, 12);
    hostile_set(&name, "*", 1);
    for (uint32_t i = 0; i <= wanted; i++) {
        const char *next = memmem(at, (size_t)(end - at), "\"layer\": \"", 10);
        if (!next) break;
        at = next + 10;
        hostile_set(&name, at, strcspn(at, "\""));
    }
    if (hostile_chance(random, 25)) replace_pieces(random, &name, pieces, sizeof pieces / sizeof *pieces);
    argument(&name, "", text, size);
    hostile_clear(&name);
    return text;
}

static void feed_dumps(hostile_random *random, const hostile_file *file, hostile_result *result) {
    const int which = file->size ? file->data[0] % DUMPS : 0;
    hostile_file index = {NULL, 0, 0};
    char text[512], again[200];
    hostile_add(&index, "", 1); /* data, also of an empty file */
    index.size = 0;
    if (file->size > 1) hostile_set(&index, file->data + 1, file->size - 1);
    hostile_put(dumps[which].folder, "index.json", &index);
    hostile_clear(&index);
    const char *name = layer_name(random, which, text, sizeof text);
    if (hostile_chance(random, 15)) {
        const char *words[] = {"xpu-dump", hostile_chance(random, 50) ? "show" : "diff", ".", ".", NULL};
        if (words[1][0] == 's') words[3] = NULL;
        hostile_tool_run(result, words, dumps[which].folder, 0);
        return;
    }
    xpurt_run_options options = {.max_instructions = 400000};
    if (hostile_chance(random, 50)) options.device = &xpu_func_driver;
    if (hostile_chance(random, 20)) {
        snprintf(again, sizeof again, "%s-again", dumps[which].folder);
        options.dump_folder = again;
        options.dump_filter = name;
        run(dumps[which].program, &options, result, "xpurt_run with this filter");
        return;
    }
    options.layer = name;
    options.from_dump = dumps[which].folder;
    run(dumps[which].program, &options, result, "xpurt_run of this layer");
}

const hostile_kind hostile_dumps = {"dumps", ".json", load_dumps, make_dumps, feed_dumps};
