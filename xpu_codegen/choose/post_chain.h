/* Chains that run as a layer of the tensor engine, fed from memory: what they are there, and whether that is faster. */
#ifndef XPU_CODEGEN_CHOOSE_POST_CHAIN_H
#define XPU_CODEGEN_CHOOSE_POST_CHAIN_H

#include "xpu_codegen/choose/chain_loops.h"
#include "xpu_codegen/choose/elementwise.h"
#include "xpu_codegen/choose/post_form.h"

/* How far the images and rows of a tensor lie apart, in elements. */
typedef struct {
    xpu_dim image, row;
} xpu_post_strides;

typedef struct xpu_post_chain {
    xpu_post_form form;
    xpu_elementwise_shape shape;
    xpu_elementwise_tile tile;
    xpu_post_strides x[XPU_CHAIN_MAX_INPUTS], y;
    double cycles, core_cycles; /* with the start of the layer: there, and on the cores */
} xpu_post_chain;

/* Whether a chain runs so, unless the layer before makes its operand row by row; `strided`: its rows may come to lie
 * apart (choose/joins.h). *chain may be NULL. */
int xpu_post_chain_of(xpu_codegen *cg, xpu_node node, int strided, xpu_post_chain *chain);

/* Layers that find the largest magnitude of what such a chain makes are left out: it finds that itself. */
void xpu_join_maxima(xpu_codegen *cg);

#endif
