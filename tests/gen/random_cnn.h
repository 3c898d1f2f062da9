/*
 * Seeded random float CNNs as ONNX files: every operator that the importer knows, operator sets 7 to 22 with the forms
 * legal in each, odd sizes, groups, dilations, asymmetric pads, residuals, 1 to 200 channels, batch 1 to 3 (in some
 * networks free). Weights are scaled by fan-in and divisors kept away from 0, so values stay near 1. At most about 20
 * million multiply-accumulates. A seed gives the same bytes on every host: integers and exact operations only.
 */
#ifndef XPU_TESTS_GEN_RANDOM_CNN_H
#define XPU_TESTS_GEN_RANDOM_CNN_H

#include "base/arena.h"
#include "base/tensor.h"

typedef struct {
    void *model; /* the bytes of an ONNX file; all of this lives in the arena */
    size_t model_bytes;
    const char *input_name; /* "x" */
    xpu_tensor input;       /* float32, [batch, channels, height, width] */
    int opset;
    int free_batch; /* the model's first dim is "N"; input.dims[0] is one value of it */
} xpu_random_network;

void xpu_random_cnn(xpu_arena *arena, uint64_t seed, xpu_random_network *network);

/* The same of quantised networks: QLinear operators, or Q and DQ around float operators; int8 and uint8 activations and
 * weights, weights per tensor or per channel. Scales are chosen so that values use their range. Networks end in float32
 * through DequantizeLinear; those with `inexact` have a table function or softmax right before it, which may differ by
 * one step of its scale (`step`). */
typedef struct {
    xpu_random_network network;
    int inexact;
    float step;
} xpu_random_quantised;
void xpu_random_qcnn(xpu_arena *arena, uint64_t seed, xpu_random_quantised *network);

#endif
