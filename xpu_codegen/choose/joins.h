/* Concats along channels whose operands are made in the pixels of the result. */
#ifndef XPU_CODEGEN_CHOOSE_JOINS_H
#define XPU_CODEGEN_CHOOSE_JOINS_H

#include "xpu_codegen/values.h"

/* Gives operands of such concats their place (xpu_extent's whole): what makes one writes its channels of each pixel of
 * the whole, and what reads it takes them from there. An operand may be such a result itself, as those of a dense block
 * are: then all lie in the last one. It needs a layer that writes so, layers that read so, and fixed sizes; a concat
 * copies its other operands. Behind xpu_choose_extents; the graph stays. */
void xpu_choose_joins(xpu_codegen *cg);

#endif
