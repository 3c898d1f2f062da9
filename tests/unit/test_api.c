/* The libraries' contract: what is NULL or does not exist is an error, and threads share a program. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/include/xpurt_device.h"
#include "xpu_runtime/include/xpurt_func.h"
#include "xpu_runtime/include/xpurt_rtl.h"
#include "xpuc/include/xpuc.h"

#define MODEL "examples/digits/digits.onnx"

enum { PIXELS = 256, CLASSES = 10, BATCHES = 6, THREADS = 4, ROUNDS = 12 };

static float images[BATCHES * PIXELS], expected[BATCHES * CLASSES];

static xpurt_program *open_program(void) {
    static const char *const shapes[] = {"x=1..16,1,16,16", NULL};
    const xpuc_options options = {.shapes = shapes, .precision = "fp32"};
    xpuc_result result;
    xpuc_error error;
    for (int i = 0; i < BATCHES * PIXELS; i++) images[i] = (float)(i * 37 % 101) / 101;
    int status = xpuc_compile_file(MODEL, &options, &result, &error);
    if (status) fprintf(stderr, "%s", error.text);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    xpurt_program *program = xpurt_open_memory(result.bytes, result.size, "digits.xpu", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    xpuc_result_clear(&result);
    xpuc_error_clear(&error);
    return program;
}

/* ---- arguments ---- */

/* error: as uninitialised as it may be. */
static void expect(int status, xpurt_error *error, const char *begin) {
    CU_ASSERT_EQUAL(status, XPU_EUSAGE);
    CU_ASSERT_EQUAL(error->status, XPU_EUSAGE);
    int good = error->text && strncmp(error->text, begin, strlen(begin)) == 0;
    if (!good) fprintf(stderr, "%s instead of %s\n", error->text ? error->text : "no text", begin);
    CU_ASSERT(good);
    xpurt_error_clear(error);
    memset(error, 0x5a, sizeof *error);
}

