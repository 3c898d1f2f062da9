/*
 * constants: measures what the compiler's model of cycles is made of (xpu_codegen/choose/costs.def) on the Verilated
 * chip "standard", by small programs of one layer at two sizes: of what grows between them the model has the slope, of
 * the smallest the start. Prints each constant beside what was measured; exit 4 where one is off by more than a limit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "xpu_runtime/include/xpurt_rtl.h"

enum { MOST_ELEMENTS = 1 << 20, MOST_WEIGHTS = 1 << 20, CORES = 4, LANES = 16 };
static const double MOST_OFF = 0.5;

typedef struct {
    const char *name;
    double value;
    const char *about;
} constant;

static const constant constants[] = {
#define COST(name, value, about) {#name, value, about},
#include "xpu_codegen/choose/costs.def"
#undef COST
};

/* One layer: an operator on an image [1][in][height][width]. */
typedef struct {
    const char *op; /* Conv, MaxPool, AveragePool, GlobalAveragePool, Softmax, Relu */
    const char *precision;
    int64_t in, out, height, width, kernel, stride, groups;
    int is_between;  /* an activation is part of it, and a product reads it, whose scale needs its largest magnitude */
    int is_branched; /* a branch stands behind it: no descriptors are made before the start */
} layer;

static float x[MOST_ELEMENTS], weights[MOST_WEIGHTS];
static xpu_arena *arena;
static xpu_diags diags;

/* y: one of two values of what is read, by the data. */
static void add_branch(xpu_onnx_builder *b, const char *read) {
    static float zero;
    xpu_onnx_builder branches[2];
    xpu_onnx_int(b, xpu_onnx_node(b, "ReduceMax", "most", "most", (const char *const[]){read, NULL}), "keepdims", 0);
    xpu_onnx_initializer(b, "zero", &(xpu_tensor){XPU_F32, 0, {0}, &zero}, 0);
    xpu_onnx_node(b, "Greater", "is_more", "is_more", (const char *const[]){"most", "zero", NULL});
    XpuOnnx__NodeProto *node = xpu_onnx_node(b, "If", "branch", "y", (const char *const[]){"is_more", NULL});
    for (int i = 0; i < 2; i++) {
        const char *result = i ? "other" : "one";
        xpu_onnx_begin(&branches[i], arena, 13);
        xpu_onnx_node(&branches[i], i ? "Neg" : "Abs", result, result, (const char *const[]){read, NULL});
        xpu_onnx_output(&branches[i], result, 4, (const int64_t[]){1, -1, -1, -1});
        xpu_onnx_graph(b, node, i ? "else_branch" : "then_branch", &branches[i]);
    }
}

static const char *write_model(const layer *l) {
    xpu_onnx_builder b;
    size_t length;
    const int64_t pad = (l->kernel - 1) / 2, pads[] = {pad, pad, pad, pad}, strides[] = {l->stride, l->stride};
    const int64_t kernel[] = {l->kernel, l->kernel}, groups = l->groups ? l->groups : 1;
    const int is_conv = strcmp(l->op, "Conv") == 0;
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "x", 4, (const int64_t[]){1, l->in, l->height, l->width});
    if (is_conv)
        xpu_onnx_initializer(&b, "w",
                             &(xpu_tensor){XPU_F32, 4, {l->out, l->in / groups, l->kernel, l->kernel}, weights}, 0);
    XpuOnnx__NodeProto *node = xpu_onnx_node(&b, l->op, l->is_between ? "front" : "layer",
                                             l->is_between    ? "front"
                                             : l->is_branched ? "layer"
                                                              : "y",
                                             (const char *const[]){"x", is_conv ? "w" : NULL, NULL});
    if (l->is_branched) add_branch(&b, "layer");
    if (l->kernel) {
        xpu_onnx_ints(&b, node, "kernel_shape", kernel, 2);
        xpu_onnx_ints(&b, node, "strides", strides, 2);
        if (is_conv) xpu_onnx_ints(&b, node, "pads", pads, 4);
        if (is_conv) xpu_onnx_int(&b, node, "group", groups);
    }
    if (l->is_between) {
        xpu_onnx_initializer(&b, "v", &(xpu_tensor){XPU_F32, 4, {8, l->out, 1, 1}, weights}, 0);
        xpu_onnx_node(&b, "Relu", "layer", "layer", (const char *const[]){"front", NULL});
        xpu_onnx_node(&b, "Conv", "behind", "y", (const char *const[]){"layer", "v", NULL});
    }
    xpu_onnx_output(&b, "y", 4, (const int64_t[]){1, -1, -1, -1});
    const char *path = xpu_path_join(arena, xpu_temporary_folder(arena, &diags), "layer.onnx");
    void *bytes = xpu_onnx_pack(&b, "layer", &length);
    return xpu_file_write(arena, path, bytes, length, &diags) == XPU_OK ? path : NULL;
}

