/*
 * Random quantised networks on the functional chip: every layer equals ref bit for bit, on a chip drawn by the seed;
 * the outputs of the recorded seeds equal onnxruntime's in every element (behind a table function or softmax at the
 * end: within one step of its scale). XPU_RANDOM_SEED=N replays one seed.
 */
#ifndef XPU_TESTS_RANDOM_QUANTISED_H
#define XPU_TESTS_RANDOM_QUANTISED_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/compare.h"
#include "tests/gen/devices.h"
#include "tests/gen/random_cnn.h"
#include "tests/unit/bench.h"
#include "tests/unit/unit.h"
#include "tools/common/inputs.h"

enum { RECORDED_SEEDS = 40 };

typedef struct {
    const char *const *chips; /* three, of which the seed draws one */
    const char *kernel;       /* layers of this one are counted, or NULL */
    uint64_t elements, different, networks, layers;
} tally;

/* Layers of a kernel. */
static uint64_t count_layers(xpurt_program *program, const char *kernel, xpu_arena *arena) {
    const char *at = xpurt_describe(program, NULL), *key = xpu_printf(arena, "\"kernel\": \"%s\"", kernel);
    uint64_t count = 0;
    for (; at && (at = strstr(at, key)); at++) count++;
    return count;
}

static const xpu_tensor *recorded_tensor(const xpu_named_tensors *all, const char *name) {
    for (uint32_t i = 0; i < all->count; i++) {
        if (strcmp(all->items[i].name, name) == 0) return &all->items[i].tensor;
    }
    return NULL;
}

/* Elements that differ by more than `allowed`. */
static uint64_t count_different(const xpurt_tensor *output, const xpu_tensor *wanted, float allowed) {
    xpu_tensor got = xpu_from_runtime(output);
    const float *a = got.data, *b = wanted->data;
    int64_t count = xpu_tensor_count(&got);
    uint64_t different = 0;
    if (wanted->dtype != XPU_F32 || got.dtype != XPU_F32 || xpu_tensor_count(wanted) != count) return (uint64_t)count;
    for (int64_t i = 0; i < count; i++) different += !(fabsf(a[i] - b[i]) <= allowed);
    return different;
}

static int compare_recorded(uint64_t seed, const xpu_random_quantised *network, const xpurt_tensor *outputs,
                            uint32_t count, xpu_arena *arena, tally *sum, xpu_diags *diags) {
    xpu_named_tensors recorded = {0};
    const char *path = xpu_printf(arena, "tests/golden/random_qcnn/%d.npz", (int)seed);
    if (xpu_npz_read(arena, path, &recorded, diags) != XPU_OK) return 0;
    uint64_t before = sum->different;
    for (uint32_t i = 0; i < count; i++) {
        const xpu_tensor *wanted = recorded_tensor(&recorded, outputs[i].name);
        if (!wanted) return 0;
        float allowed = i == 0 && network->inexact ? 1.01f * network->step : 0.0f;
        sum->elements += (uint64_t)xpu_tensor_count(wanted);
        sum->different += count_different(&outputs[i], wanted, allowed);
    }
    return sum->different == before;
}

static int run_model(uint64_t seed, const char *model, const xpu_random_quantised *network, xpu_arena *arena,
                     tally *sum, xpu_diags *diags) {
    const char *chip = sum->chips[seed * 5 % 3];
    const xpu_tensor *x = &network->network.input;
    xpurt_tensor input = {network->network.input_name, "float32", x->rank, {0}, x->data};
    for (int i = 0; i < x->rank; i++) input.dims[i] = x->dims[i];
    xpu_device_check check;
    int good = xpu_device_check_compile(&check, model, chip, "auto");
    if (good && sum->kernel) sum->layers += count_layers(check.program, sum->kernel, arena);
    uint32_t count = good ? xpurt_output_count(check.program) : 0;
    xpurt_tensor *outputs = XPU_NEW_ARRAY(arena, xpurt_tensor, count + 1);
    if (good) good = xpu_device_check_layers(&check, &input, 1, outputs);
    if (good && seed <= RECORDED_SEEDS) {
        good = compare_recorded(seed, network, outputs, count, arena, sum, diags);
        if (!good) snprintf(check.message, sizeof check.message, "outputs differ from the recorded ones");
    }
    for (uint32_t i = 0; i < count; i++) xpurt_tensor_clear(&outputs[i]);
    if (!good) printf("seed %d, %s: %s\n", (int)seed, chip, check.message);
    xpu_device_check_close(&check);
    return good;
}

static int run_seed(xpu_mem *mem, uint64_t seed, tally *sum, xpu_diags *diags) {
    xpu_arena *arena = xpu_arena_new(mem, "network");
    xpu_random_quantised network;
    xpu_random_qcnn(arena, seed, &network);
    const char *model = xpu_path_join(arena, xpu_temporary_folder(arena, diags), "random.onnx");
    int good = xpu_file_write(arena, model, network.network.model, network.network.model_bytes, diags) == XPU_OK;
    if (good) good = run_model(seed, model, &network, arena, sum, diags);
    sum->networks++;
    xpu_arena_free(arena);
    return good;
}

static void run_range(xpu_mem *mem, uint64_t first, uint64_t last, tally *sum, xpu_diags *diags) {
    const char *one = getenv("XPU_RANDOM_SEED");
    if (one) first = last = strtoull(one, NULL, 10);
    for (uint64_t seed = first; seed <= last; seed++) CU_ASSERT(run_seed(mem, seed, sum, diags));
    printf("%d networks; %d elements compared with onnxruntime, %d differ ", (int)sum->networks, (int)sum->elements,
           (int)sum->different);
    xpu_diags_print(diags, stdout);
}

static const char *const random_quantised_chips[] = {"nano", "standard", "pro"};

static inline void run_seeds(uint64_t first, uint64_t last) {
    tally sum = {.chips = random_quantised_chips};
    BENCH_OPEN(b);
    run_range(&b.mem, first, last, &sum, &b.diags);
    bench_close(&b);
}

#endif