static void runtime_arguments(void) {
    xpurt_program *program = open_program();
    xpurt_error error;
    xpurt_tensor input = {"x", "float32", 4, {1, 1, 16, 16}, images}, info, output;
    char *stats = (char *)1;
    memset(&error, 0x5a, sizeof error);
    CU_ASSERT_PTR_NULL(xpurt_open(NULL, &error));
    expect(XPU_EUSAGE, &error, "error [argument] xpurt_open: the call cannot be made\n  why: the path is NULL\n");
    CU_ASSERT_PTR_NULL(xpurt_open_memory(NULL, 4, NULL, &error));
    expect(XPU_EUSAGE, &error,
           "error [argument] xpurt_open_memory: the call cannot be made\n  why: the bytes are NULL\n");
    CU_ASSERT_PTR_NULL(xpurt_open(NULL, NULL));
    CU_ASSERT_PTR_NULL(xpurt_describe(NULL, &error));
    expect(XPU_EUSAGE, &error,
           "error [argument] xpurt_describe: the call cannot be made\n  why: the program is NULL\n");
    expect(xpurt_run(NULL, &input, 1, &output, NULL, &error), &error, "error [argument] xpurt_run: ");
    expect(xpurt_run(program, NULL, 1, &output, NULL, &error), &error, "error [argument] xpurt_run: ");
    expect(xpurt_run(program, &input, 1, NULL, &(xpurt_run_options){.stats = &stats}, &error), &error,
           "error [argument] xpurt_run: ");
    CU_ASSERT_PTR_NULL(stats);
    const xpurt_device_driver old = {.version = XPURT_DEVICE_VERSION + 1};
    expect(xpurt_run(program, &input, 1, &output, &(xpurt_run_options){.device = &old}, &error), &error,
           "error [argument] xpurt_run: ");
    expect(xpurt_check_inputs(NULL, &input, 1, &error), &error, "error [argument] xpurt_check_inputs: ");
    expect(xpurt_check_inputs(program, NULL, 1, &error), &error, "error [argument] xpurt_check_inputs: ");
    expect(xpurt_empty_outputs(program, &input, 1, NULL, &error), &error, "error [argument] xpurt_empty_outputs: ");
    expect(xpurt_run(program, NULL, 0, &output, NULL, &error), &error, "digits.xpu: error [input-missing]");
    CU_ASSERT_EQUAL(xpurt_find_layer(NULL, "conv1", 0, 0, NULL), -1);
    CU_ASSERT_EQUAL(xpurt_find_layer(program, NULL, 0, 0, &error), -1);
    expect(XPU_EUSAGE, &error, "error [argument] xpurt_find_layer: ");
    CU_ASSERT_PTR_NULL(xpurt_rtl_load(NULL, NULL, NULL, &error));
    expect(XPU_EUSAGE, &error, "error [argument] xpurt_rtl_load: ");
    CU_ASSERT(xpurt_input_count(NULL) == 0 && xpurt_output_count(NULL) == 0 && xpurt_layer_count(NULL) == 0);
    CU_ASSERT(!xpurt_chip_json(NULL) && !xpurt_layer_name(NULL, 0) && !xpurt_layer_name(program, 9999));
    static const uint32_t wrong[] = {1, 2, 1000, UINT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memset(&info, 0x5a, sizeof info);
        CU_ASSERT(xpurt_input(program, wrong[i], &info) == XPU_EUSAGE && !info.name && !info.data);
        memset(&info, 0x5a, sizeof info);
        CU_ASSERT(xpurt_output(program, wrong[i], &info) == XPU_EUSAGE && !info.name && !info.data);
    }
    CU_ASSERT(xpurt_input(NULL, 0, &info) == XPU_EUSAGE && xpurt_output(program, 0, NULL) == XPU_EUSAGE);
    CU_ASSERT(xpurt_input(program, 0, &info) == 0 && info.name && strcmp(info.name, "x") == 0);
    xpurt_tensor_clear(NULL);
    xpurt_error_clear(NULL);
    xpurt_close(NULL);
    /* All that is optional left out. */
    CU_ASSERT_EQUAL(xpurt_run(program, &input, 1, &output, NULL, NULL), 0);
    xpurt_tensor_clear(&output);
    xpurt_close(program);
}

static void compiler_arguments(void) {
    xpuc_result result;
    xpuc_error error;
    memset(&error, 0x5a, sizeof error);
    memset(&result, 0x5a, sizeof result);
    const struct {
        int status;
        const char *begin;
    } calls[] = {
        {xpuc_compile_file(NULL, NULL, &result, &error), "error [argument] xpuc_compile_file: "},
        {xpuc_compile_to_file(NULL, NULL, NULL, NULL, NULL), NULL},
        {xpuc_describe(MODEL, NULL, NULL, NULL), NULL},
        {xpuc_compile_file(MODEL, NULL, NULL, NULL), NULL},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) CU_ASSERT_EQUAL(calls[i].status, XPU_EUSAGE);
    CU_ASSERT(error.status == XPU_EUSAGE && error.text && strncmp(error.text, calls[0].begin, 35) == 0);
    CU_ASSERT(!result.bytes && !result.dump && !result.summary);
    xpuc_error_clear(&error);
    CU_ASSERT_EQUAL(xpuc_compile_to_file(MODEL, "/nonexistent/x.xpu", NULL, NULL, &error), XPU_EUSAGE);
    CU_ASSERT(error.text && strstr(error.text, "xpuc_compile_to_file: ") && strstr(error.text, "the result is NULL"));
    xpuc_error_clear(&error);
    CU_ASSERT_EQUAL(xpuc_describe(MODEL, NULL, &result, NULL), 0);
    CU_ASSERT_PTR_NOT_NULL(result.dump);
    xpuc_result_clear(&result);
    xpuc_result_clear(NULL);
    xpuc_error_clear(NULL);
}

/* ---- threads ---- */

typedef struct {
    xpurt_program *program;
    const xpurt_device_driver *device;
    unsigned number;
    int bad;
    float logits[BATCHES][BATCHES * CLASSES]; /* by batch size */
} worker;

