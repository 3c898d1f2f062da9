/* Layers on engines whose descriptors are made before the program starts. */
#ifndef XPU_CODEGEN_LOWER_LISTS_H
#define XPU_CODEGEN_LOWER_LISTS_H

#include "xpu_codegen/state.h"

/* In programs of one shape, without branches and loops: a layer on an engine calls engine_lists instead of its kernel,
 * where its lists are no longer than they may be. All layers and the words of the plan table are there. */
void xpu_make_lists(xpu_codegen *cg);

#endif
