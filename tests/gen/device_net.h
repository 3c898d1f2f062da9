/* A random network (random_cnn.h) compiled, run on ref and on the functional chip, and compared layer by layer. */
#ifndef XPU_TESTS_GEN_DEVICE_NET_H
#define XPU_TESTS_GEN_DEVICE_NET_H

#include "base/file.h"
#include "base/npy.h"

typedef struct {
    const char *chip, *precision; /* NULL: drawn by the seed */
    int keep_outputs;
} xpu_device_net_options;

typedef struct {
    const char *problem;       /* NULL: func and ref agree in every element of every layer */
    uint32_t layers;           /* that were compared */
    xpu_named_tensors outputs; /* of func, with keep_outputs */
} xpu_device_net_result;

/* Everything that is returned lives in `arena`; files in a temporary folder of it. */
void xpu_device_net(xpu_arena *arena, uint64_t seed, const xpu_device_net_options *options,
                    xpu_device_net_result *result, xpu_diags *diags);

#endif
