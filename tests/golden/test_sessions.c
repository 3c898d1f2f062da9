/*
 * Sessions: a program that is loaded once and run many times gives what runs of their own give, on ref, func and rtl,
 * after errors, and while its file changes; memory does not grow, and a run costs little.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/status.h"
#include "tests/golden/digits.h"
#include "tests/unit/unit.h"
#include "tools/common/inputs.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/include/xpurt_device.h"
#include "xpu_runtime/include/xpurt_func.h"
#include "xpu_runtime/include/xpurt_rtl.h"
#include "xpuc/include/xpuc.h"

#define MODEL "examples/digits/digits.onnx"

enum { CLASSES = 10, MOST = 4 };

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    xpuc_result compiled;
    xpurt_program *program;
    digits images;
} bench;

static void compile(xpuc_result *result, const char *precision) {
    static const char *const shapes[] = {"x=1..4,1,16,16", NULL};
    const xpuc_options options = {.shapes = shapes, .precision = precision};
    xpuc_error error = {0};
    int status = xpuc_compile_file(MODEL, &options, result, &error);
    if (status) fprintf(stderr, "%s", error.text);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    xpuc_error_clear(&error);
}

static void bench_open(bench *b, const char *precision) {
    xpu_diags_init(&b->diags);
    b->arena = xpu_arena_new(&b->mem, "test");
    CU_ASSERT_FATAL(digits_read(&b->images, b->arena, &b->diags));
    compile(&b->compiled, precision);
    b->program = xpurt_open_memory(b->compiled.bytes, b->compiled.size, "digits.xpu", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->program);
}

static void bench_close(bench *b) {
    xpurt_close(b->program);
    xpuc_result_clear(&b->compiled);
    xpu_diags_clear(&b->diags);
    xpu_mem_release(&b->mem);
}

#define BENCH_OPEN(b, precision)                                                                                       \
    bench b = {.program = NULL};                                                                                       \
    xpu_mem_init(&b.mem);                                                                                              \
    if (setjmp(b.mem.out_of_memory)) exit(EXIT_FAILURE);                                                               \
    bench_open(&b, precision)

static const xpurt_device_driver *rtl(const char *chip) {
    const char *build = getenv("XPU_BUILD");
    char folder[1024];
    snprintf(folder, sizeof folder, "%s/lib", build ? build : "build");
    const xpurt_device_driver *driver = xpurt_rtl_load(chip, folder, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(driver);
    return driver;
}

static int is_same(const xpurt_tensor *a, const xpurt_tensor *b) {
    return a->data && b->data && a->rank == 2 && b->rank == 2 && a->dims[0] == b->dims[0] &&
           memcmp(a->data, b->data, (size_t)(a->dims[0] * CLASSES) * sizeof(float)) == 0;
}

/* Images first .. first + count - 1 in the session, compared with a run of their own on ref. */
static void expect_run(bench *b, xpurt_session *session, int64_t first, int64_t count,
                       const xpurt_run_options *options) {
    xpurt_tensor input = digits_input(&b->images, first, count), own, output;
    xpurt_error error = {0};
    CU_ASSERT_EQUAL_FATAL(xpurt_run(b->program, &input, 1, &own, NULL, NULL), 0);
    int status = xpurt_session_run(session, &input, 1, &output, options, &error);
    if (status) fprintf(stderr, "%s", error.text);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT(is_same(&own, &output));
    xpurt_error_clear(&error);
    xpurt_tensor_clear(&own);
    xpurt_tensor_clear(&output);
}

