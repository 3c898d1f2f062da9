/* Loop bodies of elementwise chains. */
#ifndef XPU_CODEGEN_LOWER_CHAIN_H
#define XPU_CODEGEN_LOWER_CHAIN_H

#include "xpu_codegen/lower/calls.h"
#include "xpu_codegen/state.h"

/* The loop body of an elementwise chain; layers of the same structure share one. */
typedef struct xpu_chain_body_text {
    uint64_t hash;
    const xpu_chain *chain;
    const xpu_chain_types *types;
    const char *name; /* of the C function */
    uint32_t region;  /* of the first layer that calls it: there it is defined */
    int32_t other;    /* an earlier one whose hash has the same low bits, or -1 */
    int is_prologue;  /* of a depthwise window that calls it for each row */
    int finds_most;   /* it joins the magnitudes of what it makes to 64 lanes, which stand behind its operands */
    int is_image;     /* of chain_image */
} xpu_chain_body_text;

enum { XPU_BODY_SLOTS = 1 << 12 };

/* The body of the chain that a convolution's operand goes through; c: the immediates, XPU_CHAIN_ARGUMENT_IMMEDIATES. */
const char *xpu_prologue_of(xpu_codegen *cg, uint32_t layer, xpu_node node, xpu_arg_float *c);

#endif
