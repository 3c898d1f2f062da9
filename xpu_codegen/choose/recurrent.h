/* Whether the products of a recurrence run on the tensor engine, and what they have in SM. */
#ifndef XPU_CODEGEN_CHOOSE_RECURRENT_H
#define XPU_CODEGEN_CHOOSE_RECURRENT_H

#include "core/ops/recurrent.h"
#include "xpu_codegen/values.h"

typedef struct {
    int64_t slots;    /* for blocks of weights */
    int64_t sm_bytes; /* of all */
    int64_t lists;    /* bytes of descriptors */
} xpu_recurrent_room;
/* NULL, or why it computes in float32. narrow: int8 weights. */
const char *xpu_choose_recurrent(const xpu_codegen *cg, xpu_node node, int narrow, xpu_recurrent_room *room);

#endif
