/* Elementwise chains: the loops of a call. */
#ifndef XPU_CODEGEN_CHOOSE_CHAIN_LOOPS_H
#define XPU_CODEGEN_CHOOSE_CHAIN_LOOPS_H

#include "xpu_codegen/values.h"

/* Loops over the elements of a chain's result in its storage order, merged where every operand allows. */
enum { XPU_CHAIN_DIMS = 4 };
typedef struct {
    int rank;
    xpu_dim size[XPU_MAX_RANK];
    xpu_dim stride[XPU_CHAIN_MAX_INPUTS][XPU_MAX_RANK];
} xpu_chain_loops;
/* For a result in `layout`. Returns 1 when the kernel can run them: at most XPU_CHAIN_DIMS loops, innermost strides 0
 * or 1. *bad (may be NULL) is the first operand whose innermost stride is neither, or UINT32_MAX. */
int xpu_chain_plan(xpu_codegen *cg, xpu_node node, xpu_layout layout, xpu_chain_loops *loops, uint32_t *bad);

/* The most operands and results that are still needed while one step runs; operands are loaded at their first use. */
uint32_t xpu_chain_most_live(const xpu_chain *chain);

/* About the cycles that a core needs for a vector of 16 elements. */
double xpu_chain_vector_cycles(const xpu_chain *chain);

#endif
