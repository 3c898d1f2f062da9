/*
 * Allocation N fails, for every N of a piece of work: each time it ends in the error [out-of-memory], and nothing is
 * left: no open file, no child, no file in the temporary folder. Leaks are for LeakSanitizer, at the end.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/func/driver.h"
#include "tests/fuzz/hostile.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpuc/include/xpuc_build.h"

#define MODEL "tests/models/mnist-8.onnx"

/* One try; returns its status, and 1 in *clear where the message is the right one. */
typedef int (*attempt)(int *clear);

static int entries(const char *path) {
    DIR *folder = opendir(path);
    int count = 0;
    while (folder && readdir(folder)) count++;
    if (folder) closedir(folder);
    return count;
}

static int is_clear(int status, const char *text) {
    return status == 0 || (status == XPU_EIO && text && strstr(text, "error [out-of-memory]"));
}

static int compile(const xpuc_options *options, int *clear) {
    xpuc_result result;
    xpuc_error error;
    int status = xpuc_compile_file(MODEL, options, &result, &error);
    *clear = is_clear(status, error.text);
    if (!*clear) printf("status %d\n%s", status, error.text ? error.text : "no message\n");
    xpuc_result_clear(&result);
    xpuc_error_clear(&error);
    return status;
}

static int compile_c(int *clear) {
    xpuc_options options = {
        .emit = "c", .explain = "text", .dump_after = "chains", .memory_rules = "configs/memory/weights-in-l3.json"};
    return compile(&options, clear);
}

static int compile_int16(int *clear) {
    xpuc_options options = {.emit = "c", .precision = "int16", .chip = "nano"};
    return compile(&options, clear);
}

static int compile_program(int *clear) {
    xpuc_options options = {.precision = "fp32", .chip = "nano"};
    return compile(&options, clear);
}

/* A network made in C, of operators of each kind, and compiled. Its error is the caller's network's or the compiler's.
 */
static int compile_network(int *clear) {
    static const float weights[256] = {1, 0.5f, -1};
    xpuc_error error;
    xpuc_result result = {0};
    xpuc_network *n = xpuc_network_new("network", &error);
    xpuc_dim dims[] = {XPUC_SYMBOL("N", 1, 4), XPUC_SIZE(2), XPUC_SIZE(8), XPUC_SIZE(8)};
    xpuc_window same = {.auto_pad = "SAME_UPPER"}, half = {.kernel_shape = {2, 2}, .strides = {2, 2}};
    xpuc_gemm_form form = XPUC_GEMM_INIT;
    form.transpose_b = 1;
    form.beta = 2;
    xpuc_value x = xpuc_input(n, "x", "float32", 4, dims), none = {0};
    xpuc_value w = xpuc_constant_borrowed(n, "w", "float32", 4, (int64_t[]){3, 2, 3, 3}, weights);
    xpuc_value m = xpuc_constant(n, "m", "float32", 2, (int64_t[]){5, 48}, weights);
    xpuc_value c = xpuc_constant(n, "c", "float32", 2, (int64_t[]){1, 5}, weights);
    xpuc_value y = xpuc_unary(n, "relu", "relu", xpuc_conv(n, "conv", x, w, none, &same));
    y = xpuc_gemm(n, "gemm", xpuc_flatten(n, "flat", xpuc_max_pool(n, "pool", y, &half), 1), m, c, &form);
    y = xpuc_concat(n, "both", (xpuc_value[]){y, xpuc_transpose(n, NULL, xpuc_transpose(n, NULL, y, 0, NULL), 0, NULL)},
                    2, 1);
    xpuc_output(n, xpuc_softmax(n, "y", y, -1), NULL);
    int status = error.status;
    if (n) status = xpuc_network_compile(n, &(xpuc_options){.emit = "c", .chip = "nano"}, &result, &error);
    *clear = is_clear(status, error.text);
    if (!*clear) printf("status %d\n%s", status, error.text ? error.text : "no message\n");
    xpuc_result_clear(&result);
    xpuc_error_clear(&error);
    xpuc_network_free(n);
    return status;
}