static int run_batch(worker *w, int64_t count) {
    xpurt_tensor input = {"x", "float32", 4, {count, 1, 16, 16}, images}, output;
    char *stats = NULL, name[64];
    const xpurt_run_options options = {.device = w->device, .stats = &stats};
    if (xpurt_run(w->program, &input, 1, &output, &options, NULL)) return 0;
    /* The statistics are those of this run. */
    snprintf(name, sizeof name, "\"device\": \"%s\"", w->device ? w->device->name : "ref");
    int good = output.dims[0] == count && stats && strstr(stats, name) != NULL;
    memcpy(w->logits[count - 1], output.data, (size_t)(count * CLASSES) * sizeof(float));
    xpurt_tensor_clear(&output);
    free(stats);
    return good;
}

static void *work(void *object) {
    worker *w = object;
    const char *first = xpurt_describe(w->program, NULL);
    for (unsigned round = 0; round < ROUNDS; round++) {
        w->bad += !run_batch(w, 1 + (round * 5 + w->number) % BATCHES);
        const char *text = xpurt_describe(w->program, NULL);
        xpurt_tensor info;
        w->bad += !text || text != first || strstr(text, "\"program_hash\"") == NULL;
        w->bad += xpurt_input(w->program, 0, &info) != 0 || strcmp(info.name, "x") != 0;
    }
    return NULL;
}

/* Runs, on ref and on func, and queries of one program at the same time; more shapes than plans are kept. */
static void one_program(void) {
    static worker workers[THREADS];
    pthread_t threads[THREADS];
    xpurt_program *program = open_program();
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (worker){.program = program, .device = i % 2 ? xpurt_func_driver() : NULL, .number = i};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL(workers[i].bad, 0);
        for (int count = 0; count < BATCHES; count++) {
            size_t bytes = (size_t)(count + 1) * CLASSES * sizeof(float);
            CU_ASSERT(memcmp(workers[i].logits[count], workers[0].logits[count], bytes) == 0);
        }
    }
    xpurt_close(program);
}

/* ---- threads of one session ---- */

typedef struct {
    xpurt_session *session;
    int bad;
} user;

static void *use(void *object) {
    user *u = object;
    for (int round = 0; round < ROUNDS; round++) {
        const int count = 1 + round % BATCHES;
        xpurt_tensor input = {"x", "float32", 4, {count, 1, 16, 16}, images}, output;
        char *stats = NULL;
        const xpurt_run_options options = {.stats = &stats};
        if (xpurt_session_run(u->session, &input, 1, &output, &options, NULL)) {
            u->bad++;
            continue;
        }
        u->bad += memcmp(output.data, expected, (size_t)count * CLASSES * sizeof(float)) != 0;
        u->bad += !stats || !strstr(stats, "\"layers\": ");
        xpurt_tensor_clear(&output);
        free(stats);
    }
    return NULL;
}

/* On ref and on func each thread gets what a run of its own gives; the devices are kept for later runs. */
static void one_session(void) {
    const xpurt_device_driver *const drivers[] = {NULL, xpurt_func_driver()};
    xpurt_program *program = open_program();
    xpurt_tensor input = {"x", "float32", 4, {BATCHES, 1, 16, 16}, images}, output;
    CU_ASSERT_EQUAL_FATAL(xpurt_run(program, &input, 1, &output, NULL, NULL), 0);
    memcpy(expected, output.data, sizeof expected);
    xpurt_tensor_clear(&output);
    for (int d = 0; d < 2; d++) {
        xpurt_session *session = xpurt_session_open(program, &(xpurt_run_options){.device = drivers[d]}, NULL);
        for (int again = 0; again < 2; again++) {
            user users[THREADS];
            pthread_t threads[THREADS];
            for (int i = 0; i < THREADS; i++) {
                users[i] = (user){session, 0};
                CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, use, &users[i]), 0);
            }
            for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
            for (int i = 0; i < THREADS; i++) CU_ASSERT_EQUAL(users[i].bad, 0);
        }
        xpurt_session_reset(session);
        xpurt_session_close(session);
    }
    xpurt_close(program);
}

