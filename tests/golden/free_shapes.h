/*
 * Random networks, float or quantised, with free batch, height and width (--shape x=N=..,C,H=..,W=..): one program at
 * several sizes gives the same bytes as a program compiled for each size, on a chip and at a precision drawn by the
 * seed. Where the two run layers by other kernels, since what is fastest is known for one size only (small products in
 * float32, attention as one layer), outputs may be a little apart instead, in few networks. A size that a guard refuses
 * cannot be compiled for, either. A network that forbids free dims (a reshape or weights of its size) must say so in
 * one error, and is not counted, nor is one of which guards refused all sizes; that one runs at the model's own.
 * XPU_RANDOM_SEED=N replays one seed. Every second network has ranges that reach far beyond the chip's memory.
 */
#ifndef XPU_TESTS_FREE_SHAPES_H
#define XPU_TESTS_FREE_SHAPES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/gen/random_cnn.h"
#include "tests/unit/ir.h"
#include "tests/unit/unit.h"
#include "tools/common/inputs.h"

enum { GROWTH = 12, MOST_IMAGES = 4 }; /* height and width from the model's up to so many more */
enum { FAR = 100000 };                 /* the upper end of ranges that are not for real */
#define NEAR 2e-3F                     /* of outputs in int16 and in float32; see above */

typedef struct {
    uint64_t seed;
    const char *model, *chip, *precision;
    xpu_random_network network;
    random_source random;
    int near; /* runs whose outputs were not the same bytes */
    xpu_arena *arena;
} free_case;

static int64_t most_elements(const xpu_tensor *x) {
    return MOST_IMAGES * x->dims[1] * (x->dims[2] + GROWTH) * (x->dims[3] + GROWTH);
}

/* The outputs of a run, in one piece of memory; the caller releases it. NULL with check->message. */
static char *run_once(xpu_device_check *check, const free_case *c, const int64_t *dims, float *data, size_t *bytes) {
    uint32_t count = xpurt_output_count(check->program);
    xpurt_tensor *outputs = XPU_NEW_ARRAY(c->arena, xpurt_tensor, count);
    xpurt_tensor input = {c->network.input_name, "float32", 4, {0}, data};
    memcpy(input.dims, dims, 4 * sizeof *dims);
    if (!xpu_device_check_run(check, &input, 1, outputs)) return NULL;
    char *all = NULL;
    FILE *stream = open_memstream(&all, bytes);
    for (uint32_t i = 0; stream && i < count; i++) {
        xpu_tensor y = xpu_from_runtime(&outputs[i]);
        fwrite(y.dims, sizeof *y.dims, (size_t)y.rank, stream);
        fwrite(y.data, 1, xpu_tensor_bytes(&y), stream);
        xpurt_tensor_clear(&outputs[i]);
    }
    if (stream) fclose(stream);
    return all;
}

/* Whether no program for the shape can be made. */
static int forbidden(const free_case *c, const char *shape, const char *message) {
    xpu_device_check fixed;
    int compiled = xpu_device_check_compile_shape(&fixed, c->model, c->chip, c->precision, shape);
    int good = !compiled && strstr(fixed.message, "error [");
    xpu_device_check_close(&fixed);
    if (!good) printf("seed %d, %s can be compiled, but is refused: %s\n", (int)c->seed, shape, message);
    return good;
}

/* Whether both programs compute every layer by the same kernel. */
static int same_kernels(xpurt_program *a, xpurt_program *b) {
    static const char key[] = "\"kernel\": ";
    const char *of_a = xpurt_describe(a, NULL), *of_b = xpurt_describe(b, NULL);
    for (;;) {
        of_a = of_a ? strstr(of_a, key) : NULL;
        of_b = of_b ? strstr(of_b, key) : NULL;
        if (!of_a || !of_b) return !of_a && !of_b;
        const size_t length = strcspn(of_a, "\n");
        if (strncmp(of_a, of_b, length + 1) != 0) return 0;
        of_a += length;
        of_b += length;
    }
}

/* Whether `count` numbers are `wanted` but for NEAR of their largest magnitude. */
static int are_near(const char *got, const char *wanted, size_t count) {
    float apart = 0, largest = 0;
    for (size_t i = 0; i < count; i++) {
        float a, b;
        memcpy(&a, got + i * sizeof a, sizeof a);
        memcpy(&b, wanted + i * sizeof b, sizeof b);
        apart = fmaxf(apart, fabsf(a - b));
        largest = fmaxf(largest, fabsf(b));
    }
    return apart <= NEAR * largest;
}

/* Whether of what run_once() returned for `program` the float32 outputs are near `wanted`, and the others are it. */
static int outputs_are_near(const xpurt_program *program, const char *got, const char *wanted) {
    for (uint32_t i = 0; i < xpurt_output_count(program); i++) {
        xpurt_tensor y;
        if (xpurt_output(program, i, &y)) return 0;
        xpu_tensor shape = xpu_from_runtime(&y);
        const size_t header = (size_t)y.rank * sizeof *shape.dims;
        if (memcmp(got, wanted, header) != 0) return 0;
        memcpy(shape.dims, wanted, header);
        const size_t bytes = xpu_tensor_bytes(&shape);
        got += header;
        wanted += header;
        if (strcmp(y.dtype, "float32") == 0 ? !are_near(got, wanted, bytes / sizeof(float))
                                            : memcmp(got, wanted, bytes) != 0)
            return 0;
        got += bytes;
        wanted += bytes;
    }
    return 1;
}

