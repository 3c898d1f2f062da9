/* Attention of narrow heads as one layer. */
#ifndef XPU_CODEGEN_CHOOSE_ATTENTION_H
#define XPU_CODEGEN_CHOOSE_ATTENTION_H

#include "xpu_codegen/state.h"

/* Where a product multiplies weights by values, and all that makes the weights is a product of queries and keys, a
 * factor, a mask and a softmax: the product of queries and keys; {0}: it is none, or one layer cannot do all that. */
xpu_node xpu_scores_of(xpu_codegen *cg, xpu_node product);
/* Whether one layer had better do it, where integers are allowed. */
int xpu_is_narrow_attention(xpu_codegen *cg, xpu_node product);
/* The product becomes ATTENTION; the layers in front of it go. */
xpu_status xpu_join_attention(xpu_codegen *cg, xpu_node product);

#endif
