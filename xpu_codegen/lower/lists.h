/* Layers on engines whose descriptors are made before the program starts. */
#ifndef XPU_CODEGEN_LOWER_LISTS_H
#define XPU_CODEGEN_LOWER_LISTS_H

#include "xpu_codegen/state.h"

/* In programs without branches and loops: a layer on an engine calls engine_lists instead of its kernel, where its
 * lists are no longer than they may be. With free shapes the lists are made when a run binds them; where there is no
 * room for a layer's then, it calls its kernel. All layers and the words of the plan table are there. */
void xpu_make_lists(xpu_codegen *cg);

#endif
