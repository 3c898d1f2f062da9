/* ResNet-50 (quantised, random weights) as a user runs it, beside the bare array. */
#ifndef XPU_TESTS_RTL_BENCH_NETWORK_H
#define XPU_TESTS_RTL_BENCH_NETWORK_H

#include <jansson.h>

#include "base/diag.h"
#include "xpu_runtime/include/xpurt_device.h"

/* Compiles SHARED/models/made/resnet50_random_qdq.onnx and runs it three times; its output must be the recorded one.
 * Prints seconds of process time of a run, loading included, for each 5 million cycles, scaled to a bare array that
 * needs 70 ns per cycle; adds a row to `json`. 0 when all is well, or the model is not there. */
int bench_network(const xpurt_device_driver *driver, const char *shared, json_t *json, xpu_arena *arena,
                  xpu_diags *diags);

#endif