/* ---- threads that compile, and models in memory ---- */

static char model[1 << 20];

static size_t read_model(const char *path, char *bytes) {
    FILE *file = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    size_t size = fread(bytes, 1, sizeof model, file);
    fclose(file);
    CU_ASSERT_FATAL(size > 100 && size < sizeof model);
    return size;
}

static const struct {
    const char *path, *chip, *precision, *error;
} variants[] = {{MODEL, "standard", "auto", NULL},
                {"tests/models/mnist-8.onnx", "nano", "int16", NULL},
                {MODEL, "nano", "fp32", NULL},
                {"docs/unsupported.onnx", "standard", "auto", "node 'crop'"}};
enum { VARIANTS = sizeof variants / sizeof *variants };

typedef struct {
    int variant;
    char *bytes; /* NULL: from the file */
    size_t size;
    xpuc_result result;
    xpuc_error error;
} compilation;

static void *compile(void *object) {
    compilation *c = object;
    const char *path = variants[c->variant].path;
    xpuc_options options = {.chip = variants[c->variant].chip, .precision = variants[c->variant].precision};
    if (c->bytes)
        xpuc_compile_memory(c->bytes, c->size, path, &options, &c->result, &c->error);
    else
        xpuc_compile_file(path, &options, &c->result, &c->error);
    return NULL;
}

static void expect_same(const compilation *c, const compilation *alone) {
    const char *error = variants[c->variant].error;
    if (error) {
        CU_ASSERT(c->error.text && alone->error.text && strcmp(c->error.text, alone->error.text) == 0);
        CU_ASSERT(c->error.text && strstr(c->error.text, error));
        CU_ASSERT_EQUAL(c->result.size, 0);
        return;
    }
    CU_ASSERT(c->result.size > 1000 && c->result.size == alone->result.size);
    CU_ASSERT(c->result.bytes && alone->result.bytes &&
              memcmp(c->result.bytes, alone->result.bytes, alone->result.size) == 0);
}

/* Other models for other chips at the same time, with clang and lld: programs and errors are those of one alone, from
 * memory as from the file. */
static void compilations(void) {
    pthread_t threads[2 * VARIANTS];
    compilation alone[VARIANTS] = {{0}}, all[2 * VARIANTS] = {{0}};
    for (int i = 0; i < VARIANTS; i++) {
        alone[i].variant = i;
        compile(&alone[i]);
    }
    for (int i = 0; i < 2 * VARIANTS; i++) {
        compilation *c = &all[i];
        c->variant = i % VARIANTS;
        if (i < VARIANTS) {
            c->bytes = malloc(sizeof model);
            CU_ASSERT_PTR_NOT_NULL_FATAL(c->bytes);
            c->size = read_model(variants[c->variant].path, c->bytes);
        }
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, compile, c), 0);
    }
    for (int i = 0; i < 2 * VARIANTS; i++) {
        pthread_join(threads[i], NULL);
        expect_same(&all[i], &alone[all[i].variant]);
        xpuc_result_clear(&all[i].result);
        xpuc_error_clear(&all[i].error);
        free(all[i].bytes);
    }
    for (int i = 0; i < VARIANTS; i++) {
        xpuc_result_clear(&alone[i].result);
        xpuc_error_clear(&alone[i].error);
    }
}

static void expect_in_memory(const void *bytes, size_t size, const char *name, const char *begin, const char *json) {
    xpuc_result result;
    xpuc_error error;
    CU_ASSERT_NOT_EQUAL(xpuc_compile_memory(bytes, size, name, NULL, &result, &error), 0);
    int good = error.text && strncmp(error.text, begin, strlen(begin)) == 0 && error.json && strstr(error.json, json);
    if (!good) fprintf(stderr, "%s%s", error.text ? error.text : "no text\n", error.json ? error.json : "no JSON\n");
    CU_ASSERT(good);
    xpuc_result_clear(&result);
    xpuc_error_clear(&error);
}

