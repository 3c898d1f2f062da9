/* A product that reads the results of windows in SM. */
#ifndef XPU_CODEGEN_LOWER_BEHIND_H
#define XPU_CODEGEN_LOWER_BEHIND_H

#include "xpu_codegen/choose/tiles.h"

/* A product of pixels may read the results of the windows before it in SM: both, or where these meet another product
 * there all three layers, are one pipeline, with one scratch. `maker`: the windows; NULL: they do not make x. --explain
 * says which, and why not. */
void xpu_place_behind(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s, const xpu_tiles *tiles,
                      const char *maker);

#endif