static xpurt_session *open_session(xpurt_program *program, const xpurt_device_driver *device) {
    xpurt_session *session = xpurt_session_open(program, &(xpurt_run_options){.device = device}, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(session);
    return session;
}

/* ---- the same results ---- */

/* Other images and other shapes between equal runs; the device's totals are those of each run. */
static void many_runs_on(bench *b, const xpurt_device_driver *device, int rounds) {
    xpurt_session *session = open_session(b->program, device);
    char *first = NULL;
    for (int i = 0; i < rounds; i++) {
        char *stats = NULL;
        const xpurt_run_options options = {.stats = &stats};
        expect_run(b, session, 0, 2, &options);
        CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
        const char *here = strstr(stats, "\"gm_read_bytes\""),
                   *there = first ? strstr(first, "\"gm_read_bytes\"") : here;
        if (device) CU_ASSERT(here && there && strncmp(here, there, strcspn(here, ",")) == 0);
        if (!first) first = stats;
        if (first != stats) free(stats);
        for (int64_t count = 1; count <= MOST && count < rounds; count++)
            expect_run(b, session, 7 * i + count, count, NULL);
    }
    free(first);
    xpurt_session_close(session);
}

static void many_runs(void) {
    BENCH_OPEN(b, "int16");
    many_runs_on(&b, NULL, 5);
    many_runs_on(&b, xpurt_func_driver(), 5);
    many_runs_on(&b, rtl("standard"), 2);
    bench_close(&b);
}

/* ---- branches and loops ---- */

enum { FEW = 8 };

/* A case of a network of tests/loops in the session, compared with a run of its own on ref. */
static void expect_case(xpurt_program *program, xpurt_session *session, const char *base, const char *name,
                        xpu_arena *arena) {
    xpu_diags diags;
    xpu_named_tensors given = {0};
    xpurt_tensor inputs[FEW], own[FEW], outputs[FEW];
    xpu_diags_init(&diags);
    CU_ASSERT_EQUAL_FATAL(xpu_npz_read(arena, xpu_printf(arena, "%s.%s_in.npz", base, name), &given, &diags), XPU_OK);
    CU_ASSERT_FATAL(given.count <= FEW && xpurt_output_count(program) <= FEW);
    for (uint32_t i = 0; i < given.count; i++) inputs[i] = xpu_to_runtime(given.items[i].name, &given.items[i].tensor);
    CU_ASSERT_EQUAL_FATAL(xpurt_run(program, inputs, given.count, own, NULL, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(xpurt_session_run(session, inputs, given.count, outputs, NULL, NULL), 0);
    for (uint32_t i = 0; i < xpurt_output_count(program); i++) {
        xpu_tensor a = xpu_from_runtime(&own[i]), b = xpu_from_runtime(&outputs[i]);
        size_t bytes = xpu_tensor_bytes(&a);
        CU_ASSERT(bytes == xpu_tensor_bytes(&b) && memcmp(a.data, b.data, bytes) == 0);
        xpurt_tensor_clear(&own[i]);
        xpurt_tensor_clear(&outputs[i]);
    }
    xpu_diags_clear(&diags);
}

/* What one run has set on the device (symbols, words of the plan table) is set anew in the next. */
static void control_flow(void) {
    static const struct {
        const char *network, *a, *b;
    } cases[] = {
        {"if_in_loop", "1", "9"}, {"loop_in_loop", "4", "0"}, {"grow_early", "a", "b"}, {"loop_host", "4", "4"}};
    xpu_mem mem;
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) exit(EXIT_FAILURE);
    xpu_arena *arena = xpu_arena_new(&mem, "test");
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        xpuc_result compiled;
        const char *base = xpu_printf(arena, "tests/loops/%s", cases[n].network);
        const xpuc_options how = {.chip = "nano", .precision = "fp32"};
        CU_ASSERT_EQUAL_FATAL(xpuc_compile_file(xpu_printf(arena, "%s.onnx", base), &how, &compiled, NULL), 0);
        xpurt_program *program = xpurt_open_memory(compiled.bytes, compiled.size, cases[n].network, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(program);
        xpurt_session *session = open_session(program, xpurt_func_driver());
        for (int round = 0; round < 2; round++) {
            expect_case(program, session, base, cases[n].a, arena);
            expect_case(program, session, base, cases[n].b, arena);
        }
        xpurt_session_close(session);
        xpurt_close(program);
        xpuc_result_clear(&compiled);
    }
    xpu_mem_release(&mem);
}

/* ---- errors ---- */

/* A run that ended early, at its start and near its end, harms no later one. */
static void after_errors(void) {
    BENCH_OPEN(b, "int16");
    const xpurt_device_driver *const devices[] = {NULL, xpurt_func_driver()};
    for (int d = 0; d < 2; d++) {
        xpurt_session *session = open_session(b.program, devices[d]);
        xpurt_tensor input = digits_input(&b.images, 3, 1), output;
        for (uint64_t limit = 10; limit < 20000000; limit = limit * 3 / 2) {
            xpurt_error error = {0};
            const xpurt_run_options few = {.max_instructions = limit};
            int status = xpurt_session_run(session, &input, 1, &output, &few, &error);
            if (status == 0) {
                CU_ASSERT(limit > 1000);
                xpurt_tensor_clear(&output);
                break;
            }
            CU_ASSERT(status == XPU_ETIMEOUT && error.text && !output.data);
            xpurt_error_clear(&error);
            expect_run(&b, session, (int64_t)(limit % 50), 2, NULL);
        }
        input.dims[3] = 15;
        CU_ASSERT_EQUAL(xpurt_session_run(session, &input, 1, &output, NULL, NULL), XPU_EUSAGE);
        CU_ASSERT_EQUAL(xpurt_session_run(session, NULL, 0, &output, NULL, NULL), XPU_EUSAGE);
        expect_run(&b, session, 5, 3, NULL);
        xpurt_session_close(session);
    }
    bench_close(&b);
}

static void arguments(void) {
    BENCH_OPEN(b, "fp32");
    xpurt_error error = {0};
    const xpurt_device_driver old = {.version = XPURT_DEVICE_VERSION + 1};
    xpurt_tensor input = digits_input(&b.images, 0, 1), output;
    CU_ASSERT_PTR_NULL(xpurt_session_open(NULL, NULL, &error));
    CU_ASSERT(error.status == XPU_EUSAGE && strstr(error.text, "[argument] xpurt_session_open: "));
    xpurt_error_clear(&error);
    CU_ASSERT_PTR_NULL(xpurt_session_open(b.program, &(xpurt_run_options){.device = &old}, NULL));
    const xpurt_run_options chip = {.device = xpurt_func_driver(), .chip_json = "{}"};
    CU_ASSERT_PTR_NULL(xpurt_session_open(b.program, &chip, &error));
    CU_ASSERT(error.status == XPU_EUSAGE && error.text);
    xpurt_error_clear(&error);
    CU_ASSERT_EQUAL(xpurt_session_run(NULL, &input, 1, &output, NULL, &error), XPU_EUSAGE);
    CU_ASSERT(error.text && strstr(error.text, "[argument] xpurt_session_run: "));
    xpurt_error_clear(&error);
    xpurt_session *session = open_session(b.program, NULL);
    CU_ASSERT_EQUAL(xpurt_session_run(session, NULL, 1, &output, NULL, NULL), XPU_EUSAGE);
    CU_ASSERT_EQUAL(xpurt_session_run(session, &input, 1, NULL, NULL, NULL), XPU_EUSAGE);
    xpurt_session_close(session);
    xpurt_session_close(NULL);
    bench_close(&b);
}

static xpurt_program *open_mnist(xpuc_result *compiled) {
    CU_ASSERT_EQUAL_FATAL(xpuc_compile_file("tests/models/mnist-8.onnx", NULL, compiled, NULL), 0);
    xpurt_program *program = xpurt_open_memory(compiled->bytes, compiled->size, "mnist-8.xpu", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    return program;
}

/* ---- memory ---- */

static long resident_pages(void) {
    long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &all, &resident) != 2) resident = 0;
    if (file) fclose(file);
    return resident;
}

static int run_once(xpurt_program *program, xpurt_session *session, int64_t number) {
    static float pixels[28 * 28];
    xpurt_tensor input, output;
    xpurt_input(program, 0, &input);
    input.data = pixels;
    pixels[number % (28 * 28)] = (float)(number % 256);
    int status = xpurt_session_run(session, &input, 1, &output, NULL, NULL);
    xpurt_tensor_clear(&output);
    return status;
}

/* 1,000 runs of mnist-8 in one session on func, as many on ref. */
static void memory(void) {
    enum { RUNS = 1000, WARM = 50, PAGES = 64 };
    xpuc_result compiled;
    xpurt_program *program = open_mnist(&compiled);
    const xpurt_device_driver *const devices[] = {NULL, xpurt_func_driver()};
    for (int d = 0; d < 2; d++) {
        xpurt_session *session = open_session(program, devices[d]);
        int failed = 0;
        for (int i = 0; i < WARM; i++) failed += run_once(program, session, i) != 0;
        size_t used = mallinfo2().uordblks;
        long pages = resident_pages();
        for (int i = 0; i < RUNS; i++) failed += run_once(program, session, i) != 0;
        long more = resident_pages() - pages;
        if (more >= PAGES) printf("%ld more pages; ", more);
        CU_ASSERT_EQUAL(failed, 0);
        CU_ASSERT(mallinfo2().uordblks < used + 4096); /* what malloc itself keeps for later */
        CU_ASSERT(more < PAGES);
        xpurt_session_close(session);
    }
    xpurt_close(program);
    xpuc_result_clear(&compiled);
}

/* Allocation n fails, for every n of opening a session and of two runs; the session works afterwards. */
static void out_of_memory(void) {
    BENCH_OPEN(b, "int16");
    const xpurt_device_driver *const devices[] = {NULL, xpurt_func_driver()};
    for (int d = 0; d < 2; d++) {
        const xpurt_run_options options = {.device = devices[d]};
        unsigned long failed = 0;
        for (int status = -1; status; failed += status != 0) {
            xpurt_tensor input = digits_input(&b.images, 0, 2), outputs[2] = {{0}};
            xpurt_error error = {0};
            xpu_alloc_fail_at(failed + 1);
            xpurt_session *session = xpurt_session_open(b.program, &options, &error);
            status = error.status;
            for (int i = 0; i < 2 && !status; i++)
                status = xpurt_session_run(session, &input, 1, &outputs[i], NULL, &error);
            xpu_alloc_fail_at(0);
            if (status) CU_ASSERT(status == XPU_EIO && error.text && strstr(error.text, "[out-of-memory]"));
            xpurt_error_clear(&error);
            if (session && failed % 9 == 0) expect_run(&b, session, 5, 2, NULL);
            for (int i = 0; i < 2; i++) xpurt_tensor_clear(&outputs[i]);
            xpurt_session_close(session);
        }
        CU_ASSERT(failed > 20);
    }
    bench_close(&b);
}

/* ---- the file ---- */

/* The file is cut and written over while its program runs. */
static void changed_file(void) {
    BENCH_OPEN(b, "int16");
    char *path = xpu_path_join(b.arena, xpu_temporary_folder(b.arena, &b.diags), "digits.xpu");
    FILE *file = fopen(path, "w");
    CU_ASSERT_FATAL(file && fwrite(b.compiled.bytes, 1, b.compiled.size, file) == b.compiled.size);
    fclose(file);
    xpurt_close(b.program);
    b.program = xpurt_open(path, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b.program);
    xpurt_session *before = open_session(b.program, xpurt_func_driver());
    expect_run(&b, before, 0, 2, NULL);
    CU_ASSERT_EQUAL_FATAL(truncate(path, 4096), 0);
    xpurt_session *after = open_session(b.program, xpurt_func_driver());
    expect_run(&b, before, 2, 2, NULL);
    expect_run(&b, after, 2, 2, NULL);
    file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (size_t i = 0; i < b.compiled.size; i++) putc(0x5a, file);
    fclose(file);
    expect_run(&b, before, 4, 3, NULL);
    expect_run(&b, after, 4, 3, NULL);
    xpurt_session_close(before);
    xpurt_session_close(after);
    bench_close(&b);
}

/* ---- what a run costs ---- */

static double in_device;
static const xpurt_device_driver *timed;

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int timed_run(xpurt_device *device, uint64_t budget, xpurt_event *event) {
    double begin = cpu_seconds();
    int status = timed->run(device, budget, event);
    in_device += cpu_seconds() - begin;
    return status;
}

/* The host's own time: without that in which the simulated chip works. */
static double seconds_per_run(xpurt_program *program, const xpurt_run_options *options, int runs, int in_session) {
    static float pixels[28 * 28];
    xpurt_tensor input, output;
    xpurt_input(program, 0, &input);
    input.data = pixels;
    double begin = cpu_seconds();
    in_device = 0;
    xpurt_session *session = in_session ? xpurt_session_open(program, options, NULL) : NULL;
    for (int i = 0; i < runs; i++) {
        int status = in_session ? xpurt_session_run(session, &input, 1, &output, options, NULL)
                                : xpurt_run(program, &input, 1, &output, options, NULL);
        CU_ASSERT_EQUAL_FATAL(status, 0);
        xpurt_tensor_clear(&output);
    }
    xpurt_session_close(session);
    return (cpu_seconds() - begin - in_device) / runs;
}

/* mnist-8 on the functional chip: 1,000 runs in a session cost the host a fifth of 1,000 runs of their own, or less. */
static void cost(void) {
    enum { RUNS = 1000 };
    xpuc_result compiled;
    xpurt_program *program = open_mnist(&compiled);
    timed = xpurt_func_driver();
    xpurt_device_driver device = *timed;
    device.run = timed_run;
    const xpurt_run_options options = {.device = &device};
    double alone = seconds_per_run(program, &options, RUNS, 0), within = seconds_per_run(program, &options, RUNS, 1);
    printf("%.0f us alone, %.0f us in a session: %.1f times less; ", 1e6 * alone, 1e6 * within, alone / within);
    CU_ASSERT(5 * within <= alone);
    xpurt_close(program);
    xpuc_result_clear(&compiled);
}

XPU_TEST_MAIN("sessions", {"many runs", many_runs}, {"branches and loops", control_flow},
              {"runs that end early", after_errors}, {"arguments", arguments}, {"memory does not grow", memory},
              {"memory that runs out", out_of_memory}, {"the file changes", changed_file}, {"what a run costs", cost})
