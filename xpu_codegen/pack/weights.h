/* Weights are packed one at a time. */
#ifndef XPU_CODEGEN_PACK_WEIGHTS_H
#define XPU_CODEGEN_PACK_WEIGHTS_H

#include "xpu_codegen/state.h"

/* A weight that is packed before the file is written. */
typedef struct xpu_packed_weight {
    xpu_arena *arena; /* of its batch */
    const void *bytes;
    uint64_t length;
} xpu_packed_weight;

/* Packs weights while clang works: the first ones, as many as are kept in memory. */
xpu_status xpu_pack_ahead(xpu_codegen *cg);
/* The bytes of the next buffer, the xpu_program_weight_fn of xpu_program_write; context: the xpu_codegen. */
xpu_status xpu_deliver_weight(void *context, uint32_t buffer, xpu_arena *scratch, const void **bytes, uint64_t *length,
                              xpu_diags *diags);

#endif
