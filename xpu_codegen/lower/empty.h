/* Layers whose results may have no elements. */
#ifndef XPU_CODEGEN_LOWER_EMPTY_H
#define XPU_CODEGEN_LOWER_EMPTY_H

#include "xpu_codegen/state.h"

/* Adds the first call of such a layer, which is the only one where there are none; the same of a reduction of no
 * elements, each result of which is one value. Returns 0 where there is nothing else to call at any shape. */
int xpu_begin_layer(xpu_codegen *cg, uint32_t layer, xpu_node node);

#endif