static xpuc_result program;

static int run(const xpurt_run_options *options, int *clear) {
    static float image[28 * 28];
    xpurt_tensor input = {.dtype = "float32", .rank = 4, .dims = {1, 1, 28, 28}, .data = image}, output = {0};
    xpurt_error error = {0, NULL};
    xpurt_program *opened = xpurt_open_memory(program.bytes, program.size, "mnist.xpu", &error);
    int status = error.status;
    if (opened) {
        status = xpurt_describe(opened, &error) ? xpurt_run(opened, &input, 1, &output, options, &error) : error.status;
    }
    *clear = is_clear(status, error.text);
    if (!*clear) printf("status %d\n%s", status, error.text ? error.text : "no message\n");
    xpurt_tensor_clear(&output);
    xpurt_error_clear(&error);
    xpurt_close(opened);
    return status;
}

static int run_ref(int *clear) {
    char dump[128];
    snprintf(dump, sizeof dump, "%s/dump", hostile_folder());
    return run(&(xpurt_run_options){.dump_folder = dump}, clear);
}

static int run_func(int *clear) {
    return run(&(xpurt_run_options){.device = &xpu_func_driver}, clear);
}

static const struct {
    const char *name;
    attempt work;
    unsigned long step; /* every step-th allocation; 1: all */
} works[] = {{"compile to C", compile_c, 1},
             {"compile to C at int16", compile_int16, 1},
             {"compile to a program", compile_program, 97},
             {"build a network in C and compile it", compile_network, 1},
             {"open, describe and run on ref with dumps", run_ref, 1},
             {"open, describe and run on func", run_func, 1}};

/* What is left behind, or NULL. */
static const char *left_over(int files, int temporary) {
    if (entries("/proc/self/fd") != files) return "a file is still open";
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD) return "a child is left";
    if (entries(getenv("TMPDIR")) != temporary) return "a file is left in the temporary folder";
    return NULL;
}

static uint64_t try_all(const char *name, attempt work, unsigned long step, unsigned long *tried) {
    uint64_t wrong = 0;
    int clear, files = entries("/proc/self/fd");
    xpu_alloc_fail_at(0);
    int status = work(&clear);
    unsigned long count = xpu_alloc_fail_at(0);
    int temporary = entries(getenv("TMPDIR"));
    if (status != 0) return 1;
    for (unsigned long n = 1; n <= count; n += step) {
        xpu_alloc_fail_at(n);
        status = work(&clear);
        xpu_alloc_fail_at(0);
        const char *left = left_over(files, temporary);
        ++*tried;
        if (status != 0 && clear && !left) continue;
        wrong++;
        printf("%s, allocation %lu of %lu: %s\n", name, n, count,
               left     ? left
               : status ? "the message is another"
                        : "no error");
    }
    printf("%-42s %lu allocations, each %s: %llu wrong\n", name, count, step == 1 ? "one failed" : "97th one failed",
           (unsigned long long)wrong);
    return wrong;
}

uint64_t hostile_allocations(void) {
    char temporary[128];
    uint64_t wrong = 0;
    unsigned long tried = 0;
    xpuc_error error;
    snprintf(temporary, sizeof temporary, "%s/tmp", hostile_folder());
    if (mkdir(temporary, 0700) || setenv("TMPDIR", temporary, 1)) return 1;
    if (xpuc_compile_file(MODEL, &(xpuc_options){.precision = "fp32", .chip = "nano"}, &program, &error)) return 1;
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        wrong += try_all(works[i].name, works[i].work, works[i].step, &tried);
        fflush(stdout);
    }
    xpuc_result_clear(&program);
    xpuc_error_clear(&error);
    printf("%llu passed, %llu failed\n", (unsigned long long)(tried - (wrong < tried ? wrong : tried)),
           (unsigned long long)wrong);
    return wrong;
}
