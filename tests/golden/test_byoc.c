/* The target of examples/byoc: networks as C, compiled by the host's compiler: mnist-8 on an image of a nine; pools. */
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/npy.h"
#include "core/arith.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"
#include "xpuc/include/xpuc.h"

enum { CLASSES = 10 };

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    const char *folder, *plugin;
} bench;

static void open_bench(bench *b) {
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    CU_ASSERT_FATAL(length > 0);
    self[length] = '\0';
    b->arena = xpu_arena_new(&b->mem, "test");
    xpu_diags_init(&b->diags);
    b->folder = xpu_temporary_folder(b->arena, &b->diags);
    const char *build = getenv("XPU_BUILD");
    if (!build) build = xpu_path_join(b->arena, xpu_path_folder(b->arena, self), "../..");
    b->plugin = xpu_path_join(b->arena, build, "lib/xpu-target-byoc.so");
}

static void close_bench(bench *b) {
    xpu_diags_clear(&b->diags);
    xpu_mem_release(&b->mem);
}

#define BENCH_OPEN(b)                                                                                                  \
    bench b;                                                                                                           \
    xpu_mem_init(&b.mem);                                                                                              \
    if (setjmp(b.mem.out_of_memory)) exit(EXIT_FAILURE);                                                               \
    open_bench(&b)

static int compile(const bench *b, const char *model, const char *output, xpuc_options options, char **text) {
    xpuc_result result;
    xpuc_error error;
    options.plugin = b->plugin;
    options.target = "c";
    int status = xpuc_compile_to_file(model, output, &options, &result, &error);
    if (text) {
        *text = error.text;
        error.text = NULL;
    } else if (error.text) {
        fputs(error.text, stdout);
    }
    xpuc_error_clear(&error);
    xpuc_result_clear(&result);
    return status;
}

