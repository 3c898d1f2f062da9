/* Changes one thing of an ONNX model: a weight, an attribute, an axis, an epsilon, a pad. */
#ifndef XPU_TESTS_GEN_MUTATE_ONNX_H
#define XPU_TESTS_GEN_MUTATE_ONNX_H

#include "base/arena.h"
#include "frontend/onnx/onnx.pb-c.h"

typedef struct {
    const char *kind; /* "weight", "attribute", "axis", "epsilon", "pad" */
    uint32_t node;    /* the operator that it belongs to, in the model's list */
    const char *what; /* "W[17]", "axis" */
} xpu_mutation;

/* The same change for the same seed; memory in `arena`. Returns 0 where there is nothing to change. */
int xpu_mutate_onnx(XpuOnnx__GraphProto *graph, uint64_t seed, xpu_arena *arena, xpu_mutation *made);

/* Every tensor but inputs and outputs of the graph gets another name. */
void xpu_rename_onnx(XpuOnnx__GraphProto *graph, xpu_arena *arena);

#endif
