/* Quantised networks as a user runs them, beside the bare array. */
#ifndef XPU_TESTS_RTL_BENCH_NETWORK_H
#define XPU_TESTS_RTL_BENCH_NETWORK_H

#include <jansson.h>

#include "base/diag.h"
#include "xpu_runtime/include/xpurt_device.h"

/* Compiles ResNet-50 and MobileNetV2 of SHARED/models, or the one of this name, and runs each three times; the output
 * must be the recorded one, or that of ref. Prints seconds of process time of a run, loading included, scaled to a bare
 * array that needs 70 ns per cycle, of ResNet-50 for each 5 million cycles; adds rows to `json`. 0 when all is well, or
 * the models are not there. */
int bench_network(const xpurt_device_driver *driver, const char *name, const char *shared, json_t *json,
                  xpu_arena *arena, xpu_diags *diags);

#endif