/* *ran: counts the runs that no guard refused. */
static int run_at(xpu_device_check *free_program, free_case *c, const int64_t *dims, int *ran) {
    const xpu_tensor *x = &c->network.input;
    float *data = XPU_NEW_ARRAY(c->arena, float, most_elements(x));
    for (int64_t i = 0; i < most_elements(x); i++) data[i] = (float)random_range(&c->random, -2000, 2000) / 1000;
    const char *shape = xpu_printf(c->arena, "x=%d,%d,%d,%d", (int)dims[0], (int)dims[1], (int)dims[2], (int)dims[3]);
    xpu_device_check fixed;
    size_t free_bytes = 0, fixed_bytes = 0;
    char *got = run_once(free_program, c, dims, data, &free_bytes), *wanted = NULL;
    if (!got && strstr(free_program->message, "error [shape-guard]")) return forbidden(c, shape, free_program->message);
    ++*ran;
    int good = got && xpu_device_check_compile_shape(&fixed, c->model, c->chip, c->precision, shape);
    if (good) wanted = run_once(&fixed, c, dims, data, &fixed_bytes);
    const char *message = !got ? free_program->message : !wanted ? fixed.message : "the outputs differ";
    const int same_size = wanted && free_bytes == fixed_bytes;
    good = same_size && memcmp(got, wanted, free_bytes) == 0;
    if (same_size && !good && !same_kernels(free_program->program, fixed.program)) {
        good = outputs_are_near(fixed.program, got, wanted);
        c->near++;
    }
    if (!good) printf("seed %d, %s, %s, %s: %s\n", (int)c->seed, shape, c->chip, c->precision, message);
    if (got) xpu_device_check_close(&fixed);
    free(got);
    free(wanted);
    return good;
}

static int run_size(xpu_device_check *free_program, free_case *c, int *ran) {
    const xpu_tensor *x = &c->network.input;
    const int64_t dims[4] = {random_range(&c->random, 1, MOST_IMAGES), x->dims[1],
                             x->dims[2] + random_range(&c->random, 0, GROWTH),
                             x->dims[3] + random_range(&c->random, 0, GROWTH)};
    return run_at(free_program, c, dims, ran);
}

/* Whether the network could have free dims: it is counted, and failures are asserts. *near: counts those of which a run
 * was not the same bytes. */
static int run_network(xpu_mem *mem, uint64_t seed, int quantised, int sizes, int *near, xpu_diags *diags) {
    static const char *const chips[] = {"nano", "standard", "pro"}, *const precisions[] = {"fp32", "auto", "int16x8"};
    free_case c = {.seed = seed,
                   .chip = chips[seed % 3],
                   .precision = precisions[seed / 3 % 3],
                   .arena = xpu_arena_new(mem, "network")};
    c.random.state = seed;
    if (quantised) {
        xpu_random_quantised made;
        xpu_random_qcnn(c.arena, seed, &made);
        c.network = made.network;
    } else {
        xpu_random_cnn(c.arena, seed, &c.network);
    }
    const xpu_tensor *x = &c.network.input;
    c.model = xpu_path_join(c.arena, xpu_temporary_folder(c.arena, diags), "random.onnx");
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(c.arena, c.model, c.network.model, c.network.model_bytes, diags), XPU_OK);
    int far = seed % 2 ? FAR : 0, height = (int)x->dims[2], width = (int)x->dims[3];
    const char *shape = xpu_printf(c.arena, "x=N=1..%d,%d,H=%d..%d,W=%d..%d", far ? far : MOST_IMAGES, (int)x->dims[1],
                                   height, far ? far : height + GROWTH, width, far ? far : width + GROWTH);
    xpu_device_check check;
    int ran = 0, own = 0, compiled = xpu_device_check_compile_shape(&check, c.model, c.chip, c.precision, shape);
    if (compiled) {
        for (int i = 0; i < sizes; i++) CU_ASSERT(run_size(&check, &c, &ran));
        *near += c.near > 0;
        if (!ran) CU_ASSERT(run_at(&check, &c, x->dims, &own) && own);
    } else {
        CU_ASSERT_PTR_NOT_NULL(strstr(check.message, "error ["));
    }
    xpu_device_check_close(&check);
    xpu_arena_free(c.arena);
    return ran > 0;
}

static void run_networks(int networks, int quantised, int sizes) {
    const char *one = getenv("XPU_RANDOM_SEED");
    int near = 0;
    BENCH_OPEN(b);
    if (one) {
        CU_ASSERT(run_network(&b.mem, strtoull(one, NULL, 10), quantised, sizes, &near, &b.diags));
    } else {
        int counted = 0;
        uint64_t seed = 1;
        for (; counted < networks && seed < 1000; seed++)
            counted += run_network(&b.mem, seed, quantised, sizes, &near, &b.diags);
        CU_ASSERT_EQUAL(counted, networks);
        printf("%d of %d networks have free dims, %d sizes each; %d are near\n", counted, (int)seed - 1, sizes, near);
        CU_ASSERT(near <= (counted + 3) / 4);
    }
    bench_close(&b);
}

#endif
