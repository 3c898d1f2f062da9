/* Chains on the tensor engine (choose/post_chain.h): their call. */
#ifndef XPU_CODEGEN_LOWER_POST_CHAIN_H
#define XPU_CODEGEN_LOWER_POST_CHAIN_H

#include "xpu_codegen/state.h"

struct xpu_post_chain;

xpu_status xpu_lower_post_chain(xpu_codegen *cg, uint32_t layer, xpu_node node, const struct xpu_post_chain *chain);

#endif
