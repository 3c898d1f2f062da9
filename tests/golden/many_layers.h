/* Networks of very many layers: made with the builder, compiled in a process of their own and measured. */
#ifndef TESTS_MANY_LAYERS_H
#define TESTS_MANY_LAYERS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "xpu_runtime/include/xpurt_func.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpuc/include/xpuc_build.h"

enum { MANY_C = 4, MANY_W = 8, MANY_ELEMENTS = MANY_C * MANY_W * MANY_W, MANY_KINDS = 6 };

/* What the compilation of a network took: its own memory, and the time of all processors, clang's too. */
typedef struct {
    long kilobytes;
    double seconds;
} many_cost;

static inline float many_weight(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return ((float)(*state >> 16) / 32768.0f - 1.0f) / 3.0f;
}

/* What is compiled: the precision of products (NULL: auto), and whether the number of images is free. */
typedef struct {
    const char *precision;
    int free_batch;
} many_form;

/* A chain of `layers` operators that do not fuse: products, softmax, transposes, pools and convolutions. */
static inline xpuc_network *many_network(uint32_t layers, const many_form *form) {
    xpuc_network *n = xpuc_network_new("many layers", NULL);
    xpuc_dim dims[] = {XPUC_SIZE(1), XPUC_SIZE(MANY_C), XPUC_SIZE(MANY_W), XPUC_SIZE(MANY_W)};
    if (form->free_batch) dims[0] = (xpuc_dim)XPUC_SYMBOL("N", 1, 4);
    int64_t matrix_dims[] = {MANY_W, MANY_W}, filter_dims[] = {MANY_C, MANY_C, 3, 3};
    float matrix[MANY_W * MANY_W], filter[MANY_C * MANY_C * 9];
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof matrix / sizeof *matrix; i++) matrix[i] = many_weight(&state);
    for (size_t i = 0; i < sizeof filter / sizeof *filter; i++) filter[i] = many_weight(&state);
    static const int64_t turned[] = {0, 1, 3, 2};
    xpuc_window pool = {.size = sizeof pool, .kernel_shape = {3, 3}, .pads_begin = {1, 1}, .pads_end = {1, 1}};
    xpuc_window mean = pool;
    mean.count_include_pad = 1;
    xpuc_value x = xpuc_input(n, "x", "float32", 4, dims);
    xpuc_value w = xpuc_constant(n, "matrix", "float32", 2, matrix_dims, matrix);
    xpuc_value f = xpuc_constant(n, "filter", "float32", 4, filter_dims, filter);
    for (uint32_t i = 0; i < layers; i++) {
        char name[32];
        snprintf(name, sizeof name, "l%u", i);
        switch (i % MANY_KINDS) {
        case 0: x = xpuc_matmul(n, name, x, w); break;
        case 1: x = xpuc_softmax(n, name, x, 3); break;
        case 2: x = xpuc_transpose(n, name, x, 4, turned); break;
        case 3: x = xpuc_max_pool(n, name, x, &pool); break;
        case 4: x = xpuc_conv(n, name, x, f, (xpuc_value){0}, &pool); break;
        default: x = xpuc_average_pool(n, name, x, &mean); break;
        }
    }
    xpuc_output(n, x, "y");
    return n;
}

/* Makes the network and compiles it to `path` in a child process. 0 when it worked. */
static inline int many_compile(uint32_t layers, const many_form *form, const char *path, many_cost *cost) {
    int ends[2];
    if (pipe(ends)) return -1;
    pid_t child = fork();
    if (child == 0) {
        struct rusage own, clang;
        xpuc_result result;
        xpuc_error error;
        xpuc_network *n = many_network(layers, form);
        xpuc_options options = {.precision = form->precision};
        if (xpuc_network_compile_to_file(n, path, &options, &result, &error)) {
            fprintf(stderr, "%s", error.text ? error.text : "");
            _exit(1);
        }
        getrusage(RUSAGE_SELF, &own);
        getrusage(RUSAGE_CHILDREN, &clang);
        cost->kilobytes = own.ru_maxrss;
        cost->seconds =
            (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec + clang.ru_utime.tv_sec + clang.ru_stime.tv_sec) +
            (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec + clang.ru_utime.tv_usec + clang.ru_stime.tv_usec) /
                1e6;
        _exit(write(ends[1], cost, sizeof *cost) != (ssize_t)sizeof *cost);
    }
    int status = 1;
    close(ends[1]);
    int got = child > 0 && read(ends[0], cost, sizeof *cost) == (ssize_t)sizeof *cost;
    close(ends[0]);
    if (child > 0) waitpid(child, &status, 0);
    return got && status == 0 ? 0 : -1;
}

/* The program's output; the caller clears it. 0 when it worked. */
static inline int many_run(xpurt_program *program, const xpurt_run_options *options, xpurt_tensor *y) {
    float data[MANY_ELEMENTS];
    uint32_t state = 7;
    for (int i = 0; i < MANY_ELEMENTS; i++) data[i] = many_weight(&state);
    xpurt_tensor x = {.dtype = "float32", .rank = 4, .dims = {1, MANY_C, MANY_W, MANY_W}, .data = data};
    xpurt_error error;
    int status = xpurt_run(program, &x, 1, y, options, &error);
    if (status) fprintf(stderr, "%s", error.text ? error.text : "");
    xpurt_error_clear(&error);
    return status;
}

/* Runs it on the functional chip and on ref; how many bytes of the results differ. */
static inline int many_differ(xpurt_program *program, xpurt_run_options *options) {
    xpurt_tensor on_func, on_ref;
    xpurt_run_options ref = {0};
    options->device = xpurt_func_driver();
    CU_ASSERT_EQUAL_FATAL(many_run(program, options, &on_func), 0);
    CU_ASSERT_EQUAL_FATAL(many_run(program, &ref, &on_ref), 0);
    int differs = memcmp(on_func.data, on_ref.data, MANY_ELEMENTS * sizeof(float));
    const float *y = on_func.data;
    CU_ASSERT(y[0] != 0 && y[0] == y[0]);
    xpurt_tensor_clear(&on_func);
    xpurt_tensor_clear(&on_ref);
    return differs;
}

/* Compiles it with `few` and with `many` layers and prints what that took: cost[0], cost[1]. */
static inline void many_growth(const uint32_t layers[2], const many_form *form, const char *const paths[2],
                               many_cost cost[2]) {
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL_FATAL(many_compile(layers[i], form, paths[i], &cost[i]), 0);
        printf("%s%s, %u layers: %ld KB, %.2f s\n", form->precision ? form->precision : "auto",
               form->free_batch ? ", any number of images" : "", layers[i], cost[i].kilobytes, cost[i].seconds);
    }
}

#endif