/* No file is asked for; messages are there as JSON, too. */
static void models_in_memory(void) {
    size_t size = read_model(MODEL, model);
    expect_in_memory(NULL, 4, "m.onnx",
                     "error [argument] xpuc_compile_memory: the call cannot be made\n"
                     "  why: the bytes are NULL\n",
                     "[{\"severity\": \"error\", \"status\": 2, \"rule\": \"argument\", "
                     "\"where\": \"xpuc_compile_memory\", \"what\": \"the call cannot be made\", "
                     "\"why\": \"the bytes are NULL\", \"hint\": \"xpuc.h says what it takes\"}]\n");
    expect_in_memory(model, size, "m.pt", "m.pt: error [model-format] ", "\"file\": \"m.pt\"");
    expect_in_memory("\177ELF and more", 13, "q\"uo\\te", "q\"uo\\te: error [model-format] ",
                     "\"file\": \"q\\\"uo\\\\te\"");
    expect_in_memory("", 0, "m.onnx", "m.onnx: error [", "\"rule\": \"onnx-");
    expect_in_memory(model, size / 2, "m.onnx", "m.onnx: error [onnx-", "\"file\": \"m.onnx\"");
}

/* ---- stopping ---- */

typedef struct {
    int asked, stop_at; /* the question that is answered with yes, as are all behind it */
} patience;

static int is_over(void *context) {
    patience *p = context;
    return ++p->asked >= p->stop_at;
}

static void expect_stop(int status, const char *text) {
    CU_ASSERT_EQUAL(status, XPU_ESTOPPED);
    CU_ASSERT(text && strstr(text, "error [stopped] "));
    CU_ASSERT(text && strstr(text, "the work was stopped before its end\n  why: "));
}

/* At questions further and further apart, until there are too few of them. */
static void stopped_compilations(void) {
    int stops = 0;
    for (int at = 1, status = XPU_ESTOPPED; status; at += 1 + at / 2) {
        patience p = {.stop_at = at};
        const xpuc_options options = {.precision = "int16", .stop = is_over, .stop_context = &p};
        xpuc_result result;
        xpuc_error error;
        status = xpuc_compile_file(MODEL, &options, &result, &error);
        if (status) expect_stop(status, error.text);
        stops += status != 0;
        CU_ASSERT(!status || !result.bytes);
        xpuc_result_clear(&result);
        xpuc_error_clear(&error);
    }
    CU_ASSERT(stops > 5);
}

static void stopped_runs(void) {
    xpurt_program *program = open_program();
    const xpurt_device_driver *const drivers[] = {NULL, xpurt_func_driver()};
    for (int d = 0; d < 2; d++) {
        int stops = 0;
        for (int at = 1, status = XPU_ESTOPPED; status; at += 1 + at / 2) {
            patience p = {.stop_at = at};
            xpurt_tensor input = {"x", "float32", 4, {BATCHES, 1, 16, 16}, images}, output;
            char *stats = NULL;
            const xpurt_run_options options = {.device = drivers[d], .context = &p, .stop = is_over, .stats = &stats};
            xpurt_error error = {0};
            status = xpurt_run(program, &input, 1, &output, &options, &error);
            if (status) expect_stop(status, error.text);
            CU_ASSERT((output.data != NULL) == (status == 0));
            CU_ASSERT(stats && (strstr(stats, "\"incomplete\": \"stopped\"") != NULL) == (status != 0));
            stops += status != 0;
            free(stats);
            xpurt_error_clear(&error);
            xpurt_tensor_clear(&output);
        }
        CU_ASSERT(stops > 5);
    }
    xpurt_close(program);
}

XPU_TEST_MAIN("api", {"arguments of libxpurt", runtime_arguments}, {"arguments of libxpuc", compiler_arguments},
              {"threads run one program", one_program}, {"threads run one session", one_session},
              {"threads compile", compilations}, {"models in memory", models_in_memory},
              {"stopped compilations", stopped_compilations}, {"stopped runs", stopped_runs})