static void stop(const char *why, const char *text) {
    fprintf(stderr, "constants: %s: %s\n", why, text ? text : "");
    exit(5);
}

/* Cycles of the layer on rtl. */
static double cycles_of(const layer *l) {
    xpu_device_check check;
    xpurt_error error = {0};
    char *stats = NULL;
    const char *build = getenv("XPU_BUILD"), *model = write_model(l);
    if (!model || !xpu_device_check_compile(&check, model, "standard", l->precision)) stop(l->op, check.message);
    xpurt_tensor input = {"x", "float32", 4, {1, l->in, l->height, l->width}, x}, output = {0};
    const char *lib = xpu_printf(arena, "%s/lib", build ? build : "build");
    const xpurt_run_options options = {.device = xpurt_rtl_load("standard", lib, NULL, &error), .stats = &stats};
    if (!options.device || xpurt_run(check.program, &input, 1, &output, &options, &error)) stop(l->op, error.text);
    const long cycles = xpu_device_check_cycles(stats, "layer", NULL);
    if (cycles < 0) stop(l->op, "it has no layer of this name");
    free(stats);
    xpurt_tensor_clear(&output);
    xpu_device_check_close(&check);
    return (double)cycles;
}

/* What one more unit of work takes, for the units that the second layer has more. */
static double slope(layer small, layer large, double units) {
    return (cycles_of(&large) - cycles_of(&small)) / units;
}

/* ---- what is measured ---- */

static double start_core(void) {
    return cycles_of(&(layer){"GlobalAveragePool", "fp32", 16, 0, 2, 2, 0, 0, 0, 0}); /* behind a copy */
}

/* A pass of 64 pixels, 500 cycles, and what tiles.c counts: first load, last drain. */
static double start_tensor(void) {
    return cycles_of(&(layer){"Conv", "int16", 32, 32, 8, 8, 1, 1, 1, .is_branched = 1}) - 500 - 4 * 120;
}

static double line(void) {
    const layer small = {"Relu", "fp32", 64, 0, 64, 64, 0, 0, 0}, large = {"Relu", "fp32", 64, 0, 64, 128, 0, 0, 0};
    return slope(small, large, 2.0 * 64 * 64 * 64 * 4 / 64);
}

/* One more column tile of few pixels. */
static double step_of(int is_branched) {
    const layer small = {"Conv", "int16", 32, 128, 4, 4, 1, 1, 1, .is_branched = is_branched};
    const layer large = {"Conv", "int16", 32, 1024, 4, 4, 1, 1, 1, .is_branched = is_branched};
    return slope(small, large, (1024 - 128) / 32);
}

static double step(void) {
    return step_of(1);
}

static double listed_step(void) {
    return step_of(0);
}

static double multiply(void) {
    const layer small = {"Conv", "fp32", 32, 64, 14, 14, 3, 1, 1}, large = {"Conv", "fp32", 64, 64, 14, 14, 3, 1, 1};
    return slope(small, large, 14.0 * 14 * 9 * 32 * 64 / LANES / CORES);
}

static double row_of_window(void) { /* three and five rows of a window of one input */
    const layer small = {"Conv", "fp32", 1, 16, 32, 32, 3, 1, 1}, large = {"Conv", "fp32", 1, 16, 32, 32, 5, 1, 1};
    return slope(small, large, 32.0 * 32 * 2 / CORES);
}

