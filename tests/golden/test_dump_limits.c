/* Dumps of long loops: what they take of the disk is bounded, and a disk that gets full ends the run before it is. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/file.h"
#include "base/json.h"
#include "base/npy.h"
#include "base/status.h"
#include "tests/unit/unit.h"
#include "tools/common/inputs.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/include/xpurt_device.h"
#include "xpu_runtime/include/xpurt_func.h"
#include "xpuc/include/xpuc.h"

enum { BYTES = 8192, FEW = 4 }; /* BYTES: what a small result takes, with its entry in the index */

/* The disk that the program sees: it has so many blocks of 4 KiB, and each look at it takes two. Negative: the real
 * one. */
static long blocks_free = -1, blocks_all;

int statvfs(const char *path, struct statvfs *disk) {
    (void)path;
    memset(disk, 0, sizeof *disk);
    disk->f_frsize = 4096;
    disk->f_blocks = blocks_free < 0 ? 1L << 30 : (fsblkcnt_t)blocks_all;
    disk->f_bavail = blocks_free < 0 ? 1L << 30 : (fsblkcnt_t)blocks_free;
    if (blocks_free >= 2) blocks_free -= 2;
    return 0;
}

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    xpuc_result compiled;
    xpurt_program *program;
    xpurt_tensor inputs[FEW];
    uint32_t input_count;
    int64_t trips;
    const char *folder;
} bench;

/* A loop of one layer, which runs n times, and one layer behind it. */
static void bench_open(bench *b) {
    const xpuc_options how = {.chip = "nano", .precision = "fp32"};
    xpu_named_tensors given = {0};
    xpu_diags_init(&b->diags);
    b->arena = xpu_arena_new(&b->mem, "test");
    CU_ASSERT_EQUAL_FATAL(xpuc_compile_file("tests/loops/loop_goes_on.onnx", &how, &b->compiled, NULL), 0);
    b->program = xpurt_open_memory(b->compiled.bytes, b->compiled.size, "loop.xpu", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->program);
    CU_ASSERT_EQUAL_FATAL(xpu_npz_read(b->arena, "tests/loops/loop_goes_on.5_in.npz", &given, &b->diags), XPU_OK);
    CU_ASSERT_FATAL(given.count <= FEW);
    for (uint32_t i = 0; i < given.count; i++) {
        b->inputs[i] = xpu_to_runtime(given.items[i].name, &given.items[i].tensor);
        if (strcmp(b->inputs[i].name, "n") == 0) b->inputs[i].data = &b->trips;
    }
    b->input_count = given.count;
    b->folder = xpu_temporary_folder(b->arena, &b->diags);
}

static void bench_close(bench *b) {
    xpurt_close(b->program);
    xpuc_result_clear(&b->compiled);
    xpu_diags_clear(&b->diags);
    xpu_mem_release(&b->mem);
}

#define BENCH_OPEN(b)                                                                                                  \
    bench b = {.arena = NULL};                                                                                         \
    xpu_mem_init(&b.mem);                                                                                              \
    if (setjmp(b.mem.out_of_memory)) exit(EXIT_FAILURE);                                                               \
    bench_open(&b)

/* Runs it so often; returns the message, "" where there is none. */
static const char *run(bench *b, int64_t trips, xpurt_run_options options, int status) {
    xpurt_error error = {0};
    xpurt_tensor output;
    options.dump_folder = b->folder;
    b->trips = trips;
    CU_ASSERT_EQUAL(xpurt_run(b->program, b->inputs, b->input_count, &output, &options, &error), status);
    xpurt_tensor_clear(&output);
    const char *text = xpu_strdup(b->arena, error.text ? error.text : "");
    xpurt_error_clear(&error);
    return text;
}

/* How many files of results of the loop's layer there are, and how many the index has. */
static size_t iterations(bench *b) {
    size_t files = 0, entries = 0, i;
    const json_t *entry, *index = xpu_json_read(b->arena, xpu_path_join(b->arena, b->folder, "index.json"), &b->diags);
    json_array_foreach(json_object_get(index, "layers"), i, entry) {
        entries += json_object_get(entry, "iteration") != NULL;
    }
    DIR *folder = opendir(b->folder);
    CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
    for (const struct dirent *file; (file = readdir(folder));) files += strstr(file->d_name, ".i0") != NULL;
    closedir(folder);
    CU_ASSERT_EQUAL(files, entries);
    return files;
}

static json_t *member(bench *b, const char *key) {
    json_t *index = xpu_json_read(b->arena, xpu_path_join(b->arena, b->folder, "index.json"), &b->diags);
    return json_object_get(index, key);
}

