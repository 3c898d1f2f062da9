/* The buffers that values live in, and from when to when. */
#ifndef XPU_CODEGEN_LOWER_BUFFERS_H
#define XPU_CODEGEN_LOWER_BUFFERS_H

#include "xpu_codegen/values.h"

/* A constant in the weights' segment: one buffer for each form that a layer wants it in. */
typedef struct xpu_weight {
    xpu_value value;
    uint32_t buffer;
    xpu_packing packing;
    int32_t other; /* an earlier form of the value, or -1 */
} xpu_weight;

/* The buffer of a value that is no constant. */
uint32_t xpu_activation_buffer(xpu_codegen *cg, xpu_value value);
/* The buffer of a constant in a packed form; `name` is "LAYER/w". */
uint32_t xpu_weight_buffer(xpu_codegen *cg, xpu_value value, const xpu_packing *packing, const char *name);
uint32_t xpu_scratch_buffer(xpu_codegen *cg, uint32_t first_layer, uint32_t layer, xpu_dim bytes, const char *name);
/* Any value as operand `role` ("w", "bias", "x") of a layer: constants row-major. */
uint32_t xpu_operand_buffer(xpu_codegen *cg, uint32_t layer, xpu_value value, const char *role);
/* Lifetimes of activations, offsets of weights. */
void xpu_finish_buffers(xpu_codegen *cg);

#endif
