/*
 * Random networks on the functional chip: every layer equals ref bit for bit at each precision, on a chip drawn by the
 * seed; at fp32 the outputs of the recorded seeds are within the tolerance of onnxruntime's. XPU_RANDOM_SEED=N replays
 * one seed.
 */
#ifndef XPU_TESTS_RANDOM_DEVICES_H
#define XPU_TESTS_RANDOM_DEVICES_H

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

static const xpu_tensor *recorded_tensor(const xpu_named_tensors *all, const char *name) {
    for (uint32_t i = 0; i < all->count; i++) {
        if (strcmp(all->items[i].name, name) == 0) return &all->items[i].tensor;
    }
    return NULL;
}

static int within_tolerance(uint64_t seed, const xpurt_tensor *outputs, uint32_t count, xpu_arena *arena,
                            xpu_diags *diags) {
    xpu_named_tensors recorded = {0};
    const char *path = xpu_printf(arena, "tests/golden/random_cnn/%d.npz", (int)seed);
    if (xpu_npz_read(arena, path, &recorded, diags) != XPU_OK) return 0;
    for (uint32_t i = 0; i < count; i++) {
        const xpu_tensor *wanted = recorded_tensor(&recorded, outputs[i].name);
        xpu_tensor got = xpu_from_runtime(&outputs[i]);
        if (!wanted || !(xpu_tolerance_used(&got, wanted) <= 1)) return 0;
    }
    return 1;
}

static int run_precision(uint64_t seed, const char *chip, const char *model, const char *precision,
                         const xpurt_tensor *input, xpu_arena *arena, xpu_diags *diags) {
    xpu_device_check check;
    int good = xpu_device_check_compile(&check, model, chip, precision);
    uint32_t count = good ? xpurt_output_count(check.program) : 0;
    xpurt_tensor *outputs = XPU_NEW_ARRAY(arena, xpurt_tensor, count + 1);
    if (good) good = xpu_device_check_layers(&check, input, 1, outputs);
    if (good && seed <= RECORDED_SEEDS && strcmp(precision, "fp32") == 0) {
        good = within_tolerance(seed, outputs, count, arena, diags);
        if (!good) snprintf(check.message, sizeof check.message, "outputs differ from the recorded ones");
    }
    for (uint32_t i = 0; i < count; i++) xpurt_tensor_clear(&outputs[i]);
    if (!good) printf("seed %d, %s, %s: %s\n", (int)seed, chip, precision, check.message);
    xpu_device_check_close(&check);
    return good;
}

static int run_seed(xpu_mem *mem, uint64_t seed, const char *chip, xpu_diags *diags) {
    xpu_arena *arena = xpu_arena_new(mem, "network");
    xpu_random_network network;
    xpu_random_cnn(arena, seed, &network);
    const char *model = xpu_path_join(arena, xpu_temporary_folder(arena, diags), "random.onnx");
    int good = xpu_file_write(arena, model, network.model, network.model_bytes, diags) == XPU_OK;
    xpurt_tensor input = {network.input_name, "float32", network.input.rank, {0}, network.input.data};
    for (int i = 0; i < network.input.rank; i++) input.dims[i] = network.input.dims[i];
    if (good) good = run_precision(seed, chip, model, "fp32", &input, arena, diags);
    if (good) good = run_precision(seed, chip, model, "int16", &input, arena, diags);
    if (good) good = run_precision(seed, chip, model, "int16x8", &input, arena, diags);
    xpu_arena_free(arena);
    return good;
}

static void run_range(xpu_mem *mem, uint64_t first, uint64_t last, xpu_diags *diags) {
    static const char *const chips[] = {"nano", "standard", "pro"};
    const char *one = getenv("XPU_RANDOM_SEED");
    if (one) first = last = strtoull(one, NULL, 10);
    for (uint64_t seed = first; seed <= last; seed++) CU_ASSERT(run_seed(mem, seed, chips[seed * 7 % 3], diags));
    xpu_diags_print(diags, stdout);
}

static void run_seeds(uint64_t first, uint64_t last) {
    BENCH_OPEN(b);
    run_range(&b.mem, first, last, &b.diags);
    bench_close(&b);
}

#endif