static void bounded(void) {
    BENCH_OPEN(b);
    const xpurt_device_driver *const devices[] = {NULL, xpurt_func_driver()};
    for (int i = 0; i < 2; i++) {
        const char *text = run(&b, 50, (xpurt_run_options){.device = devices[i], .dump_bytes = 10 * BYTES}, 0);
        CU_ASSERT_EQUAL(iterations(&b), 10);
        CU_ASSERT_EQUAL(json_integer_value(member(&b, "left_out")), 40);
        CU_ASSERT_EQUAL(json_array_size(member(&b, "layers")), 11); /* the layer behind the loop is there */
        CU_ASSERT(strstr(text, "note [dump-limit] 40 results of iterations of loops are not in the dump, from layer "
                               "'b_softsign3'.i0010 on\n") != NULL);
        CU_ASSERT(strstr(text, "--dump-iterations=A..B") != NULL);
        /* as many as fit, and iterations that are named, are no matter */
        text = run(&b, 10, (xpurt_run_options){.device = devices[i], .dump_bytes = 10 * BYTES}, 0);
        CU_ASSERT(iterations(&b) == 10 && !*text && !member(&b, "left_out"));
        text =
            run(&b, 50, (xpurt_run_options){.device = devices[i], .dump_bytes = BYTES, .dump_iterations = "5..30"}, 0);
        CU_ASSERT(iterations(&b) == 26 && !*text && !member(&b, "left_out"));
        text = run(&b, 50, (xpurt_run_options){.device = devices[i], .dump_bytes = BYTES, .dump_iterations = "*"}, 0);
        CU_ASSERT(iterations(&b) == 50 && !*text);
        text = run(&b, 50, (xpurt_run_options){.device = devices[i]}, 0);
        CU_ASSERT(iterations(&b) == 50 && !*text);
    }
    bench_close(&b);
}

/* A replay does not take what is left out for what did not run. */
static void replayed(void) {
    BENCH_OPEN(b);
    run(&b, 50, (xpurt_run_options){.dump_bytes = 10 * BYTES}, 0);
    const char *const dump = xpu_strdup(b.arena, b.folder);
    b.folder = NULL;
    int ran = 1;
    xpurt_run_options alone = {.layer = "b_softsign3", .from_dump = dump, .layer_iteration = "9", .layer_ran = &ran};
    CU_ASSERT(!*run(&b, 50, alone, 0) && ran);
    alone.layer_iteration = "10";
    CU_ASSERT(strstr(run(&b, 50, alone, XPU_EUSAGE), "error [layer-iteration] the dump has no iteration 10") && ran);
    alone = (xpurt_run_options){.layer = "g_tanh2", .from_dump = dump};
    CU_ASSERT(strstr(run(&b, 50, alone, XPU_EUSAGE), "hint: name the iterations when you make the dump") != NULL);
    bench_close(&b);
}

/* Each file takes two blocks; a sixteenth of the disk stays free. */
static void full_disk(void) {
    BENCH_OPEN(b);
    const xpurt_device_driver *const devices[] = {NULL, xpurt_func_driver()};
    for (int i = 0; i < 2; i++) {
        blocks_all = 160;
        blocks_free = 10 + 2 * 2 + 2 * 20; /* of these two files of inputs, and 20 of iterations */
        const char *text = run(&b, 50, (xpurt_run_options){.device = devices[i]}, XPU_EIO);
        CU_ASSERT(strstr(text, "error [dump-space] the disk has no room for the dump\n  why: 40960 bytes are free, of "
                               "which 40960 stay free; this file takes 8192\n") != NULL);
        CU_ASSERT(strstr(text, "--dump-iterations=A..B") != NULL);
        CU_ASSERT(strchr(text, '\n') && strstr(strchr(text, '\n'), "error [") == NULL); /* one error */
        CU_ASSERT_EQUAL(iterations(&b), 20);
        CU_ASSERT_STRING_EQUAL(json_string_value(member(&b, "incomplete")), "dump-space");
        blocks_free = 11;
        run(&b, 50, (xpurt_run_options){.device = devices[i]}, XPU_EIO); /* not even the inputs */
        CU_ASSERT_EQUAL(iterations(&b), 0);
        blocks_free = 10 + 2 * (2 + 50 + 1);
        CU_ASSERT(!*run(&b, 50, (xpurt_run_options){.device = devices[i]}, 0));
        blocks_free = -1;
    }
    bench_close(&b);
}

XPU_TEST_MAIN("dump limits", {"a long loop", bounded}, {"replays of what there is", replayed},
              {"a full disk", full_disk})
