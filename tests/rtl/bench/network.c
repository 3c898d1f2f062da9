#include "tests/rtl/bench/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/npy.h"
#include "tests/rtl/bare/bare.h"
#include "tools/common/inputs.h"
#include "xpuc/include/xpuc.h"

enum { ROUNDS = 3, BARE_CYCLES = 100000 };
static const double limit = 3, scaled_cycles = 5e6, scaled_bare = 70; /* seconds, cycles, ns */

static xpurt_program *open_network(const char *model) {
    xpuc_options options = {.chip = "standard"};
    xpuc_result result = {0};
    xpuc_error error = {0};
    xpurt_error opening = {0};
    xpurt_program *program = NULL;
    if (xpuc_compile_file(model, &options, &result, &error) == 0) {
        program = xpurt_open_memory(result.bytes, result.size, "resnet50.xpu", &opening);
    }
    if (!program) printf("resnet50: %s%s\n", error.text ? error.text : "", opening.text ? opening.text : "");
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
static double run(xpurt_program *program, const xpurt_device_driver *driver, const xpu_tensor *x, const xpu_tensor *y,
                  char **stats) {
    xpurt_tensor input = xpu_to_runtime("x", x), output = {0};
    xpurt_error error = {0};
    double start = bare_now();
    int status = xpurt_run(program, &input, 1, &output, &(xpurt_run_options){.device = driver, .stats = stats}, &error);
    double ns = bare_now() - start;
    if (status) {
        printf("resnet50: %s\n", error.text);
        ns = -1;
    } else if (!is_recorded(&output, y)) {
        printf("resnet50: the output is not the recorded one\n");
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

static int measure(xpurt_program *program, const xpurt_device_driver *driver, const xpu_tensor *x, const xpu_tensor *y,
                   json_t *json) {
    double seconds[ROUNDS], before = bare_ns_per_cycle(BARE_CYCLES), cycles = 0;
    for (int i = 0; i < ROUNDS; i++) {
        char *text = NULL;
        double ns = run(program, driver, x, y, &text), after = bare_ns_per_cycle(BARE_CYCLES);
        json_t *stats = text ? json_loads(text, 0, NULL) : NULL;
        free(text);
        if (ns < 0) return 1;
        cycles = json_number_value(json_object_get(stats, "cycles"));
        json_decref(stats);
        if (cycles <= 0) return 1;
        seconds[i] = ns * 1e-9 * (scaled_cycles / cycles) * (scaled_bare / ((before + after) / 2));
        before = after;
    }
    double middle = median(seconds);
    int good = middle <= limit;
    printf("resnet50 %8.0f cycles, whole, %.2f s for 5 million cycles where the bare array needs 70 ns for each (limit "
           "%g)%s\n",
           cycles, middle, limit, good ? "" : "  BROKEN");
    json_t *row = json_object();
    json_object_set_new(row, "program", json_string("resnet50"));
    json_object_set_new(row, "about", json_string("the whole network, loading included"));
    json_object_set_new(row, "cycles", json_integer((json_int_t)cycles));
    json_object_set_new(row, "seconds_for_5_million_cycles", json_real(middle));
    json_object_set_new(row, "limit", json_real(limit));
    json_object_set_new(row, "good", json_boolean(good));
    json_array_append_new(json, row);
    return !good;
}

int bench_network(const xpurt_device_driver *driver, const char *shared, json_t *json, xpu_arena *arena,
                  xpu_diags *diags) {
    const char *model = xpu_printf(arena, "%s/models/made/resnet50_random_qdq.onnx", shared);
    if (access(model, R_OK)) {
        printf("skipped: %s is not there\n", model);
        return 0;
    }
    xpu_named_tensors tensors;
    const char *recorded = xpu_printf(arena, "%s/models/made/resnet50_random_qdq_io.npz", shared);
    if (xpu_npz_read(arena, recorded, &tensors, diags) != XPU_OK) return 1;
    const xpu_tensor *x = find(&tensors, "x"), *y = find(&tensors, "y");
    xpurt_program *program = x && y ? open_network(model) : NULL;
    int broken = !program || measure(program, driver, x, y, json);
    xpurt_close(program);
    return broken;
}