static double pool(void) {
    const layer small = {"AveragePool", "fp32", 16, 0, 14, 14, 2, 2, 0},
                large = {"AveragePool", "fp32", 16, 0, 28, 28, 2, 2, 0};
    return slope(small, large, (14.0 * 14 - 7 * 7) * 4 / CORES);
}

/* Cycles of a core for a row of one channel with so many pixels of results, at sizes that MobileNets have. */
static double depthwise_row_of(int64_t pixels, int64_t kernel, int64_t stride) {
    const layer one = {"Conv", "fp32", 192, 192, 14 * stride, pixels * stride, kernel, stride, 192, 1};
    const layer two = {"Conv", "fp32", 192, 192, 28 * stride, pixels * stride, kernel, stride, 192, 1};
    return slope(one, two, 192.0 * 14 / CORES);
}

static double depthwise(int64_t kernel, int64_t stride) {
    return (depthwise_row_of(28, kernel, stride) - depthwise_row_of(7, kernel, stride)) / (28 - 7);
}

static double depthwise_3(void) {
    return depthwise(3, 1);
}

static double depthwise_5(void) {
    return depthwise(5, 1);
}

static double depthwise_by_2(void) {
    return depthwise(3, 2) - depthwise(3, 1);
}

static double depthwise_row(void) {
    return depthwise_row_of(7, 3, 1) - 7 * depthwise_3();
}

static double simple(void) {
    const layer small = {"GlobalAveragePool", "fp32", 64, 0, 32, 32, 0, 0, 0};
    const layer large = {"GlobalAveragePool", "fp32", 64, 0, 64, 32, 0, 0, 0};
    return slope(small, large, 64.0 * 32 * 32 / LANES / CORES);
}

static double softmax(void) {
    const layer small = {"Softmax", "fp32", 16, 0, 16, 64, 0, 0, 0},
                large = {"Softmax", "fp32", 16, 0, 32, 64, 0, 0, 0};
    return slope(small, large, 16.0 * 16 * 64 / LANES / CORES);
}

static const struct {
    const char *name;
    double (*measure)(void);
} measurements[] = {
    {"start_core", start_core},
    {"start_tensor", start_tensor},
    {"line", line},
    {"step", step},
    {"listed_step", listed_step},
    {"multiply", multiply},
    {"row_of_window", row_of_window},
    {"pool", pool},
    {"depthwise_3", depthwise_3},
    {"depthwise_5", depthwise_5},
    {"simple", simple},
    {"depthwise_by_2", depthwise_by_2},
    {"depthwise_row", depthwise_row},
    {"softmax", softmax},
};

static int print_all(void) {
    int off = 0;
    printf("%-16s %9s %9s %9s\n", "constant", "model", "measured", "");
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        const constant *c = &constants[i];
        double (*measure)(void) = NULL;
        for (size_t k = 0; k < sizeof measurements / sizeof *measurements; k++)
            if (strcmp(measurements[k].name, c->name) == 0) measure = measurements[k].measure;
        printf("%-16s %9g ", c->name, c->value);
        if (!measure) {
            printf("%9s %9s  %s\n", "", "", c->about);
            continue;
        }
        const double found = measure(), error = c->value / found - 1;
        const int is_off = fabs(error) > MOST_OFF;
        off += is_off;
        printf("%9.2f %+7.0f %%  %s%s\n", found, 100 * error, c->about, is_off ? "; it differs" : "");
        fflush(stdout);
    }
    printf("%d of %zu measured constants are off by more than %g %%\n", off, sizeof measurements / sizeof *measurements,
           100 * MOST_OFF);
    return off ? 4 : 0;
}

int main(void) {
    xpu_mem mem;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) stop("out of memory", NULL);
    arena = xpu_arena_new(&mem, "constants");
    for (int i = 0; i < MOST_ELEMENTS; i++) x[i] = (float)(i * 127 % 1021 - 510) / 256.0f;
    for (int i = 0; i < MOST_WEIGHTS; i++) weights[i] = (float)(i * 61 % 509 - 250) / 512.0f;
    const int status = print_all();
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
    return status;
}
