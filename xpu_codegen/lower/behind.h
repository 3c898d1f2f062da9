/* A product behind windows that meet another product in SM. */
#ifndef XPU_CODEGEN_LOWER_BEHIND_H
#define XPU_CODEGEN_LOWER_BEHIND_H

#include "xpu_codegen/choose/tiles.h"

/* Where the windows before this product meet another one in SM, it may read their results there: all three layers are
 * one pipeline, with one scratch. `maker`: the windows; NULL: they do not make x. --explain says which, and why not. */
void xpu_place_behind(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s, const xpu_tiles *tiles,
                      const char *maker);

#endif
