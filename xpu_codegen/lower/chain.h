/* Loop bodies of elementwise chains. */
#ifndef XPU_CODEGEN_LOWER_CHAIN_H
#define XPU_CODEGEN_LOWER_CHAIN_H

#include "xpu_codegen/state.h"

/* The loop body of an elementwise chain; layers of the same structure share one. */
typedef struct xpu_chain_body_text {
    uint64_t hash;
    const xpu_chain *chain;
    const char *name; /* of the C function */
} xpu_chain_body_text;

#endif
