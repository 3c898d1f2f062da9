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
/* Scratch of a layer that may lie anywhere. */
uint32_t xpu_portable_scratch_buffer(xpu_codegen *cg, uint32_t layer, xpu_dim bytes);
/* Any value as operand `role` ("w", "bias", "x") of a layer: constants row-major. */
uint32_t xpu_operand_buffer(xpu_codegen *cg, uint32_t layer, xpu_value value, const char *role);
/* Bytes of a value, in whole words. */
xpu_dim xpu_value_bytes(xpu_codegen *cg, xpu_value value);
/* The buffer whose memory it has: its own, or the one that it is an alias of. */
static inline uint32_t xpu_buffer_place(const xpu_codegen *cg, uint32_t buffer) {
    while (buffer < cg->program.buffers.count && cg->program.buffers.items[buffer].alias_of >= 0)
        buffer = (uint32_t)cg->program.buffers.items[buffer].alias_of;
    return buffer;
}
/* The layer that makes `result` may do so over an operand, which it reads first; not over a constant. */
void xpu_offer_in_place(xpu_codegen *cg, uint32_t result, uint32_t operand);
/* As large as `like`, for one layer. */
uint32_t xpu_aside_buffer(xpu_codegen *cg, uint32_t like, uint32_t layer);

/* A buffer lives from `first` to `last`; where `block` is in a loop that its value is made before, to the loop's end.
 */
typedef struct xpu_reading {
    uint32_t buffer, first, last;
    xpu_block home, block;
} xpu_reading;
/* The layers of a loop's body. */
typedef struct xpu_loop_layers {
    uint32_t first, last;
} xpu_loop_layers;
/* Layer `layer` of a block, or control behind it, reads the value; nothing where it is a constant. */
void xpu_value_read(xpu_codegen *cg, xpu_value value, uint32_t layer, xpu_block block);
void xpu_buffer_lives(xpu_codegen *cg, uint32_t buffer, uint32_t first, uint32_t last);
/* Lifetimes of activations, offsets of weights. */
void xpu_finish_buffers(xpu_codegen *cg);

#endif
