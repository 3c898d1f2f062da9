/* What the tests of the functional chip share: a small chip, its memory, and running one descriptor. */
#ifndef XPU_TESTS_FUNC_FIXTURE_H
#define XPU_TESTS_FUNC_FIXTURE_H

#include <string.h>

#include "base/diag.h"
#include "sim/func/driver.h"
#include "sim/func/engine.h"
#include "sim/func/func.h"
#include "sim/func/memory.h"
#include "sim/func/queues.h"
#include "tests/gen/descriptors.h"
#include "tests/gen/small_chip.h"
#include "tests/unit/unit.h"

static const xpu_chip fixture_chip = {
    SMALL_CHIP,          .array_rows = 16,    .array_columns = 64,   .acc_banks = 2, .acc_rows = 256,
    .weight_rows = 1,    .post_lanes = 16,    .window_channels = 16, .cores = 2,     .lm_bytes = 16384,
    .sm_bytes = 1 << 20, .l3_bytes = 1 << 20, .gm_bytes = 16 << 20};

typedef struct {
    xpurt_device *device;
    xpu_func *func;
    xpu_diags diags;
    uint64_t random;
} fixture;

static inline void open_fixture(fixture *f, uint64_t seed) {
    xpu_diags_init(&f->diags);
    f->device = xpu_func_driver.create(&fixture_chip, &f->diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->device);
    f->func = xpu_func_of(f->device);
    f->random = seed;
}

static inline void close_fixture(fixture *f) {
    xpu_func_driver.destroy(f->device);
    xpu_diags_clear(&f->diags);
}

/* A random number below `bound`. */
static inline uint32_t draw(fixture *f, uint32_t bound) {
    f->random = f->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((f->random >> 33) * bound >> 31);
}

static inline int draw_between(fixture *f, int low, int high) {
    return low + (int)draw(f, (uint32_t)(high - low + 1));
}

static inline float draw_float(fixture *f) {
    return ((float)draw(f, 1u << 24) / (float)(1 << 23) - 1.0f) * (draw(f, 8) ? 1.0f : 1000.0f);
}

static inline void *host(const fixture *f, uint64_t address) {
    return xpu_func_engine_memory(f->func, address, 1);
}

/* Random bytes. */
static inline void scribble(fixture *f, uint64_t address, size_t length) {
    uint8_t *bytes = host(f, address);
    for (size_t i = 0; i < length; i++) bytes[i] = (uint8_t)draw(f, 256);
}

/* Executes one descriptor on an engine at once; 0, or the fault's cause. Faults are cleared. */
static inline int execute_words(fixture *f, unsigned engine, const uint32_t *words) {
    uint32_t list = XPU_GM_BASE + fixture_chip.gm_bytes - XPU_DESC_BYTES;
    memcpy(host(f, list), words, XPU_DESC_BYTES);
    CU_ASSERT_FATAL(xpu_func_queue_push(f->func, engine, 0, list, 1));
    xpu_func_engines_run(f->func);
    int cause = f->func->fault.cause;
    memset(&f->func->fault, 0, sizeof f->func->fault);
    memset(f->func->queues, 0, sizeof f->func->queues);
    return cause;
}

#endif
