#include "tests/rtl/bench/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/npy.h"
#include "tests/rtl/bare/bare.h"
#include "tools/common/inputs.h"
#include "xpuc/include/xpuc.h"

enum { ROUNDS = 3, BARE_CYCLES = 100000, IMAGE = 3 * 224 * 224 };
static const double scaled_bare = 70; /* ns */

typedef struct {
    const char *name, *model, *recorded, *input; /* recorded: input and output; NULL: those of ref for some image */
    double limit, cycles;                        /* seconds for so many cycles; 0: for those that it takes */
} network;

static const network networks[] = {
    {"resnet50", "made/resnet50_random_qdq.onnx", "made/resnet50_random_qdq_io.npz", "x", 3, 5e6},
    {"mobilenet", "onnx/mobilenet_v2_quant.onnx", NULL, "input", 0.35, 0},
};

static xpurt_program *open_network(const network *n, const char *model) {
    xpuc_options options = {.chip = "standard"};
    xpuc_result result = {0};
    xpuc_error error = {0};
    xpurt_error opening = {0};
    xpurt_program *program = NULL;
    if (xpuc_compile_file(model, &options, &result, &error) == 0) {
        program = xpurt_open_memory(result.bytes, result.size, n->name, &opening);
    }
    if (!program) printf("%s: %s%s\n", n->name, error.text ? error.text : "", opening.text ? opening.text : "");
    xpuc_error_clear(&error);
    xpurt_error_clear(&opening);
    xpuc_result_clear(&result);
    return program;
}

static const xpu_tensor *find(const xpu_named_tensors *tensors, const char *name) {
    for (uint32_t i = 0; i < tensors->count; i++) {
        if (strcmp(tensors->items[i].name, name) == 0) return &tensors->items[i].tensor;
    }
    return NULL;
}

static int is_recorded(const xpurt_tensor *output, const xpu_tensor *y) {
    xpu_tensor got = xpu_from_runtime(output);
    return got.dtype == y->dtype && xpu_tensor_bytes(&got) == xpu_tensor_bytes(y) &&
           memcmp(got.data, y->data, xpu_tensor_bytes(y)) == 0;
}

/* Process time of one run in ns, less than 0 where it fails or the output is another. */
static double run(xpurt_program *program, const xpurt_device_driver *driver, const network *n, const xpu_tensor *x,
                  const xpu_tensor *y, char **stats) {
    xpurt_tensor input = xpu_to_runtime(n->input, x), output = {0};
    xpurt_error error = {0};
    double start = bare_now();
    int status = xpurt_run(program, &input, 1, &output, &(xpurt_run_options){.device = driver, .stats = stats}, &error);
    double ns = bare_now() - start;
    if (status) {
        printf("%s: %s\n", n->name, error.text);
        ns = -1;
    } else if (!is_recorded(&output, y)) {
        printf("%s: the output is not the expected one\n", n->name);
        ns = -1;
    }
    xpurt_error_clear(&error);
    xpurt_tensor_clear(&output);
    return ns;
}

/* The middle one of three. */
static double median(const double *v) {
    double low = v[0] < v[1] ? v[0] : v[1], high = v[0] < v[1] ? v[1] : v[0];
    return v[2] < low ? low : v[2] > high ? high : v[2];
}

static int measure(xpurt_program *program, const xpurt_device_driver *driver, const network *n, const xpu_tensor *x,
                   const xpu_tensor *y, json_t *json) {
    double seconds[ROUNDS], before = bare_ns_per_cycle(BARE_CYCLES), cycles = 0;
    for (int i = 0; i < ROUNDS; i++) {
        char *text = NULL;
        double ns = run(program, driver, n, x, y, &text), after = bare_ns_per_cycle(BARE_CYCLES);
        json_t *stats = text ? json_loads(text, 0, NULL) : NULL;
        free(text);
        if (ns < 0) return 1;
        cycles = json_number_value(json_object_get(stats, "cycles"));
        json_decref(stats);
        if (cycles <= 0) return 1;
        seconds[i] = ns * 1e-9 * (n->cycles > 0 ? n->cycles / cycles : 1) * (scaled_bare / ((before + after) / 2));
        before = after;
    }
    double middle = median(seconds);
    int good = middle <= n->limit;
    printf("%-9s %8.0f cycles, whole, %.2f s for %s where the bare array needs 70 ns for each (limit %g)%s\n", n->name,
           cycles, middle, n->cycles > 0 ? "5 million cycles" : "all of them", n->limit, good ? "" : "  BROKEN");
    json_t *row = json_object();
    json_object_set_new(row, "program", json_string(n->name));
    json_object_set_new(row, "about", json_string("the whole network, loading included"));
    json_object_set_new(row, "cycles", json_integer((json_int_t)cycles));
    json_object_set_new(row, n->cycles > 0 ? "seconds_for_5_million_cycles" : "seconds", json_real(middle));
    json_object_set_new(row, "limit", json_real(n->limit));
    json_object_set_new(row, "good", json_boolean(good));
    json_array_append_new(json, row);
    return !good;
}

/* Some image, and what ref says of it. */
static int measure_image(xpurt_program *program, const xpurt_device_driver *driver, const network *n, json_t *json) {
    static float pixels[IMAGE];
    const xpu_tensor x = {XPU_F32, 4, {1, 3, 224, 224}, pixels};
    xpurt_tensor input = xpu_to_runtime(n->input, &x), output = {0};
    xpurt_error error = {0};
    for (int i = 0; i < IMAGE; i++) pixels[i] = (float)(i * 37 % 256) / 64 - 2;
    int broken = xpurt_run(program, &input, 1, &output, &(xpurt_run_options){0}, &error);
    if (broken) printf("%s: %s\n", n->name, error.text);
    const xpu_tensor y = xpu_from_runtime(&output);
    if (!broken) broken = measure(program, driver, n, &x, &y, json);
    xpurt_error_clear(&error);
    xpurt_tensor_clear(&output);
    return broken;
}

static int measure_recorded(xpurt_program *program, const xpurt_device_driver *driver, const network *n, json_t *json,
                            const char *recorded, xpu_arena *arena, xpu_diags *diags) {
    xpu_named_tensors tensors;
    if (xpu_npz_read(arena, recorded, &tensors, diags) != XPU_OK) return 1;
    const xpu_tensor *x = find(&tensors, "x"), *y = find(&tensors, "y");
    return !x || !y || measure(program, driver, n, x, y, json);
}

int bench_network(const xpurt_device_driver *driver, const char *name, const char *shared, json_t *json,
                  xpu_arena *arena, xpu_diags *diags) {
    int broken = 0;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        const network *n = &networks[i];
        const char *model = xpu_printf(arena, "%s/models/%s", shared, n->model);
        if (name && strcmp(name, n->name) != 0) continue;
        if (access(model, R_OK)) {
            printf("skipped: %s is not there\n", model);
            continue;
        }
        xpurt_program *program = open_network(n, model);
        if (!program)
            broken = 1;
        else if (n->recorded)
            broken |= measure_recorded(program, driver, n, json, xpu_printf(arena, "%s/models/%s", shared, n->recorded),
                                       arena, diags);
        else
            broken |= measure_image(program, driver, n, json);
        xpurt_close(program);
    }
    return broken;
}