/* Compiles a model to C and that to a library; returns its function `network`, and the library in *handle. */
static void *load_network(bench *b, const char *model, void **handle) {
    const char *source = xpu_path_join(b->arena, b->folder, "network.c");
    const char *library = xpu_path_join(b->arena, b->folder, "network.so");
    CU_ASSERT_EQUAL_FATAL(compile(b, model, source, (xpuc_options){.check_passes = 1}, NULL), 0);
    const char *command[] = {"cc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source, "-lm", NULL};
    xpu_child child;
    CU_ASSERT_EQUAL(xpu_child_run(b->arena, command, 0, &child, &b->diags), XPU_OK);
    if (child.exit_code) printf("%s\n", child.error);
    CU_ASSERT_EQUAL_FATAL(child.exit_code, 0);
    *handle = dlopen(library, RTLD_NOW);
    void *symbol = *handle ? dlsym(*handle, "network") : NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(symbol);
    return symbol;
}

static void mnist(void) {
    BENCH_OPEN(b);
    void *handle, *symbol = load_network(&b, "tests/models/mnist-8.onnx", &handle);
    void (*network)(const float *image, float *scores);
    memcpy(&network, &symbol, sizeof network);

    xpu_tensor image;
    xpu_named_tensors expected = {NULL, 0, 0};
    CU_ASSERT_EQUAL_FATAL(xpu_npy_read(b.arena, "tests/models/9.npy", &image, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(xpu_npz_read(b.arena, "tests/models/mnist8_expected.npz", &expected, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_tensor_count(&image), 28 * 28);
    float scores[CLASSES], largest = 0;
    network(image.data, scores);
    const float *wanted = expected.items[0].tensor.data;
    int best = 0;
    for (int i = 0; i < CLASSES; i++) {
        if (scores[i] > scores[best]) best = i;
        largest = fmaxf(largest, fabsf(wanted[i]));
    }
    CU_ASSERT_EQUAL(best, 9);
    for (int i = 0; i < CLASSES; i++) {
        CU_ASSERT(fabsf(scores[i] - wanted[i]) <= 1e-3f * fabsf(wanted[i]) + 1e-5f * largest);
    }
    dlclose(handle);
    close_bench(&b);
}

/* NaN in windows of pools, and windows of padding only: what tests/gen/record_nan.py recorded. */
static void nan_in_pools(void) {
    enum { POOLS = 8, MOST = 20 * 13 * 15 };
    BENCH_OPEN(b);
    void *handle, *symbol = load_network(&b, "tests/golden/nan/pools.onnx", &handle);
    void (*network)(const float *, float *, float *, float *, float *, float *, float *, float *, float *);
    memcpy(&network, &symbol, sizeof network);
    xpu_named_tensors inputs = {NULL, 0, 0}, expected = {NULL, 0, 0};
    CU_ASSERT_EQUAL_FATAL(xpu_npz_read(b.arena, "tests/golden/nan/pools_in.npz", &inputs, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(xpu_npz_read(b.arena, "tests/golden/nan/pools_out.npz", &expected, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(expected.count, POOLS);
    float *y[POOLS];
    for (int i = 0; i < POOLS; i++) y[i] = XPU_NEW_ARRAY(b.arena, float, MOST);
    network(inputs.items[0].tensor.data, y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7]);
    for (int i = 0; i < POOLS; i++) {
        const xpu_tensor *wanted = &expected.items[i].tensor;
        CU_ASSERT_FATAL(xpu_tensor_count(wanted) <= MOST);
        for (int64_t j = 0; j < xpu_tensor_count(wanted); j++)
            CU_ASSERT(xa_same(y[i][j], ((const float *)wanted->data)[j]));
    }
    dlclose(handle);
    close_bench(&b);
}

/* Clips of NaN, zeros and infinities, with limits in either order: those of core/arith.h. */
static void clips(void) {
    static const float limits[][2] = {{-1, 2}, {2, -1}, {0, 6}, {-INFINITY, -3}};
    enum { CLIPS = sizeof limits / sizeof *limits, COUNT = 8 };
    BENCH_OPEN(b);
    xpu_onnx_builder builder;
    const int64_t dims[] = {COUNT};
    xpu_onnx_begin(&builder, b.arena, 13);
    xpu_onnx_input(&builder, "x", 1, dims);
    for (int i = 0; i < CLIPS; i++) {
        const char *names[] = {"x", xpu_printf(b.arena, "low%d", i), xpu_printf(b.arena, "high%d", i), NULL};
        for (int j = 0; j < 2; j++) {
            const xpu_tensor limit = {.dtype = XPU_F32, .data = (void *)&limits[i][j]};
            xpu_onnx_initializer(&builder, names[1 + j], &limit, 0);
        }
        const char *y = xpu_printf(b.arena, "y%d", i);
        xpu_onnx_node(&builder, "Clip", y, y, names);
        xpu_onnx_output(&builder, y, 1, dims);
    }
    const char *model = write_network_file(&builder, "clips", b.folder, &b.diags);
    void *handle, *symbol = load_network(&b, model, &handle);
    void (*network)(const float *, float *, float *, float *, float *);
    memcpy(&network, &symbol, sizeof network);
    const float x[COUNT] = {NAN, -INFINITY, INFINITY, 0, 1.5f, -1.5f, 5, -5};
    float y[CLIPS][COUNT];
    network(x, y[0], y[1], y[2], y[3]);
    for (int i = 0; i < CLIPS; i++)
        for (int j = 0; j < COUNT; j++) CU_ASSERT(xa_same(y[i][j], xa_clip(x[j], limits[i][0], limits[i][1])));
    dlclose(handle);
    close_bench(&b);
}

static void refused_options(void) {
    BENCH_OPEN(b);
    char *text;
    const char *output = xpu_path_join(b.arena, b.folder, "never.c");
    CU_ASSERT_EQUAL(compile(&b, "tests/models/mnist-8.onnx", output, (xpuc_options){.precision = "int16"}, &text), 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_STRING_EQUAL(text, "error [option] --precision: target 'c' has no such precision\n"
                                 "  why: it computes in float32: auto or fp32\n"
                                 "  hint: leave the option out\n");
    free(text);
    const xpuc_options others[] = {{.precision_rules = "configs/precision/int16x8-but-first.json"},
                                   {.memory_rules = "configs/memory/default.json"},
                                   {.chip = "nano"},
                                   {.strip = 1}};
    static const char *const messages[] = {"--precision-rules: target 'c' has one precision",
                                           "--memory: target 'c' places nothing", "--chip: target 'c' is for no chip",
                                           "--strip: target 'c' has nothing to leave out"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        CU_ASSERT_EQUAL(compile(&b, "tests/models/mnist-8.onnx", output, others[i], &text), 2);
        CU_ASSERT(text && strstr(text, messages[i]));
        free(text);
    }
    CU_ASSERT(!xpu_file_exists(output));
    close_bench(&b);
}

static void refused_plugins(void) {
    static const struct {
        const char *plugin, *what;
        int status;
    } cases[] = {
        {"no-such-file.so", "error [plugin] the plug-in cannot be loaded", 3},
        {"tests/models/9.npy", "error [plugin] the plug-in cannot be loaded", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpuc_result result;
        xpuc_error error;
        xpuc_options options = {.plugin = cases[i].plugin};
        CU_ASSERT_EQUAL(xpuc_compile_file("tests/models/mnist-8.onnx", &options, &result, &error), cases[i].status);
        CU_ASSERT_PTR_NOT_NULL_FATAL(error.text);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.text, cases[i].what));
        xpuc_error_clear(&error);
        xpuc_result_clear(&result);
    }
}

XPU_TEST_MAIN("byoc", {"mnist-8", mnist}, {"NaN in pools", nan_in_pools}, {"clips", clips},
              {"options", refused_options}, {"plug-ins", refused_plugins})
